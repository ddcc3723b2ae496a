"""What is no longer so: messages and summaries that rest on values which were superseded, removed or corrected."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memhold.ports.transaction import Listing, ReadTx
from memhold.values.records import Kind, Memory, Message, State

__all__ = ["Outdated", "TruthCache", "ended_instructions", "outdated", "replaced", "rested"]

_PAGE = 1000
_PAST: Final[tuple[State, ...]] = ("superseded", "retracted")
_COLUMNS = ("event_time", "role", "kind", "length")
_ANSWERING = frozenset({"assistant", "tool", "function"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Outdated:
    """A message or summary that rests on a value that no longer holds: superseded, removed or corrected.

    `by` is the memory that took its place; None (and -1) where nothing did, or that memory is gone; `said` are the
    messages that it rests on, by number. `alone` says that nothing else that is current rests on it. `values` are the
    memories that hold no longer.
    """

    number: int
    by: str | None
    by_number: int
    alone: bool
    said: tuple[int, ...] = ()
    values: tuple[str, ...] = ()


def outdated(tx: ReadTx) -> Mapping[int, Outdated]:
    """Every message and summary of the scope that rests on a value that no longer holds, by document number."""
    replaced: dict[str, str | None] = {}
    values: dict[str, list[str]] = {}
    for memory in _listed(tx, ("fact",), _PAST):
        if _gone(memory):
            replaced |= {one: memory.superseded_by or replaced.get(one) for one in memory.sources}
            for one in memory.sources:
                values.setdefault(one, []).append(memory.id)
    found: dict[int, Outdated] = {}
    gone: set[str] = set()
    spent: set[str] = set()
    touched: dict[str, Outdated] = {}
    for message in tx.find_messages([source for source in replaced if source.startswith("msg_")]):
        alone = _rests_alone(tx, message)
        by = _standing(tx, replaced[message.id])
        found[message.number] = _outdated(tx, message.number, by, values[message.id], alone=alone)
        if alone:
            gone.add(message.id)
    for memory in tx.derived(sorted(gone)):
        if memory.kind not in {"summary", "raw"}:
            continue
        messages = tx.find_messages(memory.sources)
        held = next(found[message.number] for message in messages if message.id in gone)
        alone = not _says_more(tx, [message for message in messages if message.id not in gone])
        touched[memory.id] = found[memory.number] = replace(held, number=memory.number, alone=alone)
        spent |= {memory.id} if alone else set()
    while above := [one for one in tx.derived(sorted(spent)) if one.kind == "rollup" and one.number not in found]:
        rested_all = [one for one in above if spent.issuperset(one.sources)]
        if not rested_all:
            break
        found |= {one.number: Outdated(number=one.number, by=None, by_number=-1, alone=True) for one in rested_all}
        spent |= {one.id for one in rested_all}
    found |= _told_above(tx, touched, found)
    # What replaced something and was replaced itself comes first: whoever goes down the ranking goes behind it.
    return dict(sorted(found.items(), key=lambda entry: -entry[1].by_number))


def _told_above(tx: ReadTx, touched: dict[str, Outdated], found: Mapping[int, Outdated]) -> dict[int, Outdated]:
    """The roll-ups that tell a window that rests on such a value, beside others: they may say it too."""
    above: dict[int, Outdated] = {}
    while touched:
        told = [one for one in tx.derived(sorted(touched)) if one.kind == "rollup"]
        fresh = {one.id: one for one in told if one.number not in found and one.number not in above}
        held = {id_: next(touched[part] for part in one.sources if part in touched) for id_, one in fresh.items()}
        touched = {id_: replace(held[id_], number=one.number, alone=False) for id_, one in fresh.items()}
        above |= {one.number: one for one in touched.values()}
    return above


def _outdated(tx: ReadTx, number: int, by: Memory | None, values: Sequence[str], *, alone: bool) -> Outdated:
    if by is None:
        return Outdated(number=number, by=None, by_number=-1, alone=alone, values=tuple(values))
    said = tuple(message.number for message in tx.find_messages(by.sources) if message.number != number)
    return Outdated(number=number, by=by.id, by_number=by.number, alone=alone, said=said, values=tuple(values))


def _listed(tx: ReadTx, kinds: tuple[Kind, ...] | None, states: tuple[State, ...]) -> Iterator[Memory]:
    after = -1
    while page := tx.list_memories(Listing(kinds=kinds, states=states, after=after, limit=_PAGE)):
        yield from page
        after = page[-1].number


def replaced(tx: ReadTx) -> Mapping[int, Outdated]:
    """Every memory of the scope that another one stands for now, by document number; what replaced it comes before."""
    past = {memory.id: memory for memory in _listed(tx, None, ("superseded", "merged")) if memory.superseded_by}
    later = sorted({memory.superseded_by or "" for memory in past.values()} - past.keys())
    numbers = {memory.id: memory.number for memory in (*tx.find_memories(later), *past.values())}
    ordered: dict[str, Memory] = {}
    for memory in past.values():
        chain: list[Memory] = []
        one: Memory | None = memory
        while one is not None and one.id not in ordered and one not in chain:
            chain.append(one)
            one = past.get(one.superseded_by or "")
        ordered |= {one.id: one for one in reversed(chain)}
    return {
        one.number: Outdated(
            number=one.number, by=one.superseded_by, by_number=numbers.get(one.superseded_by or "", -1), alone=False
        )
        for one in ordered.values()
    }


def _standing(tx: ReadTx, memory_id: str | None) -> Memory | None:
    """What took the place of a value, where it can be shown."""
    found = tx.find_memories([] if memory_id is None else [memory_id])
    return found[0] if found and found[0].state != "retracted" else None


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


def rested(tx: ReadTx, summaries: Sequence[Memory]) -> frozenset[str]:
    """Those of a few summaries that rest on such values alone, by id; reads nothing but what they were made of."""
    if not summaries or not any(kind == "fact" and state in _PAST for kind, _, state in tx.counts()):
        return frozenset()
    known: dict[str, bool] = {}
    return frozenset(memory.id for memory in summaries if _all_rested(tx, memory, known))


def _all_rested(tx: ReadTx, memory: Memory, known: dict[str, bool]) -> bool:
    """Whether nothing else stands in a summary, or in any part of a roll-up: the first thing that does settles it."""
    if memory.id not in known and memory.kind == "rollup":
        parts = tx.find_memories(memory.sources)
        known[memory.id] = bool(parts) and all(_all_rested(tx, part, known) for part in parts)
    elif memory.id not in known:
        known[memory.id] = _window_rested(tx, memory)
    return known[memory.id]


def _window_rested(tx: ReadTx, memory: Memory) -> bool:
    gone, rest = False, list[Message]()
    for message in tx.find_messages(memory.sources):
        if _rests_alone(tx, message):
            gone = True
        elif message.role not in _ANSWERING:
            return False
        else:
            rest.append(message)
    return gone and not _says_more(tx, rest)


def _rests_alone(tx: ReadTx, message: Message) -> bool:
    """Whether a message is evidence of such values and of nothing else."""
    says = [memory for memory in tx.derived([message.id]) if memory.kind in {"fact", "note"}]
    held = [memory for memory in says if memory.state != "retracted" or _gone(memory)]
    return bool(held) and all(_gone(memory) for memory in held)


def _says_more(tx: ReadTx, messages: Sequence[Message]) -> bool:
    """Whether these messages are evidence of anything: somebody said them, or a memory stands on them.

    An answer of the assistant or a tool that nothing was kept of is none.
    """
    if any(message.role not in _ANSWERING for message in messages):
        return True
    return any(memory.kind in {"fact", "note"} for memory in tx.derived([message.id for message in messages]))


class TruthCache:
    """What `outdated` gave for the scopes that were asked last, kept while their index is unchanged."""

    def __init__(self, scopes: int = 256) -> None:
        self._scopes = scopes
        self._entries: OrderedDict[tuple[str, str | None], tuple[int, Mapping[int, Outdated]]] = OrderedDict()
        self._lock = threading.Lock()

    def outdated(self, tx: ReadTx) -> Mapping[int, Outdated]:
        """The same as `outdated(tx)`."""
        key, rev = (tx.scope.namespace, tx.scope.user), tx.index_rev()
        with self._lock:
            held = self._entries.get(key)
        if held is not None and held[0] == rev:
            return held[1]
        found = outdated(tx)
        with self._lock:
            self._entries[key] = (rev, found)
            self._entries.move_to_end(key)
            while len(self._entries) > self._scopes:
                self._entries.popitem(last=False)
        return found
