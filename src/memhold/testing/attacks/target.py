"""The server that is attacked: its address, the tokens that attackers and victims are given, and ways to reach it."""

from __future__ import annotations

import contextlib
import json
import re
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import httpx2

if TYPE_CHECKING:
    from memhold.testing.attacks.issuer import Issuer

__all__ = ["MIB", "Health", "Target", "Tenant", "heard", "named_problem", "status_of"]

MIB: Final = 1024 * 1024
_GROWTH: Final = 48 * MIB
_LONGEST: Final = re.compile(r"^memhold_event_loop_longest_hold_seconds(?:\{[^}\n]*\})? ([0-9.e+-]+)$", re.MULTILINE)
_TRIES: Final = 60
_ANSWERED_SECONDS: Final = 90.0
"""A server answers a request within 60 seconds, or says that it took too long."""
_ALIVE_SECONDS: Final = 20.0
_MCP: Final = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """A token that was made for an attack, and whose it is."""

    id: str
    secret: str
    user: str | None


@dataclass
class Health:
    """What somebody else saw of the server meanwhile: how often it answered, in how many seconds at most, what failed."""

    answers: int = 0
    longest: float = 0.0
    failed: list[str] = field(default_factory=list)


@dataclass(eq=False)
class Target:
    """A running server, and what the attacks need of it.

    Args:
        url: its address, without a path.
        token: a token of no user with the rights read, write, admin and act: the others are made with it.
        other: such a token of another namespace, for attacks across namespaces.
        pid: its process, where it runs on this machine: its memory is looked at.
        issuer: the issuer whose access tokens it takes, where its keys are ours.
        log: gives what it has logged.
        redacts: whether the setting `redaction` is on.
        flood: bytes that an endless request has at most.
        patience: seconds until what should have ended is told as going on.
    """

    url: str
    token: str
    _: KW_ONLY
    other: str | None = None
    pid: int | None = None
    issuer: Issuer | None = None
    log: Callable[[], str] | None = None
    redacts: bool = False
    flood: int = 60 * MIB
    patience: float = 30.0

    def __post_init__(self) -> None:
        self.url = self.url.rstrip("/")
        self._made: list[tuple[str, Tenant]] = []
        self._http = httpx2.Client(base_url=self.url, trust_env=False, timeout=_ANSWERED_SECONDS)

    # ------------------------------------------------------------------------------------------ who asks

    def tenant(self, *rights: str, user: str | None = "", by: str | None = None, **more: Any) -> Tenant:
        """A token of a new user with these rights, `read` and `write` unless others are named.

        `user` names another user, None makes it one of no user; `by` is the token that makes it.
        """
        named = self.new_name() if user == "" else user
        body = {"rights": list(rights) or ["read", "write"], "label": "attack", **more}
        if named is not None:
            body["user"] = named
        answer = self.ask("POST", "/v1/tokens", by or self.token, json=body)
        if answer.status_code != 201:
            raise RuntimeError(f"no token could be made ({answer.status_code}): {answer.text[:200]}")
        made = Tenant(id=answer.json()["token"]["id"], secret=answer.json()["secret"], user=named)
        self._made.append((by or self.token, made))
        return made

    @staticmethod
    def new_name() -> str:
        """A name that nobody has."""
        return f"attack-{secrets.token_hex(6)}"

    def revoke(self, tenant: Tenant) -> None:
        """End a token."""
        self.ask("DELETE", f"/v1/tokens/{tenant.id}", self.token)

    def cleared(self) -> None:
        """Erase what the attacks left, end their tokens, and let go of the connections."""
        for by, tenant in self._made:
            with contextlib.suppress(httpx2.HTTPError):
                if tenant.user is not None:
                    named = {"x-memhold-user": tenant.user}
                    self.ask("POST", "/v1/forget", by, json={"everything": True, "hard": True}, headers=named)
                self.ask("DELETE", f"/v1/tokens/{tenant.id}", by)
        self._http.close()

    def longest_hold(self) -> float | None:
        """Seconds for which its event loop was held at worst since it started; None where it does not tell."""
        try:
            found = _LONGEST.search(self.ask("GET", "/metrics", self.token).text)
        except httpx2.HTTPError:
            return None
        return None if found is None else float(found[1])

    # ------------------------------------------------------------------------------------------ requests

    def ask(
        self, method: str, path: str, token: str | None = None, *, patient: bool = True,
        headers: Mapping[str, Any] | None = None, **more: Any,
    ) -> httpx2.Response:  # fmt: skip
        """One request, with a token where one is given. A `patient` one waits where it is told to (429)."""
        bearer = {} if token is None else {"authorization": f"Bearer {token}"}
        answer = self._answered(method, path, headers={**bearer, **(headers or {})}, **more)
        for _ in range(_TRIES):
            if answer.status_code != 429 or not patient:
                break
            time.sleep(min(5.0, max(0.1, float(answer.headers.get("retry-after", "1")))))
            answer = self._answered(method, path, headers={**bearer, **(headers or {})}, **more)
        # A cookie is sent where an attack sends it, and never otherwise.
        self._http.cookies.clear()
        return answer

    def _answered(self, method: str, path: str, **more: Any) -> httpx2.Response:
        """The answer; once more where the kept connection was ended meanwhile, as a server may at any time (RFC 9112)."""
        try:
            return self._http.request(method, path, **more)
        except httpx2.RemoteProtocolError:
            return self._http.request(method, path, **more)

    def elsewhere(self, path: str, token: str) -> None:
        """One request on a connection of its own, whatever comes of it."""
        with (
            contextlib.suppress(httpx2.HTTPError),
            httpx2.Client(base_url=self.url, trust_env=False, timeout=30) as http,
        ):
            http.get(path, headers={"authorization": f"Bearer {token}"})

    @contextmanager
    def stream(self, path: str, token: str) -> Iterator[httpx2.Response]:
        """An answer that goes on."""
        with self._http.stream("GET", path, headers={"authorization": f"Bearer {token}"}) as answer:
            yield answer

    def rpc(self, token: str, method: str, params: Any = None, *, headers: Mapping[str, str] | None = None) -> Any:
        """The answer to one request of MCP, as JSON."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        return self.ask("POST", "/mcp", token, json=body, headers={**_MCP, **(headers or {})}).json()

    def tool(self, token: str, name: str, *, headers: Mapping[str, str] | None = None, **arguments: Any) -> str:
        """What a tool says, or why it is refused."""
        answer = self.rpc(token, "tools/call", {"name": name, "arguments": arguments}, headers=headers)
        if "result" not in answer:
            return json.dumps(answer)
        return "\n".join(str(part.get("text", "")) for part in answer["result"]["content"])

    # ------------------------------------------------------------------------------------------ bytes

    @property
    def address(self) -> tuple[str, int]:
        """Host and port."""
        parts = urlsplit(self.url)
        return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)

    def connect(self) -> socket.socket:
        """A bare connection."""
        host, port = self.address
        plain = socket.create_connection((host, port), timeout=20)
        if urlsplit(self.url).scheme != "https":
            return plain
        return ssl.create_default_context().wrap_socket(plain, server_hostname=host)

    def head(self, *lines: str, path: str = "/v1/recall", method: str = "POST", token: str | None = None) -> bytes:
        """The head of a request, as bytes."""
        bearer = () if token is None else (f"Authorization: Bearer {token}",)
        host, port = self.address
        fixed = (f"{method} {path} HTTP/1.1", f"Host: {host}:{port}", "Content-Type: application/json")
        return "\r\n".join((*fixed, *bearer, *lines, "", "")).encode("latin-1")

    def send(self, raw: bytes, *, seconds: float = 10.0) -> bytes:
        """Send bytes on a connection of their own; what comes back until the other side ends, or is silent so long."""
        with self.connect() as sock:
            sock.settimeout(seconds)
            with contextlib.suppress(ConnectionError):
                sock.sendall(raw)
            return heard(sock)

    def post(self, path: str, body: bytes, token: str | None = None, *lines: str) -> int:
        """The status of a POST of these bytes, also where it comes before they were all taken; 0 where none comes."""
        head = self.head(f"Content-Length: {len(body)}", "Connection: close", *lines, path=path, token=token)
        return status_of(self.send(head + body, seconds=_ANSWERED_SECONDS))

    def pour(self, sock: socket.socket, piece: bytes) -> int:
        """Send again and again, until the other side has had enough or the flood is over; how many bytes went."""
        sent = 0
        with contextlib.suppress(OSError):
            while sent < self.flood:
                sock.sendall(piece)
                sent += len(piece)
        return sent

    # ------------------------------------------------------------------------------------------ the others meanwhile

    def alive(self) -> bool:
        """Whether it still answers."""
        return self.ask("GET", "/healthz").status_code == 200

    @contextmanager
    def watched(self) -> Iterator[Health]:
        """Ask for its health all the while, from somewhere else; an answer after 20 seconds is none."""
        seen, over = Health(), threading.Event()

        def look() -> None:
            with httpx2.Client(base_url=self.url, trust_env=False, timeout=_ALIVE_SECONDS) as http:
                while not over.is_set() or not (seen.answers or seen.failed):
                    begun = time.monotonic()
                    try:
                        status = http.get("/healthz").status_code
                    except httpx2.HTTPError as error:
                        seen.failed.append(type(error).__name__)
                        continue
                    seen.answers += 1
                    seen.longest = max(seen.longest, time.monotonic() - begun)
                    if status != 200:
                        seen.failed.append(str(status))
                    over.wait(0.02)

        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        try:
            yield seen
        finally:
            over.set()
            thread.join(30)

    @contextmanager
    def weighed(self) -> Iterator[Callable[[], str | None]]:
        """What is wrong with how the memory of the server grew; None where nothing is, or it is not known."""
        before = self._peak()

        def fault() -> str | None:
            after = self._peak()
            if before is None or after is None or after - before < _GROWTH:
                return None
            return f"its memory grew by {(after - before) // MIB} MiB"

        yield fault

    def _peak(self) -> int | None:
        if self.pid is None:
            return None
        try:
            lines = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii").splitlines()
        except OSError:
            return None
        return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), None)


def heard(sock: socket.socket, most: int = 4 * MIB) -> bytes:
    """All that comes until the other side ends, says nothing for the socket's time, or has said too much."""
    got = bytearray()
    with contextlib.suppress(OSError):
        while len(got) < most and (piece := sock.recv(65536)):
            got += piece
    return bytes(got)


def status_of(answer: bytes) -> int:
    """The status of an answer; 0 where there is none."""
    words = answer[:16].split()
    return int(words[1]) if len(words) > 1 and words[0].startswith(b"HTTP/") and words[1].isdigit() else 0


def named_problem(answer: httpx2.Response) -> str:
    """What kind of problem an answer tells, such as `NotFound`; empty where it tells none."""
    try:
        return str(answer.json()["type"]).rpartition(":")[2]
    except (ValueError, KeyError, TypeError):
        return ""
