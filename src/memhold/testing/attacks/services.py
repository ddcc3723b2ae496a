"""Attacks with and on a service's token, which acts for users: for whom, in which spelling, and for how long."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Final

from memhold.testing.attacks.attack import attack, expect
from memhold.testing.attacks.identity import CANARY, victim
from memhold.testing.attacks.target import Target, named_problem

__all__ = [
    "exchanges_by_others",
    "exchanges_for_more",
    "forged_passes",
    "header_against_body",
    "names_that_look_alike",
    "services_that_name_nobody",
    "tokens_of_ended_services",
    "users_of_one_service",
    "users_of_other_namespaces",
]

_EXCHANGE: Final = "urn:ietf:params:oauth:grant-type:token-exchange"
_USER: Final = "urn:memhold:params:oauth:token-type:user"


def _service(target: Target, *rights: str) -> str:
    return target.tenant(*(rights or ("read", "write", "act")), user=None).secret


def _form(user: str, **more: str) -> dict[str, str]:
    return {"grant_type": _EXCHANGE, "subject_token": user, "subject_token_type": _USER, **more}


@attack(
    "a service's request whose header names one user and whose body another, in each place that names users",
    seen="400 (TwoUsers), and neither has anything",
    threats=("T9", "ASI03"),
)
def header_against_body(target: Target) -> None:
    service, one, two = _service(target), target.new_name(), target.new_name()
    message = {"role": "user", "content": "whose?"}
    for path, body in (
        ("/v1/messages", {"messages": [message], "user": two}), ("/v1/memories", {"text": "whose?", "user": two}),
        ("/v1/recall", {"query": "x", "user": two}), ("/v1/documents/put", {"path": ["a"], "content": "x", "user": two}),
    ):  # fmt: skip
        answer = target.ask("POST", path, service, json=body, headers={"x-memhold-user": one})
        expect(answer.status_code == 400, f"{path}: it was answered {answer.status_code}")
        expect(named_problem(answer) == "TwoUsers", f"{path}: it was refused as {named_problem(answer)}")
    exchanged = target.ask("POST", "/v1/token-exchange", service, data=_form(two), headers={"x-memhold-user": one})
    expect(exchanged.status_code == 400, f"an exchange was answered {exchanged.status_code}")
    twice = target.head(
        f"X-Memhold-User: {one}",
        f"X-Memhold-User: {two}",
        "Connection: close",
        method="GET",
        path="/v1/status",
        token=service,
    )
    expect(b" 400 " in target.send(twice)[:20], "two X-Memhold-User headers were taken")
    for user in (one, two):
        held = target.ask("GET", "/v1/messages", service, headers={"x-memhold-user": user}).json()["items"]
        expect(held == [], "something was written")


@attack(
    "a service's requests that name nobody, an empty name, a name that is no text",
    seen="422: nothing becomes memory of no user",
    threats=("T9",),
)
def services_that_name_nobody(target: Target) -> None:
    service = _service(target)
    nameless: tuple[dict[str, Any], ...] = ({}, {"x-memhold-user": ""}, {"x-memhold-user": b"\xff"})
    for headers in nameless:
        for method, path, body in (
            ("GET", "/v1/memories", None), ("POST", "/v1/memories", {"text": "x"}), ("GET", "/v1/export", None),
        ):  # fmt: skip
            answer = target.ask(method, path, service, headers=headers, json=body)
            expect(answer.status_code == 422, f"{method} {path}, {headers}: it was answered {answer.status_code}")
    expect("acts for users" in target.tool(service, "recall", query="x"), "a tool works for nobody")


@attack(
    "a service acts for users of other namespaces: named by header, body, parameter, name with strokes, compatible route",
    seen="refused, or that user of its own namespace who has nothing",
    threats=("T3", "ASI03"),
)
def users_of_other_namespaces(target: Target) -> None:
    service, user = _service(target), target.new_name()
    named = {"x-memhold-user": user}
    for path, body, headers in (
        ("/v1/recall", {"query": "x", "namespace": "other"}, named),
        ("/v1/recall", {"query": "x", "user": {"namespace": "other", "user": user}}, {}),
        ("/v1/recall", {"query": "x", "also": [{"namespace": "other", "user": user}]}, named),
        ("/v1/recall?namespace=other", {"query": "x"}, named),
        ("/v1/tokens", {"namespace": "other", "user": user}, {}),
    ):
        answer = target.ask("POST", path, service, json=body, headers=headers)
        expect(answer.status_code in {400, 403, 422}, f"{path} {body}: it was answered {answer.status_code}")
    other = target.other
    if other is not None:
        there = target.tenant(user=user, by=other)
        target.ask("POST", "/v1/memories", there.secret, json={"text": f"the {CANARY} ledger"})
        for name in (user, f"other//{user}", f"other/{user}", f"../other/{user}"):
            answer = target.ask(
                "POST", "/v1/recall", service, json={"query": "ledger"}, headers={"x-memhold-user": name}
            )
            expect(CANARY not in answer.text, f"as {name}: what stands in another namespace was answered")


_REFUSED: Final = (
    "josé ", " josé", "jos\u00e9\u00a0", "jo\u200bsé", "jo\u200dsé", "josé\ufeff", "\u202ejosé", "jo\u00adsé", "josé\n",
    "jo\tsé", "jo\x00sé", "josé\u3164", "josé\ufe0f", "jo\U000e0041sé", "\u2066josé\u2069", "jos\u2003é",
)  # fmt: skip


@attack(
    "names that look like a user's: accents in parts, spaces at the edge, zero-width, bidi and tag characters",
    seen="composed and decomposed are one user; the others are refused (4xx) at every door that takes a name",
    threats=("T9",),
)
def names_that_look_alike(target: Target) -> None:
    service, base = _service(target), target.new_name()
    composed, apart = f"{base}-josé", unicodedata.normalize("NFD", f"{base}-josé")
    target.tenant(user=composed)
    told = target.ask("POST", "/v1/memories", service, json={"text": "one and the same"}, headers=_named(composed))
    expect(told.status_code == 201, f"it was answered {told.status_code}")
    found = target.ask("GET", "/v1/memories", service, headers=_named(apart)).json()["items"]
    expect([one["text"] for one in found] == ["one and the same"], "the accent in parts is another user")
    for name in _REFUSED:
        whole = name.replace("jo", f"{base}-jo")
        by_body = target.ask("POST", "/v1/memories", service, json={"text": "x", "user": whole})
        expect(400 <= by_body.status_code < 500, f"{name!a} in a body: it was answered {by_body.status_code}")
        exchanged = target.ask("POST", "/v1/token-exchange", service, data=_form(whole))
        expect(400 <= exchanged.status_code < 500, f"{name!a} exchanged: it was answered {exchanged.status_code}")
        made = target.ask("POST", "/v1/tokens", target.token, json={"user": whole})
        expect(400 <= made.status_code < 500, f"{name!a} for a token: it was answered {made.status_code}")
        if re.search(r"[\n\x00]", name) or name != name.strip(" \t"):
            continue  # no header can carry these: blanks at its edge are no part of it
        by_header = target.ask("GET", "/v1/memories", service, headers=_named(whole))
        expect(400 <= by_header.status_code < 500, f"{name!a} in the header: it was answered {by_header.status_code}")


def _named(user: str) -> dict[str, bytes]:
    return {"x-memhold-user": user.encode()}


@attack(
    "exchanges by tokens that are no service's: a user's, an administrator's, a token that was itself exchanged",
    seen="403 by each",
    threats=("T3", "ASI03"),
)
def exchanges_by_others(target: Target) -> None:
    user = target.new_name()
    service = _service(target)
    first = target.ask("POST", "/v1/token-exchange", service, data=_form(user)).json()["access_token"]
    for token in (target.tenant().secret, target.tenant("read", "write", "admin", user=None).secret, first):
        answer = target.ask("POST", "/v1/token-exchange", token, data=_form(target.new_name()))
        expect(answer.status_code == 403, f"it was answered {answer.status_code}")
    for name in (user, target.new_name()):
        answer = target.ask("GET", "/v1/memories", first, headers={"x-memhold-user": name})
        expect(answer.status_code == (200 if name == user else 403), f"it was answered {answer.status_code}")
    for path in ("/v1/tokens", "/v1/admin/users"):
        expect(target.ask("GET", path, first).status_code == 403, f"{path} is open to a token of one user")


@attack(
    "exchanges for more: admin, act, a right that the service lacks, a day, another token type, a parameter twice",
    seen="400 (RFC 8693) or 403, and no token",
    threats=("T3", "ASI03"),
)
def exchanges_for_more(target: Target) -> None:
    service, reading = _service(target), _service(target, "read", "act")
    user = target.new_name()
    for more in (
        {"scope": "admin"}, {"scope": "read act"}, {"scope": "read write admin"}, {"expires_in": "86400"},
        {"expires_in": "-1"}, {"expires_in": "1e3"}, {"expires_in": "٣"}, {"audience": "other"}, {"actor_token": "x"},
        {"requested_token_type": "urn:ietf:params:oauth:token-type:refresh_token"}, {"namespace": "other"},
    ):  # fmt: skip
        answer = target.ask("POST", "/v1/token-exchange", service, data=_form(user, **more))
        expect(answer.status_code == 400, f"{more}: it was answered {answer.status_code}")
    twice = "&".join(f"{name}={value}" for name, value in _form(user).items()) + "&subject_token=another"
    form = {"content-type": "application/x-www-form-urlencoded"}
    answer = target.ask("POST", "/v1/token-exchange", service, content=twice, headers=form)
    expect(answer.status_code == 400, f"two users: it was answered {answer.status_code}")
    wider = target.ask("POST", "/v1/token-exchange", reading, data=_form(user, scope="read write"))
    expect(wider.status_code in {400, 403}, f"a right that the service lacks: it was answered {wider.status_code}")
    plain = target.ask("POST", "/v1/token-exchange", reading, data=_form(user)).json()
    written = target.ask("POST", "/v1/memories", plain["access_token"], json={"text": "x"})
    expect(written.status_code == 403, f"a service that may read gave a token that writes ({written.status_code})")


@attack(
    "exchanged tokens that are made up: another user, more time, a seal cut, changed, of another token",
    seen="401 by each",
    threats=("T9", "ASI03"),
)
def forged_passes(target: Target) -> None:
    service = _service(target)
    one, two = (
        target.ask("POST", "/v1/token-exchange", service, data=_form(target.new_name())).json()["access_token"]
        for _ in range(2)
    )
    body, seal = one.rsplit("_", 1)
    changed = body[:-1] + ("a" if body[-1] != "a" else "b")
    for wrong in (
        f"{changed}_{seal}",
        f"{body}_{'0' * len(seal)}",
        body,
        f"{body}_",
        f"{body}_{two.rsplit('_', 1)[1]}",
    ):
        answer = target.ask("GET", "/v1/memories", wrong)
        expect(answer.status_code == 401, f"it was answered {answer.status_code}")
    expect(target.ask("GET", "/v1/memories", one).status_code == 200, "the true one does not count")


@attack(
    "a service's token ends; what it had exchanged before is used",
    seen="401 at the next request",
    threats=("T13", "ASI10"),
)
def tokens_of_ended_services(target: Target) -> None:
    service = target.tenant("read", "write", "act", user=None)
    answer = target.ask("POST", "/v1/token-exchange", service.secret, data=_form(target.new_name()))
    passed = answer.json()["access_token"]
    expect(target.ask("GET", "/v1/memories", passed).status_code == 200, "it never counted")
    target.revoke(service)
    for token in (passed, service.secret):
        after = target.ask("GET", "/v1/memories", token, headers={"x-memhold-user": "x"} if token != passed else None)
        expect(after.status_code == 401, f"it was answered {after.status_code}")


@attack(
    "two users of one service look for each other's memory, over REST and MCP",
    seen="each finds their own alone",
    threats=("T3", "ASI03"),
)
def users_of_one_service(target: Target) -> None:
    service = _service(target)
    other, _ = victim(target)
    mine = {"x-memhold-user": target.new_name()}
    target.ask("POST", "/v1/memories", service, json={"text": "the pilot of my own"}, headers=mine)
    found = target.ask("POST", "/v1/recall", service, json={"query": "harbour pilot"}, headers=mine)
    for text in (found.text, target.tool(service, "recall", query="harbour pilot", headers=mine)):
        expect(CANARY not in text, "what another user told was answered")
        expect("of my own" in text, "one's own was not")
    theirs = {"x-memhold-user": str(other.user)}
    expect(CANARY in target.tool(service, "recall", query="harbour pilot", headers=theirs), "the other finds nothing")
