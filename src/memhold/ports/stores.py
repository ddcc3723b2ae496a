"""What the pipeline needs from the outside, as narrow Protocols.

A store runs *units of work*: plain functions over a transaction that is already inside one scope. A unit of work
touches nothing but its transaction, so the store may run it on its own thread, in a group with others, and again when
it lost a race. Models are called between transactions, never inside one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from memhold.values.records import Scope

if TYPE_CHECKING:
    from memhold.ports.models import LinkBook, UsageBook
    from memhold.ports.transaction import ReadTx, WriteTx
    from memhold.ports.vector_blocks import Generation
    from memhold.values.access_tokens import StoredToken
    from memhold.values.answers import Due

__all__ = [
    "CLOSE_SECONDS",
    "LONGEST_LEASE",
    "Clock",
    "Ids",
    "Lease",
    "Priority",
    "Redactor",
    "Store",
    "StoreFacts",
    "Tokens",
    "Upkeep",
]

T = TypeVar("T")

CLOSE_SECONDS = 10.0
"""How long `close` waits for accepted writes: longer than they take, shorter than a service is given to stop."""
LONGEST_LEASE = timedelta(hours=1)
"""No lease runs for longer, and who holds one renews it: one that seems to was taken by a clock that was ahead."""


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

    def new(self, prefix: Literal["msg", "mem", "chg", "ses", "sus"]) -> str:
        """A new id such as `msg_0198…`: unique everywhere, sortable by time, and of no meaning for order of work."""
        ...


class Redactor(Protocol):
    """The one stage of ingest that may change what is stored."""

    def redact(self, text: str, *, name: str = "", place: str = "") -> tuple[str, int]:
        """The text with its secrets replaced, and how many were.

        `name` is that of the field that holds the text, `place` where that stands, for the error.

        Raises:
            SecretFound: there is one, and it is to be refused.
        """
        ...


# --------------------------------------------------------------------------------------------- the store


class Priority(IntEnum):
    """Who goes first when writes wait together."""

    INTERACTIVE = 0
    WORKER = 1
    IMPORT = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFacts:
    """What a store says of itself."""

    backend: str
    location: str
    schema: int
    secret: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A claim on one piece of due work until a time; `token` only grows, so an outrun holder is recognised.

    A lease is lost once the store's clock reached `until`, its due work was cleared, or somebody else claimed it.
    Tokens grow over the whole store, so that work which was cleared and made due again never repeats one.
    """

    due: Due
    token: int
    owner: str
    until: datetime

    @property
    def scope(self) -> Scope:
        """Whose work it is: a namespace and a user."""
        return Scope(namespace=self.due.namespace, user=self.due.user)


class Upkeep(Protocol):
    """The only verbs of a store that look across scopes: due work and leases, never content."""

    async def claim(
        self, *, owner: str, kinds: Sequence[str], limit: int, seconds: float, scope: Scope | None = None
    ) -> list[Lease]:
        """Lease up to `limit` due items that nobody holds: the soonest of each scope, then the second, and so on.

        With a `scope`, only those of its namespace and user; so everywhere below.
        """
        ...

    async def renew(self, lease: Lease, seconds: float) -> bool:
        """ApplyGuard a lease longer; False when it was lost."""
        ...

    async def finish(self, lease: Lease) -> bool:
        """Take the due item away; False when the lease was lost.

        Where `put_due` came since the claim the item stays, unleased and with no attempts.
        """
        ...

    async def put_off(self, lease: Lease, *, at: datetime, error: str | None, attempt: bool = True) -> bool:
        """Give a due item back until a later time, with the last error as plain text; False when the lease was lost.

        With `attempt` it counts as one more attempt, and waits also for what was put since the claim: that would fail
        too. Without it, the item is due at the earliest time that was put since the claim, where that comes first.
        """
        ...

    async def next_due(self, kinds: Sequence[str]) -> datetime | None:
        """When the soonest item can be claimed: its time, or the end of the lease on it; None when there is none."""
        ...

    async def hasten(
        self, kinds: Sequence[str], *, scope: Scope | None = None, failed: bool = True, after: datetime | None = None
    ) -> None:
        """Make due now what failed and was put off, or (`failed=False`) all that waits; what is leased stays.

        With `after` only what is due later than that.
        """
        ...

    async def pending(self, kinds: Sequence[str], *, scope: Scope | None = None, later: bool = False) -> int:
        """How many items are due now, leased or not; with `later` also those whose time is still to come."""
        ...

    async def scopes(self) -> list[Scope]:
        """Every (namespace, user) that the store holds anything of."""
        ...

    async def below(self, scope: Scope) -> list[Scope]:
        """The same scope in every namespace below its own in which the store holds or held anything of its user."""
        ...

    async def users(self, namespace: str, after: str, limit: int) -> list[str]:
        """The users of a namespace and of those below it that ever held anything, by code points, behind a name."""
        ...

    async def index_near(self, scope: Scope, generation: Generation) -> float | None:
        """Bring the store's index of nearest neighbours up to date with a scope's vectors, where it keeps one.

        None when there is nothing left to do, else after how many seconds to go on. It may take minutes.
        """
        ...

    async def scrub(self, *, briefly: bool = False) -> str | None:
        """Make forgotten bytes disappear from the store's files; what still holds them, or None when they are gone.

        With `briefly` it does only what takes well under a second, and answers `"rebuild"` where more is needed.
        """
        ...


class Tokens(Protocol):
    """Who may ask a server, over all scopes: tokens by id, without their secrets."""

    async def add(self, stored: StoredToken) -> None:
        """Keep a new token.

        Raises:
            Conflict: there is one of that id.
        """
        ...

    async def find(self, token_id: str) -> StoredToken | None:
        """The token of that id, revoked and expired ones too, as every process sees it now."""
        ...

    async def read(self, namespace: str | None = None) -> list[StoredToken]:
        """The tokens of a namespace (None: of all), by creation and then by id."""
        ...

    async def revoke(self, token_id: str, at: datetime) -> StoredToken | None:
        """Revoke a token; one that is revoked keeps its time. Returns it as it now is; None where there is none."""
        ...

    async def note_use(self, token_id: str, day: str) -> None:
        """Note the day of its last use; an earlier one changes nothing."""
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

    @property
    def usage(self) -> UsageBook:
        """What models were used for, over all scopes."""
        ...

    @property
    def links(self) -> LinkBook:
        """How the links of model chains fare, over all scopes."""
        ...

    @property
    def tokens(self) -> Tokens:
        """Who may ask a server, over all scopes."""
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
        """Call `wake` (from any thread) after a write of this process made work due; what it raises is only logged.

        A store that hears of other processes calls it for their writes too, also for some that made nothing due.
        """
        ...

    async def close(self) -> None:
        """Finish what was accepted, then let go of every resource. Idempotent."""
        ...
