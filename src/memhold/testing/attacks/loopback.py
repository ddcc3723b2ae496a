"""Attacks on a server that nobody made a token for, as another account of the machine would; on servers of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2

from memhold.testing.attacks.attack import attack, expect
from memhold.testing.attacks.own_server import Server, run, started
from memhold.testing.attacks.target import Target

__all__ = [
    "beyond_loopback",
    "loopback_without_a_token",
    "passwords_on_the_command_line",
]

_HIDDEN = "wisteria-and-lupin"


@contextmanager
def _without_tokens() -> Iterator[tuple[Server, Path]]:
    with TemporaryDirectory(prefix="memhold-attacks-") as name:
        folder = Path(name)
        with started(folder, "--port", "0", "--user", "alice") as server:
            yield server, folder


@attack(
    "another account of the machine asks a server on loopback that has no tokens (a server of this attack's own)",
    seen="401; the token that it made at its start stands in a file that its own account alone can read",
    threats=("T3", "T9", "ASI03"),
)
def loopback_without_a_token(_: Target) -> None:
    with _without_tokens() as (server, folder):
        for path, token in (
            ("/v1/status", None),
            ("/v1/memories", None),
            ("/v1/status", "wrong"),
            ("/openapi.json", None),
        ):
            headers = {} if token is None else {"authorization": f"Bearer {token}"}
            status = httpx2.get(f"{server.url}{path}", headers=headers, trust_env=False).status_code
            expect(status == 401, f"{path}: it was answered {status}")
        files = list(folder.rglob("*.token"))
        expect(len(files) == 1, f"{len(files)} files hold its token")
        for kept, most in ((files[0], 0o600), (files[0].parent, 0o700)):
            mode = kept.stat().st_mode & 0o777
            expect(mode == most, f"{kept.name} has the mode {mode:o}")
        bearer = {"authorization": f"Bearer {files[0].read_text(encoding='utf-8').strip()}"}
        status = httpx2.get(f"{server.url}/v1/status", headers=bearer, trust_env=False).status_code
        expect(status == 200, f"with the file's token it was answered {status}")
        for file in folder.glob("memory.db*"):
            expect(not file.stat().st_mode & 0o077, f"{file.name} can be read by others")
        expect(bearer["authorization"][7:] not in server.log(), "the token stands in the log")


@attack(
    "a server is started where others could reach it without a token, or tokens would cross the network in the clear",
    seen="it does not start, and says what to do",
    threats=("T3", "ASI03"),
)
def beyond_loopback(_: Target) -> None:
    with TemporaryDirectory(prefix="memhold-attacks-") as name:
        folder = Path(name)
        store: list[str | Path] = ["--db", folder / "memory.db", "--port", "0"]
        for options in (["--host", "0.0.0.0"], ["--host", "::"], ["--behind-proxy"]):  # noqa: S104 - to be refused
            done = run(folder, ["serve", *store, *options])
            expect(done.returncode in {1, 2}, f"{options}: it ended with {done.returncode}")
            expect("token" in done.stderr, f"{options}: it does not say what to do: {done.stderr[:100]}")
        run(folder, ["token", "create", "--db", folder / "memory.db"])
        done = run(folder, ["serve", *store, "--host", "0.0.0.0"])  # noqa: S104 - to be refused
        expect(done.returncode in {1, 2}, f"without TLS it ended with {done.returncode}")


@attack(
    "a server is started with the password of its database on the command line, where every account sees it",
    seen="refused, and the password does not stand in what it says",
    threats=("ASI03",),
)
def passwords_on_the_command_line(_: Target) -> None:
    with TemporaryDirectory(prefix="memhold-attacks-") as name:
        folder, keyword = Path(name), "password"
        for location in (
            f"postgresql://u:{_HIDDEN}@127.0.0.1:1/x",
            f"postgresql://127.0.0.1:1/x?{keyword}={_HIDDEN}",
        ):
            done = run(folder, ["serve", "--port", "0", "--db", location])
            expect(done.returncode in {1, 2}, f"it ended with {done.returncode}")
            expect(_HIDDEN not in done.stdout + done.stderr, "the password was printed")
            expect(keyword in done.stderr, f"it does not say why: {json.dumps(done.stderr[:200])}")
