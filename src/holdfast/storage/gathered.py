"""Rows that a group of writes has made and not yet written: appended to the same tables, they are written together.

Most writes append: a message, its change, its words, and the counters of their scope. Sixty-four of them in one group
need each counter once and each statement prepared once. What is gathered is written before anything else reads or
writes those tables, and before the group commits; so a unit of work cannot tell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast import packed
from holdfast.model import Change, Message, Session
from holdfast.packed import Block, Entry
from holdfast.storage import rows
from holdfast.storage.sql import Rows, Statements

__all__ = ["Gathered", "touching"]

Owner = tuple[str, str]
Bound = Mapping[str, Any]

_FROM = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+(owner|namespace|session|message|change|change_effect|word_block)\b")


def touching(queries: Mapping[str, str]) -> Mapping[str, bool]:
    """Which of the named statements read or write a table whose rows may be waiting here."""
    return {name: bool(_FROM.search(sql)) for name, sql in queries.items()}


@dataclass(slots=True)
class _Counters:
    """A scope's row of `owner`, with what was taken since."""

    documents: int
    sessions: int
    index_rev: int


@dataclass(slots=True)
class _Words:
    """The end of a scope's words index and what is to be appended to it; `opened` says that `block` is a new row."""

    tail: tuple[int, int, int] | None
    block: Block
    opened: bool = False
    full: tuple[tuple[Block, bool], ...] = ()


@dataclass(slots=True)
class Gathered:
    """The rows that wait, and the rows read to make them; one for each group of writes."""

    sql: Statements
    owners: dict[Owner, _Counters] = field(default_factory=dict)
    seqs: dict[str, int] = field(default_factory=dict)
    sessions: dict[tuple[str, str, str], Session | None] = field(default_factory=dict)
    changed_owners: dict[Owner, None] = field(default_factory=dict)
    changed_sessions: dict[tuple[str, str, str], None] = field(default_factory=dict)
    changed_seqs: dict[str, None] = field(default_factory=dict)
    words: dict[Owner, _Words] = field(default_factory=dict)
    messages: list[dict[str, Any]] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)
    effects: list[dict[str, Any]] = field(default_factory=list)

    def copy(self) -> Gathered:
        """The state to go back to where a write fails."""
        return Gathered(
            sql=self.sql,
            owners={owner: replace(counters) for owner, counters in self.owners.items()},
            seqs=self.seqs.copy(),
            sessions=self.sessions.copy(),
            changed_owners=self.changed_owners.copy(),
            changed_sessions=self.changed_sessions.copy(),
            changed_seqs=self.changed_seqs.copy(),
            words={owner: replace(words) for owner, words in self.words.items()},
            messages=self.messages.copy(),
            changes=self.changes.copy(),
            effects=self.effects.copy(),
        )

    def counters(self, bound: Bound) -> _Counters:
        """A scope's counters, about to be changed."""
        owner = (bound["namespace"], bound["user_id"])
        self.changed_owners[owner] = None
        held = self.owners.get(owner)
        if held is None:
            row = self._run("read_owner", bound).fetchone()
            held = self.owners[owner] = _Counters(*row) if row else _Counters(0, 0, 0)
        return held

    def session(self, bound: Bound, name: str) -> Session | None:
        """A session as it stands in this group."""
        key = (bound["namespace"], bound["user_id"], name)
        if key not in self.sessions:
            row = self._run("read_session", {**bound, "session_id": name}).fetchone()
            self.sessions[key] = None if row is None else rows.to_session(row)
        return self.sessions[key]

    def put_session(self, bound: Bound, session: Session) -> None:
        """Insert or replace a session."""
        key = (bound["namespace"], bound["user_id"], session.name)
        self.counters(bound)
        self.sessions[key] = session
        self.changed_sessions[key] = None

    def add_messages(self, bound: Bound, messages: Sequence[Message]) -> None:
        """Append to the journal."""
        self.messages.extend({**rows.message_params(message), **bound} for message in messages)

    def add_change(self, bound: Bound, change: Change) -> Change:
        """Append to the audit trail, with the next number of its namespace."""
        namespace = bound["namespace"]
        self.counters(bound)
        if namespace not in self.seqs:
            row = self._run("read_change_seq", bound).fetchone()
            self.seqs[namespace] = int(row[0]) if row else 0
        self.seqs[namespace] += 1
        self.changed_seqs[namespace] = None
        numbered = replace(change, seq=self.seqs[namespace])
        self.changes.append({**rows.change_params(numbered), **bound})
        for position, effect in enumerate(numbered.effects):
            params = {"memory_id": effect.memory_id, "rev_before": effect.rev_before, "rev_after": effect.rev_after}
            self.effects.append({**params, "change_id": numbered.id, "position": position, **bound})
        return numbered

    def index(self, bound: Bound, entries: Sequence[Entry]) -> None:
        """Append documents to the words index.

        Raises:
            ValueError: a number is not after every number that is there.
        """
        owner = (bound["namespace"], bound["user_id"])
        words = self.words.get(owner)
        if words is None:
            row = self._run("read_word_tail", bound).fetchone()
            tail = None if row is None else (int(row[0]), int(row[1]), int(row[2]))
            words = self.words[owner] = _Words(tail, Block(first=tail[0] if tail else 0))
        for entry in entries:
            where = packed.place(words.tail, entry.number)
            if where.opens:
                words.full = (*words.full, (words.block, words.opened))
                words.block, words.opened, words.tail = Block(first=where.first), True, (where.first, 0, 0)
            records, added = packed.encode(where, entry)
            block, (first, size, weight) = words.block, words.tail or (0, 0, 0)
            words.block = Block(first=block.first, records=block.records + records, entries=block.entries + added)
            words.tail = (first, size + len(records), weight + len(added))
        self.move_index(bound)

    def move_index(self, bound: Bound) -> None:
        """Give the scope's words index another number."""
        counters = self.counters(bound)
        counters.index_rev += 1

    def flush(self) -> None:
        """Write everything that waits; what was read is read again when it is needed."""
        with self.sql.together():
            self._write()
        for container in (self.owners, self.seqs, self.sessions, self.words):
            container.clear()
        for changed in (self.changed_owners, self.changed_sessions, self.changed_seqs):
            changed.clear()
        for made in (self.messages, self.changes, self.effects):
            made.clear()

    def _write(self) -> None:
        if self.changed_owners:
            self._many("put_owner", [self._owner_params(owner) for owner in self.changed_owners])
        if self.changed_sessions:
            self._many("put_session", [self._session_params(key) for key in self.changed_sessions])
        if self.changed_seqs:
            self._many(
                "put_change_seq", [{"namespace": name, "change_seq": self.seqs[name]} for name in self.changed_seqs]
            )
        self._many("insert_message", self.messages)
        self._many("insert_change", self.changes)
        self._many("insert_effect", self.effects)
        for owner, words in self.words.items():
            for block, opened in (*words.full, (words.block, words.opened)):
                self._write_block(owner, block, opened=opened)

    def _owner_params(self, owner: Owner) -> dict[str, Any]:
        held = self.owners[owner]
        counted = {"documents": held.documents, "sessions": held.sessions, "index_rev": held.index_rev}
        return {"namespace": owner[0], "user_id": owner[1], **counted}

    def _session_params(self, key: tuple[str, str, str]) -> dict[str, Any]:
        session = self.sessions[key]
        assert session is not None  # noqa: S101 - only sessions that were put are changed
        return {**rows.session_params(session), "namespace": key[0], "user_id": key[1]}

    def _write_block(self, owner: Owner, block: Block, *, opened: bool) -> None:
        if block.records:
            name = "put_word_block" if opened else "append_word_block"
            params = {"first": block.first, "records": block.records, "entries": block.entries}
            self._run(name, {**params, "namespace": owner[0], "user_id": owner[1]})

    def _many(self, name: str, params: Sequence[Bound]) -> None:
        if params:
            self.sql.many(name, params)

    def _run(self, name: str, params: Bound) -> Rows:
        return self.sql.run(name, params)
