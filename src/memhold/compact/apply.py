"""The transaction of a verdict: every step of it at once, with its vectors and what each hides, or nothing.

Each function first checks that the world is still what was read: the lease is the newest on the work, and each memory
is active, in sight, and at the revision that was read. Where that fails it changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, assert_never

from memhold.compact.contract import Judgement, Partition
from memhold.compact.groups import leaves, spans
from memhold.compact.verdict_steps import TRUST, Folded, Linked, Merged, Step, Superseded, Suspected
from memhold.consolidate.apply_guard import ApplyGuard, Verdict, plain_attempts
from memhold.facts.revisions import memory_digest, mind_expiry, revise, said_digest
from memhold.index.documents import index_memories
from memhold.index.pending_vectors import Batch, put_vectors
from memhold.journal.change import Basis, note_change
from memhold.ports.models import ChatReply
from memhold.ports.stores import Ids
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.ports.vector_blocks import CorruptVectors, Generation, block_of, record_bytes, vectors_of
from memhold.ports.vector_records import in_records
from memhold.text.compare import canonical_text
from memhold.text.labels import MAX_ENTITIES, MAX_TOPICS, folded
from memhold.values.answers import Outcome
from memhold.values.errors import Attempt
from memhold.values.records import LINEAGE, TOGETHER, Author, Effect, Importance, Memory, Suspicion

__all__ = [
    "LINKED",
    "MERGED",
    "SUSPECTED",
    "TRUST",
    "Applied",
    "Merger",
    "Ruling",
    "Verdicted",
    "apply_copies",
    "apply_verdict",
    "keep_apart",
    "unchanged",
]

MERGED = "compact"
"""The verb of a change that merged; `keep_apart` is that of one that settles how memories relate."""
LINKED, SUSPECTED = "link", "suspect"
_IMPORTANCE: tuple[Importance, ...] = ("low", "mid", "high")
RULES = Author(origin="rules", name="compaction")


@dataclass(frozen=True, slots=True, kw_only=True)
class Merger:
    """What every apply needs beside its transaction."""

    ids: Ids
    secret: bytes
    mirror: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """A judgement with who gave it: what a change says of it."""

    judgement: Judgement
    author: Author
    reply: ChatReply | None = None
    attempts: tuple[Attempt, ...] = ()

    @property
    def detail(self) -> dict[str, Any]:
        """The whole reply and what was dropped: content, which is lost when a source is forgotten."""
        found: dict[str, Any] = {"decision": self.judgement.decision, "reason": self.judgement.reason}
        if self.reply is not None:
            calls = [{"name": call.name, "arguments": call.arguments} for call in self.reply.tool_calls]
            found["reply"] = {"text": self.reply.text, "calls": calls}
        found["attempts"] = plain_attempts(self.attempts)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicted:
    """What the judge said of some memories, who that was, and what follows: `steps`, and by step a text's vector.

    `refused` says for each group whose text was not taken why.
    """

    partition: Partition
    steps: tuple[Step, ...]
    author: Author
    reply: ChatReply | None = None
    attempts: tuple[Attempt, ...] = ()
    refused: Mapping[int, str] | None = None
    vectors: Mapping[int, bytes] | None = None

    @property
    def detail(self) -> dict[str, Any]:
        """The whole reply: content, which is lost when any of the memories is forgotten."""
        found: dict[str, Any] = {"groups": len(self.partition.groups), "reason": self.partition.reason}
        if self.reply is not None:
            calls = [{"name": call.name, "arguments": call.arguments} for call in self.reply.tool_calls]
            found["reply"] = {"text": self.reply.text, "calls": calls}
        if self.refused:
            found["refused"] = {str(number): why for number, why in self.refused.items()}
        found["attempts"] = plain_attempts(self.attempts)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What a step did to the memories at these places; `memory` is what stands for them now."""

    outcome: Outcome
    places: tuple[int, ...]
    reason: str
    memory: str | None = None


def apply_copies(tx: WriteTx, read: Sequence[Memory], hold: ApplyGuard, merger: Merger) -> tuple[Verdict, str | None]:
    """All copies of one content become one memory, with the vector that they have; returns its id.

    A pinned copy stays as it is and hides the others.
    """
    verdict = unchanged(tx, read, hold)
    if verdict != "done" or len({canonical_text(memory.text) for memory in read}) != 1:
        return ("stale" if verdict == "done" else verdict), None
    newest = max(read, key=lambda memory: (memory.event_time, memory.number))
    judgement = Judgement(decision="merge", reason="copies", text=newest.text)
    maintenance = next((memory for memory in read if memory.pinned), None)
    if maintenance is not None:
        effects = _taken_in(
            tx, maintenance, [memory for memory in read if memory is not maintenance], leaves(maintenance)
        )
        _changed(tx, merger, _copied(read), None, read, effects)
        return "done", maintenance.id
    made = replace(
        _merged(tx, read, judgement, RULES, merger, total=max(map(leaves, read))),
        origin=newest.origin,
        actor=newest.actor,
    )
    made, effects = _put(tx, made, read, merger)
    for generation in tx.generations():
        held = next((found for memory in read if (found := _vector(tx, generation, memory.number)) is not None), None)
        if held is not None and generation.state != "retired":
            _put_vector(tx, generation, made, held)
    _changed(tx, merger, _copied(read), None, read, effects)
    return "done", made.id


def apply_verdict(
    tx: WriteTx,
    read: Sequence[Memory],
    verdict: Verdicted,
    generation: Generation | None,
    hold: ApplyGuard,
    merger: Merger,
) -> tuple[Verdict, tuple[Applied, ...]]:
    """All steps of a verdict, each a change that can be undone, and one that settles how all that was shown relate.

    `stale` where one of the memories is not what was shown, the vectors' generation is not current any more, or a text
    was forgotten and is not learnt again: then nothing happens.
    """
    found = unchanged(tx, read, hold)
    if found != "done":
        return found, ()
    if generation is not None and verdict.vectors and not _current(tx, generation):
        return "stale", ()
    made = {
        number: _made(
            tx,
            step,
            read,
            verdict.author,
            merger,
        )
        for number, step in enumerate(verdict.steps)
        if isinstance(step, Merged) and not any(read[place].pinned for place in step.places)
    }
    if any(tx.blocked(said_digest(merger.secret, memory)) for memory in made.values()):
        return "stale", ()
    done: list[Applied] = []
    revs = {memory.id: memory.rev for memory in read}
    for number, step in enumerate(verdict.steps):
        told, effects = _apply_step(tx, read, step, verdict, made.get(number), merger)
        vector = (verdict.vectors or {}).get(number)
        if number in made and generation is not None and vector is not None:
            _put_vector(tx, generation, tx.find_memories([told[0].memory or ""])[0], vector)
        revs |= {effect.memory_id: effect.rev_after for effect in effects}
        done += told
    # What is hidden is not named: where it comes back, it is looked at anew.
    there = [memory.id for memory in tx.find_memories(list(revs)) if memory.state == "active"]
    if len(there) > 1:
        effects = [Effect(memory_id=one, rev_before=revs[one], rev_after=revs[one]) for one in there]
        reason = "the judge settled how they relate" if verdict.steps else "kept apart by the judge"
        _changed(tx, merger, reason, verdict, read, effects, verb="keep_apart")
    return "done", tuple(done)


def _made(tx: WriteTx, step: Merged, read: Sequence[Memory], author: Author, merger: Merger) -> Memory:
    """The memory that a text becomes; where it replaces some, it holds from when the others did."""
    sources = [read[place] for place in step.places]
    group = step.group
    judgement = Judgement(decision="merge", text=group.text, topics=group.topics, entities=group.entities)
    made = _merged(tx, sources, judgement, author, merger, total=sum(map(leaves, sources)))
    if not step.replaced:
        return made
    return replace(made, valid_from=min(read[at].valid_from for at in step.places if at not in step.replaced))


def _apply_step(
    tx: WriteTx, read: Sequence[Memory], step: Step, verdict: Verdicted, made: Memory | None, merger: Merger
) -> tuple[list[Applied], list[Effect]]:
    match step:
        case Merged():
            return _apply_merged(tx, read, step, verdict, made, merger)
        case Folded():
            return _apply_folded(tx, read, step, verdict, merger)
        case Superseded(current=current, places=places):
            effects = [_superseded(tx, read[place], read[current], by=read[current].id) for place in places]
            every = tuple(sorted((current, *places)))
            why = "superseded by a newer memory"
            _changed(tx, merger, why, verdict, [read[place] for place in every], effects)
            return [Applied(outcome="superseded", places=every, reason=why, memory=read[current].id)], effects
        case Linked(places=places):
            linked = [read[place] for place in places]
            effects = [revise(tx, memory, metadata=_naming(memory, linked)) for memory in linked]
            _changed(tx, merger, ADDING, verdict, linked, effects, verb=LINKED)
            return [Applied(outcome="linked", places=places, reason=ADDING)], effects
        case Suspected(places=places):
            return [_apply_suspected(tx, read, places, verdict, merger)], []
        case _:
            assert_never(step)


def _apply_folded(
    tx: WriteTx, read: Sequence[Memory], step: Folded, verdict: Verdicted, merger: Merger
) -> tuple[list[Applied], list[Effect]]:
    """A memory takes others in and is told together with the rest, in one change: it is written once."""
    survivor = read[step.into]
    rest, beside = ([read[place] for place in places] for places in (step.places, step.beside))
    named = [survivor, *beside] if beside else []
    effects = _taken_in(tx, survivor, rest, sum(map(leaves, (survivor, *rest))), named)
    effects += [revise(tx, memory, metadata=_naming(memory, named)) for memory in beside]
    every = tuple(sorted((step.into, *step.places)))
    why = f"{len(every)} memories that say the same became one"
    _changed(tx, merger, why, verdict, [survivor, *rest, *beside], effects)
    outcome: Outcome = "pair" if len(every) == 2 else "group"
    told = [Applied(outcome=outcome, places=every, reason="they say the same", memory=survivor.id)]
    if beside:
        told.append(Applied(outcome="linked", places=tuple(sorted((step.into, *step.beside))), reason=ADDING))
    return told, effects


def _apply_merged(
    tx: WriteTx, read: Sequence[Memory], step: Merged, verdict: Verdicted, made: Memory | None, merger: Merger
) -> tuple[list[Applied], list[Effect]]:
    """A new memory with the text stands for its sources; a pinned one that says it takes them in."""
    sources = [read[place] for place in step.places]
    older = [read[place] for place in step.replaced]
    same = [memory for memory in sources if memory not in older]
    if made is None:
        pinned = next(memory for memory in sources if memory.pinned)
        kept = pinned
        rest = [memory for memory in same if memory is not pinned]
        effects = _taken_in(tx, pinned, rest, sum(leaves(memory) for memory in sources))
    else:
        kept, effects = _put(tx, made, same, merger)
    newest = max(same, key=lambda memory: (memory.event_time, memory.number))
    effects += [_superseded(tx, memory, newest, by=kept.id) for memory in older]
    why = "a newer memory replaced the others" if older else f"{len(sources)} memories that say the same became one"
    _changed(tx, merger, why, verdict, sources, effects)
    outcome: Outcome = "superseded" if older else "pair" if len(sources) == 2 else "group"
    return [Applied(outcome=outcome, places=step.places, reason=step.group.reason or why, memory=kept.id)], effects


def _apply_suspected(
    tx: WriteTx, read: Sequence[Memory], places: Sequence[int], verdict: Verdicted, merger: Merger
) -> Applied:
    """A suspicion for the newest against each of the others; all of them stay."""
    newest, *others = (read[place] for place in places)
    why = "they cannot both be true"
    effects = [Effect(memory_id=one.id, rev_before=one.rev, rev_after=one.rev) for one in (newest, *others)]
    change = _changed(tx, merger, why, verdict, [newest, *others], effects, verb=SUSPECTED)
    for other in others:
        tx.put_suspicion(
            Suspicion(
                id=merger.ids.new("sus"),
                kind="contradiction",
                memory_id=newest.id,
                other_id=other.id,
                rule="the judge",
                at=tx.now,
                change_id=change,
            )
        )
    return Applied(outcome="suspected", places=tuple(sorted(places)), reason=why)


def _superseded(tx: WriteTx, older: Memory, newer: Memory, *, by: str) -> Effect:
    tx.clear_due("expire", older.id)
    until = max(newer.event_time, older.valid_from)
    return revise(tx, older, state="superseded", valid_to=until, superseded_by=by)


def _naming(memory: Memory, together: Sequence[Memory], metadata: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The metadata of a memory, with the ids of those that it is told together with, beside those that it named."""
    named = memory.metadata.get(TOGETHER)
    held = [one for one in named if isinstance(one, str)] if isinstance(named, list | tuple) else []
    others = [other.id for other in together if other.id != memory.id]
    every = list(dict.fromkeys((*held, *others)))[:MOST_LINKED]
    return {**(memory.metadata if metadata is None else metadata), TOGETHER: every}


ADDING = "they add to each other"
MOST_LINKED = 24
"""Memories that one is told together with, the first that were found."""


def keep_apart(
    tx: WriteTx, read: Sequence[Memory], reason: str, ruling: Ruling, hold: ApplyGuard, merger: Merger
) -> tuple[Verdict, str | None]:
    """Remember that these are not merged: a change that leaves each of them at the revision it has."""
    verdict = unchanged(tx, read, hold)
    if verdict != "done":
        return verdict, None
    effects = [Effect(memory_id=memory.id, rev_before=memory.rev, rev_after=memory.rev) for memory in read]
    _changed(tx, merger, reason, ruling, read, effects, verb="keep_apart")
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


def _united(read: Sequence[Memory], *, topics: Sequence[str] = (), entities: Sequence[str] = ()) -> dict[str, Any]:
    """What carries over from several memories to one, whatever its text."""
    importance = max((memory.importance for memory in read), key=_IMPORTANCE.index)
    metadata: dict[str, Any] = {}
    for memory in sorted(read, key=lambda memory: (memory.event_time, memory.number)):
        metadata |= {name: value for name, value in memory.metadata.items() if name != LINEAGE}
    named = (source for memory in read for source in memory.sources)
    quotes = dict.fromkeys(quote for memory in read for quote in memory.quotes)
    doubts = dict.fromkeys(doubt for memory in read for doubt in memory.doubts)
    return {
        "quotes": tuple(quotes),
        "standing": "doubtful" if any(memory.doubtful for memory in read) else "stated",
        "doubts": tuple(doubts),
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


def _merged(
    tx: WriteTx, read: Sequence[Memory], judgement: Judgement, author: Author, merger: Merger, *, total: int
) -> Memory:
    united = _united(read, topics=judgement.topics, entities=judgement.entities)
    sessions = {memory.session for memory in read}
    united["metadata"] |= {LINEAGE: _lineage(total, spans(read))}
    # What agents and imports said stays theirs in other words: nothing is upgraded by a merge.
    theirs = read[0].origin in {"agent", "tool", "import"}
    said_as = (read[0].origin, read[0].actor) if theirs else (author.origin, author.name)
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


def _lineage(total: int, times: tuple[str, str]) -> Mapping[str, Any]:
    return {"leaves": total, "times": list(times)}


def _taken_in(
    tx: WriteTx, survivor: Memory, rest: Sequence[Memory], total: int, together: Sequence[Memory] = ()
) -> list[Effect]:
    """A memory takes others in: its words, sources and times stay its own; its labels, quotes and evidence grow.

    It names those that it is told `together` with from now on.
    """
    united = _united([survivor, *rest])
    changed = {name: united[name] for name in ("topics", "entities", "importance", "evidence", "quotes")}
    metadata = {**united["metadata"], LINEAGE: _lineage(total, spans((survivor, *rest)))}
    changed["metadata"] = _naming(survivor, together, metadata) if together else metadata
    effect = revise(tx, survivor, **changed)
    return [effect, *(_hidden(tx, memory, survivor.id) for memory in rest)]


def _put(tx: WriteTx, made: Memory, read: Sequence[Memory], merger: Merger) -> tuple[Memory, list[Effect]]:
    """Store a merged memory, and hide its sources behind it."""
    kept = replace(made, number=tx.take_numbers(1))
    tx.put_memory(kept, digest=memory_digest(merger.secret, kept))
    index_memories(tx, [kept])
    mind_expiry(tx, kept)
    created = Effect(memory_id=kept.id, rev_before=0, rev_after=1)
    return kept, [created, *(_hidden(tx, memory, kept.id) for memory in read)]


def _vector(tx: ReadTx, generation: Generation, number: int) -> bytes | None:
    """The vectors of a document, as a store keeps them; None where it has none, or its block is damaged."""
    for block in tx.vector_blocks(generation.number, [block_of(number)]):
        with suppress(CorruptVectors):
            parts = vectors_of(in_records(block, generation.dimension), record_bytes(generation.dimension))
            return next(iter(parts[number - block.first :]), b"") or None
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
    by: Verdicted | Ruling | None,
    read: Sequence[Memory],
    effects: Sequence[Effect],
    *,
    verb: str = MERGED,
) -> str:
    """Note the change, by whoever judged it; without a judge exact copies became one, by a rule."""
    change_id = merger.ids.new("chg")
    author, detail = (RULES, {}) if by is None else (by.author, by.detail)
    sources = (memory.id for memory in read)
    note_change(tx, change_id, verb, reason, by=author, effects=effects, basis=Basis(sources=sources, detail=detail))
    if merger.mirror and verb == MERGED:
        tx.put_due("mirror", "files", tx.now)
    return change_id
