"""How the links of model chains fare, over all scopes: shapes and times, no content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import apsw

from memhold.storage.sql.link_rows import link_notes, link_params
from memhold.storage.sqlite.reading import QUERIES
from memhold.storage.sqlite.writer import SqliteWrite
from memhold.values.records import Scope

if TYPE_CHECKING:
    from memhold.ports.models import LinkNote

__all__ = ["SqliteLinkBook"]

_SCOPE = Scope(namespace="upkeep")


class SqliteLinkBook:
    """`LinkBook` over a store's writer and readers."""

    def __init__(self, *, write: Callable[..., Any], read: Callable[..., Any]) -> None:
        self._write = write
        self._read = read

    async def put(self, notes: Sequence[LinkNote]) -> None:
        def work(tx: SqliteWrite) -> None:
            tx.connection.executemany(QUERIES["put_link"], [link_params(note) for note in notes])

        if notes:
            await self._write(_SCOPE, work)

    async def read(self) -> list[LinkNote]:
        def look(connection: apsw.Connection, _: datetime) -> list[LinkNote]:
            return link_notes(connection.execute(QUERIES["read_links"]))

        found: list[LinkNote] = await self._read(look)
        return found
