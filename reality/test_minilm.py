"""all-MiniLM-L6-v2 itself: its published similarities, its tokenizer's own answers, and its threshold for keys."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from memhold.cli.keys import judged
from memhold.facts.keys import pairs_from, threshold_of
from memhold.providers.embedding.directory import DirectoryEmbedding
from memhold.providers.embedding.wordpiece import read_wordpiece
from reality.outside import PYTHONS, ROOT, python_with, run
from reality.weights import MINILM

PAIRS = ROOT / "tests" / "facts" / "keys" / "pairs.jsonl"
TEXTS = [
    "short",
    "a longer sentence about nothing",
    "커피를 끊었어요",
    "word " * 300,
    "naïve café №5",
    "E-mail: a_b@c.de 猫 😀!",
]


@pytest.fixture(scope="module")
def minilm() -> Path:
    return MINILM.folder()


def test_it_gives_its_published_similarities(minilm: Path) -> None:
    """The three sentences and cosines of the quickstart on sbert.net for all-MiniLM-L6-v2."""
    model = DirectoryEmbedding(minilm, engine="numpy")
    vectors = model.vectors(["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."])
    cosines = vectors @ vectors.T
    assert model.dimension == 384
    assert np.allclose(cosines[np.triu_indices(3, 1)], [0.6660, 0.1046, 0.1411], atol=1e-4)
    assert np.allclose(np.diag(cosines), 1, atol=1e-5)


def test_in_a_batch_and_alone_is_the_same(minilm: Path) -> None:
    model = DirectoryEmbedding(minilm, engine="numpy")
    batched = model.vectors(TEXTS)
    alone = np.concatenate([model.vectors([text]) for text in TEXTS])
    assert ((batched * alone).sum(axis=1) > 1 - 1e-5).all()
    assert np.abs(batched - alone).max() < 1e-5


def test_its_own_tokenizer_gives_the_same_numbers(minilm: Path, tmp_path: Path) -> None:
    python = python_with(PYTHONS[0], "tokenizers", name="tokenizers")
    (tmp_path / "texts.json").write_text(json.dumps(TEXTS))
    code = (
        "import json, sys; from tokenizers import Tokenizer; t = Tokenizer.from_file(sys.argv[1]);"
        "t.no_truncation(); t.no_padding(); texts = json.load(open(sys.argv[2]));"
        "print(json.dumps([t.encode(text, add_special_tokens=False).ids for text in texts]))"
    )
    done = run([python, "-c", code, minilm / "tokenizer.json", tmp_path / "texts.json"], seconds=200)
    assert done.code == 0, done.err
    ours = read_wordpiece(minilm)
    assert json.loads(done.out) == [ours.encode(text) for text in TEXTS]


def test_its_shipped_threshold_is_found_and_merges_nothing_false(minilm: Path) -> None:
    model = DirectoryEmbedding(minilm)
    assert threshold_of(model.fingerprint) == {"en": 0.95}
    report = judged(pairs_from(PAIRS.read_text(encoding="utf-8").splitlines()), model, None)
    assert report["false_merges"] == []
    assert report["recognised_share"] >= 0.80
