"""What a verdict does to the memories that it is about: each group becomes steps that can be applied. Pure.

A right verdict never fails for its wording. Where the judge gave a text that passes the check, the text stands for its
group; else the group is settled by structure alone: the fullest memory stands for the others, the newest supersedes, or
all stay and are told together. What is claimed too much becomes less, never more: "same" without the details is "adds",
"replaces" without a sign of change is a contradiction for a person to settle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import accumulate, islice
from typing import Final

from memhold.compact.check.all_rules import refused
from memhold.compact.check.case import Refusal, Source
from memhold.compact.check.cover import covers, unsaid
from memhold.compact.contract import Group, Partition
from memhold.compact.groups import MAX_SOURCES, leaves
from memhold.compact.telling import tells_of_change
from memhold.text.compare import canonical_text
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
    "sources_of",
]

TRUST: Final[tuple[Trust, ...]] = ("tool", "assistant", "user")
"""From the least to the most: what is made of several has that of the least."""
AT_ONCE = timedelta(days=1)
"""Two values said within a day of each other are a slip or a dispute sooner than a change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """A new memory with the judge's text stands for these; those of `replaced` are superseded by it."""

    places: tuple[int, ...]
    group: Group
    replaced: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """One memory has every hard detail of others that say the same, and stands for them as it is."""

    into: int
    places: tuple[int, ...]


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
    refusals: Mapping[int, Refusal] = field(default_factory=dict)


def sources_of(memories: Sequence[Memory], replaced: Sequence[int] = ()) -> tuple[Source, ...]:
    """The memories as the check sees them."""
    return tuple(
        Source(text=memory.text, at=memory.event_time, labels=memory.entities, replaced=place in replaced)
        for place, memory in enumerate(memories)
    )


def settled(
    memories: Sequence[Memory], partition: Partition, *, fits: Callable[[str], bool] = lambda _: True
) -> Settled:
    """What follows from a partition. `fits` says whether a text can be embedded; one that cannot is not taken."""
    steps: list[Step] = []
    refusals: dict[int, Refusal] = {}
    for number, group in enumerate(partition.groups):
        found, refusal = _group(memories, group, fits)
        steps += found
        if refusal is not None:
            refusals[number] = refusal
    return Settled(steps=tuple(steps), refusals=refusals)


def _group(memories: Sequence[Memory], group: Group, fits: Callable[[str], bool]) -> tuple[list[Step], Refusal | None]:
    match group.relation:
        case "contradicts":
            return [_suspected(memories, group.places)], None
        case "replaces":
            return _replaced(memories, group, fits)
        case "same" | "adds":
            refusal = _text_refused(memories, group, (), fits)
            if group.text and refusal is None:
                return [Merged(places=group.places, group=group)], None
            if group.relation == "same":
                return _same(memories, group.places), refusal
            return [Linked(places=group.places)], refusal


def _text_refused(
    memories: Sequence[Memory], group: Group, replaced: Sequence[int], fits: Callable[[str], bool]
) -> Refusal | None:
    """Why a group's text is not taken; None where it is, or there is none."""
    if not group.text:
        return None
    shown = [memories[place] for place in group.places]
    if any(memory.pinned and canonical_text(memory.text) != canonical_text(group.text) for memory in shown):
        return Refusal(rule="pinned", shown="a pinned memory stays as it is", wording=False)
    if sum(memory.pinned for memory in shown) > 1 or not one_metadata(shown):
        return Refusal(rule="metadata", shown="these memories are kept apart by their metadata", wording=False)
    if sum(leaves(memory) for memory in shown) > MAX_SOURCES:
        return Refusal(rule="lineage", shown=f"one memory stands for at most {MAX_SOURCES} others", wording=False)
    if not fits(group.text):
        return Refusal(rule="length", shown="the embedding does not take a text of this length", wording=False)
    at = [number for number, place in enumerate(group.places) if place in replaced]
    return refused(sources_of(shown, at), group.text)


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
    survivor = max(places, key=lambda place: (memories[place].pinned, _fullness(memories, place, places), place))
    held = sources_of(memories)
    inside = tuple(
        place
        for place in places
        if place != survivor
        and not memories[place].pinned
        and one_metadata((memories[survivor], memories[place]))
        and covers(held[survivor], held[place], whole=memories[survivor].pinned)
        and not _turned(memories[survivor], memories[place])
    )
    # One memory stands for at most so many: what it has no room for is told together with it.
    room = accumulate((leaves(memories[place]) for place in inside), initial=leaves(memories[survivor]))
    inside = tuple(place for place, total in zip(inside, islice(room, 1, None), strict=True) if total <= MAX_SOURCES)
    rest = tuple(place for place in places if place not in inside)
    steps: list[Step] = [Folded(into=survivor, places=inside)] if inside else []
    return [*steps, Linked(places=rest)] if len(rest) > 1 else steps


def _turned(one: Memory, other: Memory) -> bool:
    """Whether the later of two tells of a change and the earlier of none: that is no telling of the same again."""
    older, newer = sorted((one, other), key=lambda memory: (memory.event_time, memory.number))
    return tells_of_change(newer.text) and not tells_of_change(older.text)


def _fullness(memories: Sequence[Memory], place: int, places: Sequence[int]) -> tuple[int, int]:
    """How many of the others a memory could stand for, then how much it says."""
    held = sources_of(memories)
    return sum(covers(held[place], held[other]) for other in places if other != place), len(memories[place].text)


def _replaced(
    memories: Sequence[Memory], group: Group, fits: Callable[[str], bool]
) -> tuple[list[Step], Refusal | None]:
    newest = max(group.places, key=lambda place: (memories[place].event_time, memories[place].number))
    current = newest if group.current is None else group.current
    older = tuple(place for place in group.places if place != current)
    gone = tuple(place for place in older if _displaces(memories[current], memories[place]))
    kept = tuple(place for place in older if place not in gone)
    # What stands between an older one that goes and the newest goes with it.
    if gone and all(memories[place].event_time < memories[current].event_time for place in kept):
        gone = tuple(place for place in older if not _held(memories[current], memories[place]))
        kept = tuple(place for place in older if place not in gone)
    steps: list[Step] = [_suspected(memories, (current, *kept))] if kept else []
    if not gone:
        return steps, None
    refusal = None if kept else _text_refused(memories, group, gone, fits)
    if group.text and refusal is None and not kept:
        return [Merged(places=group.places, group=group, replaced=gone)], None
    return [Superseded(current=current, places=gone), *steps], refusal


def _held(newer: Memory, older: Memory) -> bool:
    """Whether a memory may not be superseded by another, whatever they say."""
    return older.pinned or newer.event_time <= older.event_time or TRUST.index(older.trust) > TRUST.index(newer.trust)


def _displaces(newer: Memory, older: Memory) -> bool:
    """Whether a memory may supersede another: it is later, trusted as much, and shows that something changed."""
    if _held(newer, older):
        return False
    return unsaid(older.text, newer.text, apart=newer.event_time - older.event_time >= AT_ONCE)


def _suspected(memories: Sequence[Memory], places: Sequence[int]) -> Step:
    ordered = sorted(places, key=lambda place: (memories[place].event_time, memories[place].number), reverse=True)
    return Suspected(places=tuple(ordered))
