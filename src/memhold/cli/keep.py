"""Commands that look after the store: backup, restore, doctor, usage, reindex, completion."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from memhold._version import __version__
from memhold.cli.frame import Frame, clean, command, need_store, opened, progress, table
from memhold.values.errors import InvalidInput

if TYPE_CHECKING:
    from memhold.ports.maintenance import Finding

__all__ = [
    "backup_command",
    "completion_command",
    "doctor_command",
    "migrate_command",
    "reindex_command",
    "restore_command",
    "usage_command",
]


@command(
    "backup",
    example="memhold backup /backups/2026-01-31 --db memory.db",
    resume="A backup is whole or is not there: look, and run it again for a new folder.",
)
@click.argument("folder", type=click.Path())
def backup_command(frame: Frame, folder: str) -> None:
    """Copy the store while others write.

    FOLDER must be new. It appears when the copy was written, read back and compared with its manifest.
    """
    with opened(frame) as (mem, _), progress(frame, "backup") as bar:
        manifest = mem.admin.backup(folder, progress=bar)
    counts = f"{manifest.counts['message']} messages, {manifest.counts['memory']} revisions of memories"
    frame.show(manifest, lambda: click.echo(f"wrote and verified {folder}: {manifest.bytes:,} bytes, {counts}"))


@command(
    "restore",
    example="memhold restore /backups/2026-01-31 --db memory.db --force",
    resume="Run it again: the store is the old one or the new one, never half of each.",
)
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.option("--force", is_flag=True, help="Put it in the place of a store that is there.")
def restore_command(frame: Frame, folder: str, *, force: bool) -> None:
    """Put a backup in the store's place.

    All or nothing: a damaged backup is refused and changes nothing. What was forgotten since stays forgotten.
    """
    from memhold.faces.python.open import Memhold

    done = Memhold.restore(folder, frame.db, force=force)
    again = f"; {done.forgotten} items forgotten since were forgotten again" if done.forgotten else ""
    frame.show(
        done, lambda: click.echo(f"restored {done.target} as of {done.manifest.created_at:%Y-%m-%d %H:%M} UTC{again}")
    )


@command(
    "migrate",
    example="memhold migrate memory.db postgresql://memhold@db.example/memory",
    resume="Run it again: it goes on with the scopes that are not there yet.",
)
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="TARGET")
def migrate_command(frame: Frame, source: str, target: str) -> None:
    """Copy a whole store to another place.

    SOURCE and TARGET are files or PostgreSQL databases. Copies what differs, so it may be interrupted and run again;
    run it a last time when nobody writes to SOURCE. Exit code 1 where some scopes changed meanwhile and differ still.
    """
    import asyncio

    from memhold.wiring.migrate import migrate

    with progress(frame, "migrate") as bar:
        done = asyncio.run(migrate(source, target, progress=bar))
    said = f"{done.copied} of {done.scopes} scopes copied, {done.rows} rows; {done.total} rows in all, {done.checksum}"
    said += f"; {done.tokens} access tokens" if done.tokens else ""
    behind = f"; {done.behind} scopes changed meanwhile: run it again" if done.behind else ""
    frame.show(done, lambda: click.echo(said + behind))
    if done.behind:
        raise click.exceptions.Exit(1)


@command("doctor", example="memhold doctor --db memory.db")
def doctor_command(frame: Frame) -> None:
    """Look for damage, and say what to do.

    Files and their modes, disk room, pages, keys, orphans, the ledger, the clock, every words index and the table of
    due work. Changes nothing. Exit code 1 where something is wrong.
    """
    from memhold.wiring import examine_file
    from memhold.wiring.postgres import shown

    need_store(frame)
    found = examine_file(frame.db)
    if not any(finding.check in {"integrity", "open", "versions"} and finding.severity == "wrong" for finding in found):
        with opened(frame) as (mem, _), progress(frame, "doctor") as bar:
            # Opening may have mended something (the ledger): what was found before counts too.
            later = mem.admin.doctor(progress=bar)
        found = (*found, *(finding for finding in later if finding not in found))
    wrong = any(finding.severity == "wrong" for finding in found)
    answer = {"store": shown(frame.db), "ok": not wrong, "versions": _versions(), "findings": found}
    frame.show(answer, lambda: _say_findings(frame, found))
    if wrong:
        raise click.exceptions.Exit(1)


def _versions() -> dict[str, str]:
    import apsw

    return {"memhold": __version__, "sqlite": apsw.sqlite_lib_version(), "python": sys.version.split()[0]}


def _say_findings(frame: Frame, found: tuple[Finding, ...]) -> None:
    versions = " · ".join(f"{name} {version}" for name, version in _versions().items())
    from memhold.wiring.postgres import shown

    click.echo(f"{shown(frame.db)} · {versions}")
    for finding in found:
        mark = click.style(finding.severity, fg="red" if finding.severity == "wrong" else "yellow")
        where = f" ({clean(finding.where)})" if finding.where else ""
        click.echo(f"{mark} {finding.check}: {clean(finding.what)}{where}")
        click.echo(f"  what to do: {clean(finding.advice)}")
    if not found:
        click.echo("nothing is wrong")


@command("usage", example="memhold usage --db memory.db")
def usage_command(frame: Frame) -> None:
    """Show what each namespace holds.

    Counts and bytes, of the whole store.
    """
    with opened(frame) as (mem, _):
        found = mem.admin.usage()
    names = ("namespace", "users", "sessions", "messages", "memories", "changes", "bytes")
    rows = [tuple(str(getattr(usage, name)) for name in names) for usage in found]
    frame.show({"usage": found}, lambda: table(names, rows, wide=len(names) - 1))


@command(
    "reindex",
    example="memhold reindex --db memory.db",
    resume="Run it again: each scope has its old or its new index.",
)
@click.option(
    "--to", "embedding", metavar="EMBEDDING", help="Make vectors of this embedding (builtin, a directory, an entry)."
)
def reindex_command(frame: Frame, embedding: str | None) -> None:
    """Build derived indexes anew.

    The words index and the table of due work of every scope, one transaction each; others may go on writing. With --to
    the vectors instead: those of another embedding are made beside the ones that are there, and take their place once
    every scope has them. Until then recall goes on with the old ones; interrupted, it goes on where it was.
    """
    if embedding is not None:
        _reembed(frame, embedding)
        return
    with opened(frame) as (mem, _), progress(frame, "reindex") as bar:
        done = mem.admin.reindex(progress=bar)
    due = f", {done.due_added} pieces of work made due" if done.due_added else ""
    frame.show(done, lambda: click.echo(f"indexed {done.documents} messages and memories of {done.scopes} scopes{due}"))


_LOOK_SECONDS = 5.0
_STILL = 3
"""Rounds without a new vector after which the command ends: the last two only make the vectors current."""


def _reembed(frame: Frame, embedding: str) -> None:
    with opened(frame, embedding=embedding) as (mem, _):
        if mem.admin.reembed() is None:
            why = "'none' makes no vectors" if embedding == "none" else "those of another embedding are being made"
            raise InvalidInput(f"{why}; nothing was begun", embedding=embedding)
        done, still = mem.admin.vectors(), 0
        with progress(frame, "vectors") as bar:
            while done is not None and (done.state == "building" or done.documents < done.of) and still < _STILL:
                mem.settle(timeout=_LOOK_SECONDS)
                before, done = done, mem.admin.vectors()
                still = still + 1 if done is None or done.documents == before.documents else 0
                if done is not None:
                    bar(done.documents, done.of)
    if done is None:
        frame.show({"documents": 0}, lambda: click.echo("there is nothing to make vectors of"))
        return
    said = f"{done.documents} of {done.of} messages and memories have vectors of {done.fingerprint}, {done.state}"
    frame.show(done, lambda: click.echo(said))
    if done.state == "building" or done.documents < done.of:
        click.echo("it is not finished: run it again to go on; recall goes on with the old vectors", err=True)
        raise click.exceptions.Exit(1)
    click.echo(f"open the store with embedding={embedding!r} from now on (MEMHOLD_EMBEDDING)", err=True)


@command("completion", example='eval "$(memhold completion bash)"')
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(frame: Frame, shell: str) -> None:
    """Print the shell's completion script.

    Put it where your shell reads its start-up files, or evaluate it.
    """
    from click.shell_completion import get_completion_class

    from memhold.cli.main import cli

    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"there is no completion for {shell}")
    script = found(cli, {}, "memhold", "_MEMHOLD_COMPLETE").source()
    frame.show({"shell": shell, "script": script}, lambda: click.echo(script))
