"""`memhold hook EVENT`: what a coding agent calls when something happened. It writes a note, and opens no store.

Where a session starts and where the user says something, it asks the Memhold that runs for this store what to tell the
model, and waits 300 ms at most, a prompt 1.5 s while that is being started. Run as
`python -m memhold.faces.agents.hook` it loads a fraction of the command line.
It never fails its client: whatever goes wrong is said once a session, and the exit code is 0.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path

TYPE_CHECKING = False  # type checkers take it for true; what a hook loads holds its client up
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

__all__ = ["EVENTS", "MODULE", "WAKE", "handled", "main", "noted", "set_up_by_hand"]

EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact", "SessionEnd")
"""The events that are taken note of; any other is let pass."""
WAKE = "Wake"
"""A client is there, and no session yet: a Memhold is started, so that the first session finds one that is open."""
MODULE = "memhold.faces.agents.hook"
PLUGIN = "plugin"
"""The option by which the hooks of a client's plug-in say that they are."""
_ASKED = ("SessionStart", "UserPromptSubmit", WAKE)
_CLOSE = ("PreCompact", "SessionEnd")
"""The events with which the session's window is over: it is kept, and due for the models that consolidate."""
_OPTIONS = ("db", "namespace", "user", "agent", "session")
"""What may stand on the line; the session is the transcript's own, whatever is said of it."""
_ASKED_EVERY, _LEAST = 0.02, 0.1
"""How often one that has been started is asked whether it is there, and how long it is waited for at least."""
_STARTS_SECONDS = 10.0
"""How long one that was started may take before a prompt is told of it."""
_PROMPT_CHARS = 4_000
"""As much of a prompt is asked about, half of it from its end: what is pasted into one stands behind or before what is
asked. A question may have 10,000, and one of so many takes longer than a hook waits on a busy machine."""


class _Event:
    """What happened, in which session of which transcript, and whose memory that is about."""

    __slots__ = (
        "agent",
        "db",
        "folder",
        "former",
        "name",
        "namespace",
        "project",
        "prompt",
        "session",
        "source",
        "transcript",
        "user",
    )

    def __init__(self, name: str, told: Mapping[str, Any], options: Mapping[str, str]) -> None:
        from memhold.faces.agents.project import former_namespace, note_project, project_namespace

        folder, transcript = _text(told, "cwd"), _path(told, "transcript_path")
        self.name, self.folder = name, folder
        self.db = options["db"]
        self.transcript = None if transcript is None else _absolute(Path(transcript))
        self.session = _text(told, "session_id")
        self.source = _text(told, "source")
        self.prompt = _ends_of(_text(told, "prompt") or "")
        if folder is not None and name in EVENTS:
            note_project(Path(folder))  # what is worked in now may stand elsewhere the next time
        self.project = None if folder is None else project_namespace(Path(folder))
        self.former = None if folder is None else former_namespace(Path(folder))
        self.namespace = options.get("namespace") or "default"
        self.user = options.get("user")
        self.agent = options.get("agent")


def handled(event: str, told: Mapping[str, Any], options: Mapping[str, str]) -> dict[str, Any] | None:
    """Take note of the transcript that a hook names, and say what its client is to be told; None where nothing is.

    In a repository a session goes to the project's memory, outside of any to the person's own. Nothing is done where
    the event is none of ours. No failure leaves: it is told, once a session.
    """
    if event not in (*EVENTS, WAKE):
        return None
    happened = _Event(event, told, options)
    trouble = None
    try:
        _take_note(happened)
    except OSError as error:
        trouble = f"nothing of this session can be kept ({_why(error)})"
    text, off = _asked(happened)
    said: dict[str, Any] = {}
    if text:
        said["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": text}
    if (why := trouble or off) is not None and _first_time(happened):
        said["systemMessage"] = f"Memhold: memory is off for now: {why}"
    return said or None


def set_up_by_hand() -> bool:
    """Whether 'memhold agent install' has written hooks for Claude Code: those of its plug-in stand back then."""
    folder = os.environ.get("CLAUDE_CONFIG_DIR")
    settings = (Path(folder) if folder else Path.home() / ".claude") / "settings.json"
    try:
        return f"-m {MODULE} ".encode() in settings.read_bytes()
    except OSError:
        return False


def noted(event: str, told: Mapping[str, Any], options: Mapping[str, str]) -> bool:
    """Take note of the transcript that a hook names; False where the event is none of ours, or names no transcript.

    Raises:
        OSError: the note cannot be written.
    """
    return event in EVENTS and _take_note(_Event(event, told, options))


def _text(told: Mapping[str, Any], name: str) -> str | None:
    found = told.get(name)
    return found if isinstance(found, str) and found else None


def _ends_of(prompt: str) -> str:
    half = _PROMPT_CHARS // 2
    return prompt if len(prompt) <= _PROMPT_CHARS else f"{prompt[: half - 1]}\n{prompt[-half:]}"


def _path(told: Mapping[str, Any], name: str) -> str | None:
    """A path that a file can have; None where none is told, and where no file can be called so."""
    found = _text(told, name)
    try:
        return None if found is None or b"\0" in os.fsencode(found) else found
    except UnicodeEncodeError:
        return None


def _absolute(path: Path) -> str:
    with suppress(RuntimeError):  # a `~` of nobody's stays as it is
        path = path.expanduser()
    return str(path.absolute())


def _take_note(happened: _Event) -> bool:
    from memhold.faces.agents.notes import close_window, put_note, spool_of

    if happened.transcript is None:
        return False
    spool = spool_of(happened.db)
    try:
        if happened.name in _CLOSE:
            close_window(spool, happened.transcript)
    finally:  # where the one cannot be written, the other may: a note that is there already, say
        put_note(
            spool,
            happened.transcript,
            whose=(happened.project or happened.namespace, happened.user, happened.agent),
            session=happened.session,
            former=happened.former,
            ended=happened.name == "SessionEnd",
        )
    return True


def _asked(happened: _Event) -> tuple[str, str | None]:
    """What the running Memhold says for the model, and why memory is off, where it is.

    What a session is told at its start, and was not ready then, is owed: the first prompt that is answered brings it.
    At any other event nobody is asked: whoever runs looks at the notes every other second.
    """
    if happened.name not in _ASKED:
        return "", None
    from memhold.faces.agents.running import ANSWER_SECONDS, NotRunning

    request = {
        "event": happened.name,
        "project": happened.project,
        "folder": happened.folder,
        "former": happened.former,
        "namespace": happened.namespace,
        "user": happened.user,
        "agent": happened.agent,
        "session": happened.session,
        "source": happened.source,
        "prompt": happened.prompt,
    }
    starts = happened.name == "SessionStart"
    owed = _mark(happened, "owed")
    try:
        answer = _answer(happened, {**request, "owed": owed is not None and owed.exists()}, owed)
    except (NotRunning, OSError) as error:
        if starts:
            _leave(owed)
        return "", str(error) or None if isinstance(error, NotRunning) else _why(error)
    if answer is None or answer.get("state") != "ready":
        if starts:
            _leave(owed)
        if answer is not None:
            return "", _string(answer.get("why")) or None
        if owed is not None and _age(owed) < _STARTS_SECONDS:
            return "", None  # it may be starting still
        # Once that is a busy machine, twice in a row it is a memory that is off.
        again = not _leave(_mark(happened, "late"))
        return "", f"it did not answer within {ANSWER_SECONDS * 1000:.0f} ms" if again else None
    for mark in (owed, _mark(happened, "late")):
        if mark is not None:
            with suppress(OSError):
                mark.unlink(missing_ok=True)
    return _string(answer.get("text")), None


def _answer(happened: _Event, request: Mapping[str, Any], owed: Path | None) -> dict[str, Any] | None:
    """What the one that runs says; where none does it is started, and a prompt waits longer while it opens the store.

    At a start nobody waits, since nobody knows yet whether the store can be opened this time: the first prompt tells.

    Raises:
        NotRunning: none runs, with why where that is known.
        OSError: it cannot be met, or started.
    """
    import time

    from memhold.faces.agents.running import AGAIN_SECONDS, START_SECONDS, NotRunning, ask, why_off
    from memhold.faces.agents.starting import start

    prompts = happened.name == "UserPromptSubmit"
    begun = prompts and owed is not None and _age(owed) < AGAIN_SECONDS and why_off(happened.db) is None
    started, ends = False, time.monotonic() + START_SECONDS
    while True:
        left = ends - time.monotonic()
        try:
            if not begun:
                return ask(happened.db, request)
            return ask(happened.db, {**request, "waits": left}, seconds=max(left, _LEAST))
        except NotRunning:
            if prompts and (why := why_off(happened.db, within=AGAIN_SECONDS)) is not None:
                raise NotRunning(why) from None
        if not started and (not begun or left < START_SECONDS / 2):
            start(happened.db)
            started = begun = True
        if not prompts or left <= 0:
            raise NotRunning((why_off(happened.db) or "") if prompts else "")
        time.sleep(_ASKED_EVERY)


def _age(mark: Path) -> float:
    """How many seconds ago a file was made; of none without an end."""
    import time

    try:
        return abs(time.time() - mark.stat().st_mtime)
    except OSError:
        return float("inf")


def _why(error: OSError) -> str:
    return error.strerror or str(error) or type(error).__name__


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _first_time(happened: _Event) -> bool:
    """Whether trouble was not told of yet in this session; where nothing can be kept, its start alone tells."""
    told = _mark(happened, "told")
    if told is None or not _leave(told):
        return happened.name == "SessionStart"
    return True


def _mark(happened: _Event, name: str) -> Path | None:
    """A place for an empty file about a session, beside where the running Memhold is met; None where there is none."""
    from hashlib import sha256

    from memhold.faces.agents.running import meeting_place

    try:
        place = meeting_place(happened.db)
    except OSError:
        return None
    session = sha256(f"{happened.session}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return place.with_name(f"{place.stem}-{session}.{name}")


def _leave(mark: Path | None) -> bool:
    """Make such a file; False where it is there, or cannot be made."""
    try:
        if mark is not None:
            mark.touch(mode=0o600, exist_ok=False)
    except OSError:
        return False
    return mark is not None


def main(arguments: Sequence[str] | None = None) -> int:
    """Read what the client tells on standard input, take note of it, and print what it is to be told. Always 0."""
    try:
        event, options = _read(list(sys.argv[1:] if arguments is None else arguments))
        told = json.loads(sys.stdin.buffer.read() or b"{}")
        if isinstance(told, dict) and not (PLUGIN in options and set_up_by_hand()):
            said = handled(event or str(told.get("hook_event_name", "")), told, options)
            if said is not None:
                sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()
    except Exception as error:  # noqa: BLE001 - the client must go on, whatever it is
        _let_pass(error)
    return 0


def _let_pass(error: Exception) -> None:
    """Say that nothing was done, where somebody listens; what cannot be written is not tried once more at the end."""
    with suppress(Exception):
        sys.stderr.write(f"memhold hook: nothing was done ({type(error).__name__})\n")
        sys.stderr.flush()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, AttributeError):
            # Python would fail at its end, with an exit code that a client takes for a refusal.
            with suppress(Exception):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _read(arguments: list[str]) -> tuple[str, dict[str, str]]:
    event = ""
    options = {name: value for name in _OPTIONS if (value := os.environ.get(f"MEMHOLD_{name.upper()}"))}
    while arguments:
        word = arguments.pop(0)
        name, sign, value = word.removeprefix("--").partition("=")
        if word == f"--{PLUGIN}":
            options[PLUGIN] = "yes"
        elif word.startswith("--") and name in _OPTIONS:
            options[name] = value if sign else arguments.pop(0)
        elif not word.startswith("-"):
            event = word
    if not options.get("db"):
        from memhold.ports.data_home import default_db

        options["db"] = default_db()
    return event, options


if __name__ == "__main__":
    sys.exit(main())
