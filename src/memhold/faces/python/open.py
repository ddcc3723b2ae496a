"""The two faces, opened: `AsyncMemhold` for async code, `Memhold` for the rest; on a file or on a server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from memhold.faces.python.event_loop_thread import EventLoopThread
from memhold.faces.python.sync import SyncStore
from memhold.ports.data_home import is_served
from memhold.ports.descriptors import refuse_crowd
from memhold.values.errors import InvalidInput, StoreClosed
from memhold.verbs.local_store import LocalStore
from memhold.wiring import build, restore

if TYPE_CHECKING:
    from memhold.ports.maintenance import Restoration
    from memhold.verbs.scope import AsyncScope
    from memhold.verbs.store_protocols import AsyncAdmin, AsyncStore

__all__ = ["AsyncMemhold", "Memhold"]


class AsyncMemhold:
    """One open store, for async code.

    Open it with `async with AsyncMemhold.open(...) as mem`, or `mem = await AsyncMemhold.open(...)` and `await
    mem.close()`. It belongs to the event loop that opened it. Its verbs are those of `AsyncStore`.
    """

    _store: AsyncStore

    if TYPE_CHECKING:

        def __init__(self, store: AsyncStore) -> None: ...

    else:  # who has no type checker is told what to write

        def __init__(self, store: object = None, *more: object, **settings: object) -> None:
            if not hasattr(store, "scope") or more or settings:
                raise _to_be_opened("async with AsyncMemhold")
            self._store = store

    @property
    def admin(self) -> AsyncAdmin:
        """The verbs that look after the whole store, across scopes."""
        return self._store.admin

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
        return self._store.scope(namespace=namespace, user=user, agent=agent, session=session, actor=actor)

    async def settle(self, timeout: float = 30.0, *, namespace: str | None = None) -> bool:  # noqa: ASYNC109 - the contract's name
        """Do due work now until nothing is due, in every scope; False when time ran out or work was put off.

        Args:
            timeout: How many seconds to work at most.
            namespace: Only in the scopes of this one.
        """
        return await self._store.settle(timeout, namespace=namespace)

    async def close(self) -> None:
        """Finish accepted writes, give leases back and let go of the store. Idempotent."""
        await self._store.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._store!r})"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            raise _of_a_scope(type(self).__name__, name)

    def take_over(self, fresh: AsyncMemhold) -> AsyncMemhold:
        """Work on with the store that another one opened; returns the former, to be closed.

        Scopes that were taken before stay on the former.
        """
        former = AsyncMemhold(self._store)
        self._store = fresh._store
        return former

    @classmethod
    def open(cls, location: str | PathLike[str] = "memory.db", **settings: Any) -> Opening:
        """Open a store: a path, `sqlite:///path` or `postgresql://…`, made where it is not there, or `memory://`.

        Or `http://host:port`, one that `memhold serve` keeps: its settings are `token` (or `MEMHOLD_TOKEN` in the
        environment) and `timeout`, in seconds for a call with all its tries.

        Settings are keywords; see `docs/reference/settings.md`. Awaiting the result, or entering it with `async with`,
        opens.

        Raises:
            NotAStore, NewerStore, StoreReadOnly, StoreCorrupt: the store cannot be used; it was left untouched.
            StoreUnreachable: the database cannot be reached.
            InvalidSetting: a setting is unknown or out of range.
            ServerUnreachable, Unauthenticated: the server does not answer, or does not take the token.
        """

        async def opened() -> AsyncMemhold:
            place = _place(location)
            if is_served(place):
                from memhold.faces.remote.remote_store import RemoteStore, reach

                return cls(RemoteStore(*await reach(place, settings)))
            return cls(LocalStore(await build(place, settings)))

        return Opening(opened)

    @staticmethod
    async def restore(backup: str | Path, target: str, *, force: bool = False, key: str | None = None) -> Restoration:
        """Put a backup in the place of a store; see `Memhold.restore`."""
        return await asyncio.to_thread(restore, backup, target, force=force, key=key)


def _place(location: object) -> str:
    """Where a store is, as text.

    Raises:
        InvalidInput: it is neither text nor a path; None is what a variable gives that is not set.
    """
    place = fspath(location) if isinstance(location, PathLike) else location
    if not isinstance(place, str):
        raise InvalidInput(f"cannot open {place!r:.60}; pass a file path, postgresql://… or http://host:port")
    return place


class Opening:
    """A store that is about to be opened: await it, or enter it."""

    def __init__(self, opened: Callable[[], Coroutine[Any, Any, AsyncMemhold]]) -> None:
        self._opened = opened
        self._memhold: AsyncMemhold | None = None

    def __await__(self) -> Generator[Any, None, AsyncMemhold]:
        return self._opened().__await__()

    async def __aenter__(self) -> AsyncMemhold:
        self._memhold = await self._opened()
        return self._memhold

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._memhold is None:
            raise StoreClosed("this store was never opened; enter it with `async with`")
        await self._memhold.close()


def _to_be_opened(face: str) -> InvalidInput:
    return InvalidInput(f'a store is opened by `open`: write `{face}.open("memory.db") as mem:`')


def _of_a_scope(face: str, name: str) -> AttributeError:
    """The error for a name that an open store lacks: it may be a verb, which is of a scope."""
    from memhold.values.hints import did_you_mean, meant
    from memhold.verbs.declaration import verbs_of
    from memhold.verbs.scope import AsyncScope

    if name.startswith("_"):
        return AttributeError(f"{face!r} has no {name!r}", name=name)
    verbs = verbs_of(AsyncScope)
    if found := [name] if name in verbs else meant(name, verbs, 1):
        return AttributeError(f"{face!r} has no {name!r}; write .scope(user=…).{found[0]}(…)", name=name)
    return AttributeError(f"{face!r} has no {name!r}{did_you_mean(name, dir(SyncStore))}", name=name)


class Memhold(SyncStore):
    """One open store, for code that is not async. Thread-safe; close it, or use `with`."""

    if not TYPE_CHECKING:  # a checker knows what it is made of; who has none is told what to write

        def __init__(self, core: object = None, loop: object = None, *more: object, **settings: object) -> None:
            if not isinstance(loop, EventLoopThread) or more or settings:
                raise _to_be_opened("with Memhold")
            super().__init__(core, loop)

        def __getattr__(self, name: str) -> object:
            raise _of_a_scope("Memhold", name)

    @classmethod
    def open(cls, location: str | PathLike[str] = "memory.db", **settings: Any) -> Memhold:
        """Open a store, as `AsyncMemhold.open` does; works inside a running event loop too (notebooks)."""

        async def opened() -> AsyncMemhold:
            return await AsyncMemhold.open(location, **settings)

        try:
            thread = EventLoopThread()
            try:
                return cls(thread.run(opened()), thread)
            except BaseException:
                thread.close()
                raise
        except OSError as error:
            refuse_crowd(_place(location), error)
            raise

    @staticmethod
    def restore(backup: str | Path, target: str, *, force: bool = False, key: str | None = None) -> Restoration:
        """Put a backup in the place of a store that nobody has open; all or nothing.

        The backup is verified, copied beside the target, told to forget what was forgotten since it was made (the
        ledger beside the target knows), verified again, and then takes the target's name in one step. What stood there
        is let go of only after the new store was read back. `key` is that of an encrypted store (default: the setting).

        Raises:
            BackupDamaged: the backup does not agree with its manifest; nothing was changed.
            InvalidInput: there is a store at the target, and `force` was not given.
            StoreBusy: a process has the target open.
            StoreFull, StoreReadOnly: the copy cannot be written; the target is as it was.
        """
        thread = EventLoopThread()
        try:
            return thread.run(asyncio.to_thread(restore, backup, target, force=force, key=key))
        finally:
            thread.close()
