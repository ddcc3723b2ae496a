"""Who may ask a server, over all scopes: tokens without their secrets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import psycopg

from memhold.storage.postgres.connection import Session
from memhold.storage.postgres.statements import QUERIES
from memhold.storage.postgres.upkeep import Looks
from memhold.storage.sql.blocks import Row
from memhold.storage.sql.token_rows import to_token, token_params
from memhold.values.access_tokens import StoredToken
from memhold.values.errors import Conflict
from memhold.values.records import micros

__all__ = ["PostgresTokens"]


class PostgresTokens:
    """`Tokens` over transactions that have entered no scope."""

    def __init__(self, *, change: Looks, ask: Callable[[str, Mapping[str, Any]], Awaitable[Sequence[Row]]]) -> None:
        self._change = change
        self._ask = ask

    async def add(self, stored: StoredToken) -> None:
        def work(connection: Session, _: datetime) -> None:
            try:
                connection.execute(QUERIES["add_token"], token_params(stored))
            except psycopg.errors.UniqueViolation:
                raise Conflict(f"there is a token {stored.token.id} already; make another") from None

        await self._change(work)

    async def find(self, token_id: str) -> StoredToken | None:
        found = await self._ask("find_token", {"id": token_id})
        return to_token(found[0]) if found else None

    async def read(self, namespace: str | None = None) -> list[StoredToken]:
        return [to_token(row) for row in await self._ask("read_tokens", {"namespace": namespace})]

    async def revoke(self, token_id: str, at: datetime) -> StoredToken | None:
        def work(connection: Session, _: datetime) -> StoredToken | None:
            connection.execute(QUERIES["revoke_token"], {"id": token_id, "at": micros(at)})
            return _one(connection, token_id)

        return await self._change(work)

    async def note_use(self, token_id: str, day: str) -> None:
        def work(connection: Session, _: datetime) -> None:
            connection.execute(QUERIES["note_token_use"], {"id": token_id, "day": day})

        await self._change(work)


def _one(connection: Session, token_id: str) -> StoredToken | None:
    row = connection.execute(QUERIES["find_token"], {"id": token_id}).fetchone()
    return None if row is None else to_token(row)
