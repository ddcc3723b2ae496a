"""The read side of a transaction over any SQL: every statement is bound to the scope after the caller's parameters.

The statements are named; each store says them in its own dialect (`memhold.storage.sql.Statements`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memhold.messages.records import records_of
from memhold.ports.postings import Block
from memhold.ports.transaction import Listing, Place, Replay, Tombstone
from memhold.ports.vector_blocks import Generation, Nearest, VectorBlock
from memhold.storage.open_state import StoreTime
from memhold.storage.sql import rows
from memhold.storage.sql.blocks import Row, Rows, Statements
from memhold.storage.sql.digests import (
    CHANGE,
    MEMORY,
    MESSAGE,
    SESSION,
    change_digest,
    detail_digest,
    memory_digest,
    message_digest,
    session_digest,
    shown_id,
    sound_messages,
)
from memhold.values.errors import StoreCorrupt, StoreError
from memhold.values.records import (
    Change,
    Evidence,
    FactKey,
    HitKind,
    Kind,
    Memory,
    Message,
    Scope,
    Session,
    State,
    Suspicion,
    Tier,
    from_micros,
    micros,
)

if TYPE_CHECKING:
    from memhold.values.answers import Due

__all__ = ["ENDLESS", "SqlRead"]

ENDLESS = 2**62
"""No limit: behind every number that is taken."""
# Where a row of content has its digest, its id and its number.
_MESSAGE_CRC, _MEMORY_CRC, _CHANGE_CRC = len(MESSAGE), len(MEMORY), len(CHANGE)
_MESSAGE_ID, _MEMORY_ID, _CHANGE_ID = MESSAGE.index("id"), MEMORY.index("id"), CHANGE.index("id")
_MESSAGE_NUMBER, _MEMORY_NUMBER = MESSAGE.index("number"), MEMORY.index("number")
_KIND = MEMORY.index("kind")
_LISTED_TIMES = ("written_since", "written_until", "unconfirmed_since")
_SEQ, _REV, _KEY, _DETAIL = MESSAGE.index("seq"), MEMORY.index("rev"), MEMORY.index("fact_key"), CHANGE.index("detail")


def _indexed(item: Message | Memory) -> Sequence[Message | Memory]:
    """What an index holds of a row: a message once for each of its writers."""
    return records_of(item) if isinstance(item, Message) else (item,)


def _listed(values: Sequence[str] | None) -> str | None:
    """A closed set of words as `,a,b,` for `instr`: one statement serves every combination."""
    return None if values is None else f",{','.join(values)},"


def _number(row: Row) -> int:
    """The number of a memory's row; one that is none is damaged, and stands first."""
    number = row[_MEMORY_NUMBER]
    return number if isinstance(number, int) else -1


def _beyond(value: Any, after: Any) -> Any:
    """Where a page goes on: what its last row, which may be damaged, has to say beyond where it began.

    Raises:
        StoreCorrupt: it says nothing of the kind, so the page would come again for ever.
    """
    with suppress(TypeError):
        if value > after:
            return value
    raise StoreCorrupt("rows cannot be read in their order; run 'memhold doctor', then 'memhold restore'")


class SqlRead:
    """`ReadTx` over the statements of a connection that is inside a transaction."""

    def __init__(self, sql: Statements, scope: Scope, time: StoreTime) -> None:
        self._sql = sql
        self._scope = scope
        self._time = time
        self._ended = False
        self._damaged: dict[str, int] = {}
        self._bound = {"namespace": scope.namespace, "user_id": scope.user or ""}

    def end(self) -> None:
        """Refuse everything from now on: a transaction that outlives its unit of work would write outside of one."""
        self._ended = True

    def _check_open(self) -> None:
        if self._ended:
            raise StoreError("this transaction has ended; use it only inside its unit of work")

    @property
    def scope(self) -> Scope:
        return self._scope

    @property
    def now(self) -> datetime:
        return self._time.dated

    @property
    def damaged(self) -> Mapping[str, int]:
        return self._damaged

    def _content(self, name: str, **params: Any) -> Sequence[Row]:
        """The rows of content that a statement gives; text that is no text any more comes with lone surrogates."""
        rows = self._run(name, **params)
        try:
            return rows.fetchall()
        except UnicodeDecodeError:
            return self._sql.undecoded(name, {**params, **self._bound})

    def _contents(self, name: str, params: Sequence[Mapping[str, Any]]) -> list[Row]:
        """The rows of content of one statement for each of these parameters, in their order."""
        try:
            return [row for one in self._each(name, params) for row in one]
        except UnicodeDecodeError:
            return [row for one in params for row in self._content(name, **one)]

    def _messages(self, found: Iterable[Row]) -> list[Message]:
        """The messages of these rows; one that does not agree with its digest is left out, and noted."""
        found = list(found)
        if sound_messages(found):
            return [rows.to_message(row) for row in found]
        sound = []
        for row in found:
            if message_digest(row) == row[_MESSAGE_CRC]:
                sound.append(rows.to_message(row))
            else:
                self._note("message", row[_MESSAGE_ID], row[_MESSAGE_NUMBER])
        return sound

    def _note(self, table: str, item: Any, number: Any) -> None:
        self._damaged[shown_id(table, item)] = number if isinstance(number, int) else -1

    def _run(self, name: str, **params: Any) -> Rows:
        self._check_open()
        # The scope is bound last, so that no caller's parameter can replace it.
        return self._sql.run(name, {**params, **self._bound})

    def _each(self, name: str, params: Sequence[Mapping[str, Any]]) -> list[list[Row]]:
        """The rows of one statement for each of these parameters, in their order."""
        self._check_open()
        return self._sql.each(name, [{**one, **self._bound} for one in params]) if params else []

    def _value(self, name: str, **params: Any) -> Any:
        row = self._run(name, **params).fetchone()
        return None if row is None else row[0]

    def _first(self, name: str, **params: Any) -> Row | None:
        return self._run(name, **params).fetchone()

    def _memories(self, found: Sequence[Row]) -> list[Memory]:
        """The memories of these rows with their sources; what does not agree with its digest is left out, and noted."""
        sound = [row for row in found if memory_digest(row) == row[_MEMORY_CRC]]
        if len(sound) < len(found):
            for row in found:
                if memory_digest(row) != row[_MEMORY_CRC]:
                    self._note("memory", row[_MEMORY_ID], row[_MEMORY_NUMBER])
        # A document is derived from nothing: it has no sources to look for.
        derived = [(row[_MEMORY_ID], row[_REV]) for row in sound if row[_KIND] != "document"]
        named = iter(self._sources(derived))
        return [rows.to_memory(row, () if row[_KIND] == "document" else next(named)) for row in sound]

    def _sources(self, revisions: Sequence[tuple[str, int]]) -> list[tuple[str, ...]]:
        """The sources of each of these memories as of a revision of it, in one statement."""
        found: list[list[str]] = [[] for _ in revisions]
        if revisions:
            for place, source in self._run("read_sources", revisions=json.dumps(revisions)):
                found[place].append(str(source))
        return [tuple(sources) for sources in found]

    def session(self, name: str) -> Session | None:
        row = self._first("read_session", session_id=name)
        return None if row is None else self._session(row)

    def find_session(self, session_id: str) -> Session | None:
        row = self._first("read_session_by_id", id=session_id)
        return None if row is None else self._session(row)

    def sessions(self) -> list[Session]:
        return [self._session(row) for row in self._run("read_sessions")]

    def _session(self, row: Row) -> Session:
        """The session of a row as it stands there; that it does not agree with its digest is noted."""
        session = rows.to_session(row)
        if session_digest(row) != row[len(SESSION)]:
            self._note("session", session.id, -1)
        return session

    def count_messages(self, sessions: Sequence[str]) -> Mapping[str, int]:
        asked = [{"session_id": name, "agent_id": self.scope.agent} for name in sessions]
        counted = self._each("count_session_messages", asked)
        return {name: int(found[0][0]) for name, found in zip(sessions, counted, strict=True) if found[0][0]}

    def count_waiting(self) -> int:
        return int(self._value("count_waiting_messages"))

    def last_seen(self) -> Mapping[str, datetime]:
        found = self._run("read_last_seen", agent_id=self.scope.agent)
        return {str(name): from_micros(at) for name, at in found if at is not None}

    def messages(
        self,
        session: str,
        *,
        after: int = 0,
        until: int | None = None,
        limit: int | None = None,
        newest: bool = False,
        every_agent: bool = False,
    ) -> list[Message]:
        found = self._content(
            "read_newest_messages" if newest else "read_messages",
            session_id=session,
            agent_id=None if every_agent else self.scope.agent,
            after=after,
            until=ENDLESS if until is None else until,
            limit=ENDLESS if limit is None else limit,
        )
        messages = self._messages(found)
        if limit is not None and len(messages) < len(found) == limit:
            # A page stays full where rows of it were left out: who reads page by page takes a short one for the last.
            seq = found[-1][_SEQ]
            _beyond(*((ENDLESS if until is None else until + 1, seq) if newest else (seq, after)))
            span = {"after": after, "until": seq - 1} if newest else {"after": seq, "until": until}
            rest = self.messages(session, limit=limit - len(messages), newest=newest, every_agent=every_agent, **span)
            return [*rest, *messages[::-1]] if newest else [*messages, *rest]
        return messages[::-1] if newest else messages

    def find_messages(self, ids: Sequence[str]) -> list[Message]:
        return self._messages(self._contents("read_message_by_id", [{"id": item} for item in ids]))

    def unattributed(self, *, after: int = -1, limit: int) -> list[Message]:
        return self._messages(self._content("read_unattributed", after=after, limit=limit))

    def find_memories(self, ids: Sequence[str]) -> list[Memory]:
        return self._memories(self._contents("read_memory", [{"id": item} for item in ids]))

    def find_numbers(self, numbers: Sequence[int]) -> list[Message | Memory]:
        def rows_of(name: str, left: Iterable[int]) -> Sequence[Row]:
            return self._contents(name, [{"number": number} for number in left])

        found: dict[int, Message | Memory] = {}
        said = self._messages(rows_of("read_message_by_number", numbers))
        found |= {record.number: record for message in said for record in records_of(message)}
        learnt = self._memories(rows_of("read_memory_by_number", [one for one in numbers if one not in found]))
        found |= {memory.number: memory for memory in learnt}
        said = self._messages(rows_of("read_message_before", [one for one in numbers if one not in found]))
        found |= {record.number: record for message in said for record in records_of(message)}
        return [found[number] for number in numbers if number in found]

    def hidden(self, by: str | None = None) -> list[Message | Memory]:
        messages = self._messages(self._content("read_hidden_messages", by=by))
        memories = self._memories(self._content("read_hidden_memories", by=by))
        return sorted([*messages, *memories], key=lambda item: item.number)

    def list_memories(self, listing: Listing) -> list[Memory]:
        found = self._content(
            "list_memories",
            kinds=_listed(listing.kinds),
            states=_listed(listing.states),
            agent_id=listing.agent,
            session_id=listing.session,
            origin=listing.origin,
            actor=listing.actor,
            subject=listing.subject,
            **{name: rows.opt_micros(getattr(listing, name)) for name in _LISTED_TIMES},
            after=listing.after,
            limit=listing.limit,
        )
        memories = [one for one in self._memories(found) if listing.take(one)]
        if len(memories) < len(found) == listing.limit:
            rest = replace(
                listing, after=_beyond(found[-1][_MEMORY_NUMBER], listing.after), limit=listing.limit - len(memories)
            )
            memories += self.list_memories(rest)
        return memories

    def at_paths(self, first: str, until: str, *, after: int = -1, limit: int, former: bool = False) -> list[Memory]:
        name = "read_former_paths" if former else "read_paths"
        found = self._content(name, first=first, until=until, after=after, limit=limit)
        memories = self._memories(found)
        if len(memories) < len(found) == limit:
            # A page stays full where rows of it were left out.
            at, number = _beyond((found[-1][_KEY], found[-1][_MEMORY_NUMBER]), (first, after))
            memories += self.at_paths(at, until, after=number, limit=limit - len(memories), former=former)
        return memories

    def places(self, first: str, until: str) -> list[Place]:
        return [rows.to_place(row) for row in self._content("read_places", first=first, until=until)]

    def newest_memories(
        self,
        kind: Kind,
        *,
        state: State = "active",
        tier: Tier,
        agent: str | None = None,
        session: str | None = None,
        told: bool | None = None,
        limit: int,
    ) -> list[Memory]:
        name = "newest_memories" if told is None else "newest_told" if told else "newest_brought"
        params = {"kind": kind, "state": state, "tier": tier, "agent_id": agent, "session_id": session, "limit": limit}
        return self._memories(self._content(name, **params))

    def quoting(self, ids: Sequence[str]) -> list[Message]:
        found = {
            row[_MESSAGE_NUMBER]: row for row in self._contents("read_quoting", [{"item_id": item} for item in ids])
        }
        return self._messages(row for _, row in sorted(found.items()))

    def facts(self, *, subject: str, key: str, agent: str | None, since: datetime | None = None) -> list[Memory]:
        asked = {"subject": subject, "fact_key": key, "agent_id": agent or "", "since": rows.opt_micros(since)}
        return self._memories(self._content("read_facts", **asked))

    def fact_key(self, *, subject: str, attribute: str, agent: str | None) -> FactKey | None:
        row = self._first("read_fact_key", subject=subject, attribute=attribute, agent_id=agent or "")
        return None if row is None else FactKey(subject=row[0], attribute=row[1], key=row[2])

    def fact_keys(self, agent: str | None) -> list[FactKey]:
        found = self._run("read_fact_keys", agent_id=agent or "")
        return [FactKey(subject=row[0], attribute=row[1], key=row[2]) for row in found]

    def evidence(self, memory_ids: Sequence[str]) -> list[Evidence]:
        found = self._each("read_evidence", [{"memory_id": one} for one in memory_ids])
        return [rows.to_evidence(row) for one in found for row in one]

    def suspicions(self) -> list[Suspicion]:
        return [rows.to_suspicion(row) for row in self._run("read_suspicions").fetchall()]

    def key_vectors(self, fingerprint: str) -> Mapping[bytes, bytes]:
        found: list[Any] = list(self._run("read_key_vectors", fingerprint=fingerprint))
        return dict(found)

    def same_content(self, *, kind: Kind, digest: bytes, agent: str | None) -> Memory | None:
        found = self._memories(self._content("read_same_content", kind=kind, digest=digest, agent_id=agent or ""))
        return found[0] if found else None

    def revisions(self, memory_id: str) -> list[Memory]:
        return self._memories(self._content("read_revisions", id=memory_id))

    def held(self, *, as_of: datetime, known_at: datetime | None) -> list[Memory]:
        if known_at is None:
            return self._memories(self._content("read_held", as_of=micros(as_of)))
        known = micros(known_at)
        seq = int(self._value("read_known_seq", known_at=known))
        found = self._content("read_held_known", as_of=micros(as_of), known_at=known, known_seq=seq)
        return self._memories(found)

    def derived(self, ids: Sequence[str]) -> list[Memory]:
        found = {row[_MEMORY_ID]: row for row in self._contents("read_derived", [{"source_id": item} for item in ids])}
        return self._memories(sorted(found.values(), key=_number))

    def changes(
        self, *, memory_id: str | None = None, verb: str | None = None, after: int = 0, limit: int = 1000
    ) -> list[Change]:
        if memory_id is not None:
            found = self._content("read_changes_of", memory_id=memory_id, after=after, limit=limit)
        elif verb is not None:
            found = self._content("read_changes_by", verb=verb, after=after, limit=limit)
        else:
            found = self._content("read_changes", after=after, limit=limit)
        changes = self._changes(found)
        if len(changes) < len(found) == limit:
            seq = _beyond(found[-1][0], after)
            changes += self.changes(memory_id=memory_id, verb=verb, after=seq, limit=limit - len(changes))
        return changes

    def find_change(self, change_id: str) -> Change | None:
        found = self._changes(self._content("read_change", id=change_id))
        return found[0] if found else None

    def _changes(self, found: Sequence[Row]) -> list[Change]:
        """The changes of these rows with their effects; one that does not agree with its digests is left out."""
        sound = []
        for row in found:
            if (change_digest(row), detail_digest(row[_DETAIL])) == tuple(row[_CHANGE_CRC:]):
                sound.append(row)
            else:
                self._note("change", row[_CHANGE_ID], -1)
        effects = self._each("read_effects", [{"change_id": row[_CHANGE_ID]} for row in sound])
        return [rows.to_change(row, touched) for row, touched in zip(sound, effects, strict=True)]

    def progress(self, name: str) -> int:
        return int(self._value("read_progress", upkeep=name) or 0)

    def lost(self) -> list[str]:
        return [str(item) for (item,) in self._run("read_lost")]

    def replay(self, verb: str, key_digest: bytes) -> Replay | None:
        row = self._first("read_replay", verb=verb, key_digest=key_digest, now=micros(self.now))
        return None if row is None else rows.to_replay(row)

    def tombstone(self, item_id: str) -> Tombstone | None:
        row = self._first("read_tombstone", id=item_id)
        return None if row is None else rows.to_tombstone(row)

    def blocked(self, digest: bytes) -> bool:
        return self._first("read_blocked", digest=digest) is not None

    def known(self, ids: Sequence[str]) -> frozenset[str]:
        found = self._each("read_known", [{"id": item} for item in ids])
        return frozenset(item for item, there in zip(ids, found, strict=True) if there)

    def documents(self, *, after: int = -1, limit: int = 1000) -> list[tuple[Message | Memory, bool]]:
        while True:
            messages = self._content("read_message_documents", after=after, limit=limit)
            memories = self._content("read_memory_documents", after=after, limit=limit)
            hidden = {row[_MESSAGE_ID]: bool(row[-1]) for row in messages}
            hidden |= {row[_MEMORY_ID]: bool(row[-1]) for row in memories}
            # Behind the last row of a full page rows of its kind may follow, also where damaged ones leave it shorter.
            # A number that is none sorts behind all numbers: nothing sound follows it.
            lasts = [
                page[-1][number]
                for page, number in ((messages, _MESSAGE_NUMBER), (memories, _MEMORY_NUMBER))
                if len(page) == limit
            ]
            ends = [last for last in lasts if isinstance(last, int)]
            items: list[Message | Memory] = [*self._messages(messages), *self._memories(memories)]
            known = sorted((item for item in items if not ends or item.number <= min(ends)), key=lambda one: one.number)
            if known or not ends:
                return [(one, hidden[item.id]) for item in known[:limit] for one in _indexed(item)]
            after = min(ends)

    def blocks(self) -> list[Block]:
        found = self._run("read_word_blocks")
        return [rows.to_block(row) for row in found]

    def index_rev(self) -> int:
        row = self._first("read_index_rev")
        return 0 if row is None else rows.to_counters(row)[0]

    def agents(self) -> Mapping[str, int]:
        found: list[Any] = list(self._run("read_agents"))
        return dict(found)

    def document_count(self) -> int:
        row = self._first("read_document_count")
        return 0 if row is None else rows.to_counters(row)[0]

    def generations(self) -> list[Generation]:
        return [rows.to_generation(row) for row in self._run("read_generations")]

    def vector_rev(self) -> int:
        row = self._first("read_vector_rev")
        return 0 if row is None else rows.to_counters(row)[0]

    def vector_marks(self, generation: int) -> list[VectorBlock]:
        found = self._run("read_vector_marks", generation=generation)
        return [VectorBlock(first=first, rev=rev, marks=marks, stored=stored) for first, rev, marks, stored in found]

    def vector_blocks(self, generation: int, firsts: Sequence[int]) -> list[VectorBlock]:
        read = self._each("read_vector_block", [{"generation": generation, "first": first} for first in firsts])
        return [rows.to_vectors(row) for one in read for row in one]

    def nearest(
        self, generation: int, vector: bytes, limit: int, also: Callable[[], Sequence[int]] = tuple
    ) -> Nearest | None:
        """None: a file keeps no such index, and a writer asks none."""
        del generation, vector, limit, also
        self._check_open()
        return None

    def due(self) -> list[Due]:
        return [rows.to_due(row) for row in self._run("read_due")]

    def due_item(self, kind: str, ref: str) -> Due | None:
        row = self._first("read_due_item", kind=kind, ref=ref)
        return None if row is None else rows.to_due(row)

    def overdue(self, kind: str) -> list[str]:
        return [str(ref) for (ref,) in self._run("read_overdue", kind=kind, now=micros(self._time.clock))]

    def leased(self) -> int:
        return int(self._value("count_leased", now=micros(self._time.clock)))

    def counts(self) -> Mapping[tuple[HitKind, str, str], int]:
        found: dict[tuple[HitKind, str, str], int] = {("message", "", "active"): self._value("count_messages")}
        for kind, tier, state, count in self._run("count_memories"):
            found[kind, tier, state] = count
        return found
