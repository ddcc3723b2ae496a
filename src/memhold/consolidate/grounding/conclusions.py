"""What is only concluded from the lines that have its words, and what is not even that. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memhold.consolidate.contract import Standing
from memhold.consolidate.entry import scripts
from memhold.consolidate.grounding.claims import Claim, Line
from memhold.consolidate.grounding.numbers import counts_a_thing
from memhold.consolidate.grounding.swaps import put_together
from memhold.consolidate.grounding.words import terms_of
from memhold.consolidate.told_of import FAVORITE
from memhold.text.function_words import EVIDENCE, FUNCTION_WORDS

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
    put together of a clause and a number, weekday or month of another.
    """
    if claim.value and not claim.known and counts_a_thing(claim, lines):
        return "inferred"
    if not claim.value and put_together(claim, lines, window):
        return "inferred"
    liked = claim.known or FAVORITE.search(claim.frame) is None or any(_LIKED.search(line.text) for line in lines)
    return "said" if liked else "inferred"


def translated(claim: Claim, lines: Sequence[Line]) -> bool:
    """Whether a value is in a script in which the lines say nothing."""
    wanted, held = scripts([claim.core]), scripts(line.text for line in lines)
    return bool(wanted) and not any(held[script] for script in wanted)
