"""The names of `memhold`: what a type checker is told is what a program gets, and what is exported."""

from __future__ import annotations

import ast
from pathlib import Path

import memhold

TREE = ast.parse(Path(memhold.__file__).read_text("utf-8"))


def told_to_checkers() -> dict[str, str]:
    """The names of the block for type checkers, and the module that each is said to come from."""
    block = next(node for node in TREE.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    found = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        found |= {alias.asname or alias.name: f"{node.module}" for alias in node.names}
    return found


def test_a_type_checker_is_told_every_public_name_and_no_other() -> None:
    assert set(told_to_checkers()) == set(memhold.__all__)


def test_each_name_is_what_checkers_are_told() -> None:
    for name, module in told_to_checkers().items():
        there = __import__(module, fromlist=[name])
        assert getattr(memhold, name) is getattr(there, name), name
        value = getattr(memhold, name)
        assert getattr(value, "__module__", module) == module, f"{name} is at home elsewhere"


def test_public_names_are_loaded_when_they_are_used() -> None:
    assert memhold.TYPE_CHECKING is False
    assert set(memhold.__all__) <= set(dir(memhold))
