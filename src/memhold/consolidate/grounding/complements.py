"""What an allergy is to: another thing than lines say, or one of which none speaks. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memhold.consolidate.grounding.claims import Claim, Line
from memhold.consolidate.grounding.words import literally, terms_of
from memhold.text.negation import negates

__all__ = ["of_another_complement", "of_nothing_told"]

_COMPLEMENT = re.compile(
    r"(?i)\b(?:allerg\w+|intoleran\w+|unverträglich\w*|alérgic\w+)\s+(?:to|of|gegen|auf|aux?|à|a(?:l(?:la?|le)?"
    r"|i|gli)?|voor|för)\s+"
    r"(?!(?:it|them|that|this|sie|es|das|ça|lo|la|eso|esto)\b)"
    r"(?P<what>(?:[^.,;!?]|,(?!\s*(?:\w{1,4}\s+)?(?:i|he|she|we|they|it|my|ich|er|sie|wir|mein\w*|je|j|il|elle|nous|yo"
    r"|mi|io|mio|eu|meu|which|who|die|der|qui|que|che)\b)){2,120})"
    r"|(?P<wide>[가-힣\u3040-\u30ff\u3400-\u9fff]{1,12})\s?(?:에\s)?(?:の)?(?:알레르기|알러지|アレルギー|过敏"
    r"|過敏)(?P<rest>.{0,8})"
)
"""What somebody is allergic to, where a line names it beside the word."""


def of_another_complement(claim: Claim, lines: Sequence[Line]) -> bool:
    """Whether an allergy is claimed to something else than lines say it is to."""
    if not _COMPLEMENT_FRAME.search(claim.frame):
        return False
    clauses = [(line, found) for line in lines if line.own for found in _COMPLEMENT.finditer(line.text)]
    if not clauses:
        return False
    wanted = terms_of(claim.core, claim.language)
    for line, found in clauses:
        what = found["what"] or found["wide"] or ""
        denied = found["wide"] is not None and re.search("없|ない|ありません|没|不", found["rest"] or "") is not None
        if not denied and (wanted & terms_of(what, claim.language) or claim.core.casefold() in what.casefold()):
            return False
        if not denied and not wanted & terms_of(line.text, claim.language):
            continue
    return any(claim.core.casefold() in line.text.casefold() for line, _ in clauses)


def of_nothing_told(claim: Claim, lines: Sequence[Line]) -> bool:
    """Whether an allergy is claimed to something of which no line speaks: that is nobody's to infer."""
    found = None if claim.value else _COMPLEMENT.search(claim.core)
    what = (found["what"] or found["wide"] or "") if found is not None else ""
    if claim.value and _COMPLEMENT_FRAME.search(claim.frame):
        what = claim.core
    wanted = terms_of(what, claim.language)
    held = any(wanted & terms_of(line.text, claim.language) or literally(what, line.text) for line in lines)
    return bool(wanted) and not held and not negates(claim.core)


_COMPLEMENT_FRAME = re.compile(r"(?i)allerg|alérg|alerg|intoleran|unverträglich|알레르기|알러지|アレルギー|过敏|過敏")
