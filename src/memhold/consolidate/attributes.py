"""Whether an attribute says what of somebody a value is, or the user's own sentence says it better. Pure.

A small model must write an attribute for whatever it finds, and where it finds no word for it, it writes any: "date",
"request", "level". Under such a one a value says nothing ("level: 4"), or something untrue. The sentence in which the
user said it says what it is, in words that nobody changed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from memhold.consolidate.clause_subjects import own_names_in
from memhold.consolidate.grounding.claims import Claim, Line
from memhold.consolidate.grounding.conclusions import standing_of
from memhold.consolidate.grounding.words import literally
from memhold.consolidate.quotations import quotations
from memhold.facts.keys import canonical
from memhold.facts.keys.key_reading import read
from memhold.text.analysis import language_of
from memhold.text.details import content_terms
from memhold.text.normal_form import normal_form
from memhold.text.person import first_words_of

__all__ = ["own_sentence"]

_OF_WHAT: Final = frozenset(
    {
        *("amount", "balance", "condition", "cost", "count", "date", "duration", "frequency", "hour", "length"),
        *("limit", "list", "minute", "month", "no", "number", "quantity", "rate", "reason", "result", "season"),
        *("shape", "size", "state", "status", "subject", "temperature", "time", "topic", "type", "value"),
        *("version", "weather", "week", "width", "year"),
    }
)
"""Concepts of keys that are a measure or a part of something else, and do not say of what."""

_ADDS_NOTHING: Final = frozenset({"qualifier", "mine", "now", "article", "intensifier"})

_YES_OR_NO: Final = frozenset(
    {
        *("yes", "no", "true", "false", "ja", "nein", "oui", "non", "sí", "si", "sim"),
        *("não", "sì", "nee", "nej", "да", "нет", "네", "예", "아니요", "아니오", "はい", "いいえ", "是"),
        *("否", "有", "对", "不是"),
    }
)
"""Values that say no more than that their attribute is so, or is not."""

HALF: Final = 0.5
SENTENCE: Final = 3
"""Content words from which on a value that is all of a sentence says something by itself."""


def own_sentence(fact: Claim, line: Line, above: Line | None = None) -> str | None:
    """The sentence of the user's line that says a fact, where its attribute does not say what it is; else None.

    An attribute says it where the lexicon of keys has a word of it that is more than a measure, or where the sentence
    has one; what would only be inferred because no line speaks of the attribute, it does not ("age: 3" of a third term,
    where somebody lives, the user's name). None too where no sentence but a question has the value to the letter, and
    where it has nothing else: then the attribute came from the line above. Of a bare yes or no the attribute is all
    there is: the sentence that has half of its words says it, and says which. It stands behind what says whose it is
    and of whom (`memhold.consolidate.quotations`).
    """
    told = quotations(line.text)
    if normal_form("NFKC", fact.core).strip(" .!。").casefold() in _YES_OR_NO:
        wanted = content_terms(fact.frame)
        met = (one for one in told if wanted and len(wanted & content_terms(one.sentence)) >= HALF * len(wanted))
        return next((one.text for one in met), None)
    holding = [one for one in told if literally(fact.core, one.sentence)]
    words = content_terms(fact.core)
    says = (one.text for one in holding if content_terms(one.text) - words or len(words) >= SENTENCE)
    said = next(says, None)
    if said is None or _says_of_what(fact, [one.sentence for one in holding], line, above):
        return None
    return said


def _says_of_what(fact: Claim, holding: Sequence[str], line: Line, above: Line | None) -> bool:
    """Whether an attribute tells of what a value is, by what the lexicon knows or the sentences say."""
    if not fact.about and _is_name(fact.frame) and not _called(fact.core, line.text, holding):
        return False
    language, words = language_of(line.text[:500]), content_terms(fact.core)
    if words and words <= content_terms(fact.frame):  # "kids: kids"
        return False
    if len(words) >= SENTENCE and first_words_of(fact.core, language):  # "sensible: I'm on my feet all day"
        return False
    bare = fact.core.strip().isdecimal()  # "level: 4" of "my level 4"
    if not _names(fact.frame, of_the_user=not fact.about) and (bare or not _begun(fact.frame, fact.core, holding)):
        return False
    window = [line] if above is None else [above, line]
    return standing_of(replace(fact, language=language), [line], window) == "said"


def _begun(attribute: str, value: str, held: Sequence[str]) -> bool:
    """Whether a sentence has a word of an attribute beside the value, in any form of it: "allergic" of an allergy."""
    rest = (normal_form("NFKC", one).casefold().replace(normal_form("NFKC", value).casefold(), " ") for one in held)
    starts = {word[:5] for one in rest for word in re.findall(r"\w{3,}", one)}
    return any(word[:5] in starts for word in re.findall(r"[^\W_]{3,}", attribute.casefold()))


def _names(attribute: str, *, of_the_user: bool) -> bool:
    for language in canonical(None, attribute).languages:
        tokens = [one for one in read(attribute, language).tokens if one.kind not in _ADDS_NOTHING]
        if any(one.kind != "unknown" for one in tokens):
            return not (of_the_user and all(one.id in _OF_WHAT for one in tokens))
    return False


_NAMES: Final = frozenset({("name",), ("given_name",), ("full_name",), ("surname",), ("nickname",)})

_NAMING: Final = re.compile(
    r"(?i)\b(?:name|names|named|call(?:ed|s)?|hei(?:ß|ss)\w*|nenn\w*|nom|prénom|appel\w+|nombre|llam\w+|nome|chiam\w+|cham\w+"
    r"|heet|noem\w*|heter|hedder|зовут|имя)\b|이름|라고|부르|불러|名|叫|呼|申します|이에요|예요|입니다|です|といいます"
)
"""Words by which people say what somebody is called."""


def _is_name(attribute: str) -> bool:
    return any(read(attribute, language).ids in _NAMES for language in canonical(None, attribute).languages)


def _called(value: str, text: str, holding: Sequence[str]) -> bool:
    """Whether somebody says in a text that they are called so."""
    return bool(own_names_in([text]) & set(value.casefold().split())) or any(map(_NAMING.search, holding))
