"""The SQLite store keeps the port."""

from __future__ import annotations

import apsw
import pytest
import pytest_asyncio

from memhold.storage.sqlite.store import SqliteStore
from memhold.testing.store_suite import StoreSuite


class TestSqliteStore(StoreSuite):
    @pytest_asyncio.fixture
    async def open_store(self, tmp_path):
        opened = []

        async def open_store(clock, ids):
            del ids
            opened.append(SqliteStore(str(tmp_path / f"{len(opened)}.db"), clock=clock))
            return opened[-1]

        yield open_store
        for store in opened:
            await store.close()

    @pytest.fixture
    def spoil(self):
        async def spoil(store, item):
            connection = apsw.Connection(store.facts.location)
            for table, column in {"message": "text", "memory": "text", "change": "reason"}.items():
                connection.execute(f"UPDATE {table} SET {column} = {column} || '!' WHERE id = ?", (item,))  # noqa: S608
            connection.close()
            return True

        return spoil
