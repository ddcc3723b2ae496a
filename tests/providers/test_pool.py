"""The pool: chains made from the catalog share their models, and work over real HTTP."""

from __future__ import annotations

from random import Random

import pytest
from chain_fakes import Scripted, a_request

from memhold.errors import ChainFailed, InvalidSetting
from memhold.providers.catalog import load_catalog
from memhold.providers.chain import Accepted, Rejected
from memhold.providers.ledger import Ledger
from memhold.providers.pool import ChainSettings, ChatPool
from memhold.providers.wrappers import Backoff
from memhold.testing.chaos import ChaosServer
from memhold.wiring.system import SystemClock

CHAIN = """
[chains]
consolidation = "a"
conversation = "b"
[models.a]
model = "m-a"
protocol = "openai-chat"
base_url = "{url}"
structured = "tool"
api_key_env = "KEY_A"
fallback = "b"
[models.b]
model = "m-b"
protocol = "anthropic-messages"
base_url = "{url}"
api_key_env = "KEY_B"
fallback = "c"
[models.c]
model = "m-c"
protocol = "ollama-chat"
base_url = "{url}"
fallback = "a"
[models.last]
model = "rules"
protocol = "rules"
"""


@pytest.fixture
async def server():
    async with ChaosServer() as running:
        yield running


def a_pool(server, keys, **options):
    catalog = load_catalog("", CHAIN.format(url=server.url))
    settings = ChainSettings(backoff=Backoff(first=0.001))
    clock = SystemClock()
    return ChatPool(catalog, keys=keys.get, clock=clock, dice=Random(1), settings=settings, **options)


async def test_auth_goes_on_to_the_next_provider_and_the_link_is_out_until_its_key_changes(server):
    keys = {"KEY_A": "old", "KEY_B": "key-b"}
    pool = a_pool(server, keys)
    server.always("openai-key", model="m-a")
    chain = pool.chain("consolidation")
    for _ in range(3):
        assert (await chain.chat(a_request())).model == "b"
    assert [len(server.asked(model=name)) for name in ("m-a", "m-b", "m-c")] == [1, 3, 0]
    assert pool.states()["a"].cls == "auth"
    server.always(None, model="m-a")
    keys["KEY_A"] = "new"
    assert (await chain.chat(a_request())).model == "a"
    assert server.asked(model="m-a")[-1].headers["authorization"] == "Bearer new"
    await pool.close()


async def test_a_poison_stops_the_chain_at_once(server):
    pool = a_pool(server, {"KEY_A": "a", "KEY_B": "b"})
    server.always("gateway-wrapped", model="m-a")
    with pytest.raises(ChainFailed) as caught:
        await pool.chain("consolidation").chat(a_request())
    assert (caught.value.advice, len(server.requests)) == ("poison", 1)
    await pool.close()


async def test_a_cycle_in_the_catalog_asks_each_once(server):
    ledger = Ledger({}, clock=SystemClock())
    pool = a_pool(server, {"KEY_A": "a", "KEY_B": "b"}, observe=ledger.observe)
    server.always("anthropic-overloaded")
    with pytest.raises(ChainFailed) as caught:
        await pool.chain("consolidation").chat(a_request())
    assert [one.model for one in caught.value.attempts] == ["a", "a", "a", "b", "c"]
    assert [one.model for one in server.requests] == ["m-a"] * 3 + ["m-b", "m-c"]
    assert [(tally.model, tally.calls, tally.retries) for tally in ledger.take()] == [
        ("a", 3, 2),
        ("b", 1, 0),
        ("c", 1, 0),
    ]
    await pool.close()


async def test_chains_share_a_models_breaker(server):
    pool = a_pool(server, {"KEY_A": "a", "KEY_B": "b"})
    server.always("openrouter-credits", model="m-b")
    assert (await pool.chain("conversation").chat(a_request())).model == "c"
    server.always("openrouter-credits", model="m-a")
    assert (await pool.chain("consolidation").chat(a_request())).model == "c"
    assert len(server.asked(model="m-b")) == 1
    await pool.close()


async def test_rules_are_a_link_when_somebody_makes_them(server):
    made = a_pool(server, {}, own={"rules": lambda entry: Scripted(entry.name)})
    assert (await made.chain("last").chat(a_request())).text == "fine"
    with pytest.raises(InvalidSetting, match="rules"):
        a_pool(server, {}).chain("last")


def the_entry(reply):
    """The check of a task: exactly one call of the tool, complete, with what was asked for."""
    if reply.finish == "length" or [call.name for call in reply.tool_calls] != ["save_memory"]:
        return Rejected(reason="not one whole call of the tool")
    arguments = reply.tool_calls[0].arguments
    entry = arguments.get("history_entry") if isinstance(arguments, dict) else None
    return entry if isinstance(entry, str) and entry else Rejected(reason="no history_entry")


@pytest.mark.parametrize(
    "fault",
    [
        "prose", "wrong-tool", "empty-arguments", "null-arguments", "arguments-broken", "arguments-string",
        "arguments-list", "cut-at-limit", "two-calls", "refusal-text", "refusal", "content-filter", "empty-reply",
        "error-text", "sse-error", "sse-cut", "truncated-json",
    ],
)  # fmt: skip
async def test_half_of_all_failures_look_like_success_and_none_is_taken_for_one(server, fault):
    pool = a_pool(server, {"KEY_A": "a", "KEY_B": "b"})
    server.always(fault, model="m-a")
    outcome = await pool.chain("consolidation").ask(a_request(), the_entry)
    assert isinstance(outcome, Accepted)
    assert outcome.reply.model == "b"
    assert len(server.asked(model="m-a")) == 1
    assert outcome.attempts[0].cls in {"resample", "next"}
    await pool.close()


async def test_a_link_that_hangs_is_waited_for_once(server):
    text = CHAIN.format(url=server.url).replace('model = "m-a"', 'model = "m-a"\ntimeout = 0.2')
    pool = ChatPool(load_catalog("", text), keys=lambda _: "k", clock=SystemClock(), dice=Random(1))
    server.always("hang", model="m-a")
    outcome = await pool.chain("consolidation").ask(a_request(), the_entry)
    assert [(one.model, one.cls) for one in outcome.attempts] == [("a", "retry"), ("b", None)]
    assert len(server.asked(model="m-a")) == 1
    await pool.close()
    server.release()
