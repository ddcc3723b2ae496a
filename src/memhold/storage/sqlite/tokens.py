"""Who may ask a server, over all scopes: tokens without their secrets."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import apsw

from memhold.storage.sql.token_rows import to_token, token_params
from memhold.storage.sqlite.reading import QUERIES
from memhold.storage.sqlite.writer import SqliteWrite
from memhold.values.access_tokens import StoredToken
from memhold.values.errors import Conflict
from memhold.values.records import Scope, micros

__all__ = ["SqliteTokens"]

_SCOPE = Scope(namespace="upkeep")


class SqliteTokens:
    """`Tokens` over a store's writer and readers."""

    def __init__(self, *, write: Callable[..., Any], read: Callable[..., Any], glance: Callable[..., Any]) -> None:
        self._write = write
        self._read = read
        self._glance = glance

    async def add(self, stored: StoredToken) -> None:
        def work(tx: SqliteWrite) -> None:
            if tx.connection.execute(QUERIES["find_token"], {"id": stored.token.id}).fetchone() is not None:
                raise Conflict(f"there is a token {stored.token.id} already; make another")
            tx.connection.execute(QUERIES["add_token"], token_params(stored))

        await self._write(_SCOPE, work)

    async def find(self, token_id: str) -> StoredToken | None:
        def look(connection: apsw.Connection, _: datetime) -> StoredToken | None:
            return _one(connection, token_id)

        found: StoredToken | None = await self._glance(look)
        return found

    async def read(self, namespace: str | None = None) -> list[StoredToken]:
        def look(connection: apsw.Connection, _: datetime) -> list[StoredToken]:
            return [to_token(row) for row in connection.execute(QUERIES["read_tokens"], {"namespace": namespace})]

        # A server without tokens asks at each request whether there is one now.
        none: bool = await self._glance(lambda connection, _: connection.execute(QUERIES["no_token"]).get == 1)
        if none:
            return []
        found: list[StoredToken] = await self._read(look)
        return found

    async def revoke(self, token_id: str, at: datetime) -> StoredToken | None:
        def work(tx: SqliteWrite) -> StoredToken | None:
            tx.connection.execute(QUERIES["revoke_token"], {"id": token_id, "at": micros(at)})
            return _one(tx.connection, token_id)

        found: StoredToken | None = await self._write(_SCOPE, work)
        return found

    async def note_use(self, token_id: str, day: str) -> None:
        def work(tx: SqliteWrite) -> None:
            tx.connection.execute(QUERIES["note_token_use"], {"id": token_id, "day": day})

        await self._write(_SCOPE, work)


def _one(connection: apsw.Connection, token_id: str) -> StoredToken | None:
    row = connection.execute(QUERIES["find_token"], {"id": token_id}).fetchone()
    return None if row is None else to_token(row)
