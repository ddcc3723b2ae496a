"""The project's own labelled pairs: not one false merge, in nine languages and some that no lexicon knows."""

from collections import Counter

import pytest

from memhold.cli.keys import judged
from memhold.errors import UnreadableImport
from memhold.facts.keys import LANGUAGES, canonical, compare, lowest_safe_threshold, measure, pair_of, pairs_from
from memhold.providers.embedding.builtin.model import BuiltinEmbedding
from tests.facts.keys.labelled import lines, pair, pairs


def test_the_file_is_large_and_mixed() -> None:
    languages = Counter(one.language for one in pairs())
    assert len(pairs()) >= 300
    assert sum(count >= 20 for count in languages.values()) >= 6
    assert sum(one.label == "different" for one in pairs()) >= 200


def test_no_false_merge_and_most_recognised_with_words_only() -> None:
    report = measure(pairs())
    assert [judged.as_json() for judged in report.false_merges] == []
    assert report.share >= 0.90
    assert len(LANGUAGES) >= 5
    for language in LANGUAGES:
        assert measure([p for p in pairs() if p.language == language]).share >= 0.60, language


def test_no_false_merge_when_every_similarity_is_one() -> None:
    # The worst embedder there is: what it can lift is only what no rule guards.
    lifted = measure(pairs(), lambda a, b: compare(a, b, similarity=1.0, threshold=0.9))
    assert {(j.pair.a.attribute, j.pair.b.attribute) for j in lifted.false_merges} <= {
        ("credit limit", "credit score"),
        ("wedding date", "wedding venue"),
    }


def test_symmetric() -> None:
    every = [pair(line) for line in lines("different")[::7]]
    assert len(every) > 150
    lopsided = []
    for one in every:
        there, back = compare(one.a, one.b), compare(one.b, one.a)
        if (there.same, there.rule, there.left_a) != (back.same, back.rule, back.left_b):
            lopsided.append(one)
    assert lopsided == []


def test_every_mistake_comes_with_its_reason() -> None:
    wrong = pairs_from(['{"a": "cat name", "b": "dog name", "label": "same", "lang": "en"}'])
    report = measure(wrong).as_json()
    assert report["missed"] == [
        {
            "a": "cat name",
            "b": "dog name",
            "lang": "en",
            "verdict": "different",
            "rule": "possessor",
            "reason": "'cat' has no counterpart, and it changes what is meant",
            "similarity": None,
        }
    ]
    assert (report["recognised"], report["recognised_share"]) == (0, 0.0)


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"a": "x", "b": "y"}', '{"a": "x", "label": "same"}', '{"a": 1, "b": "y", "label": "same"}']
)
def test_a_bad_line_is_named(line: str) -> None:
    with pytest.raises(UnreadableImport) as caught:
        pairs_from(["", line])
    assert caught.value.line == 2


def test_a_safe_threshold_lies_above_the_likest_different_pair() -> None:
    three = pairs_from(
        [
            '{"a": "credit limit", "b": "credit gizmo", "label": "different"}',
            '{"a": "wife job", "b": "wife vocation", "label": "same"}',
            '{"a": "likes", "b": "dislikes", "label": "different"}',
        ]
    )
    scores = {pair_of(three[0].a, three[0].b): 0.84, pair_of(three[2].a, three[2].b): 0.99}
    found = lowest_safe_threshold(three, lambda a, b: scores.get(pair_of(a, b), 0.95))
    assert found.hardest is three[0]
    assert found.value == pytest.approx(0.85)
    assert found.measured == 1
    verdict = compare(three[1].a, three[1].b, similarity=0.95, threshold=found.value)
    assert verdict.same == "same"
    assert lowest_safe_threshold(three, lambda *_: 1.0).value is None


def test_a_subject_is_part_of_the_key() -> None:
    assert compare(canonical("wife", "birthday"), canonical("user", "wife's birthday")).same == "same"
    assert compare(canonical("wife", "birthday"), canonical("user", "birthday")).same == "different"
    assert compare(canonical("chat", "nom"), canonical(None, "nom du chat")).same == "same"
    assert compare(canonical("Nabi", "age"), canonical("Choco", "age")).same != "same"


def test_the_builtin_embedding_at_its_threshold_merges_nothing_false() -> None:
    report = judged(pairs(), BuiltinEmbedding(), None)
    assert report["false_merges"] == []
    assert report["threshold"] is not None
    assert report["recognised_share"] >= 0.75
