"""Documents by name beyond one verb: a dictionary as their model, other processes, files, and the faces."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memhold import AsyncMemhold, Memhold
from memhold.cli.main import main
from memhold.documents.content import MAX_BYTES
from memhold.errors import Conflict, InvalidInput, NotFound, RevisionConflict
from memhold.faces.mcp.calls import run_tool
from memhold.faces.mcp.tools import DOCUMENT_TOOLS, Caller, Refused
from memhold.testing import FakeClock
from memhold.text.json_fields import texts_at
from memhold.text.stretches import WHOLE, sampled_text
from memhold.values.principal import Principal
from memhold.values.records import Scope

# ------------------------------------------------------------------------------------------------ the model

NAMES = st.sampled_from(["a", "b", "a b", "é", "😀"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(tuple)
CONTENTS = st.one_of(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8), st.dictionaries(st.text("xy", max_size=2), st.integers(), max_size=2))  # fmt: skip
HOURS = st.one_of(st.none(), st.integers(1, 5))
OPERATIONS = st.one_of(
    st.tuples(st.just("put"), PATHS, CONTENTS, HOURS),
    st.tuples(st.just("set"), PATHS, CONTENTS, st.booleans()),
    st.tuples(st.just("move"), PATHS, PATHS, st.booleans()),
    st.tuples(st.just("delete"), PATHS, st.booleans(), st.booleans()),
    st.tuples(st.just("undo")),
    st.tuples(st.just("wait"), st.integers(1, 3)),
)


Held = dict[tuple[str, ...], tuple[Any, datetime | None]]


class Model:
    """A dictionary by path, and the dictionary that each change that can be undone found."""

    def __init__(self) -> None:
        self.held: Held = {}
        self.before: list[tuple[str, Held]] = []

    def at(self, now: datetime) -> dict[tuple[str, ...], Any]:
        return {path: one for path, (one, until) in self.held.items() if until is None or until > now}

    def changed(self, change: str, held: Held) -> None:
        self.before.append((change, self.held))
        self.held = held


def _below(path: tuple[str, ...], prefix: tuple[str, ...]) -> bool:
    return path[: len(prefix)] == prefix


def _run(scope: Any, clock: FakeClock, model: Model, operation: tuple[Any, ...]) -> None:
    now, documents = clock.now(), scope.documents
    there = model.at(now)
    living = {path: one for path, one in model.held.items() if path in there}
    match operation:
        case ("put", path, content, hours):
            until = None if hours is None else now + timedelta(hours=hours)
            done = documents.put(path, content, expires_at=until)
            if done.receipt.change_ids:
                model.changed(done.receipt.change_ids[0], {**living, path: (content, until)})
            else:
                assert living[path] == (content, until)
        case ("set", path, content, right):
            rev = documents.read(path).rev if path in there else 0
            if right:
                done = documents.put(path, content, if_rev=rev)
                if done.receipt.change_ids:
                    model.changed(done.receipt.change_ids[0], {**living, path: (content, None)})
            else:
                with pytest.raises(RevisionConflict):
                    documents.put(path, content, if_rev=rev + 1)
        case ("move", path, to, below):
            _move(documents, model, living, path, to, below=below)
        case ("delete", path, below, hard):
            going = {one for one in there if (_below(one, path) if below else one == path)}
            if going:
                done = documents.delete(path, below=below, hard=hard)
                left = {one: held for one, held in living.items() if one not in going}
                model.changed(done.change_id, left)
                if hard:
                    model.before.clear()
            elif not hard:
                with pytest.raises(NotFound):
                    documents.delete(path, below=below)
        case ("undo",):
            if model.before:
                change, model.held = model.before.pop()
                scope.undo(change, cascade=True)
        case ("wait", hours):
            clock.advance(timedelta(hours=hours))
            return  # what comes next meets what is over, and nobody has marked so
    assert _everything(scope) == model.at(clock.now())


def _move(
    documents: Any, model: Model, living: Held, path: tuple[str, ...], to: tuple[str, ...], *, below: bool
) -> None:
    moving = {one for one in living if (_below(one, path) if below else one == path)}
    targets = {(*to, *one[len(path) :]): one for one in moving}
    refused: type[Exception] | None = None
    if path == to or (below and _below(to, path)):
        refused = InvalidInput
    elif not moving:
        refused = NotFound
    elif targets.keys() & living.keys():
        refused = Conflict
    if refused is not None:
        with pytest.raises(refused):
            documents.move(path, to, below=below)
        return
    done = documents.move(path, to, below=below)
    rest = {one: held for one, held in living.items() if one not in moving}
    model.changed(done.change_ids[0], rest | {new: living[old] for new, old in targets.items()})


def _everything(scope: Any) -> dict[tuple[str, ...], Any]:
    return {one.path: one.content for one in scope.documents.list(content=True, limit=1000).items}


@pytest.fixture(scope="module", params=["memory", "sqlite", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memhold, FakeClock]]:  # fmt: skip
    where = {"memory": "memory://", "sqlite": str(tmp_path_factory.mktemp("documents") / "m.db")}
    databases = request.getfixturevalue("databases") if request.param == "postgres" else None
    location = where[request.param] if databases is None else databases.store()
    clock = FakeClock()
    with Memhold.open(location, clock=clock, worker=False) as mem:
        yield mem, clock
    if databases is not None:
        databases.give_back(location)


USERS = iter(range(10**6))


@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(operations=st.lists(OPERATIONS, min_size=5, max_size=25))
def test_documents_are_a_dictionary(opened: tuple[Memhold, FakeClock], operations: list[tuple[Any, ...]]) -> None:
    mem, clock = opened
    scope, model = mem.scope(user=f"user{next(USERS)}"), Model()
    for operation in operations:
        _run(scope, clock, model, operation)
    for path, content in model.at(clock.now()).items():
        assert scope.documents.read(path).content == content
    asked = {hit.path for hit in scope.recall("", kinds=["document"], limit=1000).hits}
    assert asked == model.at(clock.now()).keys()


async def test_many_documents_come_page_by_page_of_several_agents() -> None:
    async with AsyncMemhold.open("memory://", worker=False) as mem:
        names = [f"d{n:02}" for n in range(40)]
        for agent in ("a", "b", "c"):
            for name in names:
                await mem.scope(user="alice", agent=agent).documents.put((name,), agent)
        every = mem.scope(user="alice").documents
        for limit in (1, 7, 16, 40):
            found: list[Any] = []
            cursor = None
            while cursor is not None or not found:
                page = await every.list(content=True, limit=limit, cursor=cursor)
                found += [(one.path[0], one.content) for one in page.items]
                cursor = page.cursor
            assert found == [(name, "c") for name in names], "of several agents the newest, each path once"


# ------------------------------------------------------------------------------------------------ fields


def test_fields_name_members_by_names_places_and_stars() -> None:
    value = {"a": {"b": ["x", {"c": "y"}, 3]}, "d": None, "e": True, "f": [["p", "q"], ["r"]]}
    for field, words in [
        ("a.b[0]", "x"), ("a.b[1].c", "y"), ("a.b[-1]", "3"), ("a.b[9]", ""), ("a.b[1]", '{"c": "y"}'), ("d", ""),
        ("e", "true"), ("f[*][0]", "p\nr"), ("f.*", '["p", "q"]\n["r"]'), ("*.b[0]", "x"), ("a.b.c", ""), ("f.a", ""),
    ]:  # fmt: skip
        assert texts_at(value, [field], most=100) == words, field
    assert texts_at(["x", "y"], ["[1]", "[0]"], most=100) == "y\nx"
    assert len(texts_at({"long": "z" * 50}, ["long"] * 32, most=60)) == 101, "a member that is named often ends it"


async def test_what_the_index_holds_of_fields_is_made_again_from_the_row(tmp_path: Path) -> None:
    async with AsyncMemhold.open(str(tmp_path / "m.db"), worker=False) as mem:
        alice = mem.scope(user="alice")
        await alice.documents.put(("book",), {"title": "Oolong", "note": "elk"}, fields=["title"])
        await mem.settle()
        assert await mem.admin.doctor() == ()
        await mem.admin.reindex()
        assert await mem.admin.doctor() == ()
        await alice.export(tmp_path / "e.jsonl")
    async with AsyncMemhold.open(str(tmp_path / "other.db"), worker=False) as mem:
        alice = mem.scope(user="alice")
        await alice.import_file(tmp_path / "e.jsonl")
        assert (await alice.documents.read(("book",))).fields == ("title",)
        assert await mem.admin.doctor() == ()
        assert "words" not in {
            reason.signal for hit in (await alice.documents.search("elk")).hits for reason in hit.why
        }


# ------------------------------------------------------------------------------------------------ large contents


def test_a_very_long_text_is_sampled_between_words_from_end_to_end() -> None:
    words = [f"word{n}" for n in range(200_000)]
    text = " ".join(words)
    sampled = sampled_text(text)
    assert len(sampled) < WHOLE + 16 * 100
    kept = sampled.split()
    assert (kept[0], kept[-1]) == (words[0], words[-1])
    assert set(kept) <= set(words), "no word is cut"
    assert sampled_text("short") == "short"
    assert len(sampled_text("x" * MAX_BYTES)) == WHOLE + 15


async def test_the_largest_content_is_kept_and_found_by_what_stands_in_its_samples(tmp_path: Path) -> None:
    place = str(tmp_path / "m.db")
    text = "Beginning of the logbook. " + "nothing to see here " * (MAX_BYTES // 20 - 10) + "The whale was white."
    async with AsyncMemhold.open(place, worker=False) as mem:
        alice = mem.scope(user="alice")
        await alice.documents.put(("log",), text)
        assert (await alice.documents.read(("log",))).content == text
        for asked in ("logbook", "white whale"):
            [hit] = (await alice.recall(asked, kinds=["document"])).hits
            assert hit.path == ("log",)
            assert len(hit.text) <= 4_000
        await mem.settle()
        assert await mem.admin.doctor() == ()
        await alice.documents.delete(("log",), hard=True)
        assert not (await alice.residue("The whale was white")).found


# ------------------------------------------------------------------------------------------------ files


async def test_documents_cross_in_exports_backups_and_migrations(tmp_path: Path, database: str) -> None:
    place, target = str(tmp_path / "m.db"), str(tmp_path / "other.db")
    async with AsyncMemhold.open(place, worker=False) as mem:
        alice = mem.scope(user="alice")
        await alice.documents.put(("a",), "one")
        await alice.documents.put(("a",), {"two": 2}, metadata={"k": 1})
        await alice.documents.put(("b",), "stays here", index=False)
        await alice.export(tmp_path / "e.jsonl")
        await mem.admin.backup(tmp_path / "backup")
        assert await mem.admin.doctor() == ()
        await mem.admin.reindex()
        assert await mem.admin.doctor() == ()
    async with AsyncMemhold.open(target, worker=False) as mem:
        alice = mem.scope(user="alice")
        await alice.documents.put(("b",), "what is here wins")
        await alice.import_file(tmp_path / "e.jsonl")
        held = await alice.documents.read(("a",))
        assert (held.content, held.metadata) == ({"two": 2}, {"k": 1})
        assert (await alice.documents.read(("b",))).content == "what is here wins"
        await alice.documents.put(("a",), "three", if_rev=held.rev)
        await alice.import_file(tmp_path / "e.jsonl")
        assert _texts(await alice.documents.list(content=True)) == {("a",): "three", ("b",): "what is here wins"}
        assert await mem.admin.doctor() == ()
    assert await asyncio.to_thread(main, ["migrate", place, database]) == 0
    restored = ["restore", str(tmp_path / "backup"), "--db", str(tmp_path / "restored.db")]
    assert await asyncio.to_thread(main, restored) == 0
    for location in (database, str(tmp_path / "restored.db")):
        async with AsyncMemhold.open(location, worker=False) as mem:
            alice = mem.scope(user="alice")
            found = _texts(await alice.documents.list(content=True))
            assert found == {("a",): {"two": 2}, ("b",): "stays here"}
            assert [change.verb for change in await alice.history((await alice.documents.read(("a",))).id)] == [
                "put",
                "put",
            ]


def _texts(page: Any) -> dict[tuple[str, ...], Any]:
    return {one.path: one.content for one in page.items}


# ------------------------------------------------------------------------------------------------ faces


def test_the_command_line_has_every_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = ["--db", str(tmp_path / "m.db"), "--user", "alice", "--json"]

    def run(*line: str) -> Any:
        code = main(["documents", *line, *common])
        said = capsys.readouterr()
        return json.loads(said.out) if code == 0 else json.loads(said.err.strip().splitlines()[-1])["error"]

    done = run("put", "notes", "paris", "--text", "The hotel is near the station.", "--if-rev", "0")
    rev = done["document"]["rev"]
    (tmp_path / "content").write_text("from a file", encoding="utf-8")
    assert run("put", "notes", "rome", "--file", str(tmp_path / "content"))["document"]["content"] == "from a file"
    told = run("put", "task", "--json-content", '{"status": "open"}', "--metadata", '{"k": 1}', "--no-index")
    assert (told["document"]["content"], told["document"]["index"]) == ({"status": "open"}, False)
    told = run("put", "book", "--json-content", '{"title": "Oolong"}', "--field", "title", "--field", "by.name")
    assert told["document"]["fields"] == ["title", "by.name"]
    assert run("put", "x")["type"] == "Usage"
    assert run("put", "notes", "paris", "--text", "x", "--if-rev", "0")["type"] == "RevisionConflict"
    assert run("read", "notes", "paris", "--at-rev", str(rev))["content"] == "The hotel is near the station."
    assert [one["path"] for one in run("list", "notes", "--limit", "1")["items"]] == [["notes", "paris"]]
    assert [one["path"] for one in run("list", "--filter", '{"status": "open"}')["items"]] == [["task"]]
    assert run("search", "hotel", "--prefix", "notes")["hits"][0]["document"]["path"] == ["notes", "paris"]
    assert run("move", "notes", "paris", "--to", "trip", "--to", "paris")["ids"]
    assert run("read", "notes", "paris")["type"] == "NotFound"
    assert run("delete", "trip", "--below", "--hard")["erased"]
    assert main(["documents", "read", "task", *common[:-1]]) == 0
    assert json.loads(capsys.readouterr().out) == {"status": "open"}
    written = "def f():\n    return  1\n\n\tx\u200b  \n\n"
    (tmp_path / "content").write_text(written, encoding="utf-8")
    run("put", "code.py", "--file", str(tmp_path / "content"))
    assert main(["documents", "read", "code.py", *common[:-1]]) == 0
    assert capsys.readouterr().out == written


async def test_the_tools_are_offered_where_they_are_asked_for_and_answer_in_fences() -> None:
    from memhold.faces.mcp.listing import kept_listing

    assert not DOCUMENT_TOOLS.keys() & kept_listing().keys()
    assert kept_listing(documents=True).keys() == kept_listing().keys() | DOCUMENT_TOOLS.keys()
    async with AsyncMemhold.open("memory://", worker=False) as mem:
        who = Principal(scope=Scope(user="alice"), rights=frozenset({"read", "write"}))

        async def caller() -> Caller:
            return Caller(memhold=mem, principal=who, client="cursor")

        async def call(name: str, **given: Any) -> str:
            return await run_tool(DOCUMENT_TOOLS[name], given, caller)

        assert "revision 1" in await call("put_document", path=["n", "a"], content="Beware of the dog.")
        shown = await call("read_document", path=["n", "a"])
        assert "<memhold" in shown.split("Beware")[0]
        assert 'written by the assistant "cursor"' in shown
        await call("put_document", path=["n", "b"], content={"status": "open"}, if_rev=0)
        listed = await call("list_documents", prefix=["n"])
        assert '["n", "a"]' in listed
        assert "Beware" not in listed
        assert "Beware" in await call("search_documents", query="dog")
        await call("move_document", path=["n", "a"], to=["m"])
        with pytest.raises(Refused, match="list_documents"):
            await call("read_document", path=["n", "a"])
        with pytest.raises(Refused, match="at revision"):
            await call("put_document", path=["m"], content="x", if_rev=0)
        with pytest.raises(Refused, match="connection"):
            await call("read_document", path=["m"], user="bob")
        assert "can be undone" in await call("delete_document", path=["m"])
        held = await mem.scope(user="alice").documents.read(("n", "b"))
        assert (held.origin, held.actor) == ("agent", "cursor")


@pytest.mark.parametrize("place", ["memory://", "newest.db"])
def test_the_newest_are_the_same_whether_few_or_all_stand_below_the_path(place: str, tmp_path: Path) -> None:
    clock = FakeClock()
    where = place if "://" in place else str(tmp_path / place)
    with Memhold.open(where, worker=False, embedding="none", clock=clock) as mem:
        scope = mem.scope(user="alice")
        docs = scope.documents
        written: list[tuple[tuple[str, ...], bool]] = []
        for at in range(60):
            path = ("few" if at % 20 == 0 else "many", f"d{at}")
            docs.put(path, {"even": at % 2 == 0}, expires_at=clock.now() + timedelta(hours=1) if at % 7 == 0 else None)
            written.append((path, at % 7 != 0))
        docs.put(("many", "d1"), {"even": False, "again": True})
        docs.delete(("many", "d59"))
        clock.advance(timedelta(hours=2))
        stands = [path for path, lasts in written if lasts and path not in {("many", "d1"), ("many", "d59")}]
        newest = [*stands, ("many", "d1")][::-1]

        def listed(prefix: tuple[str, ...], limit: int, **asked: Any) -> list[tuple[str, ...]]:
            found: list[tuple[str, ...]] = []
            cursor: str | None = None
            while True:
                page = docs.list(prefix, order="newest", limit=limit, cursor=cursor, **asked)
                found += [one.path for one in page.items]
                if (cursor := page.cursor) is None:
                    return found

        for limit in (1, 5, 100):
            assert listed((), limit) == newest
            for prefix in (("few",), ("many",), ("none",)):
                assert listed(prefix, limit) == [path for path in newest if path[:1] == prefix]
            even = [path for path in newest if int(path[1][1:]) % 2 == 0]
            assert listed((), limit, filter={"even": True}) == even
        assert {hit.document.path for hit in docs.search("even", prefix=("few",)).hits} == set(listed(("few",), 9))
        mem.scope(user="alice", agent="writer").documents.put(("many", "d2"), {"even": True})
        mem.scope(user="alice", agent="writer").documents.put(("many", "mine"), {"even": True})
        assert listed((), 5) == [("many", "mine"), *newest], "of two at one path the one of no agent, in its place"


async def test_a_document_without_its_content_is_not_called_json() -> None:
    async with AsyncMemhold.open("memory://", worker=False) as mem:
        alice = mem.scope(user="alice")
        await alice.documents.put(("note",), "hello")
        (listed,) = (await alice.documents.list()).items
        assert "5 bytes" in repr(listed)
        assert "JSON" not in repr(listed)
