"""A store that a server keeps, with the face of one that is kept here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.open import AsyncHoldfast
from holdfast.remote.store import RemoteStore, reach

__all__ = ["RemoteHoldfast", "reached"]


class RemoteHoldfast(RemoteStore, AsyncHoldfast):
    """One open store, kept by a server. It belongs to the event loop that opened it."""


async def reached(location: str, settings: Mapping[str, Any]) -> RemoteHoldfast:
    """A store at a server's address; see `reach`."""
    return RemoteHoldfast(*await reach(location, settings))
