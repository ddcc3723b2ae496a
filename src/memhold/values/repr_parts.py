"""What the `repr` of an answer is made of: short, on one line, and safe to show in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["ids_shown", "one_of", "opening"]

_CHARACTERS = 60
_IDS = 3


def opening(text: str) -> str:
    """The first words of a text, in quotes: at most 60 characters on one line, `…` where there is more of it."""
    flat = " ".join(text[: 4 * _CHARACTERS].split())
    if len(flat) > _CHARACTERS or len(text) > 4 * _CHARACTERS:
        flat = f"{flat[: _CHARACTERS - 1].rstrip()}…"
    return repr(flat)


def ids_shown(ids: Sequence[str]) -> str:
    """The first three ids, and how many more there are."""
    more = len(ids) - _IDS
    return ", ".join(ids[:_IDS]) + (f", and {more} more" if more > 0 else "")


def one_of(count: int, name: str, plural: str | None = None) -> str:
    """A count with its noun: "1 hit", "0 hits", "2 memories"."""
    return f"{count} {name if count == 1 else plural or name + 's'}"
