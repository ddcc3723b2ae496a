"""Verb suite: agents of one user. Whatever an agent wrote, no other agent reads it, changes it, or sees its names."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memhold.testing.verb_suite_base import Harness, Verbs, texts, user
from memhold.values.errors import Conflict, MemholdError, NotFound, ScopeDenied
from memhold.values.jsonable import to_jsonable
from memhold.verbs.declaration import Verb, verbs_of
from memhold.verbs.documents import AsyncDocuments
from memhold.verbs.scope import AsyncScope

__all__ = ["AgentCases"]

CANARY = "canary4d1e"
SHARED = "harbour talk"
ALONE = f"{CANARY} alone"
HIDDEN = f"{CANARY} hidden"
_EVER = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Theirs:
    """Ids of what the other agent wrote, and a folder for files."""

    messages: tuple[str, ...]
    memories: tuple[str, ...]
    changes: tuple[str, ...]
    folder: Path

    def values(self, verb: Verb) -> Mapping[str, list[Any]]:
        """What is tried of each parameter, by its name; a name that means something else in a verb is told apart."""
        items = [*self.messages, *self.memories]
        files: list[Any] = [str(self.folder / "mine.jsonl")]
        return {
            "item_id": items, "memory_id": [*self.memories], "message_id": [*self.messages], "ids": [items],
            "change_id": [*self.changes], "suspicion_id": ["sus_1"], "expect": items, "place": [0],
            "messages": [user("harbour")], "query": ["harbour", ""], "text": ["harbour"], "lines": [["harbour"]],
            "value": ["taken"], "attribute": ["boat"], "content": ["taken"], "verdict": ["same"],
            "path": files if verb.name in {"import_file", "export"} else [("plans", "boat"), ("plans", "other")],
            "to": [("plans", "moved")] if "path" in verb.parameters else ["copied", ALONE],
            "session": [SHARED, ALONE, HIDDEN], "session_prefix": ["harbour", CANARY[:4]], "prefix": [""],
            "metadata": [{"boat": "mine"}], "most": [0], "older_than": [timedelta(microseconds=1)],
            "neighbours": [9], "include_superseded": [True], "explain": [True], "raw": [True], "newest": [True],
            "states": [None], "settled": [True], "everything": [True], "below": [True], "cascade": [True],
            "written_since": [_EVER], "origin": ["user"], "actor": ["user"], "at_rev": [1, 2, 3], "known_at": [_EVER],
            "hard": [False], "format": ["jsonl", "markdown", "mem0", "mcp-memory"], "dry_run": [True, False],
        }  # fmt: skip


def _calls(verb: Verb, theirs: _Theirs) -> Iterator[dict[str, Any]]:
    """The verb with each value that is tried: of the parameters that it needs, and of every other one beside them.

    Raises:
        KeyError: it needs a parameter that nobody here thought of.
    """
    values = theirs.values(verb)
    needed = {name: values[name] for name, one in verb.parameters.items() if one.required}
    plain = {name: some[0] for name, some in needed.items()}
    yield plain
    for name, some in (*needed.items(), *((name, values[name]) for name in verb.parameters if name in values)):
        yield from ({**plain, name: value} for value in some)


async def _tried(face: Any, verb: Verb, call: Mapping[str, Any]) -> str:
    """All that an answer or a refusal says, without what the call itself had said."""
    parameters = inspect.signature(verb.source).parameters
    placed = [name for name in call if parameters[name].kind is not inspect.Parameter.KEYWORD_ONLY]
    try:
        answer = await getattr(face, verb.name)(
            *(call[name] for name in placed), **{name: one for name, one in call.items() if name not in placed}
        )
    except (MemholdError, OSError) as refused:
        return _without(f"{type(refused).__name__}: {refused}", call)
    said = json.dumps(to_jsonable(answer), default=repr, ensure_ascii=False)
    for file in answer.files if verb.name == "export" else ():
        said += await asyncio.to_thread(Path(file).read_text, encoding="utf-8")
    return _without(said, call)


def _without(said: str, call: Mapping[str, Any]) -> str:
    for one in call.values():
        said = said.replace(one, "") if isinstance(one, str) and CANARY in one else said
    return said


async def _planted(scope: Any, folder: Path) -> _Theirs:
    """The canary of an agent wherever an agent can put one; `scope` gives its verbs in a session."""
    shared, alone, hidden = scope(SHARED), scope(ALONE), scope(HIDDEN)
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": json.dumps({"q": CANARY})}}
    said = await shared.add(
        [
            user(f"I live in {CANARY} harbour now. My card is {CANARY}.", name=CANARY, metadata={"k": CANARY}),
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": f"harbour {CANARY}"},
            {"role": "assistant", "content": f"Noted {CANARY} harbour."},
        ]
    )
    lone = await alone.add(user(f"From now on always answer {CANARY} harbour."))
    gone = await hidden.add(user(f"harbour {CANARY} is hidden"))
    for one in (shared, alone, hidden):
        await one.set_session_metadata({"title": CANARY})
    note = await shared.remember(f"harbour {CANARY} note", topics=[CANARY], entities=[CANARY], metadata={"k": CANARY})
    pinned = await alone.remember(f"harbour {CANARY} pinned", pinned=True)
    fact = await shared.remember(attribute="boat", value=f"{CANARY} sloop", subject=f"{CANARY} friend")
    before = await shared.remember(attribute="boat", value=f"{CANARY} cutter")
    later = await shared.correct(before.memory.id, f"{CANARY} ketch")
    put = await shared.documents.put(("plans", "boat"), f"harbour {CANARY} plan", metadata={"k": CANARY})
    await shared.documents.put(("plans", "boat"), f"harbour {CANARY} second plan")
    ended = await alone.end_session()
    hid = await shared.forget(session=HIDDEN, hard=False)
    told = (note, pinned, fact, before, later, put)
    memories = [one.receipt.ids[0] for one in told]
    changes = [change for one in told for change in one.receipt.change_ids]
    return _Theirs(
        messages=(*said.ids, *lone.ids, *gone.ids),
        memories=(*memories, *ended.ids),
        changes=(*said.change_ids, *lone.change_ids, *changes, *ended.change_ids, hid.change_id),
        folder=folder,
    )


async def _world(scope: Any) -> str:
    """All that an agent has, to see that nothing of it changed."""
    shared = scope(SHARED)
    pages = [await scope(name).messages() for name in (SHARED, ALONE, HIDDEN)]
    kept = [await scope(name).session_metadata() for name in (SHARED, ALONE, HIDDEN)]
    # What upkeep makes of a window comes at any time.
    held = (await shared.list(kinds=("fact", "note", "instruction"), states=None)).items
    documents = [await shared.documents.list(), await shared.documents.read(("plans", "boat"))]
    sessions = [(one.name, one.messages, one.metadata) for one in (await shared.sessions()).items]
    rows = [(one.id, one.state, one.value, one.pinned, one.text) for one in held]
    return json.dumps(to_jsonable([pages, kept, rows, documents, sessions]), default=repr, ensure_ascii=False)


@pytest.mark.asyncio
class AgentCases:
    """Two agents of one user, who speak in one session too; every verb there is, with the ids of the other's rows."""

    async def test_an_agent_gets_nothing_of_another_by_any_verb(self, harness: Harness, tmp_path: Path) -> None:
        def ana(session: str) -> Verbs:
            return harness.scope(user="alice", agent="ana", session=session)

        def luis(session: str) -> Verbs:
            return harness.scope(user="alice", agent="luis", session=session)

        said = [user("I live in Porto, at the harbour."), {"role": "assistant", "content": "It is cold there."}]
        await luis(SHARED).add(said)
        theirs = await _planted(ana, tmp_path)
        (tmp_path / "mine.jsonl").write_text('{"role": "user", "content": "harbour"}\n', encoding="utf-8")
        await harness.settle()
        before = await _world(ana)
        assert before.count(CANARY) > 20

        verbs = [
            (part, one)
            for part, face in (("", AsyncScope), ("documents", AsyncDocuments))
            for one in verbs_of(face).values()
        ]
        heard: dict[str, list[str]] = {}
        for right in ("read", "write"):  # what it may do to its own rows comes last
            for part, one in verbs:
                for session in (SHARED, ALONE, HIDDEN) if one.needs == right else ():
                    for call in _calls(one, theirs):
                        face = luis(session) if not part else getattr(luis(session), part)
                        told = (await _tried(face, one, call)).replace(session, "")
                        if CANARY in told:
                            heard.setdefault(f"{part}.{one.name}", []).append(f"{call} {told[:200]}")
        assert heard == {}
        assert await _world(ana) == before

    async def test_a_session_is_there_for_an_agent_that_sees_something_of_it(self, harness: Harness) -> None:
        def named(agent: str | None, session: str) -> Verbs:
            return harness.scope(user="alice", agent=agent, session=session)

        await named("ana", "s").add(user("one"))
        await named("luis", "s").add([user("two"), user("three")])
        await named(None, "s").add(user("four"))
        await named("ana", "hers").add(user("five"))
        await named("ana", "named").set_session_metadata({"title": "hers"})
        seen = {
            agent: [(one.name, one.messages) for one in (await named(agent, "s").sessions()).items]
            for agent in ("ana", "luis", "eva", None)
        }
        assert seen == {
            "ana": [("s", 2), ("hers", 1), ("named", 0)],
            "luis": [("s", 3)],
            "eva": [("s", 1)],
            None: [("s", 4), ("hers", 1), ("named", 0)],
        }
        [own] = (await named("luis", "s").sessions()).items
        [held] = await named("luis", "s").messages(newest=True, limit=1)
        await harness.advance(timedelta(minutes=1))
        await named("ana", "s").add(user("six"))
        assert (await named("luis", "s").sessions()).items == (own,)
        assert own.last_at == held.recorded_at
        with pytest.raises(NotFound):
            await named("luis", "hers").copy_session("taken")
        await named("luis", "hers").end_session()
        assert [one.ended_at for one in (await named("ana", "hers").sessions(prefix="hers")).items] == [None]

    async def test_an_agent_ends_a_session_for_itself_where_others_go_on(self, harness: Harness) -> None:
        ana, luis = (harness.scope(user="alice", agent=name, session="s") for name in ("ana", "luis"))

        await ana.add(user("A: the tea"))
        await luis.add(user("L: the ink"))
        await harness.advance(timedelta(minutes=1))
        await luis.end_session()
        await harness.settle()
        assert [one.ended_at is None for own in (ana, luis) for one in (await own.sessions()).items] == [True, False]
        held = await harness.scope(user="alice", session="s").context(user("go on"), budget=2000)
        assert "A: the tea" in [one["content"] for one in held.messages]
        shown = await ana.context(user("go on"), budget=2000)
        assert "A: the tea" in [one["content"] for one in shown.messages]
        gone = await luis.context(user("go on"), budget=2000)
        assert [one["content"] for one in gone.messages if one["content"] == "L: the ink"] == []
        await harness.advance(timedelta(minutes=1))
        await luis.add(user("L: the pen"))
        again = await luis.context(user("go on"), budget=2000)
        assert [one["content"] for one in again.messages if one["content"].startswith("L:")] == ["L: the pen"]
        assert [one.ended_at for one in (await luis.sessions()).items] == [None]
        await ana.end_session()
        over = await ana.context(user("go on"), budget=2000)
        assert "A: the tea" not in [one["content"] for one in over.messages]

    async def test_the_metadata_of_a_session_is_an_agents_own_or_for_all(self, harness: Harness) -> None:
        ana, luis, alice = (harness.scope(user="alice", agent=name, session="s") for name in ("ana", "luis", None))

        async def seen() -> tuple[Any, ...]:
            return tuple([(await one.session_metadata()).get("title") for one in (ana, luis, alice)])

        await alice.set_session_metadata({"title": "all"})
        assert await seen() == ("all", "all", "all")
        await ana.set_session_metadata({"title": "hers"})
        assert await seen() == ("hers", "all", "hers")
        await luis.set_session_metadata({"title": "his"})
        assert await seen() == ("hers", "his", "his")
        await luis.set_session_metadata({})
        assert await seen() == ("hers", None, "hers")
        await alice.set_session_metadata({"title": "anew"})
        assert await seen() == ("anew", "anew", "anew")

    @pytest.mark.parametrize("hard", [True, False])
    async def test_an_agent_forgets_what_it_kept_beside_a_session(self, harness: Harness, hard: bool) -> None:  # noqa: FBT001 - pytest passes it
        ana, luis, alice = (harness.scope(user="alice", agent=name, session="s") for name in ("ana", "luis", None))
        await alice.set_session_metadata({"title": "all"})
        for one in (ana, luis):
            await one.add(user(f"tea of {one is ana}"))
            await one.set_session_metadata({"title": one is ana})
        done = await luis.forget(session="s", hard=hard)
        assert await luis.session_metadata() == {"title": "all"}
        assert await ana.session_metadata() == {"title": True}
        if not hard:
            await luis.undo(done.change_id)
            assert await luis.session_metadata() == {"title": False}
            assert await ana.session_metadata() == {"title": True}

    async def test_an_agent_undoes_nothing_of_another(self, harness: Harness) -> None:
        ana, luis = (harness.scope(user="alice", agent=name, session="s") for name in ("ana", "luis"))
        await ana.add(user("tea of ana"))
        await ana.remember("a note of ana")
        hid = await ana.forget((await ana.remember("hidden by ana")).memory.id, hard=False)
        await luis.remember("a note of luis")
        await luis.undo(origin="user")
        assert [one.text for one in (await ana.list()).items] == ["a note of ana"]
        assert [one.text for one in await ana.messages()] == ["tea of ana"]
        assert (await luis.list()).items == ()
        with pytest.raises(NotFound):
            await luis.undo(hid.change_id)

    async def test_another_agent_reads_it_where_the_application_names_it(self, harness: Harness) -> None:
        ana, alice = (harness.scope(user="alice", agent=name, session="s") for name in ("ana", None))
        await ana.add(user("tea of ana"))
        assert texts(await alice.recall("tea", also=[{"agent": "ana"}])) == ["tea of ana"]
        luis = harness.scope(user="alice", agent="luis", session="s")
        assert texts(await luis.recall("tea")) == []
        try:
            found = await luis.recall("tea", also=[{"agent": "ana"}])
        except ScopeDenied:
            return  # over HTTP with a token that is bound to an agent
        assert texts(found) == ["tea of ana"]

    async def test_a_copy_has_what_the_agent_saw(self, harness: Harness) -> None:
        ana, luis = (harness.scope(user="alice", agent=name, session="s") for name in ("ana", "luis"))
        await harness.scope(user="alice", session="s").add(user("of all"))
        await ana.add(user("of ana"))
        await luis.add(user("of luis"))
        await ana.set_session_metadata({"title": "of ana"})
        await luis.copy_session("copy")
        copy = harness.scope(user="alice", session="copy")
        assert [one.text for one in await copy.messages()] == ["of all", "of luis"]
        assert await copy.session_metadata() == {}
        with pytest.raises(Conflict):
            await ana.copy_session("copy")
