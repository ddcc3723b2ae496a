"""What memories rest on: those that a question may ask for, with the messages that each of them quotes.

A memory and its message say the same. Each helps to find the other, and together they are one hit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memhold.index.postings_arrays import DecodedIndex
from memhold.ports.transaction import ReadTx
from memhold.recall.sought import holds, sought
from memhold.recall.then import Then
from memhold.values.records import Memory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]
    Floats = NDArray[np.float32]

__all__ = ["Told", "told_of"]


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
