"""How long the event loop was held: the time in which a server answers nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Final

__all__ = ["GOAL_SECONDS", "LoopWatch"]

GOAL_SECONDS: Final = 0.1
"""No step of the loop should take longer."""
_EVERY: Final = 0.01


class LoopWatch:
    """Looks at the loop a hundred times a second and remembers by how much it came too late at worst, in seconds.

    What holds the loop is one step that takes long, or code in a thread that does not let others run. A machine whose
    processors are busy elsewhere shows as well.
    """

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self.longest = 0.0
        self.over_goal = 0

    def begin(self) -> None:
        """Watch the running loop."""
        self._loop = asyncio.get_running_loop()
        self._again()

    def end(self) -> None:
        """Watch no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def seen(self, late: float) -> None:
        """Note by how much a look came too late."""
        self.longest = max(self.longest, late)
        self.over_goal += late > GOAL_SECONDS

    def _look(self) -> None:
        self.seen(self._clock() - self._due)
        self._again()

    def _again(self) -> None:
        self._due = self._clock() + _EVERY
        self._timer = self._loop.call_later(_EVERY, self._look)
