"""The sync face of what looks after a whole store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import timedelta
    from pathlib import Path

    from memhold.faces.python.event_loop_thread import EventLoopThread
    from memhold.ports.maintenance import Finding, Manifest, Readiness, Rebuilt, Usage, Vectors
    from memhold.ports.models import Tally
    from memhold.ports.vector_blocks import Generation
    from memhold.values.access_tokens import AccessToken, NewToken, Right
    from memhold.verbs.admin import Admin, Progress
    from memhold.verbs.token_verbs import TokenVerbs

__all__ = ["SyncAdmin", "SyncTokens"]


class SyncTokens:
    """The verbs for tokens, as `TokenVerbs` has them."""

    def __init__(self, core: TokenVerbs, portal: EventLoopThread) -> None:
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


class SyncAdmin:
    """The verbs that look after the whole store, as `Admin` has them."""

    def __init__(self, core: Admin, portal: EventLoopThread) -> None:
        self._core = core
        self._portal = portal

    @property
    def tokens(self) -> SyncTokens:
        """See `Admin.tokens`."""
        return SyncTokens(self._core.tokens, self._portal)

    def usage(self) -> tuple[Usage, ...]:
        """See `Admin.usage`."""
        return self._portal.run(self._core.usage())

    def model_usage(self, *, days: int | None = None) -> tuple[Tally, ...]:
        """See `Admin.model_usage`."""
        return self._portal.run(self._core.model_usage(days=days))

    def backup(self, target: str | Path, *, progress: Progress | None = None) -> Manifest:
        """See `Admin.backup`; `progress` is called on another thread."""
        return self._portal.run(self._core.backup(target, progress=progress))

    def doctor(self, *, progress: Progress | None = None) -> tuple[Finding, ...]:
        """See `Admin.doctor`; `progress` is called on another thread."""
        return self._portal.run(self._core.doctor(progress=progress))

    def ready(self) -> Readiness:
        """See `Admin.ready`."""
        return self._portal.run(self._core.ready())

    def reindex(self, *, namespace: str | None = None, progress: Progress | None = None) -> Rebuilt:
        """See `Admin.reindex`; `progress` is called on another thread."""
        return self._portal.run(self._core.reindex(namespace=namespace, progress=progress))

    def reembed(self) -> Generation | None:
        """See `Admin.reembed`."""
        return self._portal.run(self._core.reembed())

    def vectors(self) -> Vectors | None:
        """See `Admin.vectors`."""
        return self._portal.run(self._core.vectors())
