"""What kind of thing a question asks for, a number, a time or a name, and whether a text has one. Pure.

Interrogatives are grammar: closed lists in the languages that questions are read in. A question that asks for none of
these kinds, or in another language, asks for anything.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal

from memhold.text.details import details
from memhold.text.quantities import quantities
from memhold.text.times import calendar_words

# ruff: noqa: RUF001 - letters of every script

__all__ = ["Sought", "holds", "sought"]

Sought = Literal["number", "time", "name"]

_ASKS: Final[tuple[tuple[Sought, re.Pattern[str]], ...]] = (
    (
        "number",
        re.compile(
            r"\b(?:how (?:many|much|old|tall|long|far|often|big|large|heavy|high|fast)"
            r"|what (?:time|age|number|percentage|year|price|amount|size)"
            r"|wie ?(?:viele?n?|oft|alt|groß|lange|hoch|weit|schwer)"
            r"|cuánt[oa]s?|qué edad|combien|quel âge|quant[oaie]s?|hoeveel|hoe (?:oud|lang|vaak)|ile|kolik|сколько)\b"
            r"|몇|얼마|几|多少|多大|多高|多长|いくつ|いくら|何(?=[人時歳個回本枚年月日円])",
            re.IGNORECASE,
        ),
    ),
    (
        "time",
        re.compile(
            r"\b(?:when|what (?:day|date|month)|wann|cuándo|quand|quando|wanneer|kiedy|kdy|когда)\b"
            r"|언제|며칠|什么时候|几号|哪天|いつ",
            re.IGNORECASE,
        ),
    ),
    (
        "name",
        re.compile(
            r"\b(?:names?|named|called|surname|who|whose|whom|heiß\w*|wer|wem|wen|wessen|se llama|quién(?:es)?"
            r"|nombre|s'appelle|prénom|nom|quem|nome|chi|si chiama|wie heet|kto|кто|зовут|имя)\b"
            r"|이름|누구|누가|성함|叫什么|名字|谁|名前|誰",
            re.IGNORECASE,
        ),
    ),
)
_UNCASED: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]")
_RELATIVE: Final = re.compile(
    r"\b(?:yesterday|today|tomorrow|tonight|ago|(?:last|next|this) (?:week|month|year|spring|summer|autumn|fall|winter)"
    r"|gestern|heute|morgen|(?:letzte|nächste)[nrs]? \w+|vor \w+ (?:tagen|wochen|monaten)|hier|demain|ayer|hoy|mañana"
    r"|ontem|hoje|amanhã|ieri|oggi|domani|вчера|сегодня|завтра)\b|어제|오늘|내일|지난|다음|昨[天日]|今[天日]|明[天日]|[先来]週|[上下]个?[周月]",
    re.IGNORECASE,
)


@lru_cache(maxsize=256)
def sought(question: str) -> Sought | None:
    """The kind of thing that a question asks for; None where it may be anything."""
    plain = question.replace("’", "'")
    return next((kind for kind, pattern in _ASKS if pattern.search(plain)), None)


def holds(text: str, kind: Sought, question: str) -> bool:
    """Whether a text has a thing of that kind which the question does not name itself.

    A name has a capital; in a script without capitals nothing tells it from a word, and any text may have one.
    """
    match kind:
        case "number":
            return bool({one.text for one in quantities(text)} - {one.text for one in quantities(question)})
        case "time":
            return bool(quantities(text) or calendar_words(text) or _RELATIVE.search(text))
        case "name":
            asked = question.casefold()
            named = (one for one in details(text) if one.kind == "name" and one.sure)
            return _UNCASED.search(text) is not None or any(one.text.casefold() not in asked for one in named)
