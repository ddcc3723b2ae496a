"""Text for comparing: compatibility forms, runs of white space and, where it is asked for, case folded."""

from __future__ import annotations

from memhold.text.normal_form import normal_form

__all__ = ["canonical_text", "same_value"]


def canonical_text(text: str) -> str:
    """Text for comparing: compatibility forms and runs of white space folded, case kept."""
    return " ".join(normal_form("NFKC", text).split())


def same_value(one: str, other: str) -> bool:
    """Whether two values say the same: compared without case."""
    return canonical_text(one).casefold() == canonical_text(other).casefold()
