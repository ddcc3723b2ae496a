"""Sessions as a whole: listed a page at a time, and copied so that a conversation goes on in two ways."""

from __future__ import annotations

import base64
import json
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from memhold.journal.append import Arrival, Prepared, append, ensure_session
from memhold.journal.beside import began_after, ended_at, shown_to, visible, with_brought
from memhold.messages.ingest import Draft
from memhold.messages.shapes import Piece
from memhold.ports.stores import Ids
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.text.analysis import analyse
from memhold.values.answers import Receipt
from memhold.values.bounds import MAX_MESSAGES
from memhold.values.errors import Conflict, InvalidInput, NotFound, StoreCorrupt, TooLarge
from memhold.values.records import COPY_OF, Author, Message, Session, micros
from memhold.values.sessions import SessionInfo, SessionOrder, SessionPage

__all__ = ["copy_session", "metadata_of", "seen_sessions", "sessions"]

_Place = tuple[Any, int]
_PLACES: Mapping[SessionOrder, Callable[[Session], _Place]] = MappingProxyType(
    {
        "began": lambda one: (one.number, 0),
        "newest": lambda one: (-micros(one.last_at), -one.number),
        "oldest": lambda one: (micros(one.last_at), one.number),
        "name": lambda one: (one.name, 0),
    }
)
"""Where a session stands in each order: also where a page goes on, whatever came between."""


def sessions(tx: ReadTx, *, prefix: str, order: SessionOrder, limit: int, cursor: str | None) -> SessionPage:
    """One page of the sessions that the scope sees; only its sessions are counted.

    Raises:
        InvalidInput: there is no such order, or the cursor is none of a listing in this order.
    """
    if order not in _PLACES:
        raise InvalidInput(f"order is {order!r:.40}; it must be one of {', '.join(_PLACES)}")
    after = None if cursor is None else _read_cursor(cursor, order)
    place, prefix = _PLACES[order], unicodedata.normalize("NFC", prefix)
    named = [(place(one), one) for one in seen_sessions(tx) if one.name.startswith(prefix)]
    behind = sorted((pair for pair in named if after is None or pair[0] > after), key=lambda pair: pair[0])
    page = [one for _, one in behind[:limit]]
    counts = tx.count_messages([one.name for one in page])
    items = tuple(
        SessionInfo(
            name=one.name,
            messages=counts.get(one.name, 0),
            created_at=one.created_at,
            last_at=one.last_at,
            ended_at=ended_at(one, tx.scope.agent, one.last_at),
            metadata=visible(one, tx.scope.agent),
        )
        for one in page
    )
    more = len(behind) > len(page)
    return SessionPage(items=items, cursor=_cursor(order, place(page[-1])) if more else None)


def seen_sessions(tx: ReadTx) -> list[Session]:
    """The sessions that the scope's agent sees, by creation: of which it sees a message, or what is kept beside.

    For an agent `last_at` is when something was last added that it sees.
    """
    agent = tx.scope.agent
    if agent is None:
        return tx.sessions()
    last = tx.last_seen()
    return [
        replace(one, last_at=last.get(one.name, one.created_at))
        for one in tx.sessions()
        if one.name in last or visible(one, agent)
    ]


def metadata_of(tx: ReadTx) -> Mapping[str, Any]:
    """What an application keeps beside the scope's session, empty where there is none.

    Raises:
        StoreCorrupt: its row is damaged.
    """
    held = tx.session(tx.scope.session or "")
    if held is not None and held.id in tx.damaged:
        raise StoreCorrupt(f"{held.id} is damaged on the disk; run 'memhold doctor'")
    return {} if held is None else visible(held, tx.scope.agent)


def _cursor(order: SessionOrder, place: _Place) -> str:
    return base64.urlsafe_b64encode(json.dumps([order, *place]).encode()).decode()


def _read_cursor(cursor: str, order: SessionOrder) -> _Place:
    try:
        said, first, second = json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except (ValueError, TypeError, RecursionError):
        said, first, second = None, None, None
    if said != order or type(first) is not (str if order == "name" else int) or type(second) is not int:
        raise InvalidInput(f"{cursor!r:.40} is not a cursor of this listing; pass the one that the last page gave")
    return first, second


def copy_session(tx: WriteTx, name: str, to: str, *, until: int | None, author: Author, ids: Ids) -> Receipt:
    """Copy what the scope sees of a session, up to a `seq`, into one that holds nothing yet.

    Each copy is a message of its own that shows its original, the first one of a copy of copies: that is searched and
    learnt from, and where it is forgotten or hidden the copies go with it. The window goes on where it stands.

    Raises:
        NotFound: there is no such session, or nothing in it up to there.
        Conflict: the other one holds something, or is the same.
        TooLarge: more than 10,000 messages would be copied.
    """
    source = tx.session(name)
    found = tx.messages(name, until=until, limit=MAX_MESSAGES + 1)
    if source is None or not found:
        raise NotFound(f"session {name!r:.80} holds nothing to copy; name one that has messages", id=name)
    if len(found) > MAX_MESSAGES:
        said = f"the session has more than {MAX_MESSAGES:,} messages; copy it up to a seq with until"
        raise TooLarge(said, size=len(found), limit=MAX_MESSAGES)
    held = tx.session(to)
    if to == name or (held is not None and held.last_seq):
        raise Conflict(f"session {to!r:.80} holds messages, or held some; name a session that is new")
    ensure_session(tx, to, ids)
    empty = analyse("")
    receipt = Receipt(ids=())
    for agent, some in _by_agent(found):
        drafts = tuple(_draft(message) for message in some)
        done = append(
            tx,
            Prepared(
                drafts=drafts,
                terms=tuple((empty,) * len(message.numbers) for message in some),
                quotes=((),) * len(drafts),
            ),
            Arrival(
                session=to,
                agent=agent,
                author=author,
                ids=ids,
                said=[Author(origin=message.origin, name=message.actor) for message in some],
                reason=f"copied from session {source.id}",
            ),
            meaning=False,
        )
        receipt = replace(done, ids=(*receipt.ids, *done.ids), change_ids=(*receipt.change_ids, *done.change_ids))
    made = ensure_session(tx, to, ids)
    start = sum(message.seq <= began_after(source, tx.scope.agent) for message in found)
    # What was kept beside the new one before stays there; what is hidden of the other is not the copy's.
    if not visible(made, tx.scope.agent):
        made = with_brought(made, shown_to(source, tx.scope.agent))
    tx.put_session(replace(made, cursor=made.last_seq, window_start=start, pending_tokens=0))
    return receipt


def _by_agent(messages: list[Message]) -> list[tuple[str | None, list[Message]]]:
    runs: list[tuple[str | None, list[Message]]] = []
    for message in messages:
        if not runs or runs[-1][0] != message.agent:
            runs.append((message.agent, []))
        runs[-1][1].append(message)
    return runs


def _draft(message: Message) -> Draft:
    return Draft(
        role=message.role,
        body=message.body,
        shape=message.shape,
        text=message.text,
        size=0,
        event_time=message.event_time,
        metadata={**message.metadata, COPY_OF: message.copy_of or message.id},
        embed=False,
        pieces=tuple(Piece(kind="words", start=one.start, end=one.end) for one in message.passages),
        writers=tuple(one.written_by for one in message.passages),
    )
