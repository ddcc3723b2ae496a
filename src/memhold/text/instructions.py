"""Standing instructions in what a user types: how to be answered, for good, and what they can never eat. Pure.

Precise before complete: one that is missed is still found as a message, one that nobody gave bends every answer. A
sentence counts where it begins with the instruction, and where nothing in its message shows another's words. What holds
for this chat or for somebody's recipe alone is no standing instruction.

The words of each language stand in its file.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from memhold.languages.tables import languages, unspaced
from memhold.text import lazily
from memhold.text.own_words import without_quotes
from memhold.text.sentences import Span, is_asked, sentences

# ruff: noqa: RUF001 - punctuation of every script

__all__ = [
    "ENDS",
    "LANGUAGES",
    "LONGEST",
    "MOST",
    "STATEMENTS",
    "any_of",
    "ends_only",
    "instructions",
    "is_own_wish",
    "opens_with",
    "tells_state",
    "words_of",
]

LANGUAGES = tuple(
    code
    for _, code in sorted(
        (one["lexicon"] or len(languages()), code) for code, one in languages().items() if one["people"]["first"]
    )
)
"""The languages of which more than the commonest words are known, in their turn."""
LONGEST = 1000
"""Characters of a message of one's own; a longer one is a text about something."""
MOST = 4
"""Statements that are taken from one message: whoever writes more of them has pasted a document."""
_WIDE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff"
"""Letters of words that have no edges."""
_LETTER = rf"[^\W{_WIDE}]"
_NAMED = lazily.compile("<([a-z]+)>")


def _entries(names: Collection[str], codes: Collection[str] = LANGUAGES) -> str:
    """The entries of some lists as branches of one pattern."""
    found = []
    for language in codes:
        lists = languages()[language]["standing"]
        said = "|".join(entry for name in names for entry in lists[name])
        while named := _NAMED.search(said):
            said = said.replace(named[0], f"(?:{'|'.join(lists[named[1]])})")
        # Most texts have none of the letters, and are asked no further.
        found += [f"(?=[{_WIDE}])(?:{said})" if unspaced(language) else said] if said else []
    return "|".join(found)


def any_of(*names: str) -> re.Pattern[str]:
    """A pattern for any entry of some lists, wherever it stands in a text in small letters, from the edge of a word."""
    return lazily.compile(lambda: f"(?<!{_LETTER})(?:{_entries(names, LANGUAGES)})")


def words_of(*names: str, codes: Collection[str] = LANGUAGES) -> re.Pattern[str]:
    """A pattern as that of `any_of`, for whole words. Scripts without spaces have no edges."""
    return lazily.compile(lambda: f"(?<!{_LETTER})(?:{_entries(names, codes)})(?!{_LETTER})")


def opens_with(*names: str, codes: Collection[str] = LANGUAGES) -> re.Pattern[str]:
    """A pattern for a sentence in small letters that begins with any entry, behind greetings, thanks and "please"."""
    return lazily.compile(
        lambda: (
            rf"\A[\s¡¿]*+(?:(?>(?:{_entries(('lead', 'good'), codes)})(?!{_LETTER}))[\s,.!，。！、…]*+){{0,4}}"
            rf"(?:{_entries(names, codes)})"
        )
    )


STATEMENTS = ("wish", "call", "state", "asks")
ENDS = ("back", "forget", "well", "eats")
_ALL = opens_with(*STATEMENTS, *ENDS)
_STATEMENT = opens_with(*STATEMENTS)
_ASKS = opens_with("asks")
_STATE = opens_with("state")
_OWN, _POINTS = opens_with("own"), words_of("points")
_ALIEN, _ONCE = any_of("alien"), any_of("once")
_CLAUSE = lazily.compile(r"[,;，；]\s*")
_FOREIGN = lazily.compile(r"\A\s*>|[{}<|\[\]#`=\"“”„«»‹›]|(?<!\d)[:：](?=\s*\w)|\s[-–—]+\s")
"""What shows another's text: lines, markup, a quotation that is not closed, what a colon or a dash brings in."""


def instructions(text: str) -> list[Span]:
    """The sentences of a user's text that give a standing instruction, tell a state of health or diet, or end one.

    At most four, in their order; none where more stand there.
    """
    if len(text) > LONGEST or "\n" in text.strip():
        return []
    bare = without_quotes(text)
    found: list[Span] = []
    others: list[str] = []
    for span in sentences(bare):
        said = span.of(bare).lower()
        if (_ALL.match(said) or _tells(said)) and _lasts(said):
            found.append(span)
        elif _OWN.match(said) or (found and is_asked(said)):
            others.append(said)
        elif any(map(str.isalpha, said)):
            return []
    anothers = any(_POINTS.search(said) for said in others)
    if anothers or len(found) > MOST or _FOREIGN.search(bare) or _ALIEN.search(bare.lower()):
        return []
    return found


def is_own_wish(quote: str, text: str) -> bool:
    """Whether words that somebody takes for a standing instruction are the writer's own, in a text all of their own.

    As for `instructions`: none of a long or laid-out text, of one with the marks of another's text, no question
    and nothing that holds once.
    """
    if len(text) > LONGEST or "\n" in text.strip():
        return False
    bare = without_quotes(text)
    low = bare.lower()
    own = quote.strip().lower()
    if own not in low or _FOREIGN.search(bare) or _ALIEN.search(low) or not _lasts(own):
        return False
    return not _ALL.match(own) or not ends_only(quote)


def _lasts(said: str) -> bool:
    return _ONCE.search(said) is None and (not is_asked(said) or _ASKS.match(said) is not None)


def ends_only(clause: str) -> bool:
    """Whether a clause that was found only takes something back: nothing of it stands."""
    bare = without_quotes(clause).lower()
    return _STATEMENT.match(bare) is None and not _tells(bare)


def tells_state(clause: str) -> bool:
    """Whether a clause that stands is no wish but a state of health or diet: "I am allergic to penicillin".

    It is kept the same way, in the user's words, since no question is like it; but it tells nobody what to do.
    """
    return _tells(without_quotes(clause).lower())


def _tells(said: str) -> bool:
    """Whether a state begins a sentence, or a later clause of one that the user begins with themselves."""
    first, *others = _CLAUSE.split(said)
    return _STATE.match(first) is not None or (
        bool(others) and _OWN.match(first) is not None and any(_STATE.match(one) for one in others)
    )
