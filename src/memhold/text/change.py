"""Words of change: how people say that something is no longer as it was ("now", "no longer", "turned out"). Pure.

They say that a statement may replace an earlier one, not which: of two texts about one thing, the later with such a
word is worth a closer look. The lists hold what a language has for it (adverbs of now against then, "in place of",
verbs of becoming, ending and putting off), whatever the topic. A verb stands there in the forms that report.
"""

from __future__ import annotations

import re

from memhold.languages.tables import speech, spoken
from memhold.text import lazily
from memhold.text.letter_words import LETTER_WORD, WIDE, letter_words

__all__ = ["BRIEF", "NOW", "asks_history", "asks_past", "changes", "word_count"]

BRIEF = 30
"""Words up to which a sentence is a short clause: longer ones tell of more than one thing."""

_LISTS = (
    # English: now against then, in place of, otherwise than thought; becoming, another time, an end, more or less.
    (
        "now nowadays currently anymore formerly previously new newer latest instead actually correction "
        "switched switching changed changing moved moving swapped replaced migrated ported converted "
        "transferred renamed relocated upgraded downgraded became become promoted updated adjusted revised "
        "extended shortened rescheduled postponed delayed cancelled canceled scrapped dropped ditched "
        "abandoned quit stopped ended sold traded resigned retired divorced expired died withdrew withdrawn "
        "increased decreased improved risen rose fell fallen grown grew growth raised reduced reached lowered "
        "halved doubled tripled shrunk shrank"
    ),
    # German
    (
        "jetzt nun inzwischen mittlerweile neuerdings derzeit aktuell früher bisher stattdessen anstatt "
        "umgezogen ausgezogen weggezogen gewechselt wechsel umgestiegen umgestellt ersetzt geändert verschoben "
        "abgesagt verlegt gekündigt aufgehört aufgegeben verkauft beendet neue neuer neues neuen neuem künftig "
        "herausgestellt "
        "eigentlich geworden erhöht gestiegen gesunken verlängert umbenannt gesenkt reduziert verringert "
        "verkürzt verkleinert vergrößert halbiert verdoppelt vorverlegt vorgezogen"
    ),
    # French
    (
        "maintenant désormais dorénavant actuellement auparavant finalement déménagé changé changée remplacé "
        "remplacée annulé annulée reporté reportée décalé décalée arrêté quitté vendu vendue nouveau nouvelle "
        "nouveaux nouvelles devenu devenue augmenté baissé abandonné terminé repoussé réduit réduite diminué "
        "doublé raccourci prolongé avancé avancée"
    ),
    # Spanish and Portuguese
    (
        "ahora actualmente mudado mudé mudamos cambié cambió cambiado cambiamos cambiaron reemplazado "
        "sustituido cancelé canceló cancelado cancelada cancelaron aplazado aplazada pospuesto retrasado "
        "vendí vendió vendido nuevo nueva nuevos nuevas terminó subió bajó dejé dejó redujo reducido reducida aumentó "
        "aumentado adelantado adelantada agora atualmente mudei mudou "
        "troquei trocou substituí cancelei cancelou adiado adiada deixei parei vendi vendeu novo nova novos "
        "novas aumentou caiu"
    ),
    # Italian and Dutch
    (
        "adesso attualmente oggigiorno invece trasferito trasferita traslocato cambiato cambiata sostituito "
        "annullato annullata rimandato spostato smesso venduto nuovo nuova nuovi nuove diventato diventata "
        "tegenwoordig momenteel uiteindelijk eigenlijk verhuisd veranderd overgestapt vervangen gewisseld "
        "geannuleerd afgezegd uitgesteld gestopt opgezegd verkocht nieuw nieuwe geworden"
    ),
    # Russian
    (
        "теперь сейчас ныне раньше прежде вместо оказалось оказался оказалась переехал переехала переехали "
        "сменил сменила поменял поменяла изменил изменила перешёл перешел перешла заменил заменила отменил "
        "отменила отменили отменён отменена перенёс перенесли перенесла бросил бросила уволился уволилась "
        "продал продала новый новая новое новые новую стал стала стало вырос выросла снизил снизила"
    ),
)
_WORDS = frozenset(word for words in _LISTS for word in words.split())
_PHRASES = {
    "no": r"no (?:longer|more)",
    "any": r"any more",
    "used": r"used to",
    "these": r"these days",
    "as": r"as of",
    "rather": r"rather than",
    "in": r"in (?:the )?place of|in realtà|in plaats van",
    "took": r"took over|took (?:me|him|her|us|them) off",
    "takes": r"takes over",
    "going": r"going with",
    "went": r"went (?:with|up to|down to|back to)",
    "gone": r"gone (?:up|down) to",
    "ended": r"ended up",
    "turned": r"turned out",
    "turns": r"turns out",
    "change": r"change of plans?",
    "after": r"after all",
    "pushed": r"pushed (?:it )?(?:back|forward|up)",
    "threw": r"threw (?:\w+ ){0,3}(?:out|away|over)",
    "thrown": r"thrown (?:out|away|over)",
    "got": r"got rid of",
    "gotten": r"gotten rid of",
    "done": r"done with",
    "phased": r"phased out",
    "passou": r"passou (?:para|a|ao|d[aeo]s?)",
    "pasó": r"pasó (?:a|al|de|del)",
    "put": r"put (?:it |me |him |her |us |them )?(?:off|on)",
    "brought": r"brought forward",
    "called": r"called off",
    "pulled": r"pulled out",
    "backed": r"backed out",
    "gave": r"gave up",
    "given": r"given up",
    "broke": r"broke up",
    "cut": r"cut (?:down|back)",
    "scaled": r"scaled (?:down|back|up)",
    "split": r"split up",
    "nicht": r"nicht mehr",
    "kein": r"kein mehr",
    "seit": r"seit (?:kurzem|neuestem|neustem|anfang|letzte[rmn])",
    "doch": r"doch nicht",
    "au": r"au lieu",
    "plutôt": r"plutôt que",
    "à": r"à la place",
    "ya": r"ya no",
    "en": r"en (?:vez de|lugar de|realidad|fait)",
    "al": r"al (?:final|posto)",
    "resulta": r"resulta que",
    "pasado": r"pasado a",
    "se": r"se acabó",
    "já": r"já não",
    "na": r"na verdade",
    "non": r"non \w+ più",
    "niet": r"niet meer",
    "больше": r"больше не",
    "уже": r"уже не",
}
"""Phrases by their first word."""
_BEGIN = frozenset(_PHRASES)
_UNSPACED = lazily.compile(
    # Korean
    r"이제|지금은|요즘|더 ?이상|예전|원래는|대신|바꿨|바꾸었|바뀌|바뀐|옮겼|옮기|이사[했갔왔 ]|그만[뒀두]|취소"
    r"|미뤄|미뤘|연기[했됐되]|새로|새 |사실은|알고 ?보니|끊었|팔았|관두|늦춰|늦췄|앞당|부터는|줄였|줄어들|늘렸|늘어났"
    # Chinese
    r"|现在|如今|目前|不再|以前|原来|原本|代替|改成|改为|改到|改用|改了|改在|换成|换到|换了|搬到|搬家|搬去|取消|推迟|延期|提前|辞职"
    r"|离职|放弃|卖掉|卖给|卖了|新的|变成|其实|实际上|升到|降到|涨到|現在|換成|換了|變成|其實"
    # Japanese
    r"|今は|以前|代わりに|変え[たてま]|変わ[っり]|変更|引っ越[しす]|切り替え|乗り換え|中止|キャンセル|辞め|やめ[たてま]|新しい|実は"
    r"|になりました|になった|売っ[たて]"
)
_NOW = (
    "now nowadays currently jetzt nun derzeit momentan aktuell inzwischen mittlerweile maintenant actuellement "
    "ahora actualmente agora atualmente adesso attualmente nu tegenwoordig momenteel теперь сейчас "
    "지금 지금은 요즘 요즘은 이제 현재 现在 目前 如今 現在 今は"
)
NOW = frozenset(_NOW.split())
"""Words by which a question says that it asks how it is now: they say when and not what."""
_BEFORE = lazily.compile(
    r"\b(?:at first|first|initial|initially|original|originally|earlier|before|previous|previously|former|formerly|old"
    r"|used to|back then|in the beginning|history|evolved|changed|progress\w*|over time|compared"
    r"|zuerst|anfangs|ursprünglich|früher|vorher|vorige\w*|damals|bisher"
    r"|d'abord|au début|avant|auparavant|ancien\w*|à l'époque"
    r"|al principio|antes|anterior\w*|original\w*|no começo|no início|anteriormente|all'inizio|prima|precedente\w*"
    r"|eerst|vroeger|oorspronkelijk|раньше|сначала|прежн\w+|изначально)\b"
    r"|처음|원래|예전|전에|以前|之前|原来|最初|一开始|元々|昔|前は"
)


def changes(text: str) -> bool:
    """Whether a text has a word of change."""
    low = _small(text)
    words = letter_words(low)
    if not _WORDS.isdisjoint(words):
        return True
    if any(_phrase(word).search(low) for word in _BEGIN.intersection(words)):
        return True
    return not low.isascii() and WIDE.search(low) is not None and _UNSPACED.search(low) is not None


def asks_past(question: str) -> bool:
    """Whether a question asks for what was before: "at first", "used to", "before", "the old one"."""
    return _BEFORE.search(_small(question)) is not None


def asks_history(question: str) -> bool:
    """Whether a question asks how something changed: "how has my weight changed since March?"."""
    said, low = speech(spoken(question)), question.lower()
    return said.has("asks", "how", low) and said.has("asks", "changed", low)


def word_count(text: str) -> int:
    """How many words a text has; two characters of a script without spaces count as one."""
    return len(LETTER_WORD.findall(WIDE.sub(" ", text))) + len(WIDE.findall(text)) // 2


def _small(text: str) -> str:
    """The text in small letters, every one at its place: of the few whose small form is longer, as they are."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c if len(c.lower()) != 1 else c.lower() for c in text)


def _phrase(word: str) -> re.Pattern[str]:
    return _COMPILED[word]


_COMPILED = {word: lazily.compile(rf"\b(?:{phrase})\b") for word, phrase in _PHRASES.items()}
