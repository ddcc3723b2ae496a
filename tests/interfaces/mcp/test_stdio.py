"""`memhold mcp` as a client starts it: a process on standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import apsw
import pytest

from memhold import Memhold
from memhold.cli.options import default_db
from memhold.faces.mcp.install import launcher
from memhold.faces.mcp.trial import try_start
from memhold.faces.remote.local_token import local_token_of
from memhold.testing.chaos import ChaosServer
from tests.interfaces.mcp.conftest import (
    HANDSHAKE,
    INITIALIZED,
    MODES,
    call,
    entries_of,
    environment,
    ids_in,
    over_stdio,
    refused,
    request,
    started,
)
from tests.rest.test_serve_process import running

SERVE = [sys.executable, "-m", "memhold", "mcp"]


def spoken(
    folder: Path, *lines: bytes, options: tuple[str, ...] = (), **more: str
) -> subprocess.CompletedProcess[bytes]:
    """What the server answers to these lines, and then to the end of its input."""
    env = {"PATH": os.environ["PATH"], **environment(folder, **more)}
    return subprocess.run(
        [*SERVE, *options], input=b"".join(lines), capture_output=True, env=env, cwd=folder, timeout=60, check=False
    )


def answers(done: subprocess.CompletedProcess[bytes]) -> dict[Any, Any]:
    return {one.get("id"): one for one in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("mode", MODES)
async def test_a_session_with_nothing_configured(mode: str, tmp_path: Path) -> None:
    async with over_stdio(tmp_path, mode=mode, alone=True) as client:
        assert client.protocol_version == mode
        assert client.server_info is not None
        assert client.server_info.name == "memhold"
        assert len((await client.list_tools()).tools) == 10
        saved = await call(client, "add_memory", prompt="I moved to Lisbon.", response="Nice!")
        found = await call(client, "recall", query="Lisbon")
        assert ids_in(found)[0] == ids_in(saved)[0]
        assert "(add, " in await call(client, "memory_history", item_id=ids_in(saved)[0])
        assert "Lisbon" in await call(client, "get_context", message="Where do I live?")
    made = tmp_path / Path(default_db()).relative_to(Path.home())
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert stat.S_IMODE(made.parent.stat().st_mode) == 0o700
    assert (tmp_path / "stderr.txt").read_text() == ""


async def test_whose_memory_it_is_comes_from_the_command_line(tmp_path: Path) -> None:
    db = str(tmp_path / "memory.db")
    async with over_stdio(tmp_path, "--db", db, "--namespace", "acme", "--user", "alice", "--session", "s1") as client:
        await call(client, "add_message", text="alice was here")
    async with over_stdio(tmp_path, "--db", db, "--namespace", "acme", "--user", "bob") as client:
        assert await call(client, "recall", query="alice") == "Nothing matches."
    async with over_stdio(tmp_path, "--db", db, MEMHOLD_NAMESPACE="acme", MEMHOLD_USER="alice") as client:
        assert entries_of(await call(client, "recall", query="alice", session="s1"))
        assert not entries_of(await call(client, "recall", query="alice", session="s2"))
    async with over_stdio(tmp_path, "--db", db, "--namespace", "acme", "--user", "alice", "--read-only") as client:
        assert "right to write" in await refused(client, "add_message", text="x")


async def test_two_processes_on_one_file_lose_nothing(tmp_path: Path) -> None:
    db = str(tmp_path / "memory.db")
    async with (
        over_stdio(tmp_path, "--db", db, "--user", "a") as one,
        over_stdio(tmp_path, "--db", db, "--user", "a") as two,
    ):
        done = await asyncio.gather(
            *(call(one, "add_message", text=f"one {n}", session="one") for n in range(30)),
            *(call(two, "add_message", text=f"two {n}", session="two") for n in range(30)),
            call(one, "remember", attribute="favorite food", value="sushi"),
            call(two, "remember", attribute="favorite food", value="ramen"),
        )
        seen = [await call(client, "memory_status") for client in (one, two)]
        food = [await call(client, "recall", query="favorite food", kinds=["fact"]) for client in (one, two)]
    assert len({ids_in(said)[0] for said in done[:60]}) == 60
    assert [status.startswith("60 messages in 2 sessions") for status in seen] == [True, True]
    assert [len(entries_of(found)) for found in food] == [1, 1]


async def test_work_is_done_behind_the_answers(tmp_path: Path) -> None:
    """The worker runs inside: what is saved gets its vectors while the connection is open."""
    async with over_stdio(tmp_path, "--db", "memory.db") as client:
        await call(client, "add_memory", prompt="I moved to Lisbon.", response="Nice!")
        async with asyncio.timeout(120):
            while "Work that is due" in await call(client, "memory_status"):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
    with Memhold.open(tmp_path / "memory.db", worker=False) as mem:
        found = mem.scope().recall("Lisbon")
    assert found.lag == {}
    assert any(why.signal == "meaning" for hit in found.hits for why in hit.why)


def test_everything_that_was_asked_before_the_input_ends_is_answered(tmp_path: Path) -> None:
    """A script that pipes its requests in closes the pipe behind the last one."""
    writes = [request(n, "tools/call", name="add_message", arguments={"text": f"line {n}"}) for n in range(10, 30)]
    cancelled = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}\n'
    done = spoken(tmp_path, HANDSHAKE, INITIALIZED, *writes, cancelled, options=("--db", "memory.db"))
    assert done.returncode == 0, done.stderr
    found = answers(done)
    assert set(found) == {1, *range(10, 30)}
    assert not any(found[n]["result"]["isError"] for n in range(10, 30))
    with Memhold.open(tmp_path / "memory.db", worker=False) as mem:
        assert {message.text for message in mem.scope().messages()} == {f"line {n}" for n in range(10, 30)}


def test_standard_output_carries_the_protocol_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "broken.db").write_text("this is no store, and it is longer than a header of one\n" * 10)
    done = spoken(
        tmp_path,
        HANDSHAKE,
        INITIALIZED,
        b"this is no JSON\n",
        b'{"jsonrpc": "2.0", "id": 7}\n',
        b"\xff\xfe\n",
        request(8, "tools/list"),
        request(9, "tools/call", name="memory_status", arguments={}),
        options=("--db", "broken.db"),
    )
    found = answers(done)
    assert found[1]["result"]["protocolVersion"] == "2025-11-25"
    assert len(found[8]["result"]["tools"]) == 10
    assert found[9]["result"]["isError"] is True
    assert done.returncode == 0
    assert (tmp_path / "broken.db").read_text().startswith("this is no store")


async def test_a_store_that_cannot_be_opened_is_said_and_tried_again(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    db.write_text("this is no store, and it is longer than a header of one\n" * 10)
    async with over_stdio(tmp_path, "--db", str(db)) as client:
        said = await refused(client, "add_message", text="x")
        assert "cannot be opened" in said
        assert "Tell the user" in said
        db.unlink()
        await call(client, "add_message", text="x")
    assert "cannot be opened" in (tmp_path / "stderr.txt").read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(tmp_path: Path, number: int) -> None:
    env = {"PATH": os.environ["PATH"], **environment(tmp_path)}
    command = [*SERVE, "--db", "memory.db"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, cwd=tmp_path) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(
            HANDSHAKE + INITIALIZED + request(2, "tools/call", name="add_message", arguments={"text": "kept"})
        )
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        assert json.loads(process.stdout.readline())["result"]["isError"] is False
        process.send_signal(number)
        assert process.wait(60) == 0
    # Closed in order: the log was taken into the file and is gone.
    assert not (tmp_path / "memory.db-wal").exists()
    with Memhold.open(tmp_path / "memory.db", worker=False) as mem:
        assert [message.text for message in mem.scope().messages()] == ["kept"]


def test_the_list_of_tools_needs_little_of_the_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Codex leaves out a server that takes over a second to list its tools. What is loaded is judged, the time printed."""
    env = {"PATH": os.environ["PATH"], **environment(tmp_path)}
    command = [sys.executable, "-X", "importtime", "-m", "memhold", "mcp", "--db", "memory.db", "--project", "auto"]
    (tmp_path / ".git").mkdir()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, cwd=tmp_path
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(HANDSHAKE + INITIALIZED + request(2, "tools/list"))
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        assert len(json.loads(process.stdout.readline())["result"]["tools"]) == 10
        process.kill()
        loaded = {line.rpartition("|")[2].strip() for line in process.stderr.read().decode().splitlines()}
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    with capsys.disabled():
        print(f"\ninitialize and tools/list: {spent:.2f} s of processor time, {len(loaded)} modules")
    assert "memhold.faces.mcp.stdio" in loaded
    heavy = {"mcp", "mcp_types", "pydantic", "anyio", "apsw", "numpy", "httpx2", "rich", "memhold.faces.python.open"}
    assert loaded & heavy == set()
    # What only a call, or installing, needs: each is a tenth of what is left.
    assert loaded & {f"memhold.{one}" for one in ("faces.mcp.calls", "values.answers", "faces.mcp.install")} == set()


def test_the_settings_of_a_repository_are_not_read(tmp_path: Path) -> None:
    """A client starts it in whatever was cloned: a model that is named there would be sent the user's memory."""
    repository, home = tmp_path / "cloned", tmp_path / "home"
    for folder in (repository / ".git", home):
        folder.mkdir(parents=True)
    (repository / "memhold.toml").write_text("no_such_setting = 1\n")
    asked = HANDSHAKE + INITIALIZED + request(2, "tools/call", name="memory_status", arguments={})
    for options, read in ((("--db", "m.db", "--project", "auto"), False), (("--db", "m.db"), True)):
        said = answers(spoken(repository, asked, options=options, HOME=str(home)))[2]["result"]["content"][0]["text"]
        assert ("no_such_setting" in said) == read, said
    assert (repository / "m.db").exists()


def test_no_module_of_a_repository_is_run(tmp_path: Path) -> None:
    """As a coding agent starts it, also where an empty entry of PYTHONPATH makes the folder a place of modules."""
    ran = tmp_path / "ran"
    (tmp_path / "cloned").mkdir()
    for name in ("asyncio", "json", "memhold", "sitecustomize"):
        (tmp_path / "cloned" / f"{name}.py").write_text(f"open({str(ran)!r}, 'a').write({name!r})\n")
    command = [*launcher(in_folder=True), "mcp", "--project", "auto", "--db", str(tmp_path / "memory.db")]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": ":/opt/x"}
    seen = try_start(command, environment=env, folder=tmp_path / "cloned", seconds=60)
    assert (seen.problem, len(seen.tools), ran.exists()) == (None, 10, False)


def test_the_end_waits_for_no_model_and_gives_its_work_back(tmp_path: Path) -> None:
    """With the setting of this test it would last an hour: the client waits for the end of the server."""
    db = tmp_path / "memory.db"
    with Memhold.open(db, worker=False) as mem:
        mem.scope(user="alice", session="s1").add([{"role": "user", "content": "I moved to Bergen in May."}])
        mem.scope(user="alice", session="s1").end_session()
    with ChaosServer() as model:
        model.always("hang")
        more = {"MEMHOLD_CONSOLIDATION": f"{model.url}/v1#hanging", "MEMHOLD_DRAIN_SECONDS": "3600"}
        env = {"PATH": os.environ["PATH"], **environment(tmp_path, **more)}
        with subprocess.Popen(
            [*SERVE, "--db", "memory.db"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, cwd=tmp_path
        ) as server:
            assert server.stdin is not None
            server.stdin.write(HANDSHAKE + INITIALIZED + request(2, "tools/call", name="memory_status", arguments={}))
            server.stdin.flush()
            try:
                while not model.requests:
                    assert server.poll() is None
                    time.sleep(0.01)
                server.stdin.close()
                assert server.wait(60) == 0
            finally:
                server.kill()
    with Memhold.open(db, worker=False) as mem:
        found = mem.scope(user="alice").status()
    assert (found.leased, found.due["redo"]) == (0, 1)


def test_a_store_that_a_server_keeps_is_served_too(tmp_path: Path) -> None:
    with running(tmp_path, "--user", "alice") as server:
        token = local_token_of(server.url)
        assert token is not None
        asked = HANDSHAKE + INITIALIZED + request(2, "tools/call", name="remember", arguments={"text": "Likes tea"})
        said = answers(spoken(tmp_path, asked, options=("--db", server.url, "--user", "alice"), MEMHOLD_TOKEN=token))[2]
        assert not said["result"]["isError"], said
        with Memhold.open(server.url) as mem:
            assert [one.text for one in mem.scope(user="alice").list().items] == ["Likes tea"]


def test_what_is_printed_by_accident_goes_where_the_logs_go(tmp_path: Path) -> None:
    code = (
        "import os, sys; from memhold.faces.mcp import stdio\n"
        "listing = stdio.kept_listing\n"
        "def noisy():\n"
        "    print('printed', flush=True); os.write(1, b'written'); assert sys.stdin.read() == ''\n"
        "    return listing()\n"
        "taken = stdio._Wire\n"
        "def wire():\n"
        "    made = taken(); noisy(); return made\n"
        "stdio._Wire = wire\n"
        "from memhold.cli.main import main; sys.exit(main(['mcp', '--db', 'memory.db']))"
    )
    env = {"PATH": os.environ["PATH"], **environment(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=HANDSHAKE,
        capture_output=True,
        env=env,
        cwd=tmp_path,
        timeout=60,
        check=True,
    )
    (line,) = done.stdout.splitlines()
    assert json.loads(line)["id"] == 1
    assert {b"printed", b"written"} <= {*done.stderr.replace(b"written", b"written\n").split()}


def test_a_session_that_calls_no_tool_is_over_before_its_store_is_opened(tmp_path: Path) -> None:
    code = (
        "import sys; from memhold.faces.mcp import stdio; stdio.OPENED_AFTER = 3600\n"
        "from memhold.cli.main import main; sys.exit(main(['mcp', '--db', 'memory.db']))"
    )
    env = {"PATH": os.environ["PATH"], **environment(tmp_path)}
    listed = HANDSHAKE + INITIALIZED + request(2, "tools/list")
    for asked, opened in ((listed, False), (listed + request(3, "tools/call", name="memory_status"), True)):
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=asked,
            capture_output=True,
            env=env,
            cwd=tmp_path,
            check=True,
            timeout=60,
        )
        assert len(answers(done)[2]["result"]["tools"]) == 10
        assert (tmp_path / "memory.db").exists() == opened


def test_it_needs_no_extra(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['mcp'] = sys.modules['mcp_types'] = sys.modules['anyio'] = None\n"
        "from memhold.cli.main import main; sys.exit(main(['mcp', '--db', 'memory.db']))"
    )
    env = {"PATH": os.environ["PATH"], **environment(tmp_path)}
    asked = HANDSHAKE + INITIALIZED + request(2, "tools/call", name="add_message", arguments={"text": "kept"})
    done = subprocess.run(
        [sys.executable, "-c", code], input=asked, capture_output=True, env=env, cwd=tmp_path, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert answers(done)[2]["result"]["isError"] is False


def test_where_the_light_import_fails_the_whole_sdk_is_loaded(tmp_path: Path) -> None:
    code = (
        "import sys; from memhold.faces.mcp import light\n"
        "light._bare = lambda name: sys.modules.__setitem__(name, None)\n"
        "light.load_sdk(); import mcp; print(mcp.Client.__name__)"
    )
    env = {"PATH": os.environ["PATH"], **environment(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False, timeout=60
    )
    assert done.stdout.strip() == "Client", done.stderr


def test_the_parameters_of_these_tests_start_this_tree(tmp_path: Path) -> None:
    assert started(tmp_path, alone=True).args[:3] == ["-m", "memhold", "mcp"]


def test_a_store_that_another_one_holds_holds_up_neither_the_answers_nor_the_end(tmp_path: Path) -> None:
    """The client waits for the end of the server: it comes before the opening has given up, which would be logged."""
    db = tmp_path / "memory.db"
    with Memhold.open(db, worker=False):
        pass
    holder = apsw.Connection(str(db))
    for statement in ("PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE"):
        holder.execute(statement).fetchall()
    command = [sys.executable, "-m", "memhold", "mcp", "--db", str(db), "--user", "alice"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:

        def asked(number: int, method: str, **params: object) -> Any:
            assert server.stdin is not None
            assert server.stdout is not None
            told = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            server.stdin.write(json.dumps(told).encode() + b"\n")
            server.stdin.flush()
            return json.loads(server.stdout.readline())

        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        asked(1, "initialize", **hello)
        assert len(asked(2, "tools/list")["result"]["tools"]) == 10
        held = Path(f"/proc/{server.pid}/fd")
        while not any(os.path.realpath(one) == str(db) for one in held.iterdir()):
            time.sleep(0.01)
        assert asked(3, "ping")["result"] == {}
        _, logged = server.communicate(timeout=60)
    assert (server.returncode, logged) == (0, b"")
