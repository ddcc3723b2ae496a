"""`memhold mcp install`: writing the server into a client's settings, once it was seen to start."""

from __future__ import annotations

from collections.abc import Sequence

import click

from memhold.cli.options import CommonOptions, command
from memhold.faces.mcp.install import CLIENTS, Place, install, launcher, place_of, snippet
from memhold.faces.mcp.trial import Trial, try_start
from memhold.ports.data_home import absolute_location

__all__ = ["located", "mcp_install", "no_secret", "seen_line", "tried"]


@command("install", example="memhold mcp install claude-code --user alice", resume="Run it again: it writes once.")
@click.argument("client", type=click.Choice(list(CLIENTS)))
@click.option("--documents", is_flag=True, help="Offer the tools of documents too.")
@click.option("--print", "printed", is_flag=True, help="Show what has to be in the client's file, and write nothing.")
def mcp_install(common: CommonOptions, *, client: str, documents: bool, printed: bool) -> None:
    """Tell an MCP client to start Memhold.

    Starts the server once as the client will, with the environment that it passes on, and says what came of it; where
    it lists no tools, nothing is written. Then writes one entry into the client's own list of servers, keeps everything
    else in it, and keeps a copy of the file.
    A password for PostgreSQL is not written there: keep it in ~/.pgpass or a service file.
    """
    no_secret(common.db)
    in_folder = CLIENTS[client].in_folder
    started = [*launcher(in_folder=in_folder), "mcp", *located(common), *(["--project", "auto"] if in_folder else [])]
    started += ["--documents"] if documents else []
    place = place_of()
    if printed:
        text = snippet(client, started)
        common.show({"path": str(CLIENTS[client].path(place)), "snippet": text}, lambda: click.echo(text, nl=False))
        return
    one = CLIENTS[client]
    title = one.title
    seen = tried(client, started, place)
    done = install(client, started, place)
    kept = "" if done.backup is None else f"; what stood there is in {done.backup.name}"
    said = f"{title} starts it from now on: {done.path}{kept}" if done.changed else f"{done.path} has it already"
    plain = {
        "path": str(done.path),
        "changed": done.changed,
        "backup": None if done.backup is None else str(done.backup),
        "tools": list(seen.tools),
        "seconds": round(seen.seconds, 3),
        "status": seen.status,
    }
    lines = [said, *([f"restart {title} to load it"] if done.changed else []), seen_line(title, seen)]
    common.show(plain, lambda: click.echo("\n".join(lines)))


def tried(client: str, command: Sequence[str], place: Place) -> Trial:
    """What came of starting the server once as the client will.

    Raises:
        ClickException: it listed no tools.
    """
    one = CLIENTS[client]
    seen = try_start(command, environment=one.environment(place), folder=place.home, seconds=one.waits)
    if seen.problem is not None:
        raise click.ClickException(f"started as {one.title} starts it, {seen.problem}; nothing was written")
    return seen


def seen_line(title: str, seen: Trial) -> str:
    """What a trial showed, for a person."""
    status = "the memory did not answer" if seen.status is None else f"the memory says: {seen.status}"
    return f"started as {title} starts it, it listed {len(seen.tools)} tools after {seen.seconds:.1f} s; {status}"


def no_secret(db: str, stands_in: str = "the client's file and in the list of processes") -> None:
    """A client's file is read by others, synced and shared, and arguments stand in the list of processes."""
    from memhold.wiring.postgres import is_postgres, shown, tells_secret

    if is_postgres(db) and tells_secret(db):
        raise click.UsageError(
            f"the location of {shown(db)} holds a password, which would stand in {stands_in};"
            " put it into ~/.pgpass or a service file (postgresql:///?service=NAME), not into --db"
        )


def located(common: CommonOptions) -> list[str]:
    """The options that fix whose memory it is; a client starts the server in a folder that nobody chose."""
    found = ["--db", absolute_location(common.db)]
    found += ["--namespace", common.namespace] if common.namespace != "default" else []
    for name in ("user", "agent", "session"):
        value = getattr(common, name)
        found += [] if value is None else [f"--{name}", value]
    found += ["--actor", common.actor] if common.actor != "user" else []
    return found
