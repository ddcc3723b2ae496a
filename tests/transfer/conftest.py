from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast.transfer.importing import import_file

NOW = datetime(2025, 6, 1, 12, tzinfo=UTC)


class Killed(Exception):
    """The process ended between two batches."""


class Ledger:
    """A store as an import sees it: messages by session, memories, and the keys it has had."""

    def __init__(self) -> None:
        self.sessions: dict[str, list[dict]] = {}
        self.memories: list[tuple] = []
        self.keys: set[str] = set()
        self.batches = 0
        self.dies_after: int | None = None

    async def add(self, batch):
        assert len(batch.messages) == len(batch.keys) == len(batch.source_ids) > 0
        if self.dies_after is not None and self.batches >= self.dies_after:
            raise Killed
        self.batches += 1
        new = 0
        for message, key in zip(batch.messages, batch.keys, strict=True):
            if key not in self.keys:
                self.keys.add(key)
                self.sessions.setdefault(batch.session, []).append(dict(message))
                new += 1
        return new

    async def restore(self, restored):
        if restored.key in self.keys:
            return 0
        self.keys.add(restored.key)
        self.memories.append(restored.revisions)
        return 1

    @property
    def all(self) -> list[dict]:
        return [message for session in self.sessions.values() for message in session]

    def said(self, session: str | None = None) -> list:
        return [m["content"] for m in (self.all if session is None else self.sessions[session])]


@pytest.fixture
def ledger():
    return Ledger()


@pytest.fixture
def bring():
    async def run(ledger, path, **options):
        return await import_file(ledger, path, now=options.pop("now", NOW), **options)

    return run


@pytest.fixture
def put(tmp_path):
    """Write a file: bytes as they are, text as UTF-8, a list of dicts as JSONL, `doc=` as one JSON document."""

    def write(content=None, *, name="file", doc=None) -> Path:
        path = tmp_path / name
        if doc is not None:
            content = json.dumps(doc, ensure_ascii=False)
        if isinstance(content, list):
            content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
