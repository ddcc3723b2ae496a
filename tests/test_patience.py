"""No test judges by how often it looked, or by less time than a busy machine may need."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LEAST_SECONDS = 30
WAITS = {"timeout", "wait_for"}


def impatient(tree: ast.Module) -> Iterator[str]:
    """Loops that look a number of times and then give up, and waits of asyncio for less than 30 s and more than none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.For) and called(node.iter) == "range" and polls(node):
            yield f"line {node.lineno}: it looks a number of times; wait for a time instead"
        if isinstance(node, ast.Call) and called(node) in WAITS:
            given = node.args[1:] if called(node) == "wait_for" else node.args
            seconds = [one.value for one in given if isinstance(one, ast.Constant)]
            if any(isinstance(one, int | float) and 0 < one < LEAST_SECONDS for one in seconds):
                yield f"line {node.lineno}: it waits less than {LEAST_SECONDS} s"


def polls(loop: ast.For) -> bool:
    """Whether a loop sleeps, and is left early; `sleep(0)` is a turn of the event loop, and no time."""
    within = [node for statement in loop.body for node in ast.walk(statement)]
    asleep = [node for node in within if isinstance(node, ast.Call) and called(node) == "sleep"]
    left = any(isinstance(node, ast.Break | ast.Return) for node in within)
    return left and any(not isinstance(one.args[0], ast.Constant) or one.args[0].value != 0 for one in asleep)


def called(node: ast.expr) -> str:
    """The last name of what a call calls; empty for what is no call."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def test_every_test_waits_long_enough() -> None:
    files = sorted(path for folder in ("tests", "reality") for path in (ROOT / folder).rglob("*.py"))
    found = {str(path.relative_to(ROOT)): [*impatient(ast.parse(path.read_text(encoding="utf-8")))] for path in files}
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "code",
    [
        "for _ in range(600):\n    if there():\n        break\n    time.sleep(0.1)\n",
        "async def until():\n    for _ in range(600):\n        await asyncio.sleep(0.1)\n        if there():\n            return\n",
        "async def one():\n    async with asyncio.timeout(10):\n        pass\n",
        "asyncio.wait_for(there(), 5)\n",
    ],
)
def test_one_that_does_not_is_noticed(code: str) -> None:
    assert [*impatient(ast.parse(code))]


def test_one_that_waits_for_a_time_or_gives_no_time_at_all_is_let_be() -> None:
    code = "async def one():\n    async with asyncio.timeout(60), asyncio.timeout(0):\n        await asyncio.sleep(1)\n"
    assert not [*impatient(ast.parse(code))]
