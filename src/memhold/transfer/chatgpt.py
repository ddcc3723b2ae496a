"""ChatGPT's `conversations.json`: an array of conversations, each a tree of messages.

The layout is known from exports, not from a published contract: `mapping` holds the nodes by id with their `parent`,
`current_node` is the leaf of the branch that the person last saw, and times are seconds since 1970, in UTC.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from memhold.transfer.items import Conversation, Item, any_time
from memhold.transfer.source import Source

__all__ = ["read_chatgpt"]

KIND = "chatgpt"
Node = Mapping[str, Any]
_TYPED = frozenset({"text", "multimodal_text", "user_editable_context"})
"""What a person writes; of any other type it is something that stands in their turn, such as a quoted page."""


def read_chatgpt(source: Source) -> Iterator[Item]:
    """One session a conversation, holding the current branch from its root to `current_node`.

    Other branches (edited prompts, regenerated answers) are left out. What the assistant sends to a tool (`python`,
    `browser`) becomes a tool call, and what the tool answers its result; images and files stay as references. Nodes
    without content are passed over, and so is what a tool keeps from being shown.
    """
    for piece in source.pieces():
        conversation = piece.value
        if piece.index is None:
            source.bad(piece.line, "it is an object where an array of conversations must stand")
            return
        if not isinstance(conversation, dict) or not isinstance(conversation.get("mapping"), dict):
            source.bad(piece.line, "it is not a conversation with a `mapping`")
            continue
        yield from _conversation(source, conversation, piece.line)


def _conversation(source: Source, conversation: Node, line: int) -> Iterator[Item]:
    ident = conversation.get("conversation_id") or conversation.get("id")
    if not isinstance(ident, str) or not ident:
        source.bad(line, "the conversation has no id")
        return
    with source.naming(line, f"conversation {ident:.80}: "):
        moment = any_time(conversation.get("create_time"), source.zone)
        branch = [(node, _moment(node, source)) for node in _branch(conversation)]
        whole = Conversation(source=source, kind=KIND, ident=ident, line=line)
        yield from _said(whole, branch, moment, conversation.get("title"))


def _said(
    whole: Conversation, branch: list[tuple[dict[str, Any], datetime | None]], moment: datetime | None, title: Any
) -> Iterator[Item]:
    call: str | None = None
    for node, said in branch:
        moment = said or moment
        message = node["message"]
        body = _body(node, message, call)
        if body is None:
            whole.source.leave_out("messages that say nothing or were hidden")
            continue
        call = body["tool_calls"][0]["id"] if "tool_calls" in body else call
        model = _dict(message.get("metadata")).get("model_slug")
        item = whole.item(
            node["id"],
            body,
            at=moment,
            title=title if isinstance(title, str) and title.strip() else None,
            model=model if isinstance(model, str) else None,
        )
        if item is not None:
            yield item


def _branch(conversation: Node) -> list[dict[str, Any]]:
    """The nodes with a message from the root to the current leaf, oldest first."""
    mapping = conversation["mapping"]
    at = conversation.get("current_node")
    if not isinstance(at, str) or at not in mapping:
        at = _latest_leaf(mapping)
    path: list[dict[str, Any]] = []
    seen: set[str] = set()
    while isinstance(at, str) and at in mapping and at not in seen:
        seen.add(at)
        node = _dict(mapping[at])
        if isinstance(node.get("message"), dict):
            path.append({**node, "id": at})
        at = node.get("parent")
    return path[::-1]


def _latest_leaf(mapping: Node) -> str | None:
    """Without a current node: the newest node that has no children; of several, the one that stands last."""
    leaves = [ident for ident, node in mapping.items() if not _dict(node).get("children")]

    def time(ident: str) -> float:
        value = _dict(_dict(mapping[ident]).get("message")).get("create_time")
        return value if isinstance(value, int | float) else 0.0

    return max(reversed(leaves), key=time, default=None)


def _moment(node: Node, source: Source) -> datetime | None:
    return any_time(node["message"].get("create_time"), source.zone)


def _body(node: Node, message: Node, call: str | None) -> dict[str, Any] | None:
    """The message in the OpenAI shape, or None when it says nothing or was hidden from the person."""
    content = _content(_dict(message.get("content")))
    if not content or _dict(message.get("metadata")).get("is_visually_hidden_from_conversation") is True:
        return None
    author = _dict(message.get("author"))
    role = author.get("role")
    recipient = message.get("recipient")
    if role == "assistant" and isinstance(recipient, str) and recipient not in {"", "all"}:
        function = {"name": recipient, "arguments": _arguments(content)}
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": node["id"], "type": "function", "function": function}],
        }
    if role == "tool":
        body: dict[str, Any] = {"role": "tool", "tool_call_id": call or f"call_{node['id']}"}
        if isinstance(name := author.get("name"), str) and name:
            body["name"] = name
        return {**body, "content": content}
    typed = _dict(message.get("content")).get("content_type") in _TYPED
    return {"role": role, "content": content, **({} if role != "user" or typed else {"written_by": "attachment"})}


def _arguments(content: str | list[dict[str, Any]]) -> str:
    """The text sent to a tool as the JSON object that the OpenAI shape wants: itself, or `{"input": text}`."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    try:
        if isinstance(json.loads(text), dict):
            return text
    except (ValueError, RecursionError):
        pass
    return json.dumps({"input": text}, ensure_ascii=False)


def _content(content: Node) -> str | list[dict[str, Any]]:
    """Plain text where there is only text, else parts; empty where there is nothing to read."""
    match content.get("content_type"):
        case "text" | "multimodal_text":
            parts = [part for part in map(_part, _list(content.get("parts"))) if part]
            if all(part["type"] == "text" for part in parts):
                return "\n".join(part["text"] for part in parts)
            return parts
        case "user_editable_context":
            return _lines(content, "user_profile", "user_instructions")
        case "tether_quote":
            return _lines(content, "title", "url", "text")
        case "thoughts" | "reasoning_recap":
            return ""
        case _:
            return _lines(content, "summary", "name", "result", "text", "content")


def _part(part: Any) -> dict[str, Any] | None:
    if isinstance(part, str):
        return {"type": "text", "text": part} if part.strip() else None
    part = _dict(part)
    if isinstance(text := part.get("text"), str) and text.strip():
        return {"type": "text", "text": text}
    pointer = part.get("asset_pointer")
    if not isinstance(pointer, str):
        return None
    if "image" in str(part.get("content_type")):
        return {"type": "image_url", "image_url": {"url": pointer}}
    return {"type": "file", "file": {"file_id": pointer}}


def _lines(content: Node, *names: str) -> str:
    return "\n".join(v for name in names if isinstance(v := content.get(name), str) and v.strip())


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
