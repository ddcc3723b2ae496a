"""`--json`: whatever command is run, and whatever becomes of it, one object is printed: an answer, or why it failed."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from memhold.cli.main import cli, main
from tests.interfaces.conftest import CommandLine, Ran

ENDS = {
    "worker": ["--once"],
    "serve": ["--tls-cert", "missing.pem"],
    "ui": ["--port", "-1"],
    "setup": ["--consolidation", "nobody"],
}
"""What makes an end of a command that would go on, or ask what runs on this machine."""
PROTOCOLS = {"mcp", "hook", "chaos"}
"""What these print is what another program asks of them, or a log: `--json` says nothing about it."""


def commands(group: click.Group = cli, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Every command that the help lists, as it is typed: those of the declaration, and those within."""
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None, name
        if not isinstance(found, click.Group) or found.invoke_without_command:
            yield " ".join((*path, name)), found
        if isinstance(found, click.Group):
            yield from commands(found, (*path, name))


ALL = dict(commands())


def filled(command: click.Command) -> list[str]:
    """A word for each argument that a command takes."""
    given = [one for one in command.params if isinstance(one, click.Argument)]
    return [one.type.choices[0] if isinstance(one.type, click.Choice) else "x" for one in given]


def one_object(ran: Ran) -> Any:
    """The answer, on standard output; or where there is none, why, as the last line of standard error."""
    if not ran.out:
        assert ran.code in {1, 2}, ran
        found = json.loads(ran.err.splitlines()[-1])
        assert set(found["error"]) >= {"type", "message"}
        return found
    assert ran.out.count("\n") == 1, ran
    found = json.loads(ran.out)
    assert isinstance(found, dict)
    assert "error" not in found
    return found


@pytest.fixture
def alone(run: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CommandLine:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MEMHOLD_EMBEDDING", "none")
    return run


def test_the_table_is_of_all_commands() -> None:
    assert {"recall", "documents put", "agent status", "models usage", "token create", "mcp install"} <= set(ALL)
    assert ENDS.keys() | PROTOCOLS <= ALL.keys()


@pytest.mark.parametrize("name", [*sorted(ALL.keys() - {"hook"}), "documents", "recal", ""])
def test_a_line_that_is_wrong_is_one_object(alone: CommandLine, name: str) -> None:
    ran = alone(*name.split(), "--no-such-option", "--json")
    assert (ran.code, one_object(ran)["error"]["type"]) == (2, "Usage")


@pytest.mark.parametrize("name", sorted(ALL.keys() - PROTOCOLS - {"demo"}))
@pytest.mark.parametrize("there", [False, True], ids=["no store", "a store"])
def test_an_answer_and_a_failure_are_one_object(alone: CommandLine, name: str, there: bool) -> None:  # noqa: FBT001
    if there:
        assert alone("remember", "Likes tea").code == 0
    line = [*name.split(), *filled(ALL[name]), *ENDS.get(name, [])]
    # Before the command and behind it, as every command takes it.
    ran = alone("--json", *line) if there else alone(*line, "--json")
    found = one_object(ran)
    assert ("error" in found) <= (ran.code in {1, 2})


def test_it_asks_nobody(alone: CommandLine) -> None:
    """At a terminal a question would stand before the object."""
    made = alone("remember", "Likes tea", "--json").json["memory"]["id"]
    given = io.StringIO("y\n")
    given.isatty = lambda: True  # type: ignore[method-assign]
    alone.monkeypatch.setattr(sys, "stdin", given)
    assert main(["forget", made, "--json"]) == 2
    out, err = alone.capsys.readouterr()
    assert "--yes" in one_object(Ran(2, out, err))["error"]["message"]


def test_a_name_whose_bytes_are_no_utf_8_is_said_as_json_says_it(alone: CommandLine) -> None:
    said = one_object(alone("recall", "tea", "--db", "caf\udce9.db", "--json"))["error"]
    assert ascii(said["path"]) == r"'caf\udce9.db'"
