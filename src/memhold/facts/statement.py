"""A fact as somebody states it, and what stating it did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from memhold.facts.keys import Operation as ModelOperation
from memhold.values.records import Effect, Importance, Memory, MemoryQuote, Standing, Suspicion, Trust

__all__ = ["Operation", "Statement", "StatementResult"]

Operation = Literal["set", "add", "remove"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A fact as somebody states it.

    `operation` is what the user asked for and always holds. Without it `model` (what a model says that happened), the
    attribute and the `wording` (the sentence it was said in) decide. `own_words` says that the user said it: by
    telling, or in a message of theirs among the `sources`. `turn` is the turn it was said in, where that is known.
    `quotes`, `standing` and `doubts` are those of the memory; `target` is the id of the fact that it is said to change.
    """

    subject: str
    attribute: str
    value: str
    at: datetime
    operation: Operation | None = None
    model: ModelOperation | None = None
    wording: str = ""
    importance: Importance = "mid"
    pinned: bool = False
    expires_at: datetime | None = None
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    trust: Trust = "user"
    own_words: bool = True
    turn: str | None = None
    quotes: tuple[MemoryQuote, ...] = ()
    standing: Standing = "stated"
    doubts: tuple[str, ...] = ()
    target: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementResult:
    """What a statement did: the memory that now says it (None: it found nothing to do), its effects, and why."""

    memory: Memory | None
    effects: tuple[Effect, ...]
    reason: str
    suspicions: tuple[Suspicion, ...] = ()
