"""The verbs of documents over an open store; what each promises is said where it is declared (`documents`)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from time import monotonic
from typing import Any

from memhold.documents.content import Content, checked_content, document_of, redacted_content
from memhold.documents.filters import checked_filter
from memhold.documents.paths import checked_path
from memhold.documents.read import asked_listing, list_documents, matching, read_document
from memhold.documents.write import move, put
from memhold.facts.remember import Writer
from memhold.history.delete_document import Deletion, delete
from memhold.history.forget import forget_once
from memhold.journal.visibility import seen
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.recall.recall import checked, recall
from memhold.text.analysis import Terms, analyse
from memhold.values.answers import Erasure, Query, Recall, Receipt
from memhold.values.documents import Document, DocumentHit, DocumentHits, DocumentPage, DocumentWrite, Order
from memhold.values.errors import InvalidInput
from memhold.values.origins import author_of
from memhold.values.records import Scope, micros
from memhold.verbs.checking import judging
from memhold.verbs.documents import AsyncDocuments
from memhold.verbs.erasing import erased_to_the_end
from memhold.verbs.runtime import Runtime
from memhold.verbs.scope_redaction import counted, noted
from memhold.verbs.transactions import Transactions

__all__ = ["LocalDocuments"]

_INLINE = 4_000
"""Characters of a text that is made ready on the loop; a thread does longer ones, and JSON."""


class LocalDocuments:
    """`AsyncDocuments` over a store that this process has open."""

    def __init__(self, runtime: Runtime, scope: Scope) -> None:
        self._runtime = runtime
        self._scope = scope
        self._tx = Transactions(runtime, scope)

    async def put(
        self,
        path: Sequence[str],
        content: Any,
        *,
        if_rev: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        expires_at: datetime | None = None,
        index: bool = True,
        fields: Sequence[str] | None = None,
        idempotency_key: str | None = None,
    ) -> DocumentWrite:
        at = checked_path(path)
        writer = self._writer()

        def made_ready() -> tuple[Content, int, Terms]:
            given = checked_content(at, content, metadata=metadata, expires_at=expires_at, index=index, fields=fields)
            redactor = self._runtime.redactor
            clean, redacted = (given, 0) if redactor is None else redacted_content(given, redactor)
            return clean, redacted, analyse(clean.words)

        short = isinstance(content, str) and len(content) <= _INLINE
        ready, redacted, terms = made_ready() if short else await asyncio.to_thread(made_ready)
        supplied = [[*at], content, if_rev, metadata, expires_at, index, self._scope.agent]
        if fields:  # a key of a write without them is the one that it always was
            supplied.append([*fields])
        once = self._tx.once("documents.put", idempotency_key, supplied)
        work = self._tx.idempotent(
            lambda tx: noted(put(tx, ready, if_rev=if_rev, terms=terms, writer=writer), redacted), once
        )
        done = await self._tx.write(lambda tx: _written(tx, work(tx)))
        counted(self._runtime, self._scope, done.receipt)
        return done

    async def read(
        self,
        path: Sequence[str],
        *,
        at_rev: int | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> Document:
        at = checked_path(path)
        for moment in (as_of, known_at):
            if moment is not None:
                micros(moment)
        if at_rev is not None and (as_of is not None or known_at is not None):
            raise InvalidInput("a revision and a time were given; pass at_rev, or as_of and known_at")
        secret = self._runtime.store.facts.secret
        return await self._tx.read(
            lambda tx: read_document(tx, at, secret=secret, at_rev=at_rev, as_of=as_of, known_at=known_at)
        )

    async def list(
        self,
        prefix: Sequence[str] = (),
        *,
        filter: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        order: Order = "path",
        content: bool = False,
        limit: int = 100,
        cursor: str | None = None,
    ) -> DocumentPage:
        asked = asked_listing(
            prefix=checked_path(prefix, "prefix", least=0),
            wanted=checked_filter(filter or {}),
            metadata=checked_filter(metadata or {}, "metadata"),
            order=order,
            content=content,
            limit=limit,
            cursor=cursor,
        )
        return await self._tx.read(lambda tx: list_documents(tx, asked))

    async def search(
        self,
        query: str,
        *,
        prefix: Sequence[str] = (),
        filter: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> DocumentHits:
        asked = checked(Query(text=query, kinds=("document",), limit=limit, offset=offset))
        narrowed = asked_listing(
            prefix=checked_path(prefix, "prefix", least=0),
            wanted=checked_filter(filter or {}),
            metadata=checked_filter(metadata or {}, "metadata"),
            order="path",
            content=False,
            limit=1,
            cursor=None,
        )
        meaning = await self._tx.meaning(query)
        runtime = self._runtime
        caches, timeout = runtime.caches, runtime.settings.recall_timeout

        def work(tx: ReadTx) -> DocumentHits:
            until = monotonic() + timeout
            among = matching(tx, narrowed)
            found = recall(tx, asked, caches, meaning, lambda: monotonic() < until, among=among)
            return _hits(tx, found)

        hits = await self._tx.look(work)
        return replace(hits, degraded=runtime.degraded(hits.degraded))

    async def move(
        self,
        path: Sequence[str],
        to: Sequence[str],
        *,
        below: bool = False,
        if_rev: int | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        source, target = checked_path(path), checked_path(to, "to")
        writer = self._writer()
        supplied = [[*source], [*target], below, if_rev, self._scope.agent]
        once = self._tx.once("documents.move", idempotency_key, supplied)
        return await self._tx.write_once(
            once, lambda tx: move(tx, source, target, below=below, if_rev=if_rev, writer=writer)
        )

    async def delete(
        self,
        path: Sequence[str],
        *,
        below: bool = False,
        hard: bool = False,
        if_rev: int | None = None,
        wait: float = 1.0,
        idempotency_key: str | None = None,
    ) -> Erasure:
        asked = Deletion(path=checked_path(path), below=below, hard=hard, if_rev=if_rev)
        writer = self._writer()
        once = self._tx.once("documents.delete", idempotency_key, [asked, self._scope.agent])

        def work(tx: WriteTx) -> Erasure:
            def run() -> Erasure:
                return delete(tx, asked, writer=writer)

            return run() if once is None else forget_once(tx, once, run, hard=hard)

        return await erased_to_the_end(self._runtime, [self._scope], await self._tx.write(work), wait=wait)

    def _writer(self) -> Writer:
        return Writer(
            ids=self._runtime.ids,
            secret=self._runtime.store.facts.secret,
            author=author_of(self._scope.actor),
            agent=self._scope.agent,
            session=self._scope.session,
        )


judging(AsyncDocuments, LocalDocuments)


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
