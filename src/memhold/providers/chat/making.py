"""From a catalog entry to the model that speaks its protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhold.providers.chat.bare import BareChat, KeySource
from memhold.providers.entry import Entry
from memhold.values.errors import InvalidSetting

if TYPE_CHECKING:
    from memhold.ports.stores import Clock
    from memhold.providers.chat.forms import Forms

__all__ = ["chat_model"]


def chat_model(entry: Entry, *, keys: KeySource, clock: Clock | None = None, forms: Forms | None = None) -> BareChat:
    """The bare model of an entry: one request a call, no retries, its own URL, key, headers and protocol.

    A request that is refused because of its form or its temperature is sent once more in another.

    `close()` on it lets go of its connections. `clock` reads dates in Retry-After; `forms` is how it is asked for
    arguments, where that is known better than by its entry.

    Raises:
        InvalidSetting: the entry is not a chat model that is called over a network (an embedding model, or `rules`).
    """
    from memhold.providers.chat.temperature import Tempered

    return Tempered(_spoken(entry, keys, clock, forms))


def _spoken(entry: Entry, keys: KeySource, clock: Clock | None, forms: Forms | None) -> BareChat:
    match entry.protocol:
        case "openai-chat":
            from memhold.providers.chat.openai import OpenAIChat

            return OpenAIChat(entry, keys=keys, clock=clock, forms=forms)
        case "anthropic-messages":
            from memhold.providers.chat.anthropic import AnthropicChat

            return AnthropicChat(entry, keys=keys, clock=clock)
        case "ollama-chat":
            from memhold.providers.chat.ollama import OllamaChat

            return OllamaChat(entry, keys=keys, clock=clock, forms=forms)
        case "pydantic-ai":
            from memhold.providers.chat.pydantic_ai import PydanticAIChat

            return PydanticAIChat(entry, keys=keys, clock=clock)
        case _:
            raise InvalidSetting(
                f"{entry.name} speaks {entry.protocol}, which is no chat protocol; name a chat model", name=entry.name
            )
