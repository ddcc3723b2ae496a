"""The write half of a transaction over the rows of one scope."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar, cast

from memhold.ports import postings as packed
from memhold.ports.postings import Block, Entry
from memhold.ports.transaction import NO_NUMBERS, Replay, Tombstone
from memhold.ports.vector_blocks import Generation, VectorBlock, block_of, dropped
from memhold.storage.inmemory.reading import InMemoryReadTx
from memhold.storage.inmemory.rows import Claim, DueKey, Revisions, Sealed, seal
from memhold.values.answers import Due
from memhold.values.errors import RevisionConflict, StoreError
from memhold.values.records import Change, Evidence, Memory, Message, Session, Suspicion, from_micros, micros

__all__ = ["InMemoryWriteTx"]

R = TypeVar("R", Message, Memory, Change, Session)


class InMemoryWriteTx(InMemoryReadTx):
    """A `WriteTx` over shelves; the store keeps or undoes all that it did."""

    made_due = False

    def take_session_number(self) -> int:
        """The next session number of the scope, from 1."""
        return self._take("session", 1) + 1

    def take_numbers(self, count: int) -> int:
        """Take `count` document numbers of the scope; returns the first."""
        return self._take("document", count)

    def put_session(self, session: Session) -> None:
        """Insert or replace a session."""
        for moment in (session.created_at, session.last_at, *_given(session.ended_at)):
            micros(moment)
        other = self.find_session(session.id)
        if other is not None and other.name != session.name:
            raise StoreError(f"the session id {session.id} is taken by another session of the scope")
        self._rows.sessions.put(session.name, session)

    def add_messages(self, messages: Sequence[Message]) -> None:
        """Append to the journal."""
        rows = self._rows
        for message in messages:
            micros(message.event_time), micros(message.recorded_at)
            if message.session not in rows.sessions:
                raise StoreError(f"message {message.id} names a session that is not there")
            place = (message.session, message.seq)
            taken = any(number in rows.numbers for number in message.numbers)
            if message.id in rows.messages or place in rows.journal or taken:
                raise StoreError(f"message {message.id}: its id, seq or number is taken")
            rows.messages.put(message.id, seal(message))
            rows.journal.put(place, message.id)
            for number in message.numbers:
                rows.numbers.put(number, message.id)

    def rewrite_message(self, message: Message) -> None:
        """Replace the body, text, quotes and passages of the message of that id."""
        sealed = self._rows.messages.get(message.id)
        if sealed is not None:
            kept = sealed.open()
            changed = replace(
                kept, body=message.body, text=message.text, quotes=message.quotes, passages=message.passages
            )
            self._rows.messages.put(message.id, seal(changed))

    def put_writers(self, messages: Sequence[Message], entries: Sequence[Entry]) -> None:
        """Write down who wrote these messages, and in the words index."""
        for message in messages:
            if (sealed := self._rows.messages.get(message.id)) is not None:
                self._rows.messages.put(message.id, seal(replace(sealed.open(), passages=message.passages)))
        for entry in entries:
            if (block := self._block_of(entry.number)) is not None:
                self._rows.blocks.put(block.first, packed.renew(block, entry))
                self._rows.index_rev += 1

    def put_quotes(self, memories: Sequence[Memory]) -> None:
        """Write quotes, standing and doubts into these revisions."""
        for memory in memories:
            kept = self._rows.memories.get(memory.id)
            if kept is not None:
                sealed = tuple(
                    Sealed(_quoting(one.row, memory), one.texts) if one.row.rev == memory.rev else one
                    for one in kept.sealed
                )
                self._rows.memories.put(memory.id, Revisions(sealed, kept.digest))

    def put_memory(self, memory: Memory, *, digest: bytes | None = None) -> None:
        """Insert a memory, or write its next revision.

        Raises:
            RevisionConflict: the stored revision is not `memory.rev - 1`.
        """
        rows = self._rows
        for moment in (memory.event_time, memory.valid_from, memory.created_at, memory.recorded_at):
            micros(moment)
        kept = rows.memories.get(memory.id)
        actual = 0 if kept is None else kept.current.rev
        if actual != memory.rev - 1:
            raise RevisionConflict(
                f"memory {memory.id} is at revision {actual}, not {memory.rev - 1}; read it again",
                expected=memory.rev - 1,
                actual=actual,
            )
        new = seal(replace(memory, unrecorded_at=None))
        if digest is not None:
            rows.digests.put(digest, (rows.digests.get(digest) or frozenset()) | {memory.id})
        if kept is None:
            if memory.number in rows.numbers:
                raise StoreError(f"memory {memory.id}: its number is taken")
            rows.numbers.put(memory.number, memory.id)
            rows.memories.put(memory.id, Revisions((new,), digest))
            return
        ended = replace(kept.sealed[-1].row, unrecorded_at=memory.recorded_at)
        older = (*kept.sealed[:-1], Sealed(ended, kept.sealed[-1].texts))
        rows.memories.put(memory.id, Revisions((*older, new), kept.digest if digest is None else digest))

    def add_evidence(self, evidence: Evidence) -> None:
        """Note what speaks of a memory; the same thing again is noted once."""
        held = self._rows.evidence.get(evidence.memory_id) or ()
        same = (evidence.turn, evidence.at, evidence.operation)
        places = [place for place, one in enumerate(held) if (one.turn, one.at, one.operation) == same]
        noted = (*held[: places[0]], evidence, *held[places[0] + 1 :]) if places else (*held, evidence)
        self._rows.evidence.put(evidence.memory_id, noted)

    def move_use(self, memory_id: str, at: datetime) -> None:
        """Set the time of the one piece of evidence of no turn."""
        held = self._rows.evidence.get(memory_id) or ()
        moved = [replace(one, at=at) if (one.turn, one.operation) == ("", "asked") else one for one in held]
        if moved:
            self._rows.evidence.put(memory_id, tuple(moved))

    def count_evidence(self, memory_id: str, *, evidence: int, expires_at: datetime | None) -> None:
        """Set the count and the end of life of the current revision, in place."""
        kept = self._rows.memories.get(memory_id)
        if kept is not None:
            newest = kept.sealed[-1]
            row = replace(newest.row, evidence=evidence, expires_at=expires_at)
            self._rows.memories.put(memory_id, Revisions((*kept.sealed[:-1], Sealed(row, newest.texts)), kept.digest))

    def put_suspicion(self, suspicion: Suspicion) -> None:
        """Insert or replace a suspicion."""
        self._rows.suspicions.put(suspicion.id, suspicion)

    def put_key_vectors(self, fingerprint: str, vectors: Mapping[bytes, bytes]) -> None:
        """Keep vectors of keys; those of other generations go."""
        held = self._rows.key_vectors
        for digest, (made_by, _) in list(held.items()):
            if made_by != fingerprint:
                held.drop(digest)
        for digest, vector in vectors.items():
            held.put(digest, (fingerprint, vector))

    def put_progress(self, name: str, seq: int) -> None:
        """Note how far the upkeep of that name has read the scope's changes."""
        self._rows.progress.put(name, seq)

    def add_change(self, change: Change) -> int:
        """Append to the audit trail; returns its number, the next `seq` of its namespace."""
        if change.id in self._rows.changes:
            raise StoreError(f"the change id {change.id} is taken")
        micros(change.at)
        seq = (self._all.change_seqs.get(self._scope.namespace) or 0) + 1
        self._all.change_seqs.put(self._scope.namespace, seq)
        effects = tuple(replace(effect, before=None, after=None) for effect in change.effects)
        sealed = seal(replace(change, seq=seq, effects=effects))
        self._rows.changes.put(change.id, sealed)
        for touched in {effect.memory_id for effect in effects}:
            self._rows.touching.put(touched, (*(self._rows.touching.get(touched) or ()), change.id))
        return seq

    def mark_undone(self, change_id: str, by: str | None) -> None:
        """Note which change undid a change (None: it stands again)."""
        sealed = self._rows.changes.get(change_id)
        if sealed is not None:
            self._rows.changes.put(change_id, Sealed(replace(sealed.row, undone_by=by), sealed.texts))

    def remember_key(self, verb: str, key_digest: bytes, replay: Replay) -> None:
        """Keep an idempotency key with its fingerprint and receipt."""
        self._rows.keys.put((verb, key_digest), replay)

    def drop_expired_keys(self) -> datetime | None:
        """Remove the idempotency keys that have expired; returns when the next one does."""
        times = {key: kept.expires_at for key, kept in self._rows.keys.items() if kept.expires_at is not None}
        for key, moment in times.items():
            if micros(moment) <= self._now:
                self._rows.keys.drop(key)
        return min((moment for moment in times.values() if micros(moment) > self._now), default=None)

    def agent_number(self, agent: str | None) -> int:
        """The number that stands for an agent in the words index, taken now if it has none; 0 for no agent."""
        if agent is None:
            return 0
        number = self._rows.agents.get(agent)
        if number is None:
            number = len(self._rows.agents) + 1
            self._rows.agents.put(agent, number)
        return number

    def index(self, entries: Sequence[Entry]) -> None:
        """Append documents to the words index."""
        blocks = self.blocks()
        tail = blocks[-1] if blocks else None
        for entry in entries:
            tail = packed.append(tail, entry)
            self._rows.blocks.put(tail.first, tail)
            self._rows.index_rev += 1

    def unindex(self, numbers: Sequence[int]) -> None:
        """Take documents out of the words index and out of every generation of vectors."""
        firsts = sorted({block_of(number) for number in numbers})
        for generation in self.generations():
            held = self.vector_blocks(generation.number, firsts)
            self.put_vectors(generation.number, [dropped(block, numbers) for block in held])
        for number in numbers:
            if (block := self._block_of(number)) is not None:
                self._rows.blocks.put(block.first, packed.remove(block, number))
                self._rows.index_rev += 1

    def flag(self, numbers: Mapping[int, bool]) -> None:
        """Set whether each document is current (active) in its record."""
        for number, active in numbers.items():
            if (block := self._block_of(number)) is not None:
                self._rows.blocks.put(block.first, packed.set_active(block, number, active=active))
                self._rows.index_rev += 1

    def put_generation(self, generation: Generation) -> None:
        """Insert a generation of vectors, or change its state."""
        micros(generation.made_at)
        others = [held for held in self.generations() if held.number != generation.number]
        if generation.state != "retired" and any(held.state == generation.state for held in others):
            raise StoreError(f"another generation of vectors is {generation.state} already; run the work again")
        held = self._all.generations.get(generation.number)
        self._all.generations.put(
            generation.number, generation if held is None else replace(held, state=generation.state)
        )

    def put_vectors(self, generation: int, blocks: Sequence[VectorBlock]) -> None:
        """Insert or replace blocks of the scope's vectors."""
        if not blocks:
            return
        self._rows.vector_rev += 1
        for block in blocks:
            self._rows.vectors.put((generation, block.first), replace(block, rev=self._rows.vector_rev))

    def clear_vectors(self, generation: int) -> None:
        """Remove the scope's vectors of one generation."""
        self._rows.vector_rev += 1
        for held, first in list(self._rows.vectors):
            if held == generation:
                self._rows.vectors.drop((held, first))

    def clear_index(self) -> None:
        """Empty the words index of the scope."""
        self._rows.blocks.clear()
        self._rows.index_rev += 1

    def hide(self, ids: Sequence[str], change_id: str) -> None:
        """Hide messages and memories from every read, as the change's doing; what is hidden already stays with its."""
        rows = self._rows
        for one in ids:
            if one not in rows.hidden and (one in rows.messages or one in rows.memories):
                rows.hidden.put(one, change_id)

    def reveal(self, change_id: str) -> None:
        """Show again what that change hid."""
        for one, by in self._rows.hidden.items():
            if by == change_id:
                self._rows.hidden.drop(one)

    def erase_session(self, name: str) -> None:
        """Remove a session that has no messages left."""
        if any(session == name for session, _ in self._rows.journal):
            raise StoreError(f"the session {name!r} still has messages; erase them first")
        self._rows.sessions.drop(name)

    def let_stand(self) -> int:
        """None: nothing in memory is ever damaged."""
        return 0

    def redate(self) -> int:
        """Date what a clock that was ahead dated as of now; returns how many rows that were."""
        rows, now = self._rows, self._clock
        self._now = now
        for session in rows.sessions.values():
            rows.sessions.put(session.name, _dated(session, now, "created_at", "last_at", "ended_at"))
        for memory_id, said in rows.evidence.items():
            dated = (
                replace(one, at=from_micros(now + place)) if micros(one.at) > now else one
                for place, one in enumerate(said)
            )
            rows.evidence.put(memory_id, tuple(dated))
        redated = 0
        for one, sealed in rows.messages.items():
            if micros(sealed.row.recorded_at) > now:
                rows.messages.put(one, replace(sealed, row=_dated(sealed.row, now, "event_time", "recorded_at")))
                redated += 1
        for one, kept in rows.memories.items():
            ahead = [_ahead(revision.row, now) for revision in kept.sealed]
            if any(ahead):
                redone = (
                    replace(revision, row=_dated(revision.row, now, *_MEMORY_TIMES)) if late else revision
                    for revision, late in zip(kept.sealed, ahead, strict=True)
                )
                rows.memories.put(one, replace(kept, sealed=tuple(redone)))
                redated += sum(ahead)
        for one, change in rows.changes.items():
            if micros(change.row.at) > now:
                rows.changes.put(one, replace(change, row=_dated(change.row, now, "at")))
                redated += 1
        return redated

    def erase_rest(self) -> None:
        """Forget the names of the scope's agents; nothing rots here."""
        self._rows.agents.clear()

    def erase_messages(self, ids: Sequence[str], change_id: str, *, numbers: Mapping[str, int] = NO_NUMBERS) -> None:
        """Remove messages for good and leave tombstones; nothing rots here, so every id reaches what is there."""
        del numbers
        rows = self._rows
        gone = set()
        for one in ids:
            sealed = rows.messages.drop(one)
            if sealed is None:
                continue
            rows.journal.drop((sealed.row.session, sealed.row.seq))
            for number in sealed.row.numbers:
                rows.numbers.drop(number)
            rows.tombstones.put(one, Tombstone(id=one, at=self.now, change_id=change_id))
            rows.hidden.drop(one)
            gone.add(one)
        self._lose_details(gone)

    def erase_memories(
        self,
        ids: Sequence[str],
        change_id: str,
        *,
        digests: Mapping[str, bytes],
        numbers: Mapping[str, int] = NO_NUMBERS,
    ) -> None:
        """Remove memories with all their revisions for good and leave tombstones."""
        del numbers
        rows = self._rows
        gone = set()
        if ids:
            rows.key_vectors.clear()
        for one in ids:
            kept = rows.memories.drop(one)
            if kept is None:
                continue
            rows.numbers.drop(kept.current.number)
            if kept.digest is not None:
                rows.digests.put(kept.digest, (rows.digests.get(kept.digest) or frozenset()) - {one})
            rows.evidence.drop(one)
            for suspicion in rows.suspicions.values():
                if one in {suspicion.memory_id, suspicion.other_id}:
                    rows.suspicions.drop(suspicion.id)
            rows.tombstones.put(one, Tombstone(id=one, at=self.now, change_id=change_id, digest=digests.get(one)))
            rows.hidden.drop(one)
            gone.add(one)
        self._lose_details(gone)

    def entomb(self, ids: Sequence[str], change_id: str) -> None:
        """Leave tombstones for what is not there any more, and take it out of all rows that name it."""
        for one in ids:
            self._rows.tombstones.put(one, Tombstone(id=one, at=self.now, change_id=change_id))
        self.drop_sources(ids)
        self._lose_details(set(ids))

    def drop_sources(self, ids: Sequence[str]) -> None:
        """Take these ids out of the sources and quotes of every memory, in all its revisions."""
        gone = set(ids)
        for memory_id, kept in self._rows.memories.items():
            sealed = tuple(Sealed(_without(one.row, gone), one.texts) for one in kept.sealed)
            if all(one.row is held.row for one, held in zip(sealed, kept.sealed, strict=True)):
                continue
            self._rows.memories.put(memory_id, Revisions(sealed, kept.digest))

    def put_due(self, kind: str, ref: str, at: datetime) -> None:
        """Make work due at a time; an entry that is there keeps its attempts and takes the earlier time."""
        key = self._due_key(kind, ref)
        moment = micros(at) - (self._now - self._clock)
        claim = self._due.get(key)
        if claim is None:
            due = Due(namespace=key[0], user=key[1], kind=kind, ref=ref, due_at=from_micros(moment))
            self._due.put(key, Claim(due))
        elif claim.until > self._clock:
            again = moment if claim.again_at is None else min(moment, claim.again_at)
            self._due.put(key, replace(claim, again_at=again))
        else:
            due = replace(claim.due, due_at=min(claim.due.due_at, from_micros(moment)))
            self._due.put(key, replace(claim, due=due, again_at=None))
        self.made_due = True

    def clear_due(self, kind: str, ref: str) -> None:
        """Take due work away: its state no longer implies it."""
        self._due.drop(self._due_key(kind, ref))

    def _due_key(self, kind: str, ref: str) -> DueKey:
        return (self._scope.namespace, self._scope.user, kind, ref)

    def _take(self, counter: str, count: int) -> int:
        first = self._rows.counters.get(counter) or 0
        self._rows.counters.put(counter, first + count)
        return first

    def _block_of(self, number: int) -> Block | None:
        for block in self._rows.blocks.values():
            if block.first <= number < block.first + block.documents:
                return block
        return None

    def _lose_details(self, gone: set[str]) -> None:
        for change_id, sealed in self._rows.changes.items():
            named = {*sealed.row.sources, *(effect.memory_id for effect in sealed.row.effects)}
            if sealed.texts and not gone.isdisjoint(named):
                self._rows.changes.put(change_id, Sealed(sealed.row, ()))


def _without(memory: Memory, gone: Collection[str]) -> Memory:
    """A memory that names none of these ids as a source, and has no words of theirs."""
    sources = tuple(source for source in memory.sources if source not in gone)
    less = replace(memory.without_quotes(gone), sources=sources)
    return memory if less == memory else less


def _given(moment: datetime | None) -> tuple[datetime, ...]:
    return () if moment is None else (moment,)


_MEMORY_TIMES = ("event_time", "valid_from", "valid_to", "created_at", "recorded_at", "unrecorded_at")


def _ahead(memory: Memory, now: int) -> bool:
    return any(micros(at) > now for at in (memory.recorded_at, memory.unrecorded_at) if at is not None)


def _dated(row: R, now: int, *times: str) -> R:
    """The row with none of these times later than now."""
    held = {name: getattr(row, name) for name in times}
    late = {name: from_micros(now) for name, at in held.items() if at is not None and micros(at) > now}
    return cast("R", replace(cast("Any", row), **late)) if late else row


def _quoting(row: Memory, memory: Memory) -> Memory:
    return replace(row, quotes=memory.quotes, standing=memory.standing, doubts=memory.doubts)
