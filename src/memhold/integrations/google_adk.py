"""Memory of Google's Agent Development Kit: `Runner(…, memory_service=MemholdMemoryService(mem))`."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from memhold.faces.python.open import AsyncMemhold
from memhold.faces.python.sync import SyncStore
from memhold.integrations.framework import lacking
from memhold.integrations.reach import Reach
from memhold.integrations.record import Recorder
from memhold.text.stretches import both_ends
from memhold.values.answers import Hit
from memhold.values.errors import IdempotencyConflict, InvalidInput
from memhold.values.origins import told_by
from memhold.values.records import PEOPLE
from memhold.verbs.scope import AsyncScope

try:
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.genai import types
except ImportError as error:
    raise lacking("memhold.integrations.google_adk", "google-adk", "2.13", error) from error

if TYPE_CHECKING:
    from google.adk.events.event import Event
    from google.adk.sessions.session import Session

__all__ = ["MemholdMemoryService"]

_log = logging.getLogger("memhold.integrations")
_ASKS_MEMORY = frozenset({"load_memory", "preload_memory"})
"""Tools whose answers are recalled text: kept again, it would be learnt again."""
_UNNAMED = "unnamed"
_PAGE = 10_000


class MemholdMemoryService(BaseMemoryService):
    """A `BaseMemoryService` over an open store: an application is an agent, its users are users, its sessions sessions.

    Sessions and events are recorded, each event once, however often its session is added and by whichever process;
    calls stay with their results. Recording never ends the agent's turn: what could not be written waits, and is
    written with the next call for its session that finds the store. A memory that is told, deleted or searched for
    raises where that cannot be done (`PreloadMemoryTool` logs it and goes on).
    """

    def __init__(self, store: SyncStore | AsyncMemhold, *, namespace: str = "default", limit: int = 10) -> None:
        """Over `Memhold.open(…)`, or an `AsyncMemhold` on its loop; `limit` is how many memories a search gives."""
        self._store = store
        self._namespace = namespace
        self._limit = limit
        self._sessions: dict[tuple[str, str, str], _Session] = {}

    async def add_session_to_memory(self, session: Session) -> None:
        """Record the events of a session that are not recorded yet."""
        await self._session(session.app_name, session.user_id, session.id).add(session.events)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Record those of the events that are not recorded yet; the metadata stands beside each message."""
        await self._session(app_name, user_id, session_id or _UNNAMED).add(events, custom_metadata or {})

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember each as a note, durable when this returns; the same note again is the same memory."""
        reach = self._reach(app_name, user_id, actor=f"agent:{app_name}")
        for entry in memories:
            text, metadata = _words(entry.content), {**entry.custom_metadata, **(custom_metadata or {})}
            if text:
                await reach.ask(lambda scope: scope.remember(text, metadata=metadata))  # noqa: B023 - awaited at once

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """What answers best, from messages of all sessions and from memories; each entry's `id` can be deleted."""
        found = await self._reach(app_name, user_id).ask(
            lambda scope: scope.recall(both_ends(query), limit=self._limit)
        )
        if found.degraded:
            _log.warning("memory was searched without: %s", ", ".join(found.degraded))
        return SearchMemoryResponse(memories=[_entry(hit) for hit in found.hits])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forget one for good, with what was derived from it; its session added again does not bring it back."""
        if memory_id is None:
            raise InvalidInput("pass the id of the memory to delete, as a search gives it")
        await self._reach(app_name, user_id).ask(lambda scope: scope.forget(memory_id))

    def _reach(self, app_name: str, user_id: str, *, session: str | None = None, actor: str = "user") -> Reach:
        return Reach.within(
            self._store, namespace=self._namespace, user=user_id, agent=app_name, session=session, actor=actor
        )

    def _session(self, app_name: str, user_id: str, session: str) -> _Session:
        name = (app_name, user_id, session)
        if name not in self._sessions:
            self._sessions = {
                known: one for known, one in self._sessions.items() if one.waiting or len(self._sessions) < 1_000
            }
            self._sessions[name] = _Session(self._reach(app_name, user_id, session=session), "/".join(name))
        return self._sessions[name]


class _Session:
    """What is recorded of one session, and what waits for the store."""

    def __init__(self, reach: Reach, name: str) -> None:
        self._recorder = Recorder(reach)
        self._name = name
        self._done: set[str] | None = None
        self._sending = asyncio.Lock()
        self.waiting: dict[str, Mapping[str, Any]] = {}

    async def add(self, events: Sequence[Event], metadata: Mapping[str, object] | None = None) -> None:
        for event in events:
            for number, message in enumerate(_messages(event)):
                key = f"{event.id}/{number}"
                told = {**(metadata or {}), "event": key, "author": event.author}
                if self._done is None or key not in self._done:
                    self.waiting.setdefault(key, {**message, "metadata": told})
        await self._recorder.look(self._send, otherwise=None)

    async def _send(self, scope: AsyncScope) -> None:
        async with self._sending:
            if self._done is None:
                self._done = await _recorded(scope)
            for key, message in list(self.waiting.items()):
                if key not in self._done:
                    try:
                        # The key holds after a forget too: an event that was forgotten is not recorded again.
                        await scope.add([message], idempotency_key=f"google-adk/{self._name}/{key}")
                    except (InvalidInput, IdempotencyConflict) as error:
                        _log.error("an event was refused and left out: %s", type(error).__name__)
                    self._done.add(key)
                self.waiting.pop(key, None)


async def _recorded(scope: AsyncScope) -> set[str]:
    """The events that the session's journal holds."""
    found: set[str] = set()
    after = 0
    while page := await scope.messages(after=after, limit=_PAGE):
        found |= {one.metadata["event"] for one in page if "event" in one.metadata}
        after = page[-1].seq
    return found


def _messages(event: Event) -> Iterator[dict[str, Any]]:
    """An event as messages of the OpenAI chat shape: what is said with the calls beside it, and each result."""
    parts = (event.content.parts if event.content else None) or []
    if event.partial or not parts:
        return
    when = _when(event.timestamp)
    calls = [
        _call(part.function_call)
        for part in parts
        if part.function_call and part.function_call.name not in _ASKS_MEMORY
    ]
    text = _words(event.content)
    if text or calls:
        role = "user" if event.author == "user" and not calls else "assistant"
        yield {"role": role, "content": text or None, **({"tool_calls": calls} if calls else {}), **when}
    for part in parts:
        answer = part.function_response
        if answer and answer.name not in _ASKS_MEMORY:
            result = json.dumps(answer.response, ensure_ascii=False, default=str)
            yield {"role": "tool", "tool_call_id": answer.id or answer.name, "content": result, **when}


def _when(timestamp: float) -> dict[str, datetime]:
    """When it was said; an event whose clock was ahead, or that has no time, is dated when it is recorded."""
    try:
        said = datetime.fromtimestamp(timestamp, UTC)
    except (OSError, OverflowError, ValueError):
        return {}
    return {"event_time": said} if said <= datetime.now(UTC) else {}


def _call(call: Any) -> dict[str, Any]:
    arguments = json.dumps(call.args or {}, ensure_ascii=False, default=str)
    return {"id": call.id or call.name, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _words(content: Any) -> str:
    """What is said in a content, without the model's private thoughts."""
    parts = (content.parts if content else None) or []
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def _entry(hit: Hit) -> MemoryEntry:
    said = hit.written_by is None or hit.written_by in PEOPLE
    return MemoryEntry(
        id=hit.id,
        content=types.Content(role="user" if said else "model", parts=[types.Part(text=hit.text)]),
        author=hit.metadata.get("author") or told_by(hit) or hit.kind,
        timestamp=hit.event_time.isoformat(),
        custom_metadata={"kind": hit.kind, "origin": hit.origin, "superseded_by": hit.superseded_by},
    )
