"""Who wrote what in a line of a Claude Code transcript: the client's own fields tell, then marks in its texts. Pure.

| the line | written by |
|---|---|
| `isMeta`, `isCompactSummary`, `isVisibleInTranscriptOnly`, `isVirtual`, `promptSource` "system" | the client |
| `origin` of another kind than "human": a peer's or a coordinator's | an assistant |
| any other such `origin`: a channel's, a finished task's, one of the client's own | the client |
| `sourceToolUseID`: what a tool call of the model's brought | the client |
| `isSidechain` or `agentId`: a prompt for a subagent | an assistant; the client, where it forked the subagent itself |
| an attachment `queued_command` whose `commandMode` is another than "prompt" | the client |
| a result (`tool_result`), and what stands beside one | the tool, and the client |
| the answers of `AskUserQuestion`, and what a person said when they refused a call | the person |
| any other | the person |
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memhold.transfer.client_marks import Turn, parts_of, passages_of
from memhold.values.records import WrittenBy

__all__ = ["ASKS", "is_prompt", "is_queued", "prompt_of", "turn_of", "writer_of_line"]

ASKS = "AskUserQuestion"
"""The tool by which the model asks the person."""
_INJECTED = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isVirtual")
_FORKED = re.compile(r"a[a-z_]{2,40}-")
"""The id of a subagent that the client made for its own ends: `acompact-70d8e7`. One of the model's is hexadecimal."""
_REFUSED = "The user doesn't want to proceed with this tool use."
_SAID = "the user said:\n"


def writer_of_line(record: Mapping[str, Any]) -> WrittenBy:
    """Who wrote a line of type `user`, or a queued command, where its texts do not say otherwise."""
    attached = record.get("attachment")
    told = attached if isinstance(attached, Mapping) else record
    origin = told.get("origin")
    kind = origin.get("kind") if isinstance(origin, Mapping) else None
    if any(told.get(name) is True for name in _INJECTED) or told.get("promptSource") == "system":
        return "harness"
    if kind in {"peer", "coordinator"}:
        return "assistant"
    if kind not in {None, "human"} or told.get("sourceToolUseID") or told.get("commandMode") not in {None, "prompt"}:
        return "harness"
    agent = record.get("agentId")
    if record.get("isSidechain") is True or agent:
        return "harness" if isinstance(agent, str) and _FORKED.match(agent) else "assistant"
    return "user"


def is_queued(record: Mapping[str, Any]) -> bool:
    """Whether the line is a prompt that was put into the running turn."""
    attached = record.get("attachment")
    return record.get("type") == "attachment" and isinstance(attached, Mapping) and _is_command(attached)


def _is_command(attached: Mapping[str, Any]) -> bool:
    return attached.get("type") == "queued_command" and isinstance(attached.get("prompt"), str | list)


def is_prompt(record: Mapping[str, Any]) -> bool:
    """Whether a person typed the line, and it is no answer to a call: what can be rewound to."""
    message = record.get("message")
    if record.get("type") != "user" or not isinstance(message, Mapping) or writer_of_line(record) != "user":
        return False
    content, writers = turn_of(record, message.get("content"))
    if isinstance(content, list) and any(_type(part) == "tool_result" for part in content):
        return False
    return writers is None or "user" in writers


def prompt_of(content: Any) -> str:
    """The words of a prompt, by which it is known where it stands a second time."""
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = [part.get("text") for part in parts if isinstance(part, Mapping) and _type(part) == "text"]
    return "\n".join(text for text in texts if isinstance(text, str)).strip()


def turn_of(record: Mapping[str, Any], content: Any, tool: str | None = None) -> Turn:
    """The content of a line in the role of the user, each passage a part of its own, and who wrote each.

    `tool` is the name of the tool whose result it brings, where that is known.
    """
    writer = writer_of_line(record)
    sure = record.get("promptSource") == "typed"
    if isinstance(content, str):
        return parts_of(content, writer, sure=sure)
    if not isinstance(content, list):
        return content, None
    results = any(_type(part) == "tool_result" for part in content)
    found = [one for part in content for one in _passages(part, writer, sure=sure, results=results)]
    if results and writer == "user":
        found += [({"type": "text", "text": answer}, "user") for answer in _answers(record, content, tool)]
    writers = [by for _, by in found]
    return [part for part, _ in found], writers if any(by not in {None, "user"} for by in writers) else None


def _passages(part: Any, writer: WrittenBy, *, sure: bool, results: bool) -> list[tuple[Any, WrittenBy | None]]:
    """A part of a line, each passage of a text as a part; what stands beside a result is the client's."""
    text = part.get("text") if _type(part) == "text" else None
    if not isinstance(text, str):
        return [(part, None if _type(part) == "tool_result" or writer == "user" else writer)]
    if results:
        return [(part, "harness")]
    pieces = passages_of(text, writer, sure=sure)
    return [(part if len(pieces) == 1 else {**part, "text": one}, by) for one, by in pieces]


def _type(part: Any) -> Any:
    return part.get("type") if isinstance(part, Mapping) else None


def _answers(record: Mapping[str, Any], content: Sequence[Any], tool: str | None) -> Iterator[str]:
    """What a person answered in a result: to a question of the model's, or why they refused a call."""
    told = record.get("toolUseResult")
    if isinstance(told, Mapping) and tool in {None, ASKS}:
        yield from _answered(told)
    elif isinstance(told, str) and tool and not tool.startswith("mcp__"):
        for part in content:
            text = part.get("content") if isinstance(part, Mapping) and part.get("is_error") is True else None
            if isinstance(text, str) and text.startswith(_REFUSED):
                said = text.partition(_SAID)[2].strip()
                if said:
                    yield said


def _answered(told: Mapping[str, Any]) -> Iterator[str]:
    """The answers in the client's own record of a question: what was chosen or typed, notes, and a free reply."""
    asked, answers = told.get("questions"), told.get("answers")
    if not isinstance(asked, list) or not isinstance(answers, Mapping):
        return
    notes = told.get("annotations")
    for question in asked:
        name = question.get("question") if isinstance(question, Mapping) else None
        beside = notes.get(name) if isinstance(notes, Mapping) and isinstance(name, str) else None
        given = answers.get(name) if isinstance(name, str) else None
        for one in (given, beside.get("notes") if isinstance(beside, Mapping) else None):
            if isinstance(one, str) and one.strip():
                yield one.strip()
    if isinstance(reply := told.get("response"), str) and reply.strip():
        yield reply.strip()
