"""Whoever has no token takes nothing: attacks over loopback on a real server process, whose memory is measured."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from memhold.server.guard_rules import Failures, Rate, address_of
from tests.interfaces.conftest import process
from tests.rest.test_serve_process import Running, _secret, running

MIB = 1024 * 1024
GROWTH = 48 * MIB
"""What the server's memory may grow by under an attack of 60 MiB; it grew by 1,600 before."""


class Attacked:
    """A server with tokens, its port, and the most memory it ever had."""

    def __init__(self, server: Running, token: str) -> None:
        self.port = int(server.url.rsplit(":", 1)[1])
        self.url = server.url
        self.token = token
        self._pid = server.child.pid

    @property
    def peak(self) -> int:
        lines = Path(f"/proc/{self._pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def head(self, *lines: str, path: str = "/v1/recall") -> bytes:
        fixed = (f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", "Content-Type: application/json")
        return "\r\n".join((*fixed, *lines, "", "")).encode()


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    folder = tmp_path_factory.mktemp("attacked")
    made = process("token", "create", "--db", str(folder / "memory.db"), "--user", "alice", "--json")
    # Failed attempts are let through here, so that the attacks reach what they are after.
    with running(folder, alone=True, MEMHOLD_FAILED_PER_SECOND="1000000") as server:
        yield Attacked(server, _secret(json.loads(made.stdout)))


def pour(sock: socket.socket, piece: bytes, *, most: int = 60 * MIB) -> int:
    """Send until the other side has had enough; how much it took."""
    sent = 0
    with contextlib.suppress(ConnectionError):
        while sent < most:
            sock.sendall(piece)
            sent += len(piece)
    return sent


def answer(sock: socket.socket) -> bytes:
    """All that comes until the other side ends."""
    got = bytearray()
    with contextlib.suppress(ConnectionError):
        while piece := sock.recv(65536):
            got += piece
    return bytes(got)


CHUNKED = "Transfer-Encoding: chunked"
ENDLESS = {
    "trailers": b"a:\r\n" * (MIB // 4),
    "one trailer": b"a" * MIB,
}


@pytest.mark.parametrize("authorized", [False, True])
@pytest.mark.parametrize("kind", sorted(ENDLESS))
def test_trailers_without_end(attacked: Attacked, kind: str, *, authorized: bool) -> None:
    before = attacked.peak
    bearer = (f"Authorization: Bearer {attacked.token}",) if authorized else ()
    with attacked.connect() as sock:
        sock.sendall(attacked.head(CHUNKED, *bearer) + b'c\r\n{"text":"x"}\r\n0\r\nx:')
        pour(sock, ENDLESS[kind])
    assert attacked.peak - before < GROWTH
    assert httpx2.get(f"{attacked.url}/healthz", trust_env=False).status_code == 200


def test_chunks_that_are_all_extension(attacked: Attacked) -> None:
    before = attacked.peak
    with attacked.connect() as sock:
        sock.sendall(attacked.head(CHUNKED, f"Authorization: Bearer {attacked.token}") + b"1;")
        assert pour(sock, b"a" * MIB) < 60 * MIB
    assert attacked.peak - before < GROWTH


@pytest.mark.parametrize("framing", [CHUNKED, "Content-Length: 60000"])
def test_a_refusal_ends_the_connection_whose_body_has_not_come(attacked: Attacked, framing: str) -> None:
    before = attacked.peak
    with attacked.connect() as sock:
        sock.sendall(attacked.head(framing) + (b"5\r\nabcde\r\n" if framing == CHUNKED else b"abcde"))
        got = answer(sock)
        assert got.startswith(b"HTTP/1.1 401 ")
        assert b"connection: close" in got.lower()
        assert pour(sock, b"x" * MIB) < 60 * MIB
    assert attacked.peak - before < GROWTH


def test_a_refusal_of_what_has_come_keeps_the_connection(attacked: Attacked) -> None:
    with attacked.connect() as sock:
        for _ in range(3):
            sock.sendall(attacked.head("Content-Length: 2") + b"{}")
            got = b""
            while b"\r\n\r\n" not in got:
                got += sock.recv(65536)
            assert b" 401 " in got
            assert b"connection: close" not in got.lower()
            size = int(got.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            left = size - len(got.split(b"\r\n\r\n", 1)[1])
            while left:
                left -= len(sock.recv(left))


def test_many_refused_bodies_and_heads_that_trickle(attacked: Attacked) -> None:
    """Two hundred connections at once, each with as much as it gets rid of: they share one bound."""
    before = attacked.peak
    socks = [attacked.connect() for _ in range(200)]
    try:
        for sock in socks[:100]:
            sock.sendall(attacked.head("Content-Length: 9000000"))
        for sock in socks[100:]:
            sock.sendall(attacked.head("X: y").removesuffix(b"\r\n"))
        for _ in range(20):
            for sock in socks:
                with contextlib.suppress(OSError):
                    sock.sendall(b"X-Y: " + b"a" * 4000 + b"\r\n")
        assert attacked.peak - before < GROWTH
        assert httpx2.get(f"{attacked.url}/healthz", trust_env=False).status_code == 200
    finally:
        for sock in socks:
            sock.close()


def test_a_head_of_too_many_lines_and_trailers_that_would_be_headers(attacked: Attacked) -> None:
    with attacked.connect() as sock:
        sock.sendall(attacked.head(*(f"X-{n}: y" for n in range(300)), "Content-Length: 0"))
        assert answer(sock).startswith(b"HTTP/1.1 431 ")
    with attacked.connect() as sock:
        late = f"\r\n0\r\nAuthorization: Bearer {attacked.token}\r\n\r\n".encode()
        sock.sendall(attacked.head(CHUNKED, "Connection: close") + b'c\r\n{"text":"x"}' + late)
        assert answer(sock).startswith(b"HTTP/1.1 401 ")


def test_guesses_are_counted_by_address_and_whoever_has_a_token_goes_on(tmp_path: Path) -> None:
    database = ("--db", str(tmp_path / "memory.db"))
    secret = _secret(json.loads(process("token", "create", *database, "--user", "alice", "--json").stdout))
    fresh = _secret(json.loads(process("token", "create", *database, "--user", "bob", "--json").stdout))
    wrong = f"mh_{'a' * 16}_{'b' * 52}00000000"
    with (
        running(tmp_path, "--behind-proxy") as server,
        httpx2.Client(base_url=server.url, trust_env=False) as http,
    ):

        def status(token: str, *forwarded: str) -> int:
            headers = {"authorization": f"Bearer {token}", "x-forwarded-for": ", ".join(forwarded)}
            return http.get("/v1/status", headers=headers).status_code

        assert status(secret, "203.0.113.7") == 200
        tried = [status(wrong, f"10.0.0.{n}", "203.0.113.7") for n in range(60)]
        assert tried[:20] == [401] * 20
        assert 429 in tried, "the address that the proxy saw counts, not those that the client wrote before it"
        assert status(fresh, "203.0.113.7") == 429, "who is new at that address waits"
        assert status(secret, "203.0.113.7") == 200, "whose token counted goes on"
        assert status(fresh, "203.0.113.8") == 200


def test_the_address_that_counts() -> None:
    assert address_of("203.0.113.7", ["198.51.100.1"], behind_proxy=False) == "203.0.113.7"
    assert address_of("127.0.0.1", ["6.6.6.6, 198.51.100.1"], behind_proxy=True) == "198.51.100.1"
    assert address_of("127.0.0.1", ["6.6.6.6", "198.51.100.1"], behind_proxy=True) == "198.51.100.1"
    assert address_of("127.0.0.1", [], behind_proxy=True) == "127.0.0.1"
    one, two = "2001:db8:1:2:3::4", "2001:db8:1:2:ffff::9"
    assert address_of(one, [], behind_proxy=False) == address_of(two, [], behind_proxy=False)
    assert address_of(one, [], behind_proxy=False) != address_of("2001:db8:1:3::4", [], behind_proxy=False)
    assert address_of("::ffff:203.0.113.7", [], behind_proxy=False) == "203.0.113.7"
    assert address_of(None, ["nonsense"], behind_proxy=True) == "unknown"


def test_failures_are_forgiven_with_time() -> None:
    now = 0.0
    failures = Failures(Rate(per_second=1.0, burst=2), lambda: now)
    for _ in range(2):
        assert failures.wait("a", "guess") == 0.0
        failures.failed("a", "guess")
    assert failures.wait("a", "guess") == 1.0
    assert failures.wait("b", "guess") == 0.0
    failures.counted("good")
    assert failures.wait("a", "good") == 0.0
    failures.failed("a", "good")
    assert failures.wait("a", "good") == 2.0, "a token that was revoked is a guess like any other"
    now = 2.0
    assert failures.wait("a", "guess") == 0.0
