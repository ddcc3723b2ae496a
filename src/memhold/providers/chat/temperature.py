"""A model that is given a temperature as long as it takes one: reasoning models take none but their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from memhold.ports.models import ChatReply, ChatRequest
from memhold.providers.chat.bare import BareChat
from memhold.values.errors import ModelError

__all__ = ["Tempered"]

_RULE: Final = "temperature"
"""The line of the table of failures that knows this refusal."""


class Tempered:
    """The wrapped model, asked once more without a temperature where it refuses one, and never with one again.

    No model has seen the refused request, so nothing is paid for it.
    """

    def __init__(self, model: BareChat) -> None:
        self._model = model
        self._takes = True

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self._model.name

    async def close(self) -> None:
        """Let go of the connections. Idempotent; a later call opens them again."""
        await self._model.close()

    async def chat(self, request: ChatRequest) -> ChatReply:
        """The wrapped model's answer.

        Raises:
            ModelError: what the model raised, where it is not about a temperature that was sent.
        """
        if request.temperature is None or not self._takes:
            return await self._model.chat(replace(request, temperature=None))
        try:
            return await self._model.chat(request)
        except ModelError as error:
            if error.rule != _RULE:
                raise
        self._takes = False
        return await self._model.chat(replace(request, temperature=None))
