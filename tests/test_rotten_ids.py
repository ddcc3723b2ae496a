"""A flipped bit in a stored id, or in its index: the row is reached, and nothing is called erased that is there."""

from __future__ import annotations

import shutil
from pathlib import Path

import apsw
import psycopg
import pytest

from memhold import AsyncMemhold, Memhold
from memhold.cli.main import main
from memhold.errors import NotFound, StoreCorrupt

PLAIN = {"worker": False, "embedding": "none"}
SAID, NOTED = "the seventh message is about gardening", "a note about pears"
ROTTEN = {"message": SAID, "memory": NOTED}
PAGE = 4096
# A digit of an id that is another one from now on, and a byte that no text has.
LETTERS = {"another": 0x01, "none": 0x80}


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("planted") / "memory.db"
    with Memhold.open(str(path), **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        for turn in range(7):
            scope.add([{"role": "user", "content": SAID if turn == 6 else f"message {turn} about gardening"}])
        note = scope.remember(NOTED).memory.id
        fact = scope.remember(attribute="town", value="Lisbon").memory.id
        said = scope.messages()[6].id
    connection = apsw.Connection(str(path))
    # The fact was learnt from the message and the note.
    connection.executemany(
        "INSERT INTO memory_source SELECT namespace, user_id, id, 1, ?, ? FROM memory WHERE id = ?",
        [(0, said, fact), (1, note, fact)],
    )
    connection.close()
    return path


@pytest.fixture
def db(planted: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(planted, tmp_path / "memory.db"))


def rot(path: Path, table: str, where: str, letter: str) -> tuple[str, bytes]:
    """Flip a bit of an id in the row, in its index or in both; returns the id as it was and as it is."""
    connection = apsw.Connection(str(path))
    [(item,)] = connection.execute(f"SELECT id FROM {table} WHERE text = ?", (ROTTEN[table],))  # noqa: S608 - names of this test
    found = item[:-1].encode() + bytes([item.encode()[-1] ^ LETTERS[letter]])
    if where == "both":
        connection.execute(f"UPDATE {table} SET id = CAST(? AS TEXT) WHERE id = ?", (found, item))  # noqa: S608 - names of this test
        connection.close()
        return item, found
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    trees = dict(connection.execute("SELECT pageno - 1, name FROM dbstat").fetchall())
    [(index,)] = connection.execute(
        "SELECT l.name FROM pragma_index_list(?) AS l WHERE l.origin <> 'c' AND EXISTS"
        " (SELECT 1 FROM pragma_index_info(l.name) WHERE name = 'id')",
        (table,),
    )
    connection.close()
    data, at, flipped = bytearray(path.read_bytes()), -1, 0
    while (at := data.find(item.encode(), at + 1)) >= 0:
        if trees[at // PAGE] == (table if where == "row" else index):
            data[at : at + len(item)] = found
            flipped += 1
    assert flipped == 1
    path.write_bytes(data)
    return item, found


def left(path: Path) -> int:
    """How many rows of content stand in the tables, whatever the indexes say."""
    connection = apsw.Connection(str(path))
    found = connection.execute(
        "SELECT (SELECT count(*) FROM message NOT INDEXED) + (SELECT count(*) FROM memory NOT INDEXED)"
    ).get
    connection.close()
    return int(found)


def wrong(mem: Memhold) -> list[str]:
    return [finding.what for finding in mem.admin.doctor() if finding.severity == "wrong"]


@pytest.mark.parametrize(("table", "letter"), [("message", "none"), ("memory", "another")])
def test_a_row_is_forgotten_by_the_id_that_is_shown(db: Path, tmp_path: Path, table: str, letter: str) -> None:
    before, _ = rot(db, table, "both", letter)
    with Memhold.open(str(db), **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        [shown] = scope.recall("gardening pears", limit=100).damaged
        assert shown != before
        with pytest.raises(NotFound):
            scope.forget(before)
        assert shown in " ".join(wrong(mem))
        would = scope.forget(shown, dry_run=True)
        gone = scope.forget(shown)
        assert (gone.messages, gone.memories) == (would.messages, would.memories)
        assert shown in (*gone.messages, *gone.memories)
        # What was learnt from it names the id that it had.
        assert not scope.list(kinds=["fact"]).items
        assert gone.erased
        assert not scope.residue(SAID if table == "message" else NOTED).found
        assert wrong(mem) == []
        mem.admin.backup(tmp_path / "backup")


@pytest.mark.parametrize(("where", "letter"), [("row", "none"), ("index", "another"), ("both", "another")])
@pytest.mark.parametrize("table", ROTTEN)
def test_the_doctor_reaches_what_an_index_does_not(
    db: Path, tmp_path: Path, table: str, where: str, letter: str
) -> None:
    rot(db, table, where, letter)
    with Memhold.open(str(db), **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        [advice] = {finding.advice for finding in mem.admin.doctor() if finding.check in {"integrity", "rows"}}
        assert "doctor --repair rows" in advice
        told = [finding.what for finding in mem.admin.doctor(repair="rows") if finding.check == "rows"]
        assert len(told) == {"row": 2, "index": 1, "both": 1}[where]
        assert wrong(mem) == []
        assert scope.recall("gardening pears", limit=100).degraded == ()
        # Nothing but the damaged row went, and where its index alone had rotted not even that.
        assert left(db) == (9 if where == "index" else 8)
        mem.admin.backup(tmp_path / "backup")


@pytest.mark.parametrize("where", ["row", "index"])
@pytest.mark.parametrize("table", ROTTEN)
def test_nothing_is_called_erased_that_is_still_there(db: Path, table: str, where: str) -> None:
    rot(db, table, where, "another")
    with Memhold.open(str(db), **PLAIN) as mem:
        scope = mem.scope(user="alice")
        with pytest.raises(StoreCorrupt, match="doctor --repair rows"):
            scope.forget(everything=True)
        assert left(db) == 9, "all or nothing"
        mem.admin.doctor(repair="rows")
        scope.forget(everything=True)
        assert left(db) == 0
        assert wrong(mem) == []


def test_a_row_with_the_number_of_another_one_is_taken_out(db: Path) -> None:
    change = "UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE name = 'memory_number'"
    for swap in (("UNIQUE INDEX", "INDEX"), ("INDEX", "UNIQUE INDEX")):
        connection = apsw.Connection(str(db))
        connection.execute("PRAGMA writable_schema = ON")
        # An index that is not unique for a moment lets the row take that number.
        connection.execute(change, swap)
        connection.close()
        if swap[1] == "INDEX":
            connection = apsw.Connection(str(db))
            connection.execute("UPDATE memory SET number = 8 WHERE number = 7")
            connection.close()
    with Memhold.open(str(db), **PLAIN) as mem:
        assert [finding.what for finding in mem.admin.doctor(repair="rows") if finding.check == "rows"]
        assert wrong(mem) == []
        assert left(db) == 8
        assert [memory.value for memory in mem.scope(user="alice").list().items] == ["Lisbon"]


def test_the_command_erases_them(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rot(db, "memory", "row", "none")
    assert main(["doctor", "--db", str(db)]) == 1
    assert "doctor --repair rows" in capsys.readouterr().out
    assert main(["doctor", "--db", str(db), "--repair", "rows"]) == 0
    assert "1 rows that could not be read are erased" in capsys.readouterr().out
    assert main(["doctor", "--db", str(db)]) == 0


@pytest.mark.parametrize("how", ["forget", "repair"])
async def test_the_same_on_a_database(database: str, how: str) -> None:
    async with AsyncMemhold.open(database, **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        await scope.add([{"role": "user", "content": "one"}, {"role": "user", "content": "two"}])
        note = (await scope.remember("a note")).memory.id
        said = (await scope.messages())[1].id
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(
                "SELECT set_config('memhold.namespace', 'default', false), set_config('memhold.user_id', 'alice', false)"
            )
            for table, item in (("message", said), ("memory", note)):
                connection.execute(f"UPDATE {table} SET id = overlay(id PLACING 'g' FROM 12) WHERE id = %s", (item,))  # noqa: S608 - names of this test
        if how == "repair":
            await mem.admin.doctor(repair="rows")
        else:
            for shown in (await scope.recall("one two note")).damaged:
                await scope.forget(shown)
        # The server of the tests does not sync.
        assert {one.check for one in await mem.admin.doctor() if one.severity == "wrong"} == {"durability"}
        assert [message.text for message in await scope.messages()] == ["one"]
        assert (await scope.recall("one two note")).degraded == ()
