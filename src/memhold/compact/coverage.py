"""How a merge tells each clause of its sources: its no, its relations, and each of its words. Pure.

Clauses are matched by the words that they share. What a clause says in other words is not judged here; what comes back
nearly word for word, and yet says no where the source does not, turns a relation round, or lacks a word with none in
its place, is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import combinations

from memhold.compact.clauses import SAME, clauses, terms_in
from memhold.compact.relations import opposed, relations
from memhold.text.analysis import analyse, language_of, unspaced
from memhold.text.function_words import FUNCTION_WORDS
from memhold.text.negation import negates

# ruff: noqa: RUF001 - apostrophes as people write them

__all__ = ["Said", "misheard", "parts", "worn"]


_WORD = re.compile(r"\w+(?:['’\-]\w+)*")
_CHARACTER = re.compile(r"[\u3400-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HANGUL = re.compile(r"[\uac00-\ud7a3]+\Z")
PARTICLE = 2
"""Longest Korean particle or ending, in syllables."""
_WHY = re.compile(
    r"(?<!\w)(?:because|although|though|while|whereas|unless|weil|obwohl|während|parce qu\w*|porque|perché|aunque"
    r"|embora|sebbene|omdat|hoewel|eftersom|sondern|sino|bensì|senão|maar|lecz)(?!\w)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Said:
    """A clause of a source, how much its word weighs (trust, then time), and what shows its language."""

    clause: str
    rank: tuple[int, datetime]
    within: str

    @property
    def no(self) -> bool:
        """Whether it denies."""
        return negates(self.clause, self.within)


@lru_cache(maxsize=4096)
def parts(text: str) -> tuple[str, ...]:
    """The clauses of a text, and what each gives as its reason apart: it can say no on its own."""
    return tuple(part.strip() for clause in clauses(text) for part in _WHY.split(clause) if part.strip())


def _closeness(clause: str, other: str, language: str) -> tuple[float, float]:
    """The share of a clause's content words that the other has, and of all its words."""
    own, words = _matter(clause, language), _words(clause)
    there, others = frozenset(_matter(other, language)), _words(other)
    return (
        sum(terms_in(term, there) for term in own) / len(own) if own else 0.0,
        len(words & others) / len(words) if words else 0.0,
    )


@lru_cache(maxsize=4096)
def _terms(text: str, language: str) -> tuple[str, ...]:
    """The content terms of a text in a language: its stems there, without its function words and what denies."""
    empty = FUNCTION_WORDS.get(language, frozenset())
    text = _WORD.sub(lambda word: " " if _empty(word[0], empty) else word[0], text)
    return tuple(one for one in analyse(text, language).counts if one not in empty and (len(one) > 1 or one.isascii()))


def _empty(word: str, empty: frozenset[str]) -> bool:
    return word.casefold() in empty or (not unspaced(word) and negates(word))


@lru_cache(maxsize=4096)
def _matter(clause: str, language: str) -> tuple[str, ...]:
    """What a clause is about: its terms without the words that set them in relation."""
    bare = _WORD.sub(lambda word: " " if relations(word[0]) and not unspaced(word[0]) else word[0], clause)
    return _terms(bare, language)


@lru_cache(maxsize=4096)
def _words(clause: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(clause))


def misheard(
    sources: Sequence[Said], text: str, within: str, accounted: Iterable[tuple[str, tuple[int, datetime]]]
) -> str | None:
    """What the text says no to, or turns round, against the clauses that it retells; None where all stands.

    Where clauses that are as close say otherwise, the most trusted and then the newest has the word. `accounted` is
    what was dropped, and the weight of the source that says otherwise.
    """
    told, language = parts(text), language_of(within)
    for at, clause in enumerate(told):
        near = _nearest(clause, sources, language)
        if not near:
            continue
        newest = max(one.rank for one in near)
        last = [one for one in near if one.rank == newest]
        no = negates(clause, within)
        contrary = len(_terms(clause, language)) > 1 and all(one.no != no for one in last)
        if contrary and (no or not any(_goes_on(told, at, one, within, language) for one in last)):
            return "the text denies what is said, or says what is denied"
        if _turned(clause, last, within):
            return "the text turns round a relation of its sources"
        if any(_contradicts(other, one, language) for one in last for other in sources):
            return "the text keeps what a newer or more trusted source says otherwise"
    fragments = _fragments(told, within, language)
    gone = [(frozenset(_terms(what, language)), rank) for what, rank in accounted]
    for one in sources:
        own = _terms(one.clause, language)
        if not one.no or not own:
            continue
        best = max((_closeness(one.clause, clause, language)[0] for clause in told), default=0.0)
        near_text = [at for at, clause in enumerate(told) if _closeness(one.clause, clause, language)[0] == best]
        if best < SAME or any(
            negates(told[at], within) or at in fragments or _goes_on(told, at, one, within, language)
            for at in near_text
        ):
            continue
        if any(rank > one.rank and sum(terms_in(term, what) for term in own) >= len(own) * SAME for what, rank in gone):
            continue
        if any(not other.no and other.rank > one.rank and _closeness(one.clause, other.clause, language)[0] >= SAME
               for other in sources):  # fmt: skip
            continue
        return "a source says no, and the text does not"
    return None


def _nearest(clause: str, sources: Sequence[Said], language: str) -> list[Said]:
    """The clauses of the sources that a clause of the text retells: those that share the most words with it."""
    scored = [(_closeness(clause, one.clause, language), one) for one in sources]
    best = max((score for score, _ in scored), default=(0.0, 0.0))
    return [one for score, one in scored if score == best] if best[0] >= SAME else []


def _contradicts(newer: Said, older: Said, language: str) -> bool:
    """Whether a clause says the same as an older one but for its no, or but for a relation."""
    if newer.rank <= older.rank or newer.clause == older.clause:
        return False
    same = newer.no == older.no
    turned = bool(opposed(newer.clause, older.clause))
    if same != turned:
        return False
    alike = _closeness(newer.clause, older.clause, language)[0], _closeness(older.clause, newer.clause, language)[0]
    return len(_terms(older.clause, language)) > 1 and alike == (1.0, 1.0)


def _fragments(told: Sequence[str], within: str, language: str) -> frozenset[int]:
    """The places of single words that go on behind a clause that denies: "eats no fish, eggs and milk"."""
    found: set[int] = set()
    for at in range(1, len(told)):
        if len(_terms(told[at], language)) <= 1 and (negates(told[at - 1], within) or at - 1 in found):
            found.add(at)
    return frozenset(found)


def _goes_on(told: Sequence[str], at: int, one: Said, within: str, language: str) -> bool:
    """Whether what a clause of a source denies stands in the next clause of the text: "on paper and without stamps"."""
    here = frozenset(_terms(told[at], language))
    beside = [part for part in (*told[max(0, at - 1) : at], *told[at + 1 : at + 2]) if negates(part, within)]
    there = frozenset(term for part in beside for term in _terms(part, language))
    return any(terms_in(term, there) and not terms_in(term, here) for term in _refused(one.clause, language))


@lru_cache(maxsize=4096)
def _refused(clause: str, language: str) -> tuple[str, ...]:
    """What a clause says no to first: the terms of the word behind the one that denies, else of the one before it."""
    words = _WORD.findall(clause)
    place = next((at for at, word in enumerate(words) if negates(word)), None)
    if place is None:
        return ()
    beside = (*words[place + 1 :], *reversed(words[:place]))
    return next((terms for word in beside if (terms := _terms(word, language))), ())


def _turned(clause: str, near: Sequence[Said], within: str) -> bool:
    no = negates(clause, within)
    alike = [one for one in near if one.no == no]
    held = frozenset[tuple[int, int]]().union(*(relations(one.clause) for one in alike))
    return any(opposed(clause, one.clause) - held for one in alike)


def worn(source: str, sources: Sequence[str], text: str, accounted: Iterable[str]) -> bool:
    """Whether a clause comes back nearly whole and yet lacks a word, with nothing in its place or what nobody said.

    A word of another source in its place may say the same; that is left to the judge.
    """
    told, language = parts(text), language_of(" ".join(sources))
    there = _known(text)
    known = frozenset(word for one in sources for word in _known(one))
    gone = frozenset(word for one in accounted for word in _known(one))
    for clause in parts(source):
        own = _line(clause)
        carried = [at for at, word in enumerate(own) if _carries(word, language)]
        lost = [at for at in carried if not _held(own[at], there, language)]
        if not lost or len(carried) - len(lost) < max(2, len(carried) * SAME):
            continue
        if all(_held(own[at], gone, language) for at in lost):
            continue
        kept = [at for at in carried if at not in lost]
        words = [own[at] for at in kept]
        best = max(told, key=lambda part: sum(_held(word, _known(part), language) for word in words))
        if _recast(words, _line(best), language):
            continue
        # A clause that goes on behind another one may have left its subject there.
        carried_on = best != told[0]
        for at in lost:
            if carried_on and at < kept[0]:
                continue
            if not _replaced(_sides(at, own, kept), own, _line(best), known, language):
                return True
    return False


def _recast(kept: Sequence[str], told: Sequence[str], language: str) -> bool:
    """Whether what came back is told in another order: then a word may have gone with the way it was said."""
    places = [next((at for at, one in enumerate(told) if _same(word, one, language)), None) for word in kept]
    found = [at for at in places if at is not None]
    turned = sum(first > second for first, second in combinations(found, 2))
    return turned * 2 > len(found) * (len(found) - 1) // 2


def _sides(at: int, own: Sequence[str], kept: Sequence[int]) -> tuple[frozenset[str], frozenset[str]]:
    """What stands before and behind a lost word: the nearest word that came back."""
    before = [own[place] for place in kept if place < at][-1:]
    after = [own[place] for place in kept if place > at][:1]
    return frozenset(before), frozenset(after)


def _replaced(
    sides: tuple[frozenset[str], frozenset[str]],
    own: Sequence[str],
    told: Sequence[str],
    known: frozenset[str],
    language: str,
) -> bool:
    """Whether a word stands where the lost one stood: one of no content in its very place, or one of another source."""
    kept = frozenset(own)
    before, after = sides
    for line in (told, [word for word in told if _carries(word, language)]):
        for place, word in enumerate(line):
            carries = _carries(word, language)
            if carries == (line is told) or _held(word, kept, language):
                continue
            if carries and not _held(word, known, language):
                continue
            left, right = line[max(0, place - 1) : place], line[place + 1 : place + 2]
            ways = ((left, before), (right, after), *(((left, after), (right, before)) if carries else ()))
            if any(_held(one, side, language) for found, side in ways for one in found):
                return True
    return False


@lru_cache(maxsize=4096)
def _line(clause: str) -> tuple[str, ...]:
    """The words of a clause in their order, folded; of a Chinese text each character, since it has no words to see."""
    characters = _CHARACTER.search(clause) is not None and _KANA.search(clause) is None
    found: list[str] = []
    for word in _WORD.findall(clause):
        found += _CHARACTER.findall(word) if characters and _CHARACTER.search(word) else [word.casefold()]
    return tuple(found)


@lru_cache(maxsize=1024)
def _known(text: str) -> frozenset[str]:
    return frozenset(_line(text))


@lru_cache(maxsize=4096)
def _carries(word: str, language: str) -> bool:
    """Whether a word says something: it is no function word, and of a script whose words can be seen."""
    if (len(word) == 1 and _CHARACTER.match(word)) or _HANGUL.match(word):
        return True
    return not unspaced(word) and bool(_terms(word, language))


def _same(word: str, other: str, language: str) -> bool:
    """Whether two words are one, in another form too."""
    if word == other:
        return True
    if _HANGUL.match(word) and _HANGUL.match(other):
        root = max(1, min(len(word), len(other)) - PARTICLE)
        return word[:root] == other[:root]
    terms = frozenset(_terms(other, language))
    return any(terms_in(term, terms) for term in _terms(word, language))


def _held(word: str, words: frozenset[str], language: str) -> bool:
    """Whether a word is among these, in another form too."""
    if word in words:
        return True
    if _HANGUL.match(word):
        return any(_same(word, one, language) for one in words)
    there = _bag(words, language)
    return any(terms_in(term, there) for term in _terms(word, language))


@lru_cache(maxsize=1024)
def _bag(words: frozenset[str], language: str) -> frozenset[str]:
    return frozenset(term for word in words for term in _terms(word, language))
