"""What a verdict does to the memories that it is about: each group becomes steps that can be applied. Pure.

How memories relate is the judge's decision; what stands for others holds every hard detail of them (`fidelity.lost`).
Where it does not, all stay and are told together. Each memory is written by one step at most.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice
from typing import Final

from memhold.compact.contract import Group, Partition
from memhold.compact.groups import MAX_SOURCES, leaves
from memhold.fidelity.merges import lost
from memhold.text.compare import canonical_text
from memhold.text.details import content_terms
from memhold.values.records import OWN_KEYS, Memory, Trust

__all__ = [
    "TRUST",
    "Folded",
    "Linked",
    "Merged",
    "Settled",
    "Step",
    "Superseded",
    "Suspected",
    "one_metadata",
    "settled",
]

TRUST: Final[tuple[Trust, ...]] = ("tool", "assistant", "user")
"""From the least to the most: what is made of several has that of the least."""
MAX_MERGED_CHARS = 4_000
"""Longest merged text: it fits the windows of small embedders (5,881 characters passed in the field), with room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """A new memory with the judge's text stands for these; those of `replaced` are superseded by it."""

    places: tuple[int, ...]
    group: Group
    replaced: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """One memory has every hard detail of others that say the same, and stands for them as it is.

    Those `beside` it say the same too and have more: they stay, and are told together with it.
    """

    into: int
    places: tuple[int, ...]
    beside: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseded:
    """What older ones say holds no longer."""

    current: int
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """All stay, and are told together."""

    places: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspected:
    """They cannot both be true: a person settles it. The newest comes first."""

    places: tuple[int, ...]


Step = Merged | Folded | Superseded | Linked | Suspected


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The steps of a verdict, and for each group whose text was refused why."""

    steps: tuple[Step, ...]
    refused: Mapping[int, str] = field(default_factory=dict)


def settled(
    memories: Sequence[Memory], partition: Partition, *, fits: Callable[[str], bool] = lambda _: True
) -> Settled:
    """What follows from a partition. `fits` says whether a text can be embedded; one that cannot is not taken."""
    steps: list[Step] = []
    refused: dict[int, str] = {}
    for number, group in enumerate(partition.groups):
        found, reason = _group(memories, group, fits)
        steps += found
        if reason:
            refused[number] = reason
    return Settled(steps=tuple(steps), refused=refused)


def _group(memories: Sequence[Memory], group: Group, fits: Callable[[str], bool]) -> tuple[list[Step], str]:
    """The steps of a group, and why its text is not taken; "" where it is, or there is none."""
    if group.relation == "contradicts":
        return [_suspected(memories, group.places)], ""
    current = max(group.places, key=lambda place: (memories[place].event_time, memories[place].number))
    if group.relation == "replaces" and group.current is not None:
        current = group.current
    older = tuple(place for place in group.places if place != current) if group.relation == "replaces" else ()
    held = tuple(place for place in older if _held(memories[current], memories[place]))
    gone = tuple(place for place in older if place not in held)
    if held:
        steps = _superseded(memories, current, gone) if gone else []
        return [_suspected(memories, (current, *held)), *steps], ""
    if group.text:
        reason = _refusal(memories, group, gone, fits)
        if reason:
            return [Linked(places=group.places)], reason
        return [Merged(places=group.places, group=group, replaced=gone)], ""
    match group.relation:
        case "same":
            return _same(memories, group.places), ""
        case "replaces":
            return _superseded(memories, current, gone), ""
        case _:
            return [Linked(places=group.places)], ""


def _refusal(memories: Sequence[Memory], group: Group, gone: Sequence[int], fits: Callable[[str], bool]) -> str:
    """Why a group's text is not taken; "" where it is."""
    shown = [memories[place] for place in group.places]
    if any(memory.pinned and canonical_text(memory.text) != canonical_text(group.text) for memory in shown):
        return "a pinned memory stays as it is"
    if sum(memory.pinned for memory in shown) > 1 or not one_metadata(shown):
        return "these memories are kept apart by their metadata"
    if sum(leaves(memory) for memory in shown) > MAX_SOURCES:
        return f"one memory stands for at most {MAX_SOURCES} others"
    if len(group.text) > MAX_MERGED_CHARS or not fits(group.text):
        return "a text of this length is not taken"
    terms = content_terms(group.text)
    if not any(terms & content_terms(memory.text) for memory in shown):
        return "it has no word of these memories"
    told = [(memory.text, memory.event_time) for memory in shown]
    loses = lost(group.text, max(at for _, at in told), told, newer=told if gone else ())
    return f"it loses {', '.join(loses)}" if loses else ""


def one_metadata(memories: Sequence[Memory]) -> bool:
    """Whether no two of these give different values to a key of their metadata: else they are two memories."""
    held: dict[str, object] = {}
    for memory in memories:
        for name, value in memory.metadata.items():
            if name not in OWN_KEYS and held.setdefault(name, value) != value:
                return False
    return True


def _same(memories: Sequence[Memory], places: Sequence[int]) -> list[Step]:
    """The fullest memory takes in those whose every hard detail it has; it and the rest are told together."""
    covered = {
        place: [other for other in places if other != place and _covers(memories[place], memories[other])]
        for place in places
    }
    survivor = max(
        places, key=lambda place: (memories[place].pinned, len(covered[place]), len(memories[place].text), place)
    )
    inside = tuple(
        place
        for place in covered[survivor]
        if not memories[place].pinned and one_metadata((memories[survivor], memories[place]))
    )
    # One memory stands for at most so many: what it has no room for is told together with it.
    room = accumulate((leaves(memories[place]) for place in inside), initial=leaves(memories[survivor]))
    inside = tuple(place for place, total in zip(inside, islice(room, 1, None), strict=True) if total <= MAX_SOURCES)
    if not inside:
        return [Linked(places=tuple(places))]
    beside = tuple(place for place in places if place != survivor and place not in inside)
    return [Folded(into=survivor, places=inside, beside=beside)]


def _covers(survivor: Memory, other: Memory) -> bool:
    return not lost(survivor.text, survivor.event_time, [(other.text, other.event_time)])


def _superseded(memories: Sequence[Memory], current: int, older: Sequence[int]) -> list[Step]:
    """What the current memory, as it is, stands for is superseded; what has more stays, told together with it."""
    told = [(memories[place].text, memories[place].event_time) for place in (*older, current)]
    text, at = told[-1]
    gone = tuple(place for place, one in zip(older, told, strict=False) if not lost(text, at, [one], newer=told))
    rest = tuple(place for place in older if place not in gone)
    steps: list[Step] = [Superseded(current=current, places=gone)] if gone else []
    return [*steps, Linked(places=tuple(sorted((*rest, current))))] if rest else steps


def _held(newer: Memory, older: Memory) -> bool:
    """Whether a memory may not be superseded by another, whatever they say."""
    return older.pinned or newer.event_time <= older.event_time or TRUST.index(older.trust) > TRUST.index(newer.trust)


def _suspected(memories: Sequence[Memory], places: Sequence[int]) -> Step:
    ordered = sorted(places, key=lambda place: (memories[place].event_time, memories[place].number), reverse=True)
    return Suspected(places=tuple(ordered))
