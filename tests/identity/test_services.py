"""A service's token: one for a web application, that works for whichever user of its namespace a request names."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from memhold import AsyncMemhold
from memhold.errors import InvalidInput, InvalidScope, NotFound, ScopeDenied, TwoUsers, Unauthenticated
from memhold.faces.remote.wire import EXCHANGE, USER_TYPE
from memhold.server.guard_setup import TokenAuthenticate
from memhold.testing import FakeClock
from memhold.values.principal import Principal, acting_for
from memhold.values.records import Scope
from memhold.verbs.token_text import LONGEST_PASS, Pass, seal, told, unseal
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
    admin = await server.opened(["admin"], namespace="acme")
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
    agent = await server.opened(["admin"], namespace="acme", actor="agent:bot")
    with pytest.raises(ScopeDenied):
        await agent.admin.tokens.create(namespace="acme", user="x", actor="user:x")
    own = await agent.admin.tokens.create(namespace="acme", user="x")
    assert own.token.actor == "agent:bot"


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
