"""What is no longer as it was ("now", "no longer", "turned out"), and what asks for what was before. Pure.

Words of change say that a statement may replace an earlier one, not which: of two texts about one thing, the later with
such a word is worth a closer look. They stand in the languages' files, verbs in the forms that report.
"""

from __future__ import annotations

from memhold.languages.tables import heard
from memhold.text.letter_words import LETTER_WORD, WIDE

__all__ = ["BRIEF", "asks_history", "asks_past", "changes", "ends", "word_count"]

BRIEF = 30
"""Words up to which a sentence is a short clause: longer ones tell of more than one thing."""


def changes(text: str) -> bool:
    """Whether a text has a word of change."""
    return heard(text).has("change", "words", text.lower())


def ends(text: str) -> bool:
    """Whether a text has a word of change, of an end or of a beginning: what it replaces is looked for far and wide."""
    return any(heard(text).has("change", name, text.lower()) for name in ("words", "ended"))


def asks_past(question: str) -> bool:
    """Whether a question asks for what was before: "at first", "used to", "before", "the old one"."""
    return heard(question).has("asks", "past", question.lower())


def asks_history(question: str) -> bool:
    """Whether a question asks how something changed: "how has my weight changed since March?"."""
    said, low = heard(question), question.lower()
    return said.has("asks", "how", low) and said.has("asks", "changed", low)


def word_count(text: str) -> int:
    """How many words a text has; two characters of a script without spaces count as one."""
    return len(LETTER_WORD.findall(WIDE.sub(" ", text))) + len(WIDE.findall(text)) // 2
