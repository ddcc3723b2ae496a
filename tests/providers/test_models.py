"""The models of one store: the settings reach them, hosts are shared, and what they cost is in the store."""

from __future__ import annotations

import asyncio
import json

import pytest
from chain_fakes import a_request
from click.testing import CliRunner

from memhold import AsyncMemhold
from memhold.cli.main import cli
from memhold.errors import ChainFailed, InvalidSetting, ModelError, StoreFull
from memhold.providers.catalog import load_catalog
from memhold.storage.inmemory.links import InMemoryLinkBook
from memhold.storage.inmemory.store import InMemoryStore
from memhold.storage.sqlite.store import SqliteStore
from memhold.testing.chaos import ChaosServer, answer
from memhold.testing.clock import FakeClock
from memhold.wiring import models_of
from memhold.wiring.settings import Settings, load_settings
from memhold.wiring.system import SystemClock, TimeOrderedIds
from tests.constants import quick_retries

TABLE = """
[chains]
consolidation = "chat"
embeddings = "vectors"
[models.chat]
model = "chat-model"
base_url = "{url}"
protocol = "openai-chat"
price_in = 1.0
price_out = 2.0
[models.vectors]
model = "embed-model"
base_url = "{url}/v1"
protocol = "openai-embeddings"
price_in = 0.5
"""


@pytest.fixture
async def server():
    async with ChaosServer() as running:
        yield running


def a_catalog(server, url=None):
    return load_catalog("", TABLE.format(url=url or server.url))


async def test_every_call_is_in_the_usage_of_the_store_and_on_the_command_line(server, tmp_path, monkeypatch):
    quick_retries(monkeypatch)
    path = tmp_path / "memory.db"
    store = SqliteStore(str(path), clock=SystemClock())
    models = models_of(store, Settings(), clock=SystemClock(), models=a_catalog(server))
    server.script(["ok", answer(503, {"error": "busy"})])
    await models.chain("consolidation").chat(a_request())
    await models.chain("consolidation").chat(a_request())
    embedding = await models.embedding()
    await embedding.embed(["a", "b"], purpose="document")
    await embedding.embed(["c"], purpose="query")
    await models.close()
    kept = {(one.model, one.purpose): one for one in await store.usage.read()}
    await store.close()
    chat = kept["chat", a_request().purpose]
    assert (chat.calls, chat.answered, chat.retries, dict(chat.failures)) == (3, 2, 1, {"retry": 1})
    assert chat.usd == pytest.approx((chat.input_tokens * 1.0 + chat.output_tokens * 2.0) / 1e6)
    document = kept["vectors", "embedding"]
    assert (document.calls, document.answered, document.unpriced) == (1, 1, 0)
    assert document.input_tokens > 0 < document.nanousd
    assert kept["vectors", "query"].calls == 1

    def said(*words):
        done = CliRunner().invoke(cli, ["--db", str(path), *words], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output

    status = json.loads(await asyncio.to_thread(said, "status", "--json"))["models"]
    assert (status["calls"], status["answered"], status["retries"]) == (5, 4, 1)
    assert status["usd"] == pytest.approx(sum(one.usd for one in kept.values()))
    assert "models, whole store: 5 calls, 1 failed" in await asyncio.to_thread(said, "status")
    rows = json.loads(await asyncio.to_thread(said, "models", "usage", "--json"))["usage"]
    assert {(row["model"], row["purpose"]) for row in rows} == set(kept)


async def test_the_settings_reach_the_chain_and_the_embedding(server, monkeypatch):
    quick_retries(monkeypatch)
    settings = load_settings(
        {"model_attempts": 2},
        environment={"MEMHOLD_UNLOAD_RETRY_COUNT": "1", "MEMHOLD_UNLOAD_RETRY_DELAY_MS": "0"},
    )
    store = InMemoryStore(SystemClock(), TimeOrderedIds())
    models = models_of(store, settings, clock=SystemClock(), models=a_catalog(server))
    server.always(answer(503, {"error": "busy"}))
    with pytest.raises(ChainFailed) as failed:
        await models.chain("consolidation").chat(a_request())
    assert [attempt.number for attempt in failed.value.attempts] == [1, 2]
    server.always(answer(400, {"error": "Model was unloaded while the request was still in queue.."}))
    before = len(server.requests)
    with pytest.raises(ModelError) as unloaded:
        await (await models.embedding()).embed(["a"], purpose="document")
    assert (unloaded.value.rule, len(server.requests) - before) == ("unload", 2)
    await models.close()
    (chat, vectors) = await store.usage.read()
    assert (chat.calls, vectors.calls, vectors.retries, dict(vectors.failures)) == (2, 2, 1, {"retry": 2})


def test_no_unload_retry_is_a_setting_in_the_file_and_less_is_not(tmp_path):
    file = tmp_path / "memhold.toml"
    file.write_text("unload_retry_count = 0\nunload_retry_delay_ms = 0\n", encoding="utf-8")
    found = load_settings({}, environment={}, folder=tmp_path)
    assert (found.unload_retry_count, found.unload_retry_delay_ms) == (0, 0)
    assert (Settings().unload_retry_count, Settings().unload_retry_delay_ms) == (3, 500)
    for name in ("unload_retry_count", "unload_retry_delay_ms"):
        with pytest.raises(InvalidSetting, match="0 or more"):
            Settings(**{name: -1})
    with pytest.raises(InvalidSetting, match="greater than 0"):
        Settings(model_attempts=0)


async def test_chat_and_embedding_on_one_host_take_turns_however_its_url_is_written(server):
    port = server.url.rsplit(":", 1)[1]
    table = TABLE.replace('"{url}/v1"', f'"http://localhost:{port}/v1"')
    store = InMemoryStore(SystemClock(), TimeOrderedIds())
    models = models_of(
        store, Settings(), clock=SystemClock(), models=load_catalog("", table.format(url=f"http://127.0.0.1:{port}"))
    )
    chat, vectors = (models.catalog.models[name] for name in ("chat", "vectors"))
    assert models.pool.gates.of(chat) is models.pool.gates.of(vectors)
    await models.close()


async def test_what_cannot_be_written_now_is_written_later_and_nothing_waits_for_ever(server):
    class FullBook:
        def __init__(self):
            self.full, self.kept = True, []

        async def add(self, tallies):
            if self.full and tallies:
                raise StoreFull("no room")
            self.kept += tallies

    class Booked:
        usage, links = FullBook(), InMemoryLinkBook()

    clock = FakeClock()
    models = models_of(Booked(), Settings(), clock=clock, models=a_catalog(server))
    await (await models.embedding()).embed(["a"], purpose="document")
    await clock.elapse(6)
    assert Booked.usage.kept == []
    Booked.usage.full = False
    await clock.elapse(6)
    assert [one.calls for one in Booked.usage.kept] == [1]
    await clock.elapse(60)
    await models.close()
    await models.close()
    assert [one.calls for one in Booked.usage.kept] == [1]


async def test_an_open_store_consolidates_with_the_attempts_of_its_settings(server, tmp_path, monkeypatch):
    quick_retries(monkeypatch)
    table = tmp_path / "models.toml"
    table.write_text(TABLE.format(url=server.url), encoding="utf-8")
    server.always(answer(503, {"error": "busy"}))
    options = {"worker": False, "consolidation": "chat", "models": str(table)}
    async with await AsyncMemhold.open(str(tmp_path / "m.db"), model_attempts=2, **options) as mem:
        scope = mem.scope(user="alice", session="s")
        await scope.add([{"role": "user", "content": "I like sushi."}])
        await scope.consolidate()
        (kept,) = await mem.admin.model_usage()
    assert len(server.requests) == 2
    assert (kept.model, kept.calls, kept.retries) == ("chat", 2, 1)
