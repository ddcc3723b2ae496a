"""Where a statement about one attribute belongs among the others: pure, by time, authority and order of recording.

The statements of one subject and attribute form a timeline. A `set` says what the value is from its time on and ends
what held before; an `add` puts a value beside the others; a `remove` ends one value. A statement that arrives late
takes its place in the past and leaves the present alone.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from holdfast.model import AUTHORITY, Memory, Operation, Origin

__all__ = ["Ending", "Placement", "canonical_text", "contradicting", "place", "same_value"]


_STANDING = frozenset({"active", "superseded", "expired"})


def canonical_text(text: str) -> str:
    """Text for comparing: compatibility forms and runs of white space folded, case kept."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def same_value(one: str, other: str) -> bool:
    """Whether two values say the same: compared without case."""
    return canonical_text(one).casefold() == canonical_text(other).casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """An earlier statement that this one ends: from when, and whether this one takes its place."""

    memory: Memory
    at: datetime
    replaced: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """What a statement does to the timeline.

    `same` is the statement that already says it (nothing is to be stored then). Else the new one holds from its time to
    `valid_to`; it is current when `valid_to` is None, and otherwise superseded by `next`.
    """

    same: Memory | None = None
    valid_to: datetime | None = None
    next: Memory | None = None
    endings: tuple[Ending, ...] = ()


def place(
    timeline: Sequence[Memory], *, value: str, at: datetime, operation: Literal["set", "add", "remove"], origin: Origin
) -> Placement:
    """Where a statement about `at` goes among the facts of its subject and attribute.

    Args:
        timeline: facts of one subject, attribute and agent; those never true or merged do not count.
        value: what is stated.
        at: when it holds from.
        operation: `set`, `add` or `remove`.
        origin: who says so; at one time the higher authority, then the later recorded one, has the last word.
    """
    standing = [memory for memory in timeline if memory.state in _STANDING]
    before = [memory for memory in standing if _precedes(memory, at, origin)]
    after = [memory for memory in standing if not _precedes(memory, at, origin)]
    holding = [memory for memory in before if memory.valid_to is None or memory.valid_to > at]
    if operation == "remove":
        ended = tuple(Ending(memory=m, at=at, replaced=False) for m in holding if same_value(m.value or "", value))
        return Placement(endings=ended)
    stated = next((memory for memory in holding if same_value(memory.value or "", value)), None)
    others = () if operation == "add" else tuple(memory for memory in holding if memory is not stated)
    endings = tuple(Ending(memory=memory, at=at, replaced=True) for memory in others)
    if stated is not None:
        return Placement(same=stated, endings=endings)
    following = min((m for m in after if _ends(m.operation)), key=lambda m: (m.valid_from, m.number), default=None)
    return Placement(valid_to=following.valid_from if following else None, next=following, endings=endings)


def contradicting(others: Sequence[Memory], memory: Memory) -> set[str]:
    """Which facts of its timeline cannot stand beside a fact: both would hold at once, or one leans on what is gone."""
    standing = [other for other in others if other.state in _STANDING]
    if memory.state not in _STANDING:
        return {other.id for other in standing if other.superseded_by == memory.id}
    return {other.id for other in standing if _clash(*sorted((memory, other), key=lambda m: (m.valid_from, m.number)))}


def _clash(earlier: Memory, later: Memory) -> bool:
    overlapping = earlier.valid_to is None or later.valid_from < earlier.valid_to
    lasting = later.valid_to is None or later.valid_to > later.valid_from
    return overlapping and lasting and (later.operation == "set" or same_value(earlier.value or "", later.value or ""))


def _precedes(memory: Memory, at: datetime, origin: Origin) -> bool:
    if memory.valid_from != at:
        return memory.valid_from < at
    return AUTHORITY[memory.origin] <= AUTHORITY[origin]


def _ends(operation: Operation) -> bool:
    return operation == "set"
