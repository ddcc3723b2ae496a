"""Rows that a group of writes has made and not yet written: appended to the same tables, they are written together.

Most writes append: a message, its change, its words, and the counters of their scope. Sixty-four of them in one group
need each counter once and each statement prepared once. What is gathered is written before anything else reads or
writes those tables, and before the group commits; so a unit of work cannot tell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from zlib import crc32

from memhold.ports import postings as packed
from memhold.ports.postings import Block, Entry
from memhold.storage.sql import rows
from memhold.storage.sql.blocks import Rows, Statements
from memhold.storage.sql.digests import SESSION, session_digest, session_problem
from memhold.values.errors import StoreCorrupt
from memhold.values.records import Change, Message, Session

__all__ = ["RowBatch", "touching", "writing"]

Owner = tuple[str, str]
Bound = Mapping[str, Any]
Tail = tuple[int, int, int, int, int]
"""The last block of an index: its first document, the bytes of its records and entries, the CRCs of both."""

_FROM = re.compile(
    r"\b(?:FROM|JOIN|INTO|UPDATE)\s+(owner|namespace|session|message|change|change_effect|word_block|due)\b"
)


def touching(queries: Mapping[str, str]) -> Mapping[str, bool]:
    """Which of the named statements read or write a table whose rows may be waiting here."""
    return {name: bool(_FROM.search(sql)) for name, sql in queries.items()}


def writing(queries: Mapping[str, str]) -> Mapping[str, bool]:
    """Which of the named statements change anything."""
    return {name: not sql.lstrip().upper().startswith(("SELECT", "WITH")) for name, sql in queries.items()}


_ABSENT: Any = object()
_MOST_KNOWN = 10_000
"""With more sessions than this, what is known is dropped: a few megabytes."""


@dataclass(slots=True)
class _Counters:
    """A scope's row of `owner`, with what was taken since."""

    documents: int
    sessions: int
    index_rev: int

    def copy(self) -> _Counters:
        return _Counters(self.documents, self.sessions, self.index_rev)


@dataclass(slots=True)
class _Words:
    """The end of a scope's words index and what is to be appended to it; `opened` says that `block` is a new row."""

    tail: Tail | None
    block: Block
    opened: bool = False
    full: tuple[tuple[Block, bool, Tail | None], ...] = ()


@dataclass(slots=True)
class Known:
    """Rows as they stand in the database: what a group need not read that comes after another, with no other writer.

    Whoever keeps one from group to group clears it when a group fails, and when anybody else may have written.
    """

    owners: dict[Owner, _Counters] = field(default_factory=dict)
    seqs: dict[str, int] = field(default_factory=dict)
    sessions: dict[tuple[str, str, str], Session] = field(default_factory=dict)
    tails: dict[Owner, Tail] = field(default_factory=dict)
    clock: datetime | None = None

    def clear(self) -> None:
        """Know nothing any more."""
        self.clock = None
        for known in (self.owners, self.seqs, self.sessions, self.tails):
            known.clear()

    def learn(self, gathered: RowBatch, now: datetime) -> None:
        """Take over what a group has committed, and when."""
        if len(self.sessions) > _MOST_KNOWN:
            self.clear()
        self.clock = now
        if not gathered.apart:
            return
        self.owners.update(gathered.owners)
        self.seqs.update(gathered.seqs)
        self.sessions.update((key, held) for key, held in gathered.sessions.items() if held is not None)
        self.tails.update((owner, words.tail) for owner, words in gathered.words.items() if words.tail is not None)


@dataclass(slots=True)
class _Begun:
    """What a write found here when it began: enough to take back what it made."""

    lengths: tuple[int, int, int]
    kept: list[tuple[str, Any, Any]] = field(default_factory=list)
    owners: set[Owner] = field(default_factory=set)
    whole: RowBatch | None = None
    """Everything as it was, once rows of earlier writes were written out within this one."""


@dataclass(slots=True)
class RowBatch:
    """The rows that wait, and the rows read to make them; one for each group of writes."""

    sql: Statements
    known: Known = field(default_factory=Known)
    owners: dict[Owner, _Counters] = field(default_factory=dict)
    seqs: dict[str, int] = field(default_factory=dict)
    sessions: dict[tuple[str, str, str], Session | None] = field(default_factory=dict)
    changed_sessions: dict[tuple[str, str, str], None] = field(default_factory=dict)
    words: dict[Owner, _Words] = field(default_factory=dict)
    dues: dict[tuple[str, str, str, str], tuple[int, int]] = field(default_factory=dict)
    messages: list[dict[str, Any]] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)
    effects: list[dict[str, Any]] = field(default_factory=list)
    begun: _Begun | None = None
    first: bool = False
    """Whether the write that began is the first of its group: to take it back is to begin anew."""
    apart: bool = True
    """Whether nobody but this has written to its tables."""

    def begin(self) -> None:
        """A write of the group begins: from here on what it makes can be taken back."""
        self.first = not self.waits and not self.sessions
        self.begun = None if self.first else _Begun((len(self.messages), len(self.changes), len(self.effects)))

    def end(self) -> None:
        """The write that began has done its part; nothing of it is taken back alone any more."""
        self.begun = None
        self.first = False

    def taken_back(self) -> RowBatch:
        """The state before the write that failed; what it put into the database is rolled back beside this."""
        if self.first:
            return RowBatch(self.sql, self.known)
        begun = self.begun
        assert begun is not None  # noqa: S101 - a write that fails has begun
        return begun.whole or self._undone(begun)

    def _undone(self, begun: _Begun) -> RowBatch:
        for name, key, value in reversed(begun.kept):
            container = getattr(self, name)
            if value is _ABSENT:
                container.pop(key, None)
            else:
                container[key] = value
        for made, length in zip((self.messages, self.changes, self.effects), begun.lengths, strict=True):
            del made[length:]
        self.begun = None
        return self

    @property
    def waits(self) -> bool:
        """Whether there is anything to write."""
        return bool(self.owners or self.seqs or self.messages or self.changes)

    def _copy(self) -> RowBatch:
        return RowBatch(
            sql=self.sql,
            known=self.known,
            owners={owner: counters.copy() for owner, counters in self.owners.items()},
            seqs=self.seqs.copy(),
            sessions=self.sessions.copy(),
            changed_sessions=self.changed_sessions.copy(),
            words=self.words.copy(),
            dues=self.dues.copy(),
            messages=self.messages.copy(),
            changes=self.changes.copy(),
            effects=self.effects.copy(),
        )

    def _put(self, name: str, key: Any, value: Any) -> None:
        container = getattr(self, name)
        if self.begun is not None:
            self.begun.kept.append((name, key, container.get(key, _ABSENT)))
        container[key] = value

    def counters(self, bound: Bound) -> _Counters:
        """A scope's counters, about to be changed."""
        owner = (bound["namespace"], bound["user_id"])
        held = self.owners.get(owner)
        if held is None:
            known = self.known.owners.get(owner)
            row = None if known is not None else self._run("read_owner", bound).fetchone()
            held = (
                known.copy() if known is not None else _Counters(*rows.to_counters(row)) if row else _Counters(0, 0, 0)
            )
        elif self.begun is None or owner in self.begun.owners:
            return held
        else:
            held = held.copy()
        if self.begun is not None:
            self.begun.owners.add(owner)
        self._put("owners", owner, held)
        return held

    def session(self, bound: Bound, name: str) -> Session | None:
        """A session as it stands in this group.

        Raises:
            StoreCorrupt: its row is damaged: what is written of it would make that its content.
        """
        key = (bound["namespace"], bound["user_id"], name)
        if key not in self.sessions:
            held = self.known.sessions.get(key)
            if held is None:
                row = self._run("read_session", {**bound, "session_id": name}).fetchone()
                if row is not None and session_digest(row) != row[len(SESSION)]:
                    raise StoreCorrupt(session_problem(row[0]))
                held = None if row is None else rows.to_session(row)
            self.sessions[key] = held
        return self.sessions[key]

    def put_session(self, bound: Bound, session: Session) -> None:
        """Insert or replace a session."""
        key = (bound["namespace"], bound["user_id"], session.name)
        self.counters(bound)
        self._put("sessions", key, session)
        self._put("changed_sessions", key, None)

    def put_due(self, bound: Bound, kind: str, ref: str, *, at: int, now: int) -> None:
        """Make work due at a time, or sooner where it was due later (microseconds)."""
        self.counters(bound)
        key = (bound["namespace"], bound["user_id"], kind, ref)
        held = self.dues.get(key)
        self._put("dues", key, (at if held is None else min(at, held[0]), now))

    def add_messages(self, bound: Bound, messages: Sequence[Message]) -> None:
        """Append to the journal."""
        for message in messages:
            params = rows.message_params(message)
            params.update(bound)
            self.messages.append(params)

    def add_change(self, bound: Bound, change: Change) -> int:
        """Append to the audit trail; returns its number, the next of its namespace."""
        namespace = bound["namespace"]
        self.counters(bound)
        seq = self.seqs.get(namespace)
        if seq is None:
            seq = self.known.seqs.get(namespace)
        if seq is None:
            row = self._run("read_change_seq", bound).fetchone()
            seq = rows.to_counters(row)[0] if row else 0
        seq += 1
        self._put("seqs", namespace, seq)
        params = rows.change_params(change, seq)
        params.update(bound)
        self.changes.append(params)
        for position, effect in enumerate(change.effects):
            revs = {"memory_id": effect.memory_id, "rev_before": effect.rev_before, "rev_after": effect.rev_after}
            self.effects.append({**revs, "change_id": change.id, "position": position, **bound})
        return seq

    def index(self, bound: Bound, entries: Sequence[Entry]) -> None:
        """Append documents to the words index.

        Raises:
            StoreCorrupt: a number is not after every number that is there.
        """
        owner = (bound["namespace"], bound["user_id"])
        words = self.words.get(owner)
        if words is None:
            tail = self.known.tails.get(owner) or self._tail(bound, entries)
            words = _Words(tail, Block(first=tail[0] if tail else 0))
        tail, block, opened, full = words.tail, words.block, words.opened, words.full
        for entry in entries:
            where = packed.place(tail and tail[:3], entry.number)
            if where.opens:
                full = (*full, (block, opened, tail))
                block, opened, tail = Block(first=where.first), True, (where.first, 0, 0, 0, 0)
            records, added = packed.encode(where, entry)
            first, size, weight, record_crc, entry_crc = tail or (0, 0, 0, 0, 0)
            block = Block(first=block.first, records=block.records + records, entries=block.entries + added)
            digests = (crc32(records, record_crc), crc32(added, entry_crc))
            tail = (first, size + len(records), weight + len(added), *digests)
        self._put("words", owner, _Words(tail, block, opened, full))
        self.move_index(bound)

    def _tail(self, bound: Bound, entries: Sequence[Entry]) -> Tail | None:
        """The last block of a scope, which documents may follow; None where they begin one.

        A last block that is damaged stays as it is, for whoever reads the index to see, and nothing is put behind it.
        """
        row = self._run("read_word_tail", bound).fetchone()
        if row is None or not entries:
            return None
        number = entries[0].number
        try:
            tail = rows.to_tail(row)
            packed.place(tail[:3], number)
        except StoreCorrupt:
            row = self._run("read_word_block_at", {**bound, "number": number}).fetchone()
            block = None if row is None else rows.to_block(row)
            if row is None or block is None or block.damaged:
                return None
            return rows.to_tail((block.first, len(block.records), len(block.entries), *row[3:]))
        return tail

    def move_index(self, bound: Bound) -> None:
        """Give the scope's words index another number."""
        counters = self.counters(bound)
        counters.index_rev += 1

    def flush(self) -> None:
        """Write everything that waits, before others read or write its tables; what was read is read again."""
        begun = self.begun
        self.apart = False
        self.known.clear()
        if begun is not None and begun.whole is None:
            begun.whole = self._copy()._undone(begun)  # noqa: SLF001 - a copy of this
        self.write()
        for container in (self.owners, self.seqs, self.sessions, self.changed_sessions, self.words, self.dues):
            container.clear()
        for made in (self.messages, self.changes, self.effects):
            made.clear()
        if begun is not None:
            begun.owners.clear()

    def write(self) -> None:
        """Write everything that waits, for good: the group ends."""
        with self.sql.together():
            self._write()

    def _write(self) -> None:
        self._many("put_owner", [self._owner_params(owner) for owner in self.owners])
        self._many("put_session", [self._session_params(key) for key in self.changed_sessions])
        self._many("put_change_seq", [{"namespace": name, "change_seq": seq} for name, seq in self.seqs.items()])
        self._many("insert_message", self.messages)
        self._many("insert_change", self.changes)
        self._many("insert_effect", self.effects)
        for owner, words in self.words.items():
            for block, opened, tail in (*words.full, (words.block, words.opened, words.tail)):
                self._write_block(owner, block, tail, opened=opened)
        self._many("put_due", [_due_params(key, at, now) for key, (at, now) in self.dues.items()])

    def _owner_params(self, owner: Owner) -> dict[str, Any]:
        held = self.owners[owner]
        counted = {"documents": held.documents, "sessions": held.sessions, "index_rev": held.index_rev}
        return {"namespace": owner[0], "user_id": owner[1], **counted}

    def _session_params(self, key: tuple[str, str, str]) -> dict[str, Any]:
        session = self.sessions[key]
        assert session is not None  # noqa: S101 - only sessions that were put are changed
        return {**rows.session_params(session), "namespace": key[0], "user_id": key[1]}

    def _write_block(self, owner: Owner, block: Block, tail: Tail | None, *, opened: bool) -> None:
        if block.records and tail is not None:
            name = "open_word_block" if opened else "append_word_block"
            params: dict[str, Any] = {"first": block.first, "records": block.records, "entries": block.entries}
            params.update(records_crc=tail[3] + block.first, entries_crc=tail[4])
            self._many(name, [{**params, "namespace": owner[0], "user_id": owner[1]}])

    def _many(self, name: str, params: Sequence[Bound]) -> None:
        if params:
            self.sql.many(name, params)

    def _run(self, name: str, params: Bound) -> Rows:
        return self.sql.run(name, params)


def _due_params(key: tuple[str, str, str, str], at: int, now: int) -> dict[str, Any]:
    namespace, user_id, kind, ref = key
    return {"namespace": namespace, "user_id": user_id, "kind": kind, "ref": ref, "due_at": at, "now": now}
