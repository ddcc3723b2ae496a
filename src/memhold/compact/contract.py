"""The contract with the judge of a merge: one tool, `merge_memories`, and a strict reading of its call. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from memhold.asking.replies import Fault, arguments_of, labels_of, text_of
from memhold.ports.models import ChatReply, Rejected, Tool

__all__ = ["MERGE_MEMORIES", "Decision", "Dropped", "Judgement", "read_judgement"]

Decision = Literal["merge", "keep_apart", "supersede"]
MAX_TEXT = 6_000
MAX_REASON = 2_000
MAX_DROPPED = 60
MAX_GIVEN_LABELS = 60

MERGE_MEMORIES: Final = Tool(
    name="merge_memories",
    description="Say whether these memories say the same thing, and how they read as one.",
    parameters={
        "type": "object",
        "properties": {
            "decision": {"type": "string", "enum": ["merge", "keep_apart", "supersede"]},
            "reason": {"type": "string", "description": "one sentence: why"},
            "text": {"type": "string", "description": "the one memory, plain text; empty where they stay apart"},
            "dropped": {
                "type": "array",
                "description": "each detail of a source that the text leaves out because a newer source says otherwise",
                "items": {
                    "type": "object",
                    "properties": {
                        "what": {"type": "string", "description": "the words that were left out, as they stood"},
                        "why": {"type": "string"},
                        "newer": {"type": "string", "description": "the source that says otherwise: s1, s2, …"},
                    },
                    "required": ["what", "why", "newer"],
                },
            },
            "topics": {"type": "array", "items": {"type": "string"}},
            "entities": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["decision", "reason", "text", "dropped"],
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A detail that was left out, and the place (from 1) of the newer source that says otherwise."""

    what: str
    why: str
    newer: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What the judge said of some memories; `text` is empty unless they are merged."""

    decision: Decision
    reason: str = ""
    text: str = ""
    dropped: tuple[Dropped, ...] = ()
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()


def read_judgement(reply: ChatReply, sources: int) -> Judgement | Rejected:
    """The judgement that a reply holds about so many sources, or the shape of why it holds none."""
    try:
        return _judgement(arguments_of(reply, MERGE_MEMORIES), sources)
    except Fault as fault:
        return Rejected(reason=str(fault), refused=fault.refused)


def _judgement(given: Mapping[str, Any], sources: int) -> Judgement:
    decision = given.get("decision")
    reason = _optional(given.get("reason"), "reason")
    dropped = tuple(_dropped(item, sources) for item in _items(given.get("dropped")))
    topics = labels_of(given.get("topics"), "topics", MAX_GIVEN_LABELS)
    entities = labels_of(given.get("entities"), "entities", MAX_GIVEN_LABELS)
    match decision:
        case "keep_apart":
            return Judgement(decision="keep_apart", reason=reason)
        case "supersede":
            return Judgement(decision="supersede", reason=reason, dropped=dropped, topics=topics, entities=entities)
        case "merge":
            text = text_of(given.get("text"), "text", MAX_TEXT)
            return Judgement(
                decision="merge", reason=reason, text=text, dropped=dropped, topics=topics, entities=entities
            )
        case _:
            raise Fault("the decision is unknown")


def _optional(value: Any, name: str) -> str:
    if value is None or (isinstance(value, str) and not value.strip()):
        return ""
    return text_of(value, name, MAX_REASON)


def _items(value: Any) -> list[Mapping[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > MAX_DROPPED:
        raise Fault(f"dropped is no list, or over {MAX_DROPPED}")
    if not all(isinstance(item, Mapping) for item in value):
        raise Fault("dropped holds what is no object")
    return value


_PLACE = re.compile(r"\A\[?s?(\d{1,4})\]?\Z")


def _dropped(item: Mapping[str, Any], sources: int) -> Dropped:
    newer = item.get("newer")
    found = _PLACE.match(str(newer).strip()) if isinstance(newer, str | int) and not isinstance(newer, bool) else None
    if found is None or not 1 <= int(found[1]) <= sources:
        raise Fault("a newer source was not shown")
    return Dropped(
        what=text_of(item.get("what"), "what was dropped", MAX_REASON),
        why=_optional(item.get("why"), "why"),
        newer=int(found[1]),
    )
