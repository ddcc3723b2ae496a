"""Who asks: what a server knows of a caller that it has let in.

The guard in front of every route and of `/mcp` puts a `Principal` into the ASGI scope; whatever serves a request takes
namespace, user and rights from there, and from nowhere else.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any

from holdfast.access import RIGHTS, Right
from holdfast.model import Scope

__all__ = ["PRINCIPAL", "RIGHTS", "Principal", "Right", "principal_of"]

PRINCIPAL = "holdfast.principal"
"""The key of the ASGI scope under which the guard leaves the principal."""


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
