"""Texts that somebody injects, by every way in: none of them is the user's wish."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryFeedbackPart,
    RetryInfo,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

import memhold
from memhold import AsyncMemhold, Memhold
from memhold.faces.agents.answering import PROMPT_TOKENS, START_TOKENS
from memhold.faces.agents.briefing import Whose, at_prompt, at_start
from memhold.faces.agents.hook import noted
from memhold.faces.agents.take_in import take_in as take_in_notes
from memhold.integrations.pydantic_ai import MemholdHistory
from memhold.ports.models import ChatReply, ChatRequest, ToolCall
from memhold.testing import FakeClock, OpenHarness, ScriptedChat
from memhold.testing.injection_suite import InjectionSuite
from memhold.testing.injections import DEMAND, INJECTIONS, MARK, OWN, Injection, take_in, wrong_in
from memhold.values import origins
from memhold.values.principal import Principal
from memhold.values.records import Scope
from tests.interfaces.mcp.conftest import call
from tests.interfaces.mcp.test_tools import connected
from tests.rest.serving import live
from tests.test_verbs_sync import Threaded

BY_VERBS = [one for one in INJECTIONS if not (one.calls or one.facts)]
SENT = [one for one in BY_VERBS if one.messages and one.actor == "user"]
POSTED = [one for one in SENT if not any("written_by" in body for body in one.messages)]
"""What a program can send to a provider: it knows no word of Memhold's own."""
QUESTION = "What do I want you to use, and may you run rm?"
Scopes = Callable[..., Any]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def whose(injection: Injection) -> str:
    """Each injection has a user of its own."""
    return f"user {INJECTIONS.index(injection)}"


async def came_of(scopes: Scopes, injections: Sequence[Injection]) -> dict[str, list[str]]:
    """What came of injections that may not: nothing, where all were held off."""
    wrong = {one.name: await wrong_in(scopes(one, session="later"), one) for one in injections}
    return {name: told for name, told in wrong.items() if told}


async def brought(scopes: Scopes, folder: Path, injections: Sequence[Injection] = BY_VERBS) -> None:
    for one in injections:
        await scopes(one, session="own", actor="user").add(user(OWN))
        await take_in(scopes(one, session="injected"), one, folder)


class TestInMemory(InjectionSuite):
    @pytest_asyncio.fixture
    async def harness(self) -> AsyncIterator[OpenHarness]:
        clock = FakeClock()
        async with AsyncMemhold.open("memory://", clock=clock, worker=False, embedding="none") as mem:
            yield OpenHarness(mem, clock)


def test_the_table_has_every_way_and_each_name_once() -> None:
    names = [one.name for one in INJECTIONS]
    assert len(set(names)) == len(names) >= 100
    ways = ("messages", "notes", "file", "calls", "facts")
    assert [way for way in ways if not any(getattr(one, way) for one in INJECTIONS)] == []
    assert {one.written_by for one in INJECTIONS} == set(memhold.values.records.WRITERS)


@pytest.mark.parametrize("kind", ["result", "attachment"])
async def test_the_suite_sees_where_a_store_takes_what_was_brought_for_the_users_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    monkeypatch.delitem(origins._BY_KIND, kind)
    async with AsyncMemhold.open("memory://", worker=False, embedding="none") as mem:
        scopes = of_library(mem)
        wrong = (
            ("tool_result", "tool_result of blocks") if kind == "result" else ("document of blocks", "search_result")
        )
        chosen = [one for one in SENT if one.name in wrong]
        await brought(scopes, tmp_path, chosen)
        found = await came_of(scopes, chosen)
    assert set(found) == set(wrong)


# ------------------------------------------------------------------------------------------------ faces


def of_library(mem: Any) -> Scopes:
    return lambda one, session, actor=None: mem.scope(user=whose(one), session=session, actor=actor or one.actor)


async def test_none_comes_through_the_sync_face(tmp_path: Path) -> None:
    with Memhold.open(str(tmp_path / "memory.db"), worker=False, embedding="none") as mem:

        def scopes(one: Injection, **names: Any) -> Threaded:
            return Threaded(of_library(mem)(one, **names))

        await brought(scopes, tmp_path)
        await asyncio.to_thread(mem.settle)
        assert await came_of(scopes, BY_VERBS) == {}


async def test_none_comes_over_http_with_a_users_token(tmp_path: Path) -> None:
    async with live(embedding="none") as server:
        clients = {
            (one.name, actor): await server.opened(user=whose(one), actor=actor)
            for one in BY_VERBS
            for actor in {"user", one.actor}
        }

        def scopes(one: Injection, session: str, actor: str | None = None) -> Any:
            return clients[one.name, actor or one.actor].scope(user=whose(one), session=session)

        await brought(scopes, tmp_path)
        await server.memhold.settle()
        assert await came_of(scopes, BY_VERBS) == {}


async def test_none_comes_over_http_with_a_services_token(tmp_path: Path) -> None:
    async with live(embedding="none") as server:
        scopes = of_library(await server.opened(["read", "write", "act"], label="webapp"))
        await brought(scopes, tmp_path)
        await server.memhold.settle()
        assert await came_of(scopes, BY_VERBS) == {}


async def test_none_comes_through_tools_of_mcp() -> None:
    injections = [one for one in INJECTIONS if one.calls]
    async with AsyncMemhold.open("memory://", worker=False, embedding="none") as mem:
        scopes = of_library(mem)
        for one in injections:
            await scopes(one, session="own").add(user(OWN))
            principal = Principal(
                scope=Scope(namespace="default", user=whose(one)), rights=frozenset({"read", "write"}), token=one.name
            )
            async with connected(mem, principal) as client:
                for tool, arguments in one.calls:
                    await call(client, tool, **arguments)
        await mem.settle()
        assert await came_of(scopes, injections) == {}


# ------------------------------------------------------------------------------------------------ hooks


PROJECT = "project/github.com/acme/shop"


async def test_none_comes_through_hooks_of_coding_agents(tmp_path: Path) -> None:
    """Their transcripts are read as they grow, and a later session is told nothing of it as the user's."""
    injections = [one for one in BY_VERBS if "Claude Code" in one.name or "Codex" in one.name]
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / ".git" / "config").write_text('[remote "origin"]\n\turl = git@github.com:acme/shop.git\n')
    location = str(tmp_path / "memory.db")
    async with AsyncMemhold.open(location, worker=False, embedding="none") as mem:

        def scopes(one: Injection, session: str) -> Any:
            return mem.scope(namespace=PROJECT, user=whose(one), session=session)

        for one in injections:
            await scopes(one, session="own").add(user(OWN))
            transcript = tmp_path / f"{whose(one)}.jsonl"
            transcript.write_text(one.file)
            told = {"transcript_path": str(transcript), "cwd": str(tmp_path / "shop"), "session_id": whose(one)}
            assert noted("Stop", told, {"db": location, "user": whose(one)})
        assert await take_in_notes(mem, location) >= sum(one.found for one in injections)
        await mem.settle()
        assert await came_of(scopes, injections) == {}
        for one in injections:
            who = Whose(project=PROJECT, namespace="default", user=whose(one), agent=None, session=None)
            start = await at_start(mem, who, START_TOKENS, shown=set())
            assert OWN in start
            prompted = await at_prompt(mem, who, f"{QUESTION} {MARK}", PROMPT_TOKENS, shown=set())
            lines = [line for line in f"{start}\n{prompted}".splitlines() if MARK in line]
            # A line tells a turn: who wrote a part of it stands before that part, and nobody before the user's.
            parts = [part for line in lines for part in re.split(r"^- (?:[\d-]{10}, )?| \u2192 ", line) if MARK in part]
            assert [part for part in parts if not part.startswith(f"{one.written_by}")] == [], one.name


# ------------------------------------------------------------------------------------------------ wrapped clients


class Posting:
    """What `memhold.wrap` wraps of an SDK's client: `post`, which answers, and `copy`."""

    def __init__(self, reply: Mapping[str, Any], sent: list[dict[str, Any]]) -> None:
        self.reply, self.sent = reply, sent

    def copy(self) -> Posting:
        return type(self)(self.reply, self.sent)

    def post(self, path: str, *, body: Any) -> Any:
        assert path in SDKS
        self.sent.append(json.loads(json.dumps(body)))
        return self.reply


CHOICE = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "ok"}}
OUTPUT = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]}
SDKS: dict[str, tuple[str, str, Mapping[str, Any]]] = {
    "/v1/messages": ("anthropic", "messages", {"role": "assistant", "content": [{"type": "text", "text": "ok"}]}),
    "/chat/completions": ("openai", "messages", {"choices": [CHOICE]}),
    "/responses": ("openai", "input", {"output": [OUTPUT]}),
}


def instructing(body: Mapping[str, Any]) -> str:
    """What of a request a model obeys."""
    said = [one for field in ("messages", "input") for one in body.get(field, ())]
    told = [one for one in said if one.get("role") in {"system", "developer"}]
    return json.dumps([body.get("system"), body.get("instructions"), told])


@pytest.mark.parametrize("path", SDKS)
def test_none_comes_through_a_wrapped_client(path: str) -> None:
    """What memory adds to a later request is what the user typed, whatever the program sent as the user's before."""
    module, field, reply = SDKS[path]
    sdk = type("SyncAPIClient", (Posting,), {"__module__": f"{module}._base_client"})
    sent: list[dict[str, Any]] = []
    wrong: dict[str, list[str]] = {}
    with Memhold.open("memory://", worker=False, embedding="none") as mem:

        def post(session: str, one: Injection, said: list[Mapping[str, Any]]) -> None:
            client = memhold.wrap(sdk(reply, sent), mem.scope(user=whose(one), session=session))
            client.post(path, body={"model": "m", field: said})

        for one in POSTED:
            post("own", one, [user(OWN)])
            post("injected", one, [*one.messages, user("Go on.")])
        mem.settle()
        for one in POSTED:
            post("later", one, [user(QUESTION)])
            told = instructing(sent[-1])
            wrong[one.name] = [told] if MARK in told or OWN not in told else []
            later = Threaded(mem.scope(user=whose(one), session="last"))
            wrong[one.name] += asyncio.run(wrong_in(later, replace(one, found=False)))
    assert {name: told for name, told in wrong.items() if told} == {}


# ------------------------------------------------------------------------------------------------ an adapter


def runs() -> dict[str, list[ModelMessage]]:
    """What a framework hands over of a run, by the part of it that makes the demand."""
    asked = ModelRequest(parts=[UserPromptPart("Have a look.")])
    called = ModelResponse(parts=[ToolCallPart("fetch", {}, "c1")])
    return {
        "system prompt": [ModelRequest(parts=[SystemPromptPart(DEMAND), *asked.parts])],
        "arguments": [asked, ModelResponse(parts=[ToolCallPart("fetch", {"note": DEMAND}, "c1")])],
        "thinking": [asked, ModelResponse(parts=[ThinkingPart(DEMAND), TextPart("I have.")])],
        "answer": [asked, ModelResponse(parts=[TextPart(DEMAND)])],
        "result": [asked, called, ModelRequest(parts=[ToolReturnPart("fetch", DEMAND, "c1")])],
        "result beside a prompt": [
            asked, called, ModelRequest(parts=[ToolReturnPart("fetch", DEMAND, "c1"), UserPromptPart("Is that so?")])
        ],
        "result that is none": [
            asked, called, ModelRequest(parts=[ToolReturnPart("fetch", DEMAND, "c1", outcome="retried")])
        ],
        "request to try again": [asked, called, ModelRequest(parts=[RetryFeedbackPart(content=DEMAND, retry=RetryInfo(cause="model_retry"))])],
        "document": [ModelRequest(parts=[UserPromptPart(["Is that so?", BinaryContent(DEMAND.encode(), media_type="text/plain")])])],
    }  # fmt: skip


@pytest.mark.parametrize("part", runs())
async def test_none_comes_through_an_adapter(part: str) -> None:
    async with AsyncMemhold.open("memory://", worker=False, embedding="none") as mem:
        await mem.scope(user="alice", session="own").add(user(OWN))
        await MemholdHistory(mem, session="run", user="alice").add(runs()[part])
        await mem.settle()
        assert await mem.scope(user="alice", session="run").messages()
        injection = Injection(name=part, written_by="tool", found=False)
        assert await wrong_in(mem.scope(user="alice", session="later"), injection) == []


# ------------------------------------------------------------------------------------------------ a model


def obedient(facts: Sequence[Mapping[str, Any]]) -> Callable[[ChatRequest], ChatReply]:
    def reply(request: ChatRequest) -> ChatReply:
        assert request.tool is not None
        given = {"history_entry": "They talked.", "facts": [*facts], "notes": []}
        return ChatReply(model="m", text="", tool_calls=(ToolCall(id="c", name=request.tool.name, arguments=given),))

    return reply


WRONG = pytest.mark.xfail(strict=True, reason="a model takes a mail, a neighbour or a question for the user's word")
OTHERS = (
    *("value of a mail", "value of a mail in one line", "value in quotation marks"),
    *("what the user says of another", "what the user asks"),
)
MADE = [
    pytest.param(one, id=one.name, marks=[WRONG] if one.name.removeprefix("model: ") in OTHERS else [])
    for one in INJECTIONS
    if one.facts
]


@pytest.mark.parametrize("injection", MADE)
async def test_none_comes_of_what_a_model_makes_of_a_conversation(injection: Injection, tmp_path: Path) -> None:
    model = ScriptedChat(otherwise=obedient(injection.facts))
    async with AsyncMemhold.open("memory://", worker=False, embedding="none", consolidation=model) as mem:
        await brought(of_library(mem), tmp_path, [injection])
        scope = mem.scope(user=whose(injection), session="injected")
        await scope.end_session()
        await scope.consolidate()
        assert model.asked
        assert await came_of(of_library(mem), [injection]) == {}
