"""A service's token: one for a web application, that works for whichever user of its namespace a request names."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from memhold import AsyncMemhold
from memhold.errors import InvalidInput, InvalidScope, NotFound, ScopeDenied, TwoUsers, Unauthenticated
from memhold.faces.remote.wire import EXCHANGE, USER_TYPE
from memhold.server import serving
from memhold.server.guard_rules import Rate
from memhold.server.guard_setup import TokenAuthenticate
from memhold.testing import FakeClock
from memhold.values.principal import Principal, acting_for
from memhold.values.records import Scope
from memhold.verbs.token_text import LONGEST_PASS, Pass, seal, told, unseal
from tests.identity.asgi import Answer
from tests.identity.whole import whole
from tests.rest.serving import Live, live

SERVICE = ("read", "write", "act")
FORM = {"grant_type": EXCHANGE, "subject_token": "alice", "subject_token_type": USER_TYPE}


@pytest_asyncio.fixture
async def server() -> AsyncIterator[Live]:
    async with live(settings={"compat": "agent-memory-server"}) as made:
        yield made


def told_by(answer: httpx2.Response) -> str:
    return str(answer.json()["type"]).rpartition(":")[2]


async def rpc(http: httpx2.AsyncClient, name: str, headers: dict[str, str] | None = None, **arguments: Any) -> str:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    more = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25", **(headers or {})}
    answer = (await http.post("/mcp", json=body, headers=more)).json()
    return str(answer["result"]["content"][0]["text"])


async def test_one_token_writes_and_reads_for_each_user_and_never_across(server: Live) -> None:
    async with server.client(await server.token(SERVICE, label="webapp")) as http:
        for user in ("alice", "bob", "josé", "Nicolà"):
            there = {"x-memhold-user": user.encode()}
            said = {"messages": [{"role": "user", "content": f"canary of {user}"}]}
            assert (await http.post("/v1/messages", json=said, headers=there)).status_code == 201
        found = (await http.post("/v1/recall", json={"query": "canary", "user": "jose\u0301"})).json()
        assert [hit["text"] for hit in found["hits"]] == ["canary of josé"]
        listed = await http.get("/v1/messages", headers={"x-memhold-user": "bob"})
        assert [one["text"] for one in listed.json()["items"]] == ["canary of bob"]
    # Whoever looks later sees through which application it came, and that it is the user's own word.
    [message] = await server.memhold.scope(user="alice").messages()
    assert (message.origin, message.actor) == ("user", "webapp")


async def test_a_request_that_names_no_user_or_two_writes_nothing(server: Live) -> None:
    said = {"messages": [{"role": "user", "content": "whose?"}]}
    async with server.client(await server.token(SERVICE)) as http:
        none = await http.post("/v1/messages", json=said)
        assert (none.status_code, told_by(none)) == (422, "InvalidScope")
        assert "X-Memhold-User" in none.json()["detail"]
        two = await http.post("/v1/messages", json={**said, "user": "bob"}, headers={"x-memhold-user": "alice"})
        assert (two.status_code, told_by(two)) == (400, "TwoUsers")
        twice = await http.get("/v1/status", headers=[("x-memhold-user", "alice"), ("x-memhold-user", "alice")])
        assert twice.status_code == 400
        both = await http.post("/v1/messages", json={**said, "user": "alice"}, headers={"x-memhold-user": "alice"})
        assert both.status_code == 201
        for wrong in ("\u200balice".encode(), b"\xff", b""):
            assert (await http.get("/v1/status", headers={"x-memhold-user": wrong})).status_code == 422, wrong
        put = {"messages": [{"id": "1", "role": "user", "content": "x"}], "user_id": "bob"}
        answer = await http.put("/v1/working-memory/s", json=put, headers={"x-memhold-user": "alice"})
        assert answer.status_code == 400
        assert "acts for users" in (await rpc(http, "recall", query="whose"))
    assert await server.memhold.admin.users() == ("alice",)
    assert await server.memhold.scope().messages() == ()


async def test_a_token_of_one_user_acts_for_nobody_else(server: Live) -> None:
    await server.memhold.scope(user="alice").remember("canary")
    async with server.client(await server.token(user="bob")) as http:
        for refused in (
            await http.get("/v1/memories", headers={"x-memhold-user": "alice"}),
            await http.post("/v1/recall", json={"query": "canary", "user": "alice"}),
            await http.post("/v1/working-memory/", params={"user_id": "alice"}),
            await http.get("/v1/working-memory/", params={"user_id": "alice"}),
        ):
            assert "canary" not in refused.text
            assert refused.status_code in {403, 405}
        mine = await http.get("/v1/memories", headers={"x-memhold-user": "bob"})
        assert (mine.status_code, mine.json()["items"]) == (200, [])
        assert "canary" not in await rpc(http, "recall", query="canary")


async def test_the_header_binds_a_connection_of_mcp(server: Live) -> None:
    async with server.client(await server.token(SERVICE, label="webapp")) as http:
        for user in ("alice", "bob"):
            await rpc(http, "remember", {"x-memhold-user": user}, text=f"{user} likes tea")
        assert "bob" not in await rpc(http, "recall", {"x-memhold-user": "alice"}, query="tea")
        # A model cannot say for whom: whatever it passes, whose memory this is comes from the connection.
        assert "comes from the connection" in await rpc(
            http, "recall", {"x-memhold-user": "alice"}, query="tea", user="bob"
        )
    [note] = (await server.memhold.scope(user="bob").list()).items
    assert (note.origin, note.actor) == ("agent", "webapp")


async def test_the_library_asks_for_any_user_with_such_a_token(server: Live) -> None:
    async with await AsyncMemhold.open(server.url, token=await server.token(SERVICE, label="app")) as mem:
        await mem.scope(user="alice", session="s").add([{"role": "user", "content": "I live in Porto"}])
        await mem.scope(user="bob", actor="agent:planner").remember("Bob is away")
        assert [hit.text for hit in (await mem.scope(user="alice").recall("Porto")).hits] == ["I live in Porto"]
        assert (await mem.scope(user="bob").recall("Porto")).total <= 1
        with pytest.raises(InvalidScope, match="say for which"):
            mem.scope()
        with pytest.raises(ScopeDenied):
            mem.scope(namespace="other", user="alice")
        with pytest.raises(ScopeDenied):
            await mem.admin.users()
    [note] = (await server.memhold.scope(user="bob").list()).items
    assert (note.origin, note.actor) == ("agent", "app/planner")


async def test_a_token_is_exchanged_for_one_of_a_user(server: Live) -> None:
    service = await server.memhold.admin.tokens.create(rights=SERVICE, label="webapp")
    async with server.client(service.secret) as http:
        answer = await http.post("/v1/token-exchange", data=FORM | {"scope": "read", "expires_in": "60"})
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
        given_token = answer.json()
        assert (given_token["token_type"], given_token["expires_in"], given_token["scope"]) == ("Bearer", 60, "read")
        wrong = [
            (FORM | {"grant_type": "password"}, "unsupported_grant_type"), (FORM | {"scope": "admin"}, "invalid_scope"),
            (FORM | {"expires_in": "3601"}, "invalid_request"), (FORM | {"scope": ""}, "invalid_scope"),
            (FORM | {"expires_in": "0" * 8 + "1" + "9" * 20}, "invalid_request"), (FORM | {"subject_token": ""}, "invalid_request"),
            (FORM | {"actor_token": "x"}, "invalid_request"), ({}, "invalid_request"),
        ]  # fmt: skip
        for form, error in wrong:
            refused = await http.post("/v1/token-exchange", data=form)
            assert (refused.status_code, refused.json()["error"]) == (400, error), form
        other = await http.post("/v1/token-exchange", data=FORM, headers={"x-memhold-user": "bob"})
        assert (other.status_code, told_by(other)) == (400, "TwoUsers")
    await server.memhold.scope(user="alice").remember("canary")
    async with server.client(given_token["access_token"]) as alice:
        assert [one["text"] for one in (await alice.get("/v1/memories")).json()["items"]] == ["canary"]
        assert "canary" in await rpc(alice, "recall", query="canary")
        assert (await alice.post("/v1/memories", json={"text": "x"})).status_code == 403
        assert (await alice.get("/v1/memories", headers={"x-memhold-user": "bob"})).status_code == 403
        assert (await alice.post("/v1/token-exchange", data=FORM)).status_code == 403
        server.clock.advance(60)
        assert (await alice.get("/v1/memories")).status_code == 401


async def test_what_was_exchanged_ends_with_the_token_and_cannot_be_made_up(server: Live) -> None:
    tokens = server.memhold.admin.tokens
    service = await tokens.create(rights=SERVICE, expires_in=timedelta(minutes=10))
    made = await tokens.exchange(service.secret, user="alice")
    assert made.token.expires_at == service.token.expires_at
    assert (await tokens.check(made.secret)).scope == Scope(user="alice", actor=f"user:{service.token.id}")
    authenticate = TokenAuthenticate(tokens)
    own, other = [await authenticate((await tokens.exchange(service.secret, user=one)).secret) for one in ("a", "b")]
    assert own is not None
    assert other is not None
    assert own.budget != other.budget
    assert (own.token, own.service) == (service.token.id, False)
    forged = seal(Pass(token_id=service.token.id, user="bob", rights=("read",), expires_at=server.clock.now()), b"x")
    body, seal_of = made.secret.rsplit("_", 1)
    for text in (forged, f"{body[:-1]}a_{seal_of}", f"{body}_{'0' * 64}", "mhp_", "mhp_aaaaaaaa_" + "0" * 64):
        assert await tokens.check(text) is None
    with pytest.raises(ScopeDenied):
        await tokens.exchange(made.secret, user="bob")
    with pytest.raises(ScopeDenied):
        await tokens.exchange(await server.token(user="alice"), user="bob")
    with pytest.raises(ScopeDenied):
        await tokens.exchange(service.secret, user="alice", rights=["read", "act"])
    for span in (timedelta(0), LONGEST_PASS * 2):
        with pytest.raises(InvalidInput):
            await tokens.exchange(service.secret, user="alice", expires_in=span)
    await tokens.revoke(service.token.id)
    assert await tokens.check(made.secret) is None


@given(st.binary(min_size=1, max_size=32), st.text(min_size=1, max_size=256).filter(lambda t: t.isprintable()))
def test_a_pass_is_read_back_by_the_secret_that_sealed_it(secret: bytes, user: str) -> None:
    made = Pass(token_id="b2xk7qd3mzn4afwe", user=user, rights=("read",), expires_at=FakeClock().now())
    text = seal(made, secret)
    assert unseal(text, secret) == told(text) == made
    assert unseal(text, secret + b"1") is None


async def test_an_administrator_makes_lists_and_revokes_tokens_over_http(server: Live) -> None:
    await server.token(namespace="other", user="mallory")
    admin = await server.opened(["admin", *SERVICE], namespace="acme")
    made = await admin.admin.tokens.create(namespace="acme", user="alice", label="phone", expires_in=timedelta(days=1))
    assert (made.token.namespace, made.token.user, made.token.rights) == ("acme", "alice", ("read", "write"))
    alice = await AsyncMemhold.open(server.url, token=made.secret)
    server.clients.append(alice)
    await alice.scope(namespace="acme", user="alice").remember("Alice likes tea")
    assert {token.user for token in await admin.admin.tokens.list()} == {None, "alice"}
    assert made.secret not in repr(await admin.admin.tokens.list())
    assert await admin.admin.users(namespace="acme") == ("alice",)
    service = await admin.admin.tokens.create(namespace="acme", rights=SERVICE, label="webapp")
    passed = await admin.admin.tokens.exchange(service.secret, user="bob", rights=["read"])
    assert (await server.memhold.admin.tokens.check(passed.secret)).user == passed.token.user == "bob"
    assert (await admin.admin.tokens.revoke(made.token.id)).revoked_at is not None
    with pytest.raises(Unauthenticated):
        await alice.scope(namespace="acme", user="alice").status()
    [foreign] = await server.memhold.admin.tokens.list(namespace="other")
    with pytest.raises(NotFound):
        await admin.admin.tokens.revoke(foreign.id)
    for call in (
        admin.admin.tokens.create(namespace="other", user="x"),
        admin.admin.tokens.list(namespace="other"),
        admin.admin.users(namespace="other"),
    ):
        with pytest.raises(ScopeDenied):
            await call
    with pytest.raises(InvalidInput):
        await admin.admin.tokens.create(namespace="acme", user="alice", rights=["act"])
    # An agent that may administrate makes no token that speaks in a user's name.
    agent = await server.opened(["admin", "read", "write"], namespace="acme", actor="agent:bot")
    with pytest.raises(ScopeDenied):
        await agent.admin.tokens.create(namespace="acme", user="x", actor="user:x")
    own = await agent.admin.tokens.create(namespace="acme", user="x")
    assert own.token.actor == "agent:bot"


async def test_a_token_makes_none_that_may_more_or_lives_longer() -> None:
    async with whole("memory://") as server:
        hour = timedelta(hours=1)
        own = await server.memhold.admin.tokens.create(namespace="acme", rights=["admin", "read"], expires_in=hour)

        async def made(**body: Any) -> Answer:
            return await server.call("POST", "/v1/tokens", own.secret, {"user": "alice", "rights": ["read"], **body})

        for refused in ({"rights": ["write"]}, {"rights": ["read", "act"], "user": None}, {"expires_in": 3601}):
            assert (await made(**refused)).status == 403, refused
        assert own.token.expires_at is not None
        for asked in ({}, {"expires_in": 3000}):
            answer = await made(**asked)
            assert answer.status == 201, answer.json
            ends = datetime.fromisoformat(answer.json["token"]["expires_at"])
            assert ends <= own.token.expires_at
        assert len(await server.memhold.admin.tokens.list(namespace="acme")) == 3


async def test_a_user_that_the_body_names_has_a_budget_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "RATE_BURST", 3)
    async with live(settings={"compat": "agent-memory-server", "rate_per_second": 1e-6}) as server:
        said = {"messages": [{"role": "user", "content": "x"}], "user": "alice"}
        put = {"messages": [{"id": "1", "role": "user", "content": "x"}], "user_id": "bob"}
        alice, bob = {"x-memhold-user": "alice"}, {"x-memhold-user": "bob"}
        first, second, third = [server.client(await server.token(SERVICE)) for _ in range(3)]
        async with first as one, second as two, third as three:
            # The service's own budget ends first, whoever is named.
            assert [(await one.post("/v1/messages", json=said)).status_code for _ in range(4)] == [201, 201, 201, 429]
            # And a user's, however it is said who it is.
            assert (await two.post("/v1/messages", json=said)).status_code == 201
            assert [(await two.get("/v1/messages", headers=alice)).status_code for _ in range(3)] == [200, 200, 429]
            refused = await two.post("/v1/messages", json=said)
            assert (refused.status_code, told_by(refused)) == (429, "RateLimited")
            assert [(await three.get("/v1/messages", headers=bob)).status_code for _ in range(3)] == [200, 200, 200]
            assert (await three.put("/v1/working-memory/s", json=put)).status_code == 429


async def test_bytes_count_for_the_service_and_for_the_user_that_the_body_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serving, "Door", partial(serving.Door, bytes_rate=Rate(per_second=1e-6, burst=1)))
    async with live() as server:
        long = {"messages": [{"role": "user", "content": "x" * 70_000}] * 30, "user": "alice"}
        async with server.client(await server.token(SERVICE)) as http:
            assert (await http.post("/v1/messages", json=long)).status_code == 201
            told = [
                (await http.get("/v1/status", headers={} if user is None else {"x-memhold-user": user})).status_code
                for user in ("alice", None, "bob")
            ]
    assert told == [429, 429, 200]


async def test_what_a_body_says_twice_or_where_none_is_read_is_refused(server: Live) -> None:
    alice = {"x-memhold-user": "alice"}
    [kept] = (await server.memhold.scope(user="alice").add([{"role": "user", "content": "kept"}])).ids
    async with server.client(await server.token((*SERVICE, "admin"))) as http:

        async def sent(method: str, path: str, raw: bytes) -> httpx2.Response:
            return await http.request(method, path, content=raw, headers={**alice, "content-type": "application/json"})

        for method, path, raw in (
            (
                "POST",
                "/v1/messages",
                b'{"messages": [{"role": "user", "content": "x"}], "user": "bob", "user": "alice"}',
            ),
            ("POST", "/v1/messages", b'{"messages": [{"role": "user", "content": "x", "content": "y"}]}'),
            ("POST", "/v1/tokens", b'{"user": "alice", "rights": ["read"], "user": "bob"}'),
            ("PUT", "/v1/working-memory/s", b'{"messages": [], "user_id": "bob", "user_id": "alice"}'),
            ("PUT", "/v1/working-memory/s", b'{"messages": [], "data": {"a": NaN}}'),
            ("DELETE", f"/v1/messages/{kept}", b'{"user": "bob"}'),
            ("POST", "/v1/admin/reindex", b'{"user": "bob"}'),
        ):
            answer = await sent(method, path, raw)
            assert answer.status_code == 422, (method, path, answer.text)
        assert "twice" in (await sent("POST", "/v1/recall", b'{"query": "x", "query": "y"}')).json()["detail"]
        assert (await sent("POST", "/v1/changes/chg_x/undo", b'{"user": "bob"}')).status_code == 400
    assert [one.text for one in await server.memhold.scope(user="alice").messages()] == ["kept"]
    assert await server.memhold.scope(user="bob").messages() == ()


async def test_a_working_memory_holds_no_memory_of_another_owner(server: Live) -> None:
    async with server.client(await server.token(SERVICE)) as http:
        for foreign in ({"user_id": "bob"}, {"namespace": "shop"}):
            put = {"messages": [], "memories": [{"id": "m1", "text": "likes tea", **foreign}], "user_id": "alice"}
            answer = await http.put("/v1/working-memory/s", json=put)
            assert (answer.status_code, told_by(answer)) == (422, "InvalidInput"), foreign
        put["memories"] = [{"id": "m1", "text": "likes tea", "user_id": "alice", "namespace": "default"}]
        assert (await http.put("/v1/working-memory/s", json=put)).status_code == 200
    assert [one.text for one in (await server.memhold.scope(user="alice").list()).items] == ["likes tea"]


@pytest.mark.parametrize("label", ["webapp\ufe0f", "web\u200dapp", "\u0958" * 200, "x" * 201, "a\nb", "\ufe0f"])
async def test_a_label_is_seen_as_it_is(server: Live, label: str) -> None:
    with pytest.raises(InvalidInput, match="label"):
        await server.memhold.admin.tokens.create(rights=SERVICE, label=label)
    composed = await server.memhold.admin.tokens.create(rights=SERVICE, label=" jose\u0301 ")
    assert (composed.token.label, composed.token.actor) == ("josé", "user:josé")


async def test_a_users_token_takes_no_name_of_a_service(server: Live) -> None:
    said = {"messages": [{"role": "user", "content": "x"}]}
    async with server.client(await server.token(user="alice")) as http:
        refused = await http.post("/v1/messages", json=said, headers={"memhold-actor": "user:webapp"})
        assert (refused.status_code, told_by(refused)) == (403, "ScopeDenied")
        assert (await http.post("/v1/messages", json=said, headers={"memhold-actor": "agent:mine"})).status_code == 201
    assert [one.actor for one in await server.memhold.scope(user="alice").messages()] == ["mine"]


def test_acting_for_somebody() -> None:
    service = Principal(scope=Scope(namespace="acme"), rights=frozenset(SERVICE), token="t", service=True)
    alice, bob = acting_for(service, "alice"), acting_for(service, "bob")
    assert alice.whose == Scope(namespace="acme", user="alice")
    assert acting_for(alice, "alice") == alice
    assert alice.budget != bob.budget, "one user of an application does not use up another's"
    with pytest.raises(TwoUsers):
        acting_for(alice, "bob")
    with pytest.raises(InvalidScope):
        _ = service.whose
    with pytest.raises(InvalidScope):
        acting_for(service, json.loads("[1]"))


async def test_what_clients_put_below_is_listed_exported_and_forgotten_with_the_user(tmp_path: Path) -> None:
    store = str(tmp_path / "memory.db")
    async with live(store, settings={"compat": "agent-memory-server"}) as server:
        put = {"messages": [{"id": "1", "role": "user", "content": "CANARYBELOW"}], "namespace": "shop"}
        service = server.client(await server.token((*SERVICE, "admin"), namespace="acme"))
        foreign = server.client(await server.token((*SERVICE, "admin"), namespace="acm"))
        alice = {"x-memhold-user": "alice"}
        async with service as http, foreign as other:
            assert (await http.put("/v1/working-memory/s", json=put, headers=alice)).status_code == 200
            assert (await http.get("/v1/admin/users")).json() == ["alice"]
            assert [one["namespace"] for one in (await http.get("/v1/admin/usage")).json()] == ["acme", "acme//shop"]
            assert (await other.get("/v1/admin/users")).json() == []
            assert (await other.get("/v1/admin/usage")).json() == []
            assert "CANARYBELOW" in (await http.get("/v1/export", headers=alice)).text
            done = (await http.post("/v1/forget", json={"everything": True}, headers=alice)).json()
            assert (len(done["messages"]), done["below"], done["erased"]) == (1, ["acme//shop"], True)
            own = server.memhold.scope(namespace="acme", user="alice")
            assert (await own.residue("CANARYBELOW")).found == {}
            assert "CANARYBELOW" not in (await http.get("/v1/export", headers=alice)).text
            kept = await http.get("/v1/working-memory/s", params={"namespace": "shop"}, headers=alice)
            assert kept.json()["messages"] == []
