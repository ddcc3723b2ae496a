"""Finding a quote in the line that it is of: verbatim, but for white space, case, width and quotation marks. Pure."""

from __future__ import annotations

import re
from typing import Final

from memhold.text.normal_form import normal_form

# ruff: noqa: RUF001 - quotation marks and dashes of every script

__all__ = ["in_line", "plain"]

_DOUBLE: Final = dict.fromkeys(map(ord, "“”„‟«»「」『』《》〈〉〝〞"), '"')
_SINGLE: Final = dict.fromkeys(map(ord, "‘’‚‛‹›`"), "'")
_DASHES: Final = dict.fromkeys(map(ord, "‐‑‒–—−"), "-")
_MARKS: Final = _DOUBLE | _SINGLE | _DASHES
_ELLIPSIS: Final = re.compile(r"\[\s?\.{3,}\s?\]|\(\s?\.{3,}\s?\)|\.{3,}")
_BLANK: Final = re.compile(r"\s+")


def plain(text: str) -> str:
    """A text in one form of all that may differ in a quote: width, quotation marks and dashes, white space, case."""
    # An acute accent that stands alone is taken apart by the normal form.
    straight = normal_form("NFKC", text.replace("´", "'")).translate(_MARKS)
    return _BLANK.sub(" ", straight).strip().lower()


def in_line(quote: str, text: str) -> bool:
    """Whether a line has the words of a quote; the parts around an ellipsis stand in their order.

    A quote without a letter or a digit is none; a text's own dots are read as an ellipsis too, and found.
    """
    held = plain(text)
    parts = [part.strip(" \"'") for part in _ELLIPSIS.split(plain(quote))]
    parts = [part for part in parts if any(char.isalnum() for char in part)]
    at = 0
    for part in parts:
        place = held.find(part, at)
        if place < 0:
            return False
        at = place + len(part)
    return bool(parts)
