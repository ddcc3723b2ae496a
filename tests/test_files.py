"""Files that cannot be opened are refused with a clear error, and left as they were, byte for byte."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from memhold import AsyncMemhold, Memhold
from memhold.errors import InvalidInput, MemholdError, NewerStore, NotAStore, StoreCorrupt, StoreError, StoreReadOnly
from memhold.faces.agents.notes import spool_of
from memhold.ports.data_home import absolute_location, data_home, default_db
from memhold.storage.sqlite.connection import create_or_migrate

SOURCE = Path(__file__).parents[1] / "src"
TWO_OPENERS = 6


def folder_state(folder: Path) -> dict[str, tuple[str, int, int]]:
    """Every file below a folder: its bytes, mode and time of change."""
    found = {}
    for path in sorted(folder.rglob("*")):
        about = path.stat()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path)] = (digest, about.st_mode, about.st_mtime_ns)
    return found


def a_text(path: Path) -> None:
    path.write_text("dear diary, " * 50)


def a_short_text(path: Path) -> None:
    path.write_text("hi")


def a_single_byte(path: Path) -> None:
    path.write_bytes(b"x")


def a_foreign_database(path: Path) -> None:
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE diary (day TEXT)")
    other.execute("INSERT INTO diary VALUES ('monday')")
    other.commit()
    other.close()


def a_foreign_database_with_a_log(path: Path) -> None:
    """A file whose writer died: the log beside it holds what is not in the file yet."""
    other = sqlite3.connect(path)
    other.execute("PRAGMA journal_mode=WAL")
    other.execute("CREATE TABLE diary (day TEXT)")
    other.commit()
    for end in ("", "-wal"):
        shutil.copy(f"{path}{end}", f"{path}{end}.kept")
    other.close()
    for end in ("", "-wal"):
        Path(f"{path}{end}.kept").rename(f"{path}{end}")


def a_foreign_id(path: Path) -> None:
    other = sqlite3.connect(path)
    other.execute("PRAGMA application_id = 12345")
    other.execute("PRAGMA user_version = 3")
    other.execute("CREATE TABLE diary (day TEXT)")
    other.commit()
    other.close()


@pytest.mark.parametrize(
    "make",
    [a_text, a_short_text, a_single_byte, a_foreign_database, a_foreign_database_with_a_log, a_foreign_id],
    ids=lambda m: m.__name__,
)
def test_a_file_of_another_program_is_left_untouched(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "other.db"
    make(path)
    before = folder_state(tmp_path)
    with pytest.raises(NotAStore) as caught:
        Memhold.open(str(path))
    assert caught.value.path == str(path)
    after = folder_state(tmp_path)
    assert {name: state for name, state in after.items() if not name.endswith("-shm")} == before


def test_a_newer_file_is_left_untouched(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memhold.open(str(path), worker=False) as mem:
        mem.scope(user="alice").remember("Likes tea")
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 999")
    newer.commit()
    newer.close()
    before = folder_state(tmp_path)
    with pytest.raises(NewerStore, match="upgrade") as caught:
        Memhold.open(str(path))
    assert caught.value.found == 999
    assert 0 < caught.value.supported < 999
    after = folder_state(tmp_path)
    assert {name: state for name, state in after.items() if not name.endswith(("-shm", "-wal"))} == before


@pytest.mark.parametrize(
    ("face", "said"), [(Memhold, "with Memhold.open("), (AsyncMemhold, "async with AsyncMemhold.open(")]
)
@pytest.mark.parametrize(
    ("given", "settings"),
    [
        (("m.db",), {}),
        ((), {}),
        ((Path("m.db"),), {"worker": False}),
        (("m.db", "model"), {}),
        (({"vector_store": {}},), {}),
    ],
)
def test_a_store_that_is_not_opened_by_open_says_what_to_write(face: Any, said: str, given: Any, settings: Any) -> None:
    with pytest.raises(InvalidInput, match=re.escape(f"write `{said}")):
        face(*given, **settings)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotAStore):
        Memhold.open(str(tmp_path))
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotAStore):
        Memhold.open(str(tmp_path / "file" / "memory.db"))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotAStore):
        Memhold.open(str(tmp_path / "pipe"))
    for wrong in ("", "postgres-nonsense://x", "a\0b"):
        with pytest.raises(InvalidInput):
            Memhold.open(wrong)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "pipe"]


def test_a_damaged_file_is_called_damaged(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memhold.open(str(path), worker=False) as mem:
        mem.scope(user="alice").add([{"role": "user", "content": f"line {n} " + "x" * 500} for n in range(200)])
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 8192))

    def look() -> None:
        with Memhold.open(str(path), worker=False) as mem:
            alice = mem.scope(user="alice")
            alice.recall("line")
            alice.messages()

    with pytest.raises((StoreCorrupt, NotAStore), match=r"restore|untouched"):
        look()


class UnreadableDisk(apsw.VFS):
    """A disk that gives so many pieces and no more."""

    def __init__(self, gives: int) -> None:
        self.left = gives
        super().__init__("unreadable", "")

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return UnreadableFile(self, name, flags)


class UnreadableFile(apsw.VFSFile):
    def __init__(self, disk: UnreadableDisk, name: apsw.URIFilename | str | None, flags: list[int]) -> None:
        super().__init__("", name, flags)
        self.disk = disk

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        self.disk.left -= 1
        if self.disk.left < 0:
            raise apsw.IOError("a sector cannot be read")
        return super().xRead(amount, offset)


def test_a_read_that_the_disk_fails_is_not_called_damage(tmp_path: Path) -> None:
    """SQLite ends the transaction by itself then; that there was none left to end had said that rows are damaged."""
    path = tmp_path / "memory.db"
    with Memhold.open(str(path), worker=False) as mem:
        mem.scope(user="alice").add([{"role": "user", "content": "hello"}])
    met = []
    for gives in range(5):
        disk = UnreadableDisk(gives)
        try:
            create_or_migrate(str(path), busy_timeout=0.1, now=0, vfs="unreadable")
        except MemholdError as error:
            met.append(type(error))
        disk.unregister()
    assert met
    assert {*met} == {StoreError}


def test_a_folder_that_is_made_for_a_path_that_may_be_mistyped_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "dta" / "memory.db"
    for _ in range(2):
        with Memhold.open(str(place), worker=False):
            pass
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home" / "data"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with Memhold.open(default_db(), worker=False, embedding="none") as mem:  # its folder is nobody's to mistype
        mem.scope(user="alice").remember("Likes tea")
    assert [one.getMessage() for one in caplog.records if "folder" in one.getMessage()] == [
        f"the folder {place.parent} did not exist and is made for the new store"
    ]


def test_files_are_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    path = data_home() / "deep" / "er" / "memory.db"
    old = os.umask(0)
    try:
        with Memhold.open(str(path), worker=False) as mem:
            mem.scope(user="alice").remember("Likes tea")
            modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in path.parent.iterdir()}
    finally:
        os.umask(old)
    assert set(modes) >= {"memory.db", "memory.db-wal"}
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


READER = """
import os, sys
from memhold import Memhold
from memhold.errors import StoreReadOnly
with Memhold.open(sys.argv[1] + ".warm", worker=False) as mem:
    mem.scope().remember("everything is imported while it can be")
if os.geteuid() == 0:
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
try:
    Memhold.open(sys.argv[2], worker=False).close()
except StoreReadOnly as error:
    print("refused:", error)
"""


def test_a_file_or_folder_that_cannot_be_written_is_refused() -> None:
    """The child gives up root where this runs as root, who may write everything."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    try:
        held = folder / "held"
        held.mkdir()
        path = held / "memory.db"
        Memhold.open(str(path), worker=False).close()
        for file_mode, folder_mode in ((0o444, 0o777), (0o666, 0o555)):
            path.chmod(file_mode)
            held.chmod(folder_mode)
            before = folder_state(held)
            command = [sys.executable, "-c", READER, str(folder / "x"), str(path)]
            environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
            done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=60)
            assert done.stdout.startswith("refused:"), done.stderr[-2000:]
            assert "cannot be written" in done.stdout
            assert folder_state(held) == before
    finally:
        shutil.rmtree(folder)


OPENER = """
import sys, time
from memhold import Memhold
while time.time() < float(sys.argv[2]):
    pass
with Memhold.open(sys.argv[1], worker=False) as mem:
    scope = mem.scope(user="alice")
    scope.remember(f"note of {sys.argv[3]}")
    print(scope.add([{"role": "user", "content": sys.argv[3]}]).ids[0])
"""


def test_processes_that_open_a_new_file_at_once_share_it(tmp_path: Path) -> None:
    import time

    path = tmp_path / "memory.db"
    start = str(time.time() + 1.0)
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-c", OPENER, str(path), start]
    running = [
        subprocess.Popen([*command, str(n)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        for n in range(TWO_OPENERS)
    ]
    answers = [one.communicate(timeout=60) for one in running]
    assert [one.returncode for one in running] == [0] * TWO_OPENERS, answers
    with Memhold.open(str(path), worker=False) as mem:
        alice = mem.scope(user="alice")
        assert {message.id for message in alice.messages()} == {out.strip() for out, _ in answers}
        assert [message.seq for message in alice.messages()] == list(range(1, TWO_OPENERS + 1))
        assert len(alice.list().items) == TWO_OPENERS


def test_a_file_that_another_is_making_just_now_is_not_taken_for_a_foreign_one(tmp_path: Path) -> None:
    """The other one's tables arrive between our look at whose file it is and our look at what it holds."""
    path = str(tmp_path / "memory.db")
    others: list[str] = []

    def before(_cursor: object, sql: str, _bindings: object) -> bool:
        if "sqlite_schema" in sql and not others:
            others.append("made")
            apsw.connection_hooks.remove(watched)
            try:
                create_or_migrate(path, busy_timeout=0.0, now=1)
            except MemholdError as error:  # it has to wait for our look to end
                others.append(type(error).__name__)
        return True

    def watched(connection: apsw.Connection) -> None:
        connection.exec_trace = before

    apsw.connection_hooks.append(watched)
    with Memhold.open(path, worker=False) as mem:
        assert mem.scope(user="alice").remember("Likes tea").memory.id
    assert others == ["made", "StoreBusy"]


def test_every_refusal_is_ours(tmp_path: Path) -> None:
    """Nothing of SQLite's or the system's own errors reaches the caller of open."""
    for n in range(40):
        path = tmp_path / f"{n}.db"
        path.write_bytes(b"SQLite format 3\0" + os.urandom(n * 100))
        before = path.read_bytes()
        with pytest.raises(MemholdError) as caught:
            Memhold.open(str(path))
        assert isinstance(caught.value, NotAStore | NewerStore | StoreCorrupt | StoreReadOnly)
        assert path.read_bytes() == before


def test_a_link_and_a_path_value_open_the_same_store(tmp_path: Path) -> None:
    with Memhold.open(tmp_path / "memory.db", worker=False) as mem:
        mem.scope(user="alice").remember("tides are high")
    (tmp_path / "away").mkdir()
    link = tmp_path / "away" / "link.db"
    link.symlink_to(tmp_path / "memory.db")
    with Memhold.open(link, worker=False) as mem:
        assert mem.scope(user="alice").recall("tides").total == 1
        mem.admin.backup(tmp_path / "copy")
    assert sorted(path.name for path in (tmp_path / "away").iterdir()) == ["link.db"]


@pytest.mark.parametrize("replaced", [False, True])
def test_nothing_is_acknowledged_into_a_file_that_is_gone(tmp_path: Path, *, replaced: bool) -> None:
    path = tmp_path / "memory.db"
    with Memhold.open(path, worker=False) as mem:
        alice = mem.scope(user="alice")
        alice.remember("kept")
        assert alice.recall("kept").total == 1
        path.rename(tmp_path / "elsewhere.db")
        if replaced:
            path.write_bytes(b"")
        for verb in (lambda: alice.remember("lost"), lambda: alice.recall("kept")):
            with pytest.raises(StoreError, match="open it again"):
                verb()


@pytest.mark.parametrize("place", [None, 5, b"memory.db", ["memory.db"]])
def test_what_is_no_place_is_refused_in_words(place: object) -> None:
    """None is what a variable of the environment gives that is not set."""
    with pytest.raises(InvalidInput, match="cannot open"):
        Memhold.open(place)  # type: ignore[arg-type]


@pytest.mark.parametrize("place", [":memory:", "sqlite:///:memory:", absolute_location(":memory:")])
def test_sqlites_name_for_no_file_makes_none(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match="cannot open ':memory:'; pass memory:// for"):
        Memhold.open(place)
    assert list(tmp_path.iterdir()) == []


def test_the_home_of_nobody_is_no_place() -> None:
    nobody = "~no-such-account/memory.db"
    with pytest.raises(InvalidInput, match=r"cannot open '~no-such-account/memory.db'; .* pass its whole path"):
        Memhold.open(nobody)
    # Made absolute it would be a folder of the project that a coding agent works in.
    assert absolute_location(nobody) == nobody
    assert not spool_of(nobody).is_relative_to(Path.cwd())
    with Memhold.open("memory://", worker=False) as mem:
        alice = mem.scope(user="alice")
        for verb in (alice.export, alice.import_file):
            with pytest.raises(InvalidInput, match="no path"):
                verb("~nobody-is-called-so/x")
