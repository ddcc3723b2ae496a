"""The verbs for tokens over HTTP: of the namespace that the caller's own token is bound to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from urllib.parse import quote, urlencode

from memhold.faces.remote.transport import Call, Sends
from memhold.faces.remote.wire import EXCHANGE, FORM, USER_TYPE
from memhold.values.access_tokens import AccessToken, NewToken, Right
from memhold.values.errors import InvalidInput, ScopeDenied
from memhold.values.jsonable import from_jsonable
from memhold.values.names import checked_name
from memhold.values.records import Scope
from memhold.verbs.checking import judging
from memhold.verbs.store_protocols import AsyncTokens
from memhold.verbs.token_text import is_sendable, no_service, no_such_token, told

__all__ = ["RemoteTokens", "own_namespace"]


def own_namespace(own: Scope, namespace: str) -> None:
    """Refuse another namespace than the token's.

    Raises:
        ScopeDenied: it is another.
    """
    if checked_name(namespace, "namespace") != own.namespace:
        raise ScopeDenied(f"the token is bound to namespace {own.namespace!r}; name that one", right="admin")


class RemoteTokens:
    """Make, list, revoke and exchange tokens; needs the right `admin`, and for an exchange the right `act`."""

    def __init__(self, transport: Sends, own: Scope) -> None:
        self._transport = transport
        self._own = own

    async def create(
        self,
        *,
        namespace: str = "default",
        user: str | None = None,
        agent: str | None = None,
        rights: Sequence[Right] = ("read", "write"),
        label: str = "",
        actor: str = "user",
        expires_in: timedelta | None = None,
    ) -> NewToken:
        """See `AsyncTokens.create`; in the token's namespace alone. Sent once: look with `list` where no answer came.

        Raises:
            ScopeDenied: another namespace was named, or an actor that is more than the token's.
        """
        own_namespace(self._own, namespace)
        body = {
            "user": user,
            "agent": agent,
            "rights": [*rights],
            "label": label,
            "actor": None if actor == "user" else actor,
            "expires_in": None if expires_in is None else _seconds(expires_in),
        }
        return from_jsonable(
            NewToken, (await self._transport.send(Call(method="POST", path="/v1/tokens", body=body))).data
        )

    async def list(self, *, namespace: str | None = None) -> tuple[AccessToken, ...]:
        """See `AsyncTokens.list`; of the token's namespace alone.

        Raises:
            ScopeDenied: another namespace was named.
        """
        if namespace is not None:
            own_namespace(self._own, namespace)
        found = (await self._transport.send(Call(method="GET", path="/v1/tokens", again=True))).data
        return tuple(from_jsonable(AccessToken, one) for one in found)

    async def revoke(self, token_id: str, *, namespace: str | None = None) -> AccessToken:
        """See `AsyncTokens.revoke`; of the token's namespace alone.

        Raises:
            ScopeDenied: another namespace was named.
        """
        if namespace is not None:
            own_namespace(self._own, namespace)
        if not is_sendable(token_id):
            raise no_such_token(token_id)
        call = Call(method="DELETE", path=f"/v1/tokens/{quote(token_id, safe='')}", again=True)
        return from_jsonable(AccessToken, (await self._transport.send(call)).data)

    async def exchange(
        self,
        secret: str,
        *,
        user: str,
        rights: Sequence[Right] | None = None,
        expires_in: timedelta = timedelta(minutes=15),
    ) -> NewToken:
        """See `AsyncTokens.exchange`; the server keeps nothing of it, so a lost answer costs nothing."""
        if not is_sendable(secret):
            raise no_service()
        form = {
            "grant_type": EXCHANGE,
            "subject_token": checked_name(user, "user"),
            "subject_token_type": USER_TYPE,
            "expires_in": str(_seconds(expires_in)),
        }
        if rights is not None:
            form["scope"] = " ".join(rights)
        headers = {"authorization": f"Bearer {secret}".encode(), "content-type": FORM.encode()}
        raw = urlencode(form).encode()

        async def sent() -> AsyncIterator[bytes]:
            yield raw

        call = Call(method="POST", path="/v1/token-exchange", headers=headers, upload=sent, again=True)
        answer = (await self._transport.send(call)).data
        made = told(answer["access_token"])
        token = AccessToken(
            id=made.token_id,
            namespace=self._own.namespace,
            user=made.user,
            agent=self._own.agent,
            rights=made.rights,
            created_at=made.expires_at - timedelta(seconds=answer["expires_in"]),
            expires_at=made.expires_at,
            actor=self._own.actor,
        )
        return NewToken(token=token, secret=answer["access_token"])

    async def check(self, secret: str) -> AccessToken | None:  # noqa: ARG002 - the protocol's
        """Not over HTTP: a server asks its own store.

        Raises:
            InvalidInput: always.
        """
        raise InvalidInput("a token is checked where the store is; over HTTP send it, and see whether it is let in")


judging(AsyncTokens, RemoteTokens)


def _seconds(span: timedelta) -> int:
    return max(0, int(span.total_seconds()))
