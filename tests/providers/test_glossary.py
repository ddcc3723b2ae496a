# ruff: noqa: RUF001 - letters of other scripts are what is tried
"""Glossaries: what is said in another language is near what means the same, and English stays as it was."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhold.providers.embedding.builtin.glossary import (
    ENDINGS,
    NEAR,
    NOTHING,
    entries,
    glossaries_digest,
    glossary_texts,
)
from memhold.providers.embedding.builtin.model import BUILTIN_DIRECTORY, BuiltinEmbedding
from memhold.providers.embedding.builtin.pieces import PieceReader, fold

BUILTIN = BuiltinEmbedding()
VOCABULARY = {
    piece: row
    for row, piece in enumerate((BUILTIN_DIRECTORY / "vocabulary.txt").read_text(encoding="utf-8").split("\n"))
}
PLAIN = PieceReader(VOCABULARY)
READER = PieceReader(VOCABULARY, glossary_texts())
SAID = {
    "english": [
        "I live in an old house near the river", "my sister works as a nurse in the hospital",
        "our dog is afraid of loud noise", "I drink my coffee without sugar",
        "next summer we travel by train to the sea", "he has lost the key of the car",
    ],
    "german": [
        "Ich wohne in einem alten Haus am Fluss", "Meine Schwester arbeitet als Krankenschwester im Krankenhaus",
        "Unser Hund hat Angst vor lautem Lärm", "Ich trinke meinen Kaffee ohne Zucker",
        "Nächsten Sommer reisen wir mit dem Zug ans Meer", "Er hat den Autoschlüssel verloren",
    ],
    "french": [
        "J'habite dans une vieille maison près de la rivière", "Ma sœur travaille comme infirmière à l'hôpital",
        "Notre chien a peur du bruit", "Je bois mon café sans sucre",
        "L'été prochain nous voyageons en train à la mer", "Il a perdu la clé de la voiture",
    ],
    "spanish": [
        "Vivo en una casa vieja cerca del río", "Mi hermana trabaja de enfermera en el hospital",
        "Nuestro perro tiene miedo al ruido", "Tomo mi café sin azúcar",
        "El próximo verano viajamos en tren al mar", "Ha perdido la llave del coche",
    ],
    "italian": [
        "Abito in una vecchia casa vicino al fiume", "Mia sorella lavora come infermiera in ospedale",
        "Il nostro cane ha paura dei rumori", "Bevo il mio caffè senza zucchero",
        "La prossima estate viaggiamo in treno al mare", "Ha perso la chiave della macchina",
    ],
    "portuguese": [
        "Eu moro em uma casa velha perto do rio", "Minha irmã trabalha como enfermeira no hospital",
        "Nosso cachorro tem medo de barulho", "Eu bebo meu café sem açúcar",
        "No próximo verão viajamos de trem para o mar", "Ele perdeu a chave do carro",
    ],
    "russian": [
        "Я живу в старом доме у реки", "Моя сестра работает медсестрой в больнице",
        "Наша собака боится громкого шума", "Я пью кофе без сахара",
        "Следующим летом мы поедем на поезде к морю", "Он потерял ключ от машины",
    ],
    "korean": [
        "나는 강 근처 오래된 집에 살아", "여동생은 병원에서 간호사로 일해요",
        "우리 강아지는 시끄러운 소음을 무서워해요", "커피는 설탕 없이 마셔요",
        "내년 여름에 기차로 바다에 여행 가요", "그는 자동차 열쇠를 잃어버렸어요",
    ],
    "japanese": [
        "私は川の近くの古い家に住んでいます", "妹は病院で看護師として働いています",
        "うちの犬は大きな騒音を怖がります", "コーヒーは砂糖なしで飲みます",
        "来年の夏は電車で海へ旅行します", "彼は車の鍵をなくしました",
    ],
    "chinese": [
        "我住在河边的一栋老房子里", "我姐姐在医院当护士",
        "我们的狗很怕噪音", "我喝咖啡不加糖",
        "明年夏天我们坐火车去海边旅行", "他丢了汽车钥匙",
    ],
}  # fmt: skip
LANGUAGES = sorted(set(SAID) - {"english"})


def test_each_glossary_is_tried_here():
    assert sorted(glossary_texts()) == LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_means_the_same_is_nearest_across_languages(language):
    theirs, english = BUILTIN.vectors(SAID[language]), BUILTIN.vectors(SAID["english"])
    theirs, english = theirs - english.mean(axis=0), english - english.mean(axis=0)
    nearest = (theirs @ english.T).argmax(axis=1)
    assert (nearest == np.arange(len(nearest))).sum() >= len(nearest) - 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_glossary_says_each_form_once_and_in_english_words_that_have_rows(language):
    seen: set[str] = set()
    for english, forms in entries(glossary_texts()[language]):
        assert forms, english
        if english == ENDINGS:
            assert len(set(forms)) == len(forms)
            continue
        if english != NOTHING:
            read = PLAIN.read(english.removeprefix(NEAR))
            assert read.rows, english
            assert not read.grams, english
        for form in forms:
            folded = fold(form.rstrip("*")) + "*" * form.endswith("*")
            assert folded not in seen, f"{form} stands twice"
            assert "*" not in folded.rstrip("*"), form
            seen.add(folded)


def test_the_glossaries_are_small():
    assert sum(len(text.encode()) for text in glossary_texts().values()) < 950_000


def test_a_learnt_word_is_two_english_ones_that_count_half():
    rows = READER.read("Wir haben einen Elefanten gesehen").rows
    assert [row for row in rows if row < len(VOCABULARY)] == list(PLAIN.read("we see").rows)
    learnt = [row - len(VOCABULARY) for row in rows if row >= len(VOCABULARY)]
    assert learnt == list(PLAIN.read("animal animals").rows)
    codes = np.load(BUILTIN_DIRECTORY / "codes.npy").astype(float)
    lengths = np.load(BUILTIN_DIRECTORY / "scales.npy").astype(float)
    half = (codes[learnt] * lengths[learnt, None] / 2).sum(axis=0)
    assert np.allclose(BUILTIN.vectors(["Elefanten"])[0], half / np.linalg.norm(half), atol=1e-6)


@pytest.mark.parametrize(
    ("said", "means"),
    [
        ("ich wohnte in der Wohnung", "i live apartment"),  # an ending, a word that means nothing
        ("das ist mein Autoschlüssel", "i car key"),  # a compound
        ("die Gartenarbeit und der Wein", "garden work and wine"),
        ("la casa de mi hermana", "house i sister"),
        ("병원에서 일했어요", "hospital work"),  # particles and endings
        ("집에서는 먹었는데", "house eat"),  # endings behind one syllable
        ("냉장고에 우유가 남았어", "refrigerator milk rest remain"),
        ("引っ越しの段ボール", "move box"),
        ("宝宝的纸尿裤", "child diaper"),
        ("我的狗", "i dog"),
        ("犬と猫", "dog cat"),
        ("моей собакой", "i dog"),
        ("gato", "cat"),  # one word that is not English
        ("alergia medicamentos", "allergy medicine"),  # no function word
        ("Meine Katze", "i cat"),
    ],
)
def test_words_are_read_as_the_english_that_they_mean(said, means):
    read = READER.read(said)
    assert (list(read.rows), list(read.grams)) == (list(PLAIN.read(means).rows), [])


@pytest.mark.parametrize(
    "said",
    [
        "The hat was not on the die, and the war is over", "I rang the boss about a gift", "Bald men rot in hell",
        "an alt account", "mit", "hat", "red hat", "war", "pain", "chat", "sale", "red", "pie", "Casa Blanca", "We are fast and hot also in the boot",
    ],
)  # fmt: skip
def test_english_is_read_as_without_glossaries(said):
    assert READER.read(said) == PLAIN.read(said)


def test_a_word_that_no_glossary_knows_matches_itself_alone():
    read = READER.read("Wir waren in Zwillbrocksdamm und in Berlin")
    assert VOCABULARY["berlin"] in read.rows
    assert len(read.grams) > 5


@given(st.text())
def test_any_text_is_read_and_the_same_each_time(text):
    assert READER.read(text) == READER.read(text)


@given(st.text(alphabet="강아지가는을살고我的狗犬と猫ичßéñabc ", max_size=40))
def test_any_mixture_of_scripts_is_read(text):
    read = READER.read(text)
    assert bool(read.rows or read.grams or read.symbols) <= bool(text.strip())


def test_vectors_made_with_other_glossaries_are_of_another_generation():
    assert BUILTIN.fingerprint.endswith(f"-g{glossaries_digest()[:8]}")
