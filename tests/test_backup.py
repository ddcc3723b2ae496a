"""Backups that were read back, restores that are all or nothing, and forgets that no backup undoes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from memhold import Memhold
from memhold.errors import (
    BackupDamaged,
    InvalidInput,
    InvalidSetting,
    NotAStore,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreReadOnly,
)
from memhold.storage.sqlite import backup as backup_module
from memhold.storage.sqlite import ledger, restore
from memhold.storage.sqlite.backup import verify
from memhold.testing import FakeClock


def opened(path: Path) -> Memhold:
    return Memhold.open(str(path), worker=False, embedding="none")


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A store with a session that was ended and a fact that was superseded."""
    path = tmp_path / "memory.db"
    with opened(path) as mem:
        alice = mem.scope(user="alice", session="s1")
        alice.add([{"role": "user", "content": f"message number {n} about harbours"} for n in range(20)])
        alice.end_session()
        alice.remember(attribute="food", value="ramen")
        alice.remember(attribute="food", value="sushi")
    return path


LATE = """
import errno, sys
import apsw
from memhold import Memhold
from memhold.errors import StoreFull

class Late(apsw.VFS):
    "Says only when a file of a backup is synced that the disk is full."
    def __init__(self):
        super().__init__("late", "unix", makedefault=True)
    def xOpen(self, name, flags):
        return LateFile(name, flags)
    def xGetLastError(self):
        return errno.ENOSPC, ""

class LateFile(apsw.VFSFile):
    def __init__(self, name, flags):
        self.of_copy = name is not None and ".part-" in (name if isinstance(name, str) else name.filename())
        super().__init__("unix", name, flags)
    def xSync(self, flags):
        if self.of_copy:
            raise apsw.IOError("no room to sync")
        super().xSync(flags)

late = Late()
with Memhold.open(sys.argv[1], worker=False, embedding="none") as mem:
    try:
        mem.admin.backup(sys.argv[2])
    except StoreFull as error:
        print(error)
"""


def test_a_disk_that_says_only_at_the_sync_of_a_backup_that_it_is_full(db: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    target = tmp_path / "disk" / "backup"
    target.parent.mkdir()
    asked = [sys.executable, "-c", LATE, str(db), str(target)]
    done = subprocess.run(asked, env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert f"the backup {target} cannot be written" in done.stdout
    assert list(target.parent.iterdir()) == []


def test_a_backup_while_writers_write_is_one_moment(db: Path, tmp_path: Path) -> None:
    stop, errors = threading.Event(), []
    with opened(db) as mem, opened(db) as other:

        def write() -> None:
            number = 0
            try:
                while not stop.is_set():
                    # Each batch is one transaction: a backup holds all of it or nothing.
                    other.scope(user="bob").add([{"role": "user", "content": f"{number} {n}"} for n in range(7)])
                    number += 1
            except BaseException as error:  # noqa: BLE001 - told to the test
                errors.append(error)

        writer = threading.Thread(target=write)
        writer.start()
        steps: list[tuple[int, int]] = []
        manifests = [mem.admin.backup(tmp_path / f"b{n}", progress=lambda *step: steps.append(step)) for n in range(3)]
        stop.set()
        writer.join()
    assert errors == []
    assert steps[-1][0] == steps[-1][1] > 0
    for number, manifest in enumerate(manifests):
        assert verify(tmp_path / f"b{number}") == manifest
        assert (manifest.counts["message"] - 20) % 7 == 0
    assert manifests[0].counts["message"] <= manifests[2].counts["message"]


def test_a_backup_is_private_whole_and_nothing_beside_it(db: Path, tmp_path: Path) -> None:
    with opened(db) as mem:
        manifest = mem.admin.backup(tmp_path / "b")
        with pytest.raises(InvalidInput, match="there already"):
            mem.admin.backup(tmp_path / "b")
        (tmp_path / "file").write_text("")
        with pytest.raises(StoreReadOnly):
            mem.admin.backup(tmp_path / "file" / "b")
    assert manifest.counts["message"] == 20
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o700
    assert {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "b").iterdir()} == {
        "memory.db": 0o600,
        "manifest.json": 0o600,
    }
    assert not [path for path in tmp_path.iterdir() if "part" in path.name]


def test_a_copy_that_does_not_read_back_is_no_backup(db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = backup_module._write

    def spoilt(path: Path, text: str) -> None:
        real(path, text)
        copy = path.with_name("memory.db")
        data = bytearray(copy.read_bytes())
        data[5000] ^= 1
        copy.write_bytes(bytes(data))

    monkeypatch.setattr(backup_module, "_write", spoilt)
    with opened(db) as mem, pytest.raises(BackupDamaged):
        mem.admin.backup(tmp_path / "b")
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith((".", "b"))) == []


def _cut(folder: Path) -> None:
    copy = folder / "memory.db"
    copy.write_bytes(copy.read_bytes()[:-100])


def _flip(folder: Path) -> None:
    copy = folder / "memory.db"
    data = bytearray(copy.read_bytes())
    data[len(data) // 2] ^= 255
    copy.write_bytes(bytes(data))


def _manifest(folder: Path, **changed: object) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))


def _recount(folder: Path) -> None:
    counts = json.loads((folder / "manifest.json").read_text())["counts"]
    _manifest(folder, counts=counts | {"message": 18_835})


DAMAGE: dict[str, Callable[[Path], None]] = {
    "cut": _cut,
    "flipped": _flip,
    "no copy": lambda folder: (folder / "memory.db").unlink(),
    "no manifest": lambda folder: (folder / "manifest.json").unlink(),
    "a manifest of nothing": lambda folder: (folder / "manifest.json").write_text("{}"),
    "counts": _recount,
    "another store": lambda folder: _manifest(folder, store="0" * 32),
    "a newer format": lambda folder: _manifest(folder, version=2),
    "another schema": lambda folder: _manifest(folder, schema=99),
    "checksum": lambda folder: _manifest(folder, sha256="0" * 64),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_backup_is_refused_and_changes_nothing(db: Path, tmp_path: Path, what: str) -> None:
    with opened(db) as mem:
        mem.admin.backup(tmp_path / "b")
    before = db.read_bytes()
    DAMAGE[what](tmp_path / "b")
    with pytest.raises(BackupDamaged, match="nothing was restored"):
        Memhold.restore(tmp_path / "b", str(db), force=True)
    assert db.read_bytes() == before
    with pytest.raises(BackupDamaged):
        Memhold.restore(tmp_path / "b", str(tmp_path / "new.db"))
    assert not (tmp_path / "new.db").exists()


def test_a_place_that_cannot_be_written_is_a_clear_error(db: Path, tmp_path: Path) -> None:
    with opened(db) as mem:
        mem.admin.backup(tmp_path / "b")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StoreReadOnly, match="left as it was"):
        Memhold.restore(tmp_path / "b", str(tmp_path / "file" / "memory.db"))


def test_a_restore_brings_everything_back(db: Path, tmp_path: Path) -> None:
    with opened(db) as mem:
        mem.admin.backup(tmp_path / "b")
        alice = mem.scope(user="alice", session="s1")
        want = alice.messages(), alice.list(states=None).items, alice.recall("harbours", limit=50).hits
        alice.add({"role": "user", "content": "written after the backup"})
    with pytest.raises(InvalidInput, match="--force"):
        Memhold.restore(tmp_path / "b", str(db))
    done = Memhold.restore(tmp_path / "b", str(db), force=True)
    assert (done.replaced, done.forgotten) == (True, 0)
    for path in (db, tmp_path / "elsewhere" / "memory.db"):
        if path != db:
            assert not Memhold.restore(tmp_path / "b", str(path)).replaced
        assert path.stat().st_mode & 0o777 == 0o600
        with opened(path) as mem:
            alice = mem.scope(user="alice", session="s1")
            assert (alice.messages(), alice.list(states=None).items, alice.recall("harbours", limit=50).hits) == want
            assert mem.admin.doctor() == ()
    assert [path.name for path in tmp_path.iterdir() if "restore" in path.name or "before" in path.name] == []


@pytest.mark.parametrize("ledger_is", ["there", "made by the restore itself"])
def test_a_restore_never_brings_back_what_was_forgotten(db: Path, tmp_path: Path, ledger_is: str) -> None:
    word = "petrichor"
    with opened(db) as mem:
        alice = mem.scope(user="alice", session="s2")
        alice.add([{"role": "user", "content": f"my word is {word}"}, {"role": "user", "content": "stays here"}])
        alice.end_session()
        note = alice.remember(f"the word is {word} again").memory
        mem.admin.backup(tmp_path / "b")
        assert note is not None
        message = next(hit.id for hit in alice.recall(word, kinds=["message"]).hits if word in hit.text)
        alice.forget(message)
        alice.forget(note.id)
        assert mem.settle()
    if ledger_is != "there":
        # As after a crash between the commit and the ledger: the tombstones of the store itself still say it.
        ledger.ledger_path(str(db)).unlink()
    assert word.encode() in (tmp_path / "b" / "memory.db").read_bytes()
    done = Memhold.restore(tmp_path / "b", str(db), force=True)
    assert done.forgotten == 3  # the message, the window that held it, the note
    with opened(db) as mem:
        alice = mem.scope(user="alice", session="s2")
        assert mem.settle()
        assert alice.residue(word).found == {}
        assert [hit for hit in alice.recall(word, limit=100).hits if word in hit.text] == []
        # What the forgotten window also held is kept raw again.
        (raw,) = [m for m in alice.list(kinds=["raw"]).items if m.session == "s2"]
        assert "stays here" in raw.text
        assert mem.admin.doctor() == ()
    # Once more: the new store's own tombstones and the ledger agree.
    assert Memhold.restore(tmp_path / "b", str(db), force=True).forgotten == 3


def test_a_forgotten_user_stays_forgotten_with_its_sessions_names(db: Path, tmp_path: Path) -> None:
    with opened(db) as mem:
        bob = mem.scope(user="bob", session="petrichor-session")
        bob.add({"role": "user", "content": "something of bob's"})
        mem.admin.backup(tmp_path / "b")
        bob.forget(everything=True)
    assert Memhold.restore(tmp_path / "b", str(db), force=True).forgotten == 1
    with opened(db) as mem:
        bob = mem.scope(user="bob")
        assert bob.status().messages == bob.status().sessions == 0
        assert bob.residue("petrichor-session").found == {}
        assert mem.scope(user="alice").status().messages == 20


def test_the_ledger_holds_ids_and_keyed_hashes_only(db: Path) -> None:
    with opened(db) as mem:
        bob = mem.scope(namespace="clinic", user="bob@example.org", session="s1")
        gone = bob.forget(bob.add({"role": "user", "content": "my diagnosis"}).ids[0])
        again = bob.forget(bob.add({"role": "user", "content": "my other diagnosis"}).ids[0])
    path = ledger.ledger_path(str(db))
    assert path.stat().st_mode & 0o777 == 0o600
    text = path.read_text()
    assert not any(word in text for word in ("bob", "clinic", "diagnosis"))
    records = [json.loads(line) for line in text.splitlines()]
    assert [record.get("id") for record in records] == [None, *gone.messages, *again.messages]
    with opened(db):
        assert path.read_text() == text


def test_a_line_that_a_crash_cut_short_is_written_again(db: Path) -> None:
    with opened(db) as mem:
        alice = mem.scope(user="alice")
        alice.forget(alice.add({"role": "user", "content": "one"}).ids[0])
        alice.forget(alice.add({"role": "user", "content": "two"}).ids[0])
        store = mem.admin.backup(db.parent / "b").store
    path = ledger.ledger_path(str(db))
    whole = {entry.tombstone.id for entry in ledger.read_ledger(str(db), store)}
    assert len(whole) == 2
    path.write_bytes(path.read_bytes()[:-40])
    assert len(ledger.read_ledger(str(db), store)) == 1
    with opened(db):
        assert {entry.tombstone.id for entry in ledger.read_ledger(str(db), store)} == whole


def test_a_ledger_that_cannot_be_written_is_said_and_made_up_for(db: Path) -> None:
    ledger.ledger_path(str(db)).mkdir()
    with opened(db) as mem:
        alice = mem.scope(user="alice")
        item = alice.add({"role": "user", "content": "one"}).ids[0]
        told = alice.forget(item)  # it is gone, whatever the ledger does
        assert (told.erased, told.waiting_for) == (False, "store")
        assert item not in [message.id for message in alice.messages()]
        assert alice.status().due["scrub"] == 1
        ledger.ledger_path(str(db)).rmdir()
        assert mem.settle()
        assert item in ledger.ledger_path(str(db)).read_text()
    ledger.ledger_path(str(db)).unlink()
    ledger.ledger_path(str(db)).mkdir()
    with opened(db) as mem:
        assert mem.scope(user="alice").status().messages == 20


def test_a_ledger_of_another_store_is_kept_apart(db: Path, tmp_path: Path) -> None:
    with opened(db) as mem:
        alice = mem.scope(user="alice")
        alice.forget(alice.add({"role": "user", "content": "one"}).ids[0])
    other = tmp_path / "other.db"
    old = ledger.ledger_path(str(db)).read_text()
    ledger.ledger_path(str(other)).write_text(old)
    with opened(other) as mem:
        alice = mem.scope(user="alice")
        gone = alice.forget(alice.add({"role": "user", "content": "two"}).ids[0])
    assert [path.read_text() for path in tmp_path.glob("other.db.forgotten-*")] == [old]
    assert ledger.ledger_path(str(other)).read_text().count(gone.messages[0]) == 1


def test_a_store_that_is_open_is_not_replaced(db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restore, "_BUSY_SECONDS", 0.05)
    with opened(db) as mem:
        mem.admin.backup(tmp_path / "b")
        with pytest.raises(StoreBusy, match="another process"):
            Memhold.restore(tmp_path / "b", str(db), force=True)
        assert mem.scope(user="alice").status().messages == 20


def test_a_store_that_cannot_be_read_can_be_replaced(db: Path, tmp_path: Path) -> None:
    with opened(db) as mem:
        mem.admin.backup(tmp_path / "b")
    db.write_bytes(b"\0" * db.stat().st_size)
    Memhold.restore(tmp_path / "b", str(db), force=True)
    with opened(db) as mem:
        assert mem.scope(user="alice").status().messages == 20
        assert mem.admin.doctor() == ()


def test_a_log_of_the_old_store_is_not_played_into_the_new_one(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(db) as mem:
        mem.admin.backup(tmp_path / "b")
        mem.scope(user="alice").add({"role": "user", "content": "in the log"})
        log = Path(f"{db}-wal").read_bytes()
    Path(f"{db}-wal").write_bytes(log)
    # As where the old file is damaged, so that neither look at it could fold its log in.
    monkeypatch.setattr(restore, "_quiet", lambda *_: None)
    monkeypatch.setattr(restore, "_revoked", lambda *_: ())
    Memhold.restore(tmp_path / "b", str(db), force=True)
    with opened(db) as mem:
        assert mem.scope(user="alice").status().messages == 20
        assert mem.admin.doctor() == ()
    assert [path.name for path in tmp_path.iterdir() if "before" in path.name] == []


def test_a_restore_that_fails_late_puts_the_store_back(
    db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(db) as mem:
        mem.admin.backup(tmp_path / "b")
        mem.scope(user="alice").add({"role": "user", "content": "newer than the backup"})
    real, asked = restore.sound, []

    def sound(connection: apsw.Connection) -> str | None:
        asked.append(connection.filename)
        return "planted" if len(asked) == 2 else real(connection)

    monkeypatch.setattr(restore, "sound", sound)
    with pytest.raises(StoreError, match="back in its place"):
        Memhold.restore(tmp_path / "b", str(db), force=True)
    with opened(db) as mem:
        assert mem.scope(user="alice").status().messages == 21
    assert [path.name for path in tmp_path.iterdir() if "restore" in path.name or "before" in path.name] == []


@pytest.mark.parametrize("where", ["file", "database"])
def test_usage_tells_how_a_namespace_grew(where: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    location = str(tmp_path / "grown.db") if where == "file" else request.getfixturevalue("database")
    clock = FakeClock()
    with Memhold.open(location, clock=clock, worker=False) as mem:
        first = clock.now().date().isoformat()
        mem.scope(user="alice").remember("a note of the first day")
        mem.scope(namespace="other").remember("of another namespace")
        clock.advance(timedelta(days=2))
        last = clock.now().date().isoformat()
        for user in ("alice", "bob"):
            mem.scope(user=user).add([{"role": "user", "content": "hello"}])
            mem.scope(user=user).remember("a note of the last day")
        found = {one.namespace: one for one in mem.admin.usage(days=3)}
        days = [(one.day, one.messages, one.memories) for one in found["default"].days]
        assert days == [(first, 0, 1), (last, 2, 2)]
        words = found["default"].bytes - sum(one.bytes for one in found["default"].days)
        assert min(one.bytes for one in found["default"].days) > 0
        assert words > 0, "what its words index takes is not of a day"
        assert [one.day for one in found["other"].days] == [first]
        assert [one.day for one in mem.admin.usage(days=2)[0].days] == [last]
        assert all(one.days == () for one in mem.admin.usage())
        for wrong in (0, 10**9):
            with pytest.raises(InvalidInput, match="days"):
                mem.admin.usage(days=wrong)


def test_a_store_in_memory_has_nothing_to_keep() -> None:
    with Memhold.open("memory://", worker=False) as mem:
        for verb in (mem.admin.usage, mem.admin.doctor, lambda: mem.admin.backup("b")):
            with pytest.raises(InvalidInput, match="in memory"):
                verb()


async def test_restore_works_inside_a_running_loop(db: Path, tmp_path: Path) -> None:
    from memhold import AsyncMemhold

    with opened(db) as mem:
        mem.admin.backup(tmp_path / "b")
        alice = mem.scope(user="alice")
        alice.forget(alice.recall("", kinds=["fact"]).hits[0].id)
    assert Memhold.restore(tmp_path / "b", str(db), force=True).forgotten == 1
    assert (await AsyncMemhold.restore(tmp_path / "b", str(db), force=True)).forgotten == 1


def test_a_restore_lets_no_revoked_token_in_again(db: Path, tmp_path: Path) -> None:
    with opened(db) as mem:
        gone, stays = (mem.admin.tokens.create(user="alice") for _ in range(2))
        mem.admin.backup(tmp_path / "b")
        mem.admin.tokens.revoke(gone.token.id)
    Memhold.restore(tmp_path / "b", str(db), force=True)
    with opened(db) as mem:
        assert mem.admin.tokens.check(gone.secret) is None
        assert mem.admin.tokens.check(stays.secret) is not None


def test_a_backup_that_finds_no_room_names_the_disk_that_is_full(db: Path, tmp_path: Path) -> None:
    def full(*_: int) -> None:
        raise apsw.FullError("as SQLite says it when the copy's disk is full")

    with opened(db) as mem, pytest.raises(StoreFull, match=r"the backup .*monday cannot be written: No space left"):
        mem.admin.backup(tmp_path / "monday", progress=full)
    assert not [one for one in tmp_path.iterdir() if "monday" in one.name]


def test_an_intact_backup_that_is_encrypted_asks_for_its_key(db: Path, tmp_path: Path) -> None:
    with opened(db) as mem:
        mem.admin.backup(tmp_path / "b")
    copy = tmp_path / "b" / backup_module.COPY
    copy.write_bytes(os.urandom(copy.stat().st_size))  # to who lacks the key, an encrypted file is noise
    manifest = json.loads((tmp_path / "b" / backup_module.MANIFEST).read_text())
    manifest["sha256"] = backup_module.hash_file(copy)
    (tmp_path / "b" / backup_module.MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(NotAStore, match="pass the key"):
        Memhold.restore(tmp_path / "b", str(tmp_path / "new.db"))
    assert not (tmp_path / "new.db").exists()


def test_a_key_with_nul_is_refused_as_a_key(db: Path) -> None:
    with pytest.raises(InvalidSetting, match="NUL"):
        Memhold.open(str(db), key="correct\0horse")
