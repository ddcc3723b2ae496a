"""What the digests of rows cost: the same calls with and without them, taking turns in one run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.measure import Row
from memhold.faces.python.open import AsyncMemhold
from memhold.storage.sql import reads, row_batches, rows

__all__ = ["digest_costs"]

_BARS = {"add": 1.03, "recall": 1.03}
_BATCH = 25
_HELD = 2000
_FUNCTIONS = ("message_digest", "memory_digest", "change_digest", "detail_digest", "session_digest")


@contextmanager
def _without() -> Iterator[None]:
    """Rows get no digest and none is compared; a store that is used so knows of no other."""
    patches: list[Any] = [patch.object(rows, name, _none) for name in _FUNCTIONS]
    patches += [patch.object(reads, name, _none) for name in _FUNCTIONS]
    patches += [patch.object(row_batches, "session_digest", _none)]
    patches += [patch.object(reads, "sound_messages", lambda _: True)]
    patches += [patch.object(rows, "block_digests", lambda first, *_: (first, 0))]
    patches += [patch.object(row_batches, "crc32", _none)]
    patches += [patch.object(rows, "with_digest", lambda params, *_: {**params, "crc": 0})]
    patches += [patch.object(rows, "_NO_DETAIL", 0)]
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in patches:
            one.stop()


def _none(*_: object) -> int:
    return 0


async def digest_costs(folder: Path, rounds: int) -> list[Row]:
    """Processor time of an add, of a bulk read and of a recall, over that of the same without digests."""
    text = "message {} about gardening, and what the weather in Lisbon was like in the week before the harvest"
    stores = {}
    for name in ("with", "without"):
        with _without() if name == "without" else _nothing():
            stores[name] = await AsyncMemhold.open(
                str(folder / f"{name}.db"), worker=False, embedding="none"
            ).__aenter__()
            batch = [{"role": "user", "content": text.format(at)} for at in range(_HELD)]
            await stores[name].scope(user="alice", session="s").add(batch)
    taken: dict[str, dict[str, list[float]]] = {"add": {}, "bulk read": {}, "recall": {}}
    for turn in range(rounds):
        for name in ("with", "without") if turn % 2 else ("without", "with"):
            scope = stores[name].scope(user="alice", session="s")
            other = stores[name].scope(user="bob", session="s")
            calls: dict[str, Callable[[], Awaitable[object]]] = {
                "add": lambda o=other, t=turn: o.add([{"role": "user", "content": text.format(t)}]),  # type: ignore[misc]
                "bulk read": lambda s=scope: s.messages(limit=1000),  # type: ignore[misc]
                "recall": lambda s=scope: s.recall("the weather before the harvest", limit=50),  # type: ignore[misc]
            }
            with _without() if name == "without" else _nothing():
                for what, call in calls.items():
                    began = time.process_time()
                    for _ in range(_BATCH if what == "add" else 1):
                        await call()
                    taken[what].setdefault(name, []).append(time.process_time() - began)
    for store in stores.values():
        await store.close()
    return [_row(what, times["with"], times["without"]) for what, times in taken.items()]


@contextmanager
def _nothing() -> Iterator[None]:
    yield


def _row(what: str, ours: list[float], bare: list[float]) -> Row:
    ratios = [one / other for one, other in zip(ours, bare, strict=True)]
    ratio = statistics.median(ratios[len(ratios) // 5 :])
    return Row(
        name=f"digests of rows: {what}",
        value=f"{ratio - 1:+.1%} of processor time",
        against="the same without them",
        ratio=ratio,
        bar=_BARS.get(what),
    )
