"""Embedding a batch although some of its texts cannot be embedded: those are found and set apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from holdfast.errors import ModelError
from holdfast.ports import EmbeddingModel
from holdfast.providers.embedding.batching import bisect

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Apart", "embed_apart"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """What could be embedded: row i of `vectors` belongs to text `indices[i]`. `poisoned` says why the others could not."""

    indices: tuple[int, ...]
    vectors: NDArray[np.float32]
    poisoned: Mapping[int, ModelError]


async def embed_apart(
    model: EmbeddingModel, texts: Sequence[str], *, purpose: Literal["document", "query"] = "document"
) -> Apart:
    """Embed every text that can be, by halving a batch that the model refuses until the bad texts stand alone.

    Raises:
        ModelError: a failure that is not about a text (a retry, a rest, a missing key), or so many bad texts that the
            texts are hardly the reason; nothing was embedded.
    """
    import numpy as np

    found: dict[int, NDArray[np.float32]] = {}
    reasons: dict[int, ModelError] = {}
    search = bisect(len(texts))
    try:
        part = next(search)
        while True:
            try:
                vectors = await model.embed(texts[part.start : part.stop], purpose=purpose)
            except ModelError as error:
                if error.cls not in {"poison", "shorten"}:
                    raise
                if len(part) == 1:
                    reasons[part.start] = error
                part = search.send(False)
            else:
                found[part.start] = vectors
                part = search.send(True)
    except StopIteration as stop:
        good, bad = stop.value
    if len(bad) + sum(len(one) for one in good) < len(texts):
        raise reasons[bad[-1]]
    indices = tuple(index for one in good for index in one)
    dimension = model.dimension or 0
    vectors = np.concatenate([found[one.start] for one in good]) if good else np.zeros((0, dimension), dtype=np.float32)
    return Apart(indices=indices, vectors=vectors, poisoned={index: reasons[index] for index in bad})
