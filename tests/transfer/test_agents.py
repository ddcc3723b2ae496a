"""Transcripts that the real coding agents wrote: who said what in them, and that memory's own answers stay out.

Recorded from Claude Code 2.1.330, Codex 0.169.0 and opencode 1.18.33 against a scripted provider that called `recall`
once; what is of no use here was cut. `RESULT` stands where the tool's answer stood. `reality/test_agents.py` records
them anew.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memhold.faces.mcp.calls import run_tool
from memhold.faces.mcp.tools import TOOLS, Caller
from memhold.faces.python.open import AsyncMemhold
from memhold.messages.own_calls import OwnCalls, is_own_tool
from memhold.transfer.formats import detect
from memhold.values.principal import Principal
from memhold.values.records import Scope
from tests.transfer.samples import transcript_line

RECORDED = Path(__file__).parent / "recorded"
AGENTS = {"claude-code": "claude-code.jsonl", "codex": "codex.jsonl", "opencode": "opencode.json"}
LATER = datetime(2026, 1, 1, tzinfo=UTC)
SHAPES = ("text", "structured", "behind a wall time", "both")


def shaped(answer: str, shape: str) -> str:
    """How clients have handed an answer on: the newest as text; earlier ones the structured half, with or without."""
    structured = json.dumps({"hits": [{"text": line} for line in answer.splitlines()]}, ensure_ascii=False)
    match shape:
        case "text":
            return answer
        case "structured":
            return structured
        case "behind a wall time":
            return f"Wall time: 0.6008 seconds\nOutput:\n{structured}"
        case _:
            return f"{answer}\n{structured}"


def bytes_of(db: Path) -> bytes:
    return b"".join(one.read_bytes() for one in db.parent.glob(f"{db.name}*"))


def transcript(agent: str, answer: str, folder: Path, *, server: str = "memhold") -> Path:
    text = (RECORDED / AGENTS[agent]).read_text(encoding="utf-8")
    assert '"RESULT"' in text
    path = folder / AGENTS[agent]
    text = text.replace('"RESULT"', json.dumps(answer, ensure_ascii=False))
    path.write_text(text.replace("memhold", server) if server != "memhold" else text, encoding="utf-8")
    return path


async def recalled(db: Path, query: str) -> str:
    """What the tool answers, from a store in which a note was told."""
    async with AsyncMemhold.open(db, worker=False) as mem:
        who = Principal(scope=Scope(user="alice"), rights=frozenset({"read", "write"}))

        async def caller() -> Caller:
            return Caller(memhold=mem, principal=who)

        await mem.scope(user="alice").remember("Likes oolong tea from Taiwan")
        return await run_tool(TOOLS["recall"], {"query": query}, caller)


@pytest.mark.parametrize("agent", AGENTS)
async def test_each_line_is_whose_it_is(agent: str, ledger: Any, bring: Any) -> None:
    path = RECORDED / AGENTS[agent]
    assert detect(path) == agent
    report = await bring(ledger, path, now=LATER)
    (messages,) = ledger.sessions.values()
    said = [(one["role"], said_in(one)) for one in messages]
    question = '"What tea do I like?"' if agent == "opencode" else "What tea do I like?"
    assert said == [("user", question), ("assistant", "I look."), ("assistant", "It is done.")]
    assert (report.read, report.skipped) == (3, 0)
    assert sum(report.left_out.values()) > 0
    assert all(one["event_time"].year == 2025 for one in messages)
    assert (await bring(ledger, path, now=LATER)).added == 0


def said_in(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("agent", AGENTS)
async def test_what_memory_answered_is_not_taken_for_something_said(agent: str, shape: str, tmp_path: Path) -> None:
    db = tmp_path / "store" / "memory.db"
    db.parent.mkdir()
    answer = await recalled(db, "tea")
    assert "oolong" in answer
    path = transcript(agent, shaped(answer, shape), tmp_path)
    async with AsyncMemhold.open(db, worker=False) as mem:
        alice = mem.scope(user="alice")
        assert (await alice.import_file(str(path))).added == 3
        found = await alice.recall("oolong tea from Taiwan")
        assert [hit.kind for hit in found.hits if "oolong" in hit.text] == ["note"]
        (note,) = [hit for hit in found.hits if hit.kind == "note"]
        await alice.forget(note.id)
        assert "oolong" not in (await alice.context(budget=4000)).as_text()
        assert not [hit for hit in (await alice.recall("oolong")).hits if "oolong" in hit.text]
        assert (await alice.residue("oolong")).found == {}
    assert b"oolong" not in bytes_of(db)


@pytest.mark.parametrize("agent", AGENTS)
async def test_under_another_name_the_fence_is_known(agent: str, tmp_path: Path) -> None:
    """Who calls the server something else keeps the messages; the fence in them is known by its tag, and forgotten."""
    db = tmp_path / "store" / "memory.db"
    db.parent.mkdir()
    path = transcript(agent, await recalled(db, "tea"), tmp_path, server="notes")
    path.write_text(path.read_text(encoding="utf-8").replace("<notes-recall", "<memhold-recall")
                    .replace("</notes-recall", "</memhold-recall"), encoding="utf-8")  # fmt: skip
    async with AsyncMemhold.open(db, worker=False) as mem:
        alice = mem.scope(user="alice")
        assert (await alice.import_file(str(path))).added == 5
        found = await alice.recall("oolong tea from Taiwan")
        (note,) = [hit for hit in found.hits if "oolong" in hit.text]
        await alice.forget(note.id)
    assert b"oolong" not in bytes_of(db)


@pytest.mark.parametrize(
    "name",
    [
        "mcp__memhold__recall",
        "mcp__memhold",
        "mcp__memhold__add_memory",
        "mcp__plugin_memhold_memhold__recall",
        "memhold_recall",
    ],
)
def test_our_tools_are_known_by_their_names(name: str) -> None:
    assert is_own_tool(name)


@pytest.mark.parametrize(
    "name", ["recall", "mcp__other__recall", "my_memhold_recall", "memhold", "", None, 5, "mcp__memholder__x"]
)
def test_others_are_not(name: object) -> None:
    assert not is_own_tool(name)


def test_of_several_calls_in_one_message_only_ours_go() -> None:
    own = OwnCalls()
    ours = {"id": "a", "type": "function", "function": {"name": "memhold_recall", "arguments": "{}"}}
    other = {"id": "b", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    both = {"role": "assistant", "content": None, "tool_calls": [ours, other]}
    assert own.left_out(both) == {"role": "assistant", "content": None, "tool_calls": [other]}
    assert own.left_out({"role": "tool", "tool_call_id": "a", "content": "x"}) is None
    result = {"role": "tool", "tool_call_id": "b", "content": "x"}
    assert own.left_out(result) is result
    assert own.left_out({"role": "assistant", "content": "I look.", "tool_calls": [ours]}) == {
        "role": "assistant",
        "content": "I look.",
    }
    blocks = [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "c", "name": "mcp__memhold__recall", "input": {}},
        {"type": "tool_use", "id": "d", "name": "Bash", "input": {}},
    ]
    assert own.left_out({"role": "assistant", "content": blocks}) == {
        "role": "assistant",
        "content": [blocks[0], blocks[2]],
    }
    results = [
        {"type": "tool_result", "tool_use_id": "c", "content": "x"},
        {"type": "tool_result", "tool_use_id": "d", "content": "y"},
    ]
    assert own.left_out({"role": "user", "content": results}) == {"role": "user", "content": results[1:]}
    assert own.left_out({"role": "user", "content": results[:1]}) is None


# ------------------------------------------------------------------------------------------ what is nobody's word


def rollout(*items: dict[str, Any]) -> list[dict[str, Any]]:
    meta = {"timestamp": "2025-01-01T10:00:00Z", "type": "session_meta", "payload": {"id": "s1", "cwd": "/p"}}
    return [meta, *({"timestamp": "2025-01-01T10:00:01Z", "type": "response_item", "payload": one} for one in items)]


def told(role: str, *texts: str, whose: tuple[str, ...] = ()) -> dict[str, Any]:
    passed = {"content_item_metadata": [{"provenance": {"type": one}} for one in whose]}
    return {
        "type": "message",
        "role": role,
        "content": [{"type": "input_text", "text": text} for text in texts],
        **({"internal_chat_message_metadata_passthrough": passed} if whose else {}),
    }


async def test_what_codex_puts_in_as_the_users_is_left_out(put: Any, ledger: Any, bring: Any) -> None:
    lines = rollout(
        told("developer", "rules"),
        told("user", "<environment_context>old</environment_context>"),
        told("user", "hook says so", "my question", whose=("harness", "user")),
        told("user", "<environment_context> is a tag that I ask about", whose=("user",)),
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "name": "exec", "arguments": "{}", "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "done"}]},
        told("assistant", "Yes."),
    )
    assert detect(put(lines)) == "codex"
    report = await bring(ledger, put(lines))
    said = [(one["role"], one["content"]) for one in ledger.sessions["codex:s1"]]
    assert said == [
        ("user", "my question"),
        ("user", "<environment_context> is a tag that I ask about"),
        ("assistant", None),
        ("tool", "done"),
        ("assistant", "Yes."),
    ]
    assert sum(report.left_out.values()) == 4


async def test_what_claude_code_thinks_is_nothing_that_it_says(put: Any, ledger: Any, bring: Any) -> None:
    """Its answers come with a line a block, and a thought may be empty but for its signature."""
    thought = {"type": "thinking", "thinking": "", "signature": "sig_1"}
    hidden = {"type": "redacted_thinking", "data": "x"}
    blocks = [[thought], [hidden], [thought, {"type": "text", "text": "Use uv."}]]
    lines = [
        {"type": "assistant", "uuid": f"u{place}", "sessionId": "s1", "message": {"role": "assistant", "content": one}}
        for place, one in enumerate(blocks)
    ]
    report = await bring(ledger, put(lines), now=LATER)
    assert (report.added, report.left_out) == (1, {"lines that nobody said": 2})


async def test_what_opencode_has_not_finished_waits(put: Any, ledger: Any, bring: Any) -> None:
    def message(role: str, *parts: dict[str, Any], done: bool = True) -> dict[str, Any]:
        times = {"created": 1735378184691, **({"completed": 1735378184700} if done else {})}
        return {"info": {"role": role, "time": times}, "parts": [{"id": f"p{n}", **one} for n, one in enumerate(parts)]}

    running = {"type": "tool", "tool": "bash", "callID": "c", "state": {"status": "running", "input": {}}}
    ended = {**running, "state": {"status": "error", "input": {"x": 1}, "error": "no such file"}}
    asked = message("user", {"type": "text", "text": "q"}, {"type": "text", "text": "mine", "synthetic": True})
    doc = {"info": {"id": "ses_1"}, "messages": [asked, message("assistant", {"type": "text", "text": "a"}, running)]}
    early = {**doc, "messages": [asked, message("assistant", {"type": "text", "text": "so f"}, done=False)]}
    assert detect(put(doc=doc)) == "opencode"
    assert (await bring(ledger, put(doc=early))).added == 1
    assert (await bring(ledger, put(doc=doc))).added == 1
    doc["messages"][1] = message("assistant", {"type": "text", "text": "a"}, ended)
    assert (await bring(ledger, put(doc=doc))).added == 2
    said = [(one["role"], one["content"]) for one in ledger.sessions["opencode:ses_1"]]
    assert said == [("user", "q"), ("assistant", "a"), ("assistant", None), ("tool", "no such file")]


@pytest.mark.parametrize(("live", "origin"), [(True, "agent"), (False, "import")])
async def test_what_an_agent_asked_of_its_subagent_is_not_the_users_word(put: Any, *, live: bool, origin: str) -> None:
    asked = transcript_line("user", "u1", message={"role": "user", "content": "Always use tabs."})
    side = transcript_line(
        "user", "u2", isSidechain=True, agentId="a", message={"role": "user", "content": "Use tabs."}
    )
    async with AsyncMemhold.open("memory://", worker=False, embedding="none") as memhold:
        scope = memhold.scope(user="anna")
        await scope.import_file(put([asked, side]), live=live)
        said = [one.origin for name in ("s-1", "s-1:a") for one in await _lines(memhold, f"claude-code:{name}")]
        assert said == ["user" if live else "import", origin]


async def _lines(memhold: AsyncMemhold, session: str) -> Any:
    return await memhold.scope(user="anna", session=session).messages()
