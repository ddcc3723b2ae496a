"""What was tried on the whole server from outside, and once got through."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from memhold.server.routing import READY_SECONDS

from .asgi import HOST, ask
from .whole import Tenant, Whole, whole


@pytest_asyncio.fixture
async def server() -> AsyncIterator[Whole]:
    async with whole("memory://") as made:
        yield made


@pytest_asyncio.fixture
async def alice(server: Whole) -> Tenant:
    return await server.tenant("alice", "acme", "alice", rights=("read", "write"))


@pytest.mark.parametrize("path", ["/metrics", "/metrics/", "/metrics//", "//metrics", "/metrics/.", "/Metrics"])
async def test_no_spelling_of_the_path_opens_metrics_to_a_token_without_the_right(
    server: Whole, alice: Tenant, path: str
) -> None:
    answer = await ask(server.app, path, token=alice.token, client=("203.0.113.9", 50000), host=HOST)
    assert answer.status in {403, 404}
    assert b"memhold_" not in answer.body


async def test_a_server_that_began_open_asks_for_tokens_once_there_is_one() -> None:
    async with whole("memory://", shut=False) as open_server:
        assert (await open_server.call("GET", "/v1/status")).status == 200
        made = await open_server.tenant("first", "acme", "alice")
        assert (await open_server.call("GET", "/v1/status")).status == 401
        assert (await open_server.call("GET", "/v1/status", made.token)).status == 200


@pytest.mark.parametrize("raw", [b"{", b"\xff", b"[" * 100_000, b"[]", b"null", b'{"policy": 5}', b'{"text": 5}'])
@pytest.mark.parametrize(("method", "path"), [("POST", "/forget"), ("PATCH", "/r1")])
async def test_a_compatible_route_never_breaks_on_a_body(
    server: Whole, alice: Tenant, method: str, path: str, raw: bytes
) -> None:
    await server.call("POST", "/v1/long-term-memory/", alice.token, {"memories": [{"id": "r1", "text": "harbour"}]})
    answer = await server.call(method, f"/v1/long-term-memory{path}", alice.token, raw)
    assert answer.status in {400, 413, 422}, answer.body


@pytest.mark.parametrize(
    "filters",
    [
        {"topics": {"all": "x"}}, {"topics": {"any": 5}}, {"topics": {"any": [5]}}, {"topics": {"eq": None}},
        {"entities": {"none": "x"}}, {"entities": {"eq": 5}}, {"memory_type": {"eq": {}}}, {"memory_type": {"any": 5}},
        {"memory_type": {"in_": [5]}}, {"created_at": {"gt": 5}}, {"user_id": {"eq": 5}}, {"session_id": {"in_": 5}},
        {"tenant": {"eq": "x"}}, {"memory_hash": {"eq": "x"}},
    ],
    ids=str,
)  # fmt: skip
async def test_a_filter_of_a_compatible_search_is_carried_out_or_refused(
    server: Whole, alice: Tenant, filters: dict[str, Any]
) -> None:
    await server.call("POST", "/v1/long-term-memory/", alice.token, {"memories": [{"id": "r1", "text": "harbour"}]})
    answer = await server.call("POST", "/v1/long-term-memory/search", alice.token, {"text": "harbour", **filters})
    assert answer.status == 422, answer.body


@pytest.mark.parametrize(
    "asked",
    [
        {"long_term_search": {"user_id": {"in": ["bob"]}}}, {"long_term_search": {"tenant": "x"}},
        {"session": {"context_window_max": "many"}}, {"session": {"context_window_max": [1]}},
        {"session": {"user_id": {}}}, {"session": {"namespace": []}}, {"session": {"session_id": 5}},
    ],
    ids=str,
)  # fmt: skip
async def test_a_compatible_prompt_refuses_what_it_cannot_carry_out(
    server: Whole, alice: Tenant, asked: dict[str, Any]
) -> None:
    answer = await server.call("POST", "/v1/memory/prompt", alice.token, {"query": "harbour", **asked})
    assert answer.status == 422, answer.body


@pytest.mark.parametrize("narrowed", [{"topics": {"any": ["none"]}}, {"session_id": {"eq": "none"}}], ids=str)
async def test_a_compatible_prompt_brings_what_its_filters_let_through(
    server: Whole, alice: Tenant, narrowed: dict[str, Any]
) -> None:
    await server.call(
        "POST", "/v1/long-term-memory/", alice.token, {"memories": [{"id": "r1", "text": "harbour pilot"}]}
    )
    for filters, there in (({}, True), (narrowed, False)):
        asked = {"query": "harbour", "long_term_search": filters}
        answer = await server.call("POST", "/v1/memory/prompt", alice.token, asked)
        assert answer.status == 200, answer.body
        assert ("harbour pilot" in str(answer.json["messages"])) is there


async def test_a_time_at_the_end_of_the_calendar_is_refused(server: Whole, alice: Tenant) -> None:
    late = {"id": "5", "text": "x", "event_date": "9999-12-31T23:59:59-14:00"}
    answer = await server.call("POST", "/v1/long-term-memory/", alice.token, {"memories": [late]})
    assert answer.status == 422, answer.body


async def test_puts_that_overlap_store_each_message_once(server: Whole, alice: Tenant) -> None:
    def put(first: int, last: int) -> Any:
        messages = [{"id": f"m{n}", "role": "user", "content": f"turn {n}"} for n in range(first, last)]
        return server.call("PUT", "/v1/working-memory/s", alice.token, {"messages": messages})

    answers = await asyncio.gather(*(put(0, last) for last in range(1, 12)), *(put(first, 12) for first in range(6)))
    assert {answer.status for answer in answers} == {200}
    held = (await server.call("GET", "/v1/working-memory/s", alice.token)).json["messages"]
    assert sorted(one["id"] for one in held) == sorted(f"m{n}" for n in range(12))


async def test_one_put_cannot_say_two_things_under_one_id(server: Whole, alice: Tenant) -> None:
    twice = [{"id": "7", "role": "user", "content": "same"}, {"id": "7", "role": "user", "content": "other"}]
    assert (await server.call("PUT", "/v1/working-memory/s", alice.token, {"messages": twice})).status == 422
    assert (await server.call("GET", "/v1/working-memory/s", alice.token)).json["messages"] == []
    assert (await server.call("PUT", "/v1/working-memory/s", alice.token, {"messages": twice[:1] * 2})).status == 200
    assert len((await server.call("GET", "/v1/working-memory/s", alice.token)).json["messages"]) == 1


async def test_a_parameter_that_is_not_known_is_refused_and_not_passed_over(server: Whole, alice: Tenant) -> None:
    told = (await server.call("POST", "/v1/memories", alice.token, {"text": "x y z"})).json["memory"]["id"]
    reads = ["memories", "messages", "status", "changes", "export", "summaries", "suspicions", f"memories/{told}"]
    for method, path in [("DELETE", f"memories/{told}"), *(("GET", path) for path in reads)]:
        for name in ("user", "namespace", "dryrun", "access_token"):
            answer = await server.call(method, f"/v1/{path}", alice.token, **{name: "x"})
            assert (answer.status, name in answer.json["detail"]) == (422, True), (method, path, name)
    assert (await server.call("GET", f"/v1/memories/{told}", alice.token)).status == 200


async def test_whoever_asks_for_readiness_often_does_not_write_often(server: Whole) -> None:
    before = server.memhold.admin
    asked = 0

    class Counted:
        async def ready(self) -> Any:
            nonlocal asked
            asked += 1
            return await before.ready()

    server.front._admin = Counted  # type: ignore[assignment]
    moment = 100.0
    server.front._clock = lambda: moment
    for _ in range(2):
        answers = await asyncio.gather(*(ask(server.app, "/readyz") for _ in range(50)))
        assert {answer.status for answer in answers} == {200}
    assert asked == 1
    moment += READY_SECONDS
    await ask(server.app, "/readyz")
    assert asked == 2


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD", "TRACE"])
async def test_mcp_holds_no_stream_open_for_whoever_asks(server: Whole, alice: Tenant, method: str) -> None:
    """A stream that never says anything would hold a connection, and a stop, for as long as its client likes."""
    accept = {"accept": "application/json, text/event-stream"}
    async with asyncio.timeout(60):
        answer = await server.call(method, "/mcp", alice.token, headers=accept)
    assert (answer.status, answer.headers["allow"]) == (405, "POST")


async def test_an_admin_of_one_namespace_rebuilds_and_counts_no_other(server: Whole, alice: Tenant) -> None:
    other = await server.tenant("boss", "other", "boss")
    await server.call("POST", "/v1/memories", alice.token, {"text": "of acme"})
    await server.call("POST", "/v1/memories", other.token, {"text": "of another"})
    answer = await server.call("POST", "/v1/admin/reindex", other.token, {})
    assert (answer.json["scopes"], answer.json["documents"]) == (1, 1)


async def test_an_admin_of_one_namespace_does_the_work_of_no_other(server: Whole, alice: Tenant) -> None:
    other = await server.tenant("boss", "other", "boss")
    for who in (alice, other):
        await server.call("POST", "/v1/memories", who.token, {"text": "has a vector to come"})

    async def due(who: Tenant) -> int:
        return sum((await server.call("GET", "/v1/status", who.token)).json["due"].values())

    before = await due(alice)
    assert min(before, await due(other)) > 0
    answer = await server.call("POST", "/v1/admin/settle", other.token, {"timeout": 20})
    assert (answer.json, await due(other), await due(alice)) == ({"settled": True}, 0, before)
