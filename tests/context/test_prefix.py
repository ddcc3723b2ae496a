"""Where a whole history does not fit, its beginning stays for many turns, so that a prompt cache holds the prefix."""

from random import Random

import pytest

from memhold.context.build import build
from memhold.context.cuts import cut
from memhold.context.gather import WindowRead
from memhold.context.plan import Inputs, Request
from memhold.context.window_messages import Piece
from memhold.text.token_estimate import Counted
from tests.context.test_build import SECRET, journal, memory

TURNS = 200
CALL = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def said(random, low, high):
    return " ".join(random.choices(["rain", "harbour", "42", "Lisbon,", "the", "of"], k=random.randint(low, high)))


def conversation(random, turns):
    made = []
    for number in range(turns):
        made.append({"role": "user", "content": f"question {number} {said(random, 5, 60)}"})
        if number % 3 == 0:
            made.append({"role": "assistant", "content": None, "tool_calls": [CALL]})
            made.append({"role": "tool", "tool_call_id": "c", "content": said(random, 20, 150)})
        made.append({"role": "assistant", "content": said(random, 10, 120)})
    return made


@pytest.mark.parametrize("shape", ["openai", "anthropic"])
def test_of_two_hundred_turns_over_the_budget_most_keep_the_prefix(shape):
    random, count = Random(1), Counted()
    history = conversation(random, TURNS + 60)
    messages = journal(history, "openai")
    places = [at for at, body in enumerate(history) if body["role"] == "user"][-TURNS:]
    request = Request(
        budget=8000, reserve=1000, strategy="full_history", shape=shape, threshold=20, count=count, tokenizer="estimate"
    )
    before, kept = [], 0
    for at in places:
        gathered = Inputs(
            given=[{"role": "system", "content": "be nice"}, history[at]],
            window=WindowRead(messages=messages[:at][-300:], older=max(0, at - 300)),
            profile=[memory(10 + number, f"likes {number}") for number in range(8)],
            memories=[memory(100 + number, said(random, 3, 40)) for number in range(random.randint(20, 30))],
        )
        context = build(gathered, request, secret=SECRET)
        assert context.dropped
        assert {one.reason for one in context.dropped if one.slot == "window"} == {"budget"}
        assert 0.55 * request.available <= context.used <= request.available
        lead = [context.system, *map(str, context.messages)]
        # The prefix is all that stood before the last turn's recalled memory and newest message.
        kept += bool(before) and lead[: len(before) - 2] == before[:-2]
        before = lead
    assert kept >= 0.75 * TURNS, f"{kept} of {TURNS} turns keep the prefix"


def test_a_cut_history_is_a_pure_function_of_messages_and_budget_and_uses_most_of_it():
    history = conversation(Random(2), 120)
    pieces = [Piece(body=body, id=str(at), seq=at) for at, body in enumerate(history, start=1)]
    cost = lambda body: len(str(body))  # noqa: E731 - in characters
    starts = []
    for budget in range(6_000, 30_000, 1_500):
        for end in range(200, len(pieces), 7):
            held = pieces[:end]
            window = cut(held, None, "openai", budget=budget, cost=cost, leave=budget // 3)
            used = sum(map(cost, window.messages))
            assert budget * (2 / 3) - max(map(cost, history)) * 4 <= used <= budget
            assert window.messages[0]["role"] == "user"
            assert {one.reason for one in window.dropped} <= {"budget"}
            again = cut(held, None, "openai", budget=budget, cost=cost, leave=budget // 3)
            assert again.messages == window.messages
            starts.append(len(window.dropped))
    assert len(set(starts)) > 10


def test_the_callers_own_history_keeps_its_beginning_too():
    history = conversation(Random(3), 120)
    request = Request(budget=4000, reserve=500, strategy="full_history", shape="openai", threshold=20, count=Counted())
    first = []
    for at in (at for at, body in enumerate(history) if body["role"] == "user" and at > 150):
        messages = build(Inputs(given=history[: at + 1]), request, secret=SECRET).messages
        first.append(messages[0]["content"])
        assert messages[-1] == history[at]
    assert len(set(first)) <= len(first) / 3


@pytest.mark.parametrize("shape", ["openai", "anthropic"])
def test_a_history_without_any_legal_beginning_is_cut_all_the_same(shape):
    pieces = [Piece(body={"role": "assistant", "content": f"{number} " + "word " * 9}) for number in range(5)]
    window = cut(pieces, None, shape, budget=100, cost=lambda _: 60)
    assert len(window.messages) <= 5
