"""A process on PostgreSQL with concurrent writers; it prints each acknowledgement, with when it came.

Run by test_postgres_crash.py and test_postgres_failover.py: `python postgres_child.py URL ROUNDS SEED`. The same seed
writes the same under the same keys, so a second run finishes what a first one left.
"""

from __future__ import annotations

import asyncio
import sys
import time
from random import Random

from memhold import AsyncMemhold
from memhold.testing.scripted import ScriptedChat

WRITERS = 4


async def main(url: str, rounds: int, seed: int) -> None:
    model = ScriptedChat(name="m")
    async with AsyncMemhold.open(url, consolidation=model, consolidate_messages=6, poll_seconds=0.2) as mem:

        async def writer(number: int) -> None:
            for turn in range(rounds):
                scope = mem.scope(user=f"u{number % 2}", session=f"s{seed} {number}")
                mark = f"p{seed}w{number}t{turn}"
                kind = Random(mark).choice(("add", "add", "note", "fact", "end"))
                match kind:
                    case "add":
                        batch = [{"role": "user", "content": f"{mark} part {part}"} for part in range(3)]
                        receipt = await scope.add(batch, idempotency_key=mark)
                    case "note":
                        receipt = (await scope.remember(f"{mark} note", idempotency_key=mark)).receipt
                    case "fact":
                        told = await scope.remember(attribute="favorite number", value=mark, idempotency_key=mark)
                        receipt = told.receipt
                    case _:
                        receipt = await scope.end_session(idempotency_key=mark)
                print(f"{time.monotonic():.3f}", mark, *receipt.ids, flush=True)

        await asyncio.gather(*(writer(number) for number in range(WRITERS)))
        print("done", flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
