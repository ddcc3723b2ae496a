"""What holds now, in the shapes in which other systems take memories: mem0's, and the MCP reference server's. Pure.

A memory that came from that system has its id, its times and its members there again, so that what was brought in and
written out is the same. What a shape has no place for is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from memhold.values.records import LINEAGE, TOGETHER, Kind, Memory

__all__ = ["mcp_records", "mem0_entry", "that_hold"]

_PLURAL: Mapping[Kind, str] = {"document": "documents", "raw": "windows that no model has read yet"}
_MEM0 = ("user_id", "agent_id", "run_id", "actor_id", "role", "attributed_to", "expiration_date")
_OURS = frozenset({"source", "source_id", LINEAGE, TOGETHER})
_DAY = timedelta(days=1)


def that_hold(memories: Iterable[Memory], *, now: datetime, left_out: Counter[str]) -> Iterator[Memory]:
    """The facts, notes, instructions and summaries that hold `now`; the others are counted by what they are.

    Their `expires_at` must be when they hold no longer, and not the end of their life in a tier.
    """
    for memory in memories:
        over = memory.valid_to is not None and memory.valid_to <= now
        if memory.kind in _PLURAL:
            left_out[_PLURAL[memory.kind]] += 1
        elif not memory.shown or over or memory.valid_from > now or _is_past(memory.expires_at, now):
            left_out["memories that do not hold now"] += 1
        else:
            yield memory


def mem0_entry(memory: Memory, *, user: str | None) -> dict[str, Any]:
    """A memory as mem0's `get_all` gives one; what mem0 has no member for stands in its metadata."""
    theirs = memory.metadata.get("source") == "mem0"
    held = {name: value for name, value in memory.metadata.items() if name not in (_OURS if theirs else {LINEAGE})}
    promoted = {name: held.pop(name) for name in _MEM0 if theirs and name in held}
    changed = memory.valid_from.isoformat()
    made = held.pop("created_at", changed) if theirs else memory.created_at.isoformat()
    about = {} if theirs else _about(memory, held)
    expires = {} if memory.expires_at is None else {"expiration_date": _last_day(memory.expires_at)}
    return {
        "id": str(memory.metadata["source_id"]) if theirs else memory.id,
        "memory": memory.text,
        "metadata": {**held, **about} or None,
        "created_at": made,
        "updated_at": changed,
        **({} if user is None else {"user_id": user}),
        **({} if memory.agent is None else {"agent_id": memory.agent}),
        **({} if memory.session is None else {"run_id": memory.session}),
        **({"categories": list(memory.topics)} if memory.topics else {}),
        **expires,
        **promoted,
    }


def _about(memory: Memory, held: Mapping[str, Any]) -> dict[str, Any]:
    """What Memhold knows of a memory beside its text, under names that its metadata has not."""
    told = {
        "kind": memory.kind,
        "subject": memory.subject,
        "attribute": memory.attribute,
        "value": memory.value,
        "entities": list(memory.entities),
        "origin": memory.origin,
        "actor": memory.actor,
        "pinned": memory.pinned or None,
        "expires_at": None if memory.expires_at is None else memory.expires_at.isoformat(),
    }
    return {
        f"memhold_{name}" if name in held else name: value for name, value in told.items() if value not in (None, [])
    }


def _last_day(expires: datetime) -> str:
    """The last day on which a memory holds: mem0 ends one with its day."""
    moment = expires.astimezone(UTC)
    midnight = (moment.hour, moment.minute, moment.second, moment.microsecond) == (0, 0, 0, 0)
    return (moment - _DAY if midnight else moment).date().isoformat()


def _is_past(moment: datetime | None, now: datetime) -> bool:
    return moment is not None and moment <= now


def mcp_records(memories: Iterable[Memory], *, user: str | None) -> Iterator[dict[str, Any]]:
    """The lines of `memory.jsonl`: each entity with what was observed of it, then the relations.

    A fact is an observation of its subject, any other memory one of the user. All entities are held until the end,
    since one stands in one line.
    """
    entities: dict[str, tuple[str, dict[str, None]]] = {}
    relations: dict[tuple[str, str, str], None] = {}
    for memory in memories:
        told = memory.metadata if memory.metadata.get("source") == "mcp-memory" else {}
        if "relation" in told and len(memory.entities) == len(("from", "to")):
            relations[memory.entities[0], str(told["relation"]), memory.entities[1]] = None
            continue
        name, kind = _whose(memory, told, user)
        _, observed = entities.setdefault(name, (kind, {}))
        said = memory.text.removeprefix(f"{name}: ") if told else memory.text
        if told.get("source_id") != f"entity {name}":
            observed[said] = None
    for name, (kind, observed) in entities.items():
        yield {"type": "entity", "name": name, "entityType": kind, "observations": [*observed]}
    for start, kind, end in relations:
        yield {"type": "relation", "from": start, "to": end, "relationType": kind}


def _whose(memory: Memory, told: Mapping[str, Any], user: str | None) -> tuple[str, str]:
    """The entity that a memory is an observation of, and of what type that is."""
    if isinstance(told.get("entity"), str):
        return told["entity"], str(told.get("entity_type") or "unknown")
    if memory.kind == "fact" and memory.subject not in {None, "user"}:
        return str(memory.subject), "subject"
    return user or "user", "user"
