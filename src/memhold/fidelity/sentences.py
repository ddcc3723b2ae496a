"""The sentences of a text: a full stop behind an abbreviation, a number in a row or in a figure ends none. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from memhold.languages.tables import any_of, speech

# ruff: noqa: RUF001 - punctuation of every script

__all__ = ["sentences"]

_END: Final = re.compile(r"(?:(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s|\Z)|[。！？；؟।]+[”」』）\"]*|\n+)")
_LONGEST: Final = 40
"""Characters of the word before a full stop that are looked at: no abbreviation is longer."""
_NEXT: Final = re.compile(r"\s*[\"'“‘«(\[]*([^\W_]+)")
_INITIAL: Final = re.compile(r"\A[^\W\d_]\Z")
_PLACE: Final = re.compile(r"\A\d{1,2}\Z")


def sentences(text: str, codes: tuple[str, ...]) -> list[str]:
    """The sentences in their order, without the blanks around them; together they hold everything."""
    found: list[str] = []
    begin = 0
    for mark in _END.finditer(text):
        if not _ends(text, begin, mark, codes):
            continue
        found.append(text[begin : mark.end()].strip())
        begin = mark.end()
    found.append(text[begin:].strip())
    return [one for one in found if one]


def _ends(text: str, begin: int, mark: re.Match[str], codes: tuple[str, ...]) -> bool:
    if mark[0] != ".":
        return True
    before = re.split(r"\s", text[max(begin, mark.start() - _LONGEST) : mark.start()])[-1]
    word = before.strip("\"'“‘«([").lower()
    following = _NEXT.match(text, mark.end())
    nearest = following[1].lower() if following else ""
    short, ordinal, function = _lists(codes)
    if short.fullmatch(word) or short.fullmatch(f"{word}.") or (_INITIAL.match(word) and word not in function):
        return not nearest
    return not (ordinal and _PLACE.match(word) and nearest and nearest not in function)


@lru_cache(maxsize=128)
def _lists(codes: tuple[str, ...]) -> tuple[re.Pattern[str], bool, frozenset[str]]:
    own = speech(codes)
    marks = own.words("numbers", "ordinal_marks")
    return (
        re.compile(any_of(own.words("words", "abbreviations"))),
        "." in marks,
        frozenset(own.words("words", "function")),
    )
