"""Nobody reads or changes another's memory: the patterns that released products failed by, and canaries everywhere."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from memhold import Memhold
from memhold.cli.main import main
from memhold.faces.rest.docs_pages import DOCS
from memhold.faces.ui.browser import ENTER
from memhold.server.guard import OPEN_PATHS

from .asgi import Answer
from .test_redaction import files_with
from .whole import Tenant, Whole, fill, whole


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[Whole]:
    async with whole(str(tmp_path / "memory.db")) as made:
        yield made


@pytest_asyncio.fixture
async def alice(server: Whole) -> Tenant:
    made = await server.tenant("alice", "acme", "alice")
    await fill(server, made)
    return made


@pytest_asyncio.fixture
async def mallory(server: Whole) -> Tenant:
    return await server.tenant("mallory", "acme", "mallory")


def bodies(ids: dict[str, str], session: str) -> list[Any]:
    """Bodies for any POST: empty, and what names the ids and the session of somebody else."""
    text = {
        "text": "harbour",
        "query": "harbour",
        "messages": [{"role": "user", "content": "harbour"}],
        "value": "taken",
    }
    return [{}, text, {"text": "harbour", "session": session}, {"id": ids.get("memory_id"), "dry_run": True}, ids,
            {"value": "taken"}, {"session": {"session_id": session}, "query": "harbour"}, {"verdict": "same"},
            {"messages": [{"role": "user", "content": "mine"}]}]  # fmt: skip


_BODIES: dict[tuple[str, str], list[Any]] = {
    ("POST", "/v1/forget"): [{"topics": ["shared"], "dry_run": True}],
    ("POST", "/v1/admin/reindex"): [None],
    ("POST", "/v1/admin/settle"): [{"timeout": 0.01}],
}


async def sweep(server: Whole, token: str | None, ids: dict[str, str], session: str) -> list[tuple[str, Answer]]:
    """Ask every route there is, with somebody's ids and session wherever one can stand."""
    answers = []
    for method, path in server.routes():
        if path == "/v1/changes/stream" and token is not None:
            continue  # it ends with its reader; the pages of /v1/changes give the same
        for key, value in ids.items():
            path = path.replace("{" + key + "}", value)  # noqa: PLW2901 - the same path, filled
        path = path.replace("{session_id}", session).replace("{rest:path}", "").replace("{suspicion_id}", "sus_x")  # noqa: PLW2901
        written = bodies(ids, session) if method in {"POST", "PUT", "PATCH"} else [None]
        given = _BODIES.get((method, path), written)
        answers += [
            (f"{method} {path}", await server.call(method, path, token, body, **query))
            for body in given
            for query in ([{}, {"session": session, "query": "harbour"}] if body is None else [{"session": session}])
        ]
    return answers


# ------------------------------------------------------------------------------------------------ the patterns


async def test_rest_hardened_and_mcp_left_open(server: Whole, alice: Tenant, mallory: Tenant) -> None:
    reader = await server.tenant("reader", "acme", "alice", rights=["read"])
    for method in ("tools/list", "tools/call", "resources/list", "prompts/list", "initialize"):
        for token in (None, "mh_wrong", mallory.token[:-1] + "x"):
            answer = await server.rpc(token, {"jsonrpc": "2.0", "id": 1, "method": method, "params": {}})
            assert answer.status == 401
    found = await server.tool("recall", mallory.token, query="harbour")
    assert alice.canary not in found.body.decode()
    own = await server.tool("recall", reader.token, query="harbour")
    assert alice.canary in own.body.decode()
    refused = await server.tool("remember", reader.token, text="written with a token that may only read")
    assert "error" in refused.json or refused.json["result"]["isError"]
    assert "may only read" not in (await server.call("GET", "/v1/memories", alice.token)).body.decode()


async def test_a_filter_is_never_accepted_and_ignored(server: Whole, alice: Tenant) -> None:
    whole_answer = await server.call("POST", "/v1/recall", alice.token, {"query": "harbour", "limit": 50})
    assert whole_answer.json["total"] >= 2
    matches_nothing: list[dict[str, Any]] = [
        {"kinds": ["summary"]}, {"states": ["retracted"]}, {"tiers": ["mid"], "kinds": ["message"]},
        {"roles": ["system"], "kinds": ["message"]}, {"session": "none"}, {"topics": ["none"]}, {"entities": ["none"]},
        {"metadata": {"m": "none"}}, {"metadata": {"none": 1}}, {"since": "2990-01-01T00:00:00Z"},
        {"until": "1990-01-01T00:00:00Z"}, {"as_of": "1990-01-01T00:00:00Z"}, {"known_at": "1990-01-01T00:00:00Z"},
    ]  # fmt: skip
    for filters in matches_nothing:
        answer = await server.call("POST", "/v1/recall", alice.token, {"query": "harbour", **filters})
        assert (answer.status, answer.json["hits"]) == (200, []), filters
    other = await server.call("POST", "/v1/recall", alice.token, {"query": "harbour", "user": "x"})
    assert other.status == 403
    for name in ("namespace", "user_id", "agent", "filter", "where", "tenant", "topic"):
        answer = await server.call("POST", "/v1/recall", alice.token, {"query": "harbour", name: "x"})
        assert answer.status == 422, name
    compatible = [
        {"session_id": {"eq": "none"}}, {"topics": {"any": ["none"]}}, {"entities": {"all": ["none"]}},
        {"memory_type": {"eq": "message"}}, {"created_at": {"gte": "2990-01-01T00:00:00Z"}},
    ]  # fmt: skip
    for filters in compatible:
        answer = await server.call("POST", "/v1/long-term-memory/search", alice.token, {"text": "record", **filters})
        assert (answer.status, answer.json["memories"]) == (200, []), filters


async def test_a_missing_scope_means_nobody_and_not_everybody(server: Whole, alice: Tenant) -> None:
    for namespace in ("acme", "default"):
        nobody = await server.tenant("nobody", namespace, None)
        for _, answer in await sweep(server, nobody.token, alice.ids, "s"):
            assert alice.canary not in without_echo(answer, alice, "s")
        status = await server.call("GET", "/v1/status", nobody.token)
        assert sum(status.json["memories"].values()) <= 3  # what the sweep told in its own scope
    # An agent's token reads what is of its agent and of none, and no other agent's.
    made = await server.memhold.admin.tokens.create(namespace="acme", user="alice", agent="a1")
    other = await server.memhold.admin.tokens.create(namespace="acme", user="alice", agent="a2")
    await server.call("POST", "/v1/memories", made.secret, {"text": "only of agent one"})
    assert "only of agent one" not in (await server.call("GET", "/v1/memories", other.secret)).body.decode()


async def test_dedup_and_background_work_stay_inside_a_tenant(server: Whole) -> None:
    tenants = [await server.tenant(f"t{n}", f"n{n % 2}", f"u{n}") for n in range(4)]
    text = {"text": "We meet at the harbour at noon"}
    ids = [(await server.call("POST", "/v1/memories", one.token, text)).json["memory"]["id"] for one in tenants]
    assert len(set(ids)) == 4
    fact = {"attribute": "favorite food", "value": "ramen"}
    for one in tenants:
        await server.call("POST", "/v1/memories", one.token, fact)
    await server.call("POST", "/v1/memories", tenants[0].token, {**fact, "value": "sushi"})
    before = [(await server.call("POST", "/v1/recall", one.token, {"query": "harbour"})).json for one in tenants[1:]]
    await fill(server, tenants[0])
    await server.call("POST", "/v1/admin/settle", tenants[0].token, {})
    await server.call("DELETE", f"/v1/memories/{ids[0]}", tenants[0].token)
    await server.call("POST", "/v1/admin/settle", tenants[0].token, {})
    for one, mine, earlier in zip(tenants[1:], ids[1:], before, strict=True):
        answer = await server.call("POST", "/v1/recall", one.token, {"query": "harbour"})
        assert [(hit["id"], hit["state"]) for hit in answer.json["hits"][: answer.json["total"]]] == [(mine, "active")]
        words = [
            [why for why in hit["why"] if why["signal"] == "words"]
            for hit in answer.json["hits"][: answer.json["total"]]
        ]
        assert words == [
            [why for why in hit["why"] if why["signal"] == "words"] for hit in earlier["hits"][: earlier["total"]]
        ]
        values = [memory["value"] for memory in (await server.call("GET", "/v1/memories", one.token)).json["items"]]
        assert "ramen" in values
        assert "sushi" not in values


def without_echo(answer: Answer, victim: Tenant, session: str) -> str:
    """An answer's text without what the caller itself sent: ids and names of the victim stand in the question."""
    text = answer.body.decode()
    for sent in (session, *victim.ids.values()):
        text = text.replace(sent, "")
    return text


async def test_no_endpoint_forgets_the_filter(server: Whole, alice: Tenant, mallory: Tenant) -> None:
    outsider = await server.tenant("outsider", "umbrella", "alice")
    before = await snapshot(server, alice)
    for caller in (mallory, outsider):
        answers = await sweep(server, caller.token, alice.ids, f"{alice.canary}-session")
        assert len(answers) > 100
        for what, answer in answers:
            assert alice.canary not in without_echo(answer, alice, f"{alice.canary}-session"), what
            assert answer.status < 500, (what, answer)
    assert await snapshot(server, alice) == before


async def snapshot(server: Whole, one: Tenant) -> Any:
    messages = await server.call("GET", "/v1/messages", one.token, session=f"{one.canary}-session")
    memories = await server.call("GET", "/v1/memories", one.token, states="")
    return messages.json, memories.json


async def test_metadata_of_a_caller_never_replaces_the_scope(server: Whole, alice: Tenant, mallory: Tenant) -> None:
    claims = {"namespace": "acme", "user": "alice", "user_id": "alice", "scope": {"user": "alice"}, "m": alice.canary}
    for filters in (claims, {"user_id": "alice"}, {"m": alice.canary}, {"namespace": "acme"}):
        answer = await server.call("POST", "/v1/recall", mallory.token, {"query": "harbour", "metadata": filters})
        assert answer.json["hits"] == []
    await server.call("POST", "/v1/memories", mallory.token, {"text": "harbour of mallory", "metadata": claims})
    message = {
        "role": "user",
        "content": "harbour of mallory",
        "user": "alice",
        "namespace": "acme",
        "metadata": claims,
    }
    await server.call("POST", "/v1/messages", mallory.token, {"messages": [message]})
    answer = await server.call(
        "POST", "/v1/recall", alice.token, {"query": "mallory", "metadata": {"user_id": "alice"}}
    )
    assert answer.json["hits"] == []


async def test_a_read_names_no_scope_that_its_token_could_not_read(server: Whole, alice: Tenant) -> None:
    mallory = await server.tenant("mallory", "acme", "mallory")
    bound = await server.tenant("bound", "acme", "alice", agent="cursor")
    service = await server.tenant("webapp", "acme", None, rights=["read", "act"])
    elsewhere = await server.tenant("elsewhere", "umbrella", None, rights=["read", "write", "act", "admin"])
    admin = await server.tenant("admin", "acme", "root", rights=["read", "write", "admin"])
    to_alice = [{"user": "alice"}, {"namespace": "acme", "user": "alice"}, {"user": "alice", "agent": None},
                {"user": "alice", "agent": "cursor"}]  # fmt: skip
    outside = [{"namespace": "umbrella"}, {"namespace": "umbrella", "user": "alice"}, {"user": None}]
    refused = [(mallory, to_alice + outside), (admin, to_alice), (bound, [{"agent": None}, {"agent": "other"}]),
               (elsewhere, [{"namespace": "acme", "user": "alice"}]), (service, outside)]  # fmt: skip
    for one, named in refused:
        user = {"user": "bob"} if one in (service, elsewhere) else {}
        for also in named:
            for path in ("/v1/recall", "/v1/context"):
                answer = await server.call("POST", path, one.token, {"query": "harbour", "also": [also], **user})
                assert (answer.status, alice.canary in answer.body.decode()) == (403, False), (one, also)
                unknown = await server.call(
                    "POST", path, one.token, {"query": "harbour", "also": [{**also, "user": "nobody"}], **user}
                )
                assert one is service or unknown.status == 403  # whether there is such a user or not
        said = await server.tool("recall", one.token, query="harbour", also=[to_alice[0]])
        assert alice.canary not in said.body.decode()
        assert "does not know" in said.body.decode() or "X-Memhold-User" in said.body.decode()
    for path in ("/v1/recall", "/v1/context"):
        given = {"query": "harbour", "also": [{"user": "alice"}]}
        allowed = await server.call("POST", path, service.token, {**given, "user": "bob"})
        assert (allowed.status, alice.canary in allowed.body.decode()) == (200, True)
        own = await server.call("POST", path, alice.token, {**given, "also": [{"agent": "none"}]})
        assert own.status == 200


async def test_identity_is_never_taken_from_a_header(server: Whole, alice: Tenant, mallory: Tenant) -> None:
    headers = {
        "x-user": "alice", "x-user-id": "alice", "x-namespace": "acme", "x-forwarded-user": "alice",
        "x-remote-user": "alice", "x-auth-request-user": "alice", "cookie": "user=alice",
        "x-forwarded-for": "127.0.0.1", "forwarded": "for=127.0.0.1", "x-original-url": "/healthz",
        "x-http-method-override": "GET", "mcp-session-id": "alice",
    }  # fmt: skip
    for path in ("/v1/status", "/v1/memories", "/v1/export", "/v1/working-memory/"):
        assert (await server.call("GET", path, None, headers=headers)).status == 401
        answer = await server.call("GET", path, mallory.token, headers=headers)
        assert answer.status == 200
        assert alice.canary not in answer.body.decode()
        # The one that names a user is for services: another's is refused, never passed over.
        named = await server.call("GET", path, mallory.token, headers={"x-memhold-user": "alice"})
        assert named.status == 403


async def test_every_router_is_behind_the_door(server: Whole, alice: Tenant) -> None:
    """Whatever is served, and whatever will be: without a token there is nothing but that the server is alive."""
    routes = server.routes()
    assert {path.split("/")[2] for _, path in routes if path.startswith("/v1/")} >= {
        "messages", "memories", "recall", "export", "admin", "working-memory", "long-term-memory", "memory", "health",
    }  # fmt: skip
    for what, answer in await sweep(server, None, alice.ids, "s"):
        assert answer.status == (200 if what.split()[1] in OPEN_PATHS else 401), what
        assert alice.canary not in answer.body.decode()
    for path in ("/openapi.json", "/docs/", "/redoc", "//", "/v1", "/nothing", "/mcp/x", "//v1/status", "/V1/status"):
        assert (await server.call("GET", path)).status == 401, path
    for path in OPEN_PATHS:
        answer = await server.call("GET", path)
        assert answer.status == (403 if path == ENTER else 200)
        # The examples of the operations name some; they are the same for everybody.
        if path != DOCS:
            assert "acme" not in answer.body.decode()
            assert "alice" not in answer.body.decode()
        assert alice.canary not in answer.body.decode()


INJECTIONS = [
    "' OR '1'='1", "' OR 1=1 --", "'; DROP TABLE message; --", "x' UNION SELECT body FROM message --", "%", "_%", "*",
    '" OR ""="', "\\' OR 1=1 --", "1) OR (1=1", "'||(SELECT text FROM message)||'", ":namespace", "$1", "a NEAR b", '"*"',
]  # fmt: skip


async def test_no_filter_is_put_into_sql(server: Whole, alice: Tenant, mallory: Tenant) -> None:
    before = await snapshot(server, alice)
    for text in INJECTIONS:
        for filters in (
            {"text": text}, {"text": "", "session": text}, {"text": "", "topics": [text]}, {"text": "", "entities": [text]},
            {"text": "", "metadata": {text: text}}, {"text": "", "snapshot": text}, {"text": "", "kinds": [text]},
            {"text": "", "roles": [text]},
        ):  # fmt: skip
            answer = await server.call("POST", "/v1/recall", mallory.token, filters)
            assert answer.status in {200, 422}, (filters, answer)
            assert alice.canary not in answer.body.decode()
        for path in ("/v1/memories", "/v1/messages", "/v1/export", "/v1/changes"):
            answer = await server.call("GET", path, mallory.token, session=text, cursor=text, after=text, kinds=text)
            assert answer.status in {200, 422}, (path, text, answer)
            assert alice.canary not in answer.body.decode()
        assert (await server.call("GET", "/v1/long-term-memory/x", mallory.token, user=text)).status == 404
        for made in (text,):
            token = await server.memhold.admin.tokens.create(namespace=made, user=made)
            answer = await server.call("POST", "/v1/recall", token.secret, {"query": "harbour"})
            assert (answer.status, answer.json["hits"]) == (200, [])
            assert (await server.memhold.admin.tokens.list(namespace=made))[0].scope == token.token.scope
    assert await snapshot(server, alice) == before


TRAVERSALS = [
    "../../escaped",
    "/etc/escaped",
    "..",
    "a/../../escaped",
    "..\\..\\escaped",
    "%2e%2e%2fescaped",
    "~root",
    "C:\\x",
]


async def test_no_name_leads_out_of_a_folder(tmp_path: Path) -> None:
    inside = tmp_path / "deep" / "inside"
    inside.mkdir(parents=True)
    async with whole(str(inside / "memory.db"), mirror=str(inside / "mirror")) as server:
        for number, name in enumerate(TRAVERSALS):
            one = await server.tenant(f"t{number}", name, name)
            await fill(server, one)
            for path in ("/v1/export", "/v1/messages"):
                for how in ("jsonl", "markdown"):
                    answer = await server.call("GET", path, one.token, session=name, format=how)
                    assert answer.status in {200, 422}
            odd = {"role": "user", "content": "x", "session": name}
            await server.call("POST", "/v1/import", one.token, json.dumps(odd).encode(), session_prefix=name)
            await server.call("GET", f"/v1/working-memory/{name}", one.token)
        await server.memhold.settle()
    assert outside(tmp_path, inside) == []


def outside(folder: Path, inside: Path) -> list[Path]:
    """What stands where no name may lead: outside the store's folder, or in it under such a name."""
    known = {inside, inside.parent, inside / "mirror"}
    every = [path for path in folder.rglob("*") if path not in known]
    found = [path for path in every if inside not in path.parents]
    found += [path for path in every if "escaped" in path.name and inside / "mirror" not in path.parents]
    return found + [path for path in (Path("/etc/escaped"), folder.parent / "escaped") if path.exists()]


async def test_a_forget_that_reports_success_has_deleted(tmp_path: Path) -> None:
    async with whole(str(tmp_path / "memory.db")) as server:
        one = await server.tenant("zoe", "acme", "zoe")
        spoken = {"rest": "orchid of the rest", "mcp": "orchid of the tool", "compat": "orchid of the client"}
        rest = await server.call("POST", "/v1/memories", one.token, {"text": spoken["rest"]})
        tool = await server.call("POST", "/v1/memories", one.token, {"text": spoken["mcp"]})
        record = {"memories": [{"id": "r", "text": spoken["compat"]}]}
        await server.call("POST", "/v1/long-term-memory/", one.token, record)
        gone = await server.call("DELETE", f"/v1/memories/{rest.json['memory']['id']}", one.token)
        assert gone.status == 200
        forgot = await server.tool("forget", one.token, item_id=tool.json["memory"]["id"])
        assert forgot.json["result"]["isError"] is False, forgot.body
        assert (await server.call("DELETE", "/v1/long-term-memory", one.token, memory_ids="r")).status == 200
        await server.memhold.settle()
        for text in spoken.values():
            found = await server.call("POST", "/v1/recall", one.token, {"query": text, "include_superseded": True})
            assert found.json["hits"] == []
            assert dict((await server.memhold.scope(namespace="acme", user="zoe").residue(text)).found) == {}
    assert files_with(tmp_path, "orchid of") == []


async def test_ids_belong_to_their_scope(server: Whole, alice: Tenant, mallory: Tenant) -> None:
    before = await snapshot(server, alice)
    memory, message, change = (alice.ids[name] for name in ("memory_id", "message_id", "change_id"))
    tries = [
        ("POST", f"/v1/memories/{memory}/correct", {"value": "taken"}), ("POST", f"/v1/memories/{memory}/pin", None),
        ("POST", f"/v1/memories/{memory}/unpin", None), ("DELETE", f"/v1/memories/{memory}", None),
        ("GET", f"/v1/memories/{memory}", None), ("GET", f"/v1/memories/{memory}/history", None),
        ("GET", f"/v1/messages/{message}", None), ("DELETE", f"/v1/messages/{message}", None),
        ("GET", f"/v1/messages/{message}/text", None), ("POST", f"/v1/changes/{change}/undo", None),
        ("POST", "/v1/forget", {"item_id": memory}), ("GET", f"/v1/long-term-memory/{memory}", None),
        ("PATCH", f"/v1/long-term-memory/{memory}", {"text": "taken"}), ("GET", f"/v1/long-term-memory/{alice.canary}-record", None),
    ]  # fmt: skip
    never = "0" * 32
    for method, path, body in tries:
        answer = await server.call(method, path, mallory.token, body)
        assert answer.status == 404, (method, path, answer)
        unknown = path
        for known in (memory, message, change):
            unknown = unknown.replace(known, known[:4] + never)
        other = await server.call(method, unknown, mallory.token, body)
        # An id of somebody else reads exactly as one that never was.
        assert other.status == 404
        assert shape(other) == shape(answer)
    # The same id of a caller's own is another memory in another scope.
    mine = {"memories": [{"id": f"{alice.canary}-record", "text": "mine"}]}
    assert (await server.call("POST", "/v1/long-term-memory/", mallory.token, mine)).status == 200
    for tool, given in (
        ("correct", {"memory_id": memory, "value": "taken"}), ("forget", {"item_id": memory}),
        ("memory_history", {"item_id": memory}),
    ):  # fmt: skip
        told = await server.tool(tool, mallory.token, **given)
        assert told.json["result"]["isError"]
        assert "Use recall to find the id" in told.body.decode(), told.body
    assert await snapshot(server, alice) == before


def shape(answer: Answer) -> Any:
    """A problem without the id that it speaks of."""
    return answer.json["type"], answer.json["title"], len(answer.json["detail"]) // 100, sorted(answer.json["values"])


async def test_a_server_on_every_address_checks_origins_and_hosts(tmp_path: Path) -> None:
    async with whole(str(tmp_path / "memory.db"), host="0.0.0.0") as server:
        one = await server.tenant("one", "acme", "one")
        for method, path in [*server.routes(), ("GET", "/healthz"), ("GET", "/metrics"), ("OPTIONS", "/v1/recall")]:
            for origin in ("https://evil.example", "null", "http://127.0.0.1:1"):
                answer = await server.call(method, path, one.token, {}, headers={"origin": origin})
                assert answer.status == 403, (method, path)
            answer = await server.call(method, path, one.token, {}, host=("host", "evil.example"))
            assert answer.status == 421, (method, path)


# ------------------------------------------------------------------------------------------------ canaries


async def test_no_canary_is_ever_found_elsewhere(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Tenants at once, on every surface; each answer, log line, metric, export and file is searched for the others'."""
    caplog.set_level(logging.DEBUG)
    path = tmp_path / "memory.db"
    places = [
        ("one", "acme", "alice"),
        ("two", "acme", "bob"),
        ("three", "umbrella", "alice"),
        ("four", "umbrella", None),
    ]
    async with whole(str(path), worker=True, mirror=str(tmp_path / "mirror")) as server:
        tenants = [await server.tenant(name, namespace, user) for name, namespace, user in places]
        heard: dict[str, list[str]] = {one.name: [] for one in tenants}

        async def live(one: Tenant) -> None:
            other = tenants[tenants.index(one) - 1]
            await fill(server, one)
            for ids in (one.ids, other.ids):
                answers = await sweep(server, one.token, ids, f"{one.canary}-session")
                heard[one.name] += [f"{answer.headers} {answer.body.decode()}" for _, answer in answers]
            for tool, arguments in (
                ("recall", {"query": "harbour"}), ("get_context", {"query": "harbour"}), ("memory_status", {}),
                ("memory_history", {"item_id": one.ids["memory_id"]}),
            ):  # fmt: skip
                heard[one.name].append((await server.tool(tool, one.token, **arguments)).body.decode())
            for method in ("resources/list", "resources/templates/list", "prompts/list", "tools/list"):
                body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {}}
                heard[one.name].append((await server.rpc(one.token, body)).body.decode())
            for resource in ("memhold://profile", "memhold://history"):
                body = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": resource}}
                heard[one.name].append((await server.rpc(one.token, body)).body.decode())

        await asyncio.gather(*(live(one) for one in tenants))
        await server.memhold.settle()
        metrics = (await server.call("GET", "/metrics", tenants[0].token)).body.decode()
        for one in tenants:
            own = "\n".join(heard[one.name])
            assert own.count(one.canary) > 50
            for other in tenants:
                if other is not one:
                    ids = [value for value in other.ids.values() if value in own]
                    text = own
                    for sent in ids:
                        text = text.replace(sent, "")
                    assert other.canary not in text, f"{one.name} has heard of {other.name}"
    everybody = [one.canary for one in tenants]
    told = [word for word in everybody if word in caplog.text or word in metrics]
    assert told == []
    assert [one.token for one in tenants if one.token in caplog.text] == []
    await asyncio.to_thread(search_command_line, path, tenants, tmp_path)


def search_command_line(path: Path, tenants: list[Tenant], tmp_path: Path) -> None:
    """What the command line prints and writes of one scope, and the folders of the mirror."""
    for one in tenants:
        scope = ["--db", str(path), "--namespace", one.namespace, *(["--user", one.user] if one.user else [])]
        target = tmp_path / f"export-{one.name}"
        for command in (["recall", "harbour"], ["list", "--state", "any"], ["export", str(target)]):
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = main([*command, "--json", *scope])
            assert code in {0, 3}, err.getvalue()
            said = out.getvalue() + err.getvalue() + (target.read_text() if target.exists() else "")
            assert [
                other.name for other in tenants if other is not one and other.canary in said.replace(str(tmp_path), "")
            ] == []
        assert one.canary in target.read_text()
        for page in (tmp_path / "mirror").rglob("*.md"):
            found = [other.name for other in tenants if other.canary in page.read_text()]
            assert len(found) <= 1, page
    with Memhold.open(path, worker=False) as mem:
        for finding in mem.admin.doctor():
            assert "canary" not in finding.what + finding.advice
