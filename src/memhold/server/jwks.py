"""An issuer's public keys (RFC 7517): fetched when needed, kept for a while, and never asked for in a flood."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any, Final

import jwt

from memhold.values.errors import MemholdError, ServerUnreachable

__all__ = ["KeySet", "KeysUnreachable", "fetch_json"]

log = logging.getLogger("memhold.access")

FRESH_SECONDS: Final = 600.0
"""How long keys are taken without looking for newer ones; then they are taken on, and renewed behind the request."""
STALE_SECONDS: Final = 24 * 3600.0
"""How long keys are taken at all."""
PAUSE_SECONDS: Final = 30.0
"""Shortest time between two requests to the issuer: tokens with made-up key ids must not become requests."""
MAX_KEYS: Final = 100
MAX_BYTES: Final = 512 * 1024
TIMEOUT_SECONDS: Final = 5.0


class KeysUnreachable(ServerUnreachable):
    """The issuer's keys are not known and cannot be had now: nobody's token can be checked."""


async def fetch_json(url: str) -> Any:
    """The JSON that stands at an address: no redirects, 5 seconds, 512 KiB.

    Raises:
        KeysUnreachable: there was no such answer.
    """
    import httpx2

    try:
        async with (
            asyncio.timeout(TIMEOUT_SECONDS),
            httpx2.AsyncClient(follow_redirects=False, timeout=TIMEOUT_SECONDS) as client,
            client.stream("GET", url, headers={"accept": "application/json"}) as response,
        ):
            if response.status_code != 200:
                raise KeysUnreachable(f"the issuer's keys: status {response.status_code}", sent=True)
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > MAX_BYTES:
                    raise KeysUnreachable(f"the issuer's keys: over {MAX_BYTES} bytes", sent=True)
            return json.loads(bytes(body))
    except (httpx2.HTTPError, TimeoutError, ValueError, RecursionError) as error:
        raise KeysUnreachable(f"the issuer's keys cannot be had: {type(error).__name__}", sent=True) from error


class KeySet:
    """The keys of one issuer. `clock` gives seconds that never go back; `fetch` gives the key set as JSON.

    A key that is known is given at once, whatever the issuer does: keys are renewed by a task of their own. Only who
    needs a key that is not known waits for the issuer, and all who do wait for the same request.
    """

    def __init__(
        self,
        url: str,
        *,
        fetch: Callable[[str], Awaitable[Any]] = fetch_json,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._url = url
        self._fetch = fetch
        self._clock = clock
        self._renewing: asyncio.Task[None] | None = None
        self._keys: dict[str | None, jwt.PyJWK] = {}
        self._fetched: float | None = None
        self._asked: float | None = None

    async def find(self, kid: str | None) -> jwt.PyJWK | None:
        """The key of that id; without an id the only key, where there is one. None where there is none.

        An unknown id is asked for at the issuer, which may have new keys, but not more often than every 30 seconds.
        A key that the issuer took away counts until it was asked again, which the first use after 10 minutes does.

        Raises:
            KeysUnreachable: no keys are known, or none fresher than a day, and the issuer does not answer.
        """
        known = self._age() <= STALE_SECONDS
        if self._age() > FRESH_SECONDS or self._pick(kid) is None:
            self._renew_behind()
            if self._renewing is not None and (not known or self._pick(kid) is None):
                # Whoever goes away meanwhile takes the request of the others not with it.
                await asyncio.shield(self._renewing)
        if self._age() > STALE_SECONDS:
            raise KeysUnreachable("the issuer's keys are not known, and it does not answer; try again", sent=False)
        return self._pick(kid)

    def _age(self) -> float:
        return float("inf") if self._fetched is None else self._clock() - self._fetched

    def _pick(self, kid: str | None) -> jwt.PyJWK | None:
        if kid is None:
            return next(iter(self._keys.values())) if len(self._keys) == 1 else None
        return self._keys.get(kid)

    def _renew_behind(self) -> None:
        now = self._clock()
        if self._renewing is not None and not self._renewing.done():
            return
        if self._asked is not None and now - self._asked < PAUSE_SECONDS:
            return
        self._asked = now
        self._renewing = asyncio.get_running_loop().create_task(self._renew(now))

    async def _renew(self, now: float) -> None:
        try:
            found = _public_keys(await self._fetch(self._url))
        except MemholdError as error:
            log.warning("%s", error)
            return
        if not found and self._keys:
            log.warning("the issuer's key set is empty; the keys that it had count on, for a day at most")
            return
        self._keys, self._fetched = found, now


def _public_keys(document: Any) -> dict[str | None, jwt.PyJWK]:
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list) or len(listed) > MAX_KEYS:
        raise KeysUnreachable("what stands at the issuer's address is no key set", sent=True)
    found: dict[str | None, jwt.PyJWK] = {}
    for one in listed:
        try:
            # A shared secret in a public document would be everybody's; a key for encryption signs nothing.
            if one["kty"] in {"RSA", "EC", "OKP"} and one.get("use", "sig") == "sig":
                key = jwt.PyJWK(one)
                found[key.key_id] = key
        except Exception as error:  # noqa: BLE001 - one key that cannot be read is left out, whatever is wrong with it
            log.warning("a key of the issuer's cannot be read: %s", type(error).__name__)
    return found
