"""Commands that move data: import, export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

from memhold.cli.frame import Frame, clean, command, opened, progress
from memhold.values.errors import InvalidInput

if TYPE_CHECKING:
    from datetime import tzinfo

    from memhold.verbs.files import Progress, Report

__all__ = ["export_command", "import_command"]


@command(
    "import",
    example="memhold import conversations.json --user alice --zone Europe/Lisbon",
    resume="Run the same import again: it goes on where it was, and adds nothing twice.",
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--format", "format_name", default="auto", show_default=True, help="auto finds it out.")
@click.option("--zone", default="UTC", show_default=True, help="Zone of times that name none, e.g. Asia/Seoul.")
@click.option("--session-prefix", default="", help="Put in front of every session's name.")
@click.option("--on-error", type=click.Choice(["stop", "skip"]), default="stop", show_default=True)
def import_command(
    frame: Frame, file: str, format_name: str, zone: str, session_prefix: str, on_error: Literal["stop", "skip"]
) -> None:
    """Bring a file of conversations in.

    Knows OpenAI-style JSONL, Anthropic JSON, ChatGPT's conversations.json, Claude Code transcripts, LoCoMo, RealMem,
    and Memhold's own export. A second import adds nothing; one that was stopped goes on where it was.
    """
    where = _zone(zone)
    with opened(frame, create=True) as (_, scope), progress(frame, "import") as bar:

        def told(step: Progress) -> None:
            bar(step.position, step.size)

        report = scope.import_file(
            file,
            format=None if format_name == "auto" else format_name,
            zone=where,
            session_prefix=session_prefix,
            on_error=on_error,
            progress=told,
        )
    frame.show(report, lambda: _say(report))


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


@command(
    "export",
    example="memhold export alice.jsonl --user alice",
    resume="Run it again: a file appears whole or not at all.",
)
@click.argument("path", type=click.Path())
@click.option("--format", "format_name", type=click.Choice(["jsonl", "markdown"]), default="jsonl", show_default=True)
def export_command(frame: Frame, path: str, format_name: Any) -> None:
    """Write a scope to a file or to Markdown.

    jsonl is one file with journal, memories and changes, which 'memhold import' reads back; markdown is a folder with
    MEMORY.md (what holds now) and HISTORY.md. --session and --agent narrow it.
    """
    with opened(frame) as (_, scope):
        done = scope.export(path, format=format_name)
    counts = ", ".join(f"{count} {name}" for name, count in done.counts.items())
    frame.show(done, lambda: click.echo(f"wrote {', '.join(done.files)}: {counts}"))
