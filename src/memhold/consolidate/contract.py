"""The contract with a model: one tool, `save_memory`, and a strict reading of what comes back. Pure.

A reply is a draft or it is rejected; nothing is guessed. A rejection's reason is a shape.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, cast

from memhold.asking.replies import Fault, arguments_of, honest, labels_of, text_of
from memhold.ports.models import ChatReply, Rejected, Tool
from memhold.text.compare import canonical_text
from memhold.text.labels import MAX_ENTITIES, MAX_TOPICS
from memhold.values.errors import InvalidInput
from memhold.values.jsonable import parse_time
from memhold.values.records import Importance

__all__ = ["SAVE_MEMORY", "Draft", "Frame", "Learned", "Noted", "read_reply"]

MAX_ENTRY = 6_000
MAX_VALUE = 2_000
MAX_NAME = 200
MAX_FACTS = 100
MAX_NOTES = 40
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


def read_reply(reply: ChatReply, frame: Frame) -> Draft | Rejected:
    """The draft that a reply holds, or the shape of why it holds none."""
    try:
        return _draft(arguments_of(reply, SAVE_MEMORY.name), frame)
    except Fault as fault:
        return Rejected(reason=str(fault), refused=fault.refused)


# --------------------------------------------------------------------------------------------- the content


def _draft(given: Mapping[str, Any], frame: Frame) -> Draft:
    nothing = _optional(given.get("nothing_to_remember"), "nothing_to_remember", MAX_VALUE)
    facts = tuple(_fact(item, frame) for item in _items(given, "facts", MAX_FACTS))
    notes = tuple(_note(item, frame) for item in _items(given, "notes", MAX_NOTES))
    if nothing is not None:
        if facts or notes:
            raise Fault("says there is nothing to remember, and what to remember")
        honest(nothing)
        return Draft(nothing=nothing)
    entry = text_of(given.get("history_entry"), "history_entry", MAX_ENTRY)
    _unquoted(entry, frame, "history_entry")
    return Draft(
        entry=entry,
        facts=facts,
        notes=notes,
        topics=labels_of(given.get("topics"), "topics", MAX_TOPICS),
        entities=labels_of(given.get("entities"), "entities", MAX_ENTITIES),
    )


def _items(given: Mapping[str, Any], name: str, most: int) -> Sequence[Mapping[str, Any]]:
    items = given.get(name)
    if items is None and given.get("nothing_to_remember"):
        return ()
    if not isinstance(items, list):
        raise Fault(f"{name} is no list")
    if len(items) > most:
        raise Fault(f"{name} has {len(items)} entries, over {most}")
    if not all(isinstance(item, Mapping) for item in items):
        raise Fault(f"{name} holds what is no object")
    return items


def _fact(item: Mapping[str, Any], frame: Frame) -> Learned:
    operation = item.get("operation")
    if operation not in {"set", "add", "remove"}:
        raise Fault("a fact's operation is unknown")
    return Learned(
        subject=_subject(text_of(item.get("subject"), "a fact's subject", MAX_NAME)),
        attribute=text_of(item.get("attribute"), "a fact's attribute", MAX_NAME),
        value=text_of(item.get("value"), "a fact's value", MAX_VALUE),
        operation=operation,
        importance=_importance(item.get("importance")),
        sources=_sources(item.get("sources"), frame),
        target=_target(item.get("target"), frame),
        holds_from=_time(item.get("holds_from")),
        topics=labels_of(item.get("topics"), "topics", MAX_TOPICS),
        entities=labels_of(item.get("entities"), "entities", MAX_ENTITIES),
    )


def _note(item: Mapping[str, Any], frame: Frame) -> Noted:
    text = text_of(item.get("text"), "a note's text", MAX_VALUE)
    _unquoted(text, frame, "a note")
    return Noted(
        text=text,
        importance=_importance(item.get("importance")),
        sources=_sources(item.get("sources"), frame),
        topics=labels_of(item.get("topics"), "topics", MAX_TOPICS),
        entities=labels_of(item.get("entities"), "entities", MAX_ENTITIES),
    )


def _subject(text: str) -> str:
    return "user" if text.casefold() in {"user", "the user"} else text


def _optional(value: Any, name: str, most: int) -> str | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    return text_of(value, name, most)


def _importance(value: Any) -> Importance:
    if value not in {"high", "mid", "low"}:
        raise Fault("an importance is unknown")
    return cast("Importance", value)


_PLACE = re.compile(r"\A\[?m?(\d{1,6})\]?\Z")


def _sources(value: Any, frame: Frame) -> tuple[int, ...]:
    if not isinstance(value, list) or not value:
        raise Fault("sources are missing")
    places = []
    for one in value:
        found = _PLACE.match(str(one).strip()) if isinstance(one, str | int) and not isinstance(one, bool) else None
        if found is None or int(found[1]) not in frame.places:
            raise Fault("a source is not in the window")
        places.append(int(found[1]))
    return tuple(dict.fromkeys(places))


def _target(value: Any, frame: Frame) -> int | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    found = re.fullmatch(r"\[?f(\d{1,6})\]?", value.strip()) if isinstance(value, str) else None
    if found is None or not 1 <= int(found[1]) <= frame.known:
        raise Fault("a target is no known fact")
    return int(found[1])


def _time(value: Any) -> datetime | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if not isinstance(value, str):
        raise Fault("holds_from is no time")
    text = value.strip()
    day = "T00:00:00+00:00"
    for form in (text, f"{text}{day}", f"{text}+00:00", f"{text}-01{day}", f"{text}-01-01{day}"):
        try:
            return parse_time(form)
        except InvalidInput:
            continue
    raise Fault("holds_from is no time")


def _unquoted(text: str, frame: Frame, name: str) -> None:
    flat = canonical_text(text).casefold()
    if len(flat) >= QUOTED_LENGTH and any(flat in canonical_text(one).casefold() for one in frame.quoted):
        raise Fault(f"{name} repeats recalled text")
