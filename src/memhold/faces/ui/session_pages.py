"""Sessions: the turns as they were said, tool pairs folded, and beside them the context as it would be sent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from starlette.responses import Response

from memhold.context.answer import Context
from memhold.faces.ui.rows import Row, row_of
from memhold.faces.ui.visit import Visit
from memhold.journal.windows import spoken
from memhold.messages.records import records_of
from memhold.messages.shapes import read_message
from memhold.text.token_estimate import estimate_message
from memhold.values.origins import shown_name
from memhold.values.records import Message, speaker_of
from memhold.verbs.scope import AsyncScope

__all__ = [
    "Piece",
    "Turn",
    "context_part",
    "newest_sessions",
    "pieces",
    "session_names",
    "session_part",
    "sessions_page",
    "turns",
]

_PAGE: Final = 200
_NAMES: Final = 100
"""How many sessions are offered at once."""
_BUDGETS: Final = (500, 1000, 2000, 4000, 8000, 16_000, 32_000)
_FENCE: Final = "<memhold-recall "

Slot = Literal["told", "recalled", "conversation", "asked"]
_SLOTS: Final[Mapping[Slot, str]] = {
    "told": "What the user told, and instructions",
    "recalled": "Recalled, as data",
    "conversation": "The conversation",
    "asked": "The new message",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A message, and the tool calls that it makes with what they returned."""

    row: Row
    calls: tuple[str, ...]
    results: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A message that would be sent: which part of the budget it is, and what it costs in tokens."""

    slot: Slot
    role: str
    text: str
    tokens: int


async def sessions_page(visit: Visit) -> Response:
    """The newest sessions, and a field that finds the others."""
    return visit.part("sessions.html", here="/ui/sessions", **await newest_sessions(visit.scope()))


async def session_names(visit: Visit) -> Response:
    """The newest sessions whose names begin with what was typed."""
    return visit.part("session_names.html", **await newest_sessions(visit.scope(), visit.said("begins").strip()))


async def newest_sessions(scope: AsyncScope, prefix: str = "") -> dict[str, Any]:
    """The names of the newest sessions that begin so, and whether there are more of them."""
    page = await scope.sessions(prefix, order="newest", limit=_NAMES)
    return {"names": [one.name for one in page.items], "more_names": page.cursor is not None}


async def session_part(visit: Visit) -> Response:
    """The turns of a session, a page at a time."""
    name = visit.said("session")
    after = visit.number("after", 0)
    found = await visit.scope(name or None).messages(after=after, limit=_PAGE)
    more = found[-1].seq if len(found) == _PAGE else None
    return visit.part(
        "session.html", name=name, turns=turns(found), more=more, continued=after > 0, budgets=list(enumerate(_BUDGETS))
    )


def turns(messages: Sequence[Message]) -> list[Turn]:
    """What each writer wrote of messages, as turns; what a tool returned stands with its call; pure."""
    made: list[tuple[Row, list[str], list[Row]]] = []
    for message in (record for one in spoken(messages) for record in records_of(one)):
        calls = [_call(call) for call in message.tool_calls]
        if message.written_by == "tool" and made and made[-1][1]:
            made[-1][2].append(row_of(message))
        else:
            row = row_of(message)
            made.append((replace(row, text=_beside_calls(message)) if calls else row, calls, []))
    return [Turn(row=row, calls=tuple(calls), results=tuple(results)) for row, calls, results in made]


def _beside_calls(message: Message) -> str:
    """What a message says beside the calls that it makes, which its text tells too."""
    blocks = message.content if isinstance(message.content, list) else [{"text": message.content or ""}]
    said = [block["text"] for block in blocks if isinstance(block, Mapping) and isinstance(block.get("text"), str)]
    return "\n".join(said)


def _call(call: Mapping[str, Any]) -> str:
    function = call.get("function")
    if isinstance(function, Mapping):
        return f"{function.get('name', '')}({function.get('arguments', '')})"
    return f"{call.get('name', '')}({json.dumps(call.get('input', ''), ensure_ascii=False)})"


async def context_part(visit: Visit) -> Response:
    """The context as it would be sent for a new message, within the budget of the slider."""
    place = min(visit.number("budget", 4), len(_BUDGETS) - 1)
    text = visit.said("q").strip()
    new = [{"role": "user", "content": text}] if text else None
    made = await visit.scope(visit.said("session") or None).context(new, budget=_BUDGETS[place])
    sent = pieces(made, asked=text)
    kept = made.budget - made.reserve
    left = 0.0
    drawn = []
    for slot, title in _SLOTS.items():
        tokens = sum(piece.tokens for piece in sent if piece.slot == slot)
        width = tokens / max(made.budget, 1) * 1000
        drawn.append({"slot": slot, "title": title, "tokens": tokens, "left": round(left, 1), "width": round(width, 1)})
        left += width
    out: dict[tuple[str, str], int] = {}
    for one in made.dropped:
        out[one.slot, one.reason] = out.get((one.slot, one.reason), 0) + one.count
    return visit.part(
        "context.html", made=made, sent=sent, drawn=drawn, free=max(kept - made.used, 0), out=sorted(out.items())
    )


def pieces(made: Context, *, asked: str) -> list[Piece]:
    """The messages of a context, each with the part of the budget that it is; pure."""
    found = []
    for place, message in enumerate(made.messages):
        text = read_message(message).text
        last = place == len(made.messages) - 1
        slot: Slot = "conversation"
        if _FENCE in text[:200]:
            slot = "told" if message["role"] == "system" else "recalled"
        elif message["role"] == "system":
            slot = "told"
        elif last and asked:
            slot = "asked"
        name = speaker_of(message["role"], message)
        if shown := shown_name(name):
            text = text.removeprefix(f"{name}: ")
        found.append(Piece(slot=slot, role=shown or str(message["role"]), text=text, tokens=estimate_message(message)))
    return found
