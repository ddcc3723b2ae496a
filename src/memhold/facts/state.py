"""Stating a fact: its timeline, what it does there, where it lives, and what a person should settle.

`state_fact` is the one way in which facts come about, for what the user tells and for what a consolidation reads. It
writes rows and gives back what they were; the caller makes the change that holds them together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from memhold.facts.beside import stand_beside
from memhold.facts.keys import Decision
from memhold.facts.matching import ALIKE, Resolution, aliases, find
from memhold.facts.moves import home, move
from memhold.facts.operations import doing, names_the_past
from memhold.facts.remember import Writer, fact_text, relabelled
from memhold.facts.revisions import memory_digest, mind_expiry, revise
from memhold.facts.statement import Operation, Statement, StatementResult
from memhold.facts.tiers import durable, entry_tier, lives_until, promotes, rises, said_turn, temporary
from memhold.facts.timeline import AHEAD, Placement, Resumption, Word, place
from memhold.facts.users_word import said_by_user
from memhold.index.documents import index_memories
from memhold.journal.append import ensure_session
from memhold.ports.transaction import WriteTx
from memhold.text.compare import same_value
from memhold.text.details import content_terms
from memhold.values.origins import authority, weight
from memhold.values.records import Effect, Evidence, Memory, Suspicion

__all__ = ["Statement", "StatementResult", "state_fact"]

MAX_SOURCES = 50
"""Most messages that one fact names; a fact said oftener names the first ones."""


_BROUGHT = frozenset({"agent", "tool"})
"""Whose statements come through a call of theirs: what they say that the user said is looked up."""
_LEARNT = frozenset({"model", "rules"})


@dataclass(slots=True)
class _Work:
    """One statement on its way through its transaction."""

    tx: WriteTx
    said: Statement
    writer: Writer
    change_id: str
    where: Resolution
    effects: list[Effect] = field(default_factory=list)

    @property
    def turn(self) -> str:
        if self.said.turn is not None:
            return self.said.turn
        name = self.writer.session
        return said_turn(None if name is None else self.tx.session(name), self.change_id)

    def note(self, memory: Memory, operation: Literal["set", "add", "remove", "until"], at: datetime) -> None:
        self.tx.add_evidence(
            Evidence(memory_id=memory.id, turn=self.turn, at=at, operation=operation, change_id=self.change_id)
        )


def state_fact(tx: WriteTx, said: Statement, *, writer: Writer, change_id: str) -> StatementResult:
    """Put a statement into the timeline of its concept, in the caller's transaction.

    A statement against what has more authority, without the user's own words, is kept as retracted with a suspicion; an
    agent's stands where a line of the user's in the journal says it, which then is its source. A doubtful one ends
    nothing: it is a note beside what it would end, with a suspicion. Of low importance and learnt, a new concept
    becomes a note. The caller adds the change of that id with the effects; where there are none, nothing was written
    but the count of evidence.
    """
    suspicions = tx.suspicions()
    where = find(tx, said.subject, said.attribute, writer.agent, lambda: aliases(tx, suspicions))
    work = _Work(tx=tx, said=said, writer=writer, change_id=change_id, where=where)
    timeline = _timeline(work, since=None if names_the_past(said) else said.at) if where.known else []
    operation, decision, ends = doing(said, timeline)
    told = writer.author.origin == "user"
    word = Word(
        value=said.value,
        at=said.at,
        operation=operation,
        origin=writer.author.origin,
        trust=said.trust,
        own_words=said.own_words or told,
        ends=ends,
        # A user who names an earlier time speaks of the past; nobody can have spoken of a time so far ahead.
        latest=None if told and said.at < tx.now else tx.now + AHEAD,
    )
    digest = memory_digest(writer.secret, _fresh(work, "set", [], []))
    if writer.author.origin in _LEARNT and tx.blocked(digest):
        return StatementResult(memory=None, effects=(), reason="forgotten: not to be learnt again")
    timeline = _lapsed(work, timeline, operation)
    rows = _rows(tx, timeline, said.at)
    placement = place(timeline, word, rows)
    against = placement.against or _elsewhere(work, word)
    if against:
        line = _users_line(work, against, operation)
        if line is not None:
            return state_fact(tx, line, writer=writer, change_id=change_id)
        return _kept_apart(work, against, suspicions, operation)
    doubted = [ending.memory for ending in placement.endings if ending.memory.state == "active"]
    if said.standing == "doubtful" and (doubted or operation == "remove"):
        return _beside(work, doubted, operation)
    if operation == "remove" and not placement.endings and (meant := _worded_otherwise(work, timeline)):
        doubts = ("what holds is worded otherwise",)
        return _beside(replace(work, said=replace(said, standing="doubtful", doubts=doubts)), meant, operation)
    if said.importance == "low" and writer.author.origin in _LEARNT and not where.known and operation != "remove":
        return _note(work)
    corrects = decision is not None and decision.operation == "correct"
    memory = _apply(work, placement, operation, rows, corrects=corrects)
    raised = [] if memory is None or where.known else _suspect(work, memory)
    if memory is not None and memory.state == "active" and operation != "remove" and word.own_words:
        raised += _moved(work, memory, suspicions)
    return StatementResult(
        memory=memory,
        effects=tuple(work.effects),
        reason=_reason(placement, operation, decision, work),
        suspicions=tuple(raised),
    )


def _elsewhere(work: _Work, word: Word) -> tuple[Memory, ...]:
    """What of no agent stands against an agent's statement: its own timeline does not hold what the user told all."""
    if work.writer.agent is None or work.writer.author.origin not in _BROUGHT:
        return ()
    where = find(work.tx, work.said.subject, work.said.attribute, None)
    shared = work.tx.facts(subject=where.subject, key=where.key, agent=None) if where.known else []
    return place(shared, word, {}).against


def _users_line(work: _Work, against: Sequence[Memory], operation: Operation) -> Statement | None:
    """The statement on the word of a line of the user's that says it; None where there is none."""
    said = work.said
    if work.writer.author.origin not in _BROUGHT:
        return None
    after = max(memory.valid_from for memory in against)
    line = said_by_user(work.tx, said.attribute, said.value, operation, after=after)
    if line is None:
        return None
    sources = tuple(dict.fromkeys((*said.sources, line.id)))
    return replace(said, at=line.event_time, own_words=True, trust="user", sources=sources, turn=f"line:{line.id}")


def _timeline(work: _Work, since: datetime | None = None) -> list[Memory]:
    """The facts of the concept: all of them, or what a statement of that time can meet."""
    where = work.where
    return work.tx.facts(subject=where.subject, key=where.key, agent=work.writer.agent, since=since)


def _lapsed(work: _Work, timeline: Sequence[Memory], operation: Operation) -> list[Memory]:
    """The timeline, where what is told again after its told end has ended: nobody may have done that work yet."""
    tx, found = work.tx, list(timeline)
    if operation == "remove":
        return found
    for index, memory in enumerate(found):
        over = memory.expires_at is not None and memory.expires_at <= tx.now and not memory.pinned
        if not over or memory.state != "active" or not same_value(memory.value or "", work.said.value):
            continue
        if temporary(tx.evidence([memory.id])):
            work.effects.append(revise(tx, memory, state="expired", valid_to=memory.expires_at))
            tx.clear_due("expire", memory.id)
            found[index] = tx.find_memories([memory.id])[0]
    return found


def _rows(tx: WriteTx, timeline: Sequence[Memory], at: datetime) -> dict[str, list[Evidence]]:
    """The evidence of what holds at a time or later: what ended before has none of a later time."""
    found: dict[str, list[Evidence]] = {}
    later = [m.id for m in timeline if m.state != "retracted" and (m.valid_to is None or m.valid_to > at)]
    for one in tx.evidence(later):
        found.setdefault(one.memory_id, []).append(one)
    return found


def _fresh(
    work: _Work, operation: Literal["set", "add"], replaced: Sequence[Memory], rows: Sequence[Evidence]
) -> Memory:
    """The fact as it would be stored; its number is taken only then."""
    said, writer, now = work.said, work.writer, work.tx.now
    lasting = durable(work.where.subject, work.where.attribute)
    tier = entry_tier(
        importance=said.importance, pinned=said.pinned, lasting=lasting, trust=said.trust, replaced=replaced
    )
    pieces = 0
    if replaced:
        known = {one.turn for one in rows}
        pieces = max(memory.evidence for memory in replaced) + (work.turn not in known)
    memory = Memory(
        id=writer.ids.new("mem"),
        number=-1,
        kind="fact",
        text=fact_text(work.where.subject, work.where.attribute, said.value),
        tier=tier,
        agent=writer.agent,
        session=writer.session,
        subject=work.where.subject,
        attribute=work.where.attribute,
        value=said.value,
        key=work.where.key,
        operation=operation,
        topics=said.topics,
        entities=said.entities,
        metadata=said.metadata,
        importance=said.importance,
        pinned=said.pinned,
        origin=writer.author.origin,
        actor=writer.author.name,
        trust=said.trust,
        evidence=pieces,
        sources=said.sources,
        event_time=said.at,
        valid_from=said.at,
        created_at=now,
        recorded_at=now,
        quotes=said.quotes,
        standing=said.standing,
        doubts=said.doubts,
    )
    if said.expires_at is None and promotes(memory, pieces, ()):
        memory = replace(memory, tier="long")
    return replace(memory, expires_at=lives_until(memory.tier, given=said.expires_at, now=now))


def _apply(
    work: _Work,
    placement: Placement,
    operation: Operation,
    rows: Mapping[str, Sequence[Evidence]],
    *,
    corrects: bool,
) -> Memory | None:
    """Write what a placement says; returns the memory that now says it."""
    tx = work.tx
    replaced = [ending.memory for ending in placement.endings if ending.replaced]
    late = placement.valid_to is not None
    held = placement.same
    fresh: Memory | None = None
    if held is None and operation != "remove":
        turns = [one for memory in replaced for one in rows.get(memory.id, ())]
        fresh = _fresh(work, operation, [] if late else replaced, turns)
        if corrects and replaced:
            fresh = replace(fresh, valid_from=min(memory.valid_from for memory in replaced))
    resumed = {one.memory.id: _resumed(work, one, rows.get(one.memory.id, ())) for one in placement.resumes}
    successor = held or fresh
    for ending in placement.endings:
        by = successor.id if successor is not None and ending.replaced else None
        changed: dict[str, Any] = {"state": "retracted" if corrects else "superseded", "superseded_by": by}
        if not corrects:
            changed["valid_to"] = ending.at
        work.effects.append(revise(tx, ending.memory, **changed))
        tx.clear_due("expire", ending.memory.id)
        if operation == "remove":
            work.note(ending.memory, "remove", ending.at)
    if fresh is not None:
        following = placement.next
        by = None if following is None else resumed.get(following.id, following).id
        fresh = replace(fresh, valid_to=placement.valid_to, state="superseded" if late else "active", superseded_by=by)
        return _store(work, fresh, "add" if operation == "add" else "set")
    if held is not None:
        return _again(work, held, "add" if operation == "add" else "set", rows.get(held.id, ()))
    return placement.endings[0].memory if placement.endings else None


def _store(work: _Work, fresh: Memory, operation: Literal["set", "add"]) -> Memory:
    tx = work.tx
    memory = replace(fresh, number=tx.take_numbers(1))
    if memory.session is not None:
        ensure_session(tx, memory.session, work.writer.ids)
    tx.put_memory(memory, digest=memory_digest(work.writer.secret, memory))
    index_memories(tx, [memory])
    work.note(memory, operation, work.said.at)
    if work.said.expires_at is not None:
        work.note(memory, "until", work.said.expires_at)
    mind_expiry(tx, memory)
    work.effects.append(Effect(memory_id=memory.id, rev_before=0, rev_after=1))
    return memory


def _resumed(work: _Work, one: Resumption, rows: Sequence[Evidence]) -> Memory:
    """A version that begins where an ended value was stated again, with the evidence from then on."""
    tx = work.tx
    memory = replace(
        one.memory,
        id=work.writer.ids.new("mem"),
        number=tx.take_numbers(1),
        operation=one.operation,
        event_time=one.at,
        valid_from=one.at,
        created_at=tx.now,
        recorded_at=tx.now,
        rev=1,
    )
    tx.put_memory(memory, digest=memory_digest(work.writer.secret, memory))
    index_memories(tx, [memory])
    for row in rows:
        if row.at >= one.at or row.operation in {"asked", "until"}:
            tx.add_evidence(replace(row, memory_id=memory.id, change_id=work.change_id))
    mind_expiry(tx, memory)
    work.effects.append(Effect(memory_id=memory.id, rev_before=0, rev_after=1))
    return memory


def _again(work: _Work, held: Memory, operation: Literal["set", "add"], rows: Sequence[Evidence]) -> Memory:
    """The same value stated again: labels, a pin, and a piece of evidence where it came in a turn of its own."""
    tx, said, author = work.tx, work.said, work.writer.author
    if author.origin in _BROUGHT and authority(held) > weight(author.origin, said.trust):
        return held  # it says what is known on a better word: it labels, pins and ends nothing
    changed = relabelled(held, said)
    if author.origin == "user" and held.origin != "user" and held.last_confirmed_at is None:
        changed["last_confirmed_at"] = tx.now
    if said.trust == "user" and held.trust != "user":
        changed["trust"] = "user"
        if held.trust == "tool" and said.expires_at is None and rises(held, rows):
            changed |= {"tier": "long", "expires_at": None}
            tx.clear_due("expire", held.id)
    elif said.trust == held.trust == "tool" and not held.pinned:
        changed.pop("tier", None)
    if new := [one for one in said.sources if one not in held.sources]:
        changed["sources"] = (*held.sources, *new)[:MAX_SOURCES]
        quotes = [one for one in said.quotes if one not in held.quotes and one.message_id in changed["sources"]]
        changed["quotes"] = (*held.quotes, *quotes)
    told_before = any(one.turn == work.turn or (one.at == said.at and one.operation in {"set", "add"}) for one in rows)
    if said.at != held.valid_from or not told_before:
        work.note(held, operation, said.at)
    living = held.valid_to is None and held.state in {"active", "expired"}
    if living and said.expires_at is not None and said.expires_at != held.expires_at:
        # Until when it holds, in a later word: a revision, so that undo has something to go back to.
        work.note(held, "until", said.expires_at)
        tx.clear_due("expire", held.id)
        changed |= {"expires_at": said.expires_at, "state": "active"}
    if not living or told_before:
        if changed:
            work.effects.append(revise(tx, held, **changed))
        return held
    pieces = held.evidence + 1
    told_until = temporary(rows) or said.expires_at is not None
    until = changed.pop("expires_at", held.expires_at)
    if not told_until:
        until = lives_until(held.tier, given=None, now=tx.now)
    moved = replace(held, **changed)
    if not told_until and promotes(moved, pieces, rows):
        changed |= {"tier": "long"}
    if held.state == "expired":
        changed |= {"state": "active"}
    tier = changed.get("tier", held.tier)
    until = until if tier == "mid" or told_until else None
    if until is not None:
        tx.put_due("expire", held.id, until)
    if changed or (told_until and until != held.expires_at):
        work.effects.append(revise(tx, held, **changed, evidence=pieces, expires_at=until))
    else:
        tx.count_evidence(held.id, evidence=pieces, expires_at=until)
    return held


def _note(work: _Work) -> StatementResult:
    """What matters little is kept as a note, not dropped."""
    note, effects = _noted(work)
    reason = "of low importance: kept as a note" if effects else "noted before"
    return StatementResult(memory=note, effects=effects, reason=reason)


def _noted(work: _Work, text: str | None = None) -> tuple[Memory, tuple[Effect, ...]]:
    """The statement as a note, in another text where one is given, and what that wrote."""
    fresh = replace(_fresh(work, "set", [], []), kind="note", subject=None, attribute=None, value=None, key=None)
    fresh = fresh if text is None else replace(fresh, text=text)
    digest = memory_digest(work.writer.secret, fresh)
    same = work.tx.same_content(kind="note", digest=digest, agent=work.writer.agent)
    if same is not None:
        return same, ()
    memory = replace(fresh, number=work.tx.take_numbers(1), tier="mid", expires_at=work.said.expires_at)
    work.tx.put_memory(memory, digest=digest)
    index_memories(work.tx, [memory])
    mind_expiry(work.tx, memory)
    return memory, (Effect(memory_id=memory.id, rev_before=0, rev_after=1),)


def _beside(work: _Work, doubted: Sequence[Memory], operation: Operation) -> StatementResult:
    """A doubtful statement that would end something: a note that is told with it, and a suspicion for a person."""
    said = work.said
    perhaps = f"perhaps no longer {said.value}" if operation == "remove" else f"perhaps {said.value}"
    text = fact_text(work.where.subject, work.where.attribute, perhaps)
    noted, made = _noted(work, text)
    effects, raised = stand_beside(work.tx, noted, doubted, writer=work.writer, change_id=work.change_id)
    return StatementResult(
        memory=noted,
        effects=(*work.effects, *made, *effects),
        reason="doubtful: kept beside what holds",
        suspicions=tuple(raised),
    )


def _worded_otherwise(work: _Work, timeline: Sequence[Memory]) -> list[Memory]:
    """What holds and may be meant by the end of a value that nothing has, as it was learnt: it has a word of it."""
    if work.writer.author.origin not in _LEARNT:
        return []
    wanted = content_terms(work.said.value)
    return [one for one in timeline if one.state == "active" and wanted & content_terms(one.value or "")]


def _kept_apart(
    work: _Work, against: Sequence[Memory], known: Sequence[Suspicion], operation: Operation
) -> StatementResult:
    """A statement against what has more authority: kept out of the present, for a person to settle."""
    said, tx = work.said, work.tx
    named = {one.memory_id for one in known if one.kind == "contradiction"}
    told = against[-1]
    users = authority(told) >= weight("model", "user")
    if operation == "remove" and work.writer.author.origin in _BROUGHT:
        return StatementResult(memory=told, effects=tuple(work.effects), reason="kept: the user did not take it back")
    # All of it: what was kept apart is retracted, and holds at no time.
    for memory in _timeline(work):
        if memory.id in named and same_value(memory.value or "", said.value):
            return StatementResult(
                memory=memory, effects=tuple(work.effects), reason=f"kept apart before: {_otherwise(users)}"
            )
    memory = replace(_fresh(work, "set", [], []), state="retracted", tier="mid", pinned=False, expires_at=None)
    memory = replace(memory, number=tx.take_numbers(1))
    tx.put_memory(memory, digest=memory_digest(work.writer.secret, memory))
    index_memories(tx, [memory])
    suspicion = _raise(
        work, "contradiction", memory.id, told.id, "told by the user" if users else "told on a better word"
    )
    return StatementResult(
        memory=memory,
        effects=(*work.effects, Effect(memory_id=memory.id, rev_before=0, rev_after=1)),
        reason=f"kept apart: {_otherwise(users)}",
        suspicions=(suspicion,),
    )


def _otherwise(users: bool) -> str:  # noqa: FBT001 - one fact of the statement above
    return "the user told otherwise" if users else "told otherwise on a better word"


def _suspect(work: _Work, memory: Memory) -> list[Suspicion]:
    """A suspicion for each key that may be the same concept as this new one."""
    raised = []
    for other, verdict in work.where.suspects:
        facts = work.tx.facts(subject=other.subject, key=other.key, agent=work.writer.agent)
        standing = [fact for fact in facts if fact.state in {"active", "superseded", "expired"}]
        if standing:
            raised.append(_raise(work, "key", memory.id, standing[-1].id, verdict.rule))
    return raised


def _moved(work: _Work, memory: Memory, known: Sequence[Suspicion]) -> list[Suspicion]:
    """End, or suspect, where the user lived before under the other key: the sentence tells of a move."""
    tx, raised = work.tx, []
    mine = home(memory.subject or "", memory.attribute or "") if work.said.wording else None
    if mine is None:
        return []
    asked = {frozenset({one.memory_id, one.other_id}) for one in known}
    for key in tx.fact_keys(work.writer.agent):
        if key.subject != memory.subject or home(key.subject, key.attribute) in {None, mine}:
            continue
        for old in tx.facts(subject=key.subject, key=key.key, agent=work.writer.agent, since=work.said.at):
            done = move(work.said.wording, memory, old) if old.state in {"active", "expired"} else None
            if done == "ends":
                until = memory.valid_from
                work.effects.append(revise(tx, old, state="superseded", valid_to=until, superseded_by=memory.id))
                tx.clear_due("expire", old.id)
            elif done == "suspects" and frozenset({memory.id, old.id}) not in asked:
                raised.append(_raise(work, "contradiction", memory.id, old.id, "moved"))
    return raised


def _raise(work: _Work, kind: Literal["key", "contradiction"], memory_id: str, other_id: str, rule: str) -> Suspicion:
    suspicion = Suspicion(
        id=work.writer.ids.new("sus"),
        kind=kind,
        memory_id=memory_id,
        other_id=other_id,
        rule=rule,
        at=work.tx.now,
        change_id=work.change_id,
    )
    work.tx.put_suspicion(suspicion)
    if kind == "key":
        work.tx.put_due(*ALIKE, work.tx.now)
    return suspicion


def _reason(placement: Placement, operation: Operation, decision: Decision | None, work: _Work) -> str:
    """Why the change was made, and which rule chose it; without content."""
    if operation == "remove":
        base = "told that it no longer holds"
    elif placement.same is not None:
        base = "told again"
    elif placement.valid_to is not None:
        base = "told late: a newer value was known"
    else:
        base = "told; replaces an earlier value" if placement.endings else "told"
    if decision is not None and (placement.endings or decision.operation == "add"):
        base += f" (by {decision.rule}: {decision.reason})"
    if work.where.known and work.where.rule != "exact":
        base += f" [key: {work.where.rule}]"
    return base
