"""Peers that find texts again, beside Memhold in one run: the same texts, questions and vectors, one at a time.

Each peer is a library that may be installed or not (`pip install mem0ai langgraph-checkpoint-sqlite chromadb`), and no
dependency. A row says what it finds, what a write and a question cost, and what its file says of durability.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from benchmarks.locomo import questions_of, samples_of
from benchmarks.measure import doing, percentile
from benchmarks.recall import AT, Asked, measured
from memhold.faces.python.open import AsyncMemhold
from memhold.providers.embedding.builtin.model import BuiltinEmbedding
from memhold.storage.sqlite.connection import connect
from memhold.text.analysis import analyse_query
from memhold.transfer.items import Batch

if TYPE_CHECKING:
    from memhold.verbs.scope import AsyncScope

__all__ = ["HEADER", "Line", "side_by_side_quality"]

HEADER = ("store", "R@1", "R@5", "R@10", "R@20", "add p50", "recall p50", "durable", "note")
_DEPTH = 60
_SYNCHRONOUS = {0: "OFF", 1: "NORMAL", 2: "FULL", 3: "EXTRA"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One store: R@k over all questions, seconds of a write and of a question, and how durable a write is.

    `missing` says that the peer is not installed, or how it failed; the numbers are then empty.
    """

    store: str
    recall: tuple[float, ...] = ()
    add_seconds: float = 0.0
    recall_seconds: float = 0.0
    durable: str = ""
    missing: str = ""

    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        if self.missing:
            return (self.store, *[""] * 7, self.missing)
        times = (f"{self.add_seconds * 1e3:.2f} ms", f"{self.recall_seconds * 1e3:.2f} ms")
        return (self.store, *(f"{value:.3f}" for value in self.recall), *times, self.durable, "")


class _Peer(Protocol):
    def add(self, user: str, name: str, text: str) -> None: ...
    def search(self, user: str, question: str) -> list[str]: ...
    def durable(self) -> str: ...


@dataclass(slots=True)
class _Taken:
    found: list[tuple[float, ...]] = field(default_factory=list)
    adds: list[float] = field(default_factory=list)
    recalls: list[float] = field(default_factory=list)

    def line(self, store: str, durable: str) -> Line:
        means = tuple(sum(one[at] for one in self.found) / max(len(self.found), 1) for at in range(len(AT)))
        half = (percentile(times, 0.5) for times in (self.adds, self.recalls))
        return Line(store=store, recall=means, add_seconds=next(half), recall_seconds=next(half), durable=durable)


async def side_by_side_quality(path: Path) -> list[Line]:
    """LoCoMo in each store, a conversation a user, every message written alone and every question asked once.

    Peers get "speaker: text" and vectors of the built-in embedding, which are counted in their time as in ours.

    Raises:
        UnreadableImport: the file is not LoCoMo.
    """
    batches, known = await asyncio.to_thread(samples_of, path)
    asked = await asyncio.to_thread(questions_of, path, known)
    with tempfile.TemporaryDirectory(prefix="memhold-bench-") as name:
        folder = Path(name)
        lines = [await _ours(folder, batches, asked)]
        texts = [(user, *told) for user, batch in batches for told in _told(batch)]
        for store, make in _PEERS.items():
            doing(store)
            place = folder / store.split()[0]
            place.mkdir()
            lines.append(await asyncio.to_thread(_theirs, store, make, place, texts, asked))
    return lines


def _told(batch: Batch) -> list[tuple[str, str]]:
    found = []
    for message in batch.messages:
        who = message.get("name")
        text = str(message["content"])
        found.append((str(message["metadata"]["source_id"]), f"{who}: {text}" if who else text))
    return found


async def _ours(folder: Path, batches: Sequence[tuple[str, Batch]], asked: Mapping[str, Sequence[Asked]]) -> Line:
    taken = _Taken()
    async with AsyncMemhold.open(f"{folder}/memhold.db", worker=False) as memhold:
        for user, batch in batches:
            scope = memhold.scope(user=user, session=batch.session)
            for message in batch.messages:
                await _timed(taken.adds, lambda s=scope, m=message: s.add([m]))  # type: ignore[misc]
        await memhold.settle(timeout=600)
        for user, questions in asked.items():
            scope = memhold.scope(user=user)
            for question in questions:
                names = await _timed(taken.recalls, lambda s=scope, q=question: _names(s, q))  # type: ignore[misc]
                taken.found.append(measured(names, question.evidence)[0])
    connection = connect(f"{folder}/memhold.db", busy_timeout=1.0)
    durable = _durable(*(connection.pragma(name) for name in ("journal_mode", "synchronous")))
    connection.close()
    return taken.line("Memhold", durable)


async def _names(scope: AsyncScope, question: Asked) -> list[str]:
    hits = (await scope.recall(question.text, limit=_DEPTH)).hits
    return [str(hit.metadata.get("source_id", hit.id)) for hit in hits]


async def _timed(into: list[float], work: Callable[[], Awaitable[Any]]) -> Any:
    began = time.perf_counter()
    found = await work()
    into.append(time.perf_counter() - began)
    return found


def _theirs(
    store: str,
    make: Callable[[Path], _Peer],
    folder: Path,
    texts: Sequence[tuple[str, str, str]],
    asked: Mapping[str, Sequence[Asked]],
) -> Line:
    try:
        return _measured(store, make(folder), texts, asked)
    except ImportError:
        return Line(store=store, missing="not installed")
    except Exception as error:  # noqa: BLE001 - a peer may raise anything; the others are measured all the same
        return Line(store=store, missing=f"failed: {type(error).__name__}: {str(error)[:100]}")


def _measured(
    store: str, peer: _Peer, texts: Sequence[tuple[str, str, str]], asked: Mapping[str, Sequence[Asked]]
) -> Line:
    taken = _Taken()
    for user, name, text in texts:
        began = time.perf_counter()
        peer.add(user, name, text)
        taken.adds.append(time.perf_counter() - began)
    for user, questions in asked.items():
        for question in questions:
            began = time.perf_counter()
            names = peer.search(user, question.text)
            taken.recalls.append(time.perf_counter() - began)
            taken.found.append(measured(names, question.evidence)[0])
    return taken.line(store, peer.durable())


def _durable(journal: object, synchronous: object) -> str:
    return f"SQLite, journal {journal}, synchronous {_SYNCHRONOUS.get(int(str(synchronous)), synchronous)}"


def _journal(folder: Path) -> str:
    """What the SQLite files below a folder say of themselves; how they sync, no file says."""
    import apsw

    modes = set()
    for path in folder.rglob("*"):
        if path.is_file() and path.read_bytes()[:15] == b"SQLite format 3":
            modes.add(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY).pragma("journal_mode"))
    return f"SQLite, journal {'/'.join(sorted(map(str, modes)))}; its own synchronous"


class _PlainFts5:
    def __init__(self, folder: Path) -> None:
        import apsw

        self._db = apsw.Connection(str(folder / "plain.db"))
        self._db.pragma("journal_mode", "wal")
        self._db.pragma("synchronous", 2)
        self._db.execute(
            "CREATE VIRTUAL TABLE told USING fts5(user UNINDEXED, name UNINDEXED, text, tokenize='porter')"
        )

    def add(self, user: str, name: str, text: str) -> None:
        self._db.execute("INSERT INTO told VALUES (?, ?, ?)", (user, name, text))

    def search(self, user: str, question: str) -> list[str]:
        words = " OR ".join(f'"{word.word.replace(chr(34), "")}"' for word in analyse_query(question))
        rows = self._db.execute(
            "SELECT name FROM told WHERE told MATCH ? AND user = ? ORDER BY rank LIMIT ?",
            (f"text:({words})", user, _DEPTH),
        )
        return [str(name) for (name,) in rows]

    def durable(self) -> str:
        return _durable(self._db.pragma("journal_mode"), self._db.pragma("synchronous"))


class _Chroma:
    def __init__(self, folder: Path) -> None:
        module: Any = import_module("chromadb")
        settings: Any = import_module("chromadb.config").Settings(anonymized_telemetry=False)
        self._client = module.PersistentClient(path=str(folder), settings=settings)
        self._folder, self._held, self._table = folder, dict[str, Any](), BuiltinEmbedding()

    def _of(self, user: str) -> Any:
        if user not in self._held:
            space = {"hnsw:space": "cosine"}
            self._held[user] = self._client.create_collection(user, metadata=space, embedding_function=None)
        return self._held[user]

    def add(self, user: str, name: str, text: str) -> None:
        vectors = self._table.vectors([text]).tolist()
        self._of(user).add(ids=[name], documents=[text], embeddings=vectors)

    def search(self, user: str, question: str) -> list[str]:
        vectors = self._table.vectors([question]).tolist()
        found = self._of(user).query(query_embeddings=vectors, n_results=_DEPTH, include=[])
        return [str(name) for name in found["ids"][0]]

    def durable(self) -> str:
        return _journal(self._folder)


class _LangGraph:
    def __init__(self, folder: Path) -> None:
        module: Any = import_module("langgraph.store.sqlite")
        table = BuiltinEmbedding()
        index = {"dims": table.dimension, "embed": lambda texts: table.vectors(texts).tolist(), "fields": ["text"]}
        self._open = module.SqliteStore.from_conn_string(str(folder / "langgraph.db"), index=index)
        self._store = self._open.__enter__()
        self._store.setup()

    def add(self, user: str, name: str, text: str) -> None:
        self._store.put((user,), name, {"text": text})

    def search(self, user: str, question: str) -> list[str]:
        return [str(item.key) for item in self._store.search((user,), query=question, limit=_DEPTH)]

    def durable(self) -> str:
        settings = (
            self._store.conn.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")
        )
        return _durable(*settings)


class _Mem0:
    def __init__(self, folder: Path) -> None:
        os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(folder / "home"))
        module: Any = import_module("mem0")
        table = BuiltinEmbedding()
        # The clients are made and never called: infer=False asks no model, and the embedder is ours.
        client = {"provider": "openai", "config": {"api_key": "none"}}
        chroma = {"collection_name": "bench", "path": str(folder / "chroma")}
        self._memory = module.Memory.from_config(
            {
                "vector_store": {"provider": "chroma", "config": chroma},
                "llm": client,
                "embedder": client,
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.embedding_model = _Mem0Embedder(table, self._memory.embedding_model.config)
        self._folder = folder

    def add(self, user: str, name: str, text: str) -> None:
        self._memory.add([{"role": "user", "content": text}], user_id=user, infer=False, metadata={"name": name})

    def search(self, user: str, question: str) -> list[str]:
        found = self._memory.search(question, filters={"user_id": user}, top_k=_DEPTH, threshold=0.0)
        return [str(item["metadata"]["name"]) for item in found["results"]]

    def durable(self) -> str:
        return _journal(self._folder)


class _Mem0Embedder:
    def __init__(self, table: BuiltinEmbedding, config: Any) -> None:
        self._table, self.config = table, config

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        del memory_action
        vector: list[float] = self._table.vectors([text])[0].tolist()
        return vector

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text, memory_action) for text in texts]


_PEERS: Mapping[str, Callable[[Path], _Peer]] = {
    "FTS5, plain": _PlainFts5,
    "Chroma": _Chroma,
    "LangGraph SqliteStore": _LangGraph,
    "mem0 (infer=False)": _Mem0,
}
