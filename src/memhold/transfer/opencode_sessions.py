"""Sessions inside opencode's database, each read as the document that `opencode export` writes of it.

opencode keeps no transcripts in files. A session there is named by a path all the same: the database's, and below it
the session's id (`opencode.db/ses_…`). Nothing is copied to the disk, and the database is only read.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Session", "database_of", "document_of", "is_session", "sessions_in", "state_of"]

_PREFIX = "ses_"
_WAIT_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session of the database: its path, the folder that it worked in, and the session that it was started from.

    `size` is how much text its parts are, in bytes.
    """

    path: Path
    folder: str
    size: int
    parent: str | None


def database_of(environment: Mapping[str, str], home: Path) -> Path:
    """Where opencode 1.18 keeps its sessions on this machine."""
    folder = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share") / "opencode"
    return folder / (environment.get("OPENCODE_DB") or "opencode.db")


def is_session(path: Path) -> bool:
    """Whether a path names a session inside a database, and not a file."""
    return path.name.startswith(_PREFIX) and path.parent.is_file()


def sessions_in(database: Path) -> list[Session]:
    """The sessions of a database, oldest first.

    Raises:
        OSError: it is no database of opencode, or cannot be read.
    """
    with _opened(database) as connection:
        listed = (
            "SELECT id, directory, parent_id, (SELECT coalesce(sum(length(data)), 0) FROM part WHERE session_id = s.id)"
            " FROM session AS s ORDER BY time_created, id"
        )
        rows = connection.execute(listed).fetchall()
    return [
        Session(path=database / ident, folder=folder, parent=parent, size=size) for ident, folder, parent, size in rows
    ]


def document_of(path: Path) -> bytes:
    """A session as `opencode export` writes it, from one snapshot.

    Raises:
        OSError: there is no such session, or the database cannot be read.
    """
    with _opened(path.parent) as connection:
        connection.execute("BEGIN")
        found = connection.execute("SELECT id, directory, parent_id FROM session WHERE id = ?", (path.name,)).fetchone()
        if found is None:
            raise FileNotFoundError(f"{path}: opencode has no such session")
        parts: dict[str, list[dict[str, object]]] = {}
        listed = "SELECT message_id, id, data FROM part WHERE session_id = ? ORDER BY id"
        for message, ident, data in connection.execute(listed, (path.name,)):
            parts.setdefault(message, []).append({**_object(data), "id": ident})
        listed = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
        messages = [
            {"info": _object(data) | {"id": ident}, "parts": parts.get(ident, [])}
            for ident, data in connection.execute(listed, (path.name,))
        ]
    info = {"id": found[0], "directory": found[1], "parentID": found[2]}
    return json.dumps({"info": info, "messages": messages}, ensure_ascii=True).encode()


def state_of(path: Path) -> tuple[int, int]:
    """What changes with a transcript: a file's size and time (ns); a session's count of rows, and its newest time.

    Raises:
        OSError: it is not there, or it is no file: a folder, a pipe and a device have no end.
    """
    if not is_session(path):
        try:
            found = path.stat()
        except ValueError:
            raise FileNotFoundError(f"{path!r}: no file can be called so") from None
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{path}: it is no file")
        return found.st_size, found.st_mtime_ns
    with _opened(path.parent) as connection:
        counted = (
            "SELECT count(*), max(time_updated) FROM (SELECT time_updated FROM message WHERE session_id = :session "
            "UNION ALL SELECT time_updated FROM part WHERE session_id = :session)"
        )
        rows, newest = connection.execute(counted, {"session": path.name}).fetchone()
    if not rows:
        raise FileNotFoundError(f"{path}: nothing was said in it")
    return rows, int(newest) * 1_000_000


def _object(data: str) -> dict[str, object]:
    found = json.loads(data)
    return found if isinstance(found, dict) else {}


@contextmanager
def _opened(database: Path) -> Iterator[sqlite3.Connection]:
    """The database, to read; whatever is wrong with it is an `OSError`."""
    try:
        if not database.is_file():
            raise FileNotFoundError(f"{database}: there is no such file")
        uri = f"{Path(os.path.realpath(database)).as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, timeout=_WAIT_SECONDS, isolation_level=None)) as connection:
            yield connection
    except (sqlite3.Error, ValueError) as error:
        raise OSError(f"{database}: it cannot be read as opencode's sessions ({error})") from error
