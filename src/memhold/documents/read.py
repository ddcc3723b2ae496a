"""Finding documents: what stands at a path, what stood there, and pages of what stands below one."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any, TypeVar

from memhold.documents.content import document_of, given_metadata
from memhold.documents.paths import Path, below, checked_path, exactly, key_of, shown
from memhold.facts.revisions import path_digest
from memhold.journal.visibility import seen, sees
from memhold.ports.transaction import Place, ReadTx
from memhold.values.conditions import Filter, checked_filter, passes
from memhold.values.documents import Document, DocumentPage, Order
from memhold.values.errors import InvalidInput, NotFound
from memhold.values.records import Memory

__all__ = [
    "Asked",
    "Below",
    "asked_listing",
    "at_path",
    "current",
    "list_documents",
    "matching",
    "missing",
    "read_document",
    "standing",
    "standing_numbers",
]

PAGE_BYTES = 16 * 1024 * 1024
"""A page with contents ends behind this many bytes, however many documents were asked for."""
_AT_ONCE = 16
"""Documents that are read at once: of the largest size they take 128 MiB."""
_LAST = 2**62

PlacedT = TypeVar("PlacedT", Memory, Place)


def current(tx: ReadTx, path: Path, secret: bytes) -> Memory | None:
    """What stands at a path for the transaction's scope; None where nothing does, or its time is over.

    For an agent that is its own document, else the one of no agent; without an agent the one of no agent, else the
    newest of the user's agents.
    """
    key, agent = key_of(path), tx.scope.agent
    digest = path_digest(secret, key)
    found = None if agent is None else tx.same_content(kind="document", digest=digest, agent=agent)
    found = found or tx.same_content(kind="document", digest=digest, agent=None)
    if found is None and agent is None and tx.agents():
        found = max(at_path(tx, path), key=lambda one: one.number, default=None)
    return None if found is None or _over(found, tx.now) else found


def _over(memory: Memory, now: datetime) -> bool:
    return memory.expires_at is not None and memory.expires_at <= now


def at_path(tx: ReadTx, path: Path) -> list[Memory]:
    """What stands at exactly this path of all agents that the scope sees, by number."""
    return seen(tx, tx.at_paths(*exactly(path), limit=_LAST))


def missing(path: Path) -> NotFound:
    """The error for a path at which nothing stands."""
    return NotFound(f"no document stands at {shown(path)} in this scope; list what does", id="/".join(path))


def read_document(
    tx: ReadTx, path: Path, *, secret: bytes, at_rev: int | None, as_of: datetime | None, known_at: datetime | None
) -> Document:
    """What stands at a path, or stood there in a revision or at a time.

    Raises:
        NotFound: nothing does or did; a revision of another path is none of this one.
    """
    if at_rev is not None:
        found = [one for one in tx.find_numbers([at_rev - 1]) if isinstance(one, Memory) and one.path == path]
        held = next(iter(seen(tx, found)), None)
        if held is None:
            raise NotFound(
                f"{shown(path)} never was at revision {at_rev}; read it to see which it is at", id=str(at_rev)
            )
        return document_of(held)
    if as_of is not None or known_at is not None:
        when = as_of or known_at
        assert when is not None  # noqa: S101 - one of the two is given
        then = [one for one in tx.held(as_of=when, known_at=known_at) if one.path == path and sees(tx.scope, one)]
        held = _chosen(then, tx.scope.agent) if then else None
    else:
        held = current(tx, path, secret)
    if held is None:
        raise missing(path)
    return document_of(held)


def _chosen(found: Sequence[PlacedT], agent: str | None) -> PlacedT:
    """Of the documents of several agents at one path the one that a scope of this agent reads."""
    return max(found, key=lambda one: (one.agent == agent, one.agent is None, one.number))


def standing(tx: ReadTx, prefix: Path, *, after: str | None = None) -> Iterator[Memory]:
    """What stands at and below a path, by path, one a path, from behind the key `after`; read in small pages."""
    for _, same in groupby(_rows(tx, prefix, after), key=lambda one: one.key):
        found = [one for one in seen(tx, same) if not _over(one, tx.now)]
        if found:
            yield _chosen(found, tx.scope.agent)


def _rows(tx: ReadTx, prefix: Path, after: str | None) -> Iterator[Memory]:
    first, until = below(prefix)
    number = -1
    if after is not None and after >= first:
        first, number = after, _LAST
    while page := tx.at_paths(first, until, after=number, limit=_AT_ONCE):
        yield from page
        first, number = page[-1].key or "", page[-1].number


@dataclass(frozen=True, slots=True, kw_only=True)
class Below:
    """Which documents are asked for, as it was given: below a path, by filters, one page."""

    prefix: Sequence[str] = ()
    filter: Mapping[str, Any] | None = None
    metadata: Mapping[str, Any] | None = None
    order: Order = "path"
    content: bool = False
    limit: int = 1
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a listing asks: below which path, of which contents and metadata, in which order, which page."""

    prefix: Path = ()
    filter: Filter = field(default_factory=dict)
    metadata: Filter = field(default_factory=dict)
    order: Order = "path"
    content: bool = False
    limit: int = 100
    after: str | int | None = None

    def takes(self, memory: Memory) -> bool:
        """Whether a document passes the filters."""
        if not passes(given_metadata(memory), self.metadata):
            return False
        if not self.filter:
            return True
        return bool(memory.about_document.get("json")) and passes(json.loads(memory.text), self.filter)


def asked_listing(below: Below) -> Asked:
    """A listing that can be asked.

    Raises:
        InvalidInput: the path or a filter is none, or the cursor is none of a listing in this order.
    """
    return Asked(
        prefix=checked_path(below.prefix, "prefix", least=0),
        filter=checked_filter(below.filter or {}),
        metadata=checked_filter(below.metadata or {}, "metadata"),
        order=below.order,
        content=below.content,
        limit=below.limit,
        after=None if below.cursor is None else _read_cursor(below.cursor, below.order),
    )


def list_documents(tx: ReadTx, asked: Asked) -> DocumentPage:
    """One page of the documents that stand at and below a path and pass the filters."""
    if asked.order != "path":
        return _by_time(tx, asked)
    items: list[Document] = []
    size = 0
    for memory in standing(tx, asked.prefix, after=asked.after if isinstance(asked.after, str) else None):
        if not asked.takes(memory):
            continue
        if len(items) == asked.limit or (asked.content and size > PAGE_BYTES):
            return _page(tx, items, _cursor(asked.order, key_of(items[-1].path)))
        items.append(document_of(memory, content=asked.content))
        size += items[-1].size
    return _page(tx, items, None)


def _by_time(tx: ReadTx, asked: Asked) -> DocumentPage:
    """A page by when documents were written; of what stands below the path only what the page looks at is read."""
    if (last := _last_of_all(tx, asked)) is not None:
        return _paged(tx, asked, last)
    newest, after = asked.order == "newest", asked.after
    numbers = standing_numbers(tx, asked.prefix)
    if isinstance(after, int):
        numbers = [one for one in numbers if (one < after if newest else one > after)]
    numbers.sort(reverse=newest)
    return _paged(tx, asked, (one for one in _in_order(tx, numbers) if asked.takes(one)))


def _last_of_all(tx: ReadTx, asked: Asked) -> list[Memory] | None:
    """The first page of the newest, where it is among the last that were written anywhere; None where it is not.

    Then the page costs what it shows, however many documents stand there. Of several agents' documents at one path one
    is chosen, for which all of them are needed.
    """
    if asked.order != "newest" or asked.after is not None or tx.scope.agent is not None or tx.agents():
        return None
    most = 2 * asked.limit + _AT_ONCE
    written = tx.newest_memories("document", tier="long", limit=most)
    first, until = below(asked.prefix)
    found = [one for one in written if first <= (one.key or "") < until and not _over(one, tx.now)]
    taken = [one for one in found if asked.takes(one)]
    return taken if len(taken) > asked.limit or (len(written) < most and not tx.damaged) else None


def _paged(tx: ReadTx, asked: Asked, found: Iterable[Memory]) -> DocumentPage:
    items: list[Document] = []
    size = 0
    for memory in found:
        if len(items) == asked.limit or (asked.content and size > PAGE_BYTES):
            return _page(tx, items, _cursor(asked.order, items[-1].rev - 1))
        items.append(document_of(memory, content=asked.content))
        size += items[-1].size
    return _page(tx, items, None)


def matching(tx: ReadTx, asked: Asked) -> list[int] | None:
    """The numbers of the documents that a search may find; None where that is every one."""
    if asked.filter or asked.metadata:
        return [one.number for one in standing(tx, asked.prefix) if asked.takes(one)]
    return standing_numbers(tx, asked.prefix) if asked.prefix else None


def standing_numbers(tx: ReadTx, prefix: Path) -> list[int]:
    """The numbers of what stands at and below a path, one a path, without reading any content."""
    places = tx.places(*below(prefix))
    agent, now = tx.scope.agent, tx.now
    found: dict[str, Place] = {}
    for one in places:
        if (one.expires_at is None or one.expires_at > now) and (agent is None or one.agent in {None, agent}):
            held = found.get(one.key)
            found[one.key] = one if held is None else _chosen([held, one], agent)
    return [one.number for one in found.values()]


def _in_order(tx: ReadTx, numbers: Sequence[int]) -> Iterator[Memory]:
    for at in range(0, len(numbers), _AT_ONCE):
        found = tx.find_numbers(numbers[at : at + _AT_ONCE])
        yield from (one for one in found if isinstance(one, Memory))


def _page(tx: ReadTx, items: list[Document], cursor: str | None) -> DocumentPage:
    return DocumentPage(items=tuple(items), cursor=cursor, damaged=tuple(tx.damaged))


def _cursor(order: Order, after: str | int) -> str:
    return base64.urlsafe_b64encode(json.dumps([order, after]).encode()).decode()


def _read_cursor(cursor: str, order: Order) -> str | int:
    try:
        said, after = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        str(after).encode()  # half of a surrogate pair can be written in JSON, and is in no path
    except (ValueError, TypeError, RecursionError):
        said, after = None, None
    if said != order or type(after) is not (str if order == "path" else int):
        raise InvalidInput(f"{cursor!r:.40} is not a cursor of this listing; pass the one that the last page gave")
    return after
