"""What one caller may cost the others: bodies by route, values in a body, bytes and processor time of a token."""

from __future__ import annotations

import asyncio
import json
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhold.server.guard import Guard, GuardRules
from memhold.server.guard_rules import BodyLimits, Rate, RateLimits, allowed_hosts
from memhold.server.loop_watch import GOAL_SECONDS, LoopWatch
from memhold.server.request_cost import MOST_VALUES, Cost, JsonValues, MeteredThreads, metered
from memhold.server.serving import body_limits
from memhold.values.principal import Principal
from memhold.values.records import Scope
from tests.identity.asgi import ask, echo
from tests.interfaces.conftest import process
from tests.rest.test_serve_process import _secret, running

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.sampled_from('a"\\,[{}]é\n'), max_size=8),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(st.sampled_from('k"\\,'), max_size=3), inner, max_size=5),
    max_leaves=30,
)  # fmt: skip


def marks(value: Any) -> int:
    """The commas and opening brackets of a value as JSON, by walking it."""
    if not isinstance(value, dict | list):
        return 0
    inner = list(value.values()) if isinstance(value, dict) else value
    return 1 + max(0, len(inner) - 1) + sum(map(marks, inner))


@given(JSON, st.lists(st.integers(0, 400), max_size=6), st.booleans())
def test_values_are_counted_in_any_pieces(value: Any, cuts: list[int], ascii_only: bool) -> None:  # noqa: FBT001
    raw = json.dumps(value, ensure_ascii=ascii_only).encode()
    places = sorted({0, len(raw), *(min(cut, len(raw)) for cut in cuts)})
    counted = JsonValues()
    for begin, end in pairwise(places):
        counted.add(raw[begin:end])
    assert counted.count == marks(value)


def test_the_routes_take_what_they_need() -> None:
    limits = body_limits()
    assert limits.of("POST", "/v1/whatever/comes/later") == 64 * 1024
    assert limits.of("POST", "/v1/recall") == limits.of("POST", "/v1/context") == 16 * 1024 * 1024
    assert limits.of("POST", "/v1/messages") == limits.of("POST", "/mcp") == 16 * 1024 * 1024
    assert limits.of("POST", "/v1/memories/mem_1/correct") == 2 * 1024 * 1024
    assert limits.of("POST", "/v1/import") == 1024**3
    assert limits.of("DELETE", "/v1/memories/mem_1") == limits.of("GET", "/v1/messages") == 64 * 1024


class Ticks:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_the_work_of_a_request_is_its_own() -> None:
    """Its steps count and those of threads that it asks; not the waiting, and not what others do meanwhile."""
    ticks, cost, other = Ticks(), Cost(), Cost()
    gate = asyncio.Event()

    async def works(seconds: float) -> str:
        ticks.now += seconds
        await gate.wait()
        ticks.now += seconds
        return "done"

    first = asyncio.ensure_future(outside(metered(works(1.0), cost, clock=ticks)))
    second = asyncio.ensure_future(outside(metered(works(10.0), other, clock=ticks)))
    await asyncio.sleep(0)
    ticks.now += 100.0
    gate.set()
    assert [await first, await second] == ["done", "done"]
    assert (cost.seconds, other.seconds) == (2.0, 20.0)


async def outside(work: Any) -> Any:
    return await work


async def test_errors_and_cancellation_go_through() -> None:
    async def fails() -> None:
        await asyncio.sleep(0)
        raise KeyError("x")

    with pytest.raises(KeyError):
        await metered(fails(), Cost())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await metered(asyncio.Event().wait(), Cost())


async def test_the_work_of_threads_counts() -> None:
    cost = Cost()
    asyncio.get_running_loop().set_default_executor(MeteredThreads(1))

    def spins() -> int:
        return sum(range(300_000))

    async def asks() -> int:
        return await asyncio.to_thread(spins)

    free = Cost()
    await asyncio.to_thread(spins)
    await metered(asks(), cost)
    assert free.seconds == 0.0
    assert cost.seconds > 0.0
    assert threading.active_count() >= 2


def test_a_bucket_can_be_owed_and_fills_again() -> None:
    ticks = Ticks()
    limits = RateLimits(Rate(per_second=0.5, burst=2), ticks)
    limits.charge("a", 4.0)
    assert limits.wait("a") == 6.0
    assert limits.wait("b") == 0.0
    ticks.now = 6.0
    assert limits.wait("a") == 0.0


def guarded(app: Any, ticks: Ticks, **rules: Any) -> Guard:
    async def authenticate(bearer: str) -> Principal:
        return Principal(scope=Scope(user=bearer), rights=frozenset({"read", "write"}), token=bearer)

    given = {"hosts": allowed_hosts("127.0.0.1"), **rules}
    return Guard(app, rules=GuardRules(**given), authenticate=authenticate, clock=ticks)


async def test_bytes_are_a_budget_of_the_token() -> None:
    ticks = Ticks()
    app = guarded(echo, ticks, bytes_rate=Rate(per_second=1.0, burst=2), bodies=BodyLimits(others=4 * 1024 * 1024))
    body = [b" " * (3 * 1024 * 1024)]
    assert (await ask(app, method="POST", token="alice", chunks=body)).status == 200
    refused = await ask(app, method="POST", token="alice")
    assert (refused.status, refused.headers["retry-after"]) == (429, "2")
    assert (await ask(app, method="POST", token="bob")).status == 200
    ticks.now = 2.0
    assert (await ask(app, method="POST", token="alice")).status == 200


async def test_processor_time_is_a_budget_of_the_token() -> None:
    ticks = Ticks()

    async def busy(scope: Any, receive: Any, send: Any) -> None:
        total = 0
        while total < 2_000_000:
            total += 1
        await echo(scope, receive, send)

    app = guarded(busy, ticks, work_rate=Rate(per_second=1e-9, burst=1))
    assert (await ask(app, token="alice")).status == 200
    assert (await ask(app, token="alice")).status == 429
    assert (await ask(app, token="bob")).status == 200


async def test_a_crowded_body_is_refused_before_it_is_read() -> None:
    app = guarded(echo, Ticks(), bodies=BodyLimits(files=frozenset({"/v1/import"})))
    crowd = [b"[" + b"[]," * (MOST_VALUES // 4), b"[]," * (MOST_VALUES // 4 + 10)]
    refused = await ask(app, "/v1/messages", method="POST", token="alice", chunks=crowd)
    assert (refused.status, refused.json["values"]["limit"]) == (413, MOST_VALUES)
    text = [json.dumps(['a, [b], {c} \\ " ' * 40_000]).encode()]
    assert (await ask(app, "/v1/messages", method="POST", token="alice", chunks=text)).status == 200
    assert (await ask(app, "/v1/import", method="POST", token="alice", chunks=crowd)).status == 200


def test_the_watch_remembers_the_worst() -> None:
    watch = LoopWatch()
    for late in (0.001, GOAL_SECONDS * 3, GOAL_SECONDS / 2):
        watch.seen(late)
    assert (watch.longest, watch.over_goal) == (GOAL_SECONDS * 3, 1)


def test_one_request_does_not_stop_the_server_for_all(tmp_path: Path) -> None:
    """Bodies that held the loop for seconds, on a real server; how long it was held at worst is printed."""
    database = ("--db", str(tmp_path / "memory.db"))
    token = _secret(json.loads(process("token", "create", *database, "--user", "alice", "--json").stdout))
    keys = "{" + ",".join(f'"k{n}":1' for n in range(900_000)) + "}"
    attacks = (
        ("/v1/recall", keys, 413),
        ("/v1/recall", "{" + keys[1:60_000].rpartition(",")[0] + "}", 422),
        ("/v1/messages?session=a", keys, 413),
        ("/v1/messages?session=a", '{"messages":[' + "1," * 2_000_000 + "1]}", 413),
        ("/v1/messages?session=a", '{"messages":[' + "1," * 9_000 + "1]}", 422),
        ("/v1/messages?session=a", json.dumps({"messages": [{"role": "user", "content": " ".join(f"q{n}" for n in range(140_000))}]}), 201),
        ("/v1/messages?session=a", json.dumps({"messages": [{"role": "user", "content": "." * 1_000_000 + "x"}]}), 201),
        ("/v1/messages?session=a", json.dumps({"messages": [{"role": "user", "content": "a" + "\u0301\u0327" * 40_000}]}), 201),
        ("/v1/recall", json.dumps({"query": "." * 9_999 + "x"}), 200),
        ("/v1/context?session=z", json.dumps({"messages": [{"role": "user", "content": "." * 40_000 + "x"}], "budget": 4000}), 200),
    )  # fmt: skip
    with running(tmp_path) as server:
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        with httpx2.Client(base_url=server.url, trust_env=False, timeout=60, headers=headers) as http:
            for path, body, status in attacks:
                answer = http.post(path, content=body.encode())
                assert answer.status_code == status, (path, body[:80], answer.text[:300])
                assert answer.status_code < 400 or len(answer.content) < 20_000
            assert http.get("/healthz").status_code == 200
        server.child.terminate()
        assert server.ended() == 0
        held = server.logged("the longest hold")[0]
        print(f"longest hold of the event loop: {held['longest_seconds']} s; over the goal {held['over_goal']} times")
