"""The bare store that a location names, for a suite."""

from __future__ import annotations

from memhold.ports.stores import Clock, Ids, Store
from memhold.wiring.settings import Settings
from memhold.wiring.stores import open_store

__all__ = ["store_at"]


async def store_at(location: str, clock: Clock, ids: Ids) -> Store:
    """The store at a location, found by its scheme as `Memhold.open` finds it, with default settings; close it.

    Raises:
        InvalidInput: no store is known for the scheme.
    """
    return await open_store(location, Settings(), clock, ids)
