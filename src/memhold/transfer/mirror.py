"""Memory as two files that grep reads, beside the store: rewritten whole, or not at all."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256
from io import BufferedWriter
from pathlib import Path
from urllib.parse import quote

from memhold.ports import file_locks
from memhold.ports.durable_files import make_folder, sync_folder
from memhold.transfer.markdown import history_markdown, memory_markdown
from memhold.values.records import Memory, Scope

__all__ = ["mirror_files", "mirror_folder", "mirrored_rev", "try_lock", "write_mirror"]

LONGEST = 200
"""Longest name of a folder, in bytes."""
SUMMARIES = 100
"""How many windows `HISTORY.md` shows, the newest: more than grep reads at a glance is what recall is for."""
_PAGE = re.compile(r"^(\.(MEMORY|HISTORY)\.md\..*|(MEMORY|HISTORY)\.md)$")
_AS_OF = re.compile(r"^As of .{1,40} \(revision (\d{1,18})\)")


def mirror_folder(folder: Path, scope: Scope) -> Path:
    """Where a scope's files stand: a folder a namespace and user, whose names cannot lead out of `folder`."""
    return folder / _name(scope.namespace) / (_name(scope.user) if scope.user is not None else "_")


def _name(text: str) -> str:
    """Text as one name of a folder, each its own: all but letters, digits and `_-~` percent-encoded, dots too.

    A file system takes 255 bytes: of a longer name the end is a digest, behind a `%~` that no encoded text holds.
    """
    quoted = quote(text, safe="").replace(".", "%2E")
    if len(quoted) > LONGEST:
        return f"{quoted[: LONGEST - 66]}%~{sha256(text.encode()).hexdigest()}"
    return f"%{ord('_'):02X}" if quoted == "_" else quoted


def write_mirror(
    folder: Path, scope: Scope, memories: Iterable[Memory], *, now: datetime, rev: int, summaries: int = SUMMARIES
) -> Path:
    """Write `MEMORY.md` and `HISTORY.md` (the newest `summaries` windows) of a scope; returns their folder.

    Each file is replaced in one step, mode 0600, so that a reader sees the old text or the new one, and says as of when
    it holds: `now`, when the scope's index stood at `rev`. `HISTORY.md` goes first: `mirrored_rev` reads the other one.
    """
    held = list(memories)
    target = mirror_folder(folder, scope)
    make_folder(target, mode=0o700)
    as_of = f"As of {now:%Y-%m-%d %H:%M:%S} UTC (revision {rev}). Memhold writes this file; ask it for what holds now."
    for stray in (*target.glob(".MEMORY.md.*"), *target.glob(".HISTORY.md.*")):
        # Nobody else writes here now: a process that was killed left it, with what may have been forgotten since.
        stray.unlink(missing_ok=True)
    pages = {"HISTORY.md": history_markdown(held, limit=summaries), "MEMORY.md": memory_markdown(held, now=now)}
    for name, text in pages.items():
        title, _, rest = text.partition("\n")
        _replace(target / name, f"{title}\n\n{as_of}\n{rest}")
    return target


def mirror_files(folder: Path) -> dict[Path, str]:
    """Every file of every scope's mirror, also what a killed process left of one, and its name from the folder on."""
    found = sorted(path for path in folder.rglob("*.md*") if path.is_file() and _PAGE.match(path.name))
    return {path: str(path.relative_to(folder.parent)) for path in found}


def mirrored_rev(folder: Path, scope: Scope) -> int | None:
    """At which revision of the scope's index its files were written last; None where there are none to read."""
    try:
        with (mirror_folder(folder, scope) / "MEMORY.md").open(encoding="utf-8", errors="replace") as file:
            found = next((match for line in file.readlines(1000) if (match := _AS_OF.match(line))), None)
    except OSError:
        return None
    return None if found is None else int(found[1])


def try_lock(folder: Path) -> BufferedWriter | None:
    """The one writer's place over all processes, given back by closing it; None where somebody has it."""
    make_folder(folder, mode=0o700)
    held = (folder / ".lock").open("ab")
    if not file_locks.try_lock(held.fileno()):
        held.close()
        return None
    return held


def _replace(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
        sync_folder(path.parent)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
