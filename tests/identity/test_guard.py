"""The guard: who is let in, what is well addressed, how much may be asked, and what a refusal says."""

from __future__ import annotations

import asyncio
import json
import logging
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhold import AsyncMemhold
from memhold.errors import InvalidSetting
from memhold.server.guard import Guard, GuardRules
from memhold.server.guard_rules import (
    BodyLimits,
    Rate,
    RateLimits,
    allowed_hosts,
    host_fault,
    is_loopback,
    may_bind,
    origin_fault,
    request_id_of,
)
from memhold.server.guard_setup import Door, TokenAuthenticate, guarded
from memhold.testing import FakeClock
from memhold.values.principal import Principal
from memhold.values.records import Scope

from .asgi import ask, echo

LOCAL = Principal(scope=Scope(user="me"), rights=frozenset({"read", "write", "admin"}))


async def nobody(bearer: str) -> Principal | None:
    return Principal(scope=Scope(user="bob"), rights=frozenset({"read"}), token="t1") if bearer == "good" else None


def guard(app: Any = echo, *, clock: Any = lambda: 0.0, **rules: Any) -> Guard:
    rules = {"hosts": allowed_hosts("127.0.0.1"), **rules}
    return Guard(app, rules=GuardRules(**rules), authenticate=nobody, clock=clock, new_id=lambda: "made")


# ------------------------------------------------------------------------------------------------ where it may listen


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.8.9.1", "::1", "[::1]", "localhost", "LOCALHOST", "::ffff:127.0.0.1"]
)
def test_loopback_is_this_machine(host: str) -> None:
    assert is_loopback(host)
    assert may_bind(host, tokens=False, tls=False, behind_proxy=False) is None
    assert "token" in (may_bind(host, tokens=False, tls=False, behind_proxy=True) or "")
    assert may_bind(host, tokens=True, tls=False, behind_proxy=True) is None


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.4", "10.0.0.1", "example.com", "localhost.evil.com"])
@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize("behind_proxy", [False, True])
def test_beyond_loopback_needs_tokens_and_tls_or_a_proxy(host: str, *, tls: bool, behind_proxy: bool) -> None:
    assert "token" in (may_bind(host, tokens=False, tls=tls, behind_proxy=behind_proxy) or "")
    assert (may_bind(host, tokens=True, tls=tls, behind_proxy=behind_proxy) is None) == (tls or behind_proxy)


async def test_a_server_that_must_not_start_does_not() -> None:
    clock = FakeClock()
    async with AsyncMemhold.open("memory://", clock=clock) as mem:
        for door in (Door(host="0.0.0.0", tls=True), Door(behind_proxy=True)):
            with pytest.raises(InvalidSetting, match="make a token first"):
                await guarded(echo, mem, door, now=clock.now())
        gone = await mem.admin.tokens.create(user="alice")
        await mem.admin.tokens.create(user="alice", expires_in=timedelta(hours=1))
        await mem.admin.tokens.revoke(gone.token.id)
        with pytest.raises(InvalidSetting, match="in the clear"):
            await guarded(echo, mem, Door(host="0.0.0.0"), now=clock.now())
        await guarded(echo, mem, Door(host="0.0.0.0", tls=True), now=clock.now())
        # Tokens that no longer count are no tokens.
        clock.advance(3601)
        with pytest.raises(InvalidSetting, match="make a token first"):
            await guarded(echo, mem, Door(host="0.0.0.0", tls=True), now=clock.now())


async def test_one_local_user_until_there_is_a_token() -> None:
    clock = FakeClock()
    async with AsyncMemhold.open("memory://", clock=clock) as mem:
        door = Door(local=Scope(user="me"))
        app = await guarded(echo, mem, door, now=clock.now())
        assert (await ask(app)).json["user"] == "me"
        made = await mem.admin.tokens.create(user="alice", rights=["read"])
        assert (await ask(app, token=made.secret)).json["user"] == "alice"
        assert (await ask(app, token="mh_wrong")).status == 401
        app = await guarded(echo, mem, door, now=clock.now())
        assert (await ask(app)).status == 401
        served = (await ask(app, token=made.secret)).json
        assert (served["user"], served["rights"], served["token"]) == ("alice", ["read"], made.token.id)
        await mem.admin.tokens.revoke(made.token.id)
        assert (await ask(app, token=made.secret)).status == 401


async def test_a_server_that_was_started_for_a_user_is_that_users_alone() -> None:
    clock = FakeClock()
    async with AsyncMemhold.open("memory://", clock=clock) as mem:
        named = [("x-memhold-user", "another")]
        bound = await guarded(echo, mem, Door(local=Scope(user="me")), now=clock.now())
        assert (await ask(bound, headers=named)).status == 403
        assert "act" not in (await ask(bound)).json["rights"]
        free = await guarded(echo, mem, Door(), now=clock.now())
        assert (await ask(free, headers=named)).json["user"] == "another"


# ------------------------------------------------------------------------------------------------ who asks


async def test_a_refusal_is_a_problem_and_says_how_to_get_in() -> None:
    answer = await ask(guard())
    assert (answer.status, answer.headers["www-authenticate"]) == (401, 'Bearer realm="memhold"')
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json["type"] == "urn:memhold:problem:Unauthenticated"
    wrong = await ask(guard(), token="bad")
    assert wrong.headers["www-authenticate"] == 'Bearer realm="memhold", error="invalid_token"'
    assert (await ask(guard(), token="good")).json["user"] == "bob"


async def test_a_caller_never_learns_why_a_token_is_refused() -> None:
    clock = FakeClock()
    async with AsyncMemhold.open("memory://", clock=clock) as mem:
        made = [await mem.admin.tokens.create(user="alice") for _ in range(2)]
        await mem.admin.tokens.revoke(made[0].token.id)
        late = await mem.admin.tokens.create(user="alice", expires_in=timedelta(seconds=1))
        clock.advance(2)
        rules = GuardRules(hosts=allowed_hosts("127.0.0.1"))
        app = Guard(echo, rules=rules, authenticate=TokenAuthenticate(mem.admin.tokens), new_id=lambda: "x")
        typo = made[1].secret[:-1] + ("0" if made[1].secret[-1] != "0" else "1")
        unknown = "mh_" + "a" * 16 + "_" + "a" * 60
        answers = [
            await ask(app, token=token) for token in (made[0].secret, late.secret, typo, unknown, "jwt.like.this")
        ]
        assert len({(answer.status, answer.body, tuple(answer.headers.items())) for answer in answers}) == 1
        assert (await ask(app, token=made[1].secret)).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        [("x-user", "root"), ("x-forwarded-user", "root"), ("x-memhold-user", "root"), ("x-api-key", "good")],
        [("cookie", "token=good; session=good")],
        [("proxy-authorization", "Bearer good")],
        [("authorization", "Basic Z29vZA==")],
        [("authorization", "Bearer")],
        [("authorization", "good")],
        [("authorization", "Bearer good x")],
        [("authorization", "Bearer good"), ("authorization", "Bearer good")],
    ],
)
async def test_identity_comes_from_one_header_only(headers: list[tuple[str, str]]) -> None:
    assert (await ask(guard(), headers=headers)).status == 401


async def test_a_principal_in_the_scope_is_not_believed() -> None:
    async def smuggled(scope: Any, receive: Any, send: Any) -> None:
        scope["memhold.principal"] = LOCAL
        await guard()(scope, receive, send)

    assert (await ask(smuggled)).status == 401
    assert "user" not in (await ask(smuggled, "/healthz")).json


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_open_paths_need_no_token_and_get_no_principal(path: str) -> None:
    answer = await ask(guard(local=LOCAL), path)
    assert answer.status == 200
    assert "user" not in answer.json


@pytest.mark.parametrize(
    "path", ["/healthz/", "//healthz", "/healthz/../v1/status", "/HEALTHZ", "/v1/health", "/mcp", "/new/router"]
)
async def test_every_other_path_needs_one(path: str) -> None:
    assert (await ask(guard(), path)).status == 401


async def test_metrics_are_for_neighbours_or_for_a_right() -> None:
    assert (await ask(guard(), "/metrics")).status == 200
    for client in (("10.0.0.9", 1), None):
        assert (await ask(guard(), "/metrics", client=client)).status == 401
    assert (await ask(guard(behind_proxy=True), "/metrics")).status == 401
    denied = await ask(guard(), "/metrics", client=("10.0.0.9", 1), token="good")
    assert (denied.status, denied.json["values"]) == (403, {"right": "admin"})
    assert 'error="insufficient_scope"' in denied.headers["www-authenticate"]
    assert (await ask(guard(behind_proxy=True, local=LOCAL), "/metrics")).status == 200


# ------------------------------------------------------------------------------------------------ well addressed


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:9", "LocalHost:8377", "[::1]:80", "[::1]", "localhost."])
async def test_a_request_names_this_server(host: str) -> None:
    assert (await ask(guard(local=LOCAL), host=("host", host))).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "evil.example:8377",
        "localhost@evil.example",
        "localhost/evil",
        "",
        "::1",
        "a b",
    ],
)
@pytest.mark.parametrize("path", ["/v1/status", "/healthz", "/mcp"])
async def test_a_rebound_name_is_refused(host: str, path: str) -> None:
    answer = await ask(guard(local=LOCAL), path, host=("host", host))
    assert (answer.status, answer.json["type"]) == (421, "urn:memhold:problem:WrongHost")


async def test_a_request_without_or_with_two_hosts_is_refused() -> None:
    assert (await ask(guard(local=LOCAL), host=None)).status == 421
    assert (await ask(guard(local=LOCAL), headers=[("host", "localhost")])).status == 421


def test_hosts_are_those_that_were_named() -> None:
    assert allowed_hosts("0.0.0.0") == allowed_hosts("::") == allowed_hosts("") == {"localhost", "127.0.0.1", "::1"}
    assert allowed_hosts("192.168.1.4", ["Memory.Example."]) > {"192.168.1.4", "memory.example"}
    assert host_fault(["memory.example:443"], allowed_hosts("0.0.0.0", ["memory.example"])) is None
    assert host_fault(["0.0.0.0"], allowed_hosts("0.0.0.0")) is not None


@pytest.mark.parametrize("bind", ["127.0.0.1", "0.0.0.0", "192.168.1.4"])
@pytest.mark.parametrize(
    "headers",
    [
        [("origin", "https://evil.example")],
        [("origin", "null")],
        [("origin", "http://127.0.0.1:9999")],
        [("origin", "http://127.0.0.1:8377.evil.example")],
        [("origin", "http://127.0.0.1:8377"), ("origin", "https://evil.example")],
        [("origin", "file://")],
        [("sec-fetch-site", "cross-site")],
        [("sec-fetch-site", "same-site")],
    ],
)
async def test_pages_of_other_sites_are_refused_on_every_bind(bind: str, headers: list[tuple[str, str]]) -> None:
    app = guard(local=LOCAL, hosts=allowed_hosts(bind))
    for method in ("GET", "POST", "OPTIONS"):
        answer = await ask(app, headers=headers, method=method)
        assert answer.status == 403
        assert not any(name.startswith("access-control") for name in answer.headers)


async def test_pages_of_its_own_and_those_allowed_are_served() -> None:
    own = [("origin", "http://127.0.0.1:8377")]
    assert (await ask(guard(local=LOCAL), headers=own)).status == 200
    allowed = guard(local=LOCAL, origins=frozenset({"https://app.example"}))
    assert (await ask(allowed, headers=[("origin", "https://app.example")])).status == 200
    followed = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]
    assert (await ask(guard(local=LOCAL), headers=followed)).status == 200
    assert (await ask(guard(local=LOCAL), headers=followed, method="POST")).status == 403
    assert origin_fault([], host="localhost", allowed=frozenset()) is None


async def test_web_sockets_are_refused_and_lifespan_passes() -> None:
    sent: list[Any] = []
    passed: list[str] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def app(scope: Any, _receive: Any, _send: Any) -> None:
        passed.append(scope["type"])

    for kind in ("websocket", "lifespan"):
        await guard(app)({"type": kind, "path": "/v1/status"}, None, send)
    assert sent == [{"type": "websocket.close", "code": 1008}]
    assert passed == ["lifespan"]


# ------------------------------------------------------------------------------------------------ how much


@pytest.mark.parametrize("chunks", [[b"x" * 11], [b"x" * 6, b"x" * 5], [b"x"] * 11])
async def test_a_body_is_bounded_whole_or_in_chunks(chunks: list[bytes]) -> None:
    app = guard(local=LOCAL, bodies=BodyLimits(others=10))
    answer = await ask(app, method="POST", chunks=chunks)
    assert (answer.status, answer.json["values"]["limit"]) == (413, 10)
    assert (await ask(app, method="POST", chunks=[b"x" * 10])).json["size"] == 10


async def test_a_body_that_says_it_is_too_large_is_not_read() -> None:
    app = guard(local=LOCAL, bodies=BodyLimits(others=10))
    assert (await ask(app, method="POST", headers=[("content-length", "11")], hangs=True, chunks=[])).status == 413
    for lengths in (["ten"], ["-1"], ["1", "2"], [""]):
        headers = [("content-length", length) for length in lengths]
        assert (await ask(app, method="POST", headers=headers)).status == 400


async def test_a_refusal_takes_the_place_of_what_the_application_makes_of_it() -> None:
    async def lenient(scope: Any, receive: Any, send: Any) -> None:
        try:
            await echo(scope, receive, send)
        except ConnectionError:
            await send({"type": "http.response.start", "status": 400, "headers": []})
            await send({"type": "http.response.body", "body": b"could not parse"})

    async def silent(_scope: Any, receive: Any, _send: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    for app in (lenient, silent):
        answer = await ask(guard(app, local=LOCAL, bodies=BodyLimits(others=10)), method="POST", chunks=[b"x" * 11])
        assert answer.status == 413


async def test_an_answer_begins_in_time_and_a_stream_may_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    limit, later = 60.0, [0.0]
    loop = asyncio.get_running_loop()
    real = loop.time
    monkeypatch.setattr(loop, "time", lambda: real() + later[0])

    async def stuck(_scope: Any, _receive: Any, _send: Any) -> None:
        await _receive()
        later[0] += limit
        await asyncio.Event().wait()

    async def streams(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        # Were the deadline still set, it would come now.
        later[0] += limit
        for _ in range(10):
            await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": b"late"})

    assert (await ask(guard(stuck, local=LOCAL, timeout=limit))).status == 503
    assert (await ask(guard(local=LOCAL, timeout=0.01), method="POST", chunks=[], hangs=True)).status == 408
    assert (await ask(guard(streams, local=LOCAL, timeout=limit))).body == b"late"


async def test_a_token_that_asks_too_much_waits_and_others_do_not() -> None:
    now = [0.0]
    app = guard(clock=lambda: now[0], local=LOCAL, rate=Rate(per_second=2, burst=3))
    assert [(await ask(app, token="good")).status for _ in range(4)] == [200, 200, 200, 429]
    limited = await ask(app, token="good")
    assert limited.headers["retry-after"] == "1"
    assert limited.json["values"]["retry_after"] == 0.5
    assert (await ask(app)).status == 200
    now[0] += 0.5
    assert [(await ask(app, token="good")).status for _ in range(2)] == [200, 429]


@given(st.lists(st.floats(0, 3), max_size=60))
def test_a_bucket_never_gives_more_than_its_rate(pauses: list[float]) -> None:
    now = [0.0]
    limits = RateLimits(Rate(per_second=2, burst=5), lambda: now[0])
    served = 0
    for pause in pauses:
        now[0] += pause
        wait = limits.take("one")
        served += wait == 0
        assert served <= 5 + 2 * now[0] + 0.002
        assert 0 <= wait <= 0.5 + 1e-9


# ------------------------------------------------------------------------------------------------ what goes back


async def test_every_answer_has_an_id_and_safe_headers() -> None:
    given_id = [("x-request-id", "call-7")]
    for answer in (await ask(guard(local=LOCAL), headers=given_id), await ask(guard(), headers=given_id)):
        assert answer.headers["x-request-id"] == "call-7"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert (await ask(guard(local=LOCAL))).json["request"] == "made"
    for odd in ("a b", "x" * 129, "a\tb", "<script>", ""):
        assert request_id_of([odd], lambda: "made") == "made"
    assert request_id_of(["a", "b"], lambda: "made") == "made"
    assert "strict-transport-security" in (await ask(guard(tls=True))).headers


async def test_no_token_and_no_words_reach_a_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    async def fails(_scope: Any, _receive: Any, _send: Any) -> None:
        raise ValueError(f"what {LOCAL.scope.user} said")

    answer = await ask(guard(fails, local=LOCAL), headers=[("authorization", "Bearer good")])
    assert (answer.status, answer.json["detail"]) == (500, "The server failed.")
    await ask(guard(), token="sesame-open")
    assert "request made failed: ValueError" in caplog.text
    assert "refused: Unauthenticated" in caplog.text
    for word in ("what me said", "good", "sesame-open"):
        assert word not in caplog.text


async def test_a_store_that_fails_is_not_a_wrong_token() -> None:
    async with AsyncMemhold.open("memory://") as mem:
        made = await mem.admin.tokens.create(user="alice")
        authenticate = TokenAuthenticate(mem.admin.tokens)
        app = Guard(echo, rules=GuardRules(hosts=allowed_hosts("127.0.0.1")), authenticate=authenticate)
    answer = await ask(app, token=made.secret)
    assert answer.status == 503
    assert json.loads(answer.body)["type"] == "urn:memhold:problem:StoreClosed"
