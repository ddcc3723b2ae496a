"""What the judge is shown: each memory with its UTC time, and nothing else. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from memhold.asking.prompts import Prompt, prompt
from memhold.compact.contract import merge_memories
from memhold.ports.models import ChatRequest, ChatTurn
from memhold.values.records import Memory

__all__ = ["PURPOSE", "merge_prompt", "merge_request"]

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
