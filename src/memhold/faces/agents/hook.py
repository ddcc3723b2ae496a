"""`memhold hook EVENT`: what a coding agent calls when something happened. It writes a note, and opens no store.

Run as `python -m memhold.faces.agents.hook` it loads a fraction of the command line. It never fails its client:
whatever goes wrong is one line on standard error, and the exit code is 0.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memhold.ports.data_home import default_db

__all__ = ["EVENTS", "main", "noted"]

EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact", "SessionEnd")
"""The events that are taken note of; any other is let pass."""
_OPTIONS = ("db", "namespace", "user", "agent", "session")
"""What may stand on the line; the session is the transcript's own, whatever is said of it."""


def noted(event: str, told: Mapping[str, Any], options: Mapping[str, str]) -> bool:
    """Take note of the transcript that a hook names; False where the event is none of ours, or names no transcript.

    In a repository it goes to the project's memory, outside of any to the person's own.

    Raises:
        OSError: the note cannot be written.
    """
    from memhold.faces.agents.project import project_namespace
    from memhold.faces.agents.spool import Note, put_note, spool_of

    transcript, folder = told.get("transcript_path"), told.get("cwd")
    if event not in EVENTS or not isinstance(transcript, str) or not transcript:
        return False
    project = project_namespace(Path(folder)) if isinstance(folder, str) and folder else None
    note = Note(
        transcript=str(Path(transcript).expanduser().absolute()),
        namespace=project or options.get("namespace") or "default",
        user=options.get("user"),
        agent=options.get("agent"),
        ended=event == "SessionEnd",
    )
    put_note(spool_of(options["db"]), note)
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Read what the client tells on standard input, and take note of it. Always 0."""
    try:
        event, options = _read(list(sys.argv[1:] if arguments is None else arguments))
        told = json.loads(sys.stdin.buffer.read() or b"{}")
        if isinstance(told, dict):
            noted(event or str(told.get("hook_event_name", "")), told, options)
    except Exception as error:  # noqa: BLE001 - the client must go on, whatever it is
        sys.stderr.write(f"memhold hook: nothing was noted ({type(error).__name__})\n")
    return 0


def _read(arguments: list[str]) -> tuple[str, dict[str, str]]:
    event = ""
    options = {name: value for name in _OPTIONS if (value := os.environ.get(f"MEMHOLD_{name.upper()}"))}
    while arguments:
        word = arguments.pop(0)
        name, sign, value = word.removeprefix("--").partition("=")
        if word.startswith("--") and name in _OPTIONS:
            options[name] = value if sign else arguments.pop(0)
        elif not word.startswith("-"):
            event = word
    if "db" not in options:
        options["db"] = default_db()
    return event, options


if __name__ == "__main__":
    sys.exit(main())
