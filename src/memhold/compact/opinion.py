"""What a second model is asked of a merged text: whether it loses or adds anything. One tool, read strictly. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memhold.asking.prompts import prompt
from memhold.asking.replies import Fault, arguments_of
from memhold.compact.asking import PURPOSE
from memhold.ports.models import ChatReply, ChatRequest, ChatTurn, Rejected, Tool
from memhold.values.records import Memory

__all__ = ["CHECK_MERGE", "Opinion", "opinion_request", "read_opinion"]

MAX_ANSWER_TOKENS = 1_024
CHECK_MERGE: Final = Tool(
    name="check_merge",
    description="Say whether a text tells these memories without losing or adding anything.",
    parameters={
        "type": "object",
        "properties": {
            "loses": {"type": "array", "items": {"type": "string"}, "description": "what still holds and is not told"},
            "adds": {"type": "array", "items": {"type": "string"}, "description": "what is told and no memory says"},
        },
        "required": ["loses", "adds"],
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """What another model says of a text."""

    fair: bool


def opinion_request(memories: Sequence[Memory], text: str) -> ChatRequest:
    """One call about one text and the memories that it would stand for, oldest first."""
    lines = "\n".join(
        f"[s{place}] ({memory.event_time:%Y-%m-%d %H:%M} UTC) {_indented(memory.text)}"
        for place, memory in enumerate(memories, 1)
    )
    return ChatRequest(
        system=prompt("check_merge").text,
        turns=(ChatTurn(role="user", text=f"The memories:\n\n{lines}\n\nThe text:\n\n  {_indented(text)}"),),
        purpose=PURPOSE,
        tool=CHECK_MERGE,
        max_tokens=MAX_ANSWER_TOKENS,
        temperature=0.0,
    )


def _indented(text: str) -> str:
    return text.replace("\r", "\n").replace("\n", "\n  ")


def read_opinion(reply: ChatReply) -> Opinion | Rejected:
    """The opinion that a reply holds, or the shape of why it holds none."""
    try:
        given = arguments_of(reply, CHECK_MERGE)
        found = [_listed(given.get(name)) for name in ("loses", "adds")]
    except Fault as fault:
        return Rejected(reason=str(fault), refused=fault.refused)
    return Opinion(fair=not any(found))


def _listed(value: object) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise Fault("what is lost or added is no list")
    return [one for one in value if isinstance(one, str) and one.strip()]
