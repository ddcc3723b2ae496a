"""Windows, and stretches of windows, that no model took: kept whole as RAW memories, with attempts and reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

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
from memhold.consolidate.snapshot import FRONT, Snapshot
from memhold.facts.revisions import revise
from memhold.journal.archive import archive
from memhold.journal.change import UPKEEP, Basis, note_change
from memhold.ports.models import Advice
from memhold.ports.transaction import WriteTx
from memhold.values.errors import Attempt
from memhold.values.records import Effect, Message, Span

__all__ = ["REASONS", "Aside", "apply_raw", "keep_aside", "set_aside"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Aside:
    """Messages that no model can take, by their places in the window (from 1), why, and the calls that showed it."""

    numbers: frozenset[int]
    advice: Literal["poison", "refused"]
    attempts: tuple[Attempt, ...]


def keep_aside(tx: WriteTx, messages: Sequence[Message], aside: Sequence[Aside], means: Means) -> list[Effect]:
    """Keep each such stretch as RAW that is not tried again by itself; what of it is not in `messages` is left out."""
    effects: list[Effect] = []
    for one in aside:
        held = [message for number, message in enumerate(messages, 1) if number in one.numbers]
        about = {"reason": one.advice, "attempts": plain_attempts(one.attempts), "set_aside": True}
        if held:
            effects += archive(
                tx,
                held,
                secret=means.secret,
                ids=means.ids,
                about=about,
            )[1]
    return effects


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Why no model took a window (its first `until` messages), and when it is due again.

    After `again`: with the scope's others, or `alone` where the fault was the window's own.
    """

    advice: Advice
    attempts: Sequence[Attempt]
    again: timedelta
    alone: bool = False
    until: int | None = None


def apply_raw(
    tx: WriteTx,
    snapshot: Snapshot,
    refused: Refused,
    hold: ApplyGuard,
    means: Means,
) -> Verdict:
    """A window that no model could take: kept whole as RAW, out of the session's way.

    With it stand attempts and reasons. Set aside it stays RAW until somebody asks.
    """
    advice, attempts = refused.advice, refused.attempts
    session, verdict = standing(tx, snapshot, hold)
    if session is None:
        return verdict
    aside = advice in {"poison", "refused"}
    messages = snapshot.messages[: refused.until]
    about: dict[str, Any] = {"reason": advice, "attempts": plain_attempts(attempts), "set_aside": aside}
    stored, effects = archive(
        tx,
        messages,
        secret=means.secret,
        ids=means.ids,
        about=about,
    )
    last = messages[-1].seq
    basis = Basis(
        sources=[message.id for message in messages],
        spans=[Span(session=session.id, first=session.cursor + 1, last=last)],
        detail=about,
    )
    reason = f"kept raw: {REASONS[advice]}"
    note_change(tx, means.ids.new("chg"), "consolidate", reason, by=UPKEEP, effects=effects, basis=basis)
    move(tx, session, last, means)
    if not aside:
        tx.put_due("redo", stored[0].id if refused.alone else FRONT, tx.now + refused.again)
    mirrored(tx, means)
    return "done"


REASONS: Mapping[Advice, str] = {
    "retry": "no model of the chain answered",
    "park": "no model of the chain is available",
    "shorten": "it is too long for every model of the chain",
    "poison": "set aside, the models cannot take this request",
    "refused": "set aside, three models refused it",
}


def set_aside(
    tx: WriteTx, snapshot: Snapshot, advice: Advice, attempts: Sequence[Attempt], hold: ApplyGuard, means: Means
) -> Verdict:
    """A window that is done again and proves to be the fault itself: it stays RAW, with its reasons."""
    verdict = unchanged(tx, snapshot, hold)
    if verdict != "done":
        return verdict
    effects = []
    for old in tx.find_memories([memory.id for memory in snapshot.replaces]):
        held = old.metadata.get("raw")
        about = {**(held if isinstance(held, Mapping) else {"window": snapshot.raw_id})}
        about |= {"reason": advice, "attempts": plain_attempts(attempts), "set_aside": True}
        effects.append(revise(tx, old, metadata={**old.metadata, "raw": about}))
    note_change(tx, means.ids.new("chg"), "archive", f"kept raw: {REASONS[advice]}", by=UPKEEP, effects=effects)
    return "done"
