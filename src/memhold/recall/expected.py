"""Why not? Where one message or memory stands in an answer, and what kept it out."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from memhold.index.documents import KIND_OF
from memhold.journal.visibility import sees
from memhold.ports.transaction import ReadTx
from memhold.recall.answering import Ranking, reasons_of
from memhold.recall.filters import allowed_rows, filters_of, held_then, passing_rows
from memhold.recall.ranking import MOVES
from memhold.values.answers import Expected, Query
from memhold.values.records import Memory, Message

if TYPE_CHECKING:
    from memhold.values.arrays import Mask

__all__ = ["expected"]

_FILTERS: Final = (
    "kinds",
    "states",
    "tiers",
    "roles",
    "session",
    "topics",
    "entities",
    "metadata",
    "since",
    "until",
    "as_of",
    "known_at",
)
_BLANK = Query()
_DEFAULTS: Final = {one.name: getattr(_BLANK, one.name) for one in fields(Query)}


def expected(tx: ReadTx, query: Query, ranking: Ranking) -> Expected:
    """The story of the one that a query expects. What another agent's is, or nobody's, is unknown here."""
    assert query.expect is not None  # noqa: S101 - asked only then
    item = _find(tx, query.expect)
    if item is None:
        return Expected(id=query.expect, kept_out=_gone(tx, query.expect))
    numbers = item.numbers if isinstance(item, Message) else [item.number]
    rows = ranking.index.rows_of(numbers).tolist()
    if not rows:
        return Expected(id=item.id, kept_out="snapshot")
    row = max(rows, key=lambda one: (bool(ranking.hit[one]), bool(ranking.allowed[one]), ranking.score[one], -one))
    rank, leader = _rank(ranking, row)
    [why] = reasons_of(ranking, [row])
    heard = {one.signal for one in why}
    kept_out, by = _kept_out(tx, query, ranking, item, row, rank=rank, leader=leader)
    return Expected(
        id=item.id,
        kept_out=kept_out,
        rank=rank,
        score=float(ranking.score[row]),
        by=by,
        why=why,
        silent=tuple(one.name for one in ranking.signals if one.name not in heard and one.name not in MOVES),
    )


def _find(tx: ReadTx, item_id: str) -> Message | Memory | None:
    found: list[Message | Memory] = [*tx.find_messages([item_id]), *tx.find_memories([item_id])]
    return found[0] if found and sees(tx.scope, found[0]) else None


def _gone(tx: ReadTx, item_id: str) -> str:
    if tx.tombstone(item_id) is not None:
        return "forgotten"
    there = [*tx.find_messages([item_id]), *tx.find_memories([item_id])]
    return "hidden" if not there and item_id in tx.known([item_id]) else "unknown"


def _kept_out(
    tx: ReadTx, query: Query, ranking: Ranking, item: Message | Memory, row: int, *, rank: int, leader: int
) -> tuple[str | None, str | None]:
    """What keeps a row out, the first that does, and what stands in its place."""
    failed = [name for name in _FILTERS if not _passes(tx, ranking, query, name, row)]
    if query.kinds is None and isinstance(item, Memory) and _only_asked(item, ranking, row):
        failed.insert(0, "kinds")
    if failed:
        return f"filter: {', '.join(failed)}", None
    past = ranking.outdated.get(item.number)
    if isinstance(item, Memory) and not ranking.allowed[row]:
        return ("superseded" if item.state == "superseded" else f"state: {item.state}"), item.superseded_by
    if leader != row and ranking.hit[row]:
        leads = tx.find_numbers([int(ranking.index.numbers[leader])])
        return "repeats", leads[0].id if leads else None
    if row in ranking.folded:
        return "repeats", tx.find_numbers([int(ranking.index.numbers[ranking.folded[row]])])[0].id
    if not ranking.hit[row]:
        return (None, None) if row in ranking.filling else ("signals", None)
    on_page = query.cursor is not None or query.offset < rank <= query.offset + query.limit
    return (None if on_page else "limit"), None if past is None else past.by


def _only_asked(memory: Memory, ranking: Ranking, row: int) -> bool:
    """Whether it is there only where its kind is asked for."""
    wordless = not ranking.index.columns["length"][row]
    return memory.kind in {"rollup", "instruction"} or (memory.kind == "document" and bool(wordless))


def _passes(tx: ReadTx, ranking: Ranking, query: Query, name: str, row: int) -> bool:
    """Whether a row passes one of a query's filters, whatever its state."""
    import numpy as np

    value = getattr(query, name)
    if value == _DEFAULTS[name]:
        return True
    given: dict[str, Any] = {name: value}
    if name not in {"states", "as_of", "known_at"}:
        given["include_superseded"] = True
    if name != "kinds" and query.kinds is None:
        given["kinds"] = tuple(KIND_OF)
    alone = Query(text=query.text, **given)
    held = held_then(tx, alone)
    one: Mask = np.zeros(len(ranking.index), dtype=np.bool_)
    one[row] = allowed_rows(ranking.index, filters_of(tx, ranking.index, alone, held))[row]
    return bool(one[row]) and bool(passing_rows(tx, ranking.index, alone, held, one)[row])


def _rank(ranking: Ranking, row: int) -> tuple[int, int]:
    """The place of a row among the hits if nothing kept it out, and the row that stands for it there."""
    import numpy as np

    from memhold.index.repeats import leading

    if row in ranking.filling:
        return ranking.total + 1 + ranking.filling.index(row), row
    hit = ranking.hit.copy()
    hit[row] = True
    if ranking.repeats is None:  # nothing is asked: the newest first
        at = ranking.index.columns["event_time"]
        rows = np.flatnonzero(hit)
        newer = (at[rows] > at[row]) | ((at[rows] == at[row]) & (rows > row))
        return 1 + int(newer.sum()), row
    order = leading(ranking.score, hit, ranking.repeats)
    group = int(ranking.repeats.group[row])
    same = order == row if group < 0 else ranking.repeats.group[order] == group
    place = int(np.flatnonzero(same)[0])
    return place + 1, int(order[place])
