"""How the links of model chains fare, over all scopes: shapes and times, no content."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from memhold.ports.models import LinkNote

__all__ = ["InMemoryLinkBook"]


class InMemoryLinkBook:
    """`LinkBook` in a dict."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], LinkNote] = {}

    async def put(self, notes: Sequence[LinkNote]) -> None:
        await asyncio.sleep(0)
        for note in notes:
            key = (note.model, note.url)
            self._kept[key] = note.after(self._kept[key]) if key in self._kept else note

    async def read(self) -> list[LinkNote]:
        await asyncio.sleep(0)
        return [note for _, note in sorted(self._kept.items())]
