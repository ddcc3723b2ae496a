"""The two faces are one: the same verbs with the same signatures, and the sync one passes on all that it is given."""

from __future__ import annotations

import ast
import asyncio
import importlib
import inspect
import sys
from collections.abc import Callable
from typing import Any, get_type_hints

import pytest

from memhold import AsyncMemhold, Memhold
from memhold.faces.python.sync import SyncAdmin, SyncScope, SyncStore
from memhold.faces.python.sync_admin import SyncTokens
from memhold.verbs.local_admin import Admin
from memhold.verbs.local_store import LocalStore
from memhold.verbs.local_tokens import TokenVerbs
from memhold.verbs.scope import AsyncScope

FACES = [(AsyncScope, SyncScope), (LocalStore, SyncStore), (Admin, SyncAdmin), (TokenVerbs, SyncTokens)]
# Where the sync face returns its own kind of a thing.
TWINS = {AsyncScope: SyncScope, Admin: SyncAdmin}


def verbs(face: type) -> dict[str, Callable[..., Any]]:
    found = inspect.getmembers(face, inspect.isfunction)
    return {name: verb for name, verb in found if not name.startswith("_")}


def properties(face: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(face, lambda member: isinstance(member, property))}


def namespace(verb: Callable[..., Any]) -> dict[str, Any]:
    """What the annotations of a verb can name: its module, and what that imports for type checkers alone."""
    module = sys.modules[verb.__module__]
    found = dict(vars(module))
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom):
            home = importlib.import_module(node.module or "")
            found |= {
                each.asname or each.name: getattr(home, each.name) for each in node.names if hasattr(home, each.name)
            }
    return found


def signature(verb: Callable[..., Any]) -> tuple[list[tuple[Any, ...]], dict[str, Any]]:
    parameters = inspect.signature(verb).parameters.values()
    hints = get_type_hints(verb, namespace(verb))
    hints["return"] = TWINS.get(hints["return"], hints["return"])
    return [(p.name, p.kind, p.default) for p in parameters], hints


@pytest.mark.parametrize(("core", "face"), FACES, ids=lambda face: face.__name__)
def test_the_verbs_are_the_same(core: type, face: type) -> None:
    assert verbs(core).keys() == verbs(face).keys()
    assert properties(core) == properties(face)


PAIRS = [(core, face, name) for core, face in FACES for name in verbs(core)]


@pytest.mark.parametrize(("core", "face", "name"), PAIRS, ids=lambda value: getattr(value, "__name__", value))
def test_a_verb_has_one_signature(core: type, face: type, name: str) -> None:
    assert signature(verbs(core)[name]) == signature(verbs(face)[name])


class RecordingPortal:
    def run(self, call: Any) -> Any:
        return asyncio.run(call)

    def close(self) -> None: ...


class RecordingCore:
    """Stands where the async face stands and tells what it was called with."""

    def __init__(self, core: type) -> None:
        self._core = core

    def __getattr__(self, name: str) -> Any:
        verb = verbs(self._core)[name]

        async def recorded(*args: Any, **kwargs: Any) -> dict[str, Any]:
            return dict(inspect.signature(verb).bind(None, *args, **kwargs).arguments)

        return recorded


PASSED_ON = [pair for pair in PAIRS if inspect.iscoroutinefunction(verbs(pair[0])[pair[2]]) and pair[2] != "close"]


@pytest.mark.parametrize(("core", "face", "name"), PASSED_ON, ids=lambda value: getattr(value, "__name__", value))
def test_the_sync_face_passes_on_every_argument(core: type, face: type, name: str) -> None:
    parameters = [p for p in inspect.signature(verbs(core)[name]).parameters.values() if p.name != "self"]
    given = {p.name: object() for p in parameters}
    positional = [given[p.name] for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    named = {p.name: given[p.name] for p in parameters if p.kind is p.KEYWORD_ONLY}
    arrived = getattr(face(RecordingCore(core), RecordingPortal()), name)(*positional, **named)
    assert {key: value for key, value in arrived.items() if key != "self"} == given


def test_the_two_open_alike() -> None:
    named = set(verbs(AsyncMemhold)) - set(verbs(LocalStore))
    assert named >= {"restore"}
    assert named == set(verbs(Memhold)) - set(verbs(SyncStore))
    for name in {"open", *named}:
        ours, theirs = (inspect.signature(getattr(face, name)) for face in (AsyncMemhold, Memhold))
        assert list(ours.parameters.values()) == list(theirs.parameters.values())
