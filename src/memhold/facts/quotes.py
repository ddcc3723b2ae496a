"""What messages say of a fact that a model read in them: whether the user said it, and in which sentence. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memhold.messages.fences import unquoted
from memhold.text.analysis import analyse
from memhold.text.compare import canonical_text
from memhold.values.records import Message

__all__ = ["MAX_SENTENCE", "Quoted", "says", "spoken", "stands", "told"]

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])\s*|\n+")
MAX_SENTENCE = 2000
MAX_TEXT = 100_000
WHOLE = 4
"""Letters below which a value must stand there as a whole word: "A" is not said by "at"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """`own_words`: a person said the value; `sentence` is the newest one in which it stands, empty where none does."""

    own_words: bool
    sentence: str = ""


def spoken(sources: Sequence[Message], value: str) -> Quoted:
    """Look for a value in what people themselves said in these messages: as it is, else all its words in one sentence.

    `sources` are messages of people, the newest last; recalled text in them does not count. A value that a model put
    into other words is not found, and then it is no own word of the user: what speaks against something told is kept
    apart rather than guessed.
    """
    texts = [unquoted(message) for message in reversed(sources)]
    found = _found(value, [sentence for text in texts for sentence in reversed(list(_sentences(text)))])
    return Quoted(own_words=found is not None, sentence=found or "")


def told(sources: Sequence[Message]) -> tuple[str, ...]:
    """Every sentence that people themselves said in these messages, as they come; recalled text left out."""
    return tuple(sentence for message in sources for sentence in _sentences(unquoted(message)))


def says(value: str, text: str) -> bool:
    """Whether a text says a value: as it is, else all its words in one sentence."""
    return _found(value, list(_sentences(text))) is not None


def _found(value: str, sentences: Sequence[str]) -> str | None:
    """The first of these sentences in which a value stands as it is, else the first that has all its words."""
    for sentence in sentences:
        if stands(value, sentence):
            return sentence
    words = set(analyse(value).counts) if len(canonical_text(value)) >= WHOLE else set()
    return next((one for one in sentences if words <= analyse(one).counts.keys()), None) if words else None


def stands(value: str, text: str) -> bool:
    """Whether a value stands in a text: begun like a word, a short one ended like one too.

    Scripts without spaces have no such edges. One letter counts in its own case: blood type "A" is no article.
    """
    wanted, held = canonical_text(value), canonical_text(text)
    if len(wanted) > 1:
        wanted, held = wanted.casefold(), held.casefold()
    at = held.find(wanted) if wanted else -1
    while at >= 0:
        end = at + len(wanted)
        begun = at == 0 or not (_lettered(held[at - 1]) and _lettered(wanted[0]))
        ended = end == len(held) or not (_lettered(held[end]) and _lettered(wanted[-1]))
        if begun and (ended or len(wanted) >= WHOLE):
            return True
        at = held.find(wanted, at + 1)
    return False


def _sentences(text: str) -> Iterator[str]:
    for sentence in _SENTENCE.split(text[:MAX_TEXT]):
        if sentence.strip():
            yield sentence.strip()[:MAX_SENTENCE]


def _lettered(char: str) -> bool:
    """A digit, or a letter of a script that has cases: those write words apart."""
    return char.isdigit() or char.lower() != char.upper()
