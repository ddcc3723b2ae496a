"""A move ends where somebody lived before, also where it was told under the other key: a city, and a residence. Pure.

"I live in Oslo" is a residence or a city, as a model words it, and "I moved to Bergen" is too. Of two keys neither
supersedes the other, or an address would end the city that it is in; what decides is the sentence of the user's own.
"""

from __future__ import annotations

import re
from datetime import timedelta
from functools import lru_cache
from typing import Final, Literal

from memhold.facts.keys import canonical
from memhold.facts.keys.key_reading import read
from memhold.text import lazily
from memhold.text.analysis import language_of
from memhold.text.change import NOW
from memhold.text.letter_words import LETTER_WORD
from memhold.text.mood import is_asked, supposed_in
from memhold.text.negation import negates
from memhold.text.times import times
from memhold.values.records import Memory

# ruff: noqa: RUF001 - words of every script

__all__ = ["Home", "home", "left_place", "move"]

Home = Literal["residence", "residence_city"]
BARE = 3
"""Words up to which a value without a figure is a place's name, and no address."""
NEWS = timedelta(days=365)
"""How long a move is told as news: one of longer ago may be from where the user lived before."""
_MOVED: Final = lazily.compile(
    r"(?i)(?<!\w)(?:moved|relocated|resettled|umgezogen|gezogen|übergesiedelt|emménagée?s?|déménagée?s?|mudé|mudado|mudamos"
    r"|trasladé|trasladado|mudei|mudou|mudámos|trasferit[oaie]|traslocat[oaie]|verhuisd|переехал[аи]?)(?!\w)"
    r"|이사(?:했|왔|갔| 왔| 갔|해서)|搬(?:到|去|来|來|家)|引っ?越し?(?:た|て|まし)|移り住"
)
"""Words that report a move in the past tense, in the languages that have a lexicon of keys."""
_LIVES: Final = lazily.compile(
    r"(?<!\w)(?:live|living|wohnen?|leben?|habit(?:e|ons)|vis|vivons|vivo|vivimos|moro|moramos|abito|abitiamo|woon"
    r"|wonen|живу|жив[её]м)(?!\w)|살아|살고|산다|住",
    re.IGNORECASE,
)
_PART: Final = lazily.compile(r"[,;:，、；：](?!\d)")
_CHILDHOOD: Final = lazily.compile(
    r"(?<!\w)(?:as (?:an? (?:\w+ )?(?:child|kid|baby|toddler|teen\w*)|children|kids|teen\w*)"
    r"|when (?:i|we) (?:was|were) (?:(?:an?|still|only|just|very|about|around) ){0,2}(?:child(?:ren)?|kids?|baby"
    r"|babies|little|young|small|\d{1,2}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen)"
    r"|als (?:kind(?:er)?|jugendliche[rn]?|baby|teenager)|als (?:ich|wir) (?:noch )?(?:ein )?(?:klein|kind|jung)\w*"
    r"|quand j['’]étais (?:petite?|enfant|jeune)|de (?:niñ[oa]|pequeñ[oa]|criança)|em criança|quando era criança"
    r"|cuando era (?:niñ[oa]|pequeñ[oa]|joven)|da (?:bambin[oa]|piccol[oa]|ragazz[oa])"
    r"|quando ero (?:bambin[oa]|piccol[oa])|toen ik (?:klein|jong) was|в детстве|реб[её]нком)(?!\w)"
    r"|어렸을 때|어릴 때|小时候|小時候|子供の(?:頃|ころ|とき)|小さい(?:頃|ころ|とき)",
    re.IGNORECASE,
)
"""How people date what was in their childhood."""


_FROM: Final = re.compile(
    r"(?i)(?<!\w)(?:from|out of|left|leaving|aus|desde|из)\s+(?:the |der |dem |den )?\Z|(?:从|從|离开|離開)\Z"
)
"""What stands before a place that somebody left."""
_FROM_TO: Final = re.compile(r"(?i)(?<!\w)(?:von|vom|des?|du|del|d[aoi]|с|van)\s+\Z|(?<!\w)d['’]\Z")
"""The same where it is that only before a word of whereto: "von Linz nach Graz", but "in die Nähe von Linz"."""
_REACH: Final = 30
"""Characters around a place in which those words stand: a whole text would be read anew for each place."""
_WHERETO: Final = re.compile(r"(?i)\s+(?:nach|in|zu[mr]?|à|au|en|vers|a|al|para|ad|в|naar)\s")
_LEFT: Final = re.compile(r"에서(?! ?(?:살|산|지내|거주))|[을를] 떠나|から|を(?:離れ|出て)|(?:verlassen|verließ)\b")
"""What stands behind it."""


def left_place(text: str, value: str) -> bool:
    """Whether a text that tells of a move has a place only as the one that was left: "from Bergen to Oslo"."""
    if not value.strip() or _MOVED.search(text) is None:
        return False
    places = list(re.finditer(rf"(?<![^\W\d_가-힣ぁ-ヿ一-鿿]){re.escape(value.strip())}", text, re.IGNORECASE))
    return bool(places) and all(_is_left(text, one.start(), one.end()) for one in places)


def _is_left(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - _REACH) : start]
    if _FROM.search(before) is not None or _LEFT.match(text[end : end + _REACH].lstrip()) is not None:
        return True
    return _FROM_TO.search(before) is not None and _WHERETO.match(text, end) is not None


@lru_cache(maxsize=4096)
def home(subject: str, attribute: str) -> Home | None:
    """Whether an attribute tells where somebody lives: as a residence, or as a city."""
    key = canonical(subject, attribute)
    for language in key.languages:
        match read(attribute, language).ids:
            case ("residence",):
                return "residence"
            case ("residence_city",):
                return "residence_city"
            case _:
                pass
    return None


def move(sentence: str, new: Memory, old: Memory) -> Literal["ends", "suspects"] | None:
    """What a fact, said in this sentence, does to one under the other key: None where it is no move, or one place.

    Another city ends a residence. A residence by its name alone only suspects a city: it may be a district of it. A
    move that is no news, and of before the other was told, suspects it; one in childhood, or that nearly was, or from
    there, does nothing.
    """
    if not _moved(sentence) or negates(sentence) or is_asked(sentence):
        return None
    held, told = (" ".join((one.value or "").casefold().split()) for one in (old, new))
    if left_place(sentence, new.value or ""):
        return None
    if not held or not told or held in told or told in held or old.valid_from >= new.valid_from:
        return None
    if home(new.subject or "", new.attribute or "") == "residence_city":
        dated = times(sentence, new.event_time)
        before = min(old.valid_from, new.event_time - NEWS)
        return "suspects" if dated and all(one.end <= before for one in dated) else "ends"
    return "suspects" if len(told.split()) <= BARE and not any(char.isdigit() for char in told) else None


def _moved(sentence: str) -> bool:
    """Whether a sentence reports a move of later than childhood that came about, or says where somebody lives now."""
    if _CHILDHOOD.search(sentence) is not None:
        return False
    language = language_of(sentence)
    for part in _PART.split(sentence):
        if _MOVED.search(part) is not None:
            supposed = supposed_in(part, language)
            if supposed is None or _MOVED.search(supposed) is None:
                return True
    low = sentence.casefold()
    now = not NOW.isdisjoint(LETTER_WORD.findall(low)) or any(one in low for one in NOW if not one.isascii())
    return now and _LIVES.search(sentence) is not None
