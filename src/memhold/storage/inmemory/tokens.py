"""Who may ask a server, over all scopes: tokens without their secrets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from memhold.values.access_tokens import StoredToken
from memhold.values.errors import Conflict

__all__ = ["InMemoryTokens"]


class InMemoryTokens:
    """`Tokens` in a dict."""

    def __init__(self, refuse_closed: Callable[[], None]) -> None:
        self._refuse_closed = refuse_closed
        self._kept: dict[str, StoredToken] = {}

    async def add(self, stored: StoredToken) -> None:
        await self._turn()
        if stored.token.id in self._kept:
            raise Conflict(f"there is a token {stored.token.id} already; make another")
        self._kept[stored.token.id] = stored

    async def find(self, token_id: str) -> StoredToken | None:
        await self._turn()
        return self._kept.get(token_id)

    async def read(self, namespace: str | None = None) -> list[StoredToken]:
        await self._turn()
        found = [one for one in self._kept.values() if namespace is None or one.token.namespace == namespace]
        return sorted(found, key=lambda one: (one.token.created_at, one.token.id))

    async def revoke(self, token_id: str, at: datetime) -> StoredToken | None:
        await self._turn()
        stored = self._kept.get(token_id)
        if stored is not None and stored.token.revoked_at is None:
            stored = self._kept[token_id] = replace(stored, token=replace(stored.token, revoked_at=at))
        return stored

    async def note_use(self, token_id: str, day: str) -> None:
        await self._turn()
        stored = self._kept.get(token_id)
        if stored is not None and (stored.token.last_used or "") < day:
            self._kept[token_id] = replace(stored, token=replace(stored.token, last_used=day))

    async def _turn(self) -> None:
        await asyncio.sleep(0)
        self._refuse_closed()
