"""The verbs of a scope that keep its memory tidy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from holdfast.answers import Compacted, Retained
from holdfast.model import Author, Kind
from holdfast.scope_context import ScopeContext
from holdfast.transaction import WriteTx

__all__ = ["ScopeCompact"]


class ScopeCompact(ScopeContext):
    """What a scope does about memories that say the same."""

    async def compact(self, *, dry_run: bool = False) -> Compacted:
        """One run of compaction now: notes that say the same become one, and their sources are hidden behind it.

        Exact copies need no model; near-duplicates go to the judge (the setting `compaction`, else `consolidation`),
        and nothing is merged that its check does not account for. Each merge is one change that can be undone. Call it
        again while `more` says so. Days, weeks and months of summaries that are over are rolled up (the setting
        `rollups`), by the same models. With an agent or a session only its own notes are looked at. `dry_run` shows
        what would be looked at and why: it asks no model and changes nothing.
        """
        runtime = self._runtime
        runtime.guard()
        await runtime.asked.written()
        compaction = runtime.compaction
        if compaction is None:
            return Compacted(judged=False, dry_run=dry_run)
        run = compaction().plan if dry_run else compaction().now
        done = await run(self._scope)
        if runtime.rollups is None or self._scope.session is not None:
            return done
        rollups = runtime.rollups()
        told = await (rollups.plan if dry_run else rollups.now)(self._scope)
        return replace(
            done,
            groups=(*done.groups, *told.groups),
            more=done.more or told.more,
            last_error=done.last_error or told.last_error,
        )

    async def retain(
        self,
        *,
        kinds: Sequence[Kind] = ("fact", "note"),
        older_than: timedelta | None = None,
        unused_for: timedelta | None = None,
        most: int | None = None,
        dry_run: bool = True,
    ) -> tuple[Retained, ...]:
        """Hide what is past the age, the inactivity or the count that you choose.

        It lists first: pass `dry_run=False` to hide. Pinned memories stay. What was never used counts as used when it
        was made. Each is hidden by a change of its own, which `undo` takes back; `forget` erases for good.

        Raises:
            InvalidInput: no rule, or one that cannot be meant.
        """
        from holdfast.pipeline.compact.retention import Retention, hide, past

        rules = Retention(kinds=tuple(kinds), older_than=older_than, unused_for=unused_for, most=most)
        found = await self._read(lambda tx: past(tx, rules))
        if dry_run:
            return found
        runtime, hidden = self._runtime, []
        for one in found:

            def work(tx: WriteTx, one: Retained = one) -> str | None:
                secret = runtime.store.facts.secret
                return hide(tx, one, rules, secret=secret, ids=runtime.ids, author=Author(origin="user"))

            change = await runtime.store.write(self._scope, runtime.mirroring(work))
            if change is not None:
                hidden.append(replace(one, change_id=change))
        return tuple(hidden)
