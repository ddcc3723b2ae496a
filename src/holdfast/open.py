"""The two faces, opened: `AsyncHoldfast` for async code, `Holdfast` for the rest."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from types import TracebackType
from typing import Any

from holdfast.errors import StoreClosed
from holdfast.memory import OpenStore
from holdfast.sync import Portal, SyncStore
from holdfast.wiring import build

__all__ = ["AsyncHoldfast", "Holdfast"]


class AsyncHoldfast(OpenStore):
    """One open store, for async code.

    Open it with `async with AsyncHoldfast.open(...) as hf`, or `hf = await AsyncHoldfast.open(...)` and `await
    hf.close()`. It belongs to the event loop that opened it.
    """

    @classmethod
    def open(cls, location: str = "memory.db", **settings: Any) -> Opening:
        """Open a store: a path or `sqlite:///path`, made where it is not there, or `memory://`, kept nowhere.

        Settings are keywords; see `docs/reference/settings.md`. Awaiting the result, or entering it with `async with`,
        opens.

        Raises:
            NotAStore, NewerStore, StoreReadOnly, StoreCorrupt: the file cannot be used; it was left untouched.
            InvalidSetting: a setting is unknown or out of range.
        """

        async def opened() -> AsyncHoldfast:
            return cls(await build(location, settings))

        return Opening(opened)


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
            raise StoreClosed("this store was never opened; enter it with `async with`")
        await self._holdfast.close()


class Holdfast(SyncStore):
    """One open store, for code that is not async. Thread-safe; close it, or use `with`."""

    @classmethod
    def open(cls, location: str = "memory.db", **settings: Any) -> Holdfast:
        """Open a store, as `AsyncHoldfast.open` does; works inside a running event loop too (notebooks)."""
        portal = Portal()

        async def opened() -> OpenStore:
            return OpenStore(await build(location, settings))

        try:
            return cls(portal.run(opened()), portal)
        except BaseException:
            portal.close()
            raise
