"""`memhold ui`: the page on which memory is seen and set right, in the browser, on the store at hand."""

from __future__ import annotations

import asyncio
import webbrowser

import click

from memhold.cli.options import CommonOptions, command
from memhold.cli.serve import need_server

__all__ = ["ui_command"]


@command("ui", example="memhold ui --db memory.db --user alice", resume="Start it again: the link is made anew.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Its port; 0 takes a free one.")
@click.option("--no-browser", is_flag=True, help="Only print the link.")
@click.option("--consolidation", metavar="NAME", help="The chain or model that consolidates. [default: setting]")
def ui_command(common: CommonOptions, *, port: int, no_browser: bool, consolidation: str | None) -> None:
    """Open the page on which memory is seen and set right.

    On this machine alone, by a link that counts once, for two minutes. The store may be a file, a database, or a
    server's (--db http://…, with MEMHOLD_TOKEN): then the page may do what that token may. A new file is made where
    there is none, and the page shows how to put something in. Due work is done meanwhile. Ctrl-C ends it.
    """
    need_server()
    from memhold.server.logs import set_up_logs
    from memhold.server.ui_serving import serve_ui
    from memhold.values.records import Scope

    set_up_logs("text")
    local = Scope(namespace=common.namespace, user=common.user, agent=common.agent, actor=common.actor)
    opened = {} if consolidation is None else {"consolidation": consolidation}

    def ready(url: str) -> None:
        common.show({"url": url}, lambda: click.echo(f"{url} (counts once, for two minutes); Ctrl-C stops", err=True))
        if not no_browser:
            webbrowser.open(url)

    asyncio.run(serve_ui(common.db, opened=opened, local=local, port=port, ready=ready))
