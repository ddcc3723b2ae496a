"""The numbers of a text as values with their units: "twelve", "12", "十二", "1,200 €", "fünfundzwanzig". Pure.

A token that can be read in two ways ("1.200") has both values: whoever compares looks for one that agrees.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Final

from memhold.text import lazily
from memhold.text.letter_words import LETTER_WORD
from memhold.text.normal_form import normal_form

# ruff: noqa: RUF001 - numbers, signs and dashes of every script are what this module is about

__all__ = ["Quantity", "quantities"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number as it stands at `start`: every value it may mean, and its unit in one form for all spellings, if any.

    `spelled` numbers are words, which may mean something else ("a second one").
    """

    values: frozenset[Decimal]
    unit: str | None
    text: str
    start: int
    spelled: bool = False


# Cardinals of languages that write words apart; the ground for compounds. Source: CLDR's rule-based number formats.
_WORDS: dict[str, int] = {}
for _names in (
    (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "  # noqa: E501
        "eighteen nineteen"
    ),
    (
        "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn "  # noqa: E501
        "achtzehn neunzehn"
    ),
    "zéro - deux trois quatre cinq - sept huit neuf dix onze douze treize quatorze quinze seize",
    (
        "cero - dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete "
        "dieciocho diecinueve"
    ),
    (
        "- - due tre quattro cinque - sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette "  # noqa: E501
        "diciotto diciannove"
    ),
    "- - dois três quatro cinco - sete oito nove dez - doze treze quatorze quinze dezesseis dezessete dezoito dezenove",
    (
        "ноль один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать тринадцать четырнадцать "
        "пятнадцать шестнадцать семнадцать восемнадцать девятнадцать"
    ),
):
    _WORDS |= {_name: _at for _at, _name in enumerate(_names.split()) if _name != "-"}
for _names in (
    "twenty thirty forty fifty sixty seventy eighty ninety",
    "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "vingt trente quarante cinquante soixante septante huitante nonante",
    "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    "venti trenta quaranta cinquanta sessanta settanta ottanta novanta",
    "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
    "двадцать тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто",
):
    _WORDS |= {_name: _at * 10 for _at, _name in enumerate(_names.split(), 2)}
_WORDS |= {f"{_name}mal": _WORDS[_name] for _name in ("zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht")}
_WORDS |= {
    "twice": 2,
    "thrice": 3,
    **{
        f"{_name}mal": _WORDS[_name]
        for _name in ["zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "zwölf"]
    },
    "duas": 2,
    "dois": 2,
    "одна": 1,
    "одно": 1,
    "две": 2,
    "двух": 2,
    "трёх": 3,
    "трех": 3,
    "четырёх": 4,
    "пяти": 5,
    "двоих": 2,
}
_SCALES: Final = {
    name: scale
    for scale, names in (
        (12, "dozen"),
        (100, "hundred hundert cent cento cien ciento сто"),
        (1000, "thousand tausend mille mil mila тысяча тысячи тысяч"),
        (1_000_000, "million millions million millionen millón millones milione milioni milhão milhões миллион"),
    )
    for name in names.split()
}
_AND: Final = frozenset({"and", "und", "et", "y", "e"})
_GERMAN = lazily.compile(
    r"(?:(ein|zwei|drei|vier|fünf|sechs|sieben|acht|neun)und)?(zwanzig|dreißig|vierzig|fünfzig|sechzig|siebzig|achtzig|neunzig)"
)
_KOREAN_ONES: Final = dict(zip("한두세네", (1, 2, 3, 4), strict=True)) | {
    name: value for value, name in enumerate(["하나", "둘", "셋", "넷", "다섯", "여섯", "일곱", "여덟", "아홉"], 1)
}
_KOREAN_TENS: Final = {
    "열": 10,
    "스물": 20,
    "서른": 30,
    "마흔": 40,
    "쉰": 50,
    "예순": 60,
    "일흔": 70,
    "여든": 80,
    "아흔": 90,
}
_NATIVE: Final = (
    _KOREAN_ONES
    | _KOREAN_TENS
    | {"스무": 20}
    | {f"{ten}{one}": tens + ones for ten, tens in _KOREAN_TENS.items() for one, ones in _KOREAN_ONES.items()}
)
_COUNTERS: Final = "개|명|번|시간|시|살|달|마리|잔|권|주|년|일|분|가지|박|장|병|대|층"
_KOREAN = lazily.compile(rf"({'|'.join(sorted(_NATIVE, key=len, reverse=True))})\s?(?:{_COUNTERS})")
_HAN_DIGITS: Final = {char: value for value, char in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2}
_HAN_SCALES: Final = {"十": 10, "百": 100, "千": 1000}
_HAN_BIG: Final = {"万": 10_000, "萬": 10_000, "億": 100_000_000, "亿": 100_000_000}
_HAN = lazily.compile(rf"[{''.join((*_HAN_DIGITS, *_HAN_SCALES, *_HAN_BIG))}]+")
_DIGITS = lazily.compile(
    r"(?<![\d.,:/+-])(?<![\d)] )[1-9]\d{0,2}(?: \d{3})+(?:[.,]\d{1,2})?(?![ -]?\d)|\d+(?:[.,'’]\d+)*"
)
"""Digits with the signs between them; of groups with blanks between them (French, Norwegian) thousands alone."""

_UNITS: Final = {
    name: unit
    for unit, names in (
        ("EUR", "€ eur euro euros"),
        ("USD", "$ usd dollar dollars dólar dólares"),
        ("GBP", "£ gbp pound pounds quid"),
        ("JPY", "¥ jpy yen 円"),
        ("KRW", "₩ krw won 원"),
        ("cent", "cent cents ¢ centime centimes centavo centavos centesimi öre pence penny"),
        ("CNY", "cny rmb yuan 元"),
        ("INR", "₹ inr rupee rupees"),
        ("CHF", "chf franken"),
        ("RUB", "₽ rub рублей рубля рубль"),
        ("%", "% percent prozent pourcent 퍼센트"),
        (
            "kg",
            "kg kilo kilos kilogram kilograms kilogramm kilogramme kilogrammes kilogramo kilogramos chili chilo 킬로",
        ),
        ("g", "g gram grams gramm grammes gramos 그램"),
        ("mg", "mg milligram milligrams milligramm"),
        (
            "km",
            "km kilometer kilometers kilometre kilometres kilomètre kilomètres kilómetros chilometri 킬로미터",
        ),
        ("m", "m metre metres meter meters mètre mètres metro metros metri 미터"),
        (
            "cm",
            "cm centimetre centimetres centimeter centimeters zentimeter centimètre centimètres centímetros centimetri",
        ),
        ("mm", "mm"),
        ("ha", "ha hektar hectare hectares hectárea hectáreas ettari 헥타르 ヘクタール 公顷"),
        ("m²", "m2 m² qm sqm quadratmeter quadratmetern 평방미터 平米 平方米"),
        ("a", "アール 公亩"),
        ("acre", "acre acres"),
        ("W", "watt watts 와트 ワット 瓦"),
        ("mi", "mi mile miles milla millas meile meilen miglia"),
        ("l", "l litre litres liter liters litro litros litri"),
        ("ml", "ml"),
        ("GB", "gb"),
        ("MB", "mb"),
        ("TB", "tb"),
        (
            "°",
            "° °c °f celsius fahrenheit degree degrees grad degré degrés grado grados gradi graus graden grader 도 度",
        ),
        ("second", "s sec secs second seconds sekunde sekunden seconde secondes segundos 초 秒"),
        ("minute", "min mins minute minutes minuten minutos 분 分"),
        ("hour", "h hr hrs hour hours stunde stunden heure heures hora horas ore 시간 時間 小时"),
        ("day", "day days tag tage tagen jour jours día días giorni dias 일 天"),
        ("night", "night nights nacht nächte nuit nuits noche noches 박 晚"),
        ("week", "week weeks woche wochen semaine semaines semana semanas settimane 주 週間 周"),
        ("month", "month months monat monate monaten mois mes meses mesi meses 달 개월 か月 ヶ月 个月"),
        ("year", "year years jahr jahre jahren an ans año años anni anos 년 年"),
    )
    for name in names.split()
}
_BEHIND = lazily.compile(r"\s?[-‐‑]?\s?(%|°[cf]?|[€$£¥₩₹]|[^\W\d_]+)", re.IGNORECASE)
_BEFORE = lazily.compile(r"([€$£¥₩₹]|\b(?:eur|usd|gbp|chf))\s?\Z", re.IGNORECASE)
_MOST = 20_000


@lru_cache(maxsize=4096)
def quantities(text: str) -> tuple[Quantity, ...]:
    """Every number of a text (its first 20,000 characters), in digits of any script or spelled; each once a place."""
    plain = normal_form("NFKC", text[:_MOST])
    plain = "".join(str(unicodedata.decimal(c)) if c.isdecimal() and not c.isascii() else c for c in plain)
    return (*_in_digits(plain), *_spelled(plain), *_korean(plain), *_han(plain))


def _in_digits(text: str) -> Iterator[Quantity]:
    end = 0
    for match in _DIGITS.finditer(text):
        if match.start() < end:
            continue  # a part of the number before
        values, end = _readings(match[0]), match.end()
        big = _BIG.match(text, end)
        if big is not None:
            scaled = {value * _SCALED[big["times"] or "1"] * _SCALED[big["big"].lower()] for value in values}
            values, end = values | scaled if big["big"] in "kK" else scaled, big.end()
        rest = _REST.match(text, end) if big is not None and big["big"] in _MYRIAD else None
        if rest is not None:
            more = Decimal(rest["digits"]) * _SCALED[rest["scale"] or "1"]
            values, end = {(value + more).normalize() for value in values}, rest.end()
        if values:
            yield Quantity(
                values=frozenset(values), unit=_unit(text, match.start(), end), text=match[0], start=match.start()
            )


_BIG = lazily.compile(r"\s?(?P<times>[천백千百](?=[만억万萬億亿]))?(?P<big>[万萬億亿만억천千]|k\b)", re.IGNORECASE)
_MYRIAD: Final = frozenset("만万萬")
_REST = lazily.compile(r"\s?(?P<digits>\d{1,4})(?!\d)(?:\s?(?P<scale>[천백千百])|(?<=\d{4}))")
"""What follows a myriad in the same number: "8만 5천"."""
_SCALED: Final = _HAN_BIG | {"1": 1, "k": 1000, "천": 1000, "千": 1000, "백": 100, "百": 100, "만": 10_000, "억": 10**8}


def _readings(token: str) -> set[Decimal]:
    """The values of "1,200", "1.200,50", "3.5": separators of groups and of the fraction, in every use of them."""
    token = token.replace(" ", "")
    parts = re.split(r"[.,'’]", token)
    found: set[Decimal] = set()
    for text in {
        token.replace(",", "."),
        "".join(parts),
        f"{''.join(parts[:-1])}.{parts[-1]}" if len(parts) > 1 else "",
    }:
        try:
            value = Decimal(text) if text and len(text) < 40 else None
        except InvalidOperation:
            continue
        if value is not None and ("." in text or len(parts) == 1 or all(len(part) == 3 for part in parts[1:])):
            found.add(value.normalize())
    return found


def _spelled(text: str) -> Iterator[Quantity]:
    """Runs of number words: one number where they make one ("twenty-five"), else each alone ("four twelve-hour")."""
    run: list[re.Match[str]] = []
    for match in (*LETTER_WORD.finditer(text), None):
        known = match is not None and _value(match[0]) is not None
        near = match is not None and bool(run) and match.start() - run[-1].end() <= 1
        if match is not None and near and (known or match[0].lower() in _AND):
            run.append(match)
            continue
        if run:
            yield from _of_run(text, run)
        run = [match] if match is not None and known else []


def _of_run(text: str, run: Sequence[re.Match[str]]) -> Iterator[Quantity]:
    words = [match for match in run if match[0].lower() not in _AND]
    values = [_value(match[0]) or 0 for match in words]
    tens = len(values) == 2 and 20 <= values[0] <= 90 and 1 <= values[1] <= 9
    if len(words) == 1 or tens or any(match[0].lower() in _SCALES for match in words):
        yield _number(text, words, _composed(words))
        return
    for match in words:
        yield _number(text, [match], _value(match[0]) or 0)


def _composed(words: Sequence[re.Match[str]]) -> int:
    total = part = 0
    for match in words:
        value = _value(match[0]) or 0
        if match[0].lower() not in _SCALES:
            part += value
            continue
        part = (part or 1) * value
        if value >= 1000:
            total, part = total + part, 0
    return total + part


def _number(text: str, words: Sequence[re.Match[str]], value: int) -> Quantity:
    start, end = words[0].start(), words[-1].end()
    values = frozenset({Decimal(value).normalize()})
    return Quantity(values=values, unit=_unit(text, start, end), text=text[start:end], start=start, spelled=True)


def _value(word: str) -> int | None:
    lower = word.lower()
    known = _WORDS.get(lower, _SCALES.get(lower))
    if known is not None:
        return known
    german = _GERMAN.fullmatch(lower)
    if german is None:
        return None
    return _WORDS[german[2]] + (1 if german[1] == "ein" else _WORDS.get(german[1] or "null", 0))


def _korean(text: str) -> Iterator[Quantity]:
    for match in _KOREAN.finditer(text):
        value = Decimal(_NATIVE[match[1]])
        unit = _unit(text, match.start(), match.end(1))
        yield Quantity(values=frozenset({value}), unit=unit, text=match[0], start=match.start(), spelled=True)


def _han(text: str) -> Iterator[Quantity]:
    for match in _HAN.finditer(text):
        if match[0][0] in _SCALED and text[: match.start()].rstrip(" ")[-1:].isdecimal():
            continue  # "120万" is one number, read as digits
        total = part = digit = 0
        for char in match[0]:
            if char in _HAN_DIGITS:
                digit = digit * 10 + _HAN_DIGITS[char]
            elif char in _HAN_SCALES:
                part, digit = part + (digit or 1) * _HAN_SCALES[char], 0
            else:
                total, part, digit = total + (part + digit or 1) * _HAN_BIG[char], 0, 0
        value = Decimal(total + part + digit).normalize()
        unit = _unit(text, match.start(), match.end())
        yield Quantity(values=frozenset({value}), unit=unit, text=match[0], start=match.start(), spelled=True)


def _unit(text: str, start: int, end: int) -> str | None:
    before = _BEFORE.search(text, max(0, start - 6), start)
    if before is not None:
        return _UNITS[before[1].lower()]
    behind = _BEHIND.match(text, end)
    if behind is None:
        return None
    word = behind[1].lower()
    if word in _UNITS:
        return _UNITS[word]
    # Scripts without spaces write particles behind the unit.
    near = [name for name in _UNITS if not name.isascii() and word.startswith(name)]
    return _UNITS[max(near, key=len)] if near else None
