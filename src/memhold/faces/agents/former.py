"""The memory that a project had before its repository had a remote: still read, and written by its own sessions alone.

A project is called what its remote is called, and without one what its place is. A repository that gets a remote is
called anew; what was kept under its place stays there, since what was forgotten there is known there alone.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from memhold.transfer.items import session_name

if TYPE_CHECKING:
    from memhold.verbs.store_protocols import AsyncStore

__all__ = ["former_memory", "sessions_of"]

_UUID = 36
"""How many characters the id has that stands behind the day in the name of Codex's file."""


async def former_memory(store: AsyncStore, namespace: str, user: str | None) -> bool:
    """Whether anything is kept there for this user."""
    return (await store.scope(namespace=namespace, user=user).recall("", limit=1)).total > 0


def sessions_of(transcript: str) -> tuple[str, ...]:
    """What the session of a transcript is called in a store, whichever agent wrote it."""
    path = PurePath(transcript)
    named = (("claude-code", path.stem), ("codex", path.stem[-_UUID:]), ("opencode", path.name))
    return tuple(session_name(agent, name) for agent, name in named)
