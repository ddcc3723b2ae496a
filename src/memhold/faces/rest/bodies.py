"""What comes in over HTTP: one model for each body. What the verbs can judge better is left to them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from memhold.values.records import HitKind, Importance, Kind, Shape, State, Tier

__all__ = [
    "AddBody",
    "CompactBody",
    "ContextBody",
    "CorrectBody",
    "ForgetBody",
    "RecallBody",
    "RememberBody",
    "RetainBody",
    "SettleBody",
    "UndoBody",
    "VerdictBody",
]

Names = Annotated[list[str], Field(max_length=50)]
Time = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
Metadata = Annotated[dict[str, Any], Field(description="JSON of the caller's; a recall can ask for it.")]
_MESSAGE = {
    "type": "object",
    "required": ["role"],
    "properties": {"role": {"enum": ["system", "developer", "user", "assistant", "tool", "function"]}},
}
_LONGEST = 86_399_999_999_999.0
"""Seconds: the longest time span that there is, near enough (999,999,999 days)."""
Seconds = Annotated[float, Field(gt=0, le=_LONGEST, allow_inf_nan=False)]
Messages = Annotated[
    Any,
    WithJsonSchema({"anyOf": [_MESSAGE, {"type": "array", "items": _MESSAGE, "maxItems": 10_000}]}),
    Field(description="Messages in the OpenAI chat or the Anthropic shape."),
]


class _Body(BaseModel):
    """Strict: a number is no text, and a field that is not known is refused."""

    model_config = ConfigDict(strict=True, extra="forbid")


class AddBody(_Body):
    """Messages to append to the session's journal, all or none."""

    messages: Messages


class RememberBody(_Body):
    """A note (`text`) or a fact (`attribute`, `value`, `subject`)."""

    text: str | None = None
    attribute: str | None = None
    value: str | None = None
    subject: str = "user"
    operation: Literal["set", "add", "remove"] | None = None
    event_time: Time | None = None
    importance: Importance = "mid"
    pinned: bool = False
    expires_at: Time | None = None
    topics: Names = Field(default_factory=list)
    entities: Names = Field(default_factory=list)
    metadata: Metadata = Field(default_factory=dict)


class CorrectBody(_Body):
    """The value or text that is right."""

    value: str


class RecallBody(_Body):
    """Everything that a recall asks. Filters only narrow."""

    text: str = ""
    limit: int = 10
    offset: int = 0
    kinds: list[HitKind] | None = None
    states: list[State] | None = None
    tiers: list[Tier] | None = None
    roles: list[str] | None = None
    session: str | None = None
    topics: Names = Field(default_factory=list)
    entities: Names = Field(default_factory=list)
    metadata: Metadata = Field(default_factory=dict)
    since: Time | None = None
    until: Time | None = None
    as_of: Time | None = None
    known_at: Time | None = None
    include_superseded: bool = False
    signals: list[str] | None = None
    neighbours: int = 0
    explain: bool = False
    snapshot: str | None = None
    cursor: str | None = None


class ContextBody(_Body):
    """The caller's new messages and the budget of the window to send."""

    messages: Messages | None = None
    budget: int = 8000
    strategy: str = "adaptive"
    shape: Shape = "openai"
    reserve: int | None = None
    query: str | None = None
    tail: int | None = None
    crossover_turn_threshold: int | None = None
    model: str | None = None


class ForgetBody(_Body):
    """What to forget: one item, what passes filters, a session, or everything of the user."""

    item_id: str | None = None
    session: str | None = None
    kinds: list[Kind] | None = None
    topics: Names = Field(default_factory=list)
    entities: Names = Field(default_factory=list)
    before: Time | None = None
    after: Time | None = None
    everything: bool = False
    hard: bool = True
    sources: Literal["erase", "keep"] = "erase"
    dry_run: bool = False
    wait: float = Field(default=1.0, ge=0, le=30)


class CompactBody(_Body):
    """Whether a run is only shown."""

    dry_run: bool = False


class RetainBody(_Body):
    """What is kept, by age and inactivity in seconds and by count; it is only listed unless `dry_run` is false."""

    kinds: list[Kind] = Field(default=["fact", "note"], max_length=50)
    older_than: Seconds | None = None
    unused_for: Seconds | None = None
    most: int | None = Field(default=None, ge=0, le=2**53)
    dry_run: bool = True


class UndoBody(_Body):
    """How to undo: with what stands on it, and whether a model may do it again."""

    cascade: bool = False
    redo: bool = False


class VerdictBody(_Body):
    """Two keys are one concept, or not; a contradicting statement counts, or not."""

    verdict: Literal["same", "different"]


class SettleBody(_Body):
    """How long to work on what is due, in seconds."""

    timeout: float = Field(default=30.0, ge=0, le=600)
