"""What messages say of a fact that a model read in them: whether the user said it, in which sentence, on which turn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.model import Message
from holdfast.pipeline.timeline import canonical_text

__all__ = ["Spoken", "spoken"]

_SENTENCE = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s*|\n+")
MAX_SENTENCE = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """`own_words`: the value stands in a message of the user; `sentence` is what stands around it there."""

    own_words: bool
    sentence: str
    turn: str | None


def spoken(sources: Sequence[Message], value: str) -> Spoken:
    """Look for a value in the user's own messages among its sources, letters alone deciding; the newest counts.

    A value that a model put into other words is not found, and then it is no own word of the user: what speaks against
    something told is kept apart rather than guessed.
    """
    wanted = canonical_text(value).casefold()
    own = [message for message in sources if message.role == "user"]
    turn = f"said:{sources[-1].id}" if sources else None
    for message in reversed(own):
        for sentence in _SENTENCE.split(message.text):
            if wanted in canonical_text(sentence).casefold():
                return Spoken(own_words=True, sentence=sentence[:MAX_SENTENCE], turn=f"said:{message.id}")
    return Spoken(own_words=False, sentence="", turn=turn)
