"""The due work of undecided keys: an embedding compares them, a model of the adjudication chain may decide the rest."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal

from memhold.asking.prompts import prompt
from memhold.facts.keys import compare, threshold_of
from memhold.facts.matching import ALIKE
from memhold.facts.remember import Writer
from memhold.facts.undecided_keys import UndecidedPair, digest_of, judged, leave, likeness, question, settle, waiting
from memhold.index.embedding import Embedding
from memhold.ports.models import Accepted, ModelChain, TaskFailed, UsageBook
from memhold.ports.stores import Ids, Lease, Priority, Store
from memhold.ports.transaction import ReadTx
from memhold.values.records import Author, Scope

__all__ = ["Likeness"]

Same = Literal["same", "different"]

log = logging.getLogger("memhold.upkeep")

EMBED_SECONDS = 30.0
"""How long the keys of one scope may take to embed; then they wait for the next try, and nobody with them."""


class Likeness:
    """The step `alike`: the suspicions about keys in one scope.

    It reads, then asks outside every transaction, then writes each verdict as a change of its own. At most one call
    embeds the keys of a run, and none where their vectors are stored. A verdict is asked for once and kept. Without an
    embedding whose threshold is known, and without a chain, suspicions stay for a person.

    Args:
        store: where the suspicions are.
        ids: ids of the changes.
        embedding: what embeds keys; None for none.
        chain: what decides in the grey band; None for nobody.
        spent: writes what the chain's calls took.
        own_threshold: what the user measured for their embedding; 0 takes what is shipped for it.
    """

    def __init__(
        self,
        store: Store,
        *,
        ids: Ids,
        embedding: Embedding | None = None,
        chain: ModelChain | None = None,
        spent: Callable[[UsageBook], Awaitable[None]] | None = None,
        own_threshold: float = 0.0,
    ) -> None:
        self._store = store
        self._ids = ids
        self._embedding = embedding
        self._chain = chain
        self._spent = spent
        self._own = own_threshold

    async def step(self, lease: Lease) -> float | None:
        """Look at every open suspicion of the scope once.

        Raises:
            ModelError: the embedding failed or took too long; nothing was settled, and it is tried again.
            ChainFailed: no model of the chain answered; what it was not asked about waits.
        """
        scope = lease.scope
        found = await self._store.read(scope, lambda tx: waiting(tx, adjudicates=self._chain is not None))
        fresh = [one for one in found if one.suspicion.looked is None]
        open_still = [one for one in found if one.suspicion.looked is not None]
        if fresh:
            open_still += await self._compared(scope, fresh)
        if self._chain is not None:
            for one in open_still:
                await self._asked(scope, one, self._chain)
        return None

    async def sweep(self) -> None:
        """Make due what waits for a model that was not there when it was looked at, in every scope."""
        if self._chain is None:
            return
        for scope in await self._store.upkeep.scopes():
            if await self._store.read(scope, self._missing):
                await self._store.write(scope, lambda tx: tx.put_due(*ALIKE, tx.now), priority=Priority.WORKER)

    def _missing(self, tx: ReadTx) -> bool:
        return tx.due_item(*ALIKE) is None and bool(waiting(tx, adjudicates=self._chain is not None))

    # ------------------------------------------------------------------------------------------------ likeness

    async def _compared(self, scope: Scope, fresh: Sequence[UndecidedPair]) -> list[UndecidedPair]:
        """Settle what the similarity decides; returns what it leaves open."""
        fingerprint, threshold = "", None
        if self._embedding is not None and any(compare(one.mine, one.other).liftable for one in fresh):
            async with asyncio.timeout(EMBED_SECONDS):
                fingerprint = await self._embedding.key_fingerprint()
            threshold = threshold_of(fingerprint, self._own)
        vectors = {} if threshold is None else await self._vectors(scope, fresh, fingerprint)
        by = Author(origin="rules", name="likeness", version=fingerprint or None)
        left = []
        for one in fresh:
            verdict = likeness(one, vectors, threshold)
            if verdict.same == "unsure":
                left.append(one)
                continue
            same: Same = "same" if verdict.same == "same" else "different"
            reason = f"settled by {verdict.rule}"
            if verdict.similarity is not None:
                reason += f" (similarity {verdict.similarity:.2f})"
            await self._settle(scope, one, same, by, reason)
        if left:
            await self._store.write(scope, lambda tx: leave(tx, left, "likeness"), priority=Priority.WORKER)
        return left

    async def _vectors(self, scope: Scope, fresh: Sequence[UndecidedPair], fingerprint: str) -> Mapping[str, bytes]:
        """The vectors of the keys that may be lifted: stored ones, and the rest from one call, which are stored."""
        secret = self._store.facts.secret
        liftable = [one for one in fresh if compare(one.mine, one.other).liftable]
        keys = {key.text: digest_of(secret, key) for one in liftable for key in (one.mine, one.other)}
        held = await self._store.read(scope, lambda tx: tx.key_vectors(fingerprint))
        known = {text: held[digest] for text, digest in keys.items() if digest in held}
        missing = [text for text in keys if text not in known]
        if missing and self._embedding is not None:
            async with asyncio.timeout(EMBED_SECONDS):
                made = dict(zip(missing, await self._embedding.keys(missing), strict=True))
            stored = {keys[text]: vector for text, vector in made.items()}
            await self._store.write(scope, lambda tx: tx.put_key_vectors(fingerprint, stored), priority=Priority.WORKER)
            known |= made
        return known

    # ------------------------------------------------------------------------------------------------ adjudication

    async def _asked(self, scope: Scope, one: UndecidedPair, chain: ModelChain) -> None:
        """Let the chain decide one suspicion."""
        asked = prompt("adjudicate")
        outcome: Accepted[Same] | TaskFailed = await chain.ask(question(one, asked.text), judged)
        if self._spent is not None:
            await self._spent(self._store.usage)
        if not isinstance(outcome, Accepted):
            if outcome.advice in {"poison", "refused"}:
                log.info("adjudication: no model would say, left to a person")
                await self._store.write(scope, lambda tx: leave(tx, [one], "decided"), priority=Priority.WORKER)
                return
            raise outcome.error("adjudication")
        name = outcome.attempts[-1].model if outcome.attempts else outcome.reply.model
        by = Author(origin="model", name=name, version=asked.version)
        await self._settle(scope, one, outcome.value, by, "settled by adjudication")

    async def _settle(self, scope: Scope, one: UndecidedPair, verdict: Same, by: Author, reason: str) -> None:
        writer = Writer(ids=self._ids, secret=self._store.facts.secret, author=by)
        work = lambda tx: settle(tx, one, verdict, writer=writer, reason=reason)  # noqa: E731 - bound to these
        await self._store.write(scope, work, priority=Priority.WORKER)
