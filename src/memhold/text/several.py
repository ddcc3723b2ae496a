"""Whether a question asks for several things: a list, a count, an order, a summary. Pure; closed lists of words."""

from __future__ import annotations

import re

from memhold.text import lazily

__all__ = ["asks_for_several"]

_SEVERAL = lazily.compile(
    # English
    r"\b(?:list|all (?:the|my|our|of|these|those)|every|each|how many|in (?:what |which )?order|summar\w+|overview"
    r"|recap|so far|everything|over time|throughout|what are|which are|who are|what (?:all|else)|both"
    r"|(?:which|what) (?:\w+ ){0,2}\w+s (?:are|were|have|did|do|has|had|should|can|could|would|will)"
    r"|(?:what|which|who) (?:all )?have (?:i|we|you))\b"
    # German
    r"|\b(?:alle|sämtliche|liste|aufzähl\w*|zähl\w* auf|wie viele|zusammenfass\w*|was haben wir"
    r"|welche \w+ (?:sind|haben|waren|wurden|gibt))\b"
    # French, Spanish
    r"|\b(?:tous les|toutes les|chaque|liste|combien de|quels|quelles|résum\w+)\b"
    r"|\b(?:todos los|todas las|cada|lista|enumera|cuántos|cuántas|cuáles|resum\w+"
    r"|qué \w+s (?:hemos|he|hay|son|fueron|tengo|tenemos))\b"
    # Portuguese, Italian, Dutch, Russian
    r"|\b(?:todos os|todas as|quais|quantos|quantas)\b"
    r"|\b(?:tutti|tutte|ogni|elenc\w+|quanti|quante|quali|riassu\w+)\b"
    r"|\b(?:elke|hoeveel|welke \w+en|lijst|samenvatt\w+)\b|\b(?:все|каждый|перечисли|сколько|какие)\b"
    # Korean, Chinese, Japanese
    r"|누구누구|모두|전부|목록|정리해|몇 가지|몇 개|무엇무엇"
    r"|哪些|都有|所有|列出|分别|几个|几次|總結|总结|すべて|全部|一覧|いくつ|まとめて",
    re.IGNORECASE,
)


def asks_for_several(question: str) -> bool:
    """Whether a question asks for several things rather than one."""
    return _SEVERAL.search(question) is not None
