"""A process that is frozen while it holds a lease, or a transaction; it says what came of it when it wakes.

Run by test_postgres_frozen.py: `python frozen_child.py URL lease|transaction`.
"""

from __future__ import annotations

import asyncio
import sys

from memhold.storage.postgres.connection import parsed
from memhold.storage.postgres.store import PostgresStore
from memhold.values.records import Scope
from memhold.wiring.system import SystemClock

ALICE = Scope(user="alice")


async def hold_lease(store: PostgresStore) -> None:
    [lease] = await store.upkeep.claim(owner="frozen", kinds=("work",), limit=1, seconds=1.0)
    print("held", lease.token, flush=True)
    await asyncio.to_thread(sys.stdin.readline)

    def apply(tx) -> bool:
        mine = any(due.token == lease.token for due in tx.due())
        if mine:
            tx.put_due("effect", "frozen", tx.now)
        return mine

    applied = await store.write(ALICE, apply)
    finished = await store.upkeep.finish(lease)
    renewed = await store.upkeep.renew(lease, 60)
    print("woke", applied, finished, renewed, flush=True)


async def hold_transaction(store: PostgresStore) -> None:
    runs = 0

    def work(tx) -> int:
        nonlocal runs
        runs += 1
        tx.put_due("effect", "frozen", tx.now)
        if runs == 1:
            print("held 0", flush=True)
            sys.stdin.readline()
        return runs

    done = await store.write(ALICE, work)
    print("woke", done, flush=True)


async def main(url: str, what: str) -> None:
    store = await PostgresStore.open(parsed(url), clock=SystemClock(), busy_timeout=4.0)
    await (hold_lease(store) if what == "lease" else hold_transaction(store))
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
