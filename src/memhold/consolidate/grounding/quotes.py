"""Sentences that are told as they were said, word for word."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memhold.consolidate.grounding.claims import Claim, Line
from memhold.text.normal_form import normal_form

# ruff: noqa: RUF001 - punctuation of every script

__all__ = ["quoted"]

_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")


def quoted(claim: Claim, lines: Sequence[Line]) -> Line | None:
    """The user's line of which a sentence is a whole sentence, or several in a row, word for word."""
    if claim.value or claim.about:
        return None
    wanted = _sentences(claim.core)
    for line in lines:
        held = _sentences(line.text) if line.own else []
        if wanted and any(held[at : at + len(wanted)] == wanted for at in range(len(held))):
            return line
    return None


def _sentences(text: str) -> list[str]:
    found = (" ".join(normal_form("NFKC", one).casefold().split()) for one in _SENTENCE.split(text))
    return [plain for one in found if (plain := one.strip(" .!?…。！？"))]
