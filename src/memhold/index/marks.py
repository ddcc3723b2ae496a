"""Terms of the words index that mark a message: who said it, whether it asks, whether it tells of a change."""

from __future__ import annotations

from collections.abc import Mapping

from memhold.text.analysis import analyse
from memhold.text.change import BRIEF, changes, word_count
from memhold.text.coming import changes_later
from memhold.text.person import person_of
from memhold.text.sentences import sentences
from memhold.values.records import ABANDONED, Message

__all__ = [
    "ASKING",
    "CHANGED",
    "FORMER",
    "GIVEN_UP",
    "NAMED",
    "QUESTION_MARKS",
    "SHORT",
    "SPEAKER",
    "asks",
    "given_up",
    "said_by",
    "tells_of_change",
]

SPEAKER = "\x02by:"
"""Prefix of the term that says who said a message; no text has it, since terms hold no control characters."""


GIVEN_UP = "\x02givenup"
"""The term of a message of a branch that was given up: the conversation was taken back to before it."""

NAMED = "\x02named"
"""The term of a message whose speaker has a name."""

ASKING = "\x02asks"
"""The term of a message with a question mark; it stands there twice where the message ends with it."""


CHANGED = "\x02changed"
"""The term of a message of the user's with a word of change; it stands there twice where the message is short and says
so in a short sentence."""

FORMER = "\x02claims"
"""A term that earlier versions gave some messages. Nothing asks for it, and an index that is built anew has none."""

SHORT = 60
"""Words up to which a message is short: it tells of one or two things."""

QUESTION_MARKS = frozenset("?\uff1f\u061f\u2047\u2048\u203d\ufe56")


_MOST_NOTES = 8
"""So many notes in square brackets (a picture's caption) may stand behind a question."""


def said_by(name: object) -> Mapping[str, int]:
    """The terms that say who said a message, for the words index; none where no name was given."""
    if not isinstance(name, str) or not name:
        return {}
    return dict.fromkeys((NAMED, *(SPEAKER + term for term in analyse(name).counts)), 1)


def given_up(metadata: Mapping[str, object]) -> Mapping[str, int]:
    """The term that says that a conversation went on without this message, as the transcript that brought it says."""
    return {GIVEN_UP: 1} if metadata.get(ABANDONED) is True else {}


def asks(text: str) -> Mapping[str, int]:
    """The term that says that a message asks, for the words index: once, or twice where it ends with the question.

    Told by the question mark, which most languages share; a language that writes none is taken to state.
    """
    if QUESTION_MARKS.isdisjoint(text):
        return {}
    rest = text.rstrip()
    for _ in range(_MOST_NOTES):
        if not rest.endswith("]"):
            break
        rest = rest[: max(rest.rfind("["), 0)].rstrip()
    last = next((char for char in reversed(rest) if char.isalnum() or char in QUESTION_MARKS), "")
    return {ASKING: 2 if last in QUESTION_MARKS else 1}


def tells_of_change(message: Message, text: str) -> Mapping[str, int]:
    """The term that says that a person tells of a change, for the words index; nobody else's word changes anything."""
    if not message.typed or not changes(text):
        return {}
    if word_count(text) > SHORT:
        return {CHANGED: 1}
    said = [one for span in sentences(text) if not span.code and changes(one := span.of(text))]
    # A plan of one's own changes nothing yet: "I'm moving to Bergen next spring" is no news of where somebody lives.
    now = [one for one in said if not (changes_later(one) and person_of(one).first)]
    if said and not now:
        return {}
    return {CHANGED: 2 if any(word_count(one) <= BRIEF for one in now) else 1}
