"""What the MCP tools take: one model a tool, and its JSON schema as small as a model likes to read it.

Namespace, user and agent are not here: they come from the connection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

__all__ = [
    "AddMemory",
    "AddMessage",
    "Arguments",
    "Correct",
    "EndSession",
    "Forget",
    "GetContext",
    "MemoryHistory",
    "MemoryStatus",
    "Recall",
    "Remember",
    "input_schema",
    "said_wrong",
]

MAX_TEXT = 1024 * 1024
"""Characters of one text; the journal bounds a message's text at 1 MiB."""

Time = Annotated[str, Field(max_length=64, json_schema_extra={"format": "date-time"})]
Label = Annotated[str, Field(min_length=1, max_length=200)]
Labels = Annotated[list[Label], Field(max_length=50)]
Id = Annotated[str, Field(min_length=5, max_length=100)]
Kind = Literal["fact", "note", "summary", "raw", "rollup"]

SESSION = "The conversation this belongs to, by any name that stays the same; leave out for the unnamed one."
ONLY_SESSION = "Only this conversation; leave out to look across all."
KEY = "Any text that is unique to this write. Sent again with the same key and content, it is still one write."
WHEN = "When it was said (ISO-8601 with a zone, such as 2026-01-31T09:30:00Z); leave out for now."


class Arguments(BaseModel):
    """What every tool takes; an argument that is not named is refused, so that none is ignored in silence."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class _Session(Arguments):
    session: str | None = Field(None, min_length=1, max_length=256, description=SESSION)


class _Write(_Session):
    idempotency_key: str | None = Field(None, min_length=1, max_length=256, description=KEY)


class Remember(_Write):
    """A note, or a fact."""

    text: str | None = Field(None, min_length=1, max_length=MAX_TEXT, description="A note, in one or two sentences.")
    attribute: str | None = Field(
        None, min_length=1, max_length=500, description='What the fact is about, such as "favorite food" or "employer".'
    )
    value: str | None = Field(None, min_length=1, max_length=10_000, description="What it is. Goes with attribute.")
    subject: str = Field("user", min_length=1, max_length=500, description="Of whom or what the fact is.")
    operation: Literal["set", "add", "remove"] | None = Field(
        None,
        description="set replaces the value, add puts one beside it, remove ends it. Left out, the attribute decides.",
    )
    event_time: Time | None = Field(None, description="Since when it holds (ISO-8601 with a zone); leave out for now.")
    importance: Literal["low", "mid", "high"] = Field("mid", description="How much it matters.")
    pinned: bool = Field(default=False, description="Never expires and is never merged away.")
    expires_at: Time | None = Field(None, description="When it may leave (ISO-8601 with a zone).")
    topics: Labels = Field(default_factory=list, description="Topics to filter by later.")
    entities: Labels = Field(default_factory=list, description="People, places and things it names.")

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if self.text is None and (self.attribute is None or self.value is None):
            raise ValueError("pass text for a note, or attribute and value for a fact")
        if self.text is not None and (self.attribute is not None or self.value is not None):
            raise ValueError("pass text, or attribute and value, not both; call twice for both")
        return self


class Recall(Arguments):
    """A question, and filters that narrow it."""

    query: str = Field(
        "", max_length=20_000, description="What to look for, in plain words; leave it empty for the newest."
    )
    limit: int = Field(10, ge=1, le=50, description="Most hits.")
    offset: int = Field(0, ge=0, le=10_000, description="next_offset of the page before.")
    snapshot: str | None = Field(None, max_length=200, description="snapshot of the first page, with offset.")
    cursor: str | None = Field(
        None, max_length=20_000, description="cursor of the page before, all else being the same."
    )
    session: str | None = Field(None, min_length=1, max_length=256, description=ONLY_SESSION)
    kinds: list[Literal["message", "fact", "note", "summary", "raw", "rollup"]] | None = Field(
        None, min_length=1, max_length=6, description="Only these kinds."
    )
    roles: list[Label] | None = Field(None, min_length=1, max_length=10, description="Messages of these roles only.")
    topics: Labels = Field(default_factory=list, description="Only with all of these topics.")
    entities: Labels = Field(default_factory=list, description="Only with all of these entities.")
    since: Time | None = Field(None, description="Of this time or later (ISO-8601 with a zone).")
    until: Time | None = Field(None, description="Of before this time.")
    as_of: Time | None = Field(None, description="Answer with what held at this time.")
    known_at: Time | None = Field(None, description="Answer with what was known at this time.")
    include_superseded: bool = Field(default=False, description="Past values too, marked as such.")


class Forget(Arguments):
    """One id, or filters that all must match."""

    id: Id | None = Field(None, description="A memory (mem_…) or message (msg_…) to forget.")
    session: str | None = Field(None, min_length=1, max_length=256, description="Forget this whole conversation.")
    kinds: list[Kind] | None = Field(None, min_length=1, max_length=5, description="Memories of these kinds.")
    topics: Labels = Field(default_factory=list, description="Memories with these topics.")
    entities: Labels = Field(default_factory=list, description="Memories with these entities.")
    before: Time | None = Field(None, description="Of before this time (ISO-8601 with a zone).")
    after: Time | None = Field(None, description="Of after this time.")
    everything: bool = Field(default=False, description="All that is known of this user. Ask the user first.")
    hide: bool = Field(default=False, description="Hide instead of erase; a person can undo that.")
    keep_sources: bool = Field(default=False, description="Keep the messages that it came from.")
    dry_run: bool = Field(default=False, description="Only list what would go.")
    idempotency_key: str | None = Field(None, min_length=1, max_length=256, description=KEY)

    @model_validator(mode="after")
    def _a_target(self) -> Self:
        filters = [self.session, self.kinds, self.topics, self.entities, self.before, self.after, self.everything]
        if self.id is None and not any(filters):
            raise ValueError("pass an id, or a filter such as session, or everything")
        if self.id is not None and any(filters):
            raise ValueError("pass an id alone, or filters alone")
        return self


class Correct(_Write):
    """A memory and what is true instead."""

    id: Id = Field(description="The fact or note that was never true (mem_…), as recall gave it.")
    value: str = Field(
        min_length=1, max_length=MAX_TEXT, description="The right value of the fact, or text of the note."
    )
    rev: int | None = Field(None, ge=1, description="Only if it is still at this revision.")


class AddMessage(_Write):
    """One line of the journal."""

    text: str = Field(min_length=1, max_length=MAX_TEXT, description="What was said.")
    role: Literal["user", "assistant", "system"] = Field("user", description="Who said it.")
    event_time: Time | None = Field(None, description=WHEN)


class AddMemory(_Write):
    """One turn."""

    prompt: str = Field(min_length=1, max_length=MAX_TEXT, description="What the user said.")
    response: str = Field(min_length=1, max_length=MAX_TEXT, description="What you answered.")
    thought: str | None = Field(
        None, min_length=1, max_length=MAX_TEXT, description="Why you answered so; kept beside it, never searched."
    )
    event_time: Time | None = Field(None, description=WHEN)


class GetContext(_Session):
    """What the window is for, and how large it may be."""

    message: str | None = Field(
        None, min_length=1, max_length=MAX_TEXT, description="The user's new message; it is not stored."
    )
    query: str | None = Field(
        None, min_length=1, max_length=20_000, description="What to look for, where it is not the message."
    )
    budget: int = Field(4000, ge=200, le=1_000_000, description="Most tokens.")
    strategy: Literal["adaptive", "full_history", "memory_first"] = Field(
        "adaptive", description="Whole conversation first, memory first, or whichever fits."
    )
    form: Literal["text", "messages"] = Field("text", description="One text to read, or messages to send to a model.")
    shape: Literal["openai", "anthropic"] = Field("openai", description="The shape of messages.")


class MemoryHistory(Arguments):
    """One item."""

    id: Id = Field(description="A memory (mem_…) or message (msg_…).")
    limit: int = Field(50, ge=1, le=500, description="Most changes, the newest ones.")


class EndSession(_Write):
    """The conversation that is over."""


class MemoryStatus(Arguments):
    """Nothing."""


_SHARED = ("session", "idempotency_key")


def input_schema(model: type[Arguments]) -> dict[str, Any]:
    """The JSON schema of a tool's arguments: titles left out, and what may be absent is optional instead of null."""
    made: dict[str, Any] = _plain(model.model_json_schema())
    made.pop("description", None)
    properties = made.get("properties", {})
    # What every tool takes stands behind what is this tool's own.
    shared = {name: properties.pop(name) for name in _SHARED if name in properties}
    return {**made, "type": "object", "properties": properties | shared}


def _plain(node: Any) -> Any:
    if isinstance(node, list):
        return [_plain(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    found = {name: _plain(item) for name, item in node.items() if name not in {"title", "default", "properties"}}
    if "properties" in node:
        found["properties"] = {name: _plain(item) for name, item in node["properties"].items()}
    if node.get("default") not in (None, [], False, ""):
        found["default"] = node["default"]
    options = [option for option in found.get("anyOf", ()) if option != {"type": "null"}]
    if len(options) == 1:
        del found["anyOf"]
        found = {**options[0], **found}
    return found


def said_wrong(error: ValidationError) -> str:
    """Which arguments cannot be used and why, for the model that sent them; long values are not sent back."""
    lines = []
    for one in error.errors(include_url=False, include_context=False):
        place = ".".join(str(part) for part in one["loc"])
        if one["type"] == "extra_forbidden":
            told = "there is no such argument"
            if place in {"namespace", "user", "agent"}:
                told = "whose memory this is comes from the connection; leave it out"
        else:
            told = one["msg"].removeprefix("Value error, ")
        lines.append(f"{place}: {told}" if place else told)
    return "; ".join(lines)
