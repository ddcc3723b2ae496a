"""Text to terms: what a person types finds what a person wrote."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhold.text.analysis import analyse, analyse_query

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=60)


def finds(query: str, text: str) -> bool:
    """Whether every word of the query that says something stands in the text."""
    terms = analyse(text).counts
    words = [word for word in analyse_query(query) if not word.weak]
    return bool(words) and all(any(term in terms for term in word.terms) for word in words)


@given(ANY_TEXT)
def test_no_string_raises_and_the_same_text_has_the_same_terms(text):
    terms = analyse(text)
    assert terms == analyse(text)
    assert all(count >= 1 for count in terms.counts.values())
    assert "" not in terms.counts
    assert (terms.length > 0) == bool(terms.counts)
    assert analyse_query(text) == analyse_query(text)


@given(ANY_TEXT)
def test_a_question_is_found_in_itself(text):
    terms = analyse(text).counts
    words = analyse_query(text)
    assert bool(words) == bool(terms)
    assert len({word.terms for word in words}) == len(words)
    for word in words:
        assert any(term in terms for term in word.terms), word


@given(st.lists(st.sampled_from(["tea", "Straße", "猫", "생일", "user_id", "\ud800", "v1.2"]), max_size=6))
def test_terms_do_not_depend_on_what_was_analysed_before(words):
    text = " ".join(words)
    before = analyse(text)
    for other in words:
        analyse(other)
        analyse("die und der " + other)
    assert analyse(text) == before


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("What is she painting?", "I painted a lake last summer"),
        ("CAFE", "we met at the café"),
        ("naïve", "a naive plan"),
        ("fullwidth", "\uff46\uff55\uff4c\uff4c\uff57\uff49\uff44\uff54\uff48"),
        ("Wo sind die Häuser?", "das Haus ist alt und schön"),
        ("Haeuser Straße", "die STRASSE und die Haeuser"),
        ("les chevaux blancs", "elle avait un cheval blanc, et les chevaux blancs"),
        ("amour", "c'est l'amour qui est dans le livre"),
        ("¿dónde están mis canciones?", "tengo una canción y es para mi hermana"),
        ("\u0441\u043e\u0431\u0430\u043a\u0430", "мои собаки и кошки"),
        ("елка", "ёлка стоит"),
        ("Προγραμμα", "το πρόγραμμα"),
        ("चाय", "मुझे चाय पसंद है"),
        ("कتاب".replace("क", "ك"), "هذا كِتَاب جديد"),
    ],
)
def test_forms_of_a_word_meet(query, text):
    assert finds(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("생일", "제 생일은 오월이에요"),
        ("고양이", "고양이가 자요"),
        ("개", "개가 좋아요"),
        ("猫", "猫が好きです"),
        ("猫が", "黒い猫がいる"),
        ("生日", "我的生日是五月"),
        ("茶", "我喜欢喝茶"),
        ("カフェ", "駅前のカフェで"),
        ("กาแฟ", "ฉันชอบกาแฟดำ"),
        ("iPhone", "我的iPhone手机"),
        ("手机", "我的iPhone手机"),
    ],
)
def test_scripts_without_spaces_are_found_by_words_of_one_and_more_characters(query, text):
    assert finds(query, text)


def test_characters_that_only_stand_near_each_other_are_no_word():
    assert not finds("生日", "日本的生活")
    assert not finds("고양", "양고기")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("3.11.2", "we run Python v3.11.2 and 3.11.2"),
        ("src/memhold/packed.py", "see src/memhold/packed.py:12, then src/memhold/packed.py"),
        ("packed.py", "the file src/memhold/packed.py is small"),
        ("memhold", "the file src/memhold/packed.py is small"),
        ("bob@example.com", "write to bob@example.com."),
        ("bob", "write to bob@example.com."),
        ("example", "write to bob@example.com."),
        ("user_id", "the userId column"),
        ("userId", "the user-id column"),
        ("user", "the user_id column"),
        ("HTTPServer", "an http_server"),
        ("server", "HTTPServer starts"),
        ("email", "send an e-mail"),
        ("1000", "it cost $1,000 then"),
        ("C++", "she writes C++ now"),
        ("2023-05-08", "on 2023-05-08 we met"),
        ("10 am", "at 10am"),
        ("John", "that is John's coat"),
        ("o'brien", "Mr O\u2019Brien called"),
        ("a3f9c21", "commit a3f9c21 broke it"),
        ("🎉", "we won 🎉🎉"),
    ],
)
def test_names_and_numbers_are_found_whole_and_by_their_parts(query, text):
    assert finds(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("wi-fi", "the wifi password"),
        ("1,000", "it cost 1000 then"),
        ("what did he say he didn't", "hedidnt didnt"),
        ("고양이를", "고양이가 자요"),
    ],
)
def test_another_way_to_write_it_is_still_a_match(query, text):
    terms = analyse(text).counts
    assert any(term in terms for word in analyse_query(query) if not word.weak for term in word.terms)


def test_c_plus_plus_is_not_c():
    assert not finds("C++", "vitamin C")
    assert not finds("3.11.2", "3.12.1")


def test_function_words_are_weak_in_their_own_language_only():
    weak = {word.word: word.weak for word in analyse_query("What does the dog eat?")}
    assert weak == {"What": True, "does": True, "the": True, "dog": False, "eat": False}
    assert {word.word: word.weak for word in analyse_query("was isst der Hund")} == {
        "was": True, "isst": False, "der": True, "Hund": False,
    }  # fmt: skip


def test_a_question_without_evidence_is_asked_in_every_language():
    (word,) = analyse_query("Häuser")
    (german,) = (set(analyse("die Häuser und der Garten").counts) & set(word.terms),)
    assert german
    assert word.terms[0] in analyse("Häuser").counts
    (english,) = [word for word in analyse_query("what are the houses") if word.word == "houses"]
    assert len(english.terms) == 1


def test_length_counts_words_not_extra_forms():
    assert analyse("one two three").length == 3
    assert analyse("").length == 0
    assert analyse("?!, --").length == 0
    assert analyse("user_id").length == 2
    assert analyse("生日快乐").length == 4


def test_frequencies_count_repetitions():
    assert analyse("tea, tea and TEA").counts["tea"] == 3


def test_threads_get_the_same_terms():
    texts = [f"running{i} horses and {i} houses were painted" for i in range(50)] * 4
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(analyse, texts)) == [analyse(text) for text in texts]


def test_terms_of_version_one_stay():
    """An index on disk was made with these; with other terms for the same text it must be built anew."""
    assert dict(analyse("John's user_id isn't 3.5, 생일 축하").counts) == {
        "john": 1, "userid": 1, "user": 1, "id": 1, "isnt": 1, "isn": 1, "t": 1, "3.5": 1, "3": 1, "5": 1,
        "생일": 1, "생": 1, "일": 1, "축하": 1, "축": 1, "하": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("question", "weak"),
    [
        ("dog", []),
        ("dog Rex", []),
        ("what is the name of my dog", ["what", "is", "the", "of", "my"]),
        ("wo ist mein Hund", ["wo", "ist", "mein"]),
        ("the", ["the"]),
        ("What's my profession?", ["What's", "my"]),
        ("Who's the nurse's friend, and where's she?", ["Who's", "the", "and", "where's", "she"]),
        ("我的狗叫什么名字", ["我的", "什么"]),
        ("犬の名前は何ですか", ["は何", "何で", "です", "すか", "何"]),
        ("내가 있는 도시는 어디야?", ["내가", "있는", "어디", "디야"]),
        ("개", []),
    ],
)
def test_a_noun_is_no_function_word_because_another_language_has_one_like_it(question: str, weak: list[str]) -> None:
    assert [word.word for word in analyse_query(question) if word.weak] == weak
