"""One flipped bit: what is damaged is left out and named, and everything else goes on."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

from memhold import AsyncMemhold, Memhold
from memhold.errors import Forgotten, InvalidInput, MemholdError, NotFound, StoreCorrupt, UndoConflict
from memhold.faces.remote.remote_store import RemoteStore, reach
from memhold.ports.maintenance import Finding
from memhold.ports.models import LinkNote
from memhold.storage.sqlite.store import SqliteStore
from memhold.testing.scripted import HashEmbedding
from memhold.values.records import Scope
from memhold.wiring.system import SystemClock
from tests.rest.serving import live
from tests.test_damaged_words import behind

PLAIN = {"worker": False, "embedding": "none"}
FLIPS = {
    "text that is none": "UPDATE message SET text = CAST(x'ff41' AS TEXT) WHERE seq = 31",
    "body that is none": "UPDATE message SET body = CAST(x'ff41' AS TEXT) WHERE seq = 31",
    "another text": "UPDATE message SET text = replace(text, 'garden', 'gardfn') WHERE seq = 31",
    "another body": "UPDATE message SET body = replace(body, 'garden', 'gardfn') WHERE seq = 31",
    "another role": "UPDATE message SET role = 'usar' WHERE seq = 31",
    "another time": "UPDATE message SET event_time = event_time + 1048576 WHERE seq = 31",
}


def spoilt(path: Path, flip: str) -> str:
    connection = apsw.Connection(str(path))
    connection.execute(flip)
    [(item,)] = connection.execute("SELECT id FROM message WHERE seq = 31")
    connection.close()
    return str(item)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    with Memhold.open(str(path), **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        for turn in range(40):
            scope.add([{"role": "user", "content": f"message number {turn} about gardening"}])
        scope.remember(attribute="town", value="Lisbon")
    return path


@pytest.mark.parametrize("flip", FLIPS)
def test_a_damaged_message_is_left_out_and_named(db: Path, tmp_path: Path, flip: str) -> None:
    item = spoilt(db, FLIPS[flip])
    with Memhold.open(str(db), **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        assert len(scope.messages()) == 39
        found = scope.recall("gardening", limit=100)
        assert (found.degraded, found.damaged, len([hit for hit in found.hits if hit.kind == "message"])) == (
            ("damaged",),
            (item,),
            39,
        )
        context = scope.context([{"role": "user", "content": "gardening"}], budget=8000)
        assert (context.degraded, context.damaged) == (("damaged",), (item,))
        with pytest.raises(StoreCorrupt, match="damaged on the disk"):
            scope.get(item)
        assert scope.export(tmp_path / "e.jsonl").damaged == (item,)
        [finding] = [one for one in mem.admin.doctor() if one.severity == "wrong"]
        assert (finding.check, item in finding.what) == ("rows", True)
        with pytest.raises(StoreCorrupt, match="no backup was made"):
            mem.admin.backup(tmp_path / "backup")
        assert not list(tmp_path.glob(".backup*"))
        assert scope.add([{"role": "user", "content": "and on"}]).ids
        assert scope.end_session().ids
        # It is forgotten by its id like anything else, and then nothing is damaged any more.
        assert scope.forget(item).messages == (item,)
        with pytest.raises(NotFound):
            scope.get(item)
        assert scope.recall("gardening", limit=100).degraded == ()
        assert not [one for one in mem.admin.doctor() if one.severity == "wrong"]
        mem.admin.backup(tmp_path / "backup")


def test_another_value_is_not_told(db: Path) -> None:
    spoilt(db, "UPDATE memory SET value = 'Misbon', text = replace(text, 'Lisbon', 'Misbon')")
    with Memhold.open(str(db), **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        found = scope.recall("town")
        assert not [hit for hit in found.hits if "isbon" in hit.text]
        assert found.degraded == ("damaged",)
        page = scope.list()
        assert (page.items, page.damaged) == ((), found.damaged)


def test_everything_goes_though_some_of_it_is_damaged(db: Path) -> None:
    item = spoilt(db, FLIPS["text that is none"])
    spoilt(db, "UPDATE memory SET value = 'Misbon'")
    with Memhold.open(str(db), **PLAIN) as mem:
        gone = mem.scope(user="alice").forget(everything=True)
        assert (len(gone.messages), len(gone.memories), item in gone.messages) == (40, 1, True)
    connection = apsw.Connection(str(db))
    assert connection.execute("SELECT (SELECT count(*) FROM message) + (SELECT count(*) FROM memory)").get == 0


async def test_what_has_no_place_to_say_so_is_logged_once(db: Path, caplog: pytest.LogCaptureFixture) -> None:
    item = spoilt(db, FLIPS["another text"])
    async with AsyncMemhold.open(str(db), **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        with caplog.at_level(logging.WARNING, logger="memhold.storage"):
            await scope.messages()
            await scope.messages()
    assert [record.getMessage() for record in caplog.records] == [
        f"1 rows are damaged and left out ({item}); run 'memhold doctor'"
    ]


async def test_messages_name_what_is_damaged_between_them_in_python_and_over_http(db: Path) -> None:
    item = spoilt(db, FLIPS["another text"])
    async with live(str(db), embedding="none") as server:
        here = await server.memhold.scope(user="alice", session="s").messages()
        transport, principal = await reach(server.url, {"token": await server.token(("read",), user="alice")})
        async with RemoteStore(transport, principal) as store:
            there = await store.scope(user="alice", session="s").messages()
    assert (len(here), here.damaged) == (39, (item,))
    assert ([one.id for one in there], there.damaged) == ([one.id for one in here], (item,))


@pytest.mark.parametrize(
    "flip",
    [
        "UPDATE migration SET sha256 = replace(sha256, substr(sha256, 9, 1), 'D') WHERE number = 5",
        "UPDATE tombstone SET id = replace(id, 'msg_0', 'msg_1')",
        "UPDATE tombstone SET change_id = replace(change_id, 'chg_0', 'chg_1')",
    ],
)
def test_no_backup_is_made_of_what_doctor_calls_wrong(db: Path, tmp_path: Path, flip: str) -> None:
    with Memhold.open(str(db), **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        scope.forget(scope.messages()[0].id)
    spoilt(db, flip)
    with Memhold.open(str(db), **PLAIN) as mem:
        [wrong] = [one for one in mem.admin.doctor() if one.severity == "wrong" and one.check != "ledger"]
        with pytest.raises(StoreCorrupt, match="no backup was made") as refused:
            mem.admin.backup(tmp_path / "backup")
        assert wrong.what in str(refused.value)


TOMBSTONES = {
    "whose": "UPDATE tombstone SET namespace = CAST(namespace AS BLOB) WHERE id = ?",
    "id": "UPDATE tombstone SET id = CAST(id AS BLOB) WHERE id = ?",
    "change": "UPDATE tombstone SET change_id = CAST(change_id AS BLOB) WHERE id = ?",
    "time": "UPDATE tombstone SET at = 'rot' WHERE id = ?",
}


@pytest.mark.parametrize("flip", TOMBSTONES)
def test_a_damaged_tombstone_is_told_of(db: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, flip: str) -> None:
    with Memhold.open(str(db), **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        first, second, *_ = [message.id for message in scope.messages()]
        scope.forget(first)
        scope.forget(second)
    ledger = db.with_name("memory.db.forgotten")
    ledger.unlink()
    connection = apsw.Connection(str(db))
    connection.execute(TOMBSTONES[flip], (first,))
    connection.close()
    with caplog.at_level(logging.WARNING, logger="memhold"), Memhold.open(str(db), **PLAIN) as mem:
        assert "a tombstone of it is none" in caplog.text
        assert second in ledger.read_text(encoding="utf-8"), "what is whole is kept from coming back"
        assert [one for one in mem.admin.doctor() if one.severity == "wrong"]
        with pytest.raises(StoreCorrupt):
            mem.admin.backup(tmp_path / "backup")


def test_a_store_that_is_refused_leaves_nothing_that_holds_the_file(db: Path) -> None:
    connection = apsw.Connection(str(db))
    connection.execute("UPDATE store SET value = x'00' WHERE name = 'secret'")
    connection.close()
    before = set(threading.enumerate())
    with pytest.raises(StoreCorrupt, match="run 'memhold doctor'"):
        Memhold.open(str(db), **PLAIN)
    left = [thread for thread in threading.enumerate() if thread not in before]
    for thread in left:
        thread.join(60)
    assert not any(thread.is_alive() for thread in left)


def test_the_command_line_names_what_is_damaged_in_a_listing_and_an_export(
    db: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from memhold.cli.main import main

    connection = apsw.Connection(str(db))
    connection.execute("UPDATE memory SET text = replace(text, 'Lisbon', 'Lisbom')")
    connection.close()
    spoilt(db, FLIPS["another text"])
    own = ("--db", str(db), "--user", "alice")
    assert main(["messages", "--session", "s", *own]) == 3
    assert "1 damaged row left out (msg_" in capsys.readouterr().err
    for said in (
        ("list",),
        ("export", str(tmp_path / "a.jsonl")),
        ("export", str(tmp_path / "a"), "--format", "markdown"),
    ):
        assert main([*said, *own]) == 3, said
        told = capsys.readouterr().err
        assert "left out (" in told
        assert "mem_" in told


_SCHEMA = """PRAGMA writable_schema = ON; PRAGMA schema_version = 99;
UPDATE sqlite_schema SET sql = replace(sql, '{}', '{}') WHERE name = '{}'"""
BESIDE_THE_ROWS = {
    "a column of another name": _SCHEMA.format("ended_at", "endfd_at", "session"),
    "a condition turned": _SCHEMA.format("(''openai''", "(''/penai''", "message"),
    "a namespace of another name": "UPDATE namespace SET namespace = 'defaulu'",
    "changes that are not counted": "UPDATE namespace SET change_seq = 3",
    "documents that are not counted": "UPDATE owner SET documents = 0",
}


@pytest.mark.parametrize("flip", BESIDE_THE_ROWS)
def test_what_is_damaged_beside_the_rows_is_named_and_in_no_backup(db: Path, tmp_path: Path, flip: str) -> None:
    connection = apsw.Connection(str(db))
    connection.execute(BESIDE_THE_ROWS[flip])
    connection.close()
    with Memhold.open(str(db), **PLAIN) as mem:
        with pytest.raises(StoreCorrupt, match="memhold doctor"):
            mem.scope(user="alice", session="s").add([{"role": "user", "content": "afterwards"}])
        assert [one for one in mem.admin.doctor() if one.severity == "wrong"]
        with pytest.raises(StoreCorrupt, match="no backup was made"):
            mem.admin.backup(tmp_path / "backup")


CHANGES = {
    "why": "UPDATE change SET reason = reason || 'x' WHERE id = '{}'",
    "text that is none": "UPDATE change SET sources = CAST(x'ff41' AS TEXT) WHERE id = '{}'",
    "detail": "UPDATE change SET detail = '{{\"a\":1}}' WHERE id = '{}'",
    "when": "UPDATE change SET at = at + 1048576 WHERE id = '{}'",
}
CHANGED = [*(("sqlite", one) for one in CHANGES), *(("postgresql", one) for one in CHANGES if "text" not in one)]


def wrong(mem: Memhold) -> list[Finding]:
    """What doctor is alarmed by; the server of the tests does not sync."""
    return [one for one in mem.admin.doctor() if one.severity == "wrong" and one.check != "durability"]


def refuses_a_backup(mem: Memhold, tmp_path: Path) -> None:
    """A file's backup is refused; a database's is PostgreSQL's own."""
    with pytest.raises((StoreCorrupt, InvalidInput), match=r"no backup was made|pg_dump"):
        mem.admin.backup(tmp_path / "backup")


@pytest.mark.parametrize(("lasting", "flip"), CHANGED, indirect=["lasting"])
def test_a_damaged_change_is_named_and_nothing_is_undone_past_it(lasting: str, tmp_path: Path, flip: str) -> None:
    with Memhold.open(lasting, **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        told = scope.remember("Prefers window seats")
        assert told.memory is not None
        pinned = scope.pin(told.memory.id)
    [first], [second] = told.receipt.change_ids, pinned.receipt.change_ids
    behind(lasting, CHANGES[flip].format(second))
    with Memhold.open(lasting, **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        assert scope.changes(limit=1000).damaged == (second,)
        assert scope.export(tmp_path / "e.jsonl").damaged == (second,)
        with pytest.raises(StoreCorrupt, match=second):
            scope.history(told.memory.id)
        for change in (first, second):
            # The pin stands on the first: without it nobody could say that something does.
            with pytest.raises(StoreCorrupt, match=second):
                scope.undo(change)
        assert scope.get(told.memory.id).pinned
        assert scope.remember("Prefers tea").memory
        [found] = wrong(mem)
        assert (found.check, second in found.what, "--repair rows" in found.advice) == ("rows", True, True)
        refuses_a_backup(mem, tmp_path)


@pytest.mark.parametrize(("lasting", "flip"), CHANGED, indirect=["lasting"])
def test_a_damaged_change_can_be_let_stand_and_what_it_may_have_done_is_undone_by_nobody(
    lasting: str, tmp_path: Path, flip: str
) -> None:
    with Memhold.open(lasting, **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        told, other = scope.remember("Prefers window seats"), scope.remember("Prefers tea")
        assert told.memory is not None
        pinned = scope.pin(told.memory.id)
        before = scope.changes(limit=1000).items
    [first], [second], [beside] = (one.change_ids for one in (told.receipt, pinned.receipt, other.receipt))
    behind(lasting, CHANGES[flip].format(second))
    with Memhold.open(lasting, **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        with pytest.raises(StoreCorrupt, match="memhold doctor"):
            scope.undo(written_since=before[-3].at)
        assert "1 sessions and changes" in mem.admin.doctor(repair="rows")[0].what
        assert wrong(mem) == []
        after = scope.changes(limit=1000).items
        assert [(one.id, one.seq, one.effects) for one in after] == [(one.id, one.seq, one.effects) for one in before]
        assert [one.at for one in after[:-1]] == [one.at for one in before[:-1]]
        assert before[-2].at <= after[-1].at
        assert flip == "when" or after[-1].at == before[-1].at
        assert [one for one in after if one.id != second] == [one for one in before if one.id != second]
        if not lasting.startswith("postgresql:"):
            mem.admin.backup(tmp_path / "backup")
        if flip == "detail":
            assert scope.undo(first, cascade=True).change_ids
            return
        assert [second in one.what for one in mem.admin.doctor() if one.check == "rows"] == [True]
        assert [one.verb for one in scope.history(told.memory.id)] == ["remember", "damaged"]
        for change in (first, second):
            with pytest.raises(UndoConflict, match=second):
                scope.undo(change, cascade=True)
        assert scope.get(told.memory.id).pinned
        scope.undo(beside)
        # What stands below it goes by forgetting alone; then nothing is in the way of the rest.
        scope.forget(told.memory.id)
        scope.undo(written_since=before[-3].at)


def test_of_a_damaged_change_is_known_what_it_touched(lasting: str) -> None:
    """What it hid is not called forgotten, and what a document said elsewhere goes with the document."""
    with Memhold.open(lasting, **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        told = scope.remember("Prefers window seats")
        assert told.memory is not None
        hidden = scope.forget(told.memory.id, hard=False)
        scope.documents.put(("b",), "what it said first")
        scope.documents.move(("b",), ("a",))
        moved = scope.changes(limit=1000).items[-1]
        scope.documents.put(("a",), "what it says now")
    flip = "UPDATE change SET verb = verb || 'x' WHERE id IN ('{}', '{}')"
    behind(lasting, flip.format(hidden.change_id, moved.id))
    with Memhold.open(lasting, **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        mem.admin.doctor(repair="rows")
        with pytest.raises(UndoConflict, match=str(hidden.change_id)):
            scope.undo(told.receipt.change_ids[0])
        assert scope.documents.delete(("a",), hard=True).erased
        assert "memory" not in scope.residue("what it").found


def test_a_damaged_forget_still_says_what_it_forgot(lasting: str) -> None:
    with Memhold.open(lasting, **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        told = scope.remember("Prefers window seats")
        assert told.memory is not None
        done = scope.forget(told.memory.id)
    at = "9000000000000000000" if lasting.startswith("postgresql:") else "'x'"
    flip = "UPDATE change SET at = {}, sources = '[]', verb = 'frrget' WHERE id = '{}'"
    behind(lasting, flip.format(at, done.change_id))
    with Memhold.open(lasting, **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        mem.admin.doctor(repair="rows")
        assert wrong(mem) == []
        last = scope.history(told.memory.id)[-1]
        assert (last.id, last.verb, last.sources) == (done.change_id, "forget", (told.memory.id,))
        with pytest.raises(Forgotten):
            scope.undo(told.receipt.change_ids[0])


SESSIONS = {
    "metadata": "UPDATE session SET metadata = replace(metadata, 'Lisbon', 'Misbon')",
    "time": "UPDATE session SET last_at = last_at + 1048576",
    "a count": "UPDATE session SET pending_tokens = pending_tokens + 64",
}


def with_a_session(location: str) -> None:
    with Memhold.open(location, **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        scope.add([{"role": "user", "content": f"message number {turn} about gardening"} for turn in range(12)])
        scope.set_session_metadata({"title": "A week in Lisbon"})


@pytest.mark.parametrize("flip", SESSIONS)
def test_a_damaged_session_is_named_and_not_written_over(lasting: str, tmp_path: Path, flip: str) -> None:
    with_a_session(lasting)
    behind(lasting, SESSIONS[flip])
    with Memhold.open(lasting, **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        assert len(scope.recall("gardening").hits) == 10
        [item] = scope.export(tmp_path / "e.jsonl").damaged
        assert item.startswith("ses_")
        for ask in (
            scope.session_metadata,
            lambda: scope.set_session_metadata({"title": "Another"}),
            lambda: scope.add([{"role": "user", "content": "and on"}]),
        ):
            with pytest.raises(StoreCorrupt, match=item):
                ask()
        [found] = [one for one in wrong(mem) if one.check == "rows"]
        assert "in the table session" in found.what
        assert item in found.what
        refuses_a_backup(mem, tmp_path)
        mem.scope(user="alice", session="another").add([{"role": "user", "content": "and on"}])
        mem.admin.doctor(repair="rows")
        assert wrong(mem) == []
        assert scope.add([{"role": "user", "content": "and on"}]).ids
        assert scope.session_metadata() == {"title": "A week in Misbon" if flip == "metadata" else "A week in Lisbon"}


def test_a_session_in_which_a_number_is_none_is_not_called_sound(tmp_path: Path) -> None:
    location = str(tmp_path / "memory.db")
    with_a_session(location)
    behind(location, "UPDATE session SET rev = 'x'")
    with Memhold.open(location, **PLAIN) as mem:
        mem.admin.doctor(repair="rows")
        assert [one.check for one in wrong(mem) if "table session: ses_" in one.what] == ["rows"]
        with pytest.raises(StoreCorrupt):
            mem.scope(user="alice", session="s").add([{"role": "user", "content": "and on"}])


def test_everything_can_be_forgotten_beside_a_damaged_session(lasting: str) -> None:
    with_a_session(lasting)
    behind(lasting, SESSIONS["metadata"])
    with Memhold.open(lasting, **PLAIN) as mem:
        assert mem.scope(user="alice").forget(everything=True).erased
        assert wrong(mem) == []


OF_ANOTHER_KIND = {
    "a session's place": "UPDATE session SET number = x'fffe'",
    "how many messages a session has": "UPDATE session SET last_seq = x'fffe'",
    "how far a session is read": "UPDATE session SET asked = x'fffe'",
    "when a memory ends": "UPDATE memory SET expires_at = 'x'",
    "a time beyond all times": "UPDATE memory SET expires_at = 1152921504606846976",
    "a memory's number": "UPDATE memory SET number = x'fffe' WHERE kind = 'note'",
    "how often work was tried": "UPDATE due SET attempts = x'fffe'",
    "how long vectors are": "UPDATE generation SET dimension = x'fffe'",
    "how long vectors are, endlessly": "UPDATE generation SET dimension = 1099511627776",
    "the number of changes": "UPDATE namespace SET change_seq = x'fffe'",
    "the number of documents": "UPDATE owner SET documents = x'fffe'",
}


@pytest.mark.parametrize("flip", OF_ANOTHER_KIND)
def test_what_is_not_even_of_its_kind_is_no_raw_error_of_any_verb(tmp_path: Path, flip: str) -> None:
    location = str(tmp_path / "memory.db")
    with Memhold.open(location, worker=False, embedding=HashEmbedding()) as mem:
        scope = mem.scope(user="alice", session="s")
        scope.add([{"role": "user", "content": "about gardening"}])
        note = scope.remember("Prefers window seats").memory
        assert note is not None
        scope.documents.put(("diary",), "rain")
        assert mem.settle()
        scope.add([{"role": "user", "content": "more about gardening"}])
    behind(location, "PRAGMA ignore_check_constraints = ON", OF_ANOTHER_KIND[flip])
    told = {}
    with Memhold.open(location, worker=False, embedding=HashEmbedding()) as mem:
        scope = mem.scope(user="alice", session="s")
        asked: list[Callable[[], object]] = [
            scope.status, scope.sessions, scope.messages, scope.list, scope.changes, scope.context, scope.session_metadata,
            scope.documents.list, scope.end_session, mem.settle, lambda: scope.recall("gardening"),
            lambda: scope.history(note.id), lambda: scope.export(tmp_path / "e.jsonl"),
            lambda: scope.add([{"role": "user", "content": "and on"}]), lambda: scope.remember("Prefers tea"),
            lambda: scope.forget(note.id), lambda: mem.admin.doctor(repair="rows"),
        ]  # fmt: skip
        alarm = [one for one in mem.admin.doctor() if one.severity == "wrong"]
        for place, ask in enumerate(asked):
            try:
                told[place] = ask()
            except MemholdError:
                continue
        degraded = [getattr(told.get(place), "degraded", ()) for place in (0, 10)]
    assert alarm or any(degraded)


def test_an_agent_whose_name_rotted_is_named_and_in_no_backup(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memhold.open(str(path), **PLAIN) as mem:
        mem.scope(user="alice", agent="helper", session="s").add([{"role": "user", "content": "about gardening"}])
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE agent SET agent_id = 'hdlper'")
    connection.close()
    with Memhold.open(str(path), **PLAIN) as mem:
        assert {one.check for one in mem.admin.doctor() if one.severity == "wrong"} == {"orphans", "words"}
        with pytest.raises(StoreCorrupt, match="agents"):
            mem.admin.backup(tmp_path / "backup")
        mem.admin.reindex()
        assert [one for one in mem.admin.doctor() if one.severity == "wrong"] == []
        mem.admin.backup(tmp_path / "backup")


def test_a_text_that_is_none_in_any_table_is_named_and_in_no_backup(db: Path, tmp_path: Path) -> None:
    connection = apsw.Connection(str(db))
    connection.execute("INSERT INTO generation VALUES (1, CAST(x'ff41' AS TEXT), 8, 'current', 1)")
    connection.close()
    with Memhold.open(str(db), **PLAIN) as mem:
        assert "rows" in {one.check for one in mem.admin.doctor() if one.severity == "wrong"}
        with pytest.raises(StoreCorrupt, match="table generation"):
            mem.admin.backup(tmp_path / "backup")


def test_a_damaged_day_of_what_models_were_used_for_is_no_raw_error(db: Path) -> None:
    connection = apsw.Connection(str(db))
    columns = connection.execute("SELECT count(*) FROM pragma_table_info('model_usage')").get
    values = ("no day", "a model", "a purpose", *[1] * (columns - 3))
    connection.execute(f"INSERT INTO model_usage VALUES ({', '.join('?' * columns)})", values)  # noqa: S608 - marks
    connection.close()
    with Memhold.open(str(db), **PLAIN) as mem, pytest.raises(StoreCorrupt, match="tally; run 'memhold doctor'"):
        mem.admin.model_usage()


def test_a_flipped_bit_of_a_vector_is_no_other_likeness(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memhold.open(str(path), worker=False) as mem:
        scope = mem.scope(user="alice", session="s")
        scope.add([{"role": "user", "content": f"number {turn} about gardening"} for turn in range(20)])
        assert mem.settle(timeout=60)
    connection = apsw.Connection(str(path))
    [(vectors,)] = connection.execute("SELECT vectors FROM vector_block")
    spoilt = bytearray(vectors)
    spoilt[1] ^= 64  # a low bit of the first number: the vector stays of unit length
    connection.execute("UPDATE vector_block SET vectors = ?", (bytes(spoilt),))
    connection.close()
    with Memhold.open(str(path), worker=False) as mem:
        scope = mem.scope(user="alice", session="s")
        found = scope.recall("gardening", limit=30)
        assert (len(found.hits), "meaning" in found.degraded) == (20, True)
        with pytest.raises(StoreCorrupt, match="vectors"):
            mem.admin.backup(tmp_path / "backup")
        assert [one.check for one in mem.admin.doctor() if one.severity == "wrong"] == ["vectors"]
        mem.admin.reindex()
        assert mem.settle(timeout=60)
        assert scope.recall("gardening", limit=30).degraded == ()
        assert [one for one in mem.admin.doctor() if one.severity == "wrong"] == []
        mem.admin.backup(tmp_path / "backup")


WORDS = {
    "records": "UPDATE word_block SET records = zeroblob(length(records)) WHERE first = 0",
    "entries": "UPDATE word_block SET entries = zeroblob(length(entries))",
    "cut short": "UPDATE word_block SET records = substr(records, 1, 7) WHERE first = 0",
}


@pytest.mark.parametrize(("flip", "embedding"), [("records", "builtin"), ("entries", "none"), ("cut short", "none")])
async def test_a_damaged_words_index_is_named_and_read_from_the_texts(db: Path, flip: str, embedding: str) -> None:
    open_with = {"worker": False, "embedding": embedding}
    async with AsyncMemhold.open(str(db), **open_with) as mem:
        scope = mem.scope(user="alice", session="s")
        for turn in range(150):
            await scope.add([{"role": "user", "content": f"{turn} about the weather"}])
        await scope.forget((await scope.messages())[3].id)
        await mem.settle()
        asked = ("gardening message 7", "which town", "")
        whole = [await scope.recall(text, limit=100) for text in asked]
    connection = apsw.Connection(str(db))
    connection.execute(WORDS[flip])
    connection.close()
    async with live(str(db), embedding=embedding) as server:
        transport, principal = await reach(server.url, {"token": await server.token(("read",), user="alice")})
        async with RemoteStore(transport, principal) as store:
            for one in (server.memhold, store):
                scope = one.scope(user="alice", session="s")
                found = [await scope.recall(text, limit=100) for text in asked]
                assert [[hit.id for hit in answer.hits] for answer in found] == [
                    [hit.id for hit in answer.hits] for answer in whole
                ]
                assert {answer.degraded for answer in found} == {("words",)}
    async with AsyncMemhold.open(str(db), **open_with) as mem:
        scope = mem.scope(user="alice", session="s")
        assert "words" in (await scope.context([{"role": "user", "content": "gardening"}], budget=4000)).degraded
        assert {one.advice for one in await mem.admin.doctor() if one.check == "words"} == {"run 'memhold reindex'"}
        await mem.admin.reindex()
        again = await scope.recall(asked[0], limit=100)
        assert (again.degraded, [one.id for one in again.hits]) == ((), [one.id for one in whole[0].hits])
        assert not [one for one in await mem.admin.doctor() if one.severity == "wrong"]


def test_the_command_line_says_that_the_words_index_is_damaged(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from memhold.cli.main import main

    spoilt(db, WORDS["records"])
    assert main(["recall", "gardening", "--db", str(db), "--user", "alice"]) == 3
    assert "the words index is damaged" in capsys.readouterr().err


@pytest.mark.parametrize(
    "rot",
    [
        "UPDATE idempotency SET expires_at = 'soon'",
        "UPDATE idempotency SET expires_at = 9223372036854775807",
        "UPDATE idempotency SET fingerprint = 'none'",
        "UPDATE tombstone SET at = 9223372036854775807",
    ],
)
async def test_what_rotted_beside_the_content_is_an_error_of_ours(tmp_path: Path, rot: str) -> None:
    path, hello = tmp_path / "memory.db", [{"role": "user", "content": "hello"}]
    async with AsyncMemhold.open(str(path), **PLAIN) as mem:
        scope = mem.scope(user="alice", session="s")
        await scope.add(hello, idempotency_key="k")
        gone = (await scope.remember("gone")).memory.id
        await scope.forget(gone)
    connection = apsw.Connection(str(path))
    connection.execute(rot)
    connection.close()
    async with AsyncMemhold.open(str(path), **PLAIN) as mem:
        scope, ends = mem.scope(user="alice", session="s"), []
        for ask in (lambda: scope.add(hello, idempotency_key="k"), lambda: scope.get(gone), lambda: scope.add(hello)):
            try:
                await ask()
            except MemholdError as error:
                ends.append(type(error))
        # What was forgotten is not there, whatever its mark says.
        assert {*ends} == ({NotFound} if "tombstone" in rot else {NotFound, StoreCorrupt})


async def test_a_time_of_work_that_is_none_is_an_error_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = SqliteStore(str(path), clock=SystemClock())
    await store.write(Scope(), lambda tx: tx.put_due("index", "ref", tx.now))
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE due SET due_at = 9223372036854775807")
    connection.close()
    with pytest.raises(StoreCorrupt):
        await store.upkeep.next_due(("index",))
    await store.close()


async def test_a_note_of_a_model_that_rotted_keeps_no_store_from_being_opened(tmp_path: Path) -> None:
    path, seen = tmp_path / "memory.db", datetime(2026, 1, 1, tzinfo=UTC)
    store = SqliteStore(str(path), clock=SystemClock())
    await store.links.put([LinkNote(model=name, url="http://127.0.0.1:9/v1", form=None, seen_at=seen) for name in "ab"])
    await store.close()
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE model_link SET seen_at = 'soon' WHERE model = 'a'")
    connection.close()
    store = SqliteStore(str(path), clock=SystemClock())
    assert [note.model for note in await store.links.read()] == ["b"]
    await store.close()
