"""What processes that have ended counted stays counted, in one file, however many they were."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.mmap_dict import MmapedDict, mmap_key
from prometheus_client.multiprocess import MultiProcessCollector

from memhold.server.count_files import CountFiles

pytestmark = pytest.mark.skipif(os.name != "posix", reason="several processes serve on POSIX systems only")

HOLDS = """
import sys
from pathlib import Path
from memhold.server.count_files import CountFiles
with CountFiles(Path(sys.argv[1])).unchanged():
    print("held", flush=True)
    sys.stdin.readline()
"""


def counts(folder: Path, pid: int, *, asked: float, status: str = "200") -> None:
    """What a process writes that has counted so many requests of a status, and as many seconds."""
    for kind, name in (("counter", "asked_total"), ("histogram", "seconds_sum")):
        key = mmap_key(name.removesuffix("_total").removesuffix("_sum"), name, ["status"], [status], "help")
        held = MmapedDict(str(folder / f"{kind}_{pid}.db"))  # type: ignore[no-untyped-call]
        held.write_value(key, asked, 1.0)  # type: ignore[no-untyped-call]
        held.close()  # type: ignore[no-untyped-call]


def told(folder: Path) -> dict[tuple[str, str], float]:
    collector = MultiProcessCollector(CollectorRegistry(), str(folder))  # type: ignore[no-untyped-call]
    samples = [one for family in collector.collect() for one in family.samples]  # type: ignore[no-untyped-call]
    return {(one.name, one.labels["status"]): one.value for one in samples}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.db"))


def test_the_dead_are_one_file_and_the_sums_are_as_they_were(tmp_path: Path) -> None:
    files = CountFiles(tmp_path)
    for pid in (11, 12, 13):
        counts(tmp_path, pid, asked=pid, status="200" if pid < 13 else "404")
    before = told(tmp_path)
    assert before["asked_total", "200"] == 23
    files.fold([12])
    assert names(tmp_path) == ["counter_0.db", "counter_12.db", "histogram_0.db", "histogram_12.db"]
    assert told(tmp_path) == before
    # A living one goes on, further ones end, and one was killed before it wrote.
    counts(tmp_path, 12, asked=100)
    counts(tmp_path, 14, asked=1)
    (tmp_path / "counter_15.db").touch()
    before = {**before, ("asked_total", "200"): 112, ("seconds_sum", "200"): 112}
    files.fold([])
    files.fold([])
    assert names(tmp_path) == ["counter_0.db", "histogram_0.db"]
    assert told(tmp_path) == before


def test_nothing_is_moved_while_another_process_reads(tmp_path: Path) -> None:
    files = CountFiles(tmp_path)
    counts(tmp_path, 11, asked=1)
    reader = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert reader.stdout is not None
    assert reader.stdout.readline() == "held\n"
    files.fold([])
    assert names(tmp_path) == ["counter_11.db", "histogram_11.db"]
    with files.unchanged() as beside:
        assert beside, "several may read at once"
    reader.communicate("\n")
    files.fold([])
    assert names(tmp_path) == ["counter_0.db", "histogram_0.db"]


def test_where_it_fails_in_the_middle_nothing_counts_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk, say: whatever could not be done before it is done the next time."""
    files = CountFiles(tmp_path)
    counts(tmp_path, 11, asked=11)
    files.fold([])
    for pid in (12, 13):
        counts(tmp_path, pid, asked=pid)
    before = told(tmp_path)
    for name in ("write_bytes", "replace"):
        with monkeypatch.context() as patched:
            patched.setattr(Path, name, full)
            with pytest.raises(OSError, match="No space"):
                files.fold([])
        assert told(tmp_path) == before
    files.fold([])
    assert told(tmp_path) == before
    assert names(tmp_path) == ["counter_0.db", "histogram_0.db"]


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_the_file_of_the_dead_grows_by_what_is_in_it_alone(tmp_path: Path) -> None:
    files = CountFiles(tmp_path)
    sizes = set()
    for pid in range(11, 31):
        counts(tmp_path, pid, asked=1)
        files.fold([])
        sizes.add((tmp_path / "counter_0.db").stat().st_size)
    assert len(sizes) == 1
    assert told(tmp_path)["asked_total", "200"] == 20
