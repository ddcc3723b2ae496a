"""SQL in named blocks, read once from a file beside the store.

A block begins with `-- name: NAME` and runs to the next one. A block that may read across scopes says
`-- scope: upkeep` on the next line; a test reads every other block and fails on one without the scope's predicate.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["Statement", "load", "parse"]

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
        statement = Statement(_UPKEEP.sub("", body).strip().rstrip(";"))
        statement.upkeep = bool(_UPKEEP.search(body))
        found[name] = statement
    return MappingProxyType(found)


def load(package: str, name: str = "queries.sql") -> Mapping[str, Statement]:
    """The named blocks of a package's SQL file."""
    data = pkgutil.get_data(package, name)
    if data is None:
        raise FileNotFoundError(f"{package} was installed without {name}; install Holdfast again")
    return parse(data.decode())
