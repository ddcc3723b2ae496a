"""Words of change: how people say that something is no longer as it was ("now", "no longer", "moved", "turned out"). Pure.

They say that a statement may replace an earlier one, not which: of two texts about one thing, the later with such a
word is worth a closer look. The lists hold what a language has for it (adverbs of now against then, "in place of",
verbs of becoming, ending and putting off), whatever the topic.
"""

from __future__ import annotations

import re

from memhold.text.sentences import Span

# ruff: noqa: RUF001 - letters of every script

__all__ = ["change_words", "changes"]

_ENGLISH = (
    # Now against then.
    r"now(?! that\b)|nowadays|these days|currently|no longer|any ?more|used to|formerly|previously|as of|new|latest"
    # This in place of that.
    r"|instead|rather than|in (?:the )?place of|took over|takes over|going with|went with|ended up"
    # Otherwise than it was taken to be.
    r"|actually|turn(?:s|ed) out|change of plans?|changed my mind|correction|after all"
    # Becoming something else, as past or passive.
    r"|switch(?:ed|ing)|chang(?:ed|ing)|moved|moving|swapped|replaced|migrated|ported|converted|transferred|renamed"
    r"|relocated|upgraded|downgraded|became|become|promoted|updated|adjusted|revised|extended|shortened"
    # Another time.
    r"|rescheduled|postponed|delayed|(?:pushed|moved) (?:it )?(?:back|forward|up)|put off|brought forward"
    # An end.
    r"|cancell?ed|called off|scrapped|dropped|ditched|abandoned|pulled out|backed out|gave up|given up|quit|stopped"
    r"|ended|sold|traded|resigned|retired|broke up|split up|divorced|expired|died|withdr(?:e|a)wn?"
    # More or less than before.
    r"|increased|decreased|improved|risen|rose|fell|fallen|grown|grew|growth|raised|reduced|(?:gone|went|is|are) (?:up|down) to"
    r"|reached"
)
_GERMAN = (
    r"jetzt|nun|inzwischen|mittlerweile|neuerdings|seit (?:kurzem|neuestem|neustem|anfang|letzter|letztem)|derzeit|aktuell|nicht mehr"
    r"|kein\w* mehr|früher|bisher|stattdessen|anstatt|statt|doch nicht|umgezogen|gewechselt|wechsel\w*|umgestiegen|umgestellt"
    r"|ersetzt|geändert|verschoben|abgesagt|verlegt|gekündigt|aufgehört|aufgegeben|verkauft|beendet|neue[nmrs]?|künftig"
    r"|herausgestellt|eigentlich|geworden|erhöht|gestiegen|gesunken|verlängert|überredet|umbenannt"
)
_FRENCH = (
    r"maintenant|désormais|dorénavant|actuellement|ne \w+ plus|n'\w+ plus|avant|auparavant|au lieu|plutôt que|à la place"
    r"|finalement|en fait|déménagé|changé|changée?s?|remplacé\w*|passée? (?:à|au|aux)|annulé\w*|reporté\w*|décalé\w*|arrêté\w*"
    r"|quitté\w*|vendu\w*|nouve(?:au|aux|l|lle|lles)|devenue?s?|augmenté\w*|baissé\w*|abandonné\w*|terminé\w*|repoussé\w*"
)
_SPANISH = (
    r"ahora|actualmente|hoy en día|ya no|antes|en vez de|en lugar de|al final|en realidad|resulta que|resultó|mudado|mudé|mudamos"
    r"|cambi(?:é|ó|ado|amos|aron|ada)|reemplaz\w+|sustitu\w+|pasado a|pasé a|cancel(?:é|ó|ado|ada|amos|aron)|aplaz\w+|pospu\w+"
    r"|retras\w+|dej(?:é|ó|ado|amos) (?:de|el|la|mi)|vend(?:í|ió|ido|imos)|nuev[oa]s?|se acabó|terminó|subió|bajó|aument\w+"
)
_PORTUGUESE = (
    r"agora|atualmente|hoje em dia|já não|não \w+ mais|antes|em vez de|no lugar de|no final|na verdade|mudei|mudou|mudamos"
    r"|troquei|trocou|trocamos|substitu\w+|cancel(?:ei|ou|amos|ado|ada)|adi(?:ei|ou|ado|ada)|deixei|deixou|parei|vendi|vendeu"
    r"|nov[oa]s?|acabou|passou a|passei a|aumentou|subiu|caiu"
)
_ITALIAN = (
    r"ora|adesso|attualmente|oggigiorno|non \w+ più|prima|invece|al posto|alla fine|in realtà|trasferit[oaie]|traslocato"
    r"|cambiat[oaie]|sostituit[oaie]|passat[oaie] a|annullat[oaie]|rimandat[oaie]|spostat[oaie]|smesso|lasciat[oaie]|vendut[oaie]"
    r"|nuov[oaie]|diventat[oaie]|aumentat[oaie]"
)
_DUTCH = (
    r"nu|tegenwoordig|momenteel|niet meer|geen \w+ meer|vroeger|in plaats van|toch niet|uiteindelijk|eigenlijk|verhuisd"
    r"|veranderd|overgestapt|vervangen|gewisseld|geannuleerd|afgezegd|uitgesteld|verzet|gestopt|opgezegd|verkocht|nieuwe?|geworden"
)
_RUSSIAN = (
    r"теперь|сейчас|ныне|больше не|уже не|раньше|прежде|вместо|на самом деле|оказал\w+|переехал\w*|сменил\w*|поменял\w*|изменил\w*"
    r"|перешёл|перешел|перешла|перешли|заменил\w*|отменил\w*|отмен[её]н\w*|перен[её]с\w*|бросил\w*|уволил\w*|продал\w*|нов(?:ый|ая|ое|ые|ую|ого|ой)"
    r"|стал[аои]?|вырос\w*|снизил\w*"
)
_WORDS = "|".join((_ENGLISH, _GERMAN, _FRENCH, _SPANISH, _PORTUGUESE, _ITALIAN, _DUTCH, _RUSSIAN))
_SPACED = re.compile(rf"\b(?:{_WORDS})\b", re.IGNORECASE)
_UNSPACED = re.compile(
    # Korean
    r"이제|지금은|요즘|더 ?이상|예전|원래는|대신|바꿨|바꾸었|바뀌|바뀐|옮겼|옮기|이사[했했갔왔 ]|그만[뒀두]|취소|미뤄|미뤘|연기[했됐되]"
    r"|새로|새 |사실은|알고 ?보니|끊었|팔았|관두|늦춰|앞당|이번 ?(?:주|달)부터|탈출"
    # Chinese
    r"|现在|如今|目前|不再|已经不|以前|原来|原本|代替|改成|改为|改到|改用|改了|改在|换成|换到|换了|搬到|搬家|搬去|取消|推迟|延期|提前|辞职|离职|停了"
    r"|放弃|卖掉|卖给|卖了|新的|变成|其实|实际上|结果|升到|降到|涨到|後來|现改|從此|不干了|變成|現在|換"
    # Japanese
    r"|今は|現在|もう\S{0,12}(?:ない|ません)|以前|代わりに|変え[たてま]|変わ[っり]|変更|引っ越[しす]|切り替え|乗り換え|中止|延期|キャンセル|辞め|やめ[たてま]"
    r"|新しい|実は|実際は|になりました|になった|売っ[たて]"
)


def change_words(text: str) -> list[Span]:
    """The words of change in a text, in their order; "any more" counts only where something is denied before it."""
    found = [Span(one.start(), one.end()) for one in _SPACED.finditer(text)]
    found += [Span(one.start(), one.end()) for one in _UNSPACED.finditer(text)]
    return sorted(found, key=lambda one: one.start)


def changes(text: str) -> bool:
    """Whether a text has a word of change."""
    return _SPACED.search(text) is not None or _UNSPACED.search(text) is not None
