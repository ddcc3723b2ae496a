"""The redaction stage for what is told and for memories of an import; messages have theirs in `redacting`."""

from __future__ import annotations

import json
from dataclasses import replace

from memhold.facts.remember import MemoryInput, fact_text
from memhold.journal.redaction import redacted_value
from memhold.ports.stores import Redactor
from memhold.values.jsonable import body_json
from memhold.values.records import Memory

__all__ = ["redacted_input", "redacted_memory"]


def redacted_input(item: MemoryInput, redactor: Redactor) -> tuple[MemoryInput, int]:
    """A note or a fact with its secrets replaced, and how many there were; a fact's value is judged by its attribute.

    Raises:
        SecretFound: there is one, and it is to be refused.
    """
    fields, count = {}, 0
    for name in ("text", "subject", "attribute", "value", "metadata"):
        given = getattr(item, name)
        held_by = item.attribute or "" if name == "value" else ""
        fields[name], found = redacted_value(given, redactor, place=f"the {name}", name=held_by)
        count += found
    for name in ("topics", "entities"):
        labels, found = redacted_value(list(getattr(item, name)), redactor, place=f"the {name}")
        fields[name] = tuple(labels)
        count += found
    return (replace(item, **fields) if count else item), count


def redacted_memory(memory: Memory, redactor: Redactor) -> Memory:
    """A memory of an import with its secrets replaced.

    Raises:
        SecretFound: there is one, and it is to be refused.
    """
    place = f"memory {memory.id}"
    metadata, count = redacted_value(memory.metadata, redactor, place=place)
    (topics, in_topics), (entities, in_entities) = (
        _redacted_labels(given, redactor, place) for given in (memory.topics, memory.entities)
    )
    quoted = [redactor.redact(one.text, place=place) for one in memory.quotes]
    quotes = tuple(replace(one, text=text) for one, (text, _) in zip(memory.quotes, quoted, strict=True))
    doubts, in_doubts = _redacted_labels(memory.doubts, redactor, place)
    count += in_topics + in_entities + sum(found for _, found in quoted) + in_doubts
    if memory.kind == "fact" and memory.value is not None:
        value, found = redacted_value(memory.value, redactor, place=place, name=memory.attribute or "")
        text = fact_text(memory.subject or "", memory.attribute or "", value) if found else memory.text
    elif memory.about_document.get("json"):
        content, found = redacted_value(json.loads(memory.text), redactor, place=place)
        value, text = memory.value, body_json(content) if found else memory.text
    else:
        value, (text, found) = memory.value, redactor.redact(memory.text, place=place)
    if not count + found:
        return memory
    changed = replace(memory, metadata=metadata, value=value, text=text, topics=topics, entities=entities)
    return replace(changed, quotes=quotes, doubts=doubts)


def _redacted_labels(labels: tuple[str, ...], redactor: Redactor, place: str) -> tuple[tuple[str, ...], int]:
    cleaned = [redactor.redact(label, place=place) for label in labels]
    return tuple(dict.fromkeys(label for label, _ in cleaned)), sum(count for _, count in cleaned)
