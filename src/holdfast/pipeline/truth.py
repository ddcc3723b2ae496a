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

__all__ = ["Outdated", "TruthCache", "newer_first", "outdated", "repeats", "rested", "unrepeated"]

_PAGE = 1000
_PAST: Final[tuple[State, ...]] = ("superseded", "retracted")
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
    """Those of a few summaries that rest on such values alone, by id; reads nothing but their own messages."""
    if not summaries or not any(kind == "fact" and state in _PAST for kind, _, state in tx.counts()):
        return frozenset()
    found = set()
    for memory in summaries:
        messages = tx.find_messages(memory.sources)
        gone = [message for message in messages if _rests_alone(tx, message)]
        if gone and not _says_more(tx, [message for message in messages if message not in gone]):
            found.add(memory.id)
    return frozenset(found)


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
    columns, yields = index.columns, dict[int, int]()
    if vectors is None or len(best) < 2:
        return order, yields
    said = {row: words.said(row, aside) for row in best}
    most = max(1, words.strong(aside))
    vector = {row: vectors.vector(int(index.numbers[row])) for row in best}
    changes = index.memo.get("changes")
    if changes is None:
        found = index.find(np.array(_cues(), dtype=np.uint64))
        changes = index.memo["changes"] = frozenset(found.row.tolist())
    placed: list[int] = []
    for row in best:
        at = len(placed)
        for place, earlier in enumerate(placed):
            later = (columns["event_time"][row], row) > (columns["event_time"][earlier], earlier)
            alike = (
                columns["role"][row] == columns["role"][earlier] and columns["kind"][row] == columns["kind"][earlier]
            )
            if not (later and alike and said[earlier] and said[earlier] <= said[row]):
                continue
            near = _cosine(vector[row], vector[earlier])
            brief = max(columns["length"][row], columns["length"][earlier]) <= BRIEF
            covers = brief and len(said[earlier]) / most >= MOST_WORDS
            needed = SAME_THING if not covers else CHANGED if row in changes else ANSWERS
            if near >= needed and score[row] >= score[earlier] / 2:
                at = min(at, place)
                yields.setdefault(earlier, row)
        placed.insert(at, row)
    return np.concatenate([np.array(placed, dtype=order.dtype), order[DEPTH:]]), yields


def _cosine(one: Floats | None, other: Floats | None) -> float:
    return -1.0 if one is None or other is None else float(one @ other)


@lru_cache(maxsize=1)
def _cues() -> tuple[int, ...]:
    words = (word for cue in _CHANGE_WORDS.split() for word in analyse_query(cue))
    return tuple(sorted({term_key(term) for word in words for term in word.terms}))


def unrepeated(order: Rows, index: DecodedIndex) -> Rows:
    """The order without rows that repeat a better one: the same words as often, of one kind and role."""
    import numpy as np

    keys = _sameness(index)
    doubled = index.memo.get("doubled")
    if doubled is None:
        _, place, count = np.unique(keys, return_inverse=True, return_counts=True)
        doubled = index.memo["doubled"] = count[place] > 1
    at = np.flatnonzero(doubled[order])
    if not len(at):
        return order
    _, first = np.unique(keys[order[at]], return_index=True)
    gone = np.delete(at, first)
    kept: Rows = np.delete(order, gone)
    return kept


def _sameness(index: DecodedIndex) -> NDArray[np.uint64]:
    """A number for each row that repetitions of one text share."""
    import numpy as np

    keys: NDArray[np.uint64] | None = index.memo.get("sameness")
    if keys is None:
        keys = index.signatures * np.uint64(64) + index.columns["kind"] * np.uint64(8) + index.columns["role"]
        index.memo["sameness"] = keys
    return keys


def repeats(row: int, order: Rows, index: DecodedIndex) -> Sequence[int]:
    """The rows of an order that repeat this one."""
    doubled = index.memo.get("doubled")
    if doubled is not None and not doubled[row]:
        return []
    keys = _sameness(index)
    same: NDArray[np.bool_] = (keys[order] == keys[row]) & (order != row)
    found: list[int] = order[same].tolist()
    return found
