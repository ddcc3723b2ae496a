"""Which memories the judge is shown together: few calls, each about as many as it takes. Pure.

A changed memory is compared with its few nearest, and one call settles every two that it shows. So calls are chosen to
cover what is nearest, each memory at least once, and their number grows with that of the changed memories alone.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from memhold.compact.groups import MAX_SOURCES, leaves
from memhold.values.records import Memory

__all__ = ["MOST_SHOWN", "Pairs", "most_calls", "next_batch"]

MOST_SHOWN = 12
"""Memories that one call shows."""
PER_CALL = 7
"""Changed memories for which a run asks one call: the others of the twelve are what they are compared with."""
PER_CALL_OF_CHANGE = 1
"""The same of those that tell of a change: what one replaces is in other words, and seldom among the very nearest."""
MOST_OF_CHANGE = 3
"""Changed memories for which a run asks one call at most, where nearly all tell of a change."""
LEAST_CALLS = 3
"""Calls that a few changed memories may take: one each."""
NEEDED = 3
"""Of its candidates, how many a changed memory is compared with at least, where the calls allow it."""
NEEDED_OF_CHANGE = 8
"""The same of one that tells of a change."""
_TELLS = 2.0
"""What it weighs that one of a pair tells of a change, and the other is among those that it may replace."""
_FIRST = 2.0
"""What it weighs that a memory was shown in no call yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Memories by number, and how near the pairs are that may be shown together; `needed` are those that should be.

    `telling` are the changed ones that tell of a change.
    """

    memories: Mapping[int, Memory]
    near: Mapping[tuple[int, int], float]
    needed: frozenset[tuple[int, int]]
    changed: frozenset[int]
    telling: frozenset[int] = frozenset()
    room: Mapping[int, tuple[int, int]] = field(init=False)

    def __post_init__(self) -> None:
        """Read once what each memory takes of a call: its characters, and what it stands for."""
        room = {number: (len(memory.text), leaves(memory)) for number, memory in self.memories.items()}
        object.__setattr__(self, "room", room)


def most_calls(changed: int, telling: int = 0) -> int:
    """The calls that a run may take for so many changed memories: one for a few, then one for seven.

    `telling` of them tell of a change: of these one each, while that makes no more than one for three of all.
    """
    of_change = min(changed, telling)
    calls = (changed - of_change) / PER_CALL + of_change / PER_CALL_OF_CHANGE
    return max(min(changed, LEAST_CALLS), math.ceil(min(calls, changed / MOST_OF_CHANGE)))


def next_batch(pairs: Pairs, settled: Collection[tuple[int, int]], gone: Collection[int], max_chars: int) -> list[int]:
    """The numbers of the memories to show next, in order; empty where nothing is left that should be compared.

    `settled` are the pairs that a call has dealt with, `gone` the memories that are not there any more.
    """
    near: dict[int, dict[int, float]] = defaultdict(dict)
    for (one, other), strength in pairs.near.items():
        if (one, other) not in settled and one not in gone and other not in gone:
            near[one][other] = near[other][one] = strength
    shown = {number for pair in settled for number in pair}
    needed = [pair for pair in pairs.needed if pair not in settled and pair[0] not in gone and pair[1] not in gone]
    needed = [pair for pair in needed if _fits(pairs, pair, max_chars)]
    if not needed:
        return []

    def urgency(pair: tuple[int, int]) -> tuple[float, tuple[int, int]]:
        fresh = sum(number in pairs.changed and number not in shown for number in pair)
        return -(pairs.near[pair] + _FIRST * fresh + _TELLS * (not pairs.telling.isdisjoint(pair))), pair

    first = min(needed, key=urgency)
    batch = [*first]
    wanted = {frozenset(pair) for pair in needed}
    while len(batch) < MOST_SHOWN:
        scored = [
            (
                _gain(number, batch, near, wanted, fresh=number in pairs.changed and number not in shown)
                + _TELLS * sum(frozenset({number, one}) in wanted and one in pairs.telling for one in batch),
                -number,
            )
            for number in _around(batch, near)
            if _fits(pairs, [*batch, number], max_chars)
        ]
        if not scored:
            # Another group of neighbours fits into the same call.
            rest = [pair for pair in needed if not set(pair) & set(batch)]
            rest = [pair for pair in rest if len(batch) + 2 <= MOST_SHOWN and _fits(pairs, [*batch, *pair], max_chars)]
            if not rest:
                break
            another = min(rest, key=urgency)
            batch += another
            continue
        batch.append(-max(scored)[1])
    return sorted(batch)


def _around(batch: Sequence[int], near: Mapping[int, Mapping[int, float]]) -> set[int]:
    return {other for number in batch for other in near.get(number, {})} - set(batch)


def _gain(
    number: int,
    batch: Sequence[int],
    near: Mapping[int, Mapping[int, float]],
    wanted: Collection[frozenset[int]],
    *,
    fresh: bool,
) -> float:
    """What it brings to show a memory beside these: the nearness of its pairs, those that are needed twice."""
    pairs = [(other, near[number][other]) for other in batch if other in near[number]]
    return sum(one * (2.0 if frozenset({number, other}) in wanted else 1.0) for other, one in pairs) + fresh


def _fits(pairs: Pairs, numbers: Sequence[int], max_chars: int) -> bool:
    """Whether a call can show these: their texts, and what one memory could stand for."""
    held = [pairs.room[number] for number in numbers]
    if sum(chars for chars, _ in held) > max_chars:
        return False
    # What stands for as many as it may takes no more in: it is shown beside what is compared with such.
    if any(count >= MAX_SOURCES for _, count in held[:2]):
        return True
    return sum(count for _, count in held) <= MAX_SOURCES
