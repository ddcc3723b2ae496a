"""What the judge is shown: each memory with its UTC time, and nothing else. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from memhold.asking.prompts import Prompt, prompt
from memhold.compact.contract import merge_memories
from memhold.ports.models import ChatReply, ChatRequest, ChatTurn
from memhold.values.records import Memory

__all__ = ["PURPOSE", "again", "merge_prompt", "merge_request"]

PURPOSE = "compaction"
MAX_ANSWER_TOKENS = 4_096


def merge_prompt() -> Prompt:
    """The shipped prompt; its version is kept with what it made."""
    return prompt("merge_memories")


def merge_request(memories: Sequence[Memory]) -> ChatRequest:
    """One call about some memories, oldest first."""
    lines = "\n".join(_line(place, memory) for place, memory in enumerate(memories, 1))
    return ChatRequest(
        system=merge_prompt().text,
        turns=(ChatTurn(role="user", text=f"The memories:\n\n{lines}"),),
        purpose=PURPOSE,
        tool=merge_memories(len(memories)),
        max_tokens=MAX_ANSWER_TOKENS,
        temperature=0.0,
    )


def again(request: ChatRequest, reply: ChatReply, reasons: Sequence[str]) -> ChatRequest:
    """The same conversation, going on: why the texts of its answer were refused."""
    said = json.dumps([call.arguments for call in reply.tool_calls], ensure_ascii=False, default=str)
    asked = (
        "These texts are refused: "
        + "; ".join(reasons)
        + ". Call merge_memories once more with the same groups: write these texts anew, or leave them empty."
    )
    turns = (
        ChatTurn(role="assistant", text=said if reply.tool_calls else reply.text),
        ChatTurn(role="user", text=asked),
    )
    return replace(request, turns=(*request.turns, *turns))


def _line(place: int, memory: Memory) -> str:
    """A memory; what goes on below it is indented, so that no text writes a line of another id."""
    pinned = ", pinned" if memory.pinned else ""
    body = memory.text.replace("\r", "\n").replace("\n", "\n  ")
    labels = [
        f"\n  {name}: {', '.join(given)}"
        for name, given in (("topics", memory.topics), ("entities", memory.entities))
        if given
    ]
    return f"[s{place}] ({memory.event_time:%Y-%m-%d %H:%M} UTC{pinned}) {body}{''.join(labels)}"
