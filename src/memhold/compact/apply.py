"""The transaction of a merge: the merged memory with its vector, and its sources hidden behind it, or nothing.

Each function first checks that the world is still what was read: the lease is the newest on the work, and each memory
is active, in sight, and at the revision that was read. Where that fails it changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memhold.compact.contract import Judgement
from memhold.compact.groups import leaves, lost, spans
from memhold.consolidate.apply_guard import ApplyGuard, Verdict, plain_attempts
from memhold.facts.revisions import memory_digest, mind_expiry, revise
from memhold.index.documents import index_memories
from memhold.index.pending_vectors import Batch, put_vectors
from memhold.ports.models import ChatReply
from memhold.ports.stores import Ids
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.ports.vector_blocks import FLOAT_BYTES, HELD, Generation, block_of
from memhold.text.compare import canonical_text
from memhold.text.labels import MAX_ENTITIES, MAX_TOPICS, folded
from memhold.values.errors import Attempt
from memhold.values.records import LINEAGE, Author, Change, Effect, Importance, Memory, Trust

__all__ = [
    "MERGED",
    "TRUST",
    "Merger",
    "Ruling",
    "apply_copies",
    "apply_merge",
    "apply_supersede",
    "keep_apart",
    "unchanged",
]

MERGED = "compact"
"""The verb of a change that merged; `keep_apart` is that of one that did not."""
_IMPORTANCE: tuple[Importance, ...] = ("low", "mid", "high")
TRUST: tuple[Trust, ...] = ("tool", "assistant", "user")
"""From the least to the most: what is made of several has that of the least."""
RULES = Author(origin="rules", name="compaction")


@dataclass(frozen=True, slots=True, kw_only=True)
class Merger:
    """What every apply needs beside its transaction."""

    ids: Ids
    secret: bytes
    mirror: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """A judgement with who gave it: what a change says of it. `lost` is what the merge's lineage has dropped by now."""

    judgement: Judgement
    author: Author
    reply: ChatReply | None = None
    attempts: tuple[Attempt, ...] = ()
    lost: tuple[str, ...] = ()

    @property
    def detail(self) -> dict[str, Any]:
        """The whole reply and what was dropped: content, which is lost when a source is forgotten."""
        found: dict[str, Any] = {"decision": self.judgement.decision, "reason": self.judgement.reason}
        if self.reply is not None:
            calls = [{"name": call.name, "arguments": call.arguments} for call in self.reply.tool_calls]
            found["reply"] = {"text": self.reply.text, "calls": calls}
        if self.judgement.dropped:
            found["dropped"] = [
                {"what": one.what, "why": one.why, "newer": one.newer} for one in self.judgement.dropped
            ]
        found["attempts"] = plain_attempts(self.attempts)
        return found


def apply_copies(tx: WriteTx, read: Sequence[Memory], hold: ApplyGuard, merger: Merger) -> tuple[Verdict, str | None]:
    """All copies of one content become one memory, with the vector that they have; returns its id.

    A pinned copy stays as it is and hides the others.
    """
    verdict = unchanged(tx, read, hold)
    if verdict != "done" or len({canonical_text(memory.text) for memory in read}) != 1:
        return ("stale" if verdict == "done" else verdict), None
    newest = max(read, key=lambda memory: (memory.event_time, memory.number))
    dropped = tuple(dict.fromkeys(one for memory in read for one in lost(memory)))
    judgement = Judgement(decision="merge", reason="copies", text=newest.text)
    ruling = Ruling(judgement=judgement, author=RULES, lost=dropped)
    maintenance = next((memory for memory in read if memory.pinned), None)
    if maintenance is not None:
        effects = _taken_in(
            tx, maintenance, [memory for memory in read if memory is not maintenance], dropped, leaves(maintenance)
        )
        _changed(tx, merger, _copied(read), RULES, read, effects, {})
        return "done", maintenance.id
    made = replace(
        _merged(tx, read, ruling, merger, total=max(map(leaves, read))), origin=newest.origin, actor=newest.actor
    )
    made, effects = _put(tx, made, read, merger)
    for generation in tx.generations():
        held = next((found for memory in read if (found := _vector(tx, generation, memory.number)) is not None), None)
        if held is not None and generation.state != "retired":
            _put_vector(tx, generation, made, held)
    _changed(tx, merger, _copied(read), RULES, read, effects, {})
    return "done", made.id


def apply_merge(
    tx: WriteTx,
    read: Sequence[Memory],
    ruling: Ruling,
    vector: tuple[Generation, bytes] | None,
    hold: ApplyGuard,
    merger: Merger,
) -> tuple[Verdict, str | None]:
    """The merged memory and its vector are written and its sources marked `merged`, at once; returns its id.

    With a pinned source there is no new memory: the pinned one takes the others in, and only its labels grow. `stale`
    where the vector's generation is not current any more, or the content was forgotten and is not learnt again.
    """
    verdict = unchanged(tx, read, hold)
    if verdict != "done":
        return verdict, None
    pinned = next((memory for memory in read if memory.pinned), None)
    total = sum(leaves(memory) for memory in read)
    if pinned is not None:
        rest = [memory for memory in read if memory is not pinned]
        effects = _taken_in(tx, pinned, rest, ruling.lost, total)
        _changed(tx, merger, _why(read), ruling.author, read, effects, ruling.detail)
        return "done", pinned.id
    made = _merged(tx, read, ruling, merger, total=total)
    if tx.blocked(memory_digest(merger.secret, made)) or (vector is not None and not _current(tx, vector[0])):
        return "stale", None
    made, effects = _put(tx, made, read, merger)
    if vector is not None:
        _put_vector(tx, vector[0], made, vector[1])
    _changed(tx, merger, _why(read), ruling.author, read, effects, ruling.detail)
    return "done", made.id


def apply_supersede(
    tx: WriteTx, read: Sequence[Memory], newest: Memory, ruling: Ruling, hold: ApplyGuard, merger: Merger
) -> tuple[Verdict, str | None]:
    """The newest memory says all that still holds: the others are superseded by it, from its time on."""
    verdict = unchanged(tx, read, hold)
    if verdict != "done":
        return verdict, None
    effects = []
    for memory in read:
        if memory.id != newest.id:
            until = max(newest.event_time, memory.valid_from)
            effects.append(revise(tx, memory, state="superseded", valid_to=until, superseded_by=newest.id))
            tx.clear_due("expire", memory.id)
    _changed(tx, merger, "superseded by a newer memory", ruling.author, read, effects, ruling.detail)
    return "done", newest.id


def keep_apart(
    tx: WriteTx, read: Sequence[Memory], reason: str, ruling: Ruling, hold: ApplyGuard, merger: Merger
) -> tuple[Verdict, str | None]:
    """Remember that these are not merged: a change that leaves each of them at the revision it has."""
    verdict = unchanged(tx, read, hold)
    if verdict != "done":
        return verdict, None
    effects = [Effect(memory_id=memory.id, rev_before=memory.rev, rev_after=memory.rev) for memory in read]
    _changed(tx, merger, reason, ruling.author, read, effects, ruling.detail, verb="keep_apart")
    return "done", None


# --------------------------------------------------------------------------------------------- parts


def unchanged(tx: ReadTx, read: Sequence[Memory], hold: ApplyGuard) -> Verdict:
    """Whether the lease stands, and each of these is active at the revision that was read."""
    if not hold.stands(tx):
        return "lost"
    now = {memory.id: memory for memory in tx.find_memories([memory.id for memory in read])}
    same = all(
        memory.id in now and (now[memory.id].rev, now[memory.id].state) == (memory.rev, "active") for memory in read
    )
    return "done" if same else "stale"


def _current(tx: ReadTx, generation: Generation) -> bool:
    return any((one.number, one.state) == (generation.number, "current") for one in tx.generations())


def _copied(read: Sequence[Memory]) -> str:
    return f"{len(read)} copies became one"


def _why(read: Sequence[Memory]) -> str:
    return f"{len(read)} memories that say the same became one"


def _united(read: Sequence[Memory], *, topics: Sequence[str] = (), entities: Sequence[str] = ()) -> dict[str, Any]:
    """What carries over from several memories to one, whatever its text."""
    importance = max((memory.importance for memory in read), key=_IMPORTANCE.index)
    metadata: dict[str, Any] = {}
    for memory in sorted(read, key=lambda memory: (memory.event_time, memory.number)):
        metadata |= {name: value for name, value in memory.metadata.items() if name != LINEAGE}
    named = (source for memory in read for source in memory.sources)
    return {
        "topics": folded([*(memory.topics for memory in read), topics], MAX_TOPICS),
        "entities": folded([*(memory.entities for memory in read), entities], MAX_ENTITIES, names=True),
        "metadata": metadata,
        "importance": importance,
        "tier": "long" if any(memory.tier == "long" for memory in read) else "mid",
        "trust": min((memory.trust for memory in read), key=TRUST.index),
        "evidence": sum(memory.evidence for memory in read),
        # Their own sources too: forgetting one of those reaches what was made of it.
        "sources": tuple(dict.fromkeys((*(memory.id for memory in read), *named))),
        "valid_from": min(memory.valid_from for memory in read),
    }


def _merged(tx: WriteTx, read: Sequence[Memory], ruling: Ruling, merger: Merger, *, total: int) -> Memory:
    judgement = ruling.judgement
    united = _united(read, topics=judgement.topics, entities=judgement.entities)
    sessions = {memory.session for memory in read}
    times = spans(read)
    united["metadata"] |= {LINEAGE: _lineage(total, ruling.lost, times)}
    # What agents and imports said stays theirs in other words: nothing is upgraded by a merge.
    theirs = read[0].origin in {"agent", "tool", "import"}
    said_as = (read[0].origin, read[0].actor) if theirs else (ruling.author.origin, ruling.author.name)
    return Memory(
        id=merger.ids.new("mem"),
        number=-1,
        kind=read[0].kind,
        text=judgement.text,
        agent=read[0].agent,
        subject=read[0].subject,
        session=sessions.pop() if len(sessions) == 1 else None,
        origin=said_as[0],
        actor=said_as[1],
        event_time=max(memory.event_time for memory in read),
        expires_at=read[0].expires_at,
        created_at=tx.now,
        recorded_at=tx.now,
        **united,
    )


def _lineage(total: int, lost: Sequence[str], times: tuple[str, str]) -> Mapping[str, Any]:
    return {"leaves": total, "lost": list(lost), "times": list(times)}


def _taken_in(
    tx: WriteTx, maintenance: Memory, rest: Sequence[Memory], dropped: Sequence[str], total: int
) -> list[Effect]:
    """A pinned memory takes others in: its words, sources and times stay its own, its labels and evidence grow."""
    united = _united([maintenance, *rest])
    changed = {name: united[name] for name in ("topics", "entities", "importance", "evidence")}
    times = spans((maintenance, *rest))
    changed["metadata"] = {**maintenance.metadata, LINEAGE: _lineage(total, dropped, times)}
    effect = revise(tx, maintenance, **changed)
    return [effect, *(_hidden(tx, memory, maintenance.id) for memory in rest)]


def _put(tx: WriteTx, made: Memory, read: Sequence[Memory], merger: Merger) -> tuple[Memory, list[Effect]]:
    """Store a merged memory, and hide its sources behind it."""
    kept = replace(made, number=tx.take_numbers(1))
    tx.put_memory(kept, digest=memory_digest(merger.secret, kept))
    index_memories(tx, [kept])
    mind_expiry(tx, kept)
    created = Effect(memory_id=kept.id, rev_before=0, rev_after=1)
    return kept, [created, *(_hidden(tx, memory, kept.id) for memory in read)]


def _vector(tx: ReadTx, generation: Generation, number: int) -> bytes | None:
    size = generation.dimension * FLOAT_BYTES
    for block in tx.vector_blocks(generation.number, [block_of(number)]):
        at = number - block.first
        if at < len(block.marks) and block.marks[at] == HELD:
            return block.vectors[at * size : (at + 1) * size]
    return None


def _put_vector(tx: WriteTx, generation: Generation, memory: Memory, vector: bytes) -> None:
    put_vectors(tx, generation, Batch(texts={memory.number: memory.text}, empty=()), {memory.number: vector})


def _hidden(tx: WriteTx, memory: Memory, by: str) -> Effect:
    tx.clear_due("expire", memory.id)
    return revise(tx, memory, state="merged", superseded_by=by)


def _changed(
    tx: WriteTx,
    merger: Merger,
    reason: str,
    author: Author,
    read: Sequence[Memory],
    effects: Sequence[Effect],
    detail: Mapping[str, Any],
    *,
    verb: str = MERGED,
) -> None:
    tx.add_change(
        Change(
            id=merger.ids.new("chg"),
            seq=0,
            verb=verb,
            reason=reason,
            by=author,
            at=tx.now,
            sources=tuple(memory.id for memory in read),
            effects=tuple(effects),
            detail=detail,
        )
    )
    if merger.mirror and verb == MERGED:
        tx.put_due("mirror", "files", tx.now)
