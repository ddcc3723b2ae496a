"""Every `memhold …` command that a page, an error or a file of `deploy/` names is there, with the options named beside it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import click

from memhold.cli.main import cli
from tests.documents import ROOT

PAGES = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "deploy").iterdir(),
    *(ROOT / "src").rglob("*.py"),
]
_NAMED = re.compile(
    r"(?:^\s*\$ |`|(?<=ExecStart=/opt/memhold/bin/)|--rm (?=memhold )|'(?=memhold [a-z-]+['\s]))memhold (?P<rest>[a-z][^`\n|;)']*)",
    re.MULTILINE,
)


def named(text: str) -> Iterator[list[str]]:
    """The words behind `memhold` of each command that a text names, up to what is no plain word."""
    for found in _NAMED.finditer(text):
        rest = found["rest"].split("  #")[0].split(" # ")[0]
        try:
            yield shlex.split(rest)
        except ValueError:
            yield rest.split()


def wrong(words: list[str]) -> str | None:
    """Why a command could not be run as it is named, or None."""
    context = click.Context(cli, info_name="memhold")
    command: click.Command | None = cli.get_command(context, words[0])
    if command is None:
        return f"there is no command {words[0]}"
    options = {one for parameter in command.params for one in (*parameter.opts, *parameter.secondary_opts)}
    for word in words[1:]:
        below = command.get_command(context, word) if isinstance(command, click.Group) else None
        if below is not None:
            command = below
            options |= {one for parameter in below.params for one in (*parameter.opts, *parameter.secondary_opts)}
        name = word.partition("=")[0]
        if re.fullmatch(r"--[a-z][a-z-]+", name) and name not in options | {"--help", "--version"}:
            return f"{words[0]} has no {name}"
    return None


def test_every_command_that_is_named_can_be_run() -> None:
    assert [
        (str(page.relative_to(ROOT)), " ".join(words), why)
        for page in PAGES
        for words in named(page.read_text("utf-8"))
        if words and (why := wrong(words))
    ] == []


def test_the_walk_finds_commands_and_what_is_wrong_with_them() -> None:
    deploy = "".join(path.read_text("utf-8") for path in (ROOT / "deploy").iterdir())
    assert ["serve"] in list(named(deploy))
    assert any(words[:2] == ["token", "create"] for words in named(deploy))
    assert sum(1 for page in PAGES for _ in named(page.read_text("utf-8"))) > 100
    assert wrong(["recall", "x", "--user", "alice", "--db", "m.db", "--json"]) is None
    assert wrong(["bench", "core"])
    assert wrong(["recall", "x", "--usr", "alice"])
    assert wrong(["token", "create", "--users", "alice"])
