"""Items of LangGraph's long-term store, LangMem's among them: its SQLite file, or the rows of its PostgreSQL table.

Each becomes the document that `memhold.integrations.langgraph` keeps for it, so a graph finds it under its namespace.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC
from typing import Any

from memhold.documents.content import Beside as ContentBeside
from memhold.documents.content import checked_content
from memhold.documents.given_names import name_of
from memhold.documents.paths import checked_path
from memhold.transfer.items import Placed, any_time, fingerprint, kept_whole
from memhold.transfer.source import Source
from memhold.transfer.sqlite_files import is_sqlite, readable, sqlite_file, tables_of
from memhold.values.errors import InvalidInput
from memhold.values.jsonable import body_json, json_copy

__all__ = ["is_langgraph_row", "read_langgraph"]

KIND = "langgraph"
ROOT = ("langgraph",)
"""Where `MemholdStore` keeps its items unless it is told another root."""
_SEPARATOR = "."
_OWN = frozenset({"prefix", "key", "value", "ttl_minutes", "expires_at"})


def is_langgraph_row(row: Mapping[str, Any]) -> bool:
    """Whether this is a row of the table `store`, as `row_to_json` gives it."""
    return isinstance(row.get("prefix"), str) and isinstance(row.get("key"), str) and "value" in row


def read_langgraph(source: Source) -> Iterator[Placed]:
    """A document for each item: at its namespace and key, below "langgraph", with its time to live.

    What is past its time is left out. When an item was made and changed there is kept as metadata.
    """
    if not is_sqlite(source):
        for line, row in source.records():
            if not is_langgraph_row(row):
                source.bad(line, "it is no row with `prefix`, `key` and `value`")
                continue
            with source.naming(line):
                yield from _placed(source, row)
        return
    with sqlite_file(source) as base:
        if "store" not in tables_of(source, base):
            raise source.unreadable(None, "it has no table named 'store'")
        asked = "SELECT *, rowid AS id, prefix, key, value FROM store ORDER BY prefix, key"
        for row in readable(source, base, "store", asked, of="store"):
            with source.naming(None, f"item {row.get('key')!r:.60} of {row.get('prefix')!r:.60}: "):
                yield from _placed(source, {name: value for name, value in row.items() if name != "id"})


def _placed(source: Source, row: Mapping[str, Any]) -> Iterator[Placed]:
    prefix, key = str(row["prefix"]), str(row["key"])
    labels = prefix.split(_SEPARATOR)
    if not all(labels):
        raise InvalidInput("its namespace has a label that is empty")
    names = tuple(name_of(one) for one in (*labels, key))
    value = _value(row["value"])
    expires = any_time(row.get("expires_at"), UTC)  # the database's own clock
    if expires is not None and expires <= source.now:
        source.leave_out("items that are past their time")
        return
    ttl = row.get("ttl_minutes")
    told = {name: given for name, given in row.items() if name not in _OWN and given is not None}
    own = {"source": KIND, **({} if ttl is None else {"ttl": ttl})}
    content = checked_content(
        checked_path((*ROOT, *names)),
        value,
        ContentBeside(metadata={**kept_whole(source, told), **own}, expires_at=expires),
    )
    changed = str(row.get("updated_at"))
    yield Placed(
        content=content,
        key=fingerprint(KIND, prefix, key, body_json(value), changed),
        entry=fingerprint(KIND, "entry", prefix, key),
        said=KIND,
        position=source.position,
    )


def _value(given: Any) -> Any:
    """An item's value: JSON, which SQLite and a dump have as text."""
    if isinstance(given, bytes):
        try:
            given = given.decode()
        except UnicodeDecodeError:
            raise InvalidInput("its value holds bytes that are not UTF-8") from None
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"its value is not JSON: {error}") from None
    if not isinstance(given, dict):
        raise InvalidInput(f"its value is a JSON {type(given).__name__}, not an object")
    return json_copy(given)
