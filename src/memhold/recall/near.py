"""What is near to a question: cosines by row, and which sentence of a document is the nearest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memhold.index.vector_cache import VectorsOf
from memhold.text.sentences import Span, pieces

if TYPE_CHECKING:
    from memhold.values.arrays import Floats, Mask

__all__ = ["Near", "Sentences"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentences:
    """Which sentence of a document is the nearest to the question; the vectors may be read from a transaction."""

    vectors: VectorsOf
    query: Floats

    def nearest(self, number: int, spans: Sequence[Span]) -> Span | None:
        """The nearest of a document's pieces; None where it has one or none, or the vectors are not of these pieces."""
        found = self.vectors.vectors(number)
        if found is None or len(spans) < 2 or len(found) != len(spans):
            return None
        return spans[int((found @ self.query).argmax())]

    def excerpt(self, number: int, text: str) -> str | None:
        """The nearest sentence of a text, where it has several."""
        span = self.nearest(number, pieces(text))
        return None if span is None else span.of(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """Cosines by row, whether each row has a vector, and the sentences that they are of.

    `cosines` are those of the nearest sentences, `middle` those of the middle of all of a document's, where known.
    """

    cosines: Floats
    middle: Floats | None
    held: Mask
    sentences: Sentences
