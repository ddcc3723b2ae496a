"""A standby is promoted under load: every acknowledged write is there, and the gap in service is measured."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest

from tests.postgres_server import Databases, Server
from tests.proofs.ledger import check_acknowledged, check_whole
from tests.proofs.test_postgres_crash import Child

ROUNDS = 30
DURABLE = {"fsync": "on", "full_page_writes": "on", "max_wal_senders": "4", "hot_standby": "on"}


@pytest.mark.proof
def test_a_promoted_standby_has_every_acknowledged_write(
    runs: Callable[[int, int], range], record_property: Callable[[str, object], None]
) -> None:
    for seed in runs(1, 20):
        primary = Server(settings=DURABLE | {"synchronous_commit": "remote_apply"})
        standby = None
        try:
            databases = Databases(primary)
            standby = Server(settings=DURABLE | {"synchronous_commit": "remote_apply"}, copy_of=primary)
            primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
            primary.sql("SELECT pg_reload_conf()")
            url = databases.store()
            both = url.replace(f"host={primary.folder}", f"host={primary.folder},{standby.folder}")
            child = Child(both, seed, rounds=ROUNDS)
            child.wait_for(20)
            primary.kill()
            lost_at, before = time.monotonic(), len(child.lines)
            standby.promote()
            promoted = time.monotonic() - lost_at
            assert child.end() == 0, "the failover was ridden out"
            assert child.lines[-1] == ["done"]
            after = [float(line[0]) for line in child.lines[before:] if line != ["done"]]
            assert after
            gap = {"promoted": round(promoted, 2), "gap": round(min(after) - lost_at, 2), "after": len(after)}
            record_property("gap", json.dumps(gap))
            print(f"seed {seed}: {gap}")
            present = check_whole(url.replace(str(primary.folder), str(standby.folder)))
            check_acknowledged([item for ids in child.acknowledged.values() for item in ids], present)
        finally:
            primary.stop()
            if standby is not None:
                standby.stop()
