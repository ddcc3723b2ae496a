"""A window asked turn by turn, for small models: one short request for each message of the user's, one for the entry.

A small model that is shown a whole window keeps little of it and repeats itself; shown one message, it keeps nearly all
that it says. What comes back is put together as the one reply that is read everywhere else: each item on the line that
it came from, repetitions folded. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from memhold.asking.envelopes import decoded
from memhold.asking.prompts import prompt
from memhold.asking.replies import Fault, arguments_of
from memhold.consolidate.contract import RETOLD, SAVE_MEMORY, listed, said
from memhold.facts.keys import cardinality
from memhold.journal.windows import Part, Piece
from memhold.ports.models import ChatReply, ChatRequest, ChatTurn, Tool, ToolCall, Usage
from memhold.text.compare import canonical_text
from memhold.text.details import content_terms
from memhold.text.sentences import sentences
from memhold.text.token_estimate import estimate_tokens
from memhold.values.origins import told_by

__all__ = ["in_turns", "joined"]

TURN_TOKENS: Final = 600
ENTRY_TOKENS: Final = 500
CONTEXT_CHARS: Final = 400
"""Characters of the line before a message: enough to know what is answered."""
ENTRY_CHARS: Final = 6_000
"""Characters of a window that the request for the entry shows; its middle is left out."""
MOST_SENTENCES: Final = 8
"""Sentences of an entry without an end that are kept: a model that does not end copies the conversation."""
QUOTED: Final = 160
REPEATED: Final = 60
"""Characters from which on a value that is most of its message is a copy of it, and no answer of a few words."""

SAVE_TURN: Final = Tool(
    name="save_turn",
    description="Keep what this message of the user's tells.",
    parameters={
        "type": "object",
        "properties": {
            "facts": {
                "type": "array",
                "maxItems": 6,
                "items": {
                    "type": "object",
                    "properties": {name: {"type": "string"} for name in ("subject", "attribute", "value")},
                    "required": ["subject", "attribute", "value"],
                },
            },
            "notes": {"type": "array", "maxItems": 2, "items": {"type": "string"}},
        },
        "required": ["facts", "notes"],
    },
)
SAVE_ENTRY: Final = Tool(
    name="save_entry",
    description="Keep what happened.",
    parameters={
        "type": "object",
        "properties": {"history_entry": {"type": "string"}},
        "required": ["history_entry"],
    },
)


def in_turns(part: Part, purpose: str) -> tuple[ChatRequest, ...]:
    """A request for each message of the user's in a part, in their order, and the last one for the entry."""
    found = []
    for before, piece in zip((None, *part.pieces), part.pieces, strict=False):
        if piece.message.typed and piece.text.strip():
            found.append(_request("consolidate_turn", _turn(before, piece), SAVE_TURN, purpose, TURN_TOKENS))
    text = "\n".join(f"{told_by(piece.message)}: {piece.text}" for piece in part.pieces)
    if len(text) > ENTRY_CHARS:
        text = f"{text[: ENTRY_CHARS * 2 // 3]}\n(…)\n{text[-ENTRY_CHARS // 3 :]}"
    return (*found, _request("consolidate_entry", f"The conversation:\n\n{text}", SAVE_ENTRY, purpose, ENTRY_TOKENS))


def _turn(before: Piece | None, piece: Piece) -> str:
    above = "" if before is None else before.text.strip()[-CONTEXT_CHARS:]
    head = ""
    if before is not None and above:
        head = f"The line above ({told_by(before.message)}, not to be retold): {above}\n\n"
    return f"{head}{_HEAD}{piece.message.event_time:%Y-%m-%d}:\n\n{piece.text}"


def _request(name: str, text: str, tool: Tool, purpose: str, most: int) -> ChatRequest:
    return ChatRequest(
        system=prompt(name).text,
        turns=(ChatTurn(role="user", text=text),),
        purpose=purpose,
        tool=tool,
        max_tokens=max(most, min(4 * most, estimate_tokens(text))) if tool is SAVE_TURN else most,
        temperature=0.0,
        partial=tool is SAVE_ENTRY,
    )


def joined(part: Part, replies: Sequence[ChatReply | None]) -> ChatReply:
    """The replies to `in_turns(part)` as one call of `save_memory`; None stands for one that was no answer.

    What of them is no answer stands in `unread`. Where that is more than half of them there is no call: a window of
    which next to nothing was read is not done.
    """
    unread = [why for tool, reply in _asked(replies) if (why := _fault(reply, tool)) is not None]
    answered = [reply for reply in replies if reply is not None]
    if len(unread) * 2 > len(replies):
        return _no_reply(unread, answered)
    own = [piece for piece in part.pieces if piece.message.typed and piece.text.strip()]
    above = dict(zip((piece.number for piece in part.pieces[1:]), part.pieces, strict=False))
    retold: list[dict[str, str]] = []
    facts: dict[tuple[str, ...], dict[str, Any]] = {}
    notes: dict[tuple[str, ...], dict[str, Any]] = {}
    odd: dict[str, list[None]] = {"facts": [], "notes": []}  # of what is no item the reader says so
    for piece, reply in zip(own, replies, strict=False):
        given = _given(reply, SAVE_TURN)
        for fact in listed(given.get("facts")):
            if not isinstance(fact, Mapping):
                odd["facts"].append(None)
                continue
            named = [str(fact.get(name) or "") for name in ("subject", "attribute", "value")]
            if _repeats(piece, named[2]):
                words = " ".join(piece.text.split())
                quoted = {"text": f"“{words}”", "importance": "mid", "sources": [f"m{piece.number}"], "quote": words}
                notes.setdefault(_key(words), quoted)
                continue
            if _retold(piece, above.get(piece.number), named[2]):
                parts = dict(zip(("subject", "attribute", "value"), named, strict=True))
                retold.append({"kind": "fact", "text": f"{named[0]} | {named[1]} = {named[2]}", **parts})
                continue
            kept = {name: fact[name] for name in ("subject", "attribute", "value") if name in fact}
            blank = {**kept, "operation": _operation(fact), "importance": "mid", "sources": []}
            facts.setdefault(_key(*named), blank)["sources"].append(f"m{piece.number}")
        for note in listed(given.get("notes")):
            text = note.get("text") if isinstance(note, Mapping) else note
            if not isinstance(text, str):
                odd["notes"].append(None)
                continue
            if _retold(piece, above.get(piece.number), text):
                retold.append({"kind": "note", "text": text})
                continue
            blank = {"text": text, "importance": "mid", "sources": []}
            notes.setdefault(_key(text), blank)["sources"].append(f"m{piece.number}")
    last = replies[-1]
    told = said(_given(last, SAVE_ENTRY), "history_entry")
    entry = told if isinstance(told, str) else _cut_entry(last) or _quoted(own)
    arguments = {
        "history_entry": entry,
        "facts": [*facts.values(), *odd["facts"]],
        "notes": [*notes.values(), *odd["notes"]],
        RETOLD: retold,
    }
    return ChatReply(
        model=answered[-1].model if answered else "",
        text="",
        tool_calls=(ToolCall(id="call_0", name=SAVE_MEMORY.name, arguments=json.loads(json.dumps(arguments))),),
        finish="tool",
        prompt=prompt("consolidate_turn").version,
        usage=_sum(answered),
        unread=tuple(unread),
    )


def _asked(replies: Sequence[ChatReply | None]) -> list[tuple[Tool, ChatReply | None]]:
    """Each reply with what it was asked for: the last for the entry."""
    return [(SAVE_ENTRY if place == len(replies) else SAVE_TURN, reply) for place, reply in enumerate(replies, 1)]


def _fault(reply: ChatReply | None, tool: Tool) -> str | None:
    """Why a reply is no answer; None where it is one. An entry that ran into its limit is one as far as it goes."""
    if reply is None:
        return "no answer"
    if reply.finish == "refusal":
        return "refused"
    try:
        arguments_of(reply, tool)
    except Fault as fault:
        if tool is SAVE_ENTRY and _cut_entry(reply):
            return None
        return "refused" if fault.refused else str(fault)
    return None


def _no_reply(unread: Sequence[str], answered: Sequence[ChatReply]) -> ChatReply:
    """What is left of replies that are no answer: how they failed, and what they cost."""
    refused = all(why == "refused" for why in unread)
    return ChatReply(
        model=answered[-1].model if answered else "",
        text="",
        finish="refusal" if refused else "other",
        prompt=prompt("consolidate_turn").version,
        usage=_sum(answered),
        unread=tuple(unread),
    )


def _key(*parts: str) -> tuple[str, ...]:
    return tuple(canonical_text(part).casefold() for part in parts)


def _retold(piece: Piece, above: Piece | None, told: str) -> bool:
    """Whether an item is the line above in other clothes: it has more of its words from there than from the message."""
    wanted = content_terms(told)
    if above is None or not wanted:
        return False
    mine, theirs = (len(wanted & content_terms(one.text)) for one in (piece, above))
    return theirs > mine and mine * 2 < len(wanted)


_HEAD: Final = "The message of the user's, of "


def _repeats(piece: Piece, value: str) -> bool:
    """Whether a value is most of a longer message over again, perhaps with the words that stood above it."""
    told = " ".join(
        (value.partition("\n")[2] or value.partition(": ")[2] if value.startswith(_HEAD) else value).split()
    )
    whole = " ".join(piece.text.split())
    return len(told) >= REPEATED and len(told) * 5 >= len(whole) * 4 and told.casefold() in whole.casefold()


def _given(reply: ChatReply | None, tool: Tool) -> Mapping[str, Any]:
    """The arguments of a reply; none where it holds none: the others still count."""
    if reply is None:
        return {}
    try:
        return arguments_of(reply, tool)
    except Fault:
        return {}


_BEGUN: Final = re.compile(r'"history_entry"\s*:\s*"((?:[^"\\]|\\.)*)')


def _cut_entry(reply: ChatReply | None) -> str:
    """The first whole sentences, each once, of an entry that went in circles or ran into its limit: small models do."""
    if reply is None or reply.finish != "length":
        return ""
    told = [reply.text, *(call.arguments for call in reply.tool_calls if isinstance(call.arguments, str))]
    begun = next(filter(None, map(_BEGUN.search, told)), None)
    if begun is None:
        return ""
    text = decoded(f'"{begun[1]}"')
    whole = [span.of(text) for span in sentences(text)][:-1] if isinstance(text, str) else []
    once: dict[tuple[str, ...], str] = {}
    for one in whole:
        once.setdefault(_key(one), one)
    return " ".join([*once.values()][:MOST_SENTENCES])


def _operation(fact: Mapping[str, Any]) -> str:
    """What a value does: it stands beside others where several of its kind hold at once."""
    return "add" if cardinality(str(fact.get("attribute", ""))) == "many" else "set"


def _quoted(own: Sequence[Piece]) -> str:
    """The user's own first words, where no entry came."""
    return f"“{' '.join(own[0].text.split())[:QUOTED]}”" if own else ""


def _sum(replies: Sequence[ChatReply]) -> Usage:
    counts = [[getattr(one.usage, name) for one in replies] for name in ("input_tokens", "output_tokens")]
    into, out = (None if None in found else sum(found) for found in counts)
    return Usage(input_tokens=into, output_tokens=out)
