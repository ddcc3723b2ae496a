"""From any string to the plain words of a key: case, width, accents, punctuation and identifier styles taken away.

Nothing here knows a language. What could tell two keys apart stays: the voicing marks of kana, the vowel signs of Indic
scripts, the tones of Vietnamese, `c++` beside `c#`, digits, currency signs and emoji.
"""

from __future__ import annotations

import pkgutil
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from memhold.languages.tables import languages, phrases
from memhold.text.normal_form import normal_form

__all__ = ["Lexeme", "fold", "lex", "read_text", "script", "split_camel_case"]

_APOSTROPHES = str.maketrans(dict.fromkeys("\u2019\u2018\u02bc\u02b9\uff07\u00b4`", "'"))
_LETTERS = str.maketrans({"æ": "ae", "œ": "oe", "\u0451": "\u0435"})
# Grave, acute, circumflex, tilde, diaeresis, cedilla: what people leave out. A ring, hook, caron or stroke
# makes a letter of its own ("far" and "får").
_ACCENTS = frozenset("\u0300\u0301\u0302\u0303\u0308\u0327")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z]{2})(?=[A-Z]{2,}(?![a-z]))")
_PLURAL = re.compile(r"(?<=[^\W\d_])\(e?s\)")
_TONAL = "ơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ"
"""Letters of Vietnamese alone: a key with one of them keeps all its marks, which are part of the words."""
_MARKED = re.compile(r"[^\W\d_](?:\+\+?|#)(?![^\W_])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexeme:
    """One word as it stood in the key.

    `text` is folded; `exact` still has its accents; `before` is what separated it from the word in front, without
    spaces, and `after` from the one behind; `aside` says that it stands in brackets behind other words.
    """

    text: str
    exact: str
    before: str = ""
    after: str = ""
    aside: bool = False


def read_text(name: str) -> str:
    """A file of this package's `data`. `importlib.resources` would load archives and temporary files.

    Raises:
        FileNotFoundError: there is none of this name.
    """
    return (pkgutil.get_data(__name__, f"data/{name}") or b"").decode()


@lru_cache(maxsize=1)
def _spelling() -> tuple[frozenset[str], frozenset[str]]:
    apart = (word for one in languages().values() if one["lexicon"] for word in phrases(one["keys"]["apart"]))
    return frozenset(unicodedata.normalize("NFC", word) for word in apart), frozenset(_TONAL)


def script(char: str) -> str:
    """A coarse script of a letter, enough to see where writing without spaces changes it."""
    point = ord(char)
    if 0xAC00 <= point <= 0xD7A3 or 0x1100 <= point <= 0x11FF or 0x3130 <= point <= 0x318F:
        return "hangul"
    if 0x3040 <= point <= 0x30FF or 0x4E00 <= point <= 0x9FFF or 0x3400 <= point <= 0x4DBF or point in {0x3005, 0x30FC}:
        return "cjk"
    if point < 0x250 or 0x1E00 <= point <= 0x1EFF:
        return "latin"
    return "other"


def fold(word: str, *, tonal: bool = False) -> str:
    """The word without the accents that people leave out; Latin and Greek only, and not where they make another word.

    `tonal` keeps every mark (Vietnamese).
    """
    word = normal_form("NFC", word)
    keep, _ = _spelling()
    if tonal or word in keep or word.isascii():
        return word
    parts: list[str] = []
    for char in word:
        base = unicodedata.normalize("NFD", char)
        name = script(base[0])
        if len(base) > 1 and (name == "latin" or 0x370 <= ord(base[0]) <= 0x3FF):
            parts.append(normal_form("NFC", "".join(c for c in base if c not in _ACCENTS)))
        elif char in _ACCENTS and parts and parts[-1] and script(parts[-1][-1]) == "latin":
            continue
        else:
            parts.append(char)
    return "".join(parts).translate(_LETTERS)


def split_camel_case(raw: str) -> str:
    """An identifier with its camel humps apart; text that has spaces is left alone ("iPhone model")."""
    text = normal_form("NFKC", raw.translate(_APOSTROPHES)).strip()
    return text if any(char.isspace() for char in text) else _CAMEL.sub(" ", text)


def _plain(raw: str) -> str:
    text = split_camel_case(raw)
    text = _PLURAL.sub("", normal_form("NFKC", text.casefold()))  # "allergy(s)"
    return "".join(c for c in text if unicodedata.category(c) != "Cf" and not 0xFE00 <= ord(c) <= 0xFE0F)


def _is_word(text: str, index: int) -> bool:
    char = text[index]
    if unicodedata.category(char)[0] in "LMN":
        return True
    inside = 0 < index < len(text) - 1
    if char == "'":
        return inside and text[index - 1].isalpha() and text[index + 1].isalpha()
    return char in ".," and inside and text[index - 1].isdigit() and text[index + 1].isdigit()


def _pieces(text: str) -> list[tuple[str, str]]:
    """(separator in front, word) for every word; a symbol that carries meaning is a word."""
    found: list[tuple[str, str]] = []
    gap = ""
    index = 0
    while index < len(text):
        if _is_word(text, index):
            end = index + 1
            while end < len(text) and _is_word(text, end):
                end += 1
            if end < len(text) and (match := _MARKED.match(text, end - 1)):
                end = match.end()
            found.extend(_split_scripts(gap, text[index:end]))
            gap, index = "", end
            continue
        char = text[index]
        if unicodedata.category(char) in {"Sc", "Sm", "So"} or char in "%#":
            found.append((gap, char))
            gap = ""
        elif char == "&":
            found.append((gap, "and"))
            gap = ""
        else:
            gap += "" if char.isspace() else char
        index += 1
    found.append((gap, ""))
    return found


def _split_scripts(gap: str, word: str) -> list[tuple[str, str]]:
    parts: list[tuple[str, str]] = []
    start = 0
    spaced = {"hangul", "cjk"}
    for index in range(1, len(word)):
        before, here = script(word[index - 1]), script(word[index])
        if before != here and (before in spaced or here in spaced) and not unicodedata.combining(word[index]):
            parts.append((gap if not parts else "", word[start:index]))
            start = index
    parts.append((gap if not parts else "", word[start:]))
    return parts


@lru_cache(maxsize=16384)
def lex(raw: str) -> tuple[Lexeme, ...]:
    """The words of a key in their order; empty when there is nothing but punctuation. Never raises."""
    if raw.isascii() and raw.islower() and raw.replace(" ", "").isalpha():
        return tuple(Lexeme(text=word, exact=word) for word in raw.split())  # most of what there is: nothing to fold
    text = _plain(raw)
    _, tonal_letters = _spelling()
    tonal = any(char in tonal_letters for char in text)
    pieces = _pieces(text)
    words: list[Lexeme] = []
    depth = 0
    for index, (gap, word) in enumerate(pieces):
        depth = max(0, depth + sum(c in "([{" for c in gap) - sum(c in ")]}" for c in gap))
        if word:
            words.append(
                Lexeme(
                    text=fold(word, tonal=tonal),
                    exact=word,
                    before=gap,
                    after=pieces[index + 1][0],
                    aside=depth > 0 and bool(words),
                )
            )
    return tuple(words)
