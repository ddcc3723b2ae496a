"""The verbs of changes: taking them back, and settling what stands against what was learnt."""

from __future__ import annotations

from typing import Any, Literal

from memhold.history.undo import Undoer, reaches_below, stands, undo_written, would_undo
from memhold.history.undo import undo as undo_change
from memhold.ports.transaction import WriteTx
from memhold.values.answers import Receipt
from memhold.values.errors import InvalidInput
from memhold.values.filters import Filters
from memhold.verbs.transactions import Transactions

__all__ = ["dismiss", "settle_suspicion", "undo"]


async def undo(
    here: Transactions,
    filters: Filters,
    *,
    change_id: str | None,
    cascade: bool,
    redo: bool,
    dry_run: bool,
    idempotency_key: str | None,
) -> Receipt:
    """Undo a change, here and below, or all that passes filters."""
    if (change_id is None) != filters.written:
        raise InvalidInput("say what to undo: one change, or filters (origin, actor, written_since, written_until)")
    supplied: list[Any] = [change_id, cascade, *([redo] if redo else []), *([filters] if filters.written else [])]
    once = None if dry_run else here.once("undo", idempotency_key, supplied)
    undoer = Undoer(ids=here.runtime.ids, author=here.author, secret=here.runtime.store.facts.secret, redo=redo)

    made_id: str | None = None

    def work(tx: WriteTx) -> Receipt:
        if change_id is None:
            return undo_written(tx, filters, cascade=cascade, undoer=undoer)
        return undo_change(tx, change_id, cascade=cascade, undoer=undoer, made_id=made_id)

    if dry_run:
        return await here.taken_back(lambda tx: would_undo(tx, work(tx)))
    # What was undone once reaches nothing that was hidden again below since.
    again = once is not None and await here.read(once.seen) is not None
    if change_id is not None and not again and await here.read(lambda tx: reaches_below(tx, change_id)):
        # What was hidden below with it has the same id there, and is shown again under one id too.
        every = await here.below()
        below = [place for place in every if await place.read(lambda tx: stands(tx, change_id))]
        # What stands in the way anywhere is found before anything is shown.
        for place in (*below, here):
            await place.taken_back(work)
        for place in below:
            made_id = (await place.write(work)).change_ids[0]
    return await here.write_once(once, work)


async def dismiss(here: Transactions, change_id: str, place: int, idempotency_key: str | None) -> Receipt:
    """Note that what a model left out was left out rightly."""
    from memhold.history.dismissal import dismiss

    writer = here.writer
    once = here.once("dismiss", idempotency_key, [change_id, place])
    return await here.write_once(once, lambda tx: dismiss(tx, change_id, place, writer=writer))


async def settle_suspicion(
    here: Transactions, suspicion_id: str, verdict: Literal["same", "different"], idempotency_key: str | None
) -> Receipt:
    """Settle a suspicion on a person's word."""
    from memhold.facts.confirm import only_a_person
    from memhold.facts.suspicions import settle_suspicion

    writer = here.writer
    only_a_person(writer, "a verdict")
    once = here.once("settle_suspicion", idempotency_key, [suspicion_id, verdict])
    return await here.write_once(once, lambda tx: settle_suspicion(tx, suspicion_id, verdict, writer=writer))
