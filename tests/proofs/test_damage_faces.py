"""A file that rotted, by the command line and over HTTP: what a person and a client see is no raw error.

Each run damages one finished file in one way, as test_damage.py does. Every command ends with an exit code of ours, every
request with an answer or a problem that names an error of ours; what a command leaves out it says.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from memhold.cli.main import cli
from memhold.errors import MemholdError
from tests.proofs.test_damage import PLAIN, damaged, planted
from tests.rest.serving import live

OF_TIME = {"expires_at", "last_confirmed_at", "last_recalled", "evidence", "snapshot", "cursor"}
"""What an answer says of time and use: it moves by being asked."""
COMPARED = {"messages", "list", "sessions", "history", "get"}


def commands(ids: list[str], folder: Path) -> Iterator[tuple[str, list[str]]]:
    own = ["--user", "alice", "--json"]
    yield "messages", ["messages", "--session", "s", *own]
    yield "list", ["list", *own]
    yield "sessions", ["sessions", *own]
    yield "status", ["status", *own]
    yield "get", ["get", ids[3], *own]
    yield "history", ["history", ids[-1], *own]
    yield "recall", ["recall", "gardening in winter", *own]
    yield "context", ["context", "--session", "s", *own]
    yield "export", ["export", str(folder / "export.jsonl"), *own]
    yield "forget", ["forget", "--everything", "--dry-run", *own]
    yield "doctor", ["doctor", "--json"]
    yield "backup", ["backup", str(folder / "backup")]
    yield "add", ["add", "hello there", "--session", "s", *own]
    yield "settle", ["settle"]
    yield "repair", ["doctor", "--repair", "rows", "--json"]
    yield "reindex", ["reindex"]


REQUESTS: tuple[tuple[str, str, Mapping[str, Any] | None], ...] = (
    ("GET", "/v1/messages?session=s&limit=100", None),
    ("GET", "/v1/memories?limit=100", None),
    ("GET", "/v1/changes?limit=100", None),
    ("GET", "/v1/sessions", None),
    ("GET", "/v1/status", None),
    ("POST", "/v1/recall", {"query": "gardening in winter", "limit": 50}),
    ("POST", "/v1/context", {"messages": [{"role": "user", "content": "gardening"}], "budget": 4000}),
    ("POST", "/v1/memories", {"text": "a new note"}),
    ("POST", "/v1/forget", {"everything": True, "dry_run": True}),
)


def by_commands(path: Path, ids: list[str], folder: Path) -> tuple[dict[str, Any], list[str], bool]:
    """What the compared commands printed that said nothing beside it, what must not be, and whether doctor is content."""
    plain: dict[str, Any] = {}
    content = True
    wrong: list[str] = []
    for name, given in commands(ids, folder):
        done = CliRunner().invoke(cli, [*given, "--db", str(path)])
        error = done.exception
        if not isinstance(error, MemholdError | SystemExit | None):
            wrong.append(f"{name}: {error!r:.100} at {traceback.extract_tb(error.__traceback__)[-1]}")
        elif done.exit_code not in {0, 1, 2, 3}:
            wrong.append(f"{name}: exit code {done.exit_code}")
        elif name in COMPARED and not done.exit_code and not done.stderr.strip():
            plain[name] = timeless(json.loads(done.stdout))
        elif name == "doctor":
            content = not done.exit_code
    return plain, wrong, content


def timeless(plain: Any) -> Any:
    if isinstance(plain, dict):
        return {name: timeless(value) for name, value in plain.items() if name not in OF_TIME}
    return [timeless(one) for one in plain] if isinstance(plain, list) else plain


async def by_requests(path: Path) -> list[str]:
    """What must not be: a refusal that names no error of ours."""
    wrong: list[str] = []
    async with (
        live(str(path), **{name: value for name, value in PLAIN.items() if name != "worker"}) as server,
        server.client(await server.token(user="alice")) as client,
    ):
        for method, url, body in REQUESTS:
            answer = await client.request(method, url, json=body)
            named = answer.status_code < 400 or answer.json()["type"].startswith("urn:memhold:problem:")
            if answer.status_code == 500 or not named:
                wrong.append(f"{method} {url}: {answer.text:.200}")
    return wrong


@pytest.mark.proof
def test_a_damaged_file_raises_nothing_raw_on_any_face(
    tmp_path: Path,
    runs: Callable[[int, int], range],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MEMHOLD_EMBEDDING", "none")
    whole = tmp_path / "whole.db"
    ids = asyncio.run(planted(whole))
    data = whole.read_bytes()
    silent: list[str] = []
    clean: dict[str, Any] = {}
    for run in range(-1, len(runs(2, 200))):
        folder = tmp_path / f"r{run}"
        folder.mkdir(mode=0o700)
        path = folder / "memory.db"
        spoilt = data if run < 0 else damaged(data, Random(f"faces {run}"))
        path.write_bytes(spoilt)
        path.chmod(0o600)
        try:
            silent += [f"{run}: {one}" for one in asyncio.run(by_requests(path))]
        except MemholdError:
            assert run >= 0
        path.write_bytes(spoilt)
        for end in ("-wal", "-shm"):
            Path(f"{path}{end}").unlink(missing_ok=True)
        plain, wrong, content = by_commands(path, ids, folder)
        clean = clean or plain
        silent += [f"{run}: {one}" for one in wrong]
        other = [name for name, answer in plain.items() if answer != clean[name]]
        # Where the trees of the file are damaged and not a row, SQLite reads on beside what it cannot reach.
        if other and content:
            silent.append(f"{run}: {other}")
        shutil.rmtree(folder)
    assert clean.keys() == COMPARED
    assert not silent, "\n".join(silent)
