"""What is only concluded from the lines that have its words, and what is not even that. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from memhold.consolidate.clause_subjects import FAVORITE, MINE, SENTENCE
from memhold.consolidate.contract import Standing
from memhold.consolidate.entry import scripts
from memhold.consolidate.grounding.claims import Claim, Line
from memhold.consolidate.grounding.numbers import counts_a_thing
from memhold.consolidate.grounding.swaps import put_together
from memhold.consolidate.grounding.words import literally, terms_of
from memhold.facts.keys import canonical
from memhold.facts.keys.key_reading import read
from memhold.text.function_words import EVIDENCE, FUNCTION_WORDS
from memhold.text.mood import is_asked
from memhold.text.person import first_words_of

# ruff: noqa: RUF001 - letters and signs of every script

__all__ = ["only_points", "says_another", "standing_of", "translated"]


def says_another(claim: Claim, cited: Sequence[Line], lines: Sequence[Line]) -> bool:
    """Whether a cited line names the attribute, and no line a word of the value: "allergy: nuts" of one to prawns."""
    value, named = terms_of(claim.core, claim.language), terms_of(claim.frame, claim.language)
    held = frozenset(term for line in lines for term in terms_of(line.text, claim.language))
    return bool(value) and not value & held and any(named & terms_of(line.text, claim.language) for line in cited)


def only_points(claim: Claim) -> bool:
    """Whether a value is function words of the window's language alone, several of them: "over there", "for me"."""
    words, function = re.findall(r"\w+", claim.core.casefold()), FUNCTION_WORDS.get(claim.language, EVIDENCE)
    return len(words) > 1 and all(word in function for word in words)


_LIKED = re.compile(
    r"(?i)\b(?:favou?rite|prefer\w*|lov(?:e|es|ed|ing)|ador\w*|lik(?:e|es|ed|ing)|enjoy\w*|best|fond|lieb\w*|mag"
    r"|mögen?|gern\w*|bevorzug\w*|am besten|aim\w*"
    r"|préf\w*|meilleure?s?|favori\w*|gust\w*|encant\w*|prefier\w*|mejor\w*|quier\w*|piac\w*|prefer\w*|am[oai]"
    r"|migliore|gosto|adoro|melhor|hou \w*|houdt?"
    r"|lekkerst\w*|leukst\w*|gillar|älskar|bäst\w*|люб\w+|нрав\w+|лучш\w+)\b|좋아|사랑|최고|최애|제일|가장|好き"
    r"|大好|一番|最高|喜欢|喜歡|爱"
    r"|愛|最"
)


def standing_of(claim: Claim, lines: Sequence[Line], window: Sequence[Line]) -> Standing:
    """Said, but that something is liked best only where a line speaks of liking: else that is a conclusion.

    So is a bare number under an attribute of which its lines do not speak: "age: 3" of "my third term", and a sentence
    put together of a clause and a number, weekday or month of another. So is where somebody lives, where they do not
    speak of living, what stands in a question alone, and an attribute that says only when it is.
    """
    if claim.value and not claim.known and counts_a_thing(claim, lines):
        return "inferred"
    if not claim.value and put_together(claim, lines, window):
        return "inferred"
    if claim.value and not claim.known and (_WHEN_ALONE.fullmatch(claim.frame.strip()) or _only_asked(claim, lines)):
        return "inferred"
    if (
        claim.value
        and not claim.known
        and not claim.about
        and _tells_where(claim)
        and not (_PLACES_NAME.search(claim.core) and _lived(claim, window))
    ):
        return "inferred"
    liked = claim.known or FAVORITE.search(claim.frame) is None or any(_LIKED.search(line.text) for line in lines)
    return "said" if liked else "inferred"


def _tells_where(claim: Claim) -> bool:
    """Whether an attribute tells where somebody lives, or no more than where something is; "places: 22" does not."""
    return any(char.isalpha() for char in claim.core) and _is_where(claim.frame)


def _is_where(attribute: str) -> bool:
    languages = canonical("user", attribute).languages
    return any(read(attribute, language).ids in _WHERE for language in languages)


_PLACES_NAME = re.compile(r"[A-Z\u00c0-\u00de\u0391-\u03ab\u0410-\u042f\d]|[^\W\d_A-Za-z\u00c0-\u04ff]")
"""What a place is called: a capital, a number, or a script that has no capitals. "A house" is no place."""

_WHERE: Final = frozenset({("residence",), ("residence_city",), ("country_of_residence",), ("place",)})


def _lived(claim: Claim, window: Sequence[Line]) -> bool:
    """Whether somebody says that the user lives there, or they are asked for it: "Where do you live?" "Jena"."""
    wanted, before = terms_of(claim.core, claim.language), ""
    for line in window:
        for asked, sentence in pairwise([before, *SENTENCE.split(line.text)]):
            named = wanted & terms_of(sentence, claim.language) or literally(claim.core, sentence)
            answer = is_asked(asked) and _LIVING.search(asked) is not None
            if named and (answer or _LIVING.search(sentence) or _names_where(sentence)):
                return True
        before = line.text
    return False


def _names_where(sentence: str) -> bool:
    """Whether a sentence tells where something of the user's is by a word for it: "my address is", "Ville : Metz"."""
    return any(_is_where(one) for match in _OWN.finditer(sentence) for one in match.groups() if one)


_OWN = re.compile(
    rf"(?i)(?<!\w)(?:{MINE})\s(?:new\s|neue\s|nouvelle\s|nueva\s)?(?=([^\W\d_]+\s[^\W\d_]+)?)([^\W\d_]+)"
    r"|\A\W*([^\W\d_]+(?:\s[^\W\d_]+){0,2})\s?[:：]"
    r"|(?:我的|私の|제\s|내\s|우리\s)?([가-힣一-鿿ぁ-ヿ]{2,6}?)(?:은|는|は|是)"
)
"""What the user says is theirs, or what a line is headed by."""


_LIVING = re.compile(
    r"(?i)\b(?:liv(?:e|es|ed|ing)|resid\w+|mov(?:e|ed|ing)|settled|based|home|house|flat|apartment|rent\w*"
    r"|i(?:['’]m| am) (?:an?|from|in|at|now|back|still|currently|based)\b"
    r"|(?:ich )?bin|je suis|soy|estoy|sono|ik ben|eu sou|jag är|я"
    r"|bei (?:mir|uns)|wohn\w*|leb(?:e|en)|zieh\w*|zog\w*|\w*gezogen|zuhause|hause|haus|\w*wohnung|miet\w+"
    r"|habit\w+|chez (?:moi|nous)|vi[st]|vivons|\w*ménag\w*|maison|appart\w*|loge\w*"
    r"|viv\w+|mud\w+|casa|piso|mor(?:o|amos)|abit\w+|trasfer\w+|woon\w*|wonen|verhui\w+|huis|bor|flyttat?|жив\w+|переехал\w*)\b"
    r"|살[아고았]|산다|사는|이사|[집댁]|住|引っ?越|家|搬|我是|我在|私は"
)
"""Words by which people tell where they live."""

_WHEN_ALONE = re.compile(
    r"(?i)date|day|time|hour|month|season|weather|datum|tag|(?:uhr)?zeit|monat|wetter|jour|heure|mois|météo|fecha|día|hora|mes"
    r"|날짜|요일|시간|날씨|日付|日期|时间|時間|天気|天气"
)
"""An attribute that says when it is or what it is like outside, and not what."""


def _only_asked(claim: Claim, lines: Sequence[Line]) -> bool:
    """Whether a value stands in questions alone that say nothing of the user: "how many harbours are in Europe?"."""
    wanted = terms_of(claim.core, claim.language)
    held = [
        one
        for line in lines
        if line.own
        for one in SENTENCE.split(line.text)
        if literally(claim.core, one) or (wanted and wanted <= terms_of(one, claim.language))
    ]
    return bool(held) and all(
        is_asked(one)
        and not first_words_of(one, claim.language)
        and not terms_of(claim.frame, claim.language) & terms_of(one, claim.language)
        for one in held
    )


def translated(claim: Claim, lines: Sequence[Line]) -> bool:
    """Whether a value is in a script in which the lines say nothing."""
    wanted, held = scripts([claim.core]), scripts(line.text for line in lines)
    return bool(wanted) and not any(held[script] for script in wanted)
