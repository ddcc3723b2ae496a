"""The verbs of documents by name, declared: `scope.documents`. See `scope` for how declarations are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from memhold.values.bounds import MAX_HITS, MAX_NUMBER, MAX_PAGE, MAX_WAIT
from memhold.verbs.declaration import Command, Http, Tool, verb

if TYPE_CHECKING:
    from memhold.values.answers import Erasure, Receipt
    from memhold.values.documents import Document, DocumentHits, DocumentPage, DocumentWrite, Order

__all__ = ["AsyncDocuments"]

MEMORY = "Memory"


class AsyncDocuments(Protocol):
    """Documents by name: text or JSON at a path, which is a tuple of 1 to 32 names.

    One content stands at a path. What it replaced is kept: as a revision, in the history, and for `undo`. Each content
    is a memory of kind "document" too, so that `recall`, `history`, `list`, `export` and `forget` know it by its id.

    An agent's scope reads its own document, else the one of no agent; a put replaces what a read gives.
    """

    @verb(
        "write",
        bounds={"if_rev": (0, MAX_NUMBER)},
        http=Http(
            method="POST", path="/documents/put", tag="documents", operation="put_document",
            examples={
                "text": {"path": ["notes", "paris"], "content": "The hotel is near the station."},
                "json_if_nothing_stands_there": {"path": ["tasks", "1"], "content": {"status": "open"}, "if_rev": 0},
            },
        ),
        tool=Tool(
            name="put_document", title="Put a document", idempotent=True,
            use="Write a document: text or JSON at a path of names. What stood there is replaced and kept."
            " Use it for notes and files that you go on with later. With if_rev it is written only if nobody else has"
            " written meanwhile.",
            shows=("path", "content", "if_rev", "metadata", "expires_at", "index", "idempotency_key"),
        ),
        command=Command(
            name="put", section=MEMORY, line="Put a text or JSON at a path.", words=("path",), create=True,
            example='memhold documents put notes paris --text "Near the station." --user alice',
            options={"expires_at": "expires"}, by_hand="takes the content as text, from a file or from standard input",
        ),
    )  # fmt: skip
    async def put(
        self,
        path: Sequence[str],
        content: Any,
        *,
        if_rev: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        expires_at: datetime | str | None = None,
        index: bool = True,
        fields: Sequence[str] | None = None,
        idempotency_key: str | None = None,
    ) -> DocumentWrite:
        """Write a content at a path. The last writer wins, and what stood there is kept; the same again writes nothing.

        Of writers that give one `if_rev`, one writes and the others are told. Metadata and expiry are those of this
        write: what an earlier one gave does not stay.

        Args:
            path: The names from the outermost on, such as ("notes", "paris"); each 1 to 256 characters.
            content: Text, or JSON (an object, a list, a number, true or false), up to 8 MiB.
            if_rev: Only if what stands there is at this revision; 0: only if nothing stands there.
            metadata: JSON of the caller's; `list` and `search` can ask for it.
            expires_at: When it stands there no longer.
            index: Whether words and meaning may find it; of a very long content samples are indexed.
            fields: Of JSON: the members by which alone they find it, as ["title", "author.name", "chapters[*].text"].
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.

        Raises:
            RevisionConflict: the path is not at that revision; `actual` says at which it is (0: nothing stands there).
            InvalidInput: a name such as "..", NUL, content that is not JSON (NaN, 101 levels), an expiry that is over,
                fields of a text.
            TooLarge: more than 8 MiB, more than 32 names, or a name of more than 256 characters.
            IdempotencyConflict: the key came before with other content.
        """
        ...

    @verb(
        "read",
        bounds={"at_rev": (1, MAX_NUMBER)},
        http=Http(
            method="POST", path="/documents/read", tag="documents", operation="read_document",
            examples={"now": {"path": ["notes", "paris"]}, "before": {"path": ["notes", "paris"], "at_rev": 7}},
        ),
        tool=Tool(
            name="read_document", title="Read a document", idempotent=True,
            use="Read the document at a path, with its revision. Use it before you change one.",
            shows=("path", "at_rev"),
        ),
        command=Command(
            name="read", section=MEMORY, line="Print what stands at a path.", words=("path",),
            example="memhold documents read notes paris --user alice",
        ),
    )  # fmt: skip
    async def read(
        self,
        path: Sequence[str],
        *,
        at_rev: int | None = None,
        as_of: datetime | str | None = None,
        known_at: datetime | str | None = None,
    ) -> Document:
        """What stands at a path, or stood there in a revision or at a time. One look into an index, however many stand.

        Args:
            path: The names from the outermost on.
            at_rev: What this revision of the path held.
            as_of: What stood there at this time.
            known_at: What was known then to stand there.

        Raises:
            NotFound: nothing stands there, or that revision is none of this path.
            InvalidInput: the path cannot be one, or a revision and a time were given.
        """
        ...

    @verb(
        "read",
        bounds={"limit": (1, MAX_PAGE)},
        http=Http(
            method="POST", path="/documents/list", tag="documents", operation="list_documents",
            examples={"below": {"prefix": ["notes"]}, "open": {"filter": {"status": "open", "score": {"$gt": 4}}}},
        ),
        tool=Tool(
            name="list_documents", title="List documents", idempotent=True,
            use="List the documents below a path, with their sizes and times and without their contents.",
            shows=("prefix", "filter", "metadata", "order", "limit", "cursor"),
        ),
        command=Command(
            name="list", section=MEMORY, line="List what stands below a path.", words=("prefix",),
            example="memhold documents list notes --user alice",
        ),
    )  # fmt: skip
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
        """A page of the documents at and below a path.

        By path a page reads what it gives; other orders and filters look through everything below the path.

        Args:
            prefix: The names that a path begins with; none: all documents.
            filter: Of JSON contents: members and what they are, as {"status": "open", "score": {"$gt": 4}}. Operators
                are $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $contains (of a list) and $exists. A list is of values of
                which it is one; {"$or": [...]} holds filters of which one must pass.
            metadata: The same of the metadata.
            order: "path", "newest" or "oldest" (by the last write).
            content: With the contents; a page then ends behind 16 MiB.
            limit: Most documents of the page, up to 1,000.
            cursor: The `cursor` of the page before, all else being the same.

        Raises:
            InvalidInput: an operator that is not known (it is named), a cursor of another listing, a limit out of
                range.
        """
        ...

    @verb(
        "read",
        bounds={"limit": (1, MAX_HITS), "offset": (0, MAX_NUMBER)},
        http=Http(
            method="POST", path="/documents/search", tag="documents", operation="search_documents",
            examples={"below": {"query": "where is the hotel", "prefix": ["notes"]}},
        ),
        tool=Tool(
            name="search_documents", title="Search documents", idempotent=True,
            use="Search documents by words and meaning, below a path if you know it. Read one whole by its path.",
            shows=("query", "prefix", "filter", "metadata", "limit", "offset"),
        ),
        command=Command(
            name="search", section=MEMORY, line="Find documents by words and meaning.", words=("query",),
            example='memhold documents search "where is the hotel" --prefix notes --user alice',
            options={"prefix": "prefix"},
        ),
    )  # fmt: skip
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
        """Documents by words and meaning, the best first, as `recall` ranks them; filled up with the nearest.

        Args:
            query: What to look for; empty: the newest first.
            prefix: The names that a path begins with; none: all documents.
            filter: Of JSON contents; see `list`.
            metadata: The same of the metadata.
            limit: Most hits.
            offset: How many to pass over.

        Raises:
            InvalidInput: an operator that is not known, or a limit out of range.
        """
        ...

    @verb(
        "write",
        bounds={"if_rev": (0, MAX_NUMBER)},
        http=Http(
            method="POST", path="/documents/move", tag="documents", operation="move_document",
            examples={"one": {"path": ["drafts", "a"], "to": ["notes", "a"]}},
        ),
        tool=Tool(
            name="move_document", title="Move a document", idempotent=True,
            use="Move a document to another path, with below also everything below it. Nothing may stand there.",
            shows=("path", "to", "below", "if_rev", "idempotency_key"),
        ),
        command=Command(
            name="move", section=MEMORY, line="Move a document to another path.", words=("path",),
            example="memhold documents move drafts a --to notes --to a --user alice", options={"to": "to"},
        ),
    )  # fmt: skip
    async def move(
        self,
        path: Sequence[str],
        to: Sequence[str],
        *,
        below: bool = False,
        if_rev: int | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Move a document, all or nothing, as one change; its history goes on at the other path.

        Args:
            path: Where it stands.
            to: Where it is to stand; nothing may stand there.
            below: With everything that stands below it, up to 1,000 documents.
            if_rev: Only if it is at this revision.
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.

        Raises:
            NotFound: nothing stands there.
            Conflict: something stands where it is to go.
            RevisionConflict: it is not at that revision.
            InvalidInput: it would go below itself.
            TooLarge: more than 1,000 documents would move.
        """
        ...

    @verb(
        "write",
        bounds={"if_rev": (0, MAX_NUMBER), "wait": (0, MAX_WAIT)},
        http=Http(
            method="POST", path="/documents/delete", tag="documents", operation="delete_document",
            examples={"hidden": {"path": ["notes", "paris"]}, "for_good": {"path": ["notes", "paris"], "hard": True}},
        ),
        tool=Tool(
            name="delete_document", title="Delete a document", destructive=True, idempotent=True,
            use="Delete a document, with below also everything below it. It can be undone, unless hard erases it for"
            " good: do that only when the user asks for it.",
            shows=("path", "below", "hard", "if_rev", "idempotency_key"),
        ),
        command=Command(
            name="delete", section=MEMORY, line="Delete a document; --hard erases it for good.", words=("path",),
            example="memhold documents delete notes paris --user alice",
        ),
    )  # fmt: skip
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
        """Hide a document with all that stood at its path before, which can be undone; or erase it for good.

        Args:
            path: Where it stands.
            below: With everything at and below the path.
            hard: Erase for good, as `forget` does, also what was hidden before.
            if_rev: Only if it is at this revision.
            wait: How many seconds a hard delete waits for a reader that holds the bytes.
            idempotency_key: Any text unique to this write; sent twice with one key, it is one write.

        Raises:
            NotFound: nothing stands there; a hard delete also takes what only stood there.
            RevisionConflict: it is not at that revision.
        """
        ...
