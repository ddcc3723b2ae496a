"""Whether what is derived agrees with what it is derived from: the words index and the table of due work."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from memhold.consolidate.quotes_step import DUE_QUOTES, unquoted_memories
from memhold.facts.changed_notes import COPIES, changed_since
from memhold.facts.matching import ALIKE
from memhold.facts.undecided_keys import waiting
from memhold.history.writers_step import DUE_WRITERS
from memhold.index.documents import FORMER, entry_of
from memhold.index.pending_vectors import DUE_COMPACTION, DUE_INDEX, waits
from memhold.index.postings_check import verify
from memhold.journal.archive import uncovered
from memhold.messages.fences import said
from memhold.ports.postings import RECORD_BYTES, Block, Entry, Place, encode, read_record
from memhold.ports.transaction import Listing, ReadTx, WriteTx
from memhold.text.analysis import Terms, analyse
from memhold.values.errors import CorruptIndex
from memhold.values.records import Memory, Message

__all__ = ["damaged_vectors", "documents", "due_of_state", "index_drift", "rebuild_due", "rebuild_words"]

_PAGE = 500
_SESSION_BYTES = slice(8, 12)  # where a record keeps its session: a memory's is the one that was there when it was told


def documents(tx: ReadTx) -> Iterator[tuple[Message | Memory, bool]]:
    """Every message and current memory of the scope, by document number, and whether it is hidden."""
    after = -1
    while page := tx.documents(after=after, limit=_PAGE):
        yield from page
        after = page[-1][0].number


def _sessions(tx: ReadTx) -> Mapping[str, int]:
    return {session.name: session.number for session in tx.sessions()}


def index_drift(tx: ReadTx) -> list[str]:
    """What the words index says other than the texts do, as sentences without content; empty when they agree."""
    blocks = tx.blocks()
    damaged: list[str] = []
    sound: list[Block] = []
    for block in blocks:
        try:
            verify(block)
        except CorruptIndex as error:
            damaged.append(f"the block of document {block.first} is damaged: {error.reason}")
        else:
            sound.append(block)
    missing = stale = 0
    living: set[int] = set()
    sessions, agents = _sessions(tx), tx.agents()
    held = _Held(sound)
    for item, hidden in documents(tx):
        living.add(item.number)
        found = held.find(item.number)
        wanted = entry_of(item, hidden=hidden, terms=analyse(said(item)), sessions=sessions, agents=agents)
        if found is None:
            missing += not wanted.record.removed  # an item and a copy are in no index
            continue
        if not _agrees(found, wanted, message=isinstance(item, Message)):
            stale += wanted.record.removed or not _agrees(found, _as_before(wanted), message=True)
    living.update(tx.damaged.values())
    ghosts = sum(number not in living for block in sound for number in _occupied(block))
    if missing and not damaged:
        damaged.append(f"{missing} messages or memories are not in it")
    if stale:
        damaged.append(f"{stale} messages or memories stand in it with other words or marks than they have")
    if ghosts:
        damaged.append(f"{ghosts} entries stand in it for what is not there")
    return damaged


def _occupied(block: Block) -> Iterator[int]:
    for number in range(block.first, block.first + block.documents):
        if not read_record(block, number).removed:
            yield number


class _Held:
    """Documents of blocks, looked up in rising order of number; one block is decoded at a time."""

    def __init__(self, blocks: list[Block]) -> None:
        self._blocks = iter(blocks)
        self._block: Block | None = next(self._blocks, None)
        self._entries: dict[int, set[int]] | None = None

    def find(self, number: int) -> tuple[Block, set[int]] | None:
        while self._block is not None and number >= self._block.first + self._block.documents:
            self._block, self._entries = next(self._blocks, None), None
        block = self._block
        if block is None or number < block.first or read_record(block, number).removed:
            return None
        if self._entries is None:
            self._entries = {}
            for value in struct.unpack(f"<{len(block.entries) // 8}Q", block.entries):
                self._entries.setdefault(value >> 8 & 255, set()).add(value)
        return block, self._entries.get(number - block.first, set())


def _agrees(found: tuple[Block, set[int]], wanted: Entry, *, message: bool) -> bool:
    block, entries = found
    at = (wanted.number - block.first) * RECORD_BYTES
    record, packed = encode(Place(number=wanted.number, first=block.first, opens=False), wanted)
    mine = bytearray(block.records[at : at + RECORD_BYTES])
    should = bytearray(record)
    for each in (mine, should):
        # The checksum follows the order of entries, which `verify` has compared already.
        each[28:32] = bytes(4)
        if not message:
            each[_SESSION_BYTES] = bytes(4)
    return mine == should and set(struct.unpack(f"<{len(packed) // 8}Q", packed)) == entries


def _as_before(wanted: Entry) -> Entry:
    """The same with the mark that earlier versions gave some messages, which does no harm."""
    return replace(wanted, terms={**wanted.terms, FORMER: 1})


def damaged_vectors(tx: ReadTx) -> int:
    """How many of the scope's blocks of vectors do not agree with their digests."""
    firsts = [(one.number, block.first) for one in tx.generations() for block in tx.vector_marks(one.number)]
    return sum(block.damaged for number, first in firsts for block in tx.vector_blocks(number, [first]))


def rebuild_words(tx: WriteTx, terms: Mapping[int, Terms]) -> int:
    """Empty the scope's words index and build it anew from the texts; returns how many documents it holds.

    `terms` are those that were analysed before the transaction, by number; texts never change, so they hold.
    """
    tx.clear_index()
    sessions, agents = _sessions(tx), dict(tx.agents())
    done = 0
    batch: list[Entry] = []
    for item, hidden in documents(tx):
        if item.agent is not None and item.agent not in agents:
            agents[item.agent] = tx.agent_number(item.agent)
        known = terms.get(item.number) or analyse(said(item))
        batch.append(entry_of(item, hidden=hidden, terms=known, sessions=sessions, agents=agents))
        if len(batch) == _PAGE:
            tx.index(batch)
            done, batch = done + len(batch), []
    tx.index(batch)
    return done + len(batch)


def due_of_state(tx: ReadTx) -> dict[tuple[str, str], datetime]:
    """The due work that the scope's state implies: (kind, ref) and when."""
    found: dict[tuple[str, str], datetime] = {}
    after = -1
    while page := tx.list_memories(Listing(after=after, limit=_PAGE)):
        for memory in page:
            if memory.expires_at is not None and not memory.pinned:
                found["expire", memory.id] = memory.expires_at
        after = page[-1].number
    for session in tx.sessions():
        if session.cursor and uncovered(tx, session):
            found["consolidate", session.id] = tx.now
    if waiting(tx, adjudicates=False):
        found[ALIKE] = tx.now
    if any(one.state != "retired" and waits(tx, one) for one in tx.generations()):
        found[DUE_INDEX] = tx.now
    if tx.unattributed(limit=1):
        found[DUE_WRITERS] = tx.now
    if unquoted_memories(tx):
        found[DUE_QUOTES] = tx.now
    if changed_since(tx, COPIES).memories:
        found[DUE_COMPACTION] = tx.now
    return found


def rebuild_due(tx: WriteTx) -> int:
    """Make due what state implies and is not due; returns how many. What is due too often does no harm and stays."""
    there = {(item.kind, item.ref) for item in tx.due()}
    missing = {key: at for key, at in due_of_state(tx).items() if key not in there}
    for (kind, ref), at in missing.items():
        tx.put_due(kind, ref, at)
        session = tx.find_session(ref) if kind == "consolidate" else None
        if session is not None:
            tx.put_session(replace(session, torn=True))
    return len(missing)
