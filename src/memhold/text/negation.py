"""Whether a text says no to something, in the languages that people write. Pure.

On the safe side: a word that only may deny counts. What it must not do is see a "no" where none is, since that hides
one that was lost. A word that denies in some languages and is another word elsewhere ("no": in the, "sin": his) does
not count where the rest of the text speaks for a language in which it does not deny. What looks the same within one
language is told by its company: the month "mai", French "deux pas", "不过", "잘못".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from memhold.text import lazily
from memhold.text.analysis import language_votes
from memhold.text.function_words import UNIT

__all__ = ["negates"]


_WORDS = lazily.compile(
    r"\b(?:not|never|no longer|cannot|without|neither|nor|none|nobody|nothing|nowhere"
    r"|(?:do|does|did|is|are|was|were|has|have|had|ca|wo|would|should|could|must)nt"
    r"|nicht|nichts|nie|niemals|niemand|nirgends|weder|kein(?:e[nmrs]?|s|erlei|eswegs|esfalls|mal)?|ohne"
    r"|n['\u2019]\w+|jamais|rien|aucun\w*"
    r"|nunca|jamás|nada|nadie|tampoco|ningun\w*|ningún"
    r"|não|sem|ninguém|nenhum\w*"
    r"|non|senza|niente|nulla|nessun\w*"
    r"|niet|niets|nooit|geen|zonder"
    r"|inte|utan|aldrig|ingen|inget|ingenting|ikke|aldri|uten|uden|intet"
    r"|bez|nigdy|żad\w+|değil|yok|eivät|ilman|nincs\w*|soha"
    r"|không|chưa|chẳng|đừng|tidak|bukan|tanpa|jangan"
    r"|не|нет|никогда|никто|ничего|без|нельзя|ні|немає|няма"
    r"|δεν|μην|όχι|χωρίς|לא|אין|בלי|לא|لا|لم|لن|ليس|ليست|بدون|नहीं|मत|बिना)\b"
    r"|\b\w+n['\u2019]t\b",
    re.IGNORECASE,
)
_SHARED: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    word: (frozenset(denying.split()), frozenset(other.split()))
    for word, denying, other in (
        ("no", "english spanish catalan italian", "portuguese"),
        ("ne", "french hungarian czech", "italian turkish romanian"),
        ("pas", "french catalan", "dutch polish danish norwegian turkish"),
        ("ni", "spanish french catalan", "swedish romanian"),
        ("sans", "french", "english german"),
        ("sin", "spanish", "swedish norwegian danish english"),
        ("nem", "portuguese hungarian", "danish"),
        ("mai", "italian catalan", "romanian french norwegian german"),
        ("inga", "swedish", "english german"),
    )
}
"""Words that deny in the first of these languages and are another word in the second: in the, his, only just, more."""
_CONTESTED = lazily.compile(rf"\b(?:{'|'.join(_SHARED)})\b", re.IGNORECASE)
_UNSPACED = lazily.compile(
    r"不(?![过過错錯仅僅但断斷同])|没|沒|无(?![锡线论論])|無(?![線料事論])|未(?![来來満满])|勿|莫(?!斯)"
    r"|非(?![常洲])|(?<![特分性区區级級告辨识識派类類离離個个])[别別](?![人的墅名处處])"
    r"|ない|なかっ|なく(?=[てな、もは])|ません|ずに|ไม่"
    r"|않|없|(?<![잘연])못|아니|아닌|아님|아냐|(?<!\w)안(?=\s)|지 (?:마세요|마라|마십시오|말아|말 것)"
)
_OTHERWISE = lazily.compile(
    # The month May, in German, French and Norwegian, beside "never" in Italian; the number of a thing.
    r"(?-i:\bMai\b)|\d\.? mai\b|\bmai (?=\d{4})|\bno\.?\s*(?=\d)"
    r"|\b(?:en|de|du|fin|début|au|mi|depuis|dès|avant|après|pour|courant)[ -]mai\b"
    # A step: what follows an article, a possessive or a number is a noun.
    r"|\b(?:une?|les?|des|aux?|[mts]on|[mts]es|ces?|cet|leurs?|[nv]os|deux|trois|quatre|cinq|dix|cent|mille|quelques"
    r"|chaque|\d+)\s+pas\b|\bpas à pas\b"
    # Portuguese "swims": "nothing" behind its verb has another word that denies beside it, and else stands first.
    r"|(?-i:\bnada\b(?! de\b)|(?<=\s)(?<![,;:]\s)nada\b)"
    # A woman's name, beside "none" in Swedish; in capitals as people write it.
    r"|(?-i:(?<=\w\s)Inga\b)",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def negates(text: str) -> bool:
    """Whether something in the text says no, or may."""
    heard = _OTHERWISE.sub(" ", text)
    if _WORDS.search(heard) is not None or _UNSPACED.search(heard) is not None:
        return True
    return any(_denies(word.lower(), heard) for word in set(_CONTESTED.findall(heard)))


def _denies(word: str, text: str) -> bool:
    """Whether a word denies here: unless the text is in a language where it does not."""
    denying, other = _SHARED[word]
    scores = language_votes(_CONTESTED.sub(" ", text))
    yes, no = (max(scores.get(language, 0) for language in languages) for languages in (other, denying))
    return no >= yes or yes < UNIT // 3
