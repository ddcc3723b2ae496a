"""The PostgreSQL store keeps the port."""

from __future__ import annotations

import psycopg
import pytest
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
            url = databases.store()
            opened.append((url, await PostgresStore.open(parsed(url), clock=clock, read_timeout=60.0)))
            return opened[-1][1]

        yield open_store
        for url, store in opened:
            await store.close()
            databases.give_back(url)

    @pytest.fixture
    def spoil(self):
        async def spoil(store, item):
            with psycopg.connect(store.facts.location) as connection:
                for table, column in {"message": "text", "memory": "text", "change": "reason"}.items():
                    connection.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
                    connection.execute(f"UPDATE {table} SET {column} = {column} || '!' WHERE id = %s", (item,))  # noqa: S608
            return True

        return spoil
