"""What a memory quotes goes with its line: no byte of the data directory has it, whatever else stays."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from memhold import AsyncMemhold
from memhold.testing import FakeClock, ScriptedChat, SeededIds
from tests.proofs.test_residue import residue

pytestmark = pytest.mark.asyncio

AT = datetime(2025, 12, 4, 9, 15, tzinfo=UTC)
ONE = "I live in Oslo, behind the quolivax pier."
TWO = "Like I said, Oslo is my home city, near the zempiro tower."
WORDS = ["quolivax", "zempiro"]


def _fact(source: str, quote: str, **fields: Any) -> dict[str, Any]:
    return {
        "subject": "user", "attribute": "home city", "value": "Oslo", "operation": "set", "importance": "mid",
        "sources": [source], "quote": quote, **fields,
    }  # fmt: skip


def _reply(*facts: dict[str, Any]) -> dict[str, Any]:
    return {"history_entry": "The user spoke of a city.", "facts": list(facts), "notes": []}


BOTH = _reply(_fact("m1", ONE), _fact("m2", TWO))


@asynccontextmanager
async def _learnt(folder: Path, reply: dict[str, Any], *lines: str, **told: str) -> AsyncIterator[tuple[Any, Any]]:
    model = ScriptedChat([reply], otherwise=_reply())
    async with AsyncMemhold.open(
        folder / "memory.db",
        worker=False,
        clock=FakeClock(),
        ids=SeededIds(3),
        embedding="none",
        consolidation=model,
        mirror=str(folder / "mirror"),
    ) as mem:
        alice = mem.scope(user="alice", session="s")
        if told:
            await alice.remember(attribute=told["attribute"], value=told["value"], event_time=AT - timedelta(days=9))
        await alice.add([{"role": "user", "content": line, "event_time": AT} for line in lines])
        await alice.consolidate()
        assert await mem.settle(timeout=60)
        yield mem, alice


def _outside_of_messages(path: Path, word: str) -> list[str]:
    """The tables beside that of messages that have a word in some column."""
    with closing(apsw.Connection(str(path))) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = [(table, row) for table in tables for row in connection.execute(f'SELECT * FROM "{table}"')]  # noqa: S608
    said = {table for table, row in rows if any(word in str(value) for value in row)}
    return sorted(said - {"message"})


async def test_the_quote_goes_with_its_line(tmp_path: Path) -> None:
    async with _learnt(tmp_path, _reply(_fact("m1", ONE)), ONE) as (mem, alice):
        [fact] = (await alice.list(kinds=["fact"])).items
        assert fact.quote == ONE
        assert "memory" in _outside_of_messages(tmp_path / "memory.db", WORDS[0])
        # Revisions of before stay readable, and so do changes: none of them keeps the words.
        pinned = await alice.pin(fact.id)
        await alice.undo(pinned.receipt.change_ids[0])
        [line] = await alice.messages()
        assert (await alice.forget(line.id)).erased
        assert await mem.settle(timeout=60)
        assert residue(tmp_path, WORDS) == []


async def test_a_line_that_is_kept_is_the_only_place_of_its_words(tmp_path: Path) -> None:
    async with _learnt(tmp_path, _reply(_fact("m1", ONE)), ONE) as (mem, alice):
        [fact] = (await alice.list(kinds=["fact"])).items
        assert (await alice.forget(fact.id, sources="keep")).erased
        assert await mem.settle(timeout=60)
        [line] = await alice.messages()
        assert line.text == ONE
        assert _outside_of_messages(tmp_path / "memory.db", WORDS[0]) == []


async def test_of_two_quotes_the_one_of_the_line_goes(tmp_path: Path) -> None:
    async with _learnt(tmp_path, BOTH, ONE, TWO) as (mem, alice):
        [fact] = (await alice.list(kinds=["fact"])).items
        assert [one.text for one in fact.quotes] == [ONE, TWO]
        await alice.pin(fact.id)
        first, _ = await alice.messages()
        await alice.forget(first.id)
        assert await mem.settle(timeout=60)
        kept = await alice.get(fact.id)
        assert ([one.text for one in kept.quotes], kept.value, kept.sources) == ([TWO], "Oslo", fact.sources[1:])
        assert residue(tmp_path, WORDS[:1]) == []
        assert residue(tmp_path, WORDS[1:]) != []
        assert [one for one in await mem.admin.doctor() if one.severity == "wrong" and one.check != "clock"] == []


async def test_a_hidden_line_is_quoted_by_nothing_until_it_is_there_again(tmp_path: Path) -> None:
    async with _learnt(tmp_path, BOTH, ONE, TWO) as (_, alice):
        [fact] = (await alice.list(kinds=["fact"])).items
        first, _ = await alice.messages()
        hidden = await alice.forget(first.id, hard=False)
        assert [one.text for one in (await alice.get(fact.id)).quotes] == [TWO]
        assert WORDS[0] not in str((await alice.recall("Oslo", limit=5)).hits)
        await alice.undo(hidden.change_id)
        assert [one.text for one in (await alice.get(fact.id)).quotes] == [ONE, TWO]


async def test_a_doubt_and_what_a_person_should_settle_go_with_the_line(tmp_path: Path) -> None:
    line = "If the quolivax rent goes up, I give up the shared studio."
    gives_up = _fact("m1", line, attribute="workplace", value="the shared studio", operation="remove", target="f1")
    told = {"attribute": "workplace", "value": "the shared studio"}
    async with _learnt(tmp_path, _reply(gives_up), line, **told) as (mem, alice):
        [open_one] = await alice.suspicions()
        assert open_one.memory.quote == line
        [message] = await alice.messages()
        await alice.forget(message.id)
        assert await mem.settle(timeout=60)
        assert await alice.suspicions(settled=True) == ()
        assert residue(tmp_path, WORDS[:1]) == []


async def test_what_is_exported_after_it_has_none_of_it(tmp_path: Path) -> None:
    async with _learnt(tmp_path, BOTH, ONE, TWO) as (_, alice):
        first, _ = await alice.messages()
        await alice.forget(first.id)
        await alice.export(tmp_path / "export.jsonl")
        assert WORDS[0] not in (tmp_path / "export.jsonl").read_text()
        assert WORDS[1] in (tmp_path / "export.jsonl").read_text()


TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


async def test_a_secret_of_a_line_is_replaced_in_the_quotes_of_an_import_too(tmp_path: Path) -> None:
    """What this store redacts as it arrives, no model sees; another store's export brings it in its quotes."""
    line = f"I live in Oslo and deploy with {TOKEN} there."
    (tmp_path / "old").mkdir()
    async with _learnt(tmp_path / "old", _reply(_fact("m1", line)), line) as (_, alice):
        assert TOKEN in (await alice.list(kinds=["fact"])).items[0].quote
        await alice.export(tmp_path / "old" / "export.jsonl")
    new = tmp_path / "new" / "memory.db"
    new.parent.mkdir()
    async with AsyncMemhold.open(new, worker=False, embedding="none", redaction="on", clock=FakeClock()) as mem:
        alice = mem.scope(user="alice", session="s")
        await alice.import_file(tmp_path / "old" / "export.jsonl")
        [fact] = (await alice.list(kinds=["fact"])).items
        assert fact.quote == "I live in Oslo and deploy with [redacted: GitHub Token] there."
        assert residue(new.parent, [TOKEN]) == []


async def test_an_old_export_brings_no_words_of_a_line_that_was_forgotten(tmp_path: Path) -> None:
    model = ScriptedChat([BOTH])
    async with AsyncMemhold.open("memory://", worker=False, embedding="none", consolidation=model) as mem:
        alice = mem.scope(user="alice", session="s")
        first, _ = (await alice.add([{"role": "user", "content": line} for line in (ONE, TWO)])).ids
        await alice.export(tmp_path / "lines.jsonl")
        await alice.consolidate()
        await alice.export(tmp_path / "export.jsonl")
    (tmp_path / "new").mkdir()
    async with AsyncMemhold.open(tmp_path / "new" / "memory.db", worker=False, embedding="none") as mem:
        alice = mem.scope(user="alice", session="s")
        await alice.import_file(tmp_path / "lines.jsonl")
        await alice.forget(first)
        await alice.import_file(tmp_path / "export.jsonl")
        [fact] = (await alice.list(kinds=["fact"])).items
        assert [one.text for one in fact.quotes] == [TWO]
        assert residue(tmp_path / "new", WORDS[:1]) == []
