"""The async face: an open store, and the scopes that are taken from it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from types import TracebackType
from typing import Any, Self

from holdfast.errors import StoreClosed
from holdfast.model import Scope
from holdfast.runtime import Runtime
from holdfast.scope import AsyncScope

__all__ = ["AsyncHoldfast"]


class AsyncHoldfast:
    """One open store. It belongs to the event loop that opened it.

    Open it with `async with AsyncHoldfast.open(...) as hf`, or `hf = await AsyncHoldfast.open(...)` and `await
    hf.close()`.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    @classmethod
    def open(cls, location: str = "memory.db", **settings: Any) -> Opening:
        """Open a store: a path or `sqlite:///path`, made where it is not there, or `memory://`, kept nowhere.

        Settings are keywords; see `docs/reference/settings.md`. Awaiting the result, or entering it with `async with`,
        opens.

        Raises:
            NotAStore, NewerStore, StoreReadOnly, StoreCorrupt: the file cannot be used; it was left untouched.
            InvalidSetting: a setting is unknown or out of range.
        """
        from holdfast.wiring import build

        async def opened() -> AsyncHoldfast:
            return cls(await build(location, settings))

        return Opening(opened)

    def scope(
        self,
        *,
        namespace: str = "default",
        user: str | None = None,
        agent: str | None = None,
        session: str | None = None,
    ) -> AsyncScope:
        """The verbs for one scope. There is no "all": no user means memories of no user.

        Raises:
            InvalidScope: a name that cannot be used.
        """
        return AsyncScope(self._runtime, Scope(namespace=namespace, user=user, agent=agent, session=session))

    async def settle(self, timeout: float = 30.0) -> bool:  # noqa: ASYNC109 - the contract's name
        """Do due work now until nothing is due, in every scope; False when time ran out or work was put off.

        For tests and scripts: an open store does the same in the background.
        """
        self._runtime.guard()
        try:
            async with asyncio.timeout(timeout):
                return await self._runtime.worker.settle()
        except TimeoutError:
            return False

    async def close(self) -> None:
        """Finish acknowledged writes, give leases back and let go of the file. Idempotent."""
        await self._runtime.worker.stop()
        await self._runtime.store.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class Opening:
    """A store that is about to be opened: await it, or enter it."""

    def __init__(self, opened: Callable[[], Coroutine[Any, Any, AsyncHoldfast]]) -> None:
        self._opened = opened
        self._holdfast: AsyncHoldfast | None = None

    def __await__(self) -> Generator[Any, None, AsyncHoldfast]:
        return self._opened().__await__()

    async def __aenter__(self) -> AsyncHoldfast:
        self._holdfast = await self._opened()
        return self._holdfast

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._holdfast is None:
            raise StoreClosed("this store was never opened")
        await self._holdfast.close()
