"""What narrows: the one value by which recall, lists, forgetting and undoing say which rows they mean."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Self

from memhold.values.conditions import checked_filter, passes
from memhold.values.errors import InvalidInput
from memhold.values.names import checked_session, folded
from memhold.values.records import ORIGINS, HitKind, Memory, Message, Origin, State, Tier, micros

__all__ = ["Filters"]

_TIMES = (
    "since", "until", "as_of", "known_at", "written_since", "written_until", "unconfirmed_since",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which messages and memories: whose, of which kind, in which state, and of which time.

    What is absent filters nothing; all that is given must hold. A time is not included where it is an end (`until`,
    `written_until`). `since` and `until` go by the time that a row tells of, `written_since` and `written_until` by
    that of the writing, which nobody chooses. An `agent` takes that agent's and agentless rows, a `subject` facts
    about exactly that. `unconfirmed_since` takes what no person has confirmed at that time or later; what the user
    told counts as confirmed when it was told. A filter that only memories can pass lets no message through.

    Raises:
        InvalidInput: there is no such origin, the actor's name is empty, a time is none, or a prefix is empty or
            beside a session.
        InvalidScope: no session can have that name.
        NaiveTime: a time has no zone.
    """

    kinds: tuple[HitKind, ...] | None = None
    states: tuple[State, ...] | None = None
    tiers: tuple[Tier, ...] | None = None
    roles: tuple[str, ...] | None = None
    agent: str | None = None
    speaker: str | None = None
    origin: Origin | None = None
    actor: str | None = None
    session: str | None = None
    session_prefix: str | None = None
    subject: str | None = None
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    written_since: datetime | None = None
    written_until: datetime | None = None
    unconfirmed_since: datetime | None = None
    include_superseded: bool = False

    def __post_init__(self) -> None:
        if self.origin is not None and self.origin not in ORIGINS:
            raise InvalidInput(f"origin is {self.origin!r:.40}; pass one of {', '.join(ORIGINS)}")
        if self.actor == "":
            raise InvalidInput(f"actor is {self.actor!r:.40}; pass the name of a client, an application or a model")
        for name in _TIMES:
            moment = getattr(self, name)
            if moment is not None and not isinstance(moment, datetime):
                raise InvalidInput(f"{moment!r:.40} is not a time; pass an aware datetime")
            if moment is not None:
                micros(moment)
        checked_filter(self.metadata, "metadata")
        object.__setattr__(self, "session", checked_session(self.session))
        if self.session_prefix == "" or None not in {self.session, self.session_prefix}:
            raise InvalidInput(
                "session_prefix is how names of sessions begin: pass it not empty, and without a session"
            )
        if self.session_prefix is not None:
            object.__setattr__(self, "session_prefix", unicodedata.normalize("NFC", self.session_prefix))

    @classmethod
    def of(cls, other: Filters, **more: Any) -> Self:
        """The filters of another value, such as a query, as a value of this class."""
        return cls(**{one.name: getattr(other, one.name) for one in fields(Filters)}, **more)

    @property
    def by(self) -> bool:
        """Whether they say who wrote it."""
        return self.origin is not None or self.actor is not None

    @property
    def written(self) -> bool:
        """Whether they say who wrote it, or when."""
        return self.by or self.written_since is not None or self.written_until is not None

    def wrote(self, origin: Origin, actor: str | None, at: datetime) -> bool:
        """Whether they take what somebody wrote at a time."""
        if (self.origin is not None and origin != self.origin) or (self.actor is not None and actor != self.actor):
            return False
        since, until = self.written_since, self.written_until
        return (since is None or at >= since) and (until is None or at < until)

    def in_session(self, name: str | None) -> bool:
        """Whether they take what stands in a session of that name (None: in no session)."""
        if self.session_prefix is not None:
            return name is not None and name.startswith(self.session_prefix)
        return self.session in {None, name}

    def labelled(self, item: Message | Memory) -> bool:
        """Whether an item has what they ask for in words: speaker, topics, entities and metadata."""
        if not passes(item.metadata, self.metadata):
            return False
        if self.speaker is not None and folded(item.speaker or "") != folded(self.speaker):
            return False
        if isinstance(item, Message):
            return not self.topics and not self.entities
        return _among(self.topics, item.topics) and _among(self.entities, item.entities)

    def take(self, item: Message | Memory) -> bool:
        """Whether an item passes as it stands; what held at another time and the `roles` of messages an index tells."""
        if isinstance(item, Memory):
            kind: HitKind = item.kind
            at, stands = item.created_at, self._stands(item)
        else:
            kind, at, stands = "message", item.recorded_at, self._any
        return (
            stands
            and (self.kinds is None or kind in self.kinds)
            and (self.agent is None or item.agent in {None, self.agent})
            and self.in_session(item.session)
            and self.wrote(item.origin, item.actor, at)
            and (self.since is None or item.event_time >= self.since)
            and (self.until is None or item.event_time < self.until)
            and self.labelled(item)
        )

    @property
    def _any(self) -> bool:
        """Whether they ask for nothing that only memories have, labels apart."""
        return all(one is None for one in (self.states, self.tiers, self.subject, self.unconfirmed_since))

    def _stands(self, memory: Memory) -> bool:
        confirmed = memory.last_confirmed_at or (memory.created_at if memory.origin == "user" else None)
        return (
            self.roles is None
            and (self.states is None or memory.state in self.states)
            and (self.tiers is None or memory.tier in self.tiers)
            and (self.subject is None or memory.subject == self.subject)
            and (self.unconfirmed_since is None or confirmed is None or confirmed < self.unconfirmed_since)
        )


def _among(wanted: tuple[str, ...], held: tuple[str, ...]) -> bool:
    """Whether all of these topics or entities are among those; labels are compared without case."""
    return not wanted or {label.casefold() for label in wanted} <= {label.casefold() for label in held}
