"""Which documents of a scope a query's filters let through: what the records of the index tell, and the items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from memhold.index.documents import KIND_OF, ROLES_OF
from memhold.index.postings_arrays import DecodedIndex
from memhold.ports.transaction import ReadTx
from memhold.recall.people import People
from memhold.values.answers import Query
from memhold.values.records import Memory, Message, micros

if TYPE_CHECKING:
    from memhold.values.arrays import Mask

__all__ = ["allowed_rows", "filters_of", "held_then", "passing_rows"]


def held_then(tx: ReadTx, query: Query) -> Mapping[int, Memory] | None:
    """The memories that held at the asked time, by number; None when the present is asked."""
    if query.as_of is None and query.known_at is None:
        return None
    as_of = query.as_of or query.known_at
    assert as_of is not None  # noqa: S101 - one of the two is given
    return {memory.number: memory for memory in tx.held(as_of=as_of, known_at=query.known_at)}


def filters_of(tx: ReadTx, index: DecodedIndex, query: Query, held: Mapping[int, Memory] | None) -> Mapping[str, Mask]:
    """Each filter that is asked for, by its name, with the documents that it lets through as far as records tell."""
    import numpy as np

    columns = index.columns
    messages = columns["kind"] == KIND_OF["message"]
    past = held is not None or query.include_superseded or query.states
    found: dict[str, Mask] = {"state": index.living if past else index.active}
    if held is not None:
        known = np.zeros(len(index), dtype=np.bool_)
        known[index.rows_of(sorted(held))] = True
        until = query.as_of or query.known_at
        assert until is not None  # noqa: S101 - `held` is only made for a time
        found["moment"] = np.where(messages, columns["event_time"] <= micros(until), known)
    if query.kinds is None:
        # What a roll-up tells its parts tell better, and an instruction its message: they are there where asked for.
        kinds = (columns["kind"] != KIND_OF["rollup"]) & (columns["kind"] != KIND_OF["instruction"])
        kinds &= (columns["kind"] != KIND_OF["document"]) | (columns["length"] > 0)  # of no words: not to be indexed
        found["kind"] = kinds
    else:
        found["kind"] = np.isin(columns["kind"], [KIND_OF[kind] for kind in query.kinds])
    if query.roles is not None:
        roles = [one for role in query.roles for one in ROLES_OF.get(role, ())]
        found["role"] = messages & np.isin(columns["role"], roles)
    if query.speaker is not None:
        found["speaker"] = People(index=index, user=tx.scope.user).named(query.speaker)
    if query.states or query.tiers:
        found["memories"] = ~messages
    if () in (query.states, query.tiers):
        found["nothing"] = np.zeros(len(index), dtype=np.bool_)
    if query.session is not None:
        session = tx.session(query.session)
        found["session"] = columns["session"] == (session.number if session else -1)
    if tx.scope.agent is not None:
        found["agent"] = np.isin(columns["agent"], [0, tx.agents().get(tx.scope.agent, 0)])
    if query.since is not None:
        found["since"] = columns["event_time"] >= micros(query.since)
    if query.until is not None:
        found["until"] = columns["event_time"] < micros(query.until)
    return found


def allowed_rows(index: DecodedIndex, filters: Mapping[str, Mask]) -> Mask:
    """Which documents all of these filters let through."""
    import numpy as np

    allowed = np.ones(len(index), dtype=np.bool_)
    for mask in filters.values():
        allowed &= mask
    return allowed


def passing_rows(tx: ReadTx, index: DecodedIndex, query: Query, held: Mapping[int, Memory] | None, rows: Mask) -> Mask:
    """Those of some rows that also pass the filters that only the items themselves tell."""
    import numpy as np

    labelled = bool(
        query.topics or query.entities or query.metadata or query.states or query.tiers or query.speaker is not None
    )
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
    if not query.labelled(item):
        return False
    if isinstance(item, Message):
        return query.known_at is None or item.recorded_at <= query.known_at
    if query.states is not None:
        return item.state in query.states and (query.tiers is None or item.tier in query.tiers)
    if query.tiers is not None and item.tier not in query.tiers:
        return False
    return item.state != "retracted"
