"""Stores and files of other systems, in the shapes in which those write them.

mem0 2.2 (Qdrant 1.20, Chroma 1.5, FAISS), LangGraph 1.2 with its SQLite store 3.1, MemPalace 3.11, Letta 0.16.
"""

from __future__ import annotations

import json
import os
import pickle
import sqlite3
import sys
import types
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memhold import AsyncMemhold
from memhold.errors import NotFound, UnreadableImport
from memhold.transfer.formats import READERS, detect
from memhold.transfer.plain_pickles import NotPlain, plain_value
from tests.transfer.samples import Killed, Ledger

PAYLOADS = {
    "m1": {
        "channel": "web",
        "user_id": "anna",
        "role": "user",
        "data": "I live in Porto",
        "hash": "7c86",
        "created_at": "2026-01-01T10:00:00+00:00",
        "updated_at": "2026-01-01T10:00:00+00:00",
        "text_lemmatized": "I live in Porto",
    },
    "m2": {
        "user_id": "anna",
        "run_id": "r1",
        "role": "assistant",
        "data": "Noted: tea",
        "hash": "aba2",
        "created_at": "2026-01-02T10:00:00+00:00",
        "updated_at": "2026-01-03T10:00:00+00:00",
        "text_lemmatized": "Noted : tea",
    },
}
GET_ALL = {
    "results": [
        {
            "id": "m1",
            "memory": "I live in Porto",
            "hash": "7c86",
            "metadata": {"channel": "web"},
            "created_at": "2026-01-01T10:00:00+00:00",
            "updated_at": "2026-01-01T10:00:00+00:00",
            "user_id": "anna",
            "role": "user",
        },
        {
            "id": "m2",
            "memory": "Noted: tea",
            "hash": "aba2",
            "metadata": None,
            "created_at": "2026-01-02T10:00:00+00:00",
            "updated_at": "2026-01-03T10:00:00+00:00",
            "user_id": "anna",
            "run_id": "r1",
            "role": "assistant",
        },
    ]
}


def _pickled_point(ident: str, payload: dict[str, Any]) -> bytes:
    """A point as qdrant-client 1.20 pickles it: a pydantic model of a module that is not here."""
    name = "qdrant_client.http.models.models"
    module = types.ModuleType(name)
    state = {
        "__dict__": {"id": ident, "vector": {"": [0.25, 0.5]}, "payload": payload},
        "__pydantic_extra__": None,
        "__pydantic_fields_set__": {"id", "vector", "payload"},
        "__pydantic_private__": None,
    }
    shape = {"__module__": name, "__getstate__": lambda _: state}
    module.PointStruct = type("PointStruct", (), shape)  # type: ignore[attr-defined]
    parents = name.split(".")
    held = {".".join(parents[:at]): types.ModuleType("x") for at in range(1, len(parents))} | {name: module}
    sys.modules.update(held)
    try:
        return pickle.dumps(module.PointStruct())  # type: ignore[attr-defined]
    finally:
        for one in held:
            del sys.modules[one]


def qdrant(path: Path, payloads: dict[str, dict[str, Any]] = PAYLOADS) -> Path:
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE points (id TEXT PRIMARY KEY, point BLOB)")
    base.executemany(
        "INSERT INTO points VALUES (?, ?)", [(one, _pickled_point(one, payloads[one])) for one in payloads]
    )
    base.commit()
    base.close()
    return path


CHROMA = """
    CREATE TABLE collections (id TEXT PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE segments (id TEXT PRIMARY KEY, type TEXT, scope TEXT, collection TEXT);
    CREATE TABLE embeddings (id INTEGER PRIMARY KEY, segment_id TEXT, embedding_id TEXT, seq_id BLOB);
    CREATE TABLE embedding_metadata (id INTEGER, key TEXT, string_value TEXT, int_value INTEGER, float_value REAL,
        bool_value INTEGER, PRIMARY KEY (id, key));
    CREATE TABLE embedding_metadata_array (id INTEGER, key TEXT, string_value TEXT, int_value INTEGER,
        float_value REAL, bool_value INTEGER);
"""


def chroma(path: Path, entries: list[tuple[str, str, dict[str, Any]]]) -> Path:
    """A database of Chroma with entries, each of a collection."""
    base = sqlite3.connect(path)
    base.executescript(CHROMA)
    for number, (collection, ident, metadata) in enumerate(entries, start=1):
        base.execute("INSERT OR IGNORE INTO collections VALUES (?, ?)", (f"c-{collection}", collection))
        base.execute(
            "INSERT OR IGNORE INTO segments VALUES (?, '', 'METADATA', ?)", (f"s-{collection}", f"c-{collection}")
        )
        base.execute("INSERT INTO embeddings VALUES (?, ?, ?, x'01')", (number, f"s-{collection}", ident))
        for name, value in metadata.items():
            for one in value if isinstance(value, list) else [value]:
                table = "embedding_metadata_array" if isinstance(value, list) else "embedding_metadata"
                kinds = [
                    one if isinstance(one, str) else None,
                    one if type(one) is int else None,
                    one if isinstance(one, float) else None,
                    int(one) if isinstance(one, bool) else None,
                ]
                base.execute(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?)", (number, name, *kinds))  # noqa: S608
    base.commit()
    base.close()
    return path


def faiss(path: Path) -> Path:
    path.write_text(json.dumps({"docstore": PAYLOADS, "index_to_id": {"0": "m1", "1": "m2"}}, indent=2))
    return path


def mem0_on_chroma(path: Path) -> Path:
    return chroma(path, [("mem0", ident, payload) for ident, payload in PAYLOADS.items()])


def mem0_history(path: Path) -> Path:
    base = sqlite3.connect(path)
    base.execute(
        """CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT,
           created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT)"""
    )
    t1, t2 = "2026-01-02T10:00:00+00:00", "2026-01-03T10:00:00+00:00"
    base.executemany(
        "INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, 'user')",
        [
            ("h1", "m2", None, "Said tea", "ADD", t1, t1, 0),
            ("h2", "m2", "Said tea", "Noted: tea", "UPDATE", t1, t2, 0),
            ("h3", "m9", None, "to be deleted", "ADD", t1, t1, 0),
            ("h4", "m9", "to be deleted", None, "DELETE", t1, t2, 1),
        ],
    )
    base.commit()
    base.close()
    return path


def langgraph(path: Path, *, tea: str = "black") -> Path:
    path.unlink(missing_ok=True)
    base = sqlite3.connect(path)
    base.executescript(
        """
        CREATE TABLE store_migrations (v INTEGER PRIMARY KEY);
        CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value text NOT NULL,
            created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
            expires_at TIMESTAMP, ttl_minutes REAL, PRIMARY KEY (prefix, key));
        """
    )
    memory = {"kind": "Memory", "content": {"content": f"User likes {tea} tea"}}  # as LangMem writes it
    changed = "2026-02-01 10:00:00" if tea == "black" else "2026-03-01 10:00:00"
    base.executemany(
        "INSERT INTO store VALUES (?, ?, ?, '2026-01-01 10:00:00', ?, ?, ?)",
        [
            ("memories.anna", "k1", json.dumps(memory).encode(), changed, None, None),
            ("prefs", "lang", b'{"v":"pt"}', "2026-02-01 10:00:00", "2199-01-01 00:00:00.5+00:00", 60.0),
            ("prefs", "old", b'{"v":"x"}', "2026-02-01 10:00:00", "2020-01-01 00:00:00+00:00", 1.0),
            ("files.a b", "x%y. ", b'{"text":"d\xc3\xada"}', "2026-02-01 10:00:00", None, None),
        ],
    )
    base.commit()
    base.close()
    return path


def palace(path: Path) -> Path:
    drawer = {
        "wing": "proj",
        "room": "kitchen",
        "filed_at": "2026-01-05T06:25:40.274434",
        "content_date": "2026-01-04",
        "chunk_index": 0,
        "source_mtime": 1795415099.95,
        "source_file": "/home/anna/notes.md",
        "entities": "Anna;Trip",
        "chroma:document": "# Trip\nAnna prefers the window seat.",
    }
    closet = {"room": "kitchen", "chroma:document": "trip|->drawer_1"}
    return chroma(path, [("mempalace_drawers", "drawer_1", drawer), ("mempalace_closets", "closet_1", closet)])


def knowledge_graph(path: Path) -> Path:
    base = sqlite3.connect(path)
    base.executescript(
        """
        CREATE TABLE entities (id TEXT PRIMARY KEY, name TEXT NOT NULL, type TEXT, properties TEXT, created_at TEXT);
        CREATE TABLE triples (id TEXT PRIMARY KEY, subject TEXT NOT NULL, predicate TEXT NOT NULL, object TEXT NOT NULL,
            valid_from TEXT, valid_to TEXT, confidence REAL, source_closet TEXT, source_file TEXT,
            source_drawer_id TEXT, adapter_name TEXT, extracted_at TEXT);
        INSERT INTO entities (id, name) VALUES ('anna', 'Anna'), ('lisbon', 'Lisbon');
        INSERT INTO triples VALUES
            ('t1', 'anna', 'lives_in', 'lisbon', '2025-03-01', '2025-05-01', 1.0, NULL, NULL, NULL, NULL, '2025-06-01'),
            ('t2', 'anna', 'lives_in', 'porto', '2025-05-01', NULL, 0.9, NULL, 'a.md', NULL, NULL, '2025-06-01');
        """
    )
    base.close()
    return path


def _letta_message(second: int, role: str, text: str | None, **more: Any) -> dict[str, Any]:
    content = [] if text is None else [{"type": "text", "text": text}]
    at = f"2026-03-01T10:00:{second:02}Z"
    return {"id": f"message-{second}", "role": role, "content": content, "created_at": at, **more}


def _call(name: str, arguments: str, ident: str) -> dict[str, Any]:
    return {"id": ident, "type": "function", "function": {"name": name, "arguments": arguments}}


RECORDED = Path(__file__).parent / "recorded"
LETTA_MESSAGES = [
    _letta_message(0, "system", "You are Sam. <memory_blocks>"),
    _letta_message(1, "user", json.dumps({"type": "user_message", "message": "I moved to Porto", "time": "x"})),
    _letta_message(2, "assistant", "She moved.", tool_calls=[_call("send_message", '{"message": "Lovely!"}', "c1")]),
    _letta_message(3, "tool", '{"status": "OK"}', name="send_message", tool_call_id="c1"),
    _letta_message(4, "user", json.dumps({"type": "heartbeat", "reason": "x"})),
    _letta_message(5, "assistant", None, tool_calls=[_call("core_memory_replace", "{}", "c2")]),
    _letta_message(6, "tool", '{"status": "OK"}', name="core_memory_replace", tool_call_id="c2"),
    _letta_message(7, "user", "plain new style"),
]
LETTA = {
    "agents": [
        {"id": "agent-0", "name": "sam", "messages": LETTA_MESSAGES, "block_ids": ["block-0"], "tool_ids": None},
    ],
    "groups": [],
    "blocks": [{"id": "block-0", "label": "human", "value": "Her name is Anna.", "limit": 5000, "metadata": {}}],
    "tools": [{"id": "tool-0"}, {"id": "tool-1"}],
    "metadata": {},
}
LETTA_FIRST = {
    "agent_type": "memgpt_agent",
    "core_memory": [{"label": "human", "value": "Her name is Anna.", "updated_at": "2026-02-01T10:00:00"}],
    "created_at": "2026-01-01T10:00:00",
    "messages": LETTA_MESSAGES,
    "name": "sam",
    "tools": [{"id": "tool-0"}],
}


def letta(path: Path) -> Path:
    path.write_text(json.dumps(LETTA))
    return path


def letta_first(path: Path) -> Path:
    path.write_text(json.dumps(LETTA_FIRST))
    return path


def langgraph_rows(path: Path) -> Path:
    row = {"prefix": "memories.anna", "key": "k1", "value": {"a": 1}, "updated_at": "2026-02-01T10:00:00"}
    path.write_text(json.dumps(row) + "\n")
    return path


FILES = {
    "qdrant": ("mem0", qdrant, 2),
    "chroma": ("mem0", mem0_on_chroma, 2),
    "faiss": ("mem0", faiss, 2),
    "langgraph": ("langgraph", langgraph, 3),
    "langgraph rows": ("langgraph", langgraph_rows, 1),
    "palace": ("mempalace", palace, 1),
    "knowledge graph": ("mempalace", knowledge_graph, 2),
    "letta": ("letta", letta, 6),
    "letta, first layout": ("letta", letta_first, 6),
}


@pytest.fixture
async def memhold():
    async with AsyncMemhold.open("memory://", embedding="none") as opened:
        yield opened


@pytest.fixture
async def anna(memhold):
    return memhold.scope(user="anna")


@pytest.mark.parametrize("name", FILES)
async def test_a_file_is_told_by_content_shown_brought_once_and_no_more(anna, tmp_path, name):
    expected, make, count = FILES[name]
    path = make(tmp_path / "any.bin")
    before = path.read_bytes()
    assert detect(path) == expected
    seen = []
    shown = await anna.import_file(path, dry_run=True, progress=seen.append)
    assert (shown.format, shown.read, shown.added, shown.known, shown.skipped) == (expected, count, 0, 0, 0)
    assert seen[-1].done == count
    assert (await anna.status()).memories == {}
    assert (await anna.import_file(path)).added == count
    again = await anna.import_file(path)
    assert (again.read, again.added) == (count, 0)
    assert (await anna.import_file(path, dry_run=True)).known == count
    await anna.forget(everything=True)
    assert (await anna.import_file(path, dry_run=True)).known == count, "what was forgotten is known too"
    assert path.read_bytes() == before


async def test_agents_of_one_name_and_lines_of_one_wording_stay_apart(anna, tmp_path):
    path = tmp_path / "two.af"
    blocks = [{"id": f"block-{n}", "label": "human", "value": f"Her name is {n}."} for n in range(2)]
    said = {"role": "user", "content": "yes"}
    agents = [{"id": f"agent-{n}", "name": "sam", "messages": [said], "block_ids": [f"block-{n}"]} for n in range(2)]
    path.write_text(json.dumps({"agents": agents, "blocks": blocks}))
    report = await anna.import_file(path)
    assert (report.added, report.replaced, report.sessions) == (4, 0, 2)
    assert {one.text for one in (await anna.list()).items} == {"Her name is 0.", "Her name is 1."}
    path.write_text(json.dumps({"core_memory": [], "name": "old", "messages": [said, said]}))
    assert (await anna.import_file(path, format="letta")).added == 2
    assert (await anna.import_file(path, format="letta")).added == 0


@pytest.mark.parametrize("name", FILES)
async def test_an_import_that_was_stopped_goes_on(anna, tmp_path, name):
    _, make, count = FILES[name]
    path = make(tmp_path / "any.bin")

    for most in range(1, count):
        with pytest.raises(Killed):
            await anna.import_file(path, batch=1, progress=_killed_after(most))
    assert (await anna.import_file(path)).added == 1
    assert (await anna.import_file(path)).added == 0


def _killed_after(most: int):
    steps = iter(range(1, most))

    def step(_progress):
        if next(steps, None) is None:
            raise Killed

    return step


@pytest.mark.parametrize("make", [qdrant, mem0_on_chroma, faiss], ids=["qdrant", "chroma", "faiss"])
async def test_a_memory_of_mem0_is_the_same_from_its_disk_and_from_get_all(anna, tmp_path, put, make):
    assert (await anna.import_file(make(tmp_path / "disk"))).added == 2
    assert (await anna.import_file(put(doc=GET_ALL, name="get_all.json"))).added == 0
    home, tea = (await anna.list()).items
    assert (home.text, home.metadata["channel"], home.metadata["user_id"]) == ("I live in Porto", "web", "anna")
    assert (tea.text, tea.metadata["run_id"], tea.valid_from.day) == ("Noted: tea", "r1", 3)
    assert not {"hash", "text_lemmatized", "data"} & {*home.metadata, *tea.metadata}


@pytest.mark.parametrize("extra", [{"user_id": "bob"}, {"user_id": 7}])
async def test_a_store_of_several_users_is_refused_whole(anna, tmp_path, extra):
    other = {**PAYLOADS["m2"], **extra}
    with pytest.raises(UnreadableImport, match="several users"):
        await anna.import_file(qdrant(tmp_path / "q", {"m1": PAYLOADS["m1"], "m2": other}))
    assert (await anna.list()).items == ()


async def test_what_is_no_memory_in_a_store_of_mem0_is_counted(anna, tmp_path):
    entity = {"data": "Porto", "linked_memory_ids": ["m1"], "user_id": "anna"}
    stranger = {"text": "of another program"}
    report = await anna.import_file(qdrant(tmp_path / "q", {**PAYLOADS, "e": entity, "s": stranger}))
    assert report.added == 2
    assert report.left_out == {
        "names of things by which mem0 links its memories": 1,
        "entries that are no memories of mem0's": 1,
    }


async def test_mem0s_history_says_not_whose_it_is_and_is_read_where_it_is_named(anna, tmp_path):
    path = mem0_history(tmp_path / "history.db")
    with pytest.raises(UnreadableImport, match="whose each memory is"):
        await anna.import_file(path)
    report = await anna.import_file(path, format="mem0-history")
    assert (report.added, report.left_out) == (2, {"memories that were deleted there": 1})
    assert [item.text for item in (await anna.list()).items] == ["Noted: tea"]
    then = await anna.recall("tea", as_of=datetime(2026, 1, 2, 12, tzinfo=UTC))
    assert [hit.text for hit in then.hits] == ["Said tea"]
    # The store that the history belongs to adds what the history had not: nothing of this memory.
    assert (await anna.import_file(faiss(tmp_path / "mem0.json"))).added == 1


async def test_items_of_langgraph_stand_where_its_store_of_ours_looks(anna, tmp_path):
    report = await anna.import_file(langgraph(tmp_path / "lg.db"))
    assert (report.documents, report.left_out) == (3, {"items that are past their time": 1})
    memory = await anna.documents.read(("langgraph", "memories", "anna", "k1"))
    assert memory.content == {"kind": "Memory", "content": {"content": "User likes black tea"}}
    assert (memory.origin, memory.metadata["updated_at"]) == ("import", "2026-02-01 10:00:00")
    lang = await anna.documents.read(("langgraph", "prefs", "lang"))
    assert (lang.metadata["ttl"], lang.expires_at.year) == (60.0, 2199)
    odd = await anna.documents.read(("langgraph", "files", "a b", "%x%25y.%20"))
    assert odd.content == {"text": "día"}


async def test_what_changed_in_langgraph_is_put_over_what_was_imported_and_over_nothing_else(anna, tmp_path):
    path, where = tmp_path / "lg.db", ("langgraph", "memories", "anna", "k1")
    await anna.import_file(langgraph(path))
    first = await anna.documents.read(where)
    assert (await anna.import_file(langgraph(path, tea="green"))).added == 1
    changed = await anna.documents.read(where)
    assert changed.content["content"]["content"] == "User likes green tea"
    assert changed.created_at == first.created_at
    assert (await anna.import_file(langgraph(path))).added == 0  # the older file again
    await anna.documents.put(where, {"mine": True})
    await anna.documents.delete(("langgraph", "prefs", "lang"))
    assert (await anna.import_file(langgraph(path, tea="white"))).added == 0
    assert (await anna.documents.read(where)).content == {"mine": True}
    with pytest.raises(NotFound):
        await anna.documents.read(("langgraph", "prefs", "lang"))


async def test_what_stood_at_the_path_before_an_import_stays(anna, tmp_path):
    where = ("langgraph", "memories", "anna", "k1")
    await anna.documents.put(where, {"mine": True})
    assert (await anna.import_file(langgraph(tmp_path / "lg.db"))).added == 2
    assert (await anna.documents.read(where)).content == {"mine": True}


async def test_a_palace_and_its_graph(anna, tmp_path):
    report = await anna.import_file(palace(tmp_path / "p"))
    assert report.left_out == {"closets, which MemPalace makes of its drawers": 1}
    (drawer,) = (await anna.list()).items
    assert (drawer.text, drawer.topics, drawer.valid_from.day) == (
        "# Trip\nAnna prefers the window seat.",
        ("kitchen",),
        4,
    )
    assert (drawer.metadata["wing"], drawer.metadata["source_file"]) == ("proj", "/home/anna/notes.md")
    assert (drawer.entities, "entities" in drawer.metadata) == (("Anna", "Trip"), False)
    await anna.import_file(knowledge_graph(tmp_path / "kg"))
    then = await anna.recall("Where does Anna live?", as_of=datetime(2025, 4, 1, tzinfo=UTC))
    assert [hit.text for hit in then.hits] == ["Anna lives in Lisbon"]
    now = [item for item in (await anna.list()).items if "lives" in item.text]
    assert [(one.text, one.entities, one.metadata["confidence"]) for one in now] == [
        ("Anna lives in porto", ("Anna", "porto"), 0.9)
    ]


async def test_each_of_several_calls_of_a_letta_agent_has_its_own_result(memhold, tmp_path):
    # As Letta 0.16 writes calls that were made at once: name and id of the message are those of the first.
    calls = [
        _call("send_message", '{"message": "Looking."}', "c1"),
        _call("trains", "{}", "c2"),
        _call("fares", "{}", "c3"),
    ]
    told = {"c1": "Sent message successfully.", "c2": "08:09, 10:39", "c3": "24 EUR"}
    returned = [{"tool_call_id": one, "status": "success", "func_response": text} for one, text in told.items()]
    parts = [{"type": "text", "text": text} for text in told.values()]
    result = _letta_message(3, "tool", None, name="send_message", tool_call_id="c1", tool_returns=returned)
    messages = [
        _letta_message(1, "user", "Trains to Porto?"),
        _letta_message(2, "assistant", None, tool_calls=calls),
        result | {"content": parts},
    ]
    path = tmp_path / "several.af"
    agent = {"id": "agent-0", "name": "sam", "block_ids": [], "in_context_message_ids": [], "messages": messages}
    path.write_text(json.dumps({"agents": [agent], "blocks": []}))
    anna = memhold.scope(user="anna", session="letta:sam")
    report = await anna.import_file(path)
    assert report.left_out == {"results of sending a message": 1}
    assert (await anna.import_file(path)).added == 0
    bodies = [one.body for one in await anna.messages()]
    assert bodies[1]["content"] == "Looking."
    assert [one["id"] for one in bodies[1]["tool_calls"]] == ["c2", "c3"]
    assert bodies[2:] == [
        {"role": "tool", "tool_call_id": "c2", "content": "08:09, 10:39"},
        {"role": "tool", "tool_call_id": "c3", "content": "24 EUR"},
    ]


@pytest.mark.parametrize("make", [letta, letta_first])
async def test_an_agent_of_letta(anna, tmp_path, make):
    report = await anna.import_file(make(tmp_path / "sam.af"))
    assert dict(report.left_out) == {
        "system prompts, which Letta makes itself": 1,
        "thoughts of the agent": 1,
        "results of sending a message": 1,
        "events of Letta's own": 1,
        "tools of an agent file": 2 if make is letta else 1,
    }
    lines = (await anna.sessions()).items
    assert [one.name for one in lines] == ["letta:sam"]
    said = (await anna.recall("Porto Lovely plain")).hits
    assert {hit.text for hit in said if hit.kind == "message"} >= {"I moved to Porto", "Lovely!", "plain new style"}
    (block,) = (await anna.list()).items
    assert (block.text, block.topics, block.metadata["agents"]) == ("Her name is Anna.", ("human",), ["sam"])


async def test_an_agent_that_letta_wrote_out(anna):
    """Recorded from Letta 0.16.8 (`GET /v1/agents/ID/export`); its prompts and the code of its tools were cut."""
    report = await anna.import_file(RECORDED / "letta.af")
    assert (report.format, report.memories, report.skipped) == ("letta", 2, 0)
    assert dict(report.left_out) == {
        "system prompts, which Letta makes itself": 1,
        "thoughts of the agent": 1,
        "results of sending a message": 4,
        "events of Letta's own": 2,
        "tools of an agent file": 4,
    }
    said = [hit for hit in (await anna.recall("", kinds=["message"], limit=50)).hits if hit.role == "user"]
    assert {hit.text for hit in said} == {
        "I moved to Porto last week.",
        "Please remember that I like oolong tea.",
        "Good night.",
    }
    assert {item.text for item in (await anna.list()).items} == {"Her name is Anna.", "I am Sam."}
    assert (await anna.import_file(RECORDED / "letta.af")).added == 0


async def test_a_later_agent_file_adds_what_is_new_whatever_its_ids_are(anna, put):
    await anna.import_file(put(doc=LETTA))
    later = json.loads(json.dumps(LETTA))
    later["agents"][0]["messages"] = [
        *({**one, "id": f"message-{at}"} for at, one in enumerate(LETTA_MESSAGES[5:])),
        _letta_message(9, "user", "one more"),
    ]
    later["blocks"][0] |= {"id": "block-7", "value": "Her name is Anna. She lives in Porto."}
    later["agents"][0]["block_ids"] = ["block-7"]
    assert (await anna.import_file(put(doc=later, name="later"))).added == 2
    assert [item.text for item in (await anna.list()).items] == ["Her name is Anna. She lives in Porto."]


async def test_a_folder_is_each_of_its_files(anna, tmp_path):
    vault = tmp_path / "vault"
    (vault / "notes").mkdir(parents=True)
    (vault / ".git").mkdir()
    (vault / ".git" / "x.md").write_text("# Hidden\n\n- not this\n")
    (vault / "MEMORY.md").write_text("# Memory\n\n- Prefers tea\n")
    (vault / "notes" / "trip.md").write_text("---\nname: trip\ntype: user\n---\n# Trip\n\n- Window seat\n")
    (vault / "picture.png").write_bytes(b"\x89PNG\r\n")
    (vault / "empty.md").write_text("")
    (vault / "link.md").symlink_to(vault / "MEMORY.md")
    faiss(vault / "mem0.json")
    seen = []
    report = await anna.import_file(vault, progress=seen.append)
    assert (report.format, report.added, report.left_out) == ("markdown, mem0", 4, {"files in no known format": 1})
    assert (report.skipped, "it is empty" in report.problems[0].why) == (1, True)
    assert [one.position for one in seen] == sorted(one.position for one in seen)
    assert seen[-1].position <= seen[-1].size
    assert (await anna.import_file(vault)).added == 0
    (vault / "notes" / "trip.md").write_text("---\nno end")
    with pytest.raises(UnreadableImport, match=r"trip\.md"):
        await anna.import_file(vault)


async def test_one_id_twice_in_a_file_is_said(anna, put):
    first = GET_ALL["results"][0]
    doc = {"results": [first, {**first, "memory": "I live in Braga", "updated_at": "2026-02-01T10:00:00+00:00"}]}
    shown = await anna.import_file(put(doc=doc), dry_run=True)
    assert (shown.read, shown.replaced) == (2, 1)
    report = await anna.import_file(put(doc=doc))
    assert (report.added, report.replaced) == (2, 1)
    assert [item.text for item in (await anna.list()).items] == ["I live in Braga"]
    assert (await anna.import_file(put(doc={"results": [first, first]}))).replaced == 0


async def test_what_is_too_large_to_keep_beside_a_memory_is_left_out_and_said(anna, put):
    loaded = {**GET_ALL["results"][0], "metadata": {"page": "x" * 70_000, "tag": "small", "list": [1] * 10_000}}
    report = await anna.import_file(put(doc={"results": [loaded]}))
    assert report.added == 1
    assert list(report.left_out.values()) == [2]
    assert "too large" in next(iter(report.left_out))
    (home,) = (await anna.list()).items
    assert (home.metadata["tag"], "page" in home.metadata, "list" in home.metadata) == ("small", False, False)


# ------------------------------------------------------------------------------------------ hostile


class _Calls:
    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (self.path,))


def _sharing(levels: int) -> list[Any]:
    """A value that is small in memory and has 2 ** levels parts when it is written out."""
    value: list[Any] = ["x"]
    for _ in range(levels):
        value = [value, value]
    return value


def test_nothing_in_a_pickle_is_run(tmp_path):
    made = tmp_path / "made"
    assert plain_value(pickle.dumps({"id": 1, "payload": _Calls(str(made))}))["payload"] is None
    assert not made.exists()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x80\x04.",
        b"\x80\x04K\x01K\x02.",
        b"\x80\x04t.",
        b"\x80\x04h\x07.",
        b"\x80\x04X\xff\xff\xff\x7fab.",
        b"\x80\x04Prun\n.",
        b"\x80\x04(((",
        pickle.dumps({"a": 1})[:-3],
        pickle.dumps({"a": 10**6000}),
        pickle.dumps({(1, 2): 3}),
        "text",
        None,
    ],
)
def test_a_damaged_pickle_is_named(data):
    with pytest.raises(NotPlain):
        plain_value(data)


@pytest.mark.parametrize("protocol", range(6))
def test_plain_values_come_back_from_every_protocol(protocol):
    value = {"a": [1, 2.5, None, True, "é" * 300, 10**18], "b": {"c": [[]]}, "big": list(range(300))}
    assert plain_value(pickle.dumps(value, protocol)) == value


def test_an_index_of_four_thousand_million_takes_no_memory():
    assert plain_value(b"\x80\x04K\x01r\xff\xff\xff\xff.") == 1


async def test_a_payload_that_shares_itself_a_million_times_is_left_out(anna, tmp_path):
    payload = {**PAYLOADS["m1"], "deep": _sharing(40)}
    report = await anna.import_file(qdrant(tmp_path / "q", {"m1": payload}))
    assert (report.added, [*report.left_out.values()]) == (1, [1])


@pytest.mark.parametrize("name", sorted(READERS))
@pytest.mark.parametrize(
    "content",
    [
        b"SQLite format 3\0" + b"\0" * 400,
        b"SQLite format 3\0",
        b"[" * 200_000,
        b'{"agents":' * 50_000,
        b'{"agents": [{"messages": [{"role": {}}, 3], "block_ids": 5}], "blocks": [3, {"value": {}}]}',
        b'{"docstore": {"a": 3, "b": {"data": [], "hash": 1}}}',
        b'{"results": [{"memory": "x", "metadata": {"a": ' + b"[" * 300 + b"]" * 300 + b"}}]}",
        b'{"prefix": "a", "key": "", "value": {}}\n{"prefix": "..", "key": "a", "value": "nope"}\n',
        b'{"prefix": "a", "key": "k", "value": {"n": NaN}}\n',
        b'\xff\xfe{\0"\0a\0',
        b"\0" * 1000,
        b'{"type": [], "observations": [], "name": "a"}\n',
        b'{"type": "response_item", "payload": {"type": [], "role": [], "content": [{"type": []}]}}\n',
        b'{"type": "response_item", "payload": {"type": "message", "role": {}, "content": [{"type": {}}]}}\n',
        b'{"info": {"id": "ses_1"}, "messages": [{"info": {"id": "m", "role": {}}, "parts": [{"type": "text"}]}]}',
        b'{"info": {"id": "ses_1"}, "messages": [{"info": {}, "parts": [{"type": "tool", "state": {"status": []}}]}]}',
        b'{"agents": [{"messages": [{"role": "user", "content": "{\\"type\\": []}"}], "block_ids": []}]}',
    ],
    ids=range(17),
)
async def test_no_file_does_more_than_be_refused(tmp_path, bring, name, content):
    path = tmp_path / "hostile"
    path.write_bytes(content)
    for on_error in ("stop", "skip"):
        try:
            await bring(Ledger(), path, format=name, on_error=on_error)
        except UnreadableImport as error:
            assert str(path) in str(error)  # noqa: PT017 - of some files nothing is wrong for some readers


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        (
            "CREATE TABLE store_migrations (v); CREATE TABLE store (prefix, key); INSERT INTO store VALUES (1, 2)",
            "value",
        ),
        (
            "CREATE TABLE entities (id, name); CREATE TABLE triples (subject, object); INSERT INTO triples VALUES (1, 2)",
            "id",
        ),
        ("CREATE TABLE points (id)", "point"),
        ("CREATE TABLE points (id, point); INSERT INTO points VALUES (1, zeroblob(70000000))", "too big"),
    ],
)
async def test_tables_of_another_make_are_refused(anna, tmp_path, tables, expected):
    base = sqlite3.connect(tmp_path / "odd.db")
    base.executescript(tables)
    base.close()
    with pytest.raises(UnreadableImport, match=expected):
        await anna.import_file(tmp_path / "odd.db")


@pytest.mark.parametrize("name", ["qdrant", "langgraph", "palace", "knowledge graph"])
async def test_a_base_that_was_cut_is_refused_and_comes_once_whole(anna, tmp_path, name):
    _, make, count = FILES[name]
    path = make(tmp_path / "whole.db")
    whole = path.read_bytes()
    page = int.from_bytes(whole[16:18], "big")
    for cut in (1, page // 2, page - 1):
        path.write_bytes(whole[:-cut])
        with pytest.raises(UnreadableImport, match="is cut"):
            await anna.import_file(path)
    path.write_bytes(whole)
    assert (await anna.import_file(path)).added == count


async def test_a_base_whose_schema_is_damaged_is_refused(anna, tmp_path):
    path = knowledge_graph(tmp_path / "kg.db")
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE", b"CREATE T\xaeBLE"))
    with pytest.raises(UnreadableImport, match="bytes that are not UTF-8"):
        await anna.import_file(path)


@pytest.mark.parametrize("make", [letta, letta_first])
async def test_an_agent_file_that_was_cut_comes_once_whole(anna, tmp_path, make):
    path = make(tmp_path / "sam.af")
    text = path.read_text()
    for cut in range(1, len(text) - 40, 97):
        path.write_text(text[:-cut])
        with pytest.raises(UnreadableImport, match="cut"):
            await anna.import_file(path, format="letta")
    path.write_text(text)
    assert (await anna.import_file(path)).added == 6


async def test_a_damaged_row_is_named_and_the_rest_comes(anna, tmp_path):
    path = langgraph(tmp_path / "lg.db")
    base = sqlite3.connect(path)
    base.execute("UPDATE store SET value = x'ff' WHERE key = 'lang'")
    base.execute("INSERT INTO store (prefix, key, value) VALUES ('a', 'b', '[1]'), ('..', 'c', '{}')")
    base.commit()
    base.close()
    report = await anna.import_file(path, on_error="skip")
    assert (report.added, report.skipped) == (2, 3)
    assert all("item" in one.why for one in report.problems)


async def test_times_that_are_none_are_named(anna, tmp_path):
    payload = {**PAYLOADS["m1"], "updated_at": "yesterday"}
    report = await anna.import_file(qdrant(tmp_path / "q", {"m1": payload, "m2": PAYLOADS["m2"]}), on_error="skip")
    assert (report.added, report.skipped) == (1, 1)
    assert "yesterday" in report.problems[0].why


async def test_a_day_to_come_does_not_hold_yet(anna, tmp_path):
    later = (datetime.now(UTC) + timedelta(days=400)).isoformat()
    payload = {**PAYLOADS["m1"], "updated_at": later, "created_at": later}
    await anna.import_file(qdrant(tmp_path / "q", {"m1": payload}))
    (home,) = (await anna.list()).items
    assert home.valid_from <= datetime.now(UTC)
    assert home.metadata["since"] == later
