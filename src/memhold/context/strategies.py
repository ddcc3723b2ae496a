"""Strategies of `context`, as data: a new one is one entry of `STRATEGIES`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from memhold.values.errors import InvalidInput

__all__ = ["MEMORY_FIRST", "STRATEGIES", "Crossing", "SlotName", "Strategy", "check_strategy", "chosen"]

SlotName = Literal[
    "system", "corrections", "instructions", "profile", "noted", "summaries", "memories", "messages", "window"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """How a budget is shared among the slots that compete, and how much of the window is wanted.

    `shares` need not add up to one: what counts is their ratio. `tail` is how many messages before the newest user's
    are kept (more where half of a tool pair would be lost); None wants the whole window.
    """

    name: str
    shares: Mapping[SlotName, float]
    tail: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """A strategy that follows one until the window has so many turns or outgrows its share, and then another."""

    name: str
    before: str
    after: str


FULL_HISTORY = Strategy(
    name="full_history",
    shares=MappingProxyType(
        {
            "window": 0.7,
            "instructions": 0.05,
            "profile": 0.1,
            "noted": 0.02,
            "summaries": 0.08,
            "memories": 0.08,
            "messages": 0.04,
        }
    ),
    tail=None,
)
MEMORY_FIRST = Strategy(
    name="memory_first",
    shares=MappingProxyType(
        {
            "window": 0.3,
            "instructions": 0.05,
            "profile": 0.15,
            "noted": 0.05,
            "summaries": 0.2,
            "memories": 0.2,
            "messages": 0.15,
        }
    ),
    tail=2,
)
ADAPTIVE = Crossing(name="adaptive", before="full_history", after="memory_first")

STRATEGIES: Mapping[str, Strategy | Crossing] = MappingProxyType(
    {one.name: one for one in (FULL_HISTORY, MEMORY_FIRST, ADAPTIVE)}
)


def check_strategy(name: str) -> Strategy | Crossing:
    """The entry of that name.

    Raises:
        InvalidInput: there is none.
    """
    found = STRATEGIES.get(name)
    if found is None:
        raise InvalidInput(f"unknown strategy {name!r:.40}; known are {', '.join(STRATEGIES)}")
    return found


def chosen(name: str, *, turns: int, threshold: int) -> Strategy:
    """The strategy to follow in a window of so many turns (messages that a person wrote, the new one included)."""
    found = check_strategy(name)
    while isinstance(found, Crossing):
        found = STRATEGIES[found.before if turns < threshold else found.after]
    return found
