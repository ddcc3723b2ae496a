"""Passing requests on to a real provider, so that faults can be put in front of it."""

from __future__ import annotations

from urllib.parse import urlsplit

import httpx2

from memhold.testing.chaos.wire import Incoming, Outgoing

__all__ = ["Upstream", "joined"]

_DROPPED = frozenset(
    [
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "keep-alive",
        "accept-encoding",
        "content-encoding",
        "te",
        "upgrade",
    ]
)
_SECONDS = 600.0


def joined(base: str, target: str) -> str:
    """The upstream URL of a request target: a `/v1` that stands in both is written once."""
    path = urlsplit(base).path.rstrip("/")
    last = path.rpartition("/")[2]
    if last and target.startswith(f"/{last}/"):
        target = target[len(last) + 1 :]
    return base.rstrip("/") + target


class Upstream:
    """A real provider's base URL and one connection pool to it."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._client: httpx2.AsyncClient | None = None

    async def ask(self, incoming: Incoming) -> Outgoing:
        """The provider's own answer, collected; 502 in the OpenAI shape when it cannot be reached.

        A stream is sent on in the pieces in which it came, after its end.
        """
        if self._client is None:
            self._client = httpx2.AsyncClient(timeout=_SECONDS, trust_env=False)
        headers = {name: value for name, value in incoming.headers.items() if name not in _DROPPED}
        url = joined(self._base, incoming.target)
        try:
            async with self._client.stream(incoming.method, url, headers=headers, content=incoming.body) as response:
                parts = [part async for part in response.aiter_bytes()]
        except httpx2.TransportError as error:
            body = f'{{"error":{{"message":"upstream: {type(error).__name__}","type":"server_error","code":502}}}}'
            return Outgoing(status=502, headers={"content-type": "application/json"}, parts=(body.encode(),))
        kept = {name: value for name, value in response.headers.items() if name.lower() not in _DROPPED}
        stream = "stream" in kept.get("content-type", "") or "ndjson" in kept.get("content-type", "")
        return Outgoing(status=response.status_code, headers=kept, parts=parts, stream=stream)

    async def close(self) -> None:
        """Close the connections. Idempotent."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None
