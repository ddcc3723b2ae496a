"""Who asks: what a server knows of a caller that it has let in.

The guard in front of every route and of `/mcp` puts a `Principal` into the ASGI scope; whatever serves a request takes
namespace, user and rights from there, and from nowhere else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

from memhold.values.access_tokens import RIGHTS, Right
from memhold.values.records import Scope

__all__ = ["NEIGHBOUR", "PRINCIPAL", "RIGHTS", "STANDS", "Principal", "Right", "principal_of", "still_stands"]

PRINCIPAL = "memhold.principal"
"""The key of the ASGI scope under which the guard leaves the principal."""

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
    """

    scope: Scope
    rights: frozenset[Right]
    token: str | None = None


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
