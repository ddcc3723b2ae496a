"""opencode sessions, as `opencode export` writes them: one JSON document with `info` and `messages`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from memhold.transfer.items import Item, Line, any_time, make_item, session_name
from memhold.transfer.source import Source
from memhold.values.errors import InvalidInput
from memhold.values.records import ABANDONED, Author, WrittenBy

__all__ = ["read_opencode"]

KIND = "opencode"
_DONE = ("completed", "error")
_ASKS = "question"
"""The tool by which the model asks the person."""
_KNOWN = frozenset(
    {"agent", "compaction", "file", "patch", "reasoning", "retry", "snapshot", "step-finish", "step-start", "subtask"}
    | {"text", "tool"}
)
"""The kinds of parts that opencode 1.18 writes."""


@dataclass(slots=True)
class _Session:
    """What is said of a session: its id, who writes its prompts, and from which message on it was undone."""

    name: str
    asked_by: WrittenBy = "user"
    undone: str | None = None

    def note(self, info: Mapping[str, Any]) -> None:
        """Take note of `info`; a session that another one started holds the prompts of an agent."""
        named, revert = info.get("id"), info.get("revert")
        self.name = named if isinstance(named, str) and named.strip() else self.name
        if info.get("parentID"):
            self.asked_by = "assistant"
        if isinstance(revert, Mapping) and isinstance(revert.get("messageID"), str):
            self.undone = revert["messageID"]


def read_opencode(source: Source) -> Iterator[Item]:
    """What the person and the model said, the calls and their results, in order, in OpenAI's shape.

    The answers to the model's questions are the person's; they stand behind the result once more. A session that
    another one started holds the prompts of an agent. What was undone says so in its metadata.

    Left out, and counted: texts that the tool puts in (`synthetic`, `ignored`), reasoning, steps, files,
    calls that have not ended, and answers that were still being written. A kind of part that is not known here is
    named.
    """
    session = _Session(name=source.path.stem)
    for piece in source.pieces(stream=frozenset({"messages"})):
        if piece.key == "info" and isinstance(piece.value, dict):
            session.note(piece.value)
        if piece.key != "messages" or piece.index is None:
            continue
        if not isinstance(piece.value, dict) or not isinstance(piece.value.get("info"), dict):
            source.bad(piece.line, "it is no message of opencode: it has no `info`")
            continue
        yield from _items(source, piece.value, session, piece.line)


def _items(source: Source, value: Mapping[str, Any], session: _Session, line: int) -> Iterator[Item]:
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
    # Its ids rise with time.
    undone = session.undone is not None and str(info.get("id")) >= session.undone
    beside = {} if moment is None else {"event_time": moment}
    parts = value.get("parts")
    for part in parts if isinstance(parts, list) else ():
        found = _messages(str(info.get("role")), part, session.asked_by) if isinstance(part, Mapping) else []
        if not found:
            kind = part.get("type") if isinstance(part, Mapping) else type(part).__name__
            source.leave_out("parts that nobody said" if kind in _KNOWN else f"parts of the unknown kind {kind!r:.60}")
        for place, message in enumerate(found):
            source_id = f"{part.get('id')}:{place}"
            metadata = {"source": KIND, "source_id": source_id} | ({ABANDONED: True} if undone else {})
            item = make_item(
                source,
                Line(
                    message={**message, "metadata": metadata, **beside},
                    kind=KIND,
                    session=session_name(KIND, session.name),
                    conversation=session.name,
                    source_id=source_id,
                    line=line,
                    said=Author(origin="agent", name=KIND) if session.asked_by == "assistant" else None,
                ),
            )
            if item is not None:
                yield item


def _messages(role: str, part: Mapping[str, Any], asked_by: WrittenBy) -> list[dict[str, Any]]:
    state = part.get("state")
    match part.get("type"):
        case "text" if role in ("user", "assistant") and not (part.get("synthetic") or part.get("ignored")):
            text = part.get("text")
            if not isinstance(text, str) or not text.strip():
                return []
            prompt = role == "user" and asked_by != "user"
            return [{"role": role, "content": text} | ({"written_by": asked_by} if prompt else {})]
        case "tool" if isinstance(state, Mapping) and state.get("status") in _DONE:
            ident = part.get("callID")
            given = json.dumps(state.get("input") or {}, ensure_ascii=False)
            function = {"name": str(part.get("tool", "")), "arguments": given}
            return [
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": ident, "type": "function", "function": function}],
                },
                {"role": "tool", "tool_call_id": ident, **_told(part, state, asked_by)},
            ]
        case _:
            return []


def _told(part: Mapping[str, Any], state: Mapping[str, Any], asked_by: WrittenBy) -> dict[str, Any]:
    """The content of a result: of an answered question a part with the answers behind it, which are the person's."""
    result = str((state.get("output") if state.get("status") == "completed" else state.get("error")) or "(no text)")
    beside = state.get("metadata")
    given = beside.get("answers") if isinstance(beside, Mapping) and part.get("tool") == _ASKS else None
    lists = [one for one in given if isinstance(one, list)] if isinstance(given, list) else []
    answers = [one for chosen in lists for one in chosen if isinstance(one, str) and one.strip()]
    if not answers or asked_by != "user":
        return {"content": result}
    parts = [{"type": "text", "text": one} for one in (result, *answers)]
    return {"content": parts, "written_by": [None, *["user"] * len(answers)]}
