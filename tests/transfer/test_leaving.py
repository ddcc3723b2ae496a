"""Writing out what holds in the shapes of other systems, and bringing it in again."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta

import pytest

from memhold import AsyncMemhold
from memhold.errors import InvalidInput
from memhold.transfer.other_shapes import mcp_records
from memhold.values.records import Memory
from tests.transfer.test_memories import MCP, MEM0


@pytest.fixture
async def store():
    async with AsyncMemhold.open("memory://", embedding="none") as memhold:
        yield memhold


@pytest.fixture
async def anna(store):
    return store.scope(user="anna")


async def lived(anna):
    """Some of everything that a scope can hold."""
    await anna.add([{"role": "user", "content": "I live in Porto"}, {"role": "assistant", "content": "Noted."}])
    await anna.remember(subject="user", attribute="home", value="Lisbon")
    await anna.remember(subject="user", attribute="home", value="Porto", topics=["home"])
    await anna.remember(subject="Bruno", attribute="job", value="baker")
    await anna.remember("Prefers window seats\nand tea", pinned=True, metadata={"kind": "mine", "page": 3})
    await anna.remember("Parking is free", expires_at=datetime(2199, 1, 9, tzinfo=UTC))
    await anna.documents.put(("notes", "paris"), "a page")


async def held(scope):
    return {item.text for item in (await scope.list()).items if item.kind != "document"}


async def test_mem0s_shape_has_what_holds_and_counts_the_rest(store, anna, tmp_path):
    await lived(anna)
    await store.scope(namespace="default//shop", user="anna").remember("of the shop")
    done = await anna.export(tmp_path / "mem0.json", format="mem0")
    entries = json.loads((tmp_path / "mem0.json").read_text())["results"]
    assert done.counts == {"memory": len(entries)} == {"memory": 4}
    assert done.left_out == {
        "documents": 1,
        "memories that do not hold now": 1,
        "messages": 2,
        "memories of namespaces below": 1,
    }
    by_text = {entry["memory"]: entry for entry in entries}
    assert by_text.keys() == await held(anna)
    assert all(entry["user_id"] == "anna" and entry["id"].startswith("mem_") for entry in entries)
    seats = by_text["Prefers window seats\nand tea"]["metadata"]
    assert (seats["kind"], seats["memhold_kind"], seats["page"], seats["pinned"]) == ("mine", "note", 3, True)
    (home,) = (entry for entry in entries if (entry["metadata"] or {}).get("attribute") == "home")
    assert "expiration_date" not in home, "the end of a tier's life is no end of what holds"
    assert (home["metadata"]["value"], home["categories"]) == ("Porto", ["home"])
    assert by_text["Parking is free"]["expiration_date"] == "2199-01-08"


async def test_pages_have_what_holds_and_the_rest_is_counted(anna, tmp_path):
    await lived(anna)
    done = await anna.export(tmp_path / "pages", format="markdown")
    assert done.counts == {"memory": 4}
    assert done.left_out == {"documents": 1, "memories that do not hold now": 1, "messages": 2}
    page = (tmp_path / "pages" / "MEMORY.md").read_text()
    assert all(" ".join(text.split()) in page.replace("**", "") for text in await held(anna) if "job" not in text)
    assert await anna.export(tmp_path / "pages", format="markdown") == done, "its own pages are written anew"


async def test_pages_of_ones_own_are_not_written_over(anna, tmp_path):
    await lived(anna)
    mine = tmp_path / "MEMORY.md"
    mine.write_text("# Memory\n\n- deploy on Fridays only\n")
    with pytest.raises(InvalidInput, match=re.escape(f"{mine} is no page that an export wrote")):
        await anna.export(tmp_path, format="markdown")
    assert mine.read_text() == "# Memory\n\n- deploy on Fridays only\n"
    assert not (tmp_path / "HISTORY.md").exists()


@pytest.mark.parametrize("name", ["mem0", "mcp-memory"])
async def test_what_was_written_reads_back(store, anna, tmp_path, name):
    await lived(anna)
    path = tmp_path / "file"
    await anna.export(path, format=name)
    bruno = store.scope(user="bruno")
    report = await bruno.import_file(path)
    assert (report.format, report.skipped, report.left_out) == (name, 0, {})
    said = await held(bruno)
    if name == "mem0":
        assert said == await held(anna)
    else:
        assert all(any(text in one for one in said) for text in await held(anna))
    assert (await bruno.import_file(path)).added == 0


async def test_what_came_from_mem0_is_written_as_it_came(anna, put, tmp_path):
    await anna.import_file(put(doc=MEM0))
    path = tmp_path / "mem0.json"
    await anna.export(path, format="mem0")
    (entry,) = json.loads(path.read_text())["results"]
    came = {name: value for name, value in MEM0["results"][0].items() if name != "hash"}
    assert entry == came
    assert (await anna.import_file(path)).added == 0


async def test_what_came_from_the_mcp_server_is_written_as_it_came(anna, put, tmp_path):
    await anna.import_file(put(MCP))
    path = tmp_path / "memory.jsonl"
    done = await anna.export(path, format="mcp-memory")
    assert [json.loads(line) for line in path.read_text().splitlines()] == MCP
    assert done.counts == {"memory": 4}
    assert (await anna.import_file(path)).added == 0


async def test_an_entity_stands_in_one_line(anna, tmp_path):
    await lived(anna)
    await anna.remember("Anna: likes cats")
    path = tmp_path / "memory.jsonl"
    await anna.export(path, format="mcp-memory")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert [one["name"] for one in records] == ["anna", "Bruno"]
    assert "Anna: likes cats" in records[0]["observations"]


async def test_a_session_and_an_agent_narrow_it(store, tmp_path):
    await store.scope(user="anna", agent="a1", session="s1").remember("of the first")
    await store.scope(user="anna", agent="a2").remember("of the second")
    await store.scope(user="anna", agent="a1", session="s1").export(tmp_path / "f", format="mem0")
    (entry,) = json.loads((tmp_path / "f").read_text())["results"]
    assert (entry["memory"], entry["agent_id"], entry["run_id"]) == ("of the first", "a1", "s1")


async def test_nothing_is_an_export_too(anna, tmp_path):
    for name in ("mem0", "mcp-memory"):
        done = await anna.export(tmp_path / name, format=name)
        assert (done.counts, done.left_out) == ({"memory": 0}, {})
    assert json.loads((tmp_path / "mem0").read_text()) == {"results": []}
    assert (tmp_path / "mcp-memory").read_bytes() == b""


async def test_a_memory_whose_day_is_over_is_not_written(anna, tmp_path):
    soon = datetime.now(UTC) + timedelta(days=2)
    await anna.remember(subject="user", attribute="hotel", value="Grand", expires_at=soon)
    await anna.remember("Until soon", expires_at=soon)
    await anna.export(tmp_path / "f", format="mem0")
    fact, entry = json.loads((tmp_path / "f").read_text())["results"]
    assert fact["expiration_date"] == entry["expiration_date"]
    # A day in mem0 is over when the next begins: never before the moment that was meant.
    assert datetime.fromisoformat(entry["expiration_date"]).replace(tzinfo=UTC) + timedelta(days=1) >= soon
    assert entry["metadata"]["expires_at"] == soon.isoformat()


async def test_a_format_that_is_none_is_refused(anna, tmp_path):
    with pytest.raises(InvalidInput, match="mcp-memory"):
        await anna.export(tmp_path / "f", format="yaml")


class Counted(str):
    """A text that counts how often one was compared with another."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return super().__eq__(other)

    __hash__ = str.__hash__


def test_the_observations_of_one_person_take_work_in_proportion_to_them():
    at = datetime(2025, 3, 1, tzinfo=UTC)
    times = {"created_at": at, "recorded_at": at, "event_time": at, "valid_from": at}
    notes = [Memory(id=str(n), number=n, kind="note", text=Counted(f"note {n}"), **times) for n in range(500)]
    (person,) = mcp_records(notes, user="anna")
    assert len(person["observations"]) == 500
    assert Counted.compared < 2_000
