"""Who asks: what a server knows of a caller that it has let in.

The guard in front of every route and of `/mcp` puts a `Principal` into the ASGI scope; whatever serves a request takes
namespace, user and rights from there, and from nowhere else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memhold.values.access_tokens import RIGHTS, Right
from memhold.values.errors import InvalidScope, ScopeDenied, TwoUsers
from memhold.values.names import checked_name
from memhold.values.records import Scope

__all__ = [
    "NAMESPACE",
    "NEIGHBOUR",
    "ON_BEHALF",
    "PRINCIPAL",
    "RIGHTS",
    "STANDS",
    "Principal",
    "Right",
    "acting_for",
    "in_namespace",
    "only_readable",
    "principal_of",
    "still_stands",
]

ON_BEHALF = "x-memhold-user"
"""The header in which whoever has the right `act` says for which user of the namespace a request is."""

NAMESPACE = "x-memhold-namespace"
"""The header in which whoever has the right `projects` names the project's memory that a request is about."""

PRINCIPAL = "memhold.principal"
"""The key of the ASGI scope under which the guard leaves the principal."""

PROJECTS, DEFAULT_NAMESPACE = "project/", "default"
"""How the namespaces of projects' memories begin, and the one that a person's own memory is in."""

NEIGHBOUR = "memhold.neighbour"
"""The key under which the guard leaves whether the request came from this machine, and through no proxy."""

STANDS = "memhold.stands"
"""The key under which the guard leaves a question: whether the principal's token counts now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """A caller: the scope it is bound to and what it may do there.

    Attributes:
        scope: Namespace, user and agent of every request; the session is the caller's to choose.
        rights: What it may do; `admin` covers the verbs that look across users of the namespace.
        token: The id of the token it came with, for rate limits and logs; None on loopback without tokens.
        service: Whether it is bound to no user: each request must name one.
        named: Whether the user of `scope` is one that the request itself named.
        apart: Whether its user has a budget apart from that of the token's others.
        expires_at: When its token ends; None where it does not, or there is none. Nothing that it makes outlives it.
        naming: Asked with the principal that acts for a user whom a body names: that user's budget counts too.
    """

    scope: Scope
    rights: frozenset[Right]
    token: str | None = None
    service: bool = False
    named: bool = False
    apart: bool = False
    expires_at: datetime | None = None
    naming: Callable[[Principal], None] | None = field(default=None, compare=False, repr=False)

    @property
    def whose(self) -> Scope:
        """The scope that the request works in.

        Raises:
            InvalidScope: it is a service's, and names no user: what is one user's is never written as nobody's.
        """
        if self.service and not self.named:
            raise InvalidScope("this token acts for users: say for which, with the header X-Memhold-User")
        return self.scope

    @property
    def runs_store(self) -> bool:
        """Whether it is whoever runs the store, on its machine, and no holder of a token of one namespace."""
        return self.token is None and "admin" in self.rights

    @property
    def budget(self) -> str:
        """Whose budget a request is taken from: the token's, and of a service's token each user's own."""
        return f"{self.token}\0{self.scope.user}" if self.apart else self.token or "local"


def acting_for(principal: Principal, user: object) -> Principal:
    """The principal as it acts for a user that a request names: itself, where that is its own.

    Raises:
        InvalidScope: it is no name.
        ScopeDenied: it is another user's, and the principal has not the right `act`.
        TwoUsers: the request named another one before.
        RateLimited: that user's budget is spent.
    """
    wanted = checked_name(user, "user")
    own = principal.scope
    if wanted != own.user and "act" not in principal.rights:
        raise ScopeDenied("the user is not the token's; leave it out, or use a token with the right 'act'", right="act")
    if principal.named and wanted != own.user:
        raise TwoUsers("the request names two users, in X-Memhold-User and beside it; name one")
    made = replace(principal, scope=replace(own, user=wanted), named=True, apart=principal.service)
    if principal.naming is not None:
        principal.naming(made)
    return made


def in_namespace(principal: Principal, namespace: object) -> Principal:
    """The principal in the namespace that a request names: its own, or a project's of its user's.

    It looks after nothing there.

    Raises:
        InvalidScope: it is no name.
        ScopeDenied: the principal may not work there.
    """
    wanted = checked_name(namespace, "namespace")
    if wanted == principal.scope.namespace:
        return principal
    if not _covers(principal, wanted):
        raise ScopeDenied(
            f"this token may not work in namespace {wanted!r}; use one that was made with --can projects, which covers"
            " its user's memories of projects",
            right="projects",
        )
    return replace(principal, scope=replace(principal.scope, namespace=wanted), rights=principal.rights - {"admin"})


def _covers(principal: Principal, namespace: str) -> bool:
    """Whether a namespace is a person's own or a project's, as that of the principal is, and it may work in these."""
    places = (principal.scope.namespace, namespace)
    return "projects" in principal.rights and all(
        one == DEFAULT_NAMESPACE or one.startswith(PROJECTS) for one in places
    )


def only_readable(principal: Principal, named: Iterable[Scope]) -> None:
    """Refuse a read that names a scope which its caller could not read by itself.

    A token reads its own user in its own namespace, as its agent where it is bound to one; with the right `act` any
    user there.

    Raises:
        ScopeDenied: it may not read one of them, whether there is anything or not.
    """
    own = principal.scope
    for one in named:
        user = one.user == own.user or (one.user is not None and "act" in principal.rights)
        place = one.namespace == own.namespace or _covers(principal, one.namespace)
        if not place or not user or own.agent not in {None, one.agent}:
            raise ScopeDenied(
                f"this token may not read namespace {one.namespace!r}, user {one.user!r}, agent {one.agent!r}; name"
                " scopes that it may read by itself",
                right="read",
            )


def principal_of(asgi_scope: MutableMapping[str, Any]) -> Principal:
    """The principal of a request that passed the guard.

    Raises:
        KeyError: the request did not pass the guard: the application is put together wrongly.
    """
    found: Principal = asgi_scope[PRINCIPAL]
    return found


async def still_stands(asgi_scope: MutableMapping[str, Any]) -> bool:
    """Whether the request's token counts now: an answer that goes on for hours asks before it says more."""
    ask: Callable[[], Awaitable[bool]] | None = asgi_scope.get(STANDS)
    return True if ask is None else await ask()
