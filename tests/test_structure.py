"""The tree keeps its shape: imports go one way, modules and functions stay small, exports are sorted and there."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "memhold"
MODULES = sorted(path for path in SOURCE.rglob("*.py"))

VALUES = {"errors", "model", "answers", "packed", "unpacked", "plain", "vectors", "access", "_version"}
CORE = VALUES | {"ports", "transaction", "inference", "keeping"}
# What each part of the package may import, late imports included. A part is a top-level module or folder.
ALLOWED: dict[str, set[str]] = {
    "__init__": {"open", "pipeline", "model", "answers", "errors", "_version"},
    "__main__": {"interfaces"},
    "_version": set(),
    "errors": set(),
    "model": {"errors"},
    "access": {"errors", "model"},
    "packed": {"errors"},
    "facts": {"model"},
    "vectors": set(),
    "unpacked": {"packed", "errors"},
    "plain": {"errors", "model", "answers"},
    "answers": {"errors", "model"},
    "inference": VALUES,
    "transaction": VALUES | {"facts"},
    "ports": VALUES | {"transaction", "inference"},
    "keeping": VALUES | {"transaction"},
    "system": CORE,
    "settings": {"errors"},
    "pipeline": CORE,
    "storage": CORE,
    "providers": CORE | {"plain"},
    "transfer": CORE | {"pipeline"},
    "upkeep": CORE | {"pipeline"},
    "redaction": CORE,
    "runtime": CORE | {"pipeline", "upkeep"},
    "scope_redaction": CORE | {"pipeline", "runtime"},
    "scope_reads": CORE | {"pipeline", "runtime"},
    "scope_context": CORE | {"pipeline", "runtime", "scope_reads"},
    "scope_compact": CORE | {"pipeline", "runtime", "scope_context"},
    "scope_files": CORE | {"pipeline", "runtime", "scope_compact", "moving"},
    "scope": CORE | {"pipeline", "upkeep", "runtime", "scope_reads", "scope_context", "scope_files", "scope_redaction"},
    "moving": CORE | {"pipeline", "transfer", "runtime"},
    "token_verbs": CORE | {"pipeline", "runtime"},
    "admin": CORE | {"pipeline", "runtime", "token_verbs"},
    "memory": CORE | {"pipeline", "upkeep", "runtime", "scope", "admin"},
    "portal": {"errors"},
    "sync_admin": CORE | {"portal", "token_verbs", "admin"},
    "sync": CORE | {"portal", "pipeline", "memory", "scope", "admin", "moving", "sync_admin"},
    "wiring": CORE
    | {"pipeline", "upkeep", "runtime", "scope", "memory", "storage", "providers", "settings", "system"}
    | {"chains", "transfer", "redaction"},
    "chains": CORE | {"pipeline", "providers"},
    "open": CORE | {"memory", "sync", "wiring", "remote"},
    "testing": CORE | {"pipeline", "system", "open"},
    "remote": CORE
    | {"memory", "open", "scope", "scope_reads", "admin", "token_verbs", "moving", "pipeline", "transfer"},
    "bench": CORE | {"system", "open", "scope", "storage", "pipeline", "transfer", "providers", "testing"},
    "interfaces": CORE
    | {"pipeline", "settings", "system", "wiring", "open", "memory", "sync", "scope", "transfer", "remote"}
    | {"runtime", "upkeep", "testing", "admin", "moving", "bench", "token_verbs", "scope_reads"},
}
# Stores know nothing of each other.
SIBLINGS = {
    "storage": {
        "copying",
        "gathered",
        "opened",
        "reading",
        "residue",
        "rows",
        "settling",
        "sql",
        "token_rows",
        "writing",
    }
}

MAX_MODULE = 400
MAX_FUNCTION = 60


def part_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write the whole name of what you import"
            found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("memhold."):
            found.add(node.value)
    return {name for name in found if name.startswith("memhold.")}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_one_way(path: Path) -> None:
    part = part_of(path)
    assert part in ALLOWED, f"{part} is new: say in this table what it may import"
    for name in imported(path):
        other = name.split(".")[1]
        if not (SOURCE / other).exists() and not (SOURCE / f"{other}.py").exists():
            continue
        assert other == part or other in ALLOWED[part], f"{path.relative_to(SOURCE)} must not import {name}"
        if part == other == "storage":
            mine, theirs = path.relative_to(SOURCE).parts[1], name.split(".")[2] if name.count(".") > 1 else "sql"
            assert mine.removesuffix(".py") == theirs or theirs in SIBLINGS["storage"], f"{path} must not import {name}"


def test_the_walk_sees_late_imports(tmp_path: Path) -> None:
    module = tmp_path / "late.py"
    module.write_text("def f():\n    from memhold.pipeline import recall\n    return recall\n")
    assert "memhold.pipeline.recall" in imported(module)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_modules_and_functions_stay_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= MAX_MODULE, f"{path} has {text.count(chr(10))} lines: split it"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (node.end_lineno or 0) - node.lineno + 1
            if ast.get_docstring(node) is not None:
                size -= (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
            assert size <= MAX_FUNCTION, f"{path}:{node.lineno} {node.name} has {size} lines"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_exports_are_sorted_and_there(path: Path) -> None:
    name = ".".join(("memhold", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
    module = importlib.import_module(name)
    exported = getattr(module, "__all__", None)
    if exported is None:
        assert path.name in {"__init__.py", "__main__.py"}, f"{name} has no __all__"
        return
    assert len(set(exported)) == len(exported)
    for each in exported:
        getattr(module, each)


LIGHT = ("asyncio", "apsw", "structlog", "pydantic", "numpy", "httpx2", "click", "rich", "dataclasses")


def test_importing_memhold_loads_nothing_heavy() -> None:
    code = "import sys, memhold; print(*[name for name in sys.argv[1:] if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code, *LIGHT], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_opening_loads_no_server_and_no_provider() -> None:
    code = (
        "import sys; from memhold import Memhold; Memhold.open('memory://').close();"
        "print(*[name for name in sys.argv[1:] if name in sys.modules])"
    )
    heavy = ("fastapi", "uvicorn", "mcp", "openai", "anthropic", "httpx2", "pydantic", "structlog", "rich", "numpy")
    done = subprocess.run([sys.executable, "-c", code, *heavy], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_opening_a_file_loads_no_stage_of_the_pipeline(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    code = (
        "import sys; from memhold import Memhold; Memhold.open(sys.argv[1]).close();"
        "print(*sorted(name for name in sys.modules if name.startswith('memhold.pipeline.')))"
    )
    found = ""
    for _ in range(2):
        found = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True).stdout
    assert set(found.split()) <= {"memhold.pipeline.embedding", "memhold.pipeline.limits"}
