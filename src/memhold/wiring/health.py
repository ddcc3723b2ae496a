"""How the models of an open store fare: what any process has seen of them, and what can be told without asking them."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from memhold.values.answers import ModelHealth

if TYPE_CHECKING:
    from memhold.ports.stores import Store
    from memhold.providers.entry import Entry
    from memhold.wiring.models import HeldModels

__all__ = ["Healths", "look_at_local_servers", "warn_of_models"]

log = logging.getLogger("memhold.models")

_FOLLOWS = {
    "consolidation": "windows wait",
    "adjudication": "doubted keys wait",
    "compaction": "only exact copies of notes become one",
    "embedding": "questions are answered by words alone",
}
"""What is so without a model, by its purpose."""
_KNOCK_SECONDS = 0.25
"""A server of this machine takes a connection within milliseconds, or none listens there."""


class Healths:
    """How the models of a store fare now. Costs one small read, and none where no model is configured."""

    def __init__(self, store: Store, entries: Sequence[Entry], held: HeldModels | None) -> None:
        self._store = store
        self._entries = tuple({entry.name: entry for entry in entries}.values())
        self._held = held

    async def __call__(self) -> Mapping[str, ModelHealth]:
        """By the model's name."""
        if not self._entries or self._held is None:
            return {}
        from memhold.providers.link_health import healths

        # What this process wrote comes back from the store: only what is not written yet stands beside it.
        kept = await self._store.links.read()
        return healths(self._entries, [*kept, *self._held.models.links.unwritten()], os.environ)


async def look_at_local_servers(entries: Sequence[Entry], held: HeldModels) -> None:
    """See whether anything listens where a model of this machine is to be: one connection each, and no request."""
    here = [entry for entry in entries if _on_loopback(entry)]
    for entry, listens in zip(here, await asyncio.gather(*(_listens(entry) for entry in here)), strict=True):
        held.models.links.knocked(entry, listens=listens)


def _on_loopback(entry: Entry) -> bool:
    from memhold.providers.entry import server_of

    return server_of(entry.base_url).startswith("localhost:")


async def _listens(entry: Entry) -> bool:
    parts = urlsplit(entry.base_url or "")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        async with asyncio.timeout(_KNOCK_SECONDS):
            _, writer = await asyncio.open_connection(parts.hostname, port)
    except TimeoutError:
        return True  # slow is not absent
    except OSError:
        return False
    writer.close()
    return True


def warn_of_models(names: Iterable[str], purpose: str, found: Mapping[str, ModelHealth]) -> None:
    """Say in the log which links of a chain, or which embedding, do not work, and what follows."""
    links = [found[name] for name in names if name in found]
    down = [one for one in links if one.answers is False]
    for one in down:
        follows = f"until it works, {_FOLLOWS[purpose]}" if len(down) == len(links) else "this link is passed over"
        log.warning("%s: %s; %s", purpose, one.told, follows)
