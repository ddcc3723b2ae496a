"""Which transcripts of coding agents are to be taken in: notes beside the store, written without opening it.

A note names a transcript and whose memory it belongs to; it holds nothing of what was said, so there is nothing in it
to forget. It stays until its session has ended and the transcript was read to its end since, so a hook that was
cancelled costs nothing once another hook of the session has run.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from memhold.ports.data_home import data_home
from memhold.ports.durable_files import make_folder, sync_folder

__all__ = ["Due", "Note", "alone", "close_window", "due_in", "put_note", "settle_note", "spool_of", "waiting_in"]

_KEPT_SECONDS = 7 * 86_400
"""How long the note of a session that never ended is kept after its transcript last changed."""
_AWAITED_SECONDS = 86_400
"""How long a transcript that is not there yet is waited for: an agent calls its first hooks before it writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One session's transcript: where it is, whose memory it belongs to, and whether the session has ended."""

    transcript: str
    namespace: str
    user: str | None
    agent: str | None
    ended: bool
    session: str | None = None
    """What the client calls the session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A note whose transcript has changed since it was read, or whose window is to be closed.

    `size` and `changed` (ns) are those of now; `closing` is when (ns) the window was to be closed, where it was.
    """

    note: Note
    path: Path
    written: int
    size: int
    changed: int
    closing: int | None = None


def spool_of(location: str) -> Path:
    """The folder of notes for a store: beside its file, or in the user's data folder where it is no file."""
    place = location.removeprefix("sqlite:///")
    if "://" not in place:
        file = Path(place).expanduser().absolute()
        return file.with_name(f"{file.name}.spool")
    return data_home() / "spool" / hashlib.sha256(location.encode()).hexdigest()[:32]


def put_note(spool: Path, note: Note) -> None:
    """Write or renew the note of a transcript, for good: it outlives a power cut once this returns.

    Raises:
        OSError: it cannot be written; a note that was there stays.
    """
    make_folder(spool, mode=0o700)
    _replace(_file(spool, note.transcript), json.dumps(asdict(note)))


def close_window(spool: Path, transcript: str) -> None:
    """Have the session's window closed once its lines are in: the client is about to lose them from its own.

    Raises:
        OSError: it cannot be written.
    """
    make_folder(spool, mode=0o700)
    _replace(_file(spool, transcript).with_suffix(".close"), "")


def _file(spool: Path, transcript: str) -> Path:
    name = hashlib.sha256(transcript.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return spool / f"{name}.json"


def _replace(path: Path, text: str) -> None:
    handle, made = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(made).replace(path)
        sync_folder(path.parent)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise


@contextmanager
def alone(spool: Path) -> Iterator[bool]:
    """Whether this process is the one that takes in now; false where another one does, or there is nothing to do."""
    if not spool.is_dir():
        yield False
        return
    import fcntl

    with (spool / ".lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True


def due_in(spool: Path) -> list[Due]:
    """The notes whose transcripts are to be read, and away with those of which nothing more can come."""
    found = []
    for path in sorted(spool.glob("*.json")):
        try:
            written = path.stat().st_mtime_ns
            note = Note(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            continue
        try:
            state = Path(note.transcript).stat()
        except OSError:
            if time.time() - written / 1e9 > _AWAITED_SECONDS:
                _drop(path, written)
            continue
        closing = _written(path.with_suffix(".close"))
        if closing is not None or _seen(path) != (state.st_size, state.st_mtime_ns):
            size, changed = state.st_size, state.st_mtime_ns
            found.append(Due(note=note, path=path, written=written, size=size, changed=changed, closing=closing))
        elif note.ended or time.time() - state.st_mtime > _KEPT_SECONDS:
            _drop(path, written)
    return found


def settle_note(due: Due) -> None:
    """What was due was read: remember how far, or take the note away where its session has ended."""
    if due.closing is not None and _written(closed := due.path.with_suffix(".close")) == due.closing:
        closed.unlink(missing_ok=True)
    if due.note.ended and _drop(due.path, due.written):
        return
    _replace(due.path.with_suffix(".seen"), json.dumps([due.size, due.changed]))


def waiting_in(spool: Path) -> int:
    """How many transcripts are to be read."""
    return len(due_in(spool)) if spool.is_dir() else 0


def _written(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


def _seen(path: Path) -> tuple[int, int] | None:
    try:
        size, changed = json.loads(path.with_suffix(".seen").read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return None
    return size, changed


def _drop(path: Path, written: int) -> bool:
    """Take a note away, unless a hook has renewed it meanwhile."""
    with suppress(OSError):
        if path.stat().st_mtime_ns == written:
            path.unlink()
            for mark in (".seen", ".close"):
                path.with_suffix(mark).unlink(missing_ok=True)
            sync_folder(path.parent)
            return True
    return False
