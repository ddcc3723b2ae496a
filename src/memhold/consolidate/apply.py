"""The second transaction of a consolidation: all of a window's results and its cursor, or nothing.

Each function checks that the world is still what was read: the lease is the newest on the work, the session's cursor
did not move, every message and every fact that was shown is still there. Where that fails it changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memhold.asking.prompts import prompt
from memhold.consolidate.apply_guard import (
    ApplyGuard,
    Means,
    Verdict,
    mirrored,
    move,
    plain_attempts,
    standing,
    unchanged,
)
from memhold.consolidate.contract import Draft
from memhold.consolidate.entry import slips
from memhold.consolidate.learning import Learner
from memhold.consolidate.raw import Aside, keep_aside
from memhold.consolidate.snapshot import FRONT, Snapshot
from memhold.facts.revisions import restore
from memhold.facts.rollups import withdraw
from memhold.journal.archive import NOTHING
from memhold.journal.windows import Part
from memhold.messages.fences import unquoted
from memhold.messages.records import typed
from memhold.ports.idempotency import keyed_digest
from memhold.ports.transaction import WriteTx
from memhold.text.labels import MAX_ENTITIES, MAX_TOPICS, folded
from memhold.values.errors import Attempt
from memhold.values.records import Author, Change, Memory, Message, Origin, Span

__all__ = ["Answered", "Result", "apply_answers", "apply_redone"]


MAX_LEFT_OUT = 200
"""Most items that a change tells as left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A part of a window and what a model, or the rules, made of it."""

    part: Part
    draft: Draft
    model: str
    origin: Origin = "model"
    prompt: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def numbers(self) -> frozenset[int]:
        """The places in the window of the messages that it was shown, from 1."""
        return frozenset(piece.number for piece in self.part.pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What models made of a window, or of a prefix of it: answers in order, what no model can take, and all calls."""

    answers: tuple[Answered, ...]
    attempts: tuple[Attempt, ...]
    aside: tuple[Aside, ...] = ()

    @property
    def last(self) -> int:
        """The place of the last message that it deals with; 0 for none."""
        every = [*(one.numbers for one in self.answers), *(one.numbers for one in self.aside)]
        return max((max(numbers) for numbers in every), default=0)

    def covered(self, messages: Sequence[Message]) -> list[Message]:
        """The messages that the answers stand on."""
        gone = {number for one in self.aside for number in one.numbers}
        return [message for number, message in enumerate(messages[: self.last], 1) if number not in gone]

    def closed(self) -> Result:
        """The same with whole messages set aside, each once: a summary stands only on messages that it names.

        What was answered together with a piece of a message that is set aside goes with it.
        """
        answers, aside = list(self.answers), list(self.aside)
        while torn := [one for one in answers if any(one.numbers & held.numbers for held in aside)]:
            for one in torn:
                answers.remove(one)
                at = next(place for place, held in enumerate(aside) if held.numbers & one.numbers)
                aside[at] = replace(aside[at], numbers=aside[at].numbers | one.numbers)
        joined: list[Aside] = []
        for held in aside:
            if joined and joined[-1].advice == held.advice and min(held.numbers) <= max(joined[-1].numbers) + 1:
                joined[-1] = replace(joined[-1], numbers=joined[-1].numbers | held.numbers)
            else:
                joined.append(held)
        return replace(self, answers=tuple(answers), aside=tuple(joined))


def apply_answers(tx: WriteTx, snapshot: Snapshot, result: Result, hold: ApplyGuard, means: Means) -> Verdict:
    """A window's memories, its cursor, its change and what is due next, at once.

    The result may cover a prefix of the window; the rest stays and is due again.
    """
    session, verdict = standing(tx, snapshot, hold)
    if session is None:
        return verdict
    taken = snapshot.messages[: result.last]
    learner = _learner(tx, snapshot, result, means)
    summary = _learn(learner, result, means)
    span = Span(session=session.id, first=session.cursor + 1, last=taken[-1].seq)
    change = _change(tx, learner, summary, taken, result, spans=(span,))
    move(tx, session, taken[-1].seq, means)
    if learner.author.origin == "rules" and summary is not None:
        tx.put_due("redo", FRONT, tx.now + means.when.idle)
    mirrored(tx, means)
    tx.add_change(change)
    return "done"


def apply_redone(tx: WriteTx, snapshot: Snapshot, result: Result, hold: ApplyGuard, means: Means) -> Verdict:
    """A window that was RAW, or made by rules, done by a model: what stood for it is merged into the result."""
    verdict = unchanged(tx, snapshot, hold)
    if verdict != "done":
        return verdict
    current = {memory.id: memory for memory in tx.find_memories([memory.id for memory in snapshot.replaces])}
    if any(current.get(old.id) is None or current[old.id].rev != old.rev for old in snapshot.replaces):
        return "stale"
    learner = _learner(tx, snapshot, result, means)
    _take_back_rules(tx, snapshot, learner)
    summary = _learn(learner, result, means)
    for old in tx.find_memories([memory.id for memory in snapshot.replaces]):
        learner.revise(old, state="merged", superseded_by=None if summary is None else summary.id)
    for effect in withdraw(tx, [memory.id for memory in snapshot.replaces]):
        learner.noted(effect)
    tx.add_change(_change(tx, learner, summary, snapshot.messages, result, spans=()))
    mirrored(tx, means)
    return "done"


# --------------------------------------------------------------------------------------------- effects


def _learner(tx: WriteTx, snapshot: Snapshot, result: Result, means: Means) -> Learner:
    return Learner(
        tx=tx,
        snapshot=snapshot,
        author=_author(result.answers),
        ids=means.ids,
        secret=means.secret,
        change_id=means.ids.new("chg"),
    )


def _author(answers: Sequence[Answered]) -> Author:
    """By whom a result is: a model's if all of it is, else the rules', so that it is done again."""
    rules = [answer for answer in answers if answer.origin == "rules"]
    first = (rules or list(answers))[0]
    return Author(origin=first.origin, name=first.model, version=first.prompt or prompt().version)


def _learn(learner: Learner, result: Result, means: Means) -> Memory | None:
    """Facts and notes in their order, then the summary of all parts; None where nothing was worth keeping."""
    for answer in result.answers:
        for fact in answer.draft.facts:
            learner.fact(fact)
        for note in answer.draft.notes:
            learner.note(note)
    for effect in keep_aside(learner.tx, learner.snapshot.messages, result.aside, means):
        learner.noted(effect)
    kept = [answer for answer in result.answers if answer.draft.nothing is None]
    if not kept:
        return None
    covered = result.covered(learner.snapshot.messages)
    summary = learner.fresh(
        covered,
        text="\n\n".join(_timed(answer) for answer in kept),
        importance="mid",
        kind="summary",
        at=covered[0].event_time,
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
    result: Result,
    *,
    spans: tuple[Span, ...],
) -> Change:
    answers = result.answers
    detail = {
        "models": list(dict.fromkeys(answer.model for answer in answers)),
        "attempts": plain_attempts(result.attempts),
        "tokens": {
            "input": sum(answer.input_tokens for answer in answers),
            "output": sum(answer.output_tokens for answer in answers),
        },
        "parts": len(answers),
        "messages": len(taken),
        "facts": learner.facts,
        "notes": learner.notes,
    }
    more = {
        "nothing": [answer.draft.nothing for answer in answers if answer.draft.nothing is not None],
        "set_aside": sum(len(one.numbers) for one in result.aside),
        "entry": _slips(taken, answers),
        "why": dict(learner.reasons),
        **_left_out(answers),
    }
    return Change(
        id=learner.change_id,
        seq=0,
        verb="consolidate",
        reason=_reason(summary, result, again=not spans),
        by=learner.author,
        at=tx.now,
        sources=tuple(message.id for message in taken),
        spans=spans,
        effects=learner.effects,
        detail={**detail, **{name: value for name, value in more.items() if value}},
    )


def _left_out(answers: Sequence[Answered]) -> dict[str, list[dict[str, str]]]:
    """What of the replies is not kept: `unreadable` by its shape, `ungrounded` with what it said and no line says."""
    every = [one for answer in answers for one in answer.draft.left_out][:MAX_LEFT_OUT]
    return {
        "unreadable": [{"kind": one.kind, "reason": one.reason} for one in every if not one.text],
        "ungrounded": [
            {"kind": one.kind, "reason": one.reason, "text": one.text}
            | dict(zip(("subject", "attribute", "value"), one.parts or (), strict=False))
            for one in every
            if one.text
        ],
    }


def _slips(taken: Sequence[Message], answers: Sequence[Answered]) -> list[str]:
    """How entries differ from what was asked for: noted, since neither is a reason to lose one."""
    said = [unquoted(message) for message in typed(taken)]
    found = [slip for answer in answers if answer.draft.nothing is None for slip in slips(answer.draft.entry, said)]
    return list(dict.fromkeys(found))


def _reason(summary: Memory | None, result: Result, *, again: bool) -> str:
    """Why, for the audit trail; a change that did a window again moved no cursor."""
    if summary is None:
        return "the rest was set aside" if result.aside else NOTHING
    return "done again" if again else "consolidated"
