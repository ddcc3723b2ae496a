"""A bound that is denied is the bound on the other side: "must not fall below 12" is "above 12". Pure."""

from __future__ import annotations

import re
from typing import Final

# ruff: noqa: RUF001 - words of every script

__all__ = ["denied_bound"]

_DENIED: Final = re.compile(
    r"(?<!\w)(?:not|never|cannot|\w+n['’]t|nicht|nie|niemals|pas|jamais|no|nunca|non|mai|não|niet|nooit|не|никогда)"
    r"\s+(?:\w+\s+){0,2}\Z",
    re.IGNORECASE,
)
_FIGURE: Final = re.compile(r"\s{0,3}(?:\w{1,30}\s{1,3})?\d")
NEAR = 40
"""Characters before a bound in which a word that denies it is looked for."""


def denied_bound(text: str, start: int, end: int) -> bool:
    """Whether the word from `start` to `end` bounds a figure behind it, and a word before it denies that."""
    return _FIGURE.match(text, end) is not None and _DENIED.search(text, max(0, start - NEAR), start) is not None
