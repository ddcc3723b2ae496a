"""Whether lines have the numbers of a claim: with its unit, counting the same thing, ordinals too. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Final

from memhold.consolidate.clause_subjects import CLAUSE
from memhold.consolidate.grounding.claims import Claim, Line
from memhold.consolidate.grounding.words import UNSPACED, terms_of
from memhold.text.details import content_terms
from memhold.text.figures import Figure, figures
from memhold.text.function_words import EVIDENCE
from memhold.text.normal_form import normal_form
from memhold.text.quantities import Quantity, quantities
from memhold.text.when import days_of, spans_of

# ruff: noqa: RUF001 - signs and letters of every script

__all__ = [
    "age_of_nobody",
    "counts_a_thing",
    "counts_another",
    "number_of_another_line",
    "number_stands",
    "numbers_of",
    "ordinal_stands",
    "ordinals_in",
    "with_its_unit",
]


def number_of_another_line(claim: Claim, cited: Sequence[Line], others: Sequence[Line]) -> bool:
    """Whether a value is a number alone that its own lines lack, found in others that do not name its attribute."""
    wanted = quantities(claim.core)
    if not claim.value or claim.known or len(wanted) != 1 or wanted[0].text != claim.core.strip():
        return False
    named = terms_of(claim.frame, claim.language)
    return bool(cited) and not any(named & terms_of(line.text, claim.language) for line in others)


_AGE = re.compile(
    r"(?i)\b(?:age|alter|âge|edad|età|idade|leeftijd|ålder|alder|возраст)\b|나이|연세|年齢|年龄|年齡|歳|عمر"
)

_YEARS = re.compile(r"(?i)\s*(?:살|세|歳|才|岁|歲|(?:jaar|лет|года?|y/?o|سنة|سنوات|عاما?)\b)")


def counts_a_thing(claim: Claim, lines: Sequence[Line]) -> bool:
    """Whether a value is a number alone that counts something else in its lines than its attribute names."""
    wanted = quantities(claim.core)
    if len(wanted) != 1 or wanted[0].unit is not None or wanted[0].text != claim.core.strip():
        return False
    named, age = terms_of(claim.frame, claim.language), _AGE.search(claim.frame) is not None
    seen = False
    for line in lines:
        for held in quantities(line.text):
            if not held.values & wanted[0].values:
                continue
            seen = True
            rest = normal_form("NFC", line.text)[held.start + len(held.text) :]
            behind = re.match(r"\s*([^\W\d_]+)", rest)
            counted = frozenset[str]() if behind is None else terms_of(behind[1], claim.language)
            if not counted or counted & named or named & terms_of(line.text, claim.language):
                return False
            if age and (held.unit == "year" or _YEARS.match(rest)):
                return False
    return seen


def age_of_nobody(claim: Claim, lines: Sequence[Line]) -> bool:
    """Whether a claim makes an age of a number that counts something else: "age: 3" of 3 terms."""
    if claim.value:
        ages = [claim] if _AGE.search(claim.frame) else []
    else:
        found = _YEARS_OLD.finditer(claim.core)
        ages = [replace(claim, core=match["years"], frame="age", value=True) for match in found]
    return any(counts_a_thing(one, lines) and not _aged(one, lines) for one in ages)


_YEARS_OLD = re.compile(r"(?i)\b(?P<years>\d{1,3})(?:(?<=aged \d)|(?<=aged \d\d)|[ -]years?[ -]old\b|\sJahre\salt\b)")

_BEFORE_AGE = re.compile(
    r"(?i)(?:\b(?:i['’]?m|am|is|was|(?<!there )are|he['’]?s|she['’]?s|turn\w*|hit|reach\w*|aged?|bin|ist|war"
    r"|w[eiu]rd\w*|est|es|é|è|cumpl\w*|compi\w*|fiz|fez|fyller|мне|ему|ей|исполни\w*|عمر\w*)"
    r"(?:\s(?:only|just|already|almost|nearly|about|now|over|schon|erst|fast|bald|déjà|presque|ya|casi|già|quasi|já|quase"
    r"|bijna|уже|почти))?|나이[는가]?|올해|今年)\s*(?:\d{1,3}\s*(?:,|and|und|et|y|e|en|и)\s*)?\Z"
)
"""What stands before the number of years that somebody has: "I turned 36 yesterday", "they are 8 and 5 now"."""

_BEHIND_AGE = re.compile(r"(?i)(?:st|nd|rd|th|\.)\s(?:birthday|geburtstag)\b")
"""What stands behind it: "my 36th birthday"."""


def _aged(claim: Claim, lines: Sequence[Line]) -> bool:
    wanted = quantities(claim.core)[0].values
    for line in lines:
        text = normal_form("NFC", line.text)
        for held in quantities(line.text):
            if not held.values & wanted or held.unit not in {None, "year"}:
                continue
            behind = text[held.start + len(held.text) :]
            if _BEFORE_AGE.search(text[: held.start]) is not None or _BEHIND_AGE.match(behind) is not None:
                return True
    return False


def numbers_of(text: str, dates: Sequence[tuple[int, int]]) -> Iterator[Quantity]:
    """Numbers that are a claim: not those of a date, and no "one" in words, which is no number more often than not."""
    plain = normal_form("NFC", text)
    for one in quantities(plain):
        if any(start <= one.start < end for start, end in dates):
            continue
        if not (one.spelled and one.values <= _ONES):
            yield one


_ONES: Final = frozenset(value for one in quantities("0 1") for value in one.values)

_ORDINALS: Final = {
    name: place
    for names in (
        "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth",
        "dritt viert fünft sechst siebt acht neunt zehnt elft zwölft",
        "troisième quatrième cinquième sixième septième huitième neuvième dixième onzième douzième",
        "tercer cuart quint sext séptim octav noven décim",
        "terz quart quint sest settim ottav non decim",
        "derde vierde vijfde zesde zevende achtste negende tiende elfde twaalfde",
    )
    for place, name in enumerate(names.split(), 3)
}

_ORDINAL = re.compile(
    rf"(?i)\b(?P<word>{'|'.join(sorted(_ORDINALS, key=len, reverse=True))})(?:e[nmrs]?|[oa]s?)?\b(?!\s*\d)"
    rf"|\b(?P<digits>\d{{1,3}})(?:st|nd|rd|th|ème|º|ª)\b"
)
"""From the third on: the first and the second are other words as well; bare "acht" and "non" are none."""


def ordinals_in(text: str) -> Mapping[int, str]:
    """The ordinals of a text, from the third on, in words or digits, each as it stands there."""
    found = {}
    for match in _ORDINAL.finditer(text):
        word = (match["word"] or "").casefold()
        if match["digits"]:
            found[int(match["digits"])] = match[0]
        elif word not in {"acht", "non", "quart", "sext"} or match[0].casefold() != word:
            found[_ORDINALS[word]] = match[0]
    return found


def ordinal_stands(place: int, lines: Sequence[Line]) -> bool:
    """Whether a line has an ordinal: as one, as a number, or as the day of a date."""
    for line in lines:
        if place in ordinals_in(line.text) or any(Decimal(place) in one.values for one in quantities(line.text)):
            return True
        if any(start.day == place for start, end in days_of(line.text, line.at) if (end - start).days == 1):
            return True
    return False


def number_stands(wanted: Quantity, claim: str, lines: Sequence[Line]) -> bool:
    """Whether a line has a number, in whatever form, with its unit and beside what it counts."""
    if (clock := _time_stands(wanted, claim, lines)) is not None:
        return clock
    for line in lines:
        passed = spans_of(line.text, line.at) if wanted.unit not in {None, *_COUNTED} else []
        passed = [*passed, *((one.start, one.end) for one in figures(line.text) if _to_the_minute(one))]
        for held in quantities(line.text):
            if any(start <= held.start < end for start, end in passed):
                continue
            if held.values & wanted.values and (wanted.unit is None or held.unit in {None, wanted.unit}):
                if wanted.unit is None and not _same_counted(claim, wanted, line, held):
                    continue
                if _scale(claim, wanted) != _scale(line.text, held) != "" != _scale(claim, wanted):
                    continue  # degrees of two scales
                mine, theirs = _after(claim, wanted), _after(line.text, held)
                if mine.rate and theirs.rate and mine.rate != theirs.rate:
                    continue
                if mine.last and theirs.last and mine.last not in line.text.casefold():
                    continue
                # "He pays 410 euros, I pay 390": what is left out is what was said of the number before.
                spoken = {one.unit for one in quantities(line.text) if one.start < held.start}
                return wanted.unit in {None, held.unit, *_COUNTED, *(spoken if held.unit is None else ())}
        for start, end in days_of(line.text, line.at):
            if wanted.unit in {None, "year"} and wanted.values & _calendar(start, end):
                return True
    return False


def _time_stands(wanted: Quantity, claim: str, lines: Sequence[Line]) -> bool | None:
    """Whether lines have the time of the clock of which a number is the hour or the minutes: "3 pm" is "15:00".

    None where it is no such number, or where no line has a time of that hour: it may be told in another way.
    """
    mine = next((one for one in figures(claim) if one.unit == "clock" and one.start <= wanted.start < one.end), None)
    if mine is None:
        return None
    half = half_of_the_day(claim[mine.start : mine.end], mine)
    theirs = [
        half_of_the_day(line.text[one.start : one.end], one)
        for line in lines
        for one in figures(line.text)
        if one.unit == "clock" and one.values & mine.values
    ]
    if any(half == one or not (half and one) for one in theirs):
        return True
    # "My alarm is at 6 and dinner at 18:00": the 6 may be the one that is told.
    plain = any(
        one.unit is None and one.values & mine.values and _AT.search(line.text[max(0, one.start - 12) : one.start])
        for line in lines
        for one in figures(line.text)
    )
    return False if theirs and not plain else None


_AT = re.compile(r"(?i)\b(?:at|from|by|until|till|um|ab|bis|gegen|vers|à|las?|alle|às|om|kl\.?|klockan|в|до)\s\Z")
"""What stands before an hour of the clock that is a number alone."""


def half_of_the_day(words: str, time: Figure) -> str | None:
    """Whether a time that stands in words is before noon (`a`) or after it (`p`): "03:00" is no time of the afternoon.

    None where it may be either.
    """
    return time.half or ("a" if words.startswith("0") else None)


def _to_the_minute(one: Figure) -> bool:
    """Whether it is a time of the clock with minutes: "at 5" is another one than "at 5:30"."""
    return one.unit == "clock" and any(value != int(value) for value in one.values)


@dataclass(frozen=True, slots=True)
class _After:
    """What follows a number and its unit: per what it is ("an hour"), and a word with which the clause ends ("net")."""

    rate: str = ""
    last: str = ""


_UNIT_WORD = r"\s?[-‐‑]?\s?(?:%|°[cf]?|[€$£¥₩₹]|[^\W\d_]+)?"

_UNIT_BEHIND = re.compile(_UNIT_WORD)

_RATE = re.compile(
    rf"(?i)(?!\s(?:from|for|of|in|at|by|with|to|von|für|aus|pour|du|des|para)\b)"
    rf"{_UNIT_WORD}\s*(?<![^\W\d_])(?:(?:an?|per|each|every|je|pro|jede[nmrs]?|im|am|par|chaque|por|cada|al?|à l['’]"
    rf"|alla|all['’]|por|ao|om|i|в|the)\s+|/\s*)"
    r"(?P<unit>[^\W\d_]+)"
)


def with_its_unit(text: str, number: Quantity) -> str:
    """A number as it stands in a text, with its unit and what it is per: "250 euros a month"."""
    end = number.start + len(number.text)
    rate = _RATE.match(text, end)
    unit = None if number.unit is None else _UNIT_BEHIND.match(text, end)
    return text[number.start : max([end, *(found.end() for found in (rate, unit) if found is not None)])]


_ADVERB: Final = {"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "yearly": "year"}

_LAST = re.compile(r"\s?[-‐‑]?\s?(?:[€$£¥₩₹]|[^\W\d_]+)\s+(?P<word>[^\W\d_]{3,})\s*(?:[.,;!?]|\Z)")


def _after(text: str, number: Quantity) -> _After:
    rest = normal_form("NFKC", text)[number.start + len(number.text) :]
    rate, last = _RATE.match(rest), _LAST.match(rest)
    word = last["word"].casefold() if last is not None and number.unit is not None else ""
    if word in EVIDENCE or word in _ADVERB or UNSPACED.search(word):
        word = ""
    unit = _ADVERB.get(last["word"].casefold(), "") if last is not None else ""
    if rate is not None:
        unit = next((one.unit for one in quantities(f"1 {rate['unit']}") if one.unit in _COUNTED), None) or unit
    return _After(unit, word)


def _same_counted(claim: str, wanted: Quantity, line: Line, held: Quantity) -> bool:
    """Whether a number counts the same thing in a claim as in a line.

    Where it has a unit in the line, the word behind it in the claim stands there too; where both count something square
    or new or other, so do the words behind that.
    """
    if _counts_else(claim, wanted, line.text, held) or _named_by(claim, wanted, line.text, held):
        return False
    if _counted_by_another(claim, wanted, line.text, held):
        return False
    mine = _BEHIND.match(normal_form("NFC", claim)[wanted.start + len(wanted.text) :])
    if mine is None or mine[1].casefold() in EVIDENCE:
        return True
    if held.unit not in {None, *_COUNTED}:
        word, text = mine[1].casefold(), line.text.casefold()
        counted = [
            one for one in quantities(text) if re.match(rf"\s*{re.escape(word)}", text[one.start + len(one.text) :])
        ]
        return word in text and (not counted or any(one.values & wanted.values for one in counted))
    theirs = _BEHIND.match(normal_form("NFC", line.text)[held.start + len(held.text) :])
    if theirs is None or theirs[1].casefold() != mine[1].casefold() or not (theirs[2] and mine[2]):
        return True
    one, other = mine[2].casefold(), theirs[2].casefold()
    return (
        bool({one, other} & _STANDS_FOR_IT)
        or one in EVIDENCE
        or other in EVIDENCE
        or one[: 2 if UNSPACED.match(one) else 3] == other[: 2 if UNSPACED.match(one) else 3]
    )


_STANDS_FOR_IT: Final = frozenset({"one", "ones"})
"""English says "two small ones" of whatever it was that was spoken of."""


def _counted_by_another(claim: str, wanted: Quantity, text: str, held: Quantity) -> bool:
    """Whether what a number counts in a claim stands behind another number in the line, and this one counts else.

    "2 cats and 3 dogs" are no 3 cats, and "ward 6, 18 beds" no 6 beds; "12 mugs in May and 20 in June" may be 20 mugs.
    """
    mine, theirs = _next_noun(claim, wanted), _next_noun(text, held)
    if not mine or _alike(mine, theirs) or not (theirs or _is_label(text, held)):
        return False
    if theirs and mine[0].isupper() != theirs[0].isupper():
        return False  # "drei gefällt": a German verb, where the noun is left out
    return any(
        _alike(mine, _next_noun(text, one)) and not one.values & wanted.values
        for one in quantities(text)
        if one.start != held.start
    )


def _alike(one: str, other: str) -> bool:
    return one == other or (not UNSPACED.match(one) and bool(content_terms(one) & content_terms(other)))


def _is_label(text: str, number: Quantity) -> bool:
    """Whether a number is the name of what stands before it without an article: "ward 6", but not "the terrace 20"."""
    before = normal_form("NFC", text)[: number.start]
    if not before[-1:].isspace():
        return False
    *_, by, noun = ["", "", *before.rsplit(maxsplit=2)]
    return len(noun) > 2 and noun.isalpha() and bool(content_terms(noun)) and not _ARTICLES.fullmatch(by)


_ARTICLES = re.compile(r"(?i)the|an?|der|die|das|den|dem|ein\w*|les?|la|une?|el|los|las|una?|il|lo|o|os|as|het|de|een")


def _next_noun(text: str, number: Quantity) -> str:
    """The noun right behind a number, empty where none is; two characters of a script without spaces."""
    plain, end = normal_form("NFC", text), number.start + len(number.text)
    found = _WIDE_BEHIND.match(plain, end) or _WORD_BEHIND.match(plain, end)
    return found[1] if found is not None and found[1].casefold() not in EVIDENCE else ""


_WIDE_BEHIND = re.compile("\\s?([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]{2})")


def _named_by(claim: str, wanted: Quantity, text: str, held: Quantity) -> bool:
    """Whether a number names one of what it counts on the other side: "plot 14", "14 plots"."""
    mine, theirs = _beside(claim, wanted), _beside(text, held)
    if theirs[0] in _LABELS and mine[1] and mine[0] not in _LABELS:
        return True
    return (theirs[0] == mine[1] != "" != theirs[0] != theirs[1]) or (mine[0] == theirs[1] != "" != mine[0] != mine[1])


def _beside(text: str, number: Quantity) -> tuple[str, str]:
    """The words right before and right behind a number, as they are looked for; empty where none is."""
    plain = normal_form("NFC", text)
    before = _WORD_BEFORE.search(plain[: number.start])
    behind = _WORD_BEHIND.match(plain, number.start + len(number.text))
    return tuple(" ".join(sorted(content_terms(one[1]))) if one else "" for one in (before, behind))  # type: ignore[return-value]


_LABELS: Final = content_terms("number nummer numéro número numero nr")
"""A word before a number that is one's name: "room number 207" are no 207 rooms."""
_WORD_BEFORE = re.compile(r"(?<![^\W\d_])([^\W\d_]{3,})\s\Z")
_WORD_BEHIND = re.compile(r"\s([^\W\d_]{3,})")
_BEHIND = re.compile(r"\s*([^\W\d_]{3,})(?:\s+([^\W\d_]{3,}))?")


def counts_another(frame: str, wanted: Quantity, lines: Sequence[Line], language: str) -> bool:
    """Whether what an attribute names is counted by another number, in every line that has this one.

    "240 loaves on weekdays and 400 on a Saturday": the loaves on a weekday are not 400. Of two clauses with a number
    each, a later one that names the attribute has its own: "85 a night, 120 in high season".
    """
    named = frozenset(term for term in terms_of(frame, language) if len(term) > 1)
    having = [line for line in lines if any(one.values & wanted.values for one in quantities(line.text))]
    return bool(named) and bool(having) and all(_counts_other(named, wanted, line.text, language) for line in having)


def _counts_other(named: frozenset[str], wanted: Quantity, text: str, language: str) -> bool:
    plain = normal_form("NFKC", text)
    mine = behind = False
    for clause in filter(None, CLAUSE.split(plain)):
        held = quantities(clause)
        equal = [one for one in held if one.values & wanted.values]
        shared = named & terms_of(clause, language)
        for one in held:
            next_words = re.match(r"\W*(\w+)(?:\W+\w+){0,2}", clause[one.start + len(one.text) :])
            if next_words is None:
                continue
            if one in equal and named & terms_of(next_words[0], language):
                return False
            behind |= one not in equal and wanted.unit is None and bool(named & terms_of(next_words[1], language))
        if equal and shared and not behind:
            return False
        if not equal and mine and shared and any(one.unit in {None, wanted.unit} for one in held):
            return wanted.unit is not None
        mine |= bool(equal)
    return behind


_SCALE = re.compile(r"\s?(?:°|degrees?|grad|degrés?|grados?)?\s?(?P<letter>[cf])(?:elsius|ahrenheit)?\b", re.IGNORECASE)


def _scale(text: str, number: Quantity) -> str:
    """The scale of degrees behind a number: "c", "f", or none."""
    found = _SCALE.match(normal_form("NFKC", text)[number.start + len(number.text) :]) if number.unit == "°" else None
    return found["letter"].casefold() if found is not None else ""


_SHARES: Final = frozenset("割倍回次번배号층階시時")
"""What a number of Chinese, Japanese or Korean counts when it is no thing: times, tenths, floors."""


def _counts_else(claim: str, wanted: Quantity, text: str, held: Quantity) -> bool:
    """Whether a number counts times or tenths on one side, and something else on the other."""
    mine, theirs = _counter(claim, wanted), _counter(text, held)
    if wanted.unit is None and held.unit not in {None, *_COUNTED} and UNSPACED.match(mine):
        return True
    return mine != theirs and bool({mine, theirs} & _SHARES) and not mine.isascii() and not theirs.isascii()


def _counter(text: str, number: Quantity) -> str:
    """The character behind a number; a native Korean one is read with its counter."""
    if number.spelled and number.text[-1:] >= "\uac00":
        return number.text.split()[-1][-1:]
    return normal_form("NFKC", text)[number.start + len(number.text) :].lstrip()[:1]


_COUNTED: Final = frozenset({"second", "minute", "hour", "day", "night", "week", "month", "year"})
"""Units that a number may leave out where it is said ("I'm 34"): of money and measures none is supplied."""


def _calendar(start: datetime, end: datetime) -> frozenset[Decimal]:
    """The year of a day, a month or a year; days and months are read as dates where they are meant as such."""
    return frozenset({Decimal(start.year).normalize()}) if (end - start).days <= 366 else frozenset()
