"""The verbs that look after a scope: how it stands, and upkeep that is asked for."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from importlib import import_module

from memhold.consolidate.requests import ask_for, consolidated, end
from memhold.history.retention import Retention, hide, past, retained
from memhold.history.status import status as status_of
from memhold.history.status import windows
from memhold.journal.append import ensure_session
from memhold.journal.archive import close_window
from memhold.journal.visibility import sees_session
from memhold.journal.windows import skipped
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.recall.lacking import lacking
from memhold.values.answers import Compacted, Consolidated, Receipt, Residue, Retained, Status
from memhold.values.errors import MemholdError
from memhold.values.records import Session
from memhold.verbs.transactions import Transactions

__all__ = ["compact", "consolidate", "end_session", "residue", "retain", "status"]


async def status(here: Transactions) -> Status:
    """How the scope stands."""
    facts = here.runtime.store.facts
    models = await here.runtime.health()
    found = await here.read(lambda tx: status_of(tx, facts, models=models))
    caches, meaning = here.runtime.caches, await here.unasked()
    lacks = await here.look(lambda tx: lacking(tx, caches, meaning))
    compaction = here.runtime.compaction
    if compaction is not None:  # what it takes is loaded at the first look
        await asyncio.to_thread(import_module, "memhold.compact.compaction_step")
    uncompared, left = (0, None) if compaction is None else await compaction().waiting(here.scope)
    redacted = here.runtime.redactions[here.scope.namespace, here.scope.user]
    degraded = here.runtime.degraded((*lacks, *found.degraded))
    return replace(found, redacted=redacted, uncompared=uncompared, compact_calls_left=left, degraded=degraded)


async def residue(here: Transactions, text: str) -> Residue:
    """Where a text is still found in the files."""
    here.runtime.guard()
    return await asyncio.to_thread(here.runtime.residue, text)


async def end_session(here: Transactions, idempotency_key: str | None) -> Receipt:
    """End the session: what it holds is due to be consolidated, or is kept as it is."""
    runtime = here.runtime
    secret, name, when = runtime.store.facts.secret, here.session, runtime.settings.when

    once = here.once("end_session", idempotency_key, [name])

    def work(tx: WriteTx) -> Receipt:
        session = ensure_session(tx, name, runtime.ids)
        if session.last_seq and not sees_session(tx, session):
            return Receipt(ids=())  # it is the other agents' alone
        if when is not None:
            return end(tx, session, when)
        return close_window(tx, session, secret=secret, ids=runtime.ids, author=here.author)

    receipt = await here.write_once(once, work)
    return await _noticed(here, receipt)


async def _noticed(here: Transactions, receipt: Receipt) -> Receipt:
    """The receipt, with what to know where no model that consolidates works: the window waits for it."""
    found = await here.runtime.health() if here.runtime.links else {}
    down = [found[name] for name in here.runtime.links if name in found and found[name].answers is False]
    if not down or len(down) < len(here.runtime.links):
        return receipt
    try:
        count = await here.read(windows)
    except MemholdError:
        return receipt  # the session is ended: what there is to tell besides is no reason to refuse that
    if not count:
        return receipt
    waits = "1 window waits, whole and searchable" if count == 1 else f"{count} windows wait, whole and searchable"
    return replace(receipt, notice=f"{waits}: {'; '.join(one.told for one in down)}")


async def consolidate(here: Transactions) -> Consolidated:
    """Consolidate what waits, now."""
    runtime, when, name = here.runtime, here.runtime.settings.when, here.scope.session

    def chosen(tx: ReadTx) -> list[Session]:
        if name is not None:
            return [session for session in tx.sessions() if session.name == name]
        return [session for session in tx.sessions() if when is None or not skipped(session.name, when)]

    if when is None:
        found = await here.read(lambda tx: consolidated(tx, [one.name for one in chosen(tx)], 2**62))
        return replace(found, last_error="no model is configured for consolidation; set `consolidation`")
    first = await here.write(lambda tx: ask_for(tx, chosen(tx), when))
    await runtime.worker.settle(here.scope)
    return await here.read(lambda tx: consolidated(tx, [one.name for one in chosen(tx)], first))


async def compact(here: Transactions, *, dry_run: bool) -> Compacted:
    """Merge what says the same, and roll up what is past, now."""
    runtime = here.runtime
    runtime.guard()
    await runtime.after_answer.written()
    compaction = runtime.compaction
    if compaction is None:
        return Compacted(judged=False, dry_run=dry_run)
    run = compaction().plan if dry_run else compaction().now
    done = await run(here.scope)
    if runtime.rollups is None or here.scope.session is not None:
        return done
    rollups = runtime.rollups()
    told = await (rollups.plan if dry_run else rollups.now)(here.scope)
    return replace(
        done,
        groups=(*done.groups, *told.groups),
        more=done.more or told.more,
        last_error=done.last_error or told.last_error,
    )


async def retain(
    here: Transactions, rules: Retention, *, dry_run: bool, idempotency_key: str | None
) -> tuple[Retained, ...]:
    """Hide what the rules do not keep."""
    whose = [here.scope.agent, here.scope.session]
    once = None if dry_run else here.once("retain", idempotency_key, [rules, *whose])
    if once is not None and (seen := await here.read(once.seen)) is not None:
        return await here.read(lambda tx: retained(tx, seen))
    found = await here.read(lambda tx: past(tx, rules))
    if dry_run:
        return found
    runtime, writer, hidden = here.runtime, replace(here.writer, agent=None), []
    for one in found:

        def work(tx: WriteTx, one: Retained = one) -> str | None:
            return hide(tx, one, rules, writer=writer)

        change = await runtime.store.write(here.scope, runtime.mirroring(work))
        if change is not None:
            hidden.append(replace(one, change_id=change))
    if once is not None:
        ids, changes = tuple(one.id for one in hidden), tuple(one.change_id or "" for one in hidden)
        receipt = await runtime.store.write(
            here.scope, lambda tx: once.once(tx, lambda: Receipt(ids=ids, change_ids=changes))
        )
        if receipt.replayed:  # another call with this key was faster
            return await here.read(lambda tx: retained(tx, receipt))
    return tuple(hidden)
