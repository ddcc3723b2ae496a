"""What a stranger uploads holds up nobody: it is read in a process of its own, and what is over a limit says so."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from memhold.faces.rest import data
from memhold.transfer.apart import Bounds
from tests.rest.serving import Live

OPERATIONS = 300_000


def palace(path: Path, *, entities: int, triples: int) -> bytes:
    """A knowledge graph of MemPalace's in which every entity has one id."""
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE entities (id TEXT, name TEXT)")
    base.execute("CREATE TABLE triples (id TEXT, subject TEXT, predicate TEXT, object TEXT)")
    base.executemany("INSERT INTO entities VALUES ('e', ?)", [(f"n{number}",) for number in range(entities)])
    base.executemany("INSERT INTO triples VALUES (?, 'e', 'is', 'e')", [(f"t{number}",) for number in range(triples)])
    base.commit()
    base.close()
    return path.read_bytes()


def points(path: Path, *pickles: bytes) -> bytes:
    """A collection of Qdrant's, each point a pickle."""
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE points (id TEXT PRIMARY KEY, point BLOB)")
    base.executemany("INSERT INTO points VALUES (?, ?)", [(str(place), one) for place, one in enumerate(pickles)])
    base.commit()
    base.close()
    return path.read_bytes()


SLOW = b"]0" * (OPERATIONS // 2) + b"N."


def lines(count: int) -> bytes:
    return b"".join(json.dumps({"role": "user", "content": f"line {n}"}).encode() + b"\n" for n in range(count))


async def send(client: httpx2.AsyncClient, body: bytes, **query: Any) -> httpx2.Response:
    headers = {"content-type": "application/octet-stream"}
    return await client.post("/v1/import", content=body, params=query, headers=headers, timeout=300)


async def test_others_are_answered_while_an_upload_is_read(server: Live, tmp_path: Path) -> None:
    async with server.client(await server.token(user="mallory")) as mallory, server.client() as other:
        sent = asyncio.create_task(send(mallory, points(tmp_path / "p", *[SLOW] * 3), on_error="skip"))
        answered = 0
        while not sent.done():
            assert (await other.get("/healthz")).status_code == 200
            answered += 1
        assert sent.result().json()["skipped"] == 3
    # Read on the loop, it is one step of seconds, before and after which a request is answered.
    assert answered > 50


async def test_entities_of_one_id_are_no_join(server: Live, tmp_path: Path) -> None:
    async with server.client(await server.token(user="alice")) as alice:
        told = await send(alice, palace(tmp_path / "kg", entities=300, triples=2))
    assert (told.status_code, told.json()["read"]) == (200, 2)


@pytest.mark.parametrize(
    ("bounds", "named"),
    [
        ({"seconds": 1}, "1 seconds of processor time"),
        ({"memory": 150 * 1024 * 1024}, "bytes of memory"),
        ({"least": 40_000}, "bytes by which it may grow the store"),
    ],
)
async def test_a_limit_names_itself_and_what_came_in_stays(
    server: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bounds: dict[str, int], named: str
) -> None:
    monkeypatch.setattr(data, "Bounds", partial(Bounds, **bounds))
    deep = b'{"role": "user", "content": [' + b"[]," * 3_000_000 + b"[]]}"
    body = {"seconds": points(tmp_path / "p", *[SLOW] * 20), "memory": deep, "least": lines(200)}[next(iter(bounds))]
    async with server.client(await server.token(user="alice")) as alice:
        told = await send(alice, body, on_error="skip", batch=10)
        assert told.status_code == 422, told.text
        assert named in told.json()["detail"]
        assert told.json()["values"]["path"] == "the upload"
    page = await server.memhold.scope(user="alice").recall("line", limit=50)
    assert len(page.hits) % 10 == 0
    assert bool(page.hits) == ("least" in bounds)


async def test_a_store_grows_by_no_more_than_ten_times_what_was_sent(server: Live) -> None:
    under_a_long_heading = b"# " + b"word " * 16_000 + b"\n" + b"".join(b"- item %d\n" % n for n in range(300))
    async with server.client(await server.token(user="alice")) as alice:
        told = await send(alice, under_a_long_heading)
    assert (told.status_code, told.json()["read"]) == (200, 300)
    held = (await server.memhold.scope(user="alice").list(kinds=["note"], limit=300)).items
    assert sum(len(json.dumps(dict(one.metadata))) + len(one.text) for one in held) < 10 * len(under_a_long_heading)


async def test_the_death_of_the_reading_process_is_told(server: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = subprocess.Popen

    def killed(*command: Any, **given: Any) -> subprocess.Popen[bytes]:
        process = begun(*command, **given)
        os.kill(process.pid, signal.SIGKILL)
        return process

    async with server.client(await server.token(user="alice")) as alice:
        monkeypatch.setattr(subprocess, "Popen", killed)
        told = await send(alice, lines(3))
        assert told.status_code == 422
        assert "signal 9" in told.json()["detail"]
        monkeypatch.undo()
        assert (await send(alice, lines(3))).json()["added"] == 3
