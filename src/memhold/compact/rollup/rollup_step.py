"""Roll-ups at work: see which periods want one, ask the chain outside every transaction, apply each in one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random

from memhold.compact.apply import Merger, Ruling, keep_apart
from memhold.compact.judging import Judge
from memhold.compact.rollup.apply import ROLLED_UP, apply_rollup, declined, history_of
from memhold.compact.rollup.plan import Plan, Wanted, planned
from memhold.compact.rollup.retelling import Untold, apply_telling, not_told, untold
from memhold.compact.run import MOST_FAILURES, Run, confined
from memhold.consolidate.apply_guard import ApplyGuard, Verdict
from memhold.facts.changed_notes import Bounds
from memhold.facts.rollups import withdrawn
from memhold.journal.change import UPKEEP, note_change
from memhold.ports.models import TaskFailed
from memhold.ports.stores import Clock, Lease, Priority, Store
from memhold.ports.transaction import Listing, ReadTx, WriteTx
from memhold.text.token_estimate import estimate_tokens
from memhold.upkeep.leases import held_lease
from memhold.upkeep.periods import DUE_ROLLUP
from memhold.values.answers import Compacted, Outcome
from memhold.values.records import Memory, Scope

__all__ = ["RollUps"]

log = logging.getLogger("memhold.compaction")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Looked:
    """What a look at the history found: what is to be done, and the periods whose parts no call can show."""

    plan: Plan
    too_long: tuple[Wanted, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class RollUps:
    """The step `rollup`, and a run on request."""

    store: Store
    judge: Judge
    merger: Merger
    bounds: Bounds
    most_tokens: int
    clock: Clock
    random: Random
    owner: str

    # ------------------------------------------------------------------------------------------------ entries

    async def step(self, lease: Lease) -> float | None:
        """Make what is wanted; then it is due again when the next period is over.

        Raises:
            MemholdError: some periods could not be asked about; what could be done is done, the rest is due again
                after a pause.
        """
        scope = lease.scope
        run = Run(scope=scope, hold=ApplyGuard.under(lease), bounds=self.bounds)
        await self._run(run)
        if run.error is not None:
            raise run.error
        return 0.0 if run.left else None

    async def now(self, scope: Scope) -> Compacted:
        """What is wanted in a scope, made at once; where another worker makes it, it is waited for."""
        if not await self.store.read(scope, _has_history):
            return Compacted()
        async with held_lease(self.store, scope, DUE_ROLLUP, owner=self.owner, clock=self.clock) as lease:
            run = Run(scope=scope, hold=ApplyGuard.under(lease), bounds=self.bounds)
            await self._run(run)
            # The lease was the whole user's: what was not looked at is still due.
            if run.left or run.error is not None or scope.agent is not None:
                wait = timedelta(seconds=run.pause(self.random))
                await self.store.write(scope, lambda tx: tx.put_due(*DUE_ROLLUP, tx.now + wait))
        return run.report()

    async def plan(self, scope: Scope) -> Compacted:
        """What would be rolled up first, without asking a model or changing anything."""
        run = Run(scope=scope, hold=ApplyGuard.nothing(), bounds=self.bounds)
        looked = await self.store.read(scope, self._look)
        for asked in await self.store.read(scope, self._untold):
            run.note("told_anew", [asked.summary], "it says what no longer holds; the models would be asked")
        for wanted in looked.plan.wanted:
            run.note("rolled_up", wanted.parts, f"the {_named(wanted)} is over; the models would be asked")
        for wanted in looked.too_long:
            run.note("too_long", wanted.parts, f"the {_named(wanted)} is over what one call shows")
        return replace(run.report(), dry_run=True)

    async def sweep_all(self) -> None:
        """Make it due in every scope where something is wanted, or will be, and it is not; else nothing is written."""
        for scope in await self.store.upkeep.scopes():
            if await self.store.read(
                scope, lambda tx: _has_history(tx) and tx.due_item(*DUE_ROLLUP) is None and self._wants(tx)
            ):
                await self.store.write(scope, lambda tx: tx.put_due(*DUE_ROLLUP, tx.now), priority=Priority.WORKER)

    # ------------------------------------------------------------------------------------------------ a run

    async def _run(self, run: Run) -> None:
        """First what is told anew; then level by level: what was made is a part of what is wanted next.

        Each summary and each period is asked about once a run.
        """
        await self._tell_anew(run)
        asked: set[tuple[str | None, object]] = set()
        while True:
            looked = await self.store.read(run.scope, self._look)
            fresh = [one for one in looked.plan.wanted if (one.agent, one.period) not in asked]
            for wanted in fresh:
                if run.exhausted:
                    run.left = True
                    break
                asked.add((wanted.agent, wanted.period))
                with confined(run, wanted.parts):
                    await self._ask(run, wanted)
            else:
                if fresh:
                    continue
            break
        await self._tidy(run, looked.plan)
        for wanted in looked.too_long:
            log.info("Size gate declined the %s: %d parts", _named(wanted), len(wanted.parts))
            run.note("too_long", wanted.parts, f"the {_named(wanted)} is over what one call shows")

    async def _tell_anew(self, run: Run) -> None:
        """Have the summaries told anew that say what no longer holds."""
        for asked in await self.store.read(run.scope, self._untold):
            if run.exhausted:
                run.left = True
                break
            with confined(run, [asked.summary]):
                await self._told_anew(run, asked)

    async def _told_anew(self, run: Run, asked: Untold) -> None:
        run.asked += 1
        told = await self.judge.tell_anew(asked)
        if self.judge.spent is not None:
            await self.judge.spent(self.store.usage)
        if isinstance(told, TaskFailed):
            raise told.error("compaction")
        run.failures = 0

        def work(tx: WriteTx) -> Verdict:
            if told.text is None:
                return not_told(tx, asked, told.reason, told.by, run.hold, self.merger)
            return apply_telling(tx, asked, told.text, told.by, run.hold, self.merger)

        verdict = await self.store.write(run.scope, work, priority=Priority.WORKER)
        run.left |= verdict != "done"
        outcome: Outcome = "stale" if verdict != "done" else "kept_apart" if told.text is None else "told_anew"
        run.note(outcome, [asked.summary], told.reason)

    def _untold(self, tx: ReadTx) -> list[Untold]:
        agent = tx.scope.agent
        return [one for one in untold(tx) if agent is None or one.summary.agent == agent]

    def _wants(self, tx: ReadTx) -> bool:
        plan = self._look(tx).plan
        return bool(plan.wanted or plan.orphans or plan.next_at is not None or untold(tx))

    def _look(self, tx: ReadTx) -> _Looked:
        plan = planned(history_of(tx), tx.now, self._declines(tx), most=self.bounds.calls)
        agent = tx.scope.agent
        if agent is not None:
            plan = replace(plan, wanted=tuple(one for one in plan.wanted if one.agent == agent))
        return _Looked(plan=plan, too_long=tuple(one for one in plan.declined if self._over(one.parts)))

    def _declines(self, tx: ReadTx) -> Callable[[Sequence[Memory]], bool]:
        return lambda parts: self._over(parts) or declined(tx, parts)

    def _over(self, parts: Sequence[Memory]) -> bool:
        return sum(estimate_tokens(part.text) for part in parts) > self.most_tokens

    async def _ask(self, run: Run, wanted: Wanted) -> None:
        run.asked += 1
        ruling = await self.judge.roll_up(wanted)
        if self.judge.spent is not None:
            await self.judge.spent(self.store.usage)
        if isinstance(ruling, TaskFailed):
            raise ruling.error("compaction")
        run.failures = 0
        verdict, made = await self.store.write(
            run.scope, self._applying(wanted, ruling, run.hold), priority=Priority.WORKER
        )
        outcome: Outcome = "rolled_up" if made is not None else "kept_apart" if verdict == "done" else "stale"
        if verdict != "done":
            run.left = True
            run.failures = MOST_FAILURES if verdict == "lost" else run.failures
        log.info("The %s: %s, of %d parts", _named(wanted), outcome.replace("_", " "), len(wanted.parts))
        run.note(outcome, wanted.parts, ruling.judgement.reason, memory=made)

    def _applying(
        self, wanted: Wanted, ruling: Ruling, hold: ApplyGuard
    ) -> Callable[[WriteTx], tuple[Verdict, str | None]]:
        def work(tx: WriteTx) -> tuple[Verdict, str | None]:
            if ruling.judgement.decision == "merge":
                return apply_rollup(tx, wanted, ruling, hold, self.merger)
            return keep_apart(tx, wanted.parts, "no roll-up of them stands", ruling, hold, self.merger)

        return work

    async def _tidy(self, run: Run, plan: Plan) -> None:
        """Take away what stands for nothing any more, and note when the next period is over."""
        if not plan.orphans and plan.next_at is None:
            return

        def work(tx: WriteTx) -> None:
            if not run.hold.stands(tx):
                return
            effects = withdrawn(tx, plan.orphans)
            if effects:
                reason = "what these roll-ups stood for is not there any more"
                note_change(tx, self.merger.ids.new("chg"), ROLLED_UP, reason, by=UPKEEP, effects=effects)
                if self.merger.mirror:
                    tx.put_due("mirror", "files", tx.now)
            if plan.next_at is not None:
                tx.put_due(*DUE_ROLLUP, plan.next_at)

        await self.store.write(run.scope, work, priority=Priority.WORKER)


def _named(wanted: Wanted) -> str:
    return f"{wanted.period.level} {wanted.period.name}"


def _has_history(tx: ReadTx) -> bool:
    return bool(tx.list_memories(Listing(kinds=("summary", "rollup"), limit=1)))
