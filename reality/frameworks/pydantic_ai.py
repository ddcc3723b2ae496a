"""A pydantic-ai agent over Memhold, with pydantic-ai's own models for tests."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from pathlib import Path
from typing import Any

from pydantic_ai import Agent, BinaryContent, ImageUrl
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from memhold import Memhold
from memhold.integrations.pydantic_ai import MemholdHistory, MemholdToolset

ROLES = ["user", "assistant", "user", "assistant", "tool", "assistant"]
SEEN: list[list[Any]] = []


def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """It calls a tool when a prompt says so."""
    del info
    SEEN.append(messages)
    last: Any = messages[-1].parts[-1]
    said = last.content if isinstance(last, UserPromptPart) else ""
    for asked, tool, args in (
        ("look up", "look_up", {"what": "cat"}),
        ("recall", "memhold_recall", {"query": "What is the cat called?"}),
        ("keep", "memhold_remember", {"text": "The cat likes tuna."}),
    ):
        if asked in said:
            return ModelResponse(parts=[ToolCallPart(tool, args, tool_call_id="c1")])
    return ModelResponse(parts=[TextPart("It is so.")])


def agent_over(mem: Memhold, *, user: str = "alice", model: Any = model) -> Agent[None, str]:
    """An agent with the tools of memory."""
    chosen = model if isinstance(model, TestModel) else FunctionModel(model)
    agent = Agent(chosen, toolsets=[MemholdToolset(mem, user=user)], instructions="Be brief.")

    @agent.tool_plain
    def look_up(what: str) -> dict[str, str]:
        """Look something up."""
        return {what: "called Mochi"}

    return agent


def history_of(mem: Memhold, session: str, **options: Any) -> MemholdHistory:
    return MemholdHistory(mem, user="alice", session=session, **options)


def say(agent: Agent[None, str], history: MemholdHistory, *texts: str) -> str:
    """What the agent answers to the last of some lines."""
    answer = ""
    for text in texts:
        done = agent.run_sync(text, message_history=history.messages_sync())
        history.add_sync(done)
        answer = done.output
    return answer


def roles_of(mem: Memhold, session: str) -> list[str | None]:
    return [one.role for one in mem.scope(user="alice", session=session).messages()]


def first(folder: Path) -> None:
    with Memhold.open(folder / "memory.db", worker=False) as mem:
        say(agent_over(mem), history_of(mem, "s1"), "My cat is called Mochi.", "Please look up my cat.")
        print("told", flush=True)
        time.sleep(600)


def second(folder: Path) -> None:
    with Memhold.open(folder / "memory.db", worker=False) as mem:
        scope = mem.scope(user="alice", session="s1")
        assert roles_of(mem, "s1") == ROLES, scope.messages()
        assert scope.messages()[3].body["tool_calls"][0]["function"]["name"] == "look_up"
        say(agent_over(mem), history_of(mem, "s1"), "What is my cat called?")
        assert "My cat is called Mochi." in str(SEEN[-1]), SEEN[-1]
        assert SEEN[-1][4].parts[0].content == {"cat": "called Mochi"}, SEEN[-1]
        by_tools(mem)
        as_it_was_added(mem)
        repaired(mem)
        asyncio.run(in_a_running_loop(mem))
        asyncio.run(two_users_at_once(mem))
    a_store_that_is_gone(mem)


def by_tools(mem: Memhold) -> None:
    """What was recalled is fenced, what is kept is the agent's word; with TestModel too, which calls every tool."""
    agent = agent_over(mem)
    history = history_of(mem, "s2")
    say(agent, history, "Please recall my cat.")
    told = SEEN[-1][-1].parts[0].content
    assert "memhold-recall" in told, told
    assert "user, " in told, told
    assert "My cat is called Mochi." in told, told
    say(agent, history, "Please keep that.")
    kept = mem.scope(user="alice").list(kinds=["note"]).items
    assert [(one.text, one.origin) for one in kept] == [("The cat likes tuna.", "agent")], kept
    tested = Agent(TestModel(), toolsets=[MemholdToolset(mem, user="erin", id="memory")])
    assert "memhold_recall" in tested.run_sync("Anything?").output


def as_it_was_added(mem: Memhold) -> None:
    """What comes back equals what was added, and each message is added once."""
    said: list[Any] = [
        ModelRequest(
            parts=[
                SystemPromptPart("Be kind."),
                UserPromptPart(["Look: ", ImageUrl("http://a/b.png"), BinaryContent(b"\0\1", media_type="image/png")]),
            ]
        ),
        ModelResponse(
            parts=[
                ThinkingPart("Hm.", signature="sealed", provider_name="x"),
                TextPart("I look."),
                ToolCallPart("look", {"a": 1}, tool_call_id="c1"),
                ToolCallPart("look", '{"a": 2}', tool_call_id="c2"),
            ],
            model_name="m",
        ),
        ModelRequest(
            parts=[
                ToolReturnPart("look", [1, {"b": 2}], tool_call_id="c1", metadata={"c": 3}),
                ToolReturnPart("look", "a zebra", tool_call_id="c2"),
                UserPromptPart("And?"),
            ],
            instructions="Be brief.",
        ),
        ModelResponse(parts=[ThinkingPart("Unsigned."), TextPart("It is a zebra.")], metadata={"mood": "good"}),
    ]
    history = history_of(mem, "s3")
    history.add_sync(said)
    history.add_sync(said)
    found = history_of(mem, "s3").messages_sync()
    said[2].instructions = None
    said[3].parts = said[3].parts[1:]
    assert found == ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(said)), found
    again = history_of(mem, "s3")
    again.add_sync(again.messages_sync())
    assert len(roles_of(mem, "s3")) == 6, roles_of(mem, "s3")
    mem.scope(user="alice", session="s3").add({"role": "user", "content": "From elsewhere."})
    assert "From elsewhere." in str(history.messages_sync()[-1])


def repaired(mem: Memhold) -> None:
    """A window of any size, and one whose end was lost, is one that providers take."""
    agent = agent_over(mem)
    for most in range(1, 9):
        say(agent, history_of(mem, "s1", most=most), "Please look up my cat.")
        sent = SEEN[-1]
        assert any(isinstance(part, UserPromptPart) for part in sent[0].parts), sent
        calls = [part.tool_call_id for one in sent for part in one.parts if isinstance(part, ToolCallPart)]
        results = [part.tool_call_id for one in sent for part in one.parts if isinstance(part, ToolReturnPart)]
        assert calls == results, sent
    history = history_of(mem, "s4")
    history.add_sync([ModelRequest(parts=[UserPromptPart("Look.")])])
    history.add_sync([ModelResponse(parts=[ToolCallPart("look_up", {"what": "cat"}, tool_call_id="c9")])])
    assert len(history.messages_sync(keep_open=True)) == 2
    say(agent, history, "And now?")
    assert isinstance(SEEN[-1][2].parts[0], ToolReturnPart), SEEN[-1]


async def in_a_running_loop(mem: Memhold) -> None:
    """Streamed, cancelled, and by code that is not async in a running loop."""
    agent, history = agent_over(mem, model=TestModel(call_tools=[])), history_of(mem, "s5")
    async with agent.run_stream("One.", message_history=await history.messages()) as run:
        async for _ in run.stream_text():
            pass
    await history.add(run.new_messages())
    assert roles_of(mem, "s5") == ["user", "assistant"]
    assert len(history.messages_sync()) == 2
    writing = asyncio.create_task(history.add([ModelRequest(parts=[UserPromptPart("Cancelled.")])]))
    await asyncio.sleep(0)
    writing.cancel()
    await asyncio.gather(writing, return_exceptions=True)
    await history.add([ModelRequest(parts=[UserPromptPart("Two.")])])
    said = [one.text for one in mem.scope(user="alice", session="s5").messages() if one.role == "user"]
    assert said == ["One.", "Cancelled.", "Two."], said


async def two_users_at_once(mem: Memhold) -> None:
    """Each is told its own."""
    for user, home in (("bob", "Lisbon"), ("carol", "Oslo")):
        mem.scope(user=user).add({"role": "user", "content": f"The cat lives in {home}."})
    done = await asyncio.gather(*(agent_over(mem, user=user).run("Please recall it.") for user in ("bob", "carol")))
    assert "Lisbon" in str(done[0].all_messages())
    assert "Oslo" not in str(done[0].all_messages())


def a_store_that_is_gone(mem: Memhold) -> None:
    """It ends no run: the model is told, and what waits is still there."""
    logging.getLogger("memhold.integrations").setLevel(logging.CRITICAL)
    agent, history = agent_over(mem), history_of(mem, "s9")
    assert say(agent, history, "Please recall my cat.", "And now?") == "It is so."
    assert "Please recall my cat." in str(SEEN[-1])
    assert "not there now" in str(SEEN[-1])


if __name__ == "__main__":
    mode, folder = sys.argv[1:]
    {"first": first, "second": second}[mode](Path(folder))
