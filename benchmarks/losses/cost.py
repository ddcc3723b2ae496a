"""What memory costs for 1,000 messages: model calls, tokens, vectors, processor time and bytes."""

from __future__ import annotations

import json
import resource
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.losses.child import SECONDS, running
from benchmarks.losses.environments import Environment
from benchmarks.losses.judging import answered
from benchmarks.losses.model import DIMENSION
from benchmarks.losses.peers import Peer
from benchmarks.losses.said import told
from benchmarks.losses.scenarios import Bench
from benchmarks.real_relay import Relay
from memhold.testing.chaos.server import Request
from memhold.text.token_estimate import estimate_tokens

__all__ = ["Cost", "RealCost", "Spent", "measured", "measured_really", "scaled"]

TURNS = 100
"""A turn is two messages: what the user says, and a short answer."""
_SHARE = 1_000 / (2 * TURNS)
_SETTLE = 600.0
"""Seconds that a memory may go on after the last turn: what it does behind its answers is of the cost."""
_PATIENCE = 3_600.0
"""Seconds that a real model on a small machine may take for one answer of a memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """For 1,000 messages, beyond what opening costs.

    `processor` in seconds of all processes, `wait` the median of one write in milliseconds, tokens estimated from the
    requests and replies of chat, `size` in bytes, of which `empty` were there before the first message: a database
    brings them once. `failed` writes came back as errors; not `settled`, work was left after ten minutes.
    """

    calls: int
    tokens_in: int
    tokens_out: int
    embeds: int
    processor: float
    wait: float
    size: int
    empty: int
    failed: int
    settled: bool

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """A peer's processes from start to end: their processor seconds, how long each write took and what it answered."""

    processor: float
    size: int
    waits: Sequence[float]
    failed: Sequence[str | None]
    settled: bool


def measured(place: Bench) -> Cost:
    """One peer's cost over 100 turns of one user, five sessions' worth, written one by one.

    Raises:
        RuntimeError: it could not be opened.
    """
    idle = _spent(place, "idle", ())
    began = len(place.server.requests)
    turns = [_turn(one.request()) for seed in range(5) for one in told(TURNS // 5, seed=seed)]
    busy = _spent(place, "busy", turns)
    return scaled(idle, busy, place.server.requests[began:])


def scaled(idle: Spent, busy: Spent, asked: Sequence[Request]) -> Cost:
    """The cost for 1,000 messages, from what opening alone took and what the turns took. Pure."""
    chats = [one for one in asked if one.path.endswith("/chat/completions")]
    return Cost(
        calls=round(len(chats) * _SHARE),
        tokens_in=round(sum(_tokens_in(one) for one in chats) * _SHARE),
        tokens_out=round(sum(map(_tokens_out, chats)) * _SHARE),
        embeds=round(sum(one.path.endswith("/embeddings") for one in asked) * _SHARE),
        processor=round((busy.processor - idle.processor) * _SHARE, 1),
        wait=round(statistics.median(busy.waits) * 1e3, 1),
        size=idle.size + round((busy.size - idle.size) * _SHARE),
        empty=idle.size,
        failed=sum(map(bool, busy.failed)),
        settled=busy.settled,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RealCost:
    """What a sample of so many `messages` cost with a real model, as its server counts tokens; nothing is scaled.

    `processor` are the seconds that the model's server worked, None where nobody said which process it is; `seconds`
    passed until it answered, on a machine that may do other things; `wait` is the median of one write in milliseconds,
    `size` in bytes. `failed` writes came back as errors, `refused` calls were answered with one by the model's server,
    and of `given_up` nobody waited for the answer: those are in no other figure.
    """

    messages: int
    calls: int
    tokens_in: int
    tokens_out: int
    processor: float | None
    seconds: float
    wait: float
    size: int
    failed: int
    refused: int
    given_up: int

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


def measured_really(
    peer: Peer, environment: Environment, model: str, keep: Path, turns: int, pid: int | None = None
) -> RealCost:
    """One peer's cost over the first turns of those of `measured`, with the model at this base URL.

    `pid` is the process of its server, where it is one of this machine. Replies are kept in `keep` under what was
    asked, and what is asked again word for word costs nothing.
    """
    waits: list[float] = []
    failed: list[str] = []
    said = [_turn(one.request()) for one in told(turns)]
    with (
        tempfile.TemporaryDirectory(prefix="memhold-losses-") as folder,
        Relay(model, keep, dimension=DIMENSION, pid=pid) as relay,
    ):
        store = Path(folder) / "store"
        with running(peer.name, environment, store, relay.url) as child:
            for turn in said:
                began = time.perf_counter()
                kind = answered(child.ask("add", **turn, seconds=_PATIENCE))
                waits.append(time.perf_counter() - began)
                failed += [kind] if kind else []
            child.ask("settle", within=_PATIENCE, seconds=_PATIENCE)
        return RealCost(
            messages=2 * turns,
            calls=len(relay.seconds) + relay.failed,
            tokens_in=sum(relay.read),
            tokens_out=sum(relay.written),
            processor=round(sum(relay.processor), 1) if relay.processor else None,
            seconds=round(sum(relay.seconds), 1),
            wait=round(statistics.median(waits) * 1e3, 1),
            size=_size(store),
            failed=len(failed),
            refused=relay.failed,
            given_up=relay.given_up,
        )


def _turn(request: dict[str, Any]) -> dict[str, Any]:
    reply = {"role": "assistant", "content": "Good to know, I keep that in mind."}
    return request | {"messages": [*request["messages"], reply]}


def _spent(place: Bench, name: str, turns: Sequence[Mapping[str, Any]]) -> Spent:
    before, folder = _children(), place.folder / name
    waits: list[float] = []
    failed: list[str | None] = []
    with place.open(folder=folder) as child:
        if "error" in child.opened:
            raise RuntimeError(f"{place.peer.label}: {child.opened['error']}")
        for turn in turns:
            began = time.perf_counter()
            answer = child.ask("add", **turn)
            waits.append(time.perf_counter() - began)
            failed.append(answered(answer))
        settled = child.ask("settle", within=_SETTLE, seconds=_SETTLE + SECONDS).get("settled", False)
    return Spent(processor=_children() - before, size=_size(folder), waits=waits, failed=failed, settled=bool(settled))


def _size(store: Path) -> int:
    """Bytes of what a memory keeps; the logs of its servers are beside it."""
    files = (path for path in store.rglob("*") if path.is_file())
    return sum(path.stat().st_size for path in files if path.parent != store or path.suffix != ".log")


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _tokens_in(request: Request) -> int:
    body = {name: request.body[name] for name in ("messages", "tools", "response_format") if name in request.body}
    texts = [str(one.get("content") or "") for one in body.pop("messages", ())]
    return sum(map(estimate_tokens, texts)) + (estimate_tokens(json.dumps(body)) if body else 0)


def _tokens_out(request: Request) -> int:
    from benchmarks.losses.model import says
    from memhold.testing.chaos.dialects import asked_of
    from memhold.testing.chaos.replies import answer_to

    asked = asked_of("openai", request.body)
    reply = says(asked) or answer_to(asked)
    return estimate_tokens(reply.text) + sum(estimate_tokens(call.text) for call in reply.calls)
