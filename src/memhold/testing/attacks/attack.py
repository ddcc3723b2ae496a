"""What an attack is, and how one comes out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from memhold.testing.attacks.target import Target

__all__ = ["Attack", "NotHeld", "NotTried", "Outcome", "Result", "attack", "expect", "try_one"]

Result = Literal["held", "not held", "not tried"]


class NotHeld(Exception):
    """The server let the attack through; the message says what came of it."""


class NotTried(Exception):
    """The attack needs something that is not there; the message says what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One attack.

    Attributes:
        name: how it is called on the command line.
        does: what is done to the server.
        seen: by what one sees that the server held.
        threats: which threats of OWASP's lists for agents it is about (`T1` to `T15`, `ASI01` to `ASI10`).
        carry_out: does it; returns what is worth telling of an attack that was held off.
    """

    name: str
    does: str
    seen: str
    threats: tuple[str, ...]
    carry_out: Callable[[Target], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How an attack came out, and what is to be told of it."""

    attack: Attack
    result: Result
    told: str = ""


def attack(does: str, *, seen: str, threats: Sequence[str] = ()) -> Callable[[Callable[[Target], str | None]], Attack]:
    """Make an attack of a function; it is called after the function."""

    def made(carry_out: Callable[[Target], str | None]) -> Attack:
        name = carry_out.__name__.replace("_", "-")
        return Attack(name=name, does=does, seen=seen, threats=tuple(threats), carry_out=carry_out)

    return made


def expect(held: object, told: str) -> None:
    """Say that the server did not hold, unless it did.

    Raises:
        NotHeld: it did not.
    """
    if not held:
        raise NotHeld(told)


def try_one(attack: Attack, target: Target) -> Outcome:
    """Carry out one attack. A server that breaks the connection off, or answers what nobody can read, did not hold."""
    try:
        told = attack.carry_out(target)
    except NotTried as reason:
        return Outcome(attack=attack, result="not tried", told=str(reason))
    except NotHeld as reason:
        return Outcome(attack=attack, result="not held", told=str(reason))
    except Exception as error:  # noqa: BLE001 - the edge: one attack must not end the others
        return Outcome(attack=attack, result="not held", told=f"{type(error).__name__}: {error}"[:300])
    return Outcome(attack=attack, result="held", told=told or "")
