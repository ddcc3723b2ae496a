"""Conditions, exceptions and reasons: none is lost, and no reason is told that no source gives."""

from __future__ import annotations

import re
from typing import Final

from memhold.compact.check.case import Case
from memhold.compact.check.terms import LIGHT, ROLES, met, terms_of
from memhold.text.negation import negates

# ruff: noqa: RUF001 - words of every script

__all__ = ["condition_lost", "reason_invented"]

_IF: Final = re.compile(
    r"(?i)(?<!\w)(?:if|unless|provided|as long as|falls|sofern|solange|es sei denn|si|à moins que|à condition"
    r"|a menos que|siempre que|con tal de|se|a meno che|purché|a não ser que|desde que|если|als|tenzij|mits)(?!\w)"
    r"|만약|(?:으|하|되|오|않으|이|있|없으)면(?![가-힣])|もし|場合|限り|ければ|(?<!け)れば|なら(?![なぬず])|如果|要是|除非|只要|假如|的话"
)
"""Words that make what they stand with hold only then."""
_THEN: Final = re.compile(
    r"(?i)(?<!\w)(?:when(?:ever)?|once|in case|only|requires?|needs?|depend\w*|subject to|otherwise"
    r"|wenn|nur|bei|im falle?|sobald|quand|lorsque|seulement|en cas|sauf|cuando|solo|sólo|en caso|quando|solo|caso"
    r"|apenas|только|когда|alleen|wanneer)(?!\w)|면(?![가-힣])|때|경우|とき|時|と、|だけ|時候|时|只有|才|若"
)
"""Other words that say when something holds."""
_EXCEPT: Final = re.compile(
    r"(?i)(?<!\w)(?:except(?:ing)?|apart from|other than|außer|ausgenommen|mit ausnahme|sauf|hormis|excepto|salvo"
    r"|tranne|eccetto|exceto|кроме|behalve)(?!\w)|제외|빼고|以外|除いて|除外|除了"
)
_LANGUAGES: Final = {
    "si": {"french", "spanish", "catalan", "english"}, "se": {"italian", "portuguese"},
    "als": {"dutch"}, "falls": {"german"},
}  # fmt: skip
"""Words of condition that are something else in another language; a short text is taken for English."""


def condition_lost(case: Case) -> str | None:
    """A source says of something when it holds, or what it does not hold for, and the text says it as always so."""
    if _if(case.text, case.language) or any(pattern.search(case.text) for pattern in (_THEN, _EXCEPT)):
        return None
    for source in case.kept:
        if (word := _if(source.text, case.language)) is not None:
            return f"{word!r} says when something holds, and the text says it as always so"
        if (match := _EXCEPT.search(source.text)) is not None and not negates(case.text, case.within):
            return f"{match[0]!r} names an exception, and the text has none"
    return None


def _if(text: str, language: str) -> str | None:
    """The first word of condition of a text, as this language has them."""
    words = (match[0] for match in _IF.finditer(text))
    return next((one for one in words if language in _LANGUAGES.get(one.casefold(), {language})), None)


_BECAUSE: Final = re.compile(
    r"(?i)(?<!\w)(?:because(?: of)?|due to|owing to|weil|wegen|aufgrund|parce qu[e'’]|à cause d[eu'’]s?"
    r"|en raison d[eu'’]s?|porque|debido a|a causa d[ei]l?|perché|per via d\w+|por causa d\w+|из-за|потому что|omdat"
    r"|vanwege|因为|因為|由于)"
    r"(?P<behind>[^.;:,。，；！？!?()]+)"
    r"|(?P<before>[^.;:,。、，；！？!?()]+?)(?:때문에|덕분에|탓에|せいで|ため(?=、|に、)|ので)"
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
