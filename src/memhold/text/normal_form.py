"""Unicode's normal forms in time that grows with the text, whatever the text is.

Putting combining marks into their order takes quadratic time in their number (80 kB of two marks in turn: 7 s, in which
no other thread runs), and nobody writes thirty marks on a letter.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, Literal

__all__ = ["MOST_MARKS", "normal_form"]

MOST_MARKS: Final = 30
"""Combining marks in a row that are put in order: as many as the Stream-Safe Text Format has (UAX #15)."""
_SHORT: Final = 1024
_RUN: Final = re.compile(rb"[^\0]{%d,}" % (MOST_MARKS + 1))
# Characters of class 0 whose forms begin with a mark: Tibetan vowels, the voiced marks of halfwidth Katakana.
_ODD: Final = dict.fromkeys((0x0F73, 0x0F75, 0x0F81, 0xFF9E, 0xFF9F), "\u0301")


def normal_form(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """A text in a normal form; of a run of more than thirty combining marks, all after the thirtieth are left out."""
    if text.isascii():
        return text
    if len(text) > _SHORT:
        text = _without_long_runs(text)
    return unicodedata.normalize(form, text)


def _without_long_runs(text: str) -> str:
    # One byte for each character: its combining class, 0 for what is no mark.
    classes = bytes(map(unicodedata.combining, text.translate(_ODD)))
    kept: list[str] = []
    end = 0
    for run in _RUN.finditer(classes):
        kept.append(text[end : run.start() + MOST_MARKS])
        end = run.end()
    return text if not kept else "".join((*kept, text[end:]))
