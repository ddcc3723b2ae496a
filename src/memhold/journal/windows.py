"""When a session's messages are due, where a window may end, and how it is split for a small model. Pure."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from memhold.text.token_estimate import estimate_tokens
from memhold.values.records import Message, Session

__all__ = [
    "PART_TOKENS",
    "Part",
    "Piece",
    "When",
    "due_at",
    "kept_from",
    "parts",
    "skipped",
    "spoken",
    "weight",
    "window",
]

MAX_PARTS = 8
"""Most parts of one window; what lies behind them is the next window, so that a crash loses few answers."""
LONG_TURN = 4
"""Steps from which on one turn is searched for the step that no model takes."""
FRAME_TOKENS = 12
"""Tokens of a line's id and time."""
PART_TOKENS = 24_000
"""Largest part of a window that one call shows: a model of 32,000 tokens holds it with its reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """When windows are due, and how much of one is shown.

    `messages`, `idle` and `skip` are settings. Whichever of `messages` and `tokens` comes first makes a window due.
    `keep` of the last messages stay in the prompt, and more to whole turns. One call shows at most
    `part_tokens` tokens, with tool outputs cut to `tool_chars`; the journal keeps them whole.
    """

    messages: int = 20
    tokens: int = 8_000
    idle: timedelta = timedelta(minutes=30)
    keep: int = 8
    part_tokens: int = PART_TOKENS
    tool_chars: int = 4_000
    skip: tuple[str, ...] = ("memhold:*", "script:*", "cron:*")


def skipped(session: str, when: When) -> bool:
    """Whether a session of this name is never consolidated: a script's, or Memhold's own."""
    return _matches(session, when.skip)


@lru_cache(maxsize=1024)
def _matches(session: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(session, pattern) for pattern in patterns)


def due_at(session: Session, when: When, now: datetime) -> datetime | None:
    """When the session's waiting messages are due: now, when it has been idle for long enough, or never (None)."""
    waiting = session.last_seq - session.cursor
    if session.torn or session.asked > session.cursor:
        return now
    if waiting <= 0:
        return None
    if waiting >= when.messages or session.pending_tokens >= when.tokens:
        return now
    return session.last_at + when.idle


def weight(messages: Sequence[Message]) -> int:
    """What messages weigh against `When.tokens`: a quarter of their UTF-8 bytes, and 8 each."""
    return sum(len(message.text.encode("utf-8", "surrogatepass")) // 4 + 8 for message in spoken(messages))


def spoken(messages: Iterable[Message]) -> list[Message]:
    """The turns of a conversation: its messages without the items that nobody reads."""
    return [message for message in messages if not message.opaque]


# --------------------------------------------------------------------------------------------- legal places


def is_result(message: Message) -> bool:
    """Whether the message only answers calls."""
    if message.role in {"tool", "function"}:
        return True
    blocks = message.body.get("content")
    if message.shape != "anthropic" or message.role != "user" or not isinstance(blocks, list) or not blocks:
        return False
    return any(isinstance(b, Mapping) and b.get("type") == "tool_result" for b in blocks)


def begins_turn(message: Message) -> bool:
    """Whether a person speaks, in a message that answers no call: a turn begins here."""
    return message.role == "user" and message.typed and not is_result(message)


def units(messages: Sequence[Message]) -> list[int]:
    """Positions at which a unit begins: a message with the results of its calls, and what stands between them."""
    found: list[int] = []
    for position, message in enumerate(messages):
        if is_result(message) and found:
            continue
        if message.role in {"system", "developer"} and _answered_later(messages, position):
            continue
        found.append(position)
    return found


def _answered_later(messages: Sequence[Message], position: int) -> bool:
    """Whether a system message stands between a call and its result."""
    following = (one for one in messages[position + 1 :] if one.role not in {"system", "developer"})
    after = next(following, None)
    return after is not None and is_result(after) and position > 0


def open_calls(messages: Sequence[Message]) -> bool:
    """Whether the last unit calls a tool that has not answered."""
    starts = units(messages)
    if not starts:
        return False
    last = messages[starts[-1] :]
    return len(last[0].tool_calls) > sum(_results(message) for message in last[1:])


def _results(message: Message) -> int:
    if message.shape == "openai":
        return int(is_result(message))
    blocks = message.body.get("content")
    found = blocks if isinstance(blocks, list) else []
    return sum(isinstance(b, Mapping) and b.get("type") == "tool_result" for b in found)


def window(messages: Sequence[Message], session: Session, when: When, now: datetime) -> tuple[Message, ...]:
    """The messages of the next window, a prefix of those that wait; empty when none is due yet.

    Ends at what was asked for; else, where the session went idle, with the last message; else before the turn that is
    still going on, or, in a turn that is longer than two windows, before its last steps. One window holds messages of
    one agent.
    """
    alike = _of_one_agent(messages)
    asked = [message for message in alike if message.seq <= session.asked]
    if asked:
        return tuple(asked)
    if not alike:
        return ()
    if len(alike) < len(messages) or now >= session.last_at + when.idle:
        return tuple(alike)
    heavy = session.pending_tokens >= when.tokens
    if len(alike) < when.messages and not heavy:
        return ()
    turns = [position for position, message in enumerate(alike) if begins_turn(message) and position]
    if turns:
        return tuple(alike[: turns[-1]])
    if len(alike) < 2 * when.messages and session.pending_tokens < 2 * when.tokens:
        return ()
    steps = [position for position in units(alike) if 0 < position <= len(alike) - min(when.keep, len(alike) // 2)]
    return tuple(alike[: steps[-1]]) if steps else ()


def _of_one_agent(messages: Sequence[Message]) -> list[Message]:
    found: list[Message] = []
    for message in messages:
        if found and message.agent != found[0].agent:
            break
        found.append(message)
    return found


def kept_from(messages: Sequence[Message], keep: int) -> int:
    """The seq up to which messages leave the prompt: the last `keep` stay, and more so that a whole turn stays."""
    if not messages:
        return 0
    wanted = max(0, len(messages) - keep)
    starts = [position for position, message in enumerate(messages) if begins_turn(message) and position <= wanted]
    position = starts[-1] if starts else max((p for p in units(messages) if p <= wanted), default=0)
    return messages[position].seq - 1


# --------------------------------------------------------------------------------------------- parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A message, or a stretch of one that alone is longer than a part; `number` is its place in the window, from 1."""

    number: int
    message: Message
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one request shows."""

    pieces: tuple[Piece, ...]


def parts(pieces: Sequence[Piece], budget: int) -> tuple[Part, ...]:
    """The window in parts of at most `budget` tokens, in order and nothing left out.

    Cut before a turn where there is one, else before a step, else inside a message.
    """
    return tuple(Part(pieces=tuple(found)) for found in _cut(list(_fitting(pieces, budget)), budget))


def _fitting(pieces: Sequence[Piece], budget: int) -> Iterator[Piece]:
    room = max(200, budget - FRAME_TOKENS)
    for piece in pieces:
        text = piece.text
        while cost(text) > room:
            end = _prefix(text, room)
            yield Piece(number=piece.number, message=piece.message, text=text[:end])
            text = text[end:]
        yield Piece(number=piece.number, message=piece.message, text=text)


def cost(text: str) -> int:
    """Tokens of a line with this text."""
    return estimate_tokens(text) + FRAME_TOKENS


def _prefix(text: str, room: int) -> int:
    """The length of the longest prefix that fits, cut at white space where there is some near its end."""
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if cost(text[:middle]) <= room else (low, middle - 1)
    near = max(text.rfind(mark, low * 3 // 4, low) for mark in ("\n", " "))
    return near + 1 if near > 0 else low


def _cut(pieces: Sequence[Piece], budget: int) -> Iterator[list[Piece]]:
    held: list[Piece] = []
    size = 0
    for piece in pieces:
        price = cost(piece.text)
        while held and size + price > budget:
            at = _place(held, piece)
            yield held[:at]
            held = held[at:]
            size = sum(cost(one.text) for one in held)
        held.append(piece)
        size += price
    if held:
        yield held


def _place(held: Sequence[Piece], coming: Piece) -> int:
    """Where to cut what is held, as far back as the last turn or step that leaves something in front."""
    if begins_turn(coming.message) and coming.number != held[-1].number:
        return len(held)
    half = len(held) // 2
    firsts = [p for p in range(half, len(held)) if p and held[p].number != held[p - 1].number]
    turns = [p for p in firsts if begins_turn(held[p].message)]
    steps = [p for p in firsts if not is_result(held[p].message)]
    if turns:
        return turns[-1]
    if coming.number != held[-1].number and not is_result(coming.message):
        return len(held)
    return steps[-1] if steps else len(held)


def halves(part: Part) -> tuple[Part, ...]:
    """The part in two, cut before the turn nearest its middle; a long turn before a step; none where there is no place.

    A question and its answer stay together.
    """
    pieces = part.pieces
    begins = set(units([piece.message for piece in pieces]))
    steps = [place for place in begins if place and pieces[place].number != pieces[place - 1].number]
    places = [place for place in steps if begins_turn(pieces[place].message)]
    places = places or (steps if len(steps) >= LONG_TURN else [])
    if not places:
        return ()
    at = min(places, key=lambda place: (abs(2 * place - len(pieces)), place))
    return Part(pieces=pieces[:at]), Part(pieces=pieces[at:])


def calls_of(message: Message) -> list[tuple[str, Any]]:
    """Name and arguments of each call that a message makes."""
    found: list[tuple[str, Any]] = []
    for call in message.tool_calls:
        function = call.get("function") if isinstance(call.get("function"), Mapping) else call
        held = function if isinstance(function, Mapping) else {}
        found.append((str(held.get("name", "")), held.get("arguments", held.get("input"))))
    return found
