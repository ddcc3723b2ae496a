"""Whether a line says what a memory says: how forgetting finds what was learnt from a line that was not cited. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from memhold.facts.quotes import spoken
from memhold.messages.fences import unquoted
from memhold.text.analysis import analyse
from memhold.text.function_words import EVIDENCE
from memhold.values.records import Memory, Message

__all__ = ["guessed_from", "says"]


def says(message: Message, memory: Memory) -> bool:
    """Whether the words of a fact's value, or all content words of a note, stand in a line, whoever spoke.

    What the line itself quotes from this store does not count: it is no evidence, and is erased apart.
    """
    if memory.kind == "fact":
        return spoken([message], memory.value or "").own_words
    wanted = _content(memory.text)
    return bool(wanted) and wanted <= _words(message)


def guessed_from(memory: Memory, going: Iterable[Message], staying: Iterable[Message]) -> bool:
    """Whether what a model told has a word of a line that goes which neither its quotes nor the lines that stay have.

    Its quotes need not have all that it says: the word came from there, whichever line the model named.
    """
    if not memory.quotes and memory.standing == "stated":
        return False
    quoted = (_content(quote.text) for quote in memory.quotes)
    wanted = _content(memory.value or memory.text).difference(*quoted, *map(_words, staying))
    return any(not wanted.isdisjoint(_words(line)) for line in going)


def _content(text: str) -> set[str]:
    return {term for term in analyse(text).counts if term not in EVIDENCE}


def _words(message: Message) -> frozenset[str]:
    return frozenset(analyse(unquoted(message)).counts)
