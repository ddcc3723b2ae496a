"""Commands that look after the store: status, usage, users, doctor, residue, reindex, backup, restore, migrate."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import click

from memhold._version import __version__
from memhold.cli.declared_commands import by_hand
from memhold.cli.options import CommonOptions, command, need_store, opened
from memhold.cli.output import clean, progress, table, wrapped
from memhold.values.errors import InvalidInput, MemholdError
from memhold.values.repr_parts import one_of

if TYPE_CHECKING:
    from memhold.faces.python.sync import SyncStore
    from memhold.ports.maintenance import Finding
    from memhold.ports.models import Tally
    from memhold.values.answers import OpenSuspicion, Residue, Status

__all__ = [
    "backup_command",
    "doctor_command",
    "migrate_command",
    "reindex_command",
    "residue_command",
    "restore_command",
    "status_command",
    "usage_command",
    "users_command",
]


@command(
    "backup",
    example="memhold backup /backups/2026-01-31 --db memory.db",
    resume="A backup is whole or is not there: look, and run it again for a new folder.",
)
@click.argument("folder", type=click.Path())
def backup_command(common: CommonOptions, folder: str) -> None:
    """Copy the store while others write.

    FOLDER must be new. It appears when the copy was written, read back and compared with its manifest.
    """
    with opened(common) as (mem, _), progress(common, "backup") as bar:
        manifest = mem.admin.backup(folder, progress=bar)
    counts = f"{manifest.counts['message']} messages, {manifest.counts['memory']} revisions of memories"
    common.show(manifest, lambda: click.echo(f"wrote and verified {folder}: {manifest.bytes:,} bytes, {counts}"))


@command(
    "restore",
    example="memhold restore /backups/2026-01-31 --db memory.db --force",
    resume="Run it again: the store is the old one or the new one, never half of each.",
)
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.option("--force", is_flag=True, help="Put it in the place of a store that is there.")
def restore_command(common: CommonOptions, folder: str, *, force: bool) -> None:
    """Put a backup in the store's place.

    All or nothing: a damaged backup is refused and changes nothing. What was forgotten since stays forgotten.
    """
    from memhold.faces.python.open import Memhold

    done = Memhold.restore(folder, common.db, force=force)
    again = f"; {done.forgotten} items forgotten since were forgotten again" if done.forgotten else ""
    common.show(
        done, lambda: click.echo(f"restored {done.target} as of {done.manifest.created_at:%Y-%m-%d %H:%M} UTC{again}")
    )


@command(
    "migrate",
    example="memhold migrate memory.db postgresql://memhold@db.example/memory",
    resume="Run it again: it goes on with the scopes that are not there yet.",
)
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="TARGET")
def migrate_command(common: CommonOptions, source: str, target: str) -> None:
    """Copy a whole store to another place.

    SOURCE and TARGET are files or PostgreSQL databases. Copies what differs, so it may be interrupted and run again;
    run it a last time when nobody writes to SOURCE. Exit code 1 where some scopes changed meanwhile and differ still.
    """
    import asyncio

    from memhold.wiring.migrate import migrate

    with progress(common, "migrate") as bar:
        done = asyncio.run(migrate(source, target, progress=bar))
    said = f"{done.copied} of {done.scopes} scopes copied, {done.rows} rows; {done.total} rows in all, {done.checksum}"
    said += f"; {done.tokens} access tokens" if done.tokens else ""
    behind = f"; {done.behind} scopes changed meanwhile: run it again" if done.behind else ""
    common.show(done, lambda: click.echo(said + behind))
    if done.behind:
        raise click.exceptions.Exit(1)


@command("doctor", example="memhold doctor --db memory.db")
@click.option(
    "--repair",
    type=click.Choice(["clock", "rows"]),
    help="Mend it: 'clock' dates as of now what a clock that was ahead dated later; 'rows' erases what is damaged, and"
    " keeps of a damaged change what is still known.",
)
def doctor_command(common: CommonOptions, repair: Literal["clock", "rows"] | None) -> None:
    """Look for damage, and say what to do.

    Files and their modes, disk room, pages, keys, rows, orphans, the ledger, the clock, every words index and the table
    of due work. Changes nothing, but for what --repair names. Exit code 1 where something is wrong.
    """
    from memhold.wiring import examine_file
    from memhold.wiring.postgres import shown

    need_store(common)
    found = examine_file(common.db)
    unfit = {"open", "versions"} if repair == "rows" else {"integrity", "open", "versions"}
    if not any(finding.check in unfit and finding.severity == "wrong" for finding in found):
        with opened(common) as (mem, _), progress(common, "doctor") as bar:
            # Opening may have mended something (the ledger): what was found before counts too.
            later = mem.admin.doctor(repair=repair, progress=bar)
        mended = {"rows", "integrity", "orphans"} if repair == "rows" else {repair}
        found = tuple(one for one in found if one.check not in mended)
        found = (*found, *(finding for finding in later if finding not in found))
    found = (*found, *_of_notes(common))
    wrong = any(finding.severity == "wrong" for finding in found)
    answer = {"store": shown(common.db), "ok": not wrong, "versions": _versions(), "findings": found}
    common.show(answer, lambda: _say_findings(common, found))
    if wrong:
        raise click.exceptions.Exit(1)


def _of_notes(common: CommonOptions) -> tuple[Finding, ...]:
    """What is to be said of the notes that hooks of coding agents left, now that those that can be were taken in."""
    from memhold.faces.agents.spool import look_at, spool_of
    from memhold.ports.file_modes import open_to_others
    from memhold.ports.maintenance import Finding

    spool = spool_of(common.db)
    notes = look_at(spool)
    rows = (
        (notes.waiting, "a coding agent's transcript is not taken in yet", "run 'memhold settle', and look again"),
        (notes.unread, "a coding agent's transcript cannot be read as one", "see 'memhold import' for what it says"),
        (notes.broken, "a note of a hook cannot be read", "remove it: the next hook of its session writes another"),
    )
    found = [
        Finding(check="hooks", severity="note", what=what, advice=advice, where=place)
        for places, what, advice in rows
        for place in places
    ]
    if spool.is_dir() and open_to_others(spool) is not None:
        what, advice = "others may read which transcripts are noted", f"chmod 700 {spool}"
        found.append(Finding(check="hooks", severity="wrong", what=what, advice=advice, where=str(spool)))
    return tuple(found)


def _versions() -> dict[str, str]:
    import apsw

    return {"memhold": __version__, "sqlite": apsw.sqlite_lib_version(), "python": sys.version.split()[0]}


def _say_findings(common: CommonOptions, found: tuple[Finding, ...]) -> None:
    versions = " · ".join(f"{name} {version}" for name, version in _versions().items())
    from memhold.wiring.postgres import shown

    click.echo(f"{shown(common.db)} · {versions}")
    for finding in found:
        mark = click.style(finding.severity, fg="red" if finding.severity == "wrong" else "yellow")
        where = f" ({clean(finding.where)})" if finding.where else ""
        click.echo(wrapped(f"{mark} {finding.check}: {clean(finding.what)}{where}"))
        click.echo(wrapped(f"what to do: {clean(finding.advice)}", indent="  "))
    if not found:
        click.echo("nothing is wrong")


@command("users", example="memhold users --namespace acme")
@click.option("--after", metavar="NAME", help="Begin behind this user.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=1000, show_default=True, help="At most so many.")
def users_command(common: CommonOptions, *, after: str | None, limit: int) -> None:
    """List the users of the namespace.

    By name: whose memory it holds, or held.
    """
    with opened(common) as (mem, _):
        found = mem.admin.users(namespace=common.namespace, after=after, limit=limit)

    def people() -> None:
        for name in found:
            click.echo(clean(name))
        if not found:
            click.echo(f"No users in the namespace {common.namespace!r}.")

    common.show({"users": found}, people)


@command("usage", example="memhold usage --db memory.db")
def usage_command(common: CommonOptions) -> None:
    """Show what each namespace holds.

    Counts and bytes, of the whole store.
    """
    with opened(common) as (mem, _):
        found = mem.admin.usage()
    names = ("namespace", "users", "sessions", "messages", "memories", "changes", "bytes")
    rows = [tuple(str(getattr(usage, name)) for name in names) for usage in found]
    common.show({"usage": found}, lambda: table(names, rows, wide=len(names) - 1))


@command(
    "reindex",
    example="memhold reindex --db memory.db",
    resume="Run it again: each scope has its old or its new index.",
)
@click.option(
    "--to", "embedding", metavar="EMBEDDING", help="Make vectors of this embedding (builtin, a directory, an entry)."
)
def reindex_command(common: CommonOptions, embedding: str | None) -> None:
    """Build derived indexes anew.

    The words index and the table of due work of every scope, one transaction each; others may go on writing. With --to
    the vectors instead: those of another embedding are made beside the ones that are there, and take their place once
    every scope has them. Until then recall goes on with the old ones; interrupted, it goes on where it was.
    """
    if embedding is not None:
        _reembed(common, embedding)
        return
    with opened(common) as (mem, _), progress(common, "reindex") as bar:
        done = mem.admin.reindex(progress=bar)
    due = f", {done.due_added} pieces of work made due" if done.due_added else ""
    said = f"indexed {one_of(done.documents, 'item')} of {one_of(done.scopes, 'scope')}{due}"
    common.show(done, lambda: click.echo(said))


_LOOK_SECONDS = 5.0
_STILL = 3
"""Rounds without a new vector after which the command ends: the last two only make the vectors current."""


def _reembed(common: CommonOptions, embedding: str) -> None:
    with opened(common, embedding=embedding) as (mem, _):
        if mem.admin.reembed() is None:
            why = "'none' makes no vectors" if embedding == "none" else "those of another embedding are being made"
            raise InvalidInput(f"{why}; nothing was begun", embedding=embedding)
        done, still = mem.admin.vectors(), 0
        with progress(common, "vectors") as bar:
            while done is not None and (done.state == "building" or done.documents < done.of) and still < _STILL:
                mem.settle(timeout=_LOOK_SECONDS)
                before, done = done, mem.admin.vectors()
                still = still + 1 if done is None or done.documents == before.documents else 0
                if done is not None:
                    bar(done.documents, done.of)
    if done is None:
        common.show({"documents": 0}, lambda: click.echo("there is nothing to make vectors of"))
        return
    said = f"{done.documents} of {done.of} messages and memories have vectors of {done.fingerprint}, {done.state}"
    common.show(done, lambda: click.echo(said))
    if done.state == "building" or done.documents < done.of:
        click.echo("it is not finished: run it again to go on; recall goes on with the old vectors", err=True)
        raise click.exceptions.Exit(1)
    click.echo(f"open the store with embedding={embedding!r} from now on (MEMHOLD_EMBEDDING)", err=True)


@by_hand("status")
def status_command(common: CommonOptions, given: dict[str, Any]) -> None:
    """Show what a scope holds and what is due.

    Counts of messages, sessions and memories, and the work that is still to be done for them.
    """
    with opened(common) as (store, scope):
        found = scope.status(**given)
        to_settle = scope.suspicions() if found.open_suspicions else ()
        used = store.admin.model_usage()
        empty = not (found.messages or found.memories or common.as_json)
        projects = _projects(store, common)
        elsewhere = _elsewhere(store, common.namespace) if empty and not projects else ()
    # Models are used for the whole store, so their line is not the scope's.
    from memhold.values.jsonable import to_jsonable

    health = to_jsonable(found)["models"]
    from memhold.faces.agents.spool import look_at, spool_of

    waiting = len(look_at(spool_of(common.db)).waiting)
    answer = {**to_jsonable(found), "models": _models_used(used), "health": health, "suspicions": to_settle}
    answer |= {"transcripts_waiting": waiting, "projects": [name for name, _ in projects]}

    def people() -> None:
        _say_status(found, used, to_settle)
        for name, messages in projects:
            click.echo(f"the memory of the project here, {clean(name)}: {one_of(messages, 'message')}")
        if len(projects) > 1:
            click.echo(
                f"it has two names; 'memhold project --join {clean(projects[1][0])}' goes on under the other one"
            )
        if elsewhere:
            click.echo(f"in other namespaces: {', '.join(elsewhere)}; name one with --namespace")
        if waiting:
            click.echo(f"transcripts of coding agents that are not taken in yet: {waiting} (memhold doctor)")

    common.show(answer, people)


def _projects(store: SyncStore, common: CommonOptions) -> list[tuple[str, int]]:
    """The names of the memory of the project that the command is run in, with the messages below each."""
    from memhold.cli.in_project import projects_here

    names = projects_here(store, common)
    return [(name, store.scope(namespace=name, user=common.user).status().messages) for name in names]


def _elsewhere(store: SyncStore, namespace: str) -> tuple[str, ...]:
    """The other namespaces that hold most, where the asker may know: agents keep a project's memory in its own."""
    try:
        held = [one for one in store.admin.usage() if one.namespace != namespace and one.messages + one.memories]
    except MemholdError:
        return ()
    most = sorted(held, key=lambda one: -one.messages - one.memories)
    named = [f"{clean(one.namespace)} ({one_of(one.messages, 'message')})" for one in most[:3]]
    return (*named, *([f"{len(most) - 3} more (memhold usage)"] if len(most) > 3 else []))


def _models_used(used: tuple[Tally, ...]) -> dict[str, float]:
    counts = {name: sum(getattr(one, name) for one in used) for name in ("calls", "answered", "retries", "unpriced")}
    tokens = sum(one.input_tokens + one.output_tokens for one in used)
    return {**counts, "tokens": tokens, "usd": round(sum(one.usd for one in used), 9)}


def _say_status(found: Status, used: tuple[Tally, ...], to_settle: tuple[OpenSuspicion, ...]) -> None:
    from memhold.values.answers import trouble_told

    click.echo(f"messages: {found.messages} in {one_of(found.sessions, 'session')}")
    for name, counts in (("memories", found.memories), ("tiers", found.tiers), ("states", found.states)):
        click.echo(f"{name}: {_counted(counts)}")
    aside = f" ({found.set_aside} set aside: not tried again by itself)" if found.set_aside else ""
    click.echo(f"raw, not consolidated yet: {found.raw}{aside}")
    if found.uncompared:
        click.echo(f"notes not compared yet: {found.uncompared}; calls left for today: {found.compact_calls_left}")
    if found.retracted_not_stated:
        click.echo(f"retracted, stated by no person: {found.retracted_not_stated}")
    if found.unquoted:
        click.echo(f"still to be given the words of their line: {found.unquoted}")
    click.echo(f"due: {_counted(found.due)}")
    if found.last_error is not None:
        click.echo(f"last error: {clean(found.last_error)}")
    _say_models(found)
    for trouble in trouble_told(found.degraded, found.damaged):
        click.echo(f"degraded: {trouble}")
    if to_settle:
        from memhold.cli.suspicions import suspicion_line

        click.echo(f"to settle: {len(to_settle)} (memhold suspicions)")
        for one in to_settle:
            click.echo(f"  {suspicion_line(one)}")
    spent = _models_used(used)
    calls, failed, unpriced = int(spent["calls"]), spent["calls"] - spent["answered"], int(spent["unpriced"])
    without = f" and {one_of(unpriced, 'call')} without a price" if unpriced else ""
    click.echo(f"models, whole store: {one_of(calls, 'call')}, {failed} failed, {spent['usd']:.4f} USD{without}")
    click.echo(f"store: {found.store}, schema {found.schema}")


def _say_models(found: Status) -> None:
    for one in found.models.values():
        state = {True: "answers", None: "not asked yet"}.get(one.answers, "")
        unloads = f"; unloaded under {one.unloads} calls" if one.unloads else ""
        click.echo(clean(f"model {one.model}: {state}{unloads}" if state else f"{one.told}{unloads}", 1_000))
    if found.windows:
        click.echo(f"windows that wait for a model: {found.windows}, whole and searchable")


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "none"


@by_hand("residue", takes=("text",))
def residue_command(common: CommonOptions, given: dict[str, Any]) -> None:
    """Look for a text's bytes in the store's files.

    After a forget this is the proof that nothing is left. Exit code 1 where something is found. Transcripts that a
    coding agent keeps, and that hooks noted, are named where they hold it: they are the agent's, and nothing of ours.
    """
    from memhold.faces.agents.spool import holding, spool_of
    from memhold.values.jsonable import to_jsonable

    with opened(common) as (_, scope):
        found = scope.residue(**given)
    theirs = holding(spool_of(common.db), given["text"])
    common.show({**to_jsonable(found), "transcripts": theirs}, lambda: _say_residue(common.db, found, theirs))
    if found.found:
        raise click.exceptions.Exit(1)


def _say_residue(location: str, residue: Residue, theirs: tuple[str, ...]) -> None:
    for name, count in residue.found.items():
        click.echo(f"{name}: {one_of(count, 'time')}")
    if not residue.found:
        from memhold.wiring.postgres import is_postgres

        looked = one_of(residue.files, "table" if is_postgres(location) else "file")
        click.echo(f"nowhere in {looked} ({residue.bytes:,} bytes)")
    for path in theirs:
        click.echo(f"the agent's own transcript holds it: {clean(path)}")
