"""Commands that are forked end, die and read as processes that begin by themselves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from memhold import Memhold
from tests.command_line import forked
from tests.interfaces.conftest import process
from tests.rest.test_serve_process import TIMEOUT, running


def test_it_has_its_callers_folder_environment_and_streams(tmp_path: Path) -> None:
    env = {"MEMHOLD_DB": "here.db", "MEMHOLD_USER": "alice"}
    told = process("add", "--json", env=env, cwd=tmp_path, input='{"role": "user", "content": "I moved to Lisbon."}')
    assert told.returncode == 0, told.stderr
    with Memhold.open(tmp_path / "here.db", worker=False) as mem:
        assert [one.text for one in mem.scope(user="alice").messages()] == ["I moved to Lisbon."]
    unknown = process("get", "msg_none", env=env, cwd=tmp_path)
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert "msg_none" in unknown.stderr


def test_no_two_of_them_give_one_id(tmp_path: Path) -> None:
    line = [*forked(), "add", "--db", str(tmp_path / "m.db"), "--user", "alice", "--json", "hello"]
    process("add", "--db", str(tmp_path / "m.db"), "--user", "alice", "first")
    at_once = [subprocess.Popen(line, stdout=subprocess.PIPE) for _ in range(4)]
    ids = [json.loads(one.communicate(timeout=TIMEOUT)[0])["ids"][0] for one in at_once]
    assert len(set(ids)) == len(ids)


def answers(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/healthz", trust_env=False).status_code == 200
    except httpx2.TransportError:
        return False


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL])
def test_it_ends_as_its_caller_does(tmp_path: Path, sign: signal.Signals) -> None:
    """One that is told to end has told so; one that is killed is gone, and has told nothing."""
    with running(tmp_path, "--user", "alice") as server:
        if sign == signal.SIGKILL:
            server.kill()
        else:
            server.child.send_signal(sign)
        assert server.ended() == (0 if sign == signal.SIGTERM else -sign)
        assert not answers(server.url)
    assert [line["event"] for line in server.lines if line["event"] == "stopped"] == ["stopped"] * (
        sign == signal.SIGTERM
    )


def test_a_reader_that_has_seen_enough_is_no_failure() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*forked(), "--help"], stdout=write, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, check=False
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_bytes_that_are_no_text_are_read_as_a_process_of_its_own_reads_them() -> None:
    told = [
        subprocess.run(
            [*begun, "add", "--db", "memory://", "--json"], input=b"\xff no text", capture_output=True, timeout=TIMEOUT,
            check=False,
        )
        for begun in ((sys.executable, "-m", "memhold"), forked())
    ]  # fmt: skip
    assert [(one.returncode, one.stderr) for one in told[1:]] == [(told[0].returncode, told[0].stderr)]
