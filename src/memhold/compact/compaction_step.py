"""Compaction at work: look at what changed, ask the judge outside every transaction, apply each merge in one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import combinations
from random import Random

from memhold.compact.apply import Merger, apply_copies
from memhold.compact.asking import PURPOSE
from memhold.compact.batches import most_calls, next_batch
from memhold.compact.groups import size
from memhold.compact.judging import Judge
from memhold.compact.merging import Merges
from memhold.compact.run import Run, confined
from memhold.compact.survey import Survey, copies, narrowed, survey
from memhold.consolidate.apply_guard import ApplyGuard, Verdict
from memhold.facts.changed_notes import ALIKE, COPIES, FRUITLESS, Bounds, Changed, changed_since
from memhold.index.embedding import Embedding
from memhold.index.index_step import fill, start_generation
from memhold.index.pending_vectors import DUE_COMPACTION, targets
from memhold.ports.stores import Clock, Lease, Priority, Store
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.ports.vector_blocks import Generation
from memhold.recall.recall import Caches
from memhold.upkeep.leases import held_lease
from memhold.values.answers import Compacted, Outcome
from memhold.values.records import Memory, Scope

__all__ = ["Compaction"]

log = logging.getLogger("memhold.compaction")

OTHERS_SECONDS = 30.0
"""A process with another embedding than the store's leaves near-duplicates to those that have the right one."""


_COUNTED: Mapping[Outcome, str] = {
    "copies": "of copies",
    "group": "groups",
    "pair": "pairs",
    "superseded": "superseded",
    "linked": "linked",
    "suspected": "suspected",
    "kept_apart": "kept apart",
    "too_long": "too long",
    "stale": "stale",
    "failed": "failed",
}


class _OthersEmbedding(Exception):
    """The store's vectors are of another embedding than this process has."""


@dataclass(kw_only=True, eq=False)
class Compaction:
    """The step `compact`, and a run on request. Without a judge only exact copies become one."""

    store: Store
    judge: Judge | None
    embedding: Embedding | None
    caches: Caches
    merger: Merger
    bounds: Bounds
    clock: Clock
    random: Random
    owner: str
    _spent: tuple[date, int] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        judge = self.judge
        self._merges = None if judge is None else Merges(self.store, judge, self.embedding, self.merger)

    # ------------------------------------------------------------------------------------------------ entries

    async def step(self, lease: Lease) -> float | None:
        """A run where it is time for one; else the time of the next is noted.

        Raises:
            MemholdError: some groups could not be judged or embedded; what could be done is done, the rest is due
                again after a pause.
        """
        scope = lease.scope
        wait = await self.store.read(scope, self._wait)
        if wait is None:
            return None
        if wait > timedelta(0):
            await self._again_in(scope, wait)
            return None
        if await self._budget() <= 0:
            await self._again_in(scope, _to_midnight(self.clock.now()))
            return None
        run = await self._run(scope, ApplyGuard.under(lease), unattended=True)
        if run.error is not None:
            raise run.error
        again = timedelta(0) if run.left else await self.store.read(scope, self._wait)
        if again is not None:
            await self._again_in(scope, again)
        return None

    async def _again_in(self, scope: Scope, wait: timedelta) -> None:
        await self.store.write(scope, lambda tx: tx.put_due(*DUE_COMPACTION, tx.now + wait), priority=Priority.WORKER)

    async def now(self, scope: Scope) -> Compacted:
        """One run of a scope at once, whatever is due; where another worker runs it is waited for."""
        async with held_lease(self.store, scope, DUE_COMPACTION, owner=self.owner, clock=self.clock) as lease:
            run = await self._run(scope, ApplyGuard.under(lease))
            partly = scope.agent is not None or scope.session is not None
            again = run.pause(self.random) if run.left or partly or run.error is not None else None
            if again is not None:
                at = timedelta(seconds=again)
                await self.store.write(scope, lambda tx: tx.put_due(*DUE_COMPACTION, tx.now + at))
        return replace(run.report(), judged=self.judge is not None)

    async def plan(self, scope: Scope) -> Compacted:
        """What a run would look at, without asking a model or changing anything."""
        generation = await self._readable(scope)

        def work(tx: ReadTx) -> tuple[list[tuple[Memory, ...]], Survey]:
            # One after the other: what copies are is read from the index, without a word of any text.
            same = copies(tx, self.caches, narrowed(tx, changed_since(tx, COPIES)).memories)
            return same, survey(tx, self.caches, narrowed(tx, changed_since(tx, ALIKE)), self.bounds, generation)

        same, found = await self.store.read(scope, work)
        run = Run(scope=scope, hold=ApplyGuard.nothing(), bounds=self.bounds, generation=generation)
        for group in same:
            run.note("copies", group, "they say the same word for word")
        if found.waiting:
            run.note("waiting", found.waiting, "they have no vector yet; a run makes it first")
        gone = {memory.number for group in same for memory in group}
        done: set[tuple[int, int]] = set()
        for _ in range(most_calls(len(found.pairs.changed - gone), len(found.pairs.telling - gone))):
            batch = next_batch(found.pairs, done, gone, self.bounds.max_chars)
            if not batch:
                break
            done |= set(combinations(batch, 2))
            path: Outcome = "pair" if len(batch) == 2 else "group"
            members = [found.pairs.memories[number] for number in batch]
            run.note(path, members, "they are near; the judge would be asked", distance=_spread(found, batch))
        self._too_long(run, found, gone)
        return replace(run.report(), judged=self.judge is not None, dry_run=True, merged=0)

    # ------------------------------------------------------------------------------------------------ a run

    def _wait(self, tx: ReadTx) -> timedelta | None:
        """How long until a run is due; None where nothing changed that one would look at.

        A length, not a time: what changed is dated by the store's clock, which stands still where the machine's was
        set back.
        """
        times = (changed_since(tx, COPIES).due(self.bounds, tx.now), self._alike_due(tx))
        return min((at - tx.now for at in times if at is not None), default=None)

    def _alike_due(self, tx: ReadTx) -> datetime | None:
        """When the judge is to be asked; later and later after runs that brought nothing."""
        if self.judge is None:
            return None
        return changed_since(tx, ALIKE).due(self.bounds, tx.now, fruitless=tx.progress(FRUITLESS))

    def _is_due(self, tx: ReadTx) -> bool:
        at = self._alike_due(tx)
        return at is not None and at <= tx.now

    async def _run(self, scope: Scope, hold: ApplyGuard, *, unattended: bool = False) -> Run:
        """One run; what runs by itself stays within the day's budget."""
        run = Run(scope=scope, hold=hold, bounds=self.bounds, unattended=unattended)
        await self._same(run)
        if self._merges is not None and (not unattended or await self.store.read(scope, self._is_due)):
            with confined(run):
                await self._alike(run, self._merges)
            await self._note_fruit(run)
        if run.groups:
            counts = run.report().counts
            said = ", ".join(f"{counts.get(name, 0)} {words}" for name, words in _COUNTED.items())
            log.info("Merged %d memories: %s", run.merged, said)
        return run

    async def _same(self, run: Run) -> None:
        """Exact copies: no model, one transaction a group."""
        while True:

            def work(tx: ReadTx) -> tuple[Changed, list[tuple[Memory, ...]]]:
                changed = narrowed(tx, changed_since(tx, COPIES))
                return changed, copies(tx, self.caches, changed.memories)

            changed, groups = await self.store.read(run.scope, work)
            stale = False
            for group in groups:
                work_on = self._copying(group, run.hold)
                verdict, kept = await self.store.write(run.scope, work_on, priority=Priority.WORKER)
                if verdict == "lost":
                    return
                stale = stale or verdict == "stale"
                outcome: Outcome = "copies" if verdict == "done" else "stale"
                run.note(outcome, group, "they say the same word for word", memory=kept)
            if stale or not await self._read_to(run, COPIES, changed) or not changed.cut:
                run.left = run.left or stale
                return

    async def _alike(self, run: Run, merges: Merges) -> None:
        """Near-duplicates: clusters, closest first, each on its own."""
        if not (await self.store.read(run.scope, lambda tx: narrowed(tx, changed_since(tx, ALIKE)))).memories:
            await self._read_on(run)
            return
        try:
            run.generation = await self._indexed(run.scope)
        except _OthersEmbedding:
            at = timedelta(seconds=OTHERS_SECONDS)
            await self.store.write(
                run.scope, lambda tx: tx.put_due(*DUE_COMPACTION, tx.now + at), priority=Priority.WORKER
            )
            return

        def work(tx: ReadTx) -> Survey:
            return survey(tx, self.caches, narrowed(tx, changed_since(tx, ALIKE)), self.bounds, run.generation)

        found = await self.store.read(run.scope, work)
        done: set[tuple[int, int]] = set()
        gone: set[int] = set()
        taken: set[int] = set()
        for _ in range(most_calls(len(found.pairs.changed), len(found.pairs.telling))):
            batch = next_batch(found.pairs, done, gone, run.bounds.max_chars)
            if not batch:
                break
            if run.exhausted:
                run.left = True
                break
            done |= set(combinations(batch, 2))
            members = await self._as_they_are(run, [found.pairs.memories[number] for number in batch])
            gone |= set(batch) - {memory.number for memory in members}
            if len(members) < 2:
                continue
            if not await self._reserve(run):
                run.left = True
                break
            hidden: frozenset[str] = frozenset()
            before = run.calls
            with confined(run, members):
                hidden = await merges.ask(run, members, _spread(found, batch))
            self._count(run.calls - before - 1)
            taken |= {memory.number for memory in members if memory.id in hidden}
            gone |= taken
        self._too_long(run, found, gone)
        # What was merged is new and is looked at in its turn; what failed or changed meanwhile is looked at again.
        if not run.left and await self._read_to(run, ALIKE, found.changed):
            run.left = found.changed.cut or bool(taken)

    async def _as_they_are(self, run: Run, members: Sequence[Memory]) -> list[Memory]:
        """The memories at their present revisions, which an earlier call of the run may have moved; the active ones."""
        now = await self.store.read(run.scope, lambda tx: tx.find_memories([memory.id for memory in members]))
        return sorted((memory for memory in now if memory.state == "active"), key=lambda memory: memory.number)

    def _too_long(self, run: Run, found: Survey, gone: Collection[int]) -> None:
        """Say of the nearest pairs that no call can show."""
        most = run.bounds.max_chars
        told: set[int] = set(gone)
        for one, other in sorted(found.pairs.needed, key=lambda pair: (-found.pairs.near[pair], pair)):
            members = (found.pairs.memories[one], found.pairs.memories[other])
            if told & {one, other} or size(members) <= most:
                continue
            told |= {one, other}
            ids = ", ".join(memory.id for memory in members)
            log.info("Size gate declined memories %s: %d characters, over %d", ids, size(members), most)
            run.note("too_long", members, f"{size(members)} characters together, over {most}")

    async def _note_fruit(self, run: Run) -> None:
        """Keep how many runs in a row asked and changed nothing; only one that asked says anything."""
        if not run.asked or run.error is not None:
            return

        def work(tx: WriteTx) -> None:
            before = tx.progress(FRUITLESS)
            after = min(before + 1, 10) if run.fruitless else 0
            if after != before and run.hold.stands(tx):
                tx.put_progress(FRUITLESS, after)

        await self.store.write(run.scope, work, priority=Priority.WORKER)

    # ------------------------------------------------------------------------------------------------ its cost

    async def waiting(self, scope: Scope) -> tuple[int, int | None]:
        """How many changed notes of a scope the judge has not seen (at most 140), and the calls that are left today.

        None where there is no judge, and then nothing waits.
        """
        if self.judge is None:
            return 0, None
        changed = await self.store.read(scope, lambda tx: narrowed(tx, changed_since(tx, ALIKE)))
        return len(changed.memories), max(0, await self._budget())

    async def _budget(self) -> int:
        """How many calls the store may still ask by itself today (UTC), by its usage book and this process's count."""
        today = self.clock.now().date()
        usage = await self.store.usage.read(today)
        booked = sum(one.calls for one in usage if one.purpose == PURPOSE and one.day == today)
        known = self._spent[1] if self._spent is not None and self._spent[0] == today else 0
        self._spent = today, max(booked, known)
        return self.bounds.daily - self._spent[1]

    async def _reserve(self, run: Run) -> bool:
        """Whether one more call may be asked; counted before it is, since other scopes' runs go on meanwhile."""
        left = await self._budget()
        if run.unattended and left <= 0:
            return False
        self._count(1)
        return True

    def _count(self, calls: int) -> None:
        today = self.clock.now().date()
        known = self._spent[1] if self._spent is not None and self._spent[0] == today else 0
        self._spent = today, known + calls

    async def _read_on(self, run: Run) -> None:
        """Changes that touched no note need not be read a second time."""
        await self._read_to(run, ALIKE, await self.store.read(run.scope, lambda tx: changed_since(tx, ALIKE)))

    async def _read_to(self, run: Run, name: str, changed: Changed) -> bool:
        """Note how far a scope's changes were dealt with, unless only a part of the scope was looked at."""
        if run.scope.agent is not None or run.scope.session is not None:
            return False

        def work(tx: WriteTx) -> bool:
            if not run.hold.stands(tx):
                return False
            if tx.progress(name) < changed.until:
                tx.put_progress(name, changed.until)
            return True

        if await self.store.read(run.scope, lambda tx: tx.progress(name)) >= changed.until:
            return True
        return await self.store.write(run.scope, work, priority=Priority.WORKER)

    # ------------------------------------------------------------------------------------------------ around it

    def _copying(self, group: Sequence[Memory], hold: ApplyGuard) -> Callable[[WriteTx], tuple[Verdict, str | None]]:
        return lambda tx: apply_copies(tx, group, hold, self.merger)

    async def _readable(self, scope: Scope) -> Generation | None:
        """The current generation, where it is this embedding's; None where distances go by words."""
        if self.embedding is None:
            return None
        fingerprint = await self.embedding.fingerprint()
        held = await self.store.read(scope, lambda tx: tx.generations())
        return next((one for one in held if one.state == "current" and one.fingerprint == fingerprint), None)

    async def _indexed(self, scope: Scope) -> Generation | None:
        """The current generation with every vector of the scope in it: what has none yet is embedded first."""
        if self.embedding is None:
            return None
        if not await self.store.read(scope, lambda tx: tx.generations()):
            await start_generation(self.store, self.embedding, scope)
        generation = await self._readable(scope)
        if generation is None:
            raise _OthersEmbedding
        held = await self.store.read(scope, lambda tx: tx.generations())
        for one in targets(held, generation.fingerprint):
            await fill(self.store, self.embedding, scope, one)
        return generation


def _spread(found: Survey, batch: Sequence[int]) -> float:
    """The distance of the two farthest of those that had to be compared."""
    return max((found.far[pair] for pair in combinations(batch, 2) if pair in found.far), default=0.0)


def _to_midnight(now: datetime) -> timedelta:
    """How long until the next day begins (UTC), with a new budget."""
    return datetime.combine(now.date() + timedelta(days=1), time(), tzinfo=UTC) - now
