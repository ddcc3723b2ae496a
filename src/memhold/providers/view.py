"""What `memhold models` asks for, over a catalog: the rows, a real call to each link, the usage, the classes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, timedelta
from typing import Any

from memhold.ports.models import Tally
from memhold.ports.stores import Clock
from memhold.providers.catalog import Catalog
from memhold.providers.chat import KeySource, chat_model
from memhold.providers.embedders import embedding_model
from memhold.providers.entry import Entry
from memhold.providers.failures.classify import classify_rows
from memhold.providers.report import Probe, catalog_rows, note_rows, probe_chat, probe_embedding, usage_rows
from memhold.providers.wrappers import HostGates, Timed
from memhold.values.errors import ModelError

__all__ = ["ModelsView"]


class ModelsView:
    """The commands' side of the catalog. `kept` reads the tallies of a store from a day on. Not for a running loop."""

    def __init__(
        self,
        catalog: Catalog,
        *,
        keys: KeySource,
        clock: Clock,
        kept: Callable[[date | None], Sequence[Tally]] | None = None,
    ) -> None:
        self._catalog = catalog
        self._keys = keys
        self._clock = clock
        self._kept = kept

    def rows(self, *, hidden: bool) -> list[dict[str, Any]]:
        """The catalog, as rows."""
        return catalog_rows(self._catalog, hidden=hidden)

    def notes(self) -> list[dict[str, Any]]:
        """What loading noted, as rows."""
        return note_rows(self._catalog.notes)

    def test(self, chain: str) -> list[dict[str, Any]]:
        """One real call to each link of a chain, one after the other, as rows.

        Raises:
            InvalidSetting: there is no such chain or model.
        """
        return asyncio.run(self._test(self._catalog.chain(chain)))

    def usage(self, *, days: int | None, by_day: bool) -> list[dict[str, Any]]:
        """What models were used for in the last days (today counts), or since ever, as rows."""
        since = self._clock.now().date() - timedelta(days=days - 1) if days is not None else None
        return usage_rows(self._kept(since) if self._kept is not None else (), days=by_day)

    def classify(self, lines: Iterable[str]) -> Iterator[dict[str, Any]]:
        """The rows with their class."""
        return classify_rows(lines)

    async def _test(self, links: Sequence[Entry]) -> list[dict[str, Any]]:
        return [(await self._probe(entry)).row() for entry in links]

    async def _probe(self, entry: Entry) -> Probe:
        if entry.protocol == "rules":
            return Probe(model=entry.name, reachable=True, tools=None, seconds=0.0, usd=0.0, text="needs no server")
        if not entry.embeds:
            bare = chat_model(entry, keys=self._keys, clock=self._clock)
            timed = Timed(bare, clock=self._clock, seconds=entry.deadline)
            try:
                return await probe_chat(entry, timed, clock=self._clock)
            finally:
                await bare.close()
        try:
            gates = HostGates()
            model = await embedding_model(entry, keys=self._keys, clock=self._clock, gates=gates, unload_retry_count=0)
        except ModelError as error:
            return Probe(
                model=entry.name, reachable=False, tools=None, seconds=0.0, usd=None, cls=error.cls, text=str(error)
            )
        try:
            return await probe_embedding(entry, model, clock=self._clock)
        finally:
            close = getattr(model, "close", None) or getattr(model, "aclose", None)
            if close is not None:
                await close()
