"""The official tools against this server: the conformance suite in both revisions, and the Inspector's command line.

They need Node.js 22, which npm brings along; all of it is installed once below `build/`, and kept.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from memhold.faces.mcp.tools import TOOLS
from memhold.faces.python.open import AsyncMemhold
from tests.documents import ROOT
from tests.interfaces.mcp.conftest import ALICE, MODES, environment, served

HERE = Path(__file__).parent
FOLDER = ROOT / "build" / "mcp-node"
LEAST_NODE = 22
INSTALL_SECONDS = 400


@dataclass(frozen=True)
class Node:
    """Node.js and the two tools."""

    program: Path
    folder: Path

    async def __call__(self, script: str, *arguments: str, seconds: float = 120, folder: Path) -> tuple[int, str, str]:
        process = await asyncio.create_subprocess_exec(
            str(self.program),
            str(self.folder / "node_modules" / "@modelcontextprotocol" / script),
            *arguments,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={**environment(folder), "PATH": f"{self.program.parent}:{os.environ['PATH']}"},
        )
        out, err = await asyncio.wait_for(process.communicate(), seconds)
        return process.returncode or 0, out.decode(), err.decode()


def installed() -> Node:
    """Node.js and the tools, installed where they are not there yet; skipped, with the reason, where that fails."""
    wanted = (HERE / "node" / "package.json").read_text()
    FOLDER.mkdir(parents=True, exist_ok=True)
    program = FOLDER / "node_modules" / "node" / "bin" / "node"
    stamp = FOLDER / "installed.json"
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # test processes beside this one want the same
        if not (stamp.exists() and stamp.read_text() == wanted and program.exists()):
            npm = shutil.which("npm")
            if npm is None:
                pytest.skip("npm is not installed: the official MCP tools cannot be run")
            (FOLDER / "package.json").write_text(wanted)
            command = [npm, "install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"]
            try:
                done = subprocess.run(
                    command, cwd=FOLDER, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
                )
            except subprocess.TimeoutExpired:
                pytest.skip(f"npm install took over {INSTALL_SECONDS} s: the official MCP tools cannot be run")
            if done.returncode != 0:
                last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
                pytest.skip(f"npm install failed ({last}): the official MCP tools cannot be run")
            stamp.write_text(wanted)
    told = (
        subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
        if program.exists()
        else ""
    )
    if not told.startswith("v") or int(told[1:].split(".")[0]) < LEAST_NODE:
        pytest.skip(f"npm brought no Node.js {LEAST_NODE} (found {told.strip() or 'none'})")
    return Node(program=program, folder=FOLDER)


@pytest.fixture(scope="module")
def node() -> Node:
    return installed()


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


def baseline(revision: str) -> tuple[set[str], set[str]]:
    """What may fail: for want of a fixture, and for want of a capability that is not declared."""
    fixtures, _, capabilities = (HERE / f"baseline-{revision}.yml").read_text().partition("# Optional")
    return set(re.findall(r"^  - (\S+)$", fixtures, re.MULTILINE)), set(
        re.findall(r"^  - (\S+)$", capabilities, re.MULTILINE)
    )


LEAST_PASSED = {"2025-11-25": 30, "2026-07-28": 75}


@pytest.mark.parametrize("revision", MODES)
async def test_the_conformance_suite_finds_nothing_but_missing_fixtures(
    revision: str, node: Node, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    hosts, origins = ["127.0.0.1:*", "localhost:*"], ["http://127.0.0.1:*", "http://localhost:*"]
    async with (
        AsyncMemhold.open("memory://", worker=False) as memhold,
        served(memhold, ALICE, allowed_hosts=hosts, allowed_origins=origins) as url,
    ):
        arguments = ("server", "--url", url, "--requirements", revision, "-o", str(out))
        _, said, err = await node("conformance/dist/index.js", *arguments, folder=tmp_path)
    failed, passed = failures(out)
    assert passed >= LEAST_PASSED[revision], f"{said}\n{err}"
    fixtures, capabilities = baseline(revision)
    unexpected = {name: why for name, why in failed.items() if name not in fixtures | capabilities}
    assert unexpected == {}
    assert fixtures | capabilities <= failed.keys(), "these pass: take them out of the baseline"
    for name in fixtures:
        assert "Method not found" not in failed[name], (name, failed[name])
    for name in capabilities:
        assert "Method not found" in failed[name], (name, failed[name])


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

        async def asked(*arguments: str) -> dict:
            code, out, err = await node(inspector, "--cli", *where, *arguments, folder=tmp_path)
            assert code == 0, f"{out}\n{err}"
            found: dict = json.loads(out)
            return found

        listed = await asked("--method", "tools/list", "--strict")
        assert [tool["name"] for tool in listed["tools"]] == list(TOOLS)
        saved = await asked("--method", "tools/call", "--tool-name", "add_message", "--tool-arg", "text=boiler")
        assert "structuredContent" not in saved
        assert "never by meaning" in saved["content"][0]["text"]
        assert saved.get("isError") in (None, False)
        read = await asked("--method", "resources/read", "--uri", "memhold://profile")
        assert read["contents"][0]["text"].startswith("Nothing is known")
