"""The coding agents themselves: each with a home of its own, against a scripted provider on loopback."""

from __future__ import annotations

import json
import os
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from memhold.faces.agents.hook import EVENTS
from memhold.faces.agents.running import END, NotRunning, ask
from memhold.testing.chaos import Asked, ChaosServer, Reply, calling
from reality.outside import ROOT, Done, Node, clean_environment, node_tools, run

__all__ = ["AGENTS", "PATIENCE_SECONDS", "Agent", "agents_of_npm", "calls_once", "texts_in"]

MODEL = "chaos"
TURN_SECONDS = 120
PATIENCE_SECONDS = 300
"""How long what is bound to come is waited for, and asked for again."""


def agents_of_npm() -> Node:
    """The binaries of `coding_agents/package.json`; two of them are brought by a script that npm may leave out."""
    scripts = (("@anthropic-ai/claude-code", "install.cjs"), ("opencode-ai", "postinstall.mjs"))
    return node_tools("coding_agents", scripts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One agent on a machine of its own: a home folder, a project, and the provider that it is told of."""

    name: str
    node: Node
    home: Path
    provider: ChaosServer
    started: Mapping[str, str] = field(default_factory=dict)
    more: Sequence[str] = ()

    @property
    def project(self) -> Path:
        """The folder that it works in."""
        return self.home / "project"

    def environment(self) -> dict[str, str]:
        """What it is started with: nothing of this machine's user."""
        # Its own place for sockets, whose names must be short.
        meeting = Path("/tmp") / f"mh-{sha256(str(self.home).encode()).hexdigest()[:12]}"  # noqa: S108
        meeting.mkdir(mode=0o700, exist_ok=True)
        clean = clean_environment(self.home, LANG="C.UTF-8", XDG_RUNTIME_DIR=str(meeting))
        own = {
            "claude-code": {
                "ANTHROPIC_BASE_URL": self.provider.url,
                "ANTHROPIC_API_KEY": "sk-none",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
            },
            "codex": {"PROVIDER_KEY": "none"},
            "opencode": {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
        }
        return clean | {"PATH": f"{self.node.program.parent}:{clean['PATH']}"} | own[self.name] | dict(self.started)

    def settle_in(self) -> None:
        """Make its folders, and tell it of the provider; what stands in its files already stays."""
        self.project.mkdir(parents=True, exist_ok=True)
        if self.name == "codex":
            path = self.home / ".codex" / "config.toml"
            path.parent.mkdir(exist_ok=True)
            path.write_text(
                f'model = "{MODEL}"\nmodel_provider = "loopback"\n\n[model_providers.loopback]\nname = "loopback"\n'
                f'base_url = "{self.provider.url}/v1"\nwire_api = "responses"\nenv_key = "PROVIDER_KEY"\n'
            )
        if self.name == "opencode":
            path = self.home / ".config" / "opencode" / "opencode.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            provider = {
                "npm": "@ai-sdk/openai-compatible",
                "name": "loopback",
                "options": {"baseURL": f"{self.provider.url}/v1", "apiKey": "none"},
                "models": {MODEL: {"name": MODEL, "tool_call": True, "limit": {"context": 100_000, "output": 4_000}}},
            }
            told = {
                "model": f"loopback/{MODEL}",
                "provider": {"loopback": provider},
                "autoupdate": False,
                "share": "disabled",
            }
            path.write_text(json.dumps(told))

    def hooked(self, options: Sequence[str]) -> None:
        """Tell it to call Memhold's hook at every event that there is a note of."""
        program = [str(ROOT / ".venv" / "bin" / "python"), "-P", "-m", "memhold.faces.agents.hook"]
        assert self.name == "claude-code"
        hooks = {
            event: [{"hooks": [{"type": "command", "command": shlex.join([*program, event, *options])}]}]
            for event in EVENTS
        }
        path = self.home / ".claude" / "settings.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"hooks": hooks}))

    def rest(self, db: Path) -> None:
        """End the Memhold that its hooks started, where one runs, and wait until it has."""
        with self._met(), suppress(NotRunning):
            while ask(str(db), {"event": END}, seconds=10) is not None:
                time.sleep(0.05)

    def ready(self, db: Path) -> None:
        """Wait until the Memhold that its hooks started has its store open: a hook waits 300 ms for it."""
        ends = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < ends:
            with self._met(), suppress(NotRunning):
                about = {"event": "SessionStart", "user": "memhold:nobody", "session": "nobody's"}
                if (ask(str(db), about, seconds=10) or {}).get("state") == "ready":
                    return
            time.sleep(0.1)
        raise AssertionError("nothing answers hooks")

    @contextmanager
    def _met(self) -> Iterator[None]:
        """Where the agent's hooks meet their Memhold."""
        before = os.environ.get("XDG_RUNTIME_DIR")
        os.environ["XDG_RUNTIME_DIR"] = self.environment()["XDG_RUNTIME_DIR"]
        try:
            yield
        finally:
            del os.environ["XDG_RUNTIME_DIR"]
            if before is not None:
                os.environ["XDG_RUNTIME_DIR"] = before

    def ask(self, prompt: str) -> Done:
        """One session of one turn, as a script starts it."""
        done = self.begin(prompt, seconds=TURN_SECONDS)
        assert done.code == 0, (self.name, done.out[-2000:], done.err[-2000:])
        return done

    def ask_until(self, prompt: str, *shown: str) -> str:
        """Sessions of this turn until a window shows all these words: that window.

        The first one shows them where the machine is quiet; a hook waits 300 ms, and on a busy one it may be too late.
        """
        ends, asked = time.monotonic() + PATIENCE_SECONDS, len(self.requests())
        while True:
            self.ask(prompt)
            windows = [self.window(number) for number in range(asked, len(self.requests()))]
            if found := [window for window in windows if all(word in window for word in shown)]:
                return found[0]
            assert time.monotonic() < ends, f"none of {len(windows)} windows shows {shown}"

    def begin(self, prompt: str, *, seconds: float) -> Done:
        """The same, killed with all that it started where it takes longer."""
        words = {
            "claude-code": [
                "claude",
                "-p",
                prompt,
                "--model",
                "claude-sonnet-4-5",
                "--allowedTools",
                "mcp__memhold",
                "mcp__plugin_memory_memhold",
            ],
            "codex": ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt],
            "opencode": ["opencode", "run", prompt],
        }[self.name]
        program = self.node.modules / ".bin" / words[0]
        return run([program, *words[1:], *self.more], seconds=seconds, cwd=self.project, env=self.environment())

    def window(self, number: int) -> str:
        """All that a request of the conversation shows the model, as one text."""
        return "\n".join(texts_in(self.requests()[number]))

    def requests(self) -> list[Mapping[str, Any]]:
        """What it asked the provider for this conversation, in order; not what it asked for a title."""
        chats = [one.body for one in self.provider.requests if one.model and isinstance(one.body, Mapping)]
        return [body for body in chats if body.get("tools")]

    def transcript(self) -> Path:
        """The newest transcript, as its import wants it."""
        if self.name == "opencode":
            program = self.node.modules / ".bin" / "opencode"
            listed = run(
                [program, "session", "list", "--format", "json"],
                seconds=TURN_SECONDS,
                cwd=self.project,
                env=self.environment(),
            )
            newest = max(json.loads(listed.out), key=lambda one: one["updated"])["id"]
            done = run([program, "export", newest], seconds=TURN_SECONDS, cwd=self.project, env=self.environment())
            path = self.home / f"{newest}.json"
            path.write_text(done.out)
            return path
        below = {"claude-code": ".claude/projects/*/*.jsonl", "codex": ".codex/sessions/*/*/*/*.jsonl"}[self.name]
        return max(self.home.glob(below), key=lambda path: path.stat().st_mtime_ns)


AGENTS = ("claude-code", "codex", "opencode")


def calls_once(tool: str, arguments: Mapping[str, Any], *, then: str = "It is done.") -> Callable[[Asked], Reply]:
    """A model that calls one of memory's tools in each turn, and then says something."""
    return calling([(tool, arguments)], server="memhold", then=then)


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a body, as it stands there."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from texts_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from texts_in(one)
