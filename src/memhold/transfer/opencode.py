"""opencode sessions, as `opencode export` writes them: one JSON document with `info` and `messages`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from memhold.transfer.items import Item, any_time, make_item, session_name
from memhold.transfer.source import Source
from memhold.values.errors import InvalidInput

__all__ = ["read_opencode"]

KIND = "opencode"
_DONE = ("completed", "error")


def read_opencode(source: Source) -> Iterator[Item]:
    """What the person and the model said, the calls and their results, in order, in OpenAI's shape.

    Left out, and counted: texts that the tool puts in (`synthetic`, `ignored`), reasoning, steps, files,
    calls that have not ended, and answers that were still being written.
    """
    session = source.path.stem
    for piece in source.pieces(stream=frozenset({"messages"})):
        if piece.key == "info" and isinstance(piece.value, dict):
            named = piece.value.get("id")
            session = named if isinstance(named, str) and named.strip() else session
        if piece.key != "messages" or piece.index is None:
            continue
        if not isinstance(piece.value, dict) or not isinstance(piece.value.get("info"), dict):
            source.bad(piece.line, "it is no message of opencode: it has no `info`")
            continue
        yield from _items(source, piece.value, session, piece.line)


def _items(source: Source, value: Mapping[str, Any], session: str, line: int) -> Iterator[Item]:
    info = value["info"]
    times = info.get("time") if isinstance(info.get("time"), Mapping) else {}
    if info.get("role") == "assistant" and not times.get("completed") and not info.get("error"):
        source.leave_out("answers that are not whole yet")
        return
    try:
        moment = any_time(times.get("created"), source.zone)
    except InvalidInput as error:
        source.bad(line, str(error))
        return
    timed = {} if moment is None else {"event_time": moment}
    parts = value.get("parts")
    for part in parts if isinstance(parts, list) else ():
        found = _messages(str(info.get("role")), part) if isinstance(part, Mapping) else []
        if not found:
            source.leave_out("parts that nobody said")
        for place, message in enumerate(found):
            source_id = f"{part.get('id')}:{place}"
            item = make_item(
                source,
                {**message, "metadata": {"source": KIND, "source_id": source_id}, **timed},
                kind=KIND,
                session=session_name(KIND, session),
                conversation=session,
                source_id=source_id,
                line=line,
            )
            if item is not None:
                yield item


def _messages(role: str, part: Mapping[str, Any]) -> list[dict[str, Any]]:
    state = part.get("state")
    match part.get("type"):
        case "text" if role in ("user", "assistant") and not (part.get("synthetic") or part.get("ignored")):
            text = part.get("text")
            return [{"role": role, "content": text}] if isinstance(text, str) and text.strip() else []
        case "tool" if isinstance(state, Mapping) and state.get("status") in _DONE:
            ident = part.get("callID")
            given = json.dumps(state.get("input") or {}, ensure_ascii=False)
            function = {"name": str(part.get("tool", "")), "arguments": given}
            result = state.get("output") if state.get("status") == "completed" else state.get("error")
            return [
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": ident, "type": "function", "function": function}],
                },
                {"role": "tool", "tool_call_id": ident, "content": str(result or "(no text)")},
            ]
        case _:
            return []
