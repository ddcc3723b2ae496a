"""Names that others give, as names of paths and sessions: any text goes in, and comes back as it was. Pure."""

from __future__ import annotations

import unicodedata
from urllib.parse import quote, unquote

from memhold.documents.paths import checked_path
from memhold.values.errors import InvalidInput

__all__ = ["name_of", "session_of", "text_of"]

_ESCAPED = "%"
"""Before a name that a path cannot hold as it is."""


def name_of(text: str) -> str:
    """A text as one name of a path: as it is, or escaped where a path holds no such name; never two texts as one."""
    if not text.startswith(_ESCAPED) and unicodedata.is_normalized("NFC", text):
        try:
            return checked_path((text,))[0]
        except InvalidInput:
            pass
    return _ESCAPED + quote(text, safe="", errors="surrogatepass")


def session_of(text: str) -> str:
    """A framework's id of a session as a session's name: composed, and escaped where no name is so."""
    return name_of(unicodedata.normalize("NFC", text)) if text else text


def text_of(name: str) -> str:
    """The text that `name_of` made a name of."""
    return unquote(name[1:], errors="surrogatepass") if name.startswith(_ESCAPED) else name
