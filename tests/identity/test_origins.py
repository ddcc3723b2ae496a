"""In whose name a request writes, through every door, and what a file may say of who said something."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from memhold import AsyncMemhold, Memhold
from memhold.cli.main import main
from memhold.errors import InvalidScope, ScopeDenied
from memhold.testing import FakeClock
from memhold.testing.scripted import ScriptedChat
from memhold.values.names import checked_actor
from memhold.values.origins import acting, authority, from_user, said_by, weight
from memhold.values.records import Memory
from tests.rest.serving import live

USER = [{"role": "user", "content": "I live in Lisbon."}, {"role": "assistant", "content": "Nice."}]


@pytest.mark.parametrize(
    ("own", "asked", "found"),
    [
        ("user", None, "user"),
        ("user", "agent:cursor", "agent:cursor"),
        ("user", "user:an app", "user:an app"),
        ("user:webapp", "user", "user:webapp"),
        ("user:webapp", "agent:planner", "agent:webapp/planner"),
        ("agent", "agent:cursor", "agent:cursor"),
        ("agent", "tool:search", "tool:search"),
        ("agent:cursor", None, "agent:cursor"),
        ("agent:cursor", "agent:cursor", "agent:cursor"),
        ("agent", "user", None),
        ("agent:cursor", "agent:other", None),
        ("agent:cursor", "agent", None),
        ("agent:cursor", "user:cursor", None),
        ("tool", "agent", None),
        ("tool:search", "user", None),
    ],
)
def test_a_request_says_no_more_than_its_connection(own: str, asked: str | None, found: str | None) -> None:
    if found is None:
        with pytest.raises(ScopeDenied):
            acting(own, asked)
    else:
        assert acting(own, asked) == found


def test_an_actor_has_one_spelling() -> None:
    assert checked_actor("agent:cafe\u0301") == "agent:caf\u00e9"
    with pytest.raises(InvalidScope, match="agent:my-client"):
        checked_actor("model")


def test_authority_is_the_order_that_is_promised() -> None:
    order = [
        weight("user", "user"),
        weight("model", "user"),
        weight("agent", "assistant"),
        weight("import", "user"),
        weight("rules", "user"),
        weight("tool", "tool"),
    ]
    assert order == sorted(set(order), reverse=True)
    assert weight("model", "assistant") == weight("agent", "assistant")
    assert weight("agent", "user") == weight("model", "user"), "where a line of the user's says it"
    assert weight("model", "tool") == weight("rules", "tool") == weight("tool", "tool")


def _memory(**fields: object) -> Memory:
    now = FakeClock().now()
    return Memory(
        id="mem_1", number=1, kind="note", text="x", event_time=now, valid_from=now, created_at=now, recorded_at=now,
        **fields,  # type: ignore[arg-type]
    )  # fmt: skip


def test_only_the_users_word_may_instruct() -> None:
    now = FakeClock().now()
    assert from_user(_memory())
    assert from_user(_memory(origin="model", trust="user"))
    assert not from_user(_memory(origin="model", trust="user", metadata={"standing": "inferred"}))
    assert not from_user(_memory(origin="model", trust="assistant"))
    for origin in ("agent", "tool", "import", "rules"):
        assert not from_user(_memory(origin=origin, trust="user"))
        confirmed = _memory(origin=origin, last_confirmed_at=now)
        assert from_user(confirmed)
        assert authority(confirmed) == weight("user", "user")


def test_two_become_one_only_of_one_and_the_same_speaker() -> None:
    told = [
        _memory(),
        _memory(origin="model", trust="user"),
        _memory(origin="agent", last_confirmed_at=FakeClock().now()),
    ]
    assert len({said_by(one) for one in told}) == 1
    others = [_memory(origin=origin, actor=actor) for origin in ("agent", "tool", "import") for actor in ("a", "b")]
    assert len({said_by(one) for one in [*others, told[0]]}) == 7


async def test_a_token_binds_the_actor_and_a_header_says_no_more() -> None:
    async with live() as server:
        made = await server.memhold.admin.tokens.create(user="alice", actor="agent:cursor")
        listed = {token.id: token.actor for token in await server.memhold.admin.tokens.list()}
        assert listed[made.token.id] == "agent:cursor"
        async with server.client(made.secret) as client:
            assert (await client.get("/v1/scope")).json()["actor"] == "agent:cursor"
            told = (await client.post("/v1/memories", json={"text": "noted"})).json()["memory"]
            assert (told["origin"], told["actor"]) == ("agent", "cursor")
            for more in ("user", "agent:other"):
                refused = await client.post("/v1/memories", json={"text": "x"}, headers={"memhold-actor": more})
                assert (refused.status_code, refused.json()["type"]) == (403, "urn:memhold:problem:ScopeDenied")
            wrong = await client.post("/v1/memories", json={"text": "x"}, headers={"memhold-actor": "king"})
            assert wrong.status_code == 422
        async with server.client(await server.token(user="alice")) as client:
            plain = (await client.post("/v1/memories", json={"text": "told"})).json()["memory"]
            said = {"memhold-actor": "agent:caf\u00e9".encode()}
            less = (await client.post("/v1/memories", json={"text": "less"}, headers=said)).json()["memory"]
            assert [(one["origin"], one["actor"]) for one in (plain, less)] == [("user", None), ("agent", "caf\u00e9")]
        alice = server.memhold.scope(user="alice")
        assert [one.text for one in (await alice.list(origin="user")).items] == ["told"]


async def test_a_client_of_a_server_says_whose_name() -> None:
    async with live() as server:
        mem = await server.opened(user="alice")
        told = await mem.scope(user="alice", actor="agent:cursor").remember("noted")
        assert (told.memory.origin, told.memory.actor) == ("agent", "cursor")
        bound = await server.opened(user="alice", actor="agent:other")
        scope = bound.scope(user="alice")
        assert scope.scope.actor == "agent:other"
        assert (await scope.remember("too")).memory.actor == "other"
        with pytest.raises(ScopeDenied):
            bound.scope(user="alice", actor="agent:cursor")


def test_the_command_line_is_the_users_unless_it_says_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    db = ["--db", str(tmp_path / "memory.db"), "--user", "alice", "--json"]

    def ran(*line: str) -> dict:
        assert main([*line, *db]) == 0
        return json.loads(capsys.readouterr().out)

    assert ran("remember", "told")["memory"]["origin"] == "user"
    noted = ran("remember", "noted", "--actor", "agent:cursor")["memory"]
    assert (noted["origin"], noted["actor"]) == ("agent", "cursor")
    monkeypatch.setenv("MEMHOLD_ACTOR", "agent:other")
    assert ran("remember", "by its surroundings")["memory"]["actor"] == "other"
    monkeypatch.delenv("MEMHOLD_ACTOR")
    assert [one["text"] for one in ran("list", "--by", "cursor")["items"]] == ["noted"]
    assert ran("confirm", noted["id"])["memory"]["last_confirmed_at"] is not None
    assert len(ran("undo", "--origin", "agent", "--dry-run", "--cascade")["ids"]) == 2
    assert len(ran("undo", "--origin", "agent", "--cascade")["ids"]) == 2
    assert [one["text"] for one in ran("list")["items"]] == ["told"]


async def test_an_export_says_who_said_it_and_an_agent_brings_no_more_than_its_own_word(tmp_path: Path) -> None:
    path = tmp_path / "alice.jsonl"
    async with AsyncMemhold.open("memory://", worker=False) as mem:
        alice, cursor = mem.scope(user="alice", session="s"), mem.scope(user="alice", session="s", actor="agent:cursor")
        await alice.add(USER)
        await cursor.add(USER)
        await alice.remember("told")
        noted = (await cursor.remember("noted")).memory
        await alice.confirm(noted.id)
        await mem.scope(user="alice").export(path)
    for actor, lines, notes in (
        (
            "user",
            [("user", None), ("agent", None), ("agent", "cursor"), ("agent", "cursor")],
            [("user", None, False), ("agent", "cursor", True)],
        ),
        (
            "agent:thief",
            [("agent", "thief")] * 4,
            [("agent", "thief", False)] * 2,
        ),
    ):
        async with AsyncMemhold.open("memory://", worker=False) as mem:
            await mem.scope(user="bob", actor=actor).import_file(path)
            bob = mem.scope(user="bob", session="s")
            assert [(one.origin, one.actor) for one in await bob.messages()] == lines
            held = (await bob.list(kinds=["note"])).items
            assert [(one.origin, one.actor, one.last_confirmed_at is not None) for one in held] == notes


async def test_what_an_agent_imports_is_found_and_undone_with_all_that_it_wrote(tmp_path: Path) -> None:
    """It stays an import, which counts less than the agent's own word, and bears the agent's name."""
    kept, chat = tmp_path / "mem0.json", tmp_path / "chat.jsonl"
    kept.write_text(json.dumps([{"id": "m1", "memory": "User lives in Gotham", "user_id": "alice"}]))
    chat.write_text("".join(f"{json.dumps(one)}\n" for one in USER))
    async with AsyncMemhold.open("memory://", worker=False) as mem:
        alice, mallory = mem.scope(user="alice"), mem.scope(user="alice", actor="agent:mallory")
        told = (await alice.remember("Prefers window seats")).memory
        for path in (kept, chat):
            await mallory.import_file(path)
        held = (await alice.list(actor="mallory")).items
        assert [(one.text, one.origin) for one in held] == [("User lives in Gotham", "import")]
        planned = await alice.undo(actor="mallory", dry_run=True)
        done = await alice.undo(actor="mallory")
        assert {*planned.ids} == {*done.ids}
        assert [one.id for one in (await alice.list()).items] == [told.id]
        assert [hit.id for hit in (await alice.recall(USER[0]["content"])).hits] == [told.id]


async def test_what_another_system_kept_is_an_import_by_its_format(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in USER))
    async with AsyncMemhold.open("memory://", worker=False) as mem:
        alice = mem.scope(user="alice")
        report = await alice.import_file(path)
        [name] = [one.name for one in (await alice.sessions()).items]
        said = await mem.scope(user="alice", session=name).messages()
        assert [(one.role, one.origin, one.actor) for one in said] == [
            ("user", "import", report.format),
            ("assistant", "import", report.format),
        ]


def test_a_move_to_another_store_keeps_who_said_it(tmp_path: Path) -> None:
    import asyncio

    from memhold.wiring.migrate import migrate

    ours, theirs = str(tmp_path / "a.db"), str(tmp_path / "b.db")
    with Memhold.open(ours, worker=False) as mem:
        noted = mem.scope(user="alice", actor="agent:cursor").remember("noted").memory
        mem.scope(user="alice").confirm(noted.id)
        mem.admin.tokens.create(user="alice", actor="agent:cursor")
    asyncio.run(migrate(ours, theirs))
    with Memhold.open(theirs, worker=False) as mem:
        [moved] = mem.scope(user="alice").list(actor="cursor").items
        assert moved.last_confirmed_at is not None
        assert [token.actor for token in mem.admin.tokens.list()] == ["agent:cursor"]


@pytest.mark.parametrize(("actor", "home"), [("user:app", "Rome"), ("agent:cursor", "Oslo"), ("tool:search", "Oslo")])
async def test_what_a_model_reads_in_a_line_counts_as_whoever_brought_the_line(actor: str, home: str) -> None:
    learnt = {
        "history_entry": "My home is Rome now.",
        "facts": [
            {
                "subject": "user",
                "attribute": "home",
                "value": "Rome",
                "operation": "set",
                "importance": "mid",
                "sources": ["m1"],
            }
        ],
        "notes": [],
    }
    model = ScriptedChat(otherwise=learnt)
    clock = FakeClock()
    async with AsyncMemhold.open("memory://", worker=False, clock=clock, consolidation=model) as mem:
        await mem.scope(user="alice").remember(attribute="home", value="Oslo")
        clock.advance(timedelta(days=1))
        brings = mem.scope(user="alice", session="s", actor=actor)
        await brings.add([{"role": "user", "content": "My home is Rome now."}])
        assert (await brings.consolidate()).summaries
        facts = [one for one in (await mem.scope(user="alice").list(kinds=["fact"])).items if one.state == "active"]
        assert [one.value for one in facts if from_user(one)] == [home]
        window = await mem.scope(user="alice", session="new").context({"role": "user", "content": "Where do I live?"})
        system = " ".join(str(one["content"]) for one in window.messages if one["role"] == "system")
        assert ("Rome" in system) is (home == "Rome")
