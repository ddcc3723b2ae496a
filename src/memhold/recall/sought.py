"""What kind of thing a question asks for, money, a number, a time, a name or a colour, and whether a text has it. Pure.

Interrogatives are grammar, and so are the nouns whose value is of one kind (a rent is money, a height a number): closed
lists in the languages that questions are read in. A question that asks for none of these kinds, or in another language,
asks for anything.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Final, Literal

from memhold.fidelity.amounts import Amount, amounts
from memhold.fidelity.quotes import plain
from memhold.languages.tables import spoken
from memhold.text import lazily
from memhold.text.details import details
from memhold.text.letter_words import WIDE
from memhold.text.times import calendar_words

# ruff: noqa: RUF001 - letters of every script

__all__ = ["Sought", "holds", "sought"]

Sought = Literal["money", "number", "time", "name", "colour"]

_MONEY: Final = lazily.compile(
    r"\b(?:costs?|costing|pay(?:s|ing|ments?)?|paid|spen[dt]\w*|charg\w*|price\w*|rent|salar(?:y|ies)|wages?|earn\w*"
    r"|owe[ds]?|worth|fees?|fares?|money|deposit|budget|bill|tuition|kost\w*|zahl\w*|bezahl\w*|miete|pacht|verdien\w*"
    r"|preise?|lohn|gehalt|teuer|geld|kaution|cuesta\w*|cost[oó]|pag\w+|alquiler|precio|sueldo|salario|gan[oé]|dinero"
    r"|fianza|coût\w*|pay[eé]\w*|loyer|prix|salaire|gagn\w+|argent|caution|cust\w+|aluguel|preço|salário|ganh\w+"
    r"|dinheiro|affitto|prezzo|stipendio|guadagn\w+|soldi|сто[ий]\w*|плач\w*|плат\w*|аренд\w*|зарплат\w*"
    r"|цен[аыуе]|деньги|koszt\w*|płac\w*|czynsz|kostt?|huur|betaal\w*|loon)\b"
    r"|월세|전세|시급|월급|연봉|급여|가격|비용|요금|보증금|등록금|만 ?원|[0-9천백십] ?원"
    r"|房租|租金|工资|薪水|价格|费用|多少钱|花了|块钱?|[0-9]元|家賃|給料|時給|月給|値段|料金|費用|お金|いくら",
    re.IGNORECASE,
)
_AMOUNT: Final = (
    r"rents?|prices?|costs?|salary|wages?|fees?|fare|deposit|budget|tuition|miete|pacht|preis|lohn|gehalt|kaution"
    r"|alquiler|precio|sueldo|salario|fianza|coste?|loyer|prix|salaire|caution|coût|aluguel|preço|salário|custo"
    r"|affitto|prezzo|stipendio|аренда|зарплата|цена"
)
_ASKS_MONEY: Final = lazily.compile(
    r"\b(?:how (?:much|expensive)|wie ?(?:viel|teuer)|cuánto|combien|quanto|сколько|ile|kolik|hoeveel)\b"
    r"|얼마(?!나)|多少|いくら",
    re.IGNORECASE,
)
_WHAT_AMOUNT: Final = lazily.compile(
    r"\b(?:what(?:'s| is| was| are| were)?|which|wie hoch (?:ist|war|sind)|cuál (?:es|era)|quel(?:le)? (?:est|était)"
    r"|qual (?:è|é|era)|как(?:ой|ая|ова?)) (?:\w+ ){0,2}(?:" + _AMOUNT + r")\b",
    re.IGNORECASE,
)
_ASKS: Final[tuple[tuple[Sought, re.Pattern[str]], ...]] = (
    (
        "number",
        lazily.compile(
            r"\b(?:how (?:many|much|old|tall|long|far|often|big|large|heavy|high|fast)"
            r"|what (?:time|age|number|percentage|year|amount|size|height|weight|length|distance|score|dose)"
            r"|wie ?(?:viele?n?|oft|alt|groß|lange|hoch|weit|schwer|teuer)"
            r"|cuánt[oa]s?|qué (?:edad|altura|talla|tamaño)|combien|quel âge|quant[oaie]s?|hoeveel"
            r"|hoe (?:oud|lang|vaak)|ile|kolik|сколько)\b"
            r"|몇|얼마|几|多少|多大|多高|多长|いくつ|いくら|何(?=[人時歳個回本枚年月日円])",
            re.IGNORECASE,
        ),
    ),
    (
        "time",
        lazily.compile(
            r"\b(?:when|(?:what|which) (?:days?|dates?|months?)|wann|an welche[nm] tag(?:en)?"
            r"|welche\w* (?:tag\w*|datum)|cuándo|qué (?:días?|fecha)|quand"
            r"|quel(?:le)?s? (?:jours?|date)|quando|que (?:dias?|data)|che (?:giorn[oi]|data)|wanneer|kiedy|kdy"
            r"|когда)\b"
            r"|언제|며칠|무슨 요일|什么时候|几号|哪天|いつ|何曜日",
            re.IGNORECASE,
        ),
    ),
    (
        "colour",
        lazily.compile(
            r"\b(?:(?:what|which) colou?rs?|colou?r (?:is|are|was|were|of)|welche farben?|farbe|de qué color|qué color"
            r"|(?:de )?quelle couleur|que cor|de que cor|che colore|di che colore|какого цвета|какой цвет)\b"
            r"|무슨 ?색|어떤 ?색|什么颜色|何色|どんな色",
            re.IGNORECASE,
        ),
    ),
    (
        "name",
        lazily.compile(
            r"\b(?:names?|named|called|surname|who|whose|whom|heiß\w*|wer|wem|wen|wessen|se llama|quién(?:es)?"
            r"|nombre|apellido|s'appelle|prénom|nom|quem|nome|cognome|chi|si chiama|wie heet|kto|кто|зовут|имя"
            r"|фамилия)\b"
            r"|이름|누구|누가|성함|叫什么|名字|谁|名前|誰",
            re.IGNORECASE,
        ),
    ),
)
_COLOUR: Final = lazily.compile(
    r"\b(?:red|blue|green|yellow|orange|purple|violet|pink|brown|black|white|gr[ae]y|silver|golden|beige|turquoise|navy"
    r"|cream|maroon|teal|rot\w*|blau\w*|grün\w*|gelb\w*|lila|rosa|braun\w*|schwarz\w*|weiß\w*|grau\w*|silbern\w*|türkis"
    r"|roj[oa]s?|azul(?:es)?|verdes?|amarill[oa]s?|naranja|morad[oa]s?|marrón|negr[oa]s?|blanc[oa]s?|gris(?:es)?"
    r"|rouges?|bleue?s?|verte?s?|jaunes?|violette?s?|roses?|marron|noire?s?|blanc(?:he)?s?|grise?s?|vermelh[oa]s?"
    r"|amarel[oa]s?|lilás|rox[oa]s?|marrom|pret[oa]s?|branc[oa]s?|cinza|ross[oaie]|blu|giall[oaie]|arancione|viola"
    r"|ner[oaie]|bianc[oh][aei]?|grigi[oae]?|marroni|красн\w+|син\w{2,3}|голуб\w+|зел[её]н\w+|ж[её]лт\w+|оранжев\w+"
    r"|фиолетов\w+|розов\w+|коричнев\w+|ч[её]рн\w+|бел(?:ый|ая|ое|ые|ого|ой)|сер(?:ый|ая|ое|ые|ого|ой))\b"
    r"|빨간|빨강|파란|파랑|초록|녹색|노란|노랑|주황|보라|분홍|갈색|검은|검정|까만|하얀|흰|회색|은색|금색|남색|하늘색"
    r"|[红蓝绿黄橙紫粉棕黑白灰银]色|红的|蓝的|绿的|黑的|白的|[赤青緑黄紫茶黒白灰銀金]色?[いのでだがに]|ピンク|オレンジ|ベージュ",
    re.IGNORECASE,
)
_RELATIVE: Final = lazily.compile(
    r"\b(?:yesterday|today|tomorrow|tonight|ago|(?:last|next|this) (?:week|month|year|spring|summer|autumn|fall|winter)"
    r"|gestern|heute|morgen|(?:letzte|nächste)[nrs]? \w+|vor \w+ (?:tagen|wochen|monaten)|hier|demain|ayer|hoy|mañana"
    r"|ontem|hoje|amanhã|ieri|oggi|domani|вчера|сегодня|завтра|noon|midnight|morning|afternoon|evening)\b"
    r"|어제|오늘|내일|지난|다음|昨[天日]|今[天日]|明[天日]|[先来]週|[上下]个?[周月]",
    re.IGNORECASE,
)
_DATED: Final = lazily.compile(
    r"\d(?:st|nd|rd|th|er|ª|º)\b|\d{1,2}[:.h]\d{2}\b|\d ?(?:am|pm|uhr|h)\b|\b(?:19|20)\d\d\b|\b\d{1,2}[./]\d{1,2}\b"
    r"|\b\d{1,2}\. |[\d一二三四五六七八九十] ?[월일시月日号點点時时]",
    re.IGNORECASE,
)
_COUNTS: Final = lazily.compile(
    r"\b(?:how many|wie ?viele|cuánt[oa]s|combien de|quant[oaie]s?|сколько)\b|몇|几|何(?=[時回本枚年月日円])",
    re.IGNORECASE,
)


@lru_cache(maxsize=256)
def sought(question: str) -> Sought | None:
    """The kind of thing that a question asks for; None where it may be anything."""
    straight = question.replace("’", "'")
    if _WHAT_AMOUNT.search(straight) or (_ASKS_MONEY.search(straight) and _MONEY.search(straight)):
        return "money"
    return next((kind for kind, pattern in _ASKS if pattern.search(straight)), None)


def holds(text: str, kind: Sought, question: str) -> bool:
    """Whether a text has a thing of that kind which the question does not name itself.

    Money has a currency or stands beside a word of paying, a count is of the unit that is asked for. A name has a
    capital; in a script without capitals nothing tells it from a word, and any text may have one.
    """
    match kind:
        case "money":
            kinds = {_measured(one) for one in _new_amounts(text, question)}
            return "money" in kinds or ("" in kinds and _MONEY.search(text) is not None)
        case "number":
            asked = _asked_measure(question)
            # "How much was it?" may be told a price, "how many are there?" not.
            kinds = {_measured(one) for one in _new_amounts(text, question)}
            if asked:
                return not kinds.isdisjoint({asked, ""})
            return bool(kinds - ({"money"} if _COUNTS.search(question) else set()))
        case "time":
            spans = any(one.kind == "time" for one in _amounts(text))
            return bool(spans or calendar_words(text) or _DATED.search(text) or _RELATIVE.search(text))
        case "colour":
            return _COLOUR.search(text) is not None
        case "name":
            asked = question.casefold()
            named = (one for one in details(text) if one.kind == "name" and one.sure)
            return WIDE.search(text) is not None or any(one.text.casefold() not in asked for one in named)


def _amounts(text: str) -> list[Amount]:
    """The numbers of a text; a word for one that may be an article counts where it has a unit."""
    return [one for one in amounts(plain(text), spoken(text)) if one.sure or one.unit or min(one.values) > 1]


def _new_amounts(text: str, question: str) -> list[Amount]:
    told = {value for one in _amounts(question) for value in one.values}
    return [one for one in _amounts(text) if told.isdisjoint(one.values)]


def _measured(one: Amount) -> str:
    return "money" if one.unit == "cent" else one.kind


@lru_cache(maxsize=256)
def _asked_measure(question: str) -> str:
    """What is measured by the unit that a question names ("how many metres"); empty where it names none."""
    # A number in place of the interrogative: the unit stands behind both.
    return next((_measured(one) for one in _amounts(_COUNTS.sub(" 7 ", question)) if one.values == {Decimal(7)}), "")
