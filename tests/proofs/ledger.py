"""What a store must hold after a fault: everything acknowledged, nothing half-applied, nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import apsw
import psycopg

from memhold.index.postings_arrays import decode
from memhold.index.postings_check import verify
from memhold.ports.postings import Block

ORPHANS = {
    "a message without its session": """
        SELECT count(*) FROM message AS m LEFT JOIN session AS s
        ON s.namespace = m.namespace AND s.user_id = m.user_id AND s.session_id = m.session_id WHERE s.id IS NULL""",
    "a session whose counter is not its last message": """
        SELECT count(*) FROM session AS s WHERE s.last_seq <> (
          SELECT coalesce(max(m.seq), 0) FROM message AS m
          WHERE m.namespace = s.namespace AND m.user_id = s.user_id AND m.session_id = s.session_id)""",
    "a gap in a session": """
        SELECT count(*) FROM session AS s WHERE s.last_seq <> (
          SELECT count(*) FROM message AS m
          WHERE m.namespace = s.namespace AND m.user_id = s.user_id AND m.session_id = s.session_id)""",
    "a message without its change": """
        SELECT count(*) FROM message AS m LEFT JOIN change AS c
        ON c.namespace = m.namespace AND c.user_id = m.user_id AND c.id = m.change_id WHERE c.id IS NULL""",
    "an effect without its revision": """
        SELECT count(*) FROM change_effect AS e LEFT JOIN memory AS m
        ON m.namespace = e.namespace AND m.user_id = e.user_id AND m.id = e.memory_id AND m.rev = e.rev_after
        WHERE m.id IS NULL""",
    "two current values of one fact": """
        SELECT count(*) FROM (SELECT 1 FROM memory WHERE unrecorded_at IS NULL AND kind = 'fact' AND state = 'active' AND operation = 'set'
        GROUP BY namespace, user_id, agent_id, subject, fact_key HAVING count(*) > 1) AS twice""",
    "a hole in the change numbers": """
        SELECT count(*) FROM namespace AS n WHERE n.change_seq <> (
          SELECT count(*) FROM change AS c WHERE c.namespace = n.namespace)""",
}


Ask = Callable[..., list[tuple[Any, ...]]]
"""Runs a statement with `?` for its parameters, over every scope."""


def check_whole(place: Path | str) -> set[str]:
    """Open a file, or a database as its superuser, check that it is whole, and return the ids of what it holds."""
    if isinstance(place, str) and place.startswith("postgresql:"):
        with psycopg.connect(place, user="postgres") as asked:
            # As of one moment: a worker may still write, and its rows are to agree with its index.
            asked.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            return _check_rows(lambda sql, *values: asked.execute(sql.replace("?", "%s"), values).fetchall())
    connection = apsw.Connection(str(place))
    try:
        assert connection.execute("PRAGMA integrity_check").get == "ok"
        assert connection.execute("PRAGMA foreign_key_check").get is None
        return _check_rows(lambda sql, *values: connection.execute(sql, values).fetchall())
    finally:
        connection.close()


def _check_rows(ask: Ask) -> set[str]:
    for what, sql in ORPHANS.items():
        assert ask(sql) == [(0,)], what
    _check_index(ask)
    return {row[0] for row in ask("SELECT id FROM message UNION ALL SELECT id FROM memory")}


def _check_index(ask: Ask) -> None:
    """Every message and memory has its document in the words index, and no document stands for nothing."""
    for scope in ask("SELECT DISTINCT namespace, user_id FROM owner"):
        rows = ask(
            "SELECT first, records, entries FROM word_block WHERE namespace = ? AND user_id = ? ORDER BY first", *scope
        )
        blocks = [Block(first=first, records=records, entries=entries) for first, records, entries in rows]
        for block in blocks:
            verify(block)
        index = decode(blocks)
        indexed = set(index.numbers[index.living].tolist())
        stored = ask(
            "SELECT number FROM message WHERE namespace = ? AND user_id = ?"
            " UNION SELECT number FROM memory WHERE namespace = ? AND user_id = ? AND unrecorded_at IS NULL",
            *scope,
            *scope,
        )
        assert indexed == {row[0] for row in stored}


def check_acknowledged(acknowledged: Iterable[str], present: set[str]) -> None:
    """Acknowledged is a subset of present."""
    lost = set(acknowledged) - present
    assert not lost, f"{len(lost)} acknowledged ids are gone: {sorted(lost)[:3]}"
