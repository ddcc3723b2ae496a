"""Entries of a Chroma database on the disk (`chroma.sqlite3`, Chroma 0.4 and later)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from memhold.transfer.source import Source
from memhold.transfer.sqlite_files import readable, rows, tables_of

__all__ = ["DOCUMENT", "ChromaEntry", "chroma_entries"]

DOCUMENT = "chroma:document"
"""Under this name Chroma keeps an entry's text among its metadata."""
_ENTRIES = """
    SELECT e.id AS id, e.embedding_id AS ident, c.name AS collection, m.key AS name,
        m.string_value AS text, m.int_value AS whole, m.float_value AS number, m.bool_value AS truth
    FROM embeddings e JOIN segments s ON s.id = e.segment_id JOIN collections c ON c.id = s.collection
    LEFT JOIN embedding_metadata m ON m.id = e.id
    ORDER BY e.id
"""
_LISTS = """
    SELECT key AS name, string_value AS text, int_value AS whole, float_value AS number, bool_value AS truth
    FROM embedding_metadata_array WHERE id = ? ORDER BY rowid
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChromaEntry:
    """An entry: its id, the collection that it is in, and its metadata with its text as `DOCUMENT`."""

    ident: str
    collection: str
    metadata: dict[str, Any]


def chroma_entries(source: Source, base: sqlite3.Connection) -> Iterator[ChromaEntry]:
    """The entries of all collections in the order in which they were put in."""
    lists = "embedding_metadata_array" in tables_of(source, base)
    told = readable(source, base, "embedding_metadata", _ENTRIES, of="embedding_metadata")
    for ident, members in groupby(told, key=itemgetter("id")):
        held = list(members)
        metadata = {row["name"]: _value(row) for row in held if row["name"] is not None}
        if lists:
            for row in rows(source, base, _LISTS, ident):
                metadata[row["name"]] = [*metadata.get(row["name"], []), _value(row)]
        yield ChromaEntry(ident=str(held[0]["ident"]), collection=str(held[0]["collection"]), metadata=metadata)


def _value(row: dict[str, Any]) -> Any:
    if row["truth"] is not None:
        return bool(row["truth"])
    return next((row[name] for name in ("text", "whole", "number") if row[name] is not None), None)
