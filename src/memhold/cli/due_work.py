"""Commands that do due work in every scope: settle, worker."""

from __future__ import annotations

import math
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

import click

from memhold.cli.options import CommonOptions, command, opened
from memhold.cli.output import clean

__all__ = ["AGAIN", "chosen", "consolidation_option", "settle_command", "worker_command"]

F = TypeVar("F", bound=Callable[..., Any])

AGAIN = "Run it again: what was done stays done, and what was not is still due."
_STOPS = (signal.SIGINT, signal.SIGTERM)


def consolidation_option(run: F) -> F:
    """The option that says which models consolidate."""
    return click.option(
        "--consolidation",
        metavar="NAME",
        help="The chain or model of the catalog that consolidates. [default: setting]",
    )(run)


def chosen(consolidation: str | None) -> dict[str, Any]:
    """The setting, where the line gives one: else the environment and the file say it."""
    return {} if consolidation is None else {"consolidation": consolidation}


@command("settle", example="memhold settle --timeout 60", resume=AGAIN)
@click.option("--timeout", type=click.FloatRange(min=0), default=30.0, show_default=True, help="Seconds.")
@consolidation_option
def settle_command(common: CommonOptions, timeout: float, consolidation: str | None) -> None:
    """Do due work now.

    In every scope, until nothing is due. Exit code 1 where time ran out or something was put off.
    """
    _settle(common, timeout, consolidation)


def _settle(common: CommonOptions, timeout: float, consolidation: str | None) -> None:
    with opened(common, **chosen(consolidation)) as (mem, _):
        settled = mem.settle(timeout)
    # Whether there was any or not.
    said = (
        "all due work is done" if settled else "some work is still due; 'memhold status' and 'memhold doctor' say more"
    )
    common.show({"settled": settled}, lambda: click.echo(said))
    if not settled:
        raise click.exceptions.Exit(1)


@command("worker", example="memhold worker --db memory.db --consolidation consolidation", resume=AGAIN)
@click.option("--once", is_flag=True, help="Do what is due, without a limit of time, and end.")
@consolidation_option
def worker_command(common: CommonOptions, *, once: bool, consolidation: str | None) -> None:
    """Do due work until stopped.

    In every scope. Ctrl-C or SIGTERM ends it with exit code 0: it takes nothing more, lets what runs end within the
    setting drain_seconds, and gives the rest back. A second one does not wait. Exit code 1 with --once where something
    was put off.
    """
    if once:
        with _signals(signal.default_int_handler, signal.SIGTERM):
            _settle(common, math.inf, consolidation)
        return

    def interrupts(*_: object) -> None:
        for one in _STOPS:
            signal.signal(one, signal.default_int_handler)

    with _signals(interrupts, *_STOPS), _signal_pipe() as signals, opened(common, worker=True, **chosen(consolidation)):
        from memhold.wiring.postgres import shown

        click.echo(f"working on {clean(shown(common.db))}; Ctrl-C stops", err=True)
        name = _first_of(_STOPS, signals).name
    common.show({"stopped": name}, lambda: click.echo(f"stopped by {name}; what is left is due"))


@contextmanager
def _signal_pipe() -> Iterator[socket.socket]:
    """A line that the number of each signal is written to as it arrives; a pair of sockets, as Windows wants it.

    A handler alone is not enough: where the signal comes just before a wait blocks, it runs when that wait is over.
    """
    ear, mouth = socket.socketpair()
    with ear, mouth:
        mouth.setblocking(False)
        before = signal.set_wakeup_fd(mouth.fileno(), warn_on_full_buffer=False)
        try:
            yield ear
        finally:
            signal.set_wakeup_fd(before)


def _first_of(wanted: Sequence[signal.Signals], ear: socket.socket) -> signal.Signals:
    while (number := ear.recv(1)[0]) not in wanted:
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
