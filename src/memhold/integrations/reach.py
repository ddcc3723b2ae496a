"""How an adapter calls the verbs from wherever its framework calls it: code that is not async, or any event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from memhold.documents.given_names import session_of
from memhold.faces.python.event_loop_thread import EventLoopThread
from memhold.faces.python.open import AsyncMemhold
from memhold.faces.python.sync import SyncScope, SyncStore
from memhold.values.errors import WrongLoop
from memhold.verbs.scope import AsyncScope

__all__ = ["Call", "Reach"]

T = TypeVar("T")
Call = Callable[[AsyncScope], Coroutine[Any, Any, T]]
"""Work on a scope: one verb, or several that are awaited together."""


class Reach:
    """One scope, and the loop on which its verbs run: `ask` from async code, `run` from code that is not."""

    def __init__(self, scope: SyncScope | AsyncScope) -> None:
        self._core: AsyncScope
        self._loop: EventLoopThread | None
        if isinstance(scope, SyncScope):
            self._core, self._loop = scope._core, scope._loop  # noqa: SLF001 - the same face, for callers of both kinds
        else:
            self._core, self._loop = scope, None

    @classmethod
    def within(
        cls,
        store: SyncStore | AsyncMemhold,
        *,
        namespace: str = "default",
        user: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        actor: str = "user",
    ) -> Reach:
        """A scope of an open store, by the names that the framework gave; they mean what they mean in `scope`.

        A session's id is the framework's own, and ends no turn for what it is written with: see `session_of`.
        """
        named = None if session is None else session_of(session)
        return cls(store.scope(namespace=namespace, user=user, agent=agent, session=named, actor=actor))

    @property
    def scope(self) -> AsyncScope:
        """The verbs themselves; call them through `ask` or `run`."""
        return self._core

    async def ask(self, call: Call[T]) -> T:
        """Do the work from async code. Over `Memhold` from any event loop, over `AsyncMemhold` from its own.

        Raises:
            WrongLoop: it is another loop than the one that opened the `AsyncMemhold`.
        """
        if self._loop is None:
            return await call(self._core)
        return await asyncio.wrap_future(self._loop.submit(call(self._core)))

    def run(self, call: Call[T]) -> T:
        """Do the work from code that is not async, and wait for it; inside a running loop too.

        Raises:
            WrongLoop: the store is an `AsyncMemhold`, whose loop nobody can wait for here.
        """
        if self._loop is None:
            raise WrongLoop("the framework calls this adapter from code that is not async; open it with Memhold.open")
        return self._loop.run(call(self._core))
