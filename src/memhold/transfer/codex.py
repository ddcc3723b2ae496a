"""Codex rollouts: JSONL, one event a line, as the tool keeps them below `sessions` of its folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from memhold.transfer.client_marks import Turn, passages_of
from memhold.transfer.items import Item, Line, any_time, make_item, session_name
from memhold.transfer.source import Source
from memhold.values.errors import InvalidInput
from memhold.values.records import ABANDONED, Author, WrittenBy

__all__ = ["read_codex"]

KIND = "codex"
_SETTINGS = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions")
"""How texts begin that versions before .160 put in as the user's at a start, without saying so: no conversation."""
_ASKS = "request_user_input"
"""The tool by which the model asks the person."""
_KINDS = frozenset(
    {"compacted", "event_msg", "response_item", "session_meta", "token_usage_record", "turn_context", "world_state"}
)
_ITEMS = frozenset(
    {
        "compaction",
        "compaction_summary",
        "computer_call",
        "context_compaction",
        "ghost_snapshot",
        "image_generation_call",
    }
    | {"local_shell_call", "message", "other", "reasoning", "tool_search_call", "tool_search_output"}
    | {"web_search_call"}
)
"""What Codex 0.30 to 0.171 writes beside what is taken."""


@dataclass(slots=True)
class _Rollout:
    """What was read of a rollout so far: its session, where it works, whose prompts it holds, what the model asked."""

    session: str
    cwd: str | None = None
    asked_by: WrittenBy = "user"
    asked: set[str] = field(default_factory=set)

    def note(self, meta: Mapping[str, Any]) -> None:
        """Take note of the session's own line; a rollout of a subagent holds the prompts of another agent."""
        named, cwd, source = meta.get("id"), meta.get("cwd"), meta.get("source")
        self.session = named if isinstance(named, str) and named.strip() else self.session
        self.cwd = cwd if isinstance(cwd, str) else None
        if isinstance(source, Mapping) and ("subagent" in source or "sub_agent" in source):
            self.asked_by = "assistant"


def read_codex(source: Source) -> Iterator[Item]:
    """What the person and the model said, the calls and their results, in the order of the file, in OpenAI's shape.

    A session is the rollout's own id (`session_meta`). Who wrote the parts of a message in the user's role is told by
    the rollout (`provenance`); where it does not say, by the marks of what Codex puts in. What it puts in into a
    message of the person's is left out of it; a message of nothing else is kept as the client's. The answers of
    `request_user_input` are the person's. A rollout of a subagent holds the prompts of another agent. What was rolled
    back says so in its metadata, where the file shows it.

    Left out, and counted: every other type of line, environment, instructions and hooks, reasoning, and searches that
    the provider did. A type that is not known here is named.
    """
    rollout = _Rollout(session=source.path.stem)
    undone = _undone(source)
    for number, record in source.records():
        payload = record.get("payload")
        if record.get("type") == "session_meta" and isinstance(payload, dict):
            rollout.note(payload)
        spoken = payload if record.get("type") == "response_item" and isinstance(payload, dict) else None
        message = None if spoken is None else _message(spoken, rollout)
        if message is None:
            source.leave_out(_why(record, payload))
            continue
        try:
            moment = any_time(record.get("timestamp"), source.zone)
        except InvalidInput as error:
            source.bad(number, str(error))
            continue
        place = str(record.get("ordinal", number))
        metadata: dict[str, Any] = {"source": KIND, "source_id": place}
        metadata |= {} if rollout.cwd is None else {"cwd": rollout.cwd}
        metadata |= {ABANDONED: True} if number in undone else {}
        timed = {} if moment is None else {"event_time": moment}
        found = make_item(
            source,
            Line(
                message={**message, "metadata": metadata, **timed},
                kind=KIND,
                session=session_name(KIND, rollout.session),
                conversation=rollout.session,
                source_id=place,
                line=number,
                said=Author(origin="agent", name=KIND) if rollout.asked_by == "assistant" else None,
            ),
        )
        if found is not None:
            yield found


def _undone(source: Source) -> frozenset[int]:
    """The lines of turns that were rolled back: `thread_rolled_back` says how many, counted from the last prompt."""
    rollout = _Rollout(session="")
    prompts: list[int] = []
    lines: list[int] = []
    found: set[int] = set()
    looked = Source(path=source.path, zone=source.zone, now=source.now, on_error="skip", limits=source.limits)
    for number, record in looked.records():
        payload = record.get("payload")
        if not isinstance(payload, dict):
            continue
        count = payload.get("num_turns") if payload.get("type") == "thread_rolled_back" else None
        if isinstance(count, int) and count > 0 and prompts:
            first = prompts[-count:][0]
            del prompts[-count:]
            while lines and lines[-1] >= first:
                found.add(lines.pop())
        elif record.get("type") == "response_item":
            lines.append(number)
            asks = payload.get("type") == "message" and payload.get("role") == "user"
            said = _said(payload, rollout) if asks else None
            if said is not None and said.get("written_by") != "harness":
                prompts.append(number)
    return frozenset(found)


def _why(record: Mapping[str, Any], payload: Any) -> str:
    """What is said of a line that is left out."""
    kind, known = record.get("type"), _KINDS
    if kind == "response_item" and isinstance(payload, dict):
        kind, known = payload.get("type"), _ITEMS
    named = kind if isinstance(kind, str) else type(kind).__name__
    return "lines that nobody said" if named in known else f"lines of the unknown kind {named!r:.60}"


def _message(payload: Mapping[str, Any], rollout: _Rollout) -> dict[str, Any] | None:
    match payload.get("type"):
        case "message":
            return _said(payload, rollout)
        case "function_call" | "custom_tool_call":
            if payload.get("name") == _ASKS and not payload.get("namespace"):
                rollout.asked.add(str(payload.get("call_id")))
            return _call(payload)
        case "function_call_output" | "custom_tool_call_output":
            call = payload.get("call_id")
            return {"role": "tool", "tool_call_id": call, **_told(_result(payload.get("output")), rollout, call)}
        case _:
            return None


def _told(text: str, rollout: _Rollout, call: Any) -> dict[str, Any]:
    """The content of a result: of an answered question a part with the answers behind it, which are the person's."""
    answers = _answers(text) if str(call) in rollout.asked else []
    if not answers or rollout.asked_by != "user":
        return {"content": text}
    parts = [{"type": "text", "text": one} for one in (text, *answers)]
    return {"content": parts, "written_by": [None, *["user"] * len(answers)]}


def _answers(text: str) -> list[str]:
    try:
        answered = json.loads(text).get("answers")
    except (ValueError, AttributeError, RecursionError):
        return []
    each = answered.values() if isinstance(answered, dict) else ()
    lists = [one.get("answers") if isinstance(one, dict) else one for one in each]
    said = [one for given in lists for one in (given if isinstance(given, list) else [given])]
    return [one.removeprefix("user_note: ") for one in said if isinstance(one, str) and one.strip()]


def _said(payload: Mapping[str, Any], rollout: _Rollout) -> dict[str, Any] | None:
    role = payload.get("role")
    if role not in ("user", "assistant"):
        return None
    texts = [part["text"] for part in _parts(payload.get("content")) if isinstance(part.get("text"), str)]
    if role == "assistant":
        text = "\n".join(texts)
        return {"role": role, "content": text} if text.strip() else None
    content, writers = _written(texts, _whose(payload), rollout.asked_by)
    if not content:
        return None
    return {"role": role, "content": content} | ({} if writers is None else {"written_by": writers})


def _written(texts: list[str], whose: list[Any], writer: WrittenBy) -> Turn:
    """The content of a message in the user's role: what was typed, else what the client says without being asked."""
    passages = [
        passage
        for place, text in enumerate(texts)
        for passage in (
            passages_of(text, writer)
            if place >= len(whose)
            else [(text, writer if whose[place] == "user" else "harness")]
        )
    ]
    typed = "\n".join(text for text, by in passages if by == writer)
    if typed.strip():
        return typed, None if writer == "user" else writer
    told = "\n".join(text for text, _ in passages)
    return ("", None) if told.lstrip().startswith(_SETTINGS) or whose else (told, "harness")


def _whose(payload: Mapping[str, Any]) -> list[Any]:
    """Who each part of the content comes from, where the rollout says it: "user", "harness" and others."""
    passed = payload.get("internal_chat_message_metadata_passthrough")
    items = passed.get("content_item_metadata") if isinstance(passed, Mapping) else None
    if not isinstance(items, list):
        return []
    origins = [one.get("provenance") if isinstance(one, Mapping) else None for one in items]
    return [one.get("type") if isinstance(one, Mapping) else None for one in origins]


def _parts(content: Any) -> list[Mapping[str, Any]]:
    return [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []


def _call(payload: Mapping[str, Any]) -> dict[str, Any]:
    name = str(payload.get("name", ""))
    if isinstance(space := payload.get("namespace"), str) and space:
        name = f"{space}__{name}"
    given = payload.get("arguments", payload.get("input"))
    function = {"name": name, "arguments": given if isinstance(given, str) else "{}"}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": payload.get("call_id"), "type": "function", "function": function}],
    }


def _result(output: Any) -> str:
    if isinstance(output, str):
        return output
    return "\n".join(str(part["text"]) for part in _parts(output) if isinstance(part.get("text"), str)) or "(no text)"
