"""Moving data and looking after the store, from the command line."""

from __future__ import annotations

import json
import os
from importlib.resources import files
from pathlib import Path

import pytest

from memhold.cli import output as cli_output

from .conftest import CommandLine

CONVERSATION = str(files("memhold").joinpath("data/demo_conversation.jsonl"))


def test_a_second_import_adds_nothing(run: CommandLine) -> None:
    first = run("import", CONVERSATION, "--json").json
    assert first["added"] == first["read"] >= 60
    again = run("import", CONVERSATION)
    assert again.out.startswith(f"openai-jsonl: 0 new, {first['read']} already there")
    assert run("status", "--json").json["messages"] == first["read"]


def test_sessions_can_be_named_with_a_prefix_and_times_given_a_zone(run: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text(json.dumps({"role": "user", "content": "hi", "session": "a", "timestamp": "2025-01-01T09:00:00"}))
    run("import", str(file), "--session-prefix", "old/", "--zone", "Asia/Seoul")
    (message,) = run("messages", "--session", "old/a", "--json").json["messages"]
    assert message["event_time"].startswith("2025-01-01T00:00:00")
    assert run("import", str(file), "--zone", "Mars/Olympus").code == 2


def test_a_damaged_line_stops_or_is_skipped(run: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text('{"role": "user", "content": "one"}\n{broken\n{"role": "user", "content": "two"}\n')
    stopped = run("import", str(file), "--json")
    assert stopped.code == 1
    assert (stopped.error["type"], stopped.error["line"]) == ("UnreadableImport", 2)
    fresh = run("import", str(file), "--user", "bob")
    assert "1 that stand before it are new here" in fresh.err
    assert "--on-error skip" in fresh.err
    skipped = run("import", str(file), "--on-error", "skip", "--json").json
    assert (skipped["added"], skipped["read"], skipped["skipped"]) == (1, 2, 1)


def test_an_import_of_what_is_no_file_says_what_to_do(run: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl").write_text('{"role": "user", "content": "one"}\n')
    empty = run("import", "")
    assert (empty.code, "it is empty; name a file or a folder" in empty.err) == (2, True)
    os.mkfifo(tmp_path / "fifo")
    assert "save it as a file first" in run("import", "fifo").err
    assert not Path(run.db).exists() or run("status", "--json").json["messages"] == 0


def test_an_export_replaces_no_store_and_no_folder(run: CommandLine, tmp_path: Path) -> None:
    """A slip of the two paths would leave nothing of another memory."""
    run("remember", "likes tea")
    other = tmp_path / "other.db"
    run("remember", "likes coffee", "--db", str(other))
    before = other.read_bytes()
    for form in ("jsonl", "mem0", "mcp-memory"):
        refused = run("export", str(other), "--format", form)
        assert (refused.code, "is a database" in refused.err) == (2, True)
        assert "is a folder" in run("export", ".", "--format", form).err
    assert other.read_bytes() == before
    hidden = tmp_path / "hidden.db"  # as a store that is encrypted: nothing in it tells what it is
    hidden.write_bytes(b"\x17" * 4096)
    hidden.with_name("hidden.db.forgotten").touch()
    assert "is a database" in run("export", str(hidden)).err
    assert run("export", "out.jsonl").code == run("export", "out.jsonl").code == 0


def test_what_is_no_text_is_said_so(run: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "latin.jsonl").write_bytes(b'{"kind": "chat", "body": "caf\xe9"}\n')
    refused = run("models", "classify", "--file", "latin.jsonl")
    assert (refused.code, refused.err.startswith("memhold: what was read is no text in utf-8")) == (1, True)


def test_an_address_without_a_server_is_no_lost_answer(run: CommandLine) -> None:
    refused = run("recall", "tea", "--db", "http://")
    assert (refused.code, "no address of a server" in refused.err) == (2, True)


def test_an_export_comes_back_equal(run: CommandLine, tmp_path: Path) -> None:
    run("import", CONVERSATION)
    run("end-session", "--session", "mon-plans")
    run("remember", "--attribute", "food", "--value", "ramen")
    run("remember", "--attribute", "food", "--value", "sushi")
    assert run("export", str(tmp_path / "alice.jsonl")).code == 0
    assert (tmp_path / "alice.jsonl").stat().st_mode & 0o777 == 0o600
    other = str(tmp_path / "other.db")
    report = run("import", str(tmp_path / "alice.jsonl"), "--db", other, "--json").json
    assert report["format"] == "memhold"

    def held(db: str) -> object:
        memories = run("list", "--state", "any", "--db", db, "--json").json["items"]
        for memory in memories:
            memory.pop("number")
        messages = run("messages", "--session", "mon-plans", "--db", db, "--json").json["messages"]
        for message in messages:
            for name in ("number", "recorded_at", "change_id"):
                message.pop(name)
        return memories, messages

    assert held(other) == held(run.db)
    assert run("import", str(tmp_path / "alice.jsonl"), "--db", other, "--json").json["added"] == 0
    assert run("doctor", "--db", other).code == 0


def test_markdown_for_people(run: CommandLine, tmp_path: Path) -> None:
    run("remember", "--attribute", "food", "--value", "ramen")
    run("remember", "likes rain")
    assert run("export", str(tmp_path / "pages"), "--format", "markdown").out.endswith("HISTORY.md: 2 memories\n")
    assert "0 sessions, 0 messages, 2 memories, 2 changes" in run("export", str(tmp_path / "all.jsonl")).out
    assert "**food**: ramen" in (tmp_path / "pages" / "MEMORY.md").read_text()
    assert (tmp_path / "pages" / "HISTORY.md").exists()


def test_backup_and_restore(run: CommandLine, tmp_path: Path) -> None:
    run("add", "before the backup")
    assert "wrote and verified" in run("backup", str(tmp_path / "b")).out
    assert run("backup", str(tmp_path / "b")).code == 2
    run("add", "after the backup")
    assert run("restore", str(tmp_path / "b")).code == 2
    assert run("restore", str(tmp_path / "b"), "--force", "--json").json["replaced"]
    assert run("status", "--json").json["messages"] == 1
    copy = tmp_path / "b" / "memory.db"
    copy.write_bytes(copy.read_bytes()[:-1])
    damaged = run("restore", str(tmp_path / "b"), "--force", "--json")
    assert (damaged.code, damaged.error["type"]) == (1, "BackupDamaged")
    assert run("status", "--json").json["messages"] == 1


def test_doctor_says_what_is_wrong_and_exits_with_1(run: CommandLine) -> None:
    run("add", "hello")
    well = run("doctor")
    assert (well.code, well.out.splitlines()[-1]) == (0, "nothing is wrong")
    Path(run.db).chmod(0o644)
    ill = run("doctor", "--json")
    assert ill.code == 1
    assert {finding["check"] for finding in ill.json["findings"]} == {"modes"}
    assert f"chmod 600 {run.db}" in run("doctor").out


def test_doctor_of_a_damaged_file_and_of_another_file(run: CommandLine) -> None:
    run("import", CONVERSATION)
    data = bytearray(Path(run.db).read_bytes())
    data[8192 : 8192 + 3000] = b"\xff" * 3000
    Path(run.db).write_bytes(bytes(data))
    ill = run("doctor", "--json")
    assert ill.code == 1
    assert "integrity" in {finding["check"] for finding in ill.json["findings"]}
    Path(run.db).write_text("hello")
    assert run("doctor").code == 1


def test_reindex_settle_and_usage(run: CommandLine) -> None:
    run("add", "hello there")
    run("add", "hello again", "--user", "bob")
    assert "indexed 2 items of 2 scopes" in run("reindex").out
    assert run("settle", "--json").json == {"settled": True}
    (usage,) = run("usage", "--json").json["usage"]
    assert (usage["users"], usage["messages"]) == (2, 2)
    assert usage["days"] == []


@pytest.mark.parametrize("name", ["import", "restore"])
def test_a_file_that_is_not_there(run: CommandLine, name: str) -> None:
    assert run(name, "/no/such/file").code == 2


def test_long_work_says_how_far_it_is_where_there_is_no_terminal(
    run: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "long.jsonl"
    file.write_text("".join(json.dumps({"role": "user", "content": f"line {n}"}) + "\n" for n in range(700)))
    monkeypatch.setattr(cli_output, "LINE_SECONDS", 0.0)
    told = [line for line in run("import", str(file)).err.splitlines() if line.startswith("import: ")]
    assert told[-1] == "import: 100%"
    assert not run("import", str(file), "--json", "--db", str(tmp_path / "b.db")).err
