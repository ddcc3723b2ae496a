"""The running conversation: whole while it fits, cut at its oldest turns where it does not, one prefix for many turns."""

import re
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhold import AsyncMemhold
from memhold.context.build import build
from memhold.context.gather import WindowRead
from memhold.context.plan import Inputs, Request
from memhold.errors import TooLarge
from tests.context.test_build import SECRET, SHAPES, faults, journal, memory
from tests.messages.effort import tried
from tests.messages.histories import histories

every = tried(100)
NEW = {"role": "user", "content": "What did we find?"}


def turn(number, shape="openai", words=8):
    """A turn with a tool call, whose result holds a detail that nothing else says."""
    asked = {"role": "user", "content": f"Please look at room {number}. " + "It rains here. " * (number % words)}
    found = f"Detail D{number:03}X: the valve is open. " + "All else is quiet. " * (3 * (number % words))
    told = {"role": "assistant", "content": f"I looked at room {number}. " + "It is fine. " * (number % words)}
    if shape == "openai":
        call = {"id": "call_0", "type": "function", "function": {"name": "look", "arguments": '{"q": "rain"}'}}
        result = {"role": "tool", "tool_call_id": "call_0", "content": found}
        return [asked, {"role": "assistant", "content": None, "tool_calls": [call]}, result, told]
    use = {"type": "tool_use", "id": "call_0", "name": "look", "input": {"q": "rain"}}
    result = {"type": "tool_result", "tool_use_id": "call_0", "content": found}
    return [asked, {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}, told]


def turns(count, shape="openai", words=8):
    return [body for number in range(count) for body in turn(number, shape, words)]


def details(messages):
    return re.findall(r"D\d{3}X", str(messages))


def apart(context):
    """What is sent without the fence before the newest message, each as text: what a prompt cache compares."""
    bodies = [{"role": "system", "content": context.system or ""}]
    bodies += [one for one in context.messages if one["role"] == "system"]
    for one in context.messages:
        content = one["content"]
        if isinstance(content, list):
            content = [part for part in content if "<memhold-recall " not in str(part.get("text"))]
            content = content[0]["text"] if len(content) == 1 and content[0]["type"] == "text" else content
        if "<memhold-recall " not in str(content):
            bodies.append({**one, "content": content})
    return [str(one) for one in bodies]


async def grown(scope, count, shape, budget, *, noted=None):
    """The contexts of a conversation that grows by a turn each, asked before each turn is stored."""
    for number in range(count):
        said = turn(number, shape)
        yield await scope.context([said[0]], budget=budget, shape=shape)
        await scope.add(said)
        if noted is not None:
            await noted(number)


@pytest.mark.parametrize("shape", SHAPES)
async def test_fifty_stored_turns_are_whole_at_a_large_budget_and_each_begins_with_the_one_before(shape):
    async with AsyncMemhold.open("memory://", worker=False, embedding="none") as memhold:
        await memhold.scope(user="alice", session="before").add(turns(20, shape))
        before = []
        async for context in grown(memhold.scope(user="alice", session="s"), 50, shape, 100_000):
            now = apart(context)
            assert now[: len(before)] == before
            assert len(now) == len(before) + (4 if before else 2)
            assert not [one for one in context.dropped if one.slot == "window"]
            before = now


@pytest.mark.parametrize("passed", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
async def test_thirty_turns_with_tools_that_fit_hold_every_detail(shape, passed):
    async with AsyncMemhold.open("memory://", worker=False, embedding="none") as memhold:
        alice = memhold.scope(user="alice", session="s")
        await memhold.scope(user="alice", session="before").add(
            [{"role": "user", "content": f"In room {n} we found a valve."} for n in range(30)]
        )
        if not passed:
            await alice.add(turns(29, shape))
        given_ = [*(turns(29, shape) if passed else ()), NEW]
        context = await alice.context(given_, budget=16_000, shape=shape)
        assert len({*details(apart(context))}) == 29
        assert context.used > 3_000
        assert "we found a valve" in context.as_text(), "memory has what remains"


async def test_a_conversation_is_whole_to_the_last_token_where_nothing_else_is_remembered():
    history = journal(turns(30), "openai")
    gathered = Inputs(given=[NEW], window=WindowRead(messages=history))
    request = Request(budget=50_000, reserve=0, strategy="adaptive", shape="openai", threshold=0)
    used = build(gathered, request, secret=SECRET).used
    exact = build(gathered, replace(request, budget=used), secret=SECRET)
    assert (exact.used, exact.dropped) == (used, ())
    less = build(gathered, replace(request, budget=used - 1), secret=SECRET)
    assert {one.reason for one in less.dropped} == {"budget"}
    assert 0.4 * used < less.used < used
    assert less.messages[0] == history[len(history) + 1 - len(less.messages)].body
    assert less.messages[0]["role"] == "user", "it begins with a whole turn"


@pytest.mark.parametrize("passed", [False, True])
async def test_what_was_cut_is_told_as_memory_where_the_question_asks_for_it(passed):
    told = {"role": "user", "content": "The code of the blue locker is 4711."}
    async with AsyncMemhold.open("memory://", worker=False, embedding="none") as memhold:
        alice = memhold.scope(user="alice", session="s")
        said = [told, {"role": "assistant", "content": "Noted."}, *turns(60)]
        await alice.add(said)
        asked = {"role": "user", "content": "What is the code of the blue locker?"}
        context = await alice.context([*(said if passed else ()), asked], budget=3_000)
        assert told not in context.messages
        assert details(context.messages)[-1] == "D059X"
        [fence] = [one["content"] for one in context.messages if "<memhold-recall " in str(one["content"])]
        assert "4711" in fence


async def test_the_turn_before_the_newest_message_stands_in_a_small_budget():
    async with AsyncMemhold.open("memory://", worker=False, embedding="none") as memhold:
        alice = memhold.scope(user="alice", session="s")
        before = []
        for number in range(30):
            said = turn(number)
            context = await alice.context([said[0]], budget=1_600)
            sent = [one for one in context.messages if "<memhold-recall " not in str(one["content"])]
            assert sent[-1 - len(before) :] == [*before, said[0]]
            await alice.add(said)
            before = said


@pytest.mark.parametrize("shape", SHAPES)
async def test_where_it_overflows_its_beginning_stays_for_many_turns(shape):
    kept, before = [], []
    async with AsyncMemhold.open("memory://", worker=False, embedding="none") as memhold:
        async for context in grown(memhold.scope(user="alice", session="s"), 100, shape, 8_000):
            now = apart(context)
            kept.append(now[: len(before)] == before)
            before = now
            assert context.used <= 7_600
    assert sum(kept[50:]) >= 40, f"{sum(kept[50:])} of 50"


@pytest.mark.parametrize("budget", [1_500, 6_000, 60_000])
async def test_the_system_message_changes_only_when_the_user_states_something(budget):
    """Not with the question, not as the conversation outgrows the budget, not when an agent or a tool notes something."""
    async with AsyncMemhold.open("memory://", worker=False, embedding="none") as memhold:
        alice = memhold.scope(user="alice", session="s")
        await memhold.scope(user="alice", session="before").add({"role": "user", "content": "Never use emojis."})
        for number in range(40):
            await alice.remember(attribute=f"favorite {number}", value=f"rain {number}")
        agent = memhold.scope(user="alice", session="s", actor="agent:crew")

        async def noted(number):
            await agent.remember(attribute=f"valve {number}", value="open")
            await agent.remember(f"Room {number} is dry.")

        heads = set()
        async for context in grown(alice, 40, "openai", budget, noted=noted):
            [head] = [one["content"] for one in context.messages if one["role"] == "system"]
            heads.add(head)
            assert "noted by" not in head
        assert len(heads) == 1
        assert "Never use emojis." in head
        await alice.add({"role": "user", "content": "Always answer in metric units."})
        context = await alice.context([NEW], budget=budget)
        assert "metric units" in context.messages[0]["content"], "at once, and not some turns later"


async def test_a_session_of_more_messages_than_are_read_keeps_its_beginning():
    async with AsyncMemhold.open("memory://", worker=False, embedding="none") as memhold:
        alice = memhold.scope(user="alice", session="s")
        said = [{"role": ("user", "assistant")[n % 2], "content": f"{n}."} for n in range(2_400)]
        await alice.add(said[:2_200])
        firsts = set()
        for at in range(2_200, 2_400, 10):
            context = await alice.context([NEW], budget=100_000)
            shown = [one for one in context.messages if "<memhold-recall " not in str(one["content"])]
            firsts.add(shown[0]["content"])
            assert len(shown) > 660
            assert shown[-2]["content"] == said[at - 1]["content"]
            await alice.add(said[at : at + 10])
    assert len(firsts) == 1


@pytest.mark.parametrize("shape", SHAPES)
async def test_each_message_of_a_smaller_budget_stands_in_a_larger_one(shape):
    async with AsyncMemhold.open("memory://", worker=False, embedding="none") as memhold:
        alice = memhold.scope(user="alice", session="s")
        await memhold.scope(user="alice", session="before").add(
            [{"role": "user", "content": f"In room {n} we found a valve."} for n in range(60)]
        )
        for number in range(30):
            await alice.remember(attribute=f"favorite {number}", value=f"rain {number}")
        await alice.add(turns(60, shape))
        held, sizes = [], []
        for budget in (300, 500, 800, 1_200, 1_700, 2_500, 3_600, 5_000, 7_000, 8_400, 9_500, 13_000, 17_000, 24_000):
            context = await alice.context([NEW], budget=budget, shape=shape)
            assert faults(list(context.messages), context.system, shape) == []
            found = details(apart(context))
            assert {*held} <= {*found}, budget
            held, sizes = found, [*sizes, len(found)]
        assert sizes[-1] == 60
        assert len({*sizes}) > 4


@pytest.mark.parametrize("shape", SHAPES)
def test_no_step_of_the_budget_loses_a_message_of_the_window(shape):
    gathered = Inputs(given=[NEW], window=WindowRead(messages=journal(turns(40, shape), shape)))
    request = Request(budget=1, reserve=0, strategy="adaptive", shape=shape, threshold=0)
    left = []
    for budget in range(300, 10_000, 61):
        context = build(gathered, replace(request, budget=budget), secret=SECRET)
        left.append({one.id for one in context.dropped if one.slot == "window" and one.reason == "budget"})
        assert left[-1] <= left[max(0, len(left) - 2)], budget
    assert not left[-1]
    assert len({len(one) for one in left}) > 8


def test_no_step_of_the_budget_loses_a_message_of_the_window_beside_a_long_profile():
    profile = [memory(number, f"likes rain {number}" + " and wind" * (number * 7 % 11)) for number in range(60)]
    before = [{"role": "user", "content": f"In room {number} we once found a broken valve."} for number in range(60)]
    said = [replace(one, id=f"msg_b{one.seq:031x}", session="before") for one in journal(before, "openai")]
    window = WindowRead(messages=journal(turns(12), "openai", first=100))
    gathered = Inputs(given=[NEW], window=window, profile=profile, messages=said)
    request = Request(budget=1, reserve=0, strategy="adaptive", shape="openai", threshold=0)
    left = []
    for budget in range(800, 1_400, 3):
        context = build(gathered, replace(request, budget=budget), secret=SECRET)
        left.append({one.id for one in context.dropped if one.slot == "window" and one.reason == "budget"})
        assert left[-1] <= left[max(0, len(left) - 2)], budget


@st.composite
def running(draw):
    shape = draw(st.sampled_from(SHAPES))
    held = [body for part in draw(st.lists(histories(shape), min_size=2, max_size=8)) for body in part]
    long = draw(st.integers(5, 40))
    held = [
        {**body, "content": body["content"] + " rain" * long} if isinstance(body.get("content"), str) else body
        for body in held
    ]
    gathered = Inputs(
        given=[NEW],
        window=WindowRead(messages=journal(held, shape, first=100)),
        profile=[memory(number, "likes rain " * draw(st.integers(1, 9))) for number in range(draw(st.integers(0, 5)))],
        messages=journal([{"role": "user", "content": "rain " * 20}] * draw(st.integers(0, 4)), "openai", first=1),
    )
    budget = draw(st.integers(150, 1_500))
    request = Request(budget=budget, reserve=0, strategy="adaptive", shape=shape, threshold=0)
    return gathered, request, draw(st.integers(1, 500))


@every
@given(running())
def test_any_conversation_with_tools_fits_is_valid_and_loses_nothing_to_a_larger_budget(case):
    gathered, request, more = case
    left = []
    for budget in (request.budget, request.budget + more):
        try:
            context = build(gathered, replace(request, budget=budget), secret=SECRET)
        except TooLarge:
            return
        assert faults(list(context.messages), context.system, request.shape) == []
        assert context.used <= budget
        left.append({one.id for one in context.dropped if one.slot == "window" and one.reason == "budget"})
    assert left[1] <= left[0]


@pytest.mark.parametrize("stored", SHAPES)
@pytest.mark.parametrize("shape", SHAPES)
async def test_what_a_message_of_the_window_lost_is_told_where_the_question_asks_for_it(shape, stored):
    lines = [f"03:{n % 60:02} INFO request {n * 7919} took {n % 900} ms" for n in range(700)]
    log = "\n".join([*lines[:420], "03:11 FATAL disk quota exceeded, code E-4711", *lines[420:]])
    said = turn(0, stored)
    result = said[2] if stored == "openai" else said[2]["content"][0]
    result["content"] = log
    if stored == "anthropic":  # one message of theirs is two of the other shape
        said[2]["content"].append({"type": "text", "text": "And be quick."})
    async with AsyncMemhold.open("memory://", worker=False, embedding="none") as memhold:
        alice = memhold.scope(user="alice", session="s")
        await alice.add(said)
        for budget in (300, 500, 1_000, 2_000, 4_000, 8_000):
            context = await alice.context(
                [{"role": "user", "content": "Which FATAL was it?"}], budget=budget, shape=shape
            )
            assert "code E-4711" in context.as_text(), budget
            assert faults(list(context.messages), context.system, shape) == []


async def test_a_threshold_of_turns_puts_memory_first_for_whoever_asks_for_it():
    async with AsyncMemhold.open("memory://", worker=False, embedding="none") as memhold:
        alice = memhold.scope(user="alice", session="s")
        await alice.add(turns(18))
        asked = partial(alice.context, [NEW], budget=100_000)
        assert (await asked(crossover_turn_threshold=20)).strategy == "adaptive"
        await alice.add(turn(18))
        assert (await asked(crossover_turn_threshold=20)).strategy == "memory_first"
        assert (await asked()).strategy == (await asked(crossover_turn_threshold=0)).strategy == "adaptive"


@pytest.mark.parametrize("long", [1, 3])
def test_a_long_message_loses_no_more_than_the_others_need(long):
    pages = [{"role": "user", "content": f"page {number}: " + "word " * 8000} for number in range(long)]
    said = [body for page in pages for body in (page, {"role": "assistant", "content": "Read."})]
    kept = {}
    for budget in (4000, 6000, 8000):
        request = Request(budget=budget, reserve=0, strategy="adaptive", shape="openai", threshold=0)
        made = build(Inputs(given=[*said, NEW]), request, secret=SECRET)
        kept[budget] = sum(str(body["content"]).count("word ") for body in made.messages)
        assert len(made.messages) == len(said) + 1
    assert kept[8000] > 8000 * 0.4 if long == 1 else kept[8000] > 8000 * 0.3
    assert kept[4000] < kept[6000] < kept[8000]
