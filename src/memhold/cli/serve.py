"""`memhold serve`: REST and MCP over HTTP, on one port, with the worker inside."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from typing import Any

import click

from memhold.cli.mcp_install import no_secret
from memhold.cli.options import CommonOptions, command
from memhold.values.errors import InvalidInput

__all__ = ["serve_command"]


@command(
    "serve",
    example="memhold serve --db memory.db --user alice",
    resume="Start it again: what was acknowledged is there.",
)
@click.option("--host", metavar="ADDRESS", help="Where to listen. [default: setting, 127.0.0.1]")
@click.option("--port", type=int, help="Its port; 0 takes a free one. [default: setting, 8484]")
@click.option("--workers", type=int, help="Processes that serve. [default: setting, 1]")
@click.option("--upkeep/--no-upkeep", default=None, help="Without: due work is left to 'memhold worker'.")
@click.option(
    "--insecure-loopback", is_flag=True, default=None, help="Every account of this machine may ask without a token."
)
@click.option("--tls-cert", metavar="FILE", help="The certificate chain, as PEM.")
@click.option("--tls-key", metavar="FILE", help="Its key.")
@click.option("--behind-proxy", is_flag=True, default=None, help="A proxy in front speaks TLS.")
@click.option("--public-url", metavar="URL", help="The address from outside; needed with OAuth.")
@click.option("--allow-host", "allow_hosts", multiple=True, metavar="NAME", help="A name that it goes by; repeatable.")
@click.option(
    "--allow-origin", "allow_origins", multiple=True, metavar="ORIGIN", help="A browser's origin to serve; repeatable."
)
@click.option("--log-format", type=click.Choice(["text", "json"]), help="[default: setting, text]")
@click.option(
    "--compat",
    type=click.Choice(["agent-memory-server"]),
    help="Serve that server's client too.",
)
@click.option("--mcp-documents", is_flag=True, default=None, help="Offer the tools of documents over MCP too.")
@click.option("--telemetry", is_flag=True, default=None, help="Send spans to OpenTelemetry.")
@click.option("--consolidation", metavar="NAME", help="The chain or model that consolidates. [default: setting]")
def serve_command(
    common: CommonOptions,
    *,
    consolidation: str | None,
    allow_hosts: tuple[str, ...],
    allow_origins: tuple[str, ...],
    **options: Any,
) -> None:
    """Serve the store over HTTP.

    REST under /v1, MCP at /mcp, /metrics, /healthz and /readyz. On loopback without tokens it makes one at its start,
    for --namespace, --user and --agent, and keeps it in a file that only this account can read: the library, this
    command line and 'memhold mcp' find it there. With tokens ('memhold token create') each request brings its own.
    Beyond loopback it refuses to start without tokens and without TLS or --behind-proxy. Ctrl-C or SIGTERM ends it:
    what runs ends first. SIGHUP reads the catalog anew, with workers the settings of the server too.
    """
    if _on_the_line("db"):
        no_secret(common.db, "the list of processes for as long as it serves")
    need_server()
    from memhold.server.logs import set_up_logs
    from memhold.server.serving import run, serve
    from memhold.server.settings import load_serve_settings
    from memhold.values.records import Scope

    given = {name: value for name, value in options.items() if value is not None}
    given |= {"allow_hosts": ",".join(allow_hosts)} if allow_hosts else {}
    given |= {"allow_origins": ",".join(allow_origins)} if allow_origins else {}
    settings = load_serve_settings(given)
    set_up_logs(settings.log_format, process=os.getpid() if settings.workers > 1 else None)
    local = Scope(namespace=common.namespace, user=common.user, agent=common.agent, actor=common.actor)
    opened = {} if consolidation is None else {"consolidation": consolidation}

    def ready(url: str) -> None:
        common.show({"url": url}, lambda: click.echo(f"{url} (REST under /v1, MCP at /mcp); Ctrl-C stops", err=True))

    if settings.workers == 1:
        run(serve(common.db, settings, opened=opened, local=local, ready=ready))
        return
    from memhold.server.supervising import serve_with_workers

    load = partial(load_serve_settings, given)
    asyncio.run(serve_with_workers(common.db, load, opened=opened, local=local, ready=ready))


def _on_the_line(name: str) -> bool:
    """Whether an option was written on the command line, before or behind the command."""
    here = click.get_current_context()
    line = click.core.ParameterSource.COMMANDLINE
    return any(one is not None and one.get_parameter_source(name) is line for one in (here, here.parent))


def need_server() -> None:
    """Refuse where the extra is not installed.

    Raises:
        InvalidInput: it is not; the message says what to install.
    """
    from memhold.faces.mcp.light import load_sdk

    try:
        import fastapi
        import prometheus_client
        import uvicorn

        # Without its client half the SDK loads a good deal faster; a server needs none.
        load_sdk()
    except ModuleNotFoundError as error:
        said = (
            f"{error.name or 'mcp'} is not installed; it comes with the extra 'server': pip install 'memhold[server]'"
        )
        raise InvalidInput(said) from None
    del fastapi, prometheus_client, uvicorn
