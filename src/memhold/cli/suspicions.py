"""`memhold suspicions`: what only a person can settle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memhold.cli.options import CommonOptions, command, opened
from memhold.cli.output import clean

if TYPE_CHECKING:
    from memhold.values.answers import OpenSuspicion

__all__ = ["suspicion_line", "suspicions_command"]


@click.group("suspicions", epilog="Example: memhold suspicions list --user alice")
def suspicions_command() -> None:
    """List and settle what only you can know."""


@command("list", example="memhold suspicions list --user alice")
@click.option("--settled", is_flag=True, help="Show settled ones too.")
@click.option("--limit", type=click.IntRange(1), help="At most how many.")
@click.option("--after", help="Those behind this one (sus_…).")
def suspicions_list(common: CommonOptions, *, settled: bool, limit: int | None, after: str | None) -> None:
    """List keys that may be one concept, and what speaks against your own word."""
    with opened(common) as (_, scope):
        found = scope.suspicions(settled=settled, limit=limit, after=after)

    def people() -> None:
        for suspicion in found:
            click.echo(suspicion_line(suspicion))
        if not found:
            click.echo("Nothing to settle.")

    common.show({"suspicions": found}, people)


def suspicion_line(suspicion: OpenSuspicion) -> str:
    """A suspicion on one line: its id, what the two memories say, and the verdict where there is one."""
    one = suspicion.suspicion
    between = "speaks against" if one.kind == "contradiction" else "may be the same as"
    verdict = "" if one.settled is None else f" · settled: {one.settled}"
    return f"{one.id} · {clean(suspicion.memory.text, 100)} · {between} · {clean(suspicion.other.text, 100)}{verdict}"


def _settling(verdict: str, about: str) -> click.Command:
    @command(verdict, example=f"memhold suspicions {verdict} sus_… --user alice")
    @click.argument("suspicion")
    def settle(common: CommonOptions, *, suspicion: str) -> None:
        with opened(common) as (_, scope):
            receipt = scope.settle_suspicion(suspicion, verdict)  # type: ignore[arg-type]  # one of the two, below
        common.show(
            receipt, lambda: click.echo(f"settled as {verdict}; memhold undo {receipt.change_ids[0]} undoes it")
        )

    settle.help = about
    return settle


suspicions_command.add_command(suspicions_list)
suspicions_command.add_command(
    _settling("same", "Make two keys one concept, or take a contradicting statement as your own word.")
)
suspicions_command.add_command(_settling("different", "Keep two keys apart for good, or leave what you told as it is."))
