"""What can be read without a tool: the user's profile, the history, and one item as a whole. All of it is fenced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memhold.values.errors import NotFound

if TYPE_CHECKING:
    from memhold.faces.mcp.tools import Caller
    from memhold.values.records import Memory

__all__ = ["HISTORY", "ITEM", "PROFILE", "RESOURCES", "ResourceSpec", "read_resource"]

PROFILE = "memhold://profile"
HISTORY = "memhold://history"
ITEM = "memhold://items/{id}"
_ITEMS = ITEM.removesuffix("{id}")

MOST_FACTS = 300
MOST_SUMMARIES = 50


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
    if uri == PROFILE:
        return await _profile(caller)
    if uri == HISTORY:
        return await _history(caller)
    if uri.startswith(_ITEMS):
        return await _item(caller, uri.removeprefix(_ITEMS))
    raise NotFound("there is no such resource", id=uri)


async def _profile(caller: Caller) -> str:
    from memhold.faces.mcp.results import fenced, memory_line

    scope = caller.scope()
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
        return "Nothing is known of the user yet."
    # Pinned ones first; then facts of one subject stand together.
    ordered = sorted(kept, key=lambda memory: (not memory.pinned, memory.subject or "", memory.attribute or "~"))
    lines = [memory_line(memory) for memory in ordered]
    left = f"{len(found) - len(kept)} older ones are left out; recall finds them.\n" if len(kept) < len(found) else ""
    return left + fenced([memory.id for memory in ordered], lines, secret=caller.secret)


async def _history(caller: Caller) -> str:
    from memhold.faces.mcp.results import fenced

    found = await caller.scope().summaries(limit=MOST_SUMMARIES, raw=True)
    if not found.hits:
        return "No conversation has been closed yet."
    lines = [
        f"{hit.id} ({hit.kind}, {hit.event_time:%Y-%m-%d %H:%M}) " + hit.text[:2000].replace("\n", "\n    ")
        for hit in found.hits
    ]
    return fenced([hit.id for hit in found.hits], lines, secret=caller.secret)


async def _item(caller: Caller, item: str) -> str:
    from memhold.faces.mcp.results import fenced
    from memhold.messages.fences import unquoted
    from memhold.values.records import Message

    found = await caller.scope().get(item)
    if isinstance(found, Message):
        about, text = f"{found.role}, {found.event_time:%Y-%m-%d %H:%M}", unquoted(found)
    else:
        about, text = f"{found.kind}, {found.state}, {found.event_time:%Y-%m-%d}", found.text
    return fenced([found.id], [f"{found.id} ({about}) " + text.replace("\n", "\n    ")], secret=caller.secret)
