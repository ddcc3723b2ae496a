"""What is no longer so: messages whose facts were superseded, statements that a later one changes, and repetitions."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from holdfast.model import Kind, Memory, Message, State
from holdfast.packed import term_key
from holdfast.pipeline.analysis import analyse_query
from holdfast.pipeline.words import best_first
from holdfast.transaction import Listing, ReadTx

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.pipeline.vector_cache import VectorOf
    from holdfast.pipeline.words import WordScores
    from holdfast.unpacked import DecodedIndex

    Floats = NDArray[np.float32]
    Rows = NDArray[np.int64]
    Mask = NDArray[np.bool_]

__all__ = [
    "Outdated",
    "Repeats",
    "TruthCache",
    "leading",
    "newer_first",
    "outdated",
    "repeats_of",
    "replaced",
    "rested",
]

_PAGE = 1000
_PAST: Final[tuple[State, ...]] = ("superseded", "retracted")
_COLUMNS = ("event_time", "role", "kind", "length")
_ANSWERING = frozenset({"assistant", "tool", "function"})
DEPTH = 30
"""How many of the best hits are compared with each other for a later statement of the same thing."""
SAME_THING, ANSWERS, CHANGED, MOST_WORDS, MOST_GRAMS, BRIEF = 0.68, 0.45, 0.3, 0.6, 0.4, 25
"""Cosines from which on two messages speak of the same thing: always; where they have this share of the question's
words (grams, where it is written without spaces: what asks is no function word there) and are at most this many words
long; where the later one also has a word of change. Set on dialogues of our own
and checked against LoCoMo (docs/recall.md)."""
_CHANGE_WORDS = (
    "now actually changed switched moved anymore instead longer renamed new since today jetzt inzwischen mehr "
    "stattdessen sondern maintenant désormais plus ahora ya adesso ora agora nu tegenwoordig teraz теперь "
    "이제 지금 现在 現在 変わ 今"
)


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

    What was only taken back, by `undo` or as a doubted statement, says nothing about the message.
    """
    return memory.state == "superseded" or (memory.state == "retracted" and memory.superseded_by is not None)


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


def newer_first(
    order: Rows, score: Floats, index: DecodedIndex, words: WordScores, vectors: VectorOf | None, aside: Mask
) -> tuple[Rows, Mapping[int, int]]:
    """The order with later statements before earlier ones of the same thing, and which row each earlier one yields to.

    Two messages of one role speak of the same thing where the later one has every word of the question that the
    earlier one has, and half of its grams where it is written without spaces (`aside` marks words that name speakers;
    they do not count), and their vectors are near: very near, or less so where they have most of the question's words,
    and least where the later one says that something changed. Only the best hits are compared; a later one moves to the
    place of the earlier, nothing else changes its order. Where it stands first already, the earlier names it too.
    """
    import numpy as np

    best = [int(row) for row in order[:DEPTH]]
    yields = dict[int, int]()
    if vectors is None or len(best) < 2:
        return order, yields
    said = {row: words.said(row, aside) for row in best}
    most, grams = max(1, words.strong(aside)), words.grams()
    told = {name: dict(zip(best, index.columns[name][best].tolist(), strict=True)) for name in _COLUMNS}
    when, role, kind, length = (told[name] for name in _COLUMNS)
    changes = index.memo.get("changes")
    if changes is None:
        found = index.find(np.array(_cues(), dtype=np.uint64))
        changes = index.memo["changes"] = frozenset(found.row.tolist())
    placed: list[int] = []
    for row in best:
        at = len(placed)
        for place, other in enumerate(placed):
            later, earlier = (row, other) if (when[row], row) > (when[other], other) else (other, row)
            alike = role[row] == role[other] and kind[row] == kind[other]
            if not (alike and _as_much(said[earlier], said[later], grams)):
                continue
            near = _cosine(vectors, index, later, earlier)
            brief = max(length[later], length[earlier]) <= BRIEF
            enough = MOST_GRAMS if said[earlier] <= grams else MOST_WORDS
            covers = brief and len(said[earlier]) / most >= enough
            needed = SAME_THING if not covers else CHANGED if later in changes else ANSWERS
            if near >= needed and score[row] >= score[other] / 2:
                at = min(at, place) if later == row else at
                yields.setdefault(earlier, later)
        placed.insert(at, row)
    return np.concatenate([np.array(placed, dtype=order.dtype), order[DEPTH:]]), yields


def _as_much(earlier: frozenset[int], later: frozenset[int], grams: frozenset[int]) -> bool:
    """Whether a later statement has what an earlier one has of the question; a word put in between breaks a gram."""
    missing = earlier - later
    return bool(earlier) and missing <= grams and 2 * len(missing) <= len(earlier & grams)


def _cosine(vectors: VectorOf, index: DecodedIndex, row: int, other: int) -> float:
    one, two = vectors.vector(int(index.numbers[row])), vectors.vector(int(index.numbers[other]))
    return -1.0 if one is None or two is None else float(one @ two)


@lru_cache(maxsize=1)
def _cues() -> tuple[int, ...]:
    words = (word for cue in _CHANGE_WORDS.split() for word in analyse_query(cue))
    return tuple(sorted({term_key(term) for word in words for term in word.terms}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """Which rows say the same: the same words as often, of one kind and role.

    `group` names by row the text it shares, -1 where nobody repeats it; `rows` are those that are repeated, by group,
    and group g is `rows[starts[g]:starts[g + 1]]`.
    """

    group: Rows
    rows: Rows
    starts: Rows

    def of(self, row: int) -> Rows:
        """All rows that say the same as this one, itself included; none where nobody does."""
        group = int(self.group[row])
        return self.rows[:0] if group < 0 else self.rows[self.starts[group] : self.starts[group + 1]]

    def count(self, hit: Mask) -> int:
        """How many different texts the hits are."""
        import numpy as np

        doubled = self.rows[hit[self.rows]]
        seen = np.zeros(len(self.starts), dtype=np.bool_)
        seen[self.group[doubled]] = True
        return int(np.count_nonzero(hit)) - len(doubled) + int(np.count_nonzero(seen))


def repeats_of(index: DecodedIndex) -> Repeats:
    """The repetitions of an index; computed once."""
    import numpy as np

    held: Repeats | None = index.memo.get("repeats")
    if held is None:
        keys, order = index.by_content()
        fresh = np.append(True, keys[order][1:] != keys[order][:-1]) if len(order) else np.zeros(0, dtype=np.bool_)
        first = np.flatnonzero(fresh)
        size = np.diff(np.append(first, len(order)))
        rows = order[np.repeat(size > 1, size)]
        size = size[size > 1]
        group = np.full(len(index), -1, dtype=np.int64)
        group[rows] = np.repeat(np.arange(len(size)), size)
        starts = np.append(0, np.cumsum(size))
        held = index.memo["repeats"] = Repeats(group=group, rows=rows, starts=starts)
    return held


def leading(score: Floats, hit: Mask, repeats: Repeats, most: int | None = None) -> Rows:
    """Hits best first, of those that say the same only the best; with `most` at least that many, if there are.

    The same as the beginning of the whole order, but what cannot stand in it is not sorted.
    """
    import numpy as np

    rows = np.flatnonzero(hit)
    # So that one round will do where every text is there several times.
    room = None if most is None else 2 * most * (1 + len(rows) // max(repeats.count(hit), 1))
    while True:
        best = best_first(score, rows, room)
        group = repeats.group[best]
        at = np.flatnonzero(group >= 0)
        _, first = np.unique(group[at], return_index=True)
        kept: Rows = np.delete(best, np.delete(at, first))
        if most is None or room is None or len(kept) >= most or len(best) == len(rows):
            return kept
        room *= 4
