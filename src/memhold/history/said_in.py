"""Whether a line says what a memory says: how forgetting finds what was learnt from a line that was not cited. Pure."""

from __future__ import annotations

from memhold.facts.quotes import spoken
from memhold.messages.fences import unquoted
from memhold.text.analysis import analyse
from memhold.text.function_words import EVIDENCE
from memhold.values.records import Memory, Message

__all__ = ["says"]

_VALUE = " = "
"""What stands in front of the value in a fact that was kept as a note."""


def says(message: Message, memory: Memory) -> bool:
    """Whether the words of a fact's value, or all content words of a note, stand in a line, whoever spoke.

    What the line itself quotes from this store does not count: it is no evidence, and is erased apart.
    """
    if memory.kind == "fact":
        return spoken([message], memory.value or "").own_words
    text = memory.text
    if memory.metadata.get("standing") == "inferred" and _VALUE in text:
        return spoken([message], text.rpartition(_VALUE)[2]).own_words
    wanted = {term for term in analyse(text).counts if term not in EVIDENCE}
    return bool(wanted) and wanted <= analyse(unquoted(message)).counts.keys()
