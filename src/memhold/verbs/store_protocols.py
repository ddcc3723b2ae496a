"""The verbs of an open store, declared: its scopes, its due work, what looks after all of it, and its tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Protocol, Self

from memhold.values.bounds import MAX_DAYS, MAX_USERS
from memhold.verbs.declaration import verb

if TYPE_CHECKING:
    from pathlib import Path

    from memhold.ports.maintenance import Finding, Manifest, Readiness, Rebuilt, Usage, Vectors
    from memhold.ports.models import Tally
    from memhold.ports.vector_blocks import Generation
    from memhold.values.access_tokens import AccessToken, NewToken
    from memhold.values.access_tokens import Right as TokenRight
    from memhold.verbs.scope import AsyncScope

__all__ = ["AsyncAdmin", "AsyncStore", "AsyncTokens"]


class AsyncStore(Protocol):
    """One open store. It belongs to the event loop that opened it."""

    @property
    def admin(self) -> AsyncAdmin:
        """The verbs that look after the whole store, across scopes."""
        ...

    def scope(
        self,
        *,
        namespace: str = "default",
        user: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        actor: str = "user",
    ) -> AsyncScope:
        """The verbs for one scope. There is no "all": no user means memories of no user.

        Args:
            namespace: The isolation boundary.
            user: Whose memory.
            agent: Which agent writes; a read sees its rows and those of no agent. None reads all of the user's.
            session: Where writes go, and whose window is continued.
            actor: In whose name it writes: "user" (a person, through this application), "agent" or "tool", each perhaps
                with a name ("agent:claude-code"). It is recorded with everything written, and never upgraded.

        Raises:
            InvalidScope: a name that cannot be used.
            ScopeDenied: over HTTP, a scope that the token is not bound to.
        """
        ...

    @verb("admin")
    async def settle(self, timeout: float = 30.0, *, namespace: str | None = None) -> bool:  # noqa: ASYNC109 - the contract's name
        """Do due work now until nothing is due, in every scope; False when time ran out or work was put off.

        For tests and scripts: an open store does the same in the background.

        Args:
            timeout: How many seconds to work at most.
            namespace: Only in the scopes of this one, and of those below it.
        """
        ...

    async def close(self) -> None:
        """Finish accepted writes, give leases back and let go of the store. Idempotent.

        Takes at most about 10 seconds, and where another process holds the file, `busy_timeout` for the
        write that waits for it; one that had no turn by then fails with `StoreClosed`. In a forked child it does
        nothing: the file is the parent's.
        """
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class AsyncAdmin(Protocol):
    """The verbs that act on all scopes of a store: `mem.admin`."""

    @property
    def tokens(self) -> AsyncTokens:
        """The verbs for the tokens that a server lets in."""
        ...

    @verb("admin", bounds={"days": (1, MAX_DAYS)})
    async def usage(self, *, days: int | None = None) -> tuple[Usage, ...]:
        """What each namespace holds, by name: counts and bytes. Reads every row of the store.

        Args:
            days: How it grew on the last so many days too (today counts), up to 3,660.

        Raises:
            InvalidInput: the store is in memory.
        """
        ...

    @verb("admin", bounds={"limit": (1, MAX_USERS)})
    async def users(
        self, *, namespace: str = "default", after: str | None = None, limit: int = 1000
    ) -> tuple[str, ...]:
        """Whose memory a namespace holds or held, by name; what is of no user is not listed.

        Args:
            namespace: Of this one, and of those below it (`acme//shop` is below `acme`).
            after: Begin behind this name: the last of the page before.
            limit: At most so many, up to 10,000.

        Raises:
            InvalidScope: a name that cannot be used.
            InvalidInput: no such limit.
        """
        ...

    @verb("admin", bounds={"days": (1, MAX_DAYS)})
    async def model_usage(self, *, days: int | None = None) -> tuple[Tally, ...]:
        """What models were used for, by day, model and purpose.

        Args:
            days: Of the last so many days (today counts); left out: since ever.
        """
        ...

    @verb("admin")
    async def backup(self, target: str | Path, *, progress: Callable[[int, int], None] | None = None) -> Manifest:
        """Copy the store as it is at one moment into a new folder, while others write.

        The folder (mode 0700) holds `memory.db` and `manifest.json`. It appears under its name only after all of it was
        written, synced, read back and compared with the manifest.

        Args:
            target: The folder to make.
            progress: Called with pages copied and pages in all.

        Raises:
            InvalidInput: there is something at the target, or the store is in memory.
            BackupDamaged: what was read back is not what was written; nothing is left at the target.
            StoreCorrupt: the store itself is damaged (pages, or rows that do not agree with their digests).
            StoreFull, StoreReadOnly: the target cannot be written; nothing is left there.
        """
        ...

    @verb("admin")
    async def doctor(
        self, *, repair: Literal["clock", "rows"] | None = None, progress: Callable[[int, int], None] | None = None
    ) -> tuple[Finding, ...]:
        """Look at everything: files, pages, keys, orphans, ledger, clock, then each scope's words index and due work.

        Changes nothing, but for what it is told to repair. Empty when nothing is wrong or worth a note.

        Args:
            repair: `clock` dates as of now what a clock that was ahead dated later, and makes due now what it put off.
                Only where this machine's clock is right. `rows` builds the file's indexes anew where they do not agree
                with its rows, and erases every message and current memory that is damaged: what was derived from one
                stays. Damaged sessions stand as they are from then on, and damaged changes as changes of which only is
                known what they touched.
            progress: Called with scopes looked at and scopes in all.

        Raises:
            InvalidInput: the store is in memory.
        """
        ...

    @verb("admin")
    async def ready(self) -> Readiness:
        """Whether a write is durable now: a small one is made and taken back. Never waits for a model."""
        ...

    @verb("admin")
    async def reindex(
        self, *, namespace: str | None = None, progress: Callable[[int, int], None] | None = None
    ) -> Rebuilt:
        """Build the words index of every scope anew; make due what state implies and is not due.

        One transaction a scope, after interactive writes: a scope is found by its words at every moment, by the old
        index or by the new one.

        Args:
            namespace: Only in the scopes of this one, and of those below it.
            progress: Called with scopes done and scopes in all.
        """
        ...

    @verb("admin")
    async def reembed(self) -> Generation | None:
        """Begin vectors of the embedding that this store was opened with, beside those that are there.

        They are made in the background, or by `settle`, and may be interrupted. Recall goes on with the old ones, and
        says `degraded` where it has not their embedding; once every scope has the new ones they become current and the
        old ones are removed. Returns the generation that this embedding writes; None without an embedding, or while
        another one is being built.

        Raises:
            ModelError, InvalidSetting: the embedding cannot be opened.
        """
        ...

    @verb("admin")
    async def vectors(self) -> Vectors | None:
        """How far the vectors of the embedding are that this store was opened with; None where none were begun.

        Raises:
            ModelError, InvalidSetting: the embedding cannot be opened.
        """
        ...


class AsyncTokens(Protocol):
    """Make, list, revoke and check the tokens that a server lets in: `mem.admin.tokens`."""

    @verb("admin")
    async def create(
        self,
        *,
        namespace: str = "default",
        user: str | None = None,
        agent: str | None = None,
        rights: Sequence[TokenRight] = ("read", "write"),
        label: str = "",
        actor: str = "user",
        expires_in: timedelta | None = None,
    ) -> NewToken:
        """Make a token for one scope; its `secret` is told now and kept nowhere.

        Args:
            namespace: Requests that bring it are bound to this namespace,
            user: to this user,
            agent: and to this agent.
            rights: What it may do; "admin" covers the verbs that look across users of the namespace. "act" makes it a
                service's token: bound to no user, it works for whom each request names, and all that it does is
                recorded with the name of its actor (else its label, else its id).
            label: What a person knows it by, on one line.
            actor: In whose name requests with it write: "user", "agent" or "tool", each perhaps with a name
                ("agent:cursor"). Give an agent a token of its own: what it writes is then never taken for the user's.
            expires_in: How long it counts; left out: until it is revoked.

        Raises:
            InvalidInput: no rights or unknown ones, a user beside "act", a label that is not one printable line, or a
                life that is over.
            InvalidScope: a name that cannot be used.
        """
        ...

    @verb("admin")
    async def list(self, *, namespace: str | None = None) -> tuple[AccessToken, ...]:
        """The tokens, the oldest first, revoked and expired ones too.

        Args:
            namespace: Those of this one; left out: of all.
        """
        ...

    @verb("admin")
    async def revoke(self, token_id: str, *, namespace: str | None = None) -> AccessToken:
        """Revoke a token: from now on no process lets it in. Revoking it again changes nothing.

        Args:
            token_id: Its id.
            namespace: Only if it is of this one.

        Raises:
            NotFound: there is no such token, or it is of another namespace than the one that was given.
        """
        ...

    @verb("admin")
    async def exchange(
        self,
        secret: str,
        *,
        user: str,
        rights: Sequence[TokenRight] | None = None,
        expires_in: timedelta = timedelta(minutes=15),
    ) -> NewToken:
        """A token of one user that lives minutes, for a service's token: what a browser or an agent may be given.

        It counts as long as the service's token does, writes as its actor, and leaves no row: `token` is the service's,
        with the user, the rights and the end of what was made.

        Args:
            secret: The service's token, made with the right "act".
            user: For whom.
            rights: What it may do, of "read" and "write"; left out: what of these the service may.
            expires_in: How long it counts: at most an hour.

        Raises:
            ScopeDenied: the token does not count or is no service's, or it has not these rights.
            InvalidScope: the user cannot be used as a name.
            InvalidInput: a life that is over, or longer.
        """
        ...

    @verb("admin")
    async def check(self, secret: str) -> AccessToken | None:
        """The token that a client sent, where it counts now; None where it does not, whatever the reason is.

        Reads the store each time, so a token that any process revoked is refused at once. Why one was refused is
        logged (`memhold.access`), without it. The day of its last use is noted.

        Args:
            secret: What the client sent.
        """
        ...
