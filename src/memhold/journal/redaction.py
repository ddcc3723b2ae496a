"""The one redaction stage: what messages, notes and facts hold, before it is stored and before any model sees it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memhold.messages.ingest import Draft
from memhold.messages.shapes import Piece, read_message
from memhold.ports.stores import Redactor
from memhold.values.records import WRITERS

__all__ = ["redacted_draft", "redacted_value"]


def redacted_draft(draft: Draft, redactor: Redactor, *, place: str) -> tuple[Draft, int]:
    """A message with its secrets replaced (text, arguments of calls, results, metadata), and how many there were.

    Raises:
        SecretFound: there is one, and it is to be refused.
    """
    body, in_body = redacted_value(draft.body, redactor, place=place)
    metadata, in_metadata = redacted_value(draft.metadata, redactor, place=f"the metadata of {place}")
    # What is read is made anew from the body; only what stands across its parts is found in it again.
    read = read_message(body) if in_body else None
    text, in_text = redactor.redact(draft.text if read is None else read.text, place=place)
    count = in_body + in_metadata + in_text
    if not count:
        return draft, 0
    cleaned = replace(
        draft, body=body, text=text, metadata=metadata, pieces=draft.pieces if read is None else read.pieces
    )
    return (_as_one(cleaned) if in_text or len(cleaned.pieces) != len(draft.pieces) else cleaned), count


def _as_one(draft: Draft) -> Draft:
    """A draft whose text was changed across its pieces: one piece, of the writer who counts least of them."""
    writer = max(draft.writers, key=WRITERS.index, default=None)
    whole = Piece(kind="words", start=0, end=len(draft.text))
    return replace(draft, pieces=(whole,), claims=(), writers=() if writer is None else (writer,))


def redacted_value(value: Any, redactor: Redactor, *, place: str, name: str = "") -> tuple[Any, int]:
    """Every string of a JSON value, names of fields too, redacted, and how many secrets there were."""
    if isinstance(value, str):
        return _in_json(value, redactor, place) or redactor.redact(value, name=name, place=place)
    if isinstance(value, Mapping):
        return _fields(value, redactor, place=place, name=name)
    if isinstance(value, list):
        items = [redacted_value(item, redactor, place=place, name=name) for item in value]
        return [item for item, _ in items], sum(count for _, count in items)
    return value, 0


def _fields(value: Mapping[str, Any], redactor: Redactor, *, place: str, name: str) -> tuple[dict[str, Any], int]:
    fields: dict[str, Any] = {}
    found = 0
    for key, item in value.items():
        label, in_name = redactor.redact(key, place=place)
        # Two names may become one: none may take the other's value away.
        own, number = label, 2
        while own in fields:
            own, number = f"{label} {number}", number + 1
        fields[own], inside = redacted_value(item, redactor, place=place, name=name if key in _PLAIN_NAMES else key)
        found += in_name + inside
    return fields, found


_PLAIN_NAMES = frozenset({"content", "text", "role", "type", "id", "name"})
_MOST_JSON = 1_000_000


def _in_json(text: str, redactor: Redactor, place: str) -> tuple[str, int] | None:
    """Arguments of a call are JSON in a string: redacted inside, so that they stay JSON.

    None for other text, and for what is nested deeper than can be looked through: that is redacted as text.
    """
    if not (text.startswith("{") and text.endswith("}")) or len(text) > _MOST_JSON:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    try:
        cleaned, count = redacted_value(value, redactor, place=place)
        return (json.dumps(cleaned, ensure_ascii=False), count) if count else None
    except RecursionError:
        return None
