"""Whether a line says what a memory says: how forgetting finds what was learnt from a line that was not cited. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from memhold.facts.quotes import spoken
from memhold.messages.fences import unquoted
from memhold.text.analysis import analyse
from memhold.text.function_words import EVIDENCE
from memhold.values.records import INFERRED, Memory, Message

__all__ = ["guessed_from", "says"]

_VALUE = ": "
"""What stands in front of the value in a fact that was kept as a note."""


def says(message: Message, memory: Memory) -> bool:
    """Whether the words of a fact's value, or all content words of a note, stand in a line, whoever spoke.

    What the line itself quotes from this store does not count: it is no evidence, and is erased apart.
    """
    if memory.kind == "fact":
        return spoken([message], memory.value or "").own_words
    guess = _guess(memory)
    wanted = _content(memory.text if guess is None else guess)
    return bool(wanted) and wanted <= _words(message)


def guessed_from(memory: Memory, going: Iterable[Message], staying: Iterable[Message]) -> bool:
    """Whether what was only inferred has a word of a line that goes which none of its window's lines that stay has.

    Nobody said it, so no line has to say all of it: the word came from there, whichever line the model named.
    """
    guess = _guess(memory)
    if guess is None:
        return False
    wanted = _content(guess).difference(*map(_words, staying))
    return any(not wanted.isdisjoint(_words(line)) for line in going)


def _guess(memory: Memory) -> str | None:
    """What a note concluded, of a fact that was kept as one its value alone; None where it was not only inferred."""
    if not memory.doubtful:
        return None
    text = memory.text.removeprefix(INFERRED).lstrip()
    return text.partition(_VALUE)[2] or text


def _content(text: str) -> set[str]:
    return {term for term in analyse(text).counts if term not in EVIDENCE}


def _words(message: Message) -> frozenset[str]:
    return frozenset(analyse(unquoted(message)).counts)
