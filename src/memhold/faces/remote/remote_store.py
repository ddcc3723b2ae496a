"""A store that a server keeps, as an open Memhold."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, Literal, NoReturn, Self

from memhold.faces.remote.local_token import local_token_of
from memhold.faces.remote.remote_tokens import RemoteTokens, own_namespace
from memhold.faces.remote.scope import remote_scope
from memhold.faces.remote.transport import Acting, Call, Transport
from memhold.faces.remote.wire import ACTOR
from memhold.ports.maintenance import Finding, Manifest, Readiness, Rebuilt, Usage, Vectors
from memhold.ports.models import Tally
from memhold.ports.vector_blocks import Generation
from memhold.values.errors import InvalidInput, InvalidScope, InvalidSetting, ScopeDenied
from memhold.values.jsonable import from_jsonable
from memhold.values.names import checked_name
from memhold.values.origins import acting
from memhold.values.principal import NAMESPACE, ON_BEHALF, PROJECTS, Principal
from memhold.values.records import Scope
from memhold.verbs.checking import judging
from memhold.verbs.scope import AsyncScope
from memhold.verbs.store_protocols import AsyncAdmin, AsyncStore, AsyncTokens

Progress = Callable[[int, int], None]

__all__ = ["RemoteAdmin", "RemoteStore", "reach"]

_SLICE = 40.0
"""How many seconds of a `settle` one call asks for: servers answer within a minute."""


async def reach(location: str, settings: Mapping[str, Any]) -> tuple[Transport, Principal]:
    """A connection to a server, and who the token's holder is there.

    Settings are `token` (or `MEMHOLD_TOKEN` in the environment, or what a server of this account made at its start) and
    `timeout`, in seconds for each call with all its tries.

    Raises:
        InvalidSetting: another setting, which is the server's to choose, or one that cannot be used.
        Unauthenticated: the token does not count.
        ServerUnreachable: there is no answer.
    """
    rest = {name: value for name, value in settings.items() if not (name == "worker" and value is False)}
    token = rest.pop("token", None) or os.environ.get("MEMHOLD_TOKEN") or local_token_of(location)
    timeout = rest.pop("timeout", 60.0)
    if rest:
        name = min(rest)
        raise InvalidSetting(f"{name!r} is the server's to choose; over HTTP pass token and timeout alone", name=name)
    if token is not None and (not isinstance(token, str) or not token.isascii() or not token.isprintable()):
        raise InvalidSetting(
            "token is no text that can be sent; pass it as 'memhold token create' gave it", name="token"
        )
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
        raise InvalidSetting(f"timeout is {timeout!r:.40}; pass seconds greater than 0", name="timeout")
    transport = Transport(location, token=token, timeout=float(timeout))
    try:
        who = (await transport.send(Call(method="GET", path="/v1/scope", again=True))).data
        own = Scope(namespace=who["namespace"], user=who["user"], agent=who["agent"], actor=who["actor"])
        return transport, Principal(scope=own, rights=frozenset(who["rights"]), service=who["service"])
    except BaseException:
        await transport.close()
        raise


class RemoteStore:
    """A store that a server keeps. It belongs to the event loop that opened it."""

    def __init__(self, transport: Transport, principal: Principal) -> None:
        self._transport = transport
        self._principal = principal
        self._own = principal.scope

    @property
    def admin(self) -> RemoteAdmin:
        """The verbs that look after the store, as far as a server lets its callers; needs the right `admin`."""
        return RemoteAdmin(self._transport, self._own)

    def scope(
        self,
        *,
        namespace: str = "default",
        user: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        actor: str = "user",
    ) -> AsyncScope:
        """The verbs for the scope that the token is bound to; the session is free.

        With a token that has the right `act` they are any user's of its namespace, with the right `projects` those of
        a project's memory too.

        It writes as the token's actor, or as one that says less: never as more than the token is.

        Raises:
            InvalidScope: a name that cannot be used; or no user, where the token is a service's.
            ScopeDenied: the token is bound to another scope, or to another actor.
        """
        own, headers = self._own, {}
        asked = None if actor == "user" else actor
        wanted = Scope(namespace=namespace, user=user, agent=agent, session=session, actor=acting(own.actor, asked))
        if wanted.user != own.user and wanted.user is not None and "act" in self._principal.rights:
            own, headers = replace(own, user=wanted.user), {ON_BEHALF: wanted.user}
        elif self._principal.service:
            raise InvalidScope("the token acts for users: say for which, as scope(user=…)")
        if wanted.namespace.startswith(PROJECTS) and "projects" in self._principal.rights:
            own, headers = replace(own, namespace=wanted.namespace), {**headers, NAMESPACE: wanted.namespace}
        if (wanted.namespace, wanted.user, wanted.agent) != (own.namespace, own.user, own.agent):
            raise ScopeDenied(
                f"the token is bound to namespace {own.namespace!r}, user {own.user!r}, agent {own.agent!r}; ask for"
                " that scope, or open with the token of another"
            )
        headers |= {} if asked is None else {ACTOR: asked}
        return remote_scope(Acting(self._transport, headers) if headers else self._transport, wanted)

    async def settle(self, timeout: float = 30.0, *, namespace: str | None = None) -> bool:  # noqa: ASYNC109 - the contract's name
        """See `AsyncStore.settle`; in the token's namespace alone, and needs the right `admin`."""
        if namespace is not None and checked_name(namespace, "namespace") != self._own.namespace:
            raise ScopeDenied(f"the token is bound to namespace {self._own.namespace!r}; settle that one")
        end = monotonic() + timeout
        while True:
            left = max(0.0, end - monotonic())
            body = {"timeout": min(left, _SLICE)}
            call = Call(method="POST", path="/v1/admin/settle", body=body, again=True, timeout=_SLICE + 20.0)
            settled: bool = (await self._transport.send(call)).data["settled"]
            if settled or left <= _SLICE:
                return settled

    async def close(self) -> None:
        """Let go of the connections; what was acknowledged is safe on the server. Idempotent."""
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"RemoteStore({self._transport.url!r})"


class RemoteAdmin:
    """What a server tells whoever has the right `admin`: of the token's namespace, and of the store's health."""

    def __init__(self, transport: Transport, own: Scope) -> None:
        self._transport = transport
        self._own = own

    async def _ask(self, method: str, path: str) -> Any:
        return (await self._transport.send(Call(method=method, path=path, again=True, timeout=600.0))).data

    async def usage(self, *, days: int | None = None) -> tuple[Usage, ...]:
        """See `AsyncAdmin.usage`; of the token's namespace and those below it alone."""
        query = {} if days is None else {"days": days}
        call = Call(method="GET", path="/v1/admin/usage", query=query, again=True, timeout=600.0)
        return tuple(from_jsonable(Usage, one) for one in (await self._transport.send(call)).data)

    async def users(
        self, *, namespace: str = "default", after: str | None = None, limit: int = 1000
    ) -> tuple[str, ...]:
        """See `AsyncAdmin.users`; of the token's namespace alone.

        Raises:
            ScopeDenied: another namespace was named.
        """
        own_namespace(self._own, namespace)
        query = {"after": after, "limit": limit}
        call = Call(method="GET", path="/v1/admin/users", query=query, again=True)
        return tuple((await self._transport.send(call)).data)

    async def doctor(
        self, *, repair: Literal["clock", "rows"] | None = None, progress: Progress | None = None
    ) -> tuple[Finding, ...]:
        """See `AsyncAdmin.doctor`; what it finds in other namespaces stays there. Without progress.

        Raises:
            InvalidInput: it is to repair something: that concerns every namespace.
        """
        if repair is not None:
            raise InvalidInput(f"a store is repaired on its own machine; run 'memhold doctor --repair {repair}' there")
        found = await self._ask("GET", "/v1/admin/doctor")
        if progress is not None:
            progress(1, 1)
        return tuple(from_jsonable(Finding, one) for one in found)

    async def reindex(self, *, namespace: str | None = None, progress: Progress | None = None) -> Rebuilt:
        """See `AsyncAdmin.reindex`; of the token's namespace alone. Without progress.

        Raises:
            ScopeDenied: another namespace was named.
        """
        if namespace is not None:
            own_namespace(self._own, namespace)
        done = from_jsonable(Rebuilt, await self._ask("POST", "/v1/admin/reindex"))
        if progress is not None:
            progress(done.scopes, done.scopes)
        return done

    async def ready(self) -> Readiness:
        """See `AsyncAdmin.ready`."""
        return from_jsonable(Readiness, await self._ask("GET", "/v1/admin/ready"))

    @property
    def tokens(self) -> AsyncTokens:
        """The verbs for the tokens of the token's namespace."""
        return RemoteTokens(self._transport, self._own)

    async def model_usage(self, *, days: int | None = None) -> tuple[Tally, ...]:
        """See `AsyncAdmin.model_usage`; for whoever runs the server, with no token.

        Raises:
            ScopeDenied: it was opened with a token: that is of one namespace.
        """
        query = {} if days is None else {"days": days}
        call = Call(method="GET", path="/v1/admin/models/usage", query=query, again=True)
        return tuple(from_jsonable(Tally, one) for one in (await self._transport.send(call)).data)

    async def backup(self, target: str | Path, *, progress: Progress | None = None) -> Manifest:  # noqa: ARG002
        """Not over HTTP: it is of every namespace.

        Raises:
            InvalidInput: always.
        """
        _there(f"backup {target}")

    async def reembed(self) -> Generation | None:
        """Not over HTTP: it is of every namespace.

        Raises:
            InvalidInput: always.
        """
        _there("reindex --to")

    async def vectors(self) -> Vectors | None:
        """Not over HTTP: they are of every namespace.

        Raises:
            InvalidInput: always.
        """
        _there("reindex --to")


for _home, _face in ((AsyncStore, RemoteStore), (AsyncAdmin, RemoteAdmin)):
    judging(_home, _face)


def _there(command: str) -> NoReturn:
    raise InvalidInput(f"this acts on every namespace and does not cross: run 'memhold {command}' where the store is")
