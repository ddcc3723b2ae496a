"""What a person should settle: two keys that may be one concept, and statements against what the user told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any, Literal

from memhold.facts.beside import DOUBTFUL
from memhold.facts.pairs import pairs
from memhold.facts.remember import Writer
from memhold.facts.revisions import memory_digest, revise
from memhold.facts.timeline import Word, place, protected
from memhold.journal.change import note_change
from memhold.journal.visibility import sees
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.text.compare import same_value
from memhold.values.answers import OpenSuspicion, Receipt
from memhold.values.errors import Conflict, NotFound
from memhold.values.origins import authority
from memhold.values.records import TOGETHER, Effect, Memory, Suspicion, Tier

__all__ = ["is_open", "list_suspicions", "merged_timeline", "settle_suspicion", "waiting_of"]

Verdict = Literal["same", "different"]


def list_suspicions(
    tx: ReadTx, *, settled: bool = False, limit: int | None = None, after: str | None = None
) -> tuple[OpenSuspicion, ...]:
    """What is to be settled, oldest first, each with its two memories; with `settled` also what was.

    A suspicion whose memories are forgotten, hidden or another agent's is not there. With a `limit` no more are read
    than it takes; `after` is the last that is known, and where it is there no more they begin anew.
    """
    every = tx.suspicions()
    place = next((place for place, one in enumerate(every, 1) if one.id == after), 0)
    return tuple(islice(waiting_of(tx, every[place:], settled=settled), limit))


def waiting_of(tx: ReadTx, suspicions: Iterable[Suspicion], *, settled: bool = False) -> Iterator[OpenSuspicion]:
    """Those of these suspicions that are to be settled, as `list_suspicions` has them."""
    asked = (one for one in suspicions if settled or one.settled is None)
    for one, memory, other in pairs(tx, asked):
        if sees(tx.scope, memory) and sees(tx.scope, other) and (one.settled or is_open(one, (memory, other), tx.now)):
            yield OpenSuspicion(suspicion=one, memory=memory, other=other)


def is_open(one: Suspicion, pair: Sequence[Memory], now: datetime) -> bool:
    """Whether something is to settle: keys apart and both said, a statement kept apart, two that stand.

    A plan is to be settled from its day on.
    """
    if one.kind == "contradiction":
        if pair[0].holds_from is not None and pair[0].holds_from > now:
            return False
        return pair[0].state == "retracted" or all(memory.state == "active" for memory in pair)
    apart = (pair[0].subject, pair[0].key) != (pair[1].subject, pair[1].key)
    return apart and all(memory.state not in {"retracted", "merged"} for memory in pair)


def settle_suspicion(
    tx: WriteTx, suspicion_id: str, verdict: Verdict, *, writer: Writer, reason: str = "settled by the user"
) -> Receipt:
    """Settle a suspicion as one change, which can be undone. Nobody but a person looks at it again.

    Two keys: `same` makes their facts one timeline, `different` keeps them apart for good. A contradiction: `same`
    takes the statement as the user's own word, and it supersedes; `different` leaves what the user told. Of two
    that both stand `same` takes the newer in the place of the older, `different` leaves both.

    Raises:
        NotFound: no such suspicion here.
        Conflict: it is settled already; undo that first.
    """
    named = [one for one in tx.suspicions() if one.id == suspicion_id]
    found = next(waiting_of(tx, named, settled=True), None)
    if found is None:
        raise NotFound(f"nothing with the id {suspicion_id!r:.80} in this scope", id=suspicion_id)
    suspicion = found.suspicion
    if suspicion.settled is not None:
        raise Conflict(
            f"{suspicion_id} is settled as {suspicion.settled}; undo {suspicion.settled_by} to settle it anew"
        )
    effects: list[Effect] = []
    change_id = writer.ids.new("chg")
    if suspicion.rule == DOUBTFUL:
        effects = _certain(tx, found, verdict)
    elif verdict == "same":
        effects = _accepted(tx, found) if suspicion.kind == "contradiction" else _united(tx, found, writer, change_id)
    reason = f"{reason}: {verdict} ({suspicion.kind})"
    change = note_change(tx, change_id, "settle", reason, by=writer.author, effects=effects)
    tx.put_suspicion(replace(suspicion, settled=verdict, settled_by=change.id, looked="decided"))
    ids = tuple(effect.memory_id for effect in effects) or (found.memory.id,)
    return Receipt(ids=ids, change_ids=(change.id,))


def _certain(tx: WriteTx, found_suspicion: OpenSuspicion, verdict: Verdict) -> list[Effect]:
    """A doubtful statement, as a person says: it is so, and takes the place of what it is about, or it is not so."""
    note, other = found_suspicion.memory, found_suspicion.other
    rest = [one for one in other.metadata.get(TOGETHER, ()) if one != note.id]
    metadata = {name: value for name, value in other.metadata.items() if name != TOGETHER}
    metadata |= {TOGETHER: rest} if rest else {}
    if verdict == "different":
        return [revise(tx, note, state="retracted"), revise(tx, other, metadata=metadata)]
    until = max(note.holds_from or note.event_time, other.valid_from)
    stated = revise(tx, note, standing="stated", doubts=(), last_confirmed_at=tx.now)
    ended = revise(tx, other, state="superseded", valid_to=until, superseded_by=note.id, metadata=metadata)
    return [stated, ended]


def _accepted(tx: WriteTx, found_suspicion: OpenSuspicion) -> list[Effect]:
    """The statement takes its place in the timeline, on the user's word; of two notes it supersedes the other."""
    kept = found_suspicion.memory
    other = found_suspicion.other
    if kept.state == other.state == "active":
        until = max(kept.event_time, other.valid_from)
        return [revise(tx, other, state="superseded", valid_to=until, superseded_by=kept.id)]
    if kept.kind != "fact":
        effects = [] if other.state != "active" else [revise(tx, other, state="retracted", superseded_by=kept.id)]
        return [*effects, revise(tx, kept, state="active", last_confirmed_at=tx.now)]
    timeline = tx.facts(subject=kept.subject or "", key=kept.key or "", agent=kept.agent)
    word = Word(value=kept.value or "", at=kept.valid_from, operation=kept.operation)
    evidence = {memory.id: tx.evidence([memory.id]) for memory in timeline}
    placed = place(timeline, word, evidence)
    if placed.same is not None:
        return []
    effects = [
        revise(tx, ending.memory, state="superseded", valid_to=ending.at, superseded_by=kept.id)
        for ending in placed.endings
    ]
    if other.agent != kept.agent and other.state == "active":
        # It was told for all agents, in a timeline that is not this agent's own.
        until = max(kept.valid_from, other.valid_from)
        effects.append(revise(tx, other, state="superseded", valid_to=until, superseded_by=kept.id))
    late = placed.valid_to is not None
    by = None if placed.next is None else placed.next.id
    state = "superseded" if late else "active"
    tier = "long" if any(ending.memory.tier == "long" for ending in placed.endings) else kept.tier
    effects.append(
        revise(tx, kept, state=state, valid_to=placed.valid_to, superseded_by=by, tier=tier, last_confirmed_at=tx.now)
    )
    return effects


def _united(tx: WriteTx, found_suspicion: OpenSuspicion, writer: Writer, change_id: str) -> list[Effect]:
    """The facts of both keys as one timeline, under the older key.

    What may not end what the user told is retracted, with a suspicion, as it would have been under one key.
    """
    new, old = found_suspicion.memory, found_suspicion.other
    mine = tx.facts(subject=new.subject or "", key=new.key or "", agent=new.agent)
    theirs = tx.facts(subject=old.subject or "", key=old.key or "", agent=old.agent)
    effects = []
    changes, against = merged_timeline([*theirs, *mine], key=old.key or "")
    for memory, changed in changes:
        after = replace(memory, **changed)
        effects.append(revise(tx, memory, digest=memory_digest(writer.secret, after), **changed))
    for memory, told in against:
        raised = Suspicion(
            id=writer.ids.new("sus"),
            kind="contradiction",
            memory_id=memory.id,
            other_id=told.id,
            rule="told by the user",
            at=tx.now,
            change_id=change_id,
        )
        tx.put_suspicion(raised)
    return effects


def merged_timeline(
    facts: Sequence[Memory], *, key: str
) -> tuple[list[tuple[Memory, dict[str, Any]]], list[tuple[Memory, Memory]]]:
    """What changes when these facts become one timeline under a key: pure, each memory at most once.

    The statements take effect in their order: a `set` ends what held before it; a value that holds already is merged
    into the memory that says it. What ended by itself (a removal, an expiry) ends where it did. A statement that may
    not end what held (`protected`) is retracted; such ones come second, each with what stands against it.
    """
    standing = sorted(
        (memory for memory in facts if memory.state in {"active", "superseded", "expired"}),
        key=lambda memory: (memory.valid_from, authority(memory), memory.number),
    )
    own = {memory.id for memory in standing}
    after = {memory.id: memory for memory in facts}
    holding: list[Memory] = []
    against: list[tuple[Memory, Memory]] = []
    for memory in standing:
        at = memory.valid_from
        holding = [one for one in holding if (until := after[one.id].valid_to) is None or until > at]
        same = next((one for one in holding if same_value(one.value or "", memory.value or "")), None)
        told = next((one for one in holding if one is not same and protected(one, _word(memory))), None)
        if memory.operation == "set" and told is not None:
            freed = _freed(memory, own)
            after[memory.id] = replace(freed, state="retracted", tier="mid", valid_to=None, superseded_by=None)
            against.append((memory, told))
            continue
        if memory.operation == "set":
            for one in holding:
                if one is not same:
                    after[one.id] = replace(after[one.id], state="superseded", valid_to=at, superseded_by=memory.id)
            holding = [] if same is None else [same]
        if same is not None:
            after[memory.id] = replace(after[memory.id], state="merged", superseded_by=same.id)
            after[same.id] = _longer(after[same.id], memory)
        else:
            freed = _freed(memory, own)
            after[memory.id] = freed
            holding.append(memory)
    _name_merged(after)
    changes = [
        (memory, changed)
        for memory in facts
        if (changed := {**_differences(memory, after[memory.id]), **({"key": key} if memory.key != key else {})})
    ]
    return changes, against


def _word(memory: Memory) -> Word:
    """The statement that a memory once was."""
    own = memory.origin == "user" or memory.trust == "user"
    return Word(
        value=memory.value or "",
        at=memory.valid_from,
        operation=memory.operation,
        origin=memory.origin,
        trust=memory.trust,
        own_words=own,
    )


def _freed(memory: Memory, own: set[str]) -> Memory:
    """The memory as if nothing of these timelines had ended it; the sweep ends it again where it must."""
    if memory.superseded_by in own and memory.state == "superseded":
        return replace(memory, state="active", valid_to=None, superseded_by=None)
    return memory


def _longer(held: Memory, other: Memory) -> Memory:
    """The memory that says a value, for as long as either said it; evidence and tier of both."""
    until: datetime | None = None
    if held.valid_to is not None and other.valid_to is not None:
        until = max(held.valid_to, other.valid_to)
    state = held.state if held.state in {other.state, "active"} else other.state
    tier: Tier = "long" if "long" in {held.tier, other.tier} else "mid"
    pieces = held.evidence + other.evidence + 1
    return replace(held, valid_to=until, state=state, tier=tier, evidence=pieces)


def _name_merged(after: dict[str, Memory]) -> None:
    """What was superseded by a memory that is merged now is superseded by the one that says it."""
    for one in after.values():
        by = after.get(one.superseded_by or "")
        if one.state == "superseded" and by is not None and by.state == "merged":
            after[one.id] = replace(one, superseded_by=by.superseded_by)


def _differences(before: Memory, after: Memory) -> dict[str, Any]:
    names = ("state", "valid_to", "superseded_by", "tier", "evidence")
    return {name: getattr(after, name) for name in names if getattr(after, name) != getattr(before, name)}
