"""Where a statement about one attribute belongs among the others: pure, by time, authority and order of recording.

The statements of one subject and attribute form a timeline. A `set` says what the value is from its time on and ends
what held before; an `add` puts a value beside the others and ends those that it names; a `remove` ends one value. A
statement that arrives late takes its place in the past and leaves the present alone. A value that was stated again
later outlasts what is told late of the time between: it ends there, and resumes where it was stated again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Literal

from memhold.messages.limits import Limits
from memhold.text.compare import same_value
from memhold.values.origins import USER, authority, weight
from memhold.values.records import Evidence, Memory, Origin, Trust

__all__ = ["AHEAD", "Ending", "Placement", "Resumption", "Word", "contradicting", "place", "protected"]


AHEAD = Limits().ahead
"""How far after now an event may be told to lie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A statement as the timeline sees it: what, of when, and on whose word.

    `own_words` says that the user said it: by telling, or in a message of theirs that the statement stands on. `ends`
    are the ids of the values that an `add` takes the place of, where it names them.
    """

    value: str
    at: datetime
    operation: Literal["set", "add", "remove"]
    origin: Origin = "user"
    trust: Trust = "user"
    own_words: bool = True
    ends: frozenset[str] = frozenset()
    latest: datetime | None = None
    """What lies after this was dated by a clock that was ahead: it was told before, and says nothing of the future."""

    @property
    def authority(self) -> int:
        """How much it counts against others; see `memhold.values.origins`."""
        return USER if self.origin == "user" else weight(self.origin, self.trust)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """An earlier statement that this one ends: from when, and whether this one takes its place."""

    memory: Memory
    at: datetime
    replaced: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumption:
    """A value that is ended by a late statement and was stated again afterwards: a new version from then on."""

    memory: Memory
    at: datetime
    operation: Literal["set", "add"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """What a statement does to the timeline.

    `same` is the statement that already says it (nothing is to be stored then). Else the new one holds from its time to
    `valid_to`; it is current when `valid_to` is None, and otherwise superseded by `next`. `resumes` are versions that
    begin again. With `against`, it may not end what the user told: nothing else is set then.
    """

    same: Memory | None = None
    valid_to: datetime | None = None
    next: Memory | None = None
    endings: tuple[Ending, ...] = ()
    resumes: tuple[Resumption, ...] = ()
    against: tuple[Memory, ...] = ()


_STANDING = frozenset({"active", "superseded", "expired"})
_NONE: Mapping[str, Sequence[Evidence]] = MappingProxyType({})


def place(timeline: Sequence[Memory], word: Word, evidence: Mapping[str, Sequence[Evidence]] = _NONE) -> Placement:
    """Where a statement goes among the facts of its subject and attribute.

    Statements are ordered by event time, then authority, then recording; what a clock dated that was ahead counts as
    told before. What the user told is ended only by the user's
    own words, and what the user's words support never by the output of a tool; both are `against`.

    Args:
        timeline: facts of one subject, attribute and agent; those never true or merged do not count.
        word: the statement.
        evidence: by memory, when it was stated again or ended since.
    """
    standing = [memory for memory in timeline if memory.state in _STANDING]
    if (latest := word.latest) is not None:
        evidence = {of: [one for one in found if one.at <= latest] for of, found in evidence.items()}
    before = [memory for memory in standing if _precedes(memory, word)]
    after = [memory for memory in standing if not _precedes(memory, word)]
    holding = [memory for memory in before if memory.valid_to is None or memory.valid_to > word.at]
    stated = next((memory for memory in holding if same_value(memory.value or "", word.value)), None)
    if word.operation == "remove":
        ended = [] if stated is None else [stated]
    else:
        others = [memory for memory in holding if memory is not stated]
        ended = others if word.operation == "set" else [memory for memory in others if memory.id in word.ends]
    against = tuple(memory for memory in ended if protected(memory, word))
    if against:
        return Placement(against=against)
    endings = tuple(Ending(memory=m, at=word.at, replaced=word.operation != "remove") for m in ended)
    resumes = tuple(r for m in ended if (r := _resumption(m, word.at, evidence.get(m.id, ()))) is not None)
    if word.operation == "remove":
        return Placement(endings=endings, resumes=resumes)
    if stated is not None:
        return Placement(same=stated, endings=endings, resumes=resumes)
    until, following = _end(standing, after, word, evidence)
    return Placement(valid_to=until, next=following, endings=endings, resumes=resumes)


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


def _precedes(memory: Memory, word: Word) -> bool:
    if word.latest is not None and memory.valid_from > word.latest:
        return True
    if memory.valid_from != word.at:
        return memory.valid_from < word.at
    return authority(memory) <= word.authority


def protected(memory: Memory, word: Word) -> bool:
    """Whether a statement may not end a fact: it has less authority, and does not repeat the user's own words."""
    return not word.own_words and authority(memory) > word.authority


def _resumption(memory: Memory, at: datetime, evidence: Sequence[Evidence]) -> Resumption | None:
    later = [
        Resumption(memory=memory, at=one.at, operation="add" if one.operation == "add" else "set")
        for one in evidence
        if one.operation in {"set", "add"} and one.at > at and (memory.valid_to is None or one.at < memory.valid_to)
    ]
    return min(later, key=lambda one: one.at, default=None)


def _end(
    standing: Sequence[Memory], after: Sequence[Memory], word: Word, evidence: Mapping[str, Sequence[Evidence]]
) -> tuple[datetime | None, Memory | None]:
    """Until when it holds, and what takes its place: the next that sets or says the same, or its own removal."""
    setting = [
        (memory.valid_from, 0, memory.number, memory)
        for memory in after
        if memory.operation == "set" or same_value(memory.value or "", word.value)
    ]
    for memory in standing:
        for one in evidence.get(memory.id, ()):
            same = same_value(memory.value or "", word.value)
            if one.at > word.at and (one.operation == "set" or (one.operation == "remove" and same)):
                setting.append((one.at, 1, memory.number, memory))
    if not setting:
        return None, None
    until, again, _, memory = min(setting, key=lambda found: found[:3])
    # Ended there by a removal, nothing follows; what begins there follows, also where another took its place at once.
    return until, None if again and memory.valid_to == until else memory
