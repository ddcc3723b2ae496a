"""No reason is told that no source gives."""

from __future__ import annotations

import re
from typing import Final

from memhold.compact.check.case import Case
from memhold.compact.check.terms import LIGHT, ROLES, met, terms_of

# ruff: noqa: RUF001 - words of every script

__all__ = ["reason_invented"]

_BECAUSE: Final = re.compile(
    r"(?i)(?<!\w)(?:because(?: of)?|due to|owing to|weil|wegen|aufgrund|parce qu[e'’]|à cause d[eu'’]s?"
    r"|en raison d[eu'’]s?|porque|debido a|a causa d[ei]l?|perché|per via d\w{1,4}|por causa d\w{1,2}|из-за"
    r"|потому что|omdat|vanwege|因为|因為|由于)"
    r"(?P<behind>[^.;:,。，；！？!?()]{1,120})"
    r"|(?P<before>[^.;:,。、，；！？!?()]{1,60}?)(?:때문에|덕분에|탓에|せいで|ため(?=、|に、)|ので)"
)
"""A reason with the words that name it: behind it, in Korean and Japanese before it."""


def reason_invented(case: Case) -> str | None:
    """The text gives a reason of which the sources have no more than half of the words."""
    known = terms_of(case.within, case.language)
    for match in _BECAUSE.finditer(case.text):
        terms = terms_of(match["behind"] or match["before"], case.language) - ROLES - LIGHT
        if terms and sum(met(frozenset({one}), known) for one in terms) * 2 <= len(terms):
            return f"{match[0].strip()!r} gives a reason that no memory gives"
    return None
