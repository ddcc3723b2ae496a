"""What a store must hold after a fault: everything acknowledged, nothing half-applied, nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import apsw

from holdfast.packed import Block
from holdfast.unpacked import decode, verify

ORPHANS = {
    "a message without its session": """
        SELECT count(*) FROM message AS m LEFT JOIN session AS s
        ON s.namespace = m.namespace AND s.user_id = m.user_id AND s.session_id = m.session_id WHERE s.id IS NULL""",
    "a session whose counter is not its last message": """
        SELECT count(*) FROM session AS s WHERE s.last_seq <> (
          SELECT ifnull(max(m.seq), 0) FROM message AS m
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
        GROUP BY namespace, user_id, agent_id, subject, fact_key HAVING count(*) > 1)""",
    "a hole in the change numbers": """
        SELECT count(*) FROM namespace AS n WHERE n.change_seq <> (
          SELECT count(*) FROM change AS c WHERE c.namespace = n.namespace)""",
}


def check_whole(path: Path) -> set[str]:
    """Open the file as a stranger would, check that it is whole, and return the ids of what it holds."""
    connection = apsw.Connection(str(path))
    try:
        assert connection.execute("PRAGMA integrity_check").get == "ok"
        assert connection.execute("PRAGMA foreign_key_check").get is None
        for what, sql in ORPHANS.items():
            assert connection.execute(sql).get == 0, what
        _check_index(connection)
        found = {row[0] for row in connection.execute("SELECT id FROM message UNION ALL SELECT id FROM memory")}
    finally:
        connection.close()
    return found


def _check_index(connection: apsw.Connection) -> None:
    """Every message and memory has its document in the words index, and no document stands for nothing."""
    scopes = connection.execute("SELECT DISTINCT namespace, user_id FROM owner").fetchall()
    for scope in scopes:
        rows = connection.execute(
            "SELECT first, records, entries FROM word_block WHERE namespace = ? AND user_id = ? ORDER BY first", scope
        )
        blocks = [Block(first=first, records=records, entries=entries) for first, records, entries in rows]
        for block in blocks:
            verify(block)
        index = decode(blocks)
        indexed = set(index.numbers[index.living].tolist())
        stored = {
            row[0]
            for row in connection.execute(
                "SELECT number FROM message WHERE namespace = ?1 AND user_id = ?2"
                " UNION SELECT number FROM memory WHERE namespace = ?1 AND user_id = ?2 AND unrecorded_at IS NULL",
                scope,
            )
        }
        assert indexed == stored


def check_acknowledged(acknowledged: Iterable[str], present: set[str]) -> None:
    """Acknowledged is a subset of present."""
    lost = set(acknowledged) - present
    assert not lost, f"{len(lost)} acknowledged ids are gone: {sorted(lost)[:3]}"
