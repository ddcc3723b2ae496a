"""Moving a whole store into another: scope by scope, resumable, compared by counts and checksums.

Both sides have the same tables. A scope is copied in one transaction of the target, so it is there as it was at one
moment of the source or not at all. Running it again copies what differs and nothing else, so an interrupted run goes
on, and a last run with the source at rest makes both the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from memhold.ports.maintenance import Migrated
from memhold.storage.sql.blocks import Row
from memhold.values.errors import Conflict, StoreError

__all__ = [
    "BATCH_ROWS",
    "GENERATION",
    "LINK",
    "PARENTS",
    "USAGE",
    "VOLATILE",
    "Globals",
    "Scoped",
    "Side",
    "Table",
    "Whose",
    "copy_store",
    "ordered",
]

Whose = tuple[str, str]
"""Namespace and user; '' for no user."""
PARENTS = ("owner", "session", "change")
"""Tables that others refer to: written first, emptied last."""
VOLATILE: Mapping[str, Mapping[str, str]] = {
    "due": {"holder": "NULL", "leased_until": "NULL", "again_at": "NULL"},
}
"""Columns that say who works on something now: nobody does at the target."""
GENERATION = ("number", "fingerprint", "dimension", "state", "made_at")
"""The columns of `Globals.generations`; by name, since a table may have more of them and in another order."""
USAGE = (
    *("day", "model", "purpose", "calls", "answered", "retries", "input_tokens", "output_tokens", "milliseconds"),
    *("nanousd", "unpriced", "f_retry", "f_resample", "f_next", "f_park", "f_shorten", "f_poison", "f_auth"),
)
"""The columns of `Globals.usage`."""
LINK = (
    *("model", "url", "form", "asked", "seen_at", "failing_since"),
    *("cls", "status", "code", "reason", "said", "unloads"),
)
"""The columns of `Globals.links`."""
NOT_MOVED = {"token", "near_scope", "near_vector"}
"""Who may ask a server is not copied as rows: a second run would let in again who was revoked at the target since. Nor
is what a store of one kind makes by itself from the rest."""
BATCH_ROWS = 500
PASSES = 5
"""Looks at a source that others write to; what still differs then is reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of rows with a scope: its columns by name, and the key that orders its rows."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Globals:
    """What belongs to no scope: whose store it is, its clock, lease tokens, generations of vectors, usage, links."""

    id: str
    secret: bytes
    created_at: int
    clock: int
    lease: int
    generations: tuple[Row, ...]
    usage: tuple[Row, ...]
    links: tuple[Row, ...]


class Scoped(Protocol):
    """One scope of one side, inside a transaction."""

    def rows(self, table: Table) -> Iterator[Row]:
        """The rows of a table by its key."""
        ...

    def change_seq(self) -> int:
        """How many changes the namespace counts."""
        ...

    def has_change(self, seq: int, change_id: str) -> bool:
        """Whether a change of that number and id is there."""
        ...

    def last_change(self) -> tuple[int, str] | None:
        """The newest change of the scope."""
        ...

    def replace(self, tables: Sequence[Table], rows: Callable[[Table], Iterable[Row]], change_seq: int) -> int:
        """Put these rows in the place of the scope's; returns how many they are."""
        ...


class Side(Protocol):
    """A store as the source or the target of a move."""

    @property
    def shown(self) -> str:
        """Where it is, fit for a message."""
        ...

    def tables(self) -> Mapping[str, Table]:
        """Its tables of rows with a scope."""
        ...

    def scopes(self) -> list[Whose]:
        """Every scope that it holds."""
        ...

    def globals(self) -> Globals:
        """What belongs to no scope."""
        ...

    def adopt(self, found: Globals) -> None:
        """Become the same store; its clock and tokens never go back."""
        ...

    def reading(self, whose: Whose) -> AbstractContextManager[Scoped]:
        """A consistent snapshot of a scope."""
        ...

    def writing(self, whose: Whose) -> AbstractContextManager[Scoped]:
        """A transaction on a scope that commits at its end, beside which nobody writes there."""
        ...


def ordered(tables: Iterable[Table]) -> list[Table]:
    """Tables with those first that others refer to."""
    return sorted(tables, key=lambda table: (table.name not in PARENTS, table.name))


def copy_store(source: Side, target: Side, *, progress: Callable[[int, int], None] | None = None) -> Migrated:
    """Make the target the same store as the source.

    The target must be empty, or a former copy of this source to which nobody wrote.

    Raises:
        Conflict: the target is another store, or was written to; nothing of it was changed. Where somebody writes to it
            meanwhile, nothing of that scope.
        StoreError: the two have different tables.
    """
    tables = _same_tables(source, target)
    found, there = source.globals(), target.globals()
    if there.id != found.id:
        if target.scopes():
            raise Conflict(f"{target.shown} holds another store; name an empty one")
        target.adopt(found)
    # All of them before the first is changed: what is shared by scopes is the target's own as well.
    for whose in target.scopes():
        with source.reading(whose) as reader, target.reading(whose) as copy:
            _refuse_newer(reader, copy, whose, target.shown)
    copied: set[Whose] = set()
    rows = 0
    for _ in range(PASSES):
        scopes = source.scopes()
        differing = 0
        for done, whose in enumerate(scopes, start=1):
            moved = _copy_scope(source, target, whose, tables)
            if moved is not None:
                differing += 1
                copied.add(whose)
                rows += moved
            if progress is not None:
                progress(done, len(scopes))
        if not differing:
            break
    target.adopt(source.globals())
    behind = [whose for whose in source.scopes() if _differs(source, target, whose, tables)]
    checksum, total = _whole(target, tables)
    return Migrated(
        scopes=len(source.scopes()),
        copied=len(copied),
        rows=rows,
        total=total,
        behind=len(behind),
        checksum=checksum,
    )


def _same_tables(source: Side, target: Side) -> list[Table]:
    mine, theirs = source.tables(), target.tables()
    other = sorted(
        name
        for name in (mine.keys() | theirs.keys()) - NOT_MOVED
        if name not in mine or name not in theirs or mine[name].columns != theirs[name].columns
    )
    if other:
        names = ", ".join(other)
        raise StoreError(
            f"{source.shown} and {target.shown} have other tables ({names}); open both with this release first"
        )
    return ordered(table for name, table in mine.items() if name not in NOT_MOVED)


def _copy_scope(source: Side, target: Side, whose: Whose, tables: Sequence[Table]) -> int | None:
    """Copy a scope where it differs; returns its rows, None where it was the same."""
    if not _differs(source, target, whose, tables):
        return None
    with source.reading(whose) as reader, target.writing(whose) as writer:
        _refuse_newer(reader, writer, whose, target.shown)
        return writer.replace(tables, reader.rows, reader.change_seq())


def _refuse_newer(mine: Scoped, theirs: Scoped, whose: Whose, shown: str) -> None:
    last = theirs.last_change()
    if last is not None and not mine.has_change(*last):
        raise Conflict(f"{shown} was written to since it was copied (namespace {whose[0]!r}); it was left as it is")


def _differs(source: Side, target: Side, whose: Whose, tables: Sequence[Table]) -> bool:
    with source.reading(whose) as mine, target.reading(whose) as theirs:
        return any(_digest(mine, table) != _digest(theirs, table) for table in tables)


def _digest(scoped: Scoped, table: Table) -> tuple[int, bytes]:
    """How many rows a table has, and a checksum of all their columns in the order of their keys."""
    hashed, count = hashlib.blake2b(digest_size=16), 0
    for row in scoped.rows(table):
        count += 1
        for value in row:
            hashed.update(_canonical(value))
    return count, hashed.digest()


def _canonical(value: Any) -> bytes:
    match value:
        case None:
            return b"n"
        case bool() | int():
            return b"i%d;" % value
        case bytes():
            return b"b%d:" % len(value) + value
        case _:
            text = str(value).encode("utf-8", "surrogatepass")
            return b"t%d:" % len(text) + text


def _whole(side: Side, tables: Sequence[Table]) -> tuple[str, int]:
    """A checksum over everything with a scope, the same for the same store wherever it is, and its rows."""
    hashed, rows = hashlib.blake2b(digest_size=16), 0
    for whose in sorted(side.scopes()):
        with side.reading(whose) as scoped:
            for table in tables:
                count, digest = _digest(scoped, table)
                hashed.update(digest)
                rows += count
    return hashed.hexdigest(), rows
