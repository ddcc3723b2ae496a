"""What a hook leaves beside a store: a note of a transcript, and that its session's window is to be closed.

A hook holds up its client, so this loads next to nothing; `spool` reads what is left here.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

from memhold.ports.data_home import data_home, file_of
from memhold.ports.durable_files import make_folder, replace_text, sync_folder

__all__ = ["close_window", "put_note", "spool_of"]

_LEFT_SECONDS = 3_600
"""A note that says the same and is younger than this is left as it is."""


def spool_of(location: str) -> Path:
    """The folder of notes for a store: beside its file, or in the user's data folder where it is no file."""
    file = file_of(location)
    if file is not None:
        return file.with_name(f"{file.name}.spool")
    return data_home() / "spool" / sha256(location.encode()).hexdigest()[:32]


def put_note(
    spool: Path,
    transcript: str,
    *,
    whose: tuple[str, str | None, str | None],
    session: str | None = None,
    former: str | None = None,
    ended: bool = False,
) -> None:
    """Write or renew the note of a transcript, for good: it outlives a power cut once this returns.

    `former` is the namespace in which the session's lines may stand already: the project's, before it had a remote.
    `session` is what the client calls the session, and `ended` whether it is over: its note goes once the transcript
    was read to its end.

    `whose` is its namespace, user and agent.

    Raises:
        OSError: it cannot be written; a note that was there stays.
    """
    make_folder(spool, mode=0o700)
    told = {
        "transcript": transcript,
        **dict(zip(("namespace", "user", "agent"), whose, strict=True)),
        "ended": ended,
        "session": session,
        "former": former,
    }
    path, text = _file(spool, transcript), json.dumps(told)
    # One of a session that ended may be about to go: it is always renewed.
    if not ended and _stands(path, text):
        sync_folder(spool)  # the hook that wrote it may have been killed before it did
    else:
        replace_text(path, text)


def close_window(spool: Path, transcript: str) -> None:
    """Have the session's window closed once its lines are in: the client is about to lose them from its own.

    Raises:
        OSError: it cannot be written.
    """
    make_folder(spool, mode=0o700)
    replace_text(_file(spool, transcript).with_suffix(".close"), "")


def _stands(path: Path, text: str) -> bool:
    import time

    try:
        age = time.time() - path.stat().st_mtime
        return 0 <= age < _LEFT_SECONDS and path.read_text(encoding="utf-8") == text
    except (OSError, ValueError):
        return False


def _file(spool: Path, transcript: str) -> Path:
    name = sha256(transcript.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return spool / f"{name}.json"
