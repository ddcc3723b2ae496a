"""LangGraph's long-term memory: a `BaseStore` on documents by name."""

from __future__ import annotations

import asyncio
import logging
import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Any

from memhold.documents.given_names import name_of, text_of
from memhold.documents.paths import checked_path
from memhold.faces.python.sync import SyncScope
from memhold.integrations.framework import lacking
from memhold.integrations.reach import Reach
from memhold.text.stretches import both_ends
from memhold.values.bounds import MAX_HITS, MAX_PAGE
from memhold.values.documents import Document, DocumentHit
from memhold.values.errors import Conflict, InvalidInput, MemholdError, NotFound
from memhold.verbs.scope import AsyncScope

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        IndexConfig,
        InvalidNamespaceError,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
    )
except ImportError as missing:
    raise lacking(__name__, "langgraph", "1.0", missing) from missing

__all__ = ["MemholdStore"]

_log = logging.getLogger("memhold.integrations")

_TTL = "ttl"
"""The name in a document's metadata under which its time to live stands, in minutes."""
_REFRESHED_AFTER = 0.05
"""The part of a life that must be over before a read begins it anew: reads that follow one another write nothing."""
_SEVERAL = re.compile(r"([^{}]*)\{([^{}]*)\}.*", re.DOTALL)
_MEMBER = re.compile(r"[^\s'\"`();,]+( [^\s'\"`();,]+)*")
"""A name of a filter, as LangGraph's own stores refuse what could be SQL."""


class MemholdStore(BaseStore):
    """A store for LangGraph over one scope: an item is the document at its namespace and key, below `root`.

    Search is Memhold's recall; it needs no embedding of yours, and `index` says by which fields an item is found, or
    that it is not. Each put is durable when it returns. `delete` hides, so that it can be undone, or with `erase=True`
    erases for good.
    """

    __slots__ = ("_erase", "_reach", "_root", "index_config", "ttl_config")

    supports_ttl = True

    def __init__(
        self,
        scope: SyncScope | AsyncScope,
        *,
        root: Sequence[str] = ("langgraph",),
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        erase: bool = False,
    ) -> None:
        """Over a scope of `Memhold`, from anywhere; over one of `AsyncMemhold`, from its own loop.

        Args:
            scope: Whose memory.
            root: The names below which the items stand among the scope's documents.
            index: LangGraph's settings of search, of which `fields` are those by which an item is found where its put
                names none; without them the whole of it. Memhold embeds by itself: `embed` and `dims` are not used.
            ttl: LangGraph's settings of times to live; `refresh_on_read` is true unless it says otherwise.
            erase: Whether a delete erases for good.
        """
        super().__init__()
        self._reach = Reach(scope)
        self._root = checked_path(root, "root", least=0)
        self._erase = erase
        self.index_config = index
        self.ttl_config = ttl
        if index and "embed" in index:
            _log.warning("memory embeds by itself, and not with the embed of LangGraph's index settings")

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Answer reads as of before the batch, then write; of several puts of one key the last counts."""
        asked = _checked(ops)
        return self._reach.run(lambda scope: self._done(scope, asked))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """`batch`, for async code."""
        asked = _checked(ops)
        return await self._reach.ask(lambda scope: self._done(scope, asked))

    async def _done(self, scope: AsyncScope, ops: Sequence[Op]) -> list[Result]:
        results: list[Result] = []
        puts: dict[tuple[tuple[str, ...], str], PutOp] = {}
        for op in ops:
            match op:
                case GetOp():
                    results.append(await self._get(scope, op))
                case SearchOp():
                    results.append(await self._search(scope, op))
                case ListNamespacesOp():
                    results.append(await self._namespaces(scope, op))
                case PutOp():
                    puts[op.namespace, op.key] = op
                    results.append(None)
                case _:
                    raise InvalidInput(f"{type(op).__name__} is no operation that this store knows")
        # Side by side, so that they share one sync of the disk.
        await asyncio.gather(*(self._put(scope, op) for op in puts.values()))
        return results

    # ------------------------------------------------------------------------------------------------ operations

    async def _get(self, scope: AsyncScope, op: GetOp) -> Item | None:
        try:
            held = await scope.documents.read(self._path(op.namespace, op.key))
        except NotFound:
            return None
        if op.refresh_ttl:
            held = await self._refreshed(scope, held)
        return Item(**self._as_item(held))

    async def _put(self, scope: AsyncScope, op: PutOp) -> None:
        path = self._path(op.namespace, op.key)
        if op.value is None:
            try:
                await scope.documents.delete(path, hard=self._erase)
            except NotFound:
                return
            return
        if not isinstance(op.value, Mapping):
            raise InvalidInput(f"the value is a {type(op.value).__name__}; pass a dict")
        await scope.documents.put(
            path,
            dict(op.value),
            metadata=None if op.ttl is None else {_TTL: op.ttl},
            expires_at=None if op.ttl is None else _until(op.ttl),
            index=op.index is not False,
            fields=_fields(op.index or (self.index_config or {}).get("fields")),
        )

    async def _search(self, scope: AsyncScope, op: SearchOp) -> list[SearchItem]:
        prefix = self._names(op.namespace_prefix)
        if op.query:
            held = await self._found(scope, op.query, prefix, op)
        else:
            held = [(one, None) for one in await self._listed(scope, prefix, op)]
        below = [(one, score) for one, score in held if len(one.path) > len(prefix)]
        chosen = below[op.offset : op.offset + op.limit]
        if op.refresh_ttl:
            chosen = [(await self._refreshed(scope, one), score) for one, score in chosen]
        return [SearchItem(**self._as_item(one), score=score) for one, score in chosen]

    async def _found(
        self, scope: AsyncScope, query: str, prefix: Sequence[str], op: SearchOp
    ) -> list[tuple[Document, float | None]]:
        """What a search finds below a prefix, as much as the page needs; what is not indexed behind all else."""
        hits: list[DocumentHit] = []
        wanted = op.offset + op.limit + 1  # what stands at the prefix itself is an item of the namespace above
        while wanted > len(hits):
            page = await scope.documents.search(
                both_ends(query),
                prefix=prefix,
                filter=_filter(op.filter),
                limit=min(wanted - len(hits), MAX_HITS),
                offset=len(hits),
            )
            hits += page.hits
            if page.next_offset is None or not page.hits:
                break
        # As LangGraph has it, what is not indexed has no score.
        return [(hit.document, hit.score if hit.document.index else None) for hit in hits]

    async def _listed(self, scope: AsyncScope, prefix: Sequence[str], op: SearchOp) -> list[Document]:
        """The newest documents below a prefix that pass the filter, as many as the page needs."""
        found: list[Document] = []
        cursor: str | None = None
        wanted = op.offset + op.limit + 1
        while len(found) < wanted:
            page = await scope.documents.list(
                prefix,
                filter=_filter(op.filter),
                order="newest",
                content=True,
                limit=min(wanted, MAX_PAGE),
                cursor=cursor,
            )
            found += page.items
            cursor = page.cursor
            if cursor is None:
                break
        return found

    async def _namespaces(self, scope: AsyncScope, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        below = self._names(max(map(_begins, conditions), key=len, default=()))
        found: set[tuple[str, ...]] = set()
        cursor: str | None = None
        while True:
            page = await scope.documents.list(below, limit=MAX_PAGE, cursor=cursor)
            found |= {self._namespace(one) for one in page.items if len(one.path) > len(self._root)}
            cursor = page.cursor
            if cursor is None:
                break
        kept = {namespace for namespace in found if all(_matches(one, namespace) for one in conditions)}
        if op.max_depth is not None:
            kept = {namespace[: op.max_depth] for namespace in kept}
        return sorted(kept)[op.offset : op.offset + op.limit]

    async def _refreshed(self, scope: AsyncScope, held: Document) -> Document:
        """The document; its life begins anew where it has one, unless somebody wrote meanwhile or the store cannot."""
        minutes = held.metadata.get(_TTL)
        if held.expires_at is None or not isinstance(minutes, int | float):
            return held
        until = _until(minutes)
        if (until - held.expires_at) < timedelta(minutes=minutes) * _REFRESHED_AFTER:
            return held
        try:
            await scope.documents.put(
                held.path,
                held.content,
                if_rev=held.rev,
                metadata=held.metadata,
                expires_at=until,
                index=held.index,
                fields=held.fields,
            )
        except Conflict:
            pass
        except MemholdError as error:  # it was read, and a disk that is full takes that from nobody
            _log.warning("the life of an item could not begin anew: %s", type(error).__name__)
        return held

    # ------------------------------------------------------------------------------------------------ names

    def _path(self, namespace: Sequence[str], key: str) -> tuple[str, ...]:
        return (*self._names(namespace), name_of(key))

    def _names(self, namespace: Sequence[str]) -> tuple[str, ...]:
        return (*self._root, *map(name_of, namespace))

    def _namespace(self, held: Document) -> tuple[str, ...]:
        return tuple(map(text_of, held.path[len(self._root) : -1]))

    def _as_item(self, held: Document) -> dict[str, Any]:
        return {
            "namespace": self._namespace(held),
            "key": text_of(held.path[-1]),
            "value": held.content,
            "created_at": held.created_at,
            "updated_at": held.updated_at,
        }


def _checked(ops: Iterable[Op]) -> list[Op]:
    """The operations; none is carried out where a label is none of LangGraph's, who checks them in front of a batch."""
    asked = list(ops)
    for label in (label for op in asked for namespace in _namespaces_of(op) for label in namespace):
        if not isinstance(label, str) or not label or "." in label or "\0" in label:
            raise InvalidNamespaceError(f"{label!r:.60} is no label of a namespace; pass text without periods and NUL")
    return asked


def _namespaces_of(op: Op) -> Sequence[Sequence[Any]]:
    match op:
        case GetOp() | PutOp():
            return (op.namespace,)
        case SearchOp():
            return (op.namespace_prefix,)
        case ListNamespacesOp():
            return [one.path for one in op.match_conditions or ()]
        case _:
            return ()


def _now() -> datetime:
    return datetime.now(UTC)


def _until(minutes: Any) -> datetime:
    try:
        return _now() + timedelta(minutes=minutes)
    except (OverflowError, TypeError, ValueError):
        raise InvalidInput(f"ttl is {minutes!r:.40}; pass minutes, up to some thousand years, or None") from None


def _fields(given: Sequence[str] | None) -> list[str] | None:
    """LangGraph's paths to what is indexed as our fields, `{a,b}` as one for each; None where they say: all of it."""
    if not given or any(path in {"", "$"} for path in given):
        return None
    found: list[str] = []
    for path in map(str, given):
        several = _SEVERAL.fullmatch(path)
        found += [path] if several is None else [several[1] + name.strip() for name in several[2].split(",")]
    return found


def _filter(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """LangGraph's filter as ours: a dot in a name goes into a member, and numbers that JSON has not are compared."""
    if given is not None and not isinstance(given, Mapping):
        raise InvalidInput(f"the filter is a {type(given).__name__}; pass a dict, such as {{'status': 'open'}}")
    asked: dict[str, Any] = {}
    for name, wanted in (given or {}).items():
        if not _MEMBER.fullmatch(str(name)):
            raise InvalidInput(f"Invalid filter key {name!r:.60}; pass the name of a member, with dots into members")
        held, names = asked, str(name).split(".")
        for one in names[:-1]:
            held = held.setdefault(one, {})
            if not isinstance(held, dict) or any(operator.startswith("$") for operator in held):
                raise InvalidInput(f"the filter asks of {name!r:.60} and of what holds it; ask of one of them")
        if names[-1] in held:
            raise InvalidInput(f"the filter asks of {name!r:.60} and of what it holds; ask of one of them")
        held[names[-1]] = _wanted(wanted)
    return asked


def _wanted(wanted: Any) -> Any:
    if isinstance(wanted, float) and not math.isfinite(wanted):
        return {"$in": []}  # no JSON equals it
    if not isinstance(wanted, Mapping):
        return wanted
    if not any(name.startswith("$") for name in wanted):
        return _filter(wanted)
    found: dict[str, Any] = {}
    for operator, value in wanted.items():
        if isinstance(value, float) and not math.isfinite(value):
            beyond = math.isinf(value) and (operator in {"$lt", "$lte"}) == (value > 0) and operator[1] in "lg"
            found |= {("$lte" if value > 0 else "$gte"): math.copysign(sys.float_info.max, value)} if beyond else {}
            found |= {} if beyond or operator == "$ne" else {"$in": []}
        else:
            found[operator] = value
    return found or {"$nin": []}


def _begins(condition: MatchCondition) -> tuple[str, ...]:
    """The labels with which every namespace begins that meets the condition."""
    labels = condition.path if condition.match_type == "prefix" else ()
    return tuple(takewhile(lambda label: label != "*", labels))


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    """Whether a namespace begins or ends so; `*` stands for any one label."""
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in {"*", label} for label, wanted in zip(part, path, strict=True))
