"""Hits of which only the best is kept: rows that say the same word for word, and rows of one message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memhold.index.words import best_first
from memhold.ports.postings import DocumentKind

if TYPE_CHECKING:
    from memhold.index.postings_arrays import DecodedIndex
    from memhold.values.arrays import Floats, Mask, Rows

__all__ = ["Repeats", "leading", "one_a_message", "repeats_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """Which rows say the same: the same words as often, of one kind and writer.

    `group` names by row the text it shares, -1 where nobody repeats it; `rows` are those that are repeated, by group,
    and group g is `rows[starts[g]:starts[g + 1]]`.
    """

    group: Rows
    rows: Rows
    starts: Rows

    def of(self, row: int) -> Rows:
        """All rows that say the same as this one, itself included; none where nobody does."""
        group = int(self.group[row])
        return self.rows[:0] if group < 0 else self.rows[self.starts[group] : self.starts[group + 1]]

    def count(self, hit: Mask) -> int:
        """How many different texts the hits are."""
        import numpy as np

        doubled = self.rows[hit[self.rows]]
        seen = np.zeros(len(self.starts), dtype=np.bool_)
        seen[self.group[doubled]] = True
        return int(np.count_nonzero(hit)) - len(doubled) + int(np.count_nonzero(seen))


def repeats_of(index: DecodedIndex) -> Repeats:
    """The repetitions of an index; computed once."""
    import numpy as np

    held: Repeats | None = index.memo.get("repeats")
    if held is None:
        keys, order = index.by_content()
        fresh = np.append(True, keys[order][1:] != keys[order][:-1]) if len(order) else np.zeros(0, dtype=np.bool_)
        first = np.flatnonzero(fresh)
        size = np.diff(np.append(first, len(order)))
        rows = order[np.repeat(size > 1, size)]
        size = size[size > 1]
        group = np.full(len(index), -1, dtype=np.int64)
        group[rows] = np.repeat(np.arange(len(size)), size)
        starts = np.append(0, np.cumsum(size))
        held = index.memo["repeats"] = Repeats(group=group, rows=rows, starts=starts)
    return held


def leading(score: Floats, hit: Mask, repeats: Repeats, most: int | None = None) -> Rows:
    """Hits best first, of those that say the same only the best; with `most` at least that many, if there are.

    The same as the beginning of the whole order, but what cannot stand in it is not sorted.
    """
    import numpy as np

    rows = np.flatnonzero(hit)
    # So that one round will do where every text is there several times.
    room = None if most is None else 2 * most * (1 + len(rows) // max(repeats.count(hit), 1))
    while True:
        best = best_first(score, rows, room)
        group = repeats.group[best]
        at = np.flatnonzero(group >= 0)
        # The first of each group. `np.unique` would load `np.ma`, which takes longer than a question.
        order = np.argsort(group[at], kind="stable")
        first = order[np.diff(group[at][order], prepend=-1) > 0]
        kept: Rows = np.delete(best, np.delete(at, first))
        if most is None or room is None or len(kept) >= most or len(best) == len(rows):
            return kept
        room *= 4


def one_a_message(index: DecodedIndex, score: Floats, rows: Mask, own: Floats | None = None) -> Mask:
    """These rows without those of a message of which a better one is among them: several may have written parts of it.

    The part that is asked for by its `own` words comes before one that only ranks higher; of equal ones the first.
    """
    import numpy as np

    held: tuple[Rows, Rows] | None = index.memo.get("parts")
    if held is None:
        held = index.memo["parts"] = _parts(index)
    parts, message = held
    some = rows[parts]
    if not some.any():
        return rows
    parts, message = parts[some], message[some]
    words = np.zeros(len(parts), dtype=np.float32) if own is None else own[parts]
    order = np.lexsort((parts, -score[parts], -words, message))
    again = message[order][1:] == message[order][:-1]
    kept: Mask = rows.copy()
    kept[parts[order][1:][again]] = False
    return kept


def _parts(index: DecodedIndex) -> tuple[Rows, Rows]:
    """The rows of messages that have several, and a number for each that those of one message share."""
    import numpy as np

    columns = index.columns
    at = columns["session"].astype(np.int64) << 32 | columns["seq"]
    same = (at[1:] == at[:-1]) & (columns["seq"][1:] > 0)
    same &= (columns["kind"][1:] == DocumentKind.MESSAGE) & (columns["kind"][:-1] == DocumentKind.MESSAGE)
    rows = np.flatnonzero(np.append(same, False) | np.append(False, same))
    return rows, at[rows]
