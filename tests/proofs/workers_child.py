"""A worker process on PostgreSQL; killed, frozen and cut off by test_postgres_workers.py.

`python workers_child.py URL SEED`: consolidates with short leases until its standard input ends.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from random import Random

from holdfast import AsyncHoldfast
from holdfast.upkeep import worker
from tests.proofs.test_consolidation import Unsteady

LEASE_SECONDS = 2.0


class Slow(Unsteady):
    """As slow as a model is: most of a lease is held during a call, and what befalls a process befalls it there."""

    async def chat(self, request):
        await asyncio.sleep(self.random.uniform(0.0, 0.4))
        return await super().chat(request)


async def main(url: str, seed: int) -> None:
    logging.disable(logging.CRITICAL)
    worker.LEASE_SECONDS = LEASE_SECONDS
    worker.FIRST_DELAY, worker.LONGEST_DELAY = 0.05, 0.2
    model = Slow("m", Random(seed), 0.1)
    settings = {"consolidation": model, "consolidate_messages": 4, "poll_seconds": 0.5, "model_backoff_seconds": 0.01}
    async with AsyncHoldfast.open(url, embedding="none", failover_timeout=60.0, **settings):
        print("works", flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
