"""Text to index terms: one versioned pure function, for what is stored and for what is asked.

Words of languages written with spaces are folded (NFKC, case, diacritics) and stemmed with Snowball. Han, Kana,
Hangul, Thai and other scripts without spaces become bigrams of characters. Han and Hangul characters are indexed singly
too, because one of them can be a word; they are asked for singly where they stand alone. Numbers, versions, paths,
addresses and identifiers are indexed whole and by their parts. No word is left out of the index.

Sources: bigrams for CJK follow Lucene's CJKAnalyzer; stemmers are those of https://snowballstem.org.
"""

from __future__ import annotations

import threading
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import Stemmer

from memhold.text import lazily
from memhold.text.function_words import EVIDENCE, FUNCTION_WORDS, UNIT, UNSPACED_FUNCTION_WORDS
from memhold.text.normal_form import normal_form

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = [
    "QueryWord",
    "Terms",
    "analyse",
    "analyse_query",
    "language_of",
    "unspaced",
    "votes_of_words",
]

_NO_SPACES = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7ff\uf900-\ufaff\U00020000-\U000323af"
)
_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_SINGLES = lazily.compile(f"[{_HAN}\uac00-\ud7ff]")
# Between kana, a single Han character is a word and the kana its endings.
_LONE_HAN = lazily.compile(f"(?<![{_HAN}])[{_HAN}](?![{_HAN}])")
_HANGUL = lazily.compile("[\uac00-\ud7a3]")
_LONGEST_FUNCTION_WORD = max(map(len, UNSPACED_FUNCTION_WORDS))
_PICTURES = "\u2600-\u27bf\U0001f000-\U0001faff"
# Vowel signs and other marks are no word characters to `re`, but stand inside words of these scripts.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_LETTER = f"(?:[^\\W_{_NO_SPACES}]|[{_MARKS}])"
_JOINER = "[._\\-/@:'\u2019\\\\]"
_ASCII_TOKEN = lazily.compile(r"[A-Za-z0-9]+(?:(?:[._\-/@:'\\]{1,2}|,(?=\d{3}(?!\d)))[A-Za-z0-9]+)*(?:\+\+|#(?!\w))?")
_TOKEN = lazily.compile(
    f"[{_NO_SPACES}]+|[{_PICTURES}]|{_LETTER}+(?:(?:{_JOINER}{{1,2}}|,(?=\\d{{3}}(?!\\d))){_LETTER}+)*(?:\\+\\+|#(?!\\w))?"
)
_UNSPACED = lazily.compile(f"[{_NO_SPACES}]")
_PIECE = lazily.compile(f"{_LETTER}+")
_CASES = lazily.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_MOST_PIECES = 4
_LONGEST_STEM = 40
_CLITICS = frozenset({"s", "d", "m", "re", "ll", "ve"})
_CACHE_LIMIT = 100_000

_SCRIPTS = (
    ("\u0370", "\u03ff", "greek"),
    ("\u1f00", "\u1fff", "greek"),
    ("\u0400", "\u052f", "russian"),
    ("\u0530", "\u058f", "armenian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
    ("\u0b80", "\u0bff", "tamil"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a text is indexed under.

    Attributes:
        counts: how often each term occurs, 1 or more.
        length: how many words (in scripts without spaces: characters) the text has; what BM25 calls its length.
    """

    counts: Mapping[str, int]
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryWord:
    """One word of a question.

    Attributes:
        word: as it was asked, for `why`.
        terms: index terms that stand for it, the likeliest first; a document with any of them has the word.
        weak: a function word of the question's language, which says little about what is asked.
    """

    word: str
    terms: tuple[str, ...]
    weak: bool


class _Folding(dict[int, str]):
    """A `str.translate` table that folds diacritics, digits and invisible characters, filled as characters come."""

    _ODD: ClassVar = dict(
        zip(
            "\u00f8\u0142\u0111\u00f0\u00fe\u00e6\u0153\u0131\u0127\u0451\u2019\u0640\u0623\u0625\u0622",
            ("o", "l", "d", "d", "th", "ae", "oe", "i", "h", "\u0435", "'", "", "\u0627", "\u0627", "\u0627"),
            strict=True,
        )
    )

    def __missing__(self, code: int) -> str:
        folded = self._fold(chr(code))
        self[code] = folded
        return folded

    def _fold(self, char: str) -> str:
        if char in self._ODD:
            return self._ODD[char]
        if "\u0300" <= char <= "\u036f" or "\u0591" <= char <= "\u05c7" or "\u064b" <= char <= "\u0652":
            return ""
        if char.isdecimal():
            return str(unicodedata.decimal(char))
        if "\u00c0" <= char <= "\u024f" or "\u1e00" <= char <= "\u1fff" or "\u0370" <= char <= "\u03ff":
            return "".join(c for c in unicodedata.normalize("NFD", char) if not unicodedata.combining(c))
        return char


_FOLDING = _Folding()
_INVISIBLE = dict.fromkeys((0x00AD, 0x200C, 0x200D, 0x2060, 0xFEFF, *range(0xFE00, 0xFE10)), "") | {0x200B: " "}


def analyse(text: str, language: str | None = None) -> Terms:
    """Give the terms under which a text is found; its language is guessed where none is given.

    The same text gives the same terms on every machine. Never raises, whatever the string holds (NUL, lone surrogates).
    """
    tokens = _tokens(text)
    known = [_KNOWN[token] for token in tokens]
    language = language or _likeliest(_scores([weights for _, weights in known if weights])) or "english"
    if language == "english":
        analysed = [english for english, _ in known]
    else:
        cache = _cache(language)
        analysed = [cache.get(token) or _remember(cache, token, language) for token in tokens]
    counts: dict[str, int] = {}
    length = 0
    for terms, size in analysed:
        length += size
        for term in terms:
            counts[term] = counts.get(term, 0) + 1
    return Terms(counts=counts, length=length)


def analyse_query(text: str) -> tuple[QueryWord, ...]:
    """Give the words of a question, in its order, each once, with the terms that may stand for it in the index.

    A word of a question whose language shows is looked up under that language's stem (and the English one, under which
    short texts without function words are indexed); where nothing shows the language, under stems of every language.
    """
    tokens = _tokens(text)
    language = _language(tokens)
    # One word alone ("dog" is Danish too) does not show a language: it is no function word for its own sake.
    speak = sum(any(name == language for name, _ in _KNOWN[token][1]) for token in tokens)
    shown = language if speak > 1 else None
    alone = sum(len(token) for token in tokens if _UNSPACED.match(token)) == 1
    words: dict[tuple[str, ...], QueryWord] = {}
    for token in tokens:
        few = _function_grams(token) if _UNSPACED.match(token) else _function_compound(token, shown)
        for surface, terms in _asked(token, language, alone=alone):
            weak = surface in few or _is_weak(surface, shown)
            words.setdefault(terms, QueryWord(word=surface, terms=terms, weak=weak))
    return tuple(words.values())


def unspaced(word: str) -> bool:
    """Whether a word of a question is of a script without spaces: a gram, which may cross the edge of two words."""
    return _UNSPACED.match(word) is not None


def _tokens(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_TOKEN.findall(text)
    return _TOKEN.findall(normal_form("NFKC", text).translate(_INVISIBLE))


_Analysed = tuple[tuple[str, ...], int]
"""The terms of a token, and how many words it counts as."""
_Weights = tuple[tuple[str, int], ...]
"""What a token says about the language of its text."""


class _Known(dict[str, tuple[_Analysed, _Weights]]):
    """Tokens that came before: what they are as English words, and what they say about the language."""

    def __missing__(self, token: str) -> tuple[_Analysed, _Weights]:
        if len(self) > _CACHE_LIMIT:
            self.clear()
        weights = EVIDENCE.get(token)
        if weights is None and len(token) < 10 and not _is_plain(token):
            weights = EVIDENCE.get(_fold(token).partition("'")[0])
        known = _analysed(token, "english"), weights or ()
        if len(token) <= _LONGEST_STEM:
            self[token] = known
        return known


_KNOWN = _Known()


def language_of(text: str) -> str:
    """The language that a text is taken for: the one whose function words it has most of, else English.

    It tells languages of Latin letters apart. Text of another script counts as English: whoever asks looks at the
    letters first where that matters.
    """
    return _language(_tokens(text)) or "english"


def votes_of_words(words: Iterable[str]) -> dict[str, int]:
    """How much words, in lower case and without accents, speak for each language; `UNIT` is one that only it has."""
    return _scores(EVIDENCE.get(word, ()) for word in words)


def _language_votes(tokens: Iterable[str]) -> dict[str, int]:
    return _scores(_KNOWN[token][1] for token in tokens)


def _scores(found: Iterable[_Weights]) -> dict[str, int]:
    scores: dict[str, int] = {}
    for weights in found:
        for language, weight in weights:
            scores[language] = scores.get(language, 0) + weight
    return scores


def _language(tokens: Iterable[str]) -> str | None:
    return _likeliest(_language_votes(tokens))


def _likeliest(scores: Mapping[str, int]) -> str | None:
    if not scores:
        return None
    best = max(scores.values())
    winners = sorted(language for language, score in scores.items() if score == best)
    if best < UNIT // 2:
        return None
    return "english" if "english" in winners else winners[0]


def _fold(token: str) -> str:
    return token.lower() if token.isascii() else token.casefold().translate(_FOLDING)


_caches: dict[str, dict[str, _Analysed]] = {}
_stems: dict[str, dict[str, str]] = {}
_stemmers: dict[str, Stemmer.Stemmer] = {}
_lock = threading.Lock()


def _cache(language: str) -> dict[str, _Analysed]:
    cache = _caches.setdefault(language, {})
    if len(cache) > _CACHE_LIMIT:
        cache.clear()
    return cache


def _remember(cache: dict[str, _Analysed], token: str, language: str) -> _Analysed:
    analysed = _analysed(token, language)
    if len(token) <= _LONGEST_STEM:
        cache[token] = analysed
    return analysed


def _is_plain(token: str) -> bool:
    """Whether a token is one word that folds to itself, as most are."""
    return token.isascii() and token.isalpha() and token.islower()


def _analysed(token: str, language: str) -> _Analysed:
    if _is_plain(token):
        return (_stem(token, language),), 1
    if _UNSPACED.match(token):
        return tuple(_grams(token)), len(token)
    extras, parts = _pieces(token)
    return (*extras, *(_stem(part, language) for part in parts)), len(parts) or len(extras)


def _grams(run: str) -> Iterator[str]:
    yield from (run[i : i + 2] for i in range(len(run) - 1))
    if len(run) == 1:
        yield run
    else:
        yield from _SINGLES.findall(run)


def _asked(token: str, language: str | None, *, alone: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    if _UNSPACED.match(token):
        if len(token) > 1:
            yield from ((token[i : i + 2], (token[i : i + 2],)) for i in range(len(token) - 1))
            yield from ((char, (char,)) for char in _LONE_HAN.findall(token))
        elif alone or _SINGLES.match(token):
            yield token, (token,)
        return
    extras, parts = _pieces(token)
    for extra in extras:
        yield token, (extra,)
    for part in parts:
        yield (token if len(parts) == 1 and not extras else part), _alternatives(part, language)


def _alternatives(part: str, language: str | None) -> tuple[str, ...]:
    if language == "english":
        return (_stem(part, "english"),)
    if language is not None:
        return tuple(dict.fromkeys((_stem(part, language), _stem(part, "english"))))
    stems = dict.fromkeys((_stem(part, "english"),))
    for other in FUNCTION_WORDS:
        stem = _stem(part, other)
        # A stem of another language that is much shorter than the word finds strangers.
        if len(stem) > len(part) // 2:
            stems.setdefault(stem)
    return tuple(stems)


def _is_weak(surface: str, language: str | None) -> bool:
    return _fold(surface) in FUNCTION_WORDS[language or "english"]


def _function_compound(token: str, language: str | None) -> frozenset[str]:
    """The token itself where all its parts are function words: "what's", "I'm"."""
    if token.isalnum():
        return frozenset()
    extras, parts = _pieces(token)
    little = parts and (extras or len(parts) == 1) and all(_is_weak(part, language) for part in parts)
    return frozenset({token}) if little else frozenset()


def _function_grams(run: str) -> frozenset[str]:
    """The grams of a run that stand in function words alone; of Hangul those of a run that is one."""
    if _HANGUL.match(run):
        return frozenset(_grams(run)) if run in UNSPACED_FUNCTION_WORDS else frozenset()
    little, start = [False] * len(run), 0
    while start < len(run):
        ends = range(min(len(run), start + _LONGEST_FUNCTION_WORD), start, -1)
        end = next((end for end in ends if run[start:end] in UNSPACED_FUNCTION_WORDS), None)
        if end is not None:
            little[start:end] = [True] * (end - start)
        start = end or start + 1
    found = {run[at : at + 2] for at in range(len(run) - 1) if little[at] and little[at + 1]}
    found |= {run[at] for at in range(len(run)) if little[at]}
    return frozenset(found)


def _pieces(token: str) -> tuple[tuple[str, ...], list[str]]:
    """Split a token into whole forms (not stemmed) and parts (folded, to be stemmed)."""
    if token.isalpha() and (token.islower() or token.istitle() or token.isupper() or not token.isascii()):
        return (), [part for part in (_fold(token),) if part]
    raw = [token] if token.isalnum() else _PIECE.findall(token)
    if not raw:
        return (token,), []
    raw = _without_apostrophes(token, raw)
    folded = _fold(token)
    parts: list[str] = []
    extras: dict[str, None] = {}
    for piece in raw:
        cases = _CASES.findall(piece) if piece.isascii() and not piece.isdecimal() else [piece]
        if 1 < len(cases) <= _MOST_PIECES:
            extras.setdefault(_fold(piece))
            parts += [_fold(case) for case in cases]
        else:
            parts.append(_fold(piece))
    if len(raw) > 1 or folded.endswith(("+", "#")):
        extras.update(dict.fromkeys(_wholes(folded)))
    # A mark without a letter folds to nothing.
    return tuple(extra for extra in extras if extra and extra not in parts), [part for part in parts if part]


def _wholes(folded: str) -> Iterator[str]:
    """Give the whole forms of a compound: `user_id`, `user-id` and `userId` share one; paths give segments."""
    letters = folded.replace("-", "").replace("_", "")
    if letters.isalnum() and not letters.isdecimal():
        yield letters
        return
    if "," in folded and folded.replace(",", "").replace(".", "").isdecimal():
        yield folded.replace(",", "")
        return
    if "'" in folded and folded.replace("'", "").isalnum():
        yield folded.replace("'", "")
        return
    yield folded
    if "/" in folded:
        yield from (segment for segment in folded.split("/") if not segment.isalnum() and segment)


def _without_apostrophes(token: str, raw: list[str]) -> list[str]:
    """Take English clitics away: "John's" is John; "don't" keeps both parts beside the whole form "dont"."""
    if len(raw) == 2 and ("'" in token or "\u2019" in token) and raw[1].lower() in _CLITICS:
        return raw[:1]
    return raw


def _stem(word: str, language: str) -> str:
    if not word.isascii():
        language = next((name for low, high, name in _SCRIPTS if low <= word[:1] <= high), language)
    known = _stems.setdefault(language, {})
    stem = known.get(word)
    if stem is None:
        if len(word) > _LONGEST_STEM or (not word.isalpha() and any(char.isdecimal() for char in word)):
            return word
        # Stemmer objects keep state while they work, so threads take turns; the cache makes that rare.
        with _lock:
            if len(known) > _CACHE_LIMIT:
                known.clear()
            stemmer = _stemmers.get(language)
            if stemmer is None:
                stemmer = _stemmers[language] = Stemmer.Stemmer(language, 0)
            stem = known[word] = stemmer.stemWord(word) or word
    return stem
