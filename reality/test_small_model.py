"""Real small models on loopback: whatever they answer, no window is lost, and what they made names its sources."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memhold import Memhold
from memhold.facts.quotes import stands
from reality.outside import HERE, PYTHONS, Weights, python_with
from reality.weights import QWEN, SMOLLM
from tests.facts.ten import ENGLISH, KOREAN, Scenario

LINES = [
    {"role": "user", "content": "Hi! I moved from Porto to Lisbon last week, to a flat by the river."},
    {"role": "assistant", "content": "Congratulations! How is the new flat?"},
    {"role": "user", "content": "Bright, but noisy. My dentist, Dr Almeida, is now an hour away."},
    {"role": "assistant", "content": "Would you like help finding one nearby?"},
    {"role": "user", "content": "Yes please. And I am allergic to penicillin, tell them that."},
    {"role": "assistant", "content": "Noted: allergic to penicillin."},
]
CATALOG = """
[models.small]
model = "auto"
base_url = "{url}"
context_window = 16384
timeout = 180
local = true

[chains]
consolidation = "small"
"""


@contextmanager
def served(weights: Weights) -> Iterator[str]:
    """The address of a server with these weights; it is ended at the end."""
    python = python_with(PYTHONS[0], "xllamacpp", name="llama")
    command = [str(python), str(HERE / "model_server.py"), str(weights.folder() / weights.file)]
    server = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={"OMP_WAIT_POLICY": "PASSIVE"},
    )
    try:
        assert server.stdout is not None
        url = next(line.strip() for line in server.stdout if line.startswith("http"))
        yield f"{url}/v1"
    finally:
        server.kill()
        server.communicate()


@pytest.mark.bound(1_500)
@pytest.mark.parametrize("weights", [SMOLLM, QWEN], ids=lambda weights: weights.name)
def test_no_window_is_lost_whatever_the_model_answers(weights: Weights, tmp_path: Path) -> None:
    with served(weights) as url:
        (tmp_path / "models.toml").write_text(CATALOG.format(url=url))
        place = str(tmp_path / "models.toml")
        with Memhold.open(tmp_path / "m.db", models=place, consolidation="consolidation", worker=False) as mem:
            alice = mem.scope(user="alice", session="s1")
            ids = alice.add(LINES).ids
            done = alice.consolidate()
            made = [memory for memory in alice.list().items if memory.origin == "model"]
            for memory in made:
                assert memory.sources, f"{memory!r} names no source"
                assert set(memory.sources) <= set(ids), f"{memory!r} names what was not in its window"
                assert alice.history(memory.id)
            assert len(done.summaries) + len(done.raw) + len(done.set_aside) == 1
            assert done.waiting == 0
            told = f"{len(done.summaries)} summaries, {len(done.raw)} RAW, {[m.text for m in made]}, {done.last_error}"
            print(f"{weights.name}: {told}")
            kept = {message.id: message.text for message in alice.messages()}
            assert [kept[one] for one in ids] == [line["content"] for line in LINES]
            for words, at in (("flat by the river", 0), ("Dr Almeida", 2), ("allergic to penicillin", 4)):
                assert ids[at] in {hit.id for hit in alice.recall(words, kinds=["message"]).hits}
            for window in (*done.summaries, *done.raw):
                assert alice.get(window).text


@pytest.mark.long
@pytest.mark.bound(5_400)
@pytest.mark.parametrize("scenarios", [pytest.param(ENGLISH, id="en"), pytest.param(KOREAN, id="ko")])
def test_the_ten_scenarios_are_counted(scenarios: tuple[Scenario, ...], tmp_path: Path) -> None:
    """How many of ten a small model's facts answer; printed, not judged: whatever it makes, none is invented."""
    language = "en" if scenarios is ENGLISH else "ko"
    counts = {"facts": 0, "context": 0, "stale": 0}
    with served(QWEN) as url:
        (tmp_path / "models.toml").write_text(CATALOG.format(url=url))
        place = str(tmp_path / "models.toml")
        for scenario in scenarios:
            at = tmp_path / f"{scenario.name}.db"
            with Memhold.open(at, models=place, consolidation="consolidation", worker=False) as mem:
                for number, said in enumerate(scenario.said):
                    session = mem.scope(user="alice", session=f"s{number}")
                    session.add([{"role": "user", "content": said.text}, {"role": "assistant", "content": "OK."}])
                    session.end_session()
                    session.consolidate()
                asks = mem.scope(user="alice", session="asks")
                facts = [hit.text for hit in asks.recall(scenario.asks, kinds=["fact"], limit=5).hits]
                context = asks.context([{"role": "user", "content": scenario.asks}], budget=4000).as_text()
                so = [line for line in context.splitlines() if "no longer so: " not in line]
                assert all(one.sources for one in asks.list(kinds=["fact"]).items)
                past = [step.replaces for step in scenario.steps if step.replaces]
                stale = [value for value in past if any(stands(value, fact) for fact in facts)]
                told = all(any(value in fact for fact in facts) for value in scenario.holds) and not stale
                shown = all(any(value in line for line in so) for value in scenario.holds)
                counts = {
                    "facts": counts["facts"] + told,
                    "context": counts["context"] + shown,
                    "stale": counts["stale"] + bool(stale),
                }
                print(f"{language} {scenario.name}: facts {told}, context {shown}, {facts}, stale {stale}", flush=True)
    print(f"{language}, of {len(scenarios)}: {counts}", flush=True)
