"""Embedding a batch although some of its texts cannot be embedded: those are found and set apart."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memhold.ports.models import EmbeddingModel
from memhold.values.errors import ModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Embedded", "bisect", "embed_isolating_failures"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """What could be embedded: row i of `vectors` is text `indices[i]`. `poisoned` says why the others could not be."""

    indices: tuple[int, ...]
    vectors: NDArray[np.float32]
    poisoned: Mapping[int, ModelError]


def _may_be_a_text(error: ModelError) -> bool:
    """Whether one text can be the reason: refused, too long, or (Ollama with NaN) a vector that cannot be written."""
    return error.cls in {"poison", "shorten", "next"} or error.code == "bad_vectors"


async def embed_isolating_failures(model: EmbeddingModel, texts: Sequence[str]) -> Embedded:
    """Embed every text that can be, by halving a batch that the model refuses until the bad texts stand alone.

    Raises:
        ModelError: a failure that is not about a text (a retry, a rest, a missing key), or so many bad texts that the
            texts are hardly the reason; nothing was embedded.
    """
    import numpy as np

    found: dict[int, NDArray[np.float32]] = {}
    reasons: dict[int, ModelError] = {}
    search = bisect(len(texts))
    embedded: bool | None = None
    good: list[range] = []
    bad: list[int] = []
    while True:
        try:
            part = next(search) if embedded is None else search.send(embedded)
        except StopIteration as stop:
            good, bad = stop.value
            break
        try:
            found[part.start] = await model.embed(texts[part.start : part.stop], purpose="document")
            embedded = True
        except ModelError as error:
            if not _may_be_a_text(error):
                raise
            embedded = False
            if len(part) == 1:
                reasons[part.start] = error
    if len(bad) + sum(len(one) for one in good) < len(texts):
        raise reasons[bad[-1]]
    indices = tuple(index for one in good for index in one)
    dimension = model.dimension or 0
    vectors = np.concatenate([found[one.start] for one in good]) if good else np.zeros((0, dimension), dtype=np.float32)
    return Embedded(indices=indices, vectors=vectors, poisoned={index: reasons[index] for index in bad})


def bisect(count: int) -> Generator[range, bool, tuple[list[range], list[int]]]:
    """Find the texts that spoil a batch: yields ranges to try, is sent whether each was embedded.

    Returns the ranges that were embedded, in order, and the positions set apart. It gives up, and returns what it has,
    once more than a quarter of them, and more than 8, were set apart: then the texts are not the reason.
    One bad text in 100 costs at most 15 tries.
    """
    limit = max(8, count // 4)
    good: list[range] = []
    bad: list[int] = []
    waiting = [range(count)] if count else []
    while waiting and len(bad) <= limit:
        part = waiting.pop()
        if (yield part):
            good.append(part)
        elif len(part) == 1:
            bad.append(part.start)
        else:
            middle = (part.start + part.stop) // 2
            waiting += [range(middle, part.stop), range(part.start, middle)]
    return good, bad
