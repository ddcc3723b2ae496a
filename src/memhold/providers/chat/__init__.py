"""Chat models over HTTP, one module a protocol; `chat_model` makes the one that a catalog entry asks for."""

from __future__ import annotations

from memhold.providers.chat.bare import KeySource
from memhold.providers.chat.making import chat_model

__all__ = ["KeySource", "chat_model"]
