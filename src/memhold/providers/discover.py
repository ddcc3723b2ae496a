"""Which models could consolidate here: servers that listen on their usual ports, and vendors whose key is set.

Local servers are asked which models they have; nothing else is sent, and no hosted vendor is asked anything.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import httpx2

from memhold.providers.catalog import Catalog
from memhold.providers.chat.text import items
from memhold.providers.entry import endpoint, looks_embedding
from memhold.providers.naming import VENDORS

__all__ = ["LOCAL", "Offer", "hosted_offers", "local_offers"]

LOCAL: Final[Mapping[str, str]] = {name: one.base_url for name, one in VENDORS.items() if one.key is None}
"""The usual place of each local server, by its name in a line."""
_MOST: Final = 50
_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A model that could be used: the line that names it, where it is, and whether that is this machine.

    `embeds`: its name is that of an embedding, which consolidates nothing.
    """

    line: str
    where: str
    local: bool
    embeds: bool = False


async def local_offers(places: Mapping[str, str] = LOCAL, *, seconds: float = 1.0) -> list[Offer]:
    """The models of the servers that listen, in the order of the places; those that do not answer have none."""
    async with httpx2.AsyncClient(timeout=seconds, trust_env=False, follow_redirects=False) as client:
        found = await asyncio.gather(*(_models(client, url, seconds) for url in places.values()))
    return [
        Offer(line=f"{name}:{model}", where=url, local=True, embeds=looks_embedding(model))
        for (name, url), models in zip(places.items(), found, strict=True)
        for model in models
    ]


async def _models(client: httpx2.AsyncClient, url: str, seconds: float) -> list[str]:
    try:
        async with asyncio.timeout(seconds):
            answer = await client.get(endpoint(url, "/models"))
        listed = json.loads(answer.content[:_BYTES])
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, TimeoutError, ValueError, RecursionError):
        return []
    if answer.status_code != httpx2.codes.OK or not isinstance(listed, dict):
        return []
    names = [one.get("id") for one in items(listed.get("data"))]
    said = [name for name in names if isinstance(name, str) and name.isprintable() and "," not in name]
    return said[:_MOST]


def hosted_offers(table: Catalog, environment: Mapping[str, str]) -> list[Offer]:
    """The chat models of the catalog whose vendor's key is set here."""
    vendors = {one.key: name for name, one in VENDORS.items() if one.key is not None}
    return [
        Offer(
            line=f"{vendors[entry.api_key_env]}:{entry.model}",
            where=f"with the key in {entry.api_key_env}",
            local=False,
        )
        for entry in table.models.values()
        if entry.api_key_env in vendors and not entry.embeds and environment.get(entry.api_key_env or "", "").strip()
    ]
