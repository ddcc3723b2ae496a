"""The sync face of the verbs for tokens."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from holdfast.access import AccessToken, NewToken, Right
from holdfast.portal import Portal
from holdfast.token_verbs import TokenVerbs

__all__ = ["SyncTokens"]


class SyncTokens:
    """The verbs for tokens, as `TokenVerbs` has them."""

    def __init__(self, core: TokenVerbs, portal: Portal) -> None:
        self._core = core
        self._portal = portal

    def create(
        self,
        *,
        namespace: str = "default",
        user: str | None = None,
        agent: str | None = None,
        rights: Sequence[Right] = ("read", "write"),
        label: str = "",
        expires_in: timedelta | None = None,
    ) -> NewToken:
        """See `TokenVerbs.create`."""
        call = self._core.create(
            namespace=namespace, user=user, agent=agent, rights=rights, label=label, expires_in=expires_in
        )
        return self._portal.run(call)

    def list(self, *, namespace: str | None = None) -> tuple[AccessToken, ...]:
        """See `TokenVerbs.list`."""
        return self._portal.run(self._core.list(namespace=namespace))

    def revoke(self, token_id: str, *, namespace: str | None = None) -> AccessToken:
        """See `TokenVerbs.revoke`."""
        return self._portal.run(self._core.revoke(token_id, namespace=namespace))

    def check(self, secret: str) -> AccessToken | None:
        """See `TokenVerbs.check`."""
        return self._portal.run(self._core.check(secret))
