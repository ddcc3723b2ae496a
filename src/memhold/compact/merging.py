"""The groups of notes in a run: which are asked about, what the judge says, and each merge applied on its own."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

from memhold.compact.apply import Merger, Ruling, apply_merge, apply_supersede, keep_apart
from memhold.compact.contract import Judgement
from memhold.compact.groups import Cluster, chunks, size
from memhold.compact.judging import Judge, newest_of, vector_of
from memhold.compact.run import MERGED_OUTCOMES, MOST_FAILURES, Run
from memhold.consolidate.apply_guard import ApplyGuard, Verdict
from memhold.index.embedding import Embedding
from memhold.ports.models import TaskFailed
from memhold.ports.stores import Priority, Store
from memhold.ports.transaction import WriteTx
from memhold.ports.vector_blocks import Generation
from memhold.values.answers import Outcome
from memhold.values.records import Memory

__all__ = ["Merges", "foresee"]

log = logging.getLogger("memhold.compaction")


class Merges:
    """What asks the judge about clusters, and applies what it says."""

    def __init__(self, store: Store, judge: Judge, embedding: Embedding | None, merger: Merger) -> None:
        self._store = store
        self._judge = judge
        self._embedding = embedding
        self._merger = merger

    async def cluster(self, run: Run, cluster: Cluster) -> None:
        """A cohesive cluster whole, or in parts that a lineage bears; else its closest pair, until one merges.

        That the judge declines a group says nothing of its pairs: they are asked about then, closest first.
        """
        if not cluster.cohesive:
            await self._pairs(run, cluster, cluster.pairs(), most=1)
            return
        for part in chunks(cluster):
            if run.exhausted:
                run.left = True
                return
            within = _pairs_of(cluster, part)
            if len(part) == 2:
                await self._pairs(run, cluster, within, most=1)
            elif size(part) > run.bounds.max_chars:
                self._too_long(run, part)
                await self._pairs(run, cluster, within, most=len(part))
            elif (
                frozenset(memory.id for memory in part) in cluster.declined
                or await self._ask(run, part, "group", cluster.spread) == "kept_apart"
            ):
                await self._pairs(run, cluster, within, most=1)

    async def _pairs(
        self, run: Run, cluster: Cluster, pairs: Sequence[tuple[float, Memory, Memory]], *, most: int
    ) -> None:
        """Ask about pairs, closest first, until so many were merged; no memory takes part twice."""
        taken: set[str] = set()
        merges = 0
        for distance, one, other in pairs:
            if merges >= most:
                return
            if one.id in taken or other.id in taken:
                continue
            if size((one, other)) > run.bounds.max_chars:
                self._too_long(run, (one, other))
                continue
            if run.exhausted:
                run.left = True
                return
            outcome = await self._ask(run, (one, other), "pair", distance)
            if outcome in MERGED_OUTCOMES:
                taken |= {one.id, other.id}
                merges += 1
            elif outcome == "failed":
                return
        log.debug("a cluster of %d memories: %d merges", len(cluster.members), merges)

    async def _ask(self, run: Run, members: Sequence[Memory], path: Outcome, distance: float) -> Outcome:
        """One question and what comes of it; says what became of the memories."""
        run.calls += 1
        ruling = await self._judge.rule(members)
        if self._judge.spent is not None:
            await self._judge.spent(self._store.usage)
        if isinstance(ruling, TaskFailed):
            raise ruling.error("compaction")
        merging = ruling.judgement.decision == "merge" and not any(memory.pinned for memory in members)
        vector = None
        if merging and run.generation is not None and self._embedding is not None:
            made = await vector_of(self._embedding, ruling.judgement.text)
            if made is None:
                refused = Judgement(decision="keep_apart", reason="the embedding refuses the length of the merged text")
                ruling = replace(ruling, judgement=refused)
            else:
                vector = (run.generation, made)
        run.failures = 0
        work = self._applying(members, ruling, vector, run.hold)
        verdict, kept = await self._store.write(run.scope, work, priority=Priority.WORKER)
        if verdict == "lost":
            run.failures = MOST_FAILURES
        outcome = _outcome(verdict, ruling, path)
        self._tell(outcome, members)
        run.note(outcome, members, ruling.judgement.reason, memory=kept, distance=distance)
        return outcome

    def _tell(self, outcome: Outcome, members: Sequence[Memory]) -> None:
        ids = [memory.id for memory in members]
        if outcome == "pair":
            log.info("Pairwise merged memory %s with %s", ids[0], ids[1])
        elif outcome == "superseded":
            newest = newest_of(members)
            last = ids[-1] if newest is None else newest.id
            log.info("Memory %s supersedes %s", last, ", ".join(one for one in ids if one != last))
        elif outcome == "kept_apart":
            log.info("Model declined to merge memories %s", ", ".join(ids))

    def _too_long(self, run: Run, members: Sequence[Memory]) -> None:
        count, most = size(members), run.bounds.max_chars
        log.info("Size gate declined memories %s: %d characters, over %d", _ids(members), count, most)
        run.note("too_long", members, f"{count} characters together, over {most}")

    def _applying(
        self, members: Sequence[Memory], ruling: Ruling, vector: tuple[Generation, bytes] | None, hold: ApplyGuard
    ) -> Callable[[WriteTx], tuple[Verdict, str | None]]:
        merger, newest = self._merger, newest_of(members)

        def work(tx: WriteTx) -> tuple[Verdict, str | None]:
            if ruling.judgement.decision == "merge":
                return apply_merge(tx, members, ruling, vector, hold, merger)
            if ruling.judgement.decision == "supersede" and newest is not None:
                return apply_supersede(tx, members, newest, ruling, hold, merger)
            reason = "kept apart by the judge" if ruling.author.origin == "model" else "no merge of them stands"
            return keep_apart(tx, members, reason, ruling, hold, merger)

        return work


def foresee(run: Run, cluster: Cluster) -> None:
    """What a run would ask about a cluster first."""
    parts = chunks(cluster) if cluster.cohesive else [cluster.pairs()[0][1:]]
    for part in parts:
        path: Outcome = "pair" if len(part) == 2 else "group"
        why = "all of them are near" if cluster.cohesive else "the closest pair of a cluster that does not cohere"
        if size(part) > run.bounds.max_chars:
            run.note("too_long", part, f"{size(part)} characters together, over {run.bounds.max_chars}")
        else:
            run.note(path, part, f"{why}; the judge would be asked", distance=cluster.spread)


def _outcome(verdict: Verdict, ruling: Ruling, path: Outcome) -> Outcome:
    if verdict != "done":
        return "stale"
    match ruling.judgement.decision:
        case "merge":
            return path
        case "supersede":
            return "superseded"
        case "keep_apart":
            return "kept_apart"


def _pairs_of(cluster: Cluster, part: Sequence[Memory]) -> list[tuple[float, Memory, Memory]]:
    held = {memory.id for memory in part}
    return [pair for pair in cluster.pairs() if pair[1].id in held and pair[2].id in held]


def _ids(members: Sequence[Memory]) -> str:
    return ", ".join(memory.id for memory in members)
