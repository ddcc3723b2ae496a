"""What a scope holds and what is still to be done for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from memhold.consolidate.quotes_step import DUE_QUOTES, unquoted_memories
from memhold.consolidate.requests import why_raw
from memhold.consolidate.snapshot import is_kept
from memhold.facts.suspicions import list_suspicions
from memhold.history.writers_step import FOUND
from memhold.ports.stores import StoreFacts
from memhold.ports.transaction import Listing, ReadTx
from memhold.values.answers import DAMAGED, ModelHealth, Status

__all__ = ["status", "windows"]


def windows(tx: ReadTx) -> int:
    """How many windows of the scope wait for a model: those that are due, and those that none could read yet."""
    held = tx.list_memories(Listing(kinds=("raw",), limit=2**62))
    due = sum(item.kind == "consolidate" and (item.due_at <= tx.now or item.attempts > 0) for item in tx.due())
    return due + sum(not is_kept(memory) for memory in held)


def status(tx: ReadTx, facts: StoreFacts, *, models: Mapping[str, ModelHealth] | None = None) -> Status:
    """Counts of the scope's messages and memories, its due work, and the last error of it, or why a window is RAW."""
    kinds: Counter[str] = Counter()
    tiers: Counter[str] = Counter()
    states: Counter[str] = Counter()
    active: Counter[str] = Counter()
    messages = 0
    raw = 0
    for (kind, tier, state), count in tx.counts().items():
        if kind == "message":
            messages += count
            continue
        kinds[kind] += count
        tiers[tier] += count
        states[state] += count
        if state == "active":
            active[kind] += count
        if kind == "raw" and state == "active":
            raw += count
    due = tx.due()
    sessions = tx.sessions()
    held = tx.list_memories(Listing(kinds=("raw",), limit=2**62)) if raw else []
    errors = [item for item in due if item.last_error is not None]
    return Status(
        messages=messages,
        sessions=len(sessions),
        memories=dict(kinds),
        tiers=dict(tiers),
        states=dict(states),
        active=dict(active),
        due=dict(Counter(item.kind for item in due if item.due_at <= tx.now)),
        waiting=dict(Counter(item.kind for item in due if item.due_at > tx.now)),
        leased=tx.leased(),
        raw=raw,
        oldest_due_at=min((item.due_at for item in due if item.due_at <= tx.now), default=None),
        last_error=errors[-1].last_error if errors else why_raw(held),
        store=facts.backend,
        schema=facts.schema,
        pending=tx.count_waiting(),
        set_aside=sum(is_kept(memory) for memory in held),
        parked=sum(item.due_at > tx.now and (item.attempts > 0 or item.kind == "redo") for item in due),
        models=dict(models or {}),
        windows=windows(tx),
        open_suspicions=len(list_suspicions(tx)),
        retracted_not_stated=tx.progress(FOUND),
        unquoted=unquoted_memories(tx) if any((item.kind, item.ref) == DUE_QUOTES for item in due) else 0,
        degraded=(DAMAGED,) if tx.damaged else (),
        damaged=tuple(tx.damaged),
    )
