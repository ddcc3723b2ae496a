"""The due work of a store from before memories quoted their source: each gets the sentence of its line, weighed anew.

A model's fact or note is given the sentence that has most of its words; what speaks against it makes it doubtful, and
nothing is removed. It stays the revision that it is, so an older change can still be
undone. Where no line is left to quote, it stands as it did.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memhold.consolidate.contract import Learned, Noted
from memhold.consolidate.weighing import Shown, weighed_anew
from memhold.fidelity.values import Line
from memhold.messages.fences import unquoted
from memhold.messages.records import records_of
from memhold.ports.stores import Lease, Priority, Store
from memhold.ports.transaction import Listing, ReadTx, WriteTx
from memhold.values.records import Memory, MemoryQuote, Message

__all__ = ["DUE_QUOTES", "quotes_step", "unquoted_memories"]

DUE_QUOTES = ("quotes", "memories")
PAGE: Final = 50
_SEEN: Final = "quoted"
"""The progress under which stands the number, plus one, up to which memories were looked at."""
_ALL: Final = 2**62
INFERRED: Final = "an earlier version kept it as inferred"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """Memories without a quote, the messages that they name, and the number behind which the next page begins."""

    memories: Sequence[Memory]
    messages: dict[str, Message]
    last: int | None

    @property
    def quotable(self) -> Iterator[Memory]:
        """Those of which something can be told: a line is there, or it is marked as an older release did."""
        for memory in self.memories:
            if any(source in self.messages for source in memory.sources) or memory.doubtful:
                yield memory


def unquoted_memories(tx: ReadTx) -> int:
    """How many memories of a model are still to be given the words that they rest on."""
    after: int | None = tx.progress(_SEEN) - 1
    found = 0
    while after is not None:
        page = _page(tx, after)
        found += sum(1 for _ in page.quotable)
        after = page.last
    return found


async def quotes_step(store: Store, lease: Lease) -> None:
    """Give each memory of a model that quotes nothing its words, page by page; begun again, it goes on where it was."""
    page = await store.read(lease.scope, _next)
    while page.last is not None:
        # About 7 ms each: whoever shares the loop does not wait for a page of them.
        made = await asyncio.to_thread(_weighed, page)
        page = await store.write(lease.scope, lambda tx: _keep(tx, page, made), priority=Priority.WORKER)  # noqa: B023
    await store.write(lease.scope, lambda tx: tx.put_progress(_SEEN, _ALL), priority=Priority.WORKER)


def _weighed(page: _Page) -> dict[str, Memory]:
    return {memory.id: _quoted(memory, page.messages) for memory in page.quotable}


def _next(tx: ReadTx) -> _Page:
    return _page(tx, tx.progress(_SEEN) - 1)


def _page(tx: ReadTx, after: int) -> _Page:
    if after >= _ALL - 1:
        return _Page(memories=(), messages={}, last=None)
    found = tx.list_memories(Listing(kinds=("fact", "note"), states=None, origin="model", after=after, limit=PAGE))
    bare = [one for one in found if not one.quotes]
    named = sorted({source for one in bare for source in one.sources})
    messages = {message.id: message for message in tx.find_messages(named)}
    return _Page(memories=bare, messages=messages, last=found[-1].number if found else None)


def _keep(tx: WriteTx, page: _Page, made: dict[str, Memory]) -> _Page:
    """Write what is still as it was read, in each of its revisions; returns what is next, which may be the same again.

    A revision that came about meanwhile is read anew; a line that was erased meanwhile is quoted by none.
    """
    current = {one.id: one for one in tx.find_memories([*made])}
    living = {message.id for message in tx.find_messages([*page.messages])}
    same = [one for one in page.quotable if one.id in current and current[one.id].rev == one.rev]
    if living == page.messages.keys():
        for memory in same:
            told = made[memory.id]
            kept = [revision for revision in tx.revisions(memory.id) if not revision.quotes]
            tx.put_quotes(
                [replace(one, quotes=told.quotes, standing=told.standing, doubts=told.doubts) for one in kept]
            )
    if page.last is not None and living == page.messages.keys() and len(same) == len(current):
        tx.put_progress(_SEEN, page.last + 1)
    return _next(tx)


def _quoted(memory: Memory, messages: dict[str, Message]) -> Memory:
    """A memory with the sentence of its first line that is there, and what speaks against it by those words.

    What a person confirmed is theirs, and nothing casts a doubt on it.
    """
    there = [messages[source] for source in memory.sources if source in messages]
    shown = [Shown(place=place, line=line) for place, message in enumerate(there, 1) for line in _lines(message)]
    doubts: tuple[str, ...] = (INFERRED,) if memory.doubtful else ()
    quotes: tuple[MemoryQuote, ...] = ()
    if shown:
        kept = weighed_anew(_item(memory, len(there)), shown)
        doubts += kept.doubts
        if kept.quote:
            quotes = (MemoryQuote(message_id=there[kept.sources[0] - 1].id, text=kept.quote),)
    if memory.last_confirmed_at is not None:
        doubts = ()
    return replace(memory, quotes=quotes, standing="doubtful" if doubts else "stated", doubts=doubts)


def _lines(message: Message) -> Iterator[Line]:
    for record in records_of(message):
        if text := unquoted(record):
            speaker = message.speaker or ""
            yield Line(text=text, written_by=record.written_by, at=message.event_time, speaker=speaker)


def _item(memory: Memory, lines: int) -> Learned | Noted:
    sources = tuple(range(1, lines + 1))
    if memory.kind == "note":
        return Noted(text=memory.text, importance=memory.importance, sources=sources)
    return Learned(
        subject=memory.subject or "",
        attribute=memory.attribute or "",
        value=memory.value or "",
        operation=memory.operation,
        importance=memory.importance,
        sources=sources,
    )
