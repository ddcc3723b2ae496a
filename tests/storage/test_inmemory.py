"""The in-memory store keeps the port."""

from __future__ import annotations

import pytest

from memhold.storage.inmemory import InMemoryStore
from memhold.testing.store_suite import OpenStore, StoreSuite


class TestInMemoryStore(StoreSuite):
    @pytest.fixture
    def open_store(self) -> OpenStore:
        async def open_store(clock, ids):
            return InMemoryStore(clock, ids)

        return open_store
