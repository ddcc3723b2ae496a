"""Names and code in a text: what a merge must keep to the letter, in any script. Pure.

In scripts without capitals names cannot be told from words: there Latin words and katakana count, which are names in
such text far more often than not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from memhold.languages.tables import Speech, heard, languages, speech, spoken
from memhold.text import lazily
from memhold.text.analysis import analyse, language_of
from memhold.text.function_words import EVIDENCE, FUNCTION_WORDS
from memhold.text.normal_form import normal_form

# ruff: noqa: RUF001 - quotes and dashes of every script are what this module is about

__all__ = ["Detail", "DetailKind", "content_terms", "details", "holds"]

DetailKind = Literal["code", "name"]
_ALNUM = "A-Za-z0-9\u00c0-\u024f\u0370-\u03ff\u0400-\u052f"
_CODE = lazily.compile(r"```[^\n`]*\n(?P<block>.+?)```|`(?P<inline>[^`\n]+)`", re.DOTALL)
_ADDRESS = lazily.compile(
    r"(?:[A-Za-z][A-Za-z0-9+.\-]{0,30}://|www\.)[^\s<>\"“”«»`]+|(?<![\w.+\-])[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)+"
)
_PATH = lazily.compile(
    r"(?<![\w/])(?:(?:~|\.{1,2})?/[\w.@+\-]+(?:/[\w.@+\-]*)*|[A-Za-z]:\\[^\s\"<>|]+|(?<![.@+\-])[\w.@+\-]+(?:/[\w.@+\-]+){2,}"
    r"|(?<![@+\-])[\w@+\-]+/[\w@+\-]*[._\d][\w.@+\-]*|(?<!-)[\w\-]{2,}\.[a-z][a-z0-9]{1,4}(?![\w.]))"
)
_HASH = lazily.compile(r"\b[0-9a-f]{7,}\b")
_HYPHENED = lazily.compile(r"(?<![\w\-])[A-Za-z]+(?:-[A-Za-z0-9]+){2,}(?![\w\-])")
_IDENTIFIER = lazily.compile(r"(?<![\w\-])--[a-z][\w\-]+|\b[A-Za-z]\w*_\w+|\b\w*[a-z][A-Z]\w*|\b[A-Za-z_]\w*(?=\(\))")
_WORD = lazily.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
_INSIDE = lazily.compile(r"(?<=[^.!?…:;\n]\s)[^\W\d_]+(?:['’\-][^\W\d_]+)*")
_LATIN = lazily.compile(r"(?<![A-Za-z\u00c0-\u024f])[A-Za-z\u00c0-\u024f]{2,}")
_KATAKANA = lazily.compile(r"[\u30a1-\u30fa\u30fc]{2,}(?:・[\u30a1-\u30fa\u30fc]+)*")
_SENTENCE_ENDS = frozenset(".!?…:;\n。！？")
_BEFORE_A_SENTENCE = frozenset('-–—*•>"“„«‘([')
_POSSESSIVE = lazily.compile(r"['’]s?\Z")
_NEXT = lazily.compile(r"\s+([^\W\d_]+)")
NOUNS = 5
"""One word in so many has a capital, where all nouns have one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """A detail as it stands in a text. `sure` is false for a capital at the start of a sentence."""

    kind: DetailKind
    text: str
    sure: bool = True

    @property
    def key(self) -> str:
        """What makes two details the same one."""
        return self.text.casefold() if self.kind == "name" else self.text


def plain_form(text: str) -> str:
    """A text for comparing details: compatibility forms folded, digits of every script as ASCII; case is kept."""
    folded = normal_form("NFKC", text)
    if folded.isascii():
        return folded
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() and not c.isascii() else c for c in folded)


@lru_cache(maxsize=4096)
def details(text: str) -> tuple[Detail, ...]:
    """The names and the code of a text, each once."""
    found: dict[tuple[str, str], Detail] = {}
    for detail in _scan(plain_form(text)):
        held = found.get((detail.kind, detail.key))
        if detail.text.strip() and (held is None or (detail.sure and not held.sure)):
            found[detail.kind, detail.key] = detail
    return tuple(found.values())


def _scan(text: str) -> Iterator[Detail]:
    for match in _CODE.finditer(text):
        yield Detail(kind="code", text=(match["block"] or match["inline"]).strip())
    for pattern in (_CODE, _ADDRESS, _PATH):
        text = _masked(pattern, text)
    for match in _HASH.finditer(text):
        yield Detail(kind="code", text=match[0])
    for match in _HYPHENED.finditer(text):
        # "web-prod-eu" is a name that machines read; "up-to-date" has a function word inside and is none.
        if EVIDENCE.keys().isdisjoint(match[0].casefold().split("-")[1:-1]):
            yield Detail(kind="code", text=match[0])
    for match in _IDENTIFIER.finditer(text):
        yield Detail(kind="code", text=match[0])
    yield from _names(_masked(_IDENTIFIER, text))


def _masked(pattern: re.Pattern[str], text: str) -> str:
    """The text with what matched made unreadable, at its length: it is neither a word nor a gap."""

    def mask(match: re.Match[str]) -> str:
        kept = match[0].rstrip(".,;:!?")
        return "\ufffc" * len(kept) + match[0][len(kept) :]

    return pattern.sub(mask, text)


def _names(text: str) -> Iterator[Detail]:
    own = heard(text)
    letters = [c for c in text if c.isalpha()]
    uncased = sum(c.lower() == c.upper() for c in letters)
    for match in _KATAKANA.finditer(text):
        if match[0] not in own.words("people", "user"):
            yield Detail(kind="name", text=match[0])
    # A letter of these scripts says about as much as three Latin ones.
    foreign = uncased * 3 > len(letters) - uncased
    if not foreign and sum(c.isupper() for c in letters) * 10 > len(letters) * 7:
        return  # all in capitals: case says nothing
    if foreign:
        yield from (Detail(kind="name", text=match[0]) for match in _LATIN.finditer(text))
        return
    nouns = capitalises_nouns(text)
    inside = frozenset() if nouns else frozenset(_inside(text))
    function = FUNCTION_WORDS.get(language_of(text), EVIDENCE)
    for match in _WORD.finditer(text):
        word = _POSSESSIVE.sub("", match[0])
        if word[:1].isupper() and not (len(word) == 1 and word.isascii()):
            first = _begins(text, match.start())
            if not _may_be_name(word, EVIDENCE if first else function, own):
                continue
            if not first or _named(text, match, own, nouns=nouns, inside=inside):
                yield Detail(kind="name", text=word, sure=not first)


def capitalises_nouns(text: str) -> bool:
    """Whether a text is in a language that writes every noun with a capital, and does so: German, as it is written."""
    if not any(languages()[code]["words"]["capital_nouns"] for code in spoken(text)[:1]):
        return False
    words = [match for match in _WORD.finditer(text) if not _begins(text, match.start())]
    return sum(match[0][:1].isupper() for match in words) * NOUNS >= len(words)


def _begins(text: str, place: int) -> bool:
    """Whether a sentence, a line or the text begins there, but for bullets, quotes and brackets."""
    while place and ((char := text[place - 1]).isspace() or char in _BEFORE_A_SENTENCE):
        if char == "\n":
            return True
        place -= 1
    return place == 0 or (text[place - 1] in _SENTENCE_ENDS and not _short(text[max(0, place - 6) : place]))


def _short(text: str) -> bool:
    """Whether a text ends in an abbreviation: the full stop of "Dr." ends no sentence."""
    word = text.rstrip(".").rpartition(" ")[2].lower()
    return text.endswith(".") and word in _abbreviations()


@cache
def _abbreviations() -> frozenset[str]:
    return frozenset(speech(tuple(languages())).words("words", "abbreviations"))


def _may_be_name(word: str, function: Collection[str], own: Speech) -> bool:
    """Whether a word can be a name at all: within an English sentence "Ben" is, which is a Turkish function word."""
    lower = word.casefold().split("'")[0].split("’")[0]
    return lower not in function and lower not in own.words("people", "user")


def _inside(text: str) -> Iterator[str]:
    """The words that stand where no sentence begins: whole, without a possessive, and what stands before a hyphen."""
    for match in _INSIDE.finditer(text):
        if not (following := text[match.end() : match.end() + 1]).isalnum() and following != "_":
            yield match[0]
            yield _POSSESSIVE.sub("", match[0])
        yield re.split(r"['’\-]", match[0], maxsplit=1)[0]


def _named(text: str, match: re.Match[str], own: Speech, *, nouns: bool, inside: Collection[str]) -> bool:
    """Whether a capital at the start of a sentence is likely a name: by what follows, and where it stands elsewhere."""
    word = _POSSESSIVE.sub("", match[0])
    if len(word) > 1 and word.isupper():
        return True
    if match[0] != word:  # Anna's
        return True
    following = _NEXT.match(text, match.end())
    if word in inside:
        return True
    if following is None or (nouns and word.casefold() in own.words("words", "before_nouns")):
        return False
    verb = following[1]
    # "Uses Postgres": what looks like a verb is taken for one, unless another verb follows ("Kubernetes runs").
    if verb[:1].isupper() and len(verb) > 1:
        return not word.casefold().endswith(("s", "ed", "ing"))
    return verb in own.words("words", "behind_names") or (
        verb.islower() and len(verb) > 3 and verb.endswith(("s", "ed")) and not verb.endswith("ss")
    )


def holds(text: str, detail: Detail) -> bool:
    """Whether a text has that detail as a whole: code to the letter, a name in another form of the same word too."""
    plain = plain_form(text)
    wanted = detail.text
    if detail.kind == "name":
        plain, wanted = " ".join(plain.split()).casefold(), wanted.casefold()
    before = rf"(?<![{_ALNUM}_])" if wanted[:1].isalnum() and wanted[:1].isascii() else ""
    after = rf"(?![{_ALNUM}_])" if wanted[-1:].isalnum() and wanted[-1:].isascii() else ""
    if re.search(before + re.escape(wanted) + after, plain) is not None:
        return True
    if detail.kind != "name":
        return False
    terms = content_terms(wanted)
    return bool(terms) and terms <= content_terms(plain)


@lru_cache(maxsize=4096)
def content_terms(text: str) -> frozenset[str]:
    """The index terms of a text without its function words."""
    return frozenset(term for term in analyse(text).counts if term not in EVIDENCE)
