"""The SQLite store keeps the port."""

from __future__ import annotations

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
