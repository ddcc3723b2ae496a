"""A process that tells notes and compacts them, and dies at its nth disk operation, or statement.

Run by test_compaction_kill.py: `python compaction_child.py PLACE DIES_AT SEED WHAT`; with "summaries" as WHAT it is given
summaries of past days, and rolls them up.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta
from functools import partial
from random import Random

from memhold.facts import changed_notes
from memhold.providers.chain import Chain, Link
from memhold.providers.wrappers import Backoff
from memhold.testing.scripted import HashEmbedding
from memhold.values.records import Scope
from memhold.verbs.local_scope import local_scope
from memhold.wiring import Around, assemble
from memhold.wiring.chains import ChainParts
from memhold.wiring.settings import Settings
from memhold.wiring.system import SystemClock
from tests.compaction.test_rollups import summary
from tests.proofs.dying import open_dying
from tests.proofs.test_compaction import SAYS, SUBJECTS, Unsteady


async def main(place: str, dies_at: int, seed: int, what: str) -> None:
    clock, random = SystemClock(), Random(seed)
    store = await open_dying(place, clock, dies_at=dies_at)
    chain = Chain([Link(model=Unsteady("a", random, 0.1))], clock=clock, dice=random, backoff=Backoff(attempts=1))
    settings = Settings(worker=False)
    changed_notes.Bounds = partial(changed_notes.Bounds, memories=2, distance=0.5)
    runtime = assemble(
        store, Around(clock=clock, settings=settings, judge=ChainParts(chain=chain), model=HashEmbedding())
    )
    alice = local_scope(runtime, Scope(user="alice"))
    for turn in range(20):
        text = f"{random.choice(SUBJECTS)} {random.choice(SAYS)} {random.randrange(100, 999)}"
        if what == "summaries":
            memory = await summary(alice, text, clock.now() - timedelta(days=3 + random.randrange(9)))
        else:
            memory = (await alice.remember(text)).memory
        assert memory is not None
        print(memory.id, text, sep="\t", flush=True)
        if turn % 4 == 3:
            await runtime.worker.settle()
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]))
