"""A process that adds, ends sessions and consolidates, and dies at its nth disk operation, or statement.

Run by test_consolidation_kill.py: `python consolidation_child.py PLACE DIES_AT SEED`.
"""

from __future__ import annotations

import asyncio
import sys
from random import Random

from memhold.providers.chain import Chain, Link
from memhold.providers.wrappers import Backoff
from memhold.values.records import Scope
from memhold.verbs.local_scope import local_scope
from memhold.wiring import Around, assemble
from memhold.wiring.chains import ChainParts
from memhold.wiring.settings import Settings
from memhold.wiring.system import SystemClock
from tests.proofs.dying import open_dying
from tests.proofs.test_consolidation import Unsteady, messages

SESSIONS = ("s1", "s2")


async def main(place: str, dies_at: int, seed: int) -> None:
    clock, random = SystemClock(), Random(seed)
    store = await open_dying(place, clock, dies_at=dies_at)
    links = [Link(model=Unsteady(name, random, 0.15)) for name in ("a", "b")]
    chain = Chain(links, clock=clock, dice=random, backoff=Backoff(attempts=1))
    settings = Settings(worker=True, consolidate_messages=4)
    runtime = assemble(store, Around(clock=clock, settings=settings, parts=ChainParts(chain=chain)))
    for turn in range(16):
        name = random.choice(SESSIONS)
        scope = local_scope(runtime, Scope(user="alice", session=name))
        receipt = await scope.add(messages(random, f"t{turn}"))
        print(name, *receipt.ids, flush=True)
        if random.random() < 0.3:
            await scope.end_session()
    await runtime.worker.settle()
    await runtime.worker.stop()
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
