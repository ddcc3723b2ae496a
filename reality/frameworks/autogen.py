"""An AutoGen agent over Memhold, with a model that needs no network."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from autogen_agentchat.agents import AssistantAgent
from autogen_core import FunctionCall
from autogen_core.memory import MemoryContent
from autogen_core.model_context import BufferedChatCompletionContext, ChatCompletionContext
from autogen_core.models import CreateResult, LLMMessage, RequestUsage, UserMessage
from autogen_ext.models.replay import ReplayChatCompletionClient

from memhold import Memhold
from memhold.errors import MemholdError
from memhold.integrations.autogen import MemholdMemory
from memhold.providers.vocabularies import count_of

SEEN: list[Sequence[LLMMessage]] = []


class Model(ReplayChatCompletionClient):
    """AutoGen's own replay client, which keeps what it was sent, and looks a cat up by a tool when it hears of one."""

    def __init__(self) -> None:
        known = {"function_calling": True, "vision": False, "json_output": False, "structured_output": False}
        super().__init__(["It is so."] * 99, model_info={**known, "family": "unknown"})

    async def create(self, messages: Sequence[LLMMessage], **options: Any) -> CreateResult:
        """One answer."""
        SEEN.append(list(messages))
        if isinstance(messages[-1], UserMessage) and "look up" in str(messages[-1].content):
            call = FunctionCall(id="c1", name="look_up", arguments='{"what": "cat"}')
            usage = RequestUsage(prompt_tokens=1, completion_tokens=1)
            return CreateResult(finish_reason="function_calls", content=[call], usage=usage, cached=False)
        return await super().create(messages, **options)


async def look_up(what: str) -> str:
    """Looks something up."""
    return f"a {what} called Mochi"


def agent_over(memory: MemholdMemory, context: ChatCompletionContext | None = None) -> AssistantAgent:
    return AssistantAgent(
        "helper", Model(), tools=[look_up], memory=[memory], max_tool_iterations=3, model_context=context
    )


async def say(agent: AssistantAgent, *texts: str) -> str:
    """What the agent answers to the last of some lines."""
    answer = ""
    for text in texts:
        answer = str((await agent.run(task=text)).messages[-1].content)
    return answer


async def told(memory: MemholdMemory) -> None:
    agent = agent_over(memory)
    await say(agent, "My cat is called Mochi.", "Please look up my cat.")
    await memory.record(agent.model_context)


def first(folder: Path) -> None:
    with Memhold.open(folder / "memory.db", worker=False) as mem:
        asyncio.run(told(MemholdMemory(mem.scope(user="alice", session="s1"))))
        print("told", flush=True)
        time.sleep(600)


def second(folder: Path) -> None:
    with Memhold.open(folder / "memory.db", worker=False) as mem:
        scope = mem.scope(user="alice", session="s1")
        roles = ["user", "assistant", "user", "assistant", "tool", "assistant"]
        assert [one.role for one in scope.messages()] == roles, scope.messages()
        assert scope.messages()[3].body["tool_calls"][0]["function"]["name"] == "look_up"
        for session in ("s2", "s1"):  # another one, and the same whose context went with its process
            memory = MemholdMemory(mem.scope(user="alice", session=session))
            asyncio.run(say(agent_over(memory), "What is my cat called?"))
            assert "My cat is called Mochi." in str(SEEN[-1]), SEEN[-1]
        asyncio.run(said_again(mem))
        asyncio.run(asked(mem))
        asyncio.run(many_turns(mem))
        asyncio.run(counted_as_the_model_counts(mem))
    gone = MemholdMemory(mem.scope(user="alice", session="s9"))
    logging.getLogger("memhold.integrations").setLevel(logging.CRITICAL)
    assert asyncio.run(say(agent_over(gone), "Are you there?")) == "It is so.", "a store that is gone ends no turn"
    try:
        asyncio.run(gone.add(MemoryContent(content="Lost.", mime_type="text/plain")))
    except MemholdError:
        return
    raise AssertionError("a note that is not kept does not look as if it were")


async def said_again(mem: Memhold) -> None:
    """The same question to a new agent, as in a new process, is a new turn, and its reply is recorded too."""
    for turn in (1, 2):
        memory = MemholdMemory(mem.scope(user="alice", session="s5"))
        agent = agent_over(memory)
        await say(agent, "Any news?")
        await memory.record(agent.model_context)
        await memory.record(agent.model_context)
        roles = [one.role for one in mem.scope(user="alice", session="s5").messages()]
        assert roles == ["user", "assistant"] * turn, roles


async def many_turns(mem: Memhold) -> None:
    """Turns that leave a short context are kept once and found; what memory adds stands once, before the question."""
    scope = mem.scope(user="alice", session="s3")
    agent = agent_over(MemholdMemory(scope), BufferedChatCompletionContext(buffer_size=5))
    lines = [f"Box {number} holds the colour {number * 7} of the list." for number in range(9)]
    await say(agent, *lines, "What does box 0 hold?")
    said = [one.text for one in scope.messages() if one.role == "user"]
    assert said == [*lines, "What does box 0 hold?"], said
    added = [one for one in SEEN[-1] if isinstance(one, UserMessage) and one.source == "memhold"]
    assert len(added) == 1, SEEN[-1]
    assert lines[0] in str(added[0].content)
    assert SEEN[-1][-1].content == "What does box 0 hold?"
    other = MemholdMemory(mem.scope(user="alice", session="s4"))
    context = BufferedChatCompletionContext(buffer_size=5)
    await context.add_message(UserMessage(content="I am another agent.", source="planner"))
    await other.update_context(context)
    assert [one.role for one in mem.scope(user="alice", session="s4").messages()] == ["assistant"]


async def counted_as_the_model_counts(mem: Memhold) -> None:
    """The model that the program names says whose tokens the budget is of."""
    with patch("memhold.integrations.sdk.conversation.count_of", wraps=count_of) as counts:
        await say(agent_over(MemholdMemory(mem.scope(user="erin", session="c1"), model="gpt-5")), "My parrot is Kiwi.")
    named = [one.args[0] for one in counts.call_args_list]
    assert set(named) == {"gpt-5"}, named


async def asked(mem: Memhold) -> None:
    """Notes by the program: kept, found, and taken away; another user's stay apart."""
    memory = MemholdMemory(mem.scope(user="bob", session="s1"), erase=True)
    await memory.add(MemoryContent(content="Bob likes oolong.", mime_type="text/plain", metadata={"by": "form"}))
    await memory.add(MemoryContent(content={"tea": "sencha"}, mime_type="application/json"))
    found = (await memory.query("oolong")).results
    assert found[0].content == "Bob likes oolong.", found
    long = (await memory.query(f"{'x ' * 20_000} oolong")).results
    assert long[0].content == found[0].content, "a question may stand at the end of a whole file"
    assert found[0].metadata is not None
    assert found[0].metadata["by"] == "form"
    assert not (await MemholdMemory(mem.scope(user="carol")).query("oolong")).results
    await memory.clear()
    assert not (await memory.query("")).results


if __name__ == "__main__":
    mode, folder = sys.argv[1:]
    {"first": first, "second": second}[mode](Path(folder))
