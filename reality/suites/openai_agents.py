"""The tests of OpenAI's Agents SDK of its sessions, with `MemholdSession` in place of the one in SQLite."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent / "runner"))

import agents
from running import run  # type: ignore[import-not-found]

from memhold import Memhold
from memhold.integrations.openai_agents import MemholdSession

ABOUT_SQL = {
    r"corrupt|lock|rollback|rolls_back|connection|post_commit|quarantined|await_mutation|closed_rejects_empty": (
        "the SQL of OpenAI's session: its connections, locks and rows"
    )
}
STORES: dict[str, Memhold] = {}


class SQLiteSession(MemholdSession):
    """A session as the tests make it; those of one file are of one store."""

    def __init__(self, session_id: str, db_path: Any = ":memory:", **more: Any) -> None:
        place = str(db_path)
        mem = Memhold.open("memory://", worker=False) if place == ":memory:" else STORES.get(place)
        if mem is None:
            mem = STORES[place] = Memhold.open(place, worker=False)
        super().__init__(session_id, mem, user="alice", **more)

    def close(self) -> None:
        """Nothing: the store stays open."""


if __name__ == "__main__":
    agents.SQLiteSession = SQLiteSession
    files = ["tests/memory/test_session.py", "tests/memory/test_session_limit.py"]
    passed = run(Path(sys.argv[1]), files, about_others=ABOUT_SQL, more=())
    for mem in STORES.values():
        mem.close()
    sys.exit(0 if passed else 1)
