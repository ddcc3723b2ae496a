"""Memory of a Strands agent: `Agent(memory_manager=MemoryManager(stores=[MemholdMemoryStore(mem, user="alice")]))`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from memhold.faces.python.open import AsyncMemhold
from memhold.faces.python.sync import SyncStore
from memhold.integrations.framework import lacking
from memhold.integrations.reach import Reach
from memhold.integrations.record import Recorder
from memhold.integrations.turns import assistant_said, call_of, json_text, result_of
from memhold.text.stretches import both_ends
from memhold.values.answers import Hit
from memhold.values.bounds import MAX_HITS
from memhold.values.errors import InvalidInput, StoreUnreachable
from memhold.values.origins import told_by
from memhold.verbs.scope import AsyncScope

try:
    from strands.hooks import AfterInvocationEvent, HookOrder, MessageAddedEvent
    from strands.memory import (
        AddMessagesContext,
        ExtractionConfig,
        ExtractionTrigger,
        ExtractionTriggerContext,
        MemoryEntry,
        MemoryMessageFilter,
        MemoryStore,
        SearchOptions,
    )
except ImportError as error:
    raise lacking("memhold.integrations.strands_agents", "strands-agents", "1.62", error) from error

__all__ = ["MEMORY_TOOLS", "WINDOW", "MemholdMemoryStore"]

MEMORY_TOOLS = frozenset({"search_memory", "add_memory"})
"""Strands' names of the tools that ask and tell memory: recalled text, which would be learnt again."""
WINDOW = 40
"""So many of its newest messages a Strands agent sends itself (`SlidingWindowConversationManager`)."""
_LIMIT = 5


class MemholdMemoryStore(MemoryStore):
    """A `MemoryStore` over an open store, for one conversation of one user's.

    Each message that the agent adds is recorded as it is added, once, calls with their results, and all of a turn when
    the turn ends; that never ends the turn: what could not be written waits, and is written with the next call that
    finds the store. A search gives what answers best from all of the user's sessions, without what this conversation
    said last. A search or a note that cannot be carried out raises; Strands' manager logs a failed search and goes on.
    """

    def __init__(
        self,
        store: SyncStore | AsyncMemhold,
        *,
        user: str | None = None,
        session: str | None = None,
        agent: str | None = None,
        namespace: str = "default",
        name: str = "memhold",
        description: str | None = None,
        record: bool = True,
        window: int = WINDOW,
        memory_tools: Collection[str] = MEMORY_TOOLS,
    ) -> None:
        """Over `Memhold.open(…)`, or an `AsyncMemhold` on its loop.

        Args:
            store: The open store.
            user: Whose memory it is.
            session: Which conversation of the user's.
            agent: Which agent of the user's.
            namespace: Sets users apart from others of the same name.
            name: What Strands calls this store.
            description: What stands of it in the descriptions of Strands' memory tools.
            record: Whether the conversation is recorded; else memory is searched and told only.
            window: How many of its newest messages the agent sends itself, which a search leaves out.
            memory_tools: The names of the tools that ask and tell memory, where you gave them others.
        """
        names: dict[str, Any] = {"namespace": namespace, "user": user, "agent": agent, "session": session}
        self.name = name
        self.description = description
        self.max_search_results: int | None = _LIMIT
        self.writable = True
        everything = MemoryMessageFilter(exclude=[])  # Strands' own filter takes calls and results away
        self.extraction: ExtractionConfig | bool | None = (
            ExtractionConfig(trigger=_AsItComes(), filter=everything) if record else None
        )
        self._turns = Recorder(Reach.within(store, **names))
        # What a model tells by a tool is the agent's word, and not the user's.
        self._notes = Reach.within(store, **names, actor=f"agent:{agent or name}")
        self._window = window
        self._memory_tools = frozenset(memory_tools)
        self._asked_memory: set[str] = set()
        self._sent = 0

    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:
        """What answers best, messages with the role of who said it in front; the id and the kind stand beside it.

        Raises:
            StoreUnreachable: the store is gone, or did not answer within 5 seconds.
        """
        limit = int((options or {}).get("max_search_results") or _LIMIT)

        async def found(scope: AsyncScope) -> list[Hit]:
            sent = min(self._sent, self._window)
            hits = (await scope.recall(both_ends(query), limit=min(limit + sent, MAX_HITS))).hits
            newest = await scope.messages(newest=True, limit=sent) if sent else ()
            own = {one.id for one in newest}
            return [hit for hit in hits if hit.id not in own][:limit]

        hits = await self._turns.look(found, otherwise=None)
        if hits is None:
            raise StoreUnreachable("memory could not be searched: the store is gone or does not answer")
        return [_entry(hit) for hit in hits]

    async def add(self, content: str, metadata: Mapping[str, Any] | None = None) -> str | None:
        """Remember a note as the agent's word, durable when this returns; the same note again is the same memory.

        Returns:
            The memory's id; None where the user had it forgotten, and it is not learnt again.
        """
        if not content.strip():
            raise InvalidInput("a note has no text; pass what is to be remembered")
        kept = await self._notes.ask(lambda scope: scope.remember(content, metadata=dict(metadata or {})))
        return kept.memory.id if kept.memory else None

    async def add_messages(
        self, messages: Sequence[Mapping[str, Any]], context: AddMessagesContext | None = None
    ) -> None:
        """Record messages behind what waits; they count as taken, whether or not the store is there now."""
        del context
        # Strands sends a batch again, with what came since, only where this raises: it never does.
        said = [one for message in messages for one in self._said(message)]
        self._sent += len(said)
        await self._turns.record(said)

    def _said(self, message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """A message as messages of the OpenAI chat shape; results first, as they answer what came before."""
        blocks = message["content"]
        for result in (block["toolResult"] for block in blocks if "toolResult" in block):
            if result["toolUseId"] in self._asked_memory:
                self._asked_memory.discard(result["toolUseId"])
            else:
                yield result_of(result["toolUseId"], "\n".join(map(_result, result["content"])))
        uses = [block["toolUse"] for block in blocks if "toolUse" in block]
        self._asked_memory |= {use["toolUseId"] for use in uses if use["name"] in self._memory_tools}
        calls = [
            call_of(use["toolUseId"], use["name"], use["input"])
            for use in uses
            if use["name"] not in self._memory_tools
        ]
        text = "\n".join(filter(None, map(_words, blocks)))
        if message["role"] == "assistant":
            if (one := assistant_said(text, calls)) is not None:
                yield one
        elif text:
            yield {"role": "user", "content": text}


class _AsItComes(ExtractionTrigger):
    """Each message is saved as it is added, and a turn's end waits until all are: a loop may end with the turn."""

    name = "memhold"

    def attach(self, context: ExtractionTriggerContext) -> None:
        """Save with each message, and wait at the end of each turn."""
        agent = context.agent

        async def ended(_: AfterInvocationEvent) -> None:
            # What Strands does itself behind `agent(…)`, for `invoke_async` and `stream_async` too.
            if agent.memory_manager is not None:
                await agent.memory_manager.flush()

        agent.add_hook(lambda _: context.fire(), MessageAddedEvent)
        agent.add_hook(ended, AfterInvocationEvent, order=HookOrder.SDK_LAST)


def _words(block: Mapping[str, Any]) -> str:
    """What a block says; pictures and files are marks, thoughts are the model's own."""
    if "text" in block:
        return str(block["text"])
    if "citationsContent" in block:
        return "\n".join(str(one.get("text", "")) for one in block["citationsContent"].get("content") or ())
    kind = next((kind for kind in ("image", "document", "video", "audio") if kind in block), None)
    return f"[{kind}]" if kind else ""


def _result(block: Mapping[str, Any]) -> str:
    return json_text(block["json"]) if "json" in block else _words(block)


def _entry(hit: Hit) -> MemoryEntry:
    told = {
        "id": hit.id,
        "kind": hit.kind,
        "role": hit.role,
        "written_by": hit.written_by,
        "origin": hit.origin,
        "score": hit.score,
        "event_time": hit.event_time.isoformat(),
        "superseded_by": hit.superseded_by,
    }
    content = f"{told_by(hit)}: {hit.text}" if hit.written_by else hit.text
    return MemoryEntry(content=content, metadata={**hit.metadata, **told})
