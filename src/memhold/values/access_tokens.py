"""Who may ask a server: tokens, as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from memhold.values.records import Scope

__all__ = ["RIGHTS", "AccessToken", "NewToken", "Right", "StoredToken"]

Right = Literal["read", "write", "admin", "act", "projects"]
RIGHTS: tuple[Right, ...] = ("read", "write", "admin", "act", "projects")
"""What a token may do. `act` makes it a service's: bound to a namespace, and working for whom each request names. With
`projects` a token of the namespace "default" covers its user's memories of projects too, which coding agents keep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessToken:
    """A token without its secret: whose requests it lets in, and what they may do.

    `rights` stand in the order of `RIGHTS`. `last_used` is a day (UTC, ISO-8601) and no finer: it says which tokens can
    go, and does not follow anybody around. `actor` says in whose name requests with it write; see `Scope`.
    """

    id: str
    namespace: str
    user: str | None = None
    agent: str | None = None
    rights: tuple[Right, ...] = ("read", "write")
    label: str = ""
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used: str | None = None
    actor: str = "user"

    @property
    def scope(self) -> Scope:
        """The scope that requests with it are bound to."""
        return Scope(namespace=self.namespace, user=self.user, agent=self.agent, actor=self.actor)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A token as it is told once, to whoever made it: `secret` is what a client sends, and is kept nowhere."""

    token: AccessToken
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredToken:
    """A token with the keyed digest of its secret."""

    token: AccessToken
    digest: bytes = field(repr=False)
