"""`memhold agent`: give a coding agent memory, take it away again, and see what it has."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from memhold.cli.agent_server import proved, with_token
from memhold.cli.mcp_install import located, no_secret, seen_line, tried
from memhold.cli.options import CommonOptions, command, opened
from memhold.cli.output import clean, progress, table
from memhold.faces.agents.running import end
from memhold.faces.agents.set_up import AGENTS, SetUp, set_up, state_of, take_out
from memhold.faces.mcp.install import CLIENTS, launcher, place_of
from memhold.values.repr_parts import one_of

if TYPE_CHECKING:
    from memhold.faces.agents.on_disk import Kept
    from memhold.faces.python.open import Memhold

__all__ = ["agent_command"]


@click.group("agent", epilog="\b\nExample:\n  memhold agent install claude-code --user alice")
def agent_command() -> None:
    """Give a coding agent memory: its tools and its hooks."""


_WHICH = click.argument("client", type=click.Choice(tuple(AGENTS)))


@command("install", example="memhold agent install claude-code --user alice", resume="Run it again: it writes once.")
@_WHICH
@click.option("--server", metavar="URL", help="Keep the memory on this server, for several machines.")
def agent_install(common: CommonOptions, *, client: str, server: str | None) -> None:
    """Give a coding agent memory.

    Writes what 'memhold mcp install' writes, and hooks (for opencode a plug-in) that take in what is said and tell
    what memory holds, with no tool called.
    Starts the server once first, and says what came of it; where it lists no tools, nothing is written. At last a line
    is kept, read and erased in a repository's memory and in your own.

    With --server the token in MEMHOLD_TOKEN is kept for this account, or one made with it that covers your own memory
    and those of your projects. What is said while the server is away is taken in later.
    """
    common.db = server or common.db
    no_secret(common.db)
    token = with_token(common)
    proof = proved(common)
    place = place_of()
    words = [*launcher(in_folder=True), "mcp", *located(common), "--project", "auto", "--tools", "core"]
    title = CLIENTS[client].title
    trial = tried(client, words, place)
    done = set_up(client, words, located(common), place)
    lines = [*_lines(done), f"restart {title} to load it", seen_line(title, trial), *([token] if token else []), proof]
    common.show(done, lambda: click.echo("\n".join(lines)))


@command("uninstall", example="memhold agent uninstall claude-code", resume="Run it again: it takes out what is left.")
@_WHICH
def agent_uninstall(common: CommonOptions, *, client: str) -> None:
    """Take our part out of a coding agent's files.

    What else stands in them stays. The memory stays too: 'memhold forget' is for that. What runs for the hooks of
    coding agents ends with the last of them.
    """
    place = place_of()
    done = take_out(client, place)
    if not any(state_of(agent, place).hooks for agent in AGENTS):
        end(common.db)
    common.show(done, lambda: click.echo("\n".join(_lines(done))))


@command("status", example="memhold agent status")
def agent_status(common: CommonOptions) -> None:
    """Show which coding agents have memory."""
    found = [state_of(agent, place_of()) for agent in AGENTS]
    common.show({"agents": found}, lambda: click.echo("\n".join(line for one in found for line in _lines(one))))


@dataclass(frozen=True, slots=True, kw_only=True)
class BroughtIn:
    """What an import of conversations did: `added` messages were new, `known` were there, `skipped` cannot be read.

    `unread` are the conversations that cannot be read, `troubles` the agents whose conversations cannot be looked for.
    """

    conversations: int
    added: int
    known: int
    skipped: int
    unread: tuple[str, ...]
    troubles: tuple[str, ...] = ()


@command(
    "import",
    example="memhold agent import --all --user alice",
    resume="Run it again: it goes on where it was, and adds nothing twice.",
)
@click.argument("client", type=click.Choice(tuple(AGENTS)), required=False)
@click.option("--all", "every", is_flag=True, help="Of all coding agents.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Only show what is there.")
def agent_import(common: CommonOptions, *, client: str | None, every: bool, yes: bool, dry_run: bool) -> None:
    """Take in the conversations that coding agents have kept.

    Finds them where the agents keep them, shows how many there are for which memory, and asks. Each goes to the memory
    of the project that it was held in, outside of any repository to your own. What came in already, by a hook or an
    import before, is not added again. Secrets in them are replaced.
    """
    if every == (client is not None):
        raise click.UsageError("name one coding agent, or pass --all")
    found, troubles = _found([client] if client is not None else list(AGENTS))
    if not common.as_json or dry_run:
        common.show({"found": _counted(found), "troubles": troubles}, lambda: _show_found(found, troubles))
    if dry_run:
        return
    if not found:
        if common.as_json:
            none = BroughtIn(conversations=0, added=0, known=0, skipped=0, unread=())
            common.show(replace(none, troubles=tuple(troubles)), lambda: None)
        return
    if not yes:
        if common.as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise click.UsageError("pass --yes to import without being asked, or --dry-run to see what is there")
        if not click.confirm("Take these in?"):
            return
    with opened(common, create=True) as (mem, _), progress(common, "import") as bar:
        done = replace(_brought_in(mem, common, found, bar), troubles=tuple(troubles))
    common.show(done, lambda: _show_done(done, found, common.user))


def _found(agents: Sequence[str]) -> tuple[list[Kept], list[str]]:
    """What the agents have kept, and whose store cannot be read."""
    from memhold.faces.agents.on_disk import kept_by

    found: list[Kept] = []
    troubles: list[str] = []
    for agent in agents:
        try:
            found += kept_by(agent, place_of())
        except OSError as error:
            troubles.append(f"{CLIENTS[agent].title}: {error}")
    return found, troubles


def _counted(found: Sequence[Kept]) -> list[dict[str, object]]:
    counts, sizes = Counter((one.agent, one.namespace or "") for one in found), Counter[tuple[str, str]]()
    for one in found:
        sizes[one.agent, one.namespace or ""] += one.size
    return [
        {"agent": agent, "namespace": namespace or None, "conversations": count, "bytes": sizes[agent, namespace]}
        for (agent, namespace), count in sorted(counts.items())
    ]


def _show_found(found: Sequence[Kept], troubles: Sequence[str]) -> None:
    rows = [
        [
            CLIENTS[str(one["agent"])].title,
            str(one["namespace"] or "your own memory"),
            f"{one['conversations']}",
            f"{int(str(one['bytes'])) / 1e6:.1f} MB",
        ]
        for one in _counted(found)
    ]
    if rows:
        table(["agent", "for", "conversations", "size"], rows, wide=3)
    else:
        click.echo("no coding agent has kept a conversation here")
    for trouble in troubles:
        click.echo(f"  {clean(trouble, 200)}", err=True)


def _brought_in(
    mem: Memhold, common: CommonOptions, found: Sequence[Kept], bar: Callable[[int, int], None]
) -> BroughtIn:
    from memhold.faces.agents.take_in import began_in
    from memhold.values.errors import UnreadableImport

    total, before = sum(one.size for one in found), 0
    added = known = skipped = 0
    unread = []
    for one in found:
        bar(before, total)
        named = one.namespace or common.namespace
        try:
            place = began_in(mem, str(one.path), named, former=one.former, user=common.user)
            scope = mem.scope(namespace=place, user=common.user, agent=common.agent)
            report = scope.import_file(one.path, format=one.agent, on_error="skip")
        except UnreadableImport as error:
            unread.append(str(error))
        else:
            added, known = added + report.added, known + report.read - report.added
            skipped += report.skipped
        before += one.size
    bar(before, total)
    return BroughtIn(conversations=len(found), added=added, known=known, skipped=skipped, unread=tuple(unread))


def _show_done(done: BroughtIn, found: Sequence[Kept], user: str | None) -> None:
    click.echo(
        f"{one_of(done.conversations, 'conversation')}: {one_of(done.added, 'message')} new,"
        f" {done.known} already there, {done.skipped} lines skipped,"
        f" {len(done.unread)} conversations that cannot be read"
    )
    for why in done.unread:
        click.echo(f"  {clean(why, 200)}")
    projects = Counter(one.namespace for one in found if one.namespace)
    if projects:
        most, whose = projects.most_common(1)[0][0], [] if user is None else ["--user", user]
        words = ["memhold", "recall", "what was decided?", *whose, "--namespace", most]
        click.echo(f"look into a project's memory with: {clean(shlex.join(words), 1_000)}")


def _lines(one: SetUp) -> list[str]:
    tools = "tools" if one.tools else "no tools"
    hooks = f"hooks at {', '.join(one.hooks)}" if one.hooks else "no hooks"
    said = [f"{CLIENTS[one.agent].title}: {tools}, {hooks} ({', '.join(one.files)})"]
    return [*said, f"  {one.note}"] if one.note else said


agent_command.add_command(agent_install, "install")
agent_command.add_command(agent_uninstall, "uninstall")
agent_command.add_command(agent_status, "status")
agent_command.add_command(agent_import, "import")
