"""What models were used for is that of the store that is named, before the command or behind it."""

from __future__ import annotations

import asyncio
import json
from datetime import date
from pathlib import Path

from memhold.ports.models import Tally
from memhold.storage.sqlite.store import SqliteStore
from memhold.wiring.system import SystemClock

from .conftest import process


async def used(path: Path) -> None:
    store = SqliteStore(str(path), clock=SystemClock())
    await store.usage.add([Tally(day=date(2026, 1, 1), model="m", purpose="consolidation", calls=3, answered=3)])
    await store.close()


def test_usage_takes_the_store_on_either_side(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    asyncio.run(used(path))
    for arguments in (("--db", str(path), "models", "usage"), ("models", "usage", "--db", str(path))):
        done = process(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        assert [row["calls"] for row in json.loads(done.stdout)["usage"]] == [3]
