"""Forgetting in a scope, and in the namespaces below it where it is of everything; and how its bytes disappear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memhold.facts.remember import Writer
from memhold.history.forget import Sources, Target, damaged_numbers, forget_once, plan, report, together
from memhold.history.forget import forget as forget_rows
from memhold.ports.idempotency import Idempotency
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.values.answers import Erasure
from memhold.values.bounds import MAX_PAGE
from memhold.values.errors import InvalidInput, NotFound
from memhold.values.filters import Filters
from memhold.values.records import Scope
from memhold.verbs.runtime import Runtime
from memhold.verbs.transactions import Transactions

__all__ = ["Asked", "erased_to_the_end", "forget"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Filters):
    """What a forget asks: what is to go, by ids or by filters, and how."""

    item_id: str | None = None
    ids: tuple[str, ...] = ()
    before: datetime | None = None
    after: datetime | None = None
    everything: bool = False
    hard: bool = True
    sources: Sources = "erase"
    dry_run: bool = False
    wait: float = 1.0

    @property
    def target(self) -> Target:
        """What is to go.

        Raises:
            InvalidInput: no target, ids and filters together, or too many ids.
        """
        if self.item_id is not None and self.ids:
            raise InvalidInput("name one item_id, or several ids")
        if len(self.ids) > MAX_PAGE:
            raise InvalidInput(f"{len(self.ids):,} ids are too many; pass at most {MAX_PAGE:,}")
        return Target(
            ids=tuple(dict.fromkeys(self.ids)) if self.item_id is None else (self.item_id,),
            filters=replace(Filters.of(self), since=_just_after(self.after), until=self.before),
            everything=self.everything,
        )


def _just_after(moment: datetime | None) -> datetime | None:
    """The next time that there is: what is of a time is not of after it."""
    if moment is None or moment.replace(tzinfo=None) == datetime.max:  # noqa: DTZ901 - with any zone
        return moment
    return moment + timedelta(microseconds=1)


async def forget(here: Transactions, asked: Asked, *, idempotency_key: str | None) -> Erasure:
    """Forget it, also a row whose id rotted: that id is shown, and no index has it."""
    target = asked.target
    once = here.once("forget", idempotency_key, [target, asked.sources, asked.hard, here.scope.agent])
    forgetting = _Forgetting(target=target, sources=asked.sources, hard=asked.hard, writer=here.writer)
    try:
        return await _done(here, forgetting, asked, once)
    except NotFound:
        numbers = await here.read(lambda tx: damaged_numbers(tx, target.ids)) if target.ids else {}
        if not numbers:
            raise
        return await _done(here, replace(forgetting, target=replace(target, numbers=numbers)), asked, once)


async def _done(here: Transactions, forgetting: _Forgetting, asked: Asked, once: Idempotency | None) -> Erasure:
    if asked.dry_run:
        return await _would_forget(here, forgetting)
    return await _forgotten(here, forgetting, once, wait=asked.wait)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Forgetting:
    """What is to be forgotten, how, and in whose name."""

    target: Target
    sources: Sources
    hard: bool
    writer: Writer

    def would(self, tx: ReadTx) -> Erasure:
        """What would go here."""
        going = plan(tx, self.target, sources=self.sources, hard=self.hard, agent=self.writer.agent)
        return report(going, hard=self.hard)

    def done(self, tx: WriteTx, change_id: str | None) -> Erasure:
        """Forget it here, as the change of that id where there was one below."""
        return forget_rows(
            tx,
            self.target,
            sources=self.sources,
            hard=self.hard,
            writer=self.writer,
            change_id=change_id,
        )


async def _would_forget(here: Transactions, forgetting: _Forgetting) -> Erasure:
    """What would go, here and below."""
    below = await here.below() if forgetting.target.everything else []
    found = [(place.scope.namespace, await place.read(forgetting.would)) for place in below]
    return together(await here.read(forgetting.would), found)


async def _forgotten(here: Transactions, forgetting: _Forgetting, once: Idempotency | None, *, wait: float) -> Erasure:
    """Forget it here and below, under one change id; how far the bytes are gone."""
    # What was forgotten once reaches nothing that was told below since.
    again = once is not None and await here.read(once.seen) is not None
    below = await here.below() if forgetting.target.everything and not again else []
    change_id = None
    done: list[tuple[str, Erasure]] = []

    def work(tx: WriteTx, below: Sequence[tuple[str, Erasure]] = ()) -> Erasure:
        def run() -> Erasure:
            return together(forgetting.done(tx, change_id), below)

        return run() if once is None else forget_once(tx, once, run, hard=forgetting.hard)

    # This namespace comes last: a call that was cut short is sent again, and goes on below.
    for place in below:
        one = await place.write(work)
        change_id = one.change_id
        done.append((place.scope.namespace, one))
    own = await here.write(lambda tx: work(tx, done))
    return await erased_to_the_end(here.runtime, [here.scope, *(place.scope for place in below)], own, wait=wait)


async def erased_to_the_end(runtime: Runtime, scopes: Sequence[Scope], done: Erasure, *, wait: float) -> Erasure:
    """The report of a forget in these scopes with how far its bytes are gone, readers waited for."""
    left = None if all([await runtime.mirrored(scope) for scope in scopes]) else "mirror"
    if not done.hard:
        return replace(done, waiting_for=left)
    held = [await runtime.scrub(scope, wait) for scope in scopes]
    holding = next((one for one in held if one is not None), None)
    return replace(done, erased=holding is None and left is None, waiting_for=holding or left)
