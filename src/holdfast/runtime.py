"""What an open Holdfast is made of: the store, time, ids, settings, and who may use it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from holdfast.answers import Residue
from holdfast.errors import WrongLoop
from holdfast.pipeline.embedding import Embedding
from holdfast.pipeline.ingest import Limits
from holdfast.pipeline.recall import Caches
from holdfast.ports import Clock, Ids, Redactor, Store
from holdfast.upkeep.worker import Worker

__all__ = ["Runtime", "RuntimeSettings"]

SCRUB_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeSettings:
    """The settings that verbs read."""

    idempotency_days: int
    raw_chars: int
    recall_timeout: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """The parts of one open Holdfast; belongs to the event loop that made it."""

    store: Store
    clock: Clock
    ids: Ids
    settings: RuntimeSettings
    worker: Worker
    limits: Limits
    residue: Callable[[str], Residue]
    redactor: Redactor | None = None
    embedding: Embedding | None = None
    caches: Caches = field(default_factory=Caches)
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    def guard(self) -> None:
        """Refuse another event loop than the one that opened this.

        Raises:
            WrongLoop: the running loop is another one.
        """
        if asyncio.get_running_loop() is not self.loop:
            raise WrongLoop("this AsyncHoldfast belongs to another event loop; open one in this loop, or use Holdfast")

    async def scrub(self, wait: float) -> str | None:
        """Make forgotten bytes disappear now, waiting up to that many seconds for readers; what still holds them."""
        holding = await self.store.upkeep.scrub()
        waited = 0.0
        while holding is not None and waited < wait:
            await self.clock.sleep(SCRUB_POLL_SECONDS)
            waited += SCRUB_POLL_SECONDS
            holding = await self.store.upkeep.scrub()
        return holding
