"""A transaction inside one scope: what a unit of work may read, and what it may change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol

from memhold.ports.facts import FactReads, FactWrites
from memhold.ports.postings import Block, Entry
from memhold.ports.vector_blocks import VectorReads, VectorWrites
from memhold.values.filters import Filters
from memhold.values.records import Change, HitKind, Kind, Memory, Message, Scope, Session, State, Tier

if TYPE_CHECKING:
    from memhold.values.answers import Due, Receipt

__all__ = ["NO_NUMBERS", "Listing", "Place", "ReadTx", "Replay", "Tombstone", "WriteTx"]

NO_NUMBERS: Mapping[str, int] = MappingProxyType({})
"""No document numbers by id."""


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


class Place(NamedTuple):
    """A document without its content: its number, its key, the agent that it is of, and when its time is over."""

    number: int
    key: str
    agent: str | None
    expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Filters):
    """Which memories to list: oldest first after document number `after`, at most `limit`; active ones, if not told."""

    states: tuple[State, ...] | None = ("active",)
    after: int = -1
    limit: int = 1000


class ReadTx(FactReads, VectorReads, Protocol):
    """A consistent view of one scope (namespace and user). Nothing outside the scope can be reached through it."""

    @property
    def scope(self) -> Scope:
        """The scope that every statement of this transaction is bound to."""
        ...

    @property
    def now(self) -> datetime:
        """What this transaction's rows are dated: one value, the machine's clock.

        Where that stepped back by up to a day it stands still meanwhile. Due work and leases go by the clock alone.
        """
        ...

    @property
    def damaged(self) -> Mapping[str, int]:
        """What this transaction came upon and left out, since the row does not agree with its digest: numbers by id.

        The number is -1 where it cannot be told, and for a change. An id of it can be forgotten like any other.
        """
        ...

    def session(self, name: str) -> Session | None:
        """The session of that name, as bookkeeping: whoever speaks in it; "" is the unnamed one."""
        ...

    def find_session(self, session_id: str) -> Session | None:
        """The session of that id (`ses_…`)."""
        ...

    def sessions(self) -> list[Session]:
        """All sessions of the scope, whoever speaks in them, in order of creation."""
        ...

    def count_messages(self, sessions: Sequence[str]) -> Mapping[str, int]:
        """How many messages of each of these sessions the scope's agent sees (with no agent: all); none: left out."""
        ...

    def count_waiting(self) -> int:
        """How many messages of the scope stand behind the cursors of their sessions, whoever they are of."""
        ...

    def last_seen(self) -> Mapping[str, datetime]:
        """When the newest message that the scope's agent sees of each session was recorded; none: left out."""
        ...

    def messages(
        self,
        session: str,
        *,
        after: int = 0,
        until: int | None = None,
        limit: int | None = None,
        newest: bool = False,
        every_agent: bool = False,
    ) -> list[Message]:
        """Messages of a session with `after < seq <= until`, oldest first; with `newest` the last `limit` of them.

        Those that the scope's agent sees: its own and those of no agent. With `every_agent` all of them, for upkeep of
        a session as a whole, of which nothing is shown.
        """
        ...

    def find_messages(self, ids: Sequence[str]) -> list[Message]:
        """The messages of these ids that are in the scope, in the order of the ids."""
        ...

    def unattributed(self, *, after: int = -1, limit: int) -> list[Message]:
        """Messages after a document number, hidden ones too, that were stored before it was kept who wrote them.

        A page may be shorter where rows are damaged.
        """
        ...

    def find_memories(self, ids: Sequence[str]) -> list[Memory]:
        """The memories of these ids that are in the scope, in the order of the ids."""
        ...

    def find_numbers(self, numbers: Sequence[int]) -> list[Message | Memory]:
        """The messages and memories with these document numbers, in the order of the numbers.

        Of a message that several wrote, what the writer whose document it is wrote (`memhold.messages.records`).
        """
        ...

    def hidden(self, by: str | None = None) -> list[Message | Memory]:
        """What standing changes, or one of them, hide from every other read (forgetting, undoing), by number."""
        ...

    def list_memories(self, listing: Listing) -> list[Memory]:
        """Memories that pass the filters as they stand, by document number."""
        ...

    def at_paths(self, first: str, until: str, *, after: int = -1, limit: int, former: bool = False) -> list[Memory]:
        """Documents with `first <= key < until`, by key and number; of `first` itself only numbers over `after`.

        Those that stand there now; with `former` also what was replaced, expired or retracted, and nothing hidden.
        Reads no more rows than it returns.
        """
        ...

    def places(self, first: str, until: str) -> list[Place]:
        """Of the documents that stand at `first <= key < until` now, where and whose each is, by key and number.

        Their contents are not read, nor is any digest compared.
        """
        ...

    def newest_memories(
        self,
        kind: Kind,
        *,
        state: State = "active",
        tier: Tier,
        agent: str | None = None,
        session: str | None = None,
        told: bool | None = None,
        limit: int,
    ) -> list[Memory]:
        """The last `limit` memories of a kind, state and tier, newest first; `agent` and `session` as in `Listing`.

        With `told` only those of the origins user and model, or (false) only those of others: however many a client
        writes, it pushes nothing out that the user told.

        Reads no more rows than it returns, save those of other agents and sessions in between.
        """
        ...

    def quoting(self, ids: Sequence[str]) -> list[Message]:
        """The messages that quote one of these ids (`Message.quotes`), each once, hidden ones too, by number."""
        ...

    def same_content(self, *, kind: Kind, digest: bytes, agent: str | None) -> Memory | None:
        """The active memory of this kind, agent and content digest, if there is one."""
        ...

    def revisions(self, memory_id: str) -> list[Memory]:
        """All revisions of a memory as they were written, oldest first, the current one last.

        Each one but the last has as `unrecorded_at` the `recorded_at` of the next.
        """
        ...

    def held(self, *, as_of: datetime, known_at: datetime | None) -> list[Memory]:
        """The revisions that `known_at` (None: now) knew and that held at `as_of`, by document number.

        `known_at` names the last change dated up to then. A revision is known from the change that made it until before
        the one that made the next, in the order of `seq`, so that no clock that jumped reorders them; one that no
        change of its own time made (an imported one) from `recorded_at` until before `unrecorded_at`. It holds from
        `valid_from` until before `valid_to`. Those that `known_at` knew as retracted or merged are left out, and so is
        what is hidden now.
        """
        ...

    def derived(self, ids: Sequence[str]) -> list[Memory]:
        """The memories whose current revision names one of these ids as a source, each once, by document number."""
        ...

    def changes(
        self, *, memory_id: str | None = None, verb: str | None = None, after: int = 0, limit: int = 1000
    ) -> list[Change]:
        """Changes with `seq > after`, oldest first, effects without content.

        Of one memory, those that touched it; else of one verb, where it is given.
        """
        ...

    def find_change(self, change_id: str) -> Change | None:
        """One change, its effects without content."""
        ...

    def progress(self, name: str) -> int:
        """The `seq` up to which the upkeep of that name has read the scope's changes; 0 where it never did."""
        ...

    def lost(self) -> list[str]:
        """Ids that rows of the scope name and that are neither there nor forgotten: those of rows whose id rotted."""
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

    def known(self, ids: Sequence[str]) -> frozenset[str]:
        """Those of these ids that name a message or a memory which the scope has or had: hidden and forgotten too."""
        ...

    def documents(self, *, after: int = -1, limit: int = 1000) -> list[tuple[Message | Memory, bool]]:
        """Messages and current memories with a document number after that one, by number, and whether each is hidden.

        A message that several wrote comes once for each of its writers. A page may be longer by those.
        For upkeep of what is derived from them: it is the only read that sees what is hidden. A page may be shorter
        than `limit` where rows are damaged; only behind the last one it is empty.
        """
        ...

    def blocks(self) -> list[Block]:
        """The words index of the scope: its blocks in order of `first` (see `memhold.ports.postings`)."""
        ...

    def index_rev(self) -> int:
        """A number that changes with every change of the scope's words index: equal numbers, equal blocks."""
        ...

    def agents(self) -> Mapping[str, int]:
        """The number that stands for each agent of the scope in the words index, from 1."""
        ...

    def due(self) -> list[Due]:
        """The scope's due work, leased or not, by time, kind and ref; `token` is that of the newest lease on it."""
        ...

    def due_item(self, kind: str, ref: str) -> Due | None:
        """One piece of it. What a write has looked at here is claimed by nobody before the write has ended."""
        ...

    def overdue(self, kind: str) -> list[str]:
        """The refs of the scope's due work of a kind whose time has come, by time and ref, leased or not."""
        ...

    def leased(self) -> int:
        """How many of the scope's due items are leased now."""
        ...

    def counts(self) -> Mapping[tuple[HitKind, str, str], int]:
        """How many rows there are by (kind, tier, state); messages, also none, under ("message", "", "active")."""
        ...


class WriteTx(ReadTx, FactWrites, VectorWrites, Protocol):
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
        """Append to the journal. Ids are unique within a scope; the same id in another scope is another message."""
        ...

    def rewrite_message(self, message: Message) -> None:
        """Replace body, text and quotes of the message of that id, if it is there: what is erased in it is gone."""
        ...

    def put_writers(self, messages: Sequence[Message], entries: Sequence[Entry]) -> None:
        """Write down who wrote these messages, as their `passages` say, and put their entries into the words index.

        An entry takes the place of the one that its document has; what is hidden stays so.
        """
        ...

    def put_quotes(self, memories: Sequence[Memory]) -> None:
        """Write quotes, standing and doubts into these revisions as they stand; nothing else of them changes."""
        ...

    def put_memory(self, memory: Memory, *, digest: bytes | None = None) -> None:
        """Insert a memory (rev 1), or write its next revision; the revision before is kept with its `unrecorded_at`.

        Without a `digest` the next revision keeps the one that the memory has.

        Raises:
            RevisionConflict: the stored revision is not `memory.rev - 1`.
        """
        ...

    def add_change(self, change: Change) -> int:
        """Append to the audit trail; returns its number, the next `seq` of its namespace.

        Of its effects only ids and revisions are kept; content stands in the revisions they name, and in `detail`.
        """
        ...

    def put_progress(self, name: str, seq: int) -> None:
        """Note how far the upkeep of that name has read the scope's changes."""
        ...

    def mark_undone(self, change_id: str, by: str | None) -> None:
        """Note which change undid a change (None: it stands again)."""
        ...

    def remember_key(self, verb: str, key_digest: bytes, replay: Replay) -> None:
        """Keep an idempotency key with its fingerprint and receipt."""
        ...

    def drop_expired_keys(self) -> datetime | None:
        """Remove the idempotency keys that have expired; returns when the next one does."""
        ...

    def agent_number(self, agent: str | None) -> int:
        """The number that stands for an agent in the words index, taken now if it has none; 0 for no agent."""
        ...

    def index(self, entries: Sequence[Entry]) -> None:
        """Append documents to the words index, in rising order of number and after every number that is there."""
        ...

    def unindex(self, numbers: Sequence[int]) -> None:
        """Take documents out of the indexes: entries and vectors (of every generation) go, records become empty.

        A number that is not in the index is passed over, here and in `flag`: the index may be in the middle of being
        built again.
        """
        ...

    def flag(self, numbers: Mapping[int, bool]) -> None:
        """Set whether each document is current (active) in its record."""
        ...

    def hide(self, ids: Sequence[str], change_id: str) -> None:
        """Hide messages and memories from every read, as the change's doing; ids that are hidden stay with theirs.

        It covers every revision, also one that is written later: a stale apply does not bring a hidden memory back.
        """
        ...

    def reveal(self, change_id: str) -> None:
        """Show again what that change hid."""
        ...

    def erase_session(self, name: str) -> None:
        """Remove a session that has no messages left.

        Raises:
            StoreError: it still has messages, hidden ones included.
        """
        ...

    def erase_rest(self) -> None:
        """Remove what no id reaches of a scope that holds nothing any more: names of agents, revisions that rotted."""
        ...

    def erase_messages(self, ids: Sequence[str], change_id: str, *, numbers: Mapping[str, int] = NO_NUMBERS) -> None:
        """Remove messages for good and leave tombstones; changes that name one as a source lose their `detail`.

        An id that is not in the scope leaves nothing, but for those with document `numbers`: they were seen, so where
        their id reaches nothing (it rotted) their number does.

        Raises:
            StoreCorrupt: one that was seen is reached by neither; nothing of this unit is stored.
        """
        ...

    def erase_memories(
        self,
        ids: Sequence[str],
        change_id: str,
        *,
        digests: Mapping[str, bytes],
        numbers: Mapping[str, int] = NO_NUMBERS,
    ) -> None:
        """Remove memories with all their revisions for good and leave tombstones; `digests` block learning again.

        `digests` maps a memory's id to the digest that its tombstone keeps. An id that is not in the scope leaves
        nothing, but for those with `numbers`, as in `erase_messages`. Changes that touched one, or name one as a
        source, keep their effects and lose their `detail`.

        Raises:
            StoreCorrupt: one that was seen is reached by neither; nothing of this unit is stored.
        """
        ...

    def entomb(self, ids: Sequence[str], change_id: str) -> None:
        """Leave tombstones for what is not there any more, and take it out of all rows that name it."""
        ...

    def drop_sources(self, ids: Sequence[str]) -> None:
        """Take these ids out of the sources and quotes of every memory, in all revisions, without a new revision."""
        ...

    def put_due(self, kind: str, ref: str, at: datetime) -> None:
        """Make work due at a time; an entry that is there keeps its attempts and takes the earlier time.

        A lease on it stays, but what comes while it is leased is not lost with it: `finish` then leaves the entry due
        at the earliest time that was put since the claim; see also `put_off`.
        """
        ...

    def clear_due(self, kind: str, ref: str) -> None:
        """Take due work away: its state no longer implies it. A lease on it is lost, also when it is made due again."""
        ...

    def redate(self) -> int:
        """Date what a clock that was ahead dated as of now, by the machine's clock; returns how many rows that were.

        Messages, revisions and changes that were recorded later than now, and what their dates ended or began; sessions
        and evidence with them. What is dated next is of now too. Their order is that of their numbers, as before. The
        words index keeps the old times until it is built again.
        """
        ...

    def let_stand(self) -> int:
        """Let what is damaged beside messages and memories stand from now on; returns how many rows that were.

        Sessions as they are, without metadata that cannot be read; changes as changes of which is known when they were,
        what they touched and what they forgot, under the verb `damaged`, or without their detail where that alone is
        damaged. What says of itself no id, or no number where one belongs, stays damaged.
        """
        ...

    def clear_index(self) -> None:
        """Empty the words index of the scope, before it is built again."""
        ...
