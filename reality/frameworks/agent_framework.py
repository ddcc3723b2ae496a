"""An agent of the Agent Framework over Memhold, with a client that needs no network."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
)

from memhold import Memhold
from memhold.integrations.agent_framework import MemholdContextProvider, MemholdHistoryProvider
from memhold.providers.vocabularies import count_of

ROLES = ["user", "assistant", "user", "assistant", "tool", "assistant"]


class Client(FunctionInvocationLayer[Any], ChatMiddlewareLayer[Any], BaseChatClient[Any]):
    """It calls a tool when a line says so, and keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.sent: list[Sequence[Message]] = []

    def _inner_get_response(self, *, messages: Sequence[Message], stream: bool, options: Any, **rest: Any) -> Any:
        del rest
        self.sent.append(list(messages))
        told = [str(options.get("instructions") or "")]
        self.seen.append("\n".join([*told, *(f"{one.role}: {one.text}" for one in messages)]))
        contents: list[Content] = [Content.from_text("It is so.")]
        if messages[-1].role == "user" and "look up" in messages[-1].text:
            contents = [Content.from_function_call("c1", "look_up", arguments='{"what": "cat"}')]

        async def answered() -> ChatResponse:
            return ChatResponse(messages=[Message("assistant", contents)])

        async def pieces() -> AsyncIterator[ChatResponseUpdate]:
            yield ChatResponseUpdate(role="assistant", contents=contents)
            if "hang" in messages[-1].text:
                await asyncio.sleep(600)

        return ResponseStream(pieces(), finalizer=ChatResponse.from_updates) if stream else answered()


def look_up(what: str) -> str:
    """Look something up."""
    return f"a {what} called Mochi"


def agent_over(mem: Memhold, *, history: bool = True, known: bool = True, user: str = "alice", **options: Any) -> Agent:
    """An agent with memory of a user's."""
    providers: list[Any] = [MemholdHistoryProvider(mem, user=user, **options)] if history else []
    providers += [MemholdContextProvider(mem, user=user)] if known else []
    return Agent(client=Client(), tools=[look_up], context_providers=providers)


async def say(agent: Agent, session: str | AgentSession, *texts: str) -> str:
    """What the agent answers to the last of some lines."""
    held = agent.create_session(session_id=session) if isinstance(session, str) else session
    answer = ""
    for text in texts:
        answer = (await agent.run(text, session=held)).text
    return answer


def roles_of(mem: Memhold, session: str, user: str = "alice") -> list[str | None]:
    return [one.role for one in mem.scope(user=user, session=session).messages()]


def first(folder: Path) -> None:
    with Memhold.open(folder / "memory.db", worker=False) as mem:
        asyncio.run(say(agent_over(mem), "s1", "My cat is called Mochi.", "Please look up my cat."))
        asyncio.run(say(agent_over(mem, history=False), "b1", "My dog is called Rex.", "Please look up my dog."))
        print("told", flush=True)
        time.sleep(600)


def second(folder: Path) -> None:
    with Memhold.open(folder / "memory.db", worker=False) as mem:
        for session in ("s1", "b1"):
            assert roles_of(mem, session) == ROLES, mem.scope(user="alice", session=session).messages()
            calls = mem.scope(user="alice", session=session).messages()[3].body["tool_calls"]
            assert calls[0]["function"]["name"] == "look_up"
        for history, session, told in ((True, "s1", "My cat is called Mochi."), (False, "b1", "My dog is called Rex.")):
            for name in (session, f"{session}-other"):
                agent = agent_over(mem, history=history)
                asyncio.run(say(agent, name, "What is it called?"))
                assert agent.client.seen[-1].count(told) == 1, agent.client.seen[-1]
            assert roles_of(mem, session) == [*ROLES, "user", "assistant"]
        asyncio.run(as_it_was_saved(mem))
        asyncio.run(broken_off(mem))
        asyncio.run(with_the_history_of_the_framework(mem))
        asyncio.run(each_call_by_itself(mem))
        asyncio.run(two_users_at_once(mem))
        asyncio.run(counted_as_the_model_counts(mem))
    asyncio.run(a_store_that_is_gone(mem))


async def counted_as_the_model_counts(mem: Memhold) -> None:
    """The model of the run, else the agent's, says whose tokens the budget is of."""
    with patch("memhold.integrations.sdk.conversation.count_of", wraps=count_of) as counts:
        providers = [MemholdContextProvider(mem, user="erin")]
        agent = Agent(client=Client(), default_options={"model": "gpt-5"}, context_providers=providers)
        await say(agent, "c1", "My parrot is called Kiwi.")
        await agent.run("What is it called?", session=agent.create_session(session_id="c2"), options={"model": "gpt-4"})
    named = [one.args[0] for one in counts.call_args_list]
    assert named == ["gpt-5", "gpt-4"], named


async def as_it_was_saved(mem: Memhold) -> None:
    """What is loaded equals what was saved, but for thoughts; and all of it is recalled by its words."""
    said = [
        Message("system", ["Be brief."]),
        Message(
            "user", ["Look at ", "this.", Content.from_uri("http://a/b.png", media_type="image/png")], author_name="A"
        ),
        Message(
            "assistant",
            [
                Content.from_text_reasoning(text="Hm.", protected_data="sealed"),
                Content.from_text("I look."),
                Content.from_function_call("c1", "look", arguments='{"a": 1}'),
                Content.from_function_call("c2", "look", arguments="{}"),
            ],
            message_id="m1",
            additional_properties={"mood": "good"},
        ),
        Message(
            "tool",
            [
                Content.from_function_result("c1", result="a zebra"),
                Content.from_function_result(
                    "c2", result=[Content.from_text("x"), Content.from_uri("http://a/c.png", media_type="image/png")]
                ),
            ],
        ),
        Message("assistant", ["It is a zebra."]),
        Message("assistant", []),
    ]
    provider = MemholdHistoryProvider(mem, user="alice")
    await provider.save_messages("whole", said)
    found = await MemholdHistoryProvider(mem, user="alice").get_messages("whole")
    assert [one.to_dict() for one in found] == [one.to_dict() for one in said], [one.to_dict() for one in found]
    newest = await MemholdHistoryProvider(mem, user="alice", most=3).get_messages("whole")
    assert [one.role for one in newest][-2:] == ["assistant", "assistant"]
    hits = mem.scope(user="alice").recall("zebra").hits
    assert {"a zebra", "It is a zebra."} <= {one.text for one in hits}, hits
    mem.scope(user="alice", session="mixed").add({"role": "user", "content": "From elsewhere."})
    assert [one.text for one in await provider.get_messages("mixed")] == ["From elsewhere."]


async def broken_off(mem: Memhold) -> None:
    """A call without a result has one that says so; a stream that is cancelled keeps what the user said, once."""
    provider = MemholdHistoryProvider(mem, user="alice")
    call = Message("assistant", [Content.from_function_call("c1", "look_up", arguments="{}")])
    orphan = Message("tool", [Content.from_function_result("c9", result="whose?")])
    await provider.save_messages("open", [orphan, Message("user", ["Look."]), call])
    agent = agent_over(mem)
    await say(agent, "open", "And now?")
    sent = [one for one in agent.client.sent[-1] if "memhold-recall" not in one.text]
    assert [one.role for one in sent] == ["user", "assistant", "tool", "user"], agent.client.seen[-1]
    assert "no result" in sent[2].contents[0].result
    agent = agent_over(mem, history=False)
    session = agent.create_session(session_id="cancelled")
    async for _ in agent.run("Remember the milk, then hang.", session=session, stream=True):
        break
    assert roles_of(mem, "cancelled") == ["user"]
    async for _ in agent.run("Remember the milk, then look.", session=session, stream=True):
        pass
    assert roles_of(mem, "cancelled") == ["user", "user", "assistant"]


async def with_the_history_of_the_framework(mem: Memhold) -> None:
    """Its own history, loaded behind memory: a turn is recorded once, and what it sends is not said again."""
    agent = agent_over(mem, history=False)
    session = agent.create_session(session_id="s3")
    await say(agent, session, "My boat is called Nina.", "yes", "no", "What is my boat called?")
    assert agent.client.seen[-1].count("My boat is called Nina.") == 1, agent.client.seen[-1]
    assert roles_of(mem, "s3") == ["user", "assistant"] * 4
    again = agent_over(mem, history=False)
    await say(again, AgentSession.from_dict(session.to_dict()), "And my cat?")
    assert roles_of(mem, "s3") == ["user", "assistant"] * 5


async def each_call_by_itself(mem: Memhold) -> None:
    """History that is kept with each call of the model has the same messages."""
    provider = MemholdHistoryProvider(mem, user="alice")
    agent = Agent(
        client=Client(),
        tools=[look_up],
        context_providers=[provider],
        require_per_service_call_history_persistence=True,
    )
    await say(agent, "s6", "My cat is called Mochi.", "Please look up my cat.")
    assert roles_of(mem, "s6") == ROLES, mem.scope(user="alice", session="s6").messages()


async def two_users_at_once(mem: Memhold) -> None:
    """Each is told its own, from one process and sessions of one name."""
    agents = {user: agent_over(mem, user=user) for user in ("bob", "carol")}
    homes = {"bob": "Lisbon", "carol": "Oslo"}
    await asyncio.gather(*(say(agents[one], "s1", f"I live in {homes[one]}.") for one in agents))
    await asyncio.gather(*(say(agents[one], "s2", "Where do I live?") for one in agents))
    assert "Lisbon" in agents["bob"].client.seen[-1]
    assert "Oslo" not in agents["bob"].client.seen[-1]
    assert [len(roles_of(mem, "s1", one)) for one in agents] == [2, 2]


async def a_store_that_is_gone(mem: Memhold) -> None:
    """It ends no run; what waits is still loaded."""
    logging.getLogger("memhold.integrations").setLevel(logging.CRITICAL)
    for history in (True, False):
        agent = agent_over(mem, history=history)
        assert await say(agent, "s9", "Are you there?", "And now?") == "It is so."
        assert "Are you there?" in agent.client.seen[-1]


if __name__ == "__main__":
    mode, folder = sys.argv[1:]
    {"first": first, "second": second}[mode](Path(folder))
