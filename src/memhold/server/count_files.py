"""The files in which the processes of a server count: one of each that lives, and one for all that have ended."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from prometheus_client.mmap_dict import MmapedDict

from memhold.server.expiry_table import RangeLocks

__all__ = ["CountFiles"]

_ENDED: Final = 0
"""In the place of a process's number: no process that serves has it."""
_HEAD, _ENTRY = 8, 32
"""Bytes before what is in a file, and at most beside each key."""


class CountFiles:
    """A folder of `prometheus_client`'s files. Without what is done here those of the dead would stay and be read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def unchanged(self, *, shared: bool = True) -> Iterator[bool]:
        """While nothing is moved between the files; False where another process could not be waited for.

        Several may read at once: whoever changes them has them alone, and not `shared`.
        """
        with (self._folder / "lock").open("a+b") as file:  # which gives the lock back where it is closed
            yield RangeLocks(file.fileno(), shared=shared).take(0)

    def fold(self, living: Collection[int | None]) -> None:
        """Add what processes that are not among the living counted to what is kept of all that have ended.

        Only one process may do so. Where another one reads just now, nothing is done: the next call finds the files
        again, as it does after an error.

        Raises:
            OSError: they cannot be read or written, and what was counted stays as it is; or one cannot be removed in
                the end, and counts twice.
        """
        for kind in ("counter", "histogram"):
            kept = self._folder / f"{kind}_{_ENDED}.db"
            numbered = {path: int(path.stem.rpartition("_")[2]) for path in self._folder.glob(f"{kind}_*.db")}
            dead = [path for path, pid in numbered.items() if pid not in {_ENDED, *living}]
            if dead:
                made = _summed([path for path in (kept, *dead) if path in numbered], self._folder / "made")
                self._change(made, kept, dead)

    def _change(self, made: Path, kept: Path, dead: Sequence[Path]) -> None:
        with self.unchanged(shared=False) as alone:
            if alone:
                made.replace(kept)
                for path in dead:
                    path.unlink()


def _summed(files: Sequence[Path], made: Path) -> Path:
    """A new file with the sums of these."""
    sums: dict[str, tuple[float, float]] = {}
    for path in files:
        if not path.stat().st_size:
            continue  # its process was killed before it wrote
        for key, value, moment, _ in MmapedDict.read_all_values_from_file(str(path)):  # type: ignore[no-untyped-call]
            sums[key] = (sums.get(key, (0.0, 0.0))[0] + value, moment)
    # With all its bytes there: where a disk is full, a write is an error, and one to a mapped hole kills the process.
    made.write_bytes(bytes(_HEAD + sum(len(key.encode()) + _ENTRY for key in sums)))
    written = MmapedDict(str(made))  # type: ignore[no-untyped-call]
    for key, (value, moment) in sums.items():
        written.write_value(key, value, moment)  # type: ignore[no-untyped-call]
    written.close()  # type: ignore[no-untyped-call]
    return made
