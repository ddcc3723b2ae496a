"""How the links of model chains fare, over all scopes: shapes and times, no content."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memhold.ports.models import LinkNote
from memhold.storage.postgres.connection import Session
from memhold.storage.postgres.statements import QUERIES
from memhold.storage.postgres.upkeep import Looks
from memhold.storage.sql.link_rows import link_notes, link_params

__all__ = ["PostgresLinkBook"]


class PostgresLinkBook:
    """`LinkBook` over transactions that have entered no scope."""

    def __init__(self, *, change: Looks, look: Looks) -> None:
        self._change = change
        self._look = look

    async def put(self, notes: Sequence[LinkNote]) -> None:
        # In one order everywhere, so that two processes never wait for each other's rows.
        ordered = sorted(notes, key=lambda one: (one.model, one.url))

        def work(connection: Session, _: datetime) -> None:
            for note in ordered:
                connection.execute(QUERIES["put_link"], link_params(note))

        if ordered:
            await self._change(work)

    async def read(self) -> list[LinkNote]:
        def look(connection: Session, _: datetime) -> list[LinkNote]:
            return link_notes(connection.execute(QUERIES["read_links"]).fetchall())

        return await self._look(look)
