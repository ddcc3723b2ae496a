"""The audit trail of a scope, in commit order, as far as the scope sees it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from memhold.journal.visibility import sees
from memhold.ports.transaction import ReadTx
from memhold.values.answers import Changes
from memhold.values.errors import InvalidInput
from memhold.values.records import Change, Memory, Message, Span

__all__ = ["changes", "hidden_rows", "seen_change"]

Row: TypeAlias = Message | Memory
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
    hidden = hidden_rows(tx)
    shown = [mine for one in read if (mine := seen_change(tx, one, hidden)) is not None]
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


def seen_change(tx: ReadTx, change: Change, hidden: Mapping[str, Row] | None = None) -> Change | None:
    """The change as the scope's agent sees it: what it did to rows of others is left out; None where it is all theirs.

    `hidden` are the hidden rows, where they were read already. Of what was forgotten no row is left to say whose it
    was; its ids mean nothing to anybody.
    """
    if tx.scope.agent is None:
        return change
    hidden = hidden_rows(tx) if hidden is None else hidden
    named = [*dict.fromkeys([*(effect.memory_id for effect in change.effects), *change.sources])]
    rows: list[Row] = [*tx.find_messages(named), *tx.find_memories(named)]
    rows += [hidden[one] for one in named if one in hidden]
    rows += [row for span in change.spans for row in _said(tx, span, hidden)]
    others = {row.id for row in rows if not sees(tx.scope, row)}
    if not others:
        return change
    if all(row.id in others for row in rows):
        return None
    return replace(
        change,
        effects=tuple(effect for effect in change.effects if effect.memory_id not in others),
        sources=tuple(one for one in change.sources if one not in others),
        detail={},
    )


def hidden_rows(tx: ReadTx) -> Mapping[str, Row]:
    """The rows that are hidden, by id, where an agent asks; without one nobody needs them."""
    return {} if tx.scope.agent is None else {row.id: row for row in tx.hidden()}


def _said(tx: ReadTx, span: Span, hidden: Mapping[str, Row]) -> list[Message]:
    """The messages of a span, whosever they are, hidden ones too."""
    session = tx.find_session(span.session)
    if session is None:
        return []
    gone = [row for row in hidden.values() if isinstance(row, Message) and row.session == session.name]
    there = tx.messages(session.name, after=span.first - 1, until=span.last, every_agent=True)
    return [*there, *(row for row in gone if span.first <= row.seq <= span.last)]
