"""Commands that move data: import, export."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memhold.cli.declared_commands import by_hand
from memhold.cli.options import CommonOptions, opened, store_is_there
from memhold.cli.output import clean, progress
from memhold.cli.printing import say_missing
from memhold.values.errors import InvalidInput, UnreadableImport
from memhold.values.repr_parts import one_of

if TYPE_CHECKING:
    from datetime import tzinfo

    from memhold.verbs.files import Exported, Progress, Report

__all__ = ["export_command", "import_command"]

_MANY = {"memory": "memories"}
"""Nouns whose plural is not theirs with an s."""


def _there(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """A file or folder that is there, or a session of opencode's by its path below the database."""
    from memhold.transfer.opencode_sessions import is_session

    if not value:
        raise click.BadParameter("it is empty; name a file or a folder ('.' is this one).")
    if not Path(value).exists() and not is_session(Path(value)):
        raise click.BadParameter(f"File {value!r} does not exist.")
    return value


@by_hand(
    "import_file",
    takes=("format", "session_prefix", "on_error", "live", "dry_run"),
    resume="Run the same import again: it goes on where it was, and adds nothing twice.",
)
@click.argument("file", type=click.Path(), callback=_there, help="The file to read, or the folder.")
@click.option("--zone", default="UTC", show_default=True, help="Zone of times that name none, e.g. Asia/Seoul.")
def import_command(common: CommonOptions, given: dict[str, Any], *, file: str, zone: str) -> None:
    """Bring a file or a folder of conversations or memories in.

    Conversations: OpenAI-style JSONL, Anthropic JSON, exports of ChatGPT and Claude.ai, Claude Code, Codex, opencode,
    LoCoMo, RealMem. Memories: mem0 (also its vector store on the disk), the MCP reference server, Graphiti and Zep,
    Redis agent-memory-server, claude-mem, Letta, MemPalace, LangGraph's store, Markdown; and Memhold's own export. A
    second import adds nothing; one that was stopped goes on where it was.
    """
    where = _zone(zone)
    if given.get("dry_run") and not store_is_there(common):
        common = replace(common, db="memory://")  # looking makes no store
    came = 0
    with opened(common, create=True) as (_, scope), progress(common, "import") as bar:

        def show(step: Progress) -> None:
            nonlocal came
            came = step.added
            bar(step.position, step.size)

        try:
            report = scope.import_file(file, zone=where, progress=show, **given)
        except UnreadableImport:
            if came and not common.as_json:
                click.echo(f"{came} that stand before it are new here; once it is mended, the rest comes", err=True)
            raise
    common.show(report, lambda: _say(report))


def _zone(name: str) -> tzinfo:
    from datetime import UTC
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    if name.upper() == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidInput(f"{name!r:.60} is no time zone; name one like Europe/Lisbon or UTC") from None


def _held(report: Report) -> str:
    """What is in a file: only what there is of it."""
    messages = report.read - report.memories - report.documents
    counted = (
        (messages, f"{one_of(messages, 'message')} in {one_of(report.sessions, 'session')}"),
        (report.memories, one_of(report.memories, "memory", "memories")),
        (report.documents, one_of(report.documents, "document")),
    )
    return ", ".join(said for count, said in counted if count) or "nothing is in it that can be kept"


def _say(report: Report) -> None:
    held = _held(report)
    if report.dry_run:
        known = f"{report.known} of them came before, " if report.known else ""
        click.echo(f"{report.format}: {held}; {known}nothing was written")
    else:
        there = report.read - report.added
        click.echo(f"{report.format}: {report.added} new, {there} already there or decided here; {held}")
    if report.replaced:
        click.echo(
            f"  {report.replaced} stand in it more than once with one id: the last holds, the others are its past"
        )
    for what, count in report.left_out.items():
        click.echo(f"  left out: {what} ({count})")
    if report.skipped:
        click.echo(f"  {report.skipped} could not be read")
    for problem in report.problems:
        click.echo(
            f"  line {problem.line}: {clean(problem.why, 200)}" if problem.line else f"  {clean(problem.why, 200)}"
        )


@by_hand("export", takes=("format",), resume="Run it again: a file appears whole or not at all.")
@click.argument("path", type=click.Path(), help="The file or folder to write.")
def export_command(common: CommonOptions, given: dict[str, Any], *, path: str) -> None:
    """Write a scope to a file, to Markdown or for another system.

    jsonl is one file with journal, memories and changes, which 'memhold import' reads back; markdown is a folder with
    MEMORY.md (what holds now) and HISTORY.md. mem0 and mcp-memory are one file each with what holds now, as mem0's
    get_all and the MCP reference memory server write it. --session and --agent narrow it. Exit code 3 where rows are
    damaged on the disk; the others are written.
    """
    with opened(common) as (_, scope):
        done = scope.export(path, **given)
    counts = ", ".join(one_of(count, name, _MANY.get(name)) for name, count in done.counts.items())
    common.show(done, lambda: _say_written(done, counts))
    if done.damaged:
        raise click.exceptions.Exit(3)


def _say_written(done: Exported, counts: str) -> None:
    click.echo(f"wrote {', '.join(done.files)}: {counts}")
    for what, count in done.left_out.items():
        click.echo(f"  left out: {what} ({count})")
    say_missing((), done.damaged)
