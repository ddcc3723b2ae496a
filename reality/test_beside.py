"""Memhold beside the newest release of each framework: neither drags the other back. Nothing is installed but uv."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from reality.outside import HERE, PYTHONS, ROOT, python_with, run, uv

FRAMEWORKS = (
    "agent-framework",
    "anthropic",
    "autogen-agentchat",
    "claude-agent-sdk",
    "google-adk",
    "langgraph",
    "langmem",
    "llama-index-core",
    "openai",
    "openai-agents",
    "pydantic-ai",
    "pydantic-ai-harness",
    "strands-agents",
)
ASKS_FOR_OLD_MCP = ("crewai", "semantic-kernel")
"""They want mcp below 2, in which the server cannot be written: the core stands beside them, the server elsewhere."""


def resolved(*words: str | Path) -> dict[str, str]:
    """The versions that these requirements resolve to; skipped where the registry has not all of them."""
    options = ["--quiet", "--no-header", "--no-annotate", "--python-version", PYTHONS[0]]
    done = run([uv(), "pip", "compile", *options, *words], seconds=300)
    if done.code != 0 and re.search(r"not found in the (package registry|provided)|not found in the cache", done.err):
        pytest.skip(f"the registry lacks it: {done.last[:200]}")
    assert done.code == 0, done.err
    return dict(line.split(";")[0].strip().split("==") for line in done.out.splitlines() if "==" in line)


@cache
def newest_of(name: str, folder: Path) -> tuple[str, Path]:
    """The newest release of a framework, asked for alone, and the file that asks for it."""
    wanted = folder / f"{name}.in"
    wanted.write_text(f"{name}\n")
    return resolved(wanted)[name], wanted


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the requirements stand."""
    return tmp_path_factory.mktemp("wanted")


@pytest.mark.parametrize("name", [*FRAMEWORKS, *ASKS_FOR_OLD_MCP])
def test_the_core_leaves_a_framework_at_its_newest(name: str, folder: Path) -> None:
    newest, wanted = newest_of(name, folder)
    assert resolved(ROOT / "pyproject.toml", wanted)[name] == newest


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_the_server_leaves_a_framework_at_its_newest(name: str, folder: Path) -> None:
    newest, wanted = newest_of(name, folder)
    assert resolved("--extra", "server", ROOT / "pyproject.toml", wanted)[name] == newest


def test_the_server_works_with_the_oldest_that_it_takes(wheel: Path, tmp_path: Path, clean: dict[str, str]) -> None:
    python = python_with(PYTHONS[0], wheel=wheel, extras=("server",), name="oldest", lock=HERE / "oldest.lock")
    smoke = run([python, "-I", HERE / "smoke.py", tmp_path], seconds=400, env=clean)
    assert smoke.code == 0, smoke.out + smoke.err
    assert smoke.out.split("\n")[:4] == ["library", "command line", "mcp", "rest"]
