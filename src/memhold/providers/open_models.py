"""The models of one open store: chains and embeddings from one catalog, over the same host gates and one ledger."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from random import Random
from typing import Any, Final

from memhold.ports.models import ChatRequest, EmbeddingModel, LinkBook, LinkNote, Usage, UsageBook
from memhold.ports.stores import Clock
from memhold.providers.catalog import Catalog
from memhold.providers.chain import Chain
from memhold.providers.chat import KeySource
from memhold.providers.embedders import embedding_model
from memhold.providers.embedding.remote import Purpose
from memhold.providers.ledger import Ledger
from memhold.providers.link_health import Links
from memhold.providers.pool import ChainSettings, ChatPool
from memhold.providers.wrappers import HostGates
from memhold.values.errors import Attempt, StoreError

__all__ = ["Models"]

_WRITE_SECONDS: Final = 5.0
_PURPOSES: Final = {"document": "embedding", "query": "query"}


@dataclass(eq=False)
class Models:
    """What calls models for a store. Chat and embedding on one host take turns, and every call is in the usage book.

    What is used is written five seconds after a call and at `close`; a crash loses figures of those seconds, and a
    book that cannot be written now gets them the next time. For one event loop.
    """

    catalog: Catalog
    _: KW_ONLY
    book: UsageBook
    keys: KeySource
    clock: Clock
    dice: Random
    settings: ChainSettings = field(default_factory=ChainSettings)
    unload_retry_count: int = 3
    unload_retry_delay_ms: int = 500
    own: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    link_book: LinkBook | None = None
    known: Sequence[LinkNote] = ()

    def __post_init__(self) -> None:
        catalog, clock = self.catalog, self.clock
        self._gates = HostGates()
        self._ledger = Ledger(catalog.models, clock=clock, changed=self._soon)
        self.links = Links(catalog.models, clock=clock, changed=self._soon, known=self.known)
        self.pool = ChatPool(
            catalog,
            keys=self.keys,
            clock=clock,
            dice=self.dice,
            settings=self.settings,
            gates=self._gates,
            observe=self._observe,
            own=self.own,
            links=self.links,
        )
        self._embeddings: dict[str, EmbeddingModel] = {}
        self._writing: asyncio.Task[None] | None = None
        self._waits = False

    def chain(self, start: str) -> Chain:
        """The chat chain of that name (`consolidation`), or the one that begins with that model.

        Raises:
            InvalidSetting: there is none, or a link of it is no chat model.
        """
        return self.pool.chain(start)

    async def embedding(self, name: str = "embeddings") -> EmbeddingModel:
        """The embedding model of that name, or the first link of the chain; made once.

        Raises:
            InvalidSetting: there is none, or it is no embedding model.
            ModelError: the server that was to name its model could not be asked.
        """
        entry = self.catalog.chain(name)[0]
        if entry.name not in self._embeddings:
            self._embeddings[entry.name] = await embedding_model(
                entry,
                keys=self.keys,
                clock=self.clock,
                gates=self._gates,
                record=self._embedded,
                unload_retry_count=self.unload_retry_count,
                unload_retry_delay_ms=self.unload_retry_delay_ms,
            )
        return self._embeddings[entry.name]

    async def write_usage(self) -> None:
        """Write what was used and seen since the last time; what cannot be written stays for the next."""
        taken, seen = self._ledger.take(), self.links.take()
        try:
            await self.book.add(taken)
        except StoreError:
            self._ledger.put_back(taken)
        try:
            if self.link_book is not None:
                await self.link_book.put(seen)
        except StoreError:
            self.links.put_back(seen)

    async def close(self) -> None:
        """Write what was used and let go of every connection. Idempotent."""
        writing, self._writing = self._writing, None
        if writing is not None:
            if self._waits:
                writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)
        await self.write_usage()
        await self.pool.close()
        for model in self._embeddings.values():
            close = getattr(model, "close", None)
            if close is not None:
                await close()

    def _embedded(self, purpose: Purpose, attempt: Attempt, usage: Usage) -> None:
        self._ledger.note(_PURPOSES[purpose], attempt, usage)
        self.links.note(attempt)

    def _observe(self, request: ChatRequest, attempt: Attempt, usage: Usage) -> None:
        self._ledger.observe(request, attempt, usage)
        self.links.note(attempt)

    def _soon(self) -> None:
        if self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._later())

    async def _later(self) -> None:
        while self._ledger.pending or self.links.pending:
            self._waits = True
            await self.clock.sleep(_WRITE_SECONDS)
            self._waits = False
            await self.write_usage()
