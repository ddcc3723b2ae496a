"""Names, code, paths and addresses of the sources are in the text, and no others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from memhold.compact.check.case import Case, Source
from memhold.compact.check.past import left_behind
from memhold.compact.check.terms import terms_of
from memhold.text.details import Detail, content_terms, details, holds
from memhold.text.figures import figures
from memhold.text.marks import marks

__all__ = ["MOST", "QUOTED", "details_of", "invented_names", "lost_names", "named", "participants", "terms_of_names"]

MOST = 40
"""Details of a text that are compared two by two."""


QUOTED = 40
"""Quoted words up to that length are told as they stand; of longer ones what they say."""


_TO_THE_LETTER: Final = frozenset({"code", "path", "address"})


_TITLES: Final = frozenset(
    ["dr", "prof", "mr", "mrs", "ms", "mme", "herr", "frau", "sr", "sra", "dott", "user", "users"]
)


_TITLED: Final = re.compile(r"(?<!\w)(?:Dr\.|Prof\.|Herrn?|Frau)\s+([A-ZÄÖÜ][\w-]+)")


@lru_cache(maxsize=4096)
def named(text: str) -> tuple[Detail, ...]:
    """Names, code, paths and addresses of a text; numbers only where letters stand in them (versions, hashes)."""
    return tuple(
        one
        for one in details(text)
        if (one.kind in _TO_THE_LETTER and not _DIGITS.fullmatch(one.text))
        or (one.kind == "quoted" and len(one.text) < QUOTED)
        or (one.kind == "name" and one.text.casefold() not in _TITLES and not marks(one.text))
        or (one.kind == "number" and _mixed(one.text))
    )


_DIGITS: Final = re.compile(r"[\d/.:\-]+")


def _mixed(token: str) -> bool:
    return token[:1] == "+" or (not figures(token) and any(char.isdigit() for char in token))


def lost_names(case: Case) -> str | None:
    """Say which name of what holds the text lacks."""
    for source in case.kept:
        for one in (*named(source.text), *_labels(source)):
            if one.kind == "name" and (not one.sure or case.nouns) and not _name_elsewhere(one, case):
                continue
            if holds(case.text, one) or _spelled_alike(one, case.text) or left_behind(one.text, source, case):
                continue
            return f"{one.text!r} is not in the text"
    return None


def _labels(source: Source) -> Iterator[Detail]:
    for label in source.labels:
        named = Detail(kind="name", text=label)
        if holds(source.text, named):
            yield named


def _name_elsewhere(one: Detail, case: Case) -> bool:
    """Whether a capital that a sentence or a language may have given is a name in another of the texts, or a label."""
    if case.nouns:
        return one.text.casefold() in {label.casefold() for source in case.sources for label in source.labels}
    every = (case.text, *(source.text for source in case.sources))
    return any(
        other.sure and other.kind == "name" and other.key == one.key for text in every for other in details(text)
    )


def _spelled_alike(one: Detail, text: str) -> bool:
    """Whether a name stands there in another form of its word: a genitive, a plural, joined by a hyphen."""
    wanted = one.text.casefold()
    if one.kind != "name" or len(wanted) < 3:
        return False
    return any(
        word.startswith(wanted[: max(3, len(wanted) - 2)]) and abs(len(word) - len(wanted)) <= 3
        for word in re.findall(r"[^\W\d_]+", text.casefold())
    )


def invented_names(case: Case) -> str | None:
    """Say which name of the text no source has."""
    held = case.within
    for one in named(case.text):
        if (
            holds(held, one)
            or _spelled_alike(one, held)
            or any(one.key in map(str.casefold, s.labels) for s in case.sources)
        ):
            continue
        if one.kind == "name" and (not one.sure or case.nouns):
            continue
        if one.kind == "name" and content_terms(one.text) <= content_terms(held):
            continue
        return f"{one.text!r} is in no memory"
    return None


def participants(case: Case) -> list[str]:
    """The names of the sources, as they stand there."""
    found: dict[str, None] = {}
    for source in case.kept:
        for one in named(source.text):
            if one.kind == "name" and not case.nouns and (one.sure or _name_elsewhere(one, case)):
                found.setdefault(one.text)
        # Where every noun has a capital, a title says that a name follows.
        for match in _TITLED.finditer(source.text) if case.nouns else ():
            found.setdefault(match[1])
    return list(found)[:MOST]


def terms_of_names(names: Sequence[str], language: str) -> frozenset[str]:
    """The terms of all these names."""
    return frozenset[str]().union(*(terms_of(one, language) for one in names))


def details_of(sources: Sequence[Source]) -> list[str]:
    """The names and figures of these sources, as they stand there."""
    found: dict[str, None] = {}
    for source in sources:
        for one in named(source.text):
            if one.sure or one.kind != "name":
                found.setdefault(one.text)
        for figure in figures(source.text):
            if not figure.loose:
                found.setdefault(source.text[figure.start : figure.end])
    return list(found)
