"""FAILURES.md section 2 by name, over real HTTP: nothing lost, nothing twice, the next message works."""

from __future__ import annotations

from pathlib import Path

import pytest

from memhold import AsyncMemhold
from memhold.testing import ChaosServer
from memhold.testing.chaos import FAULTS, Misbind
from tests.consolidation.chains import check_facts_once, check_whole, everything, http_chain, patience

CHAT_FAULTS = [
    name for name, fault in FAULTS.items() if not isinstance(fault.act, Misbind) and name not in {"ok", "refuse"}
]
ROWS = ["openai-quota", "anthropic-overloaded", "lmstudio-unloaded"]
ON_POSTGRESQL = {"openai-quota", "fenced-json", "prose", "html-502", "hang"}
"""What a model fails with there too: a quota, a slip that is mended, a reply that is refused, one that is tried again, one
that never comes. What a fault means is decided before any store is asked; each fault is met on the file."""
MENDED = {"fenced-json", "arguments-string", "arguments-object", "two-calls", "thinking"}
"""Not failures: answers that say everything that was asked for, in a slip that loses nothing."""
SAID = [
    {"role": "user", "content": "My favorite food is sushi."},
    {"role": "assistant", "content": "Noted."},
    {"role": "user", "content": "I live in Oslo."},
]


def test_what_is_tried_on_postgresql_is_there() -> None:
    assert {*CHAT_FAULTS, *ROWS} >= ON_POSTGRESQL


def stores(names: list[str]) -> list[tuple[str, str]]:
    return [("sqlite", name) for name in names] + [("postgresql", name) for name in names if name in ON_POSTGRESQL]


async def one_session(place: str, server: ChaosServer, chain) -> dict:
    async with AsyncMemhold.open(place, worker=False, consolidation=chain) as mem:
        alice = mem.scope(user="alice", session="s1")
        added = list((await alice.add(SAID)).ids)
        await alice.end_session()
        settled = await mem.settle()
        first = await check_whole(alice, added)
        texts = [m.text for m in await everything(alice)]
        assert not any("could not get" in text or "can't help" in text for text in texts)
        # The next message works, and what was left RAW is done when models answer again.
        server.plan.clear()
        server.release()
        added += (await alice.add([{"role": "user", "content": "I work at Acme."}])).ids
        assert (await alice.recall("Acme")).hits
        await alice.end_session()
        assert await mem.settle(timeout=300)
        last = await check_whole(alice, added)
        assert last["raw"] == last["pending"] == 0
        await check_facts_once(alice)
        facts = {m.attribute: m.value for m in await everything(alice) if m.kind == "fact" and m.state == "active"}
        assert facts == {"favorite food": "sushi", "home": "Oslo", "employer": "Acme"}
        status = await alice.status()
        assert (status.raw, status.pending, status.last_error) == (0, 0, None)
    await chain.close()
    return {"settled": settled, **first}


@pytest.mark.parametrize(("lasting", "name"), stores([*CHAT_FAULTS, *ROWS]), indirect=["lasting"])
async def test_one_model_that_fails_keeps_the_window_raw(lasting: str, name: str) -> None:
    async with ChaosServer() as server:
        server.always(name)
        found = await one_session(lasting, server, http_chain(server, "only", seconds=patience(name)))
        if name in MENDED:
            assert (found["settled"], found["raw"]) == (True, 0)
        else:
            assert (found["settled"], found["raw"], found["summary"]) == (False, 3, 0), name


@pytest.mark.parametrize(
    ("lasting", "name"), stores([name for name in CHAT_FAULTS if name not in MENDED]), indirect=["lasting"]
)
async def test_the_next_model_answers_and_each_is_asked_as_often_as_allowed(lasting: str, name: str) -> None:
    async with ChaosServer() as server:
        server.always(name, model="first")
        chain = http_chain(server, "first", "second", seconds=patience(name), then=20.0)
        found = await one_session(lasting, server, chain)
        assert (found["settled"], found["summary"]) == (True, 3)
        asked = [one.model for one in server.requests if "Acme" not in str(one.body)]
        spoilt = FAULTS[name].act.__class__.__name__ == "Spoil"
        assert asked.count("second") == 1
        assert asked.count("first") == 1 if spoilt else 1 <= asked.count("first") <= 2


async def test_a_request_that_no_model_takes_is_set_aside_and_blocks_nobody(lasting: str) -> None:
    async with ChaosServer() as server:
        chain = http_chain(server, "a", "b", "c")
        async with AsyncMemhold.open(lasting, worker=False, consolidation=chain) as mem:
            alice = mem.scope(user="alice", session="s1")
            server.change(rejects=["sushi"])
            poisoned = list((await alice.add(SAID[:2])).ids)
            await alice.end_session()
            await mem.settle()
            status = await alice.status()
            assert (status.raw, status.set_aside, status.due) == (1, 1, {})
            [raw] = [m for m in await everything(alice) if m.kind == "raw"]
            assert raw.metadata["raw"]["reason"] == "poison"
            assert raw.metadata["raw"]["attempts"][0]["cls"] == "poison"
            assert [hit.id for hit in (await alice.recall("sushi", kinds=["raw"])).hits] == [raw.id]
            poisoned += (await alice.add([{"role": "user", "content": "I work at Acme."}])).ids
            await alice.end_session()
            assert await mem.settle(timeout=300)
            assert await check_whole(alice, poisoned) == {"summary": 1, "raw": 2, "pending": 0}
        await chain.close()


async def test_three_models_that_refuse_set_the_window_aside(lasting: str) -> None:
    async with ChaosServer() as server:
        chain = http_chain(server, "a", "b", "c")
        for name, how in (("a", "refusal"), ("b", "refusal-text"), ("c", "content-filter")):
            server.always(how, model=name)
        async with AsyncMemhold.open(lasting, worker=False, consolidation=chain) as mem:
            alice = mem.scope(user="alice", session="s1")
            await alice.add(SAID)
            await alice.end_session()
            await mem.settle()
            [raw] = [m for m in await everything(alice) if m.kind == "raw"]
            assert (raw.metadata["raw"]["reason"], raw.metadata["raw"]["set_aside"]) == ("refused", True)
            server.plan.clear()
            await mem.settle()
            assert (await alice.status()).raw == 1, "it is not tried again by itself"
        await chain.close()


async def test_a_chain_of_the_catalog_that_comes_back_to_itself_asks_each_model_in_its_own_dialect(
    tmp_path: Path, lasting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ChaosServer() as server:
        tables = f"""
[chains]
consolidation = "one"
[models.one]
protocol = "openai-chat"
model = "one"
base_url = "{server.url}/v1"
structured = "tool"
fallback = "two"
[models.two]
protocol = "anthropic-messages"
model = "two"
base_url = "{server.url}"
fallback = "one"
"""
        (tmp_path / "models.toml").write_text(tables)
        monkeypatch.chdir(tmp_path)
        server.always("prose", model="one")
        path = lasting
        async with AsyncMemhold.open(path, worker=False, consolidation="consolidation", models="models.toml") as mem:
            alice = mem.scope(user="alice", session="s1")
            await alice.add(SAID)
            made = await alice.consolidate()
            assert len(made.summaries) == 1
            assert [one.answers for one in (await alice.status()).models.values()] == [True, True]
        assert [(one.model, one.path) for one in server.requests] == [
            ("one", "/v1/chat/completions"),
            ("two", "/v1/messages"),
        ]


TURNS = [
    turn
    for n in range(12)
    for turn in (
        {"role": "user", "content": "Zzyzx." if n == 7 else f"I like tea number {n}."},
        {"role": "assistant", "content": "Noted."},
    )
]


async def test_only_the_turn_that_no_model_takes_is_set_aside(lasting: str) -> None:
    async with ChaosServer() as server:
        chain = http_chain(server, "a", "b", "c")
        server.change(rejects=["Zzyzx"])
        async with AsyncMemhold.open(lasting, worker=False, consolidation=chain) as mem:
            alice = mem.scope(user="alice", session="s1")
            added = list((await alice.add(TURNS)).ids)
            await alice.end_session()
            assert await mem.settle(), "nothing waits for anybody"
            calls = len(server.asked(model="a"))
            assert await check_whole(alice, added) == {"summary": 22, "raw": 2, "pending": 0}
            [raw] = [m for m in await everything(alice) if m.kind == "raw"]
            assert list(raw.sources) == added[14:16]
            assert raw.metadata["raw"]["reason"] == "poison"
            assert raw.metadata["raw"]["set_aside"]
            [summary] = [m for m in await everything(alice) if m.kind == "summary"]
            assert "Zzyzx" not in summary.text
            assert all(f"number {n}" in summary.text for n in range(12) if n != 7)
            assert calls <= 10, "as many as a search by halves takes"
            status = await alice.status()
            assert (status.raw, status.set_aside, status.due.get("redo")) == (1, 1, None)
            [change] = [c for c in await alice.history(summary.id) if c.verb == "consolidate"]
            assert change.detail["set_aside"] == 2
            # The window is one change: undone it is RAW as a whole, done again it is as it was.
            await alice.undo(change.id, redo=True)
            assert await check_whole(alice, added) == {"summary": 0, "raw": 24, "pending": 0}
            assert await mem.settle(timeout=300)
            assert await check_whole(alice, added) == {"summary": 22, "raw": 2, "pending": 0}
        await chain.close()


async def test_a_request_that_is_wrong_as_a_whole_costs_a_bounded_number_of_calls(lasting: str) -> None:
    async with ChaosServer() as server:
        chain = http_chain(server, "a")
        server.change(rejects=["save_memory"])
        async with AsyncMemhold.open(lasting, worker=False, consolidation=chain) as mem:
            alice = mem.scope(user="alice", session="s1")
            added = list((await alice.add([*TURNS, *TURNS, *TURNS])).ids)
            await alice.end_session()
            await mem.settle()
            assert await check_whole(alice, added) == {"summary": 0, "raw": 72, "pending": 0}
            assert (await alice.status()).set_aside == 1
            assert len(server.requests) <= 17
        await chain.close()
