"""From a catalog entry to the model that speaks its protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from memhold.errors import InvalidSetting
from memhold.inference import ChatModel
from memhold.providers.entry import Entry

if TYPE_CHECKING:
    from memhold.ports import Clock

__all__ = ["BareChat", "KeySource", "chat_model"]

KeySource = Callable[[str], str | None]
"""The value of a key's variable now; None where it is not set. Asked at each call, so a new key is seen."""


class BareChat(ChatModel, Protocol):
    """A chat model that holds connections."""

    async def close(self) -> None:
        """Let go of them. Idempotent; a later call opens them again."""
        ...


def chat_model(entry: Entry, *, keys: KeySource, clock: Clock | None = None) -> BareChat:
    """The bare model of an entry: one request a call, no retries, its own URL, key, headers and protocol.

    `close()` on it lets go of its connections. `clock` reads dates in Retry-After.

    Raises:
        InvalidSetting: the entry is not a chat model that is called over a network (an embedding model, or `rules`).
    """
    match entry.protocol:
        case "openai-chat":
            from memhold.providers.chat.openai import OpenAIChat

            return OpenAIChat(entry, keys=keys, clock=clock)
        case "anthropic-messages":
            from memhold.providers.chat.anthropic import AnthropicChat

            return AnthropicChat(entry, keys=keys, clock=clock)
        case "ollama-chat":
            from memhold.providers.chat.ollama import OllamaChat

            return OllamaChat(entry, keys=keys, clock=clock)
        case "pydantic-ai":
            from memhold.providers.chat.pydantic_ai import PydanticAIChat

            return PydanticAIChat(entry, keys=keys, clock=clock)
        case _:
            raise InvalidSetting(
                f"{entry.name} speaks {entry.protocol}, which is no chat protocol; name a chat model", name=entry.name
            )
