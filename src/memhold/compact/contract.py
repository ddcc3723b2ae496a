"""The contract with the judge of notes: one tool, `merge_memories`, a partition, and a strict reading of it. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from memhold.asking.replies import Fault, arguments_of, labels_of, text_of
from memhold.ports.models import ChatReply, Rejected, Tool

__all__ = ["MERGE_MEMORIES", "Group", "Judgement", "Partition", "Relation", "merge_memories", "read_partition"]

Relation = Literal["same", "replaces", "contradicts", "adds"]
"""What holds the notes of a group together."""
MAX_TEXT = 6_000
MAX_REASON = 2_000
MAX_GIVEN_LABELS = 60

MERGE_MEMORIES: Final = Tool(
    name="merge_memories",
    description="Say of these memories which belong together, and how; each id stands in exactly one group.",
    parameters={
        "type": "object",
        "properties": {
            "groups": {
                "type": "array",
                "description": "the memories by how they relate; those about other things than all others are `apart`",
                "items": {
                    "type": "object",
                    "properties": {
                        "relation": {"type": "string", "enum": ["same", "replaces", "contradicts", "adds", "apart"]},
                        "ids": {
                            "type": "array",
                            "items": {"type": "string"},
                            "description": "of s1, s2, …: two or more, or any number that are apart",
                        },
                        "current": {
                            "type": "string",
                            "description": "for `replaces`: the id of the one that holds now",
                        },
                        "text": {
                            "type": "string",
                            "description": "the group told as one memory, plain text; empty where you would rather not",
                        },
                        "reason": {"type": "string", "description": "one sentence: why"},
                        "topics": {"type": "array", "items": {"type": "string"}},
                        "entities": {"type": "array", "items": {"type": "string"}},
                    },
                    "required": ["relation", "ids"],
                },
            },
        },
        "required": ["groups"],
    },
)


def merge_memories(count: int) -> Tool:
    """The tool for one request: the ids of the memories that it shows are all that it takes, and no group is empty."""
    parameters = json.loads(json.dumps(MERGE_MEMORIES.parameters))
    groups = parameters["properties"]["groups"]
    held = groups["items"]["properties"]
    shown = {"type": "string", "enum": [f"s{place}" for place in range(1, count + 1)]}
    groups["maxItems"] = count
    held["ids"] |= {"items": shown, "minItems": 1, "maxItems": count}
    held["current"] |= {"enum": ["", *shown["enum"]]}
    return replace(MERGE_MEMORIES, parameters=parameters)


_SHORT: Final[Mapping[str, Relation | None]] = {
    "merge": "same",
    "same": "same",
    "supersede": "replaces",
    "replaces": "replaces",
    "adds": "adds",
    "contradicts": "contradicts",
    "keep_apart": None,
    "apart": None,
}
"""One word about all that was shown, as small models answer for two."""
_READ: Final = replace(
    MERGE_MEMORIES,
    parameters={
        "type": "object",
        "properties": {
            **MERGE_MEMORIES.parameters["properties"],
            **{
                name: {}
                for name in (
                    "apart",
                    "decision",
                    "relation",
                    "current",
                    "text",
                    "reason",
                    "dropped",
                    "topics",
                    "entities",
                )
            },
        },
        "required": ["groups", "apart", "decision", "relation"],
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Memories that belong together, by their places from 0; `text` tells them as one, where the judge gave one.

    `current` is the place of the one that holds now, for `replaces`, where it was named.
    """

    relation: Relation
    places: tuple[int, ...]
    current: int | None = None
    text: str = ""
    reason: str = ""
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """What the judge says of some memories: every place is in one group, or apart from all others."""

    groups: tuple[Group, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What was made of some memories and why: a text in their place, or none."""

    decision: Literal["merge", "keep_apart"]
    reason: str = ""
    text: str = ""
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()


def read_partition(reply: ChatReply, count: int) -> Partition | Rejected:
    """The partition of so many memories that a reply holds, or the shape of why it holds none."""
    try:
        given = arguments_of(reply, _READ)
        if "groups" not in given and "apart" not in given:
            return _of_all(given, count)
        return _partition(given, count)
    except Fault as fault:
        return Rejected(reason=str(fault), refused=fault.refused)


def _partition(given: Mapping[str, Any], count: int) -> Partition:
    items = [item for item in _items(given.get("groups")) if not _says_nothing(item)]
    apart = [_place(one, count) for one in _listed(given.get("apart"))]
    for item in items:
        if item.get("relation") == "apart":
            apart += _places(item, count)
    groups = [_group(item, count) for item in items if item.get("relation") != "apart"]
    # A group of one says nothing of two memories.
    apart += [place for group in groups if len(group.places) == 1 for place in group.places]
    groups = [group for group in groups if len(group.places) > 1]
    named = [*apart, *(place for group in groups for place in group.places)]
    if len(named) != len(set(named)):
        raise Fault("an id stands twice")
    if len(named) != count:
        raise Fault(f"{count - len(named)} of {count} ids stand nowhere")
    return Partition(groups=tuple(groups), reason=_reason(given.get("reason")))


def _says_nothing(item: Mapping[str, Any]) -> bool:
    """Whether a group that merges nothing names no memory: some models answer with one group a relation."""
    return item.get("relation") in {"contradicts", "apart"} and item.get("ids") == []


def _of_all(given: Mapping[str, Any], count: int) -> Partition:
    """One decision about all that was shown."""
    said = given.get("decision", given.get("relation"))
    if not isinstance(said, str) or said not in _SHORT:
        raise Fault("the decision is unknown")
    relation, reason = _SHORT[said], _reason(given.get("reason"))
    if relation is None:
        return Partition(reason=reason)
    if said == "merge" and not given.get("text"):
        raise Fault("the text is missing")
    group = _group({**given, "relation": relation, "ids": [f"s{place + 1}" for place in range(count)]}, count)
    return Partition(groups=(group,), reason=reason)


def _group(given: Mapping[str, Any], count: int) -> Group:
    relation = given.get("relation")
    if relation not in {"same", "replaces", "contradicts", "adds"}:
        raise Fault("a relation is unknown")
    places = _places(given, count)
    current = given.get("current")
    held = _place(current, count) if current not in {None, ""} and relation == "replaces" else None
    if held is not None and held not in places:
        places.append(held)
    text = given.get("text")
    return Group(
        relation=relation,
        places=tuple(sorted(places)),
        current=held,
        text=text_of(text, "text", MAX_TEXT) if text else "",
        reason=_reason(given.get("reason")),
        topics=labels_of(given.get("topics"), "topics", MAX_GIVEN_LABELS),
        entities=labels_of(given.get("entities"), "entities", MAX_GIVEN_LABELS),
    )


def _places(given: Mapping[str, Any], count: int) -> list[int]:
    found = [_place(one, count) for one in _listed(given.get("ids"))]
    if not found:
        raise Fault("a group cites no memory")
    return found


def _reason(value: Any) -> str:
    if value is None or (isinstance(value, str) and not value.strip()):
        return ""
    return text_of(value, "reason", MAX_REASON)


def _items(value: Any) -> list[Mapping[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        raise Fault("groups are no list of objects")
    return value


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise Fault("ids are no list")
    return value


_PLACE: Final = re.compile(r"\A\[?s?(\d{1,4})\]?\Z")


def _place(value: Any, count: int) -> int:
    known = isinstance(value, str | int) and not isinstance(value, bool)
    found = _PLACE.match(str(value).strip()) if known else None
    if found is None or not 1 <= int(found[1]) <= count:
        raise Fault("an id was not shown")
    return int(found[1]) - 1
