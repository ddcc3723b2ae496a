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
    "read_fact_key": ("memory_wording", {"subject": "user", "attribute": "town", "agent_id": ""}),
    "read_paths": ("memory_path", {"first": "a\x1f", "after": -1, "until": "a ", "limit": 9}),
    "read_places": ("memory_path", {"first": "a\x1f", "until": "a "}),
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
    named = {"memory_digest": "digest=?", "memory_wording": "attribute=?"}.get(index, "fact_key")
    assert named in plan, "and goes to the place, not through all of the scope"


@pytest.mark.parametrize(
    ("name", "index", "params"),
    [
        ("read_derived", "memory_source_of", {"source_id": "msg_1"}),
        ("read_quoting", "PRIMARY KEY", {"item_id": "msg_1"}),
    ],
)
def test_what_names_an_item_is_looked_up_before_what_it_is(
    name: str, index: str, params: dict[str, str], tmp_path: Path
) -> None:
    """A forget asks this of everything that goes: read the other way round, each asks the whole scope."""
    place = str(tmp_path / "m.db")
    connection.create_or_migrate(place, busy_timeout=1.0, now=0)
    explained = "EXPLAIN QUERY PLAN " + load_dialect("memhold.storage.sqlite")[name]
    first, *rest = [row[3] for row in apsw.Connection(place).execute(explained, {**WHOSE, **params})]
    assert first.startswith(("SEARCH s ", "SEARCH q "))
    assert index in first
    [item] = [line for line in rest if line.startswith("SEARCH m ")]
    assert "AND id=?" in item or "AND number=?" in item
