"""A process that adds and tells facts under the same attribute as its siblings; prints what was acknowledged.

Run by test_two_processes.py: `python two_processes_child.py PATH NAME ROUNDS`.
"""

from __future__ import annotations

import asyncio
import sys

from memhold import AsyncMemhold


async def main(path: str, name: str, rounds: int) -> None:
    async with AsyncMemhold.open(path, worker=True) as mem:
        alice = mem.scope(user="alice", session="shared")
        counter = await alice.remember(f"counter of {name}")
        assert counter.memory is not None
        print("memory", counter.memory.id, flush=True)

        async def adder(number: int) -> None:
            for turn in range(rounds):
                mark = f"{name}-{number}-{turn}"
                receipt = await alice.add(
                    [{"role": "user", "content": f"{mark} part {n}"} for n in (0, 1)], idempotency_key=mark
                )
                print("message", *receipt.ids, flush=True)

        async def writer() -> None:
            for turn in range(rounds):
                told = await alice.remember(attribute="favorite number", value=f"{name} {turn}")
                again = await alice.remember("the same note of everybody", topics=[f"{name} {turn % 5}"])
                print("memory", told.receipt.ids[0], again.receipt.ids[0], flush=True)

        await asyncio.gather(adder(0), adder(1), writer())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
