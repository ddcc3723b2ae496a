"""`memhold.wrap` with the real SDKs of OpenAI and Anthropic, against the chaos server over HTTP."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import aiohttp
import requests
from anthropic import Anthropic, AsyncAnthropic
from openai import AsyncOpenAI, OpenAI

import memhold
from memhold import AsyncMemhold, Memhold
from memhold.errors import InvalidInput
from memhold.integrations.wrap import remembering
from memhold.testing.chaos import Call, ChaosServer, Reply

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTION = {"name": "weather", "parameters": SCHEMA}
TOOLS: dict[str, list[dict[str, Any]]] = {
    "chat": [{"type": "function", "function": FUNCTION}],
    "responses": [{"type": "function", **FUNCTION}],
    "messages": [{"name": "weather", "input_schema": SCHEMA}],
}
APIS, WAYS = ("chat", "responses", "messages"), ("create", "stream", "helper")


class Program:
    """A program as people write it: it holds its history, sends it whole, and knows of no memory."""

    def __init__(self, api: str, way: str, client: Any) -> None:
        self.api, self.way, self.client = api, way, client
        self.history: list[Any] = []
        self.waits = type(client).__name__.startswith("Async")
        self.loop = asyncio.Runner()  # one for all calls: the SDKs' async clients live on one

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        if self.waits:
            self.loop.run(self.client.close())
        self.loop.close()

    def say(self, text: str, **more: Any) -> str:
        """What the model answers to a user's line."""
        self.history.append({"role": "user", "content": text})
        return self.go_on(**more)

    def result(self, text: str) -> str:
        """What the model answers to the result of the call that it made last."""
        call = self.calls[-1]
        if self.api == "chat":
            self.history.append({"role": "tool", "tool_call_id": call.id, "content": text})
        elif self.api == "responses":
            self.history.append({"type": "function_call_output", "call_id": call.call_id, "output": text})
        else:
            block = {"type": "tool_result", "tool_use_id": call.id, "content": text}
            self.history.append({"role": "user", "content": [block]})
        return self.go_on()

    @property
    def calls(self) -> list[Any]:
        """The calls of the last reply."""
        last = self.history[-1]
        if self.api == "chat":
            return list(last.tool_calls or ())
        if self.api == "responses":
            return [item for item in self.history if getattr(item, "type", "") == "function_call"]
        return [block for block in last["content"] if block.type == "tool_use"]

    def go_on(self, **more: Any) -> str:
        """Send the history as it stands; what the model answers."""
        answer = self.loop.run(self._later(more)) if self.waits else self._now(more)
        if self.api == "chat":
            message = answer.choices[0].message
            self.history.append(message)
            return message.content or ""
        if self.api == "responses":
            self.history += answer.output
            return str(answer.output_text)
        self.history.append({"role": "assistant", "content": answer.content})
        return "".join(block.text for block in answer.content if block.type == "text")

    def _asking(self, more: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        given = {"model": "gpt-5", "input" if self.api == "responses" else "messages": self.history} | more
        if self.api == "messages":
            return self.client.messages, given | {"max_tokens": 500}
        return (self.client.responses if self.api == "responses" else self.client.chat.completions), given

    def _now(self, more: dict[str, Any]) -> Any:
        door, given = self._asking(more)
        if self.way == "create":
            return door.create(**given)
        if self.way == "stream":
            with door.create(stream=True, **given) as stream:
                return _built(self.api, [*stream])
        with door.stream(**given) as helper:
            for _ in helper:
                pass
            return _final(self.api, helper)

    async def _later(self, more: dict[str, Any]) -> Any:
        door, given = self._asking(more)
        if self.way == "create":
            return await door.create(**given)
        if self.way == "stream":
            async with await door.create(stream=True, **given) as stream:
                return _built(self.api, [event async for event in stream])
        async with door.stream(**given) as helper:
            async for _ in helper:
                pass
            return await _final(self.api, helper)


def _final(api: str, helper: Any) -> Any:
    return getattr(
        helper, {"chat": "get_final_completion", "responses": "get_final_response"}.get(api, "get_final_message")
    )()


def _built(api: str, events: list[Any]) -> Any:
    """What a stream said, put together by the SDK's own means where it has such."""
    if api == "responses":
        return events[-1].response
    if api == "chat":
        from openai.lib.streaming.chat import ChatCompletionStreamState

        state = ChatCompletionStreamState()
        for event in events:
            state.handle_chunk(event)
        return state.get_final_completion()
    from anthropic.lib.streaming._messages import accumulate_event

    snapshot = None
    for event in events:
        snapshot = accumulate_event(event=event, current_snapshot=snapshot, json_bufs={})
    return snapshot


def client_of(api: str, server: ChaosServer, *, waits: bool = False) -> Any:
    if api == "messages":
        return (AsyncAnthropic if waits else Anthropic)(base_url=server.url, api_key="k", max_retries=0)
    return (AsyncOpenAI if waits else OpenAI)(base_url=f"{server.url}/v1", api_key="k", max_retries=0)


@contextmanager
def fresh(place: str = "memory://") -> Iterator[tuple[ChaosServer, Memhold]]:
    with ChaosServer() as server, Memhold.open(place, worker=False) as mem:
        yield server, mem


def talking(api: str, way: str, server: ChaosServer, mem: Memhold, *, waits: bool) -> Program:
    client = memhold.wrap(client_of(api, server, waits=waits), mem.scope(user="alice", session="s1"))
    return Program(api, way, client)


async def others_done() -> None:
    """Let the loop close what was dropped: a stream is closed by a task, which begins when the loop comes to it."""
    for _ in range(10):
        await asyncio.sleep(0)
        await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))


def _error(call: Callable[[], object]) -> Exception | None:
    try:
        call()
    except Exception as error:  # noqa: BLE001 - which one it is, is the point
        return error
    return None


def kept(mem: Memhold, session: str) -> list[tuple[str, str]]:
    return [(one.role, one.text) for one in mem.scope(user="alice", session=session).messages()]


# ---------------------------------------------------------------------------------------------------- the checks


def a_conversation_is_kept_once_with_its_calls(api: str, way: str, *, waits: bool) -> None:
    with fresh() as (server, mem), talking(api, way, server, mem, waits=waits) as program:
        client = program.client
        mem.scope(user="alice").remember(attribute="favorite food", value="sushi")
        assert type(client) is type(client_of(api, server, waits=waits))
        program.say("What is my favorite food?")
        assert "sushi" in json.dumps(server.requests[-1].body), "memory was not brought"
        server.say(
            lambda _: Reply(text="I look.", calls=(Call(name="weather", arguments={"city": "Oslo"}),), finish="tool")
        )
        program.say("And the weather in Oslo?", tools=TOOLS[api])
        server.say(lambda _: Reply(text="It rains in Oslo."))
        assert program.result("rain, 4 degrees") == "It rains in Oslo."
        program.say("Thank you.")
        sent = server.requests[-1].body
        assert json.dumps(sent).count("And the weather in Oslo?") == 1, sent
        said = kept(mem, "s1")
        roles = ["user", "assistant", "user", "assistant", "user" if api == "messages" else "tool"]
        assert [role for role, _ in said] == [*roles, "assistant", "user", "assistant"], said
        assert said[3][1].split("\n")[0] == "I look.", said
        assert "weather(" in said[3][1]
        assert "Oslo" in said[3][1].split("weather(")[1], said
        assert [text for _, text in said[4:]] == [
            "rain, 4 degrees",
            "It rains in Oslo.",
            "Thank you.",
            "It rains in Oslo.",
        ]
        assert remembering(client).degraded == ()
        assert remembering(client).waiting == 0


def a_stream_that_is_broken_off_is_kept_as_far_as_it_came(api: str, *, waits: bool) -> None:
    with fresh() as (server, mem), talking(api, "stream", server, mem, waits=waits) as program:
        server.say(lambda _: Reply(text="One two three four five six seven eight nine ten. " * 40))
        program.history.append({"role": "user", "content": "Count, please."})
        door, given = program._asking({})  # noqa: SLF001

        async def later() -> None:
            heard = 0
            async for event in await door.create(stream=True, **given):
                heard += "two" in str(event)
                if heard:
                    return

        def now() -> None:
            for event in door.create(stream=True, **given):
                if "two" in str(event):
                    return

        if waits:
            program.loop.run(later())
            program.loop.run(others_done())
        else:
            now()
        user, reply = mem.scope(user="alice", session="s1").messages()
        assert (user.text, reply.role) == ("Count, please.", "assistant")
        assert reply.text.startswith("One two")
        assert reply.metadata == {"interrupted": True}, reply
        # The program goes on with what it heard, in words of its own.
        server.say(None)
        program.history.append({"role": "assistant", "content": "One two"})
        program.way = "create"
        program.say("Go on.")
        assert [role for role, _ in kept(mem, "s1")] == ["user", "assistant"] * 2


def a_failed_call_is_the_sdks_own_error_and_asked_again_it_is_kept_once(api: str, *, waits: bool) -> None:
    with fresh() as (server, mem), talking(api, "create", server, mem, waits=waits) as program:
        server.script(["rate-limit"])
        assert type(_error(lambda: program.say("Hello there."))).__name__ == "RateLimitError"
        program.go_on()
        assert [role for role, _ in kept(mem, "s1")] == ["user", "assistant"]


def memory_that_is_down_ends_no_call_and_is_caught_up(api: str, *, waits: bool) -> None:
    with fresh() as (server, mem):
        scope = mem.scope(user="alice", session="s1")
        with Program(api, "create", memhold.wrap(client_of(api, server, waits=waits), scope)) as program:
            _down_for_a_while(program, mem, scope)


def _down_for_a_while(program: Program, mem: Memhold, scope: Any) -> None:
    client = program.client
    program.say("Hello.")
    core, add = scope._core, scope._core.add  # noqa: SLF001 - a disk that is full for a while
    down = True

    async def full(*args: Any, **options: Any) -> Any:
        if down:
            raise memhold.errors.StoreFull("no room on the disk")
        return await add(*args, **options)

    core.add = full
    assert program.say("I moved to Lisbon.")
    assert remembering(client).waiting == 2
    assert "add" in remembering(client).degraded
    down = False
    program.say("Are you there?")
    assert remembering(client) == type(remembering(client))(degraded=(), waiting=0)
    texts = [text for _, text in kept(mem, "s1")]
    assert texts[::2] == ["Hello.", "I moved to Lisbon.", "Are you there?"]
    assert len(texts) == 6


def a_store_that_was_closed_ends_no_call() -> None:
    with ChaosServer() as server:
        with Memhold.open("memory://", worker=False) as mem:
            client = memhold.wrap(client_of("chat", server), mem.scope(user="alice"))
        assert Program("chat", "create", client).say("Hello.") == "You said: Hello."
        assert remembering(client).degraded == ("add", "context")


def copies_raw_answers_and_parse_remember_too() -> None:
    with fresh() as (server, mem):
        client = memhold.wrap(client_of("chat", server), mem.scope(user="alice", session="s1"))
        ask: dict[str, Any] = {"model": "gpt-5", "messages": [{"role": "user", "content": "one"}]}
        client.with_options(timeout=9).chat.completions.create(**ask)
        raw = client.chat.completions.with_raw_response.create(
            **ask | {"messages": [{"role": "user", "content": "two"}]}
        )
        assert raw.headers
        assert raw.parse().choices[0].message.content
        client.beta.chat.completions.parse(**ask | {"messages": [{"role": "user", "content": "three"}]})
        other = memhold.wrap(client_of("messages", server), mem.scope(user="alice", session="s2"))
        say = {"model": "claude", "max_tokens": 9, "messages": [{"role": "user", "content": "four"}]}
        other.messages.with_raw_response.create(**say)
        other.beta.messages.create(**say | {"messages": [{"role": "user", "content": "five"}]})
        assert [text for role, text in kept(mem, "s1") if role == "user"] == ["one", "two", "three"]
        assert [text for role, text in kept(mem, "s2") if role == "user"] == ["four", "five"]
        assert len(kept(mem, "s1")) == 6
        assert len(kept(mem, "s2")) == 4
        again = memhold.wrap(client, mem.scope(user="bob", session="s1"))
        again.chat.completions.create(**ask)
        assert len(kept(mem, "s1")) == 6, "a client that is wrapped again remembers in one place"


def what_is_no_client_is_told_what_to_do() -> None:
    async def raw() -> Any:
        return aiohttp.ClientSession()

    with Memhold.open("memory://", worker=False) as mem:
        scope = mem.scope(user="alice")
        session = asyncio.run(raw())
        for given in (requests, requests.Session(), session, OpenAI, object()):
            error = _error(lambda: memhold.wrap(given, scope))  # noqa: B023 - called at once
            assert isinstance(error, InvalidInput)
            assert "scope.context(" in str(error) or "pass a client" in str(error), error
        asyncio.run(session._connector.close())  # noqa: SLF001


async def async_all_through() -> None:
    async with AsyncMemhold.open("memory://", worker=False) as mem:
        with ChaosServer() as server:
            scope = mem.scope(user="alice", session="s1")
            client = memhold.wrap(client_of("chat", server, waits=True), scope)
            for text in ("one", "two"):
                await client.chat.completions.create(model="gpt-5", messages=[{"role": "user", "content": text}])
            assert [one.text for one in await scope.messages()][::2] == ["one", "two"]
            assert "open the store with Memhold.open" in str(
                _error(lambda: memhold.wrap(client_of("chat", server), scope))
            )


def checks(_folder: Path) -> None:
    for api, way, waits in product(APIS, WAYS, (False, True)):
        a_conversation_is_kept_once_with_its_calls(api, way, waits=waits)
    for api, waits in product(APIS, (False, True)):
        a_stream_that_is_broken_off_is_kept_as_far_as_it_came(api, waits=waits)
        a_failed_call_is_the_sdks_own_error_and_asked_again_it_is_kept_once(api, waits=waits)
        memory_that_is_down_ends_no_call_and_is_caught_up(api, waits=waits)
    a_store_that_was_closed_ends_no_call()
    copies_raw_answers_and_parse_remember_too()
    what_is_no_client_is_told_what_to_do()
    asyncio.run(async_all_through())


# ----------------------------------------------------------------------------------------------- the two processes


def first(folder: Path) -> None:
    with fresh(str(folder / "memory.db")) as (server, mem):
        client = memhold.wrap(client_of("chat", server), mem.scope(user="alice", session="s1"))
        Program("chat", "create", client).say("My cat is called Mochi.")
        print("told", flush=True)
        time.sleep(600)


def second(folder: Path) -> None:
    with fresh(str(folder / "memory.db")) as (server, mem):
        client = memhold.wrap(client_of("messages", server), mem.scope(user="alice", session="s2"))
        Program("messages", "stream", client).say("What is my cat called?")
        assert "Mochi" in json.dumps(server.requests[-1].body)
        same = memhold.wrap(client_of("chat", server), mem.scope(user="alice", session="s1"))
        Program("chat", "create", same).say("And how old is she?")
        said = [one["content"] for one in server.requests[-1].body["messages"] if one["role"] == "user"]
        assert said[-1] == "And how old is she?"
        assert "My cat is called Mochi." in said, "the session goes on where the killed process left it"


if __name__ == "__main__":
    mode, folder = sys.argv[1:]
    {"first": first, "second": second, "checks": checks}[mode](Path(folder))
