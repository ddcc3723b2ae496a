"""Memory in the prompt: lines with dates and sources, in fences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from memhold.context.strategies import SlotName
from memhold.facts.outdated import Outdated
from memhold.messages.fences import NOTICE, STANDING_NOTICE, Fence, fence, unquoted
from memhold.recall.excerpt import GAP, Asked, excerpt
from memhold.text.token_estimate import Count, estimate_tokens
from memhold.values.origins import name_of, shown_name, spoken_by, with_quote
from memhold.values.records import Memory, Message, Origin

__all__ = ["BRIEF_TOKENS", "LINE_TOKENS", "Entry", "Line", "memory_entry", "message_entry", "rendered", "short_day"]

LINE_TOKENS = 400
"""Longest line, in tokens: one memory does not push out all others; the rest of it is a `get` away."""
BRIEF_TOKENS = 160
"""What an entry shows first, in tokens: most messages are whole in that."""
CORRECTION_TOKENS = 100
"""Longest line of a correction, in tokens: they are never dropped, so they are kept short."""
MOST_ENDED, VALUE_CHARS = 2, 24
"""Of a line at most so many values are told that hold no longer, and so many characters of each."""

_TOLD: dict[Origin, str] = {
    "user": "Told by the user",
    "agent": "Noted by the assistant",
    "tool": "Noted by a tool",
    "import": "Imported",
    "rules": "Found by rules",
    "model": "Learned from the conversation",
}
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_YEAR = len(" 2026:")
_GAPS = re.compile(r"(?<!\s)\s*+…[\s…]*+")
_HEADINGS: dict[SlotName, str] = {
    "corrections": "Corrected by the user (these hold, whatever was said before):",
    "instructions": "The user's stated preferences (the later one holds):",
    "profile": "Known of the user:",
    "summaries": "Earlier conversation, in summary:",
    "documents": "From documents:",
    "messages": "Said earlier (UTC):",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One memory or message as it stands in a fence: its id, its place in the stable order, its text and its cost.

    Lines of one `heading` stand below it, once, and of them those of one `day`. `whole` tells that nothing of it is
    left out.
    """

    id: str
    number: int
    text: str
    cost: int
    heading: str
    day: str = ""
    whole: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Something that may be told: `cut` gives it as a line whose text has about so many tokens, the more the more.

    Parts of one message have its id and each a `number`. What a shorter line shows stands in a longer one. `own` tells
    that it is by the writer whose words are asked for; `rests_on` names the messages that a memory quotes.
    """

    id: str
    number: int
    slot: SlotName
    cut: Callable[[int], Line]
    own: bool = True
    rests_on: tuple[str, ...] = ()

    @property
    def whole(self) -> Line:
        """The longest line that it may have."""
        return self.cut(LINE_TOKENS)


def memory_entry(
    memory: Memory, slot: SlotName, asked: Asked, past: Outdated | None = None, *, count: Count = estimate_tokens
) -> Entry:
    """A memory below its day and the heading of who brought it, with what of it holds no longer (`past`)."""
    doubt = "doubtful" if memory.doubtful else ""
    ended = _no_longer(past, since=memory.kind == "fact")
    said = _marked(shown_name("/".join(("", *memory.path)) or memory.speaker), ", ".join(filter(None, (doubt, ended))))
    heading = _HEADINGS.get("summaries" if memory.kind in {"summary", "rollup"} else slot) or _source(memory)
    day = "" if memory.kind == "instruction" else _day(memory.event_time)  # a wish holds whenever it was said
    text = with_quote(memory, memory.text).strip()
    line = partial(_line, memory, (said, text), asked, heading=heading, day=day, count=count)
    rests_on = () if slot == "noted" else tuple(one.message_id for one in memory.quotes)  # that is told anyway
    return Entry(id=memory.id, number=memory.number, slot=slot, cut=line, rests_on=rests_on)


def message_entry(
    message: Message,
    asked: Asked,
    past: Outdated | None = None,
    *,
    told: Sequence[str] = (),
    answers: str = "",
    count: Count = estimate_tokens,
) -> Entry | None:
    """An earlier message below its day, with its speaker, without what it quotes itself.

    What of it holds no longer (`past`) stands in front, and so does the question that it `answers`, where it is too
    short to be understood alone. The clauses `told` stand elsewhere, and are left out; None where nothing else is said.
    The day of the week is there because people say "on Friday", and mean the one after they said it.
    """
    # The name stands where the role does.
    text = _without(unquoted(message).strip(), told).removeprefix(f"{message.speaker}: ")
    if not any(map(str.isalnum, text)):
        return None
    marks = ", ".join(filter(None, (_no_longer(past), f"asked “{answers}”" if answers else "")))
    said = _marked(spoken_by(message), marks)
    own = asked.writer in {None, message.written_by}
    day, heading = _day(message.event_time), _HEADINGS["messages"]
    line = partial(_line, message, (said, text), asked, heading=heading, day=day, count=count)
    return Entry(id=message.id, number=message.number, slot="messages", cut=line, own=own)


def _line(
    item: Memory | Message, said: tuple[str, str], asked: Asked, tokens: int, *, heading: str, day: str, count: Count
) -> Line:
    """As much of a text as fits, `said` with what stands before it."""
    before, text = said
    short = excerpt(text, tokens, asked, number=item.number, count=count)
    # Lines of a memory are set in, so that none of them can stand for an entry of its own.
    shown = "\n    ".join(f"{before}{short}".splitlines())
    cost, whole = count(shown), short == text
    return Line(id=item.id, number=item.number, text=shown, cost=cost, heading=heading, day=day, whole=whole)


def _marked(name: str, marks: str) -> str:
    """What stands before a text: who said it, and what a reader must know of it."""
    return f"- {name}{f' ({marks})' if marks else ''}{': ' if name else ' ' if marks else ''}"


def _day(at: datetime) -> str:
    return f"{_DAYS[at.weekday()]} {at.day} {_MONTHS[at.month - 1]} {at.year:04}:"


def _source(memory: Memory) -> str:
    """Who brought it, and whether the user said or confirmed it: nobody's note passes for the user's word."""
    source = _TOLD[memory.origin]
    brought = memory.origin in {"agent", "tool"}
    if brought:
        source += name_of(memory.actor)
    if brought and memory.trust == "user":
        source += ", from the user's words"
    elif not brought and memory.trust == "tool":
        source += ", from a tool's output"
    elif not (brought or memory.speaker or memory.origin == "import") and memory.trust == "assistant":
        source += ", said by the assistant"  # nobody saw who said that
    if memory.origin != "user" and memory.last_confirmed_at is not None:
        return f"{source}, confirmed by the user:"
    return f"{source}, not confirmed:" if brought else f"{source}:"


def _no_longer(past: Outdated | None, *, since: bool = False) -> str:
    """That a text says what holds no longer, and what holds now, or which value it is that nothing replaced.

    With `since` both and the day: of a fact that ended, which only a question about then finds.
    """
    ended = () if past is None else past.values[:MOST_ENDED]
    if since:
        told = [
            f"{_short(one.value)} since {one.since:%Y-%m-%d}{f' (now {_short(one.now)})' if one.now else ''}"
            for one in ended
        ]
    else:
        told = [f"now {_short(one.now)}" if one.now else _short(one.value) for one in ended]
    return f"no longer so: {'; '.join(told)}" if told else ""


def _short(value: str) -> str:
    flat = " ".join(value.split())
    return flat if len(flat) <= VALUE_CHARS else f"{flat[:VALUE_CHARS]}\u2026"


def _without(text: str, told: Sequence[str]) -> str:
    """A text with some of its clauses left out; empty where no word is left."""
    left = text
    for clause in told:
        left = left.replace(clause, GAP)
    return text if left == text else _GAPS.sub(GAP, left).strip()


def short_day(day: str) -> str:
    """The heading of a day below one of the same year: each digit is a token, and the year stands above."""
    return f"{day[:-_YEAR]}:"


def rendered(
    lines: Iterable[Line], *, secret: bytes, instructs: bool = False, title: str | None = None
) -> Fence | None:
    """The lines in one fence below their headings, each heading's in the order of their numbers; None without lines.

    A `title` stands in front: of whose memory they are, where that is another's. Headings stand in the order in which
    the lines come. Equal lines give equal text, so that what did not change keeps a provider's prompt cache.
    """
    below: dict[str, list[Line]] = {}
    for line in lines:
        below.setdefault(line.heading, []).append(line)
    told, ids = [] if title is None else [title], list[str]()
    for heading, held in below.items():
        told.append(heading)
        day = ""
        for line in sorted(held, key=lambda one: one.number):
            if line.day != day:
                told.append(line.day if line.day[-_YEAR:] != day[-_YEAR:] else short_day(line.day))
                day = line.day
            ids.append(line.id)
            told.append(line.text)
    return fence(ids, told, secret=secret, notice=STANDING_NOTICE if instructs else NOTICE) if below else None
