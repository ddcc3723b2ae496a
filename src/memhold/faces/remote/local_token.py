"""The token of a server that this account has: a server on loopback made it at its start, or it was kept here.

Every account of a machine can open a connection to loopback, and none but its owner the file: so whoever may read the
store may ask the server, and nobody else.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from memhold.ports.data_home import home

__all__ = ["keep_token", "kept_local_token", "local_token_of", "local_token_path"]


def local_token_path(port: int) -> Path:
    """The file for the server at that port of loopback: in a folder of this account that nobody else can open."""
    if sys.platform == "darwin":
        base = home() / "Library" / "Application Support"
    else:
        given = Path(os.environ.get("XDG_STATE_HOME", ""))  # a relative one counts for nothing: see `data_home`
        base = given if given.is_absolute() else home() / ".local" / "state"
    return base / "memhold" / "servers" / f"loopback-{port}.token"


@contextmanager
def kept_local_token(port: int, token: str) -> Iterator[Path]:
    """Keep a token in its file while the server runs, readable by this account alone.

    Raises:
        OSError: it cannot be written.
    """
    path = local_token_path(port)
    _write(path, token)
    try:
        yield path
    finally:
        with contextlib.suppress(OSError):
            if path.read_text(encoding="ascii").strip() == token:
                path.unlink()


def keep_token(url: str, token: str) -> Path:
    """Keep the token with which this account asks a server, readable by this account alone.

    Raises:
        OSError: it cannot be written.
    """
    path = _kept_path(url)
    _write(path, token)
    return path


def local_token_of(url: str) -> str | None:
    """The token that this account has for the server at an address; None where it has none.

    One that was kept comes before the one that a server on loopback made at its start.
    """
    for path in (_kept_path(url), _loopback_path(url)):
        with contextlib.suppress(OSError, ValueError):
            if path is not None and (text := path.read_text(encoding="ascii").strip()):
                return text
    return None


def _kept_path(url: str) -> Path:
    return local_token_path(0).with_name(f"{sha256(url.rstrip('/').encode()).hexdigest()[:24]}.token")


def _loopback_path(url: str) -> Path | None:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        own = parts.scheme == "http" and (host == "localhost" or ipaddress.ip_address(host).is_loopback)
    except ValueError:
        return None
    return local_token_path(port or 80) if own else None


def _write(path: Path, token: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    # Made anew and then put into its place: a file that stood there may be open to others.
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="ascii") as out:
        out.write(f"{token}\n")
    fresh.replace(path)
