"""Write the sync face from the declarations: `python scripts/generate_sync.py`. A test fails where it is behind.

Each declared verb becomes a method of the same signature and docstring that runs the async one on the face's own loop.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERBS = ROOT / "src" / "memhold" / "verbs"
TARGET = ROOT / "src" / "memhold" / "faces" / "python" / "sync.py"
PROTOCOLS = (
    ("documents.py", "AsyncDocuments"),
    ("scope.py", "AsyncScope"),
    ("store_protocols.py", "AsyncTokens"),
    ("store_protocols.py", "AsyncAdmin"),
    ("store_protocols.py", "AsyncStore"),
)
TWINS = {
    "AsyncDocuments": "SyncDocuments",
    "AsyncScope": "SyncScope",
    "AsyncAdmin": "SyncAdmin",
    "AsyncTokens": "SyncTokens",
    "AsyncStore": "SyncStore",
}
MANY = 4
"""So many arguments are passed on as they came, and not named once more."""
HEAD = '''"""The sync face: the same verbs, on one thread of its own with its own loop.

Generated from the declarations by scripts/generate_sync.py: change those, and run it.
"""

from __future__ import annotations

{imports}
from memhold.faces.python.event_loop_thread import EventLoopThread
from memhold.values.errors import StoreClosed
from memhold.values.hints import Hinting

if TYPE_CHECKING:
{late}

__all__ = ["SyncAdmin", "SyncDocuments", "SyncScope", "SyncStore", "SyncTokens"]


def _given(names: dict[str, Any]) -> dict[str, Any]:
    """What a method was called with, by its names."""
    del names["self"]
    return names
'''
CLASS = '''

class {name}(Hinting):
    """{doc}"""

    def __init__(self, core: {core}, loop: EventLoopThread) -> None:
        self._core = core
        self._loop = loop
'''
CLOSE = '''
    def close(self) -> None:
        """{doc}"""
        if self._loop.forked:
            return
        try:
            self._loop.run(self._core.close())
        except StoreClosed:
            return
        finally:
            self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return repr(self._core)
'''


def generated() -> str:
    """The text of the sync face."""
    trees = {name: ast.parse((VERBS / name).read_text(encoding="utf-8")) for name, _ in PROTOCOLS}
    classes = [(_class_of(trees[name], protocol)) for name, protocol in PROTOCOLS]
    text = HEAD.format(imports=_imports(trees.values()), late=_late(trees.values()))
    text += "".join(map(_face, classes))
    return _ruff(_ruff(text, "check", "--fix", "--select", "F401,I,RUF022"), "format")


def _ruff(text: str, *what: str) -> str:
    command = [sys.executable, "-m", "ruff", *what, "-q", "--stdin-filename", str(TARGET), "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout


def _class_of(tree: ast.Module, name: str) -> ast.ClassDef:
    return next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)


def _imports(trees: object) -> str:
    lines = {ast.unparse(n) for tree in trees for n in tree.body if isinstance(n, ast.ImportFrom)}  # type: ignore[attr-defined]
    return "\n".join(sorted(one for one in lines if "memhold" not in one and "__future__" not in one))


def _late(trees: object) -> str:
    blocks = [node for tree in trees for node in tree.body if isinstance(node, ast.If)]  # type: ignore[attr-defined]
    lines = {ast.unparse(one) for block in blocks for one in block.body}
    lines |= {
        "from memhold.verbs.documents import AsyncDocuments",
        "from memhold.verbs.scope import AsyncScope",
        "from memhold.verbs.store_protocols import AsyncAdmin, AsyncStore, AsyncTokens",
    }
    return "\n".join(f"    {one}" for one in sorted(lines))


def _face(node: ast.ClassDef) -> str:
    doc = "One open store, for code that is not async. Thread-safe; close it, or use `with`."
    if node.name != "AsyncStore":
        doc = _indented(ast.get_docstring(node) or "", 4)
    text = CLASS.format(name=TWINS[node.name], doc=doc, core=node.name)
    for method in node.body:
        if isinstance(method, ast.AsyncFunctionDef | ast.FunctionDef) and not method.name.startswith("_"):
            text += "\n" + _method(method)
    return text


def _method(node: ast.AsyncFunctionDef | ast.FunctionDef) -> str:
    doc = _indented(ast.get_docstring(node) or "", 8)
    if node.name == "close":
        return CLOSE.format(doc=doc)
    returns = ast.unparse(node.returns) if node.returns is not None else "None"
    prefix = "    @property\n" if any(ast.unparse(one) == "property" for one in node.decorator_list) else ""
    signature = f"{prefix}    def {node.name}({ast.unparse(node.args)}) -> {TWINS.get(returns, returns)}:"
    return f'{signature}\n        """{doc}"""\n        return {_call(node, returns, bool(prefix))}\n'


def _call(node: ast.AsyncFunctionDef | ast.FunctionDef, returns: str, is_property: bool) -> str:  # noqa: FBT001 - a flag of this file
    given = [one.arg for one in node.args.args[1:]] + [f"{one.arg}={one.arg}" for one in node.args.kwonlyargs]
    passed = ", ".join(given) if len(given) < MANY else "**_given(locals())"
    call = f"self._core.{node.name}" if is_property else f"self._core.{node.name}({passed})"
    if isinstance(node, ast.AsyncFunctionDef):
        return f"self._loop.run({call})"
    return f"{TWINS[returns]}({call}, self._loop)" if returns in TWINS else call


def _indented(text: str, spaces: int) -> str:
    lines = text.split("\n")
    rest = [f"{' ' * spaces}{line}" if line else "" for line in lines[1:]]
    return "\n".join([lines[0], *rest, " " * spaces]) if rest else lines[0]


if __name__ == "__main__":
    TARGET.write_text(generated(), encoding="utf-8")
