"""A worker process on PostgreSQL; killed, frozen and cut off by test_postgres_workers.py.

`python workers_child.py URL SEED [holds|unguarded]`: consolidates with short leases until its standard input ends. One
that holds stops itself (SIGSTOP) in its first call of a model, its lease in its hand, and answers when it wakes. One
that is unguarded has none of the checks under which a result is applied: the fault that the proof has to see.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from functools import partial
from random import Random

from memhold import AsyncMemhold
from memhold.consolidate import apply
from memhold.consolidate import apply_guard as hold
from memhold.consolidate import consolidation_step as consolidation
from memhold.providers import wrappers
from memhold.upkeep import worker
from tests.proofs.test_consolidation import Unsteady

LEASE_SECONDS = 2.0


class Slow(Unsteady):
    """As slow as a model is: most of a lease is held during a call, and what befalls a process befalls it there."""

    async def chat(self, request):
        await asyncio.sleep(self.random.uniform(0.0, 0.4))
        return await super().chat(request)


class Holds(Unsteady):
    """Stops the process in the middle of its first call; when it wakes, nothing stands between its answer and the apply."""

    stopped = False

    async def chat(self, request):
        if not self.stopped:
            self.stopped = True
            print("stops", flush=True)
            os.kill(os.getpid(), signal.SIGSTOP)
        return await super().chat(request)


def tell(*, unguarded: bool) -> None:
    """Say what came of each result. No lease is renewed in any run: that the apply itself refuses is what counts."""
    worker.BEATS = 1e-9
    if unguarded:
        hold.ApplyGuard.stands = lambda *_: True
        apply.standing = lambda tx, snapshot, _: (tx.find_session(snapshot.session.id), "done")
    applied = consolidation.apply_answers

    def told(*given):
        verdict = applied(*given)
        # One write a line: windows are applied in threads, and another's word would come between it and its end.
        print(f"{verdict}\n", end="", flush=True)
        return verdict

    consolidation.apply_answers = told


async def main(url: str, seed: int, how: str) -> None:
    logging.disable(logging.CRITICAL)
    worker.LEASE_SECONDS = LEASE_SECONDS
    worker.FIRST_DELAY, worker.LONGEST_DELAY = 0.05, 0.2
    model = Holds("m", Random(seed), 0.0) if how else Slow("m", Random(seed), 0.1)
    if how:
        tell(unguarded=how == "unguarded")
    settings = {"consolidation": model, "consolidate_messages": 4, "poll_seconds": 0.5}
    wrappers.Backoff = partial(wrappers.Backoff, first=0.01)
    async with AsyncMemhold.open(url, embedding="none", failover_timeout=60.0, **settings):
        print("works", flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), "".join(sys.argv[3:])))
