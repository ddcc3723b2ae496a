"""What kind of thing a question asks for, money, a number, a time, a name or a colour, and whether a text has it. Pure.

Told by interrogatives and by nouns whose value is of one kind (a rent is money, a height a number), as the languages'
files list them. A question that asks for none of these kinds, or in another language, asks for anything.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Final, Literal

from memhold.fidelity.amounts import Amount, amounts
from memhold.fidelity.clock import clocks
from memhold.fidelity.dates import days
from memhold.fidelity.quotes import plain
from memhold.languages.tables import heard, spoken
from memhold.text.details import details
from memhold.text.letter_words import WIDE

__all__ = ["Sought", "holds", "sought"]

Sought = Literal["money", "number", "time", "name", "colour"]
_KINDS: Final[tuple[Sought, ...]] = ("number", "time", "colour", "name")
_ANY_DAY: Final = date(2000, 1, 1)


@lru_cache(maxsize=256)
def sought(question: str) -> Sought | None:
    """The kind of thing that a question asks for; None where it may be anything."""
    own, low = heard(question), plain(question)
    if any(all(own.has("asks", name, low) for name in both) for both in (("much", "paying"), ("what", "amounts"))):
        return "money"
    return next((kind for kind in _KINDS if own.has("asks", kind, low)), None)


def holds(text: str, kind: Sought, question: str) -> bool:
    """Whether a text has a thing of that kind which the question does not name itself.

    Money has a currency or stands beside a word of paying, a count is of the unit that is asked for. A name has a
    capital; in a script without capitals nothing tells it from a word, and any text may have one.
    """
    low, own = plain(text), heard(text)
    match kind:
        case "money":
            kinds = {_measured(one) for one in _new_amounts(text, question)}
            return "money" in kinds or ("" in kinds and own.has("asks", "paying", low))
        case "number":
            asked = _asked_measure(question)
            # "How much was it?" may be told a price, "how many are there?" not.
            kinds = {_measured(one) for one in _new_amounts(text, question)}
            if asked:
                return not kinds.isdisjoint({asked, ""})
            return bool(kinds - ({"money"} if heard(question).has("asks", "count", plain(question)) else set()))
        case "time":
            spans = any(one.kind == "time" for one in _amounts(text))
            timed = any(one.sure for one in clocks(low, spoken(text)))
            return spans or timed or bool(days(low, spoken(text), _ANY_DAY))
        case "colour":
            return own.has("asks", "colours", low)
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
    low = plain(question)
    for start, end in reversed(heard(question).found("asks", "count", low)):
        low = f"{low[:start]} 7 {low[end:]}"  # a number in place of the interrogative: the unit stands behind both
    return next((_measured(one) for one in _amounts(low) if one.values == {Decimal(7)}), "")
