"""The verbs that ask: recall, of one scope and of several, with a reranker and without; and summaries."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any

from memhold.facts.evidence import asked_for, used
from memhold.ports.transaction import ReadTx
from memhold.recall import recall as answering
from memhold.recall.answering import readable
from memhold.recall.conversation import asked_with, asker_of, last_turns
from memhold.recall.meaning import Meaning
from memhold.recall.ranking import RERANK
from memhold.recall.recall import RERANKED, checked
from memhold.recall.several import alone, fused
from memhold.upkeep.periods import LEVELS
from memhold.values.answers import Query, Recall
from memhold.values.errors import InvalidInput, MemholdError
from memhold.verbs.transactions import Transactions, named_scopes

__all__ = ["recall", "summaries"]


async def recall(
    here: Transactions,
    asked: Query,
    query: str | Query,
    messages: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None,
) -> Recall:
    """Ask a whole question, or one of these words that is asked so; `messages` are the conversation around it."""
    if not isinstance(query, str):
        return await _asked(here, query)
    secret = here.runtime.store.facts.secret
    asker = asker_of(messages, secret) if asked.asker is None else asked.asker
    return await _asked(here, replace(asked, text=query, asker=asker, conversation=last_turns(messages, secret)))


async def summaries(here: Transactions, asked: Query, *, query: str | None, raw: bool, level: str | None) -> Recall:
    """Find summaries, or roll-ups of a level."""
    if level is not None and (level not in LEVELS or raw or asked.session is not None):
        known = ", ".join(LEVELS)
        raise InvalidInput(f"level is {level!r:.40}; pass one of {known}, without raw and without a session")
    if level is not None:
        return await _asked(here, replace(asked, text=query or "", kinds=("rollup",), metadata={"level": level}))
    return await _asked(here, replace(asked, text=query or "", kinds=("summary", "raw") if raw else ("summary",)))


async def _asked(here: Transactions, asked: Query) -> Recall:
    """The answer of this scope, and of those that the question names beside it; evidence is noted here alone."""
    asked = checked(asked)
    others = [Transactions(here.runtime, one) for one in named_scopes(here.scope, asked.also)]
    each = alone(asked) if others else asked
    answer = whole = await _answer(here, each)
    if others:
        found = [(one.scope, await _answer(one, each)) for one in others]
        whole = fused(asked, [(replace(here.scope, session=None), answer), *found])
    shown = {hit.id for hit in whole.hits}
    evidence = tuple(one for one in asked_for(each, answer) if one in shown)
    uses = tuple(one for one in used(each, answer) if one in shown)
    here.runtime.after_answer.note(here.scope, evidence, uses, at=here.runtime.clock.now())
    return whole


async def _answer(here: Transactions, asked: Query) -> Recall:
    meaning = await here.meaning(asked_with(asked))
    scores = await _reranked(here, asked, meaning)
    answer = await _recalled(here, asked, meaning, scores)
    degraded = answer.degraded if scores is not None else (*answer.degraded, RERANK)
    return replace(answer, degraded=here.runtime.degraded(degraded))


async def _reranked(here: Transactions, asked: Query, meaning: Meaning) -> Mapping[str, float] | None:
    """What the reranker says of the best hits, by id; None where it could not be asked.

    Nothing where none is configured, and where the question names its signals or goes on behind a cursor.
    """
    reranker = here.runtime.reranker
    if reranker is None or asked.signals is not None or asked.cursor is not None or asked.offset >= RERANKED:
        return {}
    wide = replace(asked, limit=RERANKED, offset=0, neighbours=0, explain=False, expect=None)
    found = await _recalled(here, wide, meaning, {})
    best = found.hits[: found.total]
    if len(best) < 2 or not asked.text.strip():
        return {}
    try:
        async with asyncio.timeout(here.runtime.settings.recall_timeout):
            scores = await reranker.scores(asked_with(asked), [readable(hit) for hit in best])
    except (MemholdError, TimeoutError):
        return None
    if len(scores) != len(best) or not all(map(math.isfinite, scores)):
        return None
    return {hit.id: score for hit, score in zip(best, scores, strict=True)}


async def _recalled(here: Transactions, asked: Query, meaning: Meaning, scores: Mapping[str, float] | None) -> Recall:
    caches, timeout = here.runtime.caches, here.runtime.settings.recall_timeout
    secret = here.runtime.store.facts.secret

    def work(tx: ReadTx) -> Recall:
        until = monotonic() + timeout
        return answering.recall(tx, asked, caches, meaning, lambda: monotonic() < until, secret, scores)

    return await here.look(work)
