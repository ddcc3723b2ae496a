"""Commands that tidy a scope's memory: consolidate, compact, retain."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from memhold.cli.declared_commands import by_hand
from memhold.cli.due_work import AGAIN, chosen, consolidation_option
from memhold.cli.options import CommonOptions, opened
from memhold.cli.output import clean, table
from memhold.values.repr_parts import one_of

if TYPE_CHECKING:
    from memhold.values.answers import Compacted, Consolidated, Retained

__all__ = ["compact_command", "consolidate_command", "retain_command"]


@by_hand("consolidate", resume=AGAIN)
@consolidation_option
def consolidate_command(common: CommonOptions, given: dict[str, Any], *, consolidation: str | None) -> None:
    """Read what waits with a model, now.

    The windows of the session, or without --session of all sessions of the user; RAW windows are tried again too. Exit
    code 3 where messages still wait, or a window was kept RAW because no model took it.
    """
    with opened(common, **chosen(consolidation)) as (_, scope):
        before = scope.status().set_aside
        done = scope.consolidate(**given)
    common.show(done, lambda: _say_done(done))
    # What was set aside earlier is settled by a person: it is shown, and does not make each later run a failure.
    if done.raw or done.waiting or len(done.set_aside) > before:
        raise click.exceptions.Exit(3)


def _say_done(done: Consolidated) -> None:
    click.echo(
        f"{one_of(len(done.summaries), 'window')} consolidated, {len(done.raw)} kept RAW,"
        f" {len(done.set_aside)} set aside, {one_of(done.waiting, 'message')} waiting"
    )
    if done.last_error is not None:
        click.echo(f"why: {clean(done.last_error)}", err=True)


@by_hand("compact", takes=("dry_run",), resume=AGAIN)
@click.option(
    "--compaction",
    metavar="NAME",
    help="The chain or model of the catalog that judges. [default: setting, else that of consolidation]",
)
def compact_command(common: CommonOptions, given: dict[str, Any], *, compaction: str | None) -> None:
    """Merge notes that say the same, now.

    One run: exact copies, then near-duplicates that a model judges. Sources stay, hidden behind what they became, and
    each merge can be undone. Exit code 3 where something could not be judged or embedded, and is due again.
    """
    judge: dict[str, Any] = {} if compaction is None else {"compaction": compaction}
    with opened(common, **judge) as (_, scope):
        done = scope.compact(**given)
    common.show(done, lambda: _say_compacted(done))
    if done.last_error is not None:
        raise click.exceptions.Exit(3)


def _say_compacted(done: Compacted) -> None:
    rows = [
        (group.outcome, str(len(group.sources)), f"{group.distance:.2f}", group.memory or "", clean(group.reason))
        for group in done.groups
    ]
    table(("outcome", "memories", "distance", "became", "why"), rows, wide=4)
    if done.dry_run:
        click.echo(f"{one_of(len(done.groups), 'group')} would be looked at; nothing was changed")
    else:
        click.echo(
            f"{one_of(done.merged, 'memory', 'memories')} merged{'; run it again for more' if done.more else ''}"
        )
    if not done.judged:
        said = "only exact copies are merged: no model judges the others; name one in the setting compaction"
        click.echo(f"{said} (small models of consolidation do not judge)", err=True)
    if done.last_error is not None:
        click.echo(f"why: {clean(done.last_error)}", err=True)


@by_hand("retain", takes=("kinds", "most", "idempotency_key"), resume=AGAIN)
@click.option("--older-than", metavar="DAYS", type=float, help="Past this age, by event time.")
@click.option("--unused-for", metavar="DAYS", type=float, help="Not asked for since; what never was: not made since.")
@click.option("--dry-run/--hide", default=True, show_default=True, help="List what would go, or hide it.")
def retain_command(
    common: CommonOptions, given: dict[str, Any], *, older_than: float | None, unused_for: float | None, dry_run: bool
) -> None:
    """List what is past your rules, or hide it.

    Pinned memories stay. What is hidden can be undone, each by its change; 'forget' erases for good. The settings
    retain_days, retain_unused_days and retain_most have a worker do it once a day.
    """
    with opened(common) as (_, scope):
        found = scope.retain(older_than=_days(older_than), unused_for=_days(unused_for), dry_run=dry_run, **given)
    common.show({"retained": found}, lambda: _say_retained(found, dry_run=dry_run))


def _days(count: float | None) -> timedelta | None:
    if count is None:
        return None
    try:
        return timedelta(days=count)
    except (OverflowError, ValueError):
        raise click.UsageError(f"{count} days are no span of time; pass a number of days") from None


def _say_retained(found: tuple[Retained, ...], *, dry_run: bool) -> None:
    rows = [(one.id, one.kind, one.rule, one.change_id or "") for one in found]
    table(("id", "kind", "past its", "change"), rows, wide=0)
    said = "would be hidden; nothing was changed (--hide does it)" if dry_run else "hidden"
    click.echo(f"{one_of(len(found), 'memory', 'memories')} {said}")
