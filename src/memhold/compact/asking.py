"""What the judge is shown: each memory with its UTC time, and nothing else. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from memhold.asking.prompts import Prompt, prompt
from memhold.compact.apply import TRUST
from memhold.compact.check import Source
from memhold.compact.contract import MERGE_MEMORIES
from memhold.compact.groups import lost
from memhold.ports.models import ChatRequest, ChatTurn
from memhold.text.compare import canonical_text
from memhold.values.records import Memory

__all__ = ["PURPOSE", "fits_pinned", "merge_prompt", "merge_request", "sources_of"]

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
        tool=MERGE_MEMORIES,
        max_tokens=MAX_ANSWER_TOKENS,
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


def sources_of(memories: Sequence[Memory]) -> tuple[Source, ...]:
    """The memories as the check sees them, in the order in which they were shown."""
    return tuple(
        Source(
            text=memory.text,
            at=memory.event_time,
            labels=memory.entities,
            lost=lost(memory),
            trust=TRUST.index(memory.trust),
        )
        for memory in memories
    )


def fits_pinned(memories: Sequence[Memory], text: str) -> bool:
    """Whether a merge leaves a pinned memory among these as it is."""
    return all(canonical_text(memory.text) == canonical_text(text) for memory in memories if memory.pinned)
