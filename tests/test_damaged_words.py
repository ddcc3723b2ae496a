"""A damaged block of the words index stops no write: what it cannot take is read from the texts, and `reindex` mends it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

from memhold import AsyncMemhold
from memhold.cli.main import main
from memhold.storage.sql.digests import KEYS, digests_of, select_content, update_digests
from memhold.testing import FakeClock, SeededIds
from memhold.testing.scripted import HashEmbedding, sensible_reply
from tests import constants
from tests.compaction.worlds import call, merged, shown, united
from tests.interfaces.mcp.conftest import call as asked_by_mcp
from tests.interfaces.mcp.conftest import principal
from tests.interfaces.mcp.test_tools import connected
from tests.ui.person import Seen, person, served

pytestmark = pytest.mark.asyncio

HARMS = {
    "cut short": "records = substr(records, 1, 7)",
    "emptied": "records = substr(records, 1, 0)",
    "a record less": "records = substr(records, 1, length(records) - 40)",
    "entries cut short": "entries = substr(entries, 1, 7)",
    "as before an append": "records_crc = 5",
    "no digest": "records_crc = NULL, entries_crc = NULL",
    "ahead": "first = first + 3",
    "far ahead": "first = 1099511627776",
}
"""What befalls the last block of a scope."""


def harm(location: str, change: str) -> None:
    """Change the last block of alice's words behind the store's back."""
    behind(location, f"UPDATE word_block SET {change} WHERE first = (SELECT max(first) FROM word_block)")  # noqa: S608 - of this module


def behind(location: str, *statements: str) -> None:
    """Run statements on alice's rows behind the store's back."""
    if not location.startswith("postgresql:"):
        with closing(apsw.Connection(location)) as connection:
            for one in statements:
                connection.execute(one)
        return
    with psycopg.connect(location, autocommit=True) as connection:
        connection.execute(
            "SELECT set_config('memhold.namespace', 'default', false), set_config('memhold.user_id', 'alice', false)"
        )
        for one in statements:
            connection.execute(one)


def as_of_schema_11(location: str) -> None:
    """Take back what came after schema 11: SQLite applies every later migration again, PostgreSQL the one it lacks."""
    behind(location, "DELETE FROM migration WHERE number = 12")
    if location.startswith("postgresql:"):
        return
    later = {"message": ("written_by",), "memory": ("quotes", "standing", "doubts")}
    behind(
        location,
        "DROP INDEX message_unattributed",
        *(f"ALTER TABLE {table} DROP COLUMN {name}" for table, names in later.items() for name in names),
        "ALTER TABLE model_link DROP COLUMN asked",
        "DELETE FROM migration WHERE number > 12",
        "PRAGMA user_version = 11",
    )
    with closing(apsw.Connection(location)) as connection:
        for table, names in later.items():
            for row in connection.execute(select_content(table, names)).fetchall():
                key = row[: len(KEYS[table])]
                connection.execute(update_digests(table, "?"), (*digests_of(table, row), *key))


class Judge:
    """A model that consolidates sensibly and merges what it is shown."""

    name = "judge"

    async def chat(self, request: Any) -> Any:
        if request.tool.name == "merge_memories":
            return call(merged(united(shown(request))))
        return sensible_reply(request, model="judge")


@pytest.fixture(autouse=True)
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    constants.bounds(monkeypatch, memories=2, distance=0.5)


def opened(location: str, seed: int) -> AsyncMemhold:
    return AsyncMemhold.open(
        location,
        worker=False,
        clock=FakeClock(),
        ids=SeededIds(seed),
        consolidation=Judge(),
        compaction=Judge(),
        embedding=HashEmbedding(),
    )


WHERE = [*(("sqlite", what) for what in HARMS), ("postgresql", "cut short"), ("postgresql", "far ahead")]


@pytest.mark.parametrize(("lasting", "what"), WHERE, indirect=["lasting"])
async def test_every_write_goes_on_beside_a_damaged_block_of_words(lasting: str, what: str) -> None:
    async with opened(lasting, 1) as mem:
        alice = mem.scope(user="alice", session="s")
        first = await alice.add([{"role": "user", "content": f"{turn} about gardening"} for turn in range(6)])
        note = (await alice.remember("our piano needs oil")).memory
        fact = (await alice.remember(attribute="town", value="Lisbon")).memory
    harm(lasting, HARMS[what])
    async with opened(lasting, 2) as mem:
        alice = mem.scope(user="alice", session="s")
        said = await alice.add([{"role": "user", "content": "the weather turned"}])
        await alice.add([{"role": "user", "content": f"more of the weather {turn}"} for turn in range(4)])
        other = (await alice.remember("our piano needs oil and is loved")).memory
        moved = (await alice.remember(attribute="town", value="Porto")).memory
        await alice.correct(moved.id, "Faro")
        await alice.pin(note.id)
        await alice.unpin(note.id)
        await alice.forget(first.ids[2])
        hidden = await alice.forget(first.ids[3], hard=False)
        await alice.undo(hidden.change_id)
        await alice.documents.put(("diary", "monday"), "rain and a walk")
        await alice.end_session()
        assert await mem.settle()
        assert [one.text for one in (await alice.list(kinds=("summary",))).items]
        assert {one.id for one in (await alice.list(states=("merged",))).items} >= {note.id, other.id}
        found = await alice.recall("weather turned", limit=50)
        assert (found.hits[0].id, found.degraded, found.damaged) == (said.ids[0], ("words",), ())
        asked = ("gardening", "which town", "piano oil", "rain walk", "")
        meanwhile = [await alice.recall(text, limit=100) for text in asked]
        held = {hit.id for answer in meanwhile for hit in answer.hits}
        assert {first.ids[0], first.ids[3]} <= held
        assert first.ids[2] not in held
        assert fact.id not in held
        assert held.isdisjoint({note.id, other.id})
        [words] = [one for one in await mem.admin.doctor() if one.check == "words"]
        assert words.advice == "run 'memhold reindex'"
        await mem.admin.reindex()
        assert await mem.settle()
        again = [await alice.recall(text, limit=100) for text in asked]
        assert {answer.degraded for answer in again} == {()}
        assert [[hit.id for hit in one.hits] for one in again] == [[hit.id for hit in one.hits] for one in meanwhile]
        assert not [one for one in await mem.admin.doctor() if one.check in {"words", "due"}]
        gone = await alice.forget(everything=True)
        assert gone.erased


async def filled(location: str) -> list[str]:
    """Alice has two blocks of words, and two of vectors; their ids, in order."""
    async with opened(location, 1) as mem:
        alice = mem.scope(user="alice", session="s")
        said = await alice.add([{"role": "user", "content": f"{turn} about gardening"} for turn in range(160)])
        assert await mem.settle()
        return list(said.ids)


@pytest.mark.parametrize("place", ["first + 1000", "5"])
async def test_a_block_at_another_place_is_not_taken_for_other_documents(lasting: str, place: str) -> None:
    ids = await filled(lasting)
    async with opened(lasting, 2) as mem:
        alice = mem.scope(user="alice", session="s")
        whole = await alice.recall("gardening 140", kinds=("message",), limit=200)
    harm(lasting, f"first = {place}")
    behind(lasting, "UPDATE vector_block SET first = 1024 WHERE first = 128")
    async with opened(lasting, 3) as mem:
        alice = mem.scope(user="alice", session="s")
        found = await alice.recall("gardening 140", kinds=("message",), limit=200)
        assert found.degraded == ("words", "meaning")
        assert {hit.id for hit in found.hits} == {hit.id for hit in whole.hits} == {*ids}
        assert {one.check for one in await mem.admin.doctor() if one.severity == "wrong"} >= {"words", "vectors"}
        # The block that is sound is found beside it, and gives up what is forgotten.
        await alice.forget(ids[7])
        assert not [one for one in await mem.admin.doctor() if "for what is not there" in one.what]
        assert ids[7] not in {hit.id for hit in (await alice.recall("gardening 7", limit=200)).hits}


async def test_blocks_of_before_learn_their_place_and_one_that_was_damaged_stays_so(lasting: str) -> None:
    ids = await filled(lasting)
    behind(
        lasting,
        "UPDATE word_block SET records_crc = records_crc - first",
        "UPDATE vector_block SET marks_crc = marks_crc - first",
    )
    as_of_schema_11(lasting)
    async with opened(lasting, 2) as mem:
        alice = mem.scope(user="alice", session="s")
        found = await alice.recall("gardening 140", kinds=("message",), limit=200)
        assert ({hit.id for hit in found.hits}, found.degraded) == ({*ids}, ())
    behind(lasting, "UPDATE word_block SET records_crc = records_crc - first + 1")
    as_of_schema_11(lasting)
    async with opened(lasting, 3) as mem:
        assert (await mem.scope(user="alice", session="s").recall("gardening 140")).degraded == ("words", "meaning")


TROUBLE = {
    "words": (
        "UPDATE word_block SET records = substr(records, 1, 7)",
        "the words index is damaged",
        "'memhold reindex'",
    ),
    "meaning": (
        "UPDATE vector_block SET vectors = substr(vectors, 1, 7)",
        "answered without meaning",
        "'memhold doctor'",
    ),
    "damaged": ("UPDATE session SET last_at = last_at + 1", "1 damaged row (ses_", "'memhold doctor'"),
}


@pytest.mark.parametrize("what", [None, *TROUBLE])
async def test_the_status_of_every_face_says_what_is_wrong_and_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], what: str | None
) -> None:
    location = str(tmp_path / "memory.db")
    async with AsyncMemhold.open(location, worker=False) as mem:
        await mem.scope(user="alice", session="s").add([{"role": "user", "content": "all about gardening"}])
        assert await mem.settle()
    if what is not None:
        behind(location, TROUBLE[what][0])
    async with served(location) as server:
        token = await server.token(user="alice")
        async with (
            person(server, token) as alice,
            connected(server.memhold, principal("alice", namespace="default")) as mcp,
        ):
            kept = await server.memhold.scope(user="alice").status()
            page, part = [Seen((await alice.get(path)).text).text for path in ("/ui/health", "/ui/health/now")]
            rest = await alice.client.get("/v1/status", headers={"authorization": f"Bearer {token}"})
            by_tool = await asked_by_mcp(mcp, "memory_status")
    assert main(["status", "--user", "alice", "--db", location]) == 0
    told = capsys.readouterr().out
    wanted = () if what is None else (what,)
    assert (kept.degraded, tuple(rest.json()["degraded"])) == (wanted, wanted)
    assert rest.json()["damaged"] == [*kept.damaged]
    for face, text in {"page": page, "part": part, "tool": by_tool, "command": told}.items():
        said = [name for name, (_, line, _) in TROUBLE.items() if line[2:] in text]
        assert said == [*wanted], (face, text)
        assert all(TROUBLE[name][2] in text for name in wanted), face
    assert ("All is well" in page) == (what is None)


async def test_every_face_says_that_the_words_index_is_damaged_and_what_to_do(tmp_path: Path) -> None:
    location = str(tmp_path / "memory.db")
    await filled(location)
    harm(location, HARMS["cut short"])
    said = "he words index is damaged, and was read from the texts; run 'memhold doctor'"
    async with served(location, embedding="none") as server, person(server, await server.token(user="alice")) as alice:
        fields = {"q": "gardening", "session": "s", "budget": "2000", "query": "gardening"}
        for path in ("/ui/recall", "/ui/now", "/ui/sessions/context"):
            answer = await alice.post(path, **fields)
            assert (answer.status_code, said in Seen(answer.text).text) == (200, True), path
        async with connected(server.memhold, principal("alice", namespace="default")) as client:
            assert said in await asked_by_mcp(client, "recall", query="gardening")
            assert said in await asked_by_mcp(client, "get_context", session="s")
