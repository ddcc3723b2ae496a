"""The verbs of documents over an open store; what each promises is said where it is declared (`documents`)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from time import monotonic
from typing import Any, ClassVar

from memhold.documents.content import Beside, Content, checked_content, document_of, redacted_content
from memhold.documents.paths import checked_path
from memhold.documents.read import Below, asked_listing, list_documents, matching, read_document
from memhold.documents.write import move as move_content
from memhold.documents.write import put as put_content
from memhold.history.delete_document import Deletion
from memhold.history.delete_document import delete as delete_document
from memhold.history.forget import forget_once
from memhold.journal.visibility import seen
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.recall.recall import checked, recall_among
from memhold.text.analysis import Terms, analyse
from memhold.values.answers import Erasure, Query, Recall, Receipt
from memhold.values.documents import Document, DocumentHit, DocumentHits, DocumentPage, DocumentWrite
from memhold.values.errors import InvalidInput
from memhold.values.records import micros
from memhold.verbs.documents import AsyncDocuments
from memhold.verbs.erasing import erased_to_the_end
from memhold.verbs.transactions import Transactions
from memhold.verbs.units import Doer, Unit, have_verbs

__all__ = ["LocalDocuments"]

_INLINE = 4_000
"""Characters of a text that is made ready on the loop; a thread does longer ones, and JSON."""


class LocalDocuments(Doer):
    """`AsyncDocuments` over a store that this process has open."""

    units: ClassVar[Mapping[str, Unit]] = {
        "put": Unit(module=__name__, name="put", value=("memhold.documents.content", "Beside")),
        "read": Unit(module=__name__, name="read"),
        "list": Unit(module=__name__, name="list_below", value=("memhold.documents.read", "Below")),
        "search": Unit(module=__name__, name="search", value=("memhold.documents.read", "Below")),
        "move": Unit(module=__name__, name="move"),
        "delete": Unit(module=__name__, name="delete"),
    }


have_verbs(LocalDocuments, AsyncDocuments)


async def put(
    here: Transactions,
    beside: Beside,
    *,
    path: Sequence[str],
    content: Any,
    if_rev: int | None,
    idempotency_key: str | None,
) -> DocumentWrite:
    """Put text or JSON at a path."""
    at = checked_path(path)
    writer = here.writer

    def made_ready() -> tuple[Content, int, Terms]:
        given = checked_content(at, content, beside)
        redactor = here.runtime.redactor
        clean, redacted = (given, 0) if redactor is None else redacted_content(given, redactor)
        return clean, redacted, analyse(clean.words)

    short = isinstance(content, str) and len(content) <= _INLINE
    ready, redacted, terms = made_ready() if short else await asyncio.to_thread(made_ready)
    once = here.once("documents.put", idempotency_key, [[*at], content, if_rev, beside, here.scope.agent])
    work = here.idempotent(
        lambda tx: replace(put_content(tx, ready, if_rev=if_rev, terms=terms, writer=writer), redacted=redacted), once
    )
    done = await here.write(lambda tx: _written(tx, work(tx)))
    here.count(done.receipt)
    return done


async def read(
    here: Transactions,
    path: Sequence[str],
    *,
    at_rev: int | None,
    as_of: datetime | None,
    known_at: datetime | None,
) -> Document:
    """Read what stands at a path, or stood there."""
    at = checked_path(path)
    for moment in (as_of, known_at):
        if moment is not None:
            micros(moment)
    if at_rev is not None and (as_of is not None or known_at is not None):
        raise InvalidInput("a revision and a time were given; pass at_rev, or as_of and known_at")
    secret = here.runtime.store.facts.secret
    return await here.read(
        lambda tx: read_document(tx, at, secret=secret, at_rev=at_rev, as_of=as_of, known_at=known_at)
    )


async def list_below(here: Transactions, below: Below) -> DocumentPage:
    """A page of what stands below a path."""
    asked = asked_listing(below)
    return await here.read(lambda tx: list_documents(tx, asked))


async def search(here: Transactions, below: Below, *, query: str, limit: int, offset: int) -> DocumentHits:
    """Find documents by words and meaning."""
    asked = checked(Query(text=query, kinds=("document",), limit=limit, offset=offset))
    narrowed = asked_listing(below)
    meaning = await here.meaning(query)
    runtime = here.runtime
    caches, timeout = runtime.caches, runtime.settings.recall_timeout

    def work(tx: ReadTx) -> DocumentHits:
        until = monotonic() + timeout
        among = matching(tx, narrowed)
        found = recall_among(tx, asked, caches, meaning, lambda: monotonic() < until, among)
        return _hits(tx, found)

    hits = await here.look(work)
    return replace(hits, degraded=runtime.degraded(hits.degraded))


async def move(
    here: Transactions,
    path: Sequence[str],
    to: Sequence[str],
    *,
    below: bool,
    if_rev: int | None,
    idempotency_key: str | None,
) -> Receipt:
    """Move a document, or all below a path."""
    source, target = checked_path(path), checked_path(to, "to")
    writer = here.writer
    supplied = [[*source], [*target], below, if_rev, here.scope.agent]
    once = here.once("documents.move", idempotency_key, supplied)
    return await here.write_once(
        once, lambda tx: move_content(tx, source, target, below=below, if_rev=if_rev, writer=writer)
    )


async def delete(
    here: Transactions,
    path: Sequence[str],
    *,
    below: bool,
    hard: bool,
    if_rev: int | None,
    wait: float,
    idempotency_key: str | None,
) -> Erasure:
    """Hide a document, or erase it."""
    asked = Deletion(path=checked_path(path), below=below, hard=hard, if_rev=if_rev)
    writer = here.writer
    once = here.once("documents.delete", idempotency_key, [asked, here.scope.agent])

    def work(tx: WriteTx) -> Erasure:
        def run() -> Erasure:
            return delete_document(tx, asked, writer=writer)

        return run() if once is None else forget_once(tx, once, run, hard=hard)

    return await erased_to_the_end(here.runtime, [here.scope], await here.write(work), wait=wait)


def _written(tx: ReadTx, receipt: Receipt) -> DocumentWrite:
    found = seen(tx, tx.find_memories(receipt.ids[:1]))
    return DocumentWrite(receipt=receipt, document=document_of(found[0]) if found else None)


def _hits(tx: ReadTx, found: Recall) -> DocumentHits:
    held = {one.id: one for one in tx.find_memories([hit.id for hit in found.hits])}
    return DocumentHits(
        hits=tuple(
            DocumentHit(document=document_of(held[hit.id]), score=hit.score, why=hit.why)
            for hit in found.hits
            if hit.id in held
        ),
        total=found.total,
        next_offset=found.next_offset,
        degraded=found.degraded,
        damaged=found.damaged,
        lag=found.lag,
        confidence=found.confidence,
    )
