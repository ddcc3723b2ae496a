"""`memhold serve` as a process: it starts, stops, reloads, and refuses what is not safe."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from memhold import Memhold
from memhold.errors import ServerUnreachable, Unauthenticated
from memhold.faces.remote.local_token import local_token_of, local_token_path
from memhold.wiring import examine_file
from tests.command_line import forked
from tests.interfaces.conftest import process
from tests.rest.serving import live

TIMEOUT = 90


class Running:
    """A server process: its address, and what it logged."""

    def __init__(self, child: subprocess.Popen[str], *, is_forked: bool = False) -> None:
        self.child = child
        self._is_forked = is_forked
        self.lines: list[Any] = []
        self._heard = threading.Condition()
        threading.Thread(target=self._listen, daemon=True).start()
        assert child.stdout is not None
        first = child.stdout.readline()
        assert first, f"it did not start: {self.ended()}"
        self.url = json.loads(first)["url"]

    def _listen(self) -> None:
        assert self.child.stderr is not None
        for line in self.child.stderr:
            with self._heard:
                self.lines.append(json.loads(line) if line.startswith("{") else line)
                self._heard.notify_all()

    def logged(self, event: str, times: int = 1) -> list[Any]:
        """Wait until that was logged so many times."""

        def found() -> list[Any]:
            return [line for line in self.lines if isinstance(line, dict) and line["event"].startswith(event)]

        with self._heard:
            assert self._heard.wait_for(lambda: len(found()) >= times, TIMEOUT), self.lines[-5:]
            return found()

    def ended(self) -> int:
        code = self.child.wait(TIMEOUT)
        assert self.child.stdout is not None
        self.child.stdout.close()
        return code

    def kill(self) -> None:
        """Kill it, and wait until it is gone."""
        killed(self.child, is_forked=self._is_forked)


def killed(child: subprocess.Popen[str], *, is_forked: bool) -> None:
    """Kill a server. One that was forked goes up to .05 s behind the child that asked for it: its output ends then."""
    child.kill()
    child.wait()
    if is_forked and child.stdout is not None and not child.stdout.closed:
        child.stdout.read()


@contextmanager
def until_ended(child: subprocess.Popen[str], *, is_forked: bool = False) -> Iterator[Running]:
    """A server that was started; it is killed at the end, whatever came of it."""
    try:
        yield Running(child, is_forked=is_forked)
    finally:
        killed(child, is_forked=is_forked)
        for pipe in (child.stdout, child.stderr):
            if pipe is not None:
                pipe.close()


@contextmanager
def running(folder: Path, *options: str, alone: bool = False, **env: str) -> Iterator[Running]:
    """A server; `alone`: begun by itself, so that its number is the child's, as one that begins workers always is."""
    is_forked = not alone and "--workers" not in options
    command = [
        *(forked() if is_forked else (sys.executable, "-m", "memhold")),
        "serve",
        "--json",
        "--log-format",
        "json",
        "--port",
        "0",
        *([] if "MEMHOLD_DB" in env else ["--db", str(folder / "memory.db")]),
    ]
    child = subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
        env={
            **os.environ, "MEMHOLD_RATE_PER_SECOND": "100000", "MEMHOLD_WORK_PER_SECOND": "100000", **env,
        },
    )  # fmt: skip
    with until_ended(child, is_forked=is_forked) as server:
        yield server


def test_what_a_killed_server_was_sent_is_reached_by_a_forget(tmp_path: Path) -> None:
    """Of an upload that was cut short: it is seen by `residue` and `doctor`, and gone with the next forget or opening."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()

    def half() -> Iterator[bytes]:
        yield b"SECRETZEBRA lives here" * 10_000
        ends = time.monotonic() + TIMEOUT
        while time.monotonic() < ends and not any(one.stat().st_size for one in scratch.rglob("upload")):
            time.sleep(0.02)
        server.kill()

    with running(tmp_path, TMPDIR=str(scratch)) as server:
        bearer = {"authorization": f"Bearer {local_token_of(server.url)}"}
        with (
            httpx2.Client(base_url=server.url, trust_env=False, headers=bearer) as http,
            pytest.raises(httpx2.HTTPError),
        ):
            http.post("/v1/import", content=half())
    left = [file for file in scratch.rglob("upload") if b"SECRETZEBRA" in file.read_bytes()]
    assert left
    path = str(tmp_path / "memory.db")
    assert [one.where for one in examine_file(path) if one.check == "files"] == [str(left[0].parent)]
    with Memhold.open(path, worker=False, embedding="none") as mem:
        assert list(scratch.iterdir()) == []
        assert mem.scope(user="alice").residue("SECRETZEBRA").found == {}


async def test_uploads_and_exports_leave_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    opened = {"settings": {"tokens": False}, "embedding": "none"}
    async with live(str(tmp_path / "memory.db"), **opened) as server, server.client(server.made.local_token) as http:
        await server.memhold.scope(user="local").remember("Likes tea")
        whole = await http.get("/v1/export")
        pages = await http.get("/v1/export?format=markdown")
        sent = await http.post("/v1/import", content=whole.content)
        assert (whole.status_code, pages.status_code, sent.status_code) == (200, 200, 200)
        assert list(scratch.iterdir()) == []
        assert not (tmp_path / "memory.db.unfinished").exists()
        scratch.rmdir()
        refused = await http.get("/v1/export")
        assert (refused.status_code, refused.json()["type"].rpartition(":")[2]) == (503, "StoreReadOnly")


def test_it_serves_one_local_user_and_stops_clean(tmp_path: Path) -> None:
    with running(tmp_path, "--user", "alice", "--namespace", "acme") as server:
        with Memhold.open(server.url) as mem:
            told = mem.scope(namespace="acme", user="alice").remember("Likes tea")
        bearer = {"authorization": f"Bearer {local_token_of(server.url)}"}
        http = httpx2.Client(base_url=server.url, trust_env=False, headers=bearer)
        with http, http.stream("GET", "/v1/changes/stream") as stream:
            assert stream.status_code == 200
            server.child.send_signal(signal.SIGTERM)
            # A stream that is held open says that it is alive for ever: whoever stops does not wait for its end.
            ended = threading.Timer(TIMEOUT, server.child.kill)
            ended.start()
            for _ in stream.iter_raw():
                pass
        assert server.ended() == 0
        ended.cancel()
        assert server.logged("stopped")
        with pytest.raises(ServerUnreachable):
            Memhold.open(server.url, timeout=0.3)
        with Memhold.open(str(tmp_path / "memory.db"), worker=False) as mem:
            assert mem.scope(namespace="acme", user="alice").get(told.memory.id) == told.memory


def test_on_loopback_only_the_account_that_serves_is_let_in(tmp_path: Path) -> None:
    """Another account of the machine can connect, and can read neither the store nor the token."""
    with running(tmp_path, "--user", "alice") as server:
        port = int(server.url.rsplit(":", 1)[1])
        path = local_token_path(port)
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700
        token = local_token_of(server.url)
        assert token == local_token_of(f"http://localhost:{port}") == path.read_text().strip()
        assert local_token_of(f"http://192.0.2.1:{port}") is local_token_of(f"https://127.0.0.1:{port}") is None

        def status(*bearer: str) -> int:
            headers = {"authorization": f"Bearer {bearer[0]}"} if bearer else {}
            return httpx2.get(f"{server.url}/v1/status", headers=headers, trust_env=False).status_code

        assert (status(), status("wrong"), status(str(token))) == (401, 401, 200)
        with Memhold.open(server.url) as mem:
            told = mem.scope(user="alice").remember("Likes tea")
        found = process("recall", "tea", "--db", server.url, "--user", "alice", "--json")
        assert [hit["id"] for hit in json.loads(found.stdout)["hits"]] == [told.memory.id]
        assert str(token) not in json.dumps(server.lines)
        made = process("token", "create", "--db", str(tmp_path / "memory.db"), "--user", "bob", "--json")
        assert status(str(token)) == 401, "the first token that is made ends it"
        assert status(_secret(json.loads(made.stdout))) == 200
        server.child.send_signal(signal.SIGTERM)
        assert server.ended() == 0
        assert not path.exists()
    with running(tmp_path) as server:
        assert not local_token_path(int(server.url.rsplit(":", 1)[1])).exists(), "a store with tokens needs none"
        with pytest.raises(Unauthenticated):
            Memhold.open(server.url)


def test_whoever_wants_it_open_says_so(tmp_path: Path) -> None:
    with running(tmp_path, "--insecure-loopback") as server:
        assert httpx2.get(f"{server.url}/v1/status", trust_env=False).status_code == 200
        assert not local_token_path(int(server.url.rsplit(":", 1)[1])).exists()


def test_a_stop_finishes_what_it_has_begun(tmp_path: Path) -> None:
    """Whatever was acknowledged is there; whatever was not says so."""
    acknowledged: list[str] = []
    with running(tmp_path, "--user", "alice") as server, Memhold.open(server.url, timeout=5.0) as mem:
        alice = mem.scope(user="alice", session="s")

        enough = threading.Event()

        def write() -> None:
            try:
                while True:
                    acknowledged.extend(alice.add({"role": "user", "content": "hello"}).ids)
                    if len(acknowledged) >= 50:
                        enough.set()
            except ServerUnreachable:
                return

        threads = [threading.Thread(target=write) for _ in range(8)]
        for thread in threads:
            thread.start()
        assert enough.wait(TIMEOUT)
        server.child.send_signal(signal.SIGTERM)
        assert server.ended() == 0
        for thread in threads:
            thread.join(TIMEOUT)
    with Memhold.open(str(tmp_path / "memory.db"), worker=False) as mem:
        kept = {message.id for message in mem.scope(user="alice", session="s").messages(limit=10_000)}
    assert set(acknowledged) <= kept
    assert len(acknowledged) == len(set(acknowledged))


def test_tokens_and_the_catalog_are_read_anew(tmp_path: Path) -> None:
    catalog = tmp_path / "models.toml"
    catalog.write_text(
        '[models.mine]\nlabel = "Mine"\nprotocol = "openai-chat"\nmodel = "one"\nbase_url = "http://127.0.0.1:9/v1"\n'
    )
    database = ("--db", str(tmp_path / "memory.db"))
    assert process("token", "create", *database, "--user", "first", "--json").returncode == 0
    with running(tmp_path, "--consolidation", "mine", MEMHOLD_MODELS=str(catalog)) as server:
        made = json.loads(
            process("token", "create", *database, "--user", "alice", "--can", "read,write,admin", "--json").stdout
        )
        with Memhold.open(server.url, token=_secret(made)) as mem:
            alice = mem.scope(user="alice")
            assert set(alice.status().models) == {"mine"}
            catalog.write_text(catalog.read_text().replace("models.mine", "models.other") + catalog.read_text())
            catalog.write_text(catalog.read_text().replace("[models.mine]", '[models.mine]\nfallback = "other"'))
            server.child.send_signal(signal.SIGHUP)
            server.logged("reloaded")
            assert set(alice.status().models) == {"mine", "other"}
            told = alice.remember("told after the reload")
            catalog.write_text("[models.mine]\nprotocol = 7\n")
            server.child.send_signal(signal.SIGHUP)
            server.logged("reloading failed")
            assert alice.get(told.memory.id) == told.memory
            server.logged("the former was closed")
        server.child.send_signal(signal.SIGTERM)
        assert server.ended() == 0


def _secret(made: Any) -> str:
    return str(made.get("secret") or made["token"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--host", "0.0.0.0"), "make a token first"),
        (("--host", "0.0.0.0", "--behind-proxy"), "make a token first"),
        (("--behind-proxy",), "make a token first"),
        (("--tls-cert", "x.pem"), "TLS needs both"),
        (("--port", "70000"), "it must be 0 to 65535"),
        (("--host", "203.0.113.1"), "cannot listen"),
    ],
)  # fmt: skip
def test_what_is_not_safe_is_refused(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    done = process("serve", "--db", str(tmp_path / "memory.db"), "--port", "0", *options)
    assert done.returncode == 2, done
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_with_tokens_it_still_wants_tls_or_a_proxy(tmp_path: Path) -> None:
    database = ("--db", str(tmp_path / "memory.db"))
    assert process("token", "create", *database, "--user", "alice").returncode == 0
    done = process("serve", *database, "--port", "0", "--host", "0.0.0.0")
    assert (done.returncode, "in the clear" in done.stderr) == (2, True)
    with running(tmp_path, "--host", "0.0.0.0", "--behind-proxy") as server:
        port = server.url.rsplit(":", 1)[1]
        assert httpx2.get(f"http://127.0.0.1:{port}/healthz", trust_env=False).status_code == 200
        assert httpx2.get(f"http://127.0.0.1:{port}/v1/status", trust_env=False).status_code == 401
        assert httpx2.get(f"http://127.0.0.1:{port}/metrics", trust_env=False).status_code == 401


def test_a_missing_extra_says_what_to_install(tmp_path: Path) -> None:
    for missing in ("fastapi", "uvicorn", "prometheus_client", "mcp"):
        code = f"import sys; sys.modules[{missing!r}] = None; from memhold.cli.main import main; sys.exit(main(['serve', '--db', 'x.db']))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.returncode == 2
        assert "pip install 'memhold[server]'" in done.stderr
    assert not (tmp_path / "x.db").exists()


def test_nothing_else_loads_the_server(tmp_path: Path) -> None:
    code = "import sys; from memhold.cli.main import main; main(['status', '--db', 'memory://']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert not {"fastapi", "uvicorn", "mcp", "prometheus_client", "opentelemetry", "httpx2"} & set(done.stdout.split())
