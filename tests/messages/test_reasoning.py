"""What a model thought before it spoke is no speech: not read, not found, not sent again; and it refuses no call."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memhold import AsyncMemhold
from memhold.messages.ingest import attribute, parse_messages
from memhold.messages.shapes import spoken, without_reasoning

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<think>The user likes tea.</think>\n\nTea it is.", "Tea it is."),
        ("\n<think>\n\n</think>\n\nTea it is.", "Tea it is."),
        ("<think>one</think> <think>two</think>Tea it is.", "Tea it is."),
        ("<thinking>hm</thinking>Tea it is.", "Tea it is."),
        ("<think>cut off in the mid", ""),
        ("The user likes tea.\n</think>\n\nTea it is.", "Tea it is."),
        ("</think>\nTea it is.", "Tea it is."),
        ("Tea it is.", "Tea it is."),
        ("Models write <think>hm</think> before they answer.", "Models write <think>hm</think> before they answer."),
        ("It ends with </think> as a rule.", "It ends with </think> as a rule."),
        ("Like so:\n<think>\nhm\n</think>\nand on.", "Like so:\n<think>\nhm\n</think>\nand on."),
        ("I think so.", "I think so."),
    ],
)
def test_thoughts_in_front_of_an_answer_are_left_out(text: str, said: str) -> None:
    assert spoken(text) == said


def test_many_thoughts_cost_no_more_than_their_length() -> None:
    assert spoken("<think></think>" * 60_000 + "Yes.") == "Yes."


@pytest.mark.parametrize(
    "turn",
    [
        {"role": "assistant", "content": "<think>CANARY</think>Tea it is."},
        {"role": "assistant", "content": "Tea it is.", "reasoning_content": "CANARY"},
        {"role": "assistant", "content": "Tea it is.", "reasoning": "CANARY", "reasoning_details": [{"text": "CANARY"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "<think>CANARY</think>Tea it is."}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "CANARY"}, {"type": "text", "text": "Tea it is."}]},
    ],
)  # fmt: skip
async def test_a_thought_is_kept_and_neither_read_nor_found_nor_sent(turn: dict[str, Any]) -> None:
    async with AsyncMemhold.open("memory://", worker=False, embedding="none") as memhold:
        scope = memhold.scope(user="ann", session="s")
        asked = {"role": "user", "content": "Tea or coffee?"}
        await scope.add([asked, turn])
        _, kept = await scope.messages()
        assert (kept.text, dict(kept.body)) == ("Tea it is.", turn)
        assert [one.written_by for one in kept.passages] == ["assistant"]
        assert not [hit for hit in (await scope.recall("CANARY")).hits if "CANARY" in hit.text]
        window = await scope.context({"role": "user", "content": "And now?"}, budget=2000)
        (sent,) = [one for one in window.messages if one["role"] == "assistant"]
        assert sent["content"] in ("Tea it is.", [{"type": "text", "text": "Tea it is."}])
        assert "CANARY" not in str(window.messages)


@pytest.mark.parametrize(
    "turn",
    [
        {"role": "assistant", "content": ""},
        {"role": "assistant", "content": None},
        {"role": "assistant", "content": []},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "assistant", "content": None, "reasoning_content": "hm"},
        {"role": "assistant", "content": "<think>hm</think>"},
        {"role": "assistant", "content": "<think>hm"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}]},
    ],
)
@pytest.mark.parametrize("shape", ["openai", "anthropic"])
async def test_a_turn_without_a_word_refuses_no_call_and_no_window(turn: dict[str, Any], shape: Any) -> None:
    (draft,) = parse_messages([turn], now=NOW)
    assert (draft.text, attribute(draft, "user").writers) == ("", ("assistant",))
    async with AsyncMemhold.open("memory://", worker=False, embedding="none") as memhold:
        scope = memhold.scope(user="ann", session="s")
        await scope.add([{"role": "user", "content": "Hello?"}, turn, {"role": "user", "content": "Are you there?"}])
        assert [one.body for one in await scope.messages()][1] == turn
        for now in (None, {"role": "user", "content": "Well?"}):
            window = await scope.context(now, budget=2000, shape=shape)
            spoken_of = [one for one in window.messages if one["role"] == "assistant"]
            assert not [one for one in spoken_of if not one.get("content") or one["content"] == "<think>hm</think>"]


def test_what_is_no_thought_stays_the_very_same() -> None:
    for body in (
        {"role": "assistant", "content": "I think so."},
        {"role": "user", "content": "<think>I typed this</think>", "reasoning": "mine"},
        {"role": "assistant", "content": [{"type": "text", "text": "a"}]},
    ):
        assert without_reasoning(body) is body
    (draft,) = parse_messages([{"role": "user", "content": "<think>I typed this</think>"}], now=NOW)
    assert draft.text == "<think>I typed this</think>"
