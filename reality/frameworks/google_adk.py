"""Google's ADK over Memhold, with a model of its own kind that needs no network."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.events.event import Event
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai import types

from memhold import Memhold
from memhold.integrations.google_adk import MemholdMemoryService

SEEN: list[str] = []


class Model(BaseLlm):
    """It looks a cat up by a tool when it hears of one, and else says what it is given."""

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT001, FBT002 - as the ADK declares it
    ) -> AsyncGenerator[LlmResponse, None]:
        """One answer."""
        del stream
        said = [part for content in llm_request.contents for part in content.parts or []]
        SEEN.append("\n".join(part.text for part in said if part.text))
        last = said[-1]
        if last.text and "look up" in last.text:
            part = types.Part(function_call=types.FunctionCall(id="c1", name="look_up", args={"what": "cat"}))
        else:
            part = types.Part(text="It is so.")
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def look_up(what: str) -> dict[str, str]:
    """Looks something up."""
    return {"found": f"a {what} called Mochi"}


async def keep(callback_context: Any) -> None:
    """Record the turn: the program's one line for memory."""
    await callback_context.add_session_to_memory()


def runner_over(service: MemholdMemoryService) -> Runner:
    agent = LlmAgent(
        name="helper", model=Model(model="none"), tools=[PreloadMemoryTool(), look_up], after_agent_callback=keep
    )
    return Runner(agent=agent, app_name="app", session_service=InMemorySessionService(), memory_service=service)


async def say(runner: Runner, *texts: str, session: str = "s1") -> str:
    """What the agent answers to the last of some lines."""
    answer = ""
    if await runner.session_service.get_session(app_name="app", user_id="alice", session_id=session) is None:
        await runner.session_service.create_session(app_name="app", user_id="alice", session_id=session)
    for text in texts:
        content = types.Content(role="user", parts=[types.Part(text=text)])
        async for event in runner.run_async(user_id="alice", session_id=session, new_message=content):
            answer = "".join(part.text or "" for part in (event.content.parts if event.content else []) or [])
    return answer


def first(folder: Path) -> None:
    with Memhold.open(folder / "memory.db", worker=False) as mem:
        asyncio.run(say(runner_over(MemholdMemoryService(mem)), "My cat is called Mochi.", "Please look up my cat."))
        print("told", flush=True)
        time.sleep(600)


def second(folder: Path) -> None:
    with Memhold.open(folder / "memory.db", worker=False) as mem:
        scope = mem.scope(user="alice", agent="app", session="s1")
        roles = ["user", "assistant", "user", "assistant", "tool", "assistant"]
        assert [one.role for one in scope.messages()] == roles, scope.messages()
        assert scope.messages()[3].body["tool_calls"][0]["function"]["name"] == "look_up"
        asyncio.run(say(runner_over(MemholdMemoryService(mem)), "What is my cat called?", session="s2"))
        assert "My cat is called Mochi." in SEEN[-1], SEEN
        asyncio.run(once_and_forgotten(mem))
        asyncio.run(of_any_time(mem))
    gone = runner_over(MemholdMemoryService(mem))
    logging.getLogger("memhold.integrations").setLevel(logging.CRITICAL)
    assert asyncio.run(say(gone, "Are you there?")) == "It is so.", "a store that is gone ends no turn"


async def once_and_forgotten(mem: Memhold) -> None:
    """A session that is added again and again, also by a service that begins anew, is recorded once; and caught up."""
    service = MemholdMemoryService(mem)
    runner = runner_over(service)
    await say(runner, "I like oolong.", "And sushi.", session="s3")
    session = await runner.session_service.get_session(app_name="app", user_id="alice", session_id="s3")
    assert session is not None
    scope = mem.scope(user="alice", agent="app", session="s3")
    assert len(scope.messages()) == 4
    await MemholdMemoryService(mem).add_session_to_memory(session)
    await service.add_events_to_memory(app_name="app", user_id="alice", events=session.events, session_id="s3")
    assert len(scope.messages()) == 4
    found = await service.search_memory(app_name="app", user_id="alice", query="oolong")
    assert found.memories[0].author == "user"
    long = await service.search_memory(app_name="app", user_id="alice", query=f"{'x ' * 20_000} oolong")
    assert long.memories[0].id == found.memories[0].id, "a question may stand at the end of a whole file"
    await service.delete_memory(app_name="app", user_id="alice", memory_id=found.memories[0].id)
    await MemholdMemoryService(mem).add_session_to_memory(session)
    assert "I like oolong." not in [one.text for one in scope.messages()], "what was forgotten does not come back"
    other = await service.search_memory(app_name="app", user_id="bob", query="sushi")
    assert other.memories == []


async def of_any_time(mem: Memhold) -> None:
    """An event whose clock was ahead, or that has no time at all, is recorded like any other, and ends no turn."""
    ahead = time.time() + 10 * 86_400
    events = [
        Event(author="user", id=f"e{at}", timestamp=at, content=types.Content(parts=[types.Part(text=f"At {at}.")]))
        for at in (ahead, 1e18, float("nan"), 0.0)
    ]
    service = MemholdMemoryService(mem)
    await service.add_events_to_memory(app_name="app", user_id="alice", events=events, session_id="s4")
    await service.add_events_to_memory(app_name="app", user_id="alice", events=events, session_id="s4")
    assert len(mem.scope(user="alice", agent="app", session="s4").messages()) == 4


if __name__ == "__main__":
    mode, folder = sys.argv[1:]
    {"first": first, "second": second}[mode](Path(folder))
