"""Attacks with access tokens of an OAuth issuer whose keys are ours: every one of these is signed well, or nearly."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memhold.testing.attacks.attack import NotTried, attack, expect

if TYPE_CHECKING:
    from memhold.testing.attacks.issuer import Issuer
    from memhold.testing.attacks.target import Target

__all__ = [
    "algorithms_mixed_up",
    "an_issuer_that_hangs",
    "keys_that_tokens_bring",
    "scopes_that_grow",
    "subs_that_look_alike",
    "times_that_are_none",
    "tokens_for_others",
    "tokens_of_other_types",
]


def _issuer(target: Target) -> Issuer:
    if target.issuer is None:
        raise NotTried(
            "it needs an issuer whose keys are ours: leave the address out, and a server is started with one"
        )
    good = target.ask("GET", "/v1/status", target.issuer.token())
    expect(good.status_code == 200, f"a token that is right was answered {good.status_code}")
    return target.issuer


def _refused(target: Target, tokens: Mapping[str, str]) -> None:
    for name, token in tokens.items():
        status = target.ask("GET", "/v1/status", token).status_code
        expect(status == 401, f"{name}: it was answered {status}")


@attack(
    "access tokens whose times are NaN, Infinity, 1e400, true, text, past, or not there",
    seen="401 by each",
    threats=("T9", "ASI03"),
)
def times_that_are_none(target: Target) -> None:
    issuer = _issuer(target)
    made: dict[str, str] = {}
    for claim in ("exp", "nbf", "iat"):
        for value in ("NaN", "Infinity", "-Infinity", "1e400", "true", '"9999999999"', "[9999999999]", "9" * 400):
            raw = json.dumps(issuer.claims(**{claim: "HERE"})).replace('"HERE"', value).encode()
            made[f"{claim} {value[:12]}"] = issuer.token(raw=raw)
    made["no exp"] = issuer.token(issuer.claims(exp=None))
    made["past"] = issuer.token(issuer.claims(exp=1))
    made["of later"] = issuer.token(issuer.claims(nbf=9_999_999_999))
    _refused(target, made)


@attack(
    "tokens of other types: ID tokens, encrypted ones, logout and security event tokens, critical headers",
    seen="401 by each",
    threats=("T9", "ASI03"),
)
def tokens_of_other_types(target: Target) -> None:
    issuer = _issuer(target)
    kinds = ("JWE", "id_token+jwt", "logout+jwt", "secevent+jwt", "dpop+jwt", "", 5, ["at+jwt"], {"at+jwt": 1})
    _refused(target, {str(kind): issuer.token(typ=kind) for kind in kinds})
    _refused(target, {"critical": issuer.token(crit=["x"], x=1), "unencoded": issuer.token(b64=False, crit=["b64"])})
    five = ".".join([issuer.token().partition(".")[0], *["AAAA"] * 4])
    _refused(target, {"five parts": five, "one part": "eyJhbGciOiJub25lIn0", "too long": issuer.token() + "A" * 9000})


@attack(
    "algorithms mixed up: none, a shared secret made of the public key, another type's key, an empty signature",
    seen="401 by each",
    threats=("T9", "ASI03"),
)
def algorithms_mixed_up(target: Target) -> None:
    from cryptography.hazmat.primitives import serialization

    from memhold.testing.attacks.issuer import encoded

    issuer = _issuer(target)
    body = encoded(json.dumps(issuer.claims()).encode())
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    public = issuer.rsa.public_key().public_bytes(serialization.Encoding.PEM, form)
    made = {}
    for algorithm in ("none", "None", "NONE", "nOnE", ""):
        head = encoded(json.dumps({"alg": algorithm, "typ": "at+jwt", "kid": "rsa"}).encode())
        made[f"alg {algorithm!r}"] = f"{head}.{body}."
    for kid in ("rsa", "ec", None):
        head = encoded(json.dumps({"alg": "HS256", "typ": "at+jwt", "kid": kid}).encode())
        signature = hmac.new(public, f"{head}.{body}".encode(), hashlib.sha256).digest()
        made[f"HS256 with the key {kid}"] = f"{head}.{body}.{encoded(signature)}"
    right = issuer.token()
    made["no signature"] = right.rpartition(".")[0] + "."
    made["ES256 with an RSA key"] = issuer.token(alg="ES256")
    made["the other key"] = issuer.token(kid="ec")
    _refused(target, made)


@attack(
    "tokens that bring the key they are signed with, or say where it is (jwk, jku, x5u, x5c, kid as a path)",
    seen="401 by each, and nothing is fetched from where they point",
    threats=("T9", "T11", "ASI03"),
)
def keys_that_tokens_bring(target: Target) -> None:
    import jwt

    issuer = _issuer(target)
    own = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(issuer.foreign.public_key()))
    before = len(issuer.paths)
    headers: dict[str, dict[str, Any]] = {
        "jwk": {"jwk": own}, "jku": {"jku": f"{issuer.url}/elsewhere"}, "x5u": {"x5u": f"{issuer.url}/elsewhere"},
        "x5c": {"x5c": ["AAAA"]}, "kid as a path": {"kid": "../../../../dev/null"}, "kid as SQL": {"kid": "' OR 1=1 --"},
        "another's signature": {},
    }  # fmt: skip
    made = {name: issuer.token(key=issuer.foreign, **header) for name, header in headers.items()}
    _refused(target, made)
    expect("/elsewhere" not in issuer.paths[before:], "what the token points to was fetched")


@attack(
    "tokens of another issuer, for another audience, or that name neither",
    seen="401 by each",
    threats=("T9", "ASI03"),
)
def tokens_for_others(target: Target) -> None:
    issuer = _issuer(target)
    others: tuple[dict[str, Any], ...] = (
        {"iss": "https://evil.example"}, {"iss": f"{issuer.url}/"}, {"iss": None}, {"iss": [issuer.url]},
        {"aud": "https://evil.example"}, {"aud": None}, {"aud": []}, {"aud": [5]}, {"aud": {"a": issuer.audience}},
        {"aud": issuer.audience + ".evil.example"},
    )  # fmt: skip
    _refused(target, {str(more): issuer.token(issuer.claims(**more)) for more in others})


@attack(
    "a `sub` that is empty, no text, or looks like another user's (zero-width, bidi, spaces at the edge)",
    seen="401 by each; the same name with its accent in parts is the same user",
    threats=("T9",),
)
def subs_that_look_alike(target: Target) -> None:
    issuer = _issuer(target)
    subs: tuple[Any, ...] = (
        "", " ", "josé ", "jo\u200bsé", "\u202ejosé", "josé\ufeff", "josé\u00a0", 5, True, ["josé"], {"a": "b"}, "a" * 5000, "a\x00b",
    )  # fmt: skip
    _refused(target, {f"{sub!a:.30}": issuer.token(issuer.claims(sub=sub)) for sub in subs})
    _refused(target, {"no sub": issuer.token(issuer.claims(sub=None))})
    told = []
    for sub in ("attack-jos\u00e9", "attack-jose\u0301"):
        scope = target.ask("GET", "/v1/scope", issuer.token(issuer.claims(sub=sub))).json()
        told.append(json.dumps(scope, sort_keys=True))
    expect(told[0] == told[1], "an accent in parts is another user")


@attack(
    "tokens whose scope asks for admin, act, everything, or what it was not given",
    seen="403: only what the table of the server leads to a right is one",
    threats=("T3", "ASI03"),
)
def scopes_that_grow(target: Target) -> None:
    issuer = _issuer(target)
    for scope in ("admin act", "memhold:admin memhold:act", "*", "memhold:*", "memhold:read memhold:admin"):
        token = issuer.token(issuer.claims(scope=scope))
        for method, path, body in (
            ("GET", "/v1/tokens", None), ("GET", "/v1/admin/users", None), ("POST", "/v1/memories", {"text": "x"}),
        ):  # fmt: skip
            answer = target.ask(method, path, token, json=body)
            expect(answer.status_code == 403, f"{scope!r}, {path}: it was answered {answer.status_code}")
    other = target.ask("GET", "/v1/memories", issuer.token(), headers={"x-memhold-user": "another"})
    expect(other.status_code == 403, f"acting for another user was answered {other.status_code}")
    claims = issuer.claims(namespace="other", org="other", user="other", act={"sub": "root"})
    scoped = target.ask("GET", "/v1/scope", issuer.token(claims)).json()
    expect(
        "other" not in json.dumps(scoped.get("namespace")), "a claim that the table does not name chose the namespace"
    )


@attack(
    "the issuer hangs while tokens with an unknown key come",
    seen="tokens with a known key, and Memhold's own, are served meanwhile",
    threats=("T4", "ASI08"),
)
def an_issuer_that_hangs(target: Target) -> str:
    from threading import Thread

    issuer, own = _issuer(target), target.tenant().secret
    unknown = issuer.token(kid="unknown")
    issuer.hang.set()
    askers = [Thread(target=target.elsewhere, args=("/v1/status", unknown), daemon=True) for _ in range(8)]
    try:
        for asker in askers:
            asker.start()
        with target.watched() as health:
            for token in (own, issuer.token()) * 10:
                status = target.ask("GET", "/v1/status", token).status_code
                expect(status == 200, f"a token whose key is known was answered {status}")
        expect(not health.failed, f"others were answered {health.failed[:3]}")
    finally:
        issuer.hang.clear()
        for asker in askers:
            asker.join(60)
    return f"others waited {health.longest:.2f} s at most"
