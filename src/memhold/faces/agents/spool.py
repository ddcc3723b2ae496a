"""Which transcripts of coding agents are to be taken in: what hooks noted beside the store (`notes`).

A note names a transcript and whose memory it belongs to; it holds nothing of what was said, so there is nothing in it
to forget. It stays until its session has ended and the transcript was read to its end since, so a hook that was
cancelled costs nothing once another hook of the session has run.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from memhold.faces.agents.notes import spool_of
from memhold.ports.durable_files import replace_text, sync_folder

__all__ = [
    "Due",
    "Note",
    "Spooled",
    "alone",
    "due_in",
    "holding",
    "look_at",
    "newest_note",
    "settle_note",
    "spool_of",
]

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
    former: str | None = None
    """The namespace of the project's memory before its repository had a remote."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Spooled:
    """How the notes beside a store stand.

    `waiting` are transcripts that are still to be taken in, `unread` those that could not be read as any, `noted`
    all of them; `broken` are notes that nobody can read.
    """

    waiting: tuple[str, ...]
    unread: tuple[str, ...]
    broken: tuple[str, ...]
    noted: tuple[str, ...]


@contextmanager
def alone(spool: Path, *, seconds: float = 0.0) -> Iterator[bool]:
    """Whether this process is the one that takes in now; false where another one does, or there is nothing to do.

    Another one that is at it is waited for so many seconds.

    Raises:
        OSError: nobody can find out.
    """
    if not spool.is_dir():
        yield False
        return
    from memhold.ports.file_locks import try_lock

    with (spool / ".lock").open("a") as lock:
        ends = time.monotonic() + seconds
        while not try_lock(lock.fileno()):
            if time.monotonic() >= ends:
                yield False
                return
            time.sleep(0.02)
        yield True


def due_in(spool: Path) -> list[Due]:
    """The notes whose transcripts are to be read, and away with those of which nothing more can come."""
    from memhold.transfer.opencode_sessions import state_of

    found = []
    for path, written, note in _notes(spool):
        if note is None:
            continue
        try:
            state = state_of(Path(note.transcript))
        except OSError as error:
            awaited = _AWAITED_SECONDS if isinstance(error, FileNotFoundError) else _KEPT_SECONDS
            if time.time() - written / 1e9 > awaited:
                _drop(path, written)
            continue
        closing = _written(path.with_suffix(".close"))
        seen = _seen(path)
        if closing is not None or seen is None or seen[:2] != state:
            size, changed = state
            found.append(Due(note=note, path=path, written=written, size=size, changed=changed, closing=closing))
        elif note.ended or time.time() - state[1] / 1e9 > _KEPT_SECONDS:
            _drop(path, written)
    return found


def settle_note(due: Due, *, read: bool = True) -> None:
    """What was due was dealt with: remember how far, or take the note away where its session has ended.

    With `read` false it could not be read; it is looked at again when it changes.

    Raises:
        OSError: that cannot be written; it stays due.
    """
    if due.closing is not None and _written(closed := due.path.with_suffix(".close")) == due.closing:
        closed.unlink(missing_ok=True)
    if read and due.note.ended and _drop(due.path, due.written):
        return
    replace_text(due.path.with_suffix(".seen"), json.dumps([due.size, due.changed, read]))


def newest_note(location: str) -> Note | None:
    """The note that a hook left last for a store; None where there is none."""
    found = [(written, note) for _, written, note in _notes(spool_of(location)) if note is not None]
    return max(found, key=lambda one: one[0])[1] if found else None


def look_at(spool: Path) -> Spooled:
    """How the notes stand; nothing is changed."""
    from memhold.transfer.opencode_sessions import state_of

    waiting, unread, broken, noted = [], [], [], []
    for path, _, note in _notes(spool):
        if note is None:
            broken.append(str(path))
            continue
        try:
            state = state_of(Path(note.transcript))
        except FileNotFoundError:
            continue
        except OSError:
            noted.append(note.transcript)
            unread.append(note.transcript)
            continue
        noted.append(note.transcript)
        seen = _seen(path)
        if seen is None or seen[:2] != state:
            waiting.append(note.transcript)
        elif not seen[2]:
            unread.append(note.transcript)
    return Spooled(waiting=tuple(waiting), unread=tuple(unread), broken=tuple(broken), noted=tuple(noted))


def holding(spool: Path, text: str) -> tuple[str, ...]:
    """The noted transcripts in which a text stands, as it is or as JSON writes it."""
    forms = {text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
    needles = [form.encode("utf-8", "surrogatepass") for form in forms]
    return tuple(path for path in look_at(spool).noted if any(needle in _bytes_of(path) for needle in needles))


def _bytes_of(path: str) -> bytes:
    from memhold.transfer.opencode_sessions import document_of, is_session, state_of

    place = Path(path)
    try:
        state_of(place)  # what has no end is not read
        return document_of(place) if is_session(place) else place.read_bytes()
    except OSError:
        return b""


def _notes(spool: Path) -> Iterator[tuple[Path, int, Note | None]]:
    """Every note with the time at which it was written (ns); None where it is none that can be read."""
    for path in sorted(spool.glob("*.json")):
        try:
            written = path.stat().st_mtime_ns
            text = path.read_text(encoding="utf-8")
        except (OSError, ValueError):
            continue
        try:
            yield path, written, Note(**json.loads(text))
        except (ValueError, TypeError):
            yield path, written, None


def _written(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


def _seen(path: Path) -> tuple[int, int, bool] | None:
    """The size and time of the transcript when it was last dealt with, and whether it could be read."""
    try:
        size, changed, read = json.loads(path.with_suffix(".seen").read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return None
    return size, changed, read


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
