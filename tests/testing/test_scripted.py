"""The doubles of models that ship."""

from __future__ import annotations

import numpy as np
import pytest

from memhold.errors import InvalidInput, ModelError
from memhold.ports.models import ChatReply, ChatRequest, ChatTurn, Tool
from memhold.testing import HashEmbedding, ScriptedChat, ScriptedEmbedding

TOOL = Tool(
    name="save_memory",
    description="",
    parameters={"type": "object", "properties": {"history_entry": {"type": "string"}}},
)


def request(text, tool=TOOL, **more):
    return ChatRequest(system="Extract.", turns=(ChatTurn(role="user", text=text),), purpose="test", tool=tool, **more)


async def test_a_script_is_followed_then_it_is_sensible():
    failed = ModelError("no", model="x", cls="retry")
    reply = ChatReply(model="x", text="given")
    chat = ScriptedChat(
        [{"history_entry": "mine"}, "only words", failed, reply, lambda r: ChatReply(model="f", text=r.purpose)]
    )
    asked = request("[m1] user: I live in Oslo")
    assert (await chat.chat(asked)).tool_calls[0].arguments == {"history_entry": "mine"}
    assert (await chat.chat(asked)).text == "only words"
    with pytest.raises(ModelError):
        await chat.chat(asked)
    assert await chat.chat(asked) is reply
    assert (await chat.chat(asked)).text == "test"
    assert chat.waiting == 0
    sensible = await chat.chat(asked)
    assert (sensible.finish, sensible.tool_calls[0].name) == ("tool", "save_memory")
    assert sensible.tool_calls[0].arguments == {"history_entry": "I live in Oslo"}
    assert len(chat.asked) == 6


async def test_what_comes_otherwise_and_limits():
    chat = ScriptedChat(otherwise=ModelError("no", model="x", cls="park"))
    for _ in range(3):
        with pytest.raises(ModelError):
            await chat.chat(request("x"))
    short = await ScriptedChat().chat(request("word " * 100, max_tokens=5))
    assert short.finish == "length"
    assert isinstance(short.tool_calls[0].arguments, str)
    assert (await ScriptedChat().chat(request("hello", tool=None))).text == "You said: hello"
    with pytest.raises(InvalidInput):
        await ScriptedChat([{"a": 1}]).chat(request("x", tool=None))


async def test_the_hash_embedding():
    model = HashEmbedding(32)
    vectors = await model.embed(["the cat sat", "a cat sat", "tax return"], purpose="document")
    assert vectors.shape == (3, 32)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]
    assert (await model.embed([], purpose="query")).shape == (0, 32)
    assert model.fingerprint != HashEmbedding(64).fingerprint
    with pytest.raises(InvalidInput, match="text 1"):
        await model.embed(["x", ""], purpose="query")
    with pytest.raises(InvalidInput):
        HashEmbedding(0)


async def test_a_scripted_embedding():
    poison = ModelError("bad", model="x", cls="poison")
    model = ScriptedEmbedding([ModelError("no", model="x", cls="retry"), None], poison=["BAD"], poison_error=poison)
    with pytest.raises(ModelError, match="no"):
        await model.embed(["a"], purpose="query")
    assert (await model.embed(["a"], purpose="query")).shape == (1, 64)
    with pytest.raises(ModelError, match="bad"):
        await model.embed(["a", "so BAD"], purpose="document")
    assert [(one.texts, one.purpose) for one in model.asked] == [
        (("a",), "query"),
        (("a",), "query"),
        (("a", "so BAD"), "document"),
    ]
    with pytest.raises(InvalidInput):
        ScriptedEmbedding(poison=["x"])
