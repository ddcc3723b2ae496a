"""The two suites: what a run says at its end, and what of it fails it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from scripts.suite_report import ALLOWED, Allowed, Case, read_allowed, read_suite, report
from tests.documents import ROOT

NODE = Allowed(test="reality/test_mcp*", reason="npm is not on", because="no Node.js there", since=date(2026, 11, 22))
PASSED = Case(name="tests/test_a::test_x", outcome="passed", seconds=2.0)
FAILED = Case(name="tests/test_a::test_y", outcome="failed")
SKIPPED = Case(name="reality/test_mcp_tools::test_z", outcome="skipped", reason="npm is not on this machine")


@pytest.mark.parametrize(
    ("suites", "allowed", "well"),
    [
        ([("tests", [PASSED]), ("reality", [PASSED])], [], True),
        ([("tests", [PASSED, FAILED])], [], False),
        ([("tests", [PASSED]), ("reality", None)], [], False),
        ([("tests", [PASSED]), ("reality", [])], [], False),
        ([("reality", [SKIPPED])], [NODE], False),
        ([("reality", [PASSED, SKIPPED])], [], False),
        ([("reality", [PASSED, SKIPPED])], [NODE], True),
        ([("reality", [PASSED, Case(name="reality/test_wheel::t", outcome="skipped", reason="npm is not on")])], [NODE], False),
        ([("reality", [PASSED, Case(name=SKIPPED.name, outcome="skipped", reason="it is slow")])], [NODE], False),
    ],
    ids=["all passed", "one failed", "no file", "no test", "only skips", "a skip", "an allowed skip", "of another", "for another reason"],
)  # fmt: skip
def test_a_run_is_well_when_all_ran_and_every_skip_is_allowed(suites, allowed, *, well: bool) -> None:
    assert report(suites, allowed)[1] is well


def test_it_says_what_was_skipped_and_why_and_closes_with_the_counts() -> None:
    lines, _ = report([("tests", [PASSED, FAILED]), ("reality", [PASSED, SKIPPED])], [NODE])
    assert lines[0] == "tests: 1 passed, 1 failed, 0 skipped (2 s of tests)"
    assert "npm is not on this machine [allowed since 2026-11-22: no Node.js there]" in lines[2]
    assert lines[-1] == "2 passed, 1 failed, 1 skipped"
    assert "NOT ALLOWED" in "".join(report([("reality", [PASSED, SKIPPED])], [])[0])
    assert "not needed on this machine: reality/test_mcp*" in "".join(report([("tests", [PASSED])], [NODE])[0])


def test_what_pytest_writes_is_read(tmp_path: Path) -> None:
    (tmp_path / "test_four.py").write_text(
        "import pytest\n"
        "def test_passes(): pass\n"
        "def test_fails(): assert False\n"
        "def test_is_skipped(): pytest.skip('no such thing here')\n"
        "@pytest.mark.xfail\n"
        "def test_fails_as_it_should(): assert False\n"
        "@pytest.fixture\n"
        "def broken(): raise RuntimeError\n"
        "def test_errs(broken): pass\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=four.xml", "test_four.py"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=240)
    found = {case.name.rpartition("::")[2]: case for case in read_suite(tmp_path / "four.xml")}
    assert {name: case.outcome for name, case in found.items()} == {
        "test_passes": "passed",
        "test_fails": "failed",
        "test_is_skipped": "skipped",
        "test_fails_as_it_should": "passed",
        "test_errs": "failed",
    }
    assert found["test_is_skipped"].reason == "no such thing here"


def test_each_allowed_skip_has_its_reason_and_its_day() -> None:
    for one in read_allowed(ALLOWED):
        assert one.test, one
        assert len(one.reason) >= 5, one
        assert len(one.because) >= 10, one
        assert one.since <= date(2100, 1, 1), one


def test_ci_calls_both_suites_and_the_report() -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    targets = re.findall(r"^ *make (\w+)", script, re.MULTILINE)
    assert targets == ["test", "reality"]
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for suite in ("tests", "reality"):
        assert f"--junitxml=build/{suite}.xml" in makefile
        assert f"build/{suite}.xml" in script


@pytest.mark.parametrize("fails", ["", "ruff", "mypy", "pytest"])
def test_make_test_runs_all_three_and_fails_where_one_does(fails: str, tmp_path: Path) -> None:
    """With programs that do nothing in their places: the types are looked at beside the tests, and fail the whole."""
    tools = tmp_path / "venv" / "bin"
    tools.mkdir(parents=True)
    for name in ("ruff", "mypy", "pytest"):
        (tools / name).write_text(f"#!/bin/sh\necho {name} ran\nexit {int(name == fails)}\n")
        (tools / name).chmod(0o755)
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (tmp_path / "Makefile").write_text(makefile)
    needed = re.search(r"^\$\(STAMP\): (.+)$", makefile, re.MULTILINE)
    assert needed
    for name in (*needed[1].split(), "venv/.installed"):
        (tmp_path / name).touch()
    quiet = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    command = ["make", "VENV=venv", "test"]
    shown = subprocess.run([*command, "-n"], cwd=tmp_path, env=quiet, capture_output=True, text=True, check=False)
    assert (shown.returncode, " ran" in shown.stdout, (tmp_path / "build").exists()) == (0, False, False)
    done = subprocess.run(command, cwd=tmp_path, env=quiet, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (fails == ""), done
    ran = re.findall(r"^(\w+) ran$", done.stdout, re.MULTILINE)
    assert ran == (["ruff"] if fails == "ruff" else ["ruff", "ruff", "pytest", "mypy"])
