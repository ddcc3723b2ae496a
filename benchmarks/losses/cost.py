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

__all__ = ["Cost", "RealCost", "measured", "measured_really"]

TURNS = 100
"""A turn is two messages: what the user says, and a short answer."""
_SHARE = 1_000 / (2 * TURNS)
_PATIENCE = 3_600.0
"""Seconds that a real model on a small machine may take for one answer of a memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """For 1,000 messages, beyond what opening costs.

    `processor` in seconds of all processes, `wait` the median of one write in milliseconds, tokens estimated from the
    requests and replies of chat, `size` in bytes.
    """

    calls: int
    tokens_in: int
    tokens_out: int
    embeds: int
    processor: float
    wait: float
    size: int
    failed: int

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


def measured(place: Bench) -> Cost:
    """One peer's cost over 100 turns of one user, five sessions' worth, written one by one."""
    idle = _processor(place, ())
    began = len(place.server.requests)
    turns = [_turn(one.request()) for seed in range(5) for one in told(TURNS // 5, seed=seed)]
    waits: list[float] = []
    failed: list[str] = []
    busy = _processor(place, turns, waits, failed)
    asked = place.server.requests[began:]
    chats = [one for one in asked if one.path.endswith("/chat/completions")]
    size = sum(path.stat().st_size for path in (place.folder / "busy").rglob("*") if path.is_file())
    return Cost(
        calls=round(len(chats) * _SHARE),
        tokens_in=round(sum(_tokens_in(one) for one in chats) * _SHARE),
        tokens_out=round(sum(map(_tokens_out, chats)) * _SHARE),
        embeds=round(sum(one.path.endswith("/embeddings") for one in asked) * _SHARE),
        processor=round((busy - idle) * _SHARE, 1),
        wait=round(statistics.median(waits) * 1e3, 1),
        size=round(size * _SHARE),
        failed=len(failed),
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
            size=sum(path.stat().st_size for path in store.rglob("*") if path.is_file()),
            failed=len(failed),
            refused=relay.failed,
            given_up=relay.given_up,
        )


def _turn(request: dict[str, Any]) -> dict[str, Any]:
    reply = {"role": "assistant", "content": "Good to know, I keep that in mind."}
    return request | {"messages": [*request["messages"], reply]}


def _processor(
    place: Bench, turns: Sequence[Mapping[str, Any]], waits: list[float] | None = None, failed: list[str] | None = None
) -> float:
    """Processor seconds of a peer's processes from start to end."""
    before = _children()
    with place.open(folder=place.folder / ("busy" if turns else "idle")) as child:
        for turn in turns:
            began = time.perf_counter()
            answer = child.ask("add", **turn)
            if waits is not None:
                waits.append(time.perf_counter() - began)
            if failed is not None and (kind := answered(answer)):
                failed.append(kind)
        child.ask("settle", within=90.0, seconds=SECONDS)
    return _children() - before


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
