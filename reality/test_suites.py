"""The frameworks' own tests of what our adapters stand for, where their source distributions ship them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from reality.outside import HERE, python_with, run, source_of

SUITES = HERE / "suites"
SHIPPED = {
    "anthropic": ("anthropic",),
    "langgraph": ("langgraph-checkpoint", "langgraph-checkpoint-sqlite"),
    "openai_agents": ("openai-agents",),
}


@pytest.mark.parametrize("name", SHIPPED)
def test_the_frameworks_own_tests_pass(name: str, wheel: Path, tmp_path: Path, clean: dict[str, str]) -> None:
    needed = (SUITES / f"{name}.in").read_text().split()
    python = python_with("3.11", *needed, wheel=wheel, lock=SUITES / f"{name}.lock", name=f"suite-{name}")
    for package in SHIPPED[name]:
        unpacked = shutil.copytree(source_of(python, package), tmp_path / package, symlinks=True)
        # -P: the folder of the suite, whose name is the framework's, is on no path.
        done = run([python, "-P", SUITES / f"{name}.py", unpacked], seconds=900, env=clean)
        assert done.code == 0, done.out + done.err
        print(done.out[done.out.rindex(f"{package}: ") :])
