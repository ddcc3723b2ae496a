"""Memory of an AutoGen agent: `AssistantAgent(…, memory=[MemholdMemory(mem.scope(user="alice", session="s1"))])`."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from memhold.faces.python.sync import SyncScope
from memhold.integrations.framework import lacking
from memhold.integrations.reach import Reach
from memhold.integrations.sdk.conversation import Conversation
from memhold.integrations.wrap import BUDGET
from memhold.text.stretches import both_ends
from memhold.values.answers import Hit
from memhold.values.errors import InvalidInput
from memhold.verbs.scope import AsyncScope

try:
    from autogen_core.memory import Memory, MemoryContent, MemoryMimeType, MemoryQueryResult, UpdateContextResult
    from autogen_core.models import AssistantMessage, FunctionExecutionResultMessage, UserMessage
except ImportError as error:
    raise lacking("memhold.integrations.autogen", "autogen-core", "0.7", error) from error

if TYPE_CHECKING:
    from autogen_core import CancellationToken
    from autogen_core.model_context import ChatCompletionContext

__all__ = ["PEOPLE", "MemholdMemory"]

PEOPLE = frozenset({"user", "user_proxy"})
"""Whose messages are a person's, where nobody says otherwise: AutoGen hands those of other agents over as a user's."""
_SOURCE = "memhold"
"""Who says what memory puts into an agent's context."""


class MemholdMemory(Memory):
    """A `Memory` in one scope: the turns of an agent are messages of the scope's session.

    Before an agent asks its model, what is new of its context is recorded, each message once, calls with their results;
    and what is known beside it stands before the newest message of a person's, in place of what stood there for an
    earlier turn. Neither ends the agent's turn: what could not be written waits, and is written with the next call that
    finds the store; what could not be read is left out. What the program asks itself (`add`, `query`, `clear`) raises
    where it cannot be done.
    """

    def __init__(
        self,
        scope: SyncScope | AsyncScope,
        *,
        people: Collection[str] = PEOPLE,
        budget: int = BUDGET,
        model: str | None = None,
        limit: int = 10,
        erase: bool = False,
    ) -> None:
        """Over a scope with a session.

        Args:
            scope: Whose memory, and which session: `mem.scope(user="alice", session="s1")`.
            people: The sources whose messages are a person's; those of any other are an agent's word.
            budget: Tokens that memory may add to a turn.
            model: The model that the agent asks, by whose tokens is counted; AutoGen tells its memory no model.
            limit: How many memories a `query` gives.
            erase: Whether `clear` erases for good; else it hides.
        """
        self._reach = Reach(scope)
        self._conversation = Conversation(self._reach, budget=budget, model=model)
        self._people = frozenset(people)
        self._limit = limit
        self._erase = erase

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Record what is new of the context, and put what is known beside it into it."""
        known = await self._conversation.beside(list(self._said(await model_context.get_messages())))
        text = "\n\n".join(filter(None, known.texts))
        await self._put(model_context, text)
        found = [MemoryContent(content=text, mime_type=MemoryMimeType.TEXT)] if text else []
        return UpdateContextResult(memories=MemoryQueryResult(results=found))

    async def record(self, model_context: ChatCompletionContext) -> None:
        """Record what is new of the context now: AutoGen calls no memory behind a reply, but with the next turn."""
        await self._conversation.keep(list(self._said(await model_context.get_messages())))

    async def query(
        self,
        query: str | MemoryContent = "",
        cancellation_token: CancellationToken | None = None,
        **kwargs: Any,
    ) -> MemoryQueryResult:
        """What answers best, of all sessions and memories; an empty question gives the newest."""
        del cancellation_token
        asked = query if isinstance(query, str) else _text(query)
        limit = int(kwargs.get("limit", self._limit))
        found = await self._reach.ask(lambda scope: scope.recall(both_ends(asked), limit=limit))
        return MemoryQueryResult(results=[_content(hit) for hit in found.hits])

    async def add(self, content: MemoryContent, cancellation_token: CancellationToken | None = None) -> None:
        """Remember a text or JSON as a note, durable when this returns; the same note again is the same memory.

        Raises:
            InvalidInput: it is bytes or an image.
        """
        del cancellation_token
        text = _text(content)
        await self._reach.ask(lambda scope: scope.remember(text, metadata=content.metadata or {}))

    async def clear(self) -> None:
        """Take away all that is known of the scope's user: hidden, or erased for good with `erase=True`."""
        await self._reach.ask(lambda scope: scope.forget(everything=True, hard=self._erase))

    async def close(self) -> None:
        """Write what still waits, where the store is there. The store stays open: it is the program's."""
        await self._conversation.keep([])

    async def _put(self, model_context: ChatCompletionContext, text: str) -> None:
        """Let the text stand before the newest message of a person's, and take away what stood there for another."""
        state = await model_context.save_state()
        held = list(state.get("messages") or ())
        messages = [one for one in held if one.get("source") != _SOURCE]
        if text:
            people = [at for at, one in enumerate(messages) if one.get("source") in self._people]
            at = people[-1] if people else len(messages)
            messages.insert(at, UserMessage(content=text, source=_SOURCE).model_dump())
        if messages != held:
            await model_context.load_state({**state, "messages": messages})

    def _said(self, messages: Sequence[Any]) -> Iterator[dict[str, Any]]:
        """Messages in the OpenAI chat shape, without instructions, thoughts, and what memory put there itself."""
        for one in messages:
            if isinstance(one, UserMessage) and one.source != _SOURCE:
                if text := _words(one.content):
                    person = one.source in self._people
                    yield {"role": "user", "content": text} if person else _assistant(text, one.source)
            elif isinstance(one, AssistantMessage):
                if isinstance(one.content, list):
                    yield {"role": "assistant", "content": None, "tool_calls": [_call(call) for call in one.content]}
                elif one.content:
                    yield {"role": "assistant", "content": one.content}
            elif isinstance(one, FunctionExecutionResultMessage):
                for result in one.content:
                    yield {"role": "tool", "tool_call_id": result.call_id or result.name, "content": result.content}


def _assistant(text: str, source: str) -> dict[str, Any]:
    return {"role": "assistant", "name": source, "content": text}


def _words(content: str | Sequence[Any]) -> str:
    """A message's words; a picture is a mark."""
    if isinstance(content, str):
        return content
    return "\n".join(part if isinstance(part, str) else "[image]" for part in content)


def _call(call: Any) -> dict[str, Any]:
    return {
        "id": call.id or call.name,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }


def _text(content: MemoryContent) -> str:
    if isinstance(content.content, str):
        return content.content
    if isinstance(content.content, dict):
        return json.dumps(content.content, ensure_ascii=False, default=str)
    raise InvalidInput(f"a {type(content.content).__name__} cannot be remembered; pass a text, or JSON as a dict")


def _content(hit: Hit) -> MemoryContent:
    told = {
        "id": hit.id,
        "kind": hit.kind,
        "origin": hit.origin,
        "score": hit.score,
        "superseded_by": hit.superseded_by,
    }
    return MemoryContent(content=hit.text, mime_type=MemoryMimeType.TEXT, metadata={**hit.metadata, **told})
