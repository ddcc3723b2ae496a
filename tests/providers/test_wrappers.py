"""Breakers, deadlines and the queue of a host, on a fake clock."""

from __future__ import annotations

import asyncio
from random import Random

import pytest
from chain_fakes import Scripted, a_request, failure, run

from memhold.errors import ModelError, ModelResting
from memhold.providers.breaker import Breaker, Rest
from memhold.providers.entry import Entry, server_of
from memhold.providers.wrappers import DeadlinePassed, HostGates, Limited, Retrying, Timed, within
from memhold.testing.clock import FakeClock


@pytest.fixture
def clock():
    return FakeClock()


async def fails(breaker):
    with pytest.raises(ModelError) as caught:
        await breaker.chat(a_request())
    return caught.value


async def test_a_parked_link_rests_and_is_probed_ever_more_slowly(clock):
    model = Scripted("a", failure("park"))
    breaker = Breaker(model, clock=clock, rest=Rest(parked=60, most=200))
    await fails(breaker)
    for span in (60, 120, 200, 200):
        resting = await fails(breaker)
        assert isinstance(resting, ModelResting)
        assert (resting.cls, resting.retry_after) == ("park", span)
        calls = len(model.calls)
        await clock.elapse(span - 1)
        assert isinstance(await fails(breaker), ModelResting)
        assert len(model.calls) == calls
        await clock.elapse(1)
        assert breaker.state.state == "half-open"
        assert not isinstance(await fails(breaker), ModelResting)
        assert len(model.calls) == calls + 1


async def test_a_probe_that_works_closes_it_and_only_one_probes(clock):
    model = Scripted("a", failure("park"), 5, "fine", clock=clock)
    breaker = Breaker(model, clock=clock)
    await fails(breaker)
    await clock.elapse(60)
    probe = asyncio.ensure_future(breaker.chat(a_request()))
    await asyncio.sleep(0)
    assert isinstance(await fails(breaker), ModelResting)
    assert (await run(clock, probe)).text == "late"
    assert breaker.state.state == "closed"
    assert (await breaker.chat(a_request())).text == "fine"
    assert len(model.calls) == 3


async def test_a_cancelled_probe_gives_its_place_back(clock):
    model = Scripted("a", failure("park"), 1000, "fine", clock=clock)
    breaker = Breaker(model, clock=clock)
    await fails(breaker)
    await clock.elapse(60)
    probe = asyncio.ensure_future(breaker.chat(a_request()))
    await asyncio.sleep(0)
    probe.cancel()
    with pytest.raises(asyncio.CancelledError):
        await probe
    assert (await breaker.chat(a_request())).text == "fine"


async def test_failures_in_a_row_open_it_and_what_concerns_a_request_does_not(clock):
    script = [failure("retry")] * 4 + [failure("next")] + [failure("retry")] * 5
    breaker = Breaker(Scripted("a", *script), clock=clock, rest=Rest(failures=5))
    for _ in range(9):
        assert not isinstance(await fails(breaker), ModelResting)
    assert breaker.state.state == "closed"
    await fails(breaker)
    assert isinstance(await fails(breaker), ModelResting)


async def test_a_long_retry_after_is_kept(clock):
    breaker = Breaker(Scripted("a", failure("retry", retry_after=864.0), "fine"), clock=clock)
    await fails(breaker)
    assert (await fails(breaker)).retry_after == 864.0
    await clock.elapse(864)
    assert (await breaker.chat(a_request())).text == "fine"


async def test_a_refused_key_is_not_used_again_until_it_changes(clock):
    keys = {"K": "old"}
    model = Scripted("a", failure("auth"), "fine")
    breaker = Breaker(model, clock=clock, key=lambda: keys["K"])
    await fails(breaker)
    await clock.elapse(1_000_000)
    resting = await fails(breaker)
    assert (resting.cls, resting.retry_after, len(model.calls)) == ("auth", None, 1)
    keys["K"] = "new"
    assert (await breaker.chat(a_request())).text == "fine"
    assert breaker.state.state == "closed"


async def test_within_cancels_what_is_late_and_leaves_nothing_behind(clock):
    with pytest.raises(DeadlinePassed):
        await run(clock, within(clock, 5, clock.sleep(9)))
    assert clock.sleepers == 0
    assert await run(clock, within(clock, 5, asyncio.sleep(0, "x"))) == "x"
    await clock.elapse(0)
    assert clock.sleepers == 0


async def test_a_local_host_answers_one_at_a_time_and_interactive_calls_go_first(clock):
    gates = HostGates(hosted=8, local=1)
    local = [Entry(name=n, protocol="openai-chat", model=n, base_url="http://127.0.0.1:1234/v1") for n in "ab"]
    assert gates.of(local[0]) is gates.of(local[1])
    assert gates.of(local[0]) is not gates.of(Entry(name="c", protocol="openai-chat", model="c", base_url="https://x"))
    order = []

    class Noting(Scripted):
        async def chat(self, request):
            order.append((request.purpose, "in"))
            await clock.sleep(1)
            order.append((request.purpose, "out"))
            return await super().chat(request)

    models = [Limited(Noting(entry.name), gate=gates.of(entry)) for entry in local]
    purposes = ["consolidation", "adjudication", "conversation"]
    tasks = [models[i % 2].chat(a_request(purpose)) for i, purpose in enumerate(purposes)]
    await run(clock, asyncio.gather(*tasks))
    assert [purpose for purpose, _ in order[::2]] == ["consolidation", "conversation", "adjudication"]
    assert all(order[i][0] == order[i + 1][0] for i in (0, 2, 4))


async def test_waiting_for_the_host_is_no_part_of_the_calls_deadline(clock):
    gate = HostGates(local=1).of(Entry(name="a", protocol="openai-chat", model="a", base_url="http://localhost"))
    models = [Limited(Timed(Scripted(n, 20, clock=clock), clock=clock, seconds=30), gate=gate) for n in "abc"]
    replies = await run(clock, asyncio.gather(*(model.chat(a_request()) for model in models)))
    assert [reply.text for reply in replies] == ["late"] * 3


async def test_a_refusal_of_a_link_without_a_key_rests_it_like_a_park(clock):
    # No key of ours can change there: a firewall's 403 that has passed must not keep the link out for ever.
    breaker = Breaker(Scripted("a", failure("auth", status=403), "fine"), clock=clock)
    await fails(breaker)
    assert (breaker.state.state, breaker.state.cls) == ("open", "park")
    clock.advance(61)
    assert (await breaker.chat(a_request())).model == "a"
    assert breaker.state.state == "closed"


@pytest.mark.parametrize(("asked", "calls"), [(29.0, 3), (31.0, 1), (44.0, 1)])
async def test_a_wait_over_the_patience_is_not_begun_whatever_the_jitter(clock, asked, calls):
    model = Scripted("a", *[failure("retry", status=429, retry_after=asked)] * 3)
    waiting = asyncio.ensure_future(Retrying(model, clock=clock, dice=Random(1)).chat(a_request()))
    await clock.elapse(200)
    with pytest.raises(ModelError):
        await waiting
    assert len(model.calls) == calls


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://localhost:1234", "http://127.0.0.1:1234/v1"),
        ("http://[::1]:1234", "http://LOCALHOST:1234/v1"),
        ("https://x.test", "https://x.test:443/v1"),
    ],
)
def test_a_server_is_one_however_its_url_is_written(one, other):
    assert server_of(one) == server_of(other)
    assert server_of(one) != server_of(other.replace("/v1", "").replace("34", "35").replace("443", "444"))
