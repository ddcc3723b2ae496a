"""A model that does not work is said at once and everywhere: its name, its URL, its key's variable, what to do."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from memhold import AsyncMemhold
from memhold.cli.main import cli
from memhold.faces.mcp.answers import answer_of
from memhold.server.metrics import Metrics
from memhold.testing import HashEmbedding
from memhold.testing.chaos import ChaosServer, answer
from tests.scripted_server import Answer, Asked, ScriptedServer, sent

SAID = [{"role": "user", "content": "I live in Oslo and I am allergic to walnuts."}]


@pytest.fixture
def nobody() -> str:
    """A URL of this machine at which nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


async def test_a_server_that_is_not_there_is_told_at_open_and_by_every_answer(tmp_path, nobody, caplog) -> None:
    path, line = str(tmp_path / "m.db"), f"{nobody}/v1#mine"
    with caplog.at_level(logging.WARNING, logger="memhold.models"):
        mem = await AsyncMemhold.open(path, worker=False, consolidation=line)
    async with mem:
        assert "no server answers" in caplog.text
        assert nobody in caplog.text
        alice = mem.scope(user="alice", session="s")
        await alice.add(SAID)
        receipt = await alice.end_session()
        assert receipt.notice is not None
        assert "1 window waits, whole and searchable" in receipt.notice
        assert f"start the server at {nobody}" in receipt.notice
        assert receipt.notice in answer_of("end_session", {}, receipt).said
        status = await alice.status()
        one = status.models[line]
        assert (one.answers, one.url, status.windows) == (False, nobody, 1)
        said = answer_of("status", {}, status).said
        assert "no server answers" in said
        assert "wait for a model: 1" in said
        assert "overloaded" not in said
        [finding] = [one for one in await mem.admin.doctor() if one.check == "models"]
        assert nobody in finding.what
        assert "searchable: 1" in finding.what
        ready = await mem.admin.ready()
        assert (ready.writes, ready.waiting, ready.models[line].answers) == (True, 1, False)
        text = Metrics().text(ready, streams=0).decode()
        assert f'model="{line}"' in text
        assert f'url="{nobody}"' in text
        assert "memhold_work_waiting_for_models 1.0" in text


async def test_what_one_process_saw_another_tells_until_an_answer_came(tmp_path, caplog) -> None:
    server = ChaosServer()
    await server.start()
    path, line = str(tmp_path / "m.db"), f"{server.url}/v1#mine"
    options = {"worker": False, "consolidation": line}
    server.always(
        answer(401, {"error": {"message": "Incorrect API key provided: sk-secret123", "code": "invalid_api_key"}})
    )
    async with AsyncMemhold.open(path, **options) as mem:
        alice = mem.scope(user="alice", session="s")
        await alice.add(SAID)
        told = await alice.consolidate()
        assert "incorrect api key provided" in (told.last_error or "")
        assert "sk-secret123" not in (told.last_error or "")
    with caplog.at_level(logging.WARNING, logger="memhold.models"):
        mem = await AsyncMemhold.open(path, **options)
    async with mem:
        assert "incorrect api key provided" in caplog.text
        alice = mem.scope(user="alice", session="s")
        one = (await alice.status()).models[line]
        assert (one.answers, one.since is not None) == (False, True)
        server.always(None)
        assert (await alice.consolidate()).summaries
        status = await alice.status()
        assert (status.models[line].answers, status.windows) == (True, 0)
        assert (await alice.end_session()).notice is None
    await server.stop()


async def test_a_key_that_is_not_set_is_told_by_its_variable(monkeypatch, caplog) -> None:
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    with caplog.at_level(logging.WARNING, logger="memhold.models"):
        mem = await AsyncMemhold.open("memory://", worker=False, consolidation="groq:some-model")
    async with mem:
        assert "GROQ_API_KEY" in caplog.text
        alice = mem.scope(user="alice", session="s")
        await alice.add(SAID)
        assert "GROQ_API_KEY" in ((await alice.end_session()).notice or "")


@pytest.mark.parametrize(
    "line", ["{nobody}/v1#mine", "openai:text-embedding-3-small", "openrouter:openai/text-embedding-3-small"]
)
async def test_an_embedding_that_does_not_work_is_told_at_open(monkeypatch, caplog, nobody, line) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with caplog.at_level(logging.WARNING, logger="memhold.models"):
        mem = await AsyncMemhold.open("memory://", worker=False, embedding=line.format(nobody=nobody))
    await mem.close()
    [told] = [one.getMessage() for one in caplog.records if one.name == "memhold.models"]
    assert told.startswith("embedding: the model ")
    assert (nobody if "nobody" in line else f"{line.partition(':')[0].upper()}_API_KEY") in told
    assert told.endswith("until it works, questions are answered by words alone")


async def test_an_embedding_that_hangs_is_told_at_once_and_no_longer_once_it_answered() -> None:
    hangs, asked = threading.Event(), threading.Event()
    hangs.set()
    go_on = threading.Event()

    def vectors(asks: Asked) -> Answer:
        if asks.body is not None and "where?" in asks.body["input"] and hangs.is_set():
            asked.set()
            go_on.wait()
        texts = [] if asks.body is None else asks.body["input"]
        return sent({"data": [{"index": place, "embedding": [1.0, 2.0]} for place, _ in enumerate(texts)]})

    with ScriptedServer(vectors) as server:
        line = f"{server.url}/v1#mine"
        mem = await AsyncMemhold.open("memory://", worker=False, embedding=line, recall_timeout=0.5)
        async with mem:
            alice = mem.scope(user="alice")
            await alice.add(SAID)
            await mem.settle()
            try:
                assert (await alice.recall("where?")).degraded == ("meaning",)
                status = await alice.status()
                one = status.models[line]
                assert asked.is_set()
                assert (one.answers, one.since is not None, status.degraded) == (False, True, ("meaning",))
                assert "no answer within 0.5 s" in one.told
                assert f"see whether the server at {server.url} is busy or loads the model" in one.told
            finally:
                hangs.clear()
                go_on.set()
            while (await alice.recall("where?")).degraded:  # noqa: ASYNC110 - a probe tells nobody
                await asyncio.sleep(0)
            assert (await alice.status()).models[line].answers is True


async def test_vectors_of_another_embedding_are_told_with_what_to_do(tmp_path) -> None:
    path = str(tmp_path / "m.db")
    async with AsyncMemhold.open(path, worker=False, embedding=HashEmbedding(dimension=16)) as mem:
        await mem.scope(user="alice").add(SAID)
        await mem.settle()
        assert not [one for one in await mem.admin.doctor() if one.check == "vectors"]
    async with AsyncMemhold.open(path, worker=False) as mem:
        assert (await mem.scope(user="alice").status()).degraded == ("meaning",)
        [told] = [one for one in await mem.admin.doctor() if one.check == "vectors"]
        assert "words alone answer" in told.what
        assert "memhold reindex --to" in told.advice
        await mem.admin.reembed()
        await mem.settle()
        assert not [one for one in await mem.admin.doctor() if one.check == "vectors"]


async def test_none_is_no_model(caplog) -> None:
    async with AsyncMemhold.open("memory://", worker=False, consolidation="none", adjudication="none") as mem:
        alice = mem.scope(user="alice")
        await alice.add(SAID)
        assert "no model is configured" in ((await alice.consolidate()).last_error or "")
    assert not caplog.records


async def test_what_fails_again_says_why_once_and_names_no_class_of_ours(nobody) -> None:
    line = f"{nobody}/v1#mine"
    async with AsyncMemhold.open("memory://", worker=False, consolidation=line) as mem:
        alice = mem.scope(user="alice", session="s")
        await alice.add(SAID)
        await alice.consolidate()
        again = (await alice.consolidate()).last_error or ""
    assert again.startswith("consolidation: no model of the chain answered")
    assert again.count("no server answers") == 1


async def test_a_chain_with_one_link_that_works_holds_nothing_up(nobody) -> None:
    server = ChaosServer()
    await server.start()
    lines = f"{nobody}/v1#gone, {server.url}/v1#mine"
    async with AsyncMemhold.open("memory://", worker=False, consolidation=lines) as mem:
        alice = mem.scope(user="alice", session="s")
        await alice.add(SAID)
        assert (await alice.end_session()).notice is None
        assert [one.answers for one in (await alice.status()).models.values()] == [False, None]
    await server.stop()


def test_the_command_line_tells_it_and_never_calls_a_window_with_messages_empty(tmp_path: Path, nobody) -> None:
    run = CliRunner()
    common = ["--db", str(tmp_path / "m.db"), "--user", "alice", "--session", "s"]
    env = {"MEMHOLD_CONSOLIDATION": f"{nobody}/v1#mine"}
    assert run.invoke(cli, ["add", "I live in Oslo.", *common], env=env).exit_code == 0
    ended = run.invoke(cli, ["end-session", *common], env=env)
    assert ended.exit_code == 0
    assert "empty" not in ended.output
    assert "its window is kept, searchable" in ended.output
    assert "1 window waits, whole and searchable" in ended.output
    assert nobody in ended.output
    again = run.invoke(cli, ["end-session", *common], env=env)
    assert "closed" in again.output
    status = run.invoke(cli, ["status", *common], env=env)
    assert "no server answers" in status.output
    assert "windows that wait for a model: 1" in status.output
    shown = json.loads(run.invoke(cli, ["status", "--json", *common], env=env).stdout)
    assert shown["health"][f"{nobody}/v1#mine"]["answers"] is False
    assert shown["windows"] == 1


def test_the_counter_of_unloads_only_grows() -> None:
    from memhold.ports.maintenance import Readiness
    from memhold.values.answers import ModelHealth

    metrics = Metrics()
    for unloads in (2, 5, 5):
        ready = Readiness(writes=True, models={"m": ModelHealth(model="m", answers=True, unloads=unloads)})
        text = metrics.text(ready, streams=0).decode()
        assert f'memhold_model_unloads_total{{model="m"}} {unloads}.0' in text
