"""Sentences of a text, as spans: what is said in one clause of a long message is found and shown by itself. Pure.

A sentence ends at its mark, at a line's end or at a clause mark where it is very long. Code in a fence of backticks is
one piece of its own. What is too short to say something alone ("Yes.", "2.") goes with what follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memhold.text import lazily
from memhold.text.letter_words import WIDE

# ruff: noqa: RUF001 - punctuation of every script

__all__ = ["MOST", "Span", "is_asked", "pieces", "sampled", "sentences"]

MOST = 8
"""Pieces of one text that get a vector; a longer text is sampled."""
SHORT = 12
"""Characters up to which a sentence goes with the next one; a character of a script without spaces counts three."""
LONG = 400
"""Characters from which on a sentence is cut at its clauses, and a line without any mark in two."""
CODE = 600
"""Characters of a block of code that are looked at: its beginning says what it is."""

_QUESTION_MARKS = ("?", "？", "؟")
_CODE = lazily.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_END = lazily.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?=\s)|[。！？；]+[”」』）]*|\n+")
# Possessive, and from the first mark of a run only: a run of a million dots is read once, not once a dot.
_CLAUSE = lazily.compile(r"[,;:](?=\s)|[，、：]")


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text: from where to where."""

    start: int
    end: int
    code: bool = False

    def of(self, text: str) -> str:
        """What stands there."""
        return text[self.start : self.end]


def sentences(text: str) -> list[Span]:
    """The sentences of a text in their order, without the blanks around them; code is a piece by itself.

    Together they hold everything that is not blank.
    """
    found: list[Span] = []
    at = 0
    for block in _CODE.finditer(text):
        found += _prose(text, at, block.start())
        found += _trimmed(text, block.start(), block.end(), code=True)
        at = block.end()
    return [*found, *_prose(text, at, len(text))]


def pieces(text: str) -> list[Span]:
    """At most `MOST` pieces of a text that stand for it: its sentences, of a longer one samples from end to end."""
    return sampled(sentences(text))


def sampled(found: Sequence[Span]) -> list[Span]:
    """The pieces that stand for a text of these sentences."""
    short = [Span(one.start, min(one.end, one.start + CODE), True) if one.code else one for one in found]
    if len(short) <= MOST:
        return short
    return [short[round(place * (len(short) - 1) / (MOST - 1))] for place in range(MOST)]


def is_asked(clause: str) -> bool:
    """Whether a clause ends in a question mark of any script."""
    return clause.rstrip().endswith(_QUESTION_MARKS)


def _prose(text: str, start: int, end: int) -> list[Span]:
    edges = [start, *(one.end() for one in _END.finditer(text, start, end)), end]
    found: list[Span] = []
    begin = start
    for place in edges[1:]:
        if place < end and _size(text[begin:place]) <= SHORT and "\n" not in text[begin:place].strip(" \t"):
            continue
        for span in _trimmed(text, begin, place):
            found += _cut(text, span) if span.end - span.start > LONG else (span,)
        begin = place
    return found


def _size(text: str) -> int:
    stripped = text.strip()
    return len(stripped) + 2 * len(WIDE.findall(stripped))


def _cut(text: str, span: Span) -> Iterator[Span]:
    """A very long sentence at the last clause mark, else blank, before each limit."""
    begin = span.start
    while span.end - begin > LONG:
        marks = [one.end() for one in _CLAUSE.finditer(text, begin + LONG // 4, begin + LONG)]
        blank = text.rfind(" ", begin + LONG // 4, begin + LONG)
        at = marks[-1] if marks else blank if blank > 0 else begin + LONG
        yield from _trimmed(text, begin, at)
        begin = at
    yield from _trimmed(text, begin, span.end)


def _trimmed(text: str, start: int, end: int, *, code: bool = False) -> Sequence[Span]:
    inner = text[start:end]
    start += len(inner) - len(inner.lstrip())
    end -= len(inner) - len(inner.rstrip())
    return [Span(start, end, code)] if end > start else ()
