"""Whether lines have the names of a claim: of persons, places, paths and identifiers. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from memhold.consolidate.clause_subjects import own_names_in
from memhold.consolidate.grounding.claims import ROLES, Claim, Line
from memhold.consolidate.grounding.words import is_a_word, literally
from memhold.facts.keys import canonical
from memhold.facts.keys.key_reading import BY_NAME, read
from memhold.text.details import Detail, content_terms, details, holds
from memhold.text.function_words import EVIDENCE
from memhold.text.negation import negates
from memhold.text.times import calendar_names
from memhold.text.when import days_of, named_days

__all__ = ["about_stands", "german_noun", "name_stands", "names_a_thing", "names_of", "other_place", "own_names"]

_PROPER: Final = frozenset(
    [
        "name",
        "given_name",
        "surname",
        "full_name",
        "nickname",
        "username",
        "maiden_name",
        "middle_name",
        "birthplace",
        "hometown",
        "residence",
        "residence_city",
        "address",
        "city",
        "country",
        "workplace",
        "company",
        "email",
        "phone_number",
        "mobile_number",
        "street",
        "brand",
        "model",
        *BY_NAME,
    ]
)
"""Concepts of keys whose value is a name or a number that somebody gave: nobody infers one."""


_ASKED = 200
"""Characters at the end of an attribute in which what it asks for stands: no phrase of a lexicon has forty."""


def names_a_thing(frame: str) -> bool:
    """Whether what an attribute asks for is a name: it stands in a line, or nobody said it."""
    end = frame[-_ASKED:]
    asked = (read(end, language).tokens[-1:] for language in canonical(None, end).languages)
    return any(token.id in _PROPER for tokens in asked for token in tokens)


_PLACES = re.compile(
    r"(?P<noun>[가-힣]{2,6}?)(?P<mark>에서(?![가-힣])|에(?=\s(?:계|살|거주|있|위치)))"
    r"|(?P<ja>[\u3400-\u9fff\u30a0-\u30ff]{2,8})(?P<ja_mark>で|から|へ)"
)


def other_place(core: str, lines: Sequence[Line], window: Sequence[Line]) -> bool:
    """Whether a noun that is marked as a place stands in no line, where a line has another with the same mark."""
    within = " ".join(line.text for line in window)
    there = {
        (one["noun"] or one["ja"], one["mark"] or one["ja_mark"])
        for line in lines
        for one in _PLACES.finditer(line.text)
    }
    for one in _PLACES.finditer(core):
        noun, mark = one["noun"] or one["ja"], one["mark"] or one["ja_mark"]
        if noun not in within and any(other == mark and held not in core for held, other in there):
            return True
    return False


_AN_AGE = re.compile(r"(?i)\w+-(?:year|month|week|day)s?-old")
"""How old somebody is, which looks like an identifier: its number is a detail of its own."""


def names_of(claim: Claim, window: Sequence[Line]) -> Iterator[Detail]:
    """The names, paths and identifiers that a claim must have from a line.

    A capital at the beginning of a sentence is a name where nothing in the window is that word. A value is no sentence:
    its first capital counts, so that a conclusion in words of the model's own begins with a small letter or goes.
    """
    own = own_names(window)
    for detail in details(claim.core):
        if detail.kind not in _HARD or detail.text.casefold() in own | ROLES or _AN_AGE.fullmatch(detail.text):
            continue
        if claim.language == "german" and detail.kind == "name" and german_noun(detail.text, claim.core, window):
            continue
        if detail.sure or not _begins(detail.text, claim.core) or not is_a_word(detail.text, window):
            yield detail
    first = _CAPITAL.match(claim.core.lstrip("\"'“„«([ "))
    begins = first is not None and not claim.value and _subject_first(first[0], claim.language)
    role = first is not None and first[0].casefold() in ROLES
    if first is not None and begins and not role and not is_a_word(first[0], window) and not _functional(first[0]):
        yield Detail(kind="name", text=first[0])
    if claim.value:
        for match in _CAPITAL.finditer(claim.core):
            if claim.language == "german" and german_noun(match[0], claim.core, window):
                continue
            if not is_a_word(match[0], window):
                yield Detail(kind="name", text=match[0])
        dated = [span for _, _, span in named_days(claim.core, window[0].at)] if window else []
        for match in _JOINED.finditer(claim.core):
            if any(start <= match.start() < end for start, end in dated):
                continue
            pieces = [piece for piece in re.split(r"[\W_]+", match[0]) if piece]
            if len(pieces) > 1 and not all(is_a_word(piece, window) for piece in pieces):
                yield Detail(kind="code", text=match[0])


_GERMAN_ARTICLE = re.compile(
    r"(?i)\b(?:der|die|das|den|dem|des|ein(?:e[nmrs]?)?|kein(?:e[nmrs]?)?|(?:mein|dein|sein|ihr|unser)(?:e[nmrs]?)?"
    r"|im|am|vom|zum|zur|beim|ins"
    r"|jede[nmrs]?|alle[nr]?|viele[nr]?|\d+|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|\w+(?:zig|ßig|zehn)"
    r"|hundert|tausend)\s+(?:\w+e[nmrs]?\s+)?\Z"
)

COMPOUND: Final = 4
"""Letters that two German compounds share at their beginning where they are of one word."""


def german_noun(word: str, text: str, window: Sequence[Line]) -> bool:
    """Whether a German capital is a noun's: behind an article, or in a compound with a word that the lines have."""
    place = text.find(word)
    if place > 0 and _GERMAN_ARTICLE.search(text[:place]) is not None:
        return True
    start = word[:COMPOUND].casefold()
    held = (one for line in window for one in re.findall(r"[^\W\d_]{5,}", line.text.casefold()))
    return len(word) > COMPOUND + 2 and any(one.startswith(start) for one in held)


def _functional(word: str) -> bool:
    return word.casefold() in EVIDENCE or negates(word)


def _subject_first(word: str, language: str) -> bool:
    """Whether a sentence's first word is its subject: not in languages that leave it out, nor an English verb form."""
    if language == "english":
        return not word.endswith(("s", "ed", "ing"))
    return language in {"german", "french", "dutch", "swedish", "danish", "norwegian"}


_HARD: Final = frozenset({"name", "code", "path", "address"})

_CAPITAL = re.compile(r"(?<!\w)(?=[^\W\d_])(?:[A-Z\u00c0-\u00de\u0391-\u03ab\u0410-\u042f])\w+")

_JOINED = re.compile(r"(?:\w|(?<=\w)[-./@:](?=\w))+")
"""A word, or words with signs between them; what is joined has one that is no letter and no digit inside."""


def _begins(word: str, text: str) -> bool:
    return text.lstrip("\"'“„«([ ").startswith(word)


def name_stands(detail: Detail, lines: Sequence[Line], window: Sequence[Line]) -> bool:
    """Whether a line has a name; of a person, also as whoever speaks, and as a day of the calendar, by a date."""
    if any(holds(line.text, detail) or literally(detail.text, line.text) for line in lines):
        return True
    wanted = detail.text.casefold()
    if any(line.speaker and wanted in line.speaker.casefold().split() for line in window):
        return True
    for line in lines:
        if any(
            wanted in calendar_names(start) for start, end in days_of(line.text, line.at) if (end - start).days <= 31
        ):
            return True
    # A name may stand in the line before, of which a cited line speaks on.
    before = {line.place - 1 for line in lines} | {line.place - 2 for line in lines}
    return any(line.place in before and holds(line.text, detail) for line in window)


def about_stands(about: str, window: Sequence[Line]) -> bool:
    """Whether a line speaks of whom a claim is about, or one of them speaks."""
    terms = content_terms(about)
    if (
        not terms
        or any(literally(about, line.text) for line in window)
        or any(line.speaker and about.casefold() in line.speaker.casefold() for line in window)
    ):
        return True
    held = frozenset(term for line in window for term in content_terms(line.text))
    return bool(terms & held)


def own_names(window: Sequence[Line]) -> frozenset[str]:
    """The names that the user goes by in a window."""
    return own_names_in((line.text for line in window if line.own), (line.text for line in window if not line.own))
