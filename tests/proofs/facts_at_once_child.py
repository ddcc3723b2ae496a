"""A process that tells its half of a history, in random order and some of it twice; prints day and value.

Run by test_facts_at_once.py: `python facts_at_once_child.py PATH PART SEED`.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime, timedelta
from random import Random

from memhold import AsyncMemhold

WORDINGS = ("favorite food", "favourite food", "most favorite food", "Favourite_Food")
DAYS = 40


async def main(path: str, part: int, seed: int) -> None:
    random = Random(seed * 2 + part)
    mine = [day for day in range(DAYS) if day % 2 == part]
    order = mine + random.sample(mine, 5)
    random.shuffle(order)
    async with AsyncMemhold.open(path, worker=True, embedding="none") as mem:
        alice = mem.scope(user="alice", session=f"p{part}")
        for day in order:
            at = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(days=day)
            await alice.remember(attribute=random.choice(WORDINGS), value=f"dish {day}", event_time=at)
            print(day, f"dish {day}", sep="\t", flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
