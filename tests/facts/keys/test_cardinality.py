"""What a new value does to the old one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhold.facts.keys import cardinality, decide, nothing, wording


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ("job", "single"),
        ("hobby", "single"),
        ("favorite foods", "single"),
        ("cat's name", "single"),
        ("blood type", "single"),
        ("current address", "single"),
        ("wife's birthday", "single"),
        ("혈액형", "single"),
        ("좋아하는 음식", "single"),
        ("groupe sanguin", "single"),
        ("Lieblingsfarbe", "single"),
        ("誕生日", "single"),
        ("血型", "single"),
        ("年収", "single"),
        ("월급", "single"),
        ("pets", "many"),
        ("allergies", "many"),
        ("languages", "many"),
        ("home", "single"),
        ("current home", "single"),
        ("wife's home", "single"),
        ("집", "single"),
        ("languages (home)", "many"),
        ("pets_home", "many"),
        ("반려동물", "many"),
        ("alergias", "many"),
        ("children", "many"),
        ("gizmo", "unknown"),
        ("", "unknown"),
    ],
)
def test_cardinality(attribute: str, expected: str) -> None:
    assert cardinality(attribute) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("I also like tea", "add"),
        ("I switched to tea", "replace"),
        ("I no longer drink coffee", "end"),
        ("quit coffee, only tea now", "end"),
        ("Actually it is blue", "correct"),
        ("I don\u2019t eat meat anymore", "end"),
        ("I tried tea", "none"),
        ("tootling along", "none"),
        ("커피 끊었어", "end"),
        ("강아지도 키워", "add"),
        ("사실은 파란색이야", "correct"),
        ("부산으로 이사했어", "replace"),
        ("je ne bois plus de café", "end"),
        ("j'aime aussi le thé", "add"),
        ("en fait, c'est le bleu", "correct"),
        ("ich trinke keinen Kaffee mehr", "end"),
        ("ich mag auch Tee", "add"),
        ("ya no tomo café", "end"),
        ("además me gusta el té", "add"),
        ("コーヒーをやめた", "end"),
        ("我不再喝咖啡", "end"),
    ],
)
def test_wording(sentence: str, expected: str) -> None:
    assert wording(sentence) == expected


@given(st.text())
def test_never_raises(text: str) -> None:
    assert cardinality(text) in {"single", "many", "unknown"}
    assert wording(text) in {"add", "replace", "end", "correct", "none"}


@pytest.mark.parametrize(
    ("operation", "count", "said", "expected", "rule"),
    [
        ("add", "single", "none", "replace", "cardinality"),
        ("add", "single", "add", "add", "wording"),
        ("add", "many", "none", "add", "model"),
        ("replace", "many", "none", "add", "cardinality"),
        ("replace", "many", "replace", "replace", "wording"),
        ("replace", "single", "add", "replace", "model"),
        ("end", "many", "add", "end", "model"),
        ("correct", "single", "none", "correct", "model"),
        (None, "many", "none", "add", "cardinality"),
        (None, "single", "none", "replace", "cardinality"),
        (None, "unknown", "none", "replace", "default"),
        (None, "unknown", "add", "add", "wording"),
        (None, "single", "add", "replace", "cardinality"),
        (None, "many", "end", "end", "wording"),
    ],
)
def test_decide(operation, count, said, expected, rule) -> None:
    decision = decide(operation, count, said)
    assert (decision.operation, decision.rule) == (expected, rule)
    assert decision.reason


@pytest.mark.parametrize(
    ("value", "attribute"),
    [
        ("none", "allergies"),
        ("None.", "allergies"),
        ("no allergies any more", "allergy"),
        ("nothing", "dislikes"),
        ("keine Allergien mehr", "Allergien"),
        ("plus d\u2019allergies", "allergies"),
        ("sin alergias", "alergias"),
        ("nessuna", "allergie"),
        ("알레르기 없음", "알레르기"),
        ("アレルギーなし", "アレルギー"),
        ("没有", "过敏"),
    ],
)
def test_a_value_that_says_that_there_is_none(value: str, attribute: str) -> None:
    assert nothing(value, attribute)


@pytest.mark.parametrize(
    ("value", "attribute"),
    [
        ("no nuts", "allergies"),
        ("Nobu", "friend"),
        ("Noah", "friend"),
        ("Nothing Else Matters", "favorite song"),
        ("zero sugar cola", "favorite drink"),
        ("senza glutine", "dieta"),
        ("無印良品", "employer"),
        ("危ない", "movie"),
        ("", "pets"),
    ],
)
def test_a_value_that_only_begins_so(value: str, attribute: str) -> None:
    assert not nothing(value, attribute)
