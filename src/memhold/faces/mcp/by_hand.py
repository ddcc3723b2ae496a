"""The tools that are no verb as it stands: each takes plain texts where the verb takes messages.

They are declared as verbs are, so that they are listed, judged and answered in the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from memhold.verbs.declaration import Tool, verb

if TYPE_CHECKING:
    from datetime import datetime

    from memhold.context.answer import Context
    from memhold.values.answers import Receipt
    from memhold.verbs.scope import AsyncScope

__all__ = ["ToolsByHand"]


class ToolsByHand:
    """The irregular tools over a scope: two shapes of `add`, and `context` with its new message as a text."""

    def __init__(self, scope: AsyncScope) -> None:
        self._scope = scope

    @verb(
        "read",
        tool=Tool(
            name="get_context", title="Get the context", idempotent=True,
            use="The conversation so far and what memory knows about the new message, within a budget of tokens. Use it"
            " to begin or continue a conversation.",
            shows=("message", "query", "budget", "model", "strategy", "session"),
        ),
        bounds={"budget": (1, None)},
    )  # fmt: skip
    async def get_context(
        self,
        message: str | None = None,
        *,
        query: str | None = None,
        budget: int = 8000,
        model: str | None = None,
        strategy: Literal["adaptive", "full_history", "memory_first"] = "adaptive",
    ) -> Context:
        """What to read before answering.

        Args:
            message: The new message; it is not stored.
            query: What to look for, if not the message.
            budget: Most tokens.
            model: Your model.
            strategy: What to cut if not all fits.
        """
        new = [] if message is None else [{"role": "user", "content": message}]
        return await self._scope.context(new, query=query, budget=budget, model=model, strategy=strategy)

    @verb(
        "write",
        tool=Tool(
            name="add_message", title="Add a message",
            use="Save one line of text at once, with no model involved. Use it when add_memory fails, and for single"
            " lines. It is found by its words, never by meaning.",
            shows=("text", "role", "event_time", "session", "idempotency_key"),
        ),
    )  # fmt: skip
    async def add_message(
        self,
        text: str,
        *,
        role: Literal["user", "assistant", "system"] = "user",
        event_time: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Append one message that is never embedded.

        Args:
            text: What was said.
            role: Who said it.
            event_time: When it was said; left out: now.
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.
        """
        message = _message(role, text, event_time)
        return await self._scope.add({**message, "embed": False}, idempotency_key=idempotency_key)

    @verb(
        "write",
        tool=Tool(
            name="add_memory", title="Add a turn",
            use="Save one turn: what the user said and what you answered. Use it after each of your answers. It needs"
            " no model.",
            shows=("prompt", "response", "thought", "event_time", "session", "idempotency_key"),
        ),
    )  # fmt: skip
    async def add_memory(
        self,
        prompt: str,
        response: str,
        *,
        thought: str | None = None,
        event_time: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Append a turn, both messages or neither.

        Args:
            prompt: What the user said.
            response: What you answered.
            thought: Why you answered so; never searched.
            event_time: When it was said; left out: now.
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.
        """
        answered = _message("assistant", response, event_time)
        if thought is not None:
            answered["metadata"] = {"thought": thought}
        return await self._scope.add([_message("user", prompt, event_time), answered], idempotency_key=idempotency_key)


def _message(role: str, text: str, event_time: datetime | None) -> dict[str, Any]:
    told = {} if event_time is None else {"event_time": event_time}
    return {"role": role, "content": text, **told}
