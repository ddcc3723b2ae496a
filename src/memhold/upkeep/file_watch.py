"""Looks at the file of an open store again and again, where nothing that reads rows ever looks.

Where a page stands in another's place, or a bit of a key is flipped, a search ends beside a row and finds nothing: no
row is damaged, and no answer can tell. Only a look at the whole file can.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from memhold.ports.maintenance import Finding
from memhold.upkeep.worker import ending

__all__ = ["FileWatch"]

log = logging.getLogger("memhold.upkeep")

FIRST_SECONDS = 60.0
"""The first look comes this long after the store was opened: a command is over by then."""
EVERY_SECONDS = 86_400.0
"""The next ones come this far apart: a look reads the file once, and rot is slow."""
_TREES = frozenset({"integrity", "keys", "orphans"})
"""The checks by which a file is damaged where no row is."""


class FileWatch:
    """What is known of the file of one open store; `look` finds it out.

    It changes nothing and holds nobody up. What a look finds is told once in the log, and by `damage` until another
    look finds it mended. Where a look fails, what was known stays.
    """

    def __init__(
        self,
        look: Callable[[], Awaitable[Sequence[Finding]]],
        *,
        first_seconds: float = FIRST_SECONDS,
        every_seconds: float = EVERY_SECONDS,
    ) -> None:
        self._look = look
        self._first = first_seconds
        self._every = every_seconds
        self._task: asyncio.Task[None] | None = None
        self.damage: str | None = None
        """What the last look found, for a person; None where nothing is wrong, or nobody looked."""

    def note(self, found: Sequence[Finding]) -> None:
        """Take what a look at the whole file found, whoever looked; one that could not open it changes nothing."""
        if any(one.check == "open" for one in found):
            return
        wrong = [one.what for one in found if one.check in _TREES and one.severity == "wrong"]
        damage = wrong[0] if wrong else None
        if damage is not None and damage != self.damage:
            log.error("the file is damaged, and answers may lack what cannot be reached: %s", damage)
        self.damage = damage

    def start(self) -> None:
        """Begin to look in the background. Idempotent."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="memhold-file-watch")

    async def stop(self) -> None:
        """Look no more; a look that goes on is ended. Idempotent."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(self) -> None:
        wait = self._first
        while True:
            await asyncio.sleep(wait)
            try:
                self.note(await self._look())
            except Exception as error:  # noqa: BLE001 - the worker's edge: a watch that ended would look no more
                if ending(error):
                    return
                # A file that cannot be read now is met, and told, by whatever reads it.
                log.info("upkeep: a look at the file failed with %s", type(error).__name__)
            wait = self._every
