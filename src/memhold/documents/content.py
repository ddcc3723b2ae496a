"""What is put at a path, checked and made ready before any transaction; and a document as it is given back. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memhold.documents.paths import Path, key_of
from memhold.journal.redaction import redacted_value
from memhold.ports.stores import Redactor
from memhold.text.json_fields import steps_of
from memhold.text.stretches import document_words
from memhold.values.documents import Document
from memhold.values.errors import InvalidInput, TooLarge
from memhold.values.jsonable import body_json, json_copy
from memhold.values.records import DOCUMENT, Memory, from_micros, micros

__all__ = ["MAX_BYTES", "Beside", "Content", "checked_content", "document_of", "given_metadata", "redacted_content"]

MAX_BYTES = 8 * 1024 * 1024
"""Largest content, in bytes: of text as UTF-8, of JSON as compact text."""
_MAX_FIELDS = 32
_MAX_FIELD = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What goes with a content: metadata, when its time is over, and of which its words are found."""

    metadata: Mapping[str, Any] = field(default_factory=dict)
    expires_at: datetime | None = None
    index: bool = True
    fields: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What is to stand at a path: its text (JSON as text, where `json` says so) and what goes with it."""

    path: Path
    text: str
    json: bool
    metadata: Mapping[str, Any]
    expires_at: datetime | None
    index: bool
    fields: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What an index holds of it."""
        return document_words(self.path, self.text, self.fields) if self.index else ""

    @property
    def key(self) -> str:
        """The key of its path."""
        return key_of(self.path)


def checked_content(
    path: Path,
    content: object,
    beside: Beside,
) -> Content:
    """The content as it will be stored.

    Raises:
        InvalidInput: it is neither text nor JSON (NaN, 10,000 levels, another type); text that holds NUL or half a
            surrogate pair; metadata that cannot be kept; fields of a text, or what is no field.
        TooLarge: it has more than 8 MiB.
        NaiveTime: the expiry has no zone.
    """
    if content is None:
        raise InvalidInput("content is nothing; pass text or JSON, or delete the document")
    plain = isinstance(content, str)
    if isinstance(content, str):
        if len(content) <= MAX_BYTES and _odd(content):
            raise InvalidInput("content holds NUL or half a surrogate pair; remove them, or put JSON that holds it")
        text = content
    else:
        text = body_json(json_copy(content))
    size = len(text) if text.isascii() or len(text) > MAX_BYTES else len(text.encode())
    if size > MAX_BYTES:
        raise TooLarge(
            f"content has {size:,} bytes; at most {MAX_BYTES:,} fit one document: split it over several paths",
            size=size,
            limit=MAX_BYTES,
        )
    if beside.expires_at is not None:
        micros(beside.expires_at)
    kept = json_copy(beside.metadata)
    if DOCUMENT in kept:
        raise InvalidInput(f"metadata has the name {DOCUMENT!r}, which Memhold keeps for itself; choose another")
    named = _checked_fields(beside.fields or (), plain=plain)
    return Content(
        path=path,
        text=text,
        json=not plain,
        metadata=kept,
        expires_at=beside.expires_at,
        index=beside.index,
        fields=named,
    )


def _checked_fields(fields: Sequence[str], *, plain: bool) -> tuple[str, ...]:
    """The fields, each once.

    Raises:
        InvalidInput: they are no list of fields, or the content is text, which has none.
        TooLarge: they are more than 32, or one has more than 256 characters.
    """
    if isinstance(fields, str | bytes) or not isinstance(fields, Sequence):
        raise InvalidInput(f"fields is {fields!r:.60}; pass a list of them, such as ['title', 'chapters[*].text']")
    if fields and plain:
        raise InvalidInput("fields are members of JSON, and the content is text; put JSON, or leave fields out")
    size = max(map(len, filter(_is_text, fields)), default=0)
    if len(fields) > _MAX_FIELDS or size > _MAX_FIELD:
        raise TooLarge(
            f"{len(fields)} fields of up to {size} characters; at most {_MAX_FIELDS} of {_MAX_FIELD} are possible",
            size=max(len(fields), size),
            limit=_MAX_FIELDS if len(fields) > _MAX_FIELDS else _MAX_FIELD,
        )
    for one in fields:
        if not _is_text(one) or _odd(one) or steps_of(one) is None:
            raise InvalidInput(f"{one!r:.60} is no field; it is such as 'title', 'author.name', 'chapters[*].text'")
    return tuple(dict.fromkeys(fields))


def _is_text(one: object) -> bool:
    return isinstance(one, str)


def _odd(text: str) -> bool:
    """Whether a text holds what not every store can keep: NUL, or half a surrogate pair."""
    try:
        return b"\0" in text.encode()
    except UnicodeEncodeError:
        return True


def redacted_content(given: Content, redactor: Redactor) -> tuple[Content, int]:
    """The content without its secrets, and how many there were. JSON stays JSON; a path is a name, and no secret.

    Raises:
        SecretFound: there is one, and it is to be refused.
    """
    value = json.loads(given.text) if given.json else given.text
    cleaned, count = redacted_value(value, redactor, place="the content")
    metadata, more = redacted_value(given.metadata, redactor, place="the metadata")
    if not count + more:
        return given, 0
    text = body_json(cleaned) if given.json else cleaned
    return replace(given, text=text, metadata=metadata), count + more


def given_metadata(memory: Memory) -> dict[str, Any]:
    """A document's metadata as the caller gave it."""
    return {name: value for name, value in memory.metadata.items() if name != DOCUMENT}


def document_of(memory: Memory, *, content: bool = True) -> Document:
    """A document as it is given back; without `content` that is None."""
    about, text, kept = memory.about_document, memory.text, dict(memory.metadata)
    kept.pop(DOCUMENT, None)
    created = about.get("created_at")
    value: Any = None
    if content:
        value = json.loads(text) if about.get("json") else text
    return Document(
        path=memory.path,
        rev=memory.number + 1,
        id=memory.id,
        content=value,
        size=len(text) if text.isascii() else len(text.encode()),
        created_at=from_micros(created) if isinstance(created, int) else memory.created_at,
        updated_at=memory.created_at,
        expires_at=memory.expires_at,
        metadata=kept,
        index=bool(about.get("index", True)),
        fields=tuple(about.get("fields") or ()),
        state=memory.state,
        origin=memory.origin,
        actor=memory.actor,
        agent=memory.agent,
    )
