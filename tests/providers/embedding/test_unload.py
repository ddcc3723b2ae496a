"""A model that is unloaded while it is asked: how often, how long, and what comes out in the end."""

from __future__ import annotations

import asyncio
import logging
import pickle
from collections import Counter

import cloudpickle
import pytest

from memhold.errors import InvalidInput, ModelError
from memhold.providers.embedding.openai import OpenAIEmbedding
from memhold.testing import ChaosServer, FakeClock
from memhold.testing.chaos import OK, Machine, answer
from memhold.wiring.system import SystemClock

UNLOADED = '{"error":"Model was unloaded while the request was still in queue.."}'
CANCELED = '{"error":"Failed to load model \\"e\\". Error: Operation canceled."}'
LINE = "embedding-provider model-unload detected, retrying"


@pytest.fixture
async def server():
    async with ChaosServer() as made:
        yield made


@pytest.fixture
async def model(server):
    made = []

    def make(**more):
        settings = {"model": "e", "base_url": server.url, "unload_retry_delay_ms": 0, "clock": SystemClock(), **more}
        made.append(OpenAIEmbedding(**settings))
        return made[-1]

    yield make
    for one in made:
        await one.close()


async def test_the_first_call_works(server, model):
    assert (await model().embed(["x"], purpose="document")).shape == (1, 64)
    assert len(server.requests) == 1


@pytest.mark.parametrize("body", [UNLOADED, CANCELED])
async def test_the_first_fails_and_the_second_works(server, model, body):
    server.script([answer(400, body), OK])
    assert (await model().embed(["x"], purpose="document")).shape == (1, 64)
    assert len(server.requests) == 2


async def test_it_fails_for_ever_and_the_first_error_is_raised(server, model):
    server.script([answer(400, UNLOADED), answer(400, CANCELED), answer(400, CANCELED)])
    with pytest.raises(ModelError) as caught:
        await model(unload_retry_count=2).embed(["x"], purpose="document")
    error = caught.value
    assert len(server.requests) == 3
    assert (error.status, error.body, error.cls, error.rule) == (400, UNLOADED, "retry", "unload")
    assert [(one.number, one.status, one.cls) for one in error.attempts] == [(n, 400, "retry") for n in (1, 2, 3)]
    for module in (pickle, cloudpickle):
        copy = module.loads(module.dumps(error))
        assert (str(copy), copy.values) == (str(error), error.values)


@pytest.mark.parametrize(
    "body",
    [
        '{"error":"Failed to load model \\"e\\". Error: Model does not exist."}',
        '{"error":{"message":"invalid input","type":"invalid_request_error"}}',
        '{"error":"Operation canceled."}',
        "",
    ],
)
async def test_any_other_400_is_one_request(server, model, body):
    server.always(answer(400, body))
    with pytest.raises(ModelError) as caught:
        await model().embed(["x"], purpose="document")
    assert len(server.requests) == 1
    assert caught.value.status == 400
    assert len(caught.value.attempts) == 1
    assert "body" not in caught.value.values


async def test_none_is_none(server, model):
    server.always(answer(400, UNLOADED))
    with pytest.raises(ModelError, match="HTTP 400"):
        await model(unload_retry_count=0).embed(["x"], purpose="document")
    assert len(server.requests) == 1


async def test_another_failure_after_an_unload_is_the_one_that_counts(server, model):
    server.script([answer(400, UNLOADED), answer(401, '{"error":{"message":"no","code":"invalid_api_key"}}')])
    with pytest.raises(ModelError) as caught:
        await model().embed(["x"], purpose="document")
    assert (caught.value.status, caught.value.cls, len(caught.value.attempts)) == (401, "auth", 2)
    assert len(server.requests) == 2


class Hurried(FakeClock):
    """Nobody waits on it: each sleep moves the time by itself, and is kept with what was asked for before it."""

    def __init__(self, server: ChaosServer | None = None) -> None:
        super().__init__()
        self._server = server
        self.slept: list[tuple[int, float]] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append((0 if self._server is None else len(self._server.requests), seconds))
        self.advance(seconds)
        await asyncio.sleep(0)


async def test_the_delay_is_constant(server, model):
    clock = Hurried(server)
    server.always(answer(400, UNLOADED))
    with pytest.raises(ModelError):
        await model(unload_retry_delay_ms=500, clock=clock).embed(["x"], purpose="document")
    assert clock.slept == [(1, 0.5), (2, 0.5), (3, 0.5)]
    assert len(server.requests) == 4


async def test_the_log_line_and_the_counter(server, model, caplog):
    server.script([answer(400, UNLOADED), answer(400, UNLOADED), OK])
    unloads = Counter()
    with caplog.at_level(logging.WARNING, logger="memhold.providers.embedding"):
        await model(unloads=unloads).embed(["secret words"], purpose="document")
    host = server.url.removeprefix("http://")
    said = [one.getMessage() for one in caplog.records if LINE in one.getMessage()]
    assert said == [f"{LINE} (attempt {n} of 3, model e, host {host})" for n in (1, 2)]
    assert unloads == {("e", host): 2}
    assert "secret" not in caplog.text


async def test_a_machine_that_unloads_when_idle_is_waited_for():
    clock = Hurried()
    async with ChaosServer(clock=clock, machine=Machine(idle_unload=60, warm_up=1)) as server:
        made = OpenAIEmbedding(model="e", base_url=server.url, clock=clock)
        await made.embed(["x"], purpose="document")
        clock.advance(120)
        assert (await made.embed(["x"], purpose="document")).shape == (1, 64)
        assert len(server.requests) == 4
        await made.close()


@pytest.mark.parametrize("setting", ["unload_retry_count", "unload_retry_delay_ms"])
def test_settings_below_zero_are_refused(setting):
    with pytest.raises(InvalidInput):
        OpenAIEmbedding(model="e", base_url="http://127.0.0.1:1", clock=FakeClock(), **{setting: -1})
