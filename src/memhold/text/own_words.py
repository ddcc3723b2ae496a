"""Which sentences of a message a person wrote themselves: no code, no quotations, no pasted lines. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from memhold.languages.tables import any_of, languages, speech
from memhold.text import lazily
from memhold.text.sentences import Span, sentences

# ruff: noqa: RUF001 - quotation marks of every script

__all__ = ["own_sentences", "without_quotes"]

OPENING = 60
"""Characters at the beginning of a line that show whether it was pasted."""
_QUOTED = lazily.compile(
    r"“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»|‹[^‹›]*›|「[^「」]*」|『[^『』]*』|(?<!\w)\"[^\"\n]*\"|(?<!\w)['‘‚][^'‘’\n]{4,}['‘’](?!\w)|`[^`\n]*`"
)
_MARK = lazily.compile("[“„«‹「『\"'‘‚’`]")
_PASTED_LINE = lazily.compile(r"\s*(?:>|[-*•+]\s|\d{1,2}[.)]\s|#{1,6}\s|\||\w[\w .]{0,30}:\s*$|\*\*|//|/\*)")


@cache
def _letter() -> re.Pattern[str]:
    words = speech(tuple(languages())).words("words", "letters")
    return re.compile(rf"\s{{0,16}}{any_of(words)}", re.IGNORECASE)


def own_sentences(text: str) -> Iterator[Span]:
    """The sentences that a person wrote themselves: no code, no quotations, no pasted lines and nothing below them."""
    pasted = False
    end = line = 0
    for span in sentences(text):
        gap = text[end : span.start]
        end = span.end
        if "\n" in gap:
            line = span.start
        if "\n\n" in gap:
            pasted = False
        if span.code or _PASTED_LINE.match(text, line, line + OPENING) or _letter().match(text, line, line + OPENING):
            pasted = True
        if pasted:
            continue
        yield span
        if span.of(text).endswith((":", "：")) and text[span.end : span.end + 1] == "\n":
            pasted = True


def without_quotes(text: str) -> str:
    """A text of the same length in which nothing stands where it quotes something, and apostrophes are straight."""
    if _MARK.search(text) is None:
        return text
    return _QUOTED.sub(lambda quote: "…" * len(quote[0]), text).replace("’", "'")
