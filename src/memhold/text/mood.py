"""Where a text stops telling what is so: what is supposed, wished, proposed or asked. Pure.

Function words and verb forms of mood, as closed as a language's auxiliaries; a language that is missing is judged as
before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from memhold.text import lazily

# ruff: noqa: RUF001 - letters of every script

__all__ = ["is_asked", "supposed_in"]

_QUESTION_MARKS: Final = ("?", "？", "؟")

_WORDS: Final[Mapping[str, str]] = {
    "english": (
        r"might|may(?= [a-z])|could|should|ought|nearly|almost"
        r"|(?:would|\w+['’]d)(?! (?:like|love|prefer)\b(?! (?:to|one|some)\b)| \w+ed\b| been\b| had\b| better\b)"
        r"|want(?:s|ed)?(?! \W?\d)|hop(?:e|es|ed|ing)|wish(?:es|ed)?|ask(?:s|ed)? (?:\w+ ){0,5}for"
        r"|offer(?:s|ed)? (?:to|me|us|him|her|them)|offer(?:s|ed)?(?= \W?\d)|think(?:s|ing)? (?:of|about)"
        r"|consider(?:s|ed|ing)?|plan(?:s|ned|ning)? (?:to|on)|need(?:s|ed)? (?:to|\w+ing\b)"
    ),
    "german": (
        r"(?:wenn|falls)(?! (?:du|ihr|(?:es|das) (?:hilft|wichtig))\b)|könnt\w+|würd\w+|hätte\w*|wäre\w*|möcht\w+"
        r"|wollt\w+|will|wollen|sollt\w+|dürfte\w*|hoff\w+|wünsch\w+|fast"
        r"|beinahe|überleg\w*"
    ),
    "french": (
        r"si(?= (?:j['’]|je|on|nous|l['’]) ?)|\w+[eidvur]r(?:ais|ait|ions|iez|aient)|voul\w+|veu(?:x|t)|veulent"
        r"|espèr\w+|souhait\w+|presque|envisag\w+"
    ),
    "spanish": (
        r"si|ojalá|quier\w+|quer[íe]\w+|quisier\w+|\w+[ai]ría(?:s|n|mos)?|(?:ser|tendr|har|podr|deber|querr)ía(?:s|n|mos)?"
        r"|esper[oa]n?|dese[oa]n?|casi|pens(?:o|ando) en"
    ),
    "italian": (
        r"\w+r(?:ei|ebbe|emmo|este|ebbero)|vuole|voglio|vogliono|volev\w+|sper[oa]|desider\w+|quasi"
        r"|pens(?:o|ando) di"
    ),
    "portuguese": r"quer\w*|gostaria\w*|desej[oa]|poderia\w*|deveria\w*|espero|espera|quase|tomara",
    "dutch": r"zou(?:den)?|wil(?:len|de|den)?|hoop|hoopt|bijna",
    "swedish": r"skulle|vill|ville|borde|hoppas|nästan",
    "norwegian": r"skulle|vil|ville|burde|håper|nesten",
    "danish": r"skulle|vil|ville|burde|håber|næsten",
}
_CYRILLIC: Final = r"если|бы|хо(?:чу|чет|тел\w*|тим|тят)|надеюсь|почти"
_WIDE: Final = (
    r"싶|으면 좋|만약|혹시|아마|을까|ㄹ까|할까|갈까|볼까|려고 (?:해|하|했)|뻔했|생각 중"
    r"|たい(?=[。、！？!?です けとなのし]|\Z)|たがっ|もし|かもしれ|つもり|ほしい|欲しい|だろう|でしょう|ましょうか"
    r"|좋을 거|는 게 좋|보세요|어때요?|てみては|いかが|たらどう|ほうがいい|といいですよ|[你您]们?(?:还|也)?可以"
    r"|想(?![到起像法])|如果|要是|可能|也许|也許|或许|打算|希望|应该|應該|差点|考虑"
)
_MARKS: Final = {
    language: lazily.compile(rf"(?<!\w)(?:{words})(?!\w)|(?<!\w)(?:{_CYRILLIC})(?!\w)|{_WIDE}", re.IGNORECASE)
    for language, words in {**_WORDS, "": r"\b\B"}.items()
}
_MAYBE: Final = lazily.compile(
    r"(?i)(?<!\w)(?:if(?! (?:you|(?:it|that) (?:helps?|matters?))\b)|unless|maybe|perhaps|possibly"
    r"|vielleicht|eventuell|peut-être|quizás?|tal vez|a lo mejor|forse"
    r"|magari|talvez|misschien|kanske|kanskje|måske|может быть|возможно)(?!\w)"
)
"""A word that bears on all of its clause, wherever it stands."""
_FIRST: Final = frozenset({"english", "french", "spanish", "italian", "portuguese"})
"""Languages in which what a word of mood bears on stands behind it."""
_ASKED: Final = lazily.compile(
    r"(?i)\A\W*(?:(?:so|and|but|und|aber|et|y|e) )?(?:is|are|am|was|were|do|does|did|has|have|had|can|will|shall|must"
    r"|ist|sind|bin|hat|habe|haben|kann|können|darf|muss|soll|est-ce|dois-je|puis-je|faut-il|es|est[áa]|hay|debo|puedo"
    r"|devo|posso|is|kan|moet|mag|ska|kan)\b.*[?？؟]\W*\Z|(?:까요|나요|가요|을까|ますか|ですか|吗|嗎)\s*[?？]\W*\Z"
)
"""A question that is answered with yes or no."""
_TO_YOU: Final = lazily.compile(
    r"(?i)\b(?:do|did|can|could|would|will|have|are) you\b|\b(?:is|was|are|would|does) (?:that|this|it|these|those)\b"
    r"|\b(?:kannst|könntest|würdest|hast|bist) du\b"
    r"|\b(?:pouvez|pourriez|avez|êtes)-vous\b|\b(?:peux|pourrais|as|es)-tu\b|\b(?:puedes|podrías|me puedes|puoi"
    r"|potresti|podes|poderia me|kun je|kan du)\b"
)
"""What is asked of whoever is spoken to, or of what was just said: what else stands there is mostly so."""


def supposed_in(clause: str, language: str) -> str | None:
    """What of a clause is not told as so, without the word that makes it so; None where all of it is told as so."""
    if _TO_YOU.search(clause):
        return None
    if _ASKED.search(clause):
        return clause
    if _MAYBE.search(clause):
        return _MAYBE.sub(" ", clause)
    found = _MARKS.get(language, _MARKS[""]).search(clause)
    if found is None:
        return None
    before = "" if language in _FIRST and not _UNSPACED.search(clause) else clause[: found.start()]
    return f"{before} {clause[found.end() :]}"


_UNSPACED: Final = lazily.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")


def is_asked(clause: str) -> bool:
    """Whether a clause ends in a question mark of any script."""
    return clause.rstrip().endswith(_QUESTION_MARKS)
