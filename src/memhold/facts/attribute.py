"""The canonical form of a fact's attribute: exact, so that nothing is merged that is not the same."""

from __future__ import annotations

import re

from memhold.text.normal_form import normal_form

__all__ = ["canonical_key"]

_SEPARATORS = re.compile(r"[\W_]+")


def canonical_key(attribute: str) -> str:
    """Case, white space, punctuation and underscores folded.

    Nothing else. Two attributes are one only where this is.
    """
    folded = normal_form("NFKC", attribute).casefold()
    return _SEPARATORS.sub(" ", folded).strip() or folded.strip()
