"""The files in which the processes of a server count: one of each that lives, and one for all that have ended."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from prometheus_client.mmap_dict import MmapedDict

from memhold.server.expiry_table import RangeLocks

__all__ = ["CountFiles"]

_ENDED: Final = 0
"""In the place of a process's number: no process that serves has it."""


class CountFiles:
    """A folder of `prometheus_client`'s files. Without what is done here those of the dead would stay and be read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def unchanged(self) -> Iterator[bool]:
        """While nothing is moved between the files; False where another process could not be waited for."""
        with (self._folder / "lock").open("a+b") as file:  # which gives the lock back where it is closed
            yield RangeLocks(file.fileno()).take(0)

    def fold(self, living: Collection[int | None]) -> None:
        """Add what processes that are not among the living counted to what is kept of all that have ended.

        Where another process reads just now, nothing is done: the next call finds the files again.
        """
        with self.unchanged() as alone:
            if not alone:
                return
            for kind in ("counter", "histogram"):
                for path in self._folder.glob(f"{kind}_*.db"):
                    if int(path.stem.rpartition("_")[2]) not in {_ENDED, *living}:
                        _add(path, self._folder / f"{kind}_{_ENDED}.db")
                        path.unlink()


def _add(one: Path, to: Path) -> None:
    if not one.stat().st_size:
        return  # its process was killed before it wrote
    sums = MmapedDict(str(to))  # type: ignore[no-untyped-call]
    for key, value, moment, _ in MmapedDict.read_all_values_from_file(str(one)):  # type: ignore[no-untyped-call]
        held, _ = sums.read_value(key)  # type: ignore[no-untyped-call]
        sums.write_value(key, held + value, moment)  # type: ignore[no-untyped-call]
    sums.close()  # type: ignore[no-untyped-call]
