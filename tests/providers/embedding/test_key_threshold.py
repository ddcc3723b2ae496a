"""Which generation of vectors has a threshold for keys, and which has none."""

from memhold.facts.keys import threshold_of


def test_a_generation_that_nobody_measured_has_none() -> None:
    assert threshold_of("directory:0000000000000000") is None
    assert threshold_of("ollama:bge-m3:0a1b2c3d") == {"en": 0.90}
    assert threshold_of("openai:other:0a1b2c3d", 0.8) == {"en": 0.8}
