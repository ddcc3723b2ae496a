"""The core with its own dependencies and nothing else: every other distribution is as if it were not installed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from memhold.testing import ChaosServer
from tests.documents import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
CORE = PROJECT["dependencies"]
EXTRAS = PROJECT["optional-dependencies"]
OF_AN_EXTRA = {
    "memhold.faces.bodies": "server",
    "memhold.faces.compat": "server",
    "memhold.faces.last_resort": "server",
    "memhold.faces.mcp.http": "server",
    "memhold.faces.mcp.server": "server",
    "memhold.faces.rest": "server",
    "memhold.faces.ui": "server",
    "memhold.server": "server",
    "memhold.testing": "testing",
    "memhold.testing.attacks": "server",
    "memhold.testing.mcp_fixtures": "server",
    "memhold.storage.postgres": "postgres",
}
"""Rooms whose modules may need an extra to be imported, and which."""
ADAPTERS = "memhold.integrations."
"""What they derive from is the user's own framework."""

CHILD = """
import sys

class Absent:
    def __init__(self, names):
        self.names = names

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent(frozenset(sys.argv.pop(1).split(","))))
"""
IMPORTS = """
import json, pkgutil
from importlib import import_module

lacking = {}
for found in pkgutil.walk_packages([sys.argv[1]], "memhold.", onerror=lambda name: None):
    if not found.name.endswith("__main__"):
        try:
            import_module(found.name)
        except ImportError as error:
            lacking[found.name] = error.name or str(error)
print(json.dumps(lacking))
"""
LIBRARY = """
from memhold import Memhold

with Memhold.open(sys.argv[1], worker=False, consolidation=sys.argv[2]) as mem:
    alice = mem.scope(user="alice", session="monday")
    alice.add([{"role": "user", "content": "I moved to Lisbon."}, {"role": "assistant", "content": "Noted."}])
    print(alice.recall("Where do I live?").hits[0].text)
    print("Lisbon" in str(alice.context({"role": "user", "content": "Hello"}, budget=2000).messages))
    alice.end_session()
    print(len(alice.consolidate().summaries))
"""
COMMAND = "from memhold.cli.main import main; sys.exit(main(sys.argv[1:]))"
HOOK = "from memhold.faces.agents.hook import main; main()"


@cache
def brought(*requirements: str) -> frozenset[str]:
    """The distributions that installing these brings here, with what they need in turn."""
    found: set[str] = set()
    waiting = [Requirement(line) for line in requirements]
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        if name in found and not one.extras:
            continue
        found.add(name)
        for line in metadata.requires(name) or ():
            need = Requirement(line)
            if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in {*one.extras, ""}):
                waiting.append(need)
    return frozenset(found)


def distributions_of(module: str) -> set[str]:
    return {canonicalize_name(name) for name in metadata.packages_distributions().get(module.partition(".")[0], ())}


def alone(code: str, *words: str, cwd: Path, given: str = "") -> subprocess.CompletedProcess[str]:
    """What a process does that has the core's distributions, and no other."""
    core = brought(*CORE) | {"memhold"}
    others = [name for name in metadata.packages_distributions() if not distributions_of(name) & core]
    command = [sys.executable, "-c", CHILD + code, ",".join(others), *words]
    return subprocess.run(command, cwd=cwd, input=given, capture_output=True, text=True, check=False, timeout=300)


def room(name: str, rooms: Iterable[str]) -> str | None:
    """The narrowest of these rooms that a module is in."""
    return max((one for one in rooms if name == one or name.startswith(f"{one}.")), key=len, default=None)


def test_the_core_brings_neither_a_server_nor_a_test_library() -> None:
    others = {canonicalize_name(Requirement(line).name) for extra in EXTRAS.values() for line in extra}
    assert {"pydantic", "mcp", "fastapi", "h11"} < others
    assert not others & {canonicalize_name(Requirement(line).name) for line in CORE}
    assert not {"pydantic", "mcp", "fastapi"} & brought(*CORE)


def test_what_the_core_lacks_is_in_the_extra_of_its_room(tmp_path: Path) -> None:
    done = alone(IMPORTS, str(ROOT / "src" / "memhold"), cwd=tmp_path)
    lacking = json.loads(done.stdout)
    assert lacking["memhold.faces.rest.app"]
    wrong = {
        name: needed
        for name, needed in lacking.items()
        if not name.startswith(ADAPTERS)
        and (
            (place := room(name, OF_AN_EXTRA)) is None
            or not distributions_of(needed) & brought(*EXTRAS[OF_AN_EXTRA[place]])
        )
    }
    assert wrong == {}


def test_each_distribution_of_the_core_is_imported_by_the_package() -> None:
    imported = {
        name
        for path in (ROOT / "src" / "memhold").rglob("*.py")
        for name in re.findall(r"^\s*(?:from|import) (\w+)", path.read_text("utf-8"), re.MULTILINE)
    }
    tops = metadata.packages_distributions()
    used = {canonicalize_name(one) for name in imported for one in tops.get(name, ())}
    assert {canonicalize_name(Requirement(line).name) for line in CORE} <= used


def test_the_library_works_with_a_model_over_http(tmp_path: Path) -> None:
    with ChaosServer() as server:
        done = alone(LIBRARY, str(tmp_path / "m.db"), f"{server.url}/v1#small", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        assert done.stdout.split("\n")[:3] == ["I moved to Lisbon.", "True", "1"]
        assert server.asked(model="small")


def test_the_command_line_and_mcp_over_stdio_work(tmp_path: Path) -> None:
    assert "recall" in alone(COMMAND, "--help", cwd=tmp_path).stdout
    where = ("--db", str(tmp_path / "m.db"), "--user", "alice")
    assert alone(COMMAND, "add", *where, "I moved to Lisbon.", cwd=tmp_path).returncode == 0
    assert "Lisbon" in alone(COMMAND, "recall", *where, "Where do I live?", cwd=tmp_path).stdout
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a client", "version": "1"}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    served = alone(COMMAND, "mcp", *where, cwd=tmp_path, given=json.dumps(asked) + "\n")
    assert json.loads(served.stdout)["result"]["serverInfo"]["name"] == "memhold", served.stderr


def test_a_hook_takes_note(tmp_path: Path) -> None:
    line = {"type": "user", "uuid": "u1", "sessionId": "s1", "timestamp": "2025-01-01T10:00:01Z"}
    transcript = tmp_path / "s1.jsonl"
    transcript.write_text(json.dumps({**line, "message": {"role": "user", "content": "I moved to Lisbon."}}) + "\n")
    told = {"transcript_path": str(transcript), "cwd": str(tmp_path), "hook_event_name": "Stop", "session_id": "s1"}
    database = tmp_path / "m.db"
    done = alone(HOOK, "--db", str(database), "--user=alice", cwd=tmp_path, given=json.dumps(told))
    assert (done.returncode, done.stderr) == (0, "")
    assert [*tmp_path.glob("m.db.spool/*.json")]


@pytest.mark.parametrize(
    ("line", "missing", "extra"),
    [
        (("serve", "--db", "x.db"), (), "server"),
        (("ui", "--db", "x.db"), (), "server"),
        (("chaos",), ("h11",), "testing"),
    ],
)
def test_a_missing_extra_says_what_to_install(
    line: tuple[str, ...], missing: tuple[str, ...], extra: str, tmp_path: Path
) -> None:
    gone = "".join(f"sys.modules[{name!r}] = None\n" for name in missing)
    done = alone(gone + COMMAND, *line, cwd=tmp_path)
    assert (done.returncode, f"pip install 'memhold[{extra}]'" in done.stderr) == (2, True), done.stderr
    assert "Traceback" not in done.stderr
