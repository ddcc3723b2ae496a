from __future__ import annotations

import json
from pathlib import Path

import pytest

from memhold.transfer.importing import Reading, import_file
from tests.transfer.samples import NOW, Ledger


@pytest.fixture
def ledger():
    return Ledger()


@pytest.fixture
def bring():
    async def run(ledger, path, **options):
        now, limits = options.pop("now", NOW), options.pop("limits", None)
        return await import_file(ledger, path, Reading(**options), now=now, limits=limits)

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
