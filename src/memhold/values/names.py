"""Names of namespaces, users, agents and sessions: one spelling for each name that a person sees.

A name is kept in Unicode's composed form (NFC), so `josé` typed as one character or as two is one user. What cannot be
seen, or looks like a space and is none, is refused instead of taken away: the message says which name to use.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from memhold.values.errors import InvalidScope

__all__ = [
    "ACTORS",
    "BELOW",
    "MAX_NAME",
    "can_be_seen",
    "checked_actor",
    "checked_name",
    "checked_session",
    "folded",
    "is_within",
    "usable_name",
]

BELOW: Final = "//"
"""What stands between a namespace and one below it: `acme//shop` is below `acme`."""

MAX_NAME: Final = 256
"""Longest namespace, user, agent or session, in characters of its composed form."""
_MOST_GIVEN: Final = 4 * MAX_NAME
"""Characters that are looked at before composing: no name of 256 decomposes into more that people write."""
ACTORS: Final = ("user", "agent", "tool")
"""Who may write through an interface; rules, models and imports write by themselves."""
_JOINERS: Final = "\u200c\u200d"
_CHILLU: Final = ("\u200d", "\u0d4d")
"""Malayalam's older spelling ends words with a virama and a joiner, which is seen as another letter."""
_REFUSED_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"})
# Default_Ignorable_Code_Point (Unicode's DerivedCoreProperties) beyond Cf: marks, fillers and blanks that show nothing;
# the blank of Braille, which is one by its looks; and the noncharacters. RFC 8264 (PRECIS) refuses the same.
_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\ufdd0-\ufdef\ufffe\uffff"
    "\U000e0000-\U000e0fff"
    + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0x110000, 0x10000))
    + "]"
)


def can_be_seen(text: str) -> bool:
    """Whether there is anything in a text that a person sees: not only space, control and format characters."""
    return any(unicodedata.category(c) not in _REFUSED_CATEGORIES and not _UNSEEN.match(c) for c in text)


def folded(name: str) -> str:
    """A person's name in the form in which two of them are one: composed, in lower case, with single spaces."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def checked_name(value: object, what: str) -> str:
    """A name in the one form in which it is stored and compared; `what` it names stands in the message.

    The same name gives the same text, whether its accents were composed or not; a name that was checked is unchanged.

    Raises:
        InvalidScope: it is no text or empty, longer than 256 characters, begins or ends with a space, or holds a
            control or format character, a space other than the common one, or a joiner (ZWJ, ZWNJ) where the script
            does not need it (RFC 5892, appendix A). The message says what to use.
    """
    if not isinstance(value, str) or not value:
        raise InvalidScope(f"{what} must be a string that is not empty (leave it out for none)")
    if value.isascii() and value.isprintable() and value[0] != " " != value[-1]:
        return _bounded(value, what)
    if len(value) > _MOST_GIVEN:
        raise InvalidScope(f"{what} has {len(value)} characters; shorten it to {MAX_NAME} at most")
    name = _bounded(unicodedata.normalize("NFC", value), what)
    if not any(0xD800 <= ord(c) <= 0xDFFF for c in name) and (clean := usable_name(name)) == name:
        return name
    clean = usable_name(name)
    use = f"use {clean!r}" if clean else "use a name that can be seen"
    raise InvalidScope(f"{what} {_fault(name)}; {use}")


def checked_actor(value: object) -> str:
    """An actor as it is kept: one of `ACTORS`, perhaps with a name behind a colon ("agent:claude-code").

    Raises:
        InvalidScope: it is another word, or the name cannot be used; see `checked_name`.
    """
    kind, colon, name = value.partition(":") if isinstance(value, str) else ("", "", "")
    if kind not in ACTORS:
        known = ", ".join(ACTORS)
        raise InvalidScope(f"actor is {value!r:.60}; pass one of {known}, or one with a name such as 'agent:my-client'")
    return f"{kind}:{checked_name(name, 'the name of the actor')}" if colon else kind


def checked_session(name: str | None) -> str | None:
    """The session that a filter names, in the form in which sessions are stored; `""` is the unnamed session.

    Raises:
        InvalidScope: no session can have that name.
    """
    if name:
        return checked_name(name, "session")
    if name is not None and not isinstance(name, str):
        raise InvalidScope(f"session is a {type(name).__name__}; pass its name, or leave it out for every session")
    return name


def is_within(namespace: str, own: str) -> bool:
    """Whether a namespace is another one or below it."""
    return namespace == own or namespace.startswith(f"{own}{BELOW}")


def usable_name(text: str) -> str:
    """The name nearest to a text: composed, without what a name must not hold; empty where nothing is left.

    It may be longer than a name may be.
    """
    name = unicodedata.normalize("NFC", text)
    while True:
        seen = "".join(" " if _is_blank(c) else c for c in name if not _is_unseen(c))
        clean = unicodedata.normalize("NFC", _without_joiners(seen)).strip(" ")
        if clean == name:
            return clean
        name = clean


def _bounded(name: str, what: str) -> str:
    if len(name) > MAX_NAME:
        raise InvalidScope(f"{what} has {len(name)} characters; shorten it to {MAX_NAME} at most")
    return name


def _fault(name: str) -> str:
    if name[0] == " " or name[-1] == " ":
        return "begins or ends with a space"
    if any(c.isspace() and c != " " and _is_blank(c) for c in name):
        return "holds a space that is not the common one"
    return "holds control or format characters, which nobody sees"


def _is_blank(c: str) -> bool:
    """Whether it reads as a gap: a space of any kind, or a control character that breaks a line."""
    return c == "\u2800" or (c != " " and c.isspace())


def _is_unseen(c: str) -> bool:
    if c in _JOINERS or _is_blank(c) or c == " ":
        return False
    return unicodedata.category(c) in _REFUSED_CATEGORIES or _UNSEEN.fullmatch(c) is not None


def _without_joiners(name: str) -> str:
    """The name without joiners that its script does not need."""
    if not any(c in _JOINERS for c in name):
        return name
    from idna.core import valid_contextj  # loaded only for the few names with a joiner

    def needed(place: int) -> bool:
        before, after = name[place - 1 : place], name[place + 1 : place + 2]
        inside = _script(before) == _script(after) != ""
        if not inside and (name[place], before) != _CHILLU:
            return False
        try:
            return bool(valid_contextj(name, place))
        except ValueError:  # a character that this Unicode table does not know yet
            return False

    return "".join(c for place, c in enumerate(name) if c not in _JOINERS or needed(place))


def _script(c: str) -> str:
    """The first word of a letter's or mark's name, which is its script; empty for what is neither."""
    return unicodedata.name(c, "").partition(" ")[0] if c and unicodedata.category(c)[0] in "LM" else ""
