"""A session of 60 messages with tool calls comes back from the journal byte for byte, also after a reopening."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from memhold import AsyncMemhold, Memhold
from memhold.testing.verb_suite_sessions import SHAPES

PIECES = (
    "find the train",
    "Wann fährt der Zug?",
    "几点开车",
    "🚆 10:05",
    "tabs\tand\r\nlines",
    '"quoted" \\ back',
    "\x00\ud800",
)


def a_session(seed: int) -> list[dict[str, Any]]:
    """Turns of a user, an assistant that calls tools in either shape, and their results; ids repeat as Ollama's do."""
    random = Random(seed)
    turns: list[dict[str, Any]] = []
    while len(turns) < 60:
        said = " ".join(random.choices(PIECES, k=3))
        turns.append({"role": "user", "content": said, "name": random.choice(["Ann", "Bo"])})
        arguments = json.dumps(
            {"q": said, "n": random.random(), "deep": [{"x": None}]}, indent=random.choice([None, 2])
        )
        if random.random() < 0.5:
            call = {"id": "call_0", "type": "function", "function": {"name": "search", "arguments": arguments}}
            turns.append({"content": None, "tool_calls": [call], "role": "assistant"})
            turns.append({"role": "tool", "tool_call_id": "call_0", "content": random.choice(["", "[]", said])})
        else:
            block = {"type": "tool_use", "id": "t0", "name": "search", "input": json.loads(arguments)}
            turns.append({"role": "assistant", "content": [{"type": "text", "text": said}, block]})
            result = {"type": "tool_result", "tool_use_id": "t0", "content": said, "is_error": random.random() < 0.2}
            turns.append({"role": "user", "content": [result]})
        turns.append({"role": "assistant", "content": said, "x_cost": random.choice([0, 1e-9, 2**80, True])})
        turns.append(dict(random.choice(SHAPES)))
    return turns[:60]


def as_bytes(messages: list[Any]) -> bytes:
    return json.dumps(messages, ensure_ascii=True).encode()


def test_sixty_messages_come_back_byte_for_byte(tmp_path: Path) -> None:
    for seed in range(20):
        session = a_session(seed)
        sent = as_bytes(session)
        said = datetime(2024, 3, 1, 8, 0, 0, 1, tzinfo=UTC)
        times = [said + timedelta(seconds=n, microseconds=n) for n in range(len(session))]
        batch = [{**message, "event_time": moment} for message, moment in zip(session, times, strict=True)]
        with Memhold.open(str(tmp_path / "memory.db"), worker=False) as mem:
            alice = mem.scope(user="alice", session=f"s{seed}")
            cut = Random(seed).randrange(1, 59)
            alice.add(batch[:cut])
            alice.add(batch[cut:])
        with Memhold.open(str(tmp_path / "memory.db"), worker=False) as mem:
            alice = mem.scope(user="alice", session=f"s{seed}")
            found = alice.messages()
            assert as_bytes([dict(message.body) for message in found]) == sent
            assert [message.event_time for message in found] == times
            alice.end_session()
            assert as_bytes([dict(message.body) for message in alice.messages()]) == sent


async def test_what_stood_beside_a_session_and_was_replaced_is_in_no_byte(tmp_path: Path) -> None:
    async with AsyncMemhold.open(str(tmp_path / "memory.db"), worker=False, embedding="none") as mem:
        scope = mem.scope(user="alice", session="s")
        await scope.set_session_metadata({"draft": "SECRETZEBRA", "title": "Porto"})
        await scope.set_session_metadata({"title": "Porto"})
        await mem.settle()
        assert dict((await scope.residue("SECRETZEBRA")).found) == {}
