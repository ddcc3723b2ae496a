"""One line of the classifier's table, and how its codes and words are written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from memhold.values.errors import FailureClass

__all__ = ["SPOKEN_FOR", "Rule", "codes", "words"]

SPOKEN_FOR: Final = frozenset({401, 402, 403, 404, 405, 410, 413})
"""Statuses that say by themselves what is wrong: lines about the payload do not overrule them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One line of the table: what it looks for, where it holds, and the class that follows."""

    name: str
    cls: FailureClass
    why: str
    codes: frozenset[str] = frozenset()
    words: re.Pattern[str] | None = None
    statuses: frozenset[int] | None = None
    not_statuses: frozenset[int] = frozenset()
    kind: Literal["chat", "embedding"] | None = None
    slow: bool = False
    refused: bool = False


def codes(text: str) -> frozenset[str]:
    """Codes in normal form, separated by spaces."""
    return frozenset(text.split())


def words(*patterns: str) -> re.Pattern[str]:
    """One pattern that finds any of these in lower-case words."""
    return re.compile("|".join(patterns), re.DOTALL)
