"""Which documents of a scope a query's filters let through: what the records of the index tell, and the items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from memhold.index.documents import KIND_OF, ROLE_OF
from memhold.index.postings_arrays import DecodedIndex
from memhold.journal.visibility import has_labels
from memhold.ports.transaction import ReadTx
from memhold.values.answers import Query
from memhold.values.records import Memory, Message, micros

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

__all__ = ["allowed_rows", "held_then", "passing_rows"]


def held_then(tx: ReadTx, query: Query) -> Mapping[int, Memory] | None:
    """The memories that held at the asked time, by number; None when the present is asked."""
    if query.as_of is None and query.known_at is None:
        return None
    as_of = query.as_of or query.known_at
    assert as_of is not None  # noqa: S101 - one of the two is given
    return {memory.number: memory for memory in tx.held(as_of=as_of, known_at=query.known_at)}


def allowed_rows(tx: ReadTx, index: DecodedIndex, query: Query, held: Mapping[int, Memory] | None) -> Mask:
    """Which documents the filters let through, as far as their records tell."""
    import numpy as np

    columns = index.columns
    allowed = (
        index.living.copy() if held is not None or query.include_superseded or query.states else index.active.copy()
    )
    messages = columns["kind"] == KIND_OF["message"]
    if held is not None:
        known = np.zeros(len(index), dtype=np.bool_)
        known[index.rows_of(sorted(held))] = True
        until = query.as_of or query.known_at
        assert until is not None  # noqa: S101 - `held` is only made for a time
        allowed &= np.where(messages, columns["event_time"] <= micros(until), known)
    if query.kinds is None:
        # What a roll-up tells its parts tell better, and an instruction its message: they are there where asked for.
        allowed &= (columns["kind"] != KIND_OF["rollup"]) & (columns["kind"] != KIND_OF["instruction"])
        allowed &= (columns["kind"] != KIND_OF["document"]) | (columns["length"] > 0)  # of no words: not to be indexed
    else:
        allowed &= np.isin(columns["kind"], [KIND_OF[kind] for kind in query.kinds])
    if query.roles is not None:
        allowed &= messages & np.isin(columns["role"], [ROLE_OF[role] for role in query.roles if role in ROLE_OF])
    if query.states or query.tiers:
        allowed &= ~messages
    if () in (query.kinds, query.roles, query.states, query.tiers):
        allowed[:] = False
    if query.session is not None:
        session = tx.session(query.session)
        allowed &= columns["session"] == (session.number if session else -1)
    if tx.scope.agent is not None:
        allowed &= np.isin(columns["agent"], [0, tx.agents().get(tx.scope.agent, 0)])
    if query.since is not None:
        allowed &= columns["event_time"] >= micros(query.since)
    if query.until is not None:
        allowed &= columns["event_time"] < micros(query.until)
    return allowed


def passing_rows(tx: ReadTx, index: DecodedIndex, query: Query, held: Mapping[int, Memory] | None, rows: Mask) -> Mask:
    """Those of some rows that also pass the filters that only the items themselves tell."""
    import numpy as np

    labelled = bool(query.topics or query.entities or query.metadata or query.states or query.tiers)
    if not (labelled or query.include_superseded or held is not None):
        return rows
    # What is current was never retracted: where nothing else is asked, only what is past is to be read.
    passing = np.zeros_like(rows) if labelled or held is not None else rows & index.active
    then = held or {}
    items = tx.find_numbers(index.numbers[rows & ~passing].tolist())
    numbers = [item.number for item in items if _passes(then.get(item.number, item), query)]
    passing[index.rows_of(numbers)] = True
    return passing


def _passes(item: Message | Memory, query: Query) -> bool:
    """Whether a row passes the filters that the index does not know."""
    if not all(item.metadata.get(name) == value for name, value in query.metadata.items()):
        return False
    if isinstance(item, Message):
        known = query.known_at is None or item.recorded_at <= query.known_at
        return known and not query.topics and not query.entities
    if not (has_labels(query.topics, item.topics) and has_labels(query.entities, item.entities)):
        return False
    if query.states is not None:
        return item.state in query.states and (query.tiers is None or item.tier in query.tiers)
    if query.tiers is not None and item.tier not in query.tiers:
        return False
    return item.state != "retracted"
