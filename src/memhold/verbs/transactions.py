"""How a verb reads and writes: in the one scope that it was made for, on the loop that opened the store."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from memhold.facts.expiry import expire_overdue
from memhold.index.questions import TooSlow
from memhold.ports.idempotency import Idempotency, idempotent
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.recall.recall import Meaning
from memhold.values.answers import Receipt, Remembered
from memhold.values.errors import InvalidInput, MemholdError, StoreBusy, StoreFull, StoreReadOnly
from memhold.values.origins import author_of
from memhold.values.records import Scope
from memhold.verbs.runtime import Runtime

if TYPE_CHECKING:
    from memhold.facts.remember import Writer

__all__ = ["MAX_ALSO", "Transactions", "named_scopes"]

T = TypeVar("T")
log = logging.getLogger("memhold")


class _TakenBack(Exception):
    """A unit of work that is to leave nothing."""


class Transactions:
    """The transactions of one scope over one open store."""

    def __init__(self, runtime: Runtime, scope: Scope) -> None:
        self.runtime = runtime
        self.scope = scope
        self.author = author_of(scope.actor)

    @property
    def session(self) -> str:
        """The name of the session that is spoken in; "" is the unnamed one."""
        return self.scope.session or ""

    @property
    def writer(self) -> Writer:
        """Who tells memories something here."""
        from memhold.facts.remember import Writer

        return Writer(
            ids=self.runtime.ids,
            secret=self.runtime.store.facts.secret,
            author=self.author,
            agent=self.scope.agent,
            session=self.scope.session,
        )

    async def below(self) -> list[Transactions]:
        """Those of the same user in each namespace below this one."""
        self.runtime.guard()
        return [Transactions(self.runtime, scope) for scope in await self.runtime.store.upkeep.below(self.scope)]

    async def read(self, work: Callable[[ReadTx], T]) -> T:
        """Read one snapshot, with what earlier answers left to be written."""
        await self.runtime.after_answer.written()
        return await self.look(work)

    async def look(self, work: Callable[[ReadTx], T]) -> T:
        """Read one snapshot, after what is past its time was marked so: without a worker nobody else does it."""
        runtime = self.runtime
        runtime.guard()
        found = await runtime.store.read(self.scope, lambda tx: None if tx.overdue("expire") else (work(tx),))
        if found is not None:
            return found[0]
        try:
            await runtime.store.write(self.scope, lambda tx: expire_overdue(tx, runtime.ids))
        except (StoreBusy, StoreFull, StoreReadOnly) as error:
            log.warning("memories past their time could not be marked: %s", type(error).__name__)
        return await runtime.store.read(self.scope, work)

    async def write(self, work: Callable[[WriteTx], T], *, memories: bool = True) -> T:
        """Run one unit of work; it is durable when this returns. `memories`: it may change what files mirror."""
        self.runtime.guard()
        if self.runtime.after_answer.writes:
            await self.runtime.after_answer.written()
        return await self.runtime.store.write(self.scope, self.runtime.mirroring(work) if memories else work)

    async def taken_back(self, work: Callable[[WriteTx], T]) -> T:
        """What a unit of work would give: it is done and taken back, so that what stands in its way is found too."""
        found: list[T] = []

        def tried(tx: WriteTx) -> None:
            found.append(work(tx))
            raise _TakenBack

        with suppress(_TakenBack):
            await self.write(tried, memories=False)
        return found[-1]

    async def write_once(
        self, once: Idempotency | None, run: Callable[[WriteTx], Receipt], *, memories: bool = True
    ) -> Receipt:
        """Write, or give the receipt of the first time where the idempotency key was seen."""
        return await self.write(self.idempotent(run, once), memories=memories)

    def idempotent(self, run: Callable[[WriteTx], Receipt], once: Idempotency | None) -> Callable[[WriteTx], Receipt]:
        """A unit of work whose receipt says how far the write can be seen, and that a key makes one write of many."""
        return idempotent(run, once, meaning=self.runtime.embedding is not None)

    async def tell(
        self, verb: str, work: Callable[..., Receipt], *, idempotency_key: str | None, **given: Any
    ) -> Remembered:
        """Tell a memory something, as this scope's writer; it comes back as it then stands."""
        writer, once = self.writer, self.once(verb, idempotency_key, list(given.values()))
        return await self.remembered(lambda tx: work(tx, writer=writer, **given), once)

    async def remembered(
        self, tell: Callable[[WriteTx], Receipt], once: Idempotency | None, redacted: int = 0
    ) -> Remembered:
        """The memory that a write tells something, as it then stands; `redacted` secrets were taken out before."""
        from memhold.facts.remember import remembered

        work = self.idempotent(lambda tx: replace(tell(tx), redacted=redacted), once)
        done = await self.write(lambda tx: remembered(tx, work(tx)))
        self.count(done.receipt)
        return done

    def count(self, receipt: Receipt) -> Receipt:
        """Count the secrets that a write replaced, once it is durable; a replay replaced nothing."""
        if receipt.redacted and not receipt.replayed:
            self.runtime.redactions[self.scope.namespace, self.scope.user] += receipt.redacted
        return receipt

    def once(self, verb: str, key: str | None, supplied: Any) -> Idempotency | None:
        """What makes a call of that verb one write, however often it is sent; None where no key was given.

        Raises:
            InvalidInput: the key cannot be used.
        """
        if key is None:
            return None
        if self.scope.actor != "user":
            supplied = [supplied, self.scope.actor]  # whose word a write is, is a part of it
        kept_for = timedelta(days=self.runtime.settings.idempotency_days)
        return Idempotency.of(verb, key, supplied, secret=self.runtime.store.facts.secret, kept_for=kept_for)

    async def unasked(self) -> Meaning:
        """Whose vectors a question would be compared with, though none is asked."""
        embedding = self.runtime.embedding
        if embedding is None:
            return Meaning(off=True)
        if resting := embedding.questions.resting:
            return Meaning(failed=resting)
        try:
            async with asyncio.timeout(self.runtime.settings.recall_timeout):
                return Meaning(fingerprint=await embedding.fingerprint())
        except (MemholdError, TimeoutError) as error:
            return Meaning(failed=type(error).__name__)

    async def meaning(self, text: str) -> Meaning:
        """The question's vector, unless there is no embedder, or it fails or takes too long."""
        embedding = self.runtime.embedding
        if embedding is None:
            return Meaning(off=True)
        if not text.strip():
            return Meaning(fingerprint=None, failed=None, off=True)
        try:
            seconds = self.runtime.settings.recall_timeout
            vector = await embedding.questions.ask(text, seconds=seconds, clock=self.runtime.clock)
            fingerprint, static = await embedding.fingerprint(), await embedding.static()
            return Meaning(vector=vector, fingerprint=fingerprint, static=static)
        except TooSlow as slow:
            return Meaning(failed=str(slow))
        except MemholdError as error:
            return Meaning(failed=type(error).__name__)


MAX_ALSO = 8
"""Each of them costs a recall of its own."""
_NAMES = ("namespace", "user", "agent")


def named_scopes(own: Scope, also: Sequence[Mapping[str, Any]]) -> tuple[Scope, ...]:
    """The scopes that a read from `own` names, each once and in their order, without `own` itself.

    What one of them leaves out is as in `own`; none has a session, since a read looks across all of them.

    Raises:
        InvalidInput: one has a name that no scope has, or there are too many.
        InvalidScope: a name cannot be used.
    """
    if len(also) > MAX_ALSO:
        raise InvalidInput(f"also names {len(also)} scopes; name at most {MAX_ALSO}")
    found = []
    for one in also:
        if not isinstance(one, Mapping):
            raise InvalidInput(f"also names {one!r:.40}; pass objects with {', '.join(_NAMES)}")
        if unknown := one.keys() - set(_NAMES):
            raise InvalidInput(f"also does not know {min(map(str, unknown))!r:.60}; known are: {', '.join(_NAMES)}")
        names = {name: getattr(own, name) for name in _NAMES} | dict(one)
        found.append(Scope(**names, actor=own.actor))
    mine = Scope(namespace=own.namespace, user=own.user, agent=own.agent, actor=own.actor)
    return tuple(one for one in dict.fromkeys(found) if one != mine)
