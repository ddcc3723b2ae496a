"""The adapters, each with the newest release of its framework in an environment of its own, and no network."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from reality.outside import HERE, ROOT, clean_environment, python_with, run

PROOFS = HERE / "frameworks"
NAMES = sorted(path.stem for path in PROOFS.glob("*.in"))
PAGE = """import sys
from pathlib import Path
sys.path.append(sys.argv[1])  # behind the frameworks: a folder of our tests has the name of one
from documents import run_blocks
run_blocks(*map(Path, sys.argv[2:]))
"""


def parts(mode: str) -> list[str]:
    """The frameworks whose proof has this mode."""
    return [name for name in NAMES if f'"{mode}"' in (PROOFS / f"{name}.py").read_text()]


def python_of(name: str, wheel: Path) -> Path:
    """A Python with the core and this framework."""
    needed = [line for line in (PROOFS / f"{name}.in").read_text().splitlines() if line and line[0] != "#"]
    return python_with("3.11", *needed, wheel=wheel, lock=PROOFS / f"{name}.lock", name=f"with-{name}")


def command(name: str, wheel: Path, mode: str, folder: Path) -> Sequence[str | Path]:
    # -P: the folder of the proof, whose name is the framework's, is on no path.
    return [python_of(name, wheel), "-P", PROOFS / f"{name}.py", mode, folder]


def test_every_adapter_has_a_page_and_a_proof() -> None:
    core = {"__init__", "framework", "reach", "record", "turns"}
    adapters = {path.stem for path in (ROOT / "src" / "memhold" / "integrations").glob("*.py")} - core
    pages = {path.stem.replace("-", "_") for path in (ROOT / "docs" / "integrations").glob("*.md")} - {"README"}
    assert adapters == pages == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_its_page_runs(name: str, wheel: Path, tmp_path: Path) -> None:
    page = ROOT / "docs" / "integrations" / f"{name.replace('_', '-')}.md"
    told: Sequence[str | Path] = [python_of(name, wheel), "-P", "-c", PAGE, ROOT / "tests", page, tmp_path]
    done = run(told, seconds=300, env=clean_environment(tmp_path))
    assert done.code == 0, done.out + done.err


@pytest.mark.parametrize("name", NAMES)
def test_a_second_process_remembers_what_the_first_was_told_before_it_was_killed(
    name: str, wheel: Path, tmp_path: Path, clean: dict[str, str]
) -> None:
    told = command(name, wheel, "first", tmp_path)
    with subprocess.Popen(told, env=clean, stdout=subprocess.PIPE, text=True, start_new_session=True) as first:
        assert first.stdout is not None
        said = next((line for line in first.stdout if line in {"told\n", ""}), "it ended before it was told anything")
        os.killpg(first.pid, signal.SIGKILL)
    assert (said, first.returncode) == ("told\n", -signal.SIGKILL)
    second = run(command(name, wheel, "second", tmp_path), seconds=300, env=clean)
    assert second.code == 0, second.out + second.err


@pytest.mark.parametrize("name", parts("writers"))
def test_eight_writers_at_one_place_make_one_document(
    name: str, wheel: Path, tmp_path: Path, clean: dict[str, str]
) -> None:
    done = run(command(name, wheel, "writers", tmp_path), seconds=300, env=clean)
    assert done.code == 0, done.out + done.err


@pytest.mark.parametrize("name", parts("suite"))
def test_the_suite_that_the_framework_ships_passes(
    name: str, wheel: Path, tmp_path: Path, clean: dict[str, str]
) -> None:
    done = run(command(name, wheel, "suite", tmp_path), seconds=600, env=clean)
    assert done.code == 0, done.out + done.err
    print(done.out.strip())
