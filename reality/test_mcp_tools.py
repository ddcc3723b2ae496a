"""The official MCP tools against this server: the conformance suite in both revisions, and the Inspector."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from memhold.faces.mcp.tools import TOOLS
from memhold.faces.python.open import AsyncMemhold
from memhold.testing.mcp_fixtures import with_fixtures
from reality.outside import ROOT, Node, node_tools, run
from tests.interfaces.mcp.conftest import ALICE, MODES, environment, served


@pytest.fixture(scope="module")
def node() -> Node:
    return node_tools()


async def used(node: Node, script: str, *arguments: str, folder: Path) -> tuple[int, str, str]:
    """How a tool of the protocol's authors ends."""
    command: list[str | Path] = [node.program, node.modules / "@modelcontextprotocol" / script, *arguments]
    env = {**node.environment(folder), **environment(folder)}
    done = await asyncio.to_thread(run, command, seconds=400, cwd=folder, env=env)
    return done.code, done.out, done.err


def failures(folder: Path) -> tuple[dict[str, str], int]:
    """What failed, as `scenario:check` and its message, and how many checks passed; of what no extension adds."""
    failed: dict[str, str] = {}
    passed = 0
    for path in sorted(folder.glob("*/checks.json")):
        scenario = re.sub(r"^server-|-\d{4}-\d\d-\d\dT[\dZ-]+$", "", path.parent.name)
        scenario = re.sub(r"-\d{4}-\d\d-\d\dT[\dZ-]+$", "", scenario)
        if scenario.startswith("tasks-"):
            continue
        for check in json.loads(path.read_text()):
            passed += check["status"] == "SUCCESS"
            if check["status"] == "FAILURE":
                failed[f"{scenario}:{check['id']}"] = check.get("errorMessage") or ""
    return failed, passed


def told(revision: str) -> set[str]:
    """What the page says that fails, as `scenario:check`."""
    table = (ROOT / "docs" / "mcp-conformance.md").read_text(encoding="utf-8").partition("<!-- conformance -->")[2]
    rows = re.findall(r"^\| `(\S+)` \| ([\d -]+) \| \S.* \|$", table, re.MULTILINE)
    assert len(rows) == table.count("\n| "), "a line of the table has no reason, or another form"
    return {name for name, revisions in rows if revision in revisions.split()}


PASSED = {"2025-11-25": 58, "2026-07-28": 123}
"""As the page says."""


@pytest.mark.parametrize("revision", MODES)
async def test_the_conformance_suite_finds_what_the_page_tells(revision: str, node: Node, tmp_path: Path) -> None:
    out = tmp_path / "out"
    hosts, origins = ["127.0.0.1:*", "localhost:*"], ["http://127.0.0.1:*", "http://localhost:*"]
    async with (
        AsyncMemhold.open("memory://", worker=False) as memhold,
        served(memhold, ALICE, allowed_hosts=hosts, allowed_origins=origins, build=with_fixtures) as url,
    ):
        arguments = ("server", "--url", url, "--requirements", revision, "-o", str(out))
        _, said, err = await used(node, "conformance/dist/index.js", *arguments, folder=tmp_path)
    failed, passed = failures(out)
    assert failed.keys() - told(revision) == set(), f"{failed}\n{said}\n{err}"
    assert told(revision) - failed.keys() == set(), "these pass: take them out of the page"
    assert passed >= PASSED[revision]


@pytest.mark.parametrize("transport", ["http", "stdio"])
async def test_the_inspector_is_content_in_its_strict_mode(transport: str, node: Node, tmp_path: Path) -> None:
    from memhold.faces.mcp.install import launcher, snippet

    config = tmp_path / "mcp.json"
    command = [*launcher(), "mcp", "--db", str(tmp_path / "memory.db"), "--user", "alice"]
    entry = json.loads(snippet("claude-desktop", command))
    entry["mcpServers"]["memhold"] |= {"type": "stdio", "env": environment(tmp_path)}
    config.write_text(json.dumps(entry))
    inspector = "inspector/clients/launcher/build/index.js"
    async with AsyncMemhold.open("memory://", worker=False) as memhold, served(memhold, ALICE) as url:
        where = (
            ("--transport", "http", "--server-url", url)
            if transport == "http"
            else ("--config", str(config), "--server", "memhold")
        )

        async def asked(*arguments: str) -> dict[str, Any]:
            code, out, err = await used(node, inspector, "--cli", *where, *arguments, folder=tmp_path)
            assert code == 0, f"{out}\n{err}"
            found: dict[str, Any] = json.loads(out)
            return found

        listed = await asked("--method", "tools/list", "--strict")
        assert [tool["name"] for tool in listed["tools"]] == list(TOOLS)
        saved = await asked("--method", "tools/call", "--tool-name", "add_message", "--tool-arg", "text=boiler")
        assert "structuredContent" not in saved
        assert "never by meaning" in saved["content"][0]["text"]
        assert saved.get("isError") in (None, False)
        read = await asked("--method", "resources/read", "--uri", "memhold://profile")
        assert read["contents"][0]["text"].startswith("Nothing is known")
