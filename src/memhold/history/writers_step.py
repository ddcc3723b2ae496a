"""The due work of a store from before it was kept who wrote a message: it is written down, and what rests on it ends.

A memory that rests on no person's words was taken for the user's all the same: what a page said to a tool could be an
instruction of theirs. Each such memory is retracted, and what it had ended stands again, by a change that `history`
shows and `undo` takes back. Reads need not wait: who wrote such a message is read from it until it is written down.
"""

from __future__ import annotations

from collections.abc import Sequence

from memhold.facts.revisions import revise
from memhold.facts.unstated import unstated
from memhold.index.documents import entry_of
from memhold.journal.change import Basis, note_change
from memhold.messages.fences import said
from memhold.ports.stores import Ids, Lease, Priority, Store
from memhold.ports.transaction import Listing, ReadTx, WriteTx
from memhold.text.analysis import analyse
from memhold.values.records import Author, Effect, Memory

__all__ = ["DUE_WRITERS", "FOUND", "writers_step"]

DUE_WRITERS = ("writers", "messages")
PAGE = 100
"""Messages of one transaction: about a tenth of what may hold the write lock."""
FOUND = "rested on nobody's words"
"""The counter of memories that were retracted; `status` tells it."""
_BY = Author(origin="rules", name="writers")


async def writers_step(store: Store, ids: Ids, lease: Lease) -> None:
    """Write down who wrote each message of a scope, page by page; begun again, it goes on where it was."""
    after: int | None = -1
    while after is not None:
        since = after
        after = await store.write(lease.scope, lambda tx: _page(tx, since, ids), priority=Priority.WORKER)  # noqa: B023


def _page(tx: WriteTx, after: int, ids: Ids) -> int | None:
    """Settle one page; returns the number behind which the next one begins, None behind the last."""
    messages = tx.unattributed(after=after, limit=PAGE)
    if not messages:
        return None
    sessions, agents = {session.name: session.number for session in tx.sessions()}, tx.agents()
    entries = [
        entry_of(one, hidden=False, terms=analyse(said(one)), sessions=sessions, agents=agents) for one in messages
    ]
    tx.put_writers(messages, entries)
    derived = tx.derived([one.id for one in messages if not one.typed])
    if gone := unstated(tx, [one for one in derived if one.state == "active"]):
        _retract(tx, gone, ids)
    return messages[-1].number


def _retract(tx: WriteTx, gone: Sequence[Memory], ids: Ids) -> None:
    names = {one.id for one in gone}
    effects: list[Effect] = [revise(tx, one, state="retracted") for one in gone]
    effects += [revise(tx, one, state="active", superseded_by=None, valid_to=None) for one in _ended_by(tx, names)]
    sources = dict.fromkeys(source for one in gone for source in one.sources)
    reason = "it rests on what a tool, a program or a document said, and on no person's words"
    note_change(tx, ids.new("chg"), "retract", reason, by=_BY, effects=effects, basis=Basis(sources=sources))
    tx.put_progress(FOUND, tx.progress(FOUND) + len(gone))


def _ended_by(tx: ReadTx, names: set[str]) -> list[Memory]:
    """What these memories took the place of, each page of what was replaced read once."""
    found: list[Memory] = []
    after = -1
    while page := tx.list_memories(Listing(states=("superseded",), after=after, limit=PAGE)):
        found += [one for one in page if one.superseded_by in names and one.id not in names]
        after = page[-1].number
    return found
