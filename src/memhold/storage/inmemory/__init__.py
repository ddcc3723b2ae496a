"""The store without a file: everything the port promises but persistence."""

from __future__ import annotations

from memhold.storage.inmemory.store import InMemoryStore

__all__ = ["InMemoryStore"]
