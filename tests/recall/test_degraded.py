"""What cannot answer is named, and the other signals answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray

from memhold.errors import ModelError
from memhold.faces.python.open import AsyncMemhold
from memhold.index.embedding import Embedding
from memhold.ports.vector_blocks import record_bytes
from memhold.providers.embedding.builtin.model import BuiltinEmbedding
from memhold.recall.recall import Caches, Meaning, recall
from memhold.testing.clock import FakeClock
from memhold.values.answers import Query

TEXTS = ("I went to a concert in Lisbon.", "My sister has a dog called Rex.", "The car needs new tyres.")


class Letters:
    """An embedding by letters: small, exact, and told to fail or to hang."""

    def __init__(self, name: str = "letters", *, fails: bool = False, hangs: bool = False) -> None:
        self.fingerprint = name
        self.dimension = 26
        self.fails = fails
        self.hangs = hangs
        self.calls = 0
        self.poison = ""

    async def embed(self, texts: Sequence[str], *, purpose: Literal["document", "query"]) -> NDArray[np.float32]:
        del purpose
        self.calls += 1
        if self.fails:
            raise ModelError("it is gone", model=self.fingerprint, cls="park")
        if self.poison and any(self.poison in text for text in texts):
            raise ModelError("not this text", model=self.fingerprint, cls="poison")
        if self.hangs:
            await asyncio.Event().wait()
        found = np.array([[text.lower().count(chr(97 + at)) + 0.01 for at in range(26)] for text in texts], np.float32)
        unit: NDArray[np.float32] = found / np.linalg.norm(found, axis=1, keepdims=True)
        return unit


async def _filled(path: Path, embedding: object, clock: FakeClock) -> None:
    async with AsyncMemhold.open(str(path), worker=False, embedding=embedding, clock=clock) as memhold:
        scope = memhold.scope(user="alice", session="s")
        await scope.add([{"role": "user", "content": text} for text in TEXTS])
        assert await memhold.settle()


@pytest.mark.asyncio
async def test_a_dead_embedder_is_named_and_words_answer(tmp_path: Path) -> None:
    clock, embedding = FakeClock(), Letters()
    await _filled(tmp_path / "m.db", embedding, clock)
    async with AsyncMemhold.open(str(tmp_path / "m.db"), worker=False, embedding=embedding, clock=clock) as memhold:
        scope = memhold.scope(user="alice")
        whole = await scope.recall("sister's dog")
        assert whole.degraded == ()
        assert "meaning" in {reason.signal for reason in whole.hits[0].why}
        embedding.fails = True
        answer = await scope.recall("sister's dog", explain=True)
        assert answer.degraded == ("meaning",)
        assert answer.hits[0].text == TEXTS[1]
        assert answer.account is not None
        assert answer.account["missing"] == "ModelError"


@pytest.mark.asyncio
async def test_an_embedder_that_hangs_costs_its_deadline_and_no_more(tmp_path: Path) -> None:
    clock, embedding = FakeClock(), Letters()
    await _filled(tmp_path / "m.db", embedding, clock)
    embedding.hangs = True
    async with AsyncMemhold.open(
        str(tmp_path / "m.db"), worker=False, embedding=embedding, clock=clock, recall_timeout=0.05
    ) as memhold:
        answer = await asyncio.wait_for(memhold.scope(user="alice").recall("dog"), 60)
    assert answer.degraded == ("meaning",)
    assert answer.hits[0].text == TEXTS[1]


@pytest.mark.asyncio
@pytest.mark.parametrize("damage", ["X'00'", "zeroblob(length(vectors))", "randomblob(length(vectors))"])
async def test_damaged_vectors_are_named_and_words_answer(tmp_path: Path, damage: str) -> None:
    clock, embedding = FakeClock(), Letters()
    await _filled(tmp_path / "m.db", embedding, clock)
    connection = apsw.Connection(str(tmp_path / "m.db"))
    connection.execute(f"UPDATE vector_block SET vectors = {damage}")  # noqa: S608 - one of three constants
    connection.close()
    async with AsyncMemhold.open(str(tmp_path / "m.db"), worker=False, embedding=embedding, clock=clock) as memhold:
        answer = await memhold.scope(user="alice").recall("dog")
    assert answer.degraded == ("meaning",)
    assert answer.hits[0].text == TEXTS[1]


@pytest.mark.asyncio
async def test_another_embedder_answers_without_meaning_and_indexes_nothing(tmp_path: Path) -> None:
    clock, other = FakeClock(), Letters("other")
    await _filled(tmp_path / "m.db", Letters(), clock)
    async with AsyncMemhold.open(str(tmp_path / "m.db"), worker=False, embedding=other, clock=clock) as memhold:
        scope = memhold.scope(user="alice", session="s")
        await scope.add([{"role": "user", "content": "A new line about a dog."}])
        await memhold.settle()
        answer = await scope.recall("dog")
        assert answer.degraded == ("meaning",)
        assert answer.hits[0].text == "A new line about a dog."
    marks = apsw.Connection(str(tmp_path / "m.db")).execute("SELECT marks FROM vector_block").get
    assert marks == bytes((1, 1, 1)), "the new line waits for a process with the right embedder"


@pytest.mark.asyncio
async def test_lag_is_counted_and_degraded_after_a_minute() -> None:
    clock = FakeClock()
    async with AsyncMemhold.open("memory://", worker=False, embedding=Letters(), clock=clock) as memhold:
        scope = memhold.scope(user="alice", session="s")
        await scope.add([{"role": "user", "content": text} for text in TEXTS])
        answer = await scope.recall("dog")
        assert (answer.lag, answer.degraded) == ({"meaning": 3}, ())
        clock.advance(61)
        assert (await scope.recall("dog")).degraded == ("meaning",)
        await memhold.settle()
        answer = await scope.recall("dog")
        assert (answer.lag, answer.degraded) == ({}, ())


@pytest.mark.asyncio
async def test_without_an_embedding_meaning_is_not_configured() -> None:
    async with AsyncMemhold.open("memory://", worker=False, embedding="none") as memhold:
        scope = memhold.scope(user="alice", session="s")
        await scope.add([{"role": "user", "content": TEXTS[1]}])
        assert await memhold.settle()
        answer = await scope.recall("dog")
    assert (answer.not_configured, answer.degraded, answer.lag) == (("meaning",), (), {})


@pytest.mark.asyncio
async def test_forgetting_takes_the_vector_from_the_file(tmp_path: Path) -> None:
    clock = FakeClock()
    path = tmp_path / "m.db"
    await _filled(path, "builtin", clock)
    table = BuiltinEmbedding()
    async with AsyncMemhold.open(str(path), worker=False, clock=clock) as memhold:
        scope = memhold.scope(user="alice")
        held = apsw.Connection(str(path)).execute("SELECT vectors FROM vector_block").get
        size = record_bytes(table.dimension)
        gone, kept = held[size : 2 * size], held[:size]
        [hit, *_] = (await scope.recall("dog")).hits
        await scope.forget(hit.id)
        assert await memhold.settle()
        files = await asyncio.to_thread(lambda: b"".join(file.read_bytes() for file in tmp_path.iterdir()))
        assert kept[:64] in files
        assert gone[:64] not in files


@pytest.mark.asyncio
async def test_messages_not_to_be_embedded_have_no_vector() -> None:
    embedding = Letters()
    async with AsyncMemhold.open("memory://", worker=False, embedding=embedding) as memhold:
        scope = memhold.scope(user="alice", session="s")
        await scope.add([{"role": "user", "content": "said quietly", "embed": False}])
        assert await memhold.settle()
        assert embedding.calls == 0
        await scope.add([{"role": "user", "content": "said aloud"}])
        assert await memhold.settle()
        answer = await scope.recall("said")
    signals = {hit.text: {reason.signal for reason in hit.why} for hit in answer.hits}
    assert "meaning" not in signals["said quietly"]
    assert answer.lag == {}


@pytest.mark.asyncio
async def test_a_hidden_message_comes_back_with_its_meaning() -> None:
    async with AsyncMemhold.open("memory://", worker=False, embedding=Letters()) as memhold:
        scope = memhold.scope(user="alice", session="s")
        receipt = await scope.add([{"role": "user", "content": text} for text in TEXTS])
        hidden = await scope.forget(receipt.ids[1], hard=False)
        await memhold.settle()
        assert TEXTS[1] not in {hit.text for hit in (await scope.recall("sister dog")).hits}
        assert hidden.change_id is not None
        await scope.undo(hidden.change_id)
        await memhold.settle()
        [hit, *_] = (await scope.recall("sister dog")).hits
    assert hit.text == TEXTS[1]
    assert "meaning" in {reason.signal for reason in hit.why}


@pytest.mark.asyncio
async def test_another_embedding_is_built_beside_the_old_one_and_then_takes_its_place(tmp_path: Path) -> None:
    clock, path = FakeClock(), str(tmp_path / "m.db")
    await _filled(tmp_path / "m.db", Letters(), clock)
    other = Letters("other")
    async with (
        AsyncMemhold.open(path, worker=False, embedding=other, clock=clock) as new,
        AsyncMemhold.open(path, worker=False, embedding=Letters(), clock=clock) as old,
    ):
        made = await new.admin.reembed()
        assert made is not None
        assert made.state == "building"
        assert (await old.scope(user="alice").recall("dog")).degraded == ()
        assert (await new.scope(user="alice").recall("dog")).degraded == ("meaning",)
        await new.settle()
        await new.settle()
        assert (await new.scope(user="alice").recall("dog")).degraded == ()
        assert (await old.scope(user="alice").recall("dog")).degraded == ("meaning",)
    rows = apsw.Connection(path).execute("SELECT generation, count(*) FROM vector_block GROUP BY generation").fetchall()
    assert rows == [(made.number, 1)], "the old vectors are gone once the new ones are whole"


@pytest.mark.asyncio
async def test_reindex_mends_damaged_vectors(tmp_path: Path) -> None:
    clock, path = FakeClock(), str(tmp_path / "m.db")
    await _filled(tmp_path / "m.db", Letters(), clock)
    connection = apsw.Connection(path)
    connection.execute("UPDATE vector_block SET vectors = zeroblob(7)")
    connection.close()
    async with AsyncMemhold.open(path, worker=False, embedding=Letters(), clock=clock) as memhold:
        assert (await memhold.scope(user="alice").recall("dog")).degraded == ("meaning",)
        await memhold.admin.reindex()
        assert await memhold.settle()
        assert (await memhold.scope(user="alice").recall("dog")).degraded == ()


@pytest.mark.asyncio
async def test_one_text_that_the_embedding_does_not_take_keeps_the_others_waiting_for_nothing(tmp_path: Path) -> None:
    clock, embedding, path = FakeClock(), Letters(), str(tmp_path / "m.db")
    embedding.poison = "tyres"
    async with AsyncMemhold.open(path, worker=False, embedding=embedding, clock=clock) as memhold:
        scope = memhold.scope(user="alice", session="s")
        await scope.add([{"role": "user", "content": text} for text in TEXTS])
        assert await memhold.settle()
        clock.advance(120)
        answer = await scope.recall("dog")
        assert (answer.lag, answer.degraded) == ({}, ())
        assert "meaning" in {reason.signal for hit in answer.hits for reason in hit.why}
        [hit, *_] = (await scope.recall("car needs new")).hits
        assert hit.text == TEXTS[2], "words find what has no vector"
        assert "meaning" not in {reason.signal for reason in hit.why}
        embedding.poison = ""
        await memhold.admin.reindex()
        assert await memhold.settle()
        [hit, *_] = (await scope.recall("car needs new")).hits
        assert "meaning" in {reason.signal for reason in hit.why}, "reindex tries it again"


@pytest.mark.asyncio
async def test_an_embedding_that_takes_nothing_sets_nothing_aside(tmp_path: Path) -> None:
    clock, embedding = FakeClock(), Letters()
    async with AsyncMemhold.open(str(tmp_path / "m.db"), worker=False, embedding=embedding, clock=clock) as memhold:
        scope = memhold.scope(user="alice", session="s")
        await scope.add([{"role": "user", "content": TEXTS[0]}])
        await memhold.settle()
        await scope.add([{"role": "user", "content": TEXTS[1]}])
        embedding.poison = " "
        assert not await memhold.settle()
        embedding.poison = ""
        clock.advance(3600)
        assert await memhold.settle()
        [hit, *_] = (await scope.recall("sister dog")).hits
    assert "meaning" in {reason.signal for reason in hit.why}


@pytest.mark.asyncio
async def test_what_was_written_without_an_embedding_gets_its_vectors_once_there_is_one(tmp_path: Path) -> None:
    path = str(tmp_path / "m.db")
    async with AsyncMemhold.open(path, worker=False, embedding="none") as memhold:
        receipt = await memhold.scope(user="alice").add([{"role": "user", "content": TEXTS[1]}])
        assert receipt.visibility.meaning is False
        assert (await memhold.scope(user="alice").remember("likes tea")).receipt.visibility.meaning is False
        assert await memhold.settle()
    async with AsyncMemhold.open(path, worker=False, embedding=Letters()) as memhold:
        scope = memhold.scope(user="alice")
        assert (await scope.remember("likes coffee")).receipt.visibility.meaning is None
        assert await memhold.settle()
        answer = await scope.recall("sister dog")
        assert (answer.lag, answer.degraded) == ({}, ())
        assert "meaning" in {reason.signal for reason in answer.hits[0].why}


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("asked_for", "missing"), [(0, ("meaning", "key", "time")), (1, ("key", "time")), (2, ("time",))]
)
async def test_arms_that_there_was_no_time_for_are_named_and_the_others_answer(
    asked_for: int, missing: tuple[str, ...]
) -> None:
    embedding, turns = Letters(), iter([True] * asked_for)
    async with AsyncMemhold.open("memory://", worker=False, embedding=embedding) as memhold:
        scope = memhold.scope(user="alice", session="s")
        await scope.add([{"role": "user", "content": text} for text in TEXTS])
        await scope.remember(attribute="dog", value="Rex")
        await memhold.settle()
        query = Query(text="Which dog was there yesterday?", explain=True)
        vector = Meaning(vector=await _centred(embedding, query.text), fingerprint="letters/centred-1/sentences-1")
        answer = await memhold._store._runtime.store.read(
            scope.scope, lambda tx: recall(tx, query, Caches(), vector, lambda: next(turns, False))
        )
    assert answer.degraded == missing
    assert answer.account is not None
    assert answer.account["missing"] == "out of time"
    assert any("dog" in hit.text for hit in answer.hits)
    signals = {reason.signal for hit in answer.hits for reason in hit.why}
    assert "words" in signals
    assert not signals & set(missing)


@pytest.mark.asyncio
async def test_no_time_at_all_is_still_an_answer_by_words() -> None:
    async with AsyncMemhold.open("memory://", worker=False, recall_timeout=1e-9) as memhold:
        scope = memhold.scope(user="alice", session="s")
        await scope.add([{"role": "user", "content": text} for text in TEXTS])
        await memhold.settle()
        answer = await scope.recall("dog")
    assert answer.degraded == ("meaning",)
    assert answer.hits[0].text == TEXTS[1]


async def _centred(embedding: Letters, text: str) -> NDArray[np.float32]:
    async def opened() -> Letters:
        return embedding

    vector: NDArray[np.float32] = await Embedding(opened).query(text)
    return vector


@pytest.mark.asyncio
async def test_where_meaning_is_degraded_the_lag_counts_what_has_no_vector(tmp_path: Path) -> None:
    clock, embedding = FakeClock(), Letters()
    path = tmp_path / "m.db"
    await _filled(path, embedding, clock)
    embedding.fails = True
    async with AsyncMemhold.open(str(path), worker=False, embedding=embedding, clock=clock) as memhold:
        scope = memhold.scope(user="alice", session="s")
        answer = await scope.recall("concert")
        assert (answer.degraded, answer.lag) == (("meaning",), {}), "each has its vector: only the question has none"
        await scope.add([{"role": "user", "content": "A fourth thing was said."}])
        answer = await scope.recall("concert")
        assert (answer.degraded, answer.lag) == (("meaning",), {"meaning": 1})
    async with AsyncMemhold.open(str(path), worker=False, embedding=Letters("other"), clock=clock) as memhold:
        answer = await memhold.scope(user="alice", session="s").recall("concert")
        assert (answer.degraded, answer.lag) == (("meaning",), {"meaning": 4})
