"""The sockets that a server takes connections from: its own, or those that systemd opened for it."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import MutableMapping, Sequence
from typing import Final

from memhold.server.guard_rules import is_loopback
from memhold.server.settings import ServeSettings
from memhold.values.errors import InvalidSetting

__all__ = ["BACKLOG", "activated", "address_of_socket", "bound", "exposed", "listening", "url_of"]

BACKLOG: Final = 2048
_FIRST: Final = 3
_LOOPBACK: Final = "127.0.0.1"
_UNIX: Final = getattr(socket, "AF_UNIX", None)
"""Sockets of files; Windows' Python has none."""


def listening(
    settings: ServeSettings, environment: MutableMapping[str, str] | None = None
) -> tuple[list[socket.socket], str]:
    """The sockets to serve on, and the host that a server goes by there.

    Those that the process was started with (`LISTEN_FDS`), else one at the address of the settings.

    Raises:
        InvalidSetting: nothing can listen there, or what was handed over is no socket that listens.
    """
    given = activated(os.environ if environment is None else environment)
    if not given:
        return [bound(settings)], settings.host
    _raise_file_limit()
    return given, exposed(given)


def activated(environment: MutableMapping[str, str]) -> list[socket.socket]:
    """The sockets that systemd opened for this process (sd_listen_fds(3)); none where it opened none.

    The variables are taken out of the environment: they are not for processes that this one starts.

    Raises:
        InvalidSetting: what was handed over is no stream socket that listens.
    """
    whose, many = environment.pop("LISTEN_PID", ""), environment.pop("LISTEN_FDS", "")
    environment.pop("LISTEN_FDNAMES", None)
    if whose != str(os.getpid()) or not many.isdecimal():
        return []
    return [_taken(number) for number in range(_FIRST, _FIRST + int(many))]


def _taken(number: int) -> socket.socket:
    said = f"the file {number} that this was started with is no socket that listens; see deploy/memhold.socket"
    try:
        os.set_inheritable(number, False)
        found = socket.socket(fileno=number)
    except OSError:
        raise InvalidSetting(said, name="LISTEN_FDS") from None
    stream = found.type == socket.SOCK_STREAM and found.family in {socket.AF_INET, socket.AF_INET6, _UNIX}
    if not stream or not found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        found.close()
        raise InvalidSetting(said, name="LISTEN_FDS")
    return found


def bound(settings: ServeSettings) -> socket.socket:
    """A socket at the address, which does not listen yet.

    Raises:
        InvalidSetting: nothing can listen there.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Named as TCP, or asyncio leaves Nagle's algorithm on and an answer waits 40 ms for the client's acknowledgement.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((settings.host, settings.port))
    except OSError as error:
        sock.close()
        said = f"cannot listen on {settings.host}:{settings.port}: {error.strerror}; choose another port or address"
        raise InvalidSetting(said, name="port") from None
    _raise_file_limit()
    return sock


def address_of_socket(sock: socket.socket) -> tuple[str, int] | None:
    """The address and port of a socket; None for one that has a path in the place of them."""
    if sock.family == _UNIX:
        return None
    host, port = sock.getsockname()[:2]
    return host, port


def exposed(socks: Sequence[socket.socket]) -> str:
    """The address by which others reach a server the farthest: the first beyond loopback, where there is one."""
    hosts = [found[0] for found in map(address_of_socket, socks) if found is not None]
    return next((host for host in hosts if not is_loopback(host)), hosts[0] if hosts else _LOOPBACK)


def url_of(socks: Sequence[socket.socket], *, tls: bool) -> str:
    """The address of the first socket as a client writes it."""
    found = address_of_socket(socks[0])
    if found is None:
        return f"unix:{socks[0].getsockname()}"
    host, port = found
    return f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"


def _raise_file_limit() -> None:
    """As many connections as the system allows: the soft limit is often 1,024. Windows has no such limit."""
    try:
        import resource
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
