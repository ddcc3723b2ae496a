"""How much can be asked at once: what the verbs declare, the engine checks and every schema shows."""

from __future__ import annotations

from typing import Final

__all__ = [
    "MAX_BUDGET",
    "MAX_DAYS",
    "MAX_HITS",
    "MAX_MESSAGES",
    "MAX_NEIGHBOURS",
    "MAX_NUMBER",
    "MAX_PAGE",
    "MAX_USERS",
    "MAX_WAIT",
    "Bounds",
]

Bounds = tuple[int, int | None]
"""The least and the most that a number may be; None for no most."""

MAX_BUDGET: Final = 10_000_000
"""Tokens of a context, and of any part of it."""
MAX_DAYS: Final = 3660
"""Days back that an account of use goes."""
MAX_HITS: Final = 1000
"""Hits of one answer of `recall`."""
MAX_NEIGHBOURS: Final = 20
"""Turns that are shown on each side of a hit."""
MAX_MESSAGES: Final = 10_000
"""Messages of one page of the journal."""
MAX_PAGE: Final = 1000
"""Memories or changes of one page."""
MAX_USERS: Final = 10_000
"""Users of one page."""
MAX_NUMBER: Final = 2**53 - 1
"""The greatest number of an order (`seq`): every store holds it, and JSON of every language exactly (RFC 8259, 6)."""
MAX_WAIT: Final = 86_400
"""Seconds that a forget waits for who still reads what it erased."""
