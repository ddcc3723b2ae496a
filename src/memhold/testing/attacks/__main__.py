"""`python -m memhold.testing.attacks`: carries the attacks out and prints which were held off."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from memhold.testing.attacks import ATTACKS, Attack, Outcome, Target, try_one
from memhold.testing.attacks.own_server import own_target

__all__ = ["main"]


@click.command(
    "python -m memhold.testing.attacks",
    epilog="Example: python -m memhold.testing.attacks http://127.0.0.1:8484 --token mh_…",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.argument("url", required=False)
@click.option("--token", envvar="MEMHOLD_TOKEN", help="Of no user, with the rights read, write, admin and act.")
@click.option("--other", help="Such a token of another namespace.")
@click.option("--pid", type=int, help="The server's process, if it is on this machine: its memory is looked at.")
@click.option("--redacts", is_flag=True, help="The server has the setting redaction on.")
@click.option("--only", multiple=True, metavar="NAME", help="Only attacks whose name has this in it; repeatable.")
@click.option("--list", "listed", is_flag=True, help="Say what the attacks are, and carry none out.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def main(
    url: str | None,
    token: str | None,
    other: str | None,
    pid: int | None,
    only: tuple[str, ...],
    *,
    redacts: bool,
    listed: bool,
    as_json: bool,
) -> None:
    """Attack a running server, and print of each attack whether it was held off.

    Without URL a server is started for it. Attack servers of your own alone. What is made for the attacks is erased at
    the end. Exits with 1 where an attack was not held off.
    """
    chosen = [one for name, one in ATTACKS.items() if not only or any(part in name for part in only)]
    if not chosen:
        raise click.UsageError(f"no attack is called like that; there are: {', '.join(ATTACKS)}")
    if listed:
        for one in chosen:
            click.echo(f"{one.name}: {one.does}\n    held: {one.seen}")
        return
    if url is not None and token is None:
        raise click.UsageError("a server needs --token: memhold token create --can read,write,admin,act")
    outcomes = []
    with _target(url, token, other=other, pid=pid, redacts=redacts) as target:
        for outcome in _carried_out(chosen, target):
            outcomes.append(outcome)
            if not as_json:
                click.echo(f"{outcome.result:9}  {outcome.attack.name}{f': {outcome.told}' if outcome.told else ''}")
        hold = target.longest_hold()
    _sum_up(outcomes, hold, as_json=as_json)
    sys.exit(any(one.result == "not held" for one in outcomes))


@contextmanager
def _target(url: str | None, token: str | None, **more: Any) -> Iterator[Target]:
    if url is None or token is None:
        with TemporaryDirectory(prefix="memhold-attacks-") as folder, own_target(Path(folder)) as target:
            yield target
        return
    target = Target(url, token, **more)
    try:
        yield target
    finally:
        target.cleared()


def _carried_out(attacks: Iterable[Attack], target: Target) -> Iterator[Outcome]:
    for one in attacks:
        yield try_one(one, target)


def _sum_up(outcomes: list[Outcome], hold: float | None, *, as_json: bool) -> None:
    counts = {result: sum(one.result == result for one in outcomes) for result in ("held", "not held", "not tried")}
    if as_json:
        rows = [{"name": one.attack.name, "result": one.result, "told": one.told} for one in outcomes]
        click.echo(json.dumps({**counts, "longest_hold_seconds": hold, "attacks": rows}))
        return
    click.echo("; ".join(f"{number} {result}" for result, number in counts.items()))
    if hold is not None:
        click.echo(f"longest hold of the event loop: {hold * 1000:.0f} ms")


if __name__ == "__main__":
    main()
