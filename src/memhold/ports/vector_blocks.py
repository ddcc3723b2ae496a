"""The vectors of a scope as bytes: blocks of 128 consecutive document numbers, one row a block in a store.

A document has a vector for each of its sentences, at most `MOST_VECTORS`. Each block says of every document how many it
has, that there is nothing to embed, or that it is still to be looked at (its *mark*), so that the work of the index
follows from state alone. Vectors stand one behind the other in order of document and sentence, each as a record of its
numbers in int8 (`ports.vector_records`). Blocks of before hold little-endian float32; how long a block is tells its
form, and upkeep brings it into this one. Nothing here needs NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

__all__ = [
    "DAMAGED",
    "EMPTY",
    "FLOAT_BYTES",
    "HELD",
    "MOST_VECTORS",
    "RECORD_TAIL",
    "REFUSED",
    "STATE_BITS",
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
    "count_of",
    "dropped",
    "held_mark",
    "in_floats",
    "record_bytes",
    "state_of",
    "unseen",
    "vectors_of",
    "written",
]

VECTOR_DOCUMENTS = 128
"""Documents a block: at 256 dimensions 33 KiB where each has one sentence, which one new message rewrites."""
MOST_VECTORS = 8
"""Vectors of one document; of a longer text samples are taken (`text.sentences.pieces`)."""
FLOAT_BYTES = 4
RECORD_TAIL = 8
"""Behind the numbers of a vector stand two float32: what one step of them is, and how long the sum of the document's
vectors is."""
UNSEEN, HELD, EMPTY, REFUSED = 0, 1, 2, 3
"""States: still to be looked at; has vectors; there is nothing to embed; the embedding does not take it."""
STATE_BITS = 2
"""A mark is the state in its two low bits, and above them, where it is held, one less than how many vectors it has."""
_STATE = (1 << STATE_BITS) - 1
DAMAGED = "it does not agree with its digests"

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

    The vectors of its documents stand one behind the other; the marks say how many each has.

    A block that was read for its marks alone has no `vectors`, and says in `stored` how many bytes they take. `damaged`
    says that it does not agree with its digests.
    """

    first: int
    marks: bytes = b""
    vectors: bytes = b""
    rev: int = 0
    damaged: bool = False
    stored: int = 0


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
        """The documents of the `limit` vectors of the scope that are nearest to one, and those that `also` names.

        A document's cosine is that of its nearest vector. None where the store keeps no index of nearest neighbours for
        the scope; then nothing was asked of `also`. The nearest may miss some, never because of what other scopes hold;
        the cosines are exact. A document without a vector is left out.
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


def state_of(mark: int) -> int:
    """The state that a mark tells."""
    return mark & _STATE


def count_of(mark: int) -> int:
    """How many vectors a document with this mark has."""
    return (mark >> STATE_BITS) + 1 if mark & _STATE == HELD else 0


_COUNTS = bytes(count_of(mark) for mark in range(256))


def held_mark(count: int) -> int:
    """The mark of a document with so many vectors.

    Raises:
        ValueError: they are none, or too many.
    """
    if not 1 <= count <= MOST_VECTORS:
        raise ValueError(f"a document has 1 to {MOST_VECTORS} vectors, not {count}")
    return HELD | (count - 1) << STATE_BITS


def record_bytes(dimension: int) -> int:
    """How many bytes a vector takes in a store."""
    return dimension + RECORD_TAIL


def in_floats(block: VectorBlock, dimension: int) -> bool:
    """Whether the vectors of a block are float32 of before; a block that has none is in no form."""
    total = sum(block.marks.translate(_COUNTS))  # of every block of a scope at each step: not mark by mark
    return total > 0 and (len(block.vectors) or block.stored) == total * dimension * FLOAT_BYTES


def vectors_of(block: VectorBlock, size: int) -> list[bytes]:
    """What stands in a block of each of its documents: its vectors, of `size` bytes each, empty where it has none.

    Raises:
        CorruptVectors: it is damaged, or the vectors are not as many bytes as the marks say.
    """
    if block.damaged:
        raise CorruptVectors(block.first, DAMAGED)
    counts = [count_of(mark) for mark in block.marks]
    if len(block.vectors) != sum(counts) * size:
        raise CorruptVectors(block.first, f"{len(block.vectors)} bytes for {sum(counts)} vectors of {size} bytes")
    found, at = [], 0
    for count in counts:
        found.append(block.vectors[at : at + count * size])
        at += count * size
    return found


def written(
    block: VectorBlock | None,
    values: Mapping[int, bytes | None],
    *,
    first: int,
    dimension: int,
    refused: Sequence[int] = (),
) -> VectorBlock:
    """The block with these documents' records in it, one behind the other; None says that there is nothing to embed.

    Those of them that are among `refused` have none because the embedding does not take their text.

    Raises:
        ValueError: vectors are not of that dimension, or too many, or a number belongs into another block.
        CorruptVectors: the block is not one of that dimension.
    """
    size = record_bytes(dimension)
    held = block or VectorBlock(first=first)
    parts = vectors_of(held, size)
    if any(block_of(number) != first for number in values):
        raise ValueError(f"a document does not belong into the block of {first}")
    length = max(len(held.marks), *(number - first + 1 for number in values)) if values else len(held.marks)
    marks = bytearray(held.marks.ljust(length, bytes((UNSEEN,))))
    parts += [b""] * (length - len(parts))
    for number, value in values.items():
        at = number - first
        if value is not None and len(value) % size:
            raise ValueError(f"the vectors of document {number} have {len(value)} bytes, no multiple of {size}")
        none = REFUSED if number in refused else EMPTY
        marks[at] = none if value is None else held_mark(len(value) // size)
        parts[at] = value or b""
    return VectorBlock(first=first, marks=bytes(marks), vectors=b"".join(parts), rev=held.rev)


def dropped(block: VectorBlock, numbers: Sequence[int], *, mark: int = EMPTY) -> VectorBlock:
    """The block without the vectors of these documents; those that are not in it are passed over.

    They are marked as having nothing to embed; with `UNSEEN` they are to be looked at again. Of a damaged block nothing
    is left: whose vectors stand where is not known, and these must be gone.
    """
    total = sum(map(count_of, block.marks))
    size, odd = divmod(len(block.vectors), total) if total else (0, len(block.vectors))
    if odd or block.damaged:
        return VectorBlock(first=block.first, rev=block.rev)
    marks, parts = bytearray(block.marks), vectors_of(block, size)
    for number in numbers:
        at = number - block.first
        if 0 <= at < len(marks):
            marks[at] = mark
            parts[at] = b""
    return VectorBlock(first=block.first, marks=bytes(marks), vectors=b"".join(parts), rev=block.rev)


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
