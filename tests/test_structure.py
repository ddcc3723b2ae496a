"""The tree keeps its shape: imports go one way, no circle of files, few floors, functions stay small."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "memhold"
MODULES = sorted(SOURCE.rglob("*.py"))

# The rooms of the house from the ground up; a room imports rooms before it, and no other. A room is a folder or a file.
GROUND = ("_version", "values", "errors", "text", "ports", "messages", "asking", "upkeep")
WAY = ("index", "journal", "facts", "documents", "recall", "consolidate", "compact", "history", "context")
WALLS = ("transfer", "storage", "providers")
DOORS = ("verbs", "wiring", "faces", "server", "integrations", "testing", "cli", "__main__")
ORDER = {room: place for place, room in enumerate((*GROUND, *WAY, *WALLS, *DOORS))}

MAX_FUNCTION = 60
MAX_FLOORS = 14
MAX_NAMESAKES = 3


def name_of(path: Path) -> str:
    return ".".join(("memhold", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


NAMES = {name_of(path): path for path in MODULES}


def room_of(name: str) -> str:
    return name.split(".")[1] if "." in name else "__init__"


def imported(path: Path) -> set[str]:
    """The modules of ours that a module imports, late imports and names in strings included."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write the whole name of what you import"
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in NAMES else node.module or "" for name in whole}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in NAMES:
            found.add(node.value)
    return {name for name in found if name.startswith("memhold.")}


@cache
def imports() -> dict[str, set[str]]:
    """What each module imports of ours; walked when it is asked for, since each worker collects these tests."""
    return {name: {one for one in imported(path) if one in NAMES} - {name} for name, path in NAMES.items()}


@pytest.mark.parametrize("name", NAMES)
def test_imports_go_one_way(name: str) -> None:
    room = room_of(name)
    if room == "__init__":
        return  # it names what programs import, and loads none of it
    assert room in ORDER, f"{room} is a new room: say in this table where it stands"
    for other in imports()[name]:
        theirs = room_of(other)
        assert theirs == room or ORDER[theirs] < ORDER[room], f"{name} must not import {other}"
        if room in WALLS:
            assert theirs in {
                room,
                *GROUND,
                *(("index", "journal", "history", "facts", "documents") if room == "transfer" else ()),
            }, f"{name} is a wall: it must not import {other}"
        if room in WAY:
            assert theirs not in WALLS, f"{name} must not import {other}: a stage asks a port"
        if other == "memhold.wiring.settings":
            assert room in {"wiring", "cli", "server"}, f"{name} must not read settings"


STORES = {"sqlite", "postgres", "inmemory"}


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("memhold.storage.")])
def test_stores_know_nothing_of_each_other(name: str) -> None:
    mine = {name.split(".")[2]} & STORES
    for other in imports()[name]:
        theirs = {*other.split(".")[2:3]} & STORES if other.startswith("memhold.storage.") else set()
        assert theirs <= mine, f"{name} must not import {other}"


def test_the_walk_sees_late_imports(tmp_path: Path) -> None:
    module = tmp_path / "late.py"
    module.write_text("def f():\n    from memhold.recall import recall\n    return recall\n")
    assert "memhold.recall.recall" in imported(module)


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Each set of names that reach one another."""
    above = {name: _reached(edges, name) for name in edges}
    return [sorted(o for o in above[name] if name in above[o]) for name in edges if name in above[name]]


def _reached(edges: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [*edges[start]]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += edges[name]
    return found


def test_no_files_import_each_other_in_a_circle() -> None:
    assert circles({"a": {"b"}, "b": {"a"}, "c": {"a"}}), "the walk finds a circle"
    assert circles(imports()) == []


def test_the_house_has_few_floors() -> None:
    """A room stands above all that it imports; the longest way down is short enough to keep in mind."""
    rooms: dict[str, set[str]] = {}
    for name, others in imports().items():
        rooms.setdefault(room_of(name), set()).update(room_of(other) for other in others)
    floors: dict[str, int] = {}

    def floor(room: str) -> int:
        if room not in floors:
            floors[room] = 1 + max((floor(below) for below in rooms[room] - {room}), default=0)
        return floors[room]

    assert max(map(floor, rooms)) <= MAX_FLOORS, sorted(floors.items(), key=lambda one: one[1])


def test_no_name_stands_on_many_files() -> None:
    names = Counter(path.stem for path in MODULES if path.stem != "__init__")
    assert [name for name, count in names.items() if count > MAX_NAMESAKES] == []


@pytest.mark.parametrize("path", [p for p in MODULES if p.name == "__init__.py"], ids=lambda path: path.parent.name)
def test_each_folder_says_what_it_is_for(path: Path) -> None:
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert said, f"{path} does not say in one sentence what the room is for"
    assert said.split("\n")[0].endswith(".")


def test_every_folder_with_modules_is_a_package() -> None:
    assert [path for path in {path.parent for path in MODULES} if not (path / "__init__.py").exists()] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_functions_stay_small(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (node.end_lineno or 0) - node.lineno + 1
            if ast.get_docstring(node) is not None:
                size -= (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
            assert size <= MAX_FUNCTION, f"{path}:{node.lineno} {node.name} has {size} lines"


@pytest.mark.parametrize("name", NAMES)
def test_exports_are_sorted_and_there(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as missing:  # an adapter whose framework is the user's, and not here
        if not (name.startswith("memhold.integrations.") and f"install --upgrade '{missing.name}>=" in str(missing)):
            raise
        return
    exported = getattr(module, "__all__", None)
    if exported is None:
        assert NAMES[name].name in {"__init__.py", "__main__.py"}, f"{name} has no __all__"
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


def test_writing_and_recalling_load_no_importer() -> None:
    code = (
        "import sys; from memhold import Memhold\n"
        "with Memhold.open('memory://') as mem:\n"
        "    alice = mem.scope(user='alice'); alice.add({'role': 'user', 'content': 'I like tea'}); alice.recall('tea')\n"
        "print(*[name for name in sys.modules if name.startswith(('memhold.transfer.', 'memhold.compact.'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_opening_a_file_loads_no_stage_of_the_way(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    code = (
        "import sys; from memhold import Memhold; Memhold.open(sys.argv[1]).close();"
        "print(*sorted(name for name in sys.modules if name.startswith('memhold.')))"
    )
    found = ""
    for _ in range(2):
        found = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True).stdout
    stages = {name for name in found.split() if room_of(name) in WAY and name.count(".") > 1}
    assert stages <= {"memhold.index.embedding", "memhold.index.questions"}
