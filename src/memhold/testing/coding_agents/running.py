"""Which hooks stand in a client's own files, and running one of them as the client does."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memhold.testing.coding_agents.protocols import EVENTS, Answer, Client, answer_of

__all__ = ["Hook", "Ran", "hooks_in", "run_hook"]

SECONDS: Mapping[Client, float] = {"claude-code": 60, "codex": 60, "opencode": 10}
"""What a hook may take that says nothing of it. opencode's plug-in goes on after one second,
and ends it after ten: the double waits, so that a slow machine changes nothing."""
END_SECONDS = 1.5
"""What Claude Code gives a hook at the end of a session that says nothing of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """A hook as a client's file has it: what it runs, at which event, for which matcher, within how many seconds."""

    event: str
    command: str
    seconds: float
    matcher: str = ""

    def is_for(self, value: str) -> bool:
        """Whether it is called: its matcher is empty, or names the start's source (the compaction's trigger) whole."""
        return self.matcher in {"", "*"} or re.fullmatch(self.matcher, value) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A hook that ran: what it was told, how it ended (`code` None where it took too long), and what came of it."""

    hook: Hook
    told: Mapping[str, Any]
    code: int | None
    out: str
    err: str
    answer: Answer


def hooks_in(
    client: Client, home: Path, folder: Path, environment: Mapping[str, str], plugins: Sequence[Path]
) -> list[Hook]:
    """The hooks that the client would call in this folder, by its own files, and those of plug-ins of Claude Code's."""
    if client == "opencode":
        own = Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "opencode"
        return [*_of_plug_in(_read(own / "opencode.json"))]
    if client == "codex":
        own = Path(environment.get("CODEX_HOME") or home / ".codex")
        files = [] if _is_off(own / "config.toml") else [own / "hooks.json"]
    else:
        own = Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude")
        below = folder / ".claude"
        files = [own / "settings.json", below / "settings.json", below / "settings.local.json"]
        files += [plugin / "hooks" / "hooks.json" for plugin in plugins]
    return [hook for file in files for hook in _listed(client, _read(file))]


def _read(file: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except OSError:
        return {}
    return found if isinstance(found, Mapping) else {}


def _is_off(config: Path) -> bool:
    """Whether Codex's hooks are switched off. Whether a person has trusted them is not asked: they count as trusted."""
    try:
        features = tomllib.loads(config.read_text(encoding="utf-8")).get("features", {})
    except OSError:
        return False
    return isinstance(features, Mapping) and features.get("hooks") is False


def _listed(client: Client, held: Mapping[str, Any]) -> Iterator[Hook]:
    groups = held.get("hooks") or {}
    for event in EVENTS[client]:
        for group in groups.get(event) or ():
            for one in group.get("hooks") or ():
                if one.get("type") == "command":
                    at_end = client == "claude-code" and event == "SessionEnd"
                    seconds = one.get("timeout", END_SECONDS if at_end else SECONDS[client])
                    yield Hook(
                        event=event, command=one["command"], seconds=seconds, matcher=str(group.get("matcher") or "")
                    )


def _of_plug_in(held: Mapping[str, Any]) -> Iterator[Hook]:
    """What opencode calls are functions of plug-ins; ours calls the program that stands behind it as `hook`."""
    for entry in held.get("plugin") or ():
        words = entry[1].get("hook") if isinstance(entry, list) and len(entry) == 2 else None
        if isinstance(words, list):
            for event in EVENTS["opencode"]:
                yield Hook(event=event, command=shlex.join([*words, event]), seconds=SECONDS["opencode"])


def run_hook(client: Client, hook: Hook, told: Mapping[str, Any], folder: Path, environment: Mapping[str, str]) -> Ran:
    """Run it through the shell in this folder; when its time is over, end it with all that it started in its group."""
    process = subprocess.Popen(  # noqa: S602 - the clients run it so, and it stands in a file of the test's own
        hook.command,
        shell=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=dict(environment),
        start_new_session=True,
        text=True,
    )
    code: int | None
    try:
        out, err = process.communicate(json.dumps(told), timeout=hook.seconds)
        code = process.returncode
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:  # Windows has no groups of processes: what the hook started goes on there
                process.kill()
        out, err = process.communicate()
        code = None
    answer = answer_of(client, hook.event, code, out, err)
    return Ran(hook=hook, told=told, code=code, out=out, err=err, answer=answer)
