"""`memhold chaos`: model servers that fail like real ones."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import click

from memhold.values.errors import InvalidInput

__all__ = ["chaos_command"]


@click.command("chaos", epilog="Example: memhold chaos --port 8787 --fail-rate 0.15 --fault rate-limit")
@click.option("--port", default=8787, help="Where to listen, on loopback; 0 takes a free one.")
@click.option("--seed", default=0, help="Makes the failures the same again.")
@click.option("--fail-rate", default=0.0, type=click.FloatRange(0, 1), help="The share of requests that fail.")
@click.option("--fault", "faults", multiple=True, metavar="NAME", help="Which way to fail; may be given again.")
@click.option("--proxy", metavar="URL", help="Stand in front of a real provider.")
@click.option("--dimension", type=int, help="The length of its vectors.")
@click.option("--idle-unload", type=float, metavar="SECONDS", help="Unload a model that was idle so long.")
@click.option("--warm-up", default=0.0, metavar="SECONDS", help="How long loading a model takes.")
@click.option("--one-gpu", is_flag=True, help="A second model evicts the first.")
@click.option("--list", "listed", is_flag=True, help="Print the names of all faults.")
def chaos_command(*, listed: bool, **options: Any) -> None:
    """Serve models that fail like real ones.

    It speaks the protocols of OpenAI, Anthropic and Ollama over real HTTP; without a fault it answers sensibly.
    """
    try:
        from memhold.testing.chaos import FAULTS, fault_names, serve_chaos
    except ModuleNotFoundError as error:
        raise InvalidInput(
            f"{error.name} is not installed; it comes with the extra 'testing': pip install 'memhold[testing]'"
        ) from None

    if listed:
        for name in fault_names():
            known = FAULTS.get(name)
            click.echo(f"{name:28} {known.about}" if known is not None else name)
        return
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve_chaos(say=click.echo, **options))
