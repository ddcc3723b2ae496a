"""The async face: an open store, and the scopes that are taken from it."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING, Self

from memhold.values.names import checked_name
from memhold.values.records import Scope

if TYPE_CHECKING:
    from memhold.verbs.admin import Admin
    from memhold.verbs.runtime import Runtime
    from memhold.verbs.scope import AsyncScope

__all__ = ["OpenStore", "take_over"]


class OpenStore:
    """One open store. It belongs to the event loop that opened it."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    @property
    def admin(self) -> Admin:
        """The verbs that look after the whole store, across scopes."""
        from memhold.verbs.admin import Admin

        return Admin(self._runtime)

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
        from memhold.verbs.scope import AsyncScope

        return AsyncScope(self._runtime, Scope(namespace=namespace, user=user, agent=agent, session=session))

    async def settle(self, timeout: float = 30.0, *, namespace: str | None = None) -> bool:  # noqa: ASYNC109 - the contract's name
        """Do due work now until nothing is due, in every scope; False when time ran out or work was put off.

        With a `namespace`, only in the scopes of that one. For tests and scripts: an open store does the same in the
        background.
        """
        worker, upkeep = self._runtime.worker, self._runtime.store.upkeep
        self._runtime.guard()
        await self._runtime.after_answer.written()
        try:
            async with asyncio.timeout(timeout):
                if namespace is None:
                    return await worker.settle()
                namespace = checked_name(namespace, "namespace")
                own = [scope for scope in await upkeep.scopes() if scope.namespace == namespace]
                return all([await worker.settle(scope) for scope in own])
        except TimeoutError:
            return False

    async def close(self) -> None:
        """Finish accepted writes, give leases back and let go of the file. Idempotent.

        Takes at most about `close_timeout` seconds; a write that had no turn by then fails with `StoreClosed`. In a
        forked child it does nothing: the file is the parent's.
        """
        if self._runtime.forked:
            return
        self._runtime.guard()
        await self._runtime.after_answer.written()
        drain = self._runtime.settings.drain_seconds
        await self._runtime.worker.finish("mirror", drain)
        await self._runtime.worker.stop(drain)
        try:
            if self._runtime.close_models is not None:
                await self._runtime.close_models()
        finally:
            await self._runtime.store.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def take_over(store: OpenStore, fresh: OpenStore) -> OpenStore:
    """Let a store work on with the parts of one that was opened anew; returns the former parts, to be closed.

    Scopes that were taken before stay on the former parts.
    """
    former = store._runtime  # noqa: SLF001 - the class is of this module
    store._runtime = fresh._runtime  # noqa: SLF001 - as above
    return OpenStore(former)
