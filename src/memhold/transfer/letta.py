"""Letta's agent files (`.af`): the core memory blocks of an agent as notes, its conversation as a session.

Both layouts are read: one agent with `core_memory`, and lists of `agents` and `blocks`. Ids in a file are made when it
is written, so a message is known by its time and a block by its label and its agents.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from memhold.transfer.items import Conversation, Item, Note, Restored, any_time, make_note
from memhold.transfer.source import Source
from memhold.values.errors import InvalidInput

__all__ = ["is_letta_agent", "read_letta"]

KIND = "letta"
_SEND = "send_message"
"""The tool by which older agents say something; what stands beside such a call is a thought."""
_SENT = "results of sending a message"
_SEVERAL = 2
_STREAMED = frozenset({"agents", "blocks", "core_memory", "messages"})
_PART_OF_ONE = frozenset({"name", "agent_type", "system", "created_at", "updated_at", "version", "description"})
_SETTINGS = frozenset({"metadata", "created_by_id", "revision_id", "embedding_config", "llm_config"})


def is_letta_agent(value: Any) -> bool:
    """Whether this is an agent as a list of `agents` has it."""
    return isinstance(value, dict) and ("in_context_message_ids" in value or {"block_ids", "messages"} <= value.keys())


def read_letta(source: Source) -> Iterator[Item | Restored]:
    """What an agent's file tells; its tools, groups and files are counted as left out, as are system prompts."""
    owners, names = _owners(source)
    name = ", ".join(names) or source.path.stem
    seen: Counter[str] = Counter()
    for piece in source.pieces(stream=_STREAMED):
        if piece.key in _STREAMED and piece.index is not None:
            if not isinstance(piece.value, dict):
                source.bad(piece.line, f"the entry {piece.index} of `{piece.key}` is no object")
            elif piece.key == "agents":
                yield from _agent(source, piece.value, _apart(piece.value, seen), piece.line)
            elif piece.key == "messages":
                yield from _messages(source, [piece.value], name, piece.line, first=piece.index)
            else:
                mine = owners.get(str(piece.value.get("id"))) or ([name] if piece.key == "core_memory" else [])
                yield from _block(source, piece.value, mine, piece.line)
        elif piece.key is None:
            source.bad(piece.line, "it is a list where an agent file has an object")
            return
        elif piece.value and piece.key not in _PART_OF_ONE | _SETTINGS | _STREAMED:
            count = len(piece.value) if isinstance(piece.value, list | dict) else 1
            source.leave_out(f"{piece.key.replace('_', ' ')} of an agent file"[:80], count)


def _owners(source: Source) -> tuple[dict[str, list[str]], list[str]]:
    """The names of the agents that have each block, and the name of the agent where the file is one agent's.

    Raises:
        UnreadableImport: it is cut. What a name stands behind would come under another one now, and twice once it is
            whole.
    """
    owners: defaultdict[str, list[str]] = defaultdict(list)
    names: list[str] = []
    seen: Counter[str] = Counter()
    first = replace(source, on_error="skip", problems=[])
    for piece in first.pieces(stream=_STREAMED):
        if piece.key == "name" and isinstance(piece.value, str):
            names.append(piece.value)
        elif piece.key == "agents" and isinstance(piece.value, dict):
            name = _apart(piece.value, seen)
            for ident in _list(piece.value.get("block_ids")):
                owners[str(ident)].append(name)
    return owners, names


def _apart(agent: Mapping[str, Any], seen: Counter[str]) -> str:
    """The agent's name; of several of one name in a file, each further one with its number, as it stands there."""
    name = str(agent.get("name") or agent.get("id") or "agent")
    seen[name] += 1
    return name if seen[name] == 1 else f"{name} ({seen[name]})"


def _agent(source: Source, agent: Mapping[str, Any], name: str, line: int) -> Iterator[Item | Restored]:
    yield from _messages(source, _list(agent.get("messages")), name, line)
    for block in _list(agent.get("memory_blocks")):
        if isinstance(block, dict):
            yield from _block(source, block, [name], line)


def _block(source: Source, block: Mapping[str, Any], owners: list[str], line: int) -> Iterator[Restored]:
    label = block.get("label")
    more = block.get("metadata") or block.get("metadata_")
    with source.naming(line, f"block {label!r:.60}: "):
        note = make_note(
            source,
            Note(
                text=block.get("value"),
                kind=KIND,
                entry=f"block {', '.join(sorted(owners))} {label}",
                line=line,
                since=any_time(block.get("updated_at") or block.get("created_at"), source.zone),
                topics=[label],
                metadata={
                    "label": label,
                    "agents": owners,
                    "block_metadata": more,
                    **{name: block.get(name) for name in ("description", "read_only", "template_name")},
                },
            ),
        )
        if note is not None:
            yield note


def _messages(source: Source, messages: list[Any], agent: str, line: int, *, first: int = 0) -> Iterator[Item]:
    whole = Conversation(source=source, kind=KIND, ident=agent, line=line)
    sent: set[str] = set()
    for place, message in enumerate(messages, start=first):
        with source.naming(line, f"message {place} of {agent!r:.60}: "):
            if not isinstance(message, dict):
                raise InvalidInput("it is not an object")
            told = message.get("created_at")
            named = str(told or message.get("id") or place)
            for number, body in enumerate(_bodies(source, message, sent), start=1):
                entry = named if number == 1 else f"{named} {number}"
                item = whole.item(entry, body, at=any_time(told, source.zone), agent=agent, model=message.get("model"))
                if item is not None:
                    yield item


def _bodies(source: Source, message: Mapping[str, Any], sent: set[str]) -> Iterator[dict[str, Any]]:
    """The messages in the OpenAI shape that one of Letta's is: of tools that were called at once, a result for each."""
    returned = [one for one in _list(message.get("tool_returns")) if isinstance(one, dict)]
    if message.get("role") != "tool" or len(returned) < _SEVERAL:
        body = _body(source, message, sent)
        if body is not None:
            yield body
        return
    # Its own `content`, `name` and `tool_call_id` are of the first call alone.
    for one in returned:
        called = str(one.get("tool_call_id") or "unknown")
        if called in sent:
            source.leave_out(_SENT)
        else:
            yield {
                "role": "tool",
                "tool_call_id": called,
                "content": _content(source, {"content": one.get("func_response")}),
            }


def _body(source: Source, message: Mapping[str, Any], sent: set[str]) -> dict[str, Any] | None:
    """A message in the OpenAI shape; None for what Letta itself put in, and for what nobody said.

    `sent` gathers the ids of calls by which the agent said something.
    """
    role, content = message.get("role"), _content(source, message)
    match role:
        case "system":
            source.leave_out("system prompts, which Letta makes itself")
            return None
        case "user":
            return _users(source, content)
        case "assistant":
            return _assistants(source, content, _list(message.get("tool_calls")), sent)
        case "tool":
            if message.get("name") == _SEND:
                source.leave_out(_SENT)
                return None
            return {"role": "tool", "tool_call_id": str(message.get("tool_call_id") or "unknown"), "content": content}
        case "approval":
            source.leave_out("approvals of tools")
            return None
    raise InvalidInput(f"it has the role {role!r:.40}")


def _content(source: Source, message: Mapping[str, Any]) -> Any:
    """A message's text, or its parts where there are pictures among them; what the model thought is left out."""
    given = message.get("content", message.get("text"))
    if not isinstance(given, list):
        return given
    parts = []
    for part in given:
        match part:
            case {"type": "text", "text": str(text)}:
                parts.append({"type": "text", "text": text})
            case {"type": "image", "source": {"type": "base64" | "url"} as where}:
                parts.append({"type": "image", "source": where})
            case {"type": "tool_return" | "tool_call"}:
                pass  # stands in `tool_calls`, or is the result itself
            case {"type": str(kind)}:
                source.leave_out(f"parts of messages of type {kind!r:.40}")
            case _:
                raise InvalidInput("a part of its content is of no type")
    if all(part["type"] == "text" for part in parts):
        return "\n".join(part["text"] for part in parts)
    return parts


def _users(source: Source, content: Any) -> dict[str, Any] | None:
    """What the user wrote, out of the envelope that older agents put it in; events of Letta's own are none."""
    told = _json(content)
    if told is not None and told.get("type") in ("user_message", "heartbeat", "login", "system_alert", "bootup"):
        if told["type"] != "user_message" or not isinstance(told.get("message"), str):
            source.leave_out("events of Letta's own")
            return None
        content = told["message"]
    return {"role": "user", "content": content}


def _assistants(source: Source, content: Any, calls: list[Any], sent: set[str]) -> dict[str, Any]:
    said: list[str] = []
    others: list[Any] = []
    for call in calls:
        function = call.get("function") if isinstance(call, dict) else None
        told = (
            _json(function.get("arguments")) if isinstance(function, dict) and function.get("name") == _SEND else None
        )
        if told is not None and isinstance(told.get("message"), str):
            said.append(told["message"])
            sent.add(str(call.get("id")))
        else:
            others.append(call)
    if said and content:
        source.leave_out("thoughts of the agent")
    body: dict[str, Any] = {"role": "assistant", "content": "\n".join(said) if said else content or None}
    return {**body, "tool_calls": others} if others else body


def _json(text: Any) -> dict[str, Any] | None:
    if not isinstance(text, str) or not text.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
