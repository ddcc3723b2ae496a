"""Redaction as the verbs use it: what is cleaned before a write, and what is counted after it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial

from memhold.facts.redaction import redacted_input
from memhold.facts.remember import MemoryInput
from memhold.values.answers import Receipt
from memhold.values.records import Scope
from memhold.verbs.analysis_pool import INLINE_BYTES
from memhold.verbs.runtime import Runtime

__all__ = ["cleaned", "cleaned_value", "counted", "noted"]


async def cleaned(runtime: Runtime, given: MemoryInput) -> tuple[MemoryInput, int]:
    """A note or a fact without its secrets, and how many there were; what may take long is looked through on a thread.

    A pattern is tried on each name and string of its metadata, of which there may be a hundred thousand.
    """
    if runtime.redactor is None:
        return given, 0
    if not given.metadata and len(given.text or "") + len(given.value or "") <= INLINE_BYTES:
        return redacted_input(given, runtime.redactor)
    return await asyncio.to_thread(redacted_input, given, runtime.redactor)


async def cleaned_value(runtime: Runtime, scope: Scope, memory_id: str, value: str) -> tuple[str, int]:
    """The value that corrects a memory without its secrets, judged by the memory's attribute, and how many."""
    if runtime.redactor is None or not isinstance(value, str):
        return value, 0
    held = await runtime.store.read(scope, lambda tx: tx.find_memories([memory_id]))
    redact = partial(
        runtime.redactor.redact, value, name=(held[0].attribute if held else None) or "", place="the value"
    )
    return redact() if len(value) <= INLINE_BYTES else await asyncio.to_thread(redact)


def noted(receipt: Receipt, redacted: int) -> Receipt:
    """The receipt that tells how many secrets were replaced."""
    return replace(receipt, redacted=redacted) if redacted else receipt


def counted(runtime: Runtime, scope: Scope, receipt: Receipt) -> Receipt:
    """Count what a write replaced, once it is durable; a replay replaced nothing."""
    if receipt.redacted and not receipt.replayed:
        runtime.redactions[scope.namespace, scope.user] += receipt.redacted
    return receipt
