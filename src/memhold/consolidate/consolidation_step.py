"""Consolidation at work: read a window, ask models outside every transaction, apply what they made in one."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random

from memhold.consolidate.apply import Result, apply_answers, apply_redone
from memhold.consolidate.apply_guard import ApplyGuard, Means, Verdict, mirrored
from memhold.consolidate.parts import Asking
from memhold.consolidate.raw import Refused, apply_raw, set_aside
from memhold.consolidate.snapshot import FRONT, Snapshot, redo_snapshot, torn_messages, waiting_raw, window_snapshot
from memhold.journal.archive import archive
from memhold.journal.change import KEPT_AGAIN, UPKEEP, note_change
from memhold.journal.windows import due_at, skipped, spoken
from memhold.ports.models import ModelChain, TaskFailed, UsageBook
from memhold.ports.stores import Clock, Lease, Priority, Store
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.upkeep.worker import Pace, backoff, park
from memhold.values.errors import Attempt
from memhold.values.records import Scope, Session

__all__ = ["Consolidation"]

log = logging.getLogger("memhold.consolidation")

READS = 3
"""How often a window is read again when what was read is gone; then the work waits a moment."""
REDO_PAUSE = 1.0
"""Seconds between two RAW windows of a scope, in the background."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowReply:
    """What the chain made of a window, perhaps of its first parts, and the failure that ended it, if any."""

    result: Result
    failed: TaskFailed | None = None


class Consolidation:
    """The steps `consolidate` (a session's next window) and `redo` (a scope's RAW windows, oldest first)."""

    def __init__(
        self,
        store: Store,
        chain: ModelChain,
        *,
        means: Means,
        clock: Clock,
        random: Random,
        rules: frozenset[str] = frozenset(),
        spent: Callable[[UsageBook], Awaitable[None]] | None = None,
    ) -> None:
        self._store = store
        self._chain = chain
        self._means = means
        self._clock = clock
        self._random = random
        self._rules = rules
        self._redoes = not set(chain.models) <= rules
        """Whether a model is there that can do better than the rules."""
        self._spent = spent

    # ------------------------------------------------------------------------------------------------ steps

    async def window(self, lease: Lease) -> float | None:
        """Consolidate the next window of the session that is due."""
        hold, scope = ApplyGuard.under(lease), lease.scope
        await self._store.write(scope, lambda tx: self._mend(tx, hold), priority=Priority.WORKER)
        for _ in range(READS):
            snapshot = await self._store.read(scope, self._next_window(hold.ref))
            if snapshot is None:
                await self._store.write(scope, lambda tx: self._later(tx, hold.ref), priority=Priority.WORKER)
                return None
            asked = await self._ask(snapshot, hold.ref)
            verdict = await self._store.write(scope, self._applied(snapshot, asked, hold), priority=Priority.WORKER)
            if verdict != "stale":
                return None if verdict == "done" else 0.0
            log.info("%s: what was read has changed, reading again", hold.ref)
        return backoff(lease.due.attempts, self._random)

    async def redo(self, lease: Lease) -> float | None:
        """Do the oldest RAW window of a scope again, or the one that the item names.

        Raises:
            ChainFailed: no model answered; the item is put off, and nothing else is tried meanwhile.
        """
        hold, scope = ApplyGuard.under(lease), lease.scope
        for _ in range(READS if self._redoes else 0):
            snapshot = await self._store.read(scope, lambda tx: redo_snapshot(tx, hold.ref, tx.now, self._means.when))
            if snapshot is None:
                return None
            asked = await self._ask(snapshot, hold.ref, redo=True)
            failed = asked.failed
            if failed is None and any(answer.origin == "rules" for answer in asked.result.answers):
                failed = TaskFailed(advice="retry", attempts=asked.result.attempts)
            if failed is not None:
                return await self._redo_failed(scope, snapshot, failed, asked.result.attempts, hold)
            work = self._redone(snapshot, asked, hold)
            verdict = await self._store.write(scope, work, priority=Priority.WORKER)
            if verdict != "stale":
                return Pace(REDO_PAUSE) if verdict == "done" and hold.ref == FRONT else None
        # With rules alone it waits for a model, which the sweep notices; nothing has failed.
        return backoff(lease.due.attempts, self._random) if self._redoes else None

    async def _ask(self, snapshot: Snapshot, ref: str, *, redo: bool = False) -> WindowReply:
        """What the chain makes of a window; one that is done again is replaced as a whole."""

        async def spent() -> None:
            if self._spent is not None:
                await self._spent(self._store.usage)

        asking = Asking(
            snapshot=snapshot,
            chain=self._chain,
            when=self._means.when,
            ref=ref,
            whole=redo,
            rules=self._rules,
            spent=spent,
        )
        result, failed = await asking.run()
        return WindowReply(result=result, failed=failed)

    # ------------------------------------------------------------------------------------------------ applying

    def _next_window(self, ref: str) -> Callable[[ReadTx], Snapshot | None]:
        return lambda tx: window_snapshot(tx, ref, self._means.when)

    def _applied(self, snapshot: Snapshot, asked: WindowReply, hold: ApplyGuard) -> Callable[[WriteTx], Verdict]:
        means = self._means

        def work(tx: WriteTx) -> Verdict:
            result, failed = asked.result, asked.failed
            if failed is None or result.answers:
                return apply_answers(tx, snapshot, result, hold, means)
            # What is set aside was asked for; the rest of a long window was not.
            until = result.last if failed.advice in {"poison", "refused"} else None
            refused = Refused(
                advice=failed.advice,
                attempts=result.attempts,
                again=timedelta(seconds=self._delay(failed)),
                alone=failed.advice == "shorten" or failed.by_its_input(),
                until=until,
            )
            return apply_raw(tx, snapshot, refused, hold, means)

        return work

    def _redone(self, snapshot: Snapshot, asked: WindowReply, hold: ApplyGuard) -> Callable[[WriteTx], Verdict]:
        return lambda tx: apply_redone(tx, snapshot, asked.result, hold, self._means)

    def _delay(self, failed: TaskFailed) -> float:
        """Seconds until a window that failed just now is worth another call."""
        if failed.advice == "park":
            return park(0, failed.retry_after, self._random)
        return max(backoff(4, self._random), failed.retry_after or 0.0)

    async def _redo_failed(
        self, scope: Scope, snapshot: Snapshot, failed: TaskFailed, attempts: tuple[Attempt, ...], hold: ApplyGuard
    ) -> float | None:
        """A window that is the fault itself is set aside; one that models answer wrongly waits alone, behind no one."""
        means, advice = self._means, failed.advice
        if advice in {"poison", "refused"}:
            work = lambda tx: set_aside(tx, snapshot, advice, attempts, hold, means)  # noqa: E731 - bound to this step
            await self._store.write(scope, work, priority=Priority.WORKER)
            return Pace(REDO_PAUSE) if hold.ref == FRONT else None
        if hold.ref == FRONT and (advice == "shorten" or failed.by_its_input()):
            ref, delay = snapshot.raw_id or "", timedelta(seconds=self._delay(failed))
            await self._store.write(scope, lambda tx: tx.put_due("redo", ref, tx.now + delay), priority=Priority.WORKER)
            return Pace(REDO_PAUSE)
        raise replace(failed, attempts=attempts).error("consolidation")

    # ------------------------------------------------------------------------------------------------ state to work

    def _mend(self, tx: WriteTx, hold: ApplyGuard) -> None:
        """Messages whose memory was taken by forgetting are kept RAW at once, to be done again."""
        session = tx.find_session(hold.ref)
        if session is None or not session.torn:
            return
        messages = torn_messages(tx, session)
        tx.put_session(replace(session, torn=False))
        if not messages:
            return
        about = {"reason": "what held it was forgotten"}
        means = self._means
        _, effects = archive(tx, messages, secret=means.secret, ids=means.ids, about=about)
        note_change(tx, means.ids.new("chg"), "archive", KEPT_AGAIN, by=UPKEEP, effects=effects)
        tx.put_due("redo", FRONT, tx.now)
        mirrored(tx, means)

    def _later(self, tx: WriteTx, session_id: str) -> None:
        """Nothing is due now: say when it will be."""
        session = tx.find_session(session_id)
        if session is None:
            return
        if session.cursor < session.last_seq and not spoken(
            tx.messages(session.name, after=session.cursor, every_agent=True)
        ):
            # All that waited was forgotten, or is no turn.
            session = replace(session, cursor=session.last_seq, pending_tokens=0, rev=session.rev + 1)
            tx.put_session(session)
        at = due_at(session, self._means.when, tx.now)
        if at is None:
            return
        # A window that cannot be cut yet is looked at again when the session went idle, or on the next message.
        tx.put_due("consolidate", session_id, max(at, session.last_at + self._means.when.idle))

    async def sweep_all(self) -> None:
        """Compare every scope's due work with its state; write only where something is missing."""
        for scope in await self._store.upkeep.scopes():
            if not await self._store.read(scope, self._swept):
                await self._store.write(scope, self._sweep, priority=Priority.WORKER)

    def _sweep(self, tx: WriteTx) -> None:
        """Make due what the state of a scope implies: for sessions and RAW windows from before a model was there."""
        there = {(due.kind, due.ref) for due in tx.due()}
        for session in tx.sessions():
            at = self._implied(session, tx)
            if at is not None and ("consolidate", session.id) not in there:
                tx.put_due("consolidate", session.id, at)
        if self._redoes and ("redo", FRONT) not in there and waiting_raw(tx, self._means.when):
            tx.put_due("redo", FRONT, tx.now)

    def _implied(self, session: Session, tx: ReadTx) -> datetime | None:
        when = self._means.when
        return None if skipped(session.name, when) else due_at(session, when, tx.now)

    def _swept(self, tx: ReadTx) -> bool:
        """Whether a scope has nothing to sweep: a read, so that an idle store is not written to."""
        there = {(due.kind, due.ref) for due in tx.due()}
        missing = any(
            self._implied(session, tx) is not None and ("consolidate", session.id) not in there
            for session in tx.sessions()
        )
        waits = self._redoes and ("redo", FRONT) not in there and waiting_raw(tx, self._means.when)
        return not missing and not waits
