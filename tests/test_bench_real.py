"""The benchmark of real models: replies are kept and replayed, and an answer is held only with its numbers."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from benchmarks.real import everyday_windows, holds, run
from memhold.testing.chaos import ChaosServer

WORLD = [
    {
        "name": "one",
        "sessions": [
            {
                "id": "s1",
                "messages": [
                    {
                        "id": "m1",
                        "role": "user",
                        "content": "I keep nine hives in Utrecht.",
                        "time": "2026-01-02T10:00:00+00:00",
                    },
                    {"id": "m2", "role": "assistant", "content": "Nice.", "time": "2026-01-02T10:01:00+00:00"},
                ],
            }
        ],
        "questions": [
            {"q": "How many hives?", "gold": ["m1"], "answer": "nine hives in Utrecht"},
            {"q": "And elsewhere?", "gold": ["m1", "m9"], "answer": "not in these messages alone"},
        ],
    }
]


@pytest.mark.parametrize("asked", ["whole", "turns"])
async def test_what_a_model_answered_is_kept_and_a_later_run_asks_nobody(tmp_path: Path, asked) -> None:
    data = tmp_path / "world.json"
    data.write_text(json.dumps(WORLD))
    windows = everyday_windows(data, 5)
    assert windows[0].golds == ("nine hives in Utrecht",)
    server = ChaosServer()
    await server.start()
    line = f"{server.url}/v1#m"
    first = await asyncio.to_thread(lambda: list(run(line, tmp_path / "keep", windows, asked=asked)))
    count = len(server.requests)
    await server.stop()
    again = await asyncio.to_thread(lambda: list(run(line, tmp_path / "keep", windows, asked=asked)))
    assert count == (1 if asked == "whole" else 2)
    steady = [(row.name, row.value) for row in first if "seconds" not in row.name]
    assert steady == [(row.name, row.value) for row in again if "seconds" not in row.name]
    assert ("windows taken", "1 of 1") in steady


def test_an_answer_is_held_by_its_numbers_and_half_of_its_words() -> None:
    assert holds("user | savings = 6,300 pounds in the joint pot", "6,300 pounds in the joint pot")
    assert not holds("user | savings = 6,200 pounds in the joint pot", "6,300 pounds in the joint pot")
    assert not holds("user | home = Leeds", "Forty lengths at the Corrie baths")
    assert holds("The user swims 40 lengths at the Corrie baths.", "Forty lengths at the Corrie baths")
