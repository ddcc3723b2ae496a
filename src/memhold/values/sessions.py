"""A session as `sessions` lists it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

__all__ = ["SessionInfo", "SessionOrder", "SessionPage"]

SessionOrder = Literal["began", "newest", "oldest", "name"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """One session: its name ("" is the unnamed one), how many messages and items are in it, and when.

    `created_at` is when it began, `last_at` when something was last added, `ended_at` when it was ended and nothing was
    added since. `messages` counts what the scope sees; what was forgotten or hidden does not count. `metadata` is the
    application's own. A scope with an agent is given the sessions of which it sees a message or the metadata, and of
    `last_at` and `ended_at` what concerns these.
    """

    name: str
    messages: int
    created_at: datetime
    last_at: datetime
    ended_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPage:
    """A page of sessions; `cursor` asks for the next one, None where there is none."""

    items: tuple[SessionInfo, ...]
    cursor: str | None = None
