"""The command line on PostgreSQL: the same verbs with `--db postgresql://…`, and the move there and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from memhold import Memhold
from tests.interfaces.conftest import CommandLine
from tests.rest.test_serve_process import running


def test_verbs_and_upkeep(run: CommandLine, bare_database: str, tmp_path: Path) -> None:
    secret = bare_database.replace("memhold@", "memhold:geheim@")
    db = ("--db", secret, "--user", "alice")
    missing = run("recall", "anything", *db)
    assert missing.code != 0
    said = [
        run("remember", "Prefers window seats", *db),
        run("add", "I live in Oslo", "--session", "s1", *db),
        run("settle", "--db", secret),
        run("usage", "--db", secret),
        run("status", *db),
    ]
    assert [one.code for one in said] == [0] * 5, [one.out + one.err for one in said]
    found = run("recall", "window", "--json", *db)
    assert found.json["hits"][0]["text"] == "Prefers window seats"
    doctor = run("doctor", "--db", secret)
    assert "fsync is off" in doctor.out, "the server of the tests has it off, and that is wrong"
    assert doctor.code == 1
    backup = run("backup", str(tmp_path / "b"), "--db", secret)
    assert (backup.code, "pg_dump" in backup.err) == (2, True)
    every = "".join(one.out + one.err for one in (missing, *said, found, doctor, backup))
    assert "geheim" not in every


def test_a_server_takes_requests_when_it_says_so_and_logs_no_password(tmp_path: Path, database: str) -> None:
    secret = database.replace("memhold@", "memhold:geheim@")
    with running(tmp_path, "--user", "alice", MEMHOLD_DB=secret) as server:
        with Memhold.open(server.url, timeout=20.0) as mem:
            mem.scope(user="alice").remember("Likes tea")
        server.child.terminate()
        server.ended()
        logged = server.logged("serving") + server.logged("stopped")
    assert "geheim" not in str(server.lines)
    assert logged[0]["store"].startswith("postgresql://memhold@")


@pytest.mark.parametrize(
    "db",
    [
        "postgresql://memhold:geheim@db.example/memory",
        "postgresql://memhold@db.example/memory?password=geheim",
        "postgres://memhold@db.example/memory?sslpassword=geheim",
    ],
)
def test_a_password_reaches_no_clients_file(
    run: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, db: str
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    for printed in ((), ("--print",)):
        refused = run("mcp", "install", "claude-code", "--db", db, *printed)
        assert refused.code == 2
        assert "pgpass" in refused.err
        assert "geheim" not in refused.out + refused.err
    assert not (tmp_path / ".claude.json").exists()
    safe = "postgresql://memhold@db.example/memory?passfile=/home/alice/.pgpass"
    assert run("mcp", "install", "claude-code", "--db", safe).code == 0
    assert safe in (tmp_path / ".claude.json").read_text()
    assert (tmp_path / ".claude.json").stat().st_mode & 0o777 == 0o600


def test_a_server_takes_no_password_from_its_command_line(run: CommandLine, database: str) -> None:
    secret = database.replace("memhold@", "memhold:geheim@")
    for line in (("serve", "--db", secret), ("--db", secret, "serve")):
        refused = run(*line, "--port", "0")
        assert (refused.code, "pgpass" in refused.err) == (2, True)
        assert "geheim" not in refused.out + refused.err


def test_a_store_moves(run: CommandLine, database: str, tmp_path: Path) -> None:
    path = str(tmp_path / "m.db")
    assert run("remember", "Prefers window seats", "--db", path, "--user", "alice").code == 0
    moved = run("migrate", path, database)
    assert moved.code == 0
    assert "1 of 1 scopes copied" in moved.out
    again = run("migrate", path, database, "--json").json
    assert (again["copied"], again["behind"]) == (0, 0)
    found = run("recall", "window", "--json", "--db", database, "--user", "alice")
    assert found.json["hits"][0]["text"] == "Prefers window seats"
    assert run("migrate", str(tmp_path / "none.db"), database).code == 1
