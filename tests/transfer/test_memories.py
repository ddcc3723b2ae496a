"""Memories of other systems, in the shapes in which those write them (mem0 2.2, the MCP server 2026.8, Graphiti)."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memhold import AsyncMemhold
from memhold.errors import UnreadableImport
from memhold.transfer.formats import detect

RECORDED = Path(__file__).parent / "recorded"
MEM0 = {
    "results": [
        {
            "id": "e46322dd",
            "memory": "I live in Porto",
            "hash": "7c86",
            "metadata": {"channel": "web"},
            "created_at": "2026-01-01T10:00:00+00:00",
            "updated_at": "2026-02-01T10:00:00+00:00",
            "user_id": "anna",
            "role": "user",
        },
        {
            "id": "5a00fd13",
            "memory": "Staying at the Grand until Friday",
            "hash": "1f71",
            "metadata": None,
            "created_at": "2026-01-05T10:00:00+00:00",
            "updated_at": "2026-01-05T10:00:00+00:00",
            "expiration_date": "2026-01-09",
            "categories": ["travel"],
            "user_id": "anna",
        },
        {"id": "00c31e01", "memory": " ", "user_id": "anna"},
    ]
}
MCP = [
    {"type": "entity", "name": "Anna", "entityType": "person", "observations": ["likes tea", "Anna has a cat"]},
    {"type": "entity", "name": "Acme", "entityType": "company", "observations": []},
    {"type": "relation", "from": "Anna", "to": "Acme", "relationType": "works_at"},
]
EDGES = [
    {
        "uuid": "e1",
        "group_id": "anna",
        "source_node_uuid": "n1",
        "target_node_uuid": "n2",
        "created_at": "2025-03-01T00:00:00Z",
        "name": "LIVES_IN",
        "fact": "Anna lives in Lisbon",
        "fact_embedding": None,
        "episodes": ["p1"],
        "expired_at": "2025-05-01T00:00:00Z",
        "valid_at": "2025-03-01T00:00:00Z",
        "invalid_at": "2025-04-30T00:00:00Z",
        "attributes": {},
    },
    {
        "uuid": "e2",
        "group_id": "anna",
        "source_node_uuid": "n1",
        "target_node_uuid": "n3",
        "created_at": "2025-04-30T00:00:00Z",
        "name": "LIVES_IN",
        "fact": "Anna lives in Porto",
        "valid_at": "2025-04-30T00:00:00Z",
        "invalid_at": None,
    },
]
REDIS = {
    "memories": [
        {
            "id": "01K",
            "text": "User prefers the window seat",
            "memory_type": "semantic",
            "topics": ["travel"],
            "entities": ["window seat"],
            "user_id": "anna",
            "namespace": "app",
            "created_at": "2026-03-01T00:00:00Z",
            "dist": 0.2,
        }
    ],
    "total": 1,
}
CLAUDE_AI = [
    {
        "uuid": "conv-1",
        "name": "Trip",
        "created_at": "2026-01-01T10:00:00Z",
        "chat_messages": [
            {
                "uuid": "m1",
                "sender": "human",
                "text": "What does the ticket say?",
                "content": [{"type": "text", "text": "What does the ticket say?"}],
                "created_at": "2026-01-01T10:00:00Z",
                "attachments": [{"file_name": "ticket.txt", "extracted_content": "Seat 14A"}],
                "files": [{"file_name": "photo.png"}],
            },
            {"uuid": "m2", "sender": "assistant", "text": "Seat 14A.", "created_at": "2026-01-01T10:00:05Z"},
            {"uuid": "m3", "sender": "assistant", "text": "", "content": []},
        ],
    }
]


@pytest.mark.parametrize(
    ("expected", "content", "doc"),
    [
        ("mem0", None, MEM0),
        ("mem0", None, MEM0["results"]),
        ("mcp-memory", MCP, None),
        ("graphiti", None, EDGES),
        ("graphiti", None, {"message": "Facts retrieved", "facts": EDGES}),
        ("agent-memory-server", None, REDIS),
        ("claude-ai", None, CLAUDE_AI),
        ("mem0", None, {"results": []}),
        ("agent-memory-server", None, {"memories": [], "total": 0}),
        ("graphiti", None, {"message": "Facts retrieved", "facts": []}),
    ],
)
def test_the_format_is_told_by_content(put, expected, content, doc):
    assert detect(put(content, doc=doc, name="any.bin")) == expected


def test_an_empty_list_beside_something_else_tells_nothing(put):
    with pytest.raises(UnreadableImport, match="no known format"):
        detect(put(doc={"results": [], "rows": [{"said": "likes tea"}]}))


@pytest.fixture
async def anna():
    async with AsyncMemhold.open("memory://", embedding="none") as memhold:
        yield memhold.scope(user="anna")


async def test_mem0(anna, put):
    report = await anna.import_file(put(doc=MEM0))
    assert (report.format, report.added, report.memories) == ("mem0", 2, 2)
    assert report.left_out == {"memories that say nothing": 1}
    (home,) = (await anna.list()).items
    assert (home.origin, home.actor, home.valid_from.month) == ("import", "mem0", 2)
    assert home.metadata["channel"] == "web"
    assert home.metadata["source_id"] == "e46322dd"
    assert "hash" not in home.metadata
    # What was over there is over here, and was so then.
    assert [hit.text for hit in (await anna.recall("hotel Grand", as_of=datetime(2026, 1, 8, tzinfo=UTC))).hits][
        :1
    ] == ["Staying at the Grand until Friday"]


async def test_what_changed_there_replaces_what_came_before(anna, put):
    await anna.import_file(put(doc=MEM0))
    entry = {**MEM0["results"][0], "memory": "I live in Braga", "updated_at": "2026-03-01T10:00:00+00:00"}
    report = await anna.import_file(put(doc={"results": [entry]}, name="later.json"))
    assert report.added == 1
    assert [item.text for item in (await anna.list()).items] == ["I live in Braga"]
    (former,) = (await anna.list(states=["superseded"])).items
    assert former.valid_to == datetime(2026, 3, 1, 10, tzinfo=UTC)
    # The older file again brings nothing back.
    assert (await anna.import_file(put(doc=MEM0))).added == 0


async def test_what_was_corrected_or_forgotten_here_stays_so(anna, put):
    await anna.import_file(put(doc=MEM0))
    (home,) = (await anna.list()).items
    await anna.correct(home.id, "I live in Faro")
    changed = {**MEM0["results"][0], "memory": "I live in Braga"}
    assert (await anna.import_file(put(doc={"results": [changed]}, name="b.json"))).added == 0
    assert [item.text for item in (await anna.list()).items] == ["I live in Faro"]
    await anna.import_file(put(doc=REDIS, name="redis.json"))
    await anna.forget(everything=True)
    assert (await anna.import_file(put(doc=REDIS, name="redis.json"))).added == 0
    assert (await anna.list()).items == ()


async def test_a_file_of_several_users_is_refused_whole(anna, put):
    other = {"id": "x", "memory": "I live in Rome", "user_id": "ben"}
    with pytest.raises(UnreadableImport, match="several users"):
        await anna.import_file(put(doc={"results": [*MEM0["results"], other]}))
    assert (await anna.list()).items == ()


async def test_the_mcp_servers_graph(anna, put):
    assert (await anna.import_file(put(MCP))).added == 4
    texts = {item.text: item for item in (await anna.list()).items}
    assert texts.keys() == {"Anna: likes tea", "Anna has a cat", "Acme: company", "Anna works at Acme"}
    assert texts["Anna: likes tea"].metadata["entity_type"] == "person"
    assert texts["Anna works at Acme"].entities == ("Anna", "Acme")


async def test_an_observation_names_its_entity_only_where_it_stands_as_a_word(anna, put):
    graph = [
        {"type": "entity", "name": "Al", "entityType": "person", "observations": ["Allergic to nuts", "AL's at home"]},
        {"type": "entity", "name": "민아", "entityType": "person", "observations": ["민아는 차를 좋아한다"]},
    ]
    await anna.import_file(put(graph))
    texts = {item.text for item in (await anna.list()).items}
    assert texts == {"Al: Allergic to nuts", "AL's at home", "민아는 차를 좋아한다"}


async def test_edges_keep_from_when_and_until_when_they_held(anna, put):
    assert (await anna.import_file(put(doc=EDGES))).added == 2
    assert [item.text for item in (await anna.list()).items] == ["Anna lives in Porto"]
    then = await anna.recall("Where does Anna live?", as_of=datetime(2025, 4, 1, tzinfo=UTC))
    assert [hit.text for hit in then.hits] == ["Anna lives in Lisbon"]
    (lisbon,) = (await anna.list(states=["expired"])).items
    assert lisbon.metadata["episodes"] == ["p1"]


async def test_redis_memories(anna, put):
    await anna.import_file(put(doc=REDIS))
    (seat,) = (await anna.list()).items
    assert (seat.topics, seat.entities) == (("travel",), ("window seat",))
    assert seat.metadata["namespace"] == "app"
    assert "dist" not in seat.metadata


async def test_what_agent_memory_server_answers_comes_in_whole(anna):
    """Recorded from agent-memory-server 0.14.0: a search of long-term memories, and a session's working memory."""
    searched, session = RECORDED / "agent-memory-server.json", RECORDED / "agent-memory-session.json"
    assert (detect(searched), detect(session)) == ("agent-memory-server",) * 2
    assert (await anna.import_file(searched)).memories == 3
    report = await anna.import_file(session)
    assert (report.added, report.memories, report.sessions) == (3, 1, 1)
    assert report.left_out == {"lists or objects named 'long_term_memory_strategy'": 1}
    notes = {one.text: one for one in (await anna.list()).items}
    assert {text: note.pinned for text, note in notes.items()} == {
        "Anna prefers oolong tea.": False,
        "Anna visited Graz, with Bert.": False,
        "Anna's dentist is Dr. Maier.": True,
        "Anna has a cat called Mia.": False,
    }
    assert notes["Anna visited Graz, with Bert."].valid_from == datetime(2026, 5, 2, 9, tzinfo=UTC)
    assert notes["Anna prefers oolong tea."].metadata["namespace"] == "home"
    assert [one.name for one in (await anna.sessions()).items] == ["agent-memory-server:s2"]
    assert (await anna.recall("Graz", kinds=["message"])).hits[0].role == "user"
    assert ((await anna.import_file(searched)).added, (await anna.import_file(session)).added) == (0, 0)


async def test_what_stands_for_dropped_messages_of_a_session_comes_in(anna, put):
    session = json.loads((RECORDED / "agent-memory-session.json").read_text())
    told = {**session, "messages": [], "context": "They planned a trip to Graz."}
    assert (await anna.import_file(put(doc=told))).memories == 2
    assert "They planned a trip to Graz." in {one.text for one in (await anna.list()).items}


async def test_what_stands_beside_the_messages_of_a_document_is_named(anna, put):
    said = {"messages": [{"role": "user", "content": "Hello"}], "memories": [], "facts_known": ["tea"], "model": "m"}
    report = await anna.import_file(put(doc=said))
    assert (report.format, report.added) == ("anthropic-json", 1)
    assert report.left_out == {"lists or objects named 'facts_known'": 1}


async def test_claude_ai(anna, put):
    report = await anna.import_file(put(doc=CLAUDE_AI))
    assert (report.read, report.sessions, report.left_out) == (2, 1, {"messages without content": 1})
    # Whoever attaches a text has not said what stands in it.
    assert not [hit for hit in (await anna.recall("seat 14A", roles=["user"])).hits if "14A" in hit.text]
    (asked,) = (await anna.recall("seat 14A", roles=["attachment"])).hits
    assert "ticket.txt" in asked.text
    assert asked.metadata["files"] == ["photo.png"]
    assert asked.metadata["title"] == "Trip"


def claude_mem(path):
    with sqlite3.connect(path) as base:
        base.executescript(
            """
            CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT, memory_session_id TEXT);
            CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, session_db_id INTEGER, content_session_id TEXT,
                prompt_number INTEGER, prompt_text TEXT, created_at TEXT, created_at_epoch INTEGER);
            CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, text TEXT, type TEXT,
                title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT,
                files_modified TEXT, prompt_number INTEGER, created_at TEXT, created_at_epoch INTEGER);
            CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, request TEXT,
                investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, files_read TEXT, files_edited TEXT,
                notes TEXT, prompt_number INTEGER, created_at TEXT, created_at_epoch INTEGER);
            INSERT INTO user_prompts VALUES (1, 1, 'c1', 1, 'Fix the login bug', '', 1767348000000);
            INSERT INTO observations VALUES (1, 'm1', 'shop', NULL, 'bugfix', 'Login failed on expired tokens', NULL,
                '["Tokens expire after 15 minutes"]', 'The middleware compared local time.', '["auth"]',
                '["src/auth.py"]', '[]', 1, '', 1767348300000);
            INSERT INTO session_summaries VALUES (1, 'm1', 'shop', 'Fix login', NULL, 'Clock skew', NULL,
                'Write a test', '[]', '["src/auth.py"]', NULL, 1, '', 1767348360000);
            """
        )
    return path


async def test_claude_mem(anna, tmp_path):
    path = claude_mem(tmp_path / "any.bin")
    shown = await anna.import_file(path, dry_run=True)
    assert (shown.format, shown.read, shown.memories, shown.added) == ("claude-mem", 3, 2, 0)
    assert (await anna.list()).items == ()
    assert (await anna.import_file(path)).added == 3
    assert (await anna.import_file(path)).added == 0
    seen, summed_up = (await anna.list()).items
    assert "compared local time" in seen.text
    assert "- Tokens expire after 15 minutes" in seen.text
    assert (seen.topics, seen.metadata["project"], seen.metadata["files_read"]) == (("auth",), "shop", ["src/auth.py"])
    assert summed_up.text == "request: Fix login\nlearned: Clock skew\nnext steps: Write a test"
    assert [hit.session for hit in (await anna.recall("login bug", kinds=["message"])).hits] == ["claude-mem:c1"]


async def test_what_claude_mem_holds_beside_its_memories_is_counted(anna, tmp_path):
    path = claude_mem(tmp_path / "new.db")
    with sqlite3.connect(path) as base:  # as version 13 has them
        base.executescript(
            """
            CREATE TABLE tool_uses (id INTEGER PRIMARY KEY, tool_name TEXT, tool_input TEXT);
            CREATE TABLE pending_messages (id INTEGER PRIMARY KEY, tool_input TEXT);
            CREATE TABLE sync_state (id INTEGER PRIMARY KEY);
            INSERT INTO tool_uses (tool_name, tool_input) VALUES ('Read', '{}'), ('Edit', '{}');
            INSERT INTO sync_state VALUES (1);
            """
        )
    report = await anna.import_file(path)
    assert (report.added, report.left_out) == (3, {"calls of tools, which observations are made of": 2})


async def test_a_store_of_ours_and_a_stranger_are_told_apart(anna, tmp_path):
    async with AsyncMemhold.open(str(tmp_path / "own.db"), worker=False, embedding="none") as own:
        await own.scope(user="x").remember("a note")
    with pytest.raises(UnreadableImport, match="store of Memhold"):
        await anna.import_file(tmp_path / "own.db")
    with sqlite3.connect(tmp_path / "other.db") as base:
        base.execute("CREATE TABLE t (x)")
    with pytest.raises(UnreadableImport, match="no known format"):
        await anna.import_file(tmp_path / "other.db")


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"id": "1", "memory": 7}, "JSON int"),
        ({"id": "1", "memory": "x" * 100_001}, "100,001 characters"),
        ({"id": "1", "memory": "a\0b"}, "NUL"),
        ({"id": "1", "memory": "fine", "created_at": "soon"}, "is not a time"),
        ("text", "not an object"),
    ],
)
async def test_what_cannot_be_read_is_named_and_the_rest_comes(anna, put, entry, why):
    path = put(json.dumps({"results": [MEM0["results"][0], entry]}))
    report = await anna.import_file(path, on_error="skip")
    assert (report.added, report.skipped) == (1, 1)
    assert why in report.problems[0].why
    with pytest.raises(UnreadableImport, match=why):
        await anna.import_file(path)


def entries(*held, **more):
    return {"results": [{"id": name, "memory": text, **more} for name, text in held]}


async def test_an_entry_that_says_again_what_it_said_before_comes_back(anna, put):
    for at, text in enumerate(("Porto", "Braga", "Porto"), start=1):
        await anna.import_file(put(doc=entries(("1", text), updated_at=f"2026-0{at}-01T00:00:00Z"), name=f"{at}.json"))
    assert [item.text for item in (await anna.list()).items] == ["Porto"]
    assert [item.text for item in (await anna.list(states=["superseded"])).items] == ["Porto", "Braga"]
    # Touched there, and saying the same: nothing new.
    doc = entries(("1", "Porto"), updated_at="2026-04-01T00:00:00Z")
    assert (await anna.import_file(put(doc=doc))).added == 0


@pytest.mark.parametrize("ids", [(1, 2), (None, None)])
async def test_entries_without_a_text_as_id_displace_no_others(anna, put, ids):
    first, second = ids
    assert (await anna.import_file(put(doc=entries((first, "likes tea")), name="a.json"), format="mem0")).added == 1
    assert (await anna.import_file(put(doc=entries((second, "has a cat")), name="b.json"), format="mem0")).added == 1
    assert [item.text for item in (await anna.list()).items] == ["likes tea", "has a cat"]


async def test_numbered_users_are_several_too(anna, put):
    doc = {"results": [*entries(("1", "x"), user_id=1)["results"], *entries(("2", "y"), user_id=2)["results"]]}
    with pytest.raises(UnreadableImport, match="several users"):
        await anna.import_file(put(doc=doc))


async def test_the_last_day_of_the_calendar_is_a_time_like_others(anna, put):
    await anna.import_file(put(doc=entries(("1", "x"), expiration_date="9999-12-31")))
    (one,) = (await anna.list()).items
    assert one.expires_at.year == 9999


async def test_what_stands_beside_the_list_is_named_and_no_list_is_an_error(anna, put):
    report = await anna.import_file(put(doc={**entries(("1", "x")), "relations": [{"source": "a"}], "total": 1}))
    assert report.left_out == {"lists or objects named 'relations'": 1}
    for doc in ({"foo": 1}, {"results": 7}):
        with pytest.raises(UnreadableImport, match="no list named 'results'"):
            await anna.import_file(put(doc=doc), format="mem0")
    assert (await anna.import_file(put(doc={"results": []}), format="mem0")).read == 0


async def test_an_edge_that_ends_later_ends_here_too(anna, put):
    edge = {"uuid": "e1", "fact": "Anna rents in Porto", "valid_at": "2025-01-01T00:00:00Z"}
    await anna.import_file(put(doc=[edge], name="a.json"))
    await anna.import_file(put(doc=[{**edge, "invalid_at": "2990-01-01T00:00:00Z"}], name="b.json"))
    (one,) = (await anna.list()).items
    assert one.expires_at.year == 2990


async def test_what_a_note_has_no_room_for_stays_in_its_metadata(anna, put):
    doc = entries(("1", "x"), metadata={"source": "slack", "user_id": "U7"}, user_id="anna", categories=["a", 5])
    await anna.import_file(put(doc=doc, name="a.json"))
    trip = {**REDIS["memories"][0], "id": "2", "event_date": "2990-05-01T00:00:00Z", "topics": "travel"}
    await anna.import_file(put(doc={"memories": [trip]}, name="b.json"))
    graph = [{"type": "entity", "name": "Ben", "entityType": "person", "observations": "likes tea", "seen": 2}]
    await anna.import_file(put(graph, name="c.jsonl"))
    noted, later, ben = (await anna.list()).items
    assert noted.metadata["metadata"] == {"source": "slack", "user_id": "U7"}
    assert (noted.topics, noted.metadata["topics"]) == (("a",), ["a", 5])
    assert (later.topics, later.metadata["since"]) == (("travel",), "2990-05-01T00:00:00+00:00")
    assert (ben.text, ben.metadata["seen"]) == ("Ben: likes tea", 2)


async def test_what_an_agents_scope_brings_is_its_own(put):
    path = put(doc=entries(("1", "likes tea")))
    async with AsyncMemhold.open("memory://", embedding="none") as memhold:
        one, other = (memhold.scope(user="anna", agent=name) for name in ("one", "other"))
        assert (await one.import_file(path)).added == 1
        assert (await other.list()).items == ()
        assert (await other.import_file(path)).added == 1
        assert (await one.import_file(path)).added == 0


async def test_damaged_conversations_of_claude_ai_are_named(anna, put):
    message = {"uuid": "m", "text": "Read this", "attachments": [{"file_name": "big.pdf", "extracted_content": ""}]}
    doc = [{"uuid": "c", "chat_messages": [{**message, "sender": ["x"]}, {**message, "sender": "human"}]}]
    report = await anna.import_file(put(doc=doc), on_error="skip")
    assert (report.added, report.skipped) == (1, 1)
    (hit,) = (await anna.recall("read this")).hits
    assert hit.metadata["files"] == ["big.pdf"]


async def test_a_claude_mem_of_an_older_version(anna, tmp_path):
    path = claude_mem(tmp_path / "old.db")
    with sqlite3.connect(path) as base:
        base.execute("ALTER TABLE user_prompts RENAME COLUMN content_session_id TO claude_session_id")
    assert (await anna.import_file(path)).added == 3
    assert [hit.session for hit in (await anna.recall("login bug", kinds=["message"])).hits] == ["claude-mem:c1"]


async def test_a_claude_mem_with_columns_that_we_do_not_know_and_damaged_text(anna, tmp_path):
    path = tmp_path / "odd.db"
    with sqlite3.connect(path) as base:
        base.executescript(
            """
            CREATE TABLE sdk_sessions (a);
            CREATE TABLE user_prompts (id, created_at_epoch);
            CREATE TABLE observations (id, created_at_epoch, title);
            INSERT INTO user_prompts VALUES (1, 2);
            INSERT INTO observations VALUES (1, 2, CAST(x'ff' AS TEXT)), (2, 3, 'fine');
            """
        )
    report = await anna.import_file(path, on_error="skip")
    assert (report.added, report.skipped, report.left_out) == (1, 1, {"messages without content": 1})
    assert "not UTF-8" in report.problems[0].why


@pytest.mark.parametrize("format_name", ["mem0", "claude-mem", None])
async def test_a_file_that_is_not_there_or_a_folder_is_a_clear_error(anna, tmp_path, format_name):
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(UnreadableImport):
            await anna.import_file(path, format=format_name)


@pytest.mark.parametrize("mark", ["confirm", "pin"])
async def test_what_the_user_confirmed_or_pinned_is_displaced_by_no_file(anna, put, mark):
    await anna.import_file(put(doc=MEM0))
    (home,) = (await anna.list()).items
    await getattr(anna, mark)(home.id)
    changed = {**MEM0["results"][0], "memory": "I live in Braga"}
    path = put(doc={"results": [changed]}, name="b.json")
    assert (await anna.import_file(path)).added == 0
    assert [item.text for item in (await anna.list()).items] == ["I live in Porto"]


async def test_secrets_of_a_file_stand_in_no_label(put):
    secret = "sk-proj-" + "a1B2c3D4" * 6
    graph = [{"type": "entity", "name": f"Key {secret}", "entityType": "x", "observations": []}]
    async with AsyncMemhold.open("memory://", embedding="none", redaction="on") as memhold:
        anna = memhold.scope(user="anna")
        await anna.import_file(put(doc=entries((secret, "x"), categories=[secret]), name="a.json"))
        await anna.import_file(put(graph, name="b.jsonl"))
        held = (await anna.list()).items
        assert len(held) == 2
        assert not [one for one in held if secret in f"{one.text}{one.topics}{one.entities}{one.metadata}"]


async def test_an_id_tells_nothing_of_what_it_named(put):
    path, ids = put(doc=MEM0), []
    for _ in range(2):
        async with AsyncMemhold.open("memory://", embedding="none") as memhold:
            await memhold.scope(user="anna").import_file(path)
            ids.append([item.id for item in (await memhold.scope(user="anna").list()).items])
    assert ids[0] != ids[1]
    assert all(len(one) == 36 for one in [*ids[0], *ids[1]])
