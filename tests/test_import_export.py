"""Data that moves: once, whole, with its ids, and never bringing back what was forgotten."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

from memhold import AsyncMemhold, Memhold, Memory
from memhold.errors import InvalidInput, StoreReadOnly, UnreadableImport
from memhold.faces.python.sync import SyncScope
from memhold.testing import FakeClock
from memhold.transfer.export import verify_export


@pytest.fixture(params=["sqlite", "memory"])
def mem(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memhold]:
    """A store of each kind."""
    location = "memory://" if request.param == "memory" else str(tmp_path / "memory.db")
    with Memhold.open(location, worker=False) as opened:
        yield opened


def chat(path: Path, count: int, *, session: str = "s1") -> Path:
    lines = ({"role": "user", "content": f"line {n} about tides", "session": session} for n in range(count))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_file_that_has_grown_adds_its_new_messages_only(mem: Memhold, tmp_path: Path) -> None:
    alice = mem.scope(user="alice")
    file = chat(tmp_path / "chat.jsonl", 5)
    assert alice.import_file(file, batch=2).added == 5
    chat(file, 9)
    assert alice.import_file(file).added == 4
    held = mem.scope(user="alice", session="s1").messages()
    assert [message.text for message in held] == [f"line {n} about tides" for n in range(9)]
    assert mem.scope(user="bob").import_file(file).added == 9


def test_equal_lines_are_as_many_messages_as_there_are(mem: Memhold, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text('{"role": "user", "content": "yes"}\n' * 3)
    assert mem.scope(user="alice").import_file(file).added == 3
    assert mem.scope(user="alice").import_file(file).added == 0


def test_what_was_forgotten_is_not_imported_again(mem: Memhold, tmp_path: Path) -> None:
    alice = mem.scope(user="alice", session="s1")
    file = chat(tmp_path / "chat.jsonl", 3)
    alice.import_file(file)
    note = alice.remember("tides are high").memory
    assert note is not None
    alice.export(tmp_path / "x.jsonl")
    alice.forget(alice.messages()[1].id)
    alice.forget(note.id)
    assert alice.import_file(file).added == 0
    assert alice.import_file(tmp_path / "x.jsonl").added == 0
    assert [message.text for message in alice.messages()] == ["line 0 about tides", "line 2 about tides"]
    assert alice.list().items == ()


def test_an_export_keeps_ids_times_states_and_sources(mem: Memhold, tmp_path: Path) -> None:
    clock = FakeClock(datetime(2025, 5, 1, tzinfo=UTC))
    with Memhold.open("memory://", worker=False, clock=clock) as old:
        source = old.scope(user="alice", session="s1", agent="helper")
        source.add([{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}])
        source.end_session()
        source.remember(attribute="food", value="ramen", importance="high")
        clock.advance(timedelta(days=1).total_seconds())
        source.remember(attribute="food", value="sushi", topics=["taste"], importance="high")
        source.remember("pinned words", pinned=True)
        whole = old.scope(user="alice")
        done = whole.export(tmp_path / "x.jsonl")
        want = whole.list(states=None).items
        then = whole.recall("food", as_of=clock.now() - timedelta(hours=12)).hits
        messages = source.messages()
    assert done.counts == {"session": 1, "message": 2, "memory": 4, "change": 5}
    assert verify_export(tmp_path / "x.jsonl").user == "alice"
    alice = mem.scope(user="alice", session="s1")
    assert alice.import_file(tmp_path / "x.jsonl").added == 6
    assert [m.id for m in alice.messages()] == [m.id for m in messages]
    assert [m.body for m in alice.messages()] == [m.body for m in messages]
    assert [m.event_time for m in alice.messages()] == [m.event_time for m in messages]

    def plain(memories: object) -> list[dict[str, object]]:
        from memhold.values.jsonable import to_jsonable

        return [{name: value for name, value in memory.items() if name != "number"} for memory in to_jsonable(memories)]

    assert plain(mem.scope(user="alice").list(states=None).items) == plain(want)
    again = mem.scope(user="alice").recall("food", as_of=clock.now() - timedelta(hours=12)).hits
    assert [(hit.id, hit.state) for hit in again if hit.kind == "fact"] == [
        (hit.id, hit.state) for hit in then if hit.kind == "fact"
    ]


def test_an_export_brings_standing_instructions_which_hold_and_are_ended_as_before(
    mem: Memhold, tmp_path: Path
) -> None:
    with Memhold.open("memory://", worker=False) as old:
        source = old.scope(user="alice", session="s1")
        for said in ("Please don't use emojis.", "You can use emojis again.", "Always answer in metric units."):
            source.add([{"role": "user", "content": said}])
        source.export(tmp_path / "x.jsonl")
        want = [(one.id, one.text, one.state, one.sources, one.superseded_by) for one in _instructions(source)]
    alice = mem.scope(user="alice", session="s2")
    for _ in range(2):  # a second import of the same adds nothing
        alice.import_file(tmp_path / "x.jsonl")
        found = [(one.id, one.text, one.state, one.sources, one.superseded_by) for one in _instructions(alice)]
        assert found == want
    head = alice.context([{"role": "user", "content": "How high is it?"}]).messages[0]
    assert (head["role"], "- Always answer in metric units." in head["content"]) == ("system", True)
    alice.add([{"role": "user", "content": "Never answer in metric units."}])
    states = {one.text: one.state for one in _instructions(alice)}
    assert states["Always answer in metric units."] == "superseded"


def _instructions(scope: SyncScope) -> Sequence[Memory]:
    return scope.list(kinds=["instruction"], states=None).items


def test_what_the_scope_says_itself_wins_over_an_export(mem: Memhold, tmp_path: Path) -> None:
    alice = mem.scope(user="alice")
    alice.remember(attribute="food", value="ramen")
    alice.remember("likes windows")
    alice.export(tmp_path / "x.jsonl")
    bob = mem.scope(user="bob")
    mine = bob.remember(attribute="food", value="udon").memory
    bob.remember("likes windows")
    assert bob.import_file(tmp_path / "x.jsonl").added == 0
    assert [memory.value for memory in bob.list(kinds=["fact"]).items] == ["udon"]
    assert mine is not None
    assert len(bob.list(kinds=["note"]).items) == 1


def test_a_part_of_a_scope_can_be_exported(mem: Memhold, tmp_path: Path) -> None:
    for session in ("s1", "s2"):
        one = mem.scope(user="alice", session=session)
        one.add({"role": "user", "content": f"in {session}"})
        one.end_session()
    mem.scope(user="alice", session="s2").export(tmp_path / "x.jsonl")
    text = (tmp_path / "x.jsonl").read_text()
    assert "in s2" in text
    assert "in s1" not in text
    assert json.loads(text.splitlines()[-1])["counts"] == {"session": 1, "message": 1, "memory": 1, "change": 2}


def test_an_export_that_fails_leaves_what_stood_there(mem: Memhold, tmp_path: Path) -> None:
    alice = mem.scope(user="alice")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StoreReadOnly):
        alice.export(tmp_path / "file" / "x.jsonl")
    with pytest.raises(StoreReadOnly):
        alice.export(tmp_path / "file", format="markdown")
    with pytest.raises(InvalidInput):
        alice.export(tmp_path / "x", format="csv")  # type: ignore[arg-type]
    assert (tmp_path / "file").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir() if "part" in path.name] == []


def test_ctrl_c_in_an_import_loses_nothing_and_the_next_run_goes_on(tmp_path: Path) -> None:
    count = 12_000  # so many that a busy machine is not through before the signal comes
    file, db = chat(tmp_path / "chat.jsonl", count), tmp_path / "memory.db"
    env = {**os.environ, "MEMHOLD_DB": str(db), "MEMHOLD_USER": "alice"}
    # A shell that starts tests in the background has them ignore the signal, and a child inherits that.
    program = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from memhold.cli.main import main; sys.exit(main())"
    )
    command = [sys.executable, "-c", program, "import", str(file)]
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        while child.poll() is None and _messages(db) < 256:
            pass
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=30)
    assert child.returncode == 130
    assert "goes on where it was" in said
    assert "Traceback" not in said
    with Memhold.open(str(db), worker=False) as mem:
        alice = mem.scope(user="alice")
        there = alice.status().messages
        assert 256 <= there < count
        assert alice.import_file(file).added == count - there
        assert mem.admin.doctor() == ()


def _messages(db: Path) -> int:
    try:
        connection = apsw.Connection(str(db), flags=apsw.SQLITE_OPEN_READONLY)
    except apsw.Error:
        return 0
    try:
        return int(connection.execute("SELECT count(*) FROM message").get)
    except apsw.Error:
        return 0
    finally:
        connection.close()


@pytest.mark.parametrize("suffix", ["", "-wal", ".forgotten"])
def test_an_export_does_not_take_the_place_of_the_store(tmp_path: Path, suffix: str) -> None:
    with Memhold.open(str(tmp_path / "memory.db"), worker=False) as mem:
        alice = mem.scope(user="alice")
        alice.remember("tides are high")
        with pytest.raises(InvalidInput, match="store itself"):
            alice.export(tmp_path / "." / f"memory.db{suffix}")
    with Memhold.open(str(tmp_path / "memory.db"), worker=False) as mem:
        assert mem.scope(user="alice").recall("tides").total == 1


def test_an_imported_window_that_was_kept_is_not_kept_twice(mem: Memhold, tmp_path: Path) -> None:
    alice = mem.scope(user="alice", session="s1")
    alice.add([{"role": "user", "content": "tide one"}, {"role": "assistant", "content": "tide two"}])
    alice.end_session()
    alice.add({"role": "user", "content": "tide three"})
    alice.export(tmp_path / "alice.jsonl")
    bob = mem.scope(user="bob", session="s1")
    for _ in range(2):
        bob.import_file(tmp_path / "alice.jsonl")
        bob.end_session()
        mem.settle()
        assert [len(raw.sources) for raw in bob.list(kinds=["raw"]).items] == [2, 1]


@pytest.mark.parametrize(
    "asked", [{"batch": 0}, {"batch": "3"}, {"batch": True}, {"on_error": "igore"}, {"zone": "UTC"}]
)
def test_an_import_that_cannot_be_meant_reads_nothing(mem: Memhold, tmp_path: Path, asked: dict[str, object]) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text('{"role": "user", "content": "hi"}\n')
    alice = mem.scope(user="alice")
    with pytest.raises(InvalidInput):
        alice.import_file(path, **asked)
    assert alice.recall().total == 0


def test_an_export_brings_what_stands_in_namespaces_below(mem: Memhold, tmp_path: Path) -> None:
    own = mem.scope(namespace="acme", user="alice")
    own.remember("Likes green tea")
    for user in ("alice", "bob"):
        mem.scope(namespace="acme//shop", user=user, session="s").add([{"role": "user", "content": f"tea of {user}"}])
    below = mem.scope(namespace="acme//shop//deep", user="alice")
    told = below.remember("Likes black tea").memory
    file = tmp_path / "alice.jsonl"
    assert dict(own.export(file).counts) | {"change": 0} == {"session": 1, "message": 1, "memory": 2, "change": 0}
    assert verify_export(file).namespace == "acme"
    assert "bob" not in file.read_text()
    pages = own.export(tmp_path / "pages", format="markdown")
    assert pages.counts == {"memory": 2}
    shown = Path(pages.files[0]).read_text()
    assert "Likes green tea" in shown
    assert "# Memory of the namespace below: shop//deep\n\n## Notes\n\n- Likes black tea" in shown
    there = mem.scope(namespace="new", user="carol")
    assert there.import_file(file).added == 3
    assert there.import_file(file).added == 0
    assert [hit.text for hit in there.recall("tea").hits] == ["Likes green tea"]
    assert mem.scope(namespace="new//shop", user="carol", session="s").messages()[0].text == "tea of alice"
    assert mem.scope(namespace="new//shop//deep", user="carol").get(told.id) is not None


@pytest.mark.parametrize("name", ["/", "//evil", "shop/", "", "a\u200bb", 5])
def test_an_export_names_no_namespace_but_one_below(mem: Memhold, tmp_path: Path, name: object) -> None:
    own = mem.scope(namespace="acme", user="alice")
    mem.scope(namespace="acme//shop", user="alice").remember("Likes tea")
    file = tmp_path / "x.jsonl"
    own.export(file)
    *lines, last = file.read_text().splitlines(keepends=True)
    there = next(at for at, line in enumerate(lines) if json.loads(line)["type"] == "below")
    lines[there] = json.dumps({"type": "below", "value": name}) + "\n"
    footer = json.loads(last) | {"sha256": hashlib.sha256("".join(lines).encode()).hexdigest()}
    file.write_text("".join(lines) + json.dumps(footer) + "\n")
    with pytest.raises(UnreadableImport, match=f"line {there + 1}: .*namespace below"):
        own.import_file(file)


async def test_items_and_copies_come_back_from_an_export_as_what_they_are(tmp_path: Path) -> None:
    """An item without a role is the same item; a copy stands in the other store for itself."""
    item = {"type": "title", "metadata": {"k": 1}, "event_time": "no time", "embed": "no"}
    async with AsyncMemhold.open("memory://", worker=False) as mem, AsyncMemhold.open("memory://", worker=False) as new:
        alice = mem.scope(user="alice", session="s1")
        await alice.add([{"role": "user", "content": "green tea"}, item])
        await alice.copy_session("s2")
        await mem.scope(user="alice").export(tmp_path / "out.jsonl")
        await new.scope(user="alice").import_file(tmp_path / "out.jsonl")
        other = [new.scope(user="alice", session=name) for name in ("s1", "s2")]
        assert [[one.body for one in await scope.messages()] for scope in other] == [
            [{"role": "user", "content": "green tea"}, item]
        ] * 2
        await other[0].forget(session="s1")
        assert (await other[1].messages())[0].text == "green tea"


def test_an_export_brings_what_is_kept_beside_its_sessions_and_never_back(mem: Memhold, tmp_path: Path) -> None:
    chat = mem.scope(user="alice", session="chat")
    chat.add([{"role": "user", "content": "tea"}])
    for name in ("chat", "empty", "hidden"):
        mem.scope(user="alice", session=name).set_session_metadata({"title": f"of {name}"})
    mem.scope(user="alice").forget(session="hidden", hard=False)
    file = tmp_path / "alice.jsonl"
    mem.scope(user="alice").export(file)
    assert "of hidden" not in file.read_text()

    def kept(user: str, *names: str) -> list[dict[str, object]]:
        return [dict(mem.scope(user=user, session=name).session_metadata()) for name in names]

    mem.scope(user="carol", session="empty").set_session_metadata({"own": 1})
    for _ in range(2):
        mem.scope(user="carol").import_file(file)
        assert kept("carol", "chat", "empty", "hidden") == [{"title": "of chat"}, {"own": 1}, {}]
        mem.scope(user="carol", session="empty").set_session_metadata({"own": 1})
    mem.scope(user="bob").import_file(file, session_prefix="x:")
    assert kept("bob", "x:chat", "x:empty") == [{"title": "of chat"}, {"title": "of empty"}]
    for user in ("alice", "bob"):
        mem.scope(user=user).forget(everything=True)
        mem.scope(user=user).import_file(file)
        assert kept(user, "chat", "empty") == [{}, {}]
