"""A chat model over HTTP by itself: what it is, and where its key comes from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from memhold.ports.models import ChatModel

__all__ = ["BareChat", "KeySource"]

KeySource = Callable[[str], str | None]
"""The value of a key's variable now; None where it is not set. Asked at each call, so a new key is seen."""


class BareChat(ChatModel, Protocol):
    """A chat model that holds connections."""

    async def close(self) -> None:
        """Let go of them. Idempotent; a later call opens them again."""
        ...
