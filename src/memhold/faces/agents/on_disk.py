"""What coding agents have kept on this machine: which conversations, and whose memory each belongs to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from memhold.faces.agents.project import former_namespace, project_namespace, remote_identity
from memhold.faces.mcp.install import CLIENTS, Place
from memhold.transfer.opencode_sessions import database_of, sessions_in
from memhold.values.names import usable_name

__all__ = ["Kept", "kept_by"]

_LINES_LOOKED_AT = 50
"""In so many lines at its beginning a transcript says in which folder it was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One conversation: which agent kept it, where, how large it is (bytes), and the project that it belongs to.

    `former` is the namespace of that project's memory before its repository had a remote, where it has one now.
    `namespace` is None where it belongs to the person: it was held outside of any repository, or in one that is gone
    and that nothing names.
    """

    agent: str
    path: Path
    size: int
    namespace: str | None
    former: str | None = None


def kept_by(agent: str, place: Place) -> Iterator[Kept]:
    """The conversations of one agent, by where it keeps them; nothing where it has kept none.

    Raises:
        OSError: opencode's database is there and cannot be read.
    """
    if agent == "opencode":
        database = database_of(place.environment, place.home)
        for session in sessions_in(database) if database.is_file() else ():
            # What its agents ask each other is no conversation of a person's.
            if session.parent is None:
                folder = Path(session.folder)
                yield Kept(
                    agent=agent,
                    path=session.path,
                    size=session.size,
                    namespace=project_namespace(folder),
                    former=former_namespace(folder),
                )
        return
    for path in sorted(_transcripts(agent, place)):
        with suppress(OSError):
            if size := path.stat().st_size:
                namespace, former = _project_in(path)
                yield Kept(agent=agent, path=path, size=size, namespace=namespace, former=former)


def _transcripts(agent: str, place: Place) -> Iterator[Path]:
    if agent == "codex":
        home = CLIENTS[agent].path(place).parent
        yield from home.glob("sessions/**/*.jsonl")
        yield from home.glob("archived_sessions/**/*.jsonl")
    else:
        folder = place.environment.get("CLAUDE_CONFIG_DIR")
        yield from (Path(folder) if folder else place.home / ".claude").glob("projects/*/*.jsonl")


def _project_in(path: Path) -> tuple[str | None, str | None]:
    """The project of the folder that a transcript says it was written in, or of the remote that it names.

    With its former name, where it had one before the repository had a remote.
    """
    with path.open("rb") as file:
        for line in islice(file, _LINES_LOOKED_AT):
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if not isinstance(record, dict):
                continue
            told = record.get("payload") if record.get("type") == "session_meta" else record
            if isinstance(told, dict) and isinstance(folder := told.get("cwd"), str):
                place = Path(folder)
                return project_namespace(place) or _named_remote(told), former_namespace(place)
    return None, None


def _named_remote(told: dict[str, object]) -> str | None:
    git = told.get("git")
    url = git.get("repository_url") if isinstance(git, dict) else None
    identity = remote_identity(url) if isinstance(url, str) else None
    return None if identity is None else usable_name(f"project/{identity}")
