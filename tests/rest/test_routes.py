"""What HTTP adds to the verbs: ids of others, rights, revisions, keys, pages, limits, and what OpenAPI says of it."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Any

import pytest

from memhold.errors import ScopeDenied
from memhold.ports.maintenance import Readiness
from memhold.ports.models import Tally
from memhold.server import serving
from memhold.server.metrics import Metrics
from tests.rest.serving import OWN, Live, live

JSON = "application/json"
ANY = {"messages": [{"role": "user", "content": "hello"}]}
# Every operation with the right that it needs and a body that is well formed.
OPERATIONS: dict[tuple[str, str], tuple[str | None, Any]] = {
    ("post", "/v1/messages"): ("write", ANY),
    ("get", "/v1/messages"): ("read", None),
    ("get", "/v1/messages/{message_id}"): ("read", None),
    ("delete", "/v1/messages/{message_id}"): ("write", None),
    ("get", "/v1/messages/{message_id}/text"): ("read", None),
    ("get", "/v1/messages/{message_id}/history"): ("read", None),
    ("post", "/v1/sessions/end"): ("write", None),
    ("get", "/v1/sessions/metadata"): ("read", None),
    ("post", "/v1/sessions/metadata"): ("write", {"metadata": {}}),
    ("post", "/v1/sessions/consolidate"): ("write", None),
    ("post", "/v1/memories"): ("write", {"text": "a note"}),
    ("get", "/v1/memories"): ("read", None),
    ("get", "/v1/memories/{memory_id}"): ("read", None),
    ("delete", "/v1/memories/{memory_id}"): ("write", None),
    ("get", "/v1/memories/{item_id}/history"): ("read", None),
    ("post", "/v1/memories/{memory_id}/correct"): ("write", {"value": "x"}),
    ("post", "/v1/memories/{memory_id}/pin"): ("write", None),
    ("post", "/v1/memories/{memory_id}/unpin"): ("write", None),
    ("post", "/v1/forget"): ("write", {"item_id": "{id}"}),
    ("post", "/v1/compact"): ("write", {"dry_run": True}),
    ("post", "/v1/retain"): ("write", {"most": 1}),
    ("get", "/v1/suspicions"): ("read", None),
    ("post", "/v1/suspicions/{suspicion_id}/settle"): ("write", {"verdict": "same"}),
    ("post", "/v1/recall"): ("read", {"query": "hello"}),
    ("post", "/v1/documents/put"): ("write", {"path": ["a"], "content": "x"}),
    ("post", "/v1/documents/read"): ("read", {"path": ["a"]}),
    ("post", "/v1/documents/list"): ("read", {}),
    ("post", "/v1/documents/search"): ("read", {"query": "x"}),
    ("post", "/v1/documents/move"): ("write", {"path": ["a"], "to": ["b"]}),
    ("post", "/v1/documents/delete"): ("write", {"path": ["a"]}),
    ("get", "/v1/summaries"): ("read", None),
    ("post", "/v1/context"): ("read", {}),
    ("get", "/v1/status"): ("read", None),
    ("get", "/v1/sessions"): ("read", None),
    ("post", "/v1/sessions/copy"): ("write", {"to": "s2"}),
    ("post", "/v1/fence"): ("read", {"ids": ["mem_1"], "lines": ["Likes tea"]}),
    ("get", "/v1/scope"): (None, None),
    ("get", "/v1/changes"): ("read", None),
    ("get", "/v1/changes/stream"): ("read", None),
    ("post", "/v1/changes/{change_id}/undo"): ("write", {}),
    ("post", "/v1/changes/{change_id}/dismiss"): ("write", {"place": 0}),
    ("post", "/v1/undo"): ("write", {"actor": "cursor"}),
    ("post", "/v1/memories/{memory_id}/confirm"): ("write", {}),
    ("post", "/v1/memories/last-recalled"): ("read", {"ids": []}),
    ("post", "/v1/memories/{memory_id}/drop"): ("write", {}),
    ("post", "/v1/import"): ("write", None),
    ("get", "/v1/export"): ("read", None),
    ("post", "/v1/admin/settle"): ("admin", {}),
    ("get", "/v1/admin/usage"): ("admin", None),
    ("get", "/v1/admin/models/usage"): ("admin", None),
    ("post", "/v1/admin/residue"): ("admin", {"text": "a word"}),
    ("get", "/v1/admin/doctor"): ("admin", None),
    ("get", "/v1/admin/ready"): ("admin", None),
    ("post", "/v1/admin/reindex"): ("admin", None),
    ("get", "/v1/admin/users"): ("admin", None),
    ("get", "/v1/tokens"): ("admin", None),
    ("post", "/v1/tokens"): ("admin", {"label": "x"}),
    ("delete", "/v1/tokens/{token_id}"): ("admin", None),
    ("post", "/v1/token-exchange"): ("act", None),
}


def filled(path: str, item: str) -> str:
    return re.sub(r"\{\w+\}", item, path)


async def openapi(server: Live) -> Any:
    async with server.client(await server.token(user="alice")) as http:
        return (await http.get("/openapi.json")).json()


async def test_the_table_has_every_operation(server: Live) -> None:
    found = {(method, path) for path, item in (await openapi(server))["paths"].items() for method in item}
    assert found == set(OPERATIONS)


async def test_each_operation_needs_its_right(server: Live) -> None:
    tokens = {right: await server.token([right], user="alice") for right in ("read", "write", "admin")}
    for (method, path), (right, body) in OPERATIONS.items():
        for other, token in tokens.items():
            if right is None or other == right:
                continue
            async with server.client(token) as http:
                answer = await http.request(method, filled(path, "mem_1"), json=body)
            assert answer.status_code == 403, (method, path, other, answer.text)
            assert answer.json()["type"] == "urn:memhold:problem:ScopeDenied"
            assert answer.json()["values"] == {"right": right}


async def test_nothing_is_served_without_a_token(server: Live) -> None:
    async with server.client() as http:
        for (method, path), (_, body) in OPERATIONS.items():
            answer = await http.request(method, filled(path, "mem_1"), json=body)
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="memhold"')
        for path in ("/mcp", "/openapi.json", "/v1/nothing", "/docs/", "/redoc"):
            assert (await http.get(path)).status_code == 401, path


async def test_ids_of_others_are_not_found_on_any_route(server: Live) -> None:
    alice = (await server.opened(user="alice")).scope(user="alice")
    [message] = (await alice.add(ANY["messages"])).ids
    told = await alice.remember(attribute="city", value="Porto")
    ids = {
        "message_id": message,
        "memory_id": told.memory.id,
        "item_id": told.memory.id,
        "change_id": told.receipt.change_ids[0],
        "suspicion_id": "sus_1",
        "token_id": (await server.memhold.admin.tokens.create(namespace="elsewhere")).token.id,
    }
    others = [
        await server.token(user="bob"), await server.token(namespace="other", user="alice"), await server.token(),
        await server.token(user="Alice"),
    ]  # fmt: skip
    for token in others:
        async with server.client(token) as http:
            for (method, path), (_, body) in OPERATIONS.items():
                name = re.search(r"\{(\w+)\}", path)
                if name is None and path != "/v1/forget":
                    continue
                item = told.memory.id if name is None else ids[name[1]]
                sent = {"item_id": item} if name is None else body
                mine = await http.request(method, filled(path, item), json=sent)
                assert mine.status_code == 404, (method, path, mine.text)
                unknown = item[:-4] + "0000"
                sent = {"item_id": unknown} if name is None else body
                nobodys = await http.request(method, filled(path, unknown), json=sent)
                assert mine.text.replace(item, "") == nobodys.text.replace(unknown, "")
    assert (await alice.get(told.memory.id)) == told.memory
    assert (await alice.get(message)).id == message


async def test_the_scope_is_the_tokens_and_nothing_else(server: Live) -> None:
    alice = (await server.opened(user="alice")).scope(user="alice")
    await alice.remember("canary of alice")
    token = await server.token(user="bob")
    tries: list[dict[str, Any]] = [
        {"params": {"user": "alice"}}, {"params": {"namespace": "default", "user": "alice", "agent": "x"}},
        {"headers": {"x-user": "alice", "x-memhold-user": "alice", "x-forwarded-user": "alice"}},
        {"headers": {"x-api-key": "alice"}, "cookies": {"user": "alice"}},
    ]  # fmt: skip
    for asked in tries:
        async with server.client(token, cookies=asked.pop("cookies", None)) as http:
            for path in ("/v1/memories", "/v1/changes", "/v1/export", "/v1/status", "/v1/summaries", "/v1/messages"):
                assert "canary" not in (await http.get(path, **asked)).text
            answer = await http.post("/v1/recall", json={"query": "canary"}, **asked)
            # What looks like a scope in the query is refused, and so is another user; any other header is nothing.
            status = 422 if "params" in asked else 403 if "x-memhold-user" in asked.get("headers", {}) else 200
            assert answer.status_code == status
            assert status != 200 or answer.json()["total"] == 0
    async with server.client(token) as http:
        for name, status in (("user", 403), ("namespace", 422), ("agent", 422)):
            assert (await http.post("/v1/recall", json={"query": "canary", name: "alice"})).status_code == status


async def test_a_client_may_only_ask_for_the_scope_of_its_token(server: Live) -> None:
    async with await server.opened(user="alice", agent="helper") as mem:
        mem.scope(user="alice", agent="helper", session="any")
        for names in (
            {"user": "alice"},
            {"user": "bob", "agent": "helper"},
            {},
            {"namespace": "n", "user": "alice", "agent": "helper"},
        ):
            with pytest.raises(ScopeDenied, match="bound to namespace 'default', user 'alice', agent 'helper'"):
                mem.scope(**names)


async def test_a_memory_is_changed_only_at_the_revision_that_was_read(server: Live) -> None:
    async with server.client(await server.token(user="alice")) as http:
        made = await http.post("/v1/memories", json={"attribute": "city", "value": "Porto"})
        assert (made.status_code, made.headers["etag"]) == (201, '"1"')
        place = f"/v1/memories/{made.json()['memory']['id']}"
        for had in ('"1"', 'W/"1"', '"7", W/"1"', "*"):
            assert (await http.get(place, headers={"if-none-match": had})).status_code == 304
        pinned = await http.post(f"{place}/pin", headers={"if-match": '"1"'})
        assert (pinned.status_code, pinned.headers["etag"]) == (200, '"2"')
        assert (await http.get(place, headers={"if-none-match": '"1"'})).json()["pinned"] is True
        for path, body in (("/unpin", None), ("/correct", {"value": "Lisbon"})):
            late = await http.post(f"{place}{path}", json=body, headers={"if-match": '"1"'})
            assert late.status_code == 412
            problem = late.json()
            assert problem["type"] == "urn:memhold:problem:RevisionConflict"
            assert problem["values"] == {"expected": 1, "actual": 2}
        assert (await http.delete(place, headers={"if-match": '"1"'})).status_code == 412
        assert (await http.get(place)).headers["etag"] == '"2"'
        assert (await http.post(f"{place}/unpin", headers={"if-match": 'W/"2"'})).status_code == 412
        for wrong in ("2", '"x"', '""', '"2", "3"', "W/2"):
            assert (await http.post(f"{place}/unpin", headers={"if-match": wrong})).status_code == 422, wrong
        assert (await http.post(f"{place}/unpin", headers={"if-match": "*"})).status_code == 200
        assert (await http.delete(place, headers={"if-match": '"3"'})).status_code == 200
        assert (await http.get(place)).status_code == 404


async def test_a_key_makes_one_write_of_two(server: Live) -> None:
    async with server.client(await server.token(user="alice")) as http:
        key = {"idempotency-key": "ключ-1".encode()}
        first = await http.post("/v1/messages", json=ANY, headers=key)
        again = await http.post("/v1/messages", json=ANY, headers=key)
        assert (first.status_code, again.status_code) == (201, 200)
        assert (first.json()["replayed"], again.json()["replayed"]) == (False, True)
        assert again.json()["ids"] == first.json()["ids"]
        other = await http.post("/v1/messages", json={"messages": [{"role": "user", "content": "else"}]}, headers=key)
        assert other.status_code == 409
        assert other.json()["type"] == "urn:memhold:problem:IdempotencyConflict"
        assert other.json()["values"] == {"key": "ключ-1"}
        assert len((await http.get("/v1/messages")).json()["items"]) == 1
        told = [
            await http.post("/v1/memories", json={"text": "a note"}, headers={"idempotency-key": "k"}) for _ in "ab"
        ]
        assert told[0].json()["memory"] == told[1].json()["memory"]
        for wrong in ("", "k" * 513, b"\xff"):
            assert (await http.post("/v1/messages", json=ANY, headers={"idempotency-key": wrong})).status_code == 422


async def test_pages_join_to_the_whole(server: Live) -> None:
    async with server.client(await server.token(user="alice")) as http:
        for n in range(7):
            await http.post("/v1/memories", json={"text": f"note {n}"})
        lines = [{"role": "user", "content": f"line {n}"} for n in range(7)]
        await http.post("/v1/messages", params={"session": "a/b ü"}, json={"messages": lines})
        pages: list[tuple[str, dict[str, Any], str, int]] = [
            ("/v1/memories", {}, "cursor", 7), ("/v1/messages", {"session": "a/b ü"}, "after", 7), ("/v1/changes", {}, "after", 8),
        ]  # fmt: skip
        for path, query, name, count in pages:
            seen, asked = [], {**query, "limit": 3}
            while True:
                page = (await http.get(path, params=asked)).json()
                seen += [item["id"] for item in page["items"]]
                assert len(page["items"]) <= 3
                if page["cursor"] is None or page.get("more") is False:
                    break
                asked[name] = page["cursor"]
            assert len(set(seen)) == len(seen) == count, path
        assert (await http.get("/v1/memories", params={"states": "superseded,retracted"})).json()["items"] == []
        assert (await http.get("/v1/memories", params={"kinds": ""})).json()["items"] == []
        assert (
            len((await http.get("/v1/memories", params={"states": "any", "kinds": "note,fact"})).json()["items"]) == 7
        )


async def test_bodies_are_bounded_and_must_be_json(server: Live) -> None:
    async with server.client(await server.token(user="alice")) as http:
        deep = "[" * 100_000 + "]" * 100_000
        bodies: list[tuple[bytes, dict[str, str], set[int]]] = [
            (b"{", {"content-type": JSON}, {422}), (b"\xff\xfe", {"content-type": JSON}, {422}), (b"", {"content-type": JSON}, {422}),
            (b'{"messages": ' + deep.encode() + b"}", {"content-type": JSON}, {413}), (b'{"messages": [NaN]}', {"content-type": JSON}, {422}),
            (b'{"messages": ' + b"9" * 5000 + b"}", {"content-type": JSON}, {422}), (b"role=user", {"content-type": "text/plain"}, {422}),
            (b'{"messages": []}', {}, {422}), (b"null", {"content-type": JSON}, {422}), (b"[]", {"content-type": JSON}, {422}),
        ]  # fmt: skip
        for body, headers, wanted in bodies:
            answer = await http.post("/v1/messages", content=body, headers=headers)
            assert answer.status_code in wanted, (body[:40], answer.text)
            assert answer.headers["content-type"] == "application/problem+json"
        huge = await http.post("/v1/messages", content=b"x" * (17 * 1024 * 1024), headers={"content-type": JSON})
        assert huge.status_code == 413


async def test_what_is_no_route_is_a_problem_too(server: Live) -> None:
    async with server.client(await server.token(user="alice")) as http:
        for method, path, status, detail in (
            ("GET", "/v1/nothing", 404, "nothing answers here; /docs lists what does"),
            ("PUT", "/v1/memories", 405, "this path takes GET, POST; /docs tells of each"),
            ("GET", "/v1/recall", 405, "this path takes POST; /docs tells of each"),
            ("GET", "/v1", 404, "nothing answers here; /docs lists what does"),
            ("POST", "/v1/recall?query=tea", 422, "takes its arguments in the body, as JSON; the query names 'query'"),
        ):
            answer = await http.request(method, path)
            assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
            assert detail in answer.json()["detail"]
        said = {"messages": [{"role": "user", "content": "x"}], "session": "s"}
        astray = await http.post("/v1/messages", json=said)
        assert astray.json()["detail"] == "add takes the session in the query: /v1/messages?session=NAME"
        assert [(await http.head(path)).status_code for path in ("/", "/docs")] == [200, 200]
        mixed = await http.get("/v1/memories/msg_0190")
        assert (mixed.status_code, mixed.json()["type"]) == (422, "urn:memhold:problem:WrongKind")
        assert (await http.get("/v1/status", headers={"x-request-id": "mine-1"})).headers["x-request-id"] == "mine-1"
        ids = {(await http.get("/v1/status")).headers["x-request-id"] for _ in range(3)}
        assert len(ids) == 3


async def test_an_agents_changes_tell_nothing_of_another_agents(server: Live) -> None:
    one, two = [
        (await server.opened(user="alice", agent=name)).scope(user="alice", agent=name, session="s")
        for name in ("one", "two")
    ]
    await one.remember("canary note")
    await one.add({"role": "user", "content": "canary said"})
    mine = await two.remember("of two")
    found = await two.changes()
    assert [change.id for change in found.items] == list(mine.receipt.change_ids)
    whole = (await server.opened(user="alice")).scope(user="alice")
    every = await whole.changes()
    assert len(every.items) == 3
    assert found.cursor == every.cursor == every.items[-1].seq
    assert (await two.changes(after=found.cursor)).items == ()


async def test_the_openapi_shows_examples_and_problems(server: Live) -> None:
    said = await openapi(server)
    for path, item in said["paths"].items():
        for method, operation in item.items():
            assert operation["summary"], path
            named = {one["name"] for one in operation.get("parameters", ())}
            assert ("X-Memhold-User" in named) is ("admin" not in operation["tags"]), (method, path)
            assert {"401", "403", "404", "422", "429"} <= set(operation["responses"]), path
            body = operation.get("requestBody", {}).get("content", {}).get(JSON)
            assert body is None or body["examples"], (method, path)
            good = next(found for code, found in operation["responses"].items() if code.startswith("2"))
            assert good["content"], (method, path)
    schemas = said["components"]["schemas"]
    assert schemas["ProblemDetails"]["required"] == ["type", "title", "status", "detail"]
    assert {"line", "why"} <= schemas["Problem"]["properties"].keys()  # of an import


async def test_the_examples_are_accepted(server: Live) -> None:
    said = await openapi(server)
    service = await server.token((*OWN, "act"))
    async with server.client(await server.token(user="alice")) as http:
        tried = 0
        for path, item in said["paths"].items():
            for method, operation in item.items():
                examples = operation.get("requestBody", {}).get("content", {}).get(JSON, {}).get("examples", {})
                for name, example in examples.items():
                    if "{" in path or name == "one":
                        continue
                    more = {"authorization": f"Bearer {service}"} if name == "of_a_service" else {}
                    answer = await http.request(method, path, json=example["value"], headers=more)
                    assert answer.is_success, (path, name, answer.text)
                    tried += 1
        assert tried >= 8


async def test_metrics_and_health_name_nobody(server: Live) -> None:
    alice = (await server.opened(namespace="acme-canary", user="alice-canary")).scope(
        namespace="acme-canary", user="alice-canary", session="s-canary"
    )
    told = await alice.remember("note-canary")
    await alice.get(told.memory.id)
    async with server.client() as http:
        text = (await http.get("/metrics")).text
        assert "canary" not in text
        assert told.memory.id not in text
        assert 'memhold_http_requests_total{method="GET",route="/v1/memories/{memory_id}",status="200"} 1.0' in text
        assert "memhold_store_takes_writes 1.0" in text
        assert "process_resident_memory_bytes" in text
        assert (await http.get("/healthz")).json() == {"status": "alive"}
        ready = await http.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "ready")
        server.made.streams.end()
        assert (await http.get("/readyz")).status_code == 503


async def test_a_person_finds_what_this_is_and_every_operation(server: Live) -> None:
    said = await openapi(server)
    async with server.client() as http:
        for path in ("/", "/docs"):
            page = await http.get(path)
            assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
            # Nothing is loaded from anywhere, and nothing runs.
            assert page.headers["content-security-policy"].startswith("default-src 'none'; style-src 'unsafe-inline'")
            assert not re.search(r"<script|<img|<link|https?://|\ssrc=|\son\w+=", page.text)
        first, docs = (await http.get("/")).text, page.text
    assert "durable memory for AI agents" in first
    linked = set(re.findall(r'href="([^"]+)"', first))
    assert linked == {"/docs", "/ui", "/openapi.json", "/mcp", "/healthz", "/readyz"}
    operations = [one["operationId"] for item in said["paths"].values() for one in item.values()]
    assert re.findall(r'<details id="([^"]+)">', docs)
    assert sorted(re.findall(r'<details id="([^"]+)">', docs)) == sorted(operations)
    assert "<td><code>query</code></td><td>body" in docs
    assert re.search(r'(?s)id="add_messages">.*?Answers [0-9, ]*201[0-9, ]*;', docs)


async def test_metrics_tell_of_budgets_caches_and_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "RATE_BURST", 2)
    async with live(settings={"rate_per_second": 1e-6}) as server:
        async with server.client(await server.token(user="alice")) as http:
            told = {"messages": [{"role": "user", "content": "tea"}]}
            assert (await http.post("/v1/messages", json=told)).status_code == 201
            assert (await http.post("/v1/recall", json={"query": "tea"})).status_code == 200
            assert (await http.get("/v1/status")).status_code == 429
        async with server.client() as http:
            text = (await http.get("/metrics")).text
    assert 'memhold_budget_refusals_total{budget="requests"} 1.0' in text
    assert 'memhold_budget_refusals_total{budget="work"} 0.0' in text
    [cached] = re.findall(r"^memhold_cache_bytes (\S+)$", text, re.MULTILINE)
    assert float(cached) > 0
    day = date(2026, 11, 22)
    tallies = [
        Tally(day=day, model="m", purpose="consolidate", calls=3, answered=2, input_tokens=100, nanousd=1_500_000_000),
        Tally(day=day + timedelta(days=1), model="m", purpose="consolidate", calls=1, answered=1, output_tokens=7),
    ]
    shown = Metrics().text(Readiness(writes=True), streams=0, usage=tallies).decode()
    for line in (
        'memhold_model_calls_total{model="m",purpose="consolidate"} 4.0',
        'memhold_model_calls_failed_total{model="m",purpose="consolidate"} 1.0',
        'memhold_model_tokens_total{model="m",purpose="consolidate",way="in"} 100.0',
        'memhold_model_tokens_total{model="m",purpose="consolidate",way="out"} 7.0',
        'memhold_model_cost_usd_total{model="m",purpose="consolidate"} 1.5',
    ):
        assert line in shown
