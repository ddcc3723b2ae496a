"""Commands that move data: import, export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from memhold.cli.declared_commands import by_hand
from memhold.cli.options import CommonOptions, opened
from memhold.cli.output import clean, progress
from memhold.values.errors import InvalidInput

if TYPE_CHECKING:
    from datetime import tzinfo

    from memhold.verbs.files import Progress, Report

__all__ = ["export_command", "import_command"]


@by_hand(
    "import_file",
    takes=("format", "session_prefix", "on_error", "live"),
    resume="Run the same import again: it goes on where it was, and adds nothing twice.",
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False), help="The file to read.")
@click.option("--zone", default="UTC", show_default=True, help="Zone of times that name none, e.g. Asia/Seoul.")
def import_command(common: CommonOptions, given: dict[str, Any], *, file: str, zone: str) -> None:
    """Bring a file of conversations in.

    Knows OpenAI-style JSONL, Anthropic JSON, ChatGPT's conversations.json, Claude Code transcripts, LoCoMo, RealMem,
    and Memhold's own export. A second import adds nothing; one that was stopped goes on where it was.
    """
    where = _zone(zone)
    with opened(common, create=True) as (_, scope), progress(common, "import") as bar:

        def show(step: Progress) -> None:
            bar(step.position, step.size)

        report = scope.import_file(file, zone=where, progress=show, **given)
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


def _say(report: Report) -> None:
    click.echo(
        f"{report.format}: {report.added} new, {report.read - report.added} already there, "
        f"{report.skipped} skipped, {report.ignored} without content or not messages; {report.sessions} sessions"
    )
    for problem in report.problems:
        click.echo(f"  line {problem.line}: {clean(problem.why, 200)}")


@by_hand("export", takes=("format",), resume="Run it again: a file appears whole or not at all.")
@click.argument("path", type=click.Path(), help="The file or folder to write.")
def export_command(common: CommonOptions, given: dict[str, Any], *, path: str) -> None:
    """Write a scope to a file or to Markdown.

    jsonl is one file with journal, memories and changes, which 'memhold import' reads back; markdown is a folder with
    MEMORY.md (what holds now) and HISTORY.md. --session and --agent narrow it.
    """
    with opened(common) as (_, scope):
        done = scope.export(path, **given)
    counts = ", ".join(f"{count} {name}" for name, count in done.counts.items())
    common.show(done, lambda: click.echo(f"wrote {', '.join(done.files)}: {counts}"))
