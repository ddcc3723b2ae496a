"""Memory as two files that grep reads, beside the store: rewritten whole, or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from holdfast.model import Memory, Scope
from holdfast.transfer.markdown import history_markdown, memory_markdown

__all__ = ["mirror_folder", "write_mirror"]


def mirror_folder(folder: Path, scope: Scope) -> Path:
    """Where a scope's files stand: a folder a namespace and user, whose names cannot lead out of `folder`."""
    return folder / _name(scope.namespace) / (_name(scope.user) if scope.user is not None else "_")


def _name(text: str) -> str:
    """Text as one name of a folder: everything but letters, digits and `_-~` is percent-encoded, dots too."""
    quoted = quote(text, safe="").replace(".", "%2E")
    return f"%{ord('_'):02X}" if quoted == "_" else quoted[:200]


def write_mirror(folder: Path, scope: Scope, memories: Iterable[Memory], *, now: datetime, summaries: int) -> Path:
    """Write `MEMORY.md` and `HISTORY.md` (the newest `summaries` windows) of a scope; returns their folder.

    Each file is replaced in one step, mode 0600, so that a reader sees the old text or the new one.
    """
    held = list(memories)
    target = mirror_folder(folder, scope)
    target.mkdir(parents=True, exist_ok=True, mode=0o700)
    _replace(target / "MEMORY.md", memory_markdown(held, now=now))
    _replace(target / "HISTORY.md", history_markdown(held, limit=summaries))
    return target


def _replace(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
