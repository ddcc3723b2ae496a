"""Of whom each clause of a line is: the speaker, or somebody else of whom they speak. Pure.

By grammar, not by a list of people. A clause that holds the speaker's own pronoun ("I", "ich", "yo" or a verb form that
says it) is of the speaker. Else its subject is what stands at its beginning: a noun that the speaker possesses ("my
landlady"), a name ("Marek"), a noun with its article, or a pronoun of the third person, which takes up whoever was
spoken of last. A clause without a subject goes on with that of the clause before it in the sentence. What is told of
such a subject is told of the user only where the claim names the subject too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from memhold.text.details import details
from memhold.text.function_words import EVIDENCE
from memhold.text.negation import negates
from memhold.text.person import first_words_of
from memhold.text.quantities import quantities
from memhold.text.times import calendar_words

# ruff: noqa: RUF001 - signs of every script end clauses and sentences

__all__ = ["CLAUSE", "SENTENCE", "Told", "names_in", "own_names_in", "told_of"]

CLAUSE = re.compile(
    r"(?<=[.!?;:…])\s+|[。！？；、，]|,(?!\d)|\s[-–—]\s|\n+"
    r"|\s(?:and|but|although|though|whereas|because|since|when|while|which|who|so|und|aber|sondern|obwohl|weil|wenn|dass"
    r"|et|mais|parce|quand|y|pero|aunque|sino|porque|cuando|e|però|ma|perché|mas|и|но|а|потому|когда|en|maar|omdat)\s",
    re.IGNORECASE,
)
"""Where one statement of a line ends and another begins, in the languages whose conjunctions are known."""
SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+(?=\S)|(?<=[。！？])|\n+")
_MINE: Final = (
    r"my|our|(?:mein|unser)(?:e[nmrs]?)?|mon|ma|mes|notre|nos|mi|mis|nuestr[oa]s?"
    r"|(?:il |la |i |le )?(?:mio|mia|miei|mie|nostr[oaie])"
    r"|(?:o |a )?(?:meu|minha|nosso|nossa)|mijn|onze|ons|min|mitt|mina|vår|vårt|мой|моя|наш|наша"
)
_POSSESSED = re.compile(rf"(?i)(?<!\w)(?:{_MINE})\s+(?P<noun>\w+(?:\s+\w+)?)")
_ARTICLE = re.compile(
    r"(?i)\W*(?:the|der|die|das|le|la|les|el|los|las|il|lo|gli|o|os|as|het|de)\s+(?P<noun>[^\W\d_]{3,}(?:\s+\w+)?)"
)
_THIRD = re.compile(
    r"(?i)\W*(?:he|she|they|his|her|their|er|sie|sein(?:e[nmrs]?)?|ihr(?:e[nmrs]?)?|il|elle|ils|elles|son|sa|leur|él|ella|su|sus"
    r"|lui|lei|ele|ela|hij|zij|zijn|haar|die|dessen|deren|hon|han|он|она|они)(?:['’]\w+)?\b"
)
_NAME = re.compile(
    r"\W*(?:(?i:herr|frau|mr|mrs|ms|dr|prof|señora?|monsieur|madame|signora?|meneer|mevrouw)\.?\s+)?(?P<name>[^\W\d_]\w+(?:\s+[^\W\d_]\w+)?)"
)
_CAPITALISED = re.compile(r"[A-Z\u00c0-\u00de\u0391-\u03ab\u0410-\u042f]\w*")
_BEING = re.compile(
    r"(?i)^\W*(?:is|was|are|were|'s|ist|war|est|était|es|era|è|é|is)\s++(?:at|on|in|from|by|near|um|am|im|an|ab|à|au|dans|en|a|al|alle|om|op)?\s*+\d"
)
"""What follows a subject that is dated or measured rather than described: "my flight is at 9"."""
_DESCRIBED = re.compile(r"(?i)\W*(?:\w+\s+)?(?:is|was|ist|war|est|était|es|era|è|foi|é)\s")
"""What follows the subject of a description: other clauses with an article are often of a thing of the speaker's."""
_SELF = re.compile(
    r"(?i:\b(?:i['’]?m|i am|my name is|this is|call me|ich bin|ich hei(?:ß|ss)e|je suis|je m['’]appelle|soy|me llamo"
    r"|sono|mi chiamo|ik ben|ik heet|eu sou|jag heter)\s+)"
    r"(?P<name>[A-Z\u00c0-\u00de]\w+)|^\W*(?P<here>[A-Z\u00c0-\u00de]\w+) here\b"
)
_ASIDE: Final = 4
"""Words up to which a clause without a verb of its own may describe the one before: "Marek, the caretaker, …"."""


@dataclass(frozen=True, slots=True)
class Told:
    """A clause and the words that name of whom it is; none for the speaker. `first`: it says so by a pronoun.

    `thing`: the subject is a noun with an article, which is as often a thing of the speaker's as a person.
    """

    text: str
    who: frozenset[str] = frozenset()
    first: bool = False
    thing: bool = False


@lru_cache(maxsize=2048)
def told_of(
    text: str, language: str, own_names: frozenset[str] = frozenset(), known: frozenset[str] = frozenset()
) -> tuple[Told, ...]:
    """Each clause of a line of the speaker's with of whom it is. What one person is called by is one.

    `own_names` are the speaker's own, `known` what is a name for certain elsewhere in the conversation.
    """
    found = list(_clauses(text, language, own_names, known))
    groups = _joined(one.who for one in found)
    return tuple(
        Told(one.text, next((group for group in groups if group & one.who), one.who), one.first, one.thing)
        for one in found
    )


def own_names_in(texts: Iterable[str]) -> frozenset[str]:
    """What the speaker is called, where they say so."""
    return frozenset[str]().union(*map(_own_names, texts))


@lru_cache(maxsize=1024)  # each claim of a reply asks for its whole window
def _own_names(text: str) -> frozenset[str]:
    return frozenset((match["name"] or match["here"]).casefold() for match in _SELF.finditer(text[:20_000]))


def names_in(texts: Iterable[str]) -> frozenset[str]:
    """What is a name for certain: a capital within a sentence, in languages that write nouns small."""
    return frozenset[str]().union(*map(_names, texts))


@lru_cache(maxsize=1024)
def _names(text: str) -> frozenset[str]:
    return frozenset(one.text.casefold() for one in details(text[:20_000]) if one.kind == "name" and one.sure)


def _clauses(text: str, language: str, own_names: frozenset[str], known: frozenset[str]) -> Iterator[Told]:
    last: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()
    things = False
    for sentence in SENTENCE.split(text[:20_000]):
        current: frozenset[str] = frozenset()
        bare = False  # the clause before was a subject alone
        every = [clause for clause in CLAUSE.split(sentence) if clause and clause.strip()]
        for label, clause, following in zip(["", *every], every, [*every[1:], ""], strict=False):
            subject, rest = _subject(clause, last, language, own_names, bare=bare, known=known, following=following)
            if label.rstrip().endswith((":", "：")) and not rest.strip():
                subject = None  # "blood type: AB": a name alone behind a label is its value
            first = bool(first_words_of(rest, language))
            thing = _ARTICLE.match(clause) is not None and _DESCRIBED.match(rest) is None and not bare
            if first:
                current, bare = frozenset(), False
            elif subject is not None:
                aside = bare and len(clause.split()) <= _ASIDE
                current = current | subject if aside else subject
                bare = aside or not rest.strip()
            things = thing if subject is not None else things and bool(current)
            yield Told(clause, current, first, things)
            last = _named(clause, own_names) if first or not current else current
            last = last or before
            before = last


def _subject(
    clause: str,
    last: frozenset[str],
    language: str,
    own_names: frozenset[str],
    *,
    bare: bool,
    known: frozenset[str],
    following: str,
) -> tuple[frozenset[str] | None, str]:
    """The words that name the subject at the beginning of a clause (None: there is none), and what follows it."""
    if (match := _possessor(clause)) is not None:
        rest = clause[match.start("noun") :]
        words = match["noun"].split()
        head, after = _words(words), rest[len(words[0]) :]
        head |= {name.casefold() for name in _CAPITALISED.findall(" ".join(rest.split()[1:4])) if language != "german"}
        if language == "german" and len(words) > 1 and words[1][:1].isupper():
            head |= {words[1].casefold()}
        return (None if _BEING.match(after) else head), after
    if (match := _THIRD.match(clause)) is not None:
        return last or frozenset({match[0].strip().casefold()}), clause[match.end() :]
    name = _NAME.match(clause)
    if name is not None and _is_name(name["name"], clause, language, own_names, known=known, after=following):
        words = name["name"].split()
        kept = [words[0], *(word for word in words[1:] if word[:1].isupper())]
        rest = clause[name.start("name") + len(kept[0]) :]
        return frozenset(word.casefold() for word in kept), rest
    if (match := _ARTICLE.match(clause)) is not None:
        words = match["noun"].split()
        after = clause[match.start("noun") + len(words[0]) :]
        if (bare or after.strip()) and not _BEING.match(after):
            return _words(words), after
    return None, clause


def _possessor(clause: str) -> re.Match[str] | None:
    """The first noun of the speaker's that is no object: nothing or a word of content stands before it."""
    for match in _POSSESSED.finditer(clause):
        before = clause[: match.start()].split()
        if not before or before[-1].casefold().strip("'\"(") not in EVIDENCE:
            return match
    return None


def _is_name(
    word: str, clause: str, language: str, own_names: frozenset[str], *, known: frozenset[str], after: str
) -> bool:
    first = word.split(maxsplit=1)[0]
    if not first[:1].isupper() or first.casefold() in own_names or first.casefold() in EVIDENCE or negates(first):
        return False
    if calendar_words(first) or quantities(first):
        return False
    if language == "german":
        return _NAME.match(clause) is not None and clause.strip().split()[0].casefold() in _TITLES
    if first.casefold() in known:
        return True
    if after and all(one[:1].isupper() for one in clause.split()) and len(clause.split()) <= 2:
        # a subject that stands alone, before what is said of it between commas
        return _ARTICLE.match(after) is not None or _possessor(after) is not None
    return any(one.kind == "name" and first.startswith(one.text) for one in details(clause))


_TITLES: Final = frozenset({"herr", "frau", "dr", "dr.", "prof", "prof."})


def _words(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word.casefold() for word in words if word.casefold() not in EVIDENCE)


def _named(clause: str, own_names: frozenset[str]) -> frozenset[str]:
    """Whom a clause names last, for the pronoun that takes them up: a name, else a noun that the speaker possesses."""
    names = [one.text.casefold() for one in details(clause) if one.kind == "name" and one.sure]
    names = [name for name in names if name not in own_names and not calendar_words(name)]
    possessed = [_words(match["noun"].split()[:1]) for match in _POSSESSED.finditer(clause)]
    return frozenset(names[-1:]).union(*possessed[-1:])


def _joined(sets: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """Sets that share a word, as one: somebody is first "my brother Joost", then "Joost"."""
    groups: list[frozenset[str]] = []
    for one in sets:
        if one:
            near = [group for group in groups if group & one]
            groups = [group for group in groups if not group & one] + [one.union(*near)]
    return groups
