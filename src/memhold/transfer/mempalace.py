"""MemPalace's memories: the drawers of its palace (a Chroma database), and the triples of its knowledge graph."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from typing import Any

from memhold.transfer.chroma import DOCUMENT, ChromaEntry, chroma_entries
from memhold.transfer.items import Note, Restored, any_time, make_note
from memhold.transfer.source import Source
from memhold.transfer.sqlite_files import readable, sqlite_file, tables_of

__all__ = ["read_mempalace"]

KIND = "mempalace"
_CLOSETS = "mempalace_closets"
_TRIPLES = """
    SELECT t.*, t.id AS id, t.subject AS subject, t.predicate AS predicate, t.object AS object
    FROM triples t ORDER BY t.rowid
"""
_OF_FILES = frozenset(
    {DOCUMENT, "entities", "source_mtime", "source_dir_ino", "normalize_version", "id_recipe", "chunk_total"}
)


def read_mempalace(source: Source) -> Iterator[Restored]:
    """A note for each drawer, word for word, with its room as a topic; and one for each triple, in its time.

    Closets, which MemPalace makes of the drawers to find them by, are left out.
    """
    with sqlite_file(source) as base:
        tables = tables_of(source, base)
        if "triples" in tables:
            # Read apart: joined, entities of one id make as many rows as there are pairs of them.
            named = {
                row["id"]: row["name"] for row in readable(source, base, "entities", "SELECT id, name FROM entities")
            }
            for row in readable(source, base, "triples", _TRIPLES, of="triples"):
                with source.naming(None, f"triple {row.get('id')!r:.60}: "):
                    yield from _triple(source, row, named)
        elif "embedding_metadata" in tables:
            for entry in chroma_entries(source, base):
                if entry.collection == _CLOSETS:
                    source.leave_out("closets, which MemPalace makes of its drawers")
                else:
                    with source.naming(None, f"drawer {entry.ident!r:.80}: "):
                        yield from _drawer(source, entry)
        elif tables:
            raise source.unreadable(None, "it is neither a palace nor a knowledge graph of MemPalace's")


def _drawer(source: Source, entry: ChromaEntry) -> Iterator[Restored]:
    told = entry.metadata
    note = make_note(
        source,
        Note(
            text=told.get(DOCUMENT),
            kind=KIND,
            entry=f"{entry.collection} {entry.ident}",
            line=None,
            since=any_time(told.get("content_date") or told.get("filed_at"), source.zone),
            topics=[told.get("room")],
            entities=_names(told.get("entities")),
            metadata={"collection": entry.collection, **{name: told[name] for name in told if name not in _OF_FILES}},
        ),
    )
    if note is not None:
        yield note


def _names(told: Any) -> list[Any]:
    """The names that stand in a drawer, which it has as one text; names are parted by `;` there."""
    return told.split(";") if isinstance(told, str) else told if isinstance(told, list) else []


def _triple(source: Source, row: dict[str, Any], named: dict[Any, Any]) -> Iterator[Restored]:
    subject, target = named.get(row["subject"]) or row["subject"], named.get(row["object"]) or row["object"]
    note = make_note(
        source,
        Note(
            text=f"{subject} {str(row['predicate']).replace('_', ' ')} {target}",
            kind=KIND,
            entry=f"triple {row['id']}",
            line=None,
            # When it was taken down is the database's own time, which is UTC; the others are what somebody named.
            since=any_time(row.get("valid_from"), source.zone) or any_time(row.get("extracted_at"), UTC),
            until=any_time(row.get("valid_to"), source.zone),
            entities=[subject, target],
            metadata={
                "relation": row["predicate"],
                **{name: row.get(name) for name in ("confidence", "source_file", "source_closet", "source_drawer_id")},
            },
        ),
    )
    if note is not None:
        yield note
