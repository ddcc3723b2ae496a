"""all-MiniLM-L6-v2 on the project's own pairs of keys: its shipped threshold is found, and merges nothing false."""

from pathlib import Path

from memhold.cli.keys import judged
from memhold.facts.keys import pairs_from, threshold_of
from memhold.providers.embedding.directory import DirectoryEmbedding

PAIRS = Path(__file__).parents[2] / "pipeline" / "keys" / "pairs.jsonl"


def test_minilm_at_its_threshold(minilm: Path) -> None:
    model = DirectoryEmbedding(minilm)
    assert threshold_of(model.fingerprint) == {"en": 0.95}
    report = judged(pairs_from(PAIRS.read_text(encoding="utf-8").splitlines()), model, None)
    assert report["false_merges"] == []
    assert report["recognised_share"] >= 0.80


def test_a_generation_that_nobody_measured_has_none() -> None:
    assert threshold_of("directory:0000000000000000") is None
    assert threshold_of("ollama:bge-m3:0a1b2c3d") == {"en": 0.90}
    assert threshold_of("openai:other:0a1b2c3d", 0.8) == {"en": 0.8}
