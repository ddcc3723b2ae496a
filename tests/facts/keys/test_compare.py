"""What holds for any keys: no veto word is ever overlooked, and decoration never matters."""

import json
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memhold.facts.keys import canonical, compare, pair_of
from memhold.facts.keys.lexicon import LANGUAGES, lexicon
from tests.facts.keys.labelled import lines, pair, pairs

SAME = st.deferred(lambda: st.sampled_from([row for row in pairs() if row.label == "same"]))
ROMANCE = [line for line in lines("same") if json.loads(line)["lang"] in {"fr", "es", "pt", "it"}]
VETOES = {
    "en": "not non- never ex- former previous next least second target desired goal work home login billing emergency "
    "old new maiden spare mother's grandmother's ex-wife's cat dog step- half- god- without dislikes hates cannot "
    "doesn't anti- un- no",
    "ko": "안 못 싫어하는 전 이전 둘째 목표 회사 집 할머니 시어머니 강아지 고양이",
    "fr": "ne pas n'aime détesté ancien ancienne ex- grand-mère deuxième professionnel objectif",
    "de": "nicht kein hasst ehemaliger Groß Schwieger Stief Ex- zweite Ziel",
    "es": "no sin odiado anterior ex abuela suegra segundo objetivo",
    "ja": "嫌いな 前の 祖母 会社の 目標 元 二番目の 非",
    "zh": "不 前 讨厌的 第二个 公司 目标 岳母",
    "pt": "não sem ex avó segundo anterior",
    "it": "non senza ex nonna secondo precedente",
}
text = st.text(max_size=40) | st.text(alphabet="abc'ǎ-_ .()/|안못の的éñ1#+", max_size=20)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(
    SAME,
    st.sampled_from([(k, w) for k, v in VETOES.items() for w in v.split()]),
    st.booleans(),
    st.booleans(),
)
def test_a_veto_word_never_yields_same(row, veto, swap, behind) -> None:
    _, word = veto
    one, other = (row.b, row.a) if swap else (row.a, row.b)
    changed = f"{one.attribute} {word}" if behind else f"{word} {one.attribute}"
    assert compare(canonical(None, changed), other).same != "same"
    assert compare(other, canonical(None, changed), similarity=1.0, threshold=0.5).same != "same"


@pytest.mark.parametrize("language", VETOES)
def test_each_veto_word_of_a_language_on_its_own_keys(language: str) -> None:
    for row in [r for r in pairs() if r.label == "same" and r.language == language][:12]:
        for word in VETOES[language].split():
            assert compare(canonical(None, f"{word} {row.a.attribute}"), row.b).same != "same", (word, row)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(text, text)
def test_never_raises_symmetric_reflexive(a: str, b: str) -> None:
    left, right = canonical(None, a), canonical("x", b)
    there, back = compare(left, right), compare(right, left)
    assert (there.same, there.rule) == (back.same, back.rule)
    assert compare(left, left).same == "same"
    assert compare(right, canonical("x", b)).same == "same"


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.deferred(lambda: st.sampled_from([row for row in pairs() if row.language in {"en", "fr", "de", "es", "ko"}])),
    st.sampled_from([str.upper, str.lower, str.title]),
    st.sampled_from(["_", "  ", " "]),
    st.sampled_from(["", "?", "!", ".", " :"]),
)
def test_case_punctuation_and_spacing_do_not_matter(row, case, space, end) -> None:
    if space == "_" and any(map(str.isdigit, row.a.attribute)):
        space = " "  # "user_1" and "User 1" are two
    written = case(row.a.attribute).replace(" ", space) + end
    assert compare(canonical(None, written), row.a).same == "same"
    if " " in row.a.attribute:
        assert compare(canonical(None, written), row.b).same == compare(row.a, row.b).same


@pytest.mark.parametrize("written", ["favorite_C++_book", "FAVORITE_C++ BOOK", "favorite C++_book"])
def test_a_sign_that_belongs_to_a_word_stays_with_it_before_an_underscore(written: str) -> None:
    assert canonical(None, written).text == canonical(None, "favorite C++ book").text
    assert canonical(None, written.replace("++", "#")).text == canonical(None, "favorite C# book").text


def without_accents(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


def test_accents_left_out_do_not_matter() -> None:
    keys = [pair(line).a for line in ROMANCE]
    assert len(keys) > 150
    assert [key for key in keys if compare(canonical(None, without_accents(key.attribute)), key).same != "same"] == []


def test_no_similarity_overrules_a_rule() -> None:
    for a, b in [
        ("likes", "dislikes"),
        ("cat name", "dog name"),
        ("wife", "ex-wife"),
        ("weight", "target weight"),
        ("phone 1", "phone 2"),
    ]:
        verdict = compare(canonical(None, a), canonical(None, b), similarity=1.0, threshold=0.1)
        assert (verdict.same, verdict.liftable) == ("different", False), (a, b)


def test_a_similarity_lifts_only_above_its_threshold() -> None:
    a, b = canonical(None, "job"), canonical(None, "vocation")
    assert compare(a, b).liftable is False
    a, b = canonical(None, "wife's job"), canonical(None, "wife's vocation")
    assert (compare(a, b).same, compare(a, b).liftable) == ("unsure", True)
    assert compare(a, b, similarity=0.91, threshold=0.9).same == "same"
    assert compare(a, b, similarity=0.89, threshold=0.9).same == "unsure"
    assert compare(a, b, similarity=0.50, threshold=0.9).same == "different"
    assert compare(a, b, similarity=0.99).same == "unsure"
    assert compare(a, b, similarity=0.99, threshold={"fr": 0.5}).same == "unsure"
    assert compare(a, b, similarity=0.99, threshold={"en": 0.5}).same == "same"


def test_what_was_settled_comes_first() -> None:
    a, b = canonical(None, "boss"), canonical(None, "team captain")
    assert compare(a, b).same == "different"
    assert compare(b, a, aliases={pair_of(a, b): "same"}).same == "same"
    c = canonical(None, "manager")
    assert compare(a, c).same == "same"
    assert compare(a, c, aliases={pair_of(a, c): "different"}).rule == "alias"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_listed_phrase_reads_as_itself(language: str) -> None:
    known = lexicon(language)
    assert len(known.phrases) > 200
    assert {"name", "birthday", "job", "blood_type"} <= {sense.id for sense in known.phrases.values()}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("dentist", "dentist's name"),
        ("bank", "name of the bank"),
        ("Zahnarzt", "Name des Zahnarztes"),
        ("banco", "nombre del banco"),
        ("wife's dentist", "name of wife's dentist"),
    ],
)
def test_what_is_kept_under_its_name_is_that_name(one: str, other: str) -> None:
    assert compare(canonical(None, one), canonical(None, other)).same == "same"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("wife", "wife's name"),
        ("dog", "dog's name"),
        ("bank", "bank account name"),
        ("dentist", "wife's dentist's name"),
    ],
)
def test_much_else_is_kept_under_a_bare_wife_or_dog(one: str, other: str) -> None:
    assert compare(canonical(None, one), canonical(None, other)).same != "same"


@pytest.mark.parametrize(
    ("home", "address"),
    [
        ("where I live", "home address"),
        ("Wohnort", "Hausanschrift"),
        ("lieu de résidence", "adresse du domicile"),
        ("lugar de residencia", "dirección particular"),
        ("luogo di residenza", "indirizzo privato"),
        ("onde mora", "endereço pessoal"),
        ("사는 곳", "집 주소"),
        ("居住地", "自宅住所"),
        ("居住地", "家里的地址"),
    ],
)
def test_the_address_of_a_home_is_the_home_in_every_language(home: str, address: str) -> None:
    assert compare(canonical(None, home), canonical(None, address)).same == "same"
