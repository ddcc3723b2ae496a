"""The command that forgets: it shows what would go, and asks before anything is erased."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from memhold.cli.declared_commands import by_hand
from memhold.cli.options import CommonOptions, opened
from memhold.values.repr_parts import one_of

if TYPE_CHECKING:
    from memhold.values.answers import Erasure

__all__ = ["forget_command"]

_TAKES = (
    "item_id",
    "ids",
    "session",
    "session_prefix",
    "kinds",
    "topics",
    "entities",
    "before",
    "after",
    "everything",
    "origin",
    "actor",
    "written_since",
    "written_until",
    "dry_run",
    "wait",
    "idempotency_key",
)


@by_hand("forget", takes=_TAKES, resume="Run it again: it forgets once.")
@click.option("--hide", is_flag=True, help="Hide instead; 'memhold undo' shows it again.")
@click.option("--keep-sources", is_flag=True, help="Keep the messages it names; it is not learnt from them again.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def forget_command(common: CommonOptions, given: dict[str, Any], *, hide: bool, keep_sources: bool, yes: bool) -> None:
    """Forget for good, or hide.

    Takes one ITEM_ID, several with --id, or what passes all filters, or --everything. A whole conversation is forgotten
    with --in-session and its name; --session forgets nothing. With it go what was derived from it and the messages it
    names as sources; a tombstone without content stays. Asks before it erases, unless --yes is given.
    """
    if common.session is not None and given.keys() <= {"dry_run", "wait", "idempotency_key"}:
        raise click.UsageError("--session says where a command works; pass --in-session NAME to forget a conversation")
    given |= {"hard": not hide, "sources": "keep" if keep_sources else "erase"}
    with opened(common) as (_, scope):
        if given.get("dry_run") or not yes:
            planned = scope.forget(**{**given, "dry_run": True})
            if given.get("dry_run"):
                common.show(planned, lambda: _say(planned))
                return
            if not _confirmed(planned, as_json=common.as_json):
                click.echo("nothing was forgotten", err=True)
                raise click.exceptions.Exit(1)
        done = scope.forget(**given)
    common.show(done, lambda: _say(done))


def _at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _confirmed(planned: Erasure, *, as_json: bool) -> bool:
    if as_json or not _at_terminal():
        raise click.UsageError("pass --yes to forget without being asked, or --dry-run to see what would go")
    _say(planned)
    return click.confirm("Forget this for good?" if planned.hard else "Hide this?")


def _say(erasure: Erasure) -> None:
    would = "would go" if erasure.dry_run else "went"
    if erasure.hard:
        memories = one_of(len(erasure.memories), "memory", "memories")
        click.echo(f"{one_of(len(erasure.messages), 'message')} and {memories} {would}")
    else:
        hidden = "would be hidden" if erasure.dry_run else f"{'is' if len(erasure.hidden) == 1 else 'are'} hidden"
        click.echo(f"{one_of(len(erasure.hidden), 'item')} {hidden}")
    for item in (*erasure.messages, *erasure.memories, *erasure.hidden):
        click.echo(f"  {item}")
    if erasure.below:
        click.echo(f"of these, some stood in the namespaces below: {', '.join(erasure.below)}")
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
