"""A process with concurrent writers that dies at its nth disk operation; it prints each acknowledgement first.

Run by test_crash.py: `python crash_child.py PATH DIES_AT SEED`.
"""

from __future__ import annotations

import asyncio
import sys
from random import Random

from memhold.values.records import Scope
from memhold.verbs.local_scope import local_scope
from memhold.wiring import Around, assemble
from memhold.wiring.system import SystemClock
from tests.proofs.dying import open_dying

WRITERS = 4
ROUNDS = 12


async def main(path: str, dies_at: int, seed: int) -> None:
    clock = SystemClock()
    runtime = assemble(await open_dying(path, clock, dies_at=dies_at), Around(clock=clock))
    random = Random(seed)

    async def writer(number: int) -> None:
        for turn in range(ROUNDS):
            scope = local_scope(runtime, Scope(user=f"u{number % 2}", session=f"s{number}"))
            kind = random.choice(("add", "note", "fact", "end"))
            mark = f"w{number}t{turn}"
            if kind == "add":
                batch = [{"role": "user", "content": f"{mark} part {part}"} for part in range(3)]
                receipt = await scope.add(batch, idempotency_key=mark)
            elif kind == "note":
                receipt = (await scope.remember(f"{mark} note")).receipt
            elif kind == "fact":
                receipt = (await scope.remember(attribute="favorite number", value=mark)).receipt
            else:
                receipt = await scope.end_session()
            print(kind, number % 2, mark, *receipt.ids, flush=True)

    await asyncio.gather(*(writer(number) for number in range(WRITERS)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
