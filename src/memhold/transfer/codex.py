"""Codex rollouts: JSONL, one event a line, as the tool keeps them below `sessions` of its folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memhold.transfer.items import Item, any_time, make_item, session_name
from memhold.transfer.source import Source
from memhold.values.errors import InvalidInput

__all__ = ["read_codex"]

KIND = "codex"
_INJECTED = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions")
"""How texts begin that versions before .160 put in as the user's without saying so."""


def read_codex(source: Source) -> Iterator[Item]:
    """What the person and the model said, the calls and their results, in the order of the file, in OpenAI's shape.

    A session is the rollout's own id (`session_meta`). Left out, and counted: every other type of line, what
    the tool itself puts in (environment, instructions, hooks), reasoning, and searches that the provider did.
    """
    session, cwd = source.path.stem, None
    for number, record in source.records():
        payload = record.get("payload")
        if record.get("type") == "session_meta" and isinstance(payload, dict):
            named = payload.get("id")
            session = named if isinstance(named, str) and named.strip() else session
            cwd = payload.get("cwd")
        message = _message(payload) if record.get("type") == "response_item" and isinstance(payload, dict) else None
        if message is None:
            source.leave_out("lines that nobody said")
            continue
        try:
            moment = any_time(record.get("timestamp"), source.zone)
        except InvalidInput as error:
            source.bad(number, str(error))
            continue
        place = str(record.get("ordinal", number))
        metadata = {"source": KIND, "source_id": place, **({"cwd": cwd} if isinstance(cwd, str) else {})}
        timed = {} if moment is None else {"event_time": moment}
        item = make_item(
            source,
            {**message, "metadata": metadata, **timed},
            kind=KIND,
            session=session_name(KIND, session),
            conversation=session,
            source_id=place,
            line=number,
        )
        if item is not None:
            yield item


def _message(payload: Mapping[str, Any]) -> dict[str, Any] | None:
    match payload.get("type"):
        case "message":
            return _said(payload)
        case "function_call" | "custom_tool_call":
            return _call(payload)
        case "function_call_output" | "custom_tool_call_output":
            return {"role": "tool", "tool_call_id": payload.get("call_id"), "content": _result(payload.get("output"))}
        case _:
            return None


def _said(payload: Mapping[str, Any]) -> dict[str, Any] | None:
    role = payload.get("role")
    if role not in ("user", "assistant"):
        return None
    parts = [part for part in _parts(payload.get("content")) if isinstance(part.get("text"), str)]
    if role == "user":
        whose = _whose(payload)
        parts = [
            part
            for place, part in enumerate(parts)
            if (whose[place] == "user" if place < len(whose) else not part["text"].lstrip().startswith(_INJECTED))
        ]
    text = "\n".join(part["text"] for part in parts)
    return {"role": role, "content": text} if text.strip() else None


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
