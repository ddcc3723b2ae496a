"""What each client tells a hook, and what it makes of what the hook says. Pure: values in, values out.

Written from what the binaries did: Claude Code 2.1.330, Codex 0.169.0, opencode 1.18.33 with Memhold's plug-in.
`reality/test_agents.py` holds them beside each other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

__all__ = ["AGENTS", "EVENTS", "Answer", "Client", "Told", "answer_of", "told_at"]

Client = Literal["claude-code", "codex", "opencode"]
AGENTS: tuple[Client, ...] = get_args(Client)
EVENTS: Mapping[Client, tuple[str, ...]] = {
    "claude-code": ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"),
    "codex": ("SessionStart", "UserPromptSubmit", "Stop"),
    "opencode": ("Wake", "SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd"),
}
"""The events that a double plays; of opencode those at which Memhold's plug-in calls a hook. Codex has one before a
compaction too, which could not be brought about."""
_SHOWN = ("SessionStart", "UserPromptSubmit")
"""The events at which the model is shown what a hook prints."""
_REFUSED = 2
"""The exit code by which a hook refuses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a client knows at an event. `prompt` is a number of the turn's, as clients that have one send it."""

    session: str
    transcript: str
    folder: str
    turn: str
    source: str = "startup"
    text: str = ""
    goes_on: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of a hook: what the model is shown, what the person is shown, and why it refused, where it did."""

    context: str = ""
    notice: str = ""
    refused: str | None = None


def told_at(client: Client, event: str, about: Told) -> dict[str, Any]:
    """What a hook of this client reads on standard input at an event."""
    common = {
        "session_id": about.session,
        "transcript_path": about.transcript,
        "cwd": about.folder,
        "hook_event_name": event,
    }
    match client:
        case "claude-code":
            return common | _of_claude(event, about)
        case "codex":
            of_turn = {} if event == "SessionStart" else {"turn_id": about.turn}
            more = {"model": "double", "permission_mode": "default", **of_turn}
            return common | more | _of_codex(event, about)
        case "opencode":
            if event == "Wake":
                return {"hook_event_name": event, "cwd": about.folder}
            of_event = {"SessionStart": {"source": about.source}, "UserPromptSubmit": {"prompt": about.text}}
            return common | of_event.get(event, {})


def _of_claude(event: str, about: Told) -> dict[str, Any]:
    turn = {"prompt_id": about.turn}
    match event:
        case "SessionStart":
            return {"source": about.source}
        case "UserPromptSubmit":
            return {**turn, "permission_mode": "default", "prompt": about.text}
        case "Stop":
            return {
                **turn,
                "permission_mode": "default",
                **_stopped(about),
                "background_tasks": [],
                "session_crons": [],
            }
        case "PreCompact":
            return {**turn, "trigger": "manual", "custom_instructions": None}
        case _:
            return {**turn, "reason": "other"}


def _of_codex(event: str, about: Told) -> dict[str, Any]:
    match event:
        case "SessionStart":
            return {"source": about.source}
        case "UserPromptSubmit":
            return {"prompt": about.text}
        case _:
            return _stopped(about)


def _stopped(about: Told) -> dict[str, Any]:
    return {"stop_hook_active": about.goes_on, "last_assistant_message": about.text}


def answer_of(client: Client, event: str, code: int | None, out: str, err: str) -> Answer:
    """What a client makes of a hook that ended with this code (None: it took too long) and printed this.

    What a hook prints counts where it ended with 0; 2 refuses, with the reason on standard error; anything else is a
    hook that failed, and the client goes on without it. opencode's plug-in looks at what is printed alone.
    """
    if client == "opencode":
        return Answer() if code is None else _of_object(_object(out), "", any_event=True)
    if code == _REFUSED:
        return Answer(refused=err.strip())
    if code != 0:
        return Answer()
    said = _object(out)
    if said is None:
        return Answer(context=out.strip() if event in _SHOWN else "")
    # Claude Code leaves out what was said for another event; Codex does not look.
    found = _of_object(said, event, any_event=client == "codex")
    if said.get("continue") is False:
        return Answer(notice=found.notice, refused=str(said.get("stopReason", "")))
    if said.get("decision") == "block":
        return Answer(notice=found.notice, refused=str(said.get("reason", "")))
    return found if event in _SHOWN else Answer(notice=found.notice)


def _of_object(said: Mapping[str, Any] | None, event: str, *, any_event: bool) -> Answer:
    if said is None:
        return Answer()
    named = said.get("hookSpecificOutput")
    named = named if isinstance(named, Mapping) and (any_event or named.get("hookEventName") == event) else {}
    return Answer(context=str(named.get("additionalContext") or ""), notice=str(said.get("systemMessage") or ""))


def _object(out: str) -> Mapping[str, Any] | None:
    try:
        found = json.loads(out)
    except ValueError:
        return None
    return found if isinstance(found, Mapping) else None
