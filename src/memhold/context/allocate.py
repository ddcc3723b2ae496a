"""One pure allocation of a budget over slots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from memhold.context.render import Line, short_day
from memhold.context.strategies import SlotName

__all__ = ["Slot", "allocate", "spread"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Who competes for the budget: what it could use, its share, and what it must have (at most what it wants)."""

    name: SlotName
    want: int
    share: float
    minimum: int = 0


def allocate(slots: Sequence[Slot], budget: int) -> Mapping[SlotName, int]:
    """What each slot may spend.

    Minimums come first, in the order of the slots. The rest goes by shares; what a slot does not want flows on to
    those that do, again by shares. The sum never exceeds the budget, no slot gets more than it wants, and nothing is
    left over while a slot with a share wants more.
    """
    left = max(0, budget)
    grants: dict[SlotName, int] = {}
    for slot in slots:
        grants[slot.name] = min(slot.want, slot.minimum, left)
        left -= grants[slot.name]
    open_slots = [slot for slot in slots if slot.share > 0 and slot.want > grants[slot.name]]
    while left > 0 and open_slots:
        total = sum(slot.share for slot in open_slots)
        given = 0
        for slot in open_slots:
            more = min(slot.want - grants[slot.name], int(left * slot.share / total))
            grants[slot.name] += more
            given += more
        if given == 0:  # fewer tokens than slots: the first that wants one takes it
            grants[open_slots[0].name] += 1
            given = 1
        left -= given
        open_slots = [slot for slot in open_slots if slot.want > grants[slot.name]]
    return grants


def spread(ranked: Sequence[Line], room: int, count: Callable[[str], int]) -> list[Line]:
    """Which earlier messages are shown, and which of them whole, within a room of tokens: best first.

    First those of the role whose words are asked for, without what they ask in passing, or brief where that alone fits;
    then the others in their brief form; then all of them whole. What does not fit is passed over for what does. On
    everyday questions this order held more answers than all others that were tried (docs/context.md).
    """
    shown: dict[int, Line] = {}
    days: set[str] = set()
    own = [form for line in ranked if line.own for form in (line.stated or line, line.brief) if form is not None]
    rest = [line for line in ranked if not line.own]
    steps = [
        *own,
        *(line.brief or line for line in rest),
        *(line for line in ranked if line.own and line.stated),
        *rest,
    ]
    for line in steps:
        held = shown.get(line.number)
        more = line.cost - (0 if held is None else held.cost) + (0 if line.day in days else count(short_day(line.day)))
        if more <= room and (held is None or held.cost < line.cost):
            room -= more
            shown[line.number] = line
            days.add(line.day)
    return list(shown.values())
