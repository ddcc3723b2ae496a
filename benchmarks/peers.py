"""Peers that do the same work, where they are installed: one durable put beside one durable add, in turns."""

from __future__ import annotations

import asyncio
import statistics
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.measure import Row
from memhold.faces.python.open import AsyncMemhold

__all__ = ["peer_rows"]

_SYNCHRONOUS = {0: "OFF", 1: "NORMAL", 2: "FULL", 3: "EXTRA"}
_TEXT = "the ferry to the island leaves at nine and takes an hour when the sea is calm"


def peer_rows(folder: Path, rounds: int) -> list[Row]:
    """A row for each peer that can be imported here, with the durability that it sets; none where none can.

    LangGraph's SqliteStore (`pip install langgraph-checkpoint-sqlite`): one `put` of a JSON value, no index. It keeps
    the value under a key; it has no words index, no audit trail and no order of a session, which our add writes too.
    """
    try:
        module: Any = import_module("langgraph.store.sqlite")
    except ImportError:
        return []
    with module.SqliteStore.from_conn_string(str(folder / "langgraph.db")) as store:
        store.setup()
        synchronous = _SYNCHRONOUS[store.conn.execute("PRAGMA synchronous").fetchone()[0]]
        journal = store.conn.execute("PRAGMA journal_mode").fetchone()[0]
        ours, theirs = asyncio.run(_in_turns(folder, store, rounds))
    return [
        Row(
            name="add, one message, p50, beside LangGraph SqliteStore",
            value=f"{ours * 1e6:.0f} us (WAL, synchronous FULL)",
            against=f"its put {theirs * 1e6:.0f} us ({journal}, synchronous {synchronous}, no index)",
            ratio=ours / theirs,
        )
    ]


async def _in_turns(folder: Path, store: Any, rounds: int) -> tuple[float, float]:
    ours: list[float] = []
    theirs: list[float] = []
    async with AsyncMemhold.open(str(folder / "peer.db"), worker=False, embedding="none") as memhold:
        scope = memhold.scope(user="bench", session="s")
        for turn in range(rounds):
            began = time.perf_counter()
            await scope.add([{"role": "user", "content": f"{turn} {_TEXT}"}])
            ours.append(time.perf_counter() - began)
            began = time.perf_counter()
            store.put(("bench",), str(turn), {"role": "user", "content": f"{turn} {_TEXT}"}, index=False)
            theirs.append(time.perf_counter() - began)
    return statistics.median(ours), statistics.median(theirs)
