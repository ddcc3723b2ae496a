"""The PostgreSQL store keeps the port."""

from __future__ import annotations

import pytest_asyncio

from memhold.storage.postgres.connection import parsed
from memhold.storage.postgres.store import PostgresStore
from memhold.testing.store_suite import StoreSuite


class TestPostgresStore(StoreSuite):
    @pytest_asyncio.fixture
    async def open_store(self, databases):
        opened = []

        async def open_store(clock, ids):
            del ids
            url = databases.take()
            opened.append((url, await PostgresStore.open(parsed(url), clock=clock)))
            return opened[-1][1]

        yield open_store
        for url, store in opened:
            await store.close()
            databases.give_back(url)
