"""The whole REST API against its own description: no 500, no answer its schema forbids, none without a token."""

from __future__ import annotations

import json
from pathlib import Path

import httpx2
import pytest

from reality.outside import PYTHONS, python_with, run
from tests.interfaces.conftest import process
from tests.rest.test_serve_process import running

SEED, EXAMPLES = 0, 4
# What a schema cannot say is refused with 422: a note and a fact at once, a time before another, an unknown strategy.
LEFT_OUT = "positive_data_acceptance"


@pytest.mark.parametrize("authorized", [True, False], ids=["with a token", "without one"])
def test_the_api_holds_to_its_description(tmp_path: Path, *, authorized: bool) -> None:
    schemathesis = python_with(PYTHONS[0], "schemathesis", name="schemathesis")
    database = ("--db", str(tmp_path / "memory.db"))
    made = process("token", "create", *database, "--user", "alice", "--can", "read,write,admin", "--json")
    # It tries hundreds of tokens that do not count, which is more than one address may.
    with running(tmp_path, MEMHOLD_FAILED_PER_SECOND="100000") as server:
        bearer = {"Authorization": f"Bearer {json.loads(made.stdout)['secret']}"}
        description = httpx2.get(f"{server.url}/openapi.json", headers=bearer, timeout=30)
        (tmp_path / "openapi.json").write_bytes(description.content)
        paths = description.json()["paths"]
        operations = sum(len(verbs) for path, verbs in paths.items() if path != "/v1/changes/stream")
        command = [
            schemathesis, "-m", "schemathesis.cli", "run", str(tmp_path / "openapi.json"), "--url", server.url,
            *(("-H", f"Authorization: {bearer['Authorization']}") if authorized else ()),
            "--checks", "all", "--exclude-checks", LEFT_OUT, "--exclude-path", "/v1/changes/stream",
            "--max-examples", str(EXAMPLES if authorized else 1), "--seed", str(SEED), "--no-color",
            "--request-timeout", "60",
        ]  # fmt: skip
        done = run(command, seconds=600, cwd=tmp_path)
        assert done.code == 0, done.out[-6000:] + done.err[-2000:]
        assert "Stateful" in done.out
        assert f"Tested: {operations}" in done.out
        statuses = [line["status"] for line in server.lines if isinstance(line, dict) and line["event"] == "request"]
    assert not {status for status in statuses if status >= 500}
    if authorized:
        assert {200, 201, 404, 422} <= {*statuses}
    else:
        assert [status for status in statuses if status < 400] == [200], "nothing but the description was answered"
        assert 401 in statuses
