"""What a user installs: the built wheel and source distribution, on each Python that the classifiers name."""

from __future__ import annotations

import json
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from reality.outside import HERE, PYTHONS, ROOT, python_with, run

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = tuple(PROJECT["optional-dependencies"])
_HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a client", "version": "1"}}
CALLS = "".join(
    json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"
    for number, (method, params) in enumerate(
        (
            ("initialize", _HELLO),
            ("tools/call", {"name": "add_message", "arguments": {"text": "I moved to Lisbon."}}),
            ("tools/call", {"name": "recall", "arguments": {"query": "Lisbon"}}),
        ),
        1,
    )
)
"""What an MCP client writes to the standard input of `memhold mcp`."""


@pytest.mark.parametrize("version", PYTHONS)
def test_the_wheel_works_on_each_python(version: str, wheel: Path, tmp_path: Path, clean: dict[str, str]) -> None:
    """With all extras: the demo keeps its promises; library, command line, MCP and REST answer; no warning is shown."""
    python = python_with(version, wheel=wheel, extras=EXTRAS, name="wheel")
    told = run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], seconds=100)
    assert told.out.strip() == version
    demo = run([python.with_name("memhold"), "demo"], seconds=300, cwd=tmp_path, env=clean)
    assert demo.code == 0, demo.out + demo.err
    smoke = run(
        [python, "-I", "-W", "error::DeprecationWarning:memhold", HERE / "smoke.py", tmp_path], seconds=400, env=clean
    )
    assert smoke.code == 0, smoke.out + smoke.err
    assert smoke.out.split("\n")[:4] == ["library", "command line", "mcp", "rest"]


@pytest.mark.parametrize("version", PYTHONS)
def test_the_core_alone_works_and_says_which_extra_it_needs(
    version: str, wheel: Path, tmp_path: Path, clean: dict[str, str]
) -> None:
    python = python_with(version, wheel=wheel, name="core")
    demo = run([python.with_name("memhold"), "demo"], seconds=300, cwd=tmp_path, env=clean)
    assert demo.code == 0, demo.out + demo.err
    refused = run([python.with_name("memhold"), "serve", "--db", tmp_path / "m.db"], seconds=200, env=clean)
    assert refused.code != 0
    assert "pip install 'memhold[server]'" in refused.err
    assert "Traceback" not in refused.err
    served = run([python.with_name("memhold"), "mcp", "--db", tmp_path / "m.db"], seconds=200, env=clean, given=CALLS)
    assert [json.loads(line)["id"] for line in served.out.splitlines()] == [1, 2, 3], served.err
    assert "I moved to Lisbon" in served.out.splitlines()[-1]


def test_the_classifiers_are_the_pythons_it_is_run_on() -> None:
    told = {
        line.rpartition(" ")[2]
        for line in PROJECT["classifiers"]
        if line.startswith("Programming Language :: Python :: 3.")
    }
    assert told == set(PYTHONS)
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"


def test_the_index_takes_and_renders_both(built: dict[str, Path], clean: dict[str, str]) -> None:
    python = python_with(PYTHONS[0], "twine", name="twine")
    done = run([python, "-m", "twine", "check", "--strict", *built.values()], seconds=200, env=clean)
    assert done.code == 0, done.out + done.err
    assert done.out.count("PASSED") == len(built)


def test_the_wheel_can_be_made_from_the_source_distribution(built: dict[str, Path], tmp_path: Path) -> None:
    """And is the same, file by file: nothing that the build needs is missing in it."""
    with tarfile.open(built["gz"]) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    done = run([ROOT / ".venv" / "bin" / "hatchling", "build", "-t", "wheel", "-d", tmp_path], seconds=300, cwd=source)
    assert done.code == 0, done.err
    again = next(tmp_path.glob("*.whl"))
    with zipfile.ZipFile(built["whl"]) as first, zipfile.ZipFile(again) as second:
        assert {i.filename: i.CRC for i in first.infolist()} == {i.filename: i.CRC for i in second.infolist()}
