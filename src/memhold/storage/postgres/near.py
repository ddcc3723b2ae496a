"""Vectors of large scopes, each a row, and what answers `nearest` from them by the HNSW index of pgvector.

The blocks stay what counts; the rows are derived from them. Documents before a scope's `upto` have their row, and each
transaction that changes their vector changes it too; those from there on are scored from their blocks. Upkeep moves
`upto` on by whole blocks (`near_upkeep`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memhold.ports.vector_blocks import (
    FLOAT_BYTES,
    VECTOR_DOCUMENTS,
    CorruptVectors,
    Nearest,
    VectorBlock,
    record_bytes,
    vectors_of,
)
from memhold.ports.vector_records import floats_of, in_records, read_records
from memhold.storage.postgres.connection import Reals

if TYPE_CHECKING:
    from memhold.storage.postgres.statements import PostgresStatements
    from memhold.storage.sql.blocks import Row

__all__ = ["covered", "nearest", "row_changes"]

MOST_SCANNED = 200_000
"""Rows of other scopes that a question passes over in the index before it is answered from all rows instead."""
WIDEST = 1000
"""The greatest `hnsw.ef_search`."""


def nearest(
    sql: PostgresStatements,
    bound: Mapping[str, Any],
    generation: int,
    vector: bytes,
    limit: int,
    also: Callable[[], Sequence[int]],
) -> Nearest | None:
    """`ReadTx.nearest`: by the index; where that leaves too few, by every row of the scope."""
    near = covered(sql.run("read_near", {"generation": generation, **bound}).fetchone())
    if near is None or not near[1]:
        return None
    numbers = {"dimension": len(vector) // FLOAT_BYTES, "generation": generation}
    asked = {"asked": Reals(vector), "limit": limit, **bound}
    sql.run("seek_near", {"breadth": str(min(limit, WIDEST)), "most": str(MOST_SCANNED)})
    found = sql.composed("nearest", numbers, asked).fetchall()
    if len(found) < limit:
        found = sql.composed("nearest_exact", numbers, asked).fetchall()
    cosines = _best(found)
    others = [number for number in also() if number < near[0] and number not in cosines]
    if others:
        cosines |= _best(sql.composed("cosines_of", numbers, {**asked, "numbers": others}))
    return Nearest(upto=near[0], cosines=cosines)


def _best(rows: Iterable[Row]) -> dict[int, float]:
    """Of each document the greatest cosine of its vectors."""
    best: dict[int, float] = {}
    for number, cosine in rows:
        best[int(number)] = max(float(cosine), best.get(int(number), -1.0))
    return best


def covered(row: Row | None) -> tuple[int, bool] | None:
    """A row of `read_near`: up to which document there are rows, and whether an index serves them."""
    return None if row is None else (int(row[0]), bool(row[1]))


def row_changes(before: VectorBlock | None, after: VectorBlock, upto: int, dimension: int) -> dict[int, list[bytes]]:
    """The documents before `upto` whose vectors a block changes: the new ones, none where there are none any more.

    A block that only took another form changes none.
    """
    old, new = _held(before, dimension), _held(after, dimension) or {}
    every = range(after.first, after.first + VECTOR_DOCUMENTS)
    changed = (number for number in every if old is None or old.get(number) != new.get(number))
    return {number: _floats(new.get(number, b""), dimension) for number in changed if number < upto}


def _held(block: VectorBlock | None, dimension: int) -> dict[int, bytes] | None:
    """The records of a block by document number; None where it is damaged."""
    if block is None or not block.marks:
        return {}
    try:
        parts = vectors_of(in_records(block, dimension), record_bytes(dimension))
    except CorruptVectors:
        return None
    return {block.first + at: part for at, part in enumerate(parts) if part}


def _floats(records: bytes, dimension: int) -> list[bytes]:
    return [row.astype("<f4").tobytes() for row in floats_of(read_records(records, dimension))]
