"""Whether an attribute says of what somebody's value is. Pure.

A small model must write an attribute for whatever it finds, and where it finds no word for it, it writes any: "date",
"request", "level". What such a one says, its sentence says better.
"""

from __future__ import annotations

import re
from typing import Final

from memhold.facts.keys import canonical
from memhold.facts.keys.key_reading import read
from memhold.fidelity.quotes import plain

__all__ = ["says_of_what"]

_OF_WHAT: Final = frozenset(
    {
        *("amount", "balance", "condition", "cost", "count", "date", "duration", "frequency", "hour", "length"),
        *("limit", "list", "minute", "month", "no", "number", "quantity", "rate", "reason", "result", "season"),
        *("shape", "size", "state", "status", "subject", "temperature", "time", "topic", "type", "value"),
        *("version", "weather", "week", "width", "year"),
    }
)
"""Concepts of keys that are a measure or a part of something else, and do not say of what."""
_ADDS_NOTHING: Final = frozenset({"qualifier", "mine", "now", "article", "intensifier"})
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_STEM: Final = 5


def says_of_what(attribute: str, quote: str) -> bool:
    """Whether the lexicon of keys has a word of it that is more than a measure, or the quoted words have one."""
    for language in canonical(None, attribute).languages:
        tokens = [one for one in read(attribute, language).tokens if one.kind not in _ADDS_NOTHING]
        if any(one.kind != "unknown" for one in tokens):
            return not all(one.id in _OF_WHAT for one in tokens)
    begun = {word[:_STEM] for word in _WORD.findall(plain(quote))}
    return any(word[:_STEM] in begun for word in _WORD.findall(plain(attribute)))
