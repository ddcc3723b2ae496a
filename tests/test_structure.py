"""The tree keeps its shape: imports go one way, no circle of files, few floors, functions stay small."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "memhold"
MODULES = sorted(SOURCE.rglob("*.py"))

# The rooms of the house from the ground up; a room imports rooms before it, and no other. A room is a folder or a file.
GROUND = ("_version", "values", "errors", "languages", "text", "fidelity", "ports", "messages", "asking", "upkeep")
WAY = ("index", "journal", "facts", "documents", "recall", "consolidate", "compact", "history", "context")
WALLS = ("transfer", "storage", "providers")
DOORS = ("verbs", "wiring", "faces", "server", "integrations", "testing", "cli", "__main__")
ORDER = {room: place for place, room in enumerate((*GROUND, *WAY, *WALLS, *DOORS))}

MAX_FUNCTION = 60
MAX_PARAMETERS = 7
# What declares its parameters to whoever calls: a decorated verb, command or route, the face that is generated of the
# verbs, and these, whose parameters users give by name.
DECLARING = frozenset({
    "memhold.integrations.strands_agents.__init__", "memhold.providers.embedding.ollama.__init__",
    "memhold.providers.embedding.openai.__init__", "memhold.storage.postgres.store.__init__",
    "memhold.storage.postgres.store.open", "memhold.testing.chaos.running.serve_chaos",
})  # fmt: skip
GENERATED = "memhold.faces.python.sync"
_DECLARES = re.compile(r"(?:^|\.)(?:verb|command|get|post|put|patch|delete|route)$")
MAX_FLOORS = 14
MAX_NAMESAKES = 3


def name_of(path: Path) -> str:
    return ".".join(("memhold", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


NAMES = {name_of(path): path for path in MODULES}


def room_of(name: str) -> str:
    return name.split(".")[1] if "." in name else "__init__"


def imported(tree: ast.Module, name: str) -> set[str]:
    """The modules of ours that the module of this name imports, late imports and names in strings included."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}, line {node.lineno}: write the whole name of what you import"
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {one if one in NAMES else node.module or "" for one in whole}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in NAMES:
            found.add(node.value)
    return {one for one in found if one.startswith("memhold.")}


def large_functions(tree: ast.Module) -> list[str]:
    """The functions of a module that are too long, their docstrings left out."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (node.end_lineno or 0) - node.lineno + 1
            if ast.get_docstring(node) is not None:
                size -= (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
            if size > MAX_FUNCTION:
                found.append(f"line {node.lineno}: {node.name} has {size} lines")
    return found


def long_lists(tree: ast.Module, name: str) -> list[str]:
    """The functions of a module that take too many parameters, without those that declare them."""
    found = []
    for node in ast.walk(tree) if name != GENERATED else ():
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or f"{name}.{node.name}" in DECLARING:
            continue
        marks = [ast.unparse(one.func if isinstance(one, ast.Call) else one) for one in node.decorator_list]
        given = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        count = len([one for one in given if one not in {"self", "cls"}])
        if count > MAX_PARAMETERS and not any(map(_DECLARES.search, marks)):
            found.append(f"line {node.lineno}: {node.name} takes {count} parameters")
    return found


@dataclass(frozen=True)
class Module:
    """What these tests ask about a module."""

    imports: set[str]
    large: list[str]
    long_lists: list[str]
    docstring: str | None


@cache
def modules() -> dict[str, Module]:
    """Every module of ours, each parsed once, when it is asked for: each worker collects these tests."""
    found = {}
    for name, path in NAMES.items():
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
        ours = {one for one in imported(tree, name) if one in NAMES} - {name}
        found[name] = Module(ours, large_functions(tree), long_lists(tree, name), ast.get_docstring(tree))
    return found


def imports() -> dict[str, set[str]]:
    """What each module imports of ours."""
    return {name: module.imports for name, module in modules().items()}


# Each rule is one test over all modules and names every one that breaks it: thousands of tests of a millisecond cost
# more to collect and to report than what they look at.


def wrong_imports(name: str, others: set[str]) -> Iterator[str]:
    """Why a module must not import what it imports."""
    room = room_of(name)
    if room == "__init__":
        return  # it names what programs import, and loads none of it
    if room not in ORDER:
        yield f"{room} is a new room: say in this table where it stands"
        return
    below = {room, *GROUND}
    if room == "transfer":
        below |= {"index", "journal", "history", "facts", "documents"}
    for other in sorted(others):
        theirs = room_of(other)
        if theirs != room and ORDER.get(theirs, len(ORDER)) >= ORDER[room]:
            yield f"{name} must not import {other}"
        if room in WALLS and theirs not in below:
            yield f"{name} is a wall: it must not import {other}"
        if room in WAY and theirs in WALLS:
            yield f"{name} must not import {other}: a stage asks a port"
        if other == "memhold.wiring.settings" and room not in {"wiring", "cli", "server"}:
            yield f"{name} must not read settings"


def test_imports_go_one_way() -> None:
    assert [why for name, others in imports().items() for why in wrong_imports(name, others)] == []


@pytest.mark.parametrize(
    ("name", "other", "why"),
    [
        ("memhold.attic.boxes", "memhold.values.records", "attic is a new room"),
        ("memhold.recall.fusion", "memhold.context.build", "must not import memhold.context.build"),
        ("memhold.storage.sqlite.reads", "memhold.recall.fusion", "is a wall"),
        ("memhold.recall.fusion", "memhold.storage.sqlite.reads", "a stage asks a port"),
        ("memhold.faces.rest.app", "memhold.wiring.settings", "must not read settings"),
    ],
)
def test_an_import_the_other_way_is_noticed(name: str, other: str, why: str) -> None:
    assert any(why in said for said in wrong_imports(name, {other}))
    assert list(wrong_imports("memhold.recall.fusion", {"memhold.index.words", "memhold.recall.signals"})) == []


STORES = {"sqlite", "postgres", "inmemory"}


def test_stores_know_nothing_of_each_other() -> None:
    of_stores = {name: others for name, others in imports().items() if name.startswith("memhold.storage.")}
    assert {name.split(".")[2] for name in of_stores if "." in name} >= STORES
    wrong = []
    for name, others in of_stores.items():
        mine = {name.split(".")[2]} & STORES
        for other in others:
            theirs = {*other.split(".")[2:3]} & STORES if other.startswith("memhold.storage.") else set()
            if not theirs <= mine:
                wrong.append(f"{name} must not import {other}")
    assert wrong == []


def test_the_walk_sees_late_imports(tmp_path: Path) -> None:
    module = tmp_path / "late.py"
    module.write_text("def f():\n    from memhold.recall import recall\n    return recall\n")
    assert "memhold.recall.recall" in imported(ast.parse(module.read_text()), "memhold.new")


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


def test_each_folder_says_what_it_is_for() -> None:
    said = {name: modules()[name].docstring or "" for name, path in NAMES.items() if path.name == "__init__.py"}
    assert [name for name, text in said.items() if not text.split("\n")[0].endswith(".")] == [], "one sentence each"


def test_every_folder_with_modules_is_a_package() -> None:
    assert [path for path in {path.parent for path in MODULES} if not (path / "__init__.py").exists()] == []


def large_recall(path: Path) -> str:
    """What is told of the generated `recall`, as long as it only returns what its core is asked."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    [made] = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and one.name == "recall"]
    told, only = made.body
    assert isinstance(told, ast.Expr)
    assert isinstance(only, ast.Return)
    return f"line {made.lineno}: recall has 62 lines"


def test_functions_stay_small() -> None:
    large = {name: module.large for name, module in modules().items() if module.large}
    # Generated: its `recall` hands on two parameters more than fit, a line each.
    assert large.pop("memhold.faces.python.sync", []) in ([], [large_recall(NAMES["memhold.faces.python.sync"])])
    assert large == {}


def test_functions_take_few_parameters() -> None:
    long = {name: module.long_lists for name, module in modules().items() if module.long_lists}
    assert long == {}, "pass a value instead"


def test_a_long_list_of_parameters_is_noticed() -> None:
    plain = "def f(self, a, b, c, d, *, e, f, g): ..."
    assert long_lists(ast.parse(plain), "memhold.recall.new") == []
    longer = plain.replace("g)", "g, h=0)")
    assert long_lists(ast.parse(longer), "memhold.recall.new") == ["line 1: f takes 8 parameters"]
    assert long_lists(ast.parse(f"@verb('read')\n{longer}"), "memhold.verbs.new") == []
    assert long_lists(ast.parse(f"@cache\n{longer}"), "memhold.verbs.new") != []


def test_a_large_function_is_noticed() -> None:
    body = "    x = 1\n" * MAX_FUNCTION
    told = '    """\n' + "    More.\n" * 9 + '    """\n'
    assert large_functions(ast.parse(f"def f():\n{body}")) == [f"line 1: f has {MAX_FUNCTION + 1} lines"]
    assert large_functions(ast.parse(f"class A:\n  async def f(self):\n{told}{body[10:]}")) == []


def unbounded_requests(tree: ast.Module) -> list[str]:
    """Where a module asks a model without saying its temperature or how long an answer may be."""
    wanted = {"temperature", "max_tokens"}
    calls = [one for one in ast.walk(tree) if isinstance(one, ast.Call) and ast.unparse(one.func) == "ChatRequest"]
    return [
        f"line {one.lineno}: says no {', '.join(sorted(lacking))}"
        for one in calls
        if (lacking := wanted - {keyword.arg for keyword in one.keywords})
    ]


def test_each_request_to_a_model_says_its_temperature_and_its_limit() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in MODULES if "testing" not in path.parts}
    asking = {path: ast.parse(text) for path, text in texts.items() if "ChatRequest(" in text}
    assert len(asking) > 5
    assert {str(path): found for path, tree in asking.items() if (found := unbounded_requests(tree))} == {}


def test_a_request_without_a_limit_is_noticed() -> None:
    assert unbounded_requests(ast.parse("ChatRequest(temperature=0.0)")) == ["line 1: says no max_tokens"]


READS_ROLES = {
    "messages": "reads the shapes, and keeps windows valid for the providers",
    "transfer": "reads other programs' files, of which nothing is attributed yet",
    "integrations.llama_index": "gives a framework its messages in its own roles",
    "integrations.pydantic_ai": "gives a framework its messages in its own roles",
    "providers.chat.pydantic_ai": "asks a model: a request has turns and no writers",
    "journal.windows": "says where a window may end, which the providers' roles decide",
    "context.window_messages": "builds the window, and reads the caller's messages, of which nothing is attributed",
}
"""Who may ask a message for the role "user", and why: all others ask who wrote it (`memhold.values.origins`)."""


def asked_roles(tree: ast.Module) -> list[str]:
    """Where a module compares a role with "user"."""
    found = []
    for one in ast.walk(tree):
        if isinstance(one, ast.Compare):
            sides = [one.left, *one.comparators]
            named = any(re.search(r"\brole\b", ast.unparse(side)) for side in sides)
            texts = {node.value for side in sides for node in ast.walk(side) if isinstance(node, ast.Constant)}
            if named and "user" in texts and not any("ROLE_OF" in ast.unparse(side) for side in sides):
                found.append(f"line {one.lineno}: {ast.unparse(one)}")
    return found


def test_who_said_it_is_asked_of_the_writer_and_never_of_the_role() -> None:
    asking = {
        name: found
        for name, path in NAMES.items()
        if "testing" not in path.parts and (found := asked_roles(ast.parse(path.read_text(encoding="utf-8"))))
    }
    reads = {f"memhold.{name}" for name in READS_ROLES}
    assert {name: found for name, found in asking.items() if not {name, name.rpartition(".")[0]} & reads} == {}
    idle = {one for one in reads if not any(name == one or name.startswith(f"{one}.") for name in asking)}
    assert idle == set(), "they compare no role any more: leave them out"


@pytest.mark.parametrize(
    "text",
    [
        'message.role == "user"',
        'hit.role != "user"',
        'role in {"user", "assistant"}',
        'body.get("role") == "user"',
        'body["role"] not in ("user",)',
        '"user" == message.role',
    ],
)
def test_a_question_for_the_role_is_noticed(text: str) -> None:
    assert asked_roles(ast.parse(text)) == [f"line 1: {ast.unparse(ast.parse(text))}"]
    assert (
        asked_roles(ast.parse('message.written_by == "user"; role == "tool"; columns["role"] == ROLE_OF["user"]')) == []
    )


def test_exports_are_sorted_and_there() -> None:
    assert {name: why for name in NAMES if (why := wrong_exports(name)) is not None} == {}


def wrong_exports(name: str) -> str | None:
    """Why what a module says it exports is not what it should, or None."""
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as missing:  # an adapter whose framework is the user's, and not here
        if not (name.startswith("memhold.integrations.") and f"install --upgrade '{missing.name}>=" in str(missing)):
            raise
        return None
    exported = getattr(module, "__all__", None)
    if exported is None:
        return None if NAMES[name].name in {"__init__.py", "__main__.py"} else "it has no __all__"
    if len(set(exported)) != len(exported):
        return "it names something twice"
    for each in exported:
        try:
            getattr(module, each)
        except AttributeError as error:
            return f"it has no {each}: {error}"
    return None


LIGHT = ("asyncio", "apsw", "pydantic", "numpy", "httpx2", "click", "rich", "dataclasses")


def test_importing_memhold_loads_nothing_heavy() -> None:
    code = "import sys, memhold; print(*[name for name in sys.argv[1:] if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code, *LIGHT], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_opening_loads_no_server_and_no_provider() -> None:
    code = (
        "import sys; from memhold import Memhold; Memhold.open('memory://').close();"
        "print(*[name for name in sys.argv[1:] if name in sys.modules])"
    )
    heavy = ("fastapi", "uvicorn", "mcp", "openai", "anthropic", "httpx2", "pydantic", "rich", "numpy")
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
