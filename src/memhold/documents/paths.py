"""Paths of documents: tuples of names, and the keys by which a store sorts and finds them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from memhold.values.errors import InvalidInput, InvalidScope, TooLarge
from memhold.values.names import MAX_NAME, checked_name
from memhold.values.records import PATH_MARK

__all__ = ["MAX_NAMES", "Path", "below", "checked_path", "exactly", "key_of", "shown"]

Path = tuple[str, ...]

MAX_NAMES = 32
"""Most names of a path."""
_BEHIND_MARK = chr(ord(PATH_MARK) + 1)
_FIRST = "\x01"
"""Before every key that begins with another key."""


def checked_path(path: Sequence[str], what: str = "path", *, least: int = 1) -> Path:
    """The path in the one form in which it is stored: a tuple of names, each as `checked_name` gives it.

    Raises:
        InvalidInput: it is no list of names, or has none; a name is "." or "..", is empty, or cannot be seen (NUL,
            control characters, spaces at an edge): the message says which one, and what to use.
        TooLarge: it has more than 32 names, or one of more than 256 characters.
    """
    if isinstance(path, str | bytes) or not isinstance(path, Sequence):
        raise InvalidInput(f"{what} is {path!r:.60}; pass a list of names, such as ['notes', 'paris']")
    if len(path) > MAX_NAMES:
        message = f"{what} has {len(path)} names; at most {MAX_NAMES} are possible: join some of them into one"
        raise TooLarge(message, size=len(path), limit=MAX_NAMES)
    if len(path) < least:
        raise InvalidInput(f"{what} has no name; pass one at least, such as ['notes', 'paris']")
    if all(type(part) is str and part.isascii() and part.isalnum() and len(part) <= MAX_NAME for part in path):
        return tuple(path)
    return tuple(_checked_part(part, f"name {place} of the {what}") for place, part in enumerate(path, start=1))


def _checked_part(part: object, what: str) -> str:
    if isinstance(part, str) and len(part) > 4 * MAX_NAME:
        message = f"{what} has {len(part)} characters; shorten it to {MAX_NAME} at most"
        raise TooLarge(message, size=len(part), limit=MAX_NAME)
    if part in {".", ".."}:
        raise InvalidInput(f"{what} is {part!r}, which names no document; resolve it before, and pass whole paths")
    try:
        return checked_name(part, what)
    except InvalidScope as error:
        raise InvalidInput(str(error)) from None


def key_of(path: Path) -> str:
    """The key of a path: keys sort as paths do, and that of a path begins those of all below it."""
    return PATH_MARK.join((*path, ""))


def below(prefix: Path) -> tuple[str, str]:
    """The keys of the path itself and of everything below it: from which one, to before which one."""
    if not prefix:
        return "", "\U0010ffff"
    key = key_of(prefix)
    return key, f"{key[:-1]}{_BEHIND_MARK}"


def exactly(path: Path) -> tuple[str, str]:
    """The keys that are the path's own."""
    key = key_of(path)
    return key, f"{key}{_FIRST}"


def shown(path: Path) -> str:
    """A path as an error shows it."""
    return f"{list(path)!r:.120}"
