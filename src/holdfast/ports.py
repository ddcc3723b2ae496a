"""What the pipeline needs from the outside, as narrow Protocols.

A store runs *units of work*: plain functions over a transaction that is already inside one scope. A unit of work
touches nothing but its transaction, so the store may run it on its own thread, in a group with others, and again when
it lost a race. Models are called between transactions, never inside one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from holdfast.model import (
    Change,
    Due,
    HitKind,
    Kind,
    Memory,
    Message,
    Receipt,
    Scope,
    Session,
    State,
)
from holdfast.packed import Block, Entry

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


__all__ = [
    "ChatModel",
    "ChatReply",
    "ChatRequest",
    "ChatTurn",
    "Clock",
    "EmbeddingModel",
    "Ids",
    "Lease",
    "Listing",
    "Priority",
    "ReadTx",
    "Redactor",
    "Replay",
    "Store",
    "StoreFacts",
    "Tombstone",
    "Tool",
    "ToolCall",
    "Upkeep",
    "Usage",
    "WriteTx",
]

T = TypeVar("T")


# --------------------------------------------------------------------------------------------- time, ids, secrets


class Clock(Protocol):
    """Where the time comes from."""

    def now(self) -> datetime:
        """The current time, aware UTC, in microseconds."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after that many seconds of this clock."""
        ...


class Ids(Protocol):
    """Where ids come from."""

    def new(self, prefix: Literal["msg", "mem", "chg", "ses"]) -> str:
        """A new id such as `msg_0198…`: unique everywhere, sortable by time, and of no meaning for order of work."""
        ...


class Redactor(Protocol):
    """The one stage of ingest that may change what is stored."""

    def redact(self, text: str) -> tuple[str, int]:
        """The text with its secrets replaced, and how many were."""
        ...


# --------------------------------------------------------------------------------------------- the store


class Priority(IntEnum):
    """Who goes first when writes wait together."""

    INTERACTIVE = 0
    WORKER = 1
    IMPORT = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What an idempotency key was used for: the fingerprint of the content and the first receipt."""

    fingerprint: bytes
    receipt: Receipt
    expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """What is left of something forgotten: its id and when; `digest` blocks learning the same content again."""

    id: str
    at: datetime
    change_id: str
    digest: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Which memories to list: oldest first after document number `after`, at most `limit`. None means "any"."""

    kinds: tuple[Kind, ...] | None = None
    states: tuple[State, ...] | None = ("active",)
    agent: str | None = None
    session: str | None = None
    after: int = -1
    limit: int = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFacts:
    """What a store says of itself."""

    backend: str
    location: str
    schema: int
    secret: bytes


class ReadTx(Protocol):
    """A consistent view of one scope (namespace and user). Nothing outside the scope can be reached through it."""

    @property
    def scope(self) -> Scope:
        """The scope that every statement of this transaction is bound to."""
        ...

    @property
    def now(self) -> datetime:
        """The store's clock in this transaction; in a write it is never before the last recorded time."""
        ...

    def session(self, name: str) -> Session | None:
        """The session of that name; "" is the unnamed one."""
        ...

    def find_session(self, session_id: str) -> Session | None:
        """The session of that id (`ses_…`)."""
        ...

    def sessions(self) -> list[Session]:
        """All sessions of the scope, in order of creation."""
        ...

    def messages(
        self,
        session: str,
        *,
        after: int = 0,
        until: int | None = None,
        limit: int | None = None,
        newest: bool = False,
    ) -> list[Message]:
        """Messages of a session with `after < seq <= until`, oldest first; with `newest` the last `limit` of them."""
        ...

    def find_messages(self, ids: Sequence[str]) -> list[Message]:
        """The messages of these ids that are in the scope, in the order of the ids."""
        ...

    def find_memories(self, ids: Sequence[str]) -> list[Memory]:
        """The memories of these ids that are in the scope, in the order of the ids."""
        ...

    def find_numbers(self, numbers: Sequence[int]) -> list[Message | Memory]:
        """The messages and memories with these document numbers, in the order of the numbers."""
        ...

    def list_memories(self, listing: Listing) -> list[Memory]:
        """Memories by kind, state, agent and session, by document number."""
        ...

    def facts(self, *, subject: str, key: str, agent: str | None) -> list[Memory]:
        """Every fact of this subject, key and exactly this agent that is not forgotten, by `valid_from`."""
        ...

    def same_content(self, *, kind: Kind, digest: bytes, agent: str | None) -> Memory | None:
        """The active memory of this kind, agent and content digest, if there is one."""
        ...

    def revisions(self, memory_id: str) -> list[Memory]:
        """All revisions of a memory, oldest first, the current one last."""
        ...

    def held(self, *, as_of: datetime, known_at: datetime | None) -> list[Memory]:
        """The revisions that `known_at` (None: now) knew and that held at `as_of`, retracted ones left out."""
        ...

    def derived(self, ids: Sequence[str]) -> list[Memory]:
        """The memories that name one of these ids as a source."""
        ...

    def changes(self, *, memory_id: str | None = None, after: int = 0, limit: int = 1000) -> list[Change]:
        """Changes with `seq > after`, oldest first; only those that touched one memory when it is given."""
        ...

    def find_change(self, change_id: str) -> Change | None:
        """One change, its effects without content."""
        ...

    def replay(self, verb: str, key_digest: bytes) -> Replay | None:
        """What this idempotency key was used for, unless it has expired."""
        ...

    def tombstone(self, item_id: str) -> Tombstone | None:
        """What is left of a forgotten id."""
        ...

    def blocked(self, digest: bytes) -> bool:
        """Whether content of this digest was forgotten with its sources kept, so that it is not learnt again."""
        ...

    def blocks(self) -> list[Block]:
        """The words index of the scope: its blocks in order of `first` (see `holdfast.packed`)."""
        ...

    def agents(self) -> Mapping[str, int]:
        """The number that stands for each agent of the scope in the words index, from 1."""
        ...

    def due(self) -> list[Due]:
        """The scope's due work, soonest first."""
        ...

    def leased(self) -> int:
        """How many of the scope's due items are leased now."""
        ...

    def counts(self) -> Mapping[tuple[HitKind, str, str], int]:
        """How many rows there are by (kind, tier, state); messages under ("message", "", "active")."""
        ...


class WriteTx(ReadTx, Protocol):
    """A transaction that may change its scope. Everything it does becomes durable together or not at all."""

    def take_session_number(self) -> int:
        """The next session number of the scope, from 1."""
        ...

    def take_numbers(self, count: int) -> int:
        """Take `count` document numbers of the scope; returns the first."""
        ...

    def put_session(self, session: Session) -> None:
        """Insert or replace a session."""
        ...

    def add_messages(self, messages: Sequence[Message]) -> None:
        """Append to the journal."""
        ...

    def put_memory(self, memory: Memory, *, digest: bytes | None = None) -> None:
        """Insert a memory (rev 1), or write its next revision; the revision before is kept with its `unrecorded_at`.

        Raises:
            RevisionConflict: the stored revision is not `memory.rev - 1`.
        """
        ...

    def add_change(self, change: Change) -> Change:
        """Append to the audit trail; returns the change with the next `seq` of its namespace."""
        ...

    def mark_undone(self, change_id: str, by: str | None) -> None:
        """Note which change undid a change (None: it stands again)."""
        ...

    def remember_key(self, verb: str, key_digest: bytes, replay: Replay) -> None:
        """Keep an idempotency key with its fingerprint and receipt."""
        ...

    def agent_number(self, agent: str | None) -> int:
        """The number that stands for an agent in the words index, taken now if it has none; 0 for no agent."""
        ...

    def index(self, entries: Sequence[Entry]) -> None:
        """Append documents to the words index, in rising order of number and after every number that is there."""
        ...

    def unindex(self, numbers: Sequence[int]) -> None:
        """Take documents out of the words index: their entries go, their records become empty."""
        ...

    def flag(self, numbers: Mapping[int, bool]) -> None:
        """Set whether each document is current (active) in its record."""
        ...

    def hide(self, ids: Sequence[str], change_id: str) -> None:
        """Hide messages and memories from every read, as the change's doing; ids that are hidden stay with theirs."""
        ...

    def reveal(self, change_id: str) -> None:
        """Show again what that change hid."""
        ...

    def erase_session(self, name: str) -> None:
        """Remove a session that has no messages left."""
        ...

    def erase_messages(self, ids: Sequence[str], change_id: str) -> None:
        """Remove messages for good and leave tombstones; changes that name one as a source lose their `detail`."""
        ...

    def erase_memories(self, ids: Sequence[str], change_id: str, *, digests: Mapping[str, bytes]) -> None:
        """Remove memories with all their revisions for good and leave tombstones; `digests` block learning again.

        Changes that touched one keep their effects and lose their `detail`.
        """
        ...

    def drop_sources(self, ids: Sequence[str]) -> None:
        """Take these ids out of the sources of every memory that stays."""
        ...

    def put_due(self, kind: str, ref: str, at: datetime) -> None:
        """Make work due at a time; an entry that is there keeps its attempts and takes the earlier time."""
        ...

    def clear_due(self, kind: str, ref: str) -> None:
        """Take due work away: its state no longer implies it."""
        ...

    def clear_index(self) -> None:
        """Empty the words index of the scope, before it is built again."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A claim on one piece of due work until a time; `token` only grows, so an outrun holder is recognised."""

    due: Due
    token: int
    owner: str
    until: datetime


class Upkeep(Protocol):
    """The only verbs of a store that look across scopes: due work and leases, never content."""

    async def claim(self, *, owner: str, kinds: Sequence[str], limit: int, seconds: float) -> list[Lease]:
        """Lease up to `limit` due items that nobody holds, fair over scopes, soonest first."""
        ...

    async def renew(self, lease: Lease, seconds: float) -> bool:
        """Hold a lease longer; False when it was lost."""
        ...

    async def finish(self, lease: Lease) -> bool:
        """Take the due item away; False when the lease was lost."""
        ...

    async def put_off(self, lease: Lease, *, at: datetime, error: str | None, attempt: bool = True) -> bool:
        """Give a due item back until a later time, with the last error as plain text."""
        ...

    async def next_due(self, kinds: Sequence[str]) -> datetime | None:
        """When the soonest unleased item is due."""
        ...

    async def scopes(self) -> list[Scope]:
        """Every (namespace, user) that the store holds anything of."""
        ...

    async def scrub(self) -> str | None:
        """Make forgotten bytes disappear from the store's files; what still holds them, or None when they are gone."""
        ...


class Store(Protocol):
    """One store: scoped units of work, upkeep across scopes, and its own life."""

    @property
    def facts(self) -> StoreFacts:
        """What the store says of itself."""
        ...

    @property
    def upkeep(self) -> Upkeep:
        """The cross-scope verbs."""
        ...

    async def write(
        self, scope: Scope, work: Callable[[WriteTx], T], *, priority: Priority = Priority.INTERACTIVE
    ) -> T:
        """Run a unit of work and return its result once it is durable.

        Concurrent writes may become durable together, each in its own savepoint: one failure fails one caller. A
        cancelled caller's write may still commit.
        """
        ...

    async def read(self, scope: Scope, work: Callable[[ReadTx], T]) -> T:
        """Run a unit of work on a consistent snapshot, beside the writer."""
        ...

    def on_due(self, wake: Callable[[], None]) -> None:
        """Call `wake` (from any thread) after a write of this process made work due."""
        ...

    async def close(self) -> None:
        """Finish what was accepted, then let go of every resource. Idempotent."""
        ...


# --------------------------------------------------------------------------------------------- models


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool that a model may call: `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that a model made.

    `arguments` is exactly what it sent: an object when it is well-formed, else anything.
    """

    id: str
    name: str
    arguments: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTurn:
    """One turn of a request to a model."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """What a model is asked: a system text, turns, and at most one tool that it must call (`tool`)."""

    system: str
    turns: tuple[ChatTurn, ...]
    purpose: str
    tool: Tool | None = None
    max_tokens: int = 4096
    temperature: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens that a call took, as the provider counted them; None where it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """A model's answer, collected from its stream; reasoning text is left out."""

    model: str
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish: Literal["stop", "tool", "length", "refusal", "other"] = "stop"
    usage: Usage = Usage()


class ChatModel(Protocol):
    """A model, or a wrapper that is one: retrying, limited, measured."""

    @property
    def name(self) -> str:
        """The name of the catalog entry."""
        ...

    async def chat(self, request: ChatRequest) -> ChatReply:
        """One answer.

        Raises:
            ModelError: the call failed; it carries its class, status and the provider's code.
        """
        ...


class EmbeddingModel(Protocol):
    """What turns texts into vectors of one generation."""

    @property
    def fingerprint(self) -> str:
        """Which generation its vectors belong to: the model and every setting that changes a vector."""
        ...

    @property
    def dimension(self) -> int | None:
        """The length of its vectors; None until the first answer taught it."""
        ...

    async def embed(self, texts: Sequence[str], *, purpose: Literal["document", "query"]) -> NDArray[np.float32]:
        """Unit vectors, shape (len(texts), dimension), row i for text i.

        Raises:
            ModelError: the call failed; nothing of the batch was embedded.
        """
        ...
