"""Plans for embedding many texts: which pieces go into which request, and whether an answer's vectors fit. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from memhold.values.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "DEFAULT_MAX_CHARS",
    "Limits",
    "Misfit",
    "Overlong",
    "Piece",
    "Plan",
    "gather",
    "in_order",
    "plan",
    "unit_rows",
]

Overlong = Literal["split", "truncate"]

DEFAULT_MAX_CHARS = 6_000
"""Longest text sent to a model whose window is not known: 9,436 characters failed in the field, 5,881 passed."""

_MAX_PIECES = 32


class Misfit(ValueError):
    """An answer's vectors do not fit the inputs; the message says how, without any content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much one request may hold. `overlong` says what happens to a text over `max_chars`.

    `split` sends it in pieces and takes the mean of their vectors, weighted by length (at most 32 pieces); `truncate`
    sends its beginning.
    """

    max_chars: int = DEFAULT_MAX_CHARS
    max_texts: int = 64
    max_batch_chars: int = 100_000
    overlong: Overlong = "split"

    def __post_init__(self) -> None:
        if min(self.max_chars, self.max_texts, self.max_batch_chars) < 1:
            raise InvalidInput("the limits of an embedding request are at least 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A text, or a part of one, as it is sent; `index` is the caller's text that it belongs to."""

    index: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The requests to make, in order, and how many texts were over the limit."""

    batches: tuple[tuple[Piece, ...], ...]
    overlong: int


def plan(texts: Sequence[object], limits: Limits) -> Plan:
    """Batches that hold every text, in order, within the limits.

    Raises:
        InvalidInput: an input is not a string, or empty, or blank; the message names its position.
    """
    pieces: list[Piece] = []
    overlong = 0
    for index, text in enumerate(texts):
        if not isinstance(text, str) or not text.strip():
            what = "empty" if isinstance(text, str) else type(text).__name__
            raise InvalidInput(f"text {index} cannot be embedded: it is {what}")
        # half of a surrogate pair has no UTF-8 form, and would fail the whole request
        clean = text.encode("utf-8", "replace").decode("utf-8")
        overlong += len(clean) > limits.max_chars
        pieces.extend(Piece(index=index, text=part) for part in _parts(clean, limits))
    return Plan(batches=tuple(_batches(pieces, limits)), overlong=overlong)


def _parts(text: str, limits: Limits) -> list[str]:
    if len(text) <= limits.max_chars:
        return [text]
    parts: list[str] = []
    start = 0
    while start < len(text) and len(parts) < _MAX_PIECES:
        end = min(start + limits.max_chars, len(text))
        if end < len(text):
            blank = max(text.rfind(mark, start + limits.max_chars // 2, end) for mark in (" ", "\n"))
            end = blank + 1 if blank > 0 else end
        if text[start:end].strip():
            parts.append(text[start:end])
        start = end
    return parts[:1] if limits.overlong == "truncate" else parts


def _batches(pieces: Iterable[Piece], limits: Limits) -> Iterable[tuple[Piece, ...]]:
    batch: list[Piece] = []
    size = 0
    for piece in pieces:
        if batch and (len(batch) == limits.max_texts or size + len(piece.text) > limits.max_batch_chars):
            yield tuple(batch)
            batch, size = [], 0
        batch.append(piece)
        size += len(piece.text)
    if batch:
        yield tuple(batch)


# --------------------------------------------------------------------------------------------- answers


def in_order(items: Sequence[Mapping[str, Any]], count: int) -> list[Any]:
    """The vectors of an answer's items by their `index`, which must be 0 to count-1, each once, in any order.

    Items that all lack an index are taken in the order they came, where their count is right.

    Raises:
        Misfit: too few, too many, or indices that are not dense.
    """
    if len(items) != count:
        raise Misfit(f"{len(items)} vectors for {count} inputs")
    if all("index" not in item for item in items):
        return [item.get("embedding") for item in items]
    placed: dict[int, Any] = {}
    for item in items:
        index = item.get("index")
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < count or index in placed:
            raise Misfit("the indices of the vectors are not dense")
        placed[index] = item.get("embedding")
    return [placed[index] for index in range(count)]


def unit_rows(rows: Sequence[Any], dimension: int | None) -> NDArray[np.float32]:
    """Rows as unit vectors, shape (len(rows), dimension).

    Raises:
        Misfit: a row is missing, of another length than the others or than `dimension`, not finite, or zero.
    """
    import numpy as np

    if not all(isinstance(row, list | tuple | np.ndarray) and len(row) > 0 for row in rows):
        raise Misfit("a vector is missing")
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        raise Misfit("the vectors have different lengths")
    if dimension is not None and lengths - {dimension}:
        raise Misfit(f"vectors of {lengths.pop()} numbers where {dimension} are pinned")
    try:
        matrix = np.asarray(rows, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise Misfit("a vector holds something else than numbers") from error
    if not np.isfinite(matrix).all():
        raise Misfit("a vector holds a number that is not finite")
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    if (norms == 0.0).any():
        raise Misfit("a vector is zero")
    return np.asarray(matrix / norms, dtype=np.float32)


def gather(pieces: Sequence[Piece], vectors: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """One unit vector a text, from one a piece: the mean weighted by the pieces' lengths."""
    import numpy as np

    total = np.zeros((count, vectors.shape[1]), dtype=np.float32)
    weights = np.array([len(piece.text) for piece in pieces], dtype=np.float32)[:, None]
    np.add.at(total, [piece.index for piece in pieces], vectors * weights)
    norms = np.linalg.norm(total, axis=1, keepdims=True)
    if (norms == 0.0).any():
        raise Misfit("the pieces of a text cancel each other out")
    return np.asarray(total / norms, dtype=np.float32)


# --------------------------------------------------------------------------------------------- bisection
