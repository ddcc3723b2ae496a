"""Help that is quick and true, completion, and what Ctrl-C leaves."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import shlex
import subprocess
import sys
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import click
import pytest

from memhold.cli.main import BY_HAND, VERBS, cli, main, sections
from memhold.faces.mcp.install import place_of
from memhold.faces.remote.local_token import local_token_path
from memhold.ports.data_home import default_db

from .conftest import CommandLine, process

CONVERSATION = str(files("memhold").joinpath("data/demo_conversation.jsonl"))
LINES = {name: line for section in sections().values() for name, line in section.items()}


@pytest.mark.parametrize("name", LINES)
def test_each_command_has_its_line_and_an_example(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert command.name == name
    first = (command.help or "").split("\n\n")[0].strip()
    if name in BY_HAND or name not in VERBS:
        assert first == LINES[name]
    else:
        assert len(first.split()) == len(VERBS[name].doc.split("\n\n")[0].split())
    assert f"memhold {name}" in (command.epilog or "")
    assert all(
        option.help or option.type is not click.STRING
        for option in command.params
        if isinstance(option, click.Option) and option.name in {"key", "db", "user"}
    )


def test_help_lists_every_command_without_loading_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(name in out and line in out for name, line in LINES.items())
    code = (
        "import sys\nfrom memhold.cli.main import main\nmain(['--help'])\n"
        "heavy = ('asyncio', 'apsw', 'numpy', 'rich', 'pydantic', 'memhold.faces.python.open', 'memhold.cli.printing', 'memhold.verbs.types')\n"
        "print('LOADED', *[name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "LOADED"


def test_without_a_command_it_says_what_is_there_and_what_to_do(
    run: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(tmp_path / "new store.db")
    assert "there is no store yet" in run("--db", place).out
    assert not Path(place).exists()
    assert json.loads(run("--db", place, "--json").out)["exists"] is False
    run("remember", "I like green tea", "--user", "alice", "--db", place)
    said = run("--db", place).out
    assert "1 user, 0 messages, 1 memory" in said
    assert "--user" not in said
    monkeypatch.delenv("MEMHOLD_USER")
    # What is to be typed next leads to this store, and each command is one.
    calls = json.loads(run("--db", place, "--json").out)["next"]
    assert all(call.endswith(f" --user alice --db '{place}'") and call.split()[1] in LINES for call in calls)
    assert "I like green tea" in run(*shlex.split(calls[0])[1:]).out
    run("remember", "I like rain", "--user", "bob", "--db", place)
    assert all(" --user NAME " in call for call in json.loads(run("--db", place, "--json").out)["next"])


def test_the_page_is_offered_where_it_can_be_shown(
    run: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(tmp_path / "memory.db")
    monkeypatch.delenv("MEMHOLD_USER")
    run("remember", "I like green tea", "--user", "alice", "--db", place)
    assert "memhold ui --user alice" in run("--db", place).out
    monkeypatch.setattr("memhold.cli.overview.find_spec", lambda _: None)
    said = run("--db", place).out
    assert "memhold ui" not in said
    assert "memhold list --user alice" in said


@pytest.mark.parametrize("command", [("recall", "tea"), ("list",), ("messages", "--session", "s"), ("sessions",)])
def test_who_forgot_the_user_is_told_whom_the_store_knows(
    run: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    place = str(tmp_path / "memory.db")
    monkeypatch.delenv("MEMHOLD_USER")
    run("remember", "I like green tea", "--user", "alice", "--db", place)
    assert "no user was named; the store knows alice: name one with --user" in run(*command, "--db", place).err
    assert "there is no user 'alce'; the store knows alice" in run(*command, "--user", "alce", "--db", place).err
    assert "the store knows" not in run(*command, "--user", "alice", "--db", place).err
    assert "the store knows" not in run(*command, "--json", "--db", place).err
    run("remember", "Nobody's", "--db", place)
    assert "the store knows" not in run("list", "--db", place).err


def test_looking_into_a_file_makes_no_store(run: CommandLine, tmp_path: Path) -> None:
    place = tmp_path / "new.db"
    said = run("import", CONVERSATION, "--dry-run", "--db", str(place)).out
    assert "nothing was written" in said
    assert not place.exists()


def test_a_slip_is_answered_with_what_was_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recal", "x"]) == 2
    assert "No such command 'recal'. Did you mean 'recall'?" in capsys.readouterr().err
    assert main(["xyzzy"]) == 2
    assert "Did you mean" not in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_that_names_our_command(run: CommandLine, shell: str) -> None:
    script = run("completion", shell).out
    assert "_MEMHOLD_COMPLETE" in script
    assert "memhold" in script


def test_completion_knows_the_commands() -> None:
    asked = {"_MEMHOLD_COMPLETE": "bash_complete", "COMP_WORDS": "memhold rec", "COMP_CWORD": "1"}
    code = "from memhold.cli.main import main; main([])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin", "PYTHONPATH": ":".join(sys.path), **asked},
    )
    assert "plain,recall" in done.stdout


def test_ctrl_c_exits_with_130_and_says_how_to_go_on(run: CommandLine) -> None:
    run("add", "hello")
    keep = import_module("memhold.cli.store_care")

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    run.monkeypatch.setattr(keep, "opened", interrupted)
    stopped = run("reindex")
    assert stopped.code == 130
    assert "each scope has its old or its new index" in stopped.err


def test_a_closed_pipe_is_no_error(run: CommandLine) -> None:
    run("add", "hello")
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "memhold", "status"]
    try:
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("ends", [">&-", "2>&-", ">&- 2>&- <&-"])
def test_streams_that_are_closed_are_no_error(run: CommandLine, ends: str) -> None:
    """As a daemon or a service starts it; without the store's file standing where the stream was."""
    run("remember", "hello")
    line = f"{sys.executable} -m memhold doctor {ends}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0
    assert done.stderr == ""


@pytest.mark.parametrize(("name", "value"), [("TERM", "dumb"), ("NO_COLOR", "1")])
def test_where_no_colours_are_wanted_there_is_no_mark_of_any(run: CommandLine, name: str, value: str) -> None:
    run("remember", "likes window seats")
    run.monkeypatch.setenv(name, value)
    run.monkeypatch.setenv("COLUMNS", "40")
    terminal = io.StringIO()
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    run.monkeypatch.setattr(sys, "stdout", terminal)
    assert main(["list"]) == 0
    assert "window seats" in terminal.getvalue()
    assert "\x1b" not in terminal.getvalue()


def test_a_relative_folder_of_data_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each folder that one stands in would have a memory of its own."""
    monkeypatch.setattr(sys, "platform", "linux")
    for name, place in (("XDG_DATA_HOME", default_db), ("XDG_STATE_HOME", lambda: str(local_token_path(1)))):
        monkeypatch.delenv(name, raising=False)
        by_default = place()
        monkeypatch.setenv(name, "relative")
        assert place() == by_default
        monkeypatch.setenv(name, "/absolute")
        assert place().startswith("/absolute/memhold/")


def test_an_empty_home_is_not_the_root_of_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_DATA_HOME", "XDG_STATE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    unset = default_db(), local_token_path(1), place_of().home
    monkeypatch.setenv("HOME", "")
    assert (default_db(), local_token_path(1), place_of().home) == unset


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no file that never ends")
def test_a_document_out_of_a_file_that_never_ends_is_refused(run: CommandLine) -> None:
    refused = run("documents", "put", "big", "--file", "/dev/zero")
    assert (refused.code, refused.out) == (1, "")
    assert "/dev/zero has more than the 8,388,608 bytes that fit one document" in refused.err
    assert not Path(run.db).exists()


def test_a_file_that_became_empty_is_no_memory_of_nothing(run: CommandLine) -> None:
    Path(run.db).touch()
    for command in ("recall", "list", "status", "doctor"):
        refused = run(command)
        assert (refused.code, refused.out) == (1, "")
        assert "is an empty file" in refused.err
    assert Path(run.db).stat().st_size == 0
    assert "there is no store yet" in run().out
    assert run("remember", "hello").code == 0
    assert run("list").code == 0


def test_a_name_that_sqlite_cannot_be_told_is_refused_with_what_to_do(run: CommandLine) -> None:
    run("remember", "hello")
    assert "no UTF-8; name another file" in run("remember", "hello", "--db", "caf\udce9.db").err
    assert "no UTF-8; name another folder" in run("backup", "caf\udce9").err


def test_as_a_process(tmp_path: Path) -> None:
    env = {"MEMHOLD_DB": str(tmp_path / "m.db"), "MEMHOLD_USER": "alice"}
    assert process("add", "I moved to Lisbon", env=env).returncode == 0
    found = process("recall", "Lisbon", env=env)
    assert found.returncode == 0
    assert "I moved to Lisbon" in found.stdout
    assert "\x1b" not in found.stdout
    failed = process("get", "msg_none", env=env)
    assert failed.returncode == 1
    assert failed.stderr.startswith("memhold: nothing with the id")
    assert process("--version").stdout.startswith("memhold, version")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["recall", "Lisbon"], "I moved to Lisbon"),
        (["list", "--state", "any"], "window seats"),
        (["import", CONVERSATION], "75 new"),
        (["doctor"], "nothing is wrong"),
        (["reindex"], "of 1 scope"),
    ],
)
def test_on_a_terminal_there_are_tables_and_bars(run: CommandLine, arguments: list[str], shown: str) -> None:
    run("add", "I moved to Lisbon")
    run("remember", "likes window seats")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "memhold", *arguments]
    environment = os.environ | {"MEMHOLD_RECALL_TIMEOUT": "60"}  # a busy machine loads the embedding slowly
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as child:
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # how a terminal says that the other end is closed
            while more := os.read(ours, 65536):
                seen += more
    os.close(ours)
    assert child.returncode == 0
    assert shown in seen.decode()
