"""The outside of a text: it is not empty, no longer than its sources, and has no markup of its own."""

from __future__ import annotations

import re
from typing import Final

from memhold.compact.check.case import Case

__all__ = ["JOINT", "MAX_MERGED_CHARS", "ROOM", "SLACK", "ill_formed", "is_joined"]

MAX_MERGED_CHARS = 4_000
"""Longest merged text: it fits the windows of small embedders (5,881 characters passed in the field), with room."""


SLACK = 1.1
"""How much longer than its sources together a text may be."""


ROOM = 20
"""The same of short ones, in characters: the words that join two sentences."""


_MARKUP: Final = (
    re.compile(r"^\s{0,3}#{1,6}\s", re.MULTILINE),
    re.compile(r"^[^\S\n]*[-*+•]\s", re.MULTILINE),
    re.compile(r"^[^\S\n]*\d+[.)]\s", re.MULTILINE),
    re.compile(r"\*\*|__(?=\w)|(?<!\w)\*(?=\w)"),
    re.compile(r"`"),
    re.compile(r"\]\("),
    re.compile(r"^[^\S\n]*\|", re.MULTILINE),
    re.compile(r"^[^\S\n]*>", re.MULTILINE),
    re.compile(r"</?[a-z][^<>]*>"),
)


def ill_formed(case: Case) -> str | None:
    """Say what is wrong with the outside of the text."""
    if not case.text.strip():
        return "the text is empty"
    together = sum(len(source.text) for source in case.sources) + 2 * (len(case.sources) - 1)
    most = min(MAX_MERGED_CHARS, max(int(together * SLACK), together + ROOM))
    if len(case.text) > most:
        return f"the text has {len(case.text)} characters, over {most}"
    for pattern in _MARKUP:
        if pattern.search(case.text) and not any(pattern.search(source.text) for source in case.sources):
            return "the text has markup that no memory has"
    return None


JOINT = 5
"""Letters that may stand between two memories that are told word for word: "and", "also"."""


def is_joined(case: Case) -> bool:
    """Whether the text is its sources word for word, in any order and joined by whatever."""
    rest = f" {' '.join(case.text.split())} "
    for source in sorted(case.sources, key=lambda one: -len(one.text)):
        whole = " ".join(source.text.split()).rstrip(".。!?")
        place = rest.find(whole)
        if place < 0:
            return False
        rest = f"{rest[:place]}\ufffc{rest[place + len(whole) :]}"
    return all(sum(char.isalnum() for char in joint) <= JOINT for joint in rest.split("\ufffc"))
