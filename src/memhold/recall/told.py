"""What memories rest on: those that a question may ask for, with the messages that each of them quotes.

A memory and its message say the same. Each helps to find the other, and together they are one hit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from memhold.facts.outdated import End, Outdated
from memhold.fidelity.times import TimeRange
from memhold.index.postings_arrays import DecodedIndex
from memhold.ports.transaction import ReadTx
from memhold.recall.sought import holds, sought
from memhold.values.records import Memory

if TYPE_CHECKING:
    from memhold.values.arrays import Floats, Mask

__all__ = ["Then", "Told", "asked_then", "told_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Then:
    """Past values that are asked for. With `series` how one thing changed is asked, else what held at a time."""

    ends: Mapping[int, End] = field(default_factory=dict)
    series: bool = False

    def rows(self, index: DecodedIndex) -> Mask:
        """Their rows."""
        import numpy as np

        found = np.zeros(len(index), dtype=np.bool_)
        found[index.rows_of(sorted(self.ends))] = True
        return found

    def of_the_best(self, index: DecodedIndex, score: Floats) -> Then:
        """Of a series that of one thing, the one that answers best; what held at a time as it is."""
        if not self.series or not self.ends:
            return self
        best = max(self.ends.values(), key=lambda end: score[index.rows_of([end.old, end.new])].max(initial=0))
        same = {old: end for old, end in self.ends.items() if end is best or end.new == best.new != -1}
        return Then(ends=same, series=True)

    def lift(self, index: DecodedIndex, score: Floats, found: Mask) -> None:
        """Put the values of one thing side by side, the newest first: a series behind today's, others before it."""
        import numpy as np

        for new, ends in groupby(sorted(self.ends.values(), key=_newest_first), key=lambda end: end.new):
            now, old = index.rows_of([new]), index.rows_of([end.old for end in ends])
            rows = np.append(now, old) if self.series else np.append(old, now)
            if found[rows].any():
                best = score[rows].max()
                for row in rows[::-1].tolist():
                    score[row], found[row] = best, True
                    best = np.nextafter(best, np.float32(np.inf))


def _newest_first(end: End) -> tuple[int, float]:
    return end.new, -end.until.timestamp() if end.until is not None else 0.0


def asked_then(times: Sequence[TimeRange], past: Iterable[Outdated], *, history: bool) -> Then:
    """The past values that a question asks for by the times that it names, or by asking how something changed."""
    ended = [(end, end.since, end.until) for one in past for end in one.ends]
    held = {end.old: (end, since, until) for end, since, until in ended if since is not None and until is not None}
    if history:
        begin = min((one.start for one in times), default=None)
        return Then(ends={old: end for old, (end, _, until) in held.items() if not begin or begin < until}, series=True)
    then = {old: one for old, one in held.items() if any(one[1] < time.end and time.start < one[2] for time in times)}
    last = {end.new: until for end, _, until in sorted(then.values(), key=lambda one: one[2])}
    # Where today's value began within that time it is as good an answer.
    return Then(ends={old: end for old, (end, *_) in then.items() if any(one.end <= last[end.new] for one in times)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Facts and notes by row, and by the same rows those of the messages that they quote.

    What is doubtful quotes nothing here: it lifts nothing, and stands for nothing. `unfit` are the rows of those that
    have nothing of the kind that is asked for, a price, a time, a name or a number.
    """

    memories: Mapping[int, Memory] = field(default_factory=dict)
    quoted: Mapping[int, Sequence[int]] = field(default_factory=dict)
    unfit: frozenset[int] = frozenset()
    then: Then = field(default_factory=Then)

    @property
    def facts(self) -> list[tuple[int, Memory]]:
        """The facts among them, with their rows."""
        return [(row, memory) for row, memory in self.memories.items() if memory.kind == "fact"]

    def lift(self, score: Floats, found: Mask, among: Mask) -> None:
        """Put the messages that a memory quotes which is found right behind it, unless they stand before it."""
        import numpy as np

        for row, said in self.quoted.items():
            if found[row] and among[row]:
                for one in said:
                    score[one] = max(score[one], np.nextafter(score[row], np.float32(-1)))
                    found[one] = True

    def repeated(self, score: Floats, hit: Mask) -> dict[int, int]:
        """Of the hits those that a better one says too, and by which: of a memory and its message one is told.

        That is the message where the memory has nothing of what is asked for.
        """
        found: dict[int, int] = {}
        for row in sorted(self.quoted, key=lambda one: (-score[one], one)):
            for said in self.quoted[row][:1]:
                first = score[row] >= score[said] and row not in self.unfit
                better, other = (row, said) if first else (said, row)
                if hit[row] and hit[said] and not {row, said} & found.keys():
                    found[other] = better
        return found


def told_of(tx: ReadTx, index: DecodedIndex, rows: Iterable[int], question: str | None) -> Told:
    """The facts and notes of these rows, with the rows of what they quote; of None no kind is asked for."""
    some = list(rows)
    found = {item.number: item for item in tx.find_numbers(index.numbers[some].tolist())}
    named = ((row, found.get(int(index.numbers[row]))) for row in some)
    memories = {row: item for row, item in named if isinstance(item, Memory)}
    stated = {row: item for row, item in memories.items() if item.quotes and not item.doubtful}
    numbers: dict[str, int] = index.memo.setdefault("quoted", {})  # a message keeps its number
    wanted = sorted({one.message_id for item in stated.values() for one in item.quotes} - numbers.keys())
    numbers |= {message.id: message.number for message in tx.find_messages(wanted)}
    quoted = {
        row: index.rows_of([numbers[one.message_id] for one in item.quotes if one.message_id in numbers]).tolist()
        for row, item in stated.items()
    }
    kind = None if question is None else sought(question)
    return Told(
        memories=memories,
        quoted={row: said for row, said in quoted.items() if said},
        unfit=frozenset(
            row for row, item in memories.items() if kind and not holds(item.value or item.text, kind, question or "")
        ),
    )
