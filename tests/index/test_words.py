"""The words score: the vectorised sum agrees with the definition, and nothing but the scope moves it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhold.index.postings_arrays import decode
from memhold.index.turns import SCORING, Scoring
from memhold.index.words import score_words
from memhold.ports.postings import Block, DocumentKind, DocumentRecord, Entry, append, remove, set_active
from memhold.text.analysis import QueryWord, analyse, analyse_query


@dataclass(frozen=True)
class Doc:
    text: str
    session: int = 0
    seq: int = 0
    kind: DocumentKind = DocumentKind.MESSAGE
    gone: bool = False


def blocks_of(documents: list[Doc]) -> list[Block]:
    blocks: dict[int, Block] = {}
    tail = None
    for number, doc in enumerate(documents):
        terms = analyse(doc.text)
        record = DocumentRecord(kind=doc.kind, length=terms.length, session=doc.session, seq=doc.seq)
        tail = append(tail, Entry(number=number, record=record, terms=terms.counts))
        blocks[tail.first] = tail
    for number, doc in enumerate(documents):
        if doc.gone:
            first = max(first for first in blocks if first <= number)
            blocks[first] = remove(blocks[first], number)
    return list(blocks.values())


def search(documents: list[Doc], question: str, **options):
    return score_words(analyse_query(question), decode(blocks_of(documents)), **options)


def scores(documents: list[Doc], question: str, **options) -> dict[int, float]:
    return {hit.number: hit.score for hit in search(documents, question, **options).hits()}


def bm25(words, texts, here, scoring):
    """BM25 of one text among texts, each a (counts, length) pair; straight from the formula."""
    average = max(sum(length for _, length in texts) / max(len(texts), 1), 1.0)
    counts, length = here
    total = 0.0
    for word in words:
        frequency = sum(1 for other, _ in texts if of(word, other) > 0)
        idf = math.log(1 + (len(texts) - frequency + 0.5) / (frequency + 0.5))
        tf = of(word, counts)
        norm = scoring.k1 * (1 - scoring.b + scoring.b * length / average)
        total += (scoring.weak if word.weak else 1.0) * idf * tf * (scoring.k1 + 1) / (tf + norm) if tf else 0.0
    return total


def of(word: QueryWord, counts) -> float:
    return sum(counts.get(term, 0) for term in word.terms)


def summed(parts):
    counts: dict[str, float] = {}
    length = 0.0
    for weight, (each, size) in parts:
        length += weight * size
        for term, count in each.items():
            counts[term] = counts.get(term, 0.0) + weight * count
    return {term: count for term, count in counts.items() if count > 0}, length


def by_definition(documents: list[Doc], question: str, scoring: Scoring = SCORING) -> dict[int, float]:
    words = analyse_query(question)
    alive = {n: doc for n, doc in enumerate(documents) if not doc.gone}
    own = {n: (dict(analyse(doc.text).counts), float(analyse(doc.text).length)) for n, doc in alive.items()}
    messages = {n: doc for n, doc in alive.items() if doc.kind is DocumentKind.MESSAGE}

    def kernel(here: Doc, there: Doc) -> float:
        if here.session != there.session:
            return 0.0
        away = here.seq - there.seq
        return max(0.0, 1 - away / (scoring.before + 1) if away >= 0 else 1 + away / (scoring.after + 1))

    window = {n: summed((kernel(doc, other), own[m]) for m, other in messages.items()) for n, doc in messages.items()}
    whole = {
        session: summed((1.0, own[m]) for m, other in messages.items() if other.session == session)
        for session in {doc.session for doc in messages.values()}
    }
    result = {}
    for n, doc in alive.items():
        text = bm25(words, list(own.values()), own[n], scoring)
        if n in messages:
            borrowed = own[n][1] / max(own[n][1] + scoring.brief, 1.0)
            near = bm25(words, list(window.values()), window[n], scoring) * borrowed
            around = bm25(words, list(whole.values()), whole[doc.session], scoring) * borrowed
            score = scoring.own * text + scoring.window * near + scoring.session * around
        else:
            score = (scoring.own + scoring.window + scoring.session) * text
        telling = [word for word in words if not word.weak] or words
        if any(of(word, window[n][0] if n in messages else own[n][0]) > 0 for word in telling):
            result[n] = score
    return result


VOCABULARY = ["tea", "teas", "green", "the", "is", "dog", "猫が", "walks"]
TEXTS = st.lists(st.sampled_from(VOCABULARY), max_size=6).map(" ".join)


@st.composite
def scopes(draw):
    """Sessions that interleave, with gaps in seq, memories among them, some documents forgotten."""
    documents = []
    seqs: dict[int, int] = {}
    for _ in range(draw(st.integers(0, 25))):
        text, gone = draw(TEXTS), draw(st.integers(0, 5)) == 0
        if draw(st.integers(0, 4)) == 0:
            documents.append(Doc(text, kind=DocumentKind.NOTE, gone=gone))
        else:
            session = draw(st.integers(1, 3))
            seqs[session] = seqs.get(session, 0) + draw(st.integers(1, 3))
            documents.append(Doc(text, session=session, seq=seqs[session], gone=gone))
    return documents


SHAPES = st.sampled_from([SCORING, Scoring(before=0, after=0), Scoring(before=1, after=5, brief=0.0, weak=1.0)])


@given(scopes(), TEXTS, SHAPES)
def test_the_vectorised_score_is_the_defined_one(documents, question, scoring):
    assert scores(documents, question, scoring=scoring) == pytest.approx(
        by_definition(documents, question, scoring), rel=1e-4, abs=1e-5
    )


@given(scopes(), TEXTS)
def test_parts_add_up_and_the_order_is_total(documents, question):
    hits = search(documents, question).hits()
    assert [(-hit.score, -hit.number) for hit in hits] == sorted((-hit.score, -hit.number) for hit in hits)
    for hit in hits:
        assert hit.score == pytest.approx(hit.own + hit.window + hit.session, rel=1e-5)
        assert min(hit.own, hit.window, hit.session) >= 0
        assert not documents[hit.number].gone
        terms = analyse(documents[hit.number].text).counts
        for word in analyse_query(question):
            assert (word.word in hit.matched) == (of(word, terms) > 0)
        assert not set(hit.matched) & set(hit.nearby)


@given(scopes(), TEXTS, st.data())
def test_a_filter_only_narrows(documents, question, data):
    index = decode(blocks_of(documents))
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=len(index), max_size=len(index))), dtype=np.bool_)
    query = analyse_query(question)
    every = score_words(query, index).hits()
    narrow = score_words(query, index, allowed=allowed).hits()
    assert narrow == [hit for hit in every if allowed[index.rows_of([hit.number])[0]]]


@given(scopes(), TEXTS)
def test_a_forgotten_document_counts_as_if_it_had_never_been(documents, question):
    kept = [(n, doc) for n, doc in enumerate(documents) if not doc.gone]
    names = [n for n, _ in kept]
    without = scores([doc for _, doc in kept], question)
    assert scores(documents, question) == pytest.approx({names[n]: score for n, score in without.items()}, rel=1e-4)


@given(scopes(), TEXTS)
def test_a_page_is_a_part_of_the_whole(documents, question):
    ranking = search(documents, question)
    assert ranking.hits(0, 3) + ranking.hits(3) == ranking.hits()
    assert len(ranking) == len(ranking.hits())
    assert ranking.hits(len(ranking), 5) == []


def test_equal_documents_score_equally_and_the_later_stands_first():
    notes = [Doc("she drinks green tea at home", kind=DocumentKind.NOTE)] * 300
    hits = search(notes, "green tea").hits()
    assert len({hit.score for hit in hits}) == 1
    assert [hit.number for hit in hits] == list(range(299, -1, -1))


def test_the_answer_after_the_question_is_found():
    talk = ["How was work?", "Fine.", "Which instrument do you play?", "The cello, since I was nine.", "Nice!"]
    documents = [Doc(text, session=1, seq=seq) for seq, text in enumerate(talk, 1)]
    documents += [Doc(f"nothing here about subject {n}", session=2, seq=n) for n in range(1, 20)]
    hits = search(documents, "which instrument does she play").hits()
    assert [hit.number for hit in hits[:2]] == [2, 3]
    assert hits[1].matched == ()
    assert set(hits[1].nearby) >= {"instrument", "play"}


def test_a_window_does_not_cross_sessions():
    documents = [Doc("green tea", session=1, seq=1), Doc("good morning", session=2, seq=2), Doc("hello there", 2, 3)]
    assert set(scores(documents, "green tea")) == {0}


def test_a_short_answer_that_says_the_word_is_not_lost():
    documents = [Doc("I'm vegan.", session=1, seq=1)]
    documents += [Doc(f"a long story about trains, bridges and rivers number {n}", 1, 10 + n) for n in range(30)]
    assert search(documents, "is she vegan?").hits()[0].number == 0


def test_function_words_alone_make_no_hit_beside_others():
    documents = [Doc("the end is the end", session=1, seq=1), Doc("a llama", session=2, seq=1)]
    assert set(scores(documents, "what is the llama")) == {1}
    assert set(scores(documents, "what is the")) == {0}


def test_alternatives_are_one_word_of_the_question():
    documents = [Doc("haus", kind=DocumentKind.NOTE), Doc("hauser", kind=DocumentKind.NOTE)]
    both = QueryWord(word="Häuser", terms=("haus", "hauser"), weak=False)
    hits = score_words([both], decode(blocks_of(documents))).hits()
    assert [hit.matched for hit in hits] == [("Häuser",), ("Häuser",)]
    assert hits[0].score == hits[1].score


def test_a_term_of_two_words_counts_for_both():
    documents = [Doc("tea", kind=DocumentKind.NOTE)]
    query = [QueryWord(word=word, terms=("tea", word), weak=False) for word in ("a", "b")]
    assert score_words(query, decode(blocks_of(documents))).hits()[0].matched == ("a", "b")


def test_nothing_asked_or_nothing_there_is_nothing_found():
    assert search([Doc("tea", session=1, seq=1)], "?!").hits() == []
    assert search([Doc("", session=1, seq=1)], "tea").hits() == []
    assert search([], "tea").hits() == []


def test_a_memory_that_is_not_current_stays_in_the_statistics():
    documents = [Doc(text, kind=DocumentKind.FACT) for text in ("likes tea", "likes coffee", "likes rain")]
    (block,) = blocks_of(documents)
    query = analyse_query("tea coffee")
    flagged = decode([set_active(block, 1, active=False)])
    assert score_words(query, flagged).hits() == score_words(query, decode([block])).hits()
    assert [hit.number for hit in score_words(query, flagged, allowed=flagged.active).hits()] == [0]
