"""What somebody proposes or asks, and the user refuses or passes by. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from memhold.consolidate.clause_subjects import SENTENCE
from memhold.consolidate.grounding.claims import Claim, Line
from memhold.consolidate.grounding.words import literally, terms_of
from memhold.text.mood import proposes, supposed_in
from memhold.text.negation import negates

# ruff: noqa: RUF001 - signs and letters of every script

__all__ = ["agreed_to", "refused_offer"]

_A_NO = re.compile(
    r"(?i)\W*(?:no|nope|nah|not (?:really|yet|needed)|nein|nö|noch nicht|non|pas encore|todavía no|aún no|não"
    r"|ainda não|nee|nog niet|inte än|нет|пока нет)\b(?!\s+(?:problem|worries|doubt))"
    r"|\W*(?:아니[요오,.]|아뇨|아직|いいえ|いや|不是|没有|不[,，。])"
)


def refused_offer(claim: Claim, lines: Sequence[Line]) -> bool:
    """Whether a value stands only in what somebody else said, and the user's next line refuses or passes it by."""
    if not claim.value:
        return _refused_question(claim, lines)
    if not terms_of(claim.core, claim.language):
        return False
    holding = [line for line in lines if literally(claim.core, line.text)]
    if not holding or any(line.own for line in holding):
        return False
    answers = [(line, _answer(line, lines)) for line in holding]
    return all(
        one is not None
        and (_A_NO.match(one.text) or (proposes(line.text, claim.language) and not _A_YES.match(one.text)))
        for line, one in answers
    )


def agreed_to(clause: str, line: Line, lines: Sequence[Line]) -> bool:
    """Whether the user's next line says yes to what somebody else said last."""
    last = [one for one in SENTENCE.split(line.text) if one.strip()][-1]
    answer = None if line.own or clause.strip() not in last else _answer(line, lines)
    return answer is not None and _A_YES.match(answer.text) is not None and _BUT.match(answer.text) is None


def _answer(line: Line, lines: Sequence[Line]) -> Line | None:
    return next((one for one in lines if one.place > line.place and one.own), None)


def _refused_question(claim: Claim, lines: Sequence[Line]) -> bool:
    """Whether a sentence has a word that only somebody's question has, to which the user said no."""
    if negates(claim.core):
        return False
    own = frozenset(term for line in lines if line.own for term in terms_of(line.text, claim.language))
    for line, answer in pairwise(lines):
        if not line.own and answer.own and line.text.rstrip().endswith(("?", "？")) and _A_NO.match(answer.text):
            said = terms_of(answer.text, claim.language) - terms_of(line.text, claim.language)
            if said & terms_of(claim.told, claim.language):
                continue  # "Shall I announce it on Slack?" "No, at the meeting": there it is announced
            asked = terms_of(line.text, claim.language) - own
            told = terms_of(" ".join(_no_mood(claim.told, claim.language)), claim.language)
            if any(len(term) > 3 or not term.isascii() for term in asked & told):
                return True
    return False


def _no_mood(text: str, language: str) -> Iterator[str]:
    """The words of a text without those of mood, which a question has too: "Möchtest du ein Plakat?"."""
    return (word for word in text.split() if supposed_in(word, language) is None)


_BUT = re.compile(
    r"(?i)[^.!?。！？]{0,40}\W(?:but|aber|mais|pero|ma|mas|maar|men|но)\b|[^.!?。！？]{0,20}(?:지만|는데|けど|ですが|但)"
)
"""A yes that goes on with a but is none yet."""

_A_YES = re.compile(
    r"(?i)\W*(?:yes|yeah|yep|ok(?:ay)?|sure|right|exactly|good idea|sounds? good|please|fine|deal|i (?:will|do"
    r"|have|did)|i['’]ll"
    r"|done|absolutely|great|perfect|ja|gern\w*|genau|gut|stimmt|oui|d['’]accord|bonne idée|volontiers|sí|claro"
    r"|vale|buena idea"
    r"|sì|certo|va bene|sim|boa ideia|네|예|좋아요|はい|ええ|いいですね|好的?|是的?|可以)\b"
)
