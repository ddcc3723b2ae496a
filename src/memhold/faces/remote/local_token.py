"""The token that a server on loopback makes at its start, where there are no others, and how a client finds it.

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
from pathlib import Path
from urllib.parse import urlsplit

from memhold.ports.data_home import home

__all__ = ["kept_local_token", "local_token_of", "local_token_path"]


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
    path.parent.mkdir(parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    # Made anew and then put into its place: a file that stood there may be open to others.
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="ascii") as out:
        out.write(f"{token}\n")
    fresh.replace(path)
    try:
        yield path
    finally:
        with contextlib.suppress(OSError):
            if path.read_text(encoding="ascii").strip() == token:
                path.unlink()


def local_token_of(url: str) -> str | None:
    """The token of the server at an address of loopback, where this account has it; None for any other address."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        if parts.scheme != "http" or not (host == "localhost" or ipaddress.ip_address(host).is_loopback):
            return None
        text = local_token_path(port or 80).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None
    return text or None
