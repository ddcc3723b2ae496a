"""What a server with workers does next: which it starts, which it retires. Pure; who does it is `supervising.py`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["LOOKS", "Restarts", "Silence", "Steps", "WorkerState", "next_steps"]

LOOKS: Final = 20
"""Looks in which a worker gives no sign of life until it counts as hanging."""
_QUICK_SECONDS: Final = 10.0
_FIRST_DELAY: Final = 0.5
_LONGEST_DELAY: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerState:
    """One worker: its place, under which settings it was started, and how far it is."""

    place: int
    generation: int
    state: Literal["starting", "ready", "ending"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """What is to be done now: whether one is started, and the places of those that end."""

    start: bool = False
    end: tuple[int, ...] = ()


def next_steps(workers: Iterable[WorkerState], *, generation: int, count: int) -> Steps:
    """The steps towards so many workers of that generation.

    One is started at a time. Of another generation as many end as there are ready ones too many, so that never fewer
    are ready than before while some are changed; those of another generation that are not ready yet end at once.
    """
    there = [one for one in workers if one.state != "ending"]
    wanted = [one for one in there if one.generation == generation]
    others = [one for one in there if one.generation != generation]
    starting = [one for one in wanted if one.state == "starting"]
    late = [one.place for one in others if one.state == "starting"]
    old = sorted(one.place for one in others if one.state == "ready")
    over = len(wanted) - len(starting) + len(old) - count
    # None of the former ends before one of the new has shown that it serves.
    proven = any(one.state == "ready" for one in wanted)
    return Steps(
        start=not starting and len(wanted) < count,
        end=(*late, *(old[: max(0, over)] if proven else ())),
    )


class Restarts:
    """How long to wait before another worker is started, by how long those before it lived."""

    def __init__(self) -> None:
        self._quick = 0

    def ended(self, lived: float) -> float:
        """One has ended by itself after so many seconds; the seconds until the next may be started.

        Nothing after one that lived for long; else from half a second, doubled each time, to half a minute.
        """
        if lived >= _QUICK_SECONDS:
            self._quick = 0
            return 0.0
        self._quick += 1
        return min(_LONGEST_DELAY, _FIRST_DELAY * 2.0 ** min(self._quick - 1, 10))


class Silence:
    """Whether a worker hangs, by the signs of life that it gave when it was looked at.

    Looks are counted and not seconds: whoever looks may have been frozen itself, with the whole machine.
    """

    def __init__(self) -> None:
        self._beats = 0
        self._looks = 0

    def looked(self, beats: int) -> bool:
        """Whether it has hung long enough, now that it gave so many signs in all; not before its first one."""
        self._looks = self._looks + 1 if beats == self._beats and beats else 0
        self._beats = beats
        return self._looks >= LOOKS
