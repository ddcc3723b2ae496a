"""Putting the guard in front of an application: what a server needs to know to be safe, from its options."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memhold.server.guard import App, Authenticate, Guard, GuardRules
from memhold.server.guard_rules import BodyLimits, Rate, allowed_hosts, may_bind
from memhold.server.resource import Resource
from memhold.server.shared_state import SharedState
from memhold.values.access_tokens import RIGHTS, AccessToken
from memhold.values.errors import InvalidSetting
from memhold.values.principal import Principal
from memhold.values.records import Scope
from memhold.wiring.settings import FILE_NAME

if TYPE_CHECKING:
    from memhold.server.oauth import OAuth
    from memhold.verbs.store_protocols import AsyncStore, AsyncTokens

__all__ = ["Door", "TokenAuthenticate", "guarded", "oauth_of_file"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """How a server can be reached, as its operator said.

    Attributes:
        host: the address that it listens on.
        local: whose requests are served where there are no tokens and only this machine reaches it.
        local_token: what those requests must bring; empty where every account of the machine may ask.
        tls: whether the server itself speaks TLS.
        behind_proxy: whether the operator said that a proxy in front does.
        allow_hosts: further names that the server goes by.
        allow_origins: origins of browsers that are served beside its own.
        public_url: its address from outside, such as `https://memory.example`; needed with OAuth.
        oauth: which access tokens count beside Memhold's own.
    """

    host: str = "127.0.0.1"
    local: Scope = field(default_factory=Scope)
    local_token: str = field(default="", repr=False)
    tls: bool = False
    behind_proxy: bool = False
    allow_hosts: tuple[str, ...] = ()
    allow_origins: tuple[str, ...] = ()
    public_url: str = ""
    oauth: OAuth | None = None
    rate: Rate = field(default_factory=Rate)
    failures: Rate = field(default_factory=lambda: Rate(per_second=1.0, burst=20))
    bytes_rate: Rate = field(default_factory=lambda: Rate(per_second=16.0, burst=1024))
    work_rate: Rate = field(default_factory=lambda: Rate(per_second=0.5, burst=30))
    bodies: BodyLimits = field(default_factory=BodyLimits)
    timeout: float = 60.0


async def guarded(
    app: App,
    store: AsyncStore,
    door: Door,
    *,
    now: datetime,
    spent: Callable[[str], None] = lambda _: None,
    state: SharedState | None = None,
) -> Guard:
    """The application behind its guard.

    Tokens are looked up in the store at each request: one that is made or revoked later counts at once, or no more,
    and the first one ends requests without a token. One that has run out still asks for tokens, until it is revoked.
    `spent` is told of each request that is refused because a budget is; `state` is what processes of a server share.

    Raises:
        InvalidSetting: it must not be served like this: others could reach it without tokens, or tokens would cross the
            network in the clear; or OAuth is set up without `public_url`.
    """
    given = await store.admin.tokens.list()
    tokens = any(_lives(token, now) for token in given)
    refused = may_bind(door.host, tokens=tokens or door.oauth is not None, tls=door.tls, behind_proxy=door.behind_proxy)
    if refused is not None:
        raise InvalidSetting(refused, name="host")
    resource = None
    if door.oauth is not None:
        if not door.public_url:
            raise InvalidSetting("OAuth needs public_url: tokens are made for an address", name="public_url")
        resource = Resource(
            url=door.public_url,
            authorization_servers=(door.oauth.issuer,),
            scopes=tuple(scope for scope, right in door.oauth.rights.items() if right in {"read", "write"}),
        )
    open_door = door.oauth is None and not _asked_for(given)
    rules = GuardRules(
        hosts=allowed_hosts(door.host, _names(door)),
        origins=frozenset(origin.lower().rstrip("/") for origin in door.allow_origins),
        bytes_rate=door.bytes_rate,
        work_rate=door.work_rate,
        bodies=door.bodies,
        timeout=door.timeout,
        rate=door.rate,
        failures=door.failures,
        tls=door.tls,
        behind_proxy=door.behind_proxy,
        resource=resource,
        local=_local_user(door.local) if open_door else None,
        local_token=door.local_token,
    )

    async def stays_open() -> bool:
        return not _asked_for(await store.admin.tokens.list())

    authenticate = _authenticate(store, door.oauth, resource)
    return Guard(app, rules=rules, authenticate=authenticate, stays_open=stays_open, refused=spent, state=state)


def _local_user(scope: Scope) -> Principal:
    """Who asks on loopback where there are no tokens: the user that was named, or else whom each request names."""
    rights = frozenset(right for right in RIGHTS if scope.user is None or right != "act")
    return Principal(scope=scope, rights=rights)


def oauth_of_file(folder: Path) -> OAuth | None:
    """The table `[oauth]` of the folder's `memhold.toml`; None where there is none.

    Raises:
        InvalidSetting: the file or the table cannot be read.
    """
    path = folder / FILE_NAME
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8")).get("oauth")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidSetting(f"{path} cannot be read: {error}", name=FILE_NAME) from error
    if table is None:
        return None
    from memhold.server.oauth import oauth_from

    if not isinstance(table, dict):
        raise InvalidSetting(f"{path}: oauth must be a table", name="oauth")
    return oauth_from(table)


class TokenAuthenticate:
    """Memhold's own tokens as principals."""

    def __init__(self, tokens: AsyncTokens) -> None:
        self._tokens = tokens

    async def __call__(self, bearer: str) -> Principal | None:
        """The principal of a token; None where it does not count now."""
        token = await self._tokens.check(bearer)
        if token is None:
            return None
        rights = frozenset(token.rights)
        # A pass carries the id of the service's token: its users have a budget each.
        passed = bearer.startswith("mhp_")
        return Principal(
            scope=token.scope,
            rights=rights,
            token=token.id,
            service="act" in rights,
            apart=passed,
            expires_at=token.expires_at,
        )


def _authenticate(store: AsyncStore, oauth: OAuth | None, resource: Resource | None) -> Authenticate:
    async def own(bearer: str) -> Principal | None:
        # The store may have been opened anew meanwhile.
        return await TokenAuthenticate(store.admin.tokens)(bearer)

    if oauth is None or resource is None:
        return own
    from memhold.server.jwks import KeySet
    from memhold.server.oauth import JwtAuthenticate

    issued = JwtAuthenticate(oauth, KeySet(oauth.jwks_url), audience=resource.identifiers)

    async def either(bearer: str) -> Principal | None:
        return await (own if bearer.startswith(("mh_", "mhp_")) else issued)(bearer)

    return either


def _names(door: Door) -> Iterable[str]:
    from urllib.parse import urlsplit

    public = urlsplit(door.public_url).hostname if door.public_url else None
    return (*door.allow_hosts, *([public] if public else ()))


def _asked_for(tokens: Iterable[AccessToken]) -> bool:
    """Whether somebody wants tokens: one that ran out by itself must not open the door."""
    return any(token.revoked_at is None for token in tokens)


def _lives(token: AccessToken, now: datetime) -> bool:
    return token.revoked_at is None and (token.expires_at is None or token.expires_at > now)
