"""Commands about forgetting: forget, residue."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from memhold.cli.frame import Frame, command, moment, opened

if TYPE_CHECKING:
    from memhold.values.answers import Erasure, Residue

__all__ = ["forget_command", "residue_command"]


@command("forget", example="memhold forget mem_0198c2f0 --user alice --yes", resume="Run it again: it forgets once.")
@click.argument("item_id", metavar="[ID]", required=False)
@click.option("--kind", "kinds", multiple=True, type=click.Choice(["fact", "note", "summary", "raw", "rollup"]))
@click.option("--topic", "topics", multiple=True, help="Memories with this topic; may be given several times.")
@click.option("--entity", "entities", multiple=True, help="Memories with this entity; may be given several times.")
@click.option("--before", metavar="TIME", help="Of before this time (ISO-8601 with a zone).")
@click.option("--after", metavar="TIME", help="Of after this time.")
@click.option("--everything", is_flag=True, help="All of the scope's user.")
@click.option("--hide", is_flag=True, help="Hide instead; 'memhold undo' shows it again.")
@click.option("--keep-sources", is_flag=True, help="Keep the messages it names; it is not learnt from them again.")
@click.option("--dry-run", is_flag=True, help="Only list what would go.")
@click.option("--wait", type=float, default=1.0, show_default=True, help="Seconds to wait for readers of old pages.")
@click.option("--key", help="Idempotency key: the same command again forgets nothing more, and says what went.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def forget_command(frame: Frame, item_id: str | None, *, dry_run: bool, yes: bool, **asked: Any) -> None:
    """Forget for good, or hide.

    Takes one ID, or what passes all filters (--session is one), or --everything. With it go what was derived from it
    and the messages it names as sources; a tombstone without content stays.
    """
    target: dict[str, Any] = {
        "session": frame.session if item_id is None and not asked["everything"] else None,
        "kinds": asked["kinds"] or None,
        "topics": asked["topics"],
        "entities": asked["entities"],
        "before": moment(asked["before"]),
        "after": moment(asked["after"]),
        "everything": asked["everything"],
        "hard": not asked["hide"],
        "sources": "keep" if asked["keep_sources"] else "erase",
    }
    with opened(frame) as (_, scope):
        if dry_run or not yes:
            planned = scope.forget(item_id, **target, dry_run=True)
            if dry_run:
                frame.show(planned, lambda: _say(planned))
                return
            if not _confirmed(planned):
                click.echo("nothing was forgotten", err=True)
                raise click.exceptions.Exit(1)
        done = scope.forget(item_id, **target, wait=asked["wait"], idempotency_key=asked["key"])
    frame.show(done, lambda: _say(done))


def _at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _confirmed(planned: Erasure) -> bool:
    if not _at_terminal():
        raise click.UsageError("pass --yes to forget without being asked, or --dry-run to see what would go")
    _say(planned)
    return click.confirm("Forget this for good?" if planned.hard else "Hide this?")


def _say(erasure: Erasure) -> None:
    would = "would go" if erasure.dry_run else "went"
    if erasure.hard:
        click.echo(f"{len(erasure.messages)} messages and {len(erasure.memories)} memories {would}")
    else:
        click.echo(f"{len(erasure.hidden)} items {'would be hidden' if erasure.dry_run else 'are hidden'}")
    for item in (*erasure.messages, *erasure.memories, *erasure.hidden):
        click.echo(f"  {item}")
    if erasure.quotations:
        verb = "would lose" if erasure.dry_run else "lost"
        click.echo(f"messages that stay and {verb} a quotation of it: {len(erasure.quotations)}")
    if erasure.due_again:
        click.echo(f"sessions to be consolidated again: {', '.join(name or '(unnamed)' for name in erasure.due_again)}")
    if erasure.dry_run:
        return
    click.echo(f"change {erasure.change_id}")
    if erasure.waiting_for is not None:
        click.echo(f"the bytes wait for the {erasure.waiting_for}; 'memhold settle' removes them later")


@command("residue", example='memhold residue "Lisbon" --db memory.db')
@click.argument("text")
def residue_command(frame: Frame, text: str) -> None:
    """Look for a text's bytes in the store's files.

    After a forget this is the proof that nothing is left. Exit code 1 where something is found.
    """
    with opened(frame) as (_, scope):
        found = scope.residue(text)
    frame.show(found, lambda: _say_residue(found))
    if found.found:
        raise click.exceptions.Exit(1)


def _say_residue(residue: Residue) -> None:
    for name, count in residue.found.items():
        click.echo(f"{name}: {count} times")
    if not residue.found:
        click.echo(f"nowhere in {residue.files} files ({residue.bytes:,} bytes)")
