"""Setting a coding agent up: its MCP entry and its hooks, or our plug-in, go into its own files, and out again.

What was there stays. Our part of a file is known by what we write into it, so taking it out leaves the rest as it is
now, also where the user changed it since.
"""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memhold.faces.agents.hook import EVENTS, MODULE
from memhold.faces.mcp.install import (
    CLIENTS,
    Place,
    bring_back,
    changed_json,
    install,
    is_installed,
    planned,
    python_alone,
    remove,
    with_entry,
    without_entry,
)
from memhold.values.errors import InvalidInput

__all__ = ["AGENTS", "HOOK_SECONDS", "PLUG_IN", "SetUp", "hooks_of", "set_up", "state_of", "take_out"]

AGENTS: Mapping[str, Sequence[str]] = {
    "claude-code": ("SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd"),
    "codex": ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact"),
    "opencode": ("SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd"),
}
"""Each agent, and the events whose hooks we set up. One at the end of a turn would say what the prompt's said, and hold
each turn up (decision 0045); Codex, which has none for the end of a session, has no later one."""
PLUG_IN = Path(__file__).with_name("opencode.ts")
"""Our plug-in for opencode, which calls the hook; `plugins/opencode` makes the package for npm from it."""
HOOK_SECONDS = 5
"""What a hook may take before its client goes on without it; it takes a small part of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUp:
    """What an agent has of Memhold: the tools, and the events whose hooks call it; with the files that say so.

    `note` is what is amiss with the hooks still, and what to do about it; empty where nothing is.
    """

    agent: str
    tools: bool
    hooks: tuple[str, ...]
    files: tuple[str, ...]
    note: str = ""


def hooks_of(agent: str, place: Place) -> Path:
    """The file in which an agent is told what to call: hooks, or plug-ins."""
    if agent == "codex":
        return CLIENTS[agent].path(place).with_name("hooks.json")
    if agent == "opencode":
        return CLIENTS[agent].path(place)
    folder = place.environment.get("CLAUDE_CONFIG_DIR")
    return (Path(folder) if folder else place.home / ".claude") / "settings.json"


def set_up(agent: str, server: Sequence[str], options: Sequence[str], place: Place) -> SetUp:
    """Write the entry of the server, and the hooks or the plug-in that calls them; both, or neither.

    Writing again changes nothing.

    Raises:
        InvalidInput: a file cannot be read as what it should be; it was left as it is.
        OSError: a file cannot be written.
    """
    path = hooks_of(agent, place)
    # A hook runs in the folder of a project, and what is called `json.py` there is no module of ours.
    command = [*python_alone(place.environment), "-m", MODULE]
    if agent == "opencode":
        # Both stand in one file, which is changed once: the copy beside it is of what the user had.
        hook = [*command, *options]
        new = not state_of(agent, place).hooks and not is_installed(agent, place)
        changed_json(path, lambda held: with_entry(agent, _with_plug_in(held, hook, path), server, path), keep=new)
        return state_of(agent, place)
    planned(agent, server, place)  # a file that cannot be changed is told of before another one is
    commands = {event: [*command, event, *options] for event in AGENTS[agent]}
    changed_json(path, lambda held: _with_hooks(held, commands, path), keep=not state_of(agent, place).hooks)
    try:
        install(agent, server, place)
    except BaseException:
        changed_json(path, lambda held: _without_hooks(held, path), keep=False)
        bring_back(agent, path)
        raise
    return state_of(agent, place)


def take_out(agent: str, place: Place) -> SetUp:
    """Take our part out of the agent's files; what else stands in them stays.

    Where the files hold the same again as before us, they are the same byte for byte, and the copies are gone. A file
    in which nothing else stands goes, and with it the agent's own folder, where nothing else is in that.

    Raises:
        InvalidInput: a file cannot be read as what it should be; it was left as it is.
        OSError: a file cannot be written.
    """
    path = hooks_of(agent, place)
    there = {file for file in (path, CLIENTS[agent].path(place)) if file.exists()}
    if agent == "opencode":
        changed_json(path, lambda held: without_entry(agent, _without_plug_in(held, path)), keep=False)
    else:
        changed_json(path, lambda held: _without_hooks(held, path), keep=False)
        remove(agent, place)
    for file in {path, CLIENTS[agent].path(place)}:
        bring_back(agent, file)
        if file in there and not file.exists() and file.parent != place.home:
            with suppress(OSError):  # something else stands in it
                file.parent.rmdir()
    return state_of(agent, place)


def state_of(agent: str, place: Place) -> SetUp:
    """What stands in the agent's files now."""
    config, path = CLIENTS[agent].path(place), hooks_of(agent, place)
    try:
        held = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        held = {}
    held = held if isinstance(held, dict) else {}
    found = _called(agent, held)
    notes = [_codex_note(config, path) if agent == "codex" and found else "", _old_note(agent, held, found, place)]
    files = tuple(dict.fromkeys((str(config), str(path))))
    note = "; ".join(filter(None, notes))
    return SetUp(agent=agent, tools=is_installed(agent, place), hooks=found, files=files, note=note)


def _called(agent: str, held: Mapping[str, Any]) -> tuple[str, ...]:
    """The events of an agent that call us, by what stands in its file."""
    if agent == "opencode":
        return tuple(AGENTS[agent]) if any(_is_our_plug_in(one) for one in _listed(held.get("plugin"))) else ()
    groups = held.get("hooks")
    if not isinstance(groups, dict):
        return ()
    return tuple(event for event in EVENTS if any(_has_ours(one) for one in _listed(groups.get(event))))


def _old_note(agent: str, held: Mapping[str, Any], called: Sequence[str], place: Place) -> str:
    """What is to be done where an earlier Memhold wrote the hooks: they run a project's `json.py`, or hold turns up."""
    groups = held.get("hooks")
    if agent == "opencode":
        given = [one[1] for one in _listed(held.get("plugin")) if _is_our_plug_in(one)]
        commands = [one["hook"] for one in given if isinstance(one, dict) and _listed(one.get("hook"))]
    else:
        listed = [group for one in (groups.values() if isinstance(groups, dict) else ()) for group in _listed(one)]
        hooks = [hook for one in listed if _has_ours(one) for hook in one["hooks"] if _is_ours(hook)]
        commands = [hook["command"].split() for hook in hooks]
    mended = f"'memhold agent install {agent}' mends it"
    flags = python_alone(place.environment)[1:]
    if not all(flag in command for command in commands for flag in flags):
        return f"an earlier Memhold wrote them, and they can run modules of a project: {mended}"
    more = [event for event in called if event not in AGENTS[agent]]
    return f"an earlier Memhold wrote them, and {', '.join(more)} holds turns up for nothing: {mended}" if more else ""


def _codex_note(config: Path, hooks: Path) -> str:
    """What keeps Codex from running our hooks: they are off, or nobody has said yet that they may run."""
    try:
        held = tomllib.loads(config.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        held = {}
    features, said = held.get("features"), held.get("hooks")
    if isinstance(features, dict) and (features.get("hooks") is False or features.get("codex_hooks") is False):
        return f"hooks are off: take 'hooks = false' out of [features] in {config}"
    states = said.get("state") if isinstance(said, dict) else None
    trusted = [
        name
        for name, state in (states.items() if isinstance(states, dict) else ())
        if name.startswith(str(hooks)) and isinstance(state, dict) and state.get("trusted_hash")
    ]
    return "" if trusted else "Codex runs them once you have trusted them: start it, and say yes where it asks (/hooks)"


def _with_plug_in(held: dict[str, Any], hook: Sequence[str], path: Path) -> dict[str, Any]:
    kept = _without_plug_in(held, path)
    return {**kept, "plugin": [*_listed(kept.get("plugin")), [PLUG_IN.as_uri(), {"hook": list(hook)}]]}


def _without_plug_in(held: dict[str, Any], path: Path) -> dict[str, Any]:
    """The settings without our plug-in, and without a list that held only it."""
    listed = held.get("plugin")
    if listed is not None and not isinstance(listed, list):
        raise InvalidInput(f"{path} holds no list at plugin; it was left as it is")
    left = [one for one in _listed(listed) if not _is_our_plug_in(one)]
    if left == _listed(listed):
        return held
    return {name: (left if name == "plugin" else value) for name, value in held.items() if name != "plugin" or left}


def _is_our_plug_in(entry: object) -> bool:
    """Whether an entry is the one that we write, of this Memhold or of one that stood elsewhere."""
    named = entry[0] if isinstance(entry, list) and len(entry) == 2 else None
    return isinstance(named, str) and named.endswith("/".join(PLUG_IN.parts[-4:]))


def _with_hooks(held: dict[str, Any], commands: Mapping[str, Sequence[str]], path: Path) -> dict[str, Any]:
    kept = _without_hooks(held, path)
    groups = dict(kept.get("hooks") or {})
    for event, command in commands.items():
        if not isinstance(groups.get(event, []), list):
            raise InvalidInput(f"{path} holds no list at hooks.{event}; it was left as it is")
        ours = {"hooks": [{"type": "command", "command": shlex.join(command), "timeout": HOOK_SECONDS}]}
        groups[event] = [*_listed(groups.get(event)), ours]
    return {**kept, "hooks": groups}


def _without_hooks(held: dict[str, Any], path: Path) -> dict[str, Any]:
    """The settings without our hooks, and without what held only them."""
    groups = held.get("hooks")
    if groups is None:
        return held
    if not isinstance(groups, dict):
        raise InvalidInput(f"{path} holds no object at hooks; it was left as it is")
    left = {}
    for event, listed in groups.items():
        kept = [own for one in listed if (own := _left_of(one)) is not None] if isinstance(listed, list) else listed
        if kept or not isinstance(listed, list) or not listed:
            left[event] = kept
    if left == groups:
        return held
    rest = {name: value for name, value in held.items() if name != "hooks"}
    # In its place among the others, as far as it is still needed.
    return {name: (left if name == "hooks" else value) for name, value in held.items()} if left else rest


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _left_of(group: object) -> object:
    """A group of hooks without ours, beside which a person may have put their own; None where it held nothing else."""
    hooks = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(group, dict) or not isinstance(hooks, list) or not _has_ours(group):
        return group
    kept = [one for one in hooks if not _is_ours(one)]
    return {**group, "hooks": kept} if kept else None


def _has_ours(group: object) -> bool:
    return isinstance(group, dict) and any(_is_ours(one) for one in _listed(group.get("hooks")))


def _is_ours(hook: object) -> bool:
    """Whether a hook is one that we write: a command that runs our module."""
    return isinstance(hook, dict) and f"-m {MODULE} " in str(hook.get("command"))
