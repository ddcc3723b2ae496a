"""The contract with a model: one tool, `save_memory`, and a strict reading of what comes back. Pure.

A reply is a draft or it is rejected; nothing is guessed. Two slips are mended because they lose nothing: the
arguments as JSON in a fence of the text, and the arguments encoded twice. A rejection's reason is a shape.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, cast

from holdfast.errors import InvalidInput
from holdfast.inference import ChatReply, Rejected, Tool
from holdfast.model import Importance
from holdfast.pipeline.consolidate.honest import is_error, is_refusal, without_thought
from holdfast.pipeline.timeline import canonical_text
from holdfast.plain import parse_time

__all__ = ["SAVE_MEMORY", "Draft", "Frame", "Learned", "Noted", "read_reply"]

MAX_ENTRY = 6_000
MAX_VALUE = 2_000
MAX_NAME = 200
MAX_FACTS = 100
MAX_NOTES = 40
MAX_LABEL = 100
MAX_TOPICS = 15
MAX_ENTITIES = 20
QUOTED_LENGTH = 24
"""A note this long that stands word for word in recalled text was recalled, not said."""

_LABELS: Final = {
    "topics": {"type": "array", "items": {"type": "string"}, "maxItems": MAX_TOPICS},
    "entities": {"type": "array", "items": {"type": "string"}, "maxItems": MAX_ENTITIES},
}
_COMMON: Final = {
    "importance": {"type": "string", "enum": ["high", "mid", "low"]},
    "sources": {"type": "array", "items": {"type": "string"}, "minItems": 1, "description": "ids of lines: m1, m2, …"},
    **_LABELS,
}
SAVE_MEMORY: Final = Tool(
    name="save_memory",
    description="Keep what this stretch of conversation tells. Operations on memory, never a rewrite of it.",
    parameters={
        "type": "object",
        "properties": {
            "history_entry": {
                "type": "string",
                "description": "two to five sentences, the first beginning with the time of the first line",
            },
            "facts": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "subject": {"type": "string"},
                        "attribute": {"type": "string"},
                        "value": {"type": "string"},
                        "operation": {"type": "string", "enum": ["set", "add", "remove"]},
                        "target": {
                            "type": ["string", "null"],
                            "description": "the known fact it changes or ends: f1, …",
                        },
                        "holds_from": {"type": ["string", "null"], "format": "date-time"},
                        **_COMMON,
                    },
                    "required": ["subject", "attribute", "value", "operation", "importance", "sources"],
                },
            },
            "notes": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"text": {"type": "string"}, **_COMMON},
                    "required": ["text", "importance", "sources"],
                },
            },
            **_LABELS,
            "nothing_to_remember": {"type": ["string", "null"], "description": "why nothing is worth keeping"},
        },
        "required": ["history_entry", "facts", "notes"],
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """One operation on a fact. `sources` are places in the window, from 1; `target` a known fact's place, or None."""

    subject: str
    attribute: str
    value: str
    operation: Literal["set", "add", "remove"]
    importance: Importance
    sources: tuple[int, ...]
    target: int | None = None
    holds_from: datetime | None = None
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """One note and the places in the window that it comes from."""

    text: str
    importance: Importance
    sources: tuple[int, ...]
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a model made of a part. `nothing` is its reason where it found nothing worth keeping."""

    entry: str = ""
    facts: tuple[Learned, ...] = ()
    notes: tuple[Noted, ...] = ()
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    nothing: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What a reply is checked against: places that were shown, how many known facts, and text only recalled."""

    places: frozenset[int]
    known: int = 0
    quoted: tuple[str, ...] = ()


class _Fault(Exception):
    """A reply is no answer; says the shape of what is wrong."""

    def __init__(self, reason: str, *, refused: bool = False) -> None:
        super().__init__(reason)
        self.refused = refused


def read_reply(reply: ChatReply, frame: Frame) -> Draft | Rejected:
    """The draft that a reply holds, or the shape of why it holds none."""
    try:
        return _draft(_arguments(reply), frame)
    except _Fault as fault:
        return Rejected(reason=str(fault), refused=fault.refused)


# --------------------------------------------------------------------------------------------- the call

_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(?P<json>\{.*\})\s*\n```\s*\Z", re.DOTALL)


def _arguments(reply: ChatReply) -> Mapping[str, Any]:
    if reply.finish == "length":
        raise _Fault("stopped at the token limit")
    if not reply.tool_calls:
        fence = _FENCE.match(reply.text)
        if fence is None:
            if is_refusal(reply.text):
                raise _Fault("refused in words", refused=True)
            raise _Fault("did not call save_memory" if reply.text.strip() else "an empty reply")
        return _object(fence["json"])
    if any(call.name != SAVE_MEMORY.name for call in reply.tool_calls):
        raise _Fault("called another tool")
    found = [_object(call.arguments) for call in reply.tool_calls]
    if any(one != found[0] for one in found):
        raise _Fault("called save_memory more than once")
    return found[0]


def _object(arguments: Any) -> Mapping[str, Any]:
    for _ in range(2):
        if not isinstance(arguments, str):
            break
        try:
            arguments = json.loads(arguments)
        except ValueError:
            raise _Fault("arguments are no JSON") from None
    if not isinstance(arguments, Mapping):
        raise _Fault(f"arguments are a {type(arguments).__name__}, not an object")
    if not arguments:
        raise _Fault("arguments are empty")
    return arguments


# --------------------------------------------------------------------------------------------- the content


def _draft(given: Mapping[str, Any], frame: Frame) -> Draft:
    nothing = _optional(given.get("nothing_to_remember"), "nothing_to_remember", MAX_VALUE)
    facts = tuple(_fact(item, frame) for item in _items(given, "facts", MAX_FACTS))
    notes = tuple(_note(item, frame) for item in _items(given, "notes", MAX_NOTES))
    if nothing is not None:
        if facts or notes:
            raise _Fault("says there is nothing to remember, and what to remember")
        _honest(nothing)
        return Draft(nothing=nothing)
    entry = _text(given.get("history_entry"), "history_entry", MAX_ENTRY)
    _unquoted(entry, frame, "history_entry")
    return Draft(
        entry=entry,
        facts=facts,
        notes=notes,
        topics=_labels(given.get("topics"), "topics", MAX_TOPICS),
        entities=_labels(given.get("entities"), "entities", MAX_ENTITIES),
    )


def _items(given: Mapping[str, Any], name: str, most: int) -> Sequence[Mapping[str, Any]]:
    items = given.get(name)
    if items is None and given.get("nothing_to_remember"):
        return ()
    if not isinstance(items, list):
        raise _Fault(f"{name} is no list")
    if len(items) > most:
        raise _Fault(f"{name} has {len(items)} entries, over {most}")
    if not all(isinstance(item, Mapping) for item in items):
        raise _Fault(f"{name} holds what is no object")
    return items


def _fact(item: Mapping[str, Any], frame: Frame) -> Learned:
    operation = item.get("operation")
    if operation not in {"set", "add", "remove"}:
        raise _Fault("a fact's operation is unknown")
    return Learned(
        subject=_subject(_text(item.get("subject"), "a fact's subject", MAX_NAME)),
        attribute=_text(item.get("attribute"), "a fact's attribute", MAX_NAME),
        value=_text(item.get("value"), "a fact's value", MAX_VALUE),
        operation=operation,
        importance=_importance(item.get("importance")),
        sources=_sources(item.get("sources"), frame),
        target=_target(item.get("target"), frame),
        holds_from=_time(item.get("holds_from")),
        topics=_labels(item.get("topics"), "topics", MAX_TOPICS),
        entities=_labels(item.get("entities"), "entities", MAX_ENTITIES),
    )


def _note(item: Mapping[str, Any], frame: Frame) -> Noted:
    text = _text(item.get("text"), "a note's text", MAX_VALUE)
    _unquoted(text, frame, "a note")
    return Noted(
        text=text,
        importance=_importance(item.get("importance")),
        sources=_sources(item.get("sources"), frame),
        topics=_labels(item.get("topics"), "topics", MAX_TOPICS),
        entities=_labels(item.get("entities"), "entities", MAX_ENTITIES),
    )


def _subject(text: str) -> str:
    return "user" if text.casefold() in {"user", "the user"} else text


def _text(value: Any, name: str, most: int) -> str:
    if not isinstance(value, str):
        raise _Fault(f"{name} is missing" if value is None else f"{name} is no text")
    text = without_thought(value.replace("\0", ""))
    if text is None:
        raise _Fault(f"{name} holds reasoning without an end")
    if not text or any(0xD800 <= ord(c) <= 0xDFFF for c in text):
        raise _Fault(f"{name} is blank" if not text else f"{name} is no valid text")
    if len(text) > most:
        raise _Fault(f"{name} has {len(text)} characters, over {most}")
    _honest(text)
    return text


def _optional(value: Any, name: str, most: int) -> str | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    return _text(value, name, most)


def _importance(value: Any) -> Importance:
    if value not in {"high", "mid", "low"}:
        raise _Fault("an importance is unknown")
    return cast("Importance", value)


_PLACE = re.compile(r"\A\[?m?(\d{1,6})\]?\Z")


def _sources(value: Any, frame: Frame) -> tuple[int, ...]:
    if not isinstance(value, list) or not value:
        raise _Fault("sources are missing")
    places = []
    for one in value:
        found = _PLACE.match(str(one).strip()) if isinstance(one, str | int) and not isinstance(one, bool) else None
        if found is None or int(found[1]) not in frame.places:
            raise _Fault("a source is not in the window")
        places.append(int(found[1]))
    return tuple(dict.fromkeys(places))


def _target(value: Any, frame: Frame) -> int | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    found = re.fullmatch(r"\[?f(\d{1,6})\]?", value.strip()) if isinstance(value, str) else None
    if found is None or not 1 <= int(found[1]) <= frame.known:
        raise _Fault("a target is no known fact")
    return int(found[1])


def _time(value: Any) -> datetime | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if not isinstance(value, str):
        raise _Fault("holds_from is no time")
    text = value.strip()
    for form in (text, f"{text}T00:00:00+00:00", f"{text}+00:00", f"{text}-01T00:00:00+00:00"):
        try:
            return parse_time(form)
        except InvalidInput:
            continue
    raise _Fault("holds_from is no time")


def _labels(value: Any, name: str, most: int) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > most:
        raise _Fault(f"{name} are no list, or over {most}")
    found: dict[str, str] = {}
    for label in value:
        text = _text(label, f"one of {name}", MAX_LABEL)
        found.setdefault(canonical_text(text).casefold(), canonical_text(text))
    return tuple(found.values())


def _honest(text: str) -> None:
    """Refuse what an API or a model says about itself, where it stands in the place of a memory."""
    if is_refusal(text):
        raise _Fault("a refusal stands in the place of a memory", refused=True)
    if is_error(text):
        raise _Fault("an error message stands in the place of a memory")


def _unquoted(text: str, frame: Frame, name: str) -> None:
    flat = canonical_text(text).casefold()
    if len(flat) >= QUOTED_LENGTH and any(flat in canonical_text(one).casefold() for one in frame.quoted):
        raise _Fault(f"{name} repeats recalled text")
