"""SIGKILL at the nth disk operation of a scrub that writes the file anew (VACUUM): what is kept stays, and the next one
leaves no byte of what was forgotten.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from unittest.mock import patch

import apsw
import pytest

from memhold import AsyncMemhold
from memhold.storage.sqlite.raw import has_stale_cells
from memhold.storage.sqlite.upkeep import SqliteUpkeep
from tests.proofs.dying import run_dying
from tests.proofs.test_residue import residue

CHILD = Path(__file__).with_name("scrub_child.py")
LAST_POINT = 600
"""A scrub without a kill makes about this many operations, opening and closing included."""
SEED = 0
"""Of a history that leaves copies."""
PLAIN = {"worker": False, "embedding": "none"}


async def _never(_: SqliteUpkeep, *, briefly: bool = False) -> str:
    del briefly
    return "rebuild"


async def _planted(path: Path, seed: int = SEED) -> tuple[list[str], list[str]]:
    """A file with copies of cells that were moved and forgotten: the marks of what was kept, and of what was not."""
    random = Random(seed)
    marks: dict[str, list[str]] = {"kept": [], "gone": []}
    async with AsyncMemhold.open(str(path), **PLAIN) as mem:
        alice = mem.scope(user="alice")
        for turn in range(12):
            name = "gone" if turn % 3 == 0 else "kept"
            named = [f"M{random.getrandbits(96):024x}" for _ in range(20)]
            sizes = [10, 100, 400, 900, 1500]
            batch = [{"role": "user", "content": f"{m} {'x' * random.choice(sizes)}{m}"} for m in named]
            await mem.scope(user="alice", session=name).add(batch)
            marks[name] += named
        # Rows that grow and shrink in the middle of a tree make SQLite move their neighbours.
        connection = apsw.Connection(str(path))
        for number in random.sample(range(240), 160):
            for hidden in ("chg_" + "0" * 32, None):
                connection.execute("UPDATE message SET hidden_by = ? WHERE number = ?", (hidden, number))
        connection.close()
        with patch.object(SqliteUpkeep, "scrub", _never):
            assert not (await alice.forget(session="gone")).erased
    return marks["kept"], marks["gone"]


@pytest.mark.proof
async def test_a_scrub_that_is_killed_is_done_again(tmp_path: Path, runs: Callable[[int, int], range]) -> None:
    planted = tmp_path / "planted"
    for _ in range(20):
        # Which cells SQLite moves is not the same each time: about one file in six has no copy to look for.
        kept, gone = await _planted(planted / "memory.db")
        if residue(planted, gone):
            break
        shutil.rmtree(planted)
    assert residue(planted, gone)
    connection = apsw.Connection(str(planted / "memory.db"))
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    assert has_stale_cells(connection, connection.filename), "the scrub is to write the file anew"
    connection.close()
    killed = 0
    for seed in runs(2, 200):
        folder = tmp_path / str(seed)
        shutil.copytree(planted, folder)
        path = folder / "memory.db"
        code, out = await asyncio.to_thread(run_dying, CHILD, str(path), Random(seed).randrange(2, LAST_POINT), seed)
        killed += code == -9
        if "scrubbed" in out:
            assert residue(folder, gone) == [], f"seed {seed}"
        async with AsyncMemhold.open(str(path), **PLAIN) as mem:
            assert await mem.settle(timeout=300)
            assert residue(folder, gone) == [], f"seed {seed}"
            texts = [
                message.text[:25] for message in await mem.scope(user="alice", session="kept").messages(limit=1000)
            ]
            assert texts == kept
            assert [finding for finding in await mem.admin.doctor() if finding.severity == "wrong"] == []
        shutil.rmtree(folder)
    assert killed > 0
