"""A link that is asked in steps: small models answer several short requests better than one long one."""

from __future__ import annotations

from dataclasses import replace

from memhold.ports.models import ChatModel, ChatReply, ChatRequest
from memhold.values.errors import ModelError

__all__ = ["Stepwise"]


class Stepwise:
    """A model that is asked a request's `steps`, one after the other, where it has any; the request decides of them.

    A step on which the model fails by itself is left out; a failure of the link ends it, and so do more than half.
    """

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self._model.name

    async def chat(self, request: ChatRequest) -> ChatReply:
        """The one reply that the replies to the steps are.

        Raises:
            ModelError: the link failed, or more than half of the steps did.
        """
        steps = request.steps
        if steps is None:
            return await self._model.chat(request)
        replies: list[ChatReply | None] = []
        failures: list[ModelError] = []
        for step in steps.requests:
            try:
                replies.append(await self._model.chat(replace(step, steps=None)))
            except ModelError as error:
                failures.append(error)
                if error.cls not in {"resample", "next"} or len(failures) * 2 > len(steps.requests):
                    raise
                replies.append(None)
        return steps.joined(replies)
