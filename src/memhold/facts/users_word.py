"""Whether lines that the user typed say what an agent states, or what a model made of them: then it is their word."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from memhold.facts.keys import wording
from memhold.facts.plans import of_a_time, untold
from memhold.facts.quotes import MAX_SENTENCE, says, spoken
from memhold.journal.visibility import sees
from memhold.messages.fences import unquoted
from memhold.messages.records import typed
from memhold.ports.transaction import ReadTx
from memhold.text.analysis import analyse
from memhold.text.details import content_terms
from memhold.text.negation import negates
from memhold.text.own_words import own_sentences, without_quotes
from memhold.text.sentences import is_asked
from memhold.values.names import folded
from memhold.values.origins import from_user
from memhold.values.records import Memory, Message

__all__ = ["LOOKED_AT", "reworded", "said_by_user"]

LOOKED_AT = 2_000
"""Most documents, the newest ones, in which a line of the user's is looked for."""
_BRINGS_IN = re.compile(r"(?<!\d)[:\uff1a](?=\s*+\w)")
_CHANGES = frozenset({"replace", "correct"})
_ENDS = frozenset({"end", "replace", "correct"})


def said_by_user(
    tx: ReadTx, attribute: str, value: str, operation: Literal["set", "add", "remove"], *, after: datetime
) -> Message | None:
    """The newest line of the user's, said after a time, that says this of the attribute; None where none plainly does.

    A line says it where one sentence holds the value and either a word of the attribute or words of change ("moved",
    "instead"), and neither asks nor denies nor tells of a plan or a wish. What is only near is left for a person
    (`suspicions`).
    """
    ahead = operation == "remove" or of_a_time("user", attribute)
    first = max(-1, tx.document_count() - LOOKED_AT - 1)
    found = [
        item
        for item, hidden in tx.documents(after=first, limit=LOOKED_AT)
        if isinstance(item, Message) and not hidden and item.event_time > after
    ]
    for message in reversed(found):
        if message.written_by == "user" and sees(tx.scope, message):
            heard = spoken([message], value)
            sentence = heard.sentence[:MAX_SENTENCE]
            if not heard.own_words or not _says(sentence, attribute, operation):
                continue
            said, ends = message.event_time.date(), operation == "remove"
            if not ahead or untold([sentence], value, said, ends=ends) is None:
                return message
    return None


def reworded(tx: ReadTx, memories: Iterable[Memory]) -> frozenset[str]:
    """The ids of those memories that a model made in other words than a person's: none may stand in a system message.

    In the user's own words is a fact whose value and each content word of whose subject and attribute stand in a line
    that they typed, outside what it asks, quotes, pastes, or brings in by a colon; of another memory each content word
    does. So it is of another person's, and their line.
    """
    made = [one for one in memories if one.origin == "model" and one.last_confirmed_at is None and from_user(one)]
    lines = {one.id: one for one in typed(tx.find_messages(sorted({source for one in made for source in one.sources})))}
    own = {one.id: [lines[source] for source in one.sources if source in lines] for one in made}
    return frozenset(one.id for one in made if not any(_worded(one, line) for line in own[one.id]))


def _own(message: Message) -> str:
    text = unquoted(message).removeprefix(f"{message.speaker}: ")
    bare = without_quotes(_BRINGS_IN.split(text, maxsplit=1)[0])
    said = (span.of(bare) for span in own_sentences(bare))
    return "\n".join(one for one in said if not is_asked(one))


def _worded(memory: Memory, message: Message) -> bool:
    name = folded(memory.speaker or "")
    if message.written_by != "user" and folded(message.speaker or "") != name:
        return False
    line = _own(message)
    if memory.kind != "fact":
        return content_terms(memory.text) <= content_terms(line)
    subject = "" if folded(memory.subject or "") in {"user", name} else memory.subject
    named = content_terms(f"{subject} {memory.attribute}")
    return says(memory.value or "", line) and named <= content_terms(line)


def _says(sentence: str, attribute: str, operation: Literal["set", "add", "remove"]) -> bool:
    if is_asked(sentence):
        return False
    change = wording(sentence)
    if operation == "remove":
        return change in _ENDS or negates(sentence)
    if negates(sentence):
        return False
    return change in _CHANGES or not analyse(attribute).counts.keys().isdisjoint(analyse(sentence).counts)
