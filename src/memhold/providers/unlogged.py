"""Requests whose URL is logged without what it holds of a password or a key.

The HTTP client logs each request's URL at INFO: an application that logs its libraries would keep both in its logs.
"""

from __future__ import annotations

import httpx2

from memhold.providers.entry import shown

__all__ = ["UNLOGGED"]


class _Url(httpx2.URL):
    """A URL that is sent as it is, and read as people may read it."""

    def __str__(self) -> str:
        return shown(super().__str__())


async def _hide(request: httpx2.Request) -> None:
    request.url = _Url(request.url)


UNLOGGED = {"request": [_hide]}
"""The `event_hooks` of every client that asks a URL of the user's."""
