"""The real `agent-memory-client`, unchanged, against a server on loopback: each of its main calls, each answer checked."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from memhold import AsyncMemhold
from memhold.errors import InvalidSetting
from memhold.faces.compat import ams_sessions
from memhold.faces.compat.ams import COMPAT
from memhold.faces.compat.ams_values import Window, WorkingBody
from memhold.server.settings import ServeSettings
from memhold.values.records import Scope
from tests.rest.serving import Live, live

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from agent_memory_client import MemoryAPIClient, MemoryClientConfig
    from agent_memory_client.exceptions import MemoryNotFoundError, MemoryServerError
    from agent_memory_client.filters import CreatedAt, Entities, MemoryType, SessionId, Topics, UserId
    from agent_memory_client.models import (
        ClientMemoryRecord,
        CreateSummaryViewRequest,
        ForgetPolicy,
        MemoryMessage,
        WorkingMemory,
    )

SOURCE = Path(__file__).read_text(encoding="utf-8")

# The client calls what it has itself marked as deprecated.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[Live]:
    """What `memhold serve --compat agent-memory-server` serves, for the local user."""
    async with live(str(tmp_path / "memory.db"), settings={"tokens": False, "compat": COMPAT}) as made:
        made.clock.advance((datetime.now(UTC) - made.clock.now()).total_seconds())
        yield made


@pytest.fixture
def memhold(server: Live) -> AsyncMemhold:
    return server.memhold


@pytest.fixture
def url(server: Live) -> str:
    return server.url


@pytest_asyncio.fixture
async def client(url: str) -> AsyncIterator[MemoryAPIClient]:
    async with MemoryAPIClient(MemoryClientConfig(base_url=url, default_namespace="default")) as made:
        yield made


def said(role: str, content: str, **fields: Any) -> MemoryMessage:
    return MemoryMessage(role=role, content=content, created_at=datetime.now(UTC), **fields)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield


async def test_a_path_names_the_methods_that_it_takes(server: Live) -> None:
    async with httpx.AsyncClient(base_url=server.url) as http:
        answer = await http.post("/v1/working-memory/s", json={})
    assert answer.headers["allow"] == "DELETE, GET, PUT"
    assert answer.json()["detail"] == "this path takes DELETE, GET, PUT; /docs tells of each"


async def test_health(client: MemoryAPIClient) -> None:
    assert abs((await client.health_check()).now - datetime.now(UTC).timestamp()) < 60


async def test_a_working_memory_is_made_grown_listed_and_deleted(
    client: MemoryAPIClient, memhold: AsyncMemhold
) -> None:
    created, empty = await client.get_or_create_working_memory("chat 1", user_id="local")
    assert created
    assert empty.messages == []
    put = await client.put_working_memory(
        "chat 1", WorkingMemory(session_id="chat 1", messages=[said("user", "I live in Porto", id="m1")])
    )
    assert [(one.id, one.role, one.content) for one in put.messages] == [("m1", "user", "I live in Porto")]
    assert (put.user_id, put.namespace, put.session_id) == ("local", "default", "chat 1")
    grown = await client.append_messages_to_working_memory("chat 1", [{"role": "assistant", "content": "Noted."}])
    assert [one.content for one in grown.messages] == ["I live in Porto", "Noted."]
    # Sent again, as after a lost answer, it is there once.
    again = await client.put_working_memory("chat 1", grown)
    assert [one.id for one in again.messages] == [one.id for one in grown.messages]
    created, found = await client.get_or_create_working_memory("chat 1")
    assert not created
    assert [one.content for one in found.messages] == ["I live in Porto", "Noted."]
    assert found.messages[0].created_at == put.messages[0].created_at
    await client.append_messages_to_working_memory("chat 2", [{"role": "user", "content": "hello"}])
    listed = await client.list_sessions(limit=1, user_id="local")
    assert (listed.sessions, listed.total) == (["chat 1"], 2)
    assert (await client.list_sessions(offset=1)).sessions == ["chat 2"]
    # What is read through Memhold is the same.
    alice = memhold.scope(user="local", session="chat 1")
    assert [message.text for message in await alice.messages()] == ["I live in Porto", "Noted."]
    await client.create_long_term_memory([ClientMemoryRecord(text="Told in chat 1", session_id="chat 1", id="r")])
    assert (await client.delete_working_memory("chat 1")).status == "ok"
    assert await alice.messages() == ()
    assert (await client.get_long_term_memory("r")).text == "Told in chat 1"
    assert [one.content for one in (await client.get_working_memory("chat 2")).messages] == ["hello"]
    assert (await client.list_sessions()).sessions == ["chat 2"]
    # One that is not there is an empty one, which a look does not make.
    assert (await client.get_working_memory("chat 3")).unsaved
    assert (await client.list_sessions()).total == 1


async def test_a_put_takes_nothing_away(client: MemoryAPIClient) -> None:
    await client.put_working_memory("s", WorkingMemory(session_id="s", messages=[said("user", "one", id="1")]))
    # Another writer was quicker: its message is kept, and told.
    later = await client.put_working_memory("s", WorkingMemory(session_id="s", messages=[said("user", "two", id="2")]))
    assert [one.content for one in later.messages] == ["one", "two"]
    changed = WorkingMemory(session_id="s", messages=[said("user", "other", id="1")])
    with pytest.raises(MemoryServerError, match="journal only grows"):
        await client.put_working_memory("s", changed)


async def test_long_term_memories_are_stored_found_changed_and_deleted(client: MemoryAPIClient, url: str) -> None:
    records = [
        ClientMemoryRecord(
            id="r1", text="Prefers dark mode", memory_type="semantic", topics=["ui", "Preferences"], entities=["editor"]
        ),
        ClientMemoryRecord(
            id="r2", text="Works late at night", memory_type="episodic", topics=["work"], session_id="s"
        ),
    ]
    for _ in range(2):
        assert (await client.create_long_term_memory(records)).status == "ok"
    one = await client.get_long_term_memory("r1")
    assert (one.id, one.text, one.topics, one.entities) == (
        "r1",
        "Prefers dark mode",
        ["ui", "Preferences"],
        ["editor"],
    )
    assert (one.user_id, one.namespace, one.memory_type.value) == ("local", "default", "semantic")
    found = await client.search_long_term_memory("dark mode")
    assert found.memories[0].id == "r1"
    assert found.memories[0].dist == 0
    assert (await client.search_long_term_memory("")).total == 2

    async def ids(text: str = "", **filters: Any) -> list[str]:
        return sorted(hit.id for hit in (await client.search_long_term_memory(text, **filters)).memories)

    assert await ids(topics=Topics(any=["ui", "nothing"])) == ["r1"]
    assert await ids(topics=Topics(all=["ui", "preferences"])) == ["r1"]
    assert await ids(topics=Topics(none=["ui"])) == ["r2"]
    assert await ids(entities=Entities(any=["editor"])) == ["r1"]
    assert await ids(memory_type=MemoryType(eq="episodic")) == ["r2"]
    assert await ids(session_id=SessionId(eq="s")) == ["r2"]
    assert await ids(created_at=CreatedAt(gte=datetime.now(UTC) - timedelta(hours=1))) == ["r1", "r2"]
    assert await ids(created_at=CreatedAt(lte=datetime.now(UTC) - timedelta(hours=1))) == []
    page = await client.search_long_term_memory("", limit=1)
    assert page.next_offset == 1
    rest = await client.search_long_term_memory("", limit=1, offset=1)
    assert {page.memories[0].id, rest.memories[0].id} == {"r1", "r2"}
    changed = await client.edit_long_term_memory(
        "r1", {"text": "Prefers light mode", "topics": ["ui", "preferences", "x"]}
    )
    assert (changed.id, changed.text, changed.topics) == ("r1", "Prefers light mode", ["ui", "Preferences", "x"])
    assert "r1" in await ids("mode")
    rewritten = ClientMemoryRecord(id="r2", text="Works in the morning", memory_type="episodic")
    await client.create_long_term_memory([rewritten])
    assert (await client.get_long_term_memory("r2")).text == "Works in the morning"
    deleted = await client.delete_long_term_memories(["r1"])
    assert deleted.status == "ok, deleted 1 memories"
    with pytest.raises(MemoryNotFoundError):
        await client.get_long_term_memory("r1")
    assert (await client.delete_long_term_memories(["r1", "none"])).status == "ok, deleted 0 memories"
    assert (await client.delete_long_term_memories([])).status == "ok, deleted 0 memories"
    assert await ids() == ["r2"]
    dated = ClientMemoryRecord(id="r3", text="Moved to Porto", event_date=datetime(2025, 6, 25, tzinfo=UTC))
    await client.create_long_term_memory([dated])
    async with httpx.AsyncClient(base_url=url) as plain:
        asked = {"text": "", "event_date": {"lt": "2026-01-01T00:00:00Z"}}
        answer = (await plain.post("/v1/long-term-memory/search", json=asked)).json()
    assert [one["id"] for one in answer["memories"]] == ["r3"]
    assert await ids("moved to Porto", distance_threshold=0.0) == ["r3"]


@pytest.mark.parametrize("odd", [{"text": " "}, {"text": "x" * 200_000}, {"topics": [""]}, {"entities": ["\x00"]}])
async def test_a_batch_of_which_one_cannot_be_stored_stores_none(
    server: Live, memhold: AsyncMemhold, odd: dict[str, Any]
) -> None:
    records = [{"id": "one", "text": "likes tea"}, {"id": "two", "text": "likes figs", **odd}]
    async with server.client() as plain:
        told = await plain.post("/v1/long-term-memory/", json={"memories": records})
        put = await plain.put("/v1/working-memory/s", json={"messages": [], "memories": records})
    assert told.status_code in {413, 422}
    assert put.status_code in {413, 422}
    for user in (None, "local"):
        assert not (await memhold.scope(user=user).list()).items


async def test_memories_of_a_working_memory_are_long_term_at_once(client: MemoryAPIClient) -> None:
    await client.add_memories_to_working_memory("s", [ClientMemoryRecord(id="w1", text="Plays the cello")])
    await client.add_memories_to_working_memory("s", [ClientMemoryRecord(id="w2", text="Sings")])
    assert [one.text for one in (await client.get_working_memory("s")).memories] == ["Plays the cello", "Sings"]
    await client.add_memories_to_working_memory("s", [ClientMemoryRecord(id="w3", text="Dances")], replace=True)
    # What was told of a session is no working memory of it.
    await client.create_long_term_memory([ClientMemoryRecord(id="w4", text="Cooks", session_id="s")])
    assert [one.text for one in (await client.get_working_memory("s")).memories] == ["Dances"]
    assert (await client.get_long_term_memory("w1")).text == "Plays the cello"
    assert (await client.promote_working_memories_to_long_term("s", ["w3"])).status == "ok"
    await client.delete_working_memory("s")
    assert (await client.get_working_memory("s")).memories == []
    assert (await client.get_long_term_memory("w3")).text == "Dances"


async def test_a_prompt_holds_the_session_and_what_is_known(client: MemoryAPIClient) -> None:
    await client.create_long_term_memory([ClientMemoryRecord(text="Alice is allergic to penicillin")])
    await client.append_messages_to_working_memory("s", [{"role": "user", "content": "I feel ill today"}])
    made = await client.memory_prompt(
        "Which penicillin may I take?", session_id="s", long_term_search={"text": "penicillin", "limit": 5}
    )
    texts = [message["content"]["text"] for message in made["messages"]]
    assert made["messages"][-1]["role"] == "user"
    assert texts[-1] == "Which penicillin may I take?"
    assert any("allergic to penicillin" in text for text in texts)
    assert any("I feel ill today" in text for text in texts)


@pytest.mark.parametrize("filters", [None, {"text": "", "topics": {"any": ["garden"]}}], ids=["chosen", "with filters"])
async def test_a_prompt_for_a_model_is_counted_by_its_tokens(
    client: MemoryAPIClient, filters: dict[str, Any] | None
) -> None:
    said = [{"role": "user", "content": f"지난주 {number}번째 정원에 장미를 심었어요."} for number in range(80)]
    await client.append_messages_to_working_memory("s", said)

    async def told(**model: Any) -> int:
        made = await client.memory_prompt(
            "장미를 몇 번 심었나요?", session_id="s", context_window_max=900, long_term_search=filters, **model
        )
        return sum("심었어요" in message["content"]["text"] for message in made["messages"])

    assert await told(model_name="gpt-4o") > 1.3 * await told()


async def test_what_a_client_keeps_beside_the_messages(client: MemoryAPIClient, memhold: AsyncMemhold) -> None:
    await client.append_messages_to_working_memory("s", [{"role": "user", "content": "I feel ill today"}])
    await client.set_working_memory_data("s", {"ui": {"theme": "dark", "size": 2}})
    merged = await client.update_working_memory_data("s", {"ui": {"size": 3}}, merge_strategy="deep_merge")
    assert merged.data == {"ui": {"theme": "dark", "size": 3}}
    assert len(merged.messages) == 1
    whole = WorkingMemory(
        session_id="s", messages=merged.messages, data=merged.data, context="They met in Porto", ttl_seconds=60
    )
    put = await client.put_working_memory("s", whole, context_window_max=100)
    assert (put.context, put.ttl_seconds, put.data) == ("They met in Porto", 60, merged.data)
    assert put.tokens > 4
    assert put.context_percentage_total_used == put.tokens
    assert put.context_percentage_until_summarization == pytest.approx(put.tokens / 0.7, abs=0.01)
    prompt = await client.memory_prompt("What ails me?", session_id="s")
    assert "They met in Porto" in prompt["messages"][0]["content"]["text"]
    # No question finds it, and nothing of it is left when its time is over.
    assert "dark" not in str(await memhold.scope(user="local").recall("theme dark size"))
    scope, later = memhold.scope(user="local", session="s"), datetime.now(UTC) + timedelta(seconds=61)
    assert (await ams_sessions.session_out(scope, Window(), turns=ams_sessions.Turns(), now=later))["unsaved"]
    assert (await client.get_working_memory("s")).unsaved
    assert await scope.messages() == ()
    assert await scope.session_metadata() == {}
    # An empty one that was put is there all the same.
    created, _ = await client.get_or_create_working_memory("empty")
    again, _ = await client.get_or_create_working_memory("empty")
    assert (created, again) == (True, False)
    assert (await client.list_sessions()).sessions == ["empty"]


async def test_no_turn_is_lost(client: MemoryAPIClient) -> None:
    turns = [
        said("user", "What is 6 times 7?"), said("assistant", ""), said("tool", "42"), said("critic", "right"),
        said("assistant", " "), said("system", "Be brief."), said("assistant", "(empty)"),
    ]  # fmt: skip
    for _ in range(2):
        kept = await client.put_working_memory("a/b/c", WorkingMemory(session_id="a/b/c", messages=turns))
        assert [(one.id, one.role, one.content) for one in kept.messages] == [
            (one.id, one.role, one.content) for one in turns
        ]
    assert len((await client.get_working_memory("a/b/c")).messages) == len(turns)
    await client.create_long_term_memory([ClientMemoryRecord(id="x/y", text="Has a stroke in its name")])
    assert (await client.get_long_term_memory("x/y")).id == "x/y"


async def test_namespaces_of_the_client_are_below_the_tokens_and_apart(
    server: Live, client: MemoryAPIClient, memhold: AsyncMemhold
) -> None:
    for name in ("shop", "a/b"):
        async with MemoryAPIClient(MemoryClientConfig(base_url=server.url, default_namespace=name)) as other:
            await other.append_messages_to_working_memory("s", [{"role": "user", "content": f"canary in {name}"}])
            record = ClientMemoryRecord(id=f"id {name}", text=f"canary of {name}", topics=["t"])
            await other.create_long_term_memory([record])
            assert (await other.list_sessions()).sessions == ["s"]
            found = await other.search_long_term_memory("canary", namespace={"eq": name})
            assert [(one.text, one.namespace) for one in found.memories] == [(f"canary of {name}", name)]
            # An id says nothing of its namespace, and is found in it.
            one = await other.get_long_term_memory(f"id {name}")
            assert (one.text, one.namespace) == (f"canary of {name}", name)
            assert (await other.get_working_memory("s")).namespace == name
    assert (await client.list_sessions()).sessions == []
    assert (await client.search_long_term_memory("canary")).memories == []
    [note] = (await memhold.scope(namespace="default//shop", user="local").list()).items
    assert note.text == "canary of shop"
    with pytest.raises(MemoryServerError, match="strokes"):
        await client.list_sessions(namespace="x//shop")
    # Another token's namespaces are its own, whatever they are called.
    headers = {"authorization": f"Bearer {await server.token(namespace='acme', user='local')}"}
    async with httpx.AsyncClient(base_url=server.url, headers=headers) as acme:
        assert (await acme.get("/v1/working-memory/", params={"namespace": "shop"})).json()["sessions"] == []
        assert (await acme.get("/v1/long-term-memory/id shop")).status_code == 404
        await acme.delete("/v1/long-term-memory", params={"memory_ids": "id shop"})
        await acme.delete("/v1/working-memory/s", params={"namespace": "shop"})
    assert len(await memhold.scope(namespace="default//shop", user="local", session="s").messages()) == 1


async def test_what_a_prompt_takes_from_a_search(client: MemoryAPIClient) -> None:
    await client.create_long_term_memory(
        [
            ClientMemoryRecord(id="1", text="Prefers trains", topics=["travel"]),
            ClientMemoryRecord(id="2", text="Prefers tea", topics=["food"]),
        ]
    )
    await client.append_messages_to_working_memory("s", [{"role": "user", "content": "I am going to Porto"}])
    asked = {"topics": {"any": ["travel"]}, "limit": 3}
    made = await client.memory_prompt("What do I prefer?", session_id="s", long_term_search=asked)
    text = str(made["messages"])
    assert "Prefers trains" in text
    assert "Prefers tea" not in text
    assert "I am going to Porto" in text
    assert made["messages"][-1]["content"]["text"] == "What do I prefer?"
    hydrated = await client.hydrate_memory_prompt("What do I prefer?", topics={"any": ["food"]}, limit=2)
    assert "Prefers tea" in str(hydrated["messages"])


async def test_the_clients_tools(client: MemoryAPIClient) -> None:
    added = await client.add_memory_tool("s", "Prefers trains", "semantic", topics=["travel"])
    assert added["success"]
    assert (await client.update_memory_data_tool("s", {"step": 1}))["success"]
    assert (await client.get_working_memory_tool("s"))["data"] == {"step": 1}
    assert (await client.get_or_create_working_memory_tool("t"))["created"]
    await client.bulk_create_long_term_memories([
        [ClientMemoryRecord(id=f"{batch}{n}", text=f"Fact {batch} {n}") for n in range(3)] for batch in "ab"
    ], delay_between_batches=0)  # fmt: skip
    every = [one.id async for one in client.search_all_long_term_memories("", batch_size=2)]
    assert len(every) == len(set(every)) == 7
    found = await client.search_memory_tool("trains", max_results=3, min_relevance=0.6)
    assert [one["text"] for one in found["memories"]] == ["Prefers trains"]
    for done in (
        await client.resolve_tool_call({"type": "tool_use", "id": "1", "name": "search_memory", "input": {"query": "trains"}}, "s"),
        await client.resolve_function_call("search_memory", '{"query": "trains"}', "s"),
        *await client.resolve_tool_calls([{"id": "1", "type": "function", "function": {"name": "get_long_term_memory", "arguments": '{"memory_id": "a1"}'}}], "s"),
        *await client.resolve_function_calls([{"name": "edit_long_term_memory", "arguments": '{"memory_id": "a1", "text": "x"}'}], "s"),
        await client.resolve_function_call("delete_long_term_memories", {"memory_ids": ["a1"]}, "s"),
        await client.resolve_function_call("update_working_memory_data", {"data": {"step": 2}}, "s"),
    ):  # fmt: skip
        assert done["success"], done
    assert not (await client.resolve_tool_call({"odd": 1}, "s"))["success"]


async def test_what_the_client_does_by_itself_is_called_too(client: MemoryAPIClient) -> None:
    """Schemas, parsing and checks never reach a server; they are called so that every public method of it is."""
    schemas = [name for name in dir(client) if "tool_schema" in name]
    assert len(schemas) > 15
    for name in schemas:
        assert getattr(client, name)() is not None
    call = {"type": "function", "id": "1", "function": {"name": "f", "arguments": "{}"}}
    assert client.parse_tool_call(call)["name"] == client.parse_openai_tool_call(call)["name"] == "f"
    assert client.parse_anthropic_tool_use({"type": "tool_use", "id": "1", "name": "f", "input": {}})["name"] == "f"
    assert client.parse_openai_function_call({"name": "f", "arguments": "{}"})["name"] == "f"
    client.validate_memory_record(ClientMemoryRecord(text="x", memory_type="semantic"))
    client.validate_search_filters(limit=10)
    await client.close()
    public = [name for name in dir(client) if not name.startswith("_") and callable(getattr(client, name))]
    uncalled = [name for name in public if f".{name}(" not in SOURCE and f".{name}," not in SOURCE]
    assert [name for name in uncalled if name not in schemas] == []


async def test_forgetting_by_policy(client: MemoryAPIClient) -> None:
    await client.create_long_term_memory([ClientMemoryRecord(id=f"r{n}", text=f"Fact number {n}") for n in range(4)])
    planned = await client.forget_long_term_memories(ForgetPolicy(budget=2), dry_run=True)
    assert (planned.scanned, planned.deleted, planned.deleted_ids, planned.dry_run) == (4, 2, ["r0", "r1"], True)
    done = await client.forget_long_term_memories(ForgetPolicy(budget=2), pinned_ids=["r0"])
    assert done.deleted_ids == ["r1", "r2"]
    assert sorted(hit.id for hit in (await client.search_long_term_memory("")).memories) == ["r0", "r3"]
    kept = await client.forget_long_term_memories(ForgetPolicy(max_age_days=1))
    assert kept.deleted == 0
    with pytest.raises(MemoryServerError, match="not recorded"):
        await client.forget_long_term_memories(ForgetPolicy(max_inactive_days=1))


async def test_what_has_no_counterpart_says_so(client: MemoryAPIClient) -> None:
    calls = [
        lambda: client.search_long_term_memory("x", last_accessed={"gte": datetime.now(UTC)}),
        lambda: client.search_long_term_memory("x", session_id=SessionId(not_eq="s")),
        client.list_summary_views,
        lambda: client.get_summary_view("v"),
        lambda: client.delete_summary_view("v"),
        lambda: client.run_summary_view("v"),
        lambda: client.run_summary_view_partition("v", {"user_id": "x"}),
        lambda: client.list_summary_view_partitions("v"),
        lambda: client.get_task("t"),
        lambda: client.create_summary_view(
            CreateSummaryViewRequest(name="v", source="long_term", group_by=["user_id"])
        ),
    ]
    for call in calls:
        with pytest.raises(MemoryServerError, match="not supported in compatibility mode") as refused:
            await call()
        assert refused.value.status_code == 422
    await client.create_long_term_memory([ClientMemoryRecord(id="r", text="x y z", topics=["a", "b"])])
    for updates in ({"topics": ["a"]}, {"user_id": "bob"}, {"memory_type": "message"}):
        with pytest.raises(MemoryServerError, match="not supported"):
            await client.edit_long_term_memory("r", updates)


@pytest_asyncio.fixture
async def nobodys(tmp_path: Path) -> AsyncIterator[Live]:
    """The same, started without a user: requests on loopback may name whom they like."""
    chosen = {"tokens": False, "compat": COMPAT}
    async with live(str(tmp_path / "nobody.db"), settings=chosen, local=Scope()) as made:
        yield made


async def test_another_user_needs_the_right(client: MemoryAPIClient, nobodys: Live) -> None:
    with pytest.raises(MemoryServerError):  # a server that was started for a user is that user's
        await client.create_long_term_memory([ClientMemoryRecord(id="b", text="x", user_id="bob")])
    async with MemoryAPIClient(MemoryClientConfig(base_url=nobodys.url, default_namespace="default")) as free:
        await _others_are_refused(nobodys.url, free, nobodys.memhold)


async def _others_are_refused(url: str, client: MemoryAPIClient, memhold: AsyncMemhold) -> None:
    await client.create_long_term_memory([ClientMemoryRecord(id="b", text="Bob plays chess", user_id="bob")])
    (hit,) = (await client.search_long_term_memory("chess", user_id=UserId(eq="bob"))).memories
    assert (await client.get_long_term_memory(hit.id)).text == "Bob plays chess"
    assert (await client.search_long_term_memory("chess")).memories == []
    made = await memhold.admin.tokens.create(user="carol", rights=["read", "write"])
    headers = {"authorization": f"Bearer {made.secret}"}
    async with httpx.AsyncClient(base_url=url, headers=headers) as carol:
        asked = [
            await carol.get("/v1/working-memory/", params={"user_id": "bob"}),
            await carol.put("/v1/working-memory/s", json={"user_id": "bob", "messages": [{"id": "1", "role": "user", "content": "x"}]}),
            await carol.post("/v1/long-term-memory/", json={"memories": [{"id": "x", "text": "x", "user_id": "bob"}]}),
            await carol.post("/v1/long-term-memory/search", json={"text": "chess", "user_id": {"eq": "bob"}}),
            await carol.post("/v1/memory/prompt", json={"query": "chess", "session": {"session_id": "s", "user_id": "bob"}}),
            await carol.post("/v1/long-term-memory/forget", params={"user_id": "bob"}, json={"policy": {"budget": 0}}),
            await carol.get(f"/v1/long-term-memory/{hit.id}"),
            await carol.delete("/v1/long-term-memory", params={"memory_ids": hit.id}),
        ]  # fmt: skip
        assert [answer.status_code for answer in asked] == [403] * len(asked)
        bare = hit.id.partition("~")[0]
        assert (await carol.get(f"/v1/long-term-memory/{bare}")).status_code == 404
        assert (await carol.get("/v1/long-term-memory/b")).status_code == 404
        reader = await memhold.admin.tokens.create(user="carol", rights=["read"])
        carol.headers["authorization"] = f"Bearer {reader.secret}"
        assert (await carol.post("/v1/long-term-memory/", json={"memories": []})).status_code == 403
    assert (await memhold.scope(user="bob").list()).items[0].text == "Bob plays chess"


async def test_without_the_flag_there_are_no_such_routes(tmp_path: Path) -> None:
    async with live(str(tmp_path / "memory.db"), settings={"tokens": False}) as made, made.client() as plain:
        assert (await plain.get("/v1/health")).status_code == 404
        assert (await plain.get("/v1/working-memory/")).status_code == 404
    with pytest.raises(InvalidSetting, match="agent-memory-server is known"):
        ServeSettings(compat="mem0")


async def test_what_is_put_while_its_former_time_runs_out_stays(client: MemoryAPIClient, memhold: AsyncMemhold) -> None:
    old = WorkingMemory(session_id="s", messages=[said("user", "the old one", id="m1")], ttl_seconds=60)
    await client.put_working_memory("s", old)
    scope, later = memhold.scope(user="local", session="s"), datetime.now(UTC) + timedelta(seconds=61)
    turns = ams_sessions.Turns()
    async with turns.of(scope.scope):
        reads = asyncio.ensure_future(ams_sessions.session_out(scope, Window(), turns=turns, now=later))
        while not reads.done() and not turns.of(scope.scope)._waiters:  # noqa: ASYNC110 - a lock tells nobody who waits
            await asyncio.sleep(0)
        fresh = {"session_id": "s", "messages": [{"id": "m2", "role": "user", "content": "the new one"}]}
        await ams_sessions.put_session(scope, WorkingBody.model_validate(fresh), now=later)
    assert [one["content"] for one in (await reads)["messages"]] == ["the new one"]


async def test_an_id_may_hold_any_sign_and_what_others_kept_under_our_names_is_passed_over(
    client: MemoryAPIClient, memhold: AsyncMemhold
) -> None:
    await client.create_long_term_memory([ClientMemoryRecord(id="r~1", text="likes tea", namespace="shop")])
    assert (await client.get_long_term_memory("r~1")).text == "likes tea"
    await memhold.scope(user="local", session="odd").set_session_metadata({"ams": 5})
    assert (await client.get_working_memory("odd")).unsaved
    assert "odd" not in (await client.list_sessions()).sessions
    await memhold.scope(user="local", session="ams:namespaces").set_session_metadata({"ams:namespaces": 5})
    with pytest.raises(MemoryNotFoundError):
        await client.get_long_term_memory("r~1")
    await client.create_long_term_memory([ClientMemoryRecord(id="r~2", text="likes coffee", namespace="shop")])
    assert (await client.get_long_term_memory("r~1")).text == "likes tea"
