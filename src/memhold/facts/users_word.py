"""Whether a line of the user's own in the journal says what an agent states: then it is the user's word after all."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from memhold.facts.keys import wording
from memhold.facts.plans import of_a_time, planned
from memhold.facts.quotes import MAX_SENTENCE, spoken
from memhold.journal.visibility import sees
from memhold.journal.windows import begins_turn
from memhold.ports.transaction import ReadTx
from memhold.text.analysis import analyse
from memhold.text.negation import negates
from memhold.values.origins import users_line
from memhold.values.records import Message

__all__ = ["LOOKED_AT", "said_by_user"]

LOOKED_AT = 2_000
"""Most documents, the newest ones, in which a line of the user's is looked for."""
_CHANGES = frozenset({"replace", "correct"})
_ENDS = frozenset({"end", "replace", "correct"})


def said_by_user(
    tx: ReadTx, attribute: str, value: str, operation: Literal["set", "add", "remove"], *, after: datetime
) -> Message | None:
    """The newest line of the user's, said after a time, that says this of the attribute; None where none plainly does.

    A line says it where one sentence holds the value and either a word of the attribute or words of change ("moved",
    "instead"), and neither asks nor denies nor tells of a plan. What is only near is left for a person (`suspicions`).
    """
    ahead = operation == "remove" or of_a_time("user", attribute) is not None
    first = max(-1, tx.document_count() - LOOKED_AT - 1)
    found = [
        item
        for item, hidden in tx.documents(after=first, limit=LOOKED_AT)
        if isinstance(item, Message) and not hidden and item.event_time > after
    ]
    for message in reversed(found):
        if users_line(message) and begins_turn(message) and sees(tx.scope, message):
            heard = spoken([message], value)
            sentence = heard.sentence[:MAX_SENTENCE]
            if heard.own_words and _says(sentence, attribute, operation) and not (ahead and planned([sentence], value)):
                return message
    return None


def _says(sentence: str, attribute: str, operation: Literal["set", "add", "remove"]) -> bool:
    if sentence.rstrip().endswith(("?", "\uff1f", "\u061f")):
        return False
    change = wording(sentence)
    if operation == "remove":
        return change in _ENDS or negates(sentence)
    if negates(sentence):
        return False
    return change in _CHANGES or not analyse(attribute).counts.keys().isdisjoint(analyse(sentence).counts)
