"""The signals of recall: each ranks a scope's documents by one thing, from 0 to 1. Pure; `fusion` makes one of them.

Every signal sees all documents of the scope that were not forgotten, whatever the filters: a filter removes hits and
changes no score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise
from typing import TYPE_CHECKING

from memhold.facts.asked import asked_concepts, asks_for, concepts_of
from memhold.fidelity.moments import local_times
from memhold.fidelity.times import TimeRange
from memhold.index.documents import ASKING, KIND_OF, NAMED, QUESTION_MARKS, ROLE_OF, SPEAKER
from memhold.index.turns import SCORING, turns_of
from memhold.index.vector_cache import VectorsOf
from memhold.index.words import WordScores, smoothed
from memhold.languages.tables import speech, spoken
from memhold.ports.postings import term_key
from memhold.recall.fusion import Signal, normalised
from memhold.recall.told import Told
from memhold.text import lazily
from memhold.text.analysis import QueryWord, analyse_query
from memhold.text.change import asks_history
from memhold.text.person import Person, first_terms, person_of
from memhold.text.sentences import Span, pieces
from memhold.values.records import Memory, micros

if TYPE_CHECKING:
    from memhold.index.postings_arrays import DecodedIndex
    from memhold.values.arrays import Floats, Mask

__all__ = [
    "MEANS_IT",
    "NEARER",
    "Near",
    "Question",
    "Sentences",
    "advice_signal",
    "by_words",
    "key_signal",
    "meaning_signals",
    "order_of",
    "order_signal",
    "proposes",
    "recency_signal",
    "reply_signal",
    "role_signal",
    "speaker_signal",
    "time_signal",
    "two_people",
    "understood",
    "words_signal",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentences:
    """Which sentence of a document is the nearest to the question; the vectors may be read from a transaction."""

    vectors: VectorsOf
    query: Floats

    def nearest(self, number: int, spans: Sequence[Span]) -> Span | None:
        """The nearest of a document's pieces; None where it has one or none, or the vectors are not of these pieces."""
        found = self.vectors.vectors(number)
        if found is None or len(spans) < 2 or len(found) != len(spans):
            return None
        return spans[int((found @ self.query).argmax())]

    def excerpt(self, number: int, text: str) -> str | None:
        """The nearest sentence of a text, where it has several."""
        span = self.nearest(number, pieces(text))
        return None if span is None else span.of(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """Cosines by row, whether each row has a vector, and the sentences that they are of.

    `cosines` are those of the nearest sentences, `middle` those of the middle of all of a document's, where known.
    """

    cosines: Floats
    middle: Floats | None
    held: Mask
    sentences: Sentences


def order_of(question: str) -> bool | None:
    """Whether a question asks for the last (True) or the first (False) of several; None where it asks for neither."""
    said, low = speech(spoken(question)), question.lower()
    latest, earliest = (said.has("calendar", name, low) for name in ("latest", "earliest"))
    return None if latest == earliest else latest


def proposes(question: str) -> bool:
    """Whether a question asks for a proposal: what one could or should do, what is recommended, an idea."""
    said, low = speech(spoken(question)), question.lower()
    return any(said.has("says", name, low) for name in ("proposals", "proposed"))


MEANS_IT = 0.45
"""Cosine from which on a vector alone makes a hit. With the built-in embedding 54 in 1,000 pairs of a LoCoMo question
and a turn of its conversation reach it."""
NEARER = 0.25
"""The share of the way from the scope's mean to its nearest from which on a document is found beside what signals find:
of an embedding's cosines no floor is known that holds for every text and language (docs/recall.md)."""
ASKED_FOR = 0.5
"""The share of a fact's subject and attribute from which on it is what a question asks for."""
ELSES = 0.4
"""What is left of that share where the question asks for it of somebody else: below what is asked for."""
OTHER_KIND = 0.5
"""What is left of a memory's role where it has no price, time, name or number and one is asked for."""
SAID = 0.5
"""The share of a question's words, each by how rare it is, from which on a document that says them answers by words."""
BEST = 5
"""How many of the best by words are looked at for that."""
TELLS = 12
"""Up to so many words that say something, several sentences are one question ("I'm moving. Which cities fit me?")."""
OF_ONESELF = 40
"""Words up to which a message that tells of oneself is short."""
AS_ALIKE = 0.5
"""The share of the best from which on a document matches, where order words ask for the first or the last of them."""
HALF_LIFE = timedelta(days=14)
"""After this long a message counts half as recent."""
SHOULDER = timedelta(days=7)
"""What was said this long before or after a time that the question names still counts a little: people tell later."""
ASIDE = 1 / 3
"""What a time counts in a text that goes on with a conversation: there it seldom says when something was said."""
STATES, REPLIES, ASKS = 0.4, 0.6, 0.4
"""The reply signal: what each message has, what it gains behind a question, what it loses where it ends with one."""
BRIEF_QUESTION = 20
"""Words up to which a message that ends with a question loses all of that; a longer one has also said something."""

_ENDS = lazily.compile(
    r"(?<![.!?。！？\u061f\n])[.!?。！？\u061f\n]+(?=\s|$|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7ff])|\n"  # noqa: RUF001
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, read: its words, the times it names, whose words it is about, whether it goes on with a conversation.

    `goes_on`: it has more than one sentence, and many words. Whoever only asks names what is meant; whoever tells
    something and then asks goes on with what was talked about lately. `history`: it asks how something changed.
    """

    text: str
    words: tuple[QueryWord, ...]
    times: tuple[TimeRange, ...]
    goes_on: bool
    person: Person = field(default_factory=Person)
    history: bool = False

    @property
    def only_time(self) -> bool:
        """Whether nothing is asked for but a time ("what was last week?")."""
        rest = self.text
        for one in reversed(self.times):
            rest = rest[: one.span[0]] + " " + rest[one.span[1] :]
        return bool(self.times) and all(word.weak for word in analyse_query(rest))


def understood(text: str, now: datetime, carried: Sequence[QueryWord] = (), zone: tzinfo | None = UTC) -> Question:
    """Read a question as of a time; `carried` are the words that it takes along from its conversation.

    In a text of several sentences most times are part of what is told ("I could not sleep last night"): only those in
    its sentences that ask are read, and only what is not still to come.
    """
    ends = [0, *(found.end() for found in _ENDS.finditer(text)), len(text)]
    spans = [(start, end) for start, end in pairwise(ends) if text[start:end].strip()]
    found, several = list(local_times(text, now, zone)), len(spans) > 1
    words = analyse_query(text)
    if several:
        asked = [(start, end) for start, end in spans if not QUESTION_MARKS.isdisjoint(text[start:end])]
        found = [
            one for one in found if one.start < now and any(start <= one.span[0] < end for start, end in asked or spans)
        ]
    return Question(
        text=text,
        words=(*words, *carried),
        times=tuple(found),
        goes_on=several and sum(not word.weak for word in words) > TELLS,
        person=person_of(text),
        history=not several and asks_history(text),
    )


def words_signal(scores: WordScores, said: float) -> Signal:
    """Words of the question in the message, its window and its session, as far as words answer it (`by_words`)."""
    import numpy as np

    return Signal(name="words", score=normalised(scores.score) * np.float32(said), found=scores.hit)


def by_words(scores: WordScores) -> float:
    """How far the words of a scope answer a question, 0 to 1: 1 where one document says half of what is asked.

    The best by words is no better than its words: where all that it shares with the question is "day", something else
    must say what is meant. A question of function words alone has nothing but them.
    """
    if not scores.asks:
        return 1.0
    return min(1.0, scores.share(scores.best(BEST)) / SAID)


def meaning_signals(near: Near, index: DecodedIndex) -> list[Signal]:
    """Nearness of what a document says in all, of its nearest sentence, and of the turns around.

    Where the middles are not known the nearest sentences stand for both.
    """
    held, whole = near.held, near.cosines if near.middle is None else near.middle
    around = smoothed(whole, index, SCORING)
    means = held & (near.cosines >= MEANS_IT)
    return [
        Signal(name="meaning", score=normalised(whole, held, centred=True), found=means),
        Signal(name="sentence", score=normalised(near.cosines, held, centred=True), found=means),
        Signal(name="surroundings", score=normalised(around, held, centred=True), found=_nothing(index)),
    ]


def speaker_signal(question: Question, index: DecodedIndex, mine: Mask | None = None) -> tuple[Signal | None, Mask]:
    """Messages of the speakers whom the question names, shared where it names several, and which words name them.

    `mine` is what whoever asks said, where the question names them by "I" or "my". The signal is None where it names
    nobody who spoke.
    """
    import numpy as np

    asked: dict[int, set[int]] = {}
    for place, word in enumerate(question.words):
        for term in () if word.weak else word.terms:
            asked.setdefault(term_key(SPEAKER + term), set()).add(place)
    found = index.find(np.array(sorted(asked), dtype=np.uint64))
    named = found.key[np.diff(found.key, prepend=-1) > 0]  # `np.unique` would load `np.ma`, which takes longer
    aside = np.zeros(len(question.words), dtype=np.bool_)
    several = len(named) + (mine is not None)
    if not several:
        return None, aside
    aside[sorted(set().union(*(asked[sorted(asked)[key]] for key in named.tolist())))] = True
    score = np.zeros(len(index), dtype=np.float32)
    score[found.row] = np.float32(1 / several)
    if mine is not None:
        score[mine] = np.float32(1 / several)
    return Signal(name="speaker", score=score, found=_nothing(index)), aside


def role_signal(question: Question, index: DecodedIndex, told: Told) -> Signal | None:
    """What people said, and what was learnt of it; where a question asks for the assistant's words, those.

    A person asks their assistant mostly for what they told it, also where the grammar does not say so. A memory is of
    whoever said what it quotes, and half of that where it has nothing of the kind that is asked for. None where people
    with names talk with each other: who of them spoke is the speaker signal's.
    """
    import numpy as np

    if two_people(index):
        return None
    whose = index.columns["role"] == ROLE_OF["assistant"] if question.person.second else _theirs(index)
    score = whose.astype(np.float32)
    for row, said in told.quoted.items():
        score[row] = whose[said].any()
    score[[*told.unfit]] *= np.float32(OTHER_KIND)
    return Signal(name="role", score=score, found=_nothing(index))


def advice_signal(question: Question, index: DecodedIndex) -> Signal | None:
    """What the user states of themselves in short, where they ask for advice.

    What they like, avoid or cannot have seldom shares a word with "I'm visiting Spain, what should I try?". Told by the
    grammar of proposals. None where people with names talk, or the question goes on with a conversation.
    """
    import numpy as np

    if question.goes_on or question.person.second or two_people(index) or not proposes(question.text):
        return None
    terms = first_terms(question.text)
    score: Floats | None = index.memo.get(("of oneself", terms))
    if score is None:
        asking, own = (np.zeros(len(index), dtype=np.bool_) for _ in range(2))
        asking[index.find(np.array([term_key(ASKING)], dtype=np.uint64)).row] = True
        own[index.find(np.array(sorted(map(term_key, terms)), dtype=np.uint64)).row] = True
        message = index.columns["kind"] == KIND_OF["message"]
        states = own & ~asking & message & (index.columns["length"] <= OF_ONESELF)
        score = (states & _theirs(index)).astype(np.float32)
        index.memo["of oneself", terms] = score
    return Signal(name="advice", score=score, found=_nothing(index))


def _theirs(index: DecodedIndex) -> Mask:
    """What people said, and what was learnt of it."""
    import numpy as np

    people = np.isin(index.columns["role"], [ROLE_OF["user"], ROLE_OF["participant"]])
    theirs: Mask = people | (index.columns["kind"] != KIND_OF["message"])
    return theirs


def two_people(index: DecodedIndex) -> bool:
    """Whether people talk with each other.

    Other people than the user said more than an assistant did, or there are names and no assistant at all.
    """
    import numpy as np

    held: bool | None = index.memo.get("two people")
    if held is None:
        role = index.columns["role"]
        others, assistants = (int((role == ROLE_OF[writer]).sum()) for writer in ("participant", "assistant"))
        named = bool(len(index.find(np.array([term_key(NAMED)], dtype=np.uint64)).row))
        held = index.memo["two people"] = others > assistants or (named and not assistants)
    return held


def reply_signal(index: DecodedIndex) -> Signal | None:
    """What states before what asks, and what follows a question before what nobody asked for; whatever the question.

    An answer is seldom in the words of its question. Who asks back in the same breath has answered all the same. None
    but where people with names talk: an assistant answers every question, and its answers are not what one looks for.
    """
    import numpy as np

    if not two_people(index):
        return None

    score: Floats | None = index.memo.get("reply")
    if score is None:
        turns = turns_of(index, SCORING)
        found = index.find(np.array([term_key(ASKING)], dtype=np.uint64))
        asking = np.zeros(len(index), dtype=np.float32)
        asking[found.row] = 1
        score = np.full(len(index), STATES, dtype=np.float32)
        score[turns.pick] += turns.before(asking[turns.pick]) * np.float32(REPLIES)
        ends = found.row[found.frequency > 1]
        length = np.maximum(index.columns["length"][ends], BRIEF_QUESTION)
        score[ends] -= (ASKS * BRIEF_QUESTION / length).astype(np.float32)
        index.memo["reply"] = score
    return Signal(name="reply", score=score, found=_nothing(index))


def key_signal(
    question: Question, facts: Sequence[tuple[int, Memory]], index: DecodedIndex, others: Mask | None = None
) -> Signal | None:
    """Facts by how much of their subject and attribute the question names, in its words or in what it asks for.

    What is asked for is found, also where it shares no word with the question. `facts` are (row, fact), `others` is
    what other people than whoever asks told of themselves.
    """
    import numpy as np

    score = np.zeros(len(index), dtype=np.float32)
    asked = {term for word in question.words if not word.weak for term in word.terms}
    wanted = asked_concepts(question.text) if facts else frozenset[str]()
    for row, fact in facts:
        subject = "" if fact.subject in {None, "user"} else fact.subject
        named = [word.terms for word in analyse_query(f"{subject} {fact.attribute}") if not word.weak]
        if named:
            score[row] = sum(not asked.isdisjoint(terms) for terms in named) / len(named)
        if wanted and (concepts := concepts_of(fact)):
            score[row] = max(score[row], len(wanted & concepts) / len(concepts))
        elses = others is not None and bool(others[row])
        if score[row] >= ASKED_FOR and (elses or not asks_for(question.text, fact)):
            score[row] *= ELSES
    return Signal(name="key", score=score, found=(score >= ASKED_FOR) & index.active) if score.any() else None


def time_signal(question: Question, index: DecodedIndex) -> Signal | None:
    """What was said in a time that the question names; None without one.

    It prefers and never filters. Where nothing but a time is asked for, what was said then is found.
    """
    import numpy as np

    at = index.columns["event_time"]
    score = np.zeros(len(index), dtype=np.float32)
    shoulder = SHOULDER / timedelta(microseconds=1)
    for one in question.times:
        start, end = micros(one.start), micros(one.end)
        gap = np.maximum(np.maximum(start - at, at - end + 1), 0)
        score = np.maximum(score, np.clip(1 - gap / shoulder, 0, 1).astype(np.float32))
    if not score.any():
        return None
    inside = (score >= 1) & index.active if question.only_time else _nothing(index)
    if question.goes_on and not question.only_time:
        score *= np.float32(ASIDE)
    return Signal(name="time", score=score, found=inside)


def order_signal(question: Question, index: DecodedIndex, about: Floats) -> Signal | None:
    """Where order words ask for the last or the first, the messages that match by when they were said.

    `about` is how far each document matches. None without such a word, where a time says when, and where the order is
    another ("What should I try first?", "Which did you name first?").
    """
    import numpy as np

    latest = order_of(question.text)
    if latest is None or question.goes_on or question.times or question.person.second:
        return None
    if proposes(question.text):
        return None
    near = (about > 0) & (about >= AS_ALIKE * about.max(initial=0))
    rows = np.flatnonzero(near & index.living & (index.columns["kind"] == KIND_OF["message"]))
    if len(rows) < 2:
        return None
    order = rows[np.argsort(index.columns["event_time"][rows], kind="stable")]
    score = np.zeros(len(index), dtype=np.float32)
    score[order if latest else order[::-1]] = np.linspace(0, 1, len(order), dtype=np.float32)
    return Signal(name="order", score=score, found=_nothing(index))


def recency_signal(question: Question, index: DecodedIndex, now: int) -> Signal | None:
    """How lately something was said, halving every 14 days; None for a question that stands alone."""
    import numpy as np

    if not question.goes_on:
        return None
    age = np.maximum(now - index.columns["event_time"], 0) / (HALF_LIFE / timedelta(microseconds=1))
    return Signal(name="recency", score=np.exp2(-age).astype(np.float32), found=_nothing(index))


def _nothing(index: DecodedIndex) -> Mask:
    import numpy as np

    return np.zeros(len(index), dtype=np.bool_)
