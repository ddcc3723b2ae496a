"""Forgetting in a scope, and in the namespaces below it where it is of everything; and how its bytes disappear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memhold.facts.remember import Writer
from memhold.history.forget import Sources, Target, forget, forget_once, plan, report, together
from memhold.ports.idempotency import Idempotency
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.values.answers import Erasure
from memhold.values.records import Scope
from memhold.verbs.runtime import Runtime
from memhold.verbs.transactions import Transactions

__all__ = ["Forgetting", "erased_to_the_end", "forgotten", "would_forget"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
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
        return forget(
            tx,
            self.target,
            sources=self.sources,
            hard=self.hard,
            writer=self.writer,
            change_id=change_id,
        )


async def would_forget(here: Transactions, forgetting: Forgetting) -> Erasure:
    """What would go, here and below."""
    below = await here.below() if forgetting.target.everything else []
    found = [(place.scope.namespace, await place.read(forgetting.would)) for place in below]
    return together(await here.read(forgetting.would), found)


async def forgotten(here: Transactions, forgetting: Forgetting, once: Idempotency | None, *, wait: float) -> Erasure:
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
