"""Strategies of `context`, as data: a new one is one entry of `STRATEGIES`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from memhold.values.errors import InvalidInput
from memhold.values.records import Fill

__all__ = ["MEMORY_FIRST", "STRATEGIES", "SlotName", "Strategy", "check_strategy", "chosen", "least_share"]

USEFUL = 0.2
"""The share of the best score under which what the question finds seldom helps (docs/context.md has the curve)."""

SlotName = Literal[
    "system",
    "corrections",
    "instructions",
    "profile",
    "noted",
    "summaries",
    "memories",
    "documents",
    "messages",
    "window",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """How the room that the prefix leaves is shared where the window and memory do not both fit.

    `shares` need not add up to one: what counts is their ratio. `tail` is how many messages before the newest user's
    are kept (more where half of a tool pair would be lost); None wants the whole window, which then comes first: memory
    has a share of it only where it does not fit. So much of its part (`step`) the window may leave to memory, so that
    its beginning can stay for many turns. `crosses` names the strategy that is followed from a threshold of turns on,
    where there is one.
    """

    name: str
    shares: Mapping[SlotName, float]
    tail: int | None
    step: float = 1 / 2
    crosses: str | None = None


FULL_HISTORY = Strategy(
    name="full_history",
    shares=MappingProxyType({"window": 0.7, "noted": 0.04, "memories": 0.16, "messages": 0.1}),
    tail=None,
)
MEMORY_FIRST = Strategy(
    name="memory_first",
    shares=MappingProxyType({"window": 0.3, "noted": 0.1, "memories": 0.35, "messages": 0.25}),
    tail=2,
)
ADAPTIVE = Strategy(
    name="adaptive",
    shares=MappingProxyType({"window": 0.2, "noted": 0.02, "memories": 0.05, "messages": 0.7}),
    tail=None,
    step=2 / 3,
    crosses=MEMORY_FIRST.name,
)

STRATEGIES: Mapping[str, Strategy] = MappingProxyType({one.name: one for one in (FULL_HISTORY, MEMORY_FIRST, ADAPTIVE)})


def check_strategy(name: str) -> Strategy:
    """The entry of that name.

    Raises:
        InvalidInput: there is none.
    """
    found = STRATEGIES.get(name)
    if found is None:
        raise InvalidInput(f"unknown strategy {name!r:.40}; known are {', '.join(STRATEGIES)}")
    return found


def least_share(fill: Fill) -> float:
    """The share of the best score that what is told must have.

    Raises:
        InvalidInput: it is neither "all" nor "useful".
    """
    if fill not in get_args(Fill):
        raise InvalidInput(f"fill is {fill!r:.40}; use one of {', '.join(get_args(Fill))}")
    return USEFUL if fill == "useful" else 0.0


def chosen(name: str, *, turns: int, threshold: int) -> Strategy:
    """The strategy to follow in a window of so many turns (messages that a person wrote, the new one included).

    A threshold of 0 is none.
    """
    found = check_strategy(name)
    return STRATEGIES[found.crosses] if found.crosses and 0 < threshold <= turns else found
