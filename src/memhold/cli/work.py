"""Commands of consolidation and due work: consolidate, compact, retain, summaries, settle, worker."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

import click

from memhold.cli.frame import Frame, clean, command, moment, opened, table

if TYPE_CHECKING:
    from datetime import timedelta

    from memhold.values.answers import Compacted, Consolidated, Hit, Recall, Retained

__all__ = [
    "compact_command",
    "consolidate_command",
    "retain_command",
    "settle_command",
    "summaries_command",
    "worker_command",
]

F = TypeVar("F", bound=Callable[..., Any])

_RAW_TEXT = 240
_AGAIN = "Run it again: what was done stays done, and what was not is still due."
_STOPS = (signal.SIGINT, signal.SIGTERM)


def _consolidation(run: F) -> F:
    return click.option(
        "--consolidation",
        metavar="NAME",
        help="The chain or model of the catalog that consolidates. [default: setting]",
    )(run)


def _chosen(consolidation: str | None) -> dict[str, Any]:
    """The setting, where the line gives one: else the environment and the file say it."""
    return {} if consolidation is None else {"consolidation": consolidation}


@command("consolidate", example="memhold consolidate --user alice --consolidation consolidation", resume=_AGAIN)
@_consolidation
def consolidate_command(frame: Frame, consolidation: str | None) -> None:
    """Read what waits with a model, now.

    The windows of the session, or without --session of all sessions of the user; RAW windows are tried again too. Exit
    code 3 where messages still wait, or a window was kept RAW because no model took it.
    """
    with opened(frame, **_chosen(consolidation)) as (_, scope):
        before = scope.status().set_aside
        done = scope.consolidate()
    frame.show(done, lambda: _say_done(done))
    # What was set aside earlier is settled by a person: it is shown, and does not make each later run a failure.
    if done.raw or done.waiting or len(done.set_aside) > before:
        raise click.exceptions.Exit(3)


def _say_done(done: Consolidated) -> None:
    click.echo(
        f"{len(done.summaries)} windows consolidated, {len(done.raw)} kept RAW, {len(done.set_aside)} set aside,"
        f" {done.waiting} messages waiting"
    )
    if done.last_error is not None:
        click.echo(f"why: {clean(done.last_error)}", err=True)


@command("compact", example="memhold compact --user alice --dry-run", resume=_AGAIN)
@click.option("--dry-run", is_flag=True, help="Show what would be looked at and why; ask no model, change nothing.")
@click.option(
    "--compaction",
    metavar="NAME",
    help="The chain or model of the catalog that judges. [default: setting, else that of consolidation]",
)
def compact_command(frame: Frame, *, dry_run: bool, compaction: str | None) -> None:
    """Merge notes that say the same, now.

    One run: exact copies, then near-duplicates that a model judges. Sources stay, hidden behind what they became, and
    each merge can be undone. Exit code 3 where something could not be judged or embedded, and is due again.
    """
    given: dict[str, Any] = {} if compaction is None else {"compaction": compaction}
    with opened(frame, **given) as (_, scope):
        done = scope.compact(dry_run=dry_run)
    frame.show(done, lambda: _say_compacted(done))
    if done.last_error is not None:
        raise click.exceptions.Exit(3)


def _say_compacted(done: Compacted) -> None:
    rows = [
        (group.outcome, str(len(group.sources)), f"{group.distance:.2f}", group.memory or "", clean(group.reason))
        for group in done.groups
    ]
    table(("outcome", "memories", "distance", "became", "why"), rows, wide=4)
    if done.dry_run:
        click.echo(f"{len(done.groups)} groups would be looked at; nothing was changed")
    else:
        click.echo(f"{done.merged} memories merged{'; run it again for more' if done.more else ''}")
    if not done.judged:
        click.echo("only exact copies are merged: no model is configured to judge", err=True)
    if done.last_error is not None:
        click.echo(f"why: {clean(done.last_error)}", err=True)


@command("retain", example="memhold retain --kind note --unused-for 365 --user alice", resume=_AGAIN)
@click.option("--older-than", metavar="DAYS", type=float, help="Past this age, by event time.")
@click.option("--unused-for", metavar="DAYS", type=float, help="Not asked for since; what never was: not made since.")
@click.option("--most", metavar="N", type=int, help="Past this many of a kind; those used last stay.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(["fact", "note"]), help="Only these. [default: both]")
@click.option("--dry-run/--hide", default=True, show_default=True, help="List what would go, or hide it.")
def retain_command(
    frame: Frame,
    *,
    older_than: float | None,
    unused_for: float | None,
    most: int | None,
    kinds: tuple[Any, ...],
    dry_run: bool,
) -> None:
    """List what is past your rules, or hide it.

    Pinned memories stay. What is hidden can be undone, each by its change; 'forget' erases for good. The settings
    retain_days, retain_unused_days and retain_most have a worker do it once a day.
    """
    with opened(frame) as (_, scope):
        found = scope.retain(
            kinds=kinds or ("fact", "note"),
            older_than=_days(older_than),
            unused_for=_days(unused_for),
            most=most,
            dry_run=dry_run,
        )
    frame.show(found, lambda: _say_retained(found, dry_run=dry_run))


def _days(count: float | None) -> timedelta | None:
    from datetime import timedelta

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
    click.echo(f"{len(found)} memories {said}")


@command("summaries", example='memhold summaries "the move to Lisbon" --user alice')
@click.argument("query", default="")
@click.option("--limit", type=int, default=10, show_default=True)
@click.option("--offset", type=int, default=0, help="Where the page begins.")
@click.option("--cursor", help="`cursor` of the page before (--json); nothing is skipped or shown twice.")
@click.option("--since", metavar="TIME", help="Windows that began then or later (ISO-8601 with a zone).")
@click.option("--until", metavar="TIME", help="Windows that began before this time.")
@click.option("--raw", is_flag=True, help="Windows that no model has read yet too.")
@click.option("--level", type=click.Choice(["day", "week", "month"]), help="Roll-ups, and what each was made of.")
def summaries_command(
    frame: Frame,
    query: str,
    *,
    limit: int,
    offset: int,
    cursor: str | None,
    since: str | None,
    until: str | None,
    raw: bool,
    level: str | None,
) -> None:
    """Show what happened, window by window, or by day, week or month.

    The summaries that hold QUERY's words, or without it the newest. Exit code 3 where a part of the search could not be
    asked; what the others found is printed.
    """
    begin, end = moment(since), moment(until)
    with opened(frame) as (_, scope):
        found = scope.summaries(
            query,
            limit=limit,
            offset=offset,
            since=begin,
            until=end,
            session=frame.session,
            raw=raw,
            level=level,
            cursor=cursor,
        )
    frame.show(found, lambda: _say_summaries(found))
    if found.degraded:
        raise click.exceptions.Exit(3)


def _say_summaries(found: Recall) -> None:
    rows = [(*_when(hit), _shown(hit), *_where(hit), hit.id) for hit in found.hits]
    table(("when", "kind", "text", "session, or made of", "id"), rows, wide=2)
    rest = f"; more with --offset {found.next_offset}" if found.next_offset is not None else ""
    click.echo(f"{len(found.hits)} of {found.total}{rest}", err=True)
    for name in found.degraded:
        click.echo(f"degraded: {name} could not be asked; there may be more", err=True)


def _when(hit: Hit) -> tuple[str, str]:
    if hit.kind == "rollup":
        return clean(str(hit.metadata.get("period", ""))), clean(str(hit.metadata.get("level", hit.kind)))
    return f"{hit.event_time:%Y-%m-%d %H:%M}", hit.kind


def _where(hit: Hit) -> tuple[str]:
    """The session of a window; what a roll-up was made of."""
    return ("\n".join(hit.sources) if hit.kind == "rollup" else clean(hit.session or ""),)


def _shown(hit: Hit) -> str:
    return clean(hit.text, _RAW_TEXT if hit.kind == "raw" else None)


@command("settle", example="memhold settle --timeout 60", resume=_AGAIN)
@click.option("--timeout", type=float, default=30.0, show_default=True, help="Seconds.")
@_consolidation
def settle_command(frame: Frame, timeout: float, consolidation: str | None) -> None:
    """Do due work now.

    In every scope, until nothing is due. Exit code 1 where time ran out or something was put off.
    """
    _settle(frame, timeout, consolidation)


def _settle(frame: Frame, timeout: float, consolidation: str | None) -> None:
    with opened(frame, **_chosen(consolidation)) as (mem, _):
        settled = mem.settle(timeout)
    said = "nothing is due" if settled else "some work is still due; 'memhold status' and 'memhold doctor' say more"
    frame.show({"settled": settled}, lambda: click.echo(said))
    if not settled:
        raise click.exceptions.Exit(1)


@command("worker", example="memhold worker --db memory.db --consolidation consolidation", resume=_AGAIN)
@click.option("--once", is_flag=True, help="Do what is due, without a limit of time, and end.")
@_consolidation
def worker_command(frame: Frame, *, once: bool, consolidation: str | None) -> None:
    """Do due work until stopped.

    In every scope. Ctrl-C or SIGTERM ends it with exit code 0: it takes nothing more, lets what runs end within the
    setting drain_seconds, and gives the rest back. A second one does not wait. Exit code 1 with --once where something
    was put off.
    """
    if once:
        with _signals(signal.default_int_handler, signal.SIGTERM):
            _settle(frame, math.inf, consolidation)
        return

    def interrupts(*_: object) -> None:
        for one in _STOPS:
            signal.signal(one, signal.default_int_handler)

    with _signals(interrupts, *_STOPS), _signal_pipe() as signals, opened(frame, worker=True, **_chosen(consolidation)):
        from memhold.wiring.postgres import shown

        click.echo(f"working on {clean(shown(frame.db))}; Ctrl-C stops", err=True)
        name = _first_of(_STOPS, signals).name
    frame.show({"stopped": name}, lambda: click.echo(f"stopped by {name}; what is left is due"))


@contextmanager
def _signal_pipe() -> Iterator[int]:
    """A pipe that the number of each signal is written to as it arrives.

    A handler alone is not enough: where the signal comes just before a wait blocks, it runs when that wait is over.
    """
    ear, mouth = os.pipe()
    os.set_blocking(mouth, False)
    before = signal.set_wakeup_fd(mouth, warn_on_full_buffer=False)
    try:
        yield ear
    finally:
        signal.set_wakeup_fd(before)
        os.close(ear)
        os.close(mouth)


def _first_of(wanted: Sequence[signal.Signals], ear: int) -> signal.Signals:
    while (number := os.read(ear, 1)[0]) not in wanted:
        pass
    return signal.Signals(number)


@contextmanager
def _signals(heard: Callable[[int, FrameType | None], Any], *numbers: signal.Signals) -> Iterator[None]:
    before = {number: signal.signal(number, heard) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
