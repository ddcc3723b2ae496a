"""A call of a run: the judge is asked about a batch, its texts are embedded, and what it said is applied at once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

from memhold.compact.apply import Applied, Merger, Verdicted, apply_verdict
from memhold.compact.groups import size
from memhold.compact.judging import Judge, Verdict, vector_of
from memhold.compact.run import MERGED_OUTCOMES, MOST_FAILURES, Run
from memhold.compact.verdict_steps import Merged, settled
from memhold.consolidate.apply_guard import Verdict as Lost
from memhold.index.embedding import Embedding
from memhold.ports.models import TaskFailed
from memhold.ports.stores import Priority, Store
from memhold.ports.transaction import WriteTx
from memhold.values.records import Memory

__all__ = ["Merges"]

log = logging.getLogger("memhold.compaction")


class Merges:
    """What asks the judge about some memories, and applies what it says."""

    def __init__(self, store: Store, judge: Judge, embedding: Embedding | None, merger: Merger) -> None:
        self._store = store
        self._judge = judge
        self._embedding = embedding
        self._merger = merger

    async def ask(self, run: Run, members: Sequence[Memory], distance: float) -> frozenset[str]:
        """One question and what comes of it, all or nothing; the ids of what something else stands for now.

        Raises:
            MemholdError: the judge or the embedding could not be asked, or gave no answer that can be read: nothing
                was settled, and the memories wait.
        """
        run.asked += 1
        room = None if self._embedding is None or run.generation is None else await self._embedding.room()
        verdict = await self._judge.settle(members, room=room)
        run.calls += len(verdict.attempts) if isinstance(verdict, TaskFailed) else verdict.calls
        if self._judge.spent is not None:
            await self._judge.spent(self._store.usage)
        if isinstance(verdict, TaskFailed):
            raise verdict.error("compaction")
        found = await self._embedded(run, members, verdict)
        outcome, applied = await self._store.write(
            run.scope, self._applying(run, members, found), priority=Priority.WORKER
        )
        run.failures = MOST_FAILURES if outcome == "lost" else 0
        if outcome != "done":
            run.left = True
            run.note("stale", members, "they changed while the judge was asked", distance=distance)
            return frozenset()
        return self._told(run, members, found, applied, distance)

    async def _embedded(self, run: Run, members: Sequence[Memory], verdict: Verdict) -> Verdicted:
        """The verdict with the vectors of its texts; where the embedding refuses one, its memories stay."""
        partition, steps, refused = verdict.partition, verdict.settled.steps, dict(verdict.refused)
        vectors: dict[int, bytes] = {}
        while run.generation is not None and self._embedding is not None:
            missing = [
                (number, step)
                for number, step in enumerate(steps)
                if isinstance(step, Merged)
                and number not in vectors
                and not any(members[place].pinned for place in step.places)
            ]
            if not missing:
                break
            number, step = missing[0]
            made = await vector_of(self._embedding, step.group.text)
            if made is not None:
                vectors[number] = made
                continue
            at = partition.groups.index(step.group)
            refused[at] = "the embedding refuses it"
            groups = [
                replace(one, relation="adds", text="") if place == at else one
                for place, one in enumerate(partition.groups)
            ]
            partition = replace(partition, groups=tuple(groups))
            # The steps may be others now: the texts that were embedded are not asked for again.
            known = {
                one.group.text: vectors[place]
                for place, one in enumerate(steps)
                if isinstance(one, Merged) and place in vectors
            }
            steps = settled(members, partition).steps
            vectors = {
                place: known[one.group.text]
                for place, one in enumerate(steps)
                if isinstance(one, Merged) and one.group.text in known
            }
        return Verdicted(
            partition=partition,
            steps=steps,
            author=verdict.author,
            reply=verdict.reply,
            attempts=verdict.attempts,
            refused=refused,
            vectors=vectors,
        )

    def _applying(
        self, run: Run, members: Sequence[Memory], verdict: Verdicted
    ) -> Callable[[WriteTx], tuple[Lost, tuple[Applied, ...]]]:
        return lambda tx: apply_verdict(tx, members, verdict, run.generation, run.hold, self._merger)

    def _told(
        self, run: Run, members: Sequence[Memory], verdict: Verdicted, applied: Sequence[Applied], distance: float
    ) -> frozenset[str]:
        """Say what became of each; the ids of those that others stand for."""
        hidden: set[str] = set()
        named: set[int] = set()
        for one in applied:
            ids = [members[place].id for place in one.places]
            named |= set(one.places)
            run.note(
                one.outcome, [members[place] for place in one.places], one.reason, memory=one.memory, distance=distance
            )
            if one.outcome in MERGED_OUTCOMES:
                hidden |= set(ids) - {one.memory}
            self._log(one, ids)
        rest = [memory for place, memory in enumerate(members) if place not in named]
        if len(rest) > 1 or (rest and applied):
            log.info("Model declined to merge memories %s", ", ".join(memory.id for memory in rest))
            run.note("kept_apart", rest, verdict.partition.reason or "about different things", distance=distance)
        log.debug("a call about %d memories, %d characters", len(members), size(members))
        return frozenset(hidden)

    def _log(self, one: Applied, ids: Sequence[str]) -> None:
        if one.outcome == "pair":
            log.info("Pairwise merged memory %s with %s", ids[0], ids[1])
        elif one.outcome == "superseded":
            log.info("Memory %s supersedes %s", one.memory, ", ".join(other for other in ids if other != one.memory))
        elif one.outcome in {"linked", "suspected"}:
            log.info("Memories %s are %s", ", ".join(ids), one.outcome)
