"""A file that is damaged where no row is: no answer can see it, so the file is looked at, and answers say what is known."""

from __future__ import annotations

import asyncio
import logging
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import apsw
import pytest

from memhold import AsyncMemhold, Memhold
from memhold.errors import StoreBusy
from memhold.ports.maintenance import Finding
from memhold.server.serving import serve
from memhold.server.settings import ServeSettings
from memhold.storage.sqlite.doctor import examine_trees
from memhold.upkeep.file_watch import FileWatch
from memhold.values.answers import missing_told, trouble_told
from memhold.values.records import Scope
from memhold.verbs.local_store import LocalStore
from memhold.wiring import build
from tests.rest.serving import live

PLAIN = {"worker": False, "embedding": "none"}
PAGE = 4096
SAID = "the seventh message is about gardening"
TASK = "memhold-file-watch"


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("planted") / "memory.db"
    with Memhold.open(str(path), **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        for turn in range(7):
            scope.add([{"role": "user", "content": SAID if turn == 6 else f"message {turn} is about the weather"}])
    return path


@pytest.fixture
def db(planted: Path, tmp_path: Path) -> Path:
    """A file in which the index by number does not lead to the seventh message: a bit of its key is flipped there."""
    path = Path(shutil.copy(planted, tmp_path / "memory.db"))
    connection = apsw.Connection(str(path))
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    [(page,)] = connection.execute("SELECT pageno - 1 FROM dbstat WHERE name = 'sqlite_autoindex_message_1'")
    [(number,)] = connection.execute("SELECT number FROM message WHERE text = ?", (SAID,))
    connection.close()
    data = bytearray(path.read_bytes())
    at = data.index(b"defaultalice" + bytes([number]), page * PAGE, (page + 1) * PAGE)
    data[at + len("default")] ^= 1
    path.write_bytes(data)
    return path


async def test_what_no_answer_sees_is_said_once_the_file_was_looked_at(db: Path) -> None:
    runtime = await build(str(db), PLAIN)
    async with AsyncMemhold(LocalStore(runtime)) as mem:
        scope = mem.scope(user="alice", session="s")
        found = await scope.recall("gardening")
        assert SAID not in {hit.text for hit in found.hits}
        assert (found.degraded, found.damaged) == ((), ())
        assert runtime.watch is not None
        assert runtime.maintenance is not None
        runtime.watch.note(await runtime.maintenance.examine_trees())
        assert (await scope.recall("gardening")).degraded == ("damaged",)
        assert (await scope.context([{"role": "user", "content": "gardening"}], budget=2000)).degraded == ("damaged",)
        assert (await scope.documents.search("gardening")).degraded == ("damaged",)
        assert (await scope.status()).degraded == ("damaged",)
        assert (await mem.admin.ready()).degraded == ("damaged",)
        assert any(one.severity == "wrong" for one in await mem.admin.doctor())
        await mem.admin.doctor(repair="rows")
        found = await scope.recall("gardening")
        assert SAID in {hit.text for hit in found.hits}
        assert found.degraded == (await scope.status()).degraded == (await mem.admin.ready()).degraded == ()


@pytest.mark.parametrize("where", ["connect", "_rows"])
async def test_a_file_that_somebody_holds_is_not_said_to_be_damaged(
    planted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    path = Path(shutil.copy(planted, tmp_path / "memory.db"))

    def held(*_: object, **__: object) -> object:
        raise apsw.BusyError

    async with AsyncMemhold.open(str(path), **PLAIN) as mem:
        with monkeypatch.context() as patched:
            patched.setattr(f"memhold.storage.sqlite.doctor.{where}", held)
            [found] = [one for one in await mem.admin.doctor() if one.check not in {"modes", "disk"}]
        assert (found.check, found.what) == ("open", "it cannot be read now (BusyError)")
        assert "restore" not in found.advice
        assert (await mem.scope(user="alice").status()).degraded == ()


async def test_a_server_says_so_to_whoever_looks_after_it(db: Path) -> None:
    async with live(str(db), embedding="none") as server, server.client() as http:
        ready = await http.get("/readyz")
        assert (ready.status_code, ready.json()["degraded"]) == (200, [])
        assert "memhold_store_damaged 0.0" in (await http.get("/metrics")).text
        await server.memhold.admin.doctor()
        while (ready := await http.get("/readyz")).json()["degraded"] != ["damaged"]:
            pass  # it is as it was at most a second ago
        assert ready.status_code == 200
        assert "memhold_store_damaged 1.0" in (await http.get("/metrics")).text


@pytest.mark.parametrize("worker", [True, False])
async def test_an_open_store_is_watched_while_it_works(planted: Path, tmp_path: Path, *, worker: bool) -> None:
    path = Path(shutil.copy(planted, tmp_path / "memory.db"))
    async with AsyncMemhold.open(str(path), worker=worker, embedding="none"):
        assert len(watches()) == worker
    assert watches() == []


async def test_a_server_watches_whoever_does_the_due_work(planted: Path, tmp_path: Path) -> None:
    path = shutil.copy(planted, tmp_path / "memory.db")
    settings = ServeSettings(port=0, upkeep=False, insecure_loopback=True)
    seen: list[int] = []

    def ready(_: str) -> None:
        seen.append(len(watches()))
        signal.raise_signal(signal.SIGTERM)

    await serve(str(path), settings, opened={"embedding": "none"}, local=Scope(user="alice"), ready=ready)
    assert seen == [1]
    assert watches() == []


def watches() -> list[asyncio.Task[object]]:
    return [task for task in asyncio.all_tasks() if task.get_name() == TASK]


class Looks:
    """Looks that give one thing after the other; the last time they note what is known by then, and give no more."""

    def __init__(self, *each: Sequence[Finding] | Exception) -> None:
        self._each = [*each]
        self.over = asyncio.Event()

    async def __call__(self) -> Sequence[Finding]:
        if not self._each:
            self.over.set()
            await asyncio.Event().wait()
        found = self._each.pop(0)
        if isinstance(found, Exception):
            raise found
        return found


def finding(check: str, severity: Literal["wrong", "note"] = "wrong") -> Finding:
    return Finding(check=check, severity=severity, what=f"of {check}", advice="mend it")


@pytest.mark.parametrize(
    ("each", "known"),
    [
        ([[]], None),
        ([[finding("integrity")]], "of integrity"),
        ([[finding("keys"), finding("orphans")]], "of keys"),
        ([[finding("orphans", "note"), finding("rows"), finding("clock")]], None),  # rows tell of themselves
        ([[finding("integrity")], []], None),
        ([[finding("integrity")], [finding("open")]], "of integrity"),
        ([[finding("open")]], None),
        ([[finding("integrity")], StoreBusy("held"), OSError(5, "no"), RuntimeError("odd")], "of integrity"),
    ],
)
async def test_the_last_look_counts(each: list[Sequence[Finding] | Exception], known: str | None) -> None:
    looks = Looks(*each)
    watch = FileWatch(looks, first_seconds=0, every_seconds=0)
    watch.start()
    watch.start()
    await looks.over.wait()
    assert watch.damage == known
    await watch.stop()
    await watch.stop()


async def test_the_end_of_the_process_is_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    watch = FileWatch(Looks(RuntimeError("cannot schedule new futures after shutdown")), first_seconds=0)
    watch.start()
    [task] = [task for task in asyncio.all_tasks() if task.get_name() == TASK]
    await task
    assert caplog.records == []
    await watch.stop()


def test_the_same_damage_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    watch = FileWatch(Looks())
    with caplog.at_level(logging.ERROR, logger="memhold.upkeep"):
        for found in ([finding("integrity")], [finding("integrity")], [], [finding("integrity")]):
            watch.note(found)
    assert [record.getMessage().rpartition(": ")[2] for record in caplog.records] == ["of integrity"] * 2


def test_a_look_ends_where_it_is_stopped(planted: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(planted, tmp_path / "memory.db"))
    connection = apsw.Connection(str(path))
    connection.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000)"
        " INSERT INTO tombstone (namespace, user_id, id, at, change_id) SELECT 'default', '', 'mem_' || i, 1, 'chg_1' FROM n"
    )
    connection.close()
    assert len(examine_trees(str(path), busy_timeout=1.0)) == 1  # marks that no ledger holds
    with pytest.raises(apsw.InterruptError):
        examine_trees(str(path), busy_timeout=1.0, stopped=lambda: True)


def test_a_file_that_is_none_any_more_is_a_finding(db: Path) -> None:
    db.write_bytes(b"\0" * PAGE + db.read_bytes()[PAGE:])
    assert [one.check for one in examine_trees(str(db), busy_timeout=1.0)] == ["integrity"]


def test_what_is_said_of_it() -> None:
    assert "the file is damaged" in missing_told(("damaged",), ())[0]
    assert "the file is damaged" in trouble_told(("damaged",), ())[0]
    for told in (missing_told, trouble_told):
        assert len(told(("damaged",), ("mem_1",))) == 1  # rows that are named say it
        assert told((), ()) == []
