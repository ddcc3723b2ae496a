"""What was decided in one session, in the first request of the next one: Memhold beside the clients' own memory files.

The projects are those of `python -m benchmarks briefings`: made up, five decisions in each, among other talk.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.briefings import decided_in
from memhold.testing.chaos import ChaosServer, Reply
from reality.agents import PATIENCE_SECONDS, Agent
from reality.outside import ROOT, Node, run

OWN_FILE = {"claude-code": "CLAUDE.md", "codex": "AGENTS.md", "opencode": "AGENTS.md"}
"""What the client reads of itself where it starts, by its own documents."""
PROJECTS = int(os.environ.get("MEMHOLD_REALITY_PROJECTS", "1"))
SESSIONS, TURNS = 5, 10
ENOUGH = 1 - 2 / SESSIONS
"""A start tells what was taken in until then: of a session that ended just before, that may come with the next one."""


def told_next(agent: Agent, prompts: Sequence[str], words: Sequence[str]) -> float:
    """The share of the words in the first request of the session that comes after these, which names none of them."""
    for prompt in prompts:
        agent.ask(prompt)
    before = len(agent.requests())
    agent.ask("Let us go on.")
    window = agent.window(before)
    return sum(word in window for word in words) / len(words)


@pytest.mark.bound(3_600)
@pytest.mark.parametrize("name", ["claude-code", "codex", pytest.param("opencode", marks=pytest.mark.long)])
def test_what_was_decided_is_told_beside_the_clients_own_files(
    name: str, node: Node, provider: ChaosServer, tmp_path: Path
) -> None:
    """The model only answers. What it would write into a file by itself is a matter of the model, and not asked."""
    provider.say(lambda _: Reply(text="All right."))
    shares: dict[str, list[float]] = {}
    fresh = Agent(name=name, node=node, home=tmp_path / "fresh", provider=provider)
    fresh.settle_in()
    fresh.ask("Let us go on.")
    more = ("--dangerously-bypass-hook-trust",) if name == "codex" else ()
    for place in range(PROJECTS):
        lines, words = decided_in("third", place, TURNS)
        words = [word for word in words if word not in fresh.window(0)]  # a client's own prompt is long
        parts = ["\n\n".join(lines[at : at + TURNS // SESSIONS]) for at in range(0, TURNS, TURNS // SESSIONS)]
        for kind in ("nobody writes the file", "a person writes each decision into it", "Memhold"):
            agent = Agent(name=name, node=node, home=tmp_path / f"{place} {kind}", provider=provider, more=more)
            agent.settle_in()
            if kind == "Memhold":
                db = agent.home / "memory.db"
                install: list[str | Path] = [ROOT / ".venv" / "bin" / "memhold", "agent", "install", name]
                done = run([*install, "--db", db, "--user", "ana"], seconds=120, env=agent.environment())
                assert done.code == 0, done.err
                share = told_next(agent, parts, words)
                ends = time.monotonic() + PATIENCE_SECONDS
                while share < ENOUGH and time.monotonic() < ends:  # on a busy machine a hook may be too late
                    share = told_next(agent, (), words)
                agent.rest(db)
            elif kind.startswith("nobody"):
                share = told_next(agent, ["\n\n".join(lines)], words)
            else:
                (agent.project / OWN_FILE[name]).write_text("".join(f"- {line}\n" for line in lines))
                share = told_next(agent, (), words)
            shares.setdefault(kind, []).append(share)
    for kind, found in shares.items():
        print(f"\n| {name}, {kind} | {sum(found) / len(found):.2f} of {len(found)} projects |", end="")
    print()
    untouched, written, ours = shares.values()
    assert not any(untouched)
    assert all(share == 1 for share in written)
    assert min(ours) >= ENOUGH
