"""mpnet and nomic themselves, by the names that `embedding` takes: the cosines that other implementations give them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memhold.providers.embedding.directory import DirectoryEmbedding
from memhold.providers.embedding.fetching import fetched
from memhold.providers.embedding.official import OFFICIAL
from reality.outside import Weights
from reality.weights import MPNET, NOMIC

TEXTS = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]


@pytest.mark.parametrize(
    ("name", "weights", "cosines"),
    [("mpnet", MPNET, [0.6817, 0.0492, 0.0421]), ("nomic", NOMIC, [0.7555, 0.3994, 0.3986])],
)
def test_they_give_what_others_make_of_them(name: str, weights: Weights, cosines: list[float], tmp_path: Path) -> None:
    """Mpnet beside transformers 4.46 (TFMPNetModel), nomic beside llama.cpp; both without prefixes."""
    folder = fetched(OFFICIAL[name], tmp_path / name, source=str(weights.folder()))
    model = DirectoryEmbedding(folder, engine="numpy")
    vectors = model.vectors(TEXTS)
    assert model.dimension == 768
    assert np.allclose((vectors @ vectors.T)[np.triu_indices(3, 1)], cosines, atol=1e-3)
