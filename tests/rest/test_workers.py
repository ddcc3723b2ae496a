"""`memhold serve --workers N` as processes: changed and killed while clients write, with one set of limits and sign-ins."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from memhold import Memhold
from memhold.errors import InvalidSetting
from memhold.faces.remote.local_token import local_token_of
from memhold.server.listening import listening
from memhold.server.settings import ServeSettings
from tests.interfaces.conftest import process
from tests.rest.test_serve_process import TIMEOUT, Running, running, until_ended

WORKERS = 2
RELOADS = 1
PAUSE = 0.02
"""Seconds between two writes of a client: the workers that start need the processor too."""


def pids(server: Running, starts: int) -> list[int]:
    """The workers that serve, once so many were started."""
    ended = {
        line["pid"]
        for line in server.lines
        if isinstance(line, dict) and line["event"] in {"a worker has ended", "a worker died"}
    }
    return [line["pid"] for line in server.logged("a worker serves", starts) if line["pid"] not in ended]


@contextmanager
def only(pid: int, of: list[int]) -> Iterator[None]:
    """The other workers are frozen meanwhile: that one answers."""
    others = [one for one in of if one != pid]
    for one in others:
        os.kill(one, signal.SIGSTOP)
    try:
        yield
    finally:
        for one in others:
            os.kill(one, signal.SIGCONT)


class Writer:
    """One client with one connection that it keeps, who never tries again: each answer must be a good one."""

    def __init__(self, url: str, token: str, name: str) -> None:
        self.said: dict[str, str] = {}
        self.went_wrong: list[object] = []
        self.count = 0
        self._url, self._token, self._name = url, token, name
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        headers = {"authorization": f"Bearer {self._token}"}
        with httpx2.Client(base_url=self._url, trust_env=False, headers=headers, timeout=TIMEOUT) as http:
            while not self._over.wait(PAUSE) and not self.went_wrong:
                self.count += 1
                text = f"{self._name} says {self.count}"
                body = {"messages": [{"role": "user", "content": text}]}
                try:
                    answer = http.post("/v1/messages?session=s", json=body)
                except httpx2.HTTPError as error:
                    self.went_wrong.append(error)
                    continue
                if answer.status_code == 201:
                    self.said[answer.json()["ids"][0]] = text
                else:
                    self.went_wrong.append((answer.status_code, answer.text))

    def end(self) -> None:
        self._over.set()
        self._thread.join(TIMEOUT)


class Persistent(Writer):
    """A client of the library: what got no answer is sent again, with its key."""

    def _run(self) -> None:
        with Memhold.open(self._url, token=self._token, timeout=TIMEOUT) as mem:
            alice = mem.scope(user="alice", session="s")
            while not self._over.wait(PAUSE) and not self.went_wrong:
                self.count += 1
                text = f"{self._name} says {self.count}"
                try:
                    self.said[alice.add({"role": "user", "content": text}).ids[0]] = text
                except Exception as error:  # noqa: BLE001 - a thread's
                    self.went_wrong.append(error)


def finished(writers: list[Writer]) -> dict[str, str]:
    """What all were told is durable."""
    for one in writers:
        one.end()
        assert one.went_wrong == []
        assert one.said
    return {item: text for one in writers for item, text in one.said.items()}


def test_workers_are_changed_and_killed_and_nobody_is_refused(tmp_path: Path) -> None:
    """The shared things are seen in one life of a server, since each start takes seconds."""
    settings = tmp_path / "memhold.toml"
    env = {"MEMHOLD_FAILED_PER_SECOND": "0.0001"}
    with running(tmp_path, "--user", "alice", "--workers", str(WORKERS), **env) as server:
        token = str(local_token_of(server.url))
        there = pids(server, WORKERS)
        limits_are_shared(server, there, token)
        a_sign_in_is_known_to_each(server, there, token)
        metrics_are_those_of_all(server, there)
        assert len(server.logged("this process does the due work")) == 1

        writers: list[Writer] = [Writer(server.url, token, f"w{n}") for n in range(4)]
        for turn in range(1, RELOADS + 1):
            # Settings of the server are read too: it goes by another name after each change.
            settings.write_text(f"[serve]\nallow_hosts = 'memory{turn}.example'\n")
            server.child.send_signal(signal.SIGHUP)
            server.logged("reloaded", turn)
            server.logged("a worker has ended", turn * WORKERS)
        acknowledged = finished(writers)
        there = pids(server, (RELOADS + 1) * WORKERS)
        assert len(there) == WORKERS
        counted = requests_counted(server)
        assert counted >= len(acknowledged), "what the former workers counted is told"
        for turn, status in ((RELOADS, 200), (RELOADS - 1, 421)):
            named = {**bearer(token), "host": f"memory{turn}.example"}
            assert httpx2.get(f"{server.url}/v1/status", headers=named, trust_env=False).status_code == status

        writers = [Persistent(server.url, token, f"p{n}") for n in range(4)]
        for turn, victim in enumerate(there):
            os.kill(victim, signal.SIGKILL)
            server.logged("a worker died", turn + 1)
            server.logged("a worker serves", (RELOADS + 1) * WORKERS + turn + 1)
        acknowledged |= finished(writers)
        assert len(server.logged("this process does the due work", 2)) >= 2
        assert requests_counted(server) >= counted
        counts_are_few_and_hold_nobody_up(server, (RELOADS + 1) * WORKERS + len(there))

        settings.write_text("[serve]\nmax_body_bytes = -1\n")
        server.child.send_signal(signal.SIGHUP)
        server.logged("reloading failed")
        settings.write_text("consolidation = 'nowhere'\n")
        server.child.send_signal(signal.SIGHUP)
        server.logged("reloading failed", 2)
        assert httpx2.get(f"{server.url}/healthz", trust_env=False).status_code == 200
        server.child.send_signal(signal.SIGTERM)
        assert server.ended() == 0
    assert local_token_of(server.url) is None
    assert not [line for line in server.lines if isinstance(line, str)], "no traceback"
    with Memhold.open(str(tmp_path / "memory.db"), worker=False) as mem:
        kept = {message.id: message.text for message in mem.scope(user="alice", session="s").messages(limit=10_000)}
    assert acknowledged.items() <= kept.items()
    assert [text for text, times in Counter(kept.values()).items() if times > 1] == []


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}", "content-type": "application/json"}


def limits_are_shared(server: Running, there: list[int], token: str) -> None:
    """Twenty tokens that do not count are tried, whoever answers, and no more; one that counted at one passes at all."""
    with only(there[0], there):
        assert httpx2.get(f"{server.url}/v1/status", headers=bearer(token), trust_env=False).status_code == 200
    seen = []
    for pid in there:
        with only(pid, there):
            seen += [
                httpx2.get(f"{server.url}/v1/status", headers=bearer(f"mh_{pid}{n}"), trust_env=False).status_code
                for n in range(11)
            ]
    assert seen == [401] * 20 + [429] * 2


def a_sign_in_is_known_to_each(server: Running, there: list[int], token: str) -> None:
    origin = {"origin": server.url}
    with httpx2.Client(base_url=server.url, trust_env=False, headers={"connection": "close"}) as person:
        with only(there[0], there):
            assert person.post("/ui/sign-in", data={"token": token}, headers=origin).status_code == 303
        for pid in there:
            with only(pid, there):
                assert person.get("/ui").status_code == 200
    with httpx2.Client(base_url=server.url, trust_env=False) as stranger:
        assert stranger.get("/ui").status_code == 303


def metrics_are_those_of_all(server: Running, there: list[int]) -> None:
    """Whichever process answers counts the requests of all, and names the memory of each."""
    found = []
    for pid in there:
        with only(pid, there):
            found.append(httpx2.get(f"{server.url}/metrics", trust_env=False).text.splitlines())
    for lines in found:
        assert "memhold_serving_processes 2.0" in lines
        [refused] = [line for line in lines if line.startswith('memhold_budget_refusals_total{budget="failures"}')]
        assert refused.endswith(" 2.0")
        told = [line for line in lines if line.startswith("process_resident_memory_bytes{")]
        assert [f'pid="{pid}"' in "".join(told) for pid in there] == [True] * WORKERS
        assert len([line for line in lines if line.startswith("memhold_store_takes_writes ")]) == 1


def requests_counted(server: Running) -> float:
    text = httpx2.get(f"{server.url}/metrics", trust_env=False).text
    return sum(float(count) for count in re.findall(r"^memhold_http_requests_total\{.*\} (\S+)$", text, re.MULTILINE))


def counts_are_few_and_hold_nobody_up(server: Running, started: int) -> None:
    """The dead left no files; and whatever becomes of the files, whoever died is replaced."""
    there = pids(server, started)
    folder = folder_of_counts(there[0])
    if folder is None:
        return
    assert {int(path.stem.rpartition("_")[2]) for path in folder.glob("counter_*.db")} <= {0, *there}
    (folder / "lock").unlink()
    (folder / "lock").mkdir()
    os.kill(there[0], signal.SIGKILL)
    server.logged("counts of workers that have ended could not be added")
    server.logged("a worker serves", started + 1)


def folder_of_counts(pid: int) -> Path | None:
    """Where a worker counts; None where the system does not show it."""
    maps = Path(f"/proc/{pid}/maps")
    if not maps.exists():
        return None
    [mine] = {Path(line.split()[-1]) for line in maps.read_text().splitlines() if line.endswith(f"counter_{pid}.db")}
    return mine.parent


HANGS = """
import signal, time
from memhold.server import supervising
supervising.HANG_SECONDS = 30
signal.signal(signal.SIGUSR1, lambda *_: time.sleep(10_000))
"""
"""What a process of Python loads at its start: at that signal its loop is held for good, and its threads go on."""


def test_workers_that_hang_are_killed_and_others_started(tmp_path: Path) -> None:
    """One whose loop is held, and one that is frozen as a whole; the first says where it stood. A busy one is neither."""
    (tmp_path / "sitecustomize.py").write_text(HANGS)
    env = {"PYTHONPATH": str(tmp_path)}
    with running(tmp_path, "--user", "alice", "--workers", str(WORKERS), **env) as server:
        held, frozen = pids(server, WORKERS)
        os.kill(held, signal.SIGUSR1)
        os.kill(frozen, signal.SIGSTOP)
        # Nobody is there to answer it until one of them was replaced.
        assert httpx2.get(f"{server.url}/healthz", trust_env=False, timeout=TIMEOUT).status_code == 200
        assert {held, frozen} <= {line["pid"] for line in server.logged("a worker hangs", 2)}
        assert {held, frozen} <= {line["pid"] for line in server.logged("a worker died", 2)}
        server.logged("a worker serves", WORKERS + 2)
        said = "".join(line for line in server.lines if isinstance(line, str))
        assert str(tmp_path / "sitecustomize.py") in said
        server.child.send_signal(signal.SIGTERM)
        assert server.ended() == 0


@pytest.mark.parametrize("workers", [0, 65])
def test_so_many_workers_are_refused(workers: int) -> None:
    with pytest.raises(InvalidSetting, match="workers is"):
        ServeSettings(workers=workers)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--workers", "2", "--db", "memory://"), "one process's"),
        (("--workers", "2", "--host", "0.0.0.0"), "make a token first"),
    ],
)  # fmt: skip
def test_what_workers_cannot_do_is_said_before_anything_serves(
    tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    done = process("serve", "--db", str(tmp_path / "memory.db"), "--port", "0", *options)
    assert done.returncode != 0, done
    assert said in done.stderr
    assert "Traceback" not in done.stderr


# ------------------------------------------------------------------------------------------------ systemd

LAUNCH = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ |= {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid()), "LISTEN_FDNAMES": "memhold.socket"}
os.execv(sys.executable, [sys.executable, "-m", "memhold", *sys.argv[2:]])
"""


@contextmanager
def activated(folder: Path, sock: socket.socket, *options: str, **env: str) -> Iterator[Running]:
    """A server that was started with a socket, as systemd does it."""
    line = ["serve", "--json", "--log-format", "json", "--db", str(folder / "memory.db"), *options]
    os.set_inheritable(sock.fileno(), True)
    child = subprocess.Popen(
        [sys.executable, "-c", LAUNCH, str(sock.fileno()), *line], pass_fds=[sock.fileno()], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, cwd=folder, env={**os.environ, **env},
    )  # fmt: skip
    with until_ended(child) as server:
        yield server


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_socket_with_a_path_and_no_token_is_told_what_to_do(workers: str, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.bind(os.path.relpath(tmp_path / "m.sock"))
        sock.listen(16)
        line = ["serve", "--db", str(tmp_path / "memory.db"), "--user", "alice", "--workers", workers]
        os.set_inheritable(sock.fileno(), True)
        done = subprocess.run(
            [sys.executable, "-c", LAUNCH, str(sock.fileno()), *line], pass_fds=[sock.fileno()], capture_output=True,
            text=True, cwd=tmp_path, timeout=TIMEOUT, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    said = done.stderr.splitlines()[-1]
    assert said.startswith(
        "memhold: the token that is made at the start is found by a port, and there is none; make one"
    )
    assert "report it" not in done.stderr


def test_a_socket_of_systemd_waits_while_the_server_is_started_anew(tmp_path: Path) -> None:
    """Who asks between two lives of the server waits, and is answered by the second."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen(16)
        url = f"http://127.0.0.1:{sock.getsockname()[1]}"
        with activated(tmp_path, sock, "--user", "alice", "--insecure-loopback") as server:
            assert server.url == url
            assert httpx2.get(f"{url}/v1/status", trust_env=False).status_code == 200
            server.child.send_signal(signal.SIGTERM)
            assert server.ended() == 0
        answers: list[int] = []

        def asks() -> None:
            answers.append(httpx2.get(f"{url}/v1/status", trust_env=False, timeout=TIMEOUT).status_code)

        early = threading.Thread(target=asks)
        early.start()
        with activated(tmp_path, sock, "--user", "alice", "--insecure-loopback", "--workers", "2") as server:
            early.join(TIMEOUT)
            server.child.send_signal(signal.SIGTERM)
            assert server.ended() == 0
        assert answers == [200]


def test_a_unix_socket_of_systemd_is_served_to_those_with_tokens(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.bind(str(path))
        sock.listen(16)
        with pytest.raises(AssertionError, match="it did not start"), activated(tmp_path, sock):
            pass  # a token that was made at its start nobody would find
        made = process("token", "create", "--db", str(tmp_path / "memory.db"), "--user", "bob", "--json")
        token = json.loads(made.stdout)["secret"]
        with activated(tmp_path, sock) as server:
            assert server.url == f"unix:{path}"
            transport = httpx2.HTTPTransport(uds=str(path))
            with httpx2.Client(base_url="http://localhost", transport=transport) as http:
                statuses = [http.get("/v1/status", headers=headers).status_code for headers in ({}, bearer(token))]
            assert statuses == [401, 200]
            server.child.send_signal(signal.SIGTERM)
            assert server.ended() == 0


def test_a_server_goes_by_the_name_that_it_was_given() -> None:
    socks, host = listening(ServeSettings(host="localhost", port=0), {})
    assert ([sock.getsockname()[0] for sock in socks], host) == (["127.0.0.1"], "localhost")
    socks[0].close()


def test_what_is_no_socket_that_listens_is_refused(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
        sock.bind(("127.0.0.1", 0))
        os.set_inheritable(sock.fileno(), True)
        done = subprocess.run(
            [sys.executable, "-c", LAUNCH, str(sock.fileno()), "serve", "--db", "m.db"], pass_fds=[sock.fileno()],
            capture_output=True, text=True, cwd=tmp_path, check=False,
        )  # fmt: skip
    assert (done.returncode, "no socket that listens" in done.stderr) == (2, True)
