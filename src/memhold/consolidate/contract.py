"""The contract with a model: one tool, `save_memory`, and a reading of what comes back. Pure.

Tolerant of form: what a reply wrapped, misspelled or left out is mended where that changes nothing that it says, and an
item that cannot be read is left out alone. Strict about what is said: `memhold.consolidate.weighing` decides that. A
reason is a shape, never content.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal, TypeVar, cast

from memhold.asking.envelopes import decoded
from memhold.asking.replies import Fault, arguments_of, labels_of, text_of
from memhold.facts.statement import Operation
from memhold.ports.models import ChatReply, Rejected, Tool
from memhold.text.compare import canonical_text
from memhold.text.labels import MAX_ENTITIES, MAX_TOPICS
from memhold.values.errors import InvalidInput
from memhold.values.jsonable import parse_time
from memhold.values.records import Importance, Standing

__all__ = [
    "RETOLD",
    "SAVE_MEMORY",
    "Draft",
    "Frame",
    "ItemKind",
    "Learned",
    "LeftOut",
    "NoteKind",
    "Noted",
    "listed",
    "read_reply",
    "said",
    "save_memory",
]

T = TypeVar("T")
NoteKind = Literal["note", "plan", "instruction", "decision", "cause", "command", "open_end"]
ItemKind = Literal["fact", "note", "sentence", "message"]
"""`message`: what a request about one message of the window was answered with."""

MAX_ENTRY = 6_000
MAX_VALUE = 2_000
MAX_NAME = 200
MAX_FACTS = 100
MAX_NOTES = 40
MAX_SOURCES = 200
MAX_LABELS_READ = 100
OPERATIONS: Final = frozenset({"set", "add", "remove"})
NONE: Final = frozenset({"", "none", "null", "n/a"})
"""What a model writes in the place of an empty list."""
RETOLD: Final = "retold"
"""Where `memhold.consolidate.turns` puts what it takes out; no schema names it, so no model is asked for it."""
QUOTED_LENGTH = 24
"""A note this long that stands word for word in recalled text was recalled, not said."""

_LABELS: Final = {
    "topics": {"type": "array", "items": {"type": "string"}, "maxItems": MAX_TOPICS},
    "entities": {"type": "array", "items": {"type": "string"}, "maxItems": MAX_ENTITIES},
}
NOTE_KINDS: Final = ("note", "plan", "instruction", "decision", "cause", "command", "open_end")
_COMMON: Final = {
    "importance": {"type": "string", "enum": ["high", "mid", "low"]},
    "sources": {"type": "array", "items": {"type": "string"}, "minItems": 1, "description": "ids of lines: m1, m2, …"},
    "quote": {"type": "string", "description": "the words of the first of these lines that say it, copied exactly"},
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
                    "required": ["subject", "attribute", "value", "operation", "importance", "sources", "quote"],
                },
            },
            "notes": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "text": {"type": "string"},
                        "kind": {"type": "string", "enum": list(NOTE_KINDS)},
                        **_COMMON,
                    },
                    "required": ["text", "kind", "importance", "sources", "quote"],
                },
            },
            **_LABELS,
            "nothing_to_remember": {"type": ["string", "null"], "description": "why nothing is worth keeping"},
        },
        "required": ["history_entry", "facts", "notes"],
    },
)


MOST_ASKED: Final = {"facts": 20, "notes": 8}
"""Most items that a schema lets a model write, of facts at least one a line: one that loops in a list ends there."""


def save_memory(places: Sequence[int], known: int) -> Tool:
    """The tool for one request: the ids of its lines, and of the known facts that it shows, are all that it takes."""
    parameters = json.loads(json.dumps(SAVE_MEMORY.parameters))
    for name, most in MOST_ASKED.items():
        listed = parameters["properties"][name]
        listed["maxItems"] = min(max(most, len(places)), MAX_FACTS) if name == "facts" else most
        held = listed["items"]["properties"]
        held["sources"] |= {"items": {"type": "string", "enum": [f"m{place}" for place in places]}, "maxItems": 4}
    fact = parameters["properties"]["facts"]["items"]["properties"]
    if known:
        fact["target"] |= {"enum": [None, *(f"f{place}" for place in range(1, known + 1))]}
    else:
        del fact["target"]
    return replace(SAVE_MEMORY, parameters=parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """One operation on a fact. `sources` are places in the window, from 1; `target` a known fact's place, or None.

    `quote` are words of the first of the sources; empty where the model gave none.
    """

    subject: str
    attribute: str
    value: str
    operation: Operation
    importance: Importance
    sources: tuple[int, ...]
    target: int | None = None
    holds_from: datetime | None = None
    quote: str = ""
    standing: Standing = "stated"
    doubts: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """One note of some kind, the places in the window that it comes from, and words of the first of them."""

    text: str
    importance: Importance
    sources: tuple[int, ...]
    kind: NoteKind = "note"
    quote: str = ""
    standing: Standing = "stated"
    doubts: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Something of a reply that is not kept, and why; `text` is what it said, where that is unfounded.

    Of a fact `parts` are its subject, attribute and value.
    """

    kind: ItemKind
    reason: str
    text: str = ""
    parts: tuple[str, str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a model made of a part. `nothing` is its reason where it found nothing worth keeping."""

    entry: str = ""
    facts: tuple[Learned, ...] = ()
    notes: tuple[Noted, ...] = ()
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    nothing: str | None = None
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What a reply is checked against: places that were shown, how many known facts, and text only recalled."""

    places: frozenset[int]
    known: int = 0
    quoted: tuple[str, ...] = ()


def read_reply(reply: ChatReply, frame: Frame) -> Draft | Rejected:
    """The draft that a reply holds, or the shape of why it holds none."""
    if reply.unread and not reply.tool_calls:
        return Rejected(reason=reply.unread[0])
    try:
        draft = _draft(arguments_of(reply, SAVE_MEMORY), frame)
    except Fault as fault:
        return Rejected(reason=str(fault), refused=fault.refused)
    unread = (LeftOut(kind="message", reason=why) for why in reply.unread)
    return replace(draft, left_out=(*draft.left_out, *unread))


# --------------------------------------------------------------------------------------------- the content


@dataclass(slots=True)
class _Reading:
    """A reply on its way to a draft: what of it could not be read."""

    left_out: list[LeftOut] = field(default_factory=list)

    def drop(self, kind: ItemKind, reason: str) -> None:
        self.left_out.append(LeftOut(kind=kind, reason=reason))

    def retold(self, items: Any) -> None:
        """What was asked of a message and came from the line above it: left out, and said so."""
        for item in items[:MAX_FACTS] if isinstance(items, list) else ():
            if isinstance(item, dict) and item.get("kind") in {"fact", "note"} and isinstance(item.get("text"), str):
                reason, text = "only the line above says it", item["text"][:MAX_VALUE]
                self.left_out.append(LeftOut(kind=item["kind"], reason=reason, text=text, parts=_parts(item)))

    def each(self, given: Mapping[str, Any], name: str, kind: ItemKind, most: int, read: Callable[[Any], T]) -> list[T]:
        """What can be read of a list, each once; what cannot is left out with its reason."""
        items = listed(given.get(name))
        if len(items) > most:
            self.drop(kind, f"{len(items) - most} entries over {most}")
        found: list[T] = []
        for item in items[:most]:
            try:
                one = read(item)
            except Fault as fault:
                self.drop(kind, str(fault))
                continue
            if one not in found:
                found.append(one)
        return found


def _parts(item: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Subject, attribute and value of a fact that is retold; None where they are not all there."""
    match [item.get(name) for name in ("subject", "attribute", "value")]:
        case [str(subject), str(attribute), str(value)]:
            return subject[:MAX_VALUE], attribute[:MAX_VALUE], value[:MAX_VALUE]
        case _:
            return None


def _draft(given: Mapping[str, Any], frame: Frame) -> Draft:
    reading = _Reading()
    reading.retold(given.get(RETOLD))
    facts = reading.each(given, "facts", "fact", MAX_FACTS, lambda item: _fact(item, frame))
    notes = reading.each(given, "notes", "note", MAX_NOTES, lambda item: _note(item, frame))
    entry, nothing = said(given, "history_entry"), said(given, "nothing_to_remember")
    if isinstance(nothing, str) and not facts and not notes and not (isinstance(entry, str) and entry.strip()):
        return Draft(nothing=text_of(nothing, "nothing_to_remember", MAX_VALUE), left_out=tuple(reading.left_out))
    text = text_of(entry, "history_entry", MAX_ENTRY)
    _unquoted(text, frame, "history_entry")
    return Draft(
        entry=text,
        facts=tuple(facts),
        notes=tuple(notes),
        topics=_labels(given.get("topics"), MAX_TOPICS),
        entities=_labels(given.get("entities"), MAX_ENTITIES),
        left_out=tuple(reading.left_out),
    )


def said(given: Mapping[str, Any], name: str) -> Any:
    """A text, which may have come as a list of its sentences; None where it is blank or a word for none."""
    value = given.get(name)
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        value = " ".join(value)
    return None if value is False or value is True or (isinstance(value, str) and not value.strip()) else value


def listed(value: Any) -> Sequence[Any]:
    """A list; one item alone is a list of it, and what is missing or a word for none is an empty one.

    A list that came as a text of itself is that list.
    """
    if isinstance(value, str):
        inside = decoded(value)
        value = inside if isinstance(inside, list | Mapping) else value.strip()
    if isinstance(value, list):
        return value
    return [value] if isinstance(value, Mapping) or (isinstance(value, str) and value.casefold() not in NONE) else []


def _table(item: Any, kind: str) -> Mapping[str, Any]:
    if not isinstance(item, Mapping):
        raise Fault(f"{kind} is no object")
    return item


def _fact(given: Any, frame: Frame) -> Learned:
    item = _table(given, "a fact")
    operation = _one(item.get("operation")) or "set"
    if not isinstance(operation, str) or operation.strip().casefold() not in OPERATIONS:
        raise Fault("a fact's operation is unknown")
    return Learned(
        subject=_subject(text_of(item.get("subject"), "a fact's subject", MAX_NAME)),
        attribute=text_of(item.get("attribute"), "a fact's attribute", MAX_NAME),
        value=text_of(_one(item.get("value")), "a fact's value", MAX_VALUE),
        operation=cast("Operation", operation.strip().casefold()),
        importance=_importance(item.get("importance")),
        sources=_sources(item.get("sources"), frame),
        target=_target(item.get("target"), frame),
        holds_from=_time(item.get("holds_from")),
        quote=_quote(item.get("quote")),
        topics=_labels(item.get("topics"), MAX_TOPICS),
        entities=_labels(item.get("entities"), MAX_ENTITIES),
    )


def _note(given: Any, frame: Frame) -> Noted:
    item = {"text": given} if isinstance(given, str) else _table(given, "a note")
    text = text_of(_one(item.get("text")), "a note's text", MAX_VALUE)
    _unquoted(text, frame, "a note")
    return Noted(
        text=text,
        importance=_importance(item.get("importance")),
        sources=_sources(item.get("sources"), frame),
        kind=_kind(item.get("kind")),
        quote=_quote(item.get("quote")),
        topics=_labels(item.get("topics"), MAX_TOPICS),
        entities=_labels(item.get("entities"), MAX_ENTITIES),
    )


def _quote(value: Any) -> str:
    """The words that an item quotes, of a list of them the first; empty where it quotes none."""
    if isinstance(value, list) and value:
        value = value[0]
    return value.strip()[:MAX_VALUE] if isinstance(value, str) and value.strip().casefold() not in NONE else ""


def _kind(value: Any) -> NoteKind:
    word = value.strip().casefold().replace(" ", "_") if isinstance(value, str) else ""
    return cast("NoteKind", word) if word in NOTE_KINDS else "note"


def _one(value: Any) -> Any:
    """A text that came as a list of it alone, or as a plain number; what JSON has no number for says nothing."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, float) and not math.isfinite(value):
        return ""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _subject(text: str) -> str:
    return "user" if text.casefold() in {"user", "the user"} else text


def _importance(value: Any) -> Importance:
    """How much it matters; a word that is not known says nothing about truth, so it is the middle one."""
    word = value.strip().casefold() if isinstance(value, str) else ""
    return cast("Importance", word) if word in {"high", "mid", "low"} else "mid"


def _labels(value: Any, most: int) -> tuple[str, ...]:
    """Topics or entities that can be read, at most so many: they only help to find, so none of them costs an item."""
    given = value if isinstance(value, list) else value.split(",") if isinstance(value, str) else []
    found: list[str] = []
    for label in given[:MAX_LABELS_READ]:
        try:
            found += labels_of([label], "labels", 1)
        except Fault:
            continue
    return labels_of(found, "labels", MAX_LABELS_READ)[:most]


_PLACE = re.compile(r"(?<![a-z0-9])m(\d{1,6})(?!\d)", re.IGNORECASE)
_BARE = re.compile(r"\A\W*(\d{1,6})\W*\Z")


def _sources(value: Any, frame: Frame) -> tuple[int, ...]:
    """The places that are named, as `m1`, `[m1]`, `m1 user` or 1, of those that were shown; perhaps none."""
    places: dict[int, None] = {}
    for one in value[:MAX_SOURCES] if isinstance(value, list) else [value]:
        for place in _places(one):
            if place in frame.places:
                places[place] = None
    return tuple(places)


def _places(one: Any) -> list[int]:
    if isinstance(one, int) and not isinstance(one, bool):
        return [one]
    if not isinstance(one, str):
        return []
    found = _PLACE.findall(one)
    bare = _BARE.match(one)
    return [int(place) for place in found] if found or bare is None else [int(bare[1])]


def _target(value: Any, frame: Frame) -> int | None:
    """The known fact that is named; None where none is, or one that was not shown: then the words alone decide."""
    found = re.search(r"(?<![a-z0-9])f(\d{1,6})(?!\d)", value) if isinstance(value, str) else None
    return int(found[1]) if found is not None and 1 <= int(found[1]) <= frame.known else None


def _time(value: Any) -> datetime | None:
    """The time that is named; None where it is none: then the fact holds from when it was said."""
    text = value.strip() if isinstance(value, str) else ""
    day = "T00:00:00+00:00"
    for form in (text, f"{text}{day}", f"{text}+00:00", f"{text}-01{day}", f"{text}-01-01{day}") if text else ():
        try:
            return parse_time(form)
        except (InvalidInput, OverflowError):
            continue
    return None


def _unquoted(text: str, frame: Frame, name: str) -> None:
    flat = canonical_text(text).casefold()
    if len(flat) >= QUOTED_LENGTH and any(flat in canonical_text(one).casefold() for one in frame.quoted):
        raise Fault(f"{name} repeats recalled text")
