"""The command `context`: the window on standard output, what was left out on standard error."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from memhold import Memhold
from memhold.cli.context import context_command
from memhold.errors import InvalidInput


@pytest.fixture
def run(tmp_path, monkeypatch):
    db = str(tmp_path / "memory.db")
    with Memhold.open(db, worker=False) as opened:
        alice = opened.scope(user="alice", session="s1")
        alice.remember(attribute="favorite food", value="sushi", importance="high")
        alice.add([{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi!"}])
    for name in ("MEMHOLD_NAMESPACE", "MEMHOLD_AGENT"):
        monkeypatch.delenv(name, raising=False)
    return lambda *more: CliRunner().invoke(context_command, ["--db", db, "--user", "alice", "--session", "s1", *more])


def test_people_read_the_window_and_what_it_cost(run):
    done = run("What could I eat?", "--system", "Be brief.")
    assert done.exit_code == 0
    assert "favorite food: sushi" in done.stdout
    assert "user: What could I eat?" in done.stdout
    assert "adaptive: about" in done.stderr
    assert "tokens (estimate)" in done.stderr
    assert "tokens (o200k_base)" in run("What?", "--model", "gpt-5").stderr


def test_programs_read_messages_and_system(run, tmp_path):
    path = tmp_path / "messages.json"
    path.write_text(json.dumps([{"role": "user", "content": "And?"}]))
    found = json.loads(run("--messages", str(path), "--shape", "anthropic", "--json").stdout)
    assert found["messages"][-1] == {"role": "user", "content": "And?"}
    assert "sushi" in found["system"]
    assert found["degraded"] == []


@pytest.mark.parametrize("text", ["{", "[" * 100_000], ids=["cut", "deep"])
def test_a_file_that_is_no_json_is_refused(run, tmp_path, text):
    path = tmp_path / "messages.json"
    path.write_text(text)
    assert isinstance(run("--messages", str(path)).exception, InvalidInput)
