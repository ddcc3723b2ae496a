"""A Strands agent over Memhold, with a model that needs no network."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from strands import Agent, tool
from strands.memory import MemoryManager
from strands.models.model import Model

from memhold import Memhold
from memhold.errors import MemholdError
from memhold.integrations.strands_agents import MemholdMemoryStore

ROLES = ["user", "assistant", "user", "assistant", "tool", "assistant"]


class Fake(Model):
    """It calls a tool when a line says so, and keeps what it was sent."""

    calls = (("look up", "look_up", '{"what": "cat"}'), ("search", "search_memory", '{"query": "cat"}'))

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def update_config(self, **config: Any) -> None:
        """It has none."""

    def get_config(self) -> dict[str, Any]:
        """It has none."""
        return {}

    def structured_output(self, *args: Any, **options: Any) -> Any:
        """It gives none."""
        raise NotImplementedError

    async def stream(self, messages: Any, *args: Any, **options: Any) -> AsyncIterator[Any]:
        """One answer, in pieces."""
        del args, options
        self.seen.append(messages)
        said = messages[-1]["content"][0].get("text", "")  # behind it stands what memory put there
        called = next((one for one in self.calls if one[0] in said), None)
        yield {"messageStart": {"role": "assistant"}}
        if called is None:
            yield {"contentBlockDelta": {"delta": {"text": "It is so."}}}
        else:
            start = {"toolUse": {"toolUseId": "c1", "name": called[1]}}
            yield {"contentBlockStart": {"start": start}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": called[2]}}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if called is None else "tool_use"}}


class Hanging(Fake):
    """It never answers."""

    async def stream(self, messages: Any, *args: Any, **options: Any) -> AsyncIterator[Any]:
        """Nothing."""
        del messages, args, options
        await asyncio.sleep(600)
        yield {}


@tool
def look_up(what: str) -> str:
    """Look something up."""
    return f"a {what} called Mochi"


def agent_over(mem: Memhold, session: str, *, model: Fake | None = None, user: str = "alice") -> Agent:
    """An agent with memory of one session of a user's."""
    memory = MemoryManager(stores=[MemholdMemoryStore(mem, user=user, session=session)], add_tool_config=True)
    return Agent(model=model or Fake(), tools=[look_up], memory_manager=memory, callback_handler=None)


def seen_by(agent: Agent) -> str:
    """The last message that the model was sent, with what memory put to it."""
    return str(agent.model.seen[-1][-1]["content"])


def roles_of(mem: Memhold, session: str) -> list[str | None]:
    return [one.role for one in mem.scope(user="alice", session=session).messages()]


def first(folder: Path) -> None:
    with Memhold.open(folder / "memory.db", worker=False) as mem:
        agent = agent_over(mem, "s1")
        agent("My cat is called Mochi.")
        agent("Please look up my cat.")
        print("told", flush=True)
        time.sleep(600)


def second(folder: Path) -> None:
    with Memhold.open(folder / "memory.db", worker=False) as mem:
        scope = mem.scope(user="alice", session="s1")
        assert roles_of(mem, "s1") == ROLES, scope.messages()
        assert scope.messages()[3].body["tool_calls"][0]["function"]["name"] == "look_up"
        assert scope.messages()[4].text.count("a cat called Mochi") == 1
        for session in ("s2", "s1"):  # another one, and the same whose agent went with its process
            agent = agent_over(mem, session)
            agent("What is my cat called?")
            assert "user: My cat is called Mochi." in seen_by(agent), seen_by(agent)
            # What was asked in s2 is found in s1, or is one hit with what was just asked there, which is left out.
            asked = seen_by(agent).count("What is my cat called?")
            assert asked in ((1,) if session == "s2" else (1, 2)), seen_by(agent)
        assert roles_of(mem, "s1") == [*ROLES, "user", "assistant"]
        memory_is_not_learnt_again(mem)
        asyncio.run(in_a_running_loop(mem))
        asyncio.run(killed_while_the_model_thinks(mem))
        asyncio.run(two_users_at_once(mem))
        notes_by_the_agent(mem)
    a_store_that_is_gone(mem)


def memory_is_not_learnt_again(mem: Memhold) -> None:
    """What the agent sends itself is not brought; what memory answered to a tool is not recorded."""
    agent = agent_over(mem, "s3")
    agent("My dog is called Rex.")
    agent("Rex the dog likes my cat.")
    assert "called Rex" not in seen_by(agent), seen_by(agent)
    agent("Please search for it.")
    assert "Mochi" in str(agent.messages), agent.messages
    assert roles_of(mem, "s3") == ["user", "assistant"] * 3


async def in_a_running_loop(mem: Memhold) -> None:
    """A turn is durable when it ends, streamed, by code that is not async, and on a loop that ends with it."""
    agent = agent_over(mem, "s4")
    async for _ in agent.stream_async("One."):
        pass
    assert roles_of(mem, "s4") == ["user", "assistant"]
    agent("Two.")
    for text in ("Three.", "Four."):
        await asyncio.to_thread(asyncio.run, agent.invoke_async(text))
    said = [one.text for one in mem.scope(user="alice", session="s4").messages() if one.role == "user"]
    assert said == ["One.", "Two.", "Three.", "Four."], said


async def killed_while_the_model_thinks(mem: Memhold) -> None:
    """What the user said is durable before the model has answered, and once only when the turn is broken off."""
    agent = agent_over(mem, "s5", model=Hanging())
    turn = asyncio.create_task(agent.invoke_async("Remember the milk."))
    scope = mem.scope(user="alice", session="s5")
    async with asyncio.timeout(120):
        while not scope.messages():  # noqa: ASYNC110 - another thread writes it
            await asyncio.sleep(0.02)
    turn.cancel()
    await asyncio.gather(turn, return_exceptions=True)
    assert [one.text for one in scope.messages()] == ["Remember the milk."]


async def two_users_at_once(mem: Memhold) -> None:
    """Each is told its own."""
    agents = [agent_over(mem, "s1", user=user) for user in ("bob", "carol")]
    for text in ("I live in {}.", "Where do I live?"):
        await asyncio.gather(
            *(agent.invoke_async(text.format(place)) for agent, place in zip(agents, ("Lisbon", "Oslo"), strict=True))
        )
    texts = [[one.text for one in mem.scope(user=user, session="s1").messages()] for user in ("bob", "carol")]
    assert [one[0] for one in texts] == ["I live in Lisbon.", "I live in Oslo."], texts
    assert [len(one) for one in texts] == [4, 4]
    again = [agent_over(mem, "s2", user=user) for user in ("bob", "carol")]
    await asyncio.gather(*(agent.invoke_async("Where do I live?") for agent in again))
    assert "Lisbon" in seen_by(again[0])
    assert "Oslo" not in seen_by(again[0])


def notes_by_the_agent(mem: Memhold) -> None:
    """A note is the agent's word."""
    store = MemholdMemoryStore(mem, user="dora", session="s1")
    ident = asyncio.run(store.add("Dora drinks oolong.", {"by": "form"}))
    found = asyncio.run(store.search("oolong", {"max_search_results": 1}))
    assert [one.content for one in found] == ["Dora drinks oolong."], found
    assert found[0].metadata["id"] == ident
    assert (found[0].metadata["origin"], found[0].metadata["by"]) == ("agent", "form"), found
    long = asyncio.run(store.search(f"{'x ' * 20_000} oolong", {"max_search_results": 5_000}))
    assert long[0].content == found[0].content, "a question may stand at the end of a whole file"


def a_store_that_is_gone(mem: Memhold) -> None:
    """It ends no turn; what is asked for says so."""
    for name in ("memhold.integrations", "strands"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    agent = agent_over(mem, "s9")
    assert str(agent("Are you there?")).strip() == "It is so."
    assert str(asyncio.run(agent.invoke_async("And now?"))).strip() == "It is so."
    store = MemholdMemoryStore(mem, user="alice", session="s9")
    for asked in (store.search("cat"), store.add("Lost.")):
        try:
            asyncio.run(asked)
        except MemholdError:
            continue
        raise AssertionError("a store that is gone looks as if it knew nothing, or kept something")


if __name__ == "__main__":
    mode, folder = sys.argv[1:]
    {"first": first, "second": second}[mode](Path(folder))
