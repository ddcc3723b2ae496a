"""Access tokens of an OAuth 2.1 authorization server: JWTs checked against its keys (RFC 9068, RFC 7519, RFC 8725).

The server is a resource server and nothing more: it gives out no tokens, and asks the issuer for its public keys only.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from time import time
from typing import Any, Final
from urllib.parse import urlsplit

import jwt

from memhold.server.guard_rules import is_loopback
from memhold.server.jwks import KeySet, KeysUnreachable
from memhold.values.access_tokens import RIGHTS, Right
from memhold.values.errors import InvalidScope, InvalidSetting
from memhold.values.names import MAX_NAME, checked_name, usable_name
from memhold.values.principal import Principal
from memhold.values.records import Scope

__all__ = ["ALGORITHMS", "JwtAuthenticate", "OAuth", "oauth_from"]

log = logging.getLogger("memhold.access")

ALGORITHMS: Final[Mapping[str, frozenset[str]]] = {
    "RSA": frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}),
    "EC": frozenset({"ES256", "ES384", "ES512"}),
    "OKP": frozenset({"EdDSA"}),
}
"""Signatures that are accepted, by the type of the key: public-key ones only, and each with keys of its own type."""

_LONGEST: Final = 8192
"""Longest JWT that is looked at, in characters: what fits a request's header anyway."""
_LONGEST_CLAIM: Final = 2 * MAX_NAME
"""Characters of a claim that are searched for a user."""
_LEEWAY_SECONDS: Final = 30.0
_CLOCK_SECONDS: Final = 7200.0
"""So much may a clock be behind the issuer's that what it issued still counts."""
_TYPES: Final = frozenset({"at+jwt", "jwt"})
"""Types of a token (`typ`, RFC 9068 and what issuers wrote before it); not those of ID tokens, JWE, logout tokens."""
_GRANTED: Final[Mapping[str, Right]] = {"memhold:read": "read", "memhold:write": "write"}
_LAST_TIME: Final = 253_402_300_799
"""The end of the year 9999, in seconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuth:
    """Which access tokens count, and whose requests they carry.

    Attributes:
        issuer: what the claim `iss` must be, exactly.
        jwks_url: where the issuer's keys stand; https, but on loopback.
        audience: what the claim `aud` must name one of; the server's own address where it is empty.
        namespace: the namespace of every caller, unless `namespace_claim` names the claim that holds it.
        user_claim: the claim that holds the user; a token without it does not count.
        user_pattern: a regular expression whose one group is the user within that claim, such as `auth0[|](.+)`; a
            token whose claim it does not match whole does not count. Empty: the claim as it is.
        agent_claim: the claim that holds the agent, where there is one.
        rights: what each scope of the token allows. `admin` and `act` are not among them unless they are given: a
            client that asks for every scope there is would look after the namespace, or become a service.
    """

    issuer: str
    jwks_url: str
    audience: frozenset[str] = frozenset()
    namespace: str = "default"
    namespace_claim: str = ""
    user_claim: str = "sub"
    user_pattern: str = ""
    agent_claim: str = ""
    rights: Mapping[str, Right] = field(default_factory=lambda: dict(_GRANTED))

    def __post_init__(self) -> None:
        for name in ("issuer", "jwks_url"):
            parts = urlsplit(getattr(self, name))
            local = parts.hostname is not None and is_loopback(parts.hostname)
            if not parts.hostname or not (parts.scheme == "https" or (parts.scheme == "http" and local)):
                raise InvalidSetting(f"oauth.{name} must be an https address", name=f"oauth.{name}")
        try:
            object.__setattr__(self, "namespace", checked_name(self.namespace, "oauth.namespace"))
        except InvalidScope as error:
            raise InvalidSetting(str(error), name="oauth.namespace") from None
        if not self.user_claim:
            raise InvalidSetting("oauth.user_claim is empty; name the claim that says whose memory", name="oauth")
        if self.user_pattern and _groups(self.user_pattern) != 1:
            said = "oauth.user_pattern must be a regular expression with one group, which is the user"
            raise InvalidSetting(said, name="oauth.user_pattern")
        if not set(self.rights.values()) <= set(RIGHTS):
            raise InvalidSetting(f"oauth.rights must lead to {', '.join(RIGHTS)}", name="oauth.rights")


def oauth_from(table: Mapping[str, Any]) -> OAuth:
    """The settings of a table `[oauth]`, such as that of `memhold.toml`.

    Raises:
        InvalidSetting: a name is unknown, missing, or its value of another type.
    """
    known = {
        "issuer", "jwks_url", "audience", "namespace", "namespace_claim", "user_claim", "user_pattern", "agent_claim",
        "rights",
    }  # fmt: skip
    if unknown := table.keys() - known:
        raise InvalidSetting(f"[oauth] has the unknown name {min(unknown)!r}", name=f"oauth.{min(unknown)}")
    if missing := {"issuer", "jwks_url"} - table.keys():
        raise InvalidSetting(f"[oauth] lacks {min(missing)}", name=f"oauth.{min(missing)}")
    given: dict[str, Any] = dict(table)
    audience = given.pop("audience", [])
    rights = given.pop("rights", None)
    texts = [audience] if isinstance(audience, str) else audience
    if not isinstance(texts, list) or not all(isinstance(one, str) for one in (*texts, *given.values())):
        raise InvalidSetting("[oauth] takes text; audience may be a list of texts", name="oauth")
    if rights is not None and not isinstance(rights, Mapping):
        raise InvalidSetting("oauth.rights must be a table of scope and right", name="oauth.rights")
    if rights is not None:
        given["rights"] = dict(rights)
    return OAuth(audience=frozenset(texts), **given)


class JwtAuthenticate:
    """Turns an access token into a principal; None where it does not count. Why it does not is logged, without it."""

    def __init__(
        self, oauth: OAuth, keys: KeySet, *, audience: frozenset[str], clock: Callable[[], float] = time
    ) -> None:
        self._oauth = oauth
        self._keys = keys
        self._audience = sorted(oauth.audience or audience)
        self._clock = clock

    async def __call__(self, bearer: str) -> Principal | None:
        """The principal of an access token.

        Raises:
            KeysUnreachable: the issuer's keys are not known, and cannot be had now.
        """
        try:
            claims = await self._claims(bearer)
            return self._principal(claims)
        except KeysUnreachable:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a stranger's token breaks, it is a token that does not count
            log.info("an access token was refused: %s", error if isinstance(error, _Refused) else type(error).__name__)
            return None

    async def _claims(self, bearer: str) -> Mapping[str, Any]:
        if len(bearer) > _LONGEST:
            raise _Refused("too long")
        header = jwt.get_unverified_header(bearer)
        algorithm, kid = header.get("alg"), header.get("kid")
        if not isinstance(algorithm, str) or algorithm not in frozenset().union(*ALGORITHMS.values()):
            raise _Refused("an algorithm that is not accepted")
        kind = header.get("typ", "JWT")
        if not isinstance(kind, str) or kind.lower().removeprefix("application/") not in _TYPES:
            raise _Refused("a token of another type")
        if "crit" in header:
            raise _Refused("a critical header that is not known")
        key = await self._keys.find(kid if isinstance(kid, str) else None)
        if key is None:
            raise _Refused("a key that is not known")
        if algorithm not in ALGORITHMS.get(key.key_type or "", frozenset()):
            raise _Refused("an algorithm that is not the key's")
        claims: dict[str, Any] = jwt.decode(
            bearer,
            key=key.key,
            algorithms=[algorithm],
            audience=self._audience,
            issuer=self._oauth.issuer,
            options={"require": ["exp", "iss", "aud"], "verify_exp": False, "verify_nbf": False, "verify_iat": False},
        )
        self._check_times(claims)
        return claims

    def _check_times(self, claims: Mapping[str, Any]) -> None:
        """Here and not in the library, which reads a clock of its own."""
        now = self._clock()
        for name in ("exp", "nbf", "iat"):
            value = claims.get(name, 0)
            # NaN is less and greater than nothing: a token with it would count for ever.
            if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _LAST_TIME:
                raise _Refused(f"{name} is no time")
        if claims["exp"] <= now - _LEEWAY_SECONDS:
            raise _Refused("expired")
        if claims.get("nbf", now) > now + _LEEWAY_SECONDS:
            raise _Refused("not valid yet")
        # A clock that was turned back would have what is over count again.
        if claims.get("iat", now) > now + _CLOCK_SECONDS:
            raise _Refused("issued after what this machine's clock says")

    def _principal(self, claims: Mapping[str, Any]) -> Principal:
        oauth = self._oauth
        namespace = _named(claims, oauth.namespace_claim) if oauth.namespace_claim else oauth.namespace
        if "//" in namespace and oauth.namespace_claim:
            raise _Refused(f"{oauth.namespace_claim} holds //, below which the clients of another namespace may store")
        holder = _named(claims, oauth.user_claim)
        agent = _named(claims, oauth.agent_claim) if oauth.agent_claim and oauth.agent_claim in claims else None
        rights = frozenset(oauth.rights[scope] for scope in _scopes(claims) if scope in oauth.rights)
        service = "act" in rights
        user = None if service else self._user(holder)
        scope = Scope(namespace=namespace, user=user, agent=agent, actor=_actor(claims, holder if service else None))
        whose = f"{oauth.issuer}\0{scope.namespace}\0{holder if service else scope.user}\0{scope.agent or ''}"
        who = sha256(whose.encode()).hexdigest()
        ends = datetime.fromtimestamp(claims["exp"], UTC)
        return Principal(scope=scope, rights=rights, token=f"jwt-{who[:16]}", service=service, expires_at=ends)

    def _user(self, claim: str) -> str:
        if not self._oauth.user_pattern:
            return claim
        # The pattern is the operator's, and may be slow; the claim is whoever's that signed up.
        found = re.fullmatch(self._oauth.user_pattern, claim) if len(claim) <= _LONGEST_CLAIM else None
        if found is None or not found[1]:
            raise _Refused(f"{self._oauth.user_claim} is not of the form of user_pattern")
        return found[1]


class _Refused(Exception):
    """An access token that does not count; the message says why, for the log."""


def _named(claims: Mapping[str, Any], name: str) -> str:
    value = claims.get(name)
    if not isinstance(value, str) or not value:
        raise _Refused(f"no {name}")
    return value


def _groups(pattern: str) -> int:
    """How many groups a regular expression has; 0 where it is none."""
    try:
        return re.compile(pattern).groups
    except re.error:
        return 0


def _actor(claims: Mapping[str, Any], service: str | None) -> str:
    """Who is recorded as acting for the user: the service itself, or the party that `act` names (RFC 8693, 4.1)."""
    party = claims.get("act")
    named = service if service is not None else party.get("sub") if isinstance(party, Mapping) else None
    name = usable_name(named)[:MAX_NAME].strip() if isinstance(named, str) else ""
    return f"user:{name}" if name else "user"


def _scopes(claims: Mapping[str, Any]) -> frozenset[str]:
    """`scope` is text with spaces (RFC 8693); some issuers write `scp`, as a list or as text."""
    found: set[str] = set()
    for name in ("scope", "scp"):
        value = claims.get(name, "")
        words = value.split() if isinstance(value, str) else value if isinstance(value, list) else []
        found |= {word for word in words if isinstance(word, str)}
    return frozenset(found)
