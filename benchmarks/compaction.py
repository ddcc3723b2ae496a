"""What compaction costs where little is new: model calls, embedding calls and seconds, and on an idle store none."""

from __future__ import annotations

import asyncio
import re
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Literal

from benchmarks.measure import Row, doing
from memhold.faces.python.open import AsyncMemhold
from memhold.ports.models import ChatReply, ChatRequest, ToolCall
from memhold.testing.scripted import HashEmbedding

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memhold.verbs.scope import AsyncScope

__all__ = ["run"]

NOTES, NEW = 10_000, 100
_LINE = re.compile(r"^\[s\d+\] \([^)]*\) (.*)$", re.MULTILINE)
_THINGS = ("gate", "boiler", "router", "piano", "invoice", "cabin", "printer", "orchard", "server", "bicycle")
_PLACES = ("north", "south", "harbour", "garden", "attic", "office", "cellar", "station", "museum", "bakery")
_STATES = ("was repaired", "needs paint", "was sold", "is rented", "was moved", "is insured", "was cleaned")


class _Counted(HashEmbedding):
    """An embedding that counts its requests."""

    calls = 0

    async def embed(self, texts: Sequence[object], *, purpose: Literal["document", "query"]) -> NDArray[np.float32]:
        self.calls += 1
        return await super().embed(texts, purpose=purpose)


class _Judge:
    """A judge that puts the words of all memories together, and counts its calls."""

    name = "judge"
    calls = 0

    async def chat(self, request: ChatRequest) -> ChatReply:
        self.calls += 1
        words = [word for text in _LINE.findall(request.turns[0].text) for word in text.split()]
        text = " ".join(dict.fromkeys(words))
        arguments: dict[str, Any] = {"decision": "merge", "reason": "alike", "text": text, "dropped": []}
        call = ToolCall(id="call_0", name="merge_memories", arguments=arguments)
        return ChatReply(model=self.name, text="", tool_calls=(call,), finish="tool")


def run(*, quick: bool = False) -> Sequence[Row]:
    """A store of 10,000 notes where 100 are new, half of them near-duplicates; then the same store idle."""
    return asyncio.run(_measure(500 if quick else NOTES, 20 if quick else NEW))


def _note(random: Random) -> str:
    words = f"{random.choice(_PLACES)} {random.choice(_THINGS)} {random.choice(_STATES)}"
    return f"the {words} by {random.getrandbits(40):x}{random.choice(_PLACES)} {random.getrandbits(30):x}"


async def _measure(notes: int, new: int) -> list[Row]:
    random, judge, embedding = Random(1), _Judge(), _Counted()
    with tempfile.TemporaryDirectory() as folder:
        async with AsyncMemhold.open(
            str(Path(folder) / "bench.db"),
            worker=False,
            compaction=judge,
            embedding=embedding,
            read_timeout=60.0,  # a loaded machine is measured, not refused
        ) as mem:
            alice = mem.scope(user="bench")
            doing(f"{notes:,} notes are told")
            told = [_note(random) for _ in range(notes)]
            for start in range(0, notes, 200):
                await asyncio.gather(*(alice.remember(text) for text in told[start : start + 200]))
            await mem.settle(timeout=3600)
            doing("compacted until nothing is left to do")
            while (await alice.compact()).more:
                pass
            rest = await _run(alice, judge, embedding)
            doing(f"{new} new notes")
            texts = [f"{random.choice(told)} again" if n % 2 else _note(random) for n in range(new)]
            for text in texts:
                await alice.remember(text)
            worked = await _run(alice, judge, embedding)
            idle = await _run(alice, judge, embedding)
    rows = []
    for name, (runs, calls, embedded, seconds, merged) in (
        (f"{notes:,} notes, nothing new", rest),
        (f"{notes:,} notes, {new} new", worked),
        ("the same again, idle", idle),
    ):
        value = f"{calls} model calls, {embedded} embedding calls, {seconds:.2f} s"
        # At most a call a new note where something is new, and none at all where nothing is.
        most = float(new if name.endswith(" new") and "nothing" not in name else 0)
        against = f"{merged} merged in {runs} runs; at most {most:.0f} model calls"
        rows.append(Row(name=name, value=value, against=against, ratio=float(calls), bar=most))
        if not most:
            rows.append(Row(name=name, value=f"{embedded} embedding calls", against="0", ratio=embedded, bar=0.0))
    return rows


async def _run(alice: AsyncScope, judge: _Judge, embedding: _Counted) -> tuple[int, int, int, float, int]:
    """Runs until nothing is left: how many, model calls, embedding calls, seconds, and memories merged."""
    calls, embedded, began = judge.calls, embedding.calls, time.perf_counter()
    runs = merged = 0
    more = True
    while more:
        done = await alice.compact()
        runs, merged, more = runs + 1, merged + done.merged, done.more
    return runs, judge.calls - calls, embedding.calls - embedded, time.perf_counter() - began, merged
