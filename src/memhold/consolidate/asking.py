"""What a model is shown: the prompt with its version, the facts that may be touched, and the window's lines. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from memhold.asking.prompts import prompt
from memhold.asking.room import LEAST_ANSWER_TOKENS
from memhold.consolidate.contract import Frame, save_memory
from memhold.consolidate.snapshot import shown
from memhold.consolidate.turns import in_turns, joined
from memhold.consolidate.weighing import Shown
from memhold.fidelity.values import Line
from memhold.journal.windows import Part, Piece, calls_of
from memhold.messages.fences import unquoted
from memhold.messages.records import records_of
from memhold.ports.models import ChatRequest, ChatTurn, Steps
from memhold.text.token_estimate import estimate_tokens
from memhold.values.origins import told_by
from memhold.values.records import Memory, Message, WrittenBy

__all__ = ["frame_of", "lines_of", "only_recalled", "pieces_of", "quoted_in", "request"]

MAX_ANSWER_TOKENS = 4_096
PURPOSE = "consolidation"
RECALLED = "(recalled memory)"
MAX_SPEAKER = 60
"""Characters of a speaker's name that a line shows."""
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MARKS = str.maketrans("[]", "()")
OWN_TOOLS = frozenset({"recall", "get_context", "memory_history", "memory_status"})
"""Memhold's own tools whose results are recalled text as a whole."""


def pieces_of(messages: Sequence[Message], *, tool_chars: int) -> list[Piece]:
    """What each writer wrote of each message, as a model reads it.

    Recalled text is left out, and of what tools returned or was attached the middle, where it is long.
    """
    recalled = _recalled(messages)
    found = []
    for number, message in enumerate(messages, 1):
        for record in records_of(message):
            text = unquoted(record) or (RECALLED if record.quotes else "")
            if record.written_by in {"tool", "attachment"}:
                text = RECALLED if message.id in recalled else _shortened(text, tool_chars)
            found.append(Piece(number=number, message=record, text=text))
    return found


def only_recalled(messages: Sequence[Message]) -> frozenset[str]:
    """The ids of messages that hold recalled text and say nothing themselves: nothing can be learnt from them."""
    recalled = _recalled(messages)
    return frozenset(
        message.id
        for message in messages
        if (message.quotes and not unquoted(message)) or (message.id in recalled and not message.typed)
    )


def quoted_in(messages: Sequence[Message]) -> tuple[str, ...]:
    """Every text in the window that came out of memory."""
    recalled = _recalled(messages)
    found: list[str] = []
    for message in messages:
        quotes = [message.text[quote.start : quote.end] for quote in message.quotes]
        found += [message.text] if message.id in recalled else quotes
    return tuple(found)


def _recalled(messages: Sequence[Message]) -> frozenset[str]:
    """Results of Memhold's own tools, by the call before them that they answer."""
    own: set[str] = set()
    found: set[str] = set()
    for message in messages:
        if message.tool_calls:
            ids = [str(call.get("id", "")) for call in message.tool_calls]
            own = {one for one, (name, _) in zip(ids, calls_of(message), strict=True) if name in OWN_TOOLS}
        elif message.tool_call_id in own or (own and own == _answered(message)):
            found.add(message.id)
    return frozenset(found)


def _answered(message: Message) -> set[str]:
    blocks = message.body.get("content")
    held = blocks if isinstance(blocks, list) else []
    return {str(b.get("tool_use_id", "")) for b in held if isinstance(b, Mapping) and b.get("type") == "tool_result"}


def _shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    head, tail = most * 3 // 4, most // 4
    return f"{text[:head]}\n(… {len(text) - head - tail} characters left out …)\n{text[-tail:]}"


def request(part: Part, known: Sequence[Memory], *, place: int = 1, of: int = 1) -> ChatRequest:
    """One call for one part of a window."""
    facts = [f"[f{number}] {shown(fact)}" for number, fact in enumerate(known, 1)]
    head = (
        "Known facts (id, subject, attribute, value), for `target` only:\n" + "\n".join(facts)
        if facts
        else "No facts are known yet."
    )
    split = f"\n\nThis is part {place} of {of} of one conversation." if of > 1 else ""
    lines = "\n".join(_line(piece) for piece in part.pieces)
    text = f"{head}{split}\n\nThe conversation:\n\n{lines}"
    return ChatRequest(
        steps=Steps(requests=in_turns(part, PURPOSE), joined=partial(joined, part)),
        system=prompt().text,
        turns=(ChatTurn(role="user", text=text),),
        purpose=PURPOSE,
        tool=save_memory(sorted({piece.number for piece in part.pieces}), len(known)),
        max_tokens=min(MAX_ANSWER_TOKENS, max(LEAST_ANSWER_TOKENS, estimate_tokens(lines))),
        temperature=0.0,
    )


def _line(piece: Piece) -> str:
    """A line; what goes on below it is indented, so that nobody writes a line of another id."""
    message = piece.message
    moment = f"{_DAYS[message.event_time.weekday()]} {message.event_time:%Y-%m-%d %H:%M}"
    text = piece.text.removeprefix(f"{message.speaker}: ") if message.speaker else piece.text
    body = text.replace("\r", "\n").replace("\n", "\n  ")
    return f"[m{piece.number} {moment} {told_by(message)}{_named(message)}] {body}"


def _named(message: Message) -> str:
    """The name of whoever speaks, behind a space; it could be anything, so it can end neither the mark nor the line."""
    name = " ".join((message.speaker or "").translate(_MARKS).split())[:MAX_SPEAKER]
    return f" {name}" if name else ""


def lines_of(part: Part) -> list[Shown]:
    """The lines of a part as what a reply must quote: of a message one for each of its writers."""
    texts: dict[tuple[int, WrittenBy], list[str]] = {}
    messages: dict[tuple[int, WrittenBy], Message] = {}
    for piece in part.pieces:
        line = piece.number, piece.message.written_by
        texts.setdefault(line, []).append(piece.text)
        messages[line] = piece.message
    return [
        Shown(
            place=place,
            line=Line(
                text="".join(texts[place, writer]),
                written_by=writer,
                at=message.event_time,
                speaker=message.speaker or "",
            ),
        )
        for (place, writer), message in messages.items()
        if texts[place, writer] != [RECALLED]
    ]


def frame_of(part: Part, known: Sequence[Memory], quoted: Sequence[str]) -> Frame:
    """What a reply to that request is checked against."""
    return Frame(places=frozenset(p.number for p in part.pieces), known=len(known), quoted=tuple(quoted))
