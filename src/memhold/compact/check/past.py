"""Whether a clause tells of what was, not of what holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memhold.compact.check.case import Case, Source
from memhold.compact.check.terms import clauses_of, stands_in, terms_of
from memhold.text.change import change_words, changes
from memhold.text.negation import negates

__all__ = ["BARE", "ends_in", "is_past", "is_past_beside", "left_behind"]

BARE = 3
"""Content words up to which a clause goes on about what the one before it says."""


def left_behind(detail: str, source: Source, case: Case) -> bool:
    """Whether a detail is what a kept source says was left: a replaced one has it, and its clause tells of the past."""
    if not any(stands_in(other.text, detail) for other in case.gone):
        return False
    return all(is_past(clause, case.within) for clause in clauses_of(source.text) if stands_in(clause, detail))


_PAST: Final = re.compile(
    r"(?i)\b(?:was|were|had|been|before|until|up to|earlier|from|out(?:grew|grown|growing)|left|over|without"
    r"|burn\w*|broke\w*"
    r"|dropp\w*|than|passed|off|war|hatte|zuvor|vorher|bis|von|vom|schluss|fiel|weg|war(?:en)?|était|avait|depuis"
    r"|avant|panne"
    r"|statt|anstelle|instead|prima|era|estaba|tenía|hasta|antes|descart\w*|eram?|estava|deixou|largou|dejó|fue|был\w*|до|раньше|prior|ex|old\w*)\b"
    r"|전에|떠나|에서(?=\s[^.,]{1,30}?(?:으로|로)(?:\s|\Z))|原来|卖|之前|以前|前は|元"
)


_ARRIVING: Final = re.compile(
    r"(?i)(?<!\w)(?:now|new|latest|currently|moving|moved(?! (?:out|away|off))|became|become|jetzt"
    r"|neue[nrms]?|maintenant|ahora|agora"
    r"|nuev[oa]|ora"
    r"|теперь)(?!\w)|지금은|现在|今は"
)
"""Words of change for what comes, not for what goes."""


def is_past(clause: str, within: str) -> bool:
    """Whether a clause says of itself that it is over: a no, a change, a word of the past."""
    return negates(clause, within) or changes(_ARRIVING.sub(" ", clause)) or _PAST.search(clause) is not None


def ends_in(clause: str) -> list[tuple[int, int]]:
    """Where the words of an end, of a change or of the past stand in a clause; those for what comes are none."""
    spans = [(one.start, one.end) for one in change_words(clause) if not _ARRIVING.fullmatch(one.of(clause))]
    return [*spans, *(match.span() for match in _PAST.finditer(clause))]


def is_past_beside(clause: str, told: Sequence[str], case: Case) -> bool:
    """Whether a bare clause, as in brackets, stands beside one that says that something is past."""
    at = told.index(clause)
    while at > 0 and len(terms_of(told[at], case.language)) <= BARE:
        at -= 1
        if is_past(told[at], case.within):
            return True
    return False
