"""What compaction costs: model calls and tokens by number of notes, and on an idle store none."""

from __future__ import annotations

import asyncio
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Literal

from benchmarks.measure import Row, doing
from memhold.faces.python.open import AsyncMemhold
from memhold.ports.models import ChatReply, ChatRequest, ToolCall
from memhold.providers.embedding.builtin.model import BuiltinEmbedding
from memhold.testing.scripted import HashEmbedding
from memhold.text.token_estimate import estimate_tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memhold.verbs.scope import AsyncScope

__all__ = ["run"]

NOTES, NEW = 10_000, 100
_LINE = re.compile(r"^\[s\d+\] ", re.MULTILINE)
_THINGS = ("gate", "boiler", "router", "piano", "invoice", "cabin", "printer", "orchard", "server", "bicycle")
_PLACES = ("north", "south", "harbour", "garden", "attic", "office", "cellar", "station", "museum", "bakery")
_WAYS = ("likes", "prefers", "buys", "avoids", "collects", "repairs")
_NAMES = ("Oslo", "Graz", "Lund", "Bergen", "Porto", "Turku", "Basel", "Ghent", "Malta", "Sofia")
_STARTS = ("ba", "ke", "lo", "mi", "nu", "pra", "sto", "tri", "vel", "zor", "gan", "hul", "jem", "wix", "fro", "dy")
_ENDS = ("lin", "dor", "mak", "pes", "ron", "tal", "vim", "zug", "bek", "cof", "dra", "fin", "gol", "hex", "jut", "kor")
_STATES = ("was repaired", "needs paint", "was sold", "is rented", "was moved", "is insured", "was cleaned")


class _Counted(HashEmbedding):
    """An embedding that counts its requests."""

    calls = 0

    async def embed(self, texts: Sequence[object], *, purpose: Literal["document", "query"]) -> NDArray[np.float32]:
        self.calls += 1
        return await super().embed(texts, purpose=purpose)


class _Judge:
    """A judge that keeps everything apart, and counts its calls and their tokens."""

    name = "judge"
    calls = 0
    tokens = 0

    async def chat(self, request: ChatRequest) -> ChatReply:
        self.calls += 1
        texts = (request.system, *(turn.text for turn in request.turns))
        shown = len(_LINE.findall(request.turns[0].text))
        self.tokens += sum(map(estimate_tokens, texts)) + ANSWER
        arguments: dict[str, Any] = {"groups": [{"relation": "apart", "ids": [f"s{n + 1}" for n in range(shown)]}]}
        call = ToolCall(id="call_0", name="merge_memories", arguments=arguments)
        return ChatReply(model=self.name, text="", tool_calls=(call,), finish="tool")


SIZES = (20, 80, 320, 1280, 5000)
ANSWER = 120
"""Tokens of an answer that keeps twelve apart, about."""
PER_NOTE = 1.0 / 6
"""Calls a note at most, however many there are: it is the bar of 80 notes in 12 calls, with room for the last one."""


LINEAR = 1.25
"""How much more than in proportion calls may grow, for what is rounded up to whole ones; quadratic is 3.9 times."""
FEW = 300
"""From how many notes on growth is told: of fewer, whole calls say nothing."""


def _alike(count: int) -> list[str]:
    """Notes of one kind, each with its own number: the densest that there are."""
    return [
        f"Commit {n * 7919 + 0x100000:07x}: the retry queue waits {n} seconds, released in v1.{n}.0"
        for n in range(count)
    ]


def _preferences(count: int) -> list[str]:
    return [
        f"The user {_WAYS[n % len(_WAYS)]} the {_THINGS[n % len(_THINGS)]} from {_NAMES[n // 3 % len(_NAMES)]}{n // 60}"
        for n in range(count)
    ]


def _unrelated(count: int) -> list[str]:
    random = Random(3)
    return [" ".join(f"{random.choice(_STARTS)}{random.choice(_ENDS)}" for _ in range(6)) for _ in range(count)]


_KINDS = {"alike": _alike, "preferences": _preferences, "unrelated": _unrelated}


async def _cost(kind: str, count: int) -> tuple[int, int, float]:
    """Calls and tokens for so many notes that were told, until nothing is left; the seconds that it took beside."""
    judge, began = _Judge(), time.perf_counter()
    async with AsyncMemhold.open("memory://", worker=False, compaction=judge, read_timeout=60.0) as mem:
        scope = mem.scope(user="bench")
        for text in _KINDS[kind](count):
            await scope.remember(text)
        while (await scope.compact()).more:
            pass
    return judge.calls, judge.tokens, time.perf_counter() - began


def _peer_calls(texts: Sequence[str]) -> int:
    """The calls that Redis agent-memory-server makes of the same notes in one pass, by its rules and our vectors.

    For each memory that is left it looks for at most ten others within a cosine distance of .35; where they cohere
    (each finds the same ones, unless ten were found) one call writes one memory in their place. Nobody is asked whether
    (`deduplicate_by_semantic_search` in agent_memory_server/long_term_memory.py, read in November 2026).
    """
    import numpy as np

    vectors = BuiltinEmbedding().vectors(texts)
    gone = np.zeros(len(texts), dtype=bool)
    known: dict[int, NDArray[np.int64]] = {}
    calls = 0

    def nearest(number: int) -> list[int]:
        # What goes from elsewhere does not change the nearest: they are looked for again where one of them went.
        if number not in known or gone[known[number]].any():
            known[number] = _near(vectors, gone, number)
        return known[number].tolist()  # type: ignore[no-any-return]

    for number in range(len(texts)):
        if gone[number]:
            continue
        near = nearest(number)
        found = set(near) - {number}
        if not found:
            continue
        capped = len(near) >= PEER_MOST
        related = {other: set(nearest(other)) - {other, number} for other in found}
        extra = any(one - found for one in related.values()) and not capped
        missing = any(found - {other} - one for other, one in related.items())
        if not extra and not missing:
            calls += 1
            gone[list(found)] = True
    return calls


PEER_DISTANCE, PEER_MOST = 0.35, 11


def _near(vectors: NDArray[np.float32], gone: NDArray[np.bool_], number: int) -> NDArray[np.int64]:
    """The nearest that are left within the peer's distance, itself among them."""
    import numpy as np

    far = 1.0 - vectors @ vectors[number]
    far[gone] = 2.0
    order = np.argpartition(far, PEER_MOST)[:PEER_MOST] if len(far) > PEER_MOST else np.arange(len(far))
    order = order[np.argsort(far[order], kind="stable")]
    near: NDArray[np.int64] = order[far[order] <= PEER_DISTANCE]
    return near


def _costs(sizes: Sequence[int]) -> Iterator[Row]:
    for kind, made in _KINDS.items():
        spent: dict[int, int] = {}
        for count in sizes:
            doing(f"{count:,} notes, {kind}")
            calls, tokens, seconds = asyncio.run(_cost(kind, count))
            spent[count] = calls
            yield Row(
                name=f"{count:,} notes, {kind}",
                value=f"{calls} calls, {tokens:,} tokens, {seconds:.1f} s",
                against=f"agent-memory-server: {_peer_calls(made(count)):,} merges, and no question",
                ratio=calls / count,
                bar=max(PER_NOTE, 3 / count),
            )
        few, many = sizes[-2:] if len(sizes) > 1 else (sizes[-1], sizes[-1])
        if few >= FEW:
            grown = spent[many] / max(1, spent[few])
            yield Row(
                name=f"{kind}: {many / few:.1f} times the notes",
                value=f"{grown:.1f} times the calls",
                against=f"linear: {many / few:.1f}",
                ratio=grown / (many / few),
                bar=LINEAR,
            )


def run(*, quick: bool = False, notes: int = NOTES) -> Iterator[Row]:
    """Calls and tokens by number of notes; then a store of 10,000 notes where 100 are new, and the same store idle.

    Each row comes as soon as it is measured. `notes` is how many there are at most, in whichever part.
    """
    most = min(notes, 80) if quick else notes
    yield from _costs([size for size in SIZES if size <= most])
    count = min(500 if quick else NOTES, notes)
    yield from asyncio.run(_measure(count, min(20 if quick else NEW, count)))


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
