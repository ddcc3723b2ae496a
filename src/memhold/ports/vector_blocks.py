"""The vectors of a scope as bytes: blocks of 128 consecutive document numbers, one row a block in a store.

Each block says of every document whether it has a vector, has nothing to embed, or is still to be looked at (its
*mark*), so that the work of the index follows from state alone. A vector is little-endian float32 at unit length; where
a document has none, zeros stand. Nothing here needs NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

__all__ = [
    "EMPTY",
    "FLOAT_BYTES",
    "HELD",
    "REFUSED",
    "UNSEEN",
    "VECTOR_DOCUMENTS",
    "CorruptVectors",
    "Generation",
    "GenerationState",
    "Nearest",
    "VectorBlock",
    "VectorReads",
    "VectorWrites",
    "block_of",
    "dropped",
    "unseen",
    "written",
]

VECTOR_DOCUMENTS = 128
"""Documents a block: at 256 dimensions 128 KiB, which one new message rewrites in a tenth of a millisecond."""
FLOAT_BYTES = 4
UNSEEN, HELD, EMPTY, REFUSED = 0, 1, 2, 3
"""Marks: still to be looked at; has a vector; there is nothing to embed; the embedding does not take it."""

GenerationState = Literal["building", "current", "retired"]


class CorruptVectors(ValueError):
    """A block of vectors does not have the shape that its writer gave it; `reindex` builds it anew.

    Attributes:
        first: the document number that the block begins with.
        reason: what does not fit.
    """

    def __init__(self, first: int, reason: str) -> None:
        super().__init__(first, reason)
        self.first = first
        self.reason = reason

    def __str__(self) -> str:
        return f"vectors, block of document {self.first}: {self.reason}; run `memhold reindex`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """The vectors of one embedding in one store: which model and settings, how long they are, and whether they count.

    At most one generation is `current` and at most one `building`. Vectors of two generations are never compared.
    """

    number: int
    fingerprint: str
    dimension: int
    state: GenerationState
    made_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorBlock:
    """One row: the marks and vectors of the documents from `first` on; `rev` grows with every change of the scope's.

    A block that was read for its marks alone has no `vectors`.
    """

    first: int
    marks: bytes = b""
    vectors: bytes = b""
    rev: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """What a store's index of nearest neighbours gives: exact cosines by number, of documents before `upto`."""

    upto: int
    cosines: Mapping[int, float]


class VectorReads(Protocol):
    """What a transaction reads of vectors."""

    def document_count(self) -> int:
        """How many document numbers of the scope were taken so far: they are 0 to one less than this."""
        ...

    def generations(self) -> list[Generation]:
        """The generations of vectors of the whole store, by number."""
        ...

    def vector_rev(self) -> int:
        """A number that changes with every change of the scope's vectors: equal numbers, equal blocks."""
        ...

    def vector_marks(self, generation: int) -> list[VectorBlock]:
        """The scope's blocks of one generation in order of `first`, without their vectors."""
        ...

    def vector_blocks(self, generation: int, firsts: Sequence[int]) -> list[VectorBlock]:
        """The blocks that begin with these numbers, whole, in their order; one that is not there is left out."""
        ...

    def nearest(
        self, generation: int, vector: bytes, limit: int, also: Callable[[], Sequence[int]] = tuple
    ) -> Nearest | None:
        """The `limit` documents of the scope whose vectors are nearest to one, and those that `also` names.

        None where the store keeps no index of nearest neighbours for the scope; then nothing was asked of `also`. The
        nearest may miss some, never because of what other scopes hold; the cosines are exact. A document without a
        vector is left out.
        """
        ...


class VectorWrites(Protocol):
    """What a transaction changes of vectors."""

    def put_generation(self, generation: Generation) -> None:
        """Insert a generation of vectors, or change its state: of the whole store, not of the scope.

        Raises:
            StoreError: another generation has that state already (`building` and `current` exist once).
        """
        ...

    def put_vectors(self, generation: int, blocks: Sequence[VectorBlock]) -> None:
        """Insert or replace blocks of the scope's vectors; their `rev` is the store's to give."""
        ...

    def clear_vectors(self, generation: int) -> None:
        """Remove the scope's vectors of one generation."""
        ...


def block_of(number: int) -> int:
    """The first document number of the block that a document belongs to."""
    return number - number % VECTOR_DOCUMENTS


def written(
    block: VectorBlock | None,
    values: Mapping[int, bytes | None],
    *,
    first: int,
    dimension: int,
    refused: Sequence[int] = (),
) -> VectorBlock:
    """The block with these vectors in it, by document number; None says that there is nothing to embed.

    Those of them that are among `refused` have none because the embedding does not take their text.

    Raises:
        ValueError: a vector is not of that dimension, or a number belongs into another block.
        CorruptVectors: the block is not one of that dimension.
    """
    size = dimension * FLOAT_BYTES
    held = block or VectorBlock(first=first)
    if len(held.vectors) != len(held.marks) * size:
        raise CorruptVectors(first, f"{len(held.vectors)} bytes of vectors for {len(held.marks)} documents")
    if any(block_of(number) != first for number in values):
        raise ValueError(f"a document does not belong into the block of {first}")
    length = max(len(held.marks), *(number - first + 1 for number in values)) if values else len(held.marks)
    marks = bytearray(held.marks.ljust(length, bytes((UNSEEN,))))
    vectors = bytearray(held.vectors.ljust(length * size, b"\0"))
    for number, value in values.items():
        at = number - first
        if value is not None and len(value) != size:
            raise ValueError(f"the vector of document {number} has {len(value)} bytes, not {size}")
        marks[at] = HELD if value is not None else REFUSED if number in refused else EMPTY
        vectors[at * size : (at + 1) * size] = bytes(size) if value is None else value
    return VectorBlock(first=first, marks=bytes(marks), vectors=bytes(vectors), rev=held.rev)


def dropped(block: VectorBlock, numbers: Sequence[int]) -> VectorBlock:
    """The block with zeros for these documents, which are then still to be looked at; others are passed over."""
    size = len(block.vectors) // len(block.marks) if block.marks else 0
    marks, vectors = bytearray(block.marks), bytearray(block.vectors)
    for number in numbers:
        at = number - block.first
        if 0 <= at < len(marks):
            marks[at] = UNSEEN
            vectors[at * size : (at + 1) * size] = bytes(size)
    return VectorBlock(first=block.first, marks=bytes(marks), vectors=bytes(vectors), rev=block.rev)


def unseen(blocks: Sequence[VectorBlock], documents: int, limit: int) -> list[int]:
    """The first `limit` of the scope's document numbers that are still to be looked at, by their blocks' marks."""
    marks = {block.first: block.marks for block in blocks}
    found: list[int] = []
    for first in range(0, documents, VECTOR_DOCUMENTS):
        held = marks.get(first, b"")
        end = min(VECTOR_DOCUMENTS, documents - first)
        if len(held) >= end and UNSEEN not in held:
            continue
        found += [first + at for at in range(end) if at >= len(held) or held[at] == UNSEEN]
        if len(found) >= limit:
            return found[:limit]
    return found
