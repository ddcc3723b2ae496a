"""A block of LlamaIndex's `Memory`: `Memory.from_defaults(memory_blocks=[MemholdMemoryBlock(mem, user="alice")])`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memhold.faces.python.open import AsyncMemhold
from memhold.faces.python.sync import SyncStore
from memhold.integrations.framework import lacking
from memhold.integrations.reach import Reach
from memhold.integrations.sdk.conversation import Conversation
from memhold.integrations.wrap import BUDGET

try:
    from llama_index.core.base.llms.types import ChatMessage, TextBlock, ThinkingBlock, ToolCallBlock
    from llama_index.core.bridge.pydantic import PrivateAttr
    from llama_index.core.memory import BaseMemoryBlock
except ImportError as error:
    raise lacking("memhold.integrations.llama_index", "llama-index-core", "0.14", error) from error

__all__ = ["MemholdMemoryBlock"]

_ROLES = {"user": "user", "assistant": "assistant", "chatbot": "assistant", "model": "assistant", "tool": "tool"}
"""The application's own instructions (system, developer) are not kept."""
_MOST_SESSIONS = 1_000


class MemholdMemoryBlock(BaseMemoryBlock[list[ChatMessage]]):
    """A `BaseMemoryBlock` over an open store: sessions of LlamaIndex's `Memory` are sessions.

    Each time that the memory is asked, what is new of its messages is recorded, each once, calls with their results,
    long before they leave the short-term memory; and what is known of the user beside these messages is brought, of
    this session and all others. Neither ends the agent's turn: what could not be written waits, and is written with the
    next call for its session that finds the store; what could not be read is left out.
    """

    name: str = "memhold"
    _store: Any = PrivateAttr()
    _names: dict[str, Any] = PrivateAttr()
    _budget: int = PrivateAttr()
    _model: str | None = PrivateAttr()
    _sessions: dict[str | None, Conversation] = PrivateAttr(default_factory=dict)

    def __init__(
        self,
        store: SyncStore | AsyncMemhold,
        *,
        user: str | None = None,
        namespace: str = "default",
        agent: str | None = None,
        budget: int = BUDGET,
        model: str | None = None,
        **block: Any,
    ) -> None:
        """Over `Memhold.open(…)`, or an `AsyncMemhold` on its loop.

        Args:
            store: The open store.
            user: Whose memory it is.
            namespace: Sets users apart from others of the same name.
            agent: Which agent of the user's.
            budget: Tokens that memory may add to a turn.
            model: The model that is asked, by whose tokens is counted; LlamaIndex tells its memory no model.
            block: What every block takes: `name`, `description`, `priority`.
        """
        super().__init__(**block)
        self._store, self._budget, self._model = store, budget, model
        self._names = {"user": user, "namespace": namespace, "agent": agent}

    async def _aget(
        self, messages: list[ChatMessage] | None = None, session_id: str | None = None, **block_kwargs: Any
    ) -> list[ChatMessage]:
        """What is known beside the messages: what the user told and wants as instructions, all else as data."""
        del block_kwargs
        said = list(_said(messages or ()))
        if len(said) > 1 and said[-1] == said[-2] and said[-1]["role"] == "user":
            said.pop()  # LlamaIndex hands its `input` over behind the message that says the same
        known = await self._session(session_id).beside(said)
        found = (("system", known.standing), ("user", "\n\n".join((*known.noted, *known.recalled))))
        # Messages and no text: LlamaIndex puts a text into the system message, data among the instructions.
        return [ChatMessage(role=role, content=text) for role, text in found if text]

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Record what leaves the short-term memory and is not recorded yet."""
        session = next((one.additional_kwargs.pop("session_id", None) for one in messages), None)
        await self._session(session).keep_part(list(_said(messages)))

    def _session(self, session: str | None) -> Conversation:
        if session not in self._sessions:
            if len(self._sessions) >= _MOST_SESSIONS:
                self._sessions = {name: one for name, one in self._sessions.items() if one.waiting}
            reach = Reach.within(self._store, session=session, **self._names)
            self._sessions[session] = Conversation(reach, budget=self._budget, model=self._model)
        return self._sessions[session]


def _said(messages: Sequence[ChatMessage]) -> Iterator[dict[str, Any]]:
    """Messages in the OpenAI chat shape, without instructions and without the model's private thoughts."""
    for message in messages:
        role = _ROLES.get(message.role.value)
        text = "\n".join(filter(None, map(_words, message.blocks)))
        calls = _calls(message) if role == "assistant" else []
        if role == "tool":
            answered = message.additional_kwargs.get("tool_call_id") or "unnamed"
            yield {"role": role, "tool_call_id": answered, "content": text}
        elif role and (text or calls):
            yield {"role": role, "content": text or None, **({"tool_calls": calls} if calls else {})}


def _words(block: Any) -> str:
    if isinstance(block, TextBlock):
        return str(block.text)
    return "" if isinstance(block, ToolCallBlock | ThinkingBlock) else f"[{getattr(block, 'block_type', 'block')}]"


def _calls(message: ChatMessage) -> list[dict[str, Any]]:
    """The calls of tools in a message: blocks, or what models without blocks for them put beside."""
    blocks = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    if blocks:
        return [_call(block.tool_call_id, block.tool_name, block.tool_kwargs) for block in blocks]
    beside = message.additional_kwargs.get("tool_calls") or ()
    plain = [one.model_dump() if hasattr(one, "model_dump") else one for one in beside]
    asked = [(one, one["function"]) for one in plain if isinstance(one, Mapping) and "function" in one]
    return [_call(one.get("id"), what.get("name"), what.get("arguments") or {}) for one, what in asked]


def _call(ident: str | None, name: str | None, arguments: Any) -> dict[str, Any]:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, default=str)
    called = name or "unnamed"
    return {"id": ident or called, "type": "function", "function": {"name": called, "arguments": written}}
