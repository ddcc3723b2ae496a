"""Every error: it can be sent between processes, carries what lets a caller act, and says what to do."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
from pathlib import Path

import cloudpickle
import pytest

from memhold import errors
from memhold.errors import MemholdError
from memhold.values import errors as page

SOURCE = Path(errors.__file__).parent
CLASSES = sorted(
    (one for _, one in inspect.getmembers(errors, inspect.isclass) if issubclass(one, MemholdError)),
    key=lambda one: one.__name__,
)
VALUES = {
    "size": 9,
    "limit": 3,
    "index": 2,
    "id": "mem_1",
    "key": "k",
    "blocking": ("chg_1",),
    "path": "/x",
    "line": None,
}


def test_all_of_them_are_exported() -> None:
    assert {one.__name__ for one in CLASSES} <= set(errors.__all__)


@pytest.mark.parametrize("codec", [pickle, cloudpickle], ids=["pickle", "cloudpickle"])
@pytest.mark.parametrize("error", CLASSES, ids=lambda one: one.__name__)
def test_it_survives_the_way_to_another_process(error: type[MemholdError], codec: object) -> None:
    made = error("what to do: ünïcode", **VALUES)
    made.__cause__ = RuntimeError("not sent along")
    back = codec.loads(codec.dumps(made))
    assert type(back) is error
    assert str(back) == str(made)
    assert back.values == VALUES
    assert back.args == made.args


@pytest.mark.parametrize("error", CLASSES, ids=lambda one: one.__name__)
def test_it_stands_on_the_page_and_says_what_it_carries(error: type[MemholdError]) -> None:
    assert error.__name__ in (page.__doc__ or "")
    assert (error.__doc__ or "").strip().endswith(".")


def test_builtin_handlers_catch_them() -> None:
    assert issubclass(errors.InvalidInput, ValueError)
    assert issubclass(errors.NotFound, LookupError)
    assert all(issubclass(one, errors.StoreError) for one in (errors.StoreFull, errors.NotAStore, errors.NewerStore))


ADVICE = re.compile(
    r"\b(pass|use|open|run|split|shorten|send|write|wait|try|make|check|upgrade|move|name|narrow|join|leave|put|say|read|undo|forget|"
    r"add|enter|correct|remove|keep|must|takes|known|tell|needs|raise|give|call|install|set)\b",
    re.IGNORECASE,
)


def _messages() -> list[tuple[str, str]]:
    """Every literal message of a `raise` of ours in the tree, with where it stands."""
    found = []
    names = {one.__name__ for one in CLASSES}
    for path in sorted(SOURCE.rglob("*.py")):
        if "testing" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (
                isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names and node.args
            ):
                continue
            text = _literal(node.args[0])
            if text is not None:
                found.append((f"{path.relative_to(SOURCE)}:{node.lineno}", text))
    return found


def _literal(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
    return None


CORE = (
    "values/", "ports/", "text/", "messages/", "journal/", "index/", "facts/", "consolidate/", "compact/", "recall/",
    "context/", "history/", "verbs/", "faces/python/", "storage/sqlite", "wiring",
)  # fmt: skip
LATER = ("facts/keys/", "messages/shapes", "messages/window")
"""Shapes are fragments that `ingest` puts behind the index and the advice of their table stands there."""


def test_every_message_says_what_to_do() -> None:
    core = [(where, text) for where, text in _messages() if where.startswith(CORE) and not where.startswith(LATER)]
    spoken = [
        (where, text)
        for where, text in core
        if text.strip("… :();") and not text.startswith(("message …: …", "… the limit"))
    ]
    silent = [
        one
        for one in spoken
        if not ADVICE.search(one[1]) and "in this scope" not in one[1] and not one[1].endswith("…")
    ]
    assert len(spoken) > 60
    assert silent == []
