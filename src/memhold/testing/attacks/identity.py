"""Attacks on who somebody is: no token, somebody else's, one that ended, and what one token may do with another's."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from memhold.testing.attacks.attack import NotTried, attack, expect
from memhold.testing.attacks.target import Target, Tenant, status_of

__all__ = [
    "CANARY",
    "another_namespace",
    "every_route_without_a_token",
    "foreign_hosts",
    "foreign_origins",
    "further_scopes",
    "guesses",
    "ids_of_another",
    "keys_of_another",
    "other_spellings",
    "readers_that_write",
    "rights_that_grow",
    "tokens_in_other_places",
    "tokens_that_are_nearly_right",
    "tokens_that_ran_out",
    "tokens_that_were_revoked",
    "users_named_by_others",
    "victim",
    "web_sockets",
    "what_another_told",
]

_SECRET: Final = "The harbour pilot keeps the heliotrope ledger"  # noqa: S105 - what a victim told
CANARY: Final = "heliotrope"
"""Stands in what a victim told, and in nothing that an attacker says."""


def victim(target: Target) -> tuple[Tenant, dict[str, str]]:
    """A user who told something in each way, and the ids of it."""
    made = target.tenant()
    note = target.ask("POST", "/v1/memories", made.secret, json={"text": _SECRET}).json()
    message = {"role": "user", "content": f"Noted in confidence: {_SECRET}"}
    said = target.ask("POST", "/v1/messages?session=s", made.secret, json={"messages": [message]}).json()
    target.ask("POST", "/v1/documents/put", made.secret, json={"path": ["ledger"], "content": _SECRET})
    return made, {"memory": note["memory"]["id"], "change": note["receipt"]["change_ids"][0], "message": said["ids"][0]}


def _operations(target: Target) -> Iterator[tuple[str, str]]:
    described = target.ask("GET", "/openapi.json", target.token).json()
    for path, verbs in described["paths"].items():
        for method in verbs:
            yield method.upper(), re.sub(r"\{[^{}]*\}", "mem_1", path)


@attack(
    "every route of the API description, `/mcp` and `/openapi.json` without a token",
    seen="401 by each",
    threats=("T9", "ASI03"),
)
def every_route_without_a_token(target: Target) -> str:
    routes = [*_operations(target), ("POST", "/mcp"), ("GET", "/openapi.json"), ("GET", "/v1/nothing")]
    expect(len(routes) > 30, f"the description names only {len(routes)} routes")
    for method, path in routes:
        answer = target.ask(method, path, json={} if method == "POST" else None)
        expect(answer.status_code == 401, f"{method} {path}: it was answered {answer.status_code}")
    return f"{len(routes)} routes"


@attack(
    "a good token in the query, a cookie, another header, as a password, beside another one",
    seen="401: it counts in the Authorization header and nowhere else",
    threats=("T9", "ASI03"),
)
def tokens_in_other_places(target: Target) -> None:
    secret = target.tenant().secret
    bearer = f"Bearer {secret}"
    elsewhere: tuple[Mapping[str, Any], ...] = (
        {"params": {"token": secret}}, {"params": {"access_token": secret}}, {"headers": {"cookie": f"token={secret}"}},
        {"headers": {"x-api-key": secret}}, {"headers": {"authorization": f"Basic {secret}"}},
        {"headers": {"proxy-authorization": bearer}}, {"headers": {"x-forwarded-authorization": bearer}},
    )  # fmt: skip
    for where in elsewhere:
        answer = target.ask("GET", "/v1/status", **where)
        expect(answer.status_code == 401, f"{where.keys()}: it was answered {answer.status_code}")
    twice = target.head(f"Authorization: {bearer}", "Connection: close", method="GET", path="/v1/status", token=secret)
    expect(status_of(target.send(twice)) == 401, "two Authorization headers were taken")


@attack(
    "a token with one character changed, cut, turned to capitals, with another's second half",
    seen="401 by each, in the same words",
    threats=("T9", "ASI03"),
)
def tokens_that_are_nearly_right(target: Target) -> None:
    one, two = target.tenant().secret, target.tenant().secret
    cut = one.rindex("_") + 1
    other = "a" if one[-1] != "a" else "b"
    wrong = (one[:-1] + other, one[:-1], one.upper(), one[:cut] + two[cut:], one + "0", "mh_", "mhp_a_b", "null")
    words = set()
    for token in wrong:
        answer = target.ask("GET", "/v1/status", token)
        expect(answer.status_code == 401, f"it was answered {answer.status_code}")
        words.add(answer.json().get("detail"))
    expect(len(words) == 1, f"the refusals tell apart what was wrong: {words}")


@attack(
    "a token that was revoked, at once and on a stream that was open before",
    seen="401, and the stream ends",
    threats=("T13", "ASI10"),
)
def tokens_that_were_revoked(target: Target) -> None:
    made = target.tenant()
    with target.stream("/v1/changes/stream", made.secret) as stream:
        expect(stream.status_code == 200, f"the stream was answered {stream.status_code}")
        target.revoke(made)
        expect(target.ask("GET", "/v1/status", made.secret).status_code == 401, "it still counts")
        late = time.monotonic() + target.patience
        for _ in stream.iter_raw():
            expect(time.monotonic() < late, "the stream goes on")


@attack("a token that has run out", seen="401 once its time is over", threats=("T13", "ASI10"))
def tokens_that_ran_out(target: Target) -> None:
    made = target.tenant(expires_in=1)
    late = time.monotonic() + target.patience
    while target.ask("GET", "/v1/status", made.secret).status_code != 401:
        expect(time.monotonic() < late, "it still counts")
        time.sleep(0.1)


_HEADERS: Final = (
    "x-memhold-namespace", "x-namespace", "x-user", "x-user-id", "x-forwarded-user", "x-remote-user", "x-auth-user",
    "x-tenant", "x-memhold-agent", "x-original-user", "remote-user", "from",
)  # fmt: skip


@attack(
    "another user named in headers, parameters and bodies of every kind by a token that is no service's",
    seen="refused (403, 422) where it is read at all; nothing of the other is answered",
    threats=("T9", "ASI03"),
)
def users_named_by_others(target: Target) -> None:
    other, _ = victim(target)
    mine = target.tenant()
    name = str(other.user)
    tries = [
        target.ask("POST", "/v1/recall", mine.secret, json={"query": CANARY}, headers={header: name})
        for header in _HEADERS
    ]
    named = [
        target.ask("GET", "/v1/memories", mine.secret, headers={"x-memhold-user": name}),
        *(target.ask("POST", "/v1/recall", mine.secret, json={"query": "x", key: name}) for key in ("user", "user_id")),
        *(target.ask("GET", "/v1/memories", mine.secret, params={key: name}) for key in ("user", "namespace", "scope")),
        target.ask("POST", "/v1/messages", mine.secret, json={"messages": [], "user": name}),
    ]
    for answer in (*tries, *named):
        expect("heliotrope ledger" not in answer.text, "what another told was answered")
    for answer in named:
        expect(
            answer.status_code in {400, 403, 422}, f"{answer.request.url.path}: it was answered {answer.status_code}"
        )


@attack(
    "what another user told is looked for through every route that reads, the page and MCP",
    seen="nothing of it stands in an answer",
    threats=("T3", "ASI03"),
)
def what_another_told(target: Target) -> None:
    victim(target)
    mine = target.tenant().secret
    reads = ("memories", "messages", "changes", "summaries", "sessions", "suspicions", "export", "status", "scope")
    answers = [target.ask("GET", f"/v1/{path}", mine).text for path in reads]
    for path, body in (
        ("/v1/recall", {"query": "harbour pilot"}),
        ("/v1/context", {"messages": [{"role": "user", "content": "the harbour pilot?"}], "budget": 4000}),
        ("/v1/documents/list", {}), ("/v1/documents/search", {"query": "harbour pilot"}),
        ("/v1/documents/read", {"path": ["ledger"]}),
    ):  # fmt: skip
        answers.append(target.ask("POST", path, mine, json=body).text)
    answers += [target.tool(mine, "recall", query="harbour pilot"), target.tool(mine, "get_context", message="harbour")]
    answers += [str(target.rpc(mine, "resources/read", {"uri": f"memhold://{one}"})) for one in ("profile", "history")]
    for answer in answers:
        expect(CANARY not in answer, "what another told was answered")
        expect(answer, "an answer was empty")


@attack(
    "the ids of another user's memories, messages and changes: read, changed, forgotten, undone",
    seen="404 in the words of an id that was never given; nothing changes",
    threats=("T3", "ASI03"),
)
def ids_of_another(target: Target) -> None:
    other, ids = victim(target)
    mine = target.tenant().secret
    memory, message, change = ids["memory"], ids["message"], ids["change"]
    calls: tuple[tuple[str, str, Any], ...] = (
        ("GET", f"/v1/memories/{memory}", None), ("GET", f"/v1/memories/{memory}/history", None),
        ("POST", f"/v1/memories/{memory}/correct", {"value": "x"}), ("POST", f"/v1/memories/{memory}/pin", {}),
        ("DELETE", f"/v1/memories/{memory}", None), ("POST", "/v1/forget", {"item_id": memory}),
        ("GET", f"/v1/messages/{message}", None), ("GET", f"/v1/messages/{message}/text", None),
        ("DELETE", f"/v1/messages/{message}", None), ("POST", f"/v1/changes/{change}/undo", {}),
        ("POST", "/v1/undo", {"change_id": change}),
    )  # fmt: skip
    for method, path, body in calls:
        answer = target.ask(method, path, mine, json=body)
        expect(answer.status_code == 404, f"{method} {path}: it was answered {answer.status_code}")
        unknown = target.ask(method, _another(path), mine, json=None if body is None else _others(body))
        told = re.sub(r"[a-z]{3}_[0-9a-f]+", "ID", answer.text), re.sub(r"[a-z]{3}_[0-9a-f]+", "ID", unknown.text)
        expect(told[0] == told[1], f"{method} {path}: an id that is another's is told from one that is nobody's")
    kept = target.ask("GET", f"/v1/memories/{memory}", other.secret).json()
    expect((kept.get("text"), kept.get("rev"), kept.get("pinned")) == (_SECRET, 1, False), "it was changed")


def _another(path: str) -> str:
    return re.sub(r"([a-z]{3}_)[0-9a-f]+", lambda found: found[1] + "0" * 32, path)


def _others(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _another(value) if isinstance(value, str) else value for name, value in body.items()}


@attack(
    "`also` names the scopes of other users, agents and namespaces",
    seen="403, whether there is anything in them or not",
    threats=("T3", "ASI03"),
)
def further_scopes(target: Target) -> None:
    other, _ = victim(target)
    mine = target.tenant().secret
    there: tuple[dict[str, Any], ...] = (
        {"user": other.user}, {"user": target.new_name()}, {"user": None}, {"namespace": "other", "user": other.user},
        {"namespace": "default//below", "user": other.user},
    )  # fmt: skip
    for scope in there:
        for path, body in (
            ("/v1/recall", {"query": "harbour pilot"}),
            ("/v1/context", {"messages": [{"role": "user", "content": "the harbour pilot?"}], "budget": 4000}),
        ):
            answer = target.ask("POST", path, mine, json={**body, "also": [scope]})
            expect(CANARY not in answer.text, "what another told was answered")
            expect(answer.status_code in {403, 422}, f"{path} also {scope}: it was answered {answer.status_code}")


@attack(
    "a token of one namespace looks for what stands in another: by search, id, `also`, export, tokens",
    seen="nothing of it is answered, and its tokens are not listed or ended",
    threats=("T3", "ASI03"),
)
def another_namespace(target: Target) -> None:
    if target.other is None:
        raise NotTried("it needs a token of another namespace (--other)")
    note = {"text": _SECRET}
    user = target.new_name()
    there = target.tenant(user=user, by=target.other)
    told = target.ask("POST", "/v1/memories", there.secret, json=note).json()["memory"]["id"]
    named = {"x-memhold-user": user}
    tries = [
        target.ask("POST", "/v1/recall", target.token, json={"query": CANARY}, headers=named),
        target.ask("GET", f"/v1/memories/{told}", target.token, headers=named),
        target.ask("GET", "/v1/export", target.token, headers=named),
        target.ask("GET", "/v1/admin/users", target.token, params={"limit": 1000}),
        target.ask("GET", "/v1/tokens", target.token),
        target.ask("GET", "/v1/admin/doctor", target.token),
    ]
    for answer in tries:
        expect("heliotrope ledger" not in answer.text, f"{answer.request.url.path}: it was answered")
    expect(there.id not in tries[4].text, "the token of another namespace is listed")
    expect(user not in tries[3].text, "the user of another namespace is listed")
    ended = target.ask("DELETE", f"/v1/tokens/{there.id}", target.token)
    expect(ended.status_code == 404, f"ending another namespace's token was answered {ended.status_code}")
    expect(target.ask("GET", "/v1/status", there.secret).status_code == 200, "it was ended all the same")


@attack(
    "another user's idempotency key, with the same content and with other content",
    seen="a write of one's own: no receipt, id or conflict of another's",
    threats=("T3", "T9"),
)
def keys_of_another(target: Target) -> None:
    one, two = target.tenant(), target.tenant()
    key = {"idempotency-key": target.new_name()}
    first = target.ask("POST", "/v1/memories", one.secret, json={"text": "the same words"}, headers=key)
    for text in ("the same words", "other words"):
        fresh = two if text == "the same words" else target.tenant()
        again = target.ask("POST", "/v1/memories", fresh.secret, json={"text": text}, headers=key)
        expect(again.status_code == 201, f"it was answered {again.status_code}")
        expect(again.json()["memory"]["id"] != first.json()["memory"]["id"], "another's memory was answered")
        expect(not again.json()["receipt"]["replayed"], "it counts as written")


@attack(
    "a token that may read writes, corrects, forgets, imports, and uses tools that write",
    seen="403, or a tool that says so; nothing is written",
    threats=("T3", "ASI03"),
)
def readers_that_write(target: Target) -> None:
    writer = target.tenant()
    kept = target.ask("POST", "/v1/memories", writer.secret, json={"text": "keeps"}).json()["memory"]["id"]
    reader = target.tenant("read", user=writer.user).secret
    for method, path, body in (
        ("POST", "/v1/memories", {"text": "x"}), ("POST", "/v1/messages", {"messages": [{"role": "user", "content": "x"}]}),
        ("POST", f"/v1/memories/{kept}/correct", {"value": "x"}), ("POST", "/v1/forget", {"everything": True}),
        ("POST", "/v1/documents/put", {"path": ["a"], "content": "x"}), ("POST", "/v1/import?format=jsonl", {}),
        ("POST", "/v1/compact", {}), ("POST", "/v1/sessions/end", {}), ("DELETE", f"/v1/memories/{kept}", None),
    ):  # fmt: skip
        answer = target.ask(method, path, reader, json=body)
        expect(answer.status_code == 403, f"{method} {path}: it was answered {answer.status_code}")
    listed = {tool["name"] for tool in target.rpc(reader, "tools/list")["result"]["tools"]}
    expect(not listed & {"remember", "forget", "correct", "add_message"}, f"it is offered {sorted(listed)}")
    target.tool(reader, "forget", item_id=kept)
    held = target.ask("GET", "/v1/memories", writer.secret).json()["items"]
    expect([one["text"] for one in held] == ["keeps"], "something was written")


@attack(
    "tokens ask for more than they have: admin routes, tokens with more rights, of other users, that live longer",
    seen="403 by each",
    threats=("T3", "ASI03"),
)
def rights_that_grow(target: Target) -> None:
    plain, looking = target.tenant().secret, target.tenant("read", "admin", user=None, expires_in=600).secret
    for method, path in (
        ("GET", "/v1/tokens"), ("POST", "/v1/tokens"), ("GET", "/v1/admin/users"), ("GET", "/v1/admin/usage"),
        ("POST", "/v1/admin/settle"), ("POST", "/v1/admin/reindex"), ("GET", "/v1/admin/doctor"),
        ("GET", "/v1/admin/models/usage"),
    ):  # fmt: skip
        answer = target.ask(method, path, plain, json={} if method == "POST" else None)
        expect(answer.status_code == 403, f"{method} {path}: it was answered {answer.status_code}")
    for token in (plain, looking):
        answer = target.ask("POST", "/v1/admin/residue", token, json={"text": "another's word"})
        expect(answer.status_code == 403, f"the bytes of every namespace: it was answered {answer.status_code}")
    for body in (
        {"rights": ["act"]}, {"rights": ["write"], "user": "x"}, {"rights": ["read"], "expires_in": 100_000},
        {"rights": ["read"], "namespace": "other"}, {"rights": ["root"]},
    ):  # fmt: skip
        answer = target.ask("POST", "/v1/tokens", looking, json=body)
        expect(answer.status_code in {403, 422}, f"a token with {body} was answered {answer.status_code}")


@attack(
    "a foreign Host, several, and one that only begins or ends like the server's",
    seen="421 (400 where there are several): a page cannot rebind its name to this address",
    threats=("T9",),
)
def foreign_hosts(target: Target) -> None:
    host, port = target.address
    token = target.tenant().secret
    for name in ("evil.example", f"evil.example:{port}", f"{host}.evil.example", f"evil{host}", "", "127.0.0.1.nip.io"):
        raw = f"GET /v1/status HTTP/1.1\r\nHost: {name}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        got = target.send(raw.encode())
        expect(b" 421 " in got[:20] or b" 400 " in got[:20], f"{name!r}: {got[:20]!r}")
    twice = (
        f"GET /v1/status HTTP/1.1\r\nHost: {host}:{port}\r\nHost: evil.example\r\nAuthorization: Bearer {token}\r\n\r\n"
    )
    expect(b" 200 " not in target.send(twice.encode())[:20], "two Host headers were served")


@attack(
    "requests as pages of other sites send them (Origin, Sec-Fetch-Site), with a good token",
    seen="403, and no header lets such a page read an answer",
    threats=("T9",),
)
def foreign_origins(target: Target) -> None:
    token = target.tenant().secret
    for headers in (
        {"origin": "https://evil.example"}, {"origin": "null"}, {"origin": f"{target.url}.evil.example"},
        {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}, {"origin": "file://"},
    ):  # fmt: skip
        for method, path in (("GET", "/v1/status"), ("POST", "/mcp"), ("OPTIONS", "/v1/status")):
            answer = target.ask(method, path, token, headers=headers)
            expect(answer.status_code == 403, f"{method} {path} with {headers}: it was answered {answer.status_code}")
            allowed = [name for name in answer.headers if name.startswith("access-control-")]
            expect(not allowed, f"{allowed[0] if allowed else ''} is sent")


@attack(
    "other spellings of paths and methods: //, /., %2e, capitals, overrides, what proxies put in",
    seen="401 or 404 without a token; with one nothing that it may not see",
    threats=("T3",),
)
def other_spellings(target: Target) -> None:
    plain = target.tenant().secret
    for path in (
        "//v1/status", "/v1//status", "/./v1/status", "/healthz/../v1/status", "/V1/status", "/v1/status;a", "/v1%2fstatus",
        "/healthz%2f..%2fv1/status", "/v1/status%20", "/ui/../v1/status", "/healthz/v1/status", "/%76%31/status",
    ):  # fmt: skip
        got = target.send(target.head("Connection: close", method="GET", path=path))
        expect(b" 200 " not in got[:20], f"{path}: {got[:20]!r}")
    for headers in ({"x-original-url": "/healthz"}, {"x-rewrite-url": "/healthz"}, {"x-http-method-override": "GET"}):
        expect(target.ask("GET", "/v1/status", headers=headers).status_code == 401, f"{headers} opens a route")
    for path in ("/metrics/", "//metrics", "/metrics%2f", "/Metrics"):
        got = target.send(target.head("Connection: close", method="GET", path=path, token=plain))
        expect(b"memhold_" not in got, f"{path}: it tells metrics")
    for method in ("TRACE", "CONNECT", "PROPFIND"):
        got = target.send(target.head("Connection: close", method=method, path="/v1/status", token=plain))
        expect(b" 200 " not in got[:20], f"{method}: {got[:20]!r}")


@attack("a web socket on each kind of path", seen="refused", threats=("T3",))
def web_sockets(target: Target) -> None:
    token = target.tenant().secret
    upgrade = (
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    )
    for path in ("/v1/status", "/mcp", "/ui", "/healthz"):
        got = target.send(target.head(*upgrade, "Content-Length: 0", method="GET", path=path, token=token))
        expect(b" 101 " not in got[:20], f"{path}: the connection was taken over")


@attack(
    "40 guesses of a token from one address, between requests of somebody whose token counted",
    seen="the guesses are told to wait (429), whose token counted goes on",
    threats=("T9", "ASI03"),
)
def guesses(target: Target) -> None:
    good = target.tenant().secret
    expect(target.ask("GET", "/v1/status", good).status_code == 200, "a good token does not count")
    told = set()
    for number in range(40):
        wrong = f"mh_{'a' * 16}_{number:052d}00000000"
        told.add(target.ask("GET", "/v1/status", wrong, patient=False).status_code)
    expect(told <= {401, 429}, f"a guess was answered {told - {401, 429}}")
    expect(429 in told, "40 guesses were all looked at")
    expect(target.ask("GET", "/v1/status", good, patient=False).status_code == 200, "a good token has to wait too")
