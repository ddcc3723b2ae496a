"""The ledger: what adds up, what it costs, and what is lost when it cannot be written (nothing)."""

from __future__ import annotations

from datetime import date
from random import Random

import pytest
from chain_fakes import Scripted, a_request, failure, run
from hypothesis import given
from hypothesis import strategies as st

from memhold.errors import Attempt
from memhold.ports.models import Tally, Usage
from memhold.providers.chain import Chain, Link, Rejected
from memhold.providers.entry import Entry
from memhold.providers.ledger import Ledger, merged, tally_of
from memhold.testing.clock import FakeClock

DAY = date(2026, 1, 1)
PRICED = Entry(name="b", protocol="openai-chat", model="b", price_in=0.5, price_out=2.0)


async def test_what_a_chain_did_is_what_the_ledger_says():
    clock = FakeClock()
    ledger = Ledger({"b": PRICED}, clock=clock)
    links = [Link(model=Scripted("a", failure("retry", status=503))), Link(model=Scripted("b", 2, clock=clock))]
    chain = Chain(links, clock=clock, dice=Random(1), observe=ledger.observe)
    await run(clock, chain.ask(a_request(), lambda reply: reply.text))
    await run(clock, chain.ask(a_request(), lambda _: Rejected(reason="prose")))
    first, second = ledger.take()
    assert (first.model, first.calls, first.answered, first.retries, first.failures) == ("a", 6, 0, 4, {"retry": 6})
    assert (second.model, second.calls, second.answered, second.failures) == ("b", 2, 1, {"resample": 1})
    assert (second.input_tokens, second.output_tokens) == (200, 20)
    assert second.usd == pytest.approx((200 * 0.5 + 20 * 2.0) / 1e6)
    assert second.seconds_a_call == pytest.approx(2, abs=0.01)
    assert ledger.take() == []


def test_money_is_exact_and_unpriced_calls_are_counted():
    answered = Attempt(model="b", cls=None)
    one = tally_of("p", answered, Usage(input_tokens=1, output_tokens=1), day=DAY, entry=PRICED)
    assert (one.nanousd, one.unpriced) == (2500, 0)
    (million,) = merged([one] * 1_000)
    assert million.nanousd == 2_500_000
    assert tally_of("p", answered, Usage(input_tokens=1), day=DAY).unpriced == 1
    assert tally_of("p", answered, Usage(), day=DAY, entry=PRICED).unpriced == 1


async def test_what_could_not_be_written_is_there_the_next_time():
    ledger = Ledger({}, clock=FakeClock())
    ledger.note("query", Attempt(model="a", cls=None), Usage(input_tokens=3))
    taken = ledger.take()
    ledger.note("query", Attempt(model="a", cls="park"), Usage())
    ledger.put_back(taken)
    (one,) = ledger.take()
    assert (one.calls, one.answered, one.input_tokens, one.failures) == (2, 1, 3, {"park": 1})


tallies = st.builds(
    Tally,
    day=st.sampled_from([DAY, date(2026, 1, 2)]),
    model=st.sampled_from("ab"),
    purpose=st.sampled_from("pq"),
    calls=st.integers(0, 9),
    nanousd=st.integers(0, 9),
    failures=st.dictionaries(st.sampled_from(["retry", "park"]), st.integers(1, 3)),
)


@given(st.lists(tallies, max_size=12), st.randoms())
def test_adding_up_has_no_order_and_loses_nothing(ones, dice):
    shuffled = list(ones)
    dice.shuffle(shuffled)
    whole = merged(shuffled)
    assert [(t.day, t.model, t.purpose, t.calls, dict(t.failures)) for t in whole] == [
        (t.day, t.model, t.purpose, t.calls, dict(t.failures)) for t in merged(merged(ones[:3]) + ones[3:])
    ]
    assert (
        sum(t.nanousd for t in whole)
        == sum(t.nanousd for t in ones)
        == sum(t.nanousd for t in merged(ones, days=False))
    )
