"""A process that opens a file and scrubs it, and dies at its nth disk operation.

Run by test_scrub_kill.py and test_first_schema.py: `python scrub_child.py PATH DIES_AT SEED`.
"""

from __future__ import annotations

import asyncio
import sys

from memhold.wiring.system import SystemClock
from tests.proofs.dying import open_dying


async def main(path: str, dies_at: int) -> None:
    store = await open_dying(path, SystemClock(), dies_at=dies_at)
    print("opened", flush=True)
    assert await store.upkeep.scrub() is None
    print("scrubbed", flush=True)
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
