"""A store that this process has open, and the scopes that are taken from it."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING, Self

from memhold.values.names import checked_name, is_within
from memhold.values.records import Scope

if TYPE_CHECKING:
    from memhold.verbs.local_admin import LocalAdmin
    from memhold.verbs.runtime import Runtime
    from memhold.verbs.scope import AsyncScope

__all__ = ["LocalStore"]


class LocalStore:
    """One open store. It belongs to the event loop that opened it."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    @property
    def admin(self) -> LocalAdmin:
        from memhold.verbs.local_admin import LocalAdmin

        return LocalAdmin(self._runtime)

    def scope(
        self,
        *,
        namespace: str = "default",
        user: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        actor: str = "user",
    ) -> AsyncScope:
        from memhold.verbs.local_scope import local_scope

        scope = Scope(namespace=namespace, user=user, agent=agent, session=session, actor=actor)
        return local_scope(self._runtime, scope)

    async def settle(self, timeout: float = 30.0, *, namespace: str | None = None) -> bool:  # noqa: ASYNC109 - the contract's name
        from memhold.verbs.checking import check  # late: who opens a store need not load it
        from memhold.verbs.declaration import verbs_of
        from memhold.verbs.store_protocols import AsyncStore

        check(verbs_of(AsyncStore)["settle"], {"timeout": timeout, "namespace": namespace})
        worker, upkeep = self._runtime.worker, self._runtime.store.upkeep
        self._runtime.guard()
        await self._runtime.after_answer.written()
        try:
            async with asyncio.timeout(timeout):
                if namespace is None:
                    return await worker.settle()
                namespace = checked_name(namespace, "namespace")
                own = [scope for scope in await upkeep.scopes() if is_within(scope.namespace, namespace)]
                return all([await worker.settle(scope) for scope in own])
        except TimeoutError:
            return False

    async def close(self) -> None:
        await self._runtime.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"LocalStore({self._runtime.store.facts.location!r})"
