"""Numbers with their units as a text may mean them: in digits, in words, with scales ("20k", "2万", "zwölf"). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Final

from memhold.languages.tables import Speech, any_of, languages, phrases, speech

__all__ = ["UNITS", "Amount", "agree", "amounts", "differ", "number_pattern", "value_of"]

_MASS = {"mg": "0.001", "g": "1", "kg": "1000", "lb": "453.6", "jin": "500", "liang": "50"}
_LENGTH = {"mm": "0.001", "cm": "0.01", "m": "1", "km": "1000", "mi": "1609.3"}
_DATA = {"mb": "1", "gb": "1000", "tb": "1000000", "mbit": "0.125"}
_TIME = {"second": "1", "minute": "60", "hour": "3600", "day": "86400", "night": "86400", "week": "604800"}
_LONG = {"fortnight": "1209600", "month": "2629800", "year": "31557600"}
_SIZES: Final = {
    name: (kind, Decimal(size))
    for kind, sizes in (
        ("mass", _MASS),
        ("length", _LENGTH),
        ("data", _DATA),
        ("time", _TIME | _LONG),
        ("volume", {"ml": "1", "l": "1000"}),
        ("area", {"m2": "1"}),
        ("share", {"pct": "1"}),
    )
    for name, size in sizes.items()
}
_MONEY: Final = frozenset({"eur", "usd", "gbp", "jpy", "krw", "cny", "rub"})
_SIGNS: Final = {"€": "eur", "$": "usd", "£": "gbp", "₩": "krw", "%": "pct", "₽": "rub"}
UNITS: Final = {name: name for name in (*_MASS, *_LENGTH, *_DATA, "eur", "usd", "gbp", "l", "ml", "m2")}
_COUNTS: Final = frozenset({"times", "things", "plain"})
_DIGITS: Final = r"\d+(?:[.,']\d+)*(?:\s\d{3}(?!\d))*"
_NOUN: Final = re.compile(r"[\s-]?([^\W\d_]{2,})")
_HALF: Final = Decimal("0.5")
_NEAR: Final = Decimal("0.016")
_NEAR_TIME: Final = Decimal("0.08")
"""Values of converted units that differ by less are the same; "fifteen days" are two weeks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """A number as it stands: every value it may mean, its unit in one form (or the word behind it), and where it is.

    `sure`: it is a number and nothing else. `ordinal`: it says a place in a row.
    """

    values: frozenset[Decimal]
    unit: str
    noun: str
    start: int
    end: int
    sure: bool = True
    ordinal: bool = False

    @property
    def kind(self) -> str:
        """What it measures; empty where it counts things or nothing is known of it."""
        return "money" if self.unit in _MONEY else _SIZES[self.unit][0] if self.unit in _SIZES else ""

    @property
    def sizes(self) -> frozenset[Decimal]:
        """Its values in the smallest unit of what it measures."""
        return frozenset(value * _SIZES[self.unit][1] for value in self.values) if self.unit in _SIZES else self.values


def agree(one: Amount, other: Amount) -> bool:
    """Whether two amounts may be the same; one without a unit may be of any."""
    if one.kind and other.kind:
        if one.kind != other.kind or (one.kind == "money" and one.unit != other.unit):
            return False
        near = _NEAR_TIME if one.kind == "time" and one.unit != other.unit else _NEAR
        return any(abs(a - b) <= near * max(abs(a), abs(b)) for a in one.sizes for b in other.sizes)
    return not one.values.isdisjoint(other.values)


def differ(one: Amount, other: Amount) -> bool:
    """Whether two amounts measure or count the same, both for sure, and are not the same."""
    if not (one.sure and other.sure) or one.ordinal != other.ordinal or agree(one, other):
        return False
    if one.kind or other.kind:
        return one.kind == other.kind
    return one.noun == other.noun


@lru_cache(maxsize=128)
def _words(codes: tuple[str, ...]) -> str:
    """A pattern of one number in words: a run inside one word where the language writes compounds."""
    found: list[str] = []
    for code in codes:
        given, own = languages()[code]["numbers"], speech((code,))
        names = {*own.numbers, *own.scales}
        if not given["compound"]:
            found.append(any_of(names))
            continue
        parts = "|".join(re.escape(one) for one in sorted({*names, *phrases(given["joins"])}, key=len, reverse=True))
        edge = r"(?<![^\W\d_])", r"(?![^\W\d_])"
        before, behind = edge if phrases(given["joins"]) else ("", "")
        found.append(f"{before}(?:{parts})+{behind}")
    return f"(?:{'|'.join(found)})" if found else "(?:(?!))"


def number_pattern(codes: tuple[str, ...]) -> str:
    """A pattern of one small number, in digits or in words: hours and days are read with it."""
    return rf"(?:\d{{1,2}}|{_words(codes)})"


@lru_cache(maxsize=4096)
def value_of(word: str, codes: tuple[str, ...]) -> Decimal | None:
    """The one whole number that a word says; None where it says none, or may say two."""
    if word.isdecimal():
        return Decimal(word)
    found = _composed(_parts(word, speech(codes)))
    return next(iter(found)) if len(found) == 1 else None


def _parts(word: str, own: Speech) -> list[tuple[Decimal, bool]]:
    """The numbers and scales (true) that a word is made of, the longest first; empty where something is left over."""
    found: list[tuple[Decimal, bool]] = []
    names = sorted({*own.numbers, *own.scales}, key=len, reverse=True)
    joins = own.words("numbers", "joins")
    while word:
        name = next((one for one in names if word.startswith(one)), None)
        if name is None:
            join = next((one for one in joins if word.startswith(one)), None)
            if join is None or not found:
                return []
            word = word[len(join) :]
            continue
        found.append((own.scales[name], True) if name in own.scales else (own.numbers[name], False))
        word = word[len(name) :]
    return found


def _composed(parts: Sequence[tuple[Decimal, bool]]) -> frozenset[Decimal]:
    """What a run of numbers and scales means; a last digit behind a scale may count in the next lower one as well."""
    total = part = last = Decimal(0)
    scale = Decimal(1)
    for value, is_scale in parts:
        if not is_scale:
            # Spelled one after the other, digits of one place are more than one number.
            if last and value and len(str(int(last))) == len(str(int(value))) and last < 10:
                return frozenset()
            part, last = part + value, value
            continue
        if value >= 1000 and value > scale > 1 and total:
            total, part = (total + part) * value, Decimal(0)
        elif value >= 1000:
            total, part = total + (part or 1) * value, Decimal(0)
        else:
            part = part - last + (last or 1) * value
        scale, last = value, Decimal(0)
    found = total + part
    tail = total % 10_000
    if total >= 10**8 and scale == 1000 and tail == total % 10**8:  # "2억 4천": so many myriads
        return frozenset({found, found + tail * 9_999})
    if parts and last and last < 10 and scale >= 100 and len(parts) > 2 and part == last:
        return frozenset({found, total + last * scale / 10})
    if parts and last and last < 10 and scale == 100 and part > 100:
        return frozenset({found, found - last + last * 10})
    return frozenset({found}) if parts else frozenset()


@lru_cache(maxsize=4096)
def amounts(text: str, codes: tuple[str, ...]) -> tuple[Amount, ...]:
    """Every number of a plain text, in its order, with what is measured in two units together ("1 h 30") once more."""
    own = speech(codes)
    found = sorted((*_cardinals(text, own), *_ordinals(text, own)), key=lambda one: one.start)
    return (*found, *_sums(found))


@lru_cache(maxsize=128)
def _patterns(codes: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    own = speech(codes)
    scales = any_of(own.scales)
    joins = any_of(own.words("numbers", "joins"))
    words = _words(codes)
    digits = rf"(?<![a-z\d.]){_DIGITS}"
    run = rf"(?:{digits}(?:\s?{scales})*|{words})(?:(?:[\s-]|\s{joins}\s)(?:{words})|(?<=[^\d\s])\s?\d+\s?{scales}+)*"
    unit = any_of({*own.units, *UNITS}) + rf"|[{''.join(_SIGNS)}]"
    marks = any_of(own.words("numbers", "ordinal_marks"))
    ordinal = rf"(?<![\w.,:])(?P<digits>\d{{1,3}})(?:{marks})(?!\w)|(?P<word>{any_of(own.ordinals)})"
    return re.compile(run), re.compile(rf"[\s-]?(?:{unit})"), re.compile(ordinal)


def _cardinals(text: str, own: Speech) -> Iterator[Amount]:
    run, unit, _ = _patterns(own.codes)
    loose = {*own.words("numbers", "loose")}
    bare = all(languages()[code]["numbers"]["bare"] for code in own.codes)
    for match in run.finditer(text):
        for start, end, values in _numbers(text, match, own):
            behind = unit.match(text, end)
            name = behind[0].strip(" -") if behind else ""
            found = own.units.get(name, _SIGNS.get(name, UNITS.get(name, ""))).lower()
            before = _SIGNS.get(text[start - 1 : start], "") or _SIGNS.get(text[start - 2 : start - 1], "")
            word = text[start:end]
            spelled = not any(char.isdecimal() for char in word)
            small = (word in loose and (not found or values == {1})) or (not found and max(values) <= 2)
            sure = not (spelled and (small or max(values) < 1 or (not bare and not found and len(word) < 2)))
            if spelled and not bare and not found and not any(scale in word for scale in own.scales):
                continue
            half = bool(found and behind) and own.numbers.get(text[behind.end() :][:1] if behind else "") == _HALF
            noun = _NOUN.match(text, end)
            counted = "" if found in _COUNTS else found
            yield Amount(
                values=frozenset(value + _HALF for value in values) if half else values,
                unit=counted or before,
                noun=name if found in _COUNTS else "" if counted or noun is None else _stem(noun[1]),
                start=start,
                end=end,
                sure=sure,
            )


def _stem(noun: str) -> str:
    return noun.rstrip("s")[:6]


def _numbers(text: str, match: re.Match[str], own: Speech) -> Iterator[tuple[int, int, frozenset[Decimal]]]:
    """The numbers of a run: one where it makes one ("twenty-five"), else each alone ("four twelve-hour")."""
    pieces: list[tuple[int, int, list[tuple[Decimal, bool]], frozenset[Decimal]]] = []
    for piece in re.finditer(rf"{_DIGITS}|[^\W\d]+(?:-[^\W\d]+)*", match[0]):
        for start, word in _split(piece, own):
            digits = _readings(word) if word[0].isdecimal() else frozenset()
            parts = [(min(digits), False)] if digits else _parts(word, own)
            # Where a run is no number, its last letter is a unit that is a number elsewhere.
            cut = len(parts) > 1 and not _composed(parts)
            if parts:
                end = match.start() + start + len(word) - cut
                pieces.append((match.start() + start, end, _parts(word[:-1], own) if cut else parts, digits))
    while pieces:
        count = next(
            (
                size
                for size in range(len(pieces), 1, -1)
                if _one([piece[2] for piece in pieces[:size]], [bool(piece[3]) for piece in pieces[:size]])
            ),
            1,
        )
        taken, pieces = pieces[:count], pieces[count:]
        values = taken[0][3] if count == 1 and taken[0][3] else _composed([one for piece in taken for one in piece[2]])
        if count > 1 and len(taken[0][3]) > 1:
            rest = [one for piece in taken[1:] for one in piece[2]]
            values = frozenset(v for first in taken[0][3] for v in _composed([(first, False), *rest]))
        if any(
            len(scale) == 1 and scale.isascii() for scale in own.scales if text[taken[-1][0] : taken[-1][1]] == scale
        ):
            values |= taken[0][3]  # one letter is a unit as well: "11k" of a runner
        if values:
            yield taken[0][0], taken[-1][1], values


def _split(piece: re.Match[str], own: Speech) -> Iterator[tuple[int, str]]:
    """A piece as it is where the lexicon has it ("quatre-vingt"), else at its hyphens."""
    if piece[0][0].isdecimal() or piece[0] in own.numbers or "-" not in piece[0]:
        yield piece.start(), piece[0]
        return
    at, words = piece.start(), piece[0].split("-")
    while words:
        size = next((n for n in range(len(words), 1, -1) if "-".join(words[:n]) in own.numbers), 1)
        word, words = "-".join(words[:size]), words[size:]
        yield at, word
        at += len(word) + 1


def _one(words: Sequence[Sequence[tuple[Decimal, bool]]], digits: Sequence[bool]) -> bool:
    """Whether words behind one another are one number: each adds to a larger one before it, or scales it."""
    size = Decimal(0)
    for place, parts in enumerate(words):
        value, is_scale = parts[0]
        if place and not is_scale and digits[place - 1] != digits[place] and size < 1000:
            return False
        if place and not is_scale and not (size >= 20 and 0 < value < size and (size >= 100 or value < 20)):
            return False
        if place and is_scale and size >= value > 1 and size < 1000:
            return False
        size = parts[-1][0]
    return all(value == int(value) for parts in words[1:] for value, _ in parts)


def _readings(token: str) -> frozenset[Decimal]:
    """The values of "1,200", "1.200,50", "3.5", "7 800": separators of groups and of the fraction, in every use."""
    token = token.replace(" ", "")
    parts = re.split(r"[.,']", token)
    found = {Decimal(parts[0])} if len(parts) == 1 else set()
    if len(parts) > 1 and all(len(part) == 3 for part in parts[1:]) and len(parts[0]) <= 3:
        found.add(Decimal("".join(parts)))
    if len(parts) == 2 or (len(parts) > 2 and all(len(part) == 3 for part in parts[1:-1])):
        found.add(Decimal(f"{''.join(parts[:-1])}.{parts[-1]}"))
    return frozenset(value.normalize() for value in found)


def _ordinals(text: str, own: Speech) -> Iterator[Amount]:
    for match in _patterns(own.codes)[2].finditer(text):
        value = Decimal(match["digits"] or own.ordinals[match["word"]])
        noun = _NOUN.match(text, match.end())
        yield Amount(
            values=frozenset({value}),
            unit="",
            noun=_stem(noun[1]) if noun else "",
            start=match.start(),
            end=match.end(),
            sure=match["digits"] is not None or value > 2,
            ordinal=True,
        )


def _sums(found: Sequence[Amount]) -> Iterator[Amount]:
    """Two amounts side by side that measure the same in a larger and a smaller unit, as one."""
    for first, second in pairwise(found):
        if first.kind == second.kind not in {"", "money"} and second.start - first.end < 12:
            sizes = [_SIZES[one.unit][1] for one in (first, second)]
            if sizes[0] > sizes[1]:
                values = {(a + b) / sizes[0] for a in first.sizes for b in second.sizes}
                yield replace(first, values=frozenset(values), end=second.end)
