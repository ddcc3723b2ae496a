"""Importing the MCP SDK without its client half, for a server that a person waits for.

The package's own `__init__` modules load the client, an HTTP client and a framework that a server never calls: more
than half of the time that importing takes. Here the two packages are put in place
without running these, so that `mcp.server.lowlevel` and what it needs load and nothing else does.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

__all__ = ["load_sdk", "need_server"]

_BARE = ("mcp", "mcp.server")
_NEEDED = ("mcp.server.lowlevel.server", "memhold.faces.mcp.server")


def need_server() -> None:
    """Say what to install where the SDK is not there.

    Raises:
        ModuleNotFoundError: it is not.
    """
    try:
        found = find_spec("mcp_types") and find_spec("mcp")
    except (ImportError, ValueError):
        found = None
    if not found:
        raise ModuleNotFoundError("MCP needs packages that are not installed; run: pip install 'memhold[server]'")


def load_sdk() -> None:
    """Import what a server needs. Where the light way fails, everything is imported instead.

    Only for a process that serves and does nothing else: names that `mcp` exports itself are not there afterwards.

    Raises:
        ModuleNotFoundError: the SDK is not installed.
    """
    need_server()
    with _no_collecting():
        if not any(name in sys.modules for name in _BARE):
            try:
                _load(light=True)
            except (ImportError, AttributeError):
                for name in [name for name in sys.modules if name == "mcp" or name.startswith("mcp.")]:
                    del sys.modules[name]
        _load(light=False)


def _load(*, light: bool) -> None:
    if light:
        for name in _BARE:
            _bare(name)
    for name in _NEEDED:
        import_module(name)


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Importing makes half a million objects that all stay: looking for garbage in them is a fifth of its time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _bare(name: str) -> None:
    """The package as an import finds it, its submodules reachable, without running its `__init__`."""
    parent, _, last = name.rpartition(".")
    if parent:
        folders = [f"{folder}/{last}" for folder in sys.modules[parent].__path__]
    else:
        spec = find_spec(name)
        folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    package = ModuleType(name)
    package.__path__ = folders
    sys.modules[name] = package
    if parent:
        setattr(sys.modules[parent], last, package)
