"""The words of languages, from one file each: which are spoken in a text, and the words of some of them together.

A language is added by its file alone. Files are read once, at the first question.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final

# ruff: noqa: RUF001 - apostrophes

__all__ = ["Language", "Speech", "any_of", "heard", "languages", "phrases", "speech", "spoken", "unspaced"]

_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_GAP: Final = ".{0,12}?"
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_WIDE: Final = "\u3040"
_HANGUL: Final = "[\uac00-\ud7a3]"
_READ: Final = 4_000
"""Characters of a text by which its language is told."""
_BESIDE: Final = 0.6
"""A language with this share of the best one's evidence is read beside it: close relatives, and who mixes two."""


@cache
def languages() -> Mapping[str, Language]:
    """Each language by its code."""
    found = [one for one in files("memhold.languages").iterdir() if one.name.endswith(".toml")]
    return {
        one.name.removesuffix(".toml"): Language(one.read_text(encoding="utf-8"))
        for one in sorted(found, key=lambda one: one.name)
    }


class Language(Mapping[str, Any]):
    """A language's file: its rooms by name, each read when it is first asked for; a room's parts are inside of it."""

    def __init__(self, text: str) -> None:
        self._rooms: dict[str, Any] = {}
        self._texts: dict[str, str] = {}
        top, *parts = re.split(r"^(?=\[)", text, flags=re.MULTILINE)
        self._rooms |= tomllib.loads(top)
        for part in parts:
            name = re.split(r"[].]", part.lstrip("["), maxsplit=1)[0]
            self._texts[name] = self._texts.get(name, "") + part

    def __getitem__(self, name: str) -> Any:
        if name not in self._rooms:
            self._rooms[name] = tomllib.loads(self._texts[name], parse_float=Decimal)[name]
        return self._rooms[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._rooms, **self._texts})

    def __len__(self) -> int:
        return len({**self._rooms, **self._texts})


def phrases(listed: str | Iterable[str]) -> tuple[str, ...]:
    """The words of an entry: a text of them (a plus sign is a blank inside one), or a list of phrases."""
    return tuple(word.replace("+", " ") for word in listed.split()) if isinstance(listed, str) else tuple(listed)


@lru_cache(maxsize=4096)
def spoken(text: str) -> tuple[str, ...]:
    """The codes of the languages that a text is likely in, the likeliest first; none where no letter or word tells."""
    text = text[:_READ].lower()
    votes: dict[str, float] = {}
    for word, count in Counter(_WORD.findall(text.replace("’", "'"))).items():
        for code in _evidence().get(word, ()):
            votes[code] = votes.get(code, 0) + count
    for code, (own, foreign) in _letters().items():
        votes[code] = votes.get(code, 0) + (len(own.findall(text)) / 2 if own else 0)
        if foreign and foreign.search(text):
            votes[code] = 0
    best = max(votes.values(), default=0)
    near = [code for code in sorted(votes) if votes[code] >= max(1, best * _BESIDE)]
    # Of two that are as likely the one of which more than the commonest words are known.
    return tuple(sorted(near, key=lambda code: (-votes[code], not languages()[code]["people"]["first"])))


@cache
def _letters() -> Mapping[str, tuple[re.Pattern[str] | None, re.Pattern[str] | None]]:
    """By language what finds a letter that it alone has, and one that it never has."""
    classes = ((code, (table["script"], table["foreign"])) for code, table in languages().items())
    return {code: tuple(re.compile(f"[{one}]") if one else None for one in two) for code, two in classes if any(two)}  # type: ignore[misc]


@cache
def _evidence() -> Mapping[str, Sequence[str]]:
    """By word the languages that it speaks for: the commonest ones, and those that a short text may have alone."""
    found: dict[str, list[str]] = {}
    for code, table in languages().items():
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
        for word in {word for words in listed for word in phrases(words)}.difference(shared):
            found.setdefault(word, []).append(code)
    return found


def any_of(words: Iterable[str]) -> str:
    """A pattern of any of these words, the longest first, each as a word of its own where its script sets words apart.

    An ellipsis inside a phrase stands for a few characters of anything.
    A Korean word of one syllable begins a word: others stand in it ("안" in "동안").
    """
    apart: list[str] = []
    other: list[str] = []
    for word in sorted({*words} - {""}, key=lambda one: (-len(one), one)):
        exact = re.escape(word).replace(r"\ ", r"\s+").replace("…", _GAP)
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
        return any_word(_listed(self.codes, room, name), text)

    def found(self, room: str, name: str, text: str) -> list[tuple[int, int]]:
        """Where a text, in lower case, has the words of a heading."""
        return [one.span() for one in _compiled(self.codes, room, name).finditer(text)]


@lru_cache(maxsize=1024)
def _compiled(codes: tuple[str, ...], room: str, name: str) -> re.Pattern[str]:
    return re.compile(any_of(speech(codes).words(room, name)))


@dataclass(frozen=True, slots=True)
class Words:
    """A list of words to be looked for: those that are letters alone, and a pattern of the others."""

    alone: frozenset[str]
    other: re.Pattern[str] | None

    @classmethod
    def of(cls, listed: Iterable[str]) -> Words:
        """The words of a list."""
        words = {*listed}
        alone = frozenset(word for word in words if word[0] < _WIDE and word.isalpha())
        return cls(alone, re.compile(any_of(words - alone)) if words - alone else None)


def any_word(words: Words, text: str) -> bool:
    """Whether a text, in lower case, has one of some words."""
    if not words.alone.isdisjoint(_LETTERS.findall(text)):
        return True
    return words.other is not None and words.other.search(text) is not None


@cache
def unspaced(code: str) -> bool:
    """Whether the words of a language are of a script in which they stand in others, or particles stand behind them."""
    return str(languages()[code]["words"]["function"])[:1] >= _WIDE


def heard(text: str) -> Speech:
    """The words of the languages that a text is likely in; of all where nothing tells."""
    return speech(spoken(text) or tuple(languages()))


@lru_cache(maxsize=1024)
def _listed(codes: tuple[str, ...], room: str, name: str) -> Words:
    return Words.of(speech(codes).words(room, name))


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
