"""Memory in the prompt: numbered lines with dates and sources, in fences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memhold.context.shorten import shorten_text
from memhold.context.strategies import SlotName
from memhold.messages.fences import fence, unquoted
from memhold.text.token_estimate import Count, estimate_tokens
from memhold.values.records import Memory, Message, Origin

__all__ = ["Line", "memory_line", "message_line", "rendered"]

LINE_TOKENS = 400
"""Longest line, in tokens: one memory does not push out all others; the rest of it is a `get` away."""
CORRECTION_TOKENS = 100
"""Longest line of a correction, in tokens: they are never dropped, so they are kept short."""

_TOLD: dict[Origin, str] = {
    "user": "told by the user",
    "model": "learned from the conversation",
    "rules": "found by rules",
    "import": "imported",
}
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_HEADINGS: dict[SlotName, str] = {
    "corrections": "Corrected by the user (these hold, whatever was said before):",
    "profile": "Known of the user:",
    "summaries": "Earlier conversation, in summary:",
    "memories": "Remembered, and perhaps related to the newest message:",
    "messages": "Said earlier, and perhaps related to the newest message (times are UTC):",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One memory or message as a line of a fence: its id, its place in the stable order, its text and its cost."""

    id: str
    number: int
    text: str
    cost: int


def _line(item: str, number: int, said: str, text: str, tokens: int, count: Count) -> Line:
    handle = item if item.startswith("msg_") else None
    short = shorten_text(text.strip(), tokens, handle=handle, count=count)
    # Lines of a memory are set in, so that none of them can stand for an entry of its own.
    whole = "\n    ".join(f"({said}) {short}".splitlines())
    # An id of hexadecimal digits costs about three quarters of its characters; the whole is measured in the end.
    return Line(id=item, number=number, text=whole, cost=count(whole) + len(item) * 3 // 4)


def memory_line(memory: Memory, *, tokens: int = LINE_TOKENS, count: Count = estimate_tokens) -> Line:
    """A memory with the day that it speaks of and where it came from."""
    source = _TOLD[memory.origin]
    if memory.trust == "tool":
        source += ", from a tool's output"
    elif memory.trust == "assistant":
        source += ", said by the assistant"
    return _line(memory.id, memory.number, f"{memory.event_time:%Y-%m-%d}, {source}", memory.text, tokens, count)


def message_line(message: Message, *, count: Count = estimate_tokens) -> Line:
    """An earlier message with its time, its speaker and its session, without what it quotes itself.

    The day of the week stands there because people say "on Friday", and mean the one after they said it.
    """
    where = f" in session {message.session}" if message.session else ""
    at = message.event_time
    said = f"{_DAYS[at.weekday()]} {at:%Y-%m-%d %H:%M}, {message.role}{where}"
    return _line(message.id, message.number, said, unquoted(message), LINE_TOKENS, count)


def rendered(slots: Sequence[tuple[SlotName, Sequence[Line]]], *, secret: bytes) -> str:
    """The lines of some slots in one fence, in the order of their numbers; empty where there are none.

    Equal lines give equal text, so that what did not change keeps a provider's prompt cache.
    """
    ids: list[str] = []
    lines: list[str] = []
    for name, held in slots:
        if not held:
            continue
        lines.append(_HEADINGS[name])
        for line in sorted(held, key=lambda one: one.number):
            ids.append(line.id)
            lines.append(f"{len(ids)}. {line.text}")
    return fence("memory", ids, lines, secret=secret).text if lines else ""
