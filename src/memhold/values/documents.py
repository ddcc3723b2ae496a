"""Documents by name, as the verbs give them: a document, what wrote it, a page of them, and what a search found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from memhold.values.answers import Reason, Receipt
from memhold.values.records import Origin, State
from memhold.values.repr_parts import one_of, opening

__all__ = ["Document", "DocumentHit", "DocumentHits", "DocumentPage", "DocumentWrite", "Order"]

Order = Literal["path", "newest", "oldest"]
"""How documents are listed: by path, or by when they were last written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What stands at a path, or stood there.

    `content` is text, or JSON as it was put. `rev` is another number with each content of the scope: it only grows, is
    never given twice, and is what `if_rev` compares. `created_at` is when something first stood at the path and was
    replaced ever since, `updated_at` when this was put there, or moved there. `size` counts the bytes of the content
    (of JSON, as compact text). `index` says whether it may be found by its words and meaning; `fields`, where there
    are any, by which of its members alone. `state` is "active" for what stands there now. `origin` says who wrote it
    and `actor` the name of that. `id` is that of a memory: `history`, `get` and `forget` take it.
    """

    path: tuple[str, ...]
    rev: int
    id: str
    content: Any
    size: int
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    index: bool = True
    fields: tuple[str, ...] = ()
    state: State = "active"
    origin: Origin = "user"
    actor: str | None = None
    agent: str | None = None

    def __repr__(self) -> str:
        kind = "" if self.content is None else " of JSON"  # a list gives no contents
        said = opening(self.content) if isinstance(self.content, str) else f"{one_of(self.size, 'byte')}{kind}"
        return f"<Document {opening('/'.join(self.path))} rev {self.rev} {said} {self.id}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentWrite:
    """What a write to a path gives: its receipt, and the document that it wrote.

    `document` is None where a replay finds it forgotten.
    """

    receipt: Receipt
    document: Document | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPage:
    """One page of a listing; pass `cursor` back for the next one (None after the last).

    Without `content` asked for, that of each is None. `damaged` are ids of rows between these that are damaged on the
    disk: they are left out.
    """

    items: tuple[Document, ...]
    cursor: str | None
    damaged: tuple[str, ...] = ()

    def __repr__(self) -> str:
        more = "" if self.cursor is None else "; more behind the cursor"
        return f"<DocumentPage {one_of(len(self.items), 'document')}{more}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentHit:
    """A document that a search found: its score, which compares hits of one answer only, and why it is there."""

    document: Document
    score: float
    why: tuple[Reason, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentHits:
    """The answer to a search, the best first; its fields are those of a `Recall`."""

    hits: tuple[DocumentHit, ...]
    total: int
    next_offset: int | None = None
    degraded: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()
    lag: Mapping[str, int] = field(default_factory=dict)
    confidence: float | None = None

    def __repr__(self) -> str:
        return f"<DocumentHits {one_of(len(self.hits), 'hit')} of {self.total}>"
