"""The faces follow the declarations: the sync face is current, every class has every verb, arguments pass unchanged."""

from __future__ import annotations

import asyncio
import inspect
import runpy
from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from memhold import AsyncMemhold, Memhold
from memhold.faces.python.sync import SyncAdmin, SyncDocuments, SyncScope, SyncStore, SyncTokens
from memhold.faces.remote.remote_store import RemoteAdmin, RemoteStore
from memhold.faces.remote.scope import RemoteDocuments, RemoteScope
from memhold.verbs.declaration import Verb, verbs_of
from memhold.verbs.documents import AsyncDocuments
from memhold.verbs.local_admin import LocalAdmin
from memhold.verbs.local_documents import LocalDocuments
from memhold.verbs.local_scope import LocalScope
from memhold.verbs.local_store import LocalStore
from memhold.verbs.local_tokens import LocalTokens
from memhold.verbs.scope import AsyncScope
from memhold.verbs.store_protocols import AsyncAdmin, AsyncStore, AsyncTokens
from memhold.verbs.units import Doer, Unit

ROOT = Path(__file__).parents[1]
DOERS: tuple[tuple[type, type], ...] = (
    (AsyncScope, LocalScope),
    (AsyncScope, RemoteScope),
    (AsyncScope, SyncScope),
    (AsyncDocuments, LocalDocuments),
    (AsyncDocuments, RemoteDocuments),
    (AsyncDocuments, SyncDocuments),
    (AsyncStore, LocalStore),
    (AsyncStore, RemoteStore),
    (AsyncStore, AsyncMemhold),
    (AsyncStore, SyncStore),
    (AsyncAdmin, LocalAdmin),
    (AsyncAdmin, RemoteAdmin),
    (AsyncAdmin, SyncAdmin),
    (AsyncTokens, LocalTokens),
    (AsyncTokens, SyncTokens),
)
PAIRS = [(verb, doer) for protocol, doer in DOERS for verb in verbs_of(protocol).values()]
PROTOCOLS = (AsyncScope, AsyncDocuments, AsyncStore, AsyncAdmin, AsyncTokens)
VERBS = [verb for protocol in PROTOCOLS for verb in verbs_of(protocol).values()]


def name_of(value: Any) -> str:
    return str(getattr(value, "name", getattr(value, "__name__", value)))


def test_the_sync_face_is_current() -> None:
    made = runpy.run_path(str(ROOT / "scripts" / "generate_sync.py"))
    text = made["TARGET"].read_text(encoding="utf-8")
    assert made["generated"]() == text, "run python scripts/generate_sync.py"


@pytest.mark.parametrize(("verb", "doer"), PAIRS, ids=name_of)
def test_a_verb_has_one_signature_everywhere(verb: Verb, doer: type) -> None:
    declared = inspect.signature(verb.source).parameters
    done = inspect.signature(getattr(doer, verb.name)).parameters
    assert [(p.name, p.kind, p.default) for p in declared.values()] == [
        (p.name, p.kind, p.default) for p in done.values()
    ]


@pytest.mark.parametrize(
    ("verb", "unit"),
    [
        (verb, doer.units[verb.name])
        for home, doer in DOERS
        if issubclass(doer, Doer)
        for verb in verbs_of(home).values()
    ],
    ids=name_of,
)
def test_a_unit_of_work_takes_what_its_verb_declares(verb: Verb, unit: Unit) -> None:
    """Each argument by its name or in its value, and nothing else: what the table calls is not type-checked."""
    _, *own = inspect.signature(unit.work).parameters
    taken = {*own}
    if unit.value is not None:
        module, name = unit.value
        _, *named = own
        taken = {*named, *(verb.parameters.keys() & {one.name for one in fields(getattr(import_module(module), name))})}
    if unit.tells:
        taken = taken - {"writer"} | {"idempotency_key"}
    assert taken == verb.parameters.keys()


def test_every_verb_has_a_row_and_no_row_is_left_over() -> None:
    for home, doer in DOERS:
        if issubclass(doer, Doer):
            assert doer.units.keys() == verbs_of(home).keys()


@pytest.mark.parametrize("verb", VERBS, ids=name_of)
def test_a_verb_says_everything_about_itself(verb: Verb) -> None:
    assert verb.summary.endswith((".", '""', '".')), verb.summary
    undocumented = [name for name, one in verb.parameters.items() if not one.doc]
    assert undocumented == [], "document them under Args"
    assert set(verb.types) >= {*verb.parameters, "return"}


@pytest.mark.parametrize("verb", [*verbs_of(AsyncScope).values(), *verbs_of(AsyncDocuments).values()], ids=name_of)
def test_a_declaration_names_only_what_the_verb_takes(verb: Verb) -> None:
    known = {*verb.parameters, "session"}
    if verb.tool is not None:
        assert set(verb.tool.shows) <= known
    if verb.command is not None:
        assert {*verb.command.words, *verb.command.options} <= known
    if verb.http is not None:
        assert all(name in verb.parameters for name in _placeholders(verb.http.path))


def _placeholders(path: str) -> list[str]:
    return [part[1:-1] for part in path.split("/") if part.startswith("{")]


def test_a_docstring_that_names_what_is_not_there_is_refused() -> None:
    from memhold.verbs.declaration import verb

    class Wrong:
        @verb("read")
        async def look(self, far: int) -> None:
            """Look.

            Args:
                far: How far.
                near: Not there.
            """

    with pytest.raises(ValueError, match="near"):
        verbs_of(Wrong)


class RecordingLoop:
    forked = False

    def run(self, call: Any) -> Any:
        return asyncio.run(call)

    def close(self) -> None: ...


class RecordingCore:
    """Stands where the async face stands and tells what it was called with."""

    def __getattr__(self, name: str) -> Any:
        async def called(*args: Any, **named: Any) -> tuple[str, tuple[Any, ...], Mapping[str, Any]]:
            return name, args, named

        return called


SYNC = [
    (face, verb)
    for protocol, face in ((AsyncScope, SyncScope), (AsyncDocuments, SyncDocuments), (AsyncStore, SyncStore), (AsyncAdmin, SyncAdmin), (AsyncTokens, SyncTokens))
    for verb in verbs_of(protocol).values()
]  # fmt: skip


@pytest.mark.parametrize(("face", "verb"), SYNC, ids=name_of)
def test_the_sync_face_passes_on_all_that_it_is_given(face: Any, verb: Verb) -> None:
    made = face(RecordingCore(), RecordingLoop())
    places = {name: object() for name in verb.parameters}
    positional = [places[name] for name, one in verb.parameters.items() if not one.keyword_only]
    named = {name: places[name] for name, one in verb.parameters.items() if one.keyword_only}
    called, args, keywords = getattr(made, verb.name)(*positional, **named)
    # By place or by name: both are the same to a method with these names.
    assert (called, dict(zip(places, args, strict=False)) | keywords) == (verb.name, places)


def test_the_two_stores_have_the_same_docstrings() -> None:
    for verb in verbs_of(AsyncScope).values():
        assert inspect.getdoc(getattr(SyncScope, verb.name)) == inspect.getdoc(verb.source)
    assert inspect.getdoc(Memhold.open)
    assert inspect.getdoc(AsyncMemhold.open)
