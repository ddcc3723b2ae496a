"""The words of languages, from one file each: which are spoken in a text, and the words of some of them together.

A language is added by its file alone. Files are read once, at the first question.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final

# ruff: noqa: RUF001 - apostrophes

__all__ = ["Speech", "any_of", "languages", "phrases", "speech", "spoken"]

_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_WIDE: Final = "\u3040"
_HANGUL: Final = "[\uac00-\ud7a3]"
_READ: Final = 4_000
"""Characters of a text by which its language is told."""
_BESIDE: Final = 0.6
"""A language with this share of the best one's evidence is read beside it: close relatives, and who mixes two."""


@cache
def languages() -> Mapping[str, Mapping[str, Any]]:
    """The table of each language by its code."""
    found = [one for one in files("memhold.languages").iterdir() if one.name.endswith(".toml")]
    return {
        one.name.removesuffix(".toml"): tomllib.loads(one.read_text(encoding="utf-8"), parse_float=Decimal)
        for one in sorted(found, key=lambda one: one.name)
    }


def phrases(listed: str | Iterable[str]) -> tuple[str, ...]:
    """The words of an entry: a text of them (a plus sign is a blank inside one), or a list of phrases."""
    return tuple(word.replace("+", " ") for word in listed.split()) if isinstance(listed, str) else tuple(listed)


@lru_cache(maxsize=4096)
def spoken(text: str) -> tuple[str, ...]:
    """The codes of the languages that a text is likely in, the likeliest first; none where no letter or word tells."""
    text = text[:_READ].lower()
    words = Counter(_WORD.findall(text.replace("’", "'")))
    votes: dict[str, float] = {}
    for code, table in languages().items():
        own = len(re.findall(f"[{table['script']}]", text)) if table["script"] else 0
        foreign = bool(table["foreign"]) and re.search(f"[{table['foreign']}]", text) is not None
        votes[code] = 0 if foreign else own / 2 + sum(words[word] for word in _evidence(code))
    best = max(votes.values(), default=0)
    near = [code for code, vote in votes.items() if vote >= max(1, best * _BESIDE)]
    return tuple(sorted(near, key=lambda code: -votes[code]))


@cache
def _evidence(code: str) -> frozenset[str]:
    """The words that speak for a language: its commonest ones, and those that a short text of it may have alone."""
    table = languages()[code]
    listed = (
        table["words"]["function"],
        table["people"]["first"],
        table["people"]["third"],
        table["says"]["negation"],
        *table["calendar"]["months"],
        *table["calendar"]["weekdays"],
        *table["units"].values(),
    )
    shared = phrases(table["calendar"]["months_and_words"])
    return frozenset(word for words in listed for word in phrases(words) if word not in shared)


def any_of(words: Iterable[str]) -> str:
    """A pattern of any of these words, the longest first, each as a word of its own where its script sets words apart.

    A Korean word of one syllable begins a word: others stand in it ("안" in "동안").
    """
    apart: list[str] = []
    other: list[str] = []
    for word in sorted({*words} - {""}, key=lambda one: (-len(one), one)):
        exact = re.escape(word).replace(r"\ ", r"\s+")
        plain = word[0].isalpha() and word[-1].isalpha() and word[-1] < _WIDE and word[0] < _WIDE
        (apart if plain else other).append(exact if plain else _edged(word, exact))
    if apart:
        other.append(rf"(?<![^\W\d_])(?:{'|'.join(apart)})(?![^\W\d_])")
    return f"(?:{'|'.join(other)})" if other else r"(?:(?!))"


def _edged(word: str, exact: str) -> str:
    if word[0] >= _WIDE:
        return rf"(?<![^\W\d_]){exact}" if len(word) == 1 and re.match(_HANGUL, word) else exact
    before = r"(?<![^\W\d_])" if word[0].isalpha() else ""
    return f"{before}{exact}" + (r"(?![^\W\d_])" if word[-1].isalpha() and word[-1] < _WIDE else "")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Speech:
    """The words of some languages together; what is a list of words in the files is found by `words` and `pattern`."""

    codes: tuple[str, ...]
    numbers: Mapping[str, Decimal]
    scales: Mapping[str, Decimal]
    ordinals: Mapping[str, int]
    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    units: Mapping[str, str]

    def words(self, room: str, name: str) -> tuple[str, ...]:
        """Every word under a heading of these languages."""
        return tuple(word for code in self.codes for word in phrases(languages()[code][room][name]))

    def table(self, room: str, name: str) -> dict[str, Any]:
        """Every word under a heading that gives each a value."""
        return {word: value for code in self.codes for word, value in languages()[code][room][name].items()}

    def has(self, room: str, name: str, text: str) -> bool:
        """Whether a text, in lower case, has a word of a heading."""
        return _compiled(self.codes, room, name).search(text) is not None

    def found(self, room: str, name: str, text: str) -> list[tuple[int, int]]:
        """Where a text, in lower case, has the words of a heading."""
        return [one.span() for one in _compiled(self.codes, room, name).finditer(text)]


@lru_cache(maxsize=1024)
def _compiled(codes: tuple[str, ...], room: str, name: str) -> re.Pattern[str]:
    return re.compile(any_of(speech(codes).words(room, name)))


@lru_cache(maxsize=128)
def speech(codes: tuple[str, ...]) -> Speech:
    """The words of these languages together."""
    numbers: dict[str, Decimal] = {}
    scales: dict[str, Decimal] = {}
    ordinals: dict[str, int] = {}
    months: dict[str, int] = {}
    weekdays: dict[str, int] = {}
    units: dict[str, str] = {}
    for table in (languages()[code] for code in codes):
        given = table["numbers"]
        numbers |= {word: Decimal(value) for value, word in enumerate(phrases(given["ones"]))}
        numbers |= {word: Decimal(value * 10) for value, word in enumerate(phrases(given["tens"]), 2)}
        numbers |= {word: Decimal(value) for word, value in given["more"].items()}
        numbers |= {word: Decimal(1) for word in phrases(given["loose"]) if word not in numbers}
        scales |= {word: Decimal(value) for word, value in given["scales"].items()}
        endings = phrases(given["ordinal_endings"]) or ("",)
        stems = enumerate(phrases(given["ordinals"]), 1)
        ordinals |= {stem + ending: value for value, stem in stems for ending in endings}
        months |= {name: at for at, names in enumerate(table["calendar"]["months"], 1) for name in phrases(names)}
        weekdays |= {name: at for at, names in enumerate(table["calendar"]["weekdays"]) for name in phrases(names)}
        units |= {word: unit for unit, words in table["units"].items() for word in phrases(words)}
    return Speech(
        codes=codes,
        numbers=numbers,
        scales=scales,
        ordinals=ordinals,
        months=months,
        weekdays=weekdays,
        units=units,
    )
