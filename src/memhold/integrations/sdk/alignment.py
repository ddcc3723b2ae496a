"""Which messages of a request are new: a program sends its whole history with each, and each is kept once.

Pure. Messages are known again by marks. A user's or a tool's is known by its words; the assistant's by where it stands,
behind what it answers: a program may keep another form of a reply than the one that the model gave.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from hashlib import blake2b

from memhold.integrations.sdk.api import Body
from memhold.messages.shapes import read_message
from memhold.values.errors import InvalidMessage

__all__ = ["Mark", "kept_of", "marks", "marks_of_said", "stands_in"]

Mark = bytes


def marks(messages: Iterable[Body]) -> list[Mark]:
    """The marks of messages in the order in which they were said."""
    return marks_of_said((str(one.get("role")), _text(one)) for one in messages)


def marks_of_said(said: Iterable[tuple[str, str]]) -> list[Mark]:
    """The marks of roles with texts, as the journal has them."""
    found: list[Mark] = []
    before = b""
    for role, text in said:
        if role == "assistant":
            found.append(_digest("assistant", before))
        else:
            before = _digest(role, text.encode(errors="surrogatepass"))
            found.append(before)
    return found


def kept_of(kept: Sequence[Mark], sent: Sequence[Mark]) -> int:
    """How many of the messages that were sent, from the first on, are kept already; what stands behind them is new.

    Usually the sent ones continue what is kept, whole or cut in front. Else (an answer is asked for again, or a former
    turn was written anew) everything up to the last turn that stands in both is kept; a request without any earlier
    turn is then new, though the same words were said before. A history that begins as the conversation did, and goes on
    with it for longer than its end repeats its beginning ("yes" as the first and the last turn), is the whole one.
    """
    most = min(len(kept), len(sent))
    begun = next((at for at in range(most) if kept[at] != sent[at]), most)
    for length in range(most, 0, -1):
        if kept[-length:] == sent[:length]:
            # Two at least: the one message that a call adds may be the same as it was the first time.
            return begun if begun >= length + 2 else length
    both = SequenceMatcher(None, kept, sent, autojunk=False).get_matching_blocks()
    end = max((block.b + block.size for block in both if block.size), default=0)
    return end if end > 1 else 0


def stands_in(kept: Sequence[Mark], part: Sequence[Mark]) -> bool:
    """Whether the messages stand among what is kept, one behind the other."""
    size = len(part)
    return any(list(kept[at : at + size]) == list(part) for at in range(len(kept) - size + 1))


def _text(message: Body) -> str:
    try:
        return read_message(message).text
    except InvalidMessage:
        return str(message.get("content"))


def _digest(role: str, what: bytes) -> Mark:
    return blake2b(what, digest_size=12, person=role.encode()[:16]).digest()
