"""Each fault is planted and found, and what can be mended is mended by what the finding says."""

from __future__ import annotations

import json
import shutil
from collections import namedtuple
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

from memhold import Memhold
from memhold.ports.maintenance import Finding
from memhold.storage.sqlite import doctor
from memhold.storage.sqlite.ledger import ledger_path
from memhold.testing import FakeClock
from memhold.wiring import examine_file


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A store with every kind of row."""
    path = tmp_path / "memory.db"
    with Memhold.open(str(path), worker=False) as mem:
        alice = mem.scope(user="alice", session="s1", agent="helper")
        ids = alice.add([{"role": "user", "content": f"message {n} about harbours"} for n in range(6)]).ids
        alice.end_session()
        alice.remember(attribute="food", value="ramen")
        alice.remember(attribute="food", value="sushi")
        alice.remember("a note that ends", expires_at=datetime(2100, 1, 1, tzinfo=UTC))
        note = alice.remember("a note that is forgotten").memory
        assert note is not None
        alice.forget(note.id)
        alice.forget(ids[-1], hard=False)
        mem.scope(user="bob").add({"role": "user", "content": "hello from bob"})
    return path


def found(db: Path) -> tuple[Finding, ...]:
    with Memhold.open(str(db), worker=False) as mem:
        return mem.admin.doctor()


def sql(db: Path, text: str, *, keys: bool = False) -> None:
    connection = apsw.Connection(str(db))
    connection.pragma("foreign_keys", keys)
    connection.execute(text)
    connection.close()


def test_nothing_is_found_where_nothing_is_wrong(db: Path) -> None:
    assert found(db) == ()
    assert examine_file(str(db)) == ()


ROWS = {
    "a memory of nothing": ("orphans", "UPDATE memory_source SET source_id = 'msg_gone' WHERE position = 0"),
    "sources of nothing": ("orphans", "DELETE FROM memory WHERE kind = 'raw'"),
    "a gap in revisions": ("orphans", "DELETE FROM memory WHERE rev = 1 AND unrecorded_at IS NOT NULL"),
    "two revisions at once": (
        "orphans",
        "UPDATE memory SET unrecorded_at = 1 WHERE unrecorded_at IS NULL AND kind = 'note'",
    ),
    "a message of no change": ("orphans", "UPDATE message SET change_id = 'chg_gone' WHERE seq = 1"),
    "a session that counts too few": (
        "orphans",
        "UPDATE session SET cursor = 0, window_start = 0, asked = 0, last_seq = 1 WHERE session_id = 's1'",
    ),
    "a scope that counts too few": ("orphans", "UPDATE owner SET documents = 2 WHERE user_id = 'alice'"),
    "a namespace that counts too few": ("orphans", "UPDATE namespace SET change_seq = 1"),
    "a scope that upkeep passes over": ("orphans", "DELETE FROM owner WHERE user_id = 'bob'"),
    "a message of no session": ("keys", "DELETE FROM session WHERE user_id = 'bob'"),
    "an effect of no change": ("keys", "DELETE FROM change WHERE verb = 'remember'"),
    "another migration": ("versions", "UPDATE migration SET sha256 = 'other'"),
    "a missing block": ("words", "DELETE FROM word_block WHERE user_id = 'alice'"),
    "a torn block": ("words", "UPDATE word_block SET entries = substr(entries, 9) WHERE user_id = 'alice'"),
    "another text": ("rows", "UPDATE message SET text = 'other words entirely' WHERE user_id = 'bob'"),
    "another value": ("rows", "UPDATE memory SET value = 'Misbon' WHERE kind = 'fact' AND unrecorded_at IS NULL"),
    "text that is none": ("rows", "UPDATE message SET text = CAST(x'ff41' AS TEXT) WHERE user_id = 'bob'"),
    "another reason": ("rows", "UPDATE change SET reason = 'none' WHERE verb = 'remember'"),
    "an older block": ("words", "UPDATE word_block SET records_crc = 5 WHERE user_id = 'alice'"),
    "a ghost": ("words", "DELETE FROM message WHERE user_id = 'bob'"),
    "a mark that lags": ("words", "UPDATE message SET hidden_by = 'chg_x' WHERE user_id = 'bob'"),
    "an expiry that is not due": ("due", "DELETE FROM due WHERE kind = 'expire'"),
    "work that fails": ("due", "UPDATE due SET attempts = 5, last_error = 'StoreFull: no room' WHERE kind = 'expire'"),
}


@pytest.mark.parametrize("what", ROWS)
def test_each_fault_in_the_rows_is_found(db: Path, what: str) -> None:
    check, text = ROWS[what]
    sql(db, text)
    findings = [finding for finding in found(db) if finding.check == check]
    assert findings, what
    assert all(finding.what and finding.advice for finding in findings)


@pytest.mark.parametrize("what", [name for name, (check, _) in ROWS.items() if check == "words"])
def test_reindex_mends_the_words_and_gives_the_same_answers(db: Path, what: str) -> None:
    def ranked(mem: Memhold) -> list[tuple[str, float]]:
        return [(hit.id, hit.score) for hit in mem.scope(user="alice").recall("harbours", limit=50).hits]

    with Memhold.open(str(db), worker=False) as mem:
        want = ranked(mem)
    sql(db, ROWS[what][1])
    with Memhold.open(str(db), worker=False) as mem:
        done = mem.admin.reindex()
        assert done.scopes == 2
        assert not [finding for finding in mem.admin.doctor() if finding.check == "words"]
        assert ranked(mem) == want


def test_a_hidden_message_is_found_again_after_a_reindex_and_undo(db: Path) -> None:
    with Memhold.open(str(db), worker=False) as mem:
        alice = mem.scope(user="alice")
        before = alice.recall("harbours", kinds=["message"], limit=50).total
        mem.admin.reindex()
        (hidden,) = [c for c in _changes(alice) if c["verb"] == "hide"]
        alice.undo(hidden["id"])
        assert alice.recall("harbours", kinds=["message"], limit=50).total == before + 1
        assert mem.admin.doctor() == ()


def _changes(alice: object) -> list[dict[str, str]]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.jsonl"
        alice.export(path)  # type: ignore[attr-defined]
        lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [line["value"] for line in lines if line["type"] == "change"]


def test_reindex_makes_due_what_state_implies(db: Path) -> None:
    sql(db, "DELETE FROM due")
    with Memhold.open(str(db), worker=False) as mem:
        assert mem.admin.reindex().due_added >= 1
        assert mem.admin.doctor() == ()


def test_pages_that_are_damaged_are_found_without_opening_a_store(db: Path) -> None:
    data = bytearray(db.read_bytes())
    data[3 * 4096 : 3 * 4096 + 4096] = b"\xff" * 4096
    db.write_bytes(bytes(data))
    findings = examine_file(str(db))
    assert {"integrity"} <= {finding.check for finding in findings}
    assert all("restore" in finding.advice for finding in findings if finding.check == "integrity")


def test_a_file_that_is_something_else_is_a_finding(tmp_path: Path) -> None:
    for content in (b"plain text" * 50, b""):
        (tmp_path / "x.db").write_bytes(content)
        (tmp_path / "x.db").chmod(0o600)
        assert {finding.check for finding in examine_file(str(tmp_path / "x.db"))} <= {"open", "integrity"}
        assert examine_file(str(tmp_path / "x.db"))


@pytest.mark.parametrize("error", [apsw.ReadOnlyError, apsw.CantOpenError])
def test_a_place_that_cannot_be_written_is_no_reason_to_restore(db: Path, error: type[apsw.Error]) -> None:
    def refuses(*_: object, **__: object) -> None:
        raise error("no")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(doctor, "connect", refuses)
        (only,) = examine_file(str(db))
    assert (only.check, only.advice) == ("open", "check owner and modes")


@pytest.mark.parametrize("name", ["memory.db", "memory.db.forgotten", "."])
def test_modes_that_let_others_in(db: Path, name: str) -> None:
    target = db.parent / name
    target.chmod(0o644 if target.is_file() else 0o777)
    (finding,) = [finding for finding in examine_file(str(db)) if finding.where in {str(target), str(db.parent)}]
    assert finding.check == "modes"
    assert "chmod" in finding.advice


def test_a_restore_that_was_interrupted_leaves_a_trace_that_is_found(db: Path) -> None:
    (db.parent / "memory.db.before-0123").write_text("content")
    assert [finding.check for finding in examine_file(str(db))] == ["files"]


def test_a_clock_in_the_past(db: Path) -> None:
    ahead = datetime.now(UTC) - timedelta(days=2)
    with Memhold.open(str(db), worker=False, clock=FakeClock(ahead)) as mem:
        (finding,) = mem.admin.doctor()
    assert finding.check == "clock"


def test_a_ledger_that_lags_is_found(db: Path) -> None:
    ledger_path(str(db)).unlink()
    assert [finding.check for finding in examine_file(str(db))] == ["ledger"]
    with Memhold.open(str(db), worker=False):
        pass
    assert examine_file(str(db)) == ()


@pytest.mark.parametrize(("free", "severity"), [(1024, "wrong"), (100 * 1024 * 1024, None)])
def test_room_on_the_disk(db: Path, monkeypatch: pytest.MonkeyPatch, free: int, severity: str | None) -> None:
    usage = namedtuple("usage", "total used free")
    look: Callable[[object], object] = lambda _: usage(10**12, 0, free)  # noqa: E731
    monkeypatch.setattr(shutil, "disk_usage", look)
    assert [finding.severity for finding in examine_file(str(db))] == ([severity] if severity else [])


def test_a_log_that_has_grown_is_noted(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memhold.open(str(db), worker=False) as mem:
        mem.scope(user="alice").add({"role": "user", "content": "x" * 5000})
        monkeypatch.setattr(doctor, "LARGE_LOG", 4096)
        assert [(finding.check, finding.severity) for finding in mem.admin.doctor()] == [("log", "note")]


def test_nothing_is_found_where_embedded_messages_are_forgotten_or_shown_again(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memhold.open(str(path), worker=False) as mem:
        alice = mem.scope(user="alice", session="s")
        ids = alice.add([{"role": "user", "content": f"message {n} about harbours"} for n in range(4)]).ids
        assert mem.settle()
        hidden = alice.forget(ids[0], hard=False)
        alice.undo(hidden.change_id or "")
        assert mem.settle()
        assert mem.admin.doctor() == ()
        assert "meaning" in {reason.signal for hit in alice.recall("where do ships lie").hits for reason in hit.why}
        alice.forget(ids[1])
        alice.add({"role": "user", "content": "not to be embedded", "embed": False})
        assert mem.settle()
        assert mem.admin.doctor() == ()
    sql(path, "UPDATE vector_block SET vectors = substr(vectors, 2)")
    with Memhold.open(str(path), worker=False) as mem:
        # What is derived and damaged is made anew with the next message.
        mem.scope(user="alice").add({"role": "user", "content": "one more"})
        assert mem.settle()
        assert mem.admin.doctor() == ()


def test_items_and_copies_are_missed_in_no_index(tmp_path: Path) -> None:
    with Memhold.open(tmp_path / "memory.db", worker=False) as mem:
        alice = mem.scope(user="alice", session="s1")
        alice.add([{"role": "user", "content": "tea"}, {"type": "title", "title": "of tea"}])
        alice.copy_session("s2")
        alice.forget((alice.messages())[1].id, hard=False)
        assert mem.admin.doctor() == ()
        mem.admin.reindex()
        assert mem.admin.doctor() == ()
        assert [hit.text for hit in alice.recall("").hits] == ["tea"]
