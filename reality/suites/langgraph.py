"""LangGraph's tests of its stores, in memory and in SQLite, with `MemholdStore` in their place."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent / "runner"))

import langgraph.store.memory
import langgraph.store.sqlite
from langgraph.store.base import Op, Result
from running import run  # type: ignore[import-not-found]

from memhold import Memhold
from memhold.integrations.langgraph import MemholdStore

EMBEDDER = "LangGraph's own embedding of letters: its vectors, scores and tables"
IN_MEMORY = {r"test_embed_with_path\b|vector_search_with_filters": EMBEDDER}
IN_SQLITE = {
    r"test_vector_store_initialization|test_embed_with_path|test_scores|vector_search_with_filters": EMBEDDER,
    r"nonnull_migrations|escape_glob|namespace_match_pattern|uses_indexable_condition": "the SQL of LangGraph's store",
}


class InMemoryStore(MemholdStore):
    """A store of its own, whose vectors are made as soon as something is put."""

    def __init__(self, *, index: Any = None, ttl: Any = None) -> None:
        self.mem = Memhold.open("memory://", worker=False)
        super().__init__(self.mem.scope(user="alice"), index=index, ttl=ttl)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """`MemholdStore.batch`."""
        done = super().batch(ops)
        self.mem.settle()
        return done

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """`MemholdStore.abatch`."""
        done = await super().abatch(ops)
        self.mem.settle()
        return done


class SqliteStore(InMemoryStore):
    """The same, opened as LangGraph's store for SQLite is."""

    @classmethod
    @contextmanager
    def from_conn_string(cls, _place: str, *, index: Any = None, ttl: Any = None) -> Iterator[SqliteStore]:
        """An empty store."""
        store = cls(index=index, ttl=ttl)
        yield store
        store.mem.close()

    def setup(self) -> None:
        """Nothing: it is ready."""


if __name__ == "__main__":
    langgraph.store.memory.InMemoryStore = InMemoryStore
    langgraph.store.sqlite.SqliteStore = SqliteStore
    unpacked = Path(sys.argv[1])
    others = IN_SQLITE if "sqlite" in unpacked.name else IN_MEMORY
    sys.exit(0 if run(unpacked, ["tests/test_store.py"], about_others=others) else 1)
