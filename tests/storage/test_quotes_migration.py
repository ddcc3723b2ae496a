"""A store from before memories quoted their source: it opens at once, and each gets the sentence of its line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from memhold import Memhold
from memhold.consolidate import quotes_step
from memhold.facts.revisions import revise
from memhold.storage.sql.digests import MEMORY, memory_digest
from memhold.testing import FakeClock, ScriptedChat
from memhold.values.records import Memory

LINES = [
    "Good morning. I live in Oslo. The weather is fine.",
    "My bike has 21 gears. I like it a lot.",
    "Mornings are good for tea.",
]


def _fact(attribute: str, value: str, source: str, quote: str) -> dict[str, Any]:
    return {
        "subject": "user", "attribute": attribute, "value": value, "operation": "set", "importance": "mid",
        "sources": [source], "quote": quote,
    }  # fmt: skip


REPLY = {
    "history_entry": "The user told of Oslo, a bike and tea.",
    "facts": [
        _fact("home city", "Oslo", "m1", "I live in Oslo."),
        _fact("bike gears", "21", "m2", "My bike has 21 gears."),
    ],
    "notes": [{"text": "Tea is good.", "importance": "mid", "sources": ["m3"], "quote": "Mornings are good for tea."}],
}


@contextmanager
def _open(path: Path, *, clock: FakeClock | None = None) -> Iterator[Memhold]:
    model = ScriptedChat([REPLY])
    with Memhold.open(path, worker=False, embedding="none", consolidation=[model], clock=clock) as memory:
        yield memory


def _learnt(path: Path) -> dict[str, str]:
    """The ids of what a model made, by what it says, in a store that quotes; something is told and noted beside it."""
    with _open(path) as memory:
        scope = memory.scope(user="ana", session="first")
        scope.remember(attribute="tea", value="Assam")
        scope.add([{"role": "user", "content": line} for line in LINES])
        scope.consolidate()
        found = scope.list(kinds=["fact", "note"]).items
        assert [one.quote for one in found if one.origin == "model"] != []
        return {one.value or one.text: one.id for one in found}


def _as_before(path: Path, changed: dict[str, dict[str, object]] | None = None) -> None:
    """Make rows what an older release wrote: none quotes, and some said something else."""
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("UPDATE memory SET quotes = NULL, standing = NULL, doubts = NULL")
        for ident, columns in (changed or {}).items():
            for name, value in columns.items():
                connection.execute(f"UPDATE memory SET {name} = ? WHERE id = ?", (value, ident))  # noqa: S608 - ours
        for row in connection.execute(f"SELECT {', '.join(MEMORY)} FROM memory").fetchall():  # noqa: S608 - our columns
            key = row[MEMORY.index("id")], row[MEMORY.index("rev")]
            connection.execute("UPDATE memory SET crc = ? WHERE id = ? AND rev = ?", (memory_digest(row), *key))
        connection.execute("DELETE FROM progress WHERE name = 'quoted'")
        connection.execute(
            "INSERT INTO due (namespace, user_id, kind, ref, due_at) VALUES ('default', 'ana', 'quotes', 'memories', 0)"
        )


def _all(memory: Memhold) -> dict[str, Memory]:
    listed = memory.scope(user="ana").list(kinds=["fact", "note"], states=None).items
    return {one.id: one for one in listed}


def test_each_gets_the_sentence_of_its_line_weighed_anew(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    ids = _learnt(path)
    # One told another number than its line has, and one was kept as inferred.
    inferred = {"metadata": json.dumps({"standing": "inferred"}, separators=(",", ":"))}
    _as_before(path, {ids["21"]: {"value": "27 gears", "text": "bike gears: 27 gears"}, ids["Tea is good."]: inferred})
    with _open(path) as memory:
        scope = memory.scope(user="ana")
        assert scope.status().unquoted == 3
        assert scope.status().due["quotes"] == 1
        assert memory.settle(timeout=60)
        assert (scope.status().unquoted, scope.status().due) == (0, {})
        held = _all(memory)
        oslo, bike, tea, told = (held[ids[one]] for one in ("Oslo", "21", "Tea is good.", "Assam"))
        assert (oslo.quote, oslo.standing, oslo.doubts) == ("I live in Oslo.", "stated", ())
        assert (bike.quote, bike.standing, bike.state) == ("My bike has 21 gears.", "doubtful", "active")
        assert bike.doubts == ("the line says another number than “27”",)
        assert (tea.quote, tea.standing, tea.doubts[0][:18]) == (
            "Mornings are good for tea.",
            "doubtful",
            "an earlier version",
        )
        assert (told.quotes, told.standing) == ((), "stated")
        assert [one.rev for one in (oslo, bike, tea)] == [1, 1, 1], "an older change can still be undone"
        [change] = scope.changes(verb="consolidate").items
        scope.undo(change.id)
        assert _all(memory)[ids["Oslo"]].state == "retracted"


def test_what_a_person_confirmed_is_quoted_and_not_doubted(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    ids = _learnt(path)
    with _open(path) as memory:
        memory.scope(user="ana").confirm(ids["21"])
    _as_before(path, {ids["21"]: {"value": "27 gears", "text": "bike gears: 27 gears"}})
    with _open(path) as memory:
        assert memory.settle(timeout=60)
        bike = _all(memory)[ids["21"]]
        assert (bike.quote, bike.standing) == ("My bike has 21 gears.", "stated")
        scope = memory.scope(user="ana")
        [change] = scope.changes(verb="confirm").items
        scope.undo(change.id)
        assert scope.get(bike.id).quote == bike.quote, "each revision has its words"


def test_a_line_that_is_gone_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    ids = _learnt(path)
    _as_before(path)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("UPDATE message SET text = text || '!' WHERE text = ?", (LINES[0],))
    with _open(path) as memory:
        scope = memory.scope(user="ana")
        assert scope.status().unquoted == 2
        assert memory.settle(timeout=60)
        assert scope.status().unquoted == 0
        held = _all(memory)
        assert (held[ids["Oslo"]].quotes, held[ids["Oslo"]].standing) == ((), "stated")
        assert held[ids["21"]].quote == "My bike has 21 gears."


def test_begun_again_it_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, clock = tmp_path / "memory.db", FakeClock()
    ids = _learnt(path)
    _as_before(path)
    monkeypatch.setattr(quotes_step, "PAGE", 1)
    with _open(path, clock=clock) as memory, monkeypatch.context() as broken:
        pages = iter(range(2))
        real = quotes_step._keep

        def fails(*given: Any) -> Any:
            if next(pages, None) is None:
                raise OSError("the disk is gone")
            return real(*given)

        broken.setattr(quotes_step, "_keep", fails)
        memory.settle(timeout=60)
        assert memory.scope(user="ana").status().unquoted == 1
        assert sum(bool(one.quotes) for one in _all(memory).values()) == 2
    clock.advance(3600)
    with _open(path, clock=clock) as memory:
        assert memory.settle(timeout=60)
        assert memory.scope(user="ana").status().unquoted == 0
        assert all(_all(memory)[ids[one]].quote for one in ("Oslo", "21", "Tea is good."))
        assert [one for one in memory.admin.doctor() if one.severity == "wrong" and one.check != "clock"] == []


def test_a_revision_that_comes_about_meanwhile_is_quoted_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory.db"
    oslo = _learnt(path)["Oslo"]
    _as_before(path)
    raced: list[str] = []

    def races(tx: Any, page: Any, made: Any) -> Any:
        if not raced:
            raced.append(oslo)
            revise(tx, tx.find_memories([oslo])[0], pinned=True)
        return keep(tx, page, made)

    keep = quotes_step._keep
    monkeypatch.setattr(quotes_step, "_keep", races)
    with _open(path) as memory:
        assert memory.settle(timeout=60)
        held = _all(memory)[oslo]
        assert (held.rev, held.pinned, held.quote) == (2, True, "I live in Oslo.")
        assert memory.scope(user="ana").status().unquoted == 0
