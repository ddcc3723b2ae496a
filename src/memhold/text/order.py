"""What a question asks of what matches: the last or the first of it, or advice. Pure; words are the languages'."""

from __future__ import annotations

from memhold.languages.tables import speech, spoken

__all__ = ["order_of", "proposes"]


def order_of(question: str) -> bool | None:
    """Whether a question asks for the last (True) or the first (False) of several; None where it asks for neither."""
    said, low = speech(spoken(question)), question.lower()
    latest, earliest = (said.has("calendar", name, low) for name in ("latest", "earliest"))
    return None if latest == earliest else latest


def proposes(question: str) -> bool:
    """Whether a question asks for a proposal: what one could or should do, what is recommended, an idea."""
    said, low = speech(spoken(question)), question.lower()
    return any(said.has("says", name, low) for name in ("proposals", "proposed"))
