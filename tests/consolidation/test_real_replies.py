"""What Qwen2.5-Coder-1.5B answered about the five sessions of the bundled conversation, read again.

`demo_replies.json` holds its replies in order, as `python -m benchmarks real --asked turns` kept them.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.real import demo_windows, holds
from memhold import Memhold
from memhold.consolidate.asking import PURPOSE
from memhold.ports.models import ChatReply, ChatRequest, ToolCall, Usage
from memhold.providers.stepwise import Stepwise
from memhold.values.errors import ModelError

REPLIES = json.loads(Path(__file__).with_name("demo_replies.json").read_text(encoding="utf-8"))


class Recorded:
    """Gives the replies in their order, as calls or as text with the arguments in it; it answers nothing else."""

    name = "qwen2.5-coder-1.5b"

    def __init__(self, *, bare: bool) -> None:
        self.left, self.bare = iter(REPLIES), bare

    async def chat(self, request: ChatRequest) -> ChatReply:
        if request.purpose != PURPOSE:
            raise ModelError("not recorded", model=self.name, cls="next", reason="not recorded")
        held = next(self.left)
        calls = tuple(ToolCall(id=one, name=name, arguments=given) for one, name, given in held["calls"])
        usage = Usage(input_tokens=held["usage"][0], output_tokens=held["usage"][1])
        if self.bare and calls:
            text = f"Sure.\n\n```json\n{json.dumps(dict(calls[0].arguments), ensure_ascii=False)}\n```"
            return ChatReply(model=self.name, text=text, finish="stop", usage=usage)
        return ChatReply(model=self.name, text=held["text"], tool_calls=calls, finish=held["finish"], usage=usage)


@pytest.mark.parametrize("bare", [False, True], ids=["calls", "text"])
def test_every_window_is_taken_and_what_it_invented_is_not_told(bare: bool) -> None:  # noqa: FBT001 - a case
    windows = demo_windows()
    with Memhold.open("memory://", worker=False, embedding="none", consolidation=Stepwise(Recorded(bare=bare))) as mem:
        for window in windows:
            scope = mem.scope(user="mina", session=window.session)
            scope.add(list(window.messages))
            assert scope.consolidate().summaries
        mina = mem.scope(user="mina")
        kept = [one.text for one in mina.list(kinds=["fact", "note", "summary"], limit=1_000).items]
        made = [one for one in mina.list(kinds=["fact", "note"], limit=1_000).items if one.origin == "model"]
    golds = [gold for window in windows for gold in window.golds]
    assert sum(any(holds(text, gold) for text in kept) for gold in golds) >= 0.6 * len(golds)
    # It took a flight number for a town ("from Seoul to Keelung"), and the cat for the user ("birth date").
    assert all(one.quote for one in made)
    told = [one for one in made if one.standing == "stated"]
    said = " ".join(one.text for one in told)
    assert "Keelung" not in said
    assert "birth" not in said
    assert not any(one.text.startswith("message:") for one in told)
    # What it put under attributes that say nothing ("request", "goal", "date") is in doubt, with what the user said.
    assert not any(one.text.startswith(("request:", "goal:", "date:", "weather:")) for one in told)
    [asked] = [one for one in made if one.text == "request: KE916"]
    assert (asked.quote, asked.standing) == ("KE916 please, I'm no good at six in the morning.", "doubtful")
