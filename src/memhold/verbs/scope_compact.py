"""The verbs of a scope that keep its memory tidy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from memhold.ports.idempotency import Idempotency
from memhold.ports.transaction import WriteTx
from memhold.values.answers import Compacted, Receipt, Retained
from memhold.values.records import Author, Kind
from memhold.verbs.scope_context import ScopeContext

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
        await runtime.after_answer.written()
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
        idempotency_key: str | None = None,
    ) -> tuple[Retained, ...]:
        """Hide what is past the age, the inactivity or the count that you choose.

        It lists first: pass `dry_run=False` to hide. Pinned memories stay. What was never used counts as used when it
        was made. Each is hidden by a change of its own, which `undo` takes back; `forget` erases for good. The same
        `idempotency_key` again hides nothing and tells what the first call hid; one that was cut short goes on.

        Raises:
            InvalidInput: no rule, or one that cannot be meant.
            IdempotencyConflict: the key came before with other rules.
        """
        from memhold.history.retention import Retention, hide, past, retained

        rules = Retention(kinds=tuple(kinds), older_than=older_than, unused_for=unused_for, most=most)
        whose = [self._scope.agent, self._scope.session]
        once = None if dry_run else self._once("retain", idempotency_key, [rules, *whose])
        if once is not None and (seen := await self._read(once.seen)) is not None:
            return await self._read(lambda tx: retained(tx, seen))
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
        if once is not None:
            ids, changes = tuple(one.id for one in hidden), tuple(one.change_id or "" for one in hidden)
            receipt = await runtime.store.write(
                self._scope, lambda tx: once.once(tx, lambda: Receipt(ids=ids, change_ids=changes))
            )
            if receipt.replayed:  # another call with this key was faster
                return await self._read(lambda tx: retained(tx, receipt))
        return tuple(hidden)

    def _once(self, verb: str, key: str | None, supplied: Any) -> Idempotency | None:
        kept_for = timedelta(days=self._runtime.settings.idempotency_days)
        secret = self._runtime.store.facts.secret
        return Idempotency.of(verb, key, supplied, secret=secret, kept_for=kept_for)
