"""Memory in the prompt: lines with dates and sources, in fences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memhold.context.excerpt import GAP, Asked, excerpt, tells
from memhold.context.shorten import shorten_text
from memhold.context.strategies import SlotName
from memhold.facts.outdated import Outdated
from memhold.messages.fences import NOTICE, STANDING_NOTICE, Fence, fence, unquoted
from memhold.text.token_estimate import Count, estimate_tokens
from memhold.values.origins import name_of, shown_name, spoken_by
from memhold.values.records import Memory, Message, Origin

__all__ = ["Line", "memory_line", "message_line", "rendered", "short_day"]

LINE_TOKENS = 400
"""Longest line, in tokens: one memory does not push out all others; the rest of it is a `get` away."""
BRIEF_TOKENS = 48
"""An earlier message's brief form, in tokens: about two sentences."""
CORRECTION_TOKENS = 100
"""Longest line of a correction, in tokens: they are never dropped, so they are kept short."""
MOST_ENDED, VALUE_CHARS = 3, 60
"""Of a line at most so many values are told that hold no longer, and so many characters of each."""

_TOLD: dict[Origin, str] = {
    "user": "told by the user",
    "agent": "noted by the assistant",
    "tool": "noted by a tool",
    "import": "imported",
    "rules": "found by rules",
    "model": "learned from the conversation",
}
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_YEAR = len(" 2026:")
_GAPS = re.compile(r"(?<!\s)\s*+…[\s…]*+")
_HEADINGS: dict[SlotName, str] = {
    "corrections": "Corrected by the user (these hold, whatever was said before):",
    "instructions": "The user's stated preferences (the later one holds):",
    "profile": "Known of the user:",
    "noted": "Noted by others than the user, who has not confirmed it:",
    "summaries": "Earlier conversation, in summary:",
    "memories": "Remembered, perhaps related:",
    "messages": "Said earlier (UTC):",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One memory or message as an entry of a fence: its id, its place in the stable order, its text and its cost.

    Entries of one `day` stand below it, once. `stated` is the same message without what it asks in passing, `brief` the
    same in fewer sentences; `own` tells that it is by the writer whose words are asked for.
    """

    id: str
    number: int
    text: str
    cost: int
    day: str = ""
    stated: Line | None = None
    brief: Line | None = None
    own: bool = True


def _line(item: str, number: int, said: str, text: str, tokens: int, count: Count) -> Line:
    short = shorten_text(text.strip(), tokens, handle=item if item.startswith("msg_") else None, count=count)
    # Lines of a memory are set in, so that none of them can stand for an entry of its own.
    whole = "\n    ".join(f"{said}{short}".splitlines())
    return Line(id=item, number=number, text=whole, cost=count(whole))


def memory_line(
    memory: Memory, past: Outdated | None = None, *, tokens: int = LINE_TOKENS, count: Count = estimate_tokens
) -> Line:
    """A memory with the day that it speaks of, where it came from, and what of it holds no longer (`past`)."""
    if memory.kind == "instruction":  # a person's own words, whenever they were said
        name = shown_name(memory.speaker)
        return _line(memory.id, memory.number, f"- {name}: " if name else "- ", memory.text, tokens, count)
    said = f"- ({memory.event_time:%Y-%m-%d}, {_source(memory)}{_no_longer(past)}) "
    # What is doubtful is told with the words that it rests on: whoever reads it judges for themselves.
    text = f"{memory.text}; the words were: “{memory.quote}”" if memory.doubtful and memory.quote else memory.text
    return _line(memory.id, memory.number, said, text, tokens, count)


def _source(memory: Memory) -> str:
    """Who said it, and whether the user did or confirmed it: nobody's note passes for the user's word."""
    name = shown_name(memory.speaker)
    source = f"said by {name}" if name else _TOLD[memory.origin]
    brought = memory.origin in {"agent", "tool"}
    if brought:
        source += name_of(memory.actor)
    if brought and memory.trust == "user":
        source += ", from the user's words"
    elif not brought and memory.trust == "tool":
        source += ", from a tool's output"
    elif not (brought or name or memory.origin == "import") and memory.trust == "assistant":  # nobody saw who said that
        source += ", said by the assistant"
    if memory.doubtful:
        source += ", doubtful"
    if memory.origin != "user" and memory.last_confirmed_at is not None:
        return f"{source}, confirmed by the user"
    return f"{source}, not confirmed" if brought else source


def message_line(
    message: Message,
    asked: Asked | None = None,
    past: Outdated | None = None,
    *,
    told: Sequence[str] = (),
    count: Count = estimate_tokens,
) -> Line | None:
    """An earlier message with its day and its speaker, without what it quotes itself; `asked` makes it brief too.

    What of it holds no longer (`past`) stands in front. The clauses `told` stand elsewhere, and are left out; None
    where nothing else is said. The day of the week is there because people say "on Friday", and mean the one after they
    said it.
    """
    at = message.event_time
    said = f"- {spoken_by(message)}{_no_longer(past)}: "
    own_text = unquoted(message).strip()
    named = f"{message.speaker}: "  # it stands where the role does
    text = _without(own_text, told).removeprefix(named)
    if not any(map(str.isalnum, text)):
        return None
    day = f"{_DAYS[at.weekday()]} {at.day} {_MONTHS[at.month - 1]} {at.year:04}:"
    own = asked is None or asked.writer in {None, message.written_by}
    whole = replace(_line(message.id, message.number, said, text, LINE_TOKENS, count), day=day, own=own)
    if asked is None:
        return whole

    def less(text: str, tokens: int) -> Line | None:
        line = replace(_line("", message.number, said, text, tokens, count), id=message.id, day=day, own=own)
        return line if line.cost < whole.cost else None

    rest = tells(text, asked)
    stated = None if rest == text else less(rest, LINE_TOKENS)
    if whole.cost <= BRIEF_TOKENS:
        return replace(whole, stated=stated)
    short = _without(excerpt(own_text, BRIEF_TOKENS, asked, number=message.number, count=count), told) or text
    short = short.removeprefix(named)
    return replace(whole, stated=stated, brief=less(short, 2 * BRIEF_TOKENS))


def _no_longer(past: Outdated | None) -> str:
    """What a text says that holds no longer, since when, and what holds now."""
    values = () if past is None else past.values
    told = [
        f"{_short(one.value)} since {one.since:%Y-%m-%d}{f' (now {_short(one.now)})' if one.now else ''}"
        for one in values[:MOST_ENDED]
    ]
    return f", no longer so: {'; '.join(told)}" if told else ""


def _short(value: str) -> str:
    flat = " ".join(value.split())
    return flat if len(flat) <= VALUE_CHARS else f"{flat[:VALUE_CHARS]}\u2026"


def _without(text: str, told: Sequence[str]) -> str:
    """A text with some of its clauses left out; empty where no word is left."""
    for clause in told:
        text = text.replace(clause, GAP)
    return _GAPS.sub(GAP, text).strip() if any(map(str.isalnum, text)) else ""


def short_day(day: str) -> str:
    """The heading of a day below one of the same year: each digit is a token, and the year stands above."""
    return f"{day[:-_YEAR]}:"


def rendered(
    slots: Sequence[tuple[SlotName, Sequence[Line]]], *, secret: bytes, title: str | None = None
) -> Fence | None:
    """The lines of some slots in one fence, in the order of their numbers; None where there are none.

    A `title` stands in front: of whose memory they are, where that is another's.

    Equal lines give equal text, so that what did not change keeps a provider's prompt cache.
    """
    ids: list[str] = []
    lines: list[str] = []
    for name, held in slots:
        if not held:
            continue
        lines.append(_HEADINGS[name])
        day = ""
        for line in sorted(held, key=lambda one: one.number):
            if line.day != day:
                lines.append(line.day if line.day[-_YEAR:] != day[-_YEAR:] else short_day(line.day))
                day = line.day
            ids.append(line.id)
            lines.append(line.text)
    instructs = any(name == "instructions" and held for name, held in slots)
    told = lines if title is None else [title, *lines]
    return fence(ids, told, secret=secret, notice=STANDING_NOTICE if instructs else NOTICE) if lines else None
