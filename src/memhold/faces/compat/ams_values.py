"""What crosses in the shape of `agent-memory-client`: bodies, records and messages, and whose they are."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from memhold.faces.bodies import Items, KnownOnly
from memhold.values.answers import Hit
from memhold.values.errors import InvalidInput, InvalidScope, NotFound
from memhold.values.jsonable import iso
from memhold.values.names import BELOW, checked_name
from memhold.values.principal import Principal, acting_for
from memhold.values.records import Memory, Message, Scope
from memhold.verbs.scope import AsyncScope
from memhold.verbs.store_protocols import AsyncStore

__all__ = [
    "COMPAT",
    "EVENT_MARK",
    "ID_MARK",
    "TYPE_MARK",
    "MessageIn",
    "PolicyBody",
    "PromptBody",
    "RecordIn",
    "RecordsBody",
    "SearchBody",
    "Whose",
    "Window",
    "WorkingBody",
    "client_namespace",
    "message_out",
    "not_mapped",
    "record_out",
    "scope_of",
    "split_id",
    "text_of",
]

COMPAT: Final = "agent-memory-server"
"""The name of this compatibility, as `--compat` takes it."""

ID_MARK: Final = "ams:id:"
"""The field of metadata that a client's own id is kept as: one a field, since one text may have several."""
TYPE_MARK: Final = "ams:type"
EVENT_MARK: Final = "ams:event_date"
_ROLE_MARK: Final = "ams:role"
_EMPTY_MARK: Final = "ams:empty"
_EMPTY: Final = "(empty)"
_ROLES: Final = frozenset({"system", "developer", "user", "assistant"})


def not_mapped(why: str) -> InvalidInput:
    """The refusal of what has no counterpart."""
    return InvalidInput(f"not supported in compatibility mode: {why}")


class _Body(BaseModel):
    model_config = ConfigDict(extra="ignore")


class MessageIn(_Body):
    """One message of a working memory."""

    id: str = Field(min_length=1, max_length=200)
    role: str = Field(min_length=1, max_length=100)
    content: str
    created_at: datetime | None = None

    def message(self) -> dict[str, Any]:
        """The message as the journal takes it; its id, and what the journal has no place for, stand in the metadata.

        No turn is lost: a message without text stands as "(empty)", and what a tool said, which this client gives
        without the call that it answers, as an assistant's line that says so.
        """
        marks: dict[str, Any] = {ID_MARK: self.id}
        content, role = self.content, self.role
        if not content.strip():
            marks[_EMPTY_MARK], content = content, _EMPTY
        if role not in _ROLES:
            marks[_ROLE_MARK], role = role, "assistant"
            content = f"[{self.role}] {content}"
        body: dict[str, Any] = {"role": role, "content": content, "metadata": marks}
        return body | ({"event_time": _aware(self.created_at)} if self.created_at is not None else {})


class RecordIn(_Body):
    """One long-term memory of a client; times of its own making (`created_at`, `last_accessed`) are not taken over."""

    id: str = Field(min_length=1, max_length=200)
    text: str
    session_id: str | None = None
    user_id: str | None = None
    namespace: str | None = None
    topics: Items[str] | None = None
    entities: Items[str] | None = None
    memory_type: str = "semantic"
    event_date: datetime | None = None


class WorkingBody(_Body):
    """A working memory as it is put."""

    messages: Items[MessageIn] = Field(default_factory=list)
    memories: Items[RecordIn] = Field(default_factory=list)
    data: dict[str, Any] | None = None
    context: str | None = None
    user_id: str | None = None
    namespace: str | None = None
    ttl_seconds: int | None = Field(default=None, ge=1, le=10**9)
    long_term_memory_strategy: dict[str, Any] = Field(default_factory=dict)


class RecordsBody(_Body):
    """Long-term memories to store."""

    memories: Items[RecordIn] = Field(max_length=1000)


class SearchBody(KnownOnly):
    """A search; recency weights are passed over, since the ranking is the server's. What is not known is refused."""

    recency_boost: Any = None
    recency_semantic_weight: Any = None
    recency_recency_weight: Any = None
    recency_freshness_weight: Any = None
    recency_novelty_weight: Any = None
    recency_half_life_last_access_days: Any = None
    recency_half_life_created_days: Any = None
    server_side_recency: Any = None
    optimize_query: Any = None
    text: str = ""
    limit: int = Field(default=10, ge=1, le=100)
    offset: int = Field(default=0, ge=0, le=10_000)
    session_id: dict[str, Any] | None = None
    namespace: dict[str, Any] | None = None
    user_id: dict[str, Any] | None = None
    topics: dict[str, Any] | None = None
    entities: dict[str, Any] | None = None
    created_at: dict[str, Any] | None = None
    last_accessed: dict[str, Any] | None = None
    memory_type: dict[str, Any] | None = None
    event_date: dict[str, Any] | None = None
    distance_threshold: float | None = Field(default=None, ge=0)

    def filters(self) -> tuple[str, ...]:
        """The names of the filters that are set, beside whose memory it is."""
        names = ("session_id", "topics", "entities", "created_at", "last_accessed", "memory_type", "event_date")
        given = tuple(name for name in (*names, "offset") if getattr(self, name))
        return given if self.distance_threshold is None else (*given, "distance_threshold")


@dataclass(frozen=True, slots=True)
class Window:
    """How many tokens the client's model takes at once; None where it does not say."""

    tokens: int | None = None


class PromptSession(_Body):
    """Whose window stands before a question."""

    session_id: str | None = None
    user_id: str | None = None
    namespace: str | None = None
    context_window_max: int | None = Field(default=None, ge=1, le=10_000_000)
    model_name: str | None = None


class PromptBody(_Body):
    """A question to make a prompt for."""

    query: str = Field(min_length=1)
    session: PromptSession = PromptSession()
    long_term_search: SearchBody | None = None


class PolicyBody(_Body):
    """What to forget by policy, and what to spare."""

    policy: dict[str, Any] = Field(default_factory=dict)
    pinned_ids: Items[str] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Whose:
    """Whose memory a request of the client names."""

    user: str | None = None
    namespace: str | None = None
    session: str | None = None


def scope_of(memhold: AsyncStore, principal: Principal, whose: Whose) -> AsyncScope:
    """The scope that a request works in: the token's, or another user's of the namespace with the right `act`.

    A namespace that the client names is one below the token's own, and of nobody else.

    Raises:
        ScopeDenied: it names a user who is not the token's.
        InvalidScope: a name that cannot be used, such as a namespace with two strokes together, or none where the
            token acts for users.
        TwoUsers: it names another user than the request's header.
    """
    own = (principal if whose.user is None else acting_for(principal, whose.user)).whose
    namespace = own.namespace
    if whose.namespace is not None and checked_name(whose.namespace, "namespace") != client_namespace(own.namespace):
        if BELOW in whose.namespace or whose.namespace.endswith("/") or whose.namespace.startswith("/"):
            raise InvalidScope("the namespace has strokes at an edge or two together; use single ones within it")
        namespace = f"{own.namespace}{BELOW}{whose.namespace}"
    return memhold.scope(namespace=namespace, user=own.user, agent=own.agent, session=whose.session, actor=own.actor)


def client_namespace(namespace: str) -> str:
    """A namespace as the client knows it: what stands below the token's own, or the token's own."""
    return namespace.rpartition(BELOW)[2]


def split_id(given: str) -> tuple[str, str | None]:
    """An id as `record_out` wrote it: the memory's, and whose it is where that is another user than the token's.

    Raises:
        NotFound: it is none of ours.
    """
    bare, _, user = given.rpartition("~")
    if not user or not bare.startswith("mem_"):
        return given, None
    try:
        return bare, base64.urlsafe_b64decode(user + "=" * (-len(user) % 4)).decode()
    except ValueError:
        raise NotFound(f"no memory {given!r:.80} in this scope", id=given) from None


def record_out(item: Memory | Hit, scope: Scope, principal: Principal | None) -> dict[str, Any]:
    """A memory as the client knows it: its id is the client's own, where it gave one and asks for its own user."""
    own = sorted(name.removeprefix(ID_MARK) for name in item.metadata if name.startswith(ID_MARK))
    foreign = principal is not None and scope.user is not None and scope.user != principal.scope.user
    user = base64.urlsafe_b64encode((scope.user or "").encode()).decode().rstrip("=")
    event = item.metadata.get(EVENT_MARK)
    changed = iso(item.recorded_at if isinstance(item, Memory) else item.created_at)
    return {
        "id": f"{item.id}~{user}" if foreign else (own[0] if own else item.id),
        "text": item.text,
        "session_id": item.session,
        "user_id": scope.user,
        "namespace": client_namespace(scope.namespace),
        "topics": list(item.topics),
        "entities": list(item.entities),
        "memory_type": item.metadata.get(TYPE_MARK, "semantic"),
        "created_at": iso(item.created_at),
        "updated_at": changed,
        "persisted_at": changed,
        "last_accessed": changed,
        "discrete_memory_extracted": "t",
        **({"event_date": event} if event is not None else {}),
    }


def message_out(message: Message) -> dict[str, Any]:
    """A message as the client knows it, under the id that the client gave it."""
    content, marks = message.body.get("content"), message.metadata
    text = content if isinstance(content, str) else message.text
    role = marks.get(_ROLE_MARK, message.role)
    if _ROLE_MARK in marks:
        text = text.removeprefix(f"[{role}] ")
    return {
        "id": marks.get(ID_MARK, message.id),
        "role": role,
        "content": marks.get(_EMPTY_MARK, text),
        "created_at": iso(message.event_time),
        "persisted_at": iso(message.recorded_at),
    }


def text_of(body: Mapping[str, Any]) -> str:
    """The text of a message to send: its content, or the calls that stand for it."""
    content = body.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if isinstance(part, Mapping) and "text" in part)
    return json.dumps(body.get("tool_calls"), ensure_ascii=False) if body.get("tool_calls") else ""


def _aware(moment: datetime) -> datetime:
    """Times of this client without a zone are UTC: its models say so."""
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
