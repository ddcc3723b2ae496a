"""A store that a server keeps, with the face of one that is kept here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memhold.faces.python.open import AsyncMemhold
from memhold.faces.remote.remote_store import RemoteStore, reach

__all__ = ["RemoteMemhold", "reached"]


class RemoteMemhold(RemoteStore, AsyncMemhold):
    """One open store, kept by a server. It belongs to the event loop that opened it."""


async def reached(location: str, settings: Mapping[str, Any]) -> RemoteMemhold:
    """A store at a server's address; see `reach`."""
    return RemoteMemhold(*await reach(location, settings))
