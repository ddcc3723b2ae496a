"""Making a database ours and current: numbered steps, each with its row of the ledger in one transaction.

A migration has a *pre* step, which only adds, so that the last release goes on working on the new schema, and it may
have a *post* step, which takes away what only that release needed. Opening applies the pre steps that are missing, and
the post steps of all migrations but the newest: whoever knows migration N+1 runs beside releases that know N at least.
A pre step's first line says which schema's code it still serves (`-- serves: N`); the ledger keeps it, so that an older
release can tell whether it may go on.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from psycopg import sql as quoted

from memhold.storage.postgres.connection import Location, Session
from memhold.storage.sql.digests import BLOCKS, FILLED, KEYS, columns_of, digests_of, select_content, update_digests
from memhold.values.errors import InvalidInput, NewerStore, NotAStore, StoreError

__all__ = ["Facts", "Migration", "create_or_migrate", "migrations"]

LOCK = 0x4D454D48
"""`HOLD`: the advisory lock under which one process at a time looks at the schema and changes it."""

_NAME = re.compile(r"^(\d{4})_(\w+)\.sql$")
_SERVES = re.compile(r"\A-- serves: (\d+)$", re.MULTILINE)
_PARTED = re.compile(r"CREATE TABLE (\w+) \((?:(?!CREATE TABLE ).)*?^\) /\* partition \*/;", re.MULTILINE | re.DOTALL)
MAX_PARTITIONS = 1024
FILLED_AT_ONCE = 500

Stage = Literal["pre", "post"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One step of the schema; `serves` is the oldest schema whose code runs on it."""

    number: int
    name: str
    stage: Stage
    sql: str
    serves: int

    @property
    def sha256(self) -> str:
        """What the ledger keeps of it."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the database says of itself once it is ours."""

    schema: int
    id: str
    secret: bytes
    partitions: int


def migrations() -> tuple[Migration, ...]:
    """The steps that this release knows: the pre step of a migration before its post step."""
    found = []
    folder = files("memhold.storage.postgres").joinpath("migrations")
    stages: tuple[Stage, ...] = ("pre", "post")
    for stage in stages:
        if not folder.joinpath(stage).is_dir():
            continue
        for entry in folder.joinpath(stage).iterdir():
            match = _NAME.match(entry.name)
            if match:
                found.append(_step(int(match[1]), match[2], stage, entry.read_text(encoding="utf-8")))
    return tuple(sorted(found, key=lambda step: (step.number, step.stage == "post")))


def _step(number: int, name: str, stage: Stage, text: str) -> Migration:
    serves = _SERVES.match(text)
    return Migration(
        number=number, name=name, stage=stage, sql=text, serves=int(serves[1]) if serves is not None else number
    )


def create_or_migrate(
    connection: Session, location: Location, *, partitions: int, now: int, known: Sequence[Migration] | None = None
) -> Facts:
    """Make the database ours and current.

    A database that is empty becomes a store; `partitions` counts only then (0: tables in one piece).

    Raises:
        NotAStore: somebody else's tables are there; they were left untouched.
        NewerStore: a newer Memhold changed it in a way that this one cannot work with; it was left untouched.
    """
    known = migrations() if known is None else known
    if not 0 <= partitions <= MAX_PARTITIONS:
        raise InvalidInput(f"partitions is {partitions}; pass 0 to {MAX_PARTITIONS}")
    newest = max(step.number for step in known)
    due = [step for step in known if step.stage == "pre" or step.number < newest]
    if _missing(connection, location, due, newest):
        connection.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
        try:
            for step in _missing(connection, location, due, newest):
                _apply(connection, step, partitions=partitions, now=now)
        finally:
            connection.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))
    return _facts(connection, newest)


def _missing(connection: Session, location: Location, due: Sequence[Migration], newest: int) -> list[Migration]:
    """The steps that are still to be applied, after a look at whose database it is."""
    row = connection.execute(
        "SELECT current_schema(), to_regclass('migration') IS NOT NULL AND to_regclass('store') IS NOT NULL,"
        " (SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm')"
        " AND relnamespace = current_schema()::regnamespace)"
    ).fetchone()
    schema, ours, tables = row if row is not None else (None, False, 0)
    if schema is None:
        raise NotAStore(
            f"{location} has no schema that our role can use; create one, or set search_path", path=str(location)
        )
    if not ours:
        if tables:
            raise NotAStore(
                f"{location} holds {tables} tables of another program in its schema {schema!r}; it was left untouched,"
                " name another database",
                path=str(location),
            )
        return list(due)
    ledger = connection.execute("SELECT number, stage, serves FROM migration").fetchall()
    applied = {(int(number), str(stage)): int(serves) for number, stage, serves in ledger}
    found = max(number for number, _ in applied)
    serves = max(oldest for oldest in applied.values())
    if found > newest and serves > newest:
        raise NewerStore(
            f"{location} was changed by a newer Memhold (schema {found}, which serves releases that know {serves};"
            f" this one knows {newest}); upgrade memhold",
            found=found,
            supported=newest,
        )
    return [step for step in due if (step.number, step.stage) not in applied]


def _apply(connection: Session, step: Migration, *, partitions: int, now: int) -> None:
    with connection.transaction():
        connection.execute(partitioned(step.sql, partitions).encode())
        if step.stage == "pre":
            _fill_digests(connection, FILLED.get(step.number, ()))
        connection.execute(
            "INSERT INTO migration (number, stage, name, sha256, serves, applied_at) VALUES (%s, %s, %s, %s, %s, %s)",
            (
                step.number,
                step.stage,
                step.name,
                step.sha256,
                step.number if step.stage == "post" else step.serves,
                now,
            ),
        )
        if step.number == 1 and step.stage == "pre":
            made = {"id": secrets.token_hex(16), "secret": secrets.token_hex(32), "created_at": str(now)}
            for name, value in {**made, "partitions": str(partitions)}.items():
                connection.execute("INSERT INTO store (name, value) VALUES (%s, %s)", (name, value))


def _fill_digests(connection: Session, tables: Sequence[str]) -> None:
    """Give the rows that are there their digests, whatever their scope: until then the tables' owner is not bound."""
    for table in tables:
        key, column = KEYS[table], BLOCKS.get(table, "crc")
        connection.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY".encode())
        there = connection.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND NOT attisdropped", (table,)
        )
        lacking = {*columns_of(table)} - {name for (name,) in there.fetchall()}
        found = f"{select_content(table, lacking)} WHERE {column} IS NULL LIMIT {FILLED_AT_ONCE}".encode()
        change = update_digests(table, "%s").encode()
        while rows := connection.execute(found).fetchall():
            with connection.pipeline():
                for row in rows:
                    connection.execute(change, (*digests_of(table, row), *row[: len(key)]))
        connection.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY".encode())


def partitioned(text: str, partitions: int) -> str:
    """A step's SQL with its tables in that many parts by hash of the namespace; 0 leaves them whole."""
    if not partitions:
        return text
    names = _PARTED.findall(text)
    text = text.replace(") /* partition */;", ") PARTITION BY HASH (namespace);")
    made = []
    for name in names:
        for part in range(partitions):
            table = quoted.Identifier(f"{name}_{part}").as_string()
            made.append(
                f"CREATE TABLE {table} PARTITION OF {name} FOR VALUES WITH (MODULUS {partitions}, REMAINDER {part});\n"
                f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;\nALTER TABLE {table} FORCE ROW LEVEL SECURITY;"
            )
    return "\n".join((text, *made))


def _facts(connection: Session, newest: int) -> Facts:
    with connection.transaction():
        connection.execute("SELECT set_config('memhold.upkeep', 'on', true)")
        rows: list[Any] = connection.execute("SELECT name, value FROM store").fetchall()
    found = dict(rows)
    try:
        return Facts(
            schema=newest, id=found["id"], secret=bytes.fromhex(found["secret"]), partitions=int(found["partitions"])
        )
    except (KeyError, ValueError) as error:
        raise StoreError("the store's own facts are damaged; restore the database from a backup") from error
