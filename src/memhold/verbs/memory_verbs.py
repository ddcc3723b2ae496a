"""The verbs of memories: telling, correcting and listing them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from memhold.facts import matching
from memhold.facts import remember as notes
from memhold.facts.evidence import last_asked
from memhold.facts.redaction import redacted_input
from memhold.facts.tell import tell_fact
from memhold.ports.transaction import Listing, ReadTx
from memhold.values.answers import Page, Remembered
from memhold.values.bounds import MAX_PAGE
from memhold.values.errors import InvalidInput
from memhold.values.records import FactKey
from memhold.verbs.analysis_pool import INLINE_BYTES
from memhold.verbs.transactions import Transactions

__all__ = ["correct", "last_recalled", "list_memories", "remember"]

_CURSOR = re.compile(r"n[0-9]{1,15}")
"""Behind which number a page begins: as many digits as `MAX_NUMBER` has, less one."""


async def remember(here: Transactions, told: notes.MemoryInput, idempotency_key: str | None) -> Remembered:
    """Remember a note or a fact."""
    once = here.once("remember", idempotency_key, [told, here.scope.agent, here.scope.session])
    writer = here.writer
    told, redacted = await _cleaned(here, told)
    if told.attribute is None:
        return await here.remembered(lambda tx: notes.remember(tx, told, writer=writer), once, redacted)
    await _warm(here, told.subject, told.attribute)
    return await here.remembered(lambda tx: tell_fact(tx, told, writer=writer), once, redacted)


async def _cleaned(here: Transactions, given: notes.MemoryInput) -> tuple[notes.MemoryInput, int]:
    """A note or a fact without its secrets, and how many there were; what may take long is looked through on a thread.

    A pattern is tried on each name and string of its metadata, of which there may be a hundred thousand.
    """
    redactor = here.runtime.redactor
    if redactor is None:
        return given, 0
    if not given.metadata and len(given.text or "") + len(given.value or "") <= INLINE_BYTES:
        return redacted_input(given, redactor)
    return await asyncio.to_thread(redacted_input, given, redactor)


async def _warm(here: Transactions, subject: str, attribute: str) -> None:
    """Compare a new wording's key with the stored ones ahead: nothing is computed under a lock."""
    agent = here.scope.agent

    def others(tx: ReadTx) -> list[FactKey]:
        there = tx.fact_key(subject=subject, attribute=attribute, agent=agent)
        return tx.fact_keys(agent) if there is None else []

    await matching.warm(subject, attribute, await here.runtime.store.read(here.scope, others))


async def correct(
    here: Transactions, memory_id: str, value: str, rev: int | None, idempotency_key: str | None
) -> Remembered:
    """Correct the value of a memory; a secret in it is judged by the memory's attribute."""
    once = here.once("correct", idempotency_key, [memory_id, value, rev])
    writer, redactor, redacted = here.writer, here.runtime.redactor, 0
    if redactor is not None:
        held = await here.runtime.store.read(here.scope, lambda tx: tx.find_memories([memory_id]))
        named = (held[0].attribute if held else None) or ""
        redact = partial(redactor.redact, value, name=named, place="the value")
        value, redacted = redact() if len(value) <= INLINE_BYTES else await asyncio.to_thread(redact)
    return await here.remembered(lambda tx: notes.correct(tx, memory_id, value, rev=rev, writer=writer), once, redacted)


async def list_memories(here: Transactions, listing: Listing, cursor: str | None) -> Page:
    """A page of memories, oldest first."""
    if cursor is not None and not _CURSOR.fullmatch(cursor):
        raise InvalidInput(f"{cursor!r:.40} is not a cursor of this listing; pass the one that the last page gave")
    after = -1 if cursor is None else int(cursor[1:])
    asked = replace(listing, agent=here.scope.agent, after=after, limit=listing.limit + 1)
    found, damaged = await here.read(lambda tx: (tx.list_memories(asked), tuple(tx.damaged)))
    page = tuple(found[: listing.limit])
    more = len(found) > len(page)
    return Page(items=page, cursor=f"n{page[-1].number}" if more else None, damaged=damaged)


async def last_recalled(here: Transactions, ids: Sequence[str]) -> Mapping[str, datetime]:
    """When memories were last asked for."""
    if len(ids) > MAX_PAGE:
        raise InvalidInput(f"{len(ids):,} ids are too many; pass at most {MAX_PAGE:,}")
    return await here.read(lambda tx: last_asked(tx, ids))
