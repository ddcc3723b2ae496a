"""`memhold agent import`: what three agents have kept on one machine, each conversation to its own memory, once."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from memhold import Memhold
from memhold.faces.agents.on_disk import kept_by
from memhold.faces.mcp.install import Place
from tests.interfaces.conftest import CommandLine, process
from tests.transfer.test_opencode_sessions import SESSION, Database

SHOP = "project/github.com/acme/shop"
SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
CLEAN = {
    "HOME": "",
    "XDG_DATA_HOME": "",
    "XDG_CONFIG_HOME": "",
    "CODEX_HOME": "",
    "CLAUDE_CONFIG_DIR": "",
    "OPENCODE_DB": "",
}


def said(number: int, text: str, folder: Path) -> str:
    message = {"role": "user", "content": text}
    told = {
        "type": "user",
        "uuid": f"{folder.name}{number}",
        "sessionId": f"s-{folder.name}",
        "cwd": str(folder),
        "message": message,
    }
    return json.dumps({**told, "timestamp": "2025-01-01T10:00:00Z"}) + "\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A repository, a folder outside of any, one that is gone; and what three agents have kept of them."""
    shop, notes = tmp_path / "shop", tmp_path / "notes"
    (shop / ".git").mkdir(parents=True)
    (shop / ".git" / "config").write_text('[remote "origin"]\n\turl = git@github.com:acme/shop.git\n')
    notes.mkdir()
    for folder in (shop, notes):
        kept = tmp_path / ".claude" / "projects" / f"-{folder.name}"
        kept.mkdir(parents=True)
        lines = [said(number, f"{folder.name} line {number}", folder) for number in range(3)]
        (kept / "s.jsonl").write_text('{"type": "summary", "leafUuid": "x"}\n' + "".join(lines))
        (kept / "empty.jsonl").touch()
    rollouts = tmp_path / ".codex" / "sessions" / "2025" / "01" / "01"
    rollouts.mkdir(parents=True)
    meta = {"id": "r1", "cwd": str(tmp_path / "gone"), "git": {"repository_url": "https://github.com/acme/shop"}}
    line = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": f"the token is {SECRET}"}]}
    records = [{"type": "session_meta", "payload": meta}, {"type": "response_item", "payload": line}]
    (rollouts / "rollout-1.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    place = tmp_path / ".local" / "share" / "opencode" / "opencode.db"
    place.parent.mkdir(parents=True)
    database = Database(place)
    database.says("m1", "user", "opencode line")
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("UPDATE session SET directory = ?", (str(shop),))
        connection.execute("INSERT INTO session VALUES ('ses_inner', ?, ?, 2)", (SESSION, str(shop)))
        connection.commit()
    return tmp_path


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    for name, value in {**CLEAN, "HOME": str(home), "MEMHOLD_USER": "alice", "MEMHOLD_DB": str(home / "m.db")}.items():
        monkeypatch.setenv(name, value)
    return CommandLine(str(home / "m.db"), monkeypatch, capsys)


def test_each_conversation_goes_to_its_own_memory_once(run: CommandLine) -> None:
    seen = run("agent", "import", "--all", "--dry-run", "--json").json["found"]
    counts = [(one["agent"], one["namespace"], one["conversations"]) for one in seen]
    assert counts == [("claude-code", None, 1), ("claude-code", SHOP, 1), ("codex", SHOP, 1), ("opencode", SHOP, 1)]
    refused = run("agent", "import", "--all")
    assert refused.code == 2
    assert "pass --yes" in refused.err
    assert "own memory" in refused.out
    assert run("agent", "import", "--yes").code == run("agent", "import", "codex", "--all").code == 2
    assert not Path(run.db).exists()
    brought = run("agent", "import", "codex", "--yes").out
    assert "1 conversation: 1 message new" in brought
    # Whoever looks into the own memory next finds nothing, and is told where it is.
    assert f"memhold recall 'what was decided?' --user alice --namespace {SHOP}" in brought
    assert f"in other namespaces: {SHOP} (1 message); name one with --namespace" in run("status").out
    assert "in other namespaces" not in run("status", "--namespace", SHOP).out
    told = run("agent", "import", "--all", "--yes", "--json").json
    assert (told["conversations"], told["added"], told["known"], told["unread"]) == (4, 7, 1, [])
    with Memhold.open(run.db, worker=False) as mem:
        shop, own = mem.scope(user="alice", namespace=SHOP), mem.scope(user="alice")
        here = {hit.text for hit in shop.recall("", kinds=("message",), limit=50).hits}
        assert {"shop line 0", "shop line 1", "shop line 2", "opencode line"} <= here
        assert len(here) == 5
        assert {hit.text for hit in own.recall("", kinds=("message",), limit=50).hits} == {
            f"notes line {n}" for n in range(3)
        }
        assert {hit.origin for hit in shop.recall("", kinds=("message",), limit=50).hits} == {"import"}
        assert shop.residue(SECRET).found == {}


def test_a_conversation_of_before_the_repository_had_a_remote_is_not_taken_in_twice(
    home: Path, run: CommandLine
) -> None:
    kept, config = home / ".claude" / "projects" / "-shop", home / "shop" / ".git" / "config"
    (kept / "s.jsonl").rename(kept / "s-shop.jsonl")
    later = config.read_text()
    config.write_text("")
    former = run("project", str(home / "shop")).out.strip()
    assert former.startswith("project/local/shop-")
    assert run("agent", "import", "claude-code", "--yes", "--json").json["added"] == 6
    config.write_text(later)
    assert run("project", str(home / "shop")).out.splitlines() == [SHOP, f"read too, as it is its other name: {former}"]
    told = run("agent", "import", "claude-code", "--yes", "--json").json
    assert (told["added"], told["known"]) == (0, 6)


def at_a_terminal(words: list[str], env: dict[str, str], said: str) -> str:
    """What a program shows at a terminal of its own, where a person types this."""
    ours, theirs = os.openpty()
    with subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True) as done:
        os.close(theirs)
        os.write(ours, f"{said}\n".encode())
        shown = b""
        # Linux says that the other end is closed by an error.
        with suppress(OSError):
            while piece := os.read(ours, 4096):
                shown += piece
    os.close(ours)
    assert done.returncode == 0, shown
    return shown.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no terminals of this kind")
def test_what_is_no_transcript_of_anybody_stands_in_the_way_of_no_other(home: Path, run: CommandLine) -> None:
    kept = home / ".claude" / "projects" / "-odd"
    (kept / "folder.jsonl").mkdir(parents=True)
    os.mkfifo(kept / "pipe.jsonl")
    (kept / "zero.jsonl").symlink_to("/dev/zero")
    (kept / "loop.jsonl").symlink_to(kept / "loop.jsonl")
    (kept / "empty.jsonl").touch()
    (kept / "deep.jsonl").write_text("[" * 200_000)
    (kept / "bytes.jsonl").write_bytes(bytes(range(256)) * 20)
    for number, cwd in enumerate(("/x\0y", "/\ud800", "/" + "x" * 5_000, 7)):
        line = json.loads(said(number, f"odd line {number}", Path(f"/odd-{number}"))) | {"cwd": cwd}
        (kept / f"s-{number}.jsonl").write_text(json.dumps(line) + "\n")
    told = run("agent", "import", "claude-code", "--yes", "--json").json
    assert (told["conversations"], told["added"], told["skipped"], len(told["unread"])) == (8, 10, 1, 1)
    assert run("agent", "import", "claude-code", "--yes", "--json").json["added"] == 0


def test_at_a_terminal_it_asks_and_shows_how_far_it_is(home: Path) -> None:
    db = home / "memory.db"
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "TERM": "xterm", "LANG": "C.UTF-8", "COLUMNS": "120"}
    words = [sys.executable, "-m", "memhold", "agent", "import", "--all", "--db", str(db), "--user", "alice"]
    shown = at_a_terminal(words, env, "n")
    assert "conversations" in shown
    assert "Take these in? [y/N]" in shown
    assert rows(db) == 0
    shown = at_a_terminal(words, env, "y")
    assert "import" in shown.partition("Take these in?")[2]
    assert "100%" in shown
    assert "4 conversations: 8 messages new" in shown
    assert rows(db) == 8


def test_one_that_is_killed_goes_on_where_it_was(home: Path) -> None:
    long = home / ".claude" / "projects" / "-shop" / "s.jsonl"
    long.write_text("".join(said(number, f"line {number}", home / "shop") for number in range(1_000)))
    db = home / "memory.db"
    options, env = ("--db", str(db), "--user", "alice"), {**CLEAN, "HOME": str(home)}
    words = [sys.executable, "-m", "memhold", "agent", "import", "--all", "--yes", *options]
    first = subprocess.Popen(words, env={**env, "PATH": "/usr/bin:/bin"}, stdout=subprocess.DEVNULL, cwd=home)
    ends = time.monotonic() + 60
    while first.poll() is None and time.monotonic() < ends and rows(db) == 0:
        time.sleep(0.002)
    first.send_signal(signal.SIGKILL)
    first.wait()
    before = rows(db)
    told = json.loads(process("agent", "import", "--all", "--yes", "--json", *options, env=env, cwd=home).stdout)
    assert told["added"] + told["known"] == 1_000 + 3 + 1 + 1
    assert 0 < told["known"] == before
    assert rows(db) == 1_005


def rows(db: Path) -> int:
    if not db.exists():
        return 0
    try:
        with closing(sqlite3.connect(f"{db.as_uri()}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM message").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def test_a_database_that_is_another_one_is_told_of(home: Path, run: CommandLine) -> None:
    place = Place(system="linux", home=home, environment={})
    assert [one.path.name for one in kept_by("opencode", place)] == [SESSION]
    (home / ".local" / "share" / "opencode" / "opencode.db").write_bytes(b"nothing" * 100)
    with pytest.raises(OSError, match="cannot be read as opencode's sessions"):
        list(kept_by("opencode", place))
    seen = run("agent", "import", "--all", "--dry-run")
    assert "opencode: " in seen.err
    assert seen.out.count("Claude Code") == 2
