"""Chains on a fake clock: which model is asked, how often, after how long, and what comes of it."""

from __future__ import annotations

import asyncio
import pickle
from random import Random

import cloudpickle
import pytest
from chain_fakes import Scripted, a_chain, a_request, failure, run

from memhold.errors import ChainFailed, ModelError
from memhold.ports.models import ChatReply, ToolCall
from memhold.providers.breaker import Breaker
from memhold.providers.chain import Accepted, Chain, Link, Rejected, TaskFailed
from memhold.providers.wrappers import Backoff, Retrying, Timed
from memhold.testing.clock import FakeClock


@pytest.fixture
def clock():
    return FakeClock()


@pytest.mark.parametrize(
    ("cls", "first_calls", "goes_on"),
    [
        ("retry", 3, True),
        ("resample", 1, True),
        ("next", 1, True),
        ("park", 1, True),
        ("auth", 1, True),
        ("poison", 1, False),
    ],
)
async def test_the_first_fails_in_each_class(clock, cls, first_calls, goes_on):
    first, second, third = Scripted("a", failure(cls)), Scripted("b", failure(cls)), Scripted("c")
    chain = a_chain(clock, first, second, third)
    outcome = await run(clock, chain.ask(a_request(), lambda reply: reply.text))
    assert len(first.calls) == first_calls
    if goes_on:
        assert (len(second.calls), len(third.calls)) == (1, 1)
        assert isinstance(outcome, Accepted)
        assert [one.cls for one in outcome.attempts] == [cls] * (first_calls + 1) + [None]
        assert [one.model for one in outcome.attempts] == ["a"] * first_calls + ["b", "c"]
    else:
        assert not second.calls
        assert isinstance(outcome, TaskFailed)
        assert outcome.advice == "poison"


async def test_the_waits_are_one_two_four_with_jitter_above(clock):
    model = Scripted("a", failure("retry"))
    begun = clock.now()
    retrying = Retrying(model, clock=clock, dice=Random(0), backoff=Backoff(attempts=4, jitter=0.0))
    with pytest.raises(ModelError) as caught:
        await run(clock, retrying.chat(a_request()))
    assert (clock.now() - begun).total_seconds() == pytest.approx(7, abs=0.3)
    assert [one.number for one in caught.value.attempts] == [1, 2, 3, 4]
    for number, base in ((1, 1.0), (2, 2.0), (3, 4.0)):
        waits = [Backoff().seconds(number, None, Random(seed)) for seed in range(200)]
        assert base <= min(waits) < max(waits) <= base * 1.5


async def test_retry_after_is_honoured_and_never_undercut(clock):
    model = Scripted("a", failure("retry", retry_after=7.0), "fine")
    begun = clock.now()
    await run(clock, a_chain(clock, model).chat(a_request()))
    assert 7.0 <= (clock.now() - begun).total_seconds() <= 11.0


async def test_a_longer_delay_than_our_patience_goes_on_at_once(clock):
    first, second = Scripted("a", failure("retry", retry_after=864.0)), Scripted("b")
    begun = clock.now()
    reply = await run(clock, a_chain(clock, first, second).chat(a_request()))
    assert reply.model == "b"
    assert len(first.calls) == 1
    assert (clock.now() - begun).total_seconds() < 1
    alone = await run(clock, a_chain(clock, first).ask(a_request(), lambda _: 1))
    assert (alone.advice, alone.retry_after) == ("retry", 864.0)


async def test_a_time_out_is_not_waited_for_twice_when_there_is_another(clock):
    slow, second = Scripted("a", failure("retry", slow=True)), Scripted("b")
    await run(clock, a_chain(clock, slow, second).chat(a_request()))
    assert len(slow.calls) == 1
    alone = Scripted("c", failure("retry", slow=True))
    with pytest.raises(ChainFailed):
        await run(clock, a_chain(clock, alone).chat(a_request()))
    assert len(alone.calls) == 3


async def test_a_failed_sample_is_drawn_again_only_where_there_is_no_other(clock):
    alone = Scripted("a", failure("resample"))
    with pytest.raises(ChainFailed):
        await run(clock, a_chain(clock, alone).chat(a_request()))
    assert len(alone.calls) == 2


async def test_a_cycle_visits_each_once(clock):
    first, second = Scripted("a", failure("next")), Scripted("b", failure("next"))
    outcome = await run(clock, a_chain(clock, first, second, first, second).ask(a_request(), lambda _: 1))
    assert isinstance(outcome, TaskFailed)
    assert (len(first.calls), len(second.calls)) == (1, 1)


async def test_one_calls_deadline_does_not_eat_the_next_ones(clock):
    hangs = Timed(Scripted("a", 1000, clock=clock), clock=clock, seconds=30)
    slow = Timed(Scripted("b", 29, clock=clock), clock=clock, seconds=30)
    begun = clock.now()
    outcome = await run(clock, a_chain(clock, hangs, slow).ask(a_request(), lambda reply: reply.text))
    assert outcome.value == "late"
    assert [(one.model, one.cls, one.code) for one in outcome.attempts] == [
        ("a", "retry", "deadline"),
        ("b", None, None),
    ]
    assert (clock.now() - begun).total_seconds() == pytest.approx(59, abs=1)
    assert outcome.attempts[0].seconds == pytest.approx(30, abs=0.1)


async def test_the_chain_has_a_deadline_of_its_own(clock):
    models = [Scripted(name, 40, clock=clock) for name in "abc"]
    chain = a_chain(clock, *(Timed(model, clock=clock, seconds=30) for model in models), deadline=45)
    begun = clock.now()
    outcome = await run(clock, chain.ask(a_request(), lambda reply: reply.text))
    assert (outcome.advice, outcome.attempts[-1].code) == ("retry", "chain_deadline")
    assert [len(model.calls) for model in models] == [1, 1, 0]
    assert (clock.now() - begun).total_seconds() == pytest.approx(45, abs=1)
    assert clock.sleepers == 0


async def test_cancelling_the_caller_cancels_the_call(clock):
    ended = []

    class Hanging(Scripted):
        async def chat(self, request):
            self.calls.append(request)
            try:
                await clock.sleep(10_000)
            finally:
                ended.append(True)

    task = asyncio.ensure_future(a_chain(clock, Timed(Hanging("a"), clock=clock, seconds=60)).chat(a_request()))
    for _ in range(20):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == [True]


# ------------------------------------------------------------------------------------------------ advice


async def test_shorten_goes_on_to_a_larger_window_only(clock):
    small, equal, large = Scripted("a", failure("shorten")), Scripted("b"), Scripted("c")
    chain = a_chain(clock, small, equal, large, windows={"a": 8000, "b": 8000, "c": 128_000})
    assert (await run(clock, chain.chat(a_request()))).model == "c"
    assert not equal.calls
    small.calls.clear(), large.calls.clear()
    outcome = await run(clock, chain.ask(a_request(), lambda _: 1, can_shorten=True))
    assert outcome.advice == "shorten"
    assert not large.calls
    only = a_chain(clock, small, equal, windows={"a": 8000, "b": 8000})
    assert (await run(clock, only.ask(a_request(), lambda _: 1))).advice == "shorten"


async def test_when_every_link_rests_the_work_is_parked(clock):
    links = [Scripted("a", failure("park", retry_after=120.0)), Scripted("b", failure("auth"))]
    outcome = await run(clock, a_chain(clock, *links).ask(a_request(), lambda _: 1))
    assert (outcome.advice, outcome.retry_after) == ("park", 120.0)
    mixed = [Scripted("a", failure("park")), Scripted("b", failure("retry"))]
    assert (await run(clock, a_chain(clock, *mixed).ask(a_request(), lambda _: 1))).advice == "retry"


async def test_three_models_that_refuse_refuse_the_work(clock):
    said_no = ChatReply(model="c", text="I can't help with that.", finish="refusal")
    links = [
        Scripted("a", failure("next", refused=True)),
        Scripted("b", failure("next", refused=True)),
        Scripted("c", said_no),
    ]
    three = await run(clock, a_chain(clock, *links).ask(a_request(), lambda _: 1))
    assert (three.advice, three.attempts[-1].cls, three.attempts[-1].refused) == ("refused", "next", True)
    two = await run(clock, a_chain(clock, *links[:2]).ask(a_request(), lambda _: 1))
    assert two.advice == "retry"


async def test_the_error_holds_every_attempt_and_survives_a_job_row(clock):
    links = [
        Scripted("a", failure("retry", status=503, code="overloaded_error")),
        Scripted("b", failure("auth", status=401)),
    ]
    with pytest.raises(ChainFailed) as caught:
        await run(clock, a_chain(clock, *links, name="consolidation").chat(a_request()))
    error = caught.value
    assert [(one.model, one.cls, one.status, one.code) for one in error.attempts] == [
        *[("a", "retry", 503, "overloaded_error")] * 3,
        ("b", "auth", 401, None),
    ]
    for copy in (pickle.loads(pickle.dumps(error)), cloudpickle.loads(cloudpickle.dumps(error))):  # noqa: S301
        assert (type(copy), str(copy), copy.values) == (ChainFailed, str(error), error.values)


# ------------------------------------------------------------------------------------------------ the task layer


def tool_call(reply: ChatReply):
    if len(reply.tool_calls) != 1 or reply.tool_calls[0].name != "save_memory":
        return Rejected(reason="not the tool that was asked for")
    return reply.tool_calls[0].arguments


async def test_a_reply_that_is_no_answer_goes_to_the_next_and_never_to_the_same(clock):
    call = ToolCall(id="1", name="save_memory", arguments={"history_entry": "x"})
    prose, wrong = Scripted("a", "Sure! Here is …"), Scripted("b", ChatReply(model="b", text="", finish="tool"))
    right = Scripted("c", ChatReply(model="c", text="", tool_calls=(call,), finish="tool"))
    outcome = await run(clock, a_chain(clock, prose, wrong, right).ask(a_request(), tool_call))
    assert outcome.value == {"history_entry": "x"}
    assert [(one.model, one.cls, one.code) for one in outcome.attempts] == [
        ("a", "resample", "rejected"),
        ("b", "resample", "rejected"),
        ("c", None, None),
    ]
    alone = await run(clock, a_chain(clock, prose).ask(a_request(), tool_call))
    assert isinstance(alone, TaskFailed)
    assert len(prose.calls) == 2  # once in each of the two chains


async def test_a_fault_of_the_check_is_told_and_is_no_answer(clock, caplog):
    outcome = await run(clock, a_chain(clock, Scripted("a")).ask(a_request(), lambda _: 1 / 0))
    assert outcome.attempts[0].reason == "its answer cannot be read (ZeroDivisionError)"
    assert "ZeroDivisionError" in caplog.text


async def test_a_resting_first_link_leaves_its_attempts_to_the_next(clock):
    first = Scripted("a", failure("park"))
    resting = Breaker(first, clock=clock)
    second = Scripted("b", failure("retry"), failure("retry"), "fine")
    chain = a_chain(clock, resting, second)
    await run(clock, chain.ask(a_request(), lambda reply: reply.text))
    second.calls.clear()
    outcome = await run(clock, chain.ask(a_request(), lambda reply: reply.text))
    assert (len(first.calls), len(second.calls), outcome.value) == (1, 3, "fine")
    assert outcome.attempts[0].code == "resting"


async def test_a_first_link_without_a_key_leaves_its_attempts_to_the_next(clock):
    observed = []
    first, second = Scripted("a", failure("auth", code="no_key")), Scripted("b", failure("retry"))
    chain = a_chain(clock, first, second, observe=lambda _, attempt, __: observed.append(attempt.model))
    await run(clock, chain.ask(a_request(), lambda reply: reply.text))
    assert len(second.calls) == 3
    assert observed == ["b"] * 3


# ------------------------------------------------------------------------------------------------ numbers


async def test_a_thousand_calls_at_15_percent_failure(capsys):
    """Chains of four that end without an answer, beside p ** 4: one call a model, since a sample is not drawn twice."""
    rate, calls = 0.15, 1_000
    dice = Random(20261120)
    clock = FakeClock()

    class Unsure(Scripted):
        async def chat(self, request):
            self.calls.append(request)
            if dice.random() < rate:
                raise failure("resample")
            return ChatReply(model=self.name, text="fine")

    links = [Link(model=Unsure(name)) for name in "abcd"]
    chain = Chain(links, clock=clock, dice=Random(1))
    failed, reached = 0, [0, 0, 0, 0]
    for _ in range(calls):
        outcome = await chain.ask(a_request(), lambda reply: reply.text)
        failed += isinstance(outcome, TaskFailed)
        reached[len(outcome.attempts) - 1] += 1
    theory = rate**4
    with capsys.disabled():
        print(
            f"\n  {calls} calls, {rate:.0%} a model, four models: {failed / calls:.4f} unanswered, theory {theory:.4f}"
        )
    # Four standard deviations around each expectation; the share that needs the n-th model is p ** (n - 1).
    assert abs(failed - calls * theory) <= 4 * (calls * theory) ** 0.5
    needed = sum(reached[1:])
    assert abs(needed - calls * rate) <= 4 * (calls * rate * (1 - rate)) ** 0.5
    assert [len(link.model.calls) for link in links] == [sum(reached[n:]) for n in range(4)]
