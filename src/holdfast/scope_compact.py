"""The verbs of a scope that keep its memory tidy."""

from __future__ import annotations

from holdfast.answers import Compacted
from holdfast.scope_context import ScopeContext

__all__ = ["ScopeCompact"]


class ScopeCompact(ScopeContext):
    """What a scope does about memories that say the same."""

    async def compact(self, *, dry_run: bool = False) -> Compacted:
        """One run of compaction now: notes that say the same become one, and their sources are hidden behind it.

        Exact copies need no model; near-duplicates go to the judge (the setting `compaction`, else `consolidation`),
        and nothing is merged that its check does not account for. Each merge is one change that can be undone. Call it
        again while `more` says so. With an agent or a session only its own notes are looked at. `dry_run` shows what
        would be looked at and why: it asks no model and changes nothing.
        """
        runtime = self._runtime
        runtime.guard()
        await runtime.asked.written()
        compaction = runtime.compaction
        if compaction is None:
            return Compacted(judged=False, dry_run=dry_run)
        run = compaction().plan if dry_run else compaction().now
        return await run(self._scope)
