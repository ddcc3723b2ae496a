"""The second transaction of a consolidation: all of a window's results and its cursor, or nothing.

Each function checks that the world is still what was read: the lease is the newest on the work, the session's cursor
did not move, every message and every fact that was shown is still there. Where that fails it changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Any, Literal

from holdfast.errors import Attempt
from holdfast.inference import Advice
from holdfast.model import Author, Change, Memory, Message, Origin, Session, Span
from holdfast.pipeline.archive import NOTHING, RAW_CHARS, archive
from holdfast.pipeline.compact.topics import MAX_ENTITIES, MAX_TOPICS, folded
from holdfast.pipeline.consolidate.asking import prompt
from holdfast.pipeline.consolidate.contract import Draft
from holdfast.pipeline.consolidate.learning import Learner
from holdfast.pipeline.consolidate.snapshot import FRONT, Snapshot
from holdfast.pipeline.consolidate.window import Part, When, due_at, kept_from, weight
from holdfast.pipeline.idempotency import keyed_digest
from holdfast.pipeline.remember import revise
from holdfast.pipeline.undo import restore
from holdfast.ports import Ids
from holdfast.transaction import ReadTx, WriteTx

__all__ = ["Answered", "Hold", "Means", "Verdict", "apply_answers", "apply_raw", "apply_redone", "set_aside"]

Verdict = Literal["done", "stale", "lost"]
"""`stale`: read again, something that was read is gone. `lost`: somebody else holds the work now."""
MAX_ATTEMPTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """The lease under which a result is applied."""

    kind: str
    ref: str
    token: int

    def stands(self, tx: ReadTx) -> bool:
        """Whether it is still the newest lease on the work."""
        return any((due.kind, due.ref, due.token) == (self.kind, self.ref, self.token) for due in tx.due())


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A part of a window and what a model, or the rules, made of it."""

    part: Part
    draft: Draft
    model: str
    origin: Origin = "model"
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What every apply needs beside its transaction."""

    ids: Ids
    secret: bytes
    when: When
    life: timedelta = timedelta(days=7)
    raw_chars: int = RAW_CHARS
    mirror: bool = False


def apply_answers(
    tx: WriteTx,
    snapshot: Snapshot,
    answers: Sequence[Answered],
    attempts: Sequence[Attempt],
    hold: Hold,
    means: Means,
) -> Verdict:
    """A window's memories, its cursor, its change and what is due next, at once.

    The answers may cover a prefix of the window; the rest stays and is due again.
    """
    session, verdict = _current(tx, snapshot, hold)
    if session is None:
        return verdict
    last = max(piece.number for answer in answers for piece in answer.part.pieces)
    taken = snapshot.messages[:last]
    learner = _learner(tx, snapshot, answers, means)
    summary = _learn(learner, answers, taken, means)
    span = Span(session=session.id, first=session.cursor + 1, last=taken[-1].seq)
    change = _change(tx, learner, summary, taken, answers, attempts, spans=(span,))
    _move(tx, session, taken[-1].seq, means)
    if learner.author.origin == "rules" and summary is not None:
        tx.put_due("redo", FRONT, tx.now + means.when.idle)
    _mirrored(tx, means)
    tx.add_change(change)
    return "done"


def apply_redone(
    tx: WriteTx,
    snapshot: Snapshot,
    answers: Sequence[Answered],
    attempts: Sequence[Attempt],
    hold: Hold,
    means: Means,
) -> Verdict:
    """A window that was RAW, or made by rules, done by a model: what stood for it is merged into the result."""
    verdict = _unchanged(tx, snapshot, hold)
    if verdict != "done":
        return verdict
    current = {memory.id: memory for memory in tx.find_memories([memory.id for memory in snapshot.replaces])}
    if any(current.get(old.id) is None or current[old.id].rev != old.rev for old in snapshot.replaces):
        return "stale"
    learner = _learner(tx, snapshot, answers, means)
    _take_back_rules(tx, snapshot, learner)
    summary = _learn(learner, answers, snapshot.messages, means)
    for old in tx.find_memories([memory.id for memory in snapshot.replaces]):
        learner.revise(old, state="merged", superseded_by=None if summary is None else summary.id)
    tx.add_change(_change(tx, learner, summary, snapshot.messages, answers, attempts, spans=()))
    _mirrored(tx, means)
    return "done"


def apply_raw(
    tx: WriteTx,
    snapshot: Snapshot,
    advice: Advice,
    attempts: Sequence[Attempt],
    hold: Hold,
    means: Means,
    *,
    again: timedelta,
    alone: bool = False,
) -> Verdict:
    """A window that no model could take: kept whole as RAW, out of the session's way, with attempts and reasons.

    It is due to be done after `again`: with the scope's others, or `alone` where the fault was the window's own. Set
    aside it stays RAW until somebody asks.
    """
    session, verdict = _current(tx, snapshot, hold)
    if session is None:
        return verdict
    aside = advice in {"poison", "refused"}
    about: dict[str, Any] = {"reason": advice, "attempts": plain_attempts(attempts), "set_aside": aside}
    author = Author(origin="rules", name="upkeep")
    stored, effects = archive(
        tx,
        snapshot.messages,
        secret=means.secret,
        ids=means.ids,
        author=author,
        raw_chars=means.raw_chars,
        about=about,
    )
    last = snapshot.messages[-1].seq
    tx.add_change(
        Change(
            id=means.ids.new("chg"),
            seq=0,
            verb="consolidate",
            reason=f"kept raw: {_REASONS[advice]}",
            by=author,
            at=tx.now,
            sources=tuple(message.id for message in snapshot.messages),
            spans=(Span(session=session.id, first=session.cursor + 1, last=last),),
            effects=tuple(effects),
            detail=about,
        )
    )
    _move(tx, session, last, means)
    if not aside:
        tx.put_due("redo", stored[0].id if alone else FRONT, tx.now + again)
    _mirrored(tx, means)
    return "done"


_REASONS: Mapping[Advice, str] = {
    "retry": "no model of the chain answered",
    "park": "no model of the chain is available",
    "shorten": "it is too long for every model of the chain",
    "poison": "set aside, the models cannot take this request",
    "refused": "set aside, three models refused it",
}


def set_aside(
    tx: WriteTx, snapshot: Snapshot, advice: Advice, attempts: Sequence[Attempt], hold: Hold, means: Means
) -> Verdict:
    """A window that is done again and proves to be the fault itself: it stays RAW, with its reasons."""
    verdict = _unchanged(tx, snapshot, hold)
    if verdict != "done":
        return verdict
    effects = []
    for old in tx.find_memories([memory.id for memory in snapshot.replaces]):
        held = old.metadata.get("raw")
        about = {**(held if isinstance(held, Mapping) else {"window": snapshot.raw_id})}
        about |= {"reason": advice, "attempts": plain_attempts(attempts), "set_aside": True}
        effects.append(revise(tx, old, metadata={**old.metadata, "raw": about}))
    change = Change(
        id=means.ids.new("chg"),
        seq=0,
        verb="archive",
        reason=f"kept raw: {_REASONS[advice]}",
        by=Author(origin="rules", name="upkeep"),
        at=tx.now,
        effects=tuple(effects),
    )
    tx.add_change(change)
    return "done"


def plain_attempts(attempts: Sequence[Attempt]) -> list[dict[str, Any]]:
    """Attempts as plain data: the newest twenty."""
    kept = ("model", "cls", "status", "code", "reason", "seconds")
    return [{name: asdict(one)[name] for name in kept} for one in attempts[-MAX_ATTEMPTS:]]


# --------------------------------------------------------------------------------------------- checks


def _unchanged(tx: ReadTx, snapshot: Snapshot, hold: Hold) -> Verdict:
    """Whether everything that was shown to the model is still there."""
    if not hold.stands(tx):
        return "lost"
    messages = [message.id for message in snapshot.messages]
    known = [memory.id for memory in snapshot.known]
    there = len(tx.find_messages(messages)) == len(messages) and len(tx.find_memories(known)) == len(known)
    return "done" if there else "stale"


def _current(tx: ReadTx, snapshot: Snapshot, hold: Hold) -> tuple[Session | None, Verdict]:
    """The session as it is now, where the window can be applied to it."""
    verdict = _unchanged(tx, snapshot, hold)
    if verdict != "done":
        return None, verdict
    session = tx.find_session(snapshot.session.id)
    if session is None or session.cursor != snapshot.session.cursor:
        return None, "stale"
    if session.rev != snapshot.session.rev:
        # Forgetting touched the window: the answer holds only if what is there now is what was read.
        now = tx.messages(session.name, after=session.cursor, until=snapshot.messages[-1].seq)
        if [message.id for message in now] != [message.id for message in snapshot.messages]:
            return None, "stale"
    return session, "done"


# --------------------------------------------------------------------------------------------- effects


def _learner(tx: WriteTx, snapshot: Snapshot, answers: Sequence[Answered], means: Means) -> Learner:
    return Learner(
        tx=tx,
        snapshot=snapshot,
        author=_author(answers),
        ids=means.ids,
        secret=means.secret,
        change_id=means.ids.new("chg"),
        life=means.life,
    )


def _author(answers: Sequence[Answered]) -> Author:
    """By whom a result is: a model's if all of it is, else the rules', so that it is done again."""
    rules = [answer for answer in answers if answer.origin == "rules"]
    first = (rules or list(answers))[0]
    return Author(origin=first.origin, name=first.model, version=prompt().version)


def _learn(learner: Learner, answers: Sequence[Answered], taken: Sequence[Message], means: Means) -> Memory | None:
    """Facts and notes in their order, then the summary of all parts; None where nothing was worth keeping."""
    for answer in answers:
        for fact in answer.draft.facts:
            learner.fact(fact)
        for note in answer.draft.notes:
            learner.note(note)
    kept = [answer for answer in answers if answer.draft.nothing is None]
    if not kept:
        return None
    summary = learner.fresh(
        taken,
        text="\n\n".join(_timed(answer) for answer in kept),
        importance="mid",
        kind="summary",
        at=taken[0].event_time,
        topics=folded([answer.draft.topics for answer in kept], MAX_TOPICS),
        entities=folded([answer.draft.entities for answer in kept], MAX_ENTITIES, names=True),
    )
    return learner.store(summary, keyed_digest(means.secret, "summary", summary.id))


def _timed(answer: Answered) -> str:
    """The entry with the time of its window in front, whatever the model began with."""
    moment = answer.part.pieces[0].message.event_time
    day = moment.strftime("%Y-%m-%d")
    entry = answer.draft.entry
    return entry if entry.lstrip("[ ").startswith(day) else f"[{moment:%Y-%m-%d %H:%M}] {entry}"


def _take_back_rules(tx: WriteTx, snapshot: Snapshot, learner: Learner) -> None:
    """What the rules made of this window is taken back, as far as nothing else stands on it."""
    made = [
        change
        for memory in snapshot.replaces
        if memory.origin == "rules" and memory.kind == "summary"
        for change in tx.changes(memory_id=memory.id)
        if change.verb == "consolidate" and change.by.origin == "rules" and change.undone_by is None
    ]
    for change in made[:1]:
        for effect in reversed(change.effects):
            current = tx.find_memories([effect.memory_id])
            if current and current[0].kind != "summary" and current[0].rev == effect.rev_after:
                learner.noted(restore(tx, effect, change))


def _change(
    tx: WriteTx,
    learner: Learner,
    summary: Memory | None,
    taken: Sequence[Message],
    answers: Sequence[Answered],
    attempts: Sequence[Attempt],
    *,
    spans: tuple[Span, ...],
) -> Change:
    nothing = [answer.draft.nothing for answer in answers if answer.draft.nothing is not None]
    detail = {
        "models": list(dict.fromkeys(answer.model for answer in answers)),
        "attempts": plain_attempts(attempts),
        "tokens": {
            "input": sum(answer.input_tokens for answer in answers),
            "output": sum(answer.output_tokens for answer in answers),
        },
        "parts": len(answers),
        "messages": len(taken),
        "facts": learner.facts,
        "notes": learner.notes,
    }
    more = {"nothing": nothing}
    return Change(
        id=learner.change_id,
        seq=0,
        verb="consolidate",
        reason=NOTHING if summary is None else "done again" if snapshot_redone(spans) else "consolidated",
        by=learner.author,
        at=tx.now,
        sources=tuple(message.id for message in taken),
        spans=spans,
        effects=learner.effects,
        detail={**detail, **{name: value for name, value in more.items() if value}},
    )


def snapshot_redone(spans: tuple[Span, ...]) -> bool:
    """Whether a change did a window again: it moved no cursor."""
    return not spans


def _move(tx: WriteTx, session: Session, last: int, means: Means) -> None:
    """The cursor moves past the window; the prompt keeps its last turns; what still waits is due in its time."""
    live = tx.messages(session.name, after=session.window_start)
    kept = min(kept_from(live, means.when.keep), last)
    moved = replace(
        session,
        cursor=last,
        window_start=max(session.window_start, kept),
        pending_tokens=weight([message for message in live if message.seq > last]),
        rev=session.rev + 1,
    )
    if session.window_start > last:
        moved = replace(moved, pending_tokens=weight(tx.messages(session.name, after=last)))
    tx.put_session(moved)
    again = due_at(moved, means.when, tx.now)
    if again is not None:
        tx.put_due("consolidate", session.id, again)


def _mirrored(tx: WriteTx, means: Means) -> None:
    if means.mirror:
        tx.put_due("mirror", "files", tx.now)
