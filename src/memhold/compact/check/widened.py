"""A text says no more than its sources: not always and not for sure where they do not."""

from __future__ import annotations

import re
from typing import Final

from memhold.compact.check.case import Case
from memhold.text.mood import speaks_of_it
from memhold.text.negation import negates

__all__ = ["made_certain", "widened"]

_ALWAYS: Final = re.compile(
    r"(?i)(?<!\w)(?:every ?day|each day|daily|always|every time|all week|all the time|at all times|everywhere|everyone"
    r"|everybody|täglich|jeden tag|immer|stets|jederzeit|überall|jedermann|tous les jours|chaque jour|toujours|partout"
    r"|tout le monde|todos los días|cada día|a diario|siempre|en todas partes|todo el mundo|tutti i giorni|ogni giorno"
    r"|sempre|ovunque|dappertutto|todos os dias|diariamente|em toda parte|elke dag|dagelijks|altijd|overal|iedereen"
    r"|каждый день|ежедневно|всегда|везде|повсюду)(?!\w)"
    r"|매일|날마다|항상|언제나|어디서나|毎日|いつも|常に|どこでも|每天|天天|总是|一直|永远|到处"
)
"""Words for all times and all places."""
_EACH: Final = re.compile(
    r"(?i)(?<!\w)(?:every|each|daily|always|never|nightly|jede[nmrs]?|täglich\w*|immer|stets|nie|niemals|chaque"
    r"|tou(?:te)?s les|toujours|jamais|quotidien\w*|cada|tod[oa]s l[oa]s|siempre|nunca|jamás|diari\w+|ogni"
    r"|tutt[ie] [ilg]\w*|sempre|mai|tod[oa]s [oa]s|elke?|iedere?|altijd|nooit|кажд\w+|ежедневн\w+|всегда|никогда"
    r"|morgens|abends|nachts|mittags|montags|dienstags|mittwochs|donnerstags|freitags|samstags|sonntags)(?!\w)"
    r"|매[일주달년]|마다|항상|언제나|늘|毎|いつも|常に|ごと|每|天天|总|一直|从不|都"
)
"""More words by which a memory says of itself that it holds each time."""


def widened(case: Case) -> str | None:
    """The text says always, every day or everywhere, and no memory says so of anything."""
    match = _ALWAYS.search(case.text)
    if match is None or _EACH.search(case.within) or _ALWAYS.search(case.within):
        return None
    return f"{match[0]!r} is more than any memory says"


_PERHAPS: Final = re.compile(
    r"(?i)(?<!\w)(?:maybe|perhaps|possibly|probably|(?:un)?likely|presumably|might|suspects?|suspected|seems?|appears?"
    r"|rumou?r\w*|vielleicht|vermutlich|wahrscheinlich|womöglich|möglicherweise|eventuell|angeblich|peut-être"
    r"|probablement|sans doute|éventuellement|quizás?|tal vez|a lo mejor|posiblemente|probablemente|forse"
    r"|probabilmente|magari|talvez|provavelmente|possivelmente|misschien|waarschijnlijk|возможно|наверное|вероятно"
    r"|может быть|кажется)(?!\w)"
    r"|아마|지도 모|[을ㄹ할될갈올볼살질릴] ?수도 있|것 같|かもしれ|だろう|らしい|おそらく|たぶん"
    r"|也许|或许|大概|可能|说不定"
)
"""Words that leave open whether something is so."""
_OPEN: Final = re.compile(
    r"(?i)(?<!\w)(?:if|whether|could|may|can|would|plan\w*|consider\w*|think\w*|hop\w+|undecided|unclear|not sure"
    r"|unsure|uncertain|ob|wenn|falls|könnte\w*|kann|überleg\w*|unklar|unsicher|si|pourrai\w*|peut|envisag\w*"
    r"|podría\w*|puede\w*|piensa\w*|se|potrebbe\w*|può|pode\w*|если|ли|может|могут)(?!\w)"
    r"|수 있|생각|고려|계획|예정|까|予定|可能性|検討|考え|考虑|打算|未定"
)
"""Words beside which a text may leave it open in its own way."""


def made_certain(case: Case) -> str | None:
    """A memory that holds leaves open whether something is so, and nothing in the text does."""
    if _PERHAPS.search(case.text) or _OPEN.search(case.text) or negates(case.text, case.within):
        return None
    if speaks_of_it(case.text, case.language):
        return None
    for source in case.kept:
        if match := _PERHAPS.search(source.text):
            return f"a memory says {match[0]!r}, and the text says it for sure"
    return None
