"""Looking for a text in every row of a database: what a scan of the files is where the files are the server's."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import sql as quoted

from memhold.storage.postgres.connection import Session
from memhold.storage.postgres.statements import QUERIES
from memhold.storage.residue import checked_text
from memhold.values.answers import Residue

__all__ = ["residue_in_rows"]

_TABLES = b"""
SELECT c.relname, pg_total_relation_size(c.oid),
  (SELECT count(*) FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname IN ('namespace', 'user_id')),
  NOT c.relrowsecurity OR EXISTS (SELECT 1 FROM pg_policy AS p WHERE p.polrelid = c.oid AND p.polname = 'upkeep'),
  array(SELECT a.attname::text FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        AND a.atttypid IN ('text'::regtype, 'varchar'::regtype, 'json'::regtype, 'jsonb'::regtype) ORDER BY 1),
  array(SELECT a.attname::text FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        AND a.atttypid = 'bytea'::regtype ORDER BY 1)
FROM pg_class AS c
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = current_schema()::regnamespace
ORDER BY c.relname
"""
"""The tables as the server knows them, so that none is passed over for want of being named here: their size, how many
columns name their scope, whether upkeep sees them whole, their columns of text and of bytes."""


def residue_in_rows(connection: Session, text: str) -> Residue:
    """In how many values of which table a text stands, as it is, as JSON with escapes, as UTF-8 and UTF-16 in bytes.

    It enters one scope after the other, since row-level security binds the owner of the tables too. `files` counts
    tables. Rows that are deleted and not overwritten yet, the log, and copies elsewhere are beyond any query.

    Raises:
        InvalidInput: the text has fewer than 4 characters.
    """
    checked_text(text)
    needles: dict[str, str | bytes] = {
        "plain": text,
        "escaped": json.dumps(text)[1:-1],
        "utf8": text.encode("utf-8", "surrogatepass"),
        "utf16": text.encode("utf-16-le", "surrogatepass"),
    }
    with connection.transaction():
        connection.execute(QUERIES["enter_upkeep"])
        scopes: list[tuple[str, str]] = [(row[0], row[1]) for row in connection.execute(QUERIES["read_scopes"])]
        tables = [_Table(*row) for row in connection.execute(_TABLES)]
    found: Counter[str] = Counter()
    with connection.transaction():
        connection.execute(QUERIES["enter_upkeep"])
        found.update(_counted(connection, [one for one in tables if one.whole], needles))
    of_users = [one for one in tables if not one.whole and one.scoped_by == 2]
    of_namespaces = [one for one in tables if not one.whole and one.scoped_by == 1]
    asked: set[str] = set()
    for namespace, user in scopes:
        given = {"namespace": namespace, "user_id": user}
        with connection.transaction():
            connection.execute(QUERIES["enter"], given)
            of_scope = of_users if namespace in asked else [*of_users, *of_namespaces]
            found.update(_counted(connection, of_scope, {**needles, **given}))
        asked.add(namespace)
    return Residue(found=dict(+found), files=len(tables), bytes=sum(table.size for table in tables))


@dataclass(frozen=True, slots=True)
class _Table:
    """A row of `_TABLES`."""

    name: str
    size: int
    scoped_by: int
    whole: bool
    texts: Sequence[str]
    raw: Sequence[str]

    def counting(self) -> quoted.Composed:
        """The statement that counts the values which hold one of the needles."""
        in_text = "coalesce(strpos({0}::text, %(plain)s) > 0 OR strpos({0}::text, %(escaped)s) > 0, false)::int"
        in_bytes = "coalesce(position(%(utf8)s IN {0}) > 0 OR position(%(utf16)s IN {0}) > 0, false)::int"
        values = [quoted.SQL(in_text).format(quoted.Identifier(one)) for one in self.texts]
        values += [quoted.SQL(in_bytes).format(quoted.Identifier(one)) for one in self.raw]
        own = ("", " WHERE namespace = %(namespace)s", " WHERE namespace = %(namespace)s AND user_id = %(user_id)s")
        return quoted.SQL("SELECT {}, coalesce(sum({}), 0) FROM {}").format(
            quoted.Literal(self.name), quoted.SQL(" + ").join(values), quoted.Identifier(self.name)
        ) + quoted.SQL(own[0 if self.whole else self.scoped_by])


def _counted(connection: Session, tables: Sequence[_Table], given: Mapping[str, Any]) -> Mapping[str, int]:
    with connection.pipeline():
        cursors = [connection.execute(table.counting(), given) for table in tables if table.texts or table.raw]
        return {name: int(count) for cursor in cursors for name, count in cursor}
