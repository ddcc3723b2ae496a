"""What is looked up by a digest or a path goes by the index that was made for it, whatever else a scope holds."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from memhold.storage.sql.blocks import load_dialect
from memhold.storage.sqlite import connection

WHOSE = {"namespace": "default", "user_id": "alice"}
LOOKUPS = {
    "read_same_content": ("memory_digest", {"digest": b"d", "kind": "document", "agent_id": ""}),
    "read_paths": ("memory_path", {"first": "a\x1f", "after": -1, "until": "a ", "limit": 9}),
    "read_former_paths": ("memory_former_path", {"first": "a\x1f", "after": -1, "until": "a ", "limit": 9}),
}


@pytest.mark.parametrize("name", LOOKUPS)
def test_a_look_up_goes_by_its_index(name: str, tmp_path: Path) -> None:
    place = str(tmp_path / "m.db")
    connection.create_or_migrate(place, busy_timeout=1.0, now=0)
    index, params = LOOKUPS[name]
    explained = "EXPLAIN QUERY PLAN " + load_dialect("memhold.storage.sqlite")[name]
    [plan] = [row[3] for row in apsw.Connection(place).execute(explained, {**WHOSE, **params}) if "memory" in row[3]]
    assert f"USING INDEX {index} " in plan
    named = "digest=?" if index == "memory_digest" else "fact_key"
    assert named in plan, "and goes to the place, not through all of the scope"
