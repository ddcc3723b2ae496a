"""SQL in named blocks, read once from a file beside the store.

A block begins with `-- name: NAME` and runs to the next one. A block that may read across scopes says
`-- scope: upkeep` on the next line; a test reads every other block and fails on one without the scope's predicate.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias

from memhold.storage.sql.digests import with_columns

__all__ = ["Row", "Rows", "Statement", "Statements", "load", "load_dialect", "parse"]

Row: TypeAlias = Sequence[Any]
"""One row of an answer, by column."""

_NAME = re.compile(r"^-- name: (\w+)[ \t]*\n", re.MULTILINE)
_UPKEEP = re.compile(r"^-- scope: upkeep[ \t]*$", re.MULTILINE)


class Statement(str):
    """The text of one named block; `upkeep` says whether it may look across scopes."""

    __slots__ = ("upkeep",)
    upkeep: bool


def parse(text: str) -> Mapping[str, Statement]:
    """The named blocks of a file's text, in order.

    Raises:
        ValueError: a name stands twice, or text stands before the first name.
    """
    pieces = _NAME.split(text)
    if any(line.strip() and not line.startswith("--") for line in pieces[0].splitlines()):
        raise ValueError("SQL before the first '-- name:' line")
    found: dict[str, Statement] = {}
    for name, body in zip(pieces[1::2], pieces[2::2], strict=True):
        if name in found:
            raise ValueError(f"the SQL block {name!r} stands twice")
        statement = Statement(with_columns(_UPKEEP.sub("", body).strip().rstrip(";")))
        statement.upkeep = bool(_UPKEEP.search(body))
        found[name] = statement
    return MappingProxyType(found)


def load_dialect(package: str) -> Mapping[str, Statement]:
    """Every statement of a dialect: what all say alike, and what its package's own file says in its way.

    Raises:
        ValueError: its own file repeats a name that all share.
    """
    shared, own = load("memhold.storage.sql"), load(package)
    if twice := shared.keys() & own.keys():
        raise ValueError(f"{package} repeats shared SQL blocks: {sorted(twice)}")
    return MappingProxyType({**shared, **own})


def load(package: str, name: str = "queries.sql") -> Mapping[str, Statement]:
    """The named blocks of a package's SQL file."""
    data = pkgutil.get_data(package, name)
    if data is None:
        raise FileNotFoundError(f"{package} was installed without {name}; install Memhold again")
    return parse(data.decode())


class Rows(Protocol):
    """The answer of a statement."""

    def fetchone(self) -> Row | None:
        """The next row, or None."""
        ...

    def fetchall(self) -> Sequence[Row]:
        """The rows that are left."""
        ...

    def __iter__(self) -> Iterator[Row]: ...


class Statements(Protocol):
    """The named statements of a store on one connection, in its own dialect."""

    @property
    def refused(self) -> type[Exception]:
        """What the connection raises for a row that a constraint refuses."""
        ...

    @property
    def touching(self) -> Mapping[str, bool]:
        """For each statement, whether it meets tables that appended rows may wait for (`storage.sql.row_batches`)."""
        ...

    @property
    def writing(self) -> Mapping[str, bool]:
        """For each statement, whether it changes anything."""
        ...

    def mark(self) -> None:
        """Begin the savepoint to which a unit of work goes back where it fails."""
        ...

    def run(self, name: str, params: Mapping[str, Any]) -> Rows:
        """Run one statement."""
        ...

    def each(self, name: str, params: Sequence[Mapping[str, Any]]) -> list[list[Row]]:
        """The rows of one statement for each of these parameters, in their order."""
        ...

    def undecoded(self, name: str, params: Mapping[str, Any]) -> list[Row]:
        """The rows of a statement whose text is not UTF-8 any more: such text comes with lone surrogates.

        Raises:
            StoreCorrupt: they cannot be read even so.
        """
        ...

    def many(self, name: str, params: Sequence[Mapping[str, Any]]) -> None:
        """Run a statement that gives no rows, once for each of these parameters."""
        ...

    def together(self) -> AbstractContextManager[object]:
        """What `many` does inside may travel to the database as one; it is done, or has failed, at the end."""
        ...
