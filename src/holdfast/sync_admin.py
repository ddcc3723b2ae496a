"""The sync face of what looks after a whole store."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.admin import Admin, Progress
    from holdfast.inference import Tally
    from holdfast.keeping import Finding, Manifest, Rebuilt, Usage
    from holdfast.portal import Portal
    from holdfast.vectors import Generation

__all__ = ["SyncAdmin"]


class SyncAdmin:
    """The verbs that look after the whole store, as `Admin` has them."""

    def __init__(self, core: Admin, portal: Portal) -> None:
        self._core = core
        self._portal = portal

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

    def reindex(self, *, progress: Progress | None = None) -> Rebuilt:
        """See `Admin.reindex`; `progress` is called on another thread."""
        return self._portal.run(self._core.reindex(progress=progress))

    def reembed(self) -> Generation | None:
        """See `Admin.reembed`."""
        return self._portal.run(self._core.reembed())
