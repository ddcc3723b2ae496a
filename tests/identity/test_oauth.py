"""Access tokens of an issuer: what counts, and every known way to make one count that should not."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jwt
import pytest
import pytest_asyncio
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from memhold import AsyncMemhold
from memhold.errors import InvalidSetting
from memhold.server.guard import Guard, GuardRules
from memhold.server.guard_rules import allowed_hosts
from memhold.server.guard_setup import Door, guarded, oauth_of_file
from memhold.server.jwks import FRESH_SECONDS, PAUSE_SECONDS, STALE_SECONDS, KeySet, KeysUnreachable
from memhold.server.oauth import JwtAuthenticate, OAuth, oauth_from
from memhold.server.resource import Resource

from .asgi import ask, echo

NOW = 1_800_000_000
URL = "https://memory.example"
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC = ec.generate_private_key(ec.SECP256R1())


def jwk(key: Any, kid: str) -> dict[str, Any]:
    kind = jwt.algorithms.RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else jwt.algorithms.ECAlgorithm
    return {**json.loads(kind.to_jwk(key.public_key())), "kid": kid, "use": "sig"}


@dataclass
class Issuer:
    """An authorization server on loopback: it serves its keys, counts who asks, and can be down."""

    url: str = ""
    keys: list[dict[str, Any]] = field(default_factory=lambda: [jwk(RSA, "rsa"), jwk(EC, "ec")])
    asked: int = 0
    raw: bytes | None = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.asked += 1
        body = json.dumps({"keys": self.keys}).encode()
        answer = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s" % (len(body), body)
        writer.write(answer if self.raw is None else self.raw)
        await writer.drain()
        writer.close()
        await writer.wait_closed()


@pytest_asyncio.fixture
async def issuer() -> AsyncIterator[Issuer]:
    made = Issuer()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield made


class Time:
    """Seconds, for the tokens and for the keys."""

    def __init__(self) -> None:
        self.now = float(NOW)

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


def claims(issuer: Issuer, **changed: Any) -> dict[str, Any]:
    full = {
        "iss": issuer.url, "aud": URL, "sub": "alice", "exp": NOW + 60, "iat": NOW, "scope": "openid memhold:read",
    }  # fmt: skip
    return {name: value for name, value in (full | changed).items() if value is not None}


def signed(issuer: Issuer, *, key: Any = RSA, kid: str | None = "rsa", alg: str = "RS256", **changed: Any) -> str:
    headers = {"typ": "at+jwt"} | ({} if kid is None else {"kid": kid})
    return jwt.encode(claims(issuer, **changed), key, algorithm=alg, headers=headers)


def door(issuer: Issuer, time: Time, **settings: Any) -> JwtAuthenticate:
    oauth = OAuth(issuer=issuer.url, jwks_url=f"{issuer.url}/keys", **settings)
    resource = Resource(url=URL, authorization_servers=(issuer.url,))
    return JwtAuthenticate(oauth, KeySet(oauth.jwks_url, clock=time), audience=resource.identifiers, clock=time)


def b64(part: Any) -> str:
    raw = part if isinstance(part, bytes) else json.dumps(part).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


# ------------------------------------------------------------------------------------------------ what counts


async def test_a_token_of_the_issuer_counts(issuer: Issuer, time: Time) -> None:
    check = door(issuer, time)
    found = await check(signed(issuer))
    assert found is not None
    assert (found.scope.namespace, found.scope.user, found.scope.agent) == ("default", "alice", None)
    assert found.rights == {"read"}
    same = await check(signed(issuer, key=EC, kid="ec", alg="ES256", aud=["other", f"{URL}/mcp"]))
    assert same == found
    assert await check(signed(issuer, alg="PS256")) == found
    other = await check(signed(issuer, sub="bob"))
    assert other is not None
    assert other.token != found.token
    assert issuer.asked == 1


async def test_claims_and_scopes_say_whose_and_what(issuer: Issuer, time: Time) -> None:
    check = door(
        issuer,
        time,
        namespace_claim="org",
        user_claim="email",
        agent_claim="azp",
        rights={"mem.rw": "write", "mem.r": "read"},
    )
    found = await check(signed(issuer, org="acme", email="a@b.c", azp="bot", scope=None, scp=["mem.rw", "mem.r", "x"]))
    assert found is not None
    assert found.scope.namespace == "acme"
    assert (found.scope.user, found.scope.agent, found.rights) == ("a@b.c", "bot", {"read", "write"})
    for missing in (
        {"org": None},
        {"org": "acme//shop"},
        {"email": None},
        {"org": ""},
        {"email": "x" * 300},
        {"org": ["acme"]},
        {"azp": 7},
    ):
        given = {"org": "acme", "email": "a@b.c"} | missing
        assert await check(signed(issuer, **given)) is None, missing
    nothing = await check(signed(issuer, org="acme", email="a@b.c", scope="memhold:admin"))
    assert nothing is not None
    assert nothing.rights == frozenset()


async def test_scopes_give_no_administration_by_themselves(issuer: Issuer, time: Time) -> None:
    every = "memhold:read memhold:write memhold:admin memhold:act"
    found = await door(issuer, time)(signed(issuer, scope=every))
    assert found is not None
    assert (found.rights, found.service) == ({"read", "write"}, False)
    assert found.expires_at == datetime.fromtimestamp(NOW + 60, UTC)
    chosen = await door(issuer, time, rights={"memhold:admin": "admin"})(signed(issuer, scope=every))
    assert chosen is not None
    assert chosen.rights == {"admin"}


async def test_the_only_key_needs_no_name(issuer: Issuer, time: Time) -> None:
    issuer.keys = [jwk(RSA, "rsa")]
    assert await door(issuer, time)(signed(issuer, kid=None)) is not None
    issuer.keys = [jwk(RSA, "rsa"), jwk(EC, "ec")]
    assert await door(issuer, time)(signed(issuer, kid=None)) is None


# ------------------------------------------------------------------------------------------------ what does not


async def test_alg_none(issuer: Issuer, time: Time) -> None:
    for name in ("none", "None", "NONE", ""):
        for end in ("", b64(b"x")):
            token = f"{b64({'alg': name, 'typ': 'JWT', 'kid': 'rsa'})}.{b64(claims(issuer))}.{end}"
            assert await door(issuer, time)(token) is None


@pytest.mark.parametrize("algorithm", ["HS256", "HS384", "HS512"])
async def test_hs_with_the_public_key(issuer: Issuer, time: Time, algorithm: str) -> None:
    pem = RSA.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    body = f"{b64({'alg': algorithm, 'typ': 'JWT', 'kid': 'rsa'})}.{b64(claims(issuer))}"
    for secret in (pem, pem.strip(), jwk(RSA, "rsa")["n"].encode(), b""):
        mac = hmac.new(secret, body.encode(), getattr(hashlib, algorithm.replace("HS", "sha"))).digest()
        assert await door(issuer, time)(f"{body}.{b64(mac)}") is None


async def test_a_shared_secret_in_the_key_set_is_no_key(issuer: Issuer, time: Time) -> None:
    issuer.keys.append({"kty": "oct", "kid": "shared", "k": b64(b"s" * 32), "alg": "HS256"})
    assert await door(issuer, time)(signed(issuer, key=b"s" * 32, kid="shared", alg="HS256")) is None
    issuer.keys.append(jwk(OTHER_RSA, "enc") | {"use": "enc"})
    assert await door(issuer, time)(signed(issuer, key=OTHER_RSA, kid="enc")) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"aud": "https://other.example"}, {"aud": None}, {"aud": []}, {"aud": "https://memory.example.evil"},
        {"iss": "https://evil.example"}, {"iss": None}, {"exp": NOW - 31}, {"exp": None}, {"exp": "soon"},
        {"exp": True}, {"nbf": NOW + 31}, {"nbf": "x"}, {"sub": None}, {"sub": ""}, {"sub": 7}, {"sub": "a\0b"},
    ],
    ids=str,
)  # fmt: skip
async def test_wrong_claims(issuer: Issuer, time: Time, changed: dict[str, Any]) -> None:
    check = door(issuer, time)
    if (
        changed.get("sub") == 7
        or ("exp" in changed and not isinstance(changed["exp"], int | None))
        or "iss" in changed
        or changed.get("nbf") == "x"
    ):
        token = jwt.api_jws.encode(json.dumps(claims(issuer, **changed)).encode(), RSA, "RS256", {"kid": "rsa"})
    else:
        token = signed(issuer, **changed)
    assert await check(token) is None
    assert await check(signed(issuer)) is not None


async def test_a_small_leeway(issuer: Issuer, time: Time) -> None:
    check = door(issuer, time)
    token = signed(issuer, nbf=NOW + 29)
    assert await check(token) is not None
    time.now = NOW + 89
    assert await check(token) is not None
    time.now = NOW + 90
    assert await check(token) is None


async def test_another_key_than_the_named(issuer: Issuer, time: Time) -> None:
    check = door(issuer, time)
    assert await check(signed(issuer, key=OTHER_RSA)) is None
    assert await check(signed(issuer, key=EC, kid="rsa", alg="ES256")) is None
    assert await check(signed(issuer, kid="ec")) is None
    good = signed(issuer).split(".")
    tampered = b64(claims(issuer, sub="root"))
    assert await check(f"{good[0]}.{tampered}.{good[2]}") is None
    assert await check(f"{good[0]}.{good[1]}.") is None


async def test_keys_that_the_token_brings_are_not_taken(issuer: Issuer, time: Time) -> None:
    evil = Issuer(keys=[jwk(OTHER_RSA, "evil")])
    server = await asyncio.start_server(evil.serve, "127.0.0.1", 0)
    async with server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        for header in ({"jku": address}, {"x5u": address}, {"jwk": jwk(OTHER_RSA, "evil")}):
            for kid in ("evil", "rsa"):
                token = jwt.encode(claims(issuer), OTHER_RSA, algorithm="RS256", headers={"kid": kid, **header})
                assert await door(issuer, time)(token) is None
    assert evil.asked == 0


@pytest.mark.parametrize("token", ["", ".", "..", "a.b.c", "x" * 9000, "é.é.é", "e30.e30.e30", "null"])
async def test_what_is_no_token(issuer: Issuer, time: Time, token: str) -> None:
    assert await door(issuer, time)(token) is None
    crit = jwt.api_jws.encode(json.dumps(claims(issuer)).encode(), RSA, "RS256", {"kid": "rsa", "crit": ["x"], "x": 1})
    assert await door(issuer, time)(crit) is None


ODD: tuple[Any, ...] = (None, True, 7, 1e400, "", "x" * 5000, [], ["RS256"], {}, {"RS256": 1})


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: repr(odd)[:20])
@pytest.mark.parametrize("name", ["alg", "typ", "kid", "crit", "jwk", "b64", "zip"])
async def test_an_odd_header_is_no_token(issuer: Issuer, time: Time, name: str, odd: Any) -> None:
    header = {"alg": "RS256", "typ": "at+jwt", "kid": "rsa", name: odd}
    for payload, signature in ((claims(issuer), b"x"), ([], b""), (claims(issuer), b"")):
        assert await door(issuer, time)(f"{b64(header)}.{b64(payload)}.{b64(signature)}") is None
    for payload in (b"", b"[" * 3000, b"\xff"):
        assert await door(issuer, time)(f"{b64(payload)}.{b64(header)}.") is None


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: repr(odd)[:20])
async def test_an_odd_claim_is_no_token_and_no_failure(issuer: Issuer, time: Time, odd: Any) -> None:
    for name in claims(issuer):
        token = jwt.api_jws.encode(json.dumps({**claims(issuer), name: odd}).encode(), RSA, "RS256", {"kid": "rsa"})
        found = await door(issuer, time)(token)
        assert found is None or name in {"sub", "iat", "scope"}


async def test_what_breaks_at_the_door_is_a_problem_like_every_other() -> None:
    async def breaks(_: str) -> None:
        raise ZeroDivisionError

    rules = GuardRules(hosts=allowed_hosts("127.0.0.1"))
    answer = await ask(Guard(echo, rules=rules, authenticate=breaks), token="x")
    assert answer.status == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-content-type-options"] == "nosniff"


# ------------------------------------------------------------------------------------------------ the issuer's keys


@pytest.mark.parametrize("odd", [*ODD, 3])
@pytest.mark.parametrize("name", [None, "kty", "use", "kid", "alg", "n", "e", "key_ops"])
async def test_one_odd_key_is_passed_over(issuer: Issuer, time: Time, name: str | None, odd: Any) -> None:
    issuer.keys.insert(0, odd if name is None else {**jwk(OTHER_RSA, "other"), name: odd})
    assert await door(issuer, time)(signed(issuer)) is not None


async def test_a_set_that_is_empty_for_a_moment_locks_nobody_out(issuer: Issuer, time: Time) -> None:
    check = door(issuer, time)
    late = signed(issuer, exp=NOW + 2 * STALE_SECONDS)
    assert await check(late) is not None
    kept, issuer.keys = issuer.keys, []
    for _ in range(3):
        time.now += FRESH_SECONDS + 1
        assert await check(late) is not None
        assert await check(signed(issuer, kid="made-up", exp=NOW + 2 * STALE_SECONDS)) is None
    time.now += STALE_SECONDS
    with pytest.raises(KeysUnreachable):
        await check(late)
    issuer.keys = kept
    time.now += PAUSE_SECONDS
    assert await check(late) is not None


async def test_kid_unknown_is_asked_for_once_and_keys_rotate(issuer: Issuer, time: Time) -> None:
    check = door(issuer, time)
    assert await check(signed(issuer)) is not None
    unknown = signed(issuer, key=OTHER_RSA, kid="next")
    for _ in range(20):
        assert await check(unknown) is None
    assert issuer.asked == 1
    issuer.keys = [jwk(OTHER_RSA, "next")]
    time.now += PAUSE_SECONDS
    assert await check(unknown) is not None
    assert issuer.asked == 2
    # What the issuer took away counts no more.
    assert await check(signed(issuer)) is None
    time.now += PAUSE_SECONDS
    assert await asyncio.gather(*(check(signed(issuer, kid="made-up")) for _ in range(20))) == [None] * 20
    assert issuer.asked == 3


async def test_a_key_that_was_taken_away_counts_no_longer_than_it_is_fresh(issuer: Issuer, time: Time) -> None:
    check = door(issuer, time)
    late = signed(issuer, exp=NOW + 2 * FRESH_SECONDS)
    assert await check(late) is not None
    issuer.keys = [jwk(EC, "ec")]
    time.now += FRESH_SECONDS + 1
    # Nobody waits for the issuer while a key is known: the first use asks it behind the answer.
    assert await check(late) is not None
    async with asyncio.timeout(60):
        while await check(late) is not None:  # noqa: ASYNC110 - a task of the key set, which tells nobody
            await asyncio.sleep(0)
    assert issuer.asked == 2


async def test_nobody_waits_for_an_issuer_that_hangs(issuer: Issuer, time: Time) -> None:
    """Keys ten minutes old and an issuer that answers nothing: fifty valid tokens count at once, and are no flood."""
    hangs, asked = asyncio.Event(), 0

    async def fetch(_: str) -> Any:
        nonlocal asked
        asked += 1
        if asked > 1:
            await hangs.wait()
        return {"keys": issuer.keys}

    keys = KeySet(issuer.url, fetch=fetch, clock=time)
    assert await keys.find("rsa") is not None
    for age in (FRESH_SECONDS + 1, PAUSE_SECONDS + 1, STALE_SECONDS / 2):
        time.now += age
        found = asyncio.gather(*(keys.find("rsa") for _ in range(50)))
        for _ in range(3):
            await asyncio.sleep(0)
        assert found.done(), "a known key must not wait"
        assert None not in found.result()
    assert asked == 2
    # Who brings a key that is not known waits, and whoever gives up takes the request of the others not with it.
    new = [asyncio.ensure_future(keys.find("next")) for _ in range(3)]
    await asyncio.sleep(0)
    new[0].cancel()
    issuer.keys = [jwk(RSA, "next")]
    hangs.set()
    assert all(await asyncio.gather(*new[1:]))
    assert asked == 2


@pytest.mark.parametrize("kind", ["JWE", "id_token+jwt", "logout+jwt", "dpop+jwt", "application/secevent+jwt", 7, ""])
async def test_a_token_of_another_type_is_no_access_token(issuer: Issuer, time: Time, kind: Any) -> None:
    check = door(issuer, time)
    other = jwt.encode(claims(issuer), RSA, algorithm="RS256", headers={"kid": "rsa", "typ": kind or "x"})
    assert await check(other) is None
    for good in ("at+jwt", "JWT", "application/at+jwt", "AT+JWT"):
        headers = {"kid": "rsa", "typ": good}
        assert await check(jwt.encode(claims(issuer), RSA, algorithm="RS256", headers=headers)) is not None


async def test_a_clock_that_is_turned_back_lets_nothing_count_again(issuer: Issuer, time: Time) -> None:
    check = door(issuer, time)
    token = signed(issuer)
    for seconds, counts in ((0, True), (7200, False), (-7200, True), (-7201, False), (-75 * 365 * 86400, False)):
        time.now = float(NOW + seconds)
        assert (await check(token) is not None) == counts, seconds


@pytest.mark.parametrize("name", ["exp", "nbf", "iat"])
@pytest.mark.parametrize("moment", [float("nan"), float("inf"), -float("inf"), 10**400, 1e300, [], {}], ids=repr)
async def test_a_time_that_is_none(issuer: Issuer, time: Time, name: str, moment: Any) -> None:
    assert await door(issuer, time)(signed(issuer, **{name: moment})) is None


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 500 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n[]",
        b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\nconnection: close\r\n\r\n{x}",
        b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n" + b"[" * 600_000,
        b"",
    ],
    ids=["500", "redirect", "no key set", "no json", "too large", "reset"],
)
async def test_jwks_down(issuer: Issuer, time: Time, raw: bytes) -> None:
    down = door(issuer, time)
    issuer.raw = raw
    rules = GuardRules(hosts=allowed_hosts("127.0.0.1"))
    answer = await ask(Guard(echo, rules=rules, authenticate=down), token=signed(issuer))
    # Not a wrong token, and not let in either: nobody knows.
    assert (answer.status, answer.json["type"]) == (503, "urn:memhold:problem:ServerUnreachable")
    issuer.raw = None
    time.now += PAUSE_SECONDS
    known = signed(issuer, exp=NOW + 2 * STALE_SECONDS)
    assert await down(known) is not None
    # Keys that are known are taken for a day while the issuer is away, and no longer.
    issuer.raw = raw
    time.now += STALE_SECONDS - 1
    assert await down(known) is not None
    time.now += 2 + PAUSE_SECONDS
    assert (await ask(Guard(echo, rules=rules, authenticate=down), token=known)).status == 503


# ------------------------------------------------------------------------------------------------ metadata and settings


async def test_a_user_is_taken_out_of_a_longer_claim(issuer: Issuer, time: Time) -> None:
    authenticate = door(issuer, time, user_pattern="auth0[|](.+)")
    found = await authenticate(signed(issuer, sub="auth0|alice", act={"sub": "webapp"}))
    assert found is not None
    assert (found.scope.user, found.scope.actor, found.service) == ("alice", "user:webapp", False)
    for wrong in ("alice", "auth0|", "x auth0|alice", "github|alice", "auth0|" + "a" * 600):
        assert await authenticate(signed(issuer, sub=wrong)) is None, wrong
    for pattern in ("(", "auth0", "(a)(b)"):
        with pytest.raises(InvalidSetting, match="one group"):
            OAuth(issuer=issuer.url, jwks_url=issuer.url, user_pattern=pattern)


async def test_a_scope_that_leads_to_act_makes_a_service(issuer: Issuer, time: Time) -> None:
    token = signed(issuer, sub="client-7", scope="memhold:read memhold:act")
    ordinary = await door(issuer, time)(token)
    assert ordinary is not None
    assert (ordinary.scope.user, ordinary.service) == ("client-7", False), "act is given by the table alone"
    found = await door(issuer, time, rights={"memhold:read": "read", "memhold:act": "act"})(token)
    assert found is not None
    assert (found.scope.user, found.scope.actor, found.service) == (None, "user:client-7", True)
    assert found.rights == {"read", "act"}


async def test_a_client_finds_out_where_to_get_a_token(issuer: Issuer) -> None:
    now = datetime.now(UTC)
    oauth = OAuth(issuer=issuer.url, jwks_url=f"{issuer.url}/keys")
    async with AsyncMemhold.open("memory://") as memhold:
        with pytest.raises(InvalidSetting, match="public_url"):
            await guarded(echo, memhold, Door(oauth=oauth), now=now)
        app = await guarded(
            echo, memhold, Door(host="0.0.0.0", behind_proxy=True, oauth=oauth, public_url=URL), now=now
        )
        for path, resource in (("/v1/status", ""), ("/mcp", "/mcp")):
            refused = await ask(app, path, host=("host", "memory.example"))
            metadata = f"{URL}/.well-known/oauth-protected-resource{resource}"
            assert refused.headers["www-authenticate"] == f'Bearer realm="memhold", resource_metadata="{metadata}"'
            told = (await ask(app, metadata.removeprefix(URL))).json
            assert told["resource"] == URL + resource
            assert told["authorization_servers"] == [issuer.url]
            assert told["scopes_supported"] == ["memhold:read", "memhold:write"]
        assert (await ask(app, "/.well-known/oauth-protected-resource/other")).status == 401
        # Both kinds of token are let in, each by its own check.
        token = jwt.encode(
            claims(issuer, iat=int(now.timestamp()), exp=int(now.timestamp()) + 60),
            RSA,
            algorithm="RS256",
            headers={"kid": "rsa"},
        )
        assert (await ask(app, token=token)).json["user"] == "alice"
        made = await memhold.admin.tokens.create(user="bob")
        assert (await ask(app, token=made.secret)).json["user"] == "bob"
        assert (await ask(app)).status == 401


def test_oauth_stands_in_a_table(tmp_path: Path) -> None:
    assert oauth_of_file(tmp_path) is None
    (tmp_path / "memhold.toml").write_text(
        'idempotency_days = 7\n[oauth]\nissuer = "https://id.example"\njwks_url = "https://id.example/keys"\n'
        'audience = "api"\n[oauth.rights]\n"mem" = "read"\n'
    )
    found = oauth_of_file(tmp_path)
    assert found is not None
    assert (found.audience, found.rights) == ({"api"}, {"mem": "read"})
    good = {"issuer": "https://id.example", "jwks_url": "https://id.example/keys"}
    assert oauth_from(good).user_claim == "sub"
    for wrong in (
        {"jwks_url": "http://id.example/keys"}, {"issuer": "id.example"}, {"user_claim": ""}, {"leeway": "9"},
        {"rights": {"x": "root"}}, {"rights": "x"}, {"audience": [7]}, {"namespace": 7},
    ):  # fmt: skip
        with pytest.raises(InvalidSetting):
            oauth_from(good | wrong)
    with pytest.raises(InvalidSetting, match="lacks"):
        oauth_from({"issuer": "https://id.example"})
    for wrong_url in ("memory.example", "https://memory.example/path", "ftp://x"):
        with pytest.raises(InvalidSetting):
            Resource(url=wrong_url, authorization_servers=())
