"""The write side of a transaction over any SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from memhold.ports import postings as packed
from memhold.ports.postings import Block, Entry
from memhold.ports.transaction import NO_NUMBERS, Replay
from memhold.ports.vector_blocks import Generation, VectorBlock, block_of, dropped
from memhold.storage.open_state import StoreTime
from memhold.storage.sql import rows
from memhold.storage.sql.blocks import Row, Rows
from memhold.storage.sql.digests import (
    CHANGE,
    MEMORY,
    MESSAGE,
    block_digests,
    change_digest,
    memory_digest,
    message_digest,
    session_problem,
    shown_id,
)
from memhold.storage.sql.reads import ENDLESS, SqlRead
from memhold.storage.sql.row_batches import RowBatch
from memhold.storage.sql.standing import damaged_changes, standing_change, standing_sessions
from memhold.values.errors import RevisionConflict, StoreCorrupt, StoreError
from memhold.values.records import (
    Change,
    Evidence,
    Memory,
    Message,
    Quote,
    Scope,
    Session,
    Suspicion,
    micros,
)

__all__ = ["SqlWrite"]

_DATED: tuple[tuple[str, str, tuple[str, ...], Callable[[Row], int], tuple[str, ...]], ...] = (
    ("read_messages_ahead", "redate_message", MESSAGE, message_digest, ("event_time", "recorded_at")),
    (
        "read_memories_ahead",
        "redate_memory",
        MEMORY,
        memory_digest,
        ("event_time", "valid_from", "valid_to", "created_at", "recorded_at", "unrecorded_at"),
    ),
    ("read_changes_ahead", "redate_change", CHANGE, change_digest, ("at",)),
)
"""How rows that are dated ahead are read and changed: their columns, their digest, and which of them are times."""
SOON = timedelta(minutes=1)
"""Work due later than this wakes nobody: the worker looks again by then."""


FEW = 20
"""Lines up to which the memories that quote each are looked for."""


def _not_after(session: Session, now: datetime) -> Session:
    """The session, with its times as of now where they are ahead of it."""
    ended = session.ended_at and min(session.ended_at, now)
    dated = replace(session, created_at=min(session.created_at, now), last_at=min(session.last_at, now), ended_at=ended)
    return session if dated == session else dated


class SqlWrite(SqlRead):
    """`WriteTx` over the statements of a writer's connection.

    `woke` says whether work was made due, `marked` whether the savepoint of this unit was begun.
    """

    def __init__(self, gathered: RowBatch, scope: Scope, time: StoreTime) -> None:
        super().__init__(gathered.sql, scope, time)
        self._gathered = gathered
        self.woke = False
        self.marked = False
        self.set_back = False
        """Whether dates go on from the machine's clock, though rows were dated ahead of it."""

    def _run(self, name: str, **params: Any) -> Rows:
        self._before(name)
        return super()._run(name, **params)

    def _each(self, name: str, params: Sequence[Mapping[str, Any]]) -> list[list[Row]]:
        self._before(name)
        return super()._each(name, params)

    def _many(self, name: str, params: Sequence[Mapping[str, Any]]) -> None:
        """Run a statement that gives no rows, once for each of these parameters."""
        self._check_open()
        if params:
            self._before(name)
            self._sql.many(name, [{**one, **self._bound} for one in params])

    def _before(self, name: str) -> None:
        if self._sql.writing[name]:
            self._mark()
        if self._sql.touching[name]:
            self._write_out()

    def _mark(self) -> None:
        """Begin the savepoint that this write goes back to where it fails; most adds need none."""
        if not self.marked:
            self._sql.mark()
            self.marked = True

    def _write_out(self) -> None:
        if self._gathered.waits:
            self._mark()
        self._gathered.flush()

    def _gather(self) -> RowBatch:
        if self._ended:
            self._check_open()
        return self._gathered

    def session(self, name: str) -> Session | None:
        try:
            return self._gather().session(self._bound, name)
        except StoreCorrupt:
            # It is noted, and can be erased; what would write it anew is refused.
            return super().session(name)

    def take_session_number(self) -> int:
        counters = self._gather().counters(self._bound)
        counters.sessions += 1
        return counters.sessions

    def take_numbers(self, count: int) -> int:
        counters = self._gather().counters(self._bound)
        counters.documents += count
        return counters.documents - count

    def put_session(self, session: Session) -> None:
        if session.id in self.damaged:
            raise StoreCorrupt(session_problem(session.id))
        self._gather().put_session(self._bound, session)

    def add_messages(self, messages: Sequence[Message]) -> None:
        self._gather().add_messages(self._bound, messages)
        for message in messages:
            if message.quotes:
                self._put_quotes(message.number, message.quotes)

    def rewrite_message(self, message: Message) -> None:
        # Its digest is that of the row that stands there, which a caller's message need not be in all else.
        for stored in self._messages(self._content("read_any_message", id=message.id)):
            kept = replace(
                stored, body=message.body, text=message.text, quotes=message.quotes, passages=message.passages
            )
            params = rows.message_params(kept)
            named = ("id", "body", "text", "quotes", "written_by", "crc")
            self._run("rewrite_message", **{name: params[name] for name in named})
            self._run("delete_quotes", number=stored.number)
            self._put_quotes(stored.number, message.quotes)

    def put_writers(self, messages: Sequence[Message], entries: Sequence[Entry]) -> None:
        params = [rows.message_params(message) for message in messages]
        self._many("put_writers", [{name: one[name] for name in ("id", "written_by", "crc")} for one in params])
        renewed = {entry.number: entry for entry in entries}
        self._patch(renewed, lambda block, number: packed.renew(block, renewed[number]))

    def _put_quotes(self, number: int, quotes: Sequence[Quote]) -> None:
        items = sorted({item for quote in quotes for item in quote.ids})
        self._many("insert_quote", [{"item_id": item, "number": number} for item in items])

    def add_change(self, change: Change) -> int:
        return self._gather().add_change(self._bound, change)

    def index(self, entries: Sequence[Entry]) -> None:
        self._gather().index(self._bound, entries)

    def put_memory(self, memory: Memory, *, digest: bytes | None = None) -> None:
        current = self._first("current_revision", id=memory.id)
        # The next revision keeps what hides the one before, and its digest.
        actual, kept_digest, hidden_by = (0, None, None) if current is None else current
        before = memory.rev - 1
        if actual != before:
            raise RevisionConflict(
                f"{memory.id} is at revision {actual}, not {before}; read it again", expected=before, actual=actual
            )
        if before:
            self._run("close_revision", id=memory.id, rev=before, now=micros(memory.recorded_at))
        params = rows.memory_params(memory, kept_digest if digest is None else digest)
        self._run("insert_revision", **params, hidden_by=hidden_by)
        self._put_sources(memory)

    def put_quotes(self, memories: Sequence[Memory]) -> None:
        params = [rows.memory_params(memory, None) for memory in memories]
        named = ("id", "rev", "quotes", "standing", "doubts", "crc")
        self._many("put_quotes", [{name: one[name] for name in named} for one in params])

    def _put_sources(self, memory: Memory) -> None:
        """Write the sources where they are other than in the revision before; the first has none before it."""
        held = self._sources([(memory.id, memory.rev - 1)])[0] if memory.rev > 1 else ()
        if held == memory.sources:
            return
        placed = list(enumerate(memory.sources)) or [(-1, "")]
        named = {"memory_id": memory.id, "since": memory.rev}
        self._many("insert_source", [{**named, "position": at, "source_id": source} for at, source in placed])

    def add_evidence(self, evidence: Evidence) -> None:
        self._run(
            "insert_evidence",
            memory_id=evidence.memory_id,
            turn=evidence.turn,
            at=micros(evidence.at),
            operation=evidence.operation,
            change_id=evidence.change_id,
        )

    def move_use(self, memory_id: str, at: datetime) -> None:
        self._run("move_use", memory_id=memory_id, at=micros(at))

    def count_evidence(self, memory_id: str, *, evidence: int, expires_at: datetime | None) -> None:
        self._run("count_evidence", id=memory_id, evidence=evidence, expires_at=rows.opt_micros(expires_at))

    def put_suspicion(self, suspicion: Suspicion) -> None:
        self._run("put_suspicion", **rows.suspicion_params(suspicion))

    def put_key_vectors(self, fingerprint: str, vectors: Mapping[bytes, bytes]) -> None:
        self._run("delete_other_key_vectors", fingerprint=fingerprint)
        made = [{"digest": digest, "fingerprint": fingerprint, "vector": vector} for digest, vector in vectors.items()]
        self._many("put_key_vector", made)

    def put_progress(self, name: str, seq: int) -> None:
        self._run("put_progress", upkeep=name, seq=seq)

    def mark_undone(self, change_id: str, by: str | None) -> None:
        self._run("mark_undone", id=change_id, undone_by=by)

    def remember_key(self, verb: str, key_digest: bytes, replay: Replay) -> None:
        self._gather().counters(self._bound)
        self._run(
            "put_replay",
            verb=verb,
            key_digest=key_digest,
            fingerprint=replay.fingerprint,
            receipt=rows.receipt_text(replay.receipt),
            expires_at=rows.opt_micros(replay.expires_at),
        )

    def drop_expired_keys(self) -> datetime | None:
        self._run("delete_expired_replays", now=micros(self.now))
        soonest: int | None = self._value("soonest_expiry")
        return rows.to_time(soonest)

    def agent_number(self, agent: str | None) -> int:
        if agent is None:
            return 0
        known = self.agents().get(agent)
        return int(self._value("insert_agent", agent_id=agent)) if known is None else known

    def _block_of(self, number: int) -> Block | None:
        """The block that holds a document; None where it is in no block that can be read: `reindex` builds it anew."""
        at = number
        while at > number - packed.BLOCK_DOCUMENTS and (row := self._first("read_word_block_at", number=at)):
            block = rows.to_block(row)
            if not block.damaged:
                return block if number < block.first + block.documents else None
            at = block.first - 1  # a damaged one may stand where it does not belong
        return None

    def _put_block(self, block: Block) -> None:
        records_crc, entries_crc = block_digests(block.first, block.records, block.entries)
        held = {"first": block.first, "records": block.records, "entries": block.entries}
        self._run("put_word_block", **held, records_crc=records_crc, entries_crc=entries_crc)
        self._gather().move_index(self._bound)

    def unindex(self, numbers: Sequence[int]) -> None:
        self._patch(numbers, packed.remove)
        firsts = sorted({block_of(number) for number in numbers})
        for generation in self.generations():
            held = self.vector_blocks(generation.number, firsts)
            self.put_vectors(generation.number, [dropped(block, numbers) for block in held])

    def flag(self, numbers: Mapping[int, bool]) -> None:
        self._patch(numbers, lambda block, number: packed.set_active(block, number, active=numbers[number]))

    def _patch(self, numbers: Iterable[int], change: Callable[[Block, int], Block]) -> None:
        """Change documents in place; each block is read and written once."""
        block: Block | None = None
        for number in sorted(numbers):
            if block is None or number >= block.first + block.documents:
                if block is not None:
                    self._put_block(block)
                block = self._block_of(number)
            if block is not None:
                block = change(block, number)
        if block is not None:
            self._put_block(block)

    def put_generation(self, generation: Generation) -> None:
        params = {name: getattr(generation, name) for name in ("number", "fingerprint", "dimension", "state")}
        try:
            self._run("put_generation", **params, made_at=micros(generation.made_at))
        except self._sql.refused as error:
            raise StoreError(
                f"another generation of vectors is {generation.state} already; run the work again"
            ) from error

    def put_vectors(self, generation: int, blocks: Sequence[VectorBlock]) -> None:
        if not blocks:
            return
        self._gather().counters(self._bound)
        rev = int(self._value("move_vector_rev"))
        named = {"generation": generation, "rev": rev}
        made = []
        for one in blocks:
            marks_crc, vectors_crc = block_digests(one.first, one.marks, one.vectors)
            held = {"first": one.first, "marks": one.marks, "vectors": one.vectors}
            made.append({**named, **held, "marks_crc": marks_crc, "vectors_crc": vectors_crc})
        self._many("put_vector_block", made)

    def clear_vectors(self, generation: int) -> None:
        self._gather().counters(self._bound)
        self._run("clear_vectors", generation=generation)
        self._run("move_vector_rev").fetchall()

    def clear_index(self) -> None:
        self._run("clear_word_blocks")
        self._gather().move_index(self._bound)

    def redate(self) -> int:
        now = micros(self._time.clock)
        self._run("set_back_clock", now=now)
        self._time = StoreTime(dated=self._time.clock, clock=self._time.clock)
        self.set_back = True
        for session in self.sessions():
            dated = _not_after(session, self._time.clock)
            if dated is not session and session.id not in self.damaged:
                self.put_session(dated)
        # One microsecond apart: what one turn said twice stays two statements.
        self._run("redate_evidence", now=now)
        redated = 0
        for read, change, columns, digest, times in _DATED:
            found = [row for row in self._content(read, now=now) if digest(row) == row[len(columns)]]
            made = [dict(zip(columns, row, strict=False)) for row in found]
            for row in made:
                row.update({name: now for name in times if (row[name] or 0) > now})
                row["crc"] = digest([row[name] for name in columns])
            self._many(change, made)
            redated += len(made)
        return redated

    def let_stand(self) -> int:
        sessions = standing_sessions(self._content("read_sessions"))
        self._many("let_session_stand", sessions)
        found = self._content("read_changes", after=-ENDLESS, limit=ENDLESS)
        changes = [
            standing_change(one, [str(row[0]) for row in self._content("read_forgotten_by", id=one.id)])
            for one in damaged_changes(found, now=micros(self.now))
        ]
        self._many("let_change_stand", changes)
        return len(sessions) + len(changes)

    def hide(self, ids: Sequence[str], change_id: str) -> None:
        named = [{"id": item, "change_id": change_id} for item in ids]
        self._many("hide_message", named)
        self._many("hide_memory", named)

    def reveal(self, change_id: str) -> None:
        self._run("reveal_messages", change_id=change_id)
        self._run("reveal_memories", change_id=change_id)

    def erase_session(self, name: str) -> None:
        self._run("delete_session", session_id=name)

    def erase_rest(self) -> None:
        self._run("delete_agents")
        self._run("delete_memories")

    def erase_messages(self, ids: Sequence[str], change_id: str, *, numbers: Mapping[str, int] = NO_NUMBERS) -> None:
        for item in ids:
            gone = self._run("delete_message", id=item).fetchall()
            if not gone and item in numbers:
                gone = self._erase_numbered("message", item, numbers[item])
            for number, quotes in gone:
                if quotes:
                    self._run("delete_quotes", number=number)
                self._entomb(item, change_id, None)
                self._run("forget_detail_of_source", id=item)

    def erase_memories(
        self,
        ids: Sequence[str],
        change_id: str,
        *,
        digests: Mapping[str, bytes],
        numbers: Mapping[str, int] = NO_NUMBERS,
    ) -> None:
        if ids:
            self._run("delete_key_vectors")
        for item in ids:
            gone = self._run("delete_memory", id=item).fetchall()
            if not gone and item in numbers:
                gone = self._erase_numbered("memory", item, numbers[item])
            if gone:
                self._run("delete_sources", memory_id=item)
                self._entomb_memory(item, change_id, digests.get(item))

    def _erase_numbered(self, table: str, item: str, number: int) -> Sequence[Row]:
        """Erase what was seen under an id and is not found by it: the row itself has that id, or an index another.

        Raises:
            StoreCorrupt: no such row has that number either.
        """
        there = [shown_id(table, row[0]) for row in self._content(f"read_{table}_id", number=number)]
        if there != [item]:
            raise StoreCorrupt(f"{item} is there and cannot be reached; run 'memhold doctor --repair rows'")
        return self._run(f"delete_numbered_{table}", number=number).fetchall()

    def entomb(self, ids: Sequence[str], change_id: str) -> None:
        if ids:
            self.drop_sources(ids)
        for item in ids:
            self._run("delete_sources", memory_id=item)
            self._entomb_memory(item, change_id, None)

    def _entomb_memory(self, item: str, change_id: str, digest: bytes | None) -> None:
        self._run("delete_evidence", memory_id=item)
        self._run("delete_suspicions", memory_id=item)
        self._entomb(item, change_id, digest)
        self._run("forget_detail_of_memory", id=item)
        self._run("forget_detail_of_source", id=item)

    def _entomb(self, item: str, change_id: str, digest: bytes | None) -> None:
        self._run("put_tombstone", id=item, at=micros(self.now), change_id=change_id, digest=digest)

    def drop_sources(self, ids: Sequence[str]) -> None:
        self._many("blank_source", [{"source_id": item} for item in ids])
        said = {item for item in ids if not item.startswith("mem_")}
        # Of many lines one look at all quotes is the shorter way.
        for named in (f"%{item}%" for item in said) if len(said) <= FEW else ("%",):
            found = self._content("read_quoting_memories", named=named)
            self._many("rewrite_quotes", [made for row in found if (made := rows.unquoted(row, said)) is not None])

    def put_due(self, kind: str, ref: str, at: datetime) -> None:
        due, clock = micros(self._time.by_clock(at)), micros(self._time.clock)
        self._gather().put_due(self._bound, kind, ref, at=due, now=clock)
        self.woke = self.woke or at <= self.now + SOON

    def clear_due(self, kind: str, ref: str) -> None:
        self._run("clear_due", kind=kind, ref=ref)
