"""The audit trail of a scope, in commit order, as far as the scope sees it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from memhold.journal.visibility import seen, sees
from memhold.ports.transaction import ReadTx
from memhold.values.answers import Changes
from memhold.values.errors import InvalidInput
from memhold.values.records import Change, Memory, Message, Span

__all__ = ["changes"]

_VERB: Final = re.compile("[a-z_]{1,40}")


def changes(tx: ReadTx, *, after: int, limit: int, verb: str | None = None) -> Changes:
    """Changes behind `after`, of one verb or all, at most `limit`, without those that the scope's agent does not see.

    Raises:
        InvalidInput: `verb` is no word of small letters.
    """
    if verb is not None and _VERB.fullmatch(verb) is None:
        raise InvalidInput(f"verb is {verb!r:.60}; pass that of a change, as 'remember' or 'keep_apart'")
    page = tx.changes(verb=verb, after=after, limit=limit + 1)
    read = page[:limit]
    everything = tx.scope.agent is None
    shown = read if everything else [mine for one in read if (mine := _seen(tx, one)) is not None]
    cursor = read[-1].seq if read else after
    damaged = tuple(tx.damaged)
    shown = [_without_hidden(tx, one) for one in shown]
    return Changes(items=tuple(shown), cursor=cursor, more=len(page) > limit, damaged=damaged)


def _without_hidden(tx: ReadTx, change: Change) -> Change:
    """The change without what a model said of a window that is hidden: its detail shows again with the window."""
    if change.verb != "consolidate" or not change.detail or not change.effects:
        return change
    made = [effect.memory_id for effect in change.effects]
    stands = tx.find_memories(made) or not tx.damaged.keys().isdisjoint(made)
    return change if stands else replace(change, detail={})


def _seen(tx: ReadTx, change: Change) -> Change | None:
    """The change as an agent sees it: what it did to rows of others is left out; None where nothing else is left.

    Of what was forgotten no row is left to say whose it was; its ids mean nothing to anybody.
    """
    memories = [effect.memory_id for effect in change.effects]
    there = tx.find_memories(memories)
    hidden = {memory.id for memory in there} - {memory.id for memory in seen(tx, there)}
    effects = tuple(effect for effect in change.effects if effect.memory_id not in hidden)
    if hidden and not effects:
        return None
    said = [row for span in change.spans for row in _rows(tx, span)]
    heard = seen(tx, said)
    if said and not heard and not effects:
        return None
    partly = bool(hidden) or len(heard) < len(said)
    return replace(change, effects=effects, sources=_sources(tx, change), detail={} if partly else change.detail)


def _rows(tx: ReadTx, span: Span) -> list[Message]:
    session = tx.find_session(span.session)
    return [] if session is None else tx.messages(session.name, after=span.first - 1, until=span.last)


def _sources(tx: ReadTx, change: Change) -> tuple[str, ...]:
    rows: list[Message | Memory] = [*tx.find_messages(change.sources), *tx.find_memories(change.sources)]
    others = {row.id for row in rows if not sees(tx.scope, row)}
    return tuple(one for one in change.sources if one not in others)
