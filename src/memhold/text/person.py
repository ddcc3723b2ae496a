"""Whose words a question is about: "where do I live" is about the user's own, "what did you suggest" the assistant's.

Grammatical person, read from closed lists of pronouns, possessives and verb forms of each language of the analysis
(they are grammar, not a choice of words), and from the verbs with which people ask for what they were told. A language
that leaves pronouns out often shows none; then nothing is preferred.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from memhold.text import lazily
from memhold.text.analysis import analyse, language_of
from memhold.text.letter_words import WIDE

# ruff: noqa: RUF001 - letters of every script

__all__ = ["Person", "person_of"]


@dataclass(frozen=True, slots=True)
class Person:
    """Whether a question is about the words of who asks (`first`) or of who is asked (`second`); at most one."""

    first: bool = False
    second: bool = False


_FIRST: Mapping[str, str] = MappingProxyType(
    {
        "english": "i me my mine myself we us our ours i'm i've i'd i'll we're we've we'd we'll im ive",
        "german": "ich mich mir mein meine meinen meinem meiner meines wir uns unser unsere unseren unserem unserer",
        "french": "je j' moi me m' mon ma mes mien mienne nous notre nos",
        "spanish": "yo me mi mis mí mío mía conmigo nosotros nosotras nos nuestro nuestra nuestros nuestras tengo soy "
        "estoy he vivo trabajo hago voy puedo quiero tenemos somos estamos hemos vamos",
        "portuguese": "eu me mim meu minha meus minhas comigo nós nos nosso nossa nossos nossas tenho sou estou temos",
        "italian": "io mi me mio mia miei mie noi ci nostro nostra nostri nostre ho sono sto abbiamo siamo",
        "dutch": "ik mij me mijn wij we ons onze",
        "swedish": "jag mig min mitt mina vi oss vår vårt våra",
        "norwegian": "jeg meg min mitt mine vi oss vår vårt våre",
        "danish": "jeg mig min mit mine vi os vores",
        "finnish": "minä minun minua minulla minulle me meidän meillä olen",
        "hungarian": "én engem nekem velem mi minket nekünk vagyok",
        "romanian": "eu mie mă meu mea mei mele noi nostru noastră sunt am",
        "turkish": "ben beni bana benim bende biz bizi bizim",
        "polish": "ja mnie mi mój moja moje mną my nas nam nasz nasza mam jestem",
        "czech": "já mě mně mi můj moje moji my nás nám náš naše mám jsem",
        "catalan": "jo em meu meva meus meves nosaltres ens nostre nostra tinc soc",
        "indonesian": "aku saya kami kita ku",
        "russian": "я меня мне мной мой моя моё мое мои моего моей мы нас нам наш наша наше",
    }
)
_PAST: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "english": lazily.compile(
            r"\b(?:did|have|had|were) you\b|\byou (?:\w+ )?(?:\w+ed|told|said|gave|came|wrote|made|chose)\b"
            r"|\byour (?:advice|suggestion|recommendation|answer|proposal|plan|list|reply)"
        ),
        "german": lazily.compile(
            r"\b(?:hast|hattest|warst) du\b|\bdu \w*(?:test|rietst|gabst)\b|\bdeine?[nmr]? (?:rat|vorschl|empfehl)"
        ),
        "french": lazily.compile(
            r"\b(?:as-tu|avez-vous|avais-tu|aviez-vous|tu (?:m')?(?:as|avais)|vous (?:m')?(?:avez|aviez))\b"
        ),
        "spanish": lazily.compile(
            r"\b(?:me|nos) \w+(?:ó|jo|so|ste)\b|\b(?:me|nos) (?:has|ha|habías) \w+(?:ado|ido|cho|sto)\b"
            r"|\b\w+(?:aste|iste)\b"
        ),
        "portuguese": lazily.compile(r"\bvocê (?:me )?\w+(?:ou|eu|iu|sse)\b|\b(?:me|nos) \w+(?:ou|eu|iu)\b"),
        "italian": lazily.compile(
            r"\bmi (?:hai|aveva|avevi|ha) \w+(?:ato|ito|uto|tto|sto)\b|\b(?:hai|avevi) (?:detto|proposto)\b"
        ),
    }
)
"""A past tense of the second person: what the assistant said. Spanish and Portuguese say it in the verb's ending."""
_REQUEST = lazily.compile(
    r"\b(?:can|could|would|will|do) you\b|\bkannst du\b|\bkönntest du\b|\bpeux-tu\b|\bpouvez-vous\b|\bpuedes?\b"
)
"""A request to somebody says nothing of whose words are meant."""
_TOLD = lazily.compile(
    r"\bi(?:'ve| have| had| ever| already)* (?:told|tell|mention\w*|said|say|asked?|brought)\b"
    r"|\b(?:have|had|did) i (?:ever |already )?\w+"
)
_UNSPACED_FIRST = lazily.compile(
    r"(?<![가-힣])(?:내(?:가|게|\s)|나(?:는|의|를|한테|에게|도|\s)|저(?:는|의|를|한테|도)|제가|제\s|우리|저희)"
    r"|[我咱俺]|私|僕|わたし|ぼく|うち"
)
_UNSPACED_PAST = lazily.compile(
    r"(?:추천|제안|조언|말|알려|가르쳐|권|골라)\S{0,3}(?:준|줬|주셨|했|하셨)"
    r"|[你您妳]\S{0,6}(?:教|建议|建議|推荐|推薦|说|說|告诉|告訴|提)|(?:勧め|提案|教え|言っ|くれ)\S{0,4}(?:た|だ)"
)
_WORD = lazily.compile(r"[^\W\d_]+(?:'[^\W\d_]*)?")
_CYRILLIC = lazily.compile("[а-яё]", re.IGNORECASE)


def person_of(text: str) -> Person:
    """Whose words a question is about, in the language that it is taken for; neither where its grammar does not say."""
    if WIDE.search(text):
        if _UNSPACED_PAST.search(text):
            return Person(second=True)
        return Person(first=_UNSPACED_FIRST.search(text) is not None)
    language = _spoken(text)
    plain = _REQUEST.sub(" ", text.lower().replace("’", "'"))
    past = _PAST.get(language)
    if past is not None and past.search(plain) and not _TOLD.search(plain):
        return Person(second=True)
    words = {*_WORD.findall(plain)}
    words |= {word[: word.index("'") + 1] for word in words if "'" in word}
    return Person(first=not words.isdisjoint(_words(language)))


def first_terms(text: str) -> frozenset[str]:
    """The terms of the words index that stand for "I" and "my" in the language that a text is taken for."""
    return frozenset("我咱俺私僕내나저제") if WIDE.search(text) else _terms(_spoken(text))


@cache
def _terms(language: str) -> frozenset[str]:
    return frozenset(analyse(_FIRST.get(language, ""), language).counts)


def _spoken(text: str) -> str:
    return "russian" if _CYRILLIC.search(text) else language_of(text)


@cache
def _words(language: str) -> frozenset[str]:
    return frozenset(_FIRST.get(language, "").split())
