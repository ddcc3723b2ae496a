"""What can be read without a tool: the user's profile, the history, and one item as a whole. All of it is fenced."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memhold.values.errors import NotFound

if TYPE_CHECKING:
    from memhold.faces.mcp.answers import Answer
    from memhold.faces.mcp.tools import Caller
    from memhold.values.records import Memory
    from memhold.verbs.scope import AsyncScope

__all__ = ["HISTORY", "ITEM", "PROFILE", "RESOURCES", "ResourceSpec", "read_resource"]

PROFILE = "memhold://profile"
HISTORY = "memhold://history"
ITEM = "memhold://items/{id}"
_ITEMS = ITEM.removesuffix("{id}")

MOST_FACTS = 300
MOST_SUMMARIES = 50
SUMMARY_CHARS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceSpec:
    """One resource that is always there."""

    uri: str
    name: str
    title: str
    description: str


RESOURCES: Mapping[str, ResourceSpec] = {
    spec.uri: spec
    for spec in (
        ResourceSpec(
            uri=PROFILE,
            name="profile",
            title="Profile",
            description="What is known of the user now: facts and notes that hold, pinned ones first.",
        ),
        ResourceSpec(
            uri=HISTORY,
            name="history",
            title="History",
            description="What happened, conversation by conversation, newest first.",
        ),
    )
}


async def read_resource(caller: Caller, uri: str) -> str:
    """The text of a resource, in a fence.

    Raises:
        NotFound: there is no such resource, or no such item in the caller's scope.
        WrongKind: the id names neither a message nor a memory.
    """
    from memhold.faces.mcp.answers import rendered

    scope = caller.scope()
    if uri == PROFILE:
        return await rendered(scope, await _profile(scope))
    if uri == HISTORY:
        return await rendered(scope, await _history(scope))
    if uri.startswith(_ITEMS):
        item = uri.removeprefix(_ITEMS)
        for scope in caller.project_scopes():
            with suppress(NotFound):
                return await rendered(scope, await _item(scope, item))
        scope = caller.scope()
        return await rendered(scope, await _item(scope, item))
    raise NotFound("there is no such resource", id=uri)


async def _profile(scope: AsyncScope) -> Answer:
    from memhold.faces.mcp.answers import Answer, Recalled, memory_entry

    found: list[Memory] = []
    cursor: str | None = None
    while True:
        page = await scope.list(kinds=["fact", "note"], limit=1000, cursor=cursor)
        found += page.items
        cursor = page.cursor
        if cursor is None:
            break
    kept = sorted(found, key=lambda memory: (memory.pinned, memory.event_time, memory.number))[-MOST_FACTS:]
    if not kept:
        return Answer(said="Nothing is known of the user yet.")
    # Pinned ones first; then facts of one subject stand together.
    ordered = sorted(kept, key=lambda memory: (not memory.pinned, memory.subject or "", memory.attribute or "~"))
    ids, lines = tuple(memory.id for memory in ordered), tuple(memory_entry(memory) for memory in ordered)
    older = len(found) - len(kept)
    left = f"{older} older ones are left out; recall finds them." if older else ""
    return Answer(said=left, recalled=Recalled(ids=ids, lines=lines))


async def _history(scope: AsyncScope) -> Answer:
    from memhold.faces.mcp.answers import Answer, Recalled, entry

    found = await scope.summaries(limit=MOST_SUMMARIES, raw=True)
    if not found.hits:
        return Answer(said="No conversation has been closed yet.")
    lines = [
        entry(hit.id, [hit.kind, f"{hit.event_time:%Y-%m-%d %H:%M}"], hit.text, most=SUMMARY_CHARS)
        for hit in found.hits
    ]
    return Answer(recalled=Recalled(ids=tuple(hit.id for hit in found.hits), lines=tuple(lines)))


async def _item(scope: AsyncScope, item: str) -> Answer:
    from memhold.faces.mcp.answers import Answer, Recalled, entry
    from memhold.messages.fences import unquoted
    from memhold.messages.records import records_of
    from memhold.values.origins import told_by
    from memhold.values.records import Message

    found = await scope.get(item)
    if isinstance(found, Message):
        day = f"{found.event_time:%Y-%m-%d %H:%M}"
        told = [([told_by(one) or "item", day], unquoted(one)) for one in records_of(found)]
    else:
        told = [([found.kind, found.state, f"{found.event_time:%Y-%m-%d}"], found.text)]
    lines = tuple(entry(found.id, about, text, most=None) for about, text in told)
    return Answer(recalled=Recalled(ids=(found.id,), lines=lines))
