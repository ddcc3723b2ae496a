"""What is wrong with a database as far as SQL can tell; nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from memhold.ports.maintenance import CLOCK_ADVICE, Finding, rotten
from memhold.storage.postgres.connection import Location, Session, unwaited
from memhold.storage.postgres.near_upkeep import pgvector
from memhold.storage.postgres.schema import migrations
from memhold.storage.postgres.statements import QUERIES, driver_text
from memhold.storage.sql.blocks import load
from memhold.storage.sql.digests import ADVICE, CONTENT, id_of, select_content, sound_row
from memhold.values.records import ROTTEN, Scope, from_micros, micros

__all__ = ["KEEPING", "examine", "examine_scope"]

KEEPING: Mapping[str, bytes] = {
    name: driver_text(sql) for name, sql in load("memhold.storage.postgres", "keeping.sql").items()
}
CLOCK_SLACK = timedelta(minutes=5)
LARGE = 250_000
"""Documents from which on a scope gains from an index of nearest neighbours: see docs/scaling.md."""
_SHOWN = 5
_RESTORE = "restore the database from a backup (pg_dump or a base backup with its log)"

# Each is a statement that lists what should not be, what that means.
_ORPHANS = {
    "damaged_tombstones": "marks of what was forgotten are damaged, so they keep nothing away",
    "lost_sources": "memories name sources that are neither there nor marked as forgotten",
    "sources_of_nothing": "sources belong to memories that are not there",
    "effects_of_nothing": "changes touched memories that are neither there nor forgotten",
    "broken_revisions": "memories have a gap in their revisions, or not exactly one current",
    "changes_of_messages_lost": "messages name a change that is not there",
    "session_counters_behind": "sessions count fewer messages than they have",
    "owner_counters_behind": "scopes count fewer documents or sessions than they have",
    "change_counters_behind": "namespaces count fewer changes than they have",
}


def examine(connection: Session, location: Location, *, now: datetime) -> Iterator[Finding]:
    """The server's settings, our role, the schema and the clock."""
    where = location.shown
    for check in (_role, _durability, _schema):
        yield from check(connection, where)
    row = connection.execute(QUERIES["read_clock"], {"until": 2**62}).fetchone()
    last = from_micros(int(row[0]) if row is not None else 0)
    if last > now + CLOCK_SLACK:
        what = f"the newest write is of {last:%Y-%m-%d %H:%M} UTC, this machine's clock says {now:%Y-%m-%d %H:%M}"
        yield _wrong("clock", what, CLOCK_ADVICE, where)


def examine_scope(connection: Session, scope: Scope, where: str, now: datetime) -> Iterator[Finding]:
    """Rows of one scope that name what is not there; the transaction has entered the scope."""
    bound = {"namespace": scope.namespace, "user_id": scope.user or ""}
    for name, what in _ORPHANS.items():
        ids = sorted({str(row[0]) for row in connection.execute(KEEPING[name], bound).fetchall()})
        if ids:
            yield _wrong("orphans", f"{len(ids)} {what}: {', '.join(ids[:_SHOWN])}", _RESTORE, where)
    for table in CONTENT:
        select = f"{select_content(table)} WHERE namespace = %(namespace)s AND user_id = %(user_id)s".encode()
        damaged = [id_of(table, row) for row in connection.execute(select, bound) if not sound_row(table, row)]
        if damaged:
            what = f"{len(damaged)} damaged in the table {table}: {', '.join(damaged)}"
            yield _wrong("rows", what, ADVICE[table], where)
    ids = [str(row[0]) for row in connection.execute(KEEPING["rotten_changes"], {**bound, "verb": ROTTEN}).fetchall()]
    if ids:
        yield rotten(ids, where)
    ahead = connection.execute(KEEPING["rows_ahead"], {**bound, "until": micros(now + CLOCK_SLACK)}).fetchone()
    if ahead is not None and ahead[0]:
        yield _wrong("clock", f"{ahead[0]} rows are dated after what this machine's clock says", CLOCK_ADVICE, where)
    left = connection.execute(KEEPING["lost_successors"], bound).fetchall()
    if left:
        what = f"{len(left)} replaced memories name a successor that is not here"
        yield _note("orphans", what, "nothing, where they came from an export; it had been forgotten there", where)
    row = connection.execute(KEEPING["large_without_index"], {**bound, "least": LARGE}).fetchone()
    why = None if row is None else pgvector(connection)
    if row is not None and why is not None:
        what = f"{row[0]:,} documents and no index of nearest neighbours: {why}"
        advice = "nothing is missing from answers; for less memory and time see docs/scaling.md, Large scopes"
        yield _note("nearest", what, advice, where)
    elif connection.execute(KEEPING["index_dropped"], bound).fetchone() is not None:
        what = "the index of nearest neighbours was dropped, or is not whole; questions are answered without it"
        yield _note("nearest", what, "nothing: the next message of the scope has it made again", where)


def _role(connection: Session, where: str) -> Iterator[Finding]:
    row = connection.execute(
        "SELECT current_user, rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
    ).fetchone()
    if row is not None and row[1]:
        what = f"the role {row[0]!r} is not bound by row-level security, the second wall between tenants"
        advice = "connect as a role that is no superuser and has no BYPASSRLS; see docs/scaling.md"
        yield _note("role", what, advice, where)
    found = connection.execute(
        "SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace"
        " AND relname IN (SELECT polrelid::regclass::text FROM pg_policy)"
        " AND NOT (relrowsecurity AND relforcerowsecurity)"
    ).fetchone()
    if found is not None and found[0]:
        what = f"row-level security was switched off for {found[0]} tables"
        yield _wrong("role", what, "ALTER TABLE … ENABLE and FORCE ROW LEVEL SECURITY on each of them", where)


def _durability(connection: Session, where: str) -> Iterator[Finding]:
    names = ("fsync", "full_page_writes", "synchronous_commit", "autovacuum")
    found: dict[str, Any] = {}
    for name in names:
        row = connection.execute("SELECT reset_val FROM pg_settings WHERE name = %s", (name,)).fetchone()
        found[name] = None if row is None else row[0]
    for name in ("fsync", "full_page_writes"):
        if found[name] == "off":
            what = f"{name} is off: a crash of the machine can lose or damage acknowledged writes"
            yield _wrong("durability", what, f"set {name} = on in postgresql.conf", where)
    if found["autovacuum"] == "off":
        what = "autovacuum is off: tables grow, and questions are planned without statistics"
        yield _note("autovacuum", what, "set autovacuum = on, or run VACUUM ANALYZE as often as rows change", where)
    if found["synchronous_commit"] == "off":
        what = "synchronous_commit is off; Memhold's own sessions use 'on' all the same"
        yield _note("durability", what, "nothing; or set it to on, or to remote_apply with a standby", where)
    if unwaited(connection):
        what = "standbys are named as synchronous, and synchronous_commit is local: a failover can lose writes"
        yield _note("durability", what, "set synchronous_commit to on, remote_write or remote_apply", where)


def _schema(connection: Session, where: str) -> Iterator[Finding]:
    known = {(step.number, step.stage): step.sha256 for step in migrations()}
    for number, stage, sha256 in connection.execute("SELECT number, stage, sha256 FROM migration").fetchall():
        if known.get((number, stage), sha256) != sha256:
            what = f"migration {number} ({stage}) was another one when it was applied"
            advice = "use the release that made the store, export, and import into a new one"
            yield _wrong("versions", what, advice, where)


def _wrong(check: str, what: str, advice: str, where: str) -> Finding:
    return Finding(check=check, severity="wrong", what=what, advice=advice, where=where)


def _note(check: str, what: str, advice: str, where: str) -> Finding:
    return Finding(check=check, severity="note", what=what, advice=advice, where=where)
