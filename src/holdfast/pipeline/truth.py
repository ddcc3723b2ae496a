"""What is no longer so: messages whose facts were superseded, statements that a later one changes, and repetitions."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from holdfast.model import Memory, Message, State
from holdfast.packed import term_key
from holdfast.pipeline.analysis import analyse_query
from holdfast.pipeline.words import best_first
from holdfast.transaction import Listing, ReadTx

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from holdfast.pipeline.vector_cache import DecodedVectors
    from holdfast.pipeline.words import WordScores
    from holdfast.unpacked import DecodedIndex

    Floats = NDArray[np.float32]
    Rows = NDArray[np.int64]
    Mask = NDArray[np.bool_]

__all__ = ["Outdated", "Repeats", "TruthCache", "leading", "newer_first", "outdated", "repeats_of", "rested"]

_PAGE = 1000
_PAST: Final[tuple[State, ...]] = ("superseded", "retracted")
_COLUMNS = ("event_time", "role", "kind", "length")
_ANSWERING = frozenset({"assistant", "tool", "function"})
DEPTH = 30
"""How many of the best hits are compared with each other for a later statement of the same thing."""
SAME_THING, ANSWERS, CHANGED, MOST_WORDS, BRIEF = 0.68, 0.45, 0.3, 0.6, 25
"""Cosines from which on two messages speak of the same thing: always; where they have this share of the question's
words and are at most this many words long; where the later one also has a word of change. Set on dialogues of our own
and checked against LoCoMo (docs/recall.md)."""
_CHANGE_WORDS = (
    "now actually changed switched moved anymore instead longer renamed new since today jetzt inzwischen mehr "
    "stattdessen maintenant désormais plus ahora ya 이제 지금"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outdated:
    """A message or summary that rests on a value that no longer holds: superseded, removed or corrected.

    `by` is the memory that took its place; None (and -1) where nothing did, or that memory is gone. `alone` says that
    nothing else that is current rests on it.
    """

    number: int
    by: str | None
    by_number: int
    alone: bool


def outdated(tx: ReadTx) -> Mapping[int, Outdated]:
    """Every message and summary of the scope that rests on a value that no longer holds, by document number."""
    replaced: dict[str, str | None] = {}
    after = -1
    while page := tx.list_memories(Listing(kinds=("fact",), states=_PAST, after=after, limit=_PAGE)):
        for memory in page:
            if _gone(memory):
                replaced |= {one: memory.superseded_by or replaced.get(one) for one in memory.sources}
        after = page[-1].number
    found: dict[int, Outdated] = {}
    gone: set[str] = set()
    spent: set[str] = set()
    for message in tx.find_messages([source for source in replaced if source.startswith("msg_")]):
        alone = _rests_alone(tx, message)
        by = _standing(tx, replaced[message.id])
        if by is None and not alone:
            continue
        found[message.number] = _outdated(message.number, by, alone=alone)
        if alone:
            gone.add(message.id)
    for memory in tx.derived(sorted(gone)):
        if memory.kind not in {"summary", "raw"}:
            continue
        messages = tx.find_messages(memory.sources)
        held = next(found[message.number] for message in messages if message.id in gone)
        alone = not _says_more(tx, [message for message in messages if message.id not in gone])
        found[memory.number] = replace(held, number=memory.number, alone=alone)
        spent |= {memory.id} if alone else set()
    while above := [one for one in tx.derived(sorted(spent)) if one.kind == "rollup" and one.number not in found]:
        rested_all = [one for one in above if spent.issuperset(one.sources)]
        if not rested_all:
            break
        found |= {one.number: Outdated(number=one.number, by=None, by_number=-1, alone=True) for one in rested_all}
        spent |= {one.id for one in rested_all}
    return found


def _outdated(number: int, by: Memory | None, *, alone: bool) -> Outdated:
    if by is None:
        return Outdated(number=number, by=None, by_number=-1, alone=alone)
    return Outdated(number=number, by=by.id, by_number=by.number, alone=alone)


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
    order: Rows, score: Floats, index: DecodedIndex, words: WordScores, vectors: DecodedVectors | None, aside: Mask
) -> tuple[Rows, Mapping[int, int]]:
    """The order with later statements before earlier ones of the same thing, and which row each earlier one yields to.

    Two messages of one role speak of the same thing where the later one has every word of the question that the
    earlier one has (`aside` marks words that name speakers; they do not count), and their vectors are near: very near,
    or less so where they have most of the question's words, and least where the later one says that something changed.
    Only the best hits are compared; a later one moves to the place of the earlier, nothing else changes its order.
    """
    import numpy as np

    best = [int(row) for row in order[:DEPTH]]
    yields = dict[int, int]()
    if vectors is None or len(best) < 2:
        return order, yields
    said = {row: words.said(row, aside) for row in best}
    most = max(1, words.strong(aside))
    told = {name: dict(zip(best, index.columns[name][best].tolist(), strict=True)) for name in _COLUMNS}
    when, role, kind, length = (told[name] for name in _COLUMNS)
    changes = index.memo.get("changes")
    if changes is None:
        found = index.find(np.array(_cues(), dtype=np.uint64))
        changes = index.memo["changes"] = frozenset(found.row.tolist())
    placed: list[int] = []
    for row in best:
        at = len(placed)
        for place, earlier in enumerate(placed):
            later = (when[row], row) > (when[earlier], earlier)
            alike = role[row] == role[earlier] and kind[row] == kind[earlier]
            if not (later and alike and said[earlier] and said[earlier] <= said[row]):
                continue
            near = _cosine(vectors, index, row, earlier)
            brief = max(length[row], length[earlier]) <= BRIEF
            covers = brief and len(said[earlier]) / most >= MOST_WORDS
            needed = SAME_THING if not covers else CHANGED if row in changes else ANSWERS
            if near >= needed and score[row] >= score[earlier] / 2:
                at = min(at, place)
                yields.setdefault(earlier, row)
        placed.insert(at, row)
    return np.concatenate([np.array(placed, dtype=order.dtype), order[DEPTH:]]), yields


def _cosine(vectors: DecodedVectors, index: DecodedIndex, row: int, other: int) -> float:
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
        keys = index.signatures * np.uint64(64) + index.columns["kind"] * np.uint64(8) + index.columns["role"]
        order = np.argsort(keys, kind="stable")
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
