"""How a value that a caller gave stands in a message."""

from __future__ import annotations

__all__ = ["shown"]


def shown(value: object) -> str:
    """The beginning of a value as Python writes it, a tuple as a list: faces without tuples say the same."""
    listed = list(value) if isinstance(value, tuple) else value
    try:
        return f"{listed!r:.40}"
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        return "too long a number" if isinstance(value, int) else "something with too long a number"
