"""Whether a text says no to something, in the languages that people write. Pure.

On the safe side: a word that only may deny counts. What it must not do is see a "no" where none is, since that hides
one that was lost: so the commonest false friends (the month "mai", "不过", "잘못") are named, and do not count.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["negates"]


_WORDS = re.compile(
    r"\b(?:not|never|no longer|cannot|without|neither|nor|none|nobody|nothing|nowhere"
    r"|(?:do|does|did|is|are|was|were|has|have|had|ca|wo|would|should|could|must)nt"
    r"|no(?!\.?\s*\d)"
    r"|nicht|nichts|nie|niemals|niemand|nirgends|weder|kein\w*|ohne"
    r"|ne|n['\u2019]\w+|pas|jamais|sans|rien|ni|aucun\w*"
    r"|nunca|jamás|sin|nada|nadie|tampoco|ningun\w*|ningún"
    r"|não|sem|nem|ninguém|nenhum\w*"
    r"|non|mai|senza|niente|nulla|nessun\w*"
    r"|niet|niets|niemand|nooit|geen|zonder"
    r"|inte|aldrig|utan|ingen|inga|inget|ingenting|ikke|aldri|aldrig|uten|uden|intet"
    r"|bez|nigdy|żad\w+|değil|yok|eivät|ilman|nem|nincs\w*|soha"
    r"|không|chưa|chẳng|đừng|tidak|bukan|tanpa|jangan"
    r"|не|нет|никогда|никто|ничего|без|нельзя|ні|немає|няма"
    r"|δεν|μην|όχι|χωρίς|לא|אין|בלי|לא|لا|لم|لن|ليس|ليست|بدون|नहीं|मत|बिना)\b"
    r"|\b\w+n['\u2019]t\b",
    re.IGNORECASE,
)
_UNSPACED = re.compile(
    r"不(?![过過错錯仅僅但断斷同])|没|沒|无(?![锡线論论])|無(?![線料事論])|未(?![来來満满])|勿|莫(?!斯)"
    r"|非(?![常洲])|(?<![特分性区區级級告辨识識派类類离離個个])[别別](?![人的墅名处處])"
    r"|ない|なかっ|なく(?=[てな、もは])|ません|ずに|ไม่"
    r"|않|없|(?<![잘연])못|아니|아닌|아님|아냐|(?<!\w)안(?=\s)|지 (?:마세요|마라|마십시오|말아|말 것)"
)
_MAY = re.compile(r"(?-i:\bMai\b)|\d\.? mai\b|\bmai (?=\d{4})|\b(?:en|de|du|fin|début|au) mai\b", re.IGNORECASE)
"""The month May, in German and French, beside "never" in Italian."""
_PORTUGUESE = re.compile(r"\b(?:não|uma?|ele|ela|em|são|está|você|dos|das|pel[oa]|mora|tem|\w+ç(?:ão|ões))\b")
_IN_THE = re.compile(r"\bno\b")


@lru_cache(maxsize=4096)
def negates(text: str) -> bool:
    """Whether something in the text says no, or may."""
    heard = _MAY.sub(" ", text)
    if _PORTUGUESE.search(heard):
        heard = _IN_THE.sub(" ", heard)
    return _WORDS.search(heard) is not None or _UNSPACED.search(heard) is not None
