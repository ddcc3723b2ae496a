"""The read half of a transaction over the rows of one scope."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import takewhile

from memhold.messages.records import records_of
from memhold.ports.postings import Block
from memhold.ports.transaction import Listing, Place, Replay, Tombstone
from memhold.ports.vector_blocks import Generation, Nearest, VectorBlock
from memhold.storage.inmemory.rows import Claim, DueKey, Revisions, Rows, ScopeRows, Shelf
from memhold.storage.open_state import StoreTime
from memhold.values.answers import Due
from memhold.values.errors import StoreError
from memhold.values.filters import Filters
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

__all__ = ["InMemoryReadTx"]


class InMemoryReadTx:
    """A `ReadTx` over shelves. It may be used until its unit of work returns, and refuses afterwards."""

    def __init__(self, rows: Rows, scope: Scope, time: StoreTime) -> None:
        self._all = rows
        self._scope = scope
        self._now = micros(time.dated)
        self._clock = micros(time.clock)
        self._open = True

    def end(self) -> None:
        """Refuse from now on: a unit of work that leaks its transaction is a fault of the caller."""
        self._open = False

    @property
    def _rows(self) -> ScopeRows:
        self._refuse_ended()
        return self._all.of(self._scope)

    @property
    def _due(self) -> Shelf[DueKey, Claim]:
        self._refuse_ended()
        return self._all.due

    def _refuse_ended(self) -> None:
        if not self._open:
            raise StoreError("the transaction is over; a unit of work must not keep it")

    @property
    def scope(self) -> Scope:
        """The scope that every statement of this transaction is bound to."""
        return self._scope

    @property
    def now(self) -> datetime:
        """The store's clock in this transaction."""
        return from_micros(self._now)

    @property
    def damaged(self) -> Mapping[str, int]:
        """Nothing: what is kept in memory does not rot on a disk."""
        return {}

    def session(self, name: str) -> Session | None:
        """The session of that name."""
        return self._rows.sessions.get(name)

    def find_session(self, session_id: str) -> Session | None:
        """The session of that id."""
        return next((session for session in self._rows.sessions.values() if session.id == session_id), None)

    def sessions(self) -> list[Session]:
        """All sessions of the scope, in order of creation."""
        return sorted(self._rows.sessions.values(), key=lambda session: session.number)

    def count_messages(self, sessions: Sequence[str]) -> Mapping[str, int]:
        """How many messages of each of these sessions the scope's agent sees."""
        wanted = set(sessions)
        return dict(Counter(name for name, _, _ in self._places() if name in wanted))

    def last_seen(self) -> Mapping[str, datetime]:
        """When the newest message that the scope's agent sees of each session was recorded."""
        newest = {name: row for name, _, row in sorted(self._places(), key=lambda place: place[:2])}
        return {name: row.recorded_at for name, row in newest.items()}

    def _places(self, *, every_agent: bool = False) -> Iterator[tuple[str, int, Message]]:
        """Session, seq and row of each message that is shown and that the scope's agent sees."""
        agent, rows = None if every_agent else self._scope.agent, self._rows
        for (name, seq), one in rows.journal.items():
            sealed = rows.messages.get(one)
            if sealed is not None and one not in rows.hidden and agent in {None, sealed.row.agent or agent}:
                yield name, seq, sealed.row

    def count_waiting(self) -> int:
        """How many messages of the scope stand behind the cursors of their sessions, whoever they are of."""
        rows = self._rows
        cursors = {session.name: session.cursor for session in rows.sessions.values()}
        return sum(
            seq > cursors.get(name, 0) and one in rows.messages and one not in rows.hidden
            for (name, seq), one in rows.journal.items()
        )

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
        """Messages of a session with `after < seq <= until`, oldest first."""
        places = [
            (seq, row.id)
            for name, seq, row in self._places(every_agent=every_agent)
            if name == session and after < seq and (until is None or seq <= until)
        ]
        ids = [one for _, one in sorted(places)]
        if limit is not None:
            ids = (ids[-limit:] if limit else []) if newest else ids[:limit]
        return self.find_messages(ids)

    def find_messages(self, ids: Sequence[str]) -> list[Message]:
        """The messages of these ids, in the order of the ids."""
        rows = self._rows
        shown = (rows.messages.get(one) for one in ids if one not in rows.hidden)
        return [sealed.open() for sealed in shown if sealed is not None]

    def unattributed(self, *, after: int = -1, limit: int) -> list[Message]:
        """None: nothing is stored here from before it was kept who wrote a message."""
        del after, limit
        return []

    def find_memories(self, ids: Sequence[str]) -> list[Memory]:
        """The memories of these ids, in the order of the ids."""
        rows = self._rows
        shown = (rows.memories.get(one) for one in ids if one not in rows.hidden)
        return [kept.sealed[-1].open() for kept in shown if kept is not None]

    def find_numbers(self, numbers: Sequence[int]) -> list[Message | Memory]:
        """The messages and memories with these document numbers, in the order of the numbers."""
        found: list[Message | Memory] = []
        for number in numbers:
            one = self._rows.numbers.get(number)
            found += [_record_at(message, number) for message in self.find_messages([] if one is None else [one])]
            found += self.find_memories([] if one is None else [one])
        return found

    def hidden(self, by: str | None = None) -> list[Message | Memory]:
        """What standing changes, or one of them, hide from every other read, by document number."""
        rows = self._rows
        found = [one for one, change_id in rows.hidden.items() if by is None or change_id == by]
        messages = [sealed.open() for one in found if (sealed := rows.messages.get(one)) is not None]
        memories = [kept.sealed[-1].open() for one in found if (kept := rows.memories.get(one)) is not None]
        return sorted([*messages, *memories], key=lambda item: item.number)

    def list_memories(self, listing: Listing) -> list[Memory]:
        """Memories that pass the filters as they stand, by document number."""
        found = self._current(lambda kept: kept.current.number > listing.after and listing.take(kept.current))
        return [kept.sealed[-1].open() for kept in found[: listing.limit]]

    def at_paths(self, first: str, until: str, *, after: int = -1, limit: int, former: bool = False) -> list[Memory]:
        """Documents with a key from `first` to before `until`, by key and number."""

        def wanted(memory: Memory) -> bool:
            current = memory.kind == "document" and (former or memory.state == "active")
            return current and (first, after) < (memory.key or "", memory.number) and (memory.key or "") < until

        found = [kept for kept in self._rows.memories.values() if wanted(kept.current)]
        shown = [kept for kept in found if kept.current.id not in self._rows.hidden]
        shown.sort(key=lambda kept: (kept.current.key or "", kept.current.number))
        return [kept.sealed[-1].open() for kept in shown[:limit]]

    def places(self, first: str, until: str) -> list[Place]:
        """Of the documents with a key from `first` to before `until`, where and whose each is, by key and number."""
        found = self._current(
            lambda kept: (
                kept.current.kind == "document"
                and kept.current.state == "active"
                and first <= (kept.current.key or "") < until
            )
        )
        held = (kept.current for kept in found)
        return sorted(
            (Place(one.number, one.key or "", one.agent, one.expires_at) for one in held),
            key=lambda place: (place.key, place.number),
        )

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
        """The last `limit` memories of a kind, state and tier, newest first."""
        wanted = Filters(kinds=(kind,), states=(state,), tiers=(tier,), agent=agent, session=session)
        found = self._current(
            lambda kept: (
                (told is None or (kept.current.origin in {"user", "model"}) == told) and wanted.take(kept.current)
            )
        )
        return [kept.sealed[-1].open() for kept in found[::-1][:limit]]

    def quoting(self, ids: Sequence[str]) -> list[Message]:
        """The messages that quote one of these ids, hidden ones too, by number."""
        wanted = set(ids)
        found = [
            sealed.open()
            for sealed in self._rows.messages.values()
            if any(not wanted.isdisjoint(quote.ids) for quote in sealed.row.quotes)
        ]
        return sorted(found, key=lambda message: message.number)

    def facts(self, *, subject: str, key: str, agent: str | None, since: datetime | None = None) -> list[Memory]:
        """Every fact of this subject, key and exactly this agent that is not forgotten, by `valid_from`."""

        def wanted(memory: Memory) -> bool:
            return (memory.kind, memory.subject, memory.key, memory.agent) == ("fact", subject, key, agent)

        found = [kept.sealed[-1].open() for kept in self._current(lambda kept: wanted(kept.current))]
        found.sort(key=lambda memory: (memory.valid_from, memory.number))
        return found if since is None else _met(found, since)

    def fact_key(self, *, subject: str, attribute: str, agent: str | None) -> FactKey | None:
        """The key of the oldest fact with exactly this wording."""
        found = (one for one in self.fact_keys(agent) if (one.subject, one.attribute) == (subject, attribute))
        return next(found, None)

    def fact_keys(self, agent: str | None) -> list[FactKey]:
        """Each wording of a subject and attribute, oldest first, with its key."""

        def wanted(memory: Memory) -> bool:
            return memory.kind == "fact" and memory.agent == agent and memory.state != "merged"

        found = (kept.current for kept in self._current(lambda kept: wanted(kept.current)))
        keys = (FactKey(subject=m.subject or "", attribute=m.attribute or "", key=m.key or "") for m in found)
        return list(dict.fromkeys(keys))

    def evidence(self, memory_ids: Sequence[str]) -> list[Evidence]:
        """What speaks of these memories, but for what came with a change that was undone."""
        found = (one for memory_id in memory_ids for one in self._rows.evidence.get(memory_id) or ())
        return [one for one in found if not self._undone(one.change_id)]

    def suspicions(self) -> list[Suspicion]:
        """Suspicions whose memories can be read, as the changes that stand leave them."""
        found = []
        for one in sorted(self._rows.suspicions.values(), key=lambda one: (one.at, one.id)):
            if len(self.find_memories([one.memory_id, one.other_id])) < 2 or self._undone(one.change_id):
                continue
            found.append(replace(one, settled=None, settled_by=None) if self._undone(one.settled_by) else one)
        return found

    def key_vectors(self, fingerprint: str) -> Mapping[bytes, bytes]:
        """The vectors of keys of this generation, by the digest of the key."""
        held = self._rows.key_vectors.items()
        return {digest: vector for digest, (made_by, vector) in held if made_by == fingerprint}

    def _undone(self, change_id: str | None) -> bool:
        sealed = None if change_id is None else self._rows.changes.get(change_id)
        return sealed is not None and sealed.row.undone_by is not None

    def same_content(self, *, kind: Kind, digest: bytes, agent: str | None) -> Memory | None:
        """The active memory of this kind, agent and content digest."""
        rows = self._rows
        shown = (rows.memories.get(one) for one in rows.digests.get(digest) or () if one not in rows.hidden)
        found = [
            kept
            for kept in shown
            if kept is not None
            and kept.digest == digest
            and (kept.current.kind, kept.current.agent, kept.current.state) == (kind, agent, "active")
        ]
        return min(found, key=lambda kept: kept.current.number).sealed[-1].open() if found else None

    def revisions(self, memory_id: str) -> list[Memory]:
        """All revisions of a memory, oldest first, the current one last."""
        kept = None if memory_id in self._rows.hidden else self._rows.memories.get(memory_id)
        return [] if kept is None else [sealed.open() for sealed in kept.sealed]

    def held(self, *, as_of: datetime, known_at: datetime | None) -> list[Memory]:
        """The revisions that `known_at` knew and that held at `as_of`, by document number."""
        every = self._current(lambda _: True)
        if known_at is None:
            return [kept.sealed[-1].open() for kept in every if _held(kept.current, as_of)]
        changes = [sealed.row for sealed in self._rows.changes.values()]
        seq = max((change.seq for change in changes if change.at <= known_at), default=0)
        made = {
            (effect.memory_id, effect.rev_after, change.at): change.seq
            for change in sorted(changes, key=lambda one: -one.seq)
            for effect in change.effects
            if effect.rev_before < effect.rev_after
        }

        def known(memory: Memory) -> bool:
            begun = made.get((memory.id, memory.rev, memory.recorded_at))
            if (begun is None and memory.recorded_at > known_at) or (begun is not None and begun > seq):
                return False
            if memory.unrecorded_at is None:
                return True
            ended = made.get((memory.id, memory.rev + 1, memory.unrecorded_at))
            return memory.unrecorded_at > known_at if ended is None else ended > seq

        return [
            sealed.open() for kept in every for sealed in kept.sealed if _held(sealed.row, as_of) and known(sealed.row)
        ]

    def derived(self, ids: Sequence[str]) -> list[Memory]:
        """The memories whose current revision names one of these ids as a source, by document number."""
        wanted = set(ids)
        found = self._current(lambda kept: not wanted.isdisjoint(kept.current.sources))
        return [kept.sealed[-1].open() for kept in found]

    def changes(
        self, *, memory_id: str | None = None, verb: str | None = None, after: int = 0, limit: int = 1000
    ) -> list[Change]:
        """Changes with `seq > after`, oldest first."""
        rows = self._rows
        if memory_id is None:
            # From the newest back: what was read before is not looked at.
            behind = list(takewhile(lambda sealed: sealed.row.seq > after, rows.changes.latest()))
            found = [sealed for sealed in reversed(behind) if verb is None or sealed.row.verb == verb]
        else:
            held = (rows.changes.get(change_id) for change_id in rows.touching.get(memory_id) or ())
            found = [sealed for sealed in held if sealed is not None and sealed.row.seq > after]
        return [sealed.open() for sealed in found[:limit]]

    def find_change(self, change_id: str) -> Change | None:
        """One change, its effects without content."""
        sealed = self._rows.changes.get(change_id)
        return None if sealed is None else sealed.open()

    def progress(self, name: str) -> int:
        """How far the upkeep of that name has read the scope's changes."""
        return self._rows.progress.get(name) or 0

    def lost(self) -> list[str]:
        """None: nothing rots in memory."""
        return []

    def replay(self, verb: str, key_digest: bytes) -> Replay | None:
        """What this idempotency key was used for, unless it has expired."""
        kept = self._rows.keys.get((verb, key_digest))
        if kept is None or (kept.expires_at is not None and micros(kept.expires_at) <= self._now):
            return None
        return kept

    def tombstone(self, item_id: str) -> Tombstone | None:
        """What is left of a forgotten id."""
        return self._rows.tombstones.get(item_id)

    def blocked(self, digest: bytes) -> bool:
        """Whether content of this digest was forgotten with its sources kept."""
        return any(stone.digest == digest for stone in self._rows.tombstones.values())

    def known(self, ids: Sequence[str]) -> frozenset[str]:
        """Those of these ids that the scope has or had, hidden and forgotten ones too."""
        rows = self._rows
        return frozenset(one for one in ids if one in rows.messages or one in rows.memories or one in rows.tombstones)

    def documents(self, *, after: int = -1, limit: int = 1000) -> list[tuple[Message | Memory, bool]]:
        """Messages and current memories after a document number, by number, and whether each is hidden."""
        rows = self._rows
        found: list[tuple[Message | Memory, bool]] = []
        for number, one in sorted((number, one) for number, one in rows.numbers.items() if number > after)[:limit]:
            message, memory = rows.messages.get(one), rows.memories.get(one)
            if message is not None:
                found.append((_record_at(message.open(), number), one in rows.hidden))
            elif memory is not None:
                found.append((memory.sealed[-1].open(), one in rows.hidden))
        return found

    def blocks(self) -> list[Block]:
        """The words index of the scope, in order of `first`."""
        return sorted(self._rows.blocks.values(), key=lambda block: block.first)

    def index_rev(self) -> int:
        """A number that changes with every change of the words index; it grows also when the change is taken back."""
        return self._rows.index_rev

    def agents(self) -> Mapping[str, int]:
        """The number that stands for each agent of the scope in the words index, from 1."""
        return dict(self._rows.agents.items())

    def document_count(self) -> int:
        """How many document numbers were taken so far."""
        return self._rows.counters.get("document") or 0

    def generations(self) -> list[Generation]:
        """The generations of vectors of the whole store, by number."""
        self._refuse_ended()
        return sorted(self._all.generations.values(), key=lambda generation: generation.number)

    def vector_rev(self) -> int:
        """A number that changes with every change of the vectors; it grows also when the change is taken back."""
        return self._rows.vector_rev

    def vector_marks(self, generation: int) -> list[VectorBlock]:
        """The blocks of one generation in order of `first`, without their vectors."""
        found = [block for (held, _), block in self._rows.vectors.items() if held == generation]
        return [
            replace(block, vectors=b"", stored=len(block.vectors))
            for block in sorted(found, key=lambda block: block.first)
        ]

    def vector_blocks(self, generation: int, firsts: Sequence[int]) -> list[VectorBlock]:
        """The blocks that begin with these numbers, whole, in their order."""
        found = (self._rows.vectors.get((generation, first)) for first in firsts)
        return [block for block in found if block is not None]

    def nearest(
        self, generation: int, vector: bytes, limit: int, also: Callable[[], Sequence[int]] = tuple
    ) -> Nearest | None:
        """None: it keeps no such index."""
        del generation, vector, limit, also
        return None

    def due(self) -> list[Due]:
        """The scope's due work, by time, kind and ref."""
        return sorted((claim.due for claim in self._claims()), key=lambda due: (due.due_at, due.kind, due.ref))

    def due_item(self, kind: str, ref: str) -> Due | None:
        """One piece of it."""
        return next((due for due in self.due() if (due.kind, due.ref) == (kind, ref)), None)

    def overdue(self, kind: str) -> list[str]:
        """The refs of due work of a kind whose time has come, by time and ref."""
        return [due.ref for due in self.due() if due.kind == kind and micros(due.due_at) <= self._clock]

    def leased(self) -> int:
        """How many of the scope's due items are leased now."""
        return sum(claim.until > self._clock for claim in self._claims())

    def counts(self) -> Mapping[tuple[HitKind, str, str], int]:
        """How many rows there are by (kind, tier, state)."""
        found: Counter[tuple[HitKind, str, str]] = Counter()
        found["message", "", "active"] = sum(one not in self._rows.hidden for one in self._rows.messages)
        for kept in self._current(lambda _: True):
            found[kept.current.kind, kept.current.tier, kept.current.state] += 1
        return dict(found)

    def _current(self, wanted: Callable[[Revisions], bool]) -> list[Revisions]:
        rows = self._rows
        found = [kept for one, kept in rows.memories.items() if one not in rows.hidden and wanted(kept)]
        return sorted(found, key=lambda kept: kept.current.number)

    def _claims(self) -> list[Claim]:
        owner = (self._scope.namespace, self._scope.user)
        return [claim for key, claim in self._due.items() if key[:2] == owner]


def _met(timeline: Sequence[Memory], since: datetime) -> list[Memory]:
    """What a statement of that time can meet."""
    standing = [memory for memory in timeline if memory.state in {"active", "superseded", "expired"}]
    later = [memory.valid_from for memory in standing if memory.operation == "set" and memory.valid_from > since]
    until = min(later, default=None)
    return [
        memory
        for memory in standing
        if memory.state != "superseded"
        or ((memory.valid_to is None or memory.valid_to >= since) and (until is None or memory.valid_from <= until))
    ]


def _held(revision: Memory, as_of: datetime) -> bool:
    holds = revision.valid_from <= as_of and (revision.valid_to is None or as_of < revision.valid_to)
    return holds and revision.state in {"active", "superseded", "expired"}


def _record_at(message: Message, number: int) -> Message:
    """What the document of that number holds of a message."""
    return records_of(message)[number - message.number]
