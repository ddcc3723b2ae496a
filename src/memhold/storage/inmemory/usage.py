"""What models were used for, over all scopes: counts without content."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import date

from memhold.ports.models import Tally

__all__ = ["InMemoryUsageBook"]

_COUNTS = tuple(item.name for item in fields(Tally) if item.type == "int")


class InMemoryUsageBook:
    """`UsageBook` in a dict."""

    def __init__(self) -> None:
        self._kept: dict[tuple[date, str, str], Tally] = {}

    async def add(self, tallies: Sequence[Tally]) -> None:
        await asyncio.sleep(0)
        for tally in tallies:
            key = (tally.day, tally.model, tally.purpose)
            known = self._kept.get(key)
            self._kept[key] = tally if known is None else _sum(known, tally)

    async def read(self, since: date | None = None) -> list[Tally]:
        await asyncio.sleep(0)
        return [tally for key, tally in sorted(self._kept.items()) if since is None or key[0] >= since]


def _sum(one: Tally, other: Tally) -> Tally:
    classes = one.failures.keys() | other.failures.keys()
    failures = {cls: one.failures.get(cls, 0) + other.failures.get(cls, 0) for cls in classes}
    return replace(one, failures=failures, **{name: getattr(one, name) + getattr(other, name) for name in _COUNTS})
