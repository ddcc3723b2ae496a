"""A typed user has types: a script with ten verbs, checked strictly against the installed wheel, and run."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from reality.outside import HERE, PYTHONS, node_tools, python_with, run

SCRIPT = HERE / "typed_script.py"
REVEALED = {
    "mem": "memhold.faces.python.open.Memhold",
    "receipt": "memhold.values.answers.Receipt",
    "found.hits": "tuple[memhold.values.answers.Hit, ...]",
    "hits[0]": "memhold.values.answers.Hit",
    "food.memory": "memhold.values.records.Memory",
    "alice.correct(first.id, words).memory": "memhold.values.records.Memory | None",
    "context": "memhold.context.answer.Context",
    "alice.status()": "memhold.values.answers.Status",
    "errors.NotFound(words).args": "tuple[Any, ...]",
}
"""What a checker sees behind each expression, in mypy's words; pyright's are the last names of these."""
PLANTED = '\nalice.recal("x")\nalice.recall("x", limits=3)\nalice.recall(3)\nnumber: int = first.text\n'


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """The script, with `reveal_type` behind it for each expression."""
    asked = "".join(f"reveal_type({expression})\n" for expression in REVEALED)
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.read_text() + asked)
    return path


@pytest.fixture
def python(wheel: Path) -> Path:
    return python_with(PYTHONS[0], "mypy", wheel=wheel, name="types")


def bare(text: str) -> str:
    return re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", text)


def test_mypy_strict_sees_every_type(python: Path, script: Path, tmp_path: Path, clean: dict[str, str]) -> None:
    command: list[str | Path] = [python, "-m", "mypy", "--strict", "--no-incremental"]
    done = run([*command, script], seconds=400, cwd=tmp_path, env=clean)
    assert done.code == 0, done.out + done.err
    assert re.findall(r'Revealed type is "([^"]+)"', done.out) == list(REVEALED.values())
    script.write_text(SCRIPT.read_text() + PLANTED)
    wrong = run([*command, script], seconds=400, cwd=tmp_path, env=clean)
    assert "Found 4 errors" in wrong.out, wrong.out


def test_pyright_sees_every_type(python: Path, script: Path, tmp_path: Path) -> None:
    node = node_tools()
    command: list[str | Path] = [
        node.program,
        node.modules / "pyright" / "index.js",
        "--outputjson",
        "--pythonpath",
        python,
    ]
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict", "reportUnusedVariable": false}')
    done = run([*command, script], seconds=400, cwd=tmp_path, env=node.environment(tmp_path))
    found = json.loads(done.out)["generalDiagnostics"]
    assert [one["message"] for one in found if one["severity"] == "error"] == []
    told = [re.fullmatch(r'Type of "(.+)" is "(.+)"', one["message"]) for one in found]
    assert {one[1]: one[2] for one in told if one} == {name: bare(seen) for name, seen in REVEALED.items()}
    script.write_text(SCRIPT.read_text() + PLANTED)
    wrong = run([*command, script], seconds=400, cwd=tmp_path, env=node.environment(tmp_path))
    assert json.loads(wrong.out)["summary"]["errorCount"] >= PLANTED.count("\n") - 1


def test_the_script_runs(python: Path, tmp_path: Path, clean: dict[str, str]) -> None:
    shutil.copy(SCRIPT, tmp_path / "script.py")
    done = run([python, "-I", tmp_path / "script.py", tmp_path / "m.db"], seconds=200, cwd=tmp_path, env=clean)
    assert done.code == 0, done.err
    assert done.out.startswith("favorite food: ramen ")
