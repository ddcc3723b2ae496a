"""What is no longer so: messages and summaries that say values which were superseded, removed or corrected.

Nothing of this hides anything: what was said stays said. It is marked, and ranks behind what came after.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, TypeAlias

from memhold.facts.quotes import says
from memhold.index.kept_scopes import Kept, KeptScopes
from memhold.journal.visibility import seen
from memhold.ports.transaction import Listing, ReadTx
from memhold.text.compare import same_value
from memhold.values.answers import Ended
from memhold.values.records import Kind, Memory, State

__all__ = ["End", "Outdated", "TruthCache", "ended_instructions", "outdated", "reads_as_current", "replaced"]

_PAGE = 1000
_PAST: Final[tuple[State, ...]] = ("superseded", "retracted")
_STAMP = re.compile(r"\[\d{4}-\d\d-\d\d[^\]]{0,30}\]")
"""The time of its window, in front of an entry."""
_HOLDING = frozenset({"active", "expired"})


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """A value that holds no longer, by the numbers of memories: the `old` one and the `new` one that holds now.

    `new` is -1 where nothing does. `said` are the messages that say so, `since` and `until` when the old one held.
    """

    old: int
    new: int
    said: tuple[int, ...] = ()
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outdated:
    """A message or memory that something came after.

    `by` is the memory that took the place of what it says; None where nothing did, or that memory is gone. `values` are
    what it says and holds no longer, and `ends` the same for a ranking. `beside` are the numbers of what else was
    learnt from it and still holds.
    """

    number: int
    by: str | None
    values: tuple[Ended, ...] = ()
    ends: tuple[End, ...] = ()
    beside: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Past:
    """A fact that holds no longer, the one that came after it, where one did and can be shown, and what it is now."""

    fact: Memory
    by: Memory | None
    now: Memory | None
    ended: Ended

    def stands_in(self, text: str) -> bool:
        """Whether a text says the value and nothing of its end: neither a value that followed, nor the day."""
        followed = self.by is not None and says(self.by.value or "", text)
        return not followed and reads_as_current(self.ended, text)


def reads_as_current(ended: Ended, text: str) -> bool:
    """Whether a text says a value that holds no longer, and neither the day of its end nor what holds now."""
    if not says(ended.value, text) or f"{ended.since:%Y-%m-%d}" in _STAMP.sub("", text):
        return False
    return not (ended.now and says(ended.now, text))


def outdated(tx: ReadTx) -> Mapping[int, Outdated]:
    """Every fact that holds no longer, and every message, summary and roll-up that says so, by document number.

    That it does not is told by facts that the scope's agent sees.

    A message says what a fact cites it for, unless it tells the value that followed too; a summary or roll-up what of
    its sources stands in its text too, without its end.
    """
    by_source: dict[str, list[_Past]] = {}
    every = [*_ended(tx)]
    for past in every:
        for one in past.fact.sources:
            by_source.setdefault(one, []).append(past)
    messages = tx.find_messages([source for source in by_source if source.startswith("msg_")])
    held = {
        one.id: [past for past in by_source[one.id] if past.by is None or one.id not in past.by.sources]
        for one in messages
    }
    later = [past.now or past.by for past in every]
    after = sorted({source for one in later if one is not None for source in one.sources})
    numbers = {one.id: one.number for one in tx.find_messages(after)}
    holds: dict[str, list[int]] = {}
    for memory in tx.derived([one.id for one in messages]):
        for source in memory.sources if memory.kind in {"fact", "note"} and memory.shown else ():
            holds.setdefault(source, []).append(memory.number)
    found = {past.fact.number: _mark(past.fact.number, [past], numbers) for past in every}
    found |= {
        one.number: _mark(one.number, held[one.id], numbers, holds.get(one.id, ())) for one in messages if held[one.id]
    }
    told = {one.id: by_source[one.id] for one in messages}
    while told:
        above: dict[str, list[_Past]] = {}
        for memory in tx.derived(sorted(told)):
            if memory.kind not in {"summary", "raw", "rollup"}:
                continue
            pasts = dict.fromkeys(past for source in memory.sources for past in told.get(source, ()))
            if said := [past for past in pasts if past.stands_in(memory.text) and not _tells_end(tx, memory, past)]:
                above[memory.id] = said
                beside = [number for source in memory.sources for number in holds.get(source, ())]
                found[memory.number] = _mark(memory.number, said, numbers, beside)
        told = above
    # What replaced something and was replaced itself comes first: whoever goes down the ranking goes behind it.
    return dict(sorted(found.items(), key=lambda entry: -max(end.new for end in entry[1].ends)))


def _tells_end(tx: ReadTx, memory: Memory, past: _Past) -> bool:
    """Whether a window holds the message that ended a value in whose place nothing came."""
    if past.by is not None or memory.kind == "rollup":
        return False
    return any(message.event_time == past.ended.since for message in tx.find_messages(memory.sources))


def _mark(number: int, pasts: Sequence[_Past], numbers: Mapping[str, int], beside: Sequence[int] = ()) -> Outdated:
    last = next((past for past in reversed(pasts) if past.by is not None), pasts[-1])
    return Outdated(
        number=number,
        by=None if last.by is None else last.by.id,
        values=tuple(past.ended for past in pasts),
        ends=tuple(_end(past, number, numbers) for past in pasts),
        beside=tuple(dict.fromkeys(beside)),
    )


def _end(past: _Past, number: int, numbers: Mapping[str, int]) -> End:
    now, fact = past.now or past.by, past.fact
    said = () if now is None else tuple(numbers[one] for one in now.sources if numbers.get(one, number) != number)
    return End(
        old=fact.number,
        new=-1 if now is None else now.number,
        said=said,
        since=fact.valid_from if fact.state == "superseded" else None,
        until=fact.valid_to,
    )


def _ended(tx: ReadTx) -> Iterator[_Past]:
    """The facts that hold no longer; not those of which the same value holds again."""
    past = {memory.id: memory for memory in _listed(tx, ("fact",), _PAST) if _gone(memory)}
    later = sorted({memory.superseded_by or "" for memory in past.values()} - past.keys() - {""})
    known = past | {memory.id: memory for memory in seen(tx, tx.find_memories(later))}
    after = _after(past.values(), known)
    for memory in past.values():
        by, last = after[memory.id]
        now = last if last is not None and last.state in _HOLDING else None
        if memory.value is None or (now is not None and same_value(now.value or "", memory.value)):
            continue
        corrected = memory.state == "retracted" or memory.valid_to is None
        since = memory.recorded_at if corrected or memory.valid_to is None else memory.valid_to
        ended = Ended(fact=memory.id, value=memory.value, since=since)
        if now is not None:
            ended = replace(ended, now=now.value, now_fact=now.id)
        yield _Past(fact=memory, by=by, now=now, ended=ended)


def _after(
    memories: Iterable[Memory], known: Mapping[str, Memory]
) -> Mapping[str, tuple[Memory | None, Memory | None]]:
    """What took the place of each, by its id: the first that was not retracted, and the last of all that followed.

    Each is looked at once: a fact that is told anew every day has as many before it as there were days.
    """
    found: dict[str, tuple[Memory | None, Memory | None]] = {}
    for memory in memories:
        way: dict[str, Memory] = {}
        one: Memory | None = memory
        while one is not None and one.id not in found and one.id not in way:
            way[one.id] = one
            one = known.get(one.superseded_by or "")
        for each in reversed(way.values()):
            behind = known.get(each.superseded_by or "")
            if behind is None:
                found[each.id] = (None, None)
            else:
                first, last = found.get(behind.id, (None, None))
                found[each.id] = (behind if behind.state != "retracted" else first, last or behind)
    return found


def _listed(tx: ReadTx, kinds: tuple[Kind, ...] | None, states: tuple[State, ...]) -> Iterator[Memory]:
    after = -1
    agent = tx.scope.agent
    while page := tx.list_memories(Listing(kinds=kinds, states=states, agent=agent, after=after, limit=_PAGE)):
        yield from page
        after = page[-1].number


def replaced(tx: ReadTx) -> Mapping[int, Outdated]:
    """Every memory of the scope that another one stands for now, by document number; what replaced it comes before."""
    past = {memory.id: memory for memory in _listed(tx, None, ("superseded", "merged")) if memory.superseded_by}
    later = sorted({memory.superseded_by or "" for memory in past.values()} - past.keys())
    numbers = {memory.id: memory.number for memory in (*tx.find_memories(later), *past.values())}
    ordered: dict[str, Memory] = {}
    for memory in past.values():
        way: dict[str, Memory] = {}
        one: Memory | None = memory
        while one is not None and one.id not in ordered and one.id not in way:
            way[one.id] = one
            one = past.get(one.superseded_by or "")
        ordered |= {one.id: one for one in reversed(way.values())}
    return {
        one.number: Outdated(
            number=one.number,
            by=one.superseded_by,
            ends=(End(old=one.number, new=numbers.get(one.superseded_by or "", -1)),),
        )
        for one in ordered.values()
    }


def _gone(memory: Memory) -> bool:
    """Whether a value no longer holds: it was so, or the user corrected it.

    What was only taken back, by `undo` or as a suspected statement, says nothing about the message.
    """
    return memory.state == "superseded" or (memory.state == "retracted" and memory.superseded_by is not None)


def ended_instructions(tx: ReadTx, instructions: Sequence[Memory]) -> frozenset[str]:
    """Those of a few standing instructions that say a value which no longer holds, by id.

    "I am allergic to nuts" said a fact as well; once "I have no allergies any more" ended that fact, the wish is over.
    """
    said = [fact for fact in tx.derived([one for each in instructions for one in each.sources]) if fact.kind == "fact"]
    if not any(_gone(fact) for fact in said):
        return frozenset()
    found = set()
    for each in instructions:
        text = each.text.casefold()
        facts = [one for one in said if not {*one.sources}.isdisjoint(each.sources) and one.value]
        held = [one for one in facts if (one.value or "").casefold() in text]
        if held and all(_gone(one) for one in held):
            found.add(each.id)
    return frozenset(found)


_ENTRY_BYTES = 1024
_OfAgents: TypeAlias = Mapping[str | None, Mapping[int, Outdated]]


class TruthCache:
    """What is no longer so in the scopes that were asked last, kept while their index is unchanged."""

    def __init__(self, scopes: KeptScopes) -> None:
        self._kept: Kept[tuple[int, _OfAgents]] = Kept(scopes, lambda held: sum(map(_size, held[1].values())))

    def outdated(self, tx: ReadTx) -> Mapping[int, Outdated]:
        """What of the scope says something that is no longer so, as its agent sees it, by document number.

        What replaced something and was replaced itself comes first.
        """
        rev, agent = tx.index_rev(), tx.scope.agent
        held = self._kept.get(tx.scope)
        of_agents = held[1] if held is not None and held[0] == rev else {}
        if agent in of_agents:
            return of_agents[agent]
        found = outdated(tx)
        self._kept.put(tx.scope, (rev, {**of_agents, agent: found}))
        return found


def _size(found: Mapping[int, Outdated]) -> int:
    """Bytes that it takes, by estimate: the objects of each entry, and the words in them."""
    words = (word for one in found.values() for ended in one.values for word in (ended.value, ended.now or ""))
    return _ENTRY_BYTES * len(found) + sum(map(sys.getsizeof, words))
