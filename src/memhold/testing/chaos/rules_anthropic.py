"""What Anthropic refuses in a list of messages: see `memhold.testing.chaos.rules`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memhold.testing.chaos.violations import Violation, mappings

__all__ = ["anthropic_violations"]

_ANTHROPIC_ID = re.compile(r"[a-zA-Z0-9_-]+")
_ANTHROPIC_OF_ASSISTANT = frozenset({"tool_use", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use"})
_ANTHROPIC_OF_USER = frozenset({"tool_result", "image", "document"})


def anthropic_violations(messages: Sequence[Mapping[str, Any]], system: Any = None) -> list[Violation]:
    """Every broken rule of an Anthropic messages request, in the order of its messages."""
    found = list(_anthropic_system(system))
    if not messages:
        return [*found, _said("messages: at least one message is required", "messages")]
    previous: Mapping[str, Any] = {}
    for index, message in enumerate(messages):
        role = message.get("role")
        if role not in {"user", "assistant"}:
            found.append(_anthropic_role(role, index))
        elif index == 0 and role != "user":
            found.append(_said('messages: first message must use the "user" role', "messages"))
        elif role == previous.get("role"):
            text = (
                'messages: roles must alternate between "user" and "assistant", '
                f'but found multiple "{role}" roles in a row'
            )
            found.append(_said(text, "messages"))
        extra = sorted(message.keys() - {"role", "content"})
        place = f"messages.{index}"
        found.extend(_said(f"{place}.{name}: Extra inputs are not permitted", place) for name in extra)
        found.extend(_anthropic_content(message, index, final=index == len(messages) - 1))
        found.extend(_anthropic_blocks(message, index))
        found.extend(_anthropic_results(message, index, previous))
        following = messages[index + 1] if index + 1 < len(messages) else {}
        found.extend(_anthropic_unanswered(message, index, following))
        previous = message
    return found


def _said(text: str, param: str) -> Violation:
    return Violation(text=text, param=param)


def _anthropic_role(role: Any, index: int) -> Violation:
    if role == "system":
        text = (
            'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, '
            'not "system" as an input message role.'
        )
    else:
        text = f"messages.{index}.role: Input should be 'user' or 'assistant'"
    return _said(text, f"messages.{index}.role")


def _anthropic_system(system: Any) -> Iterator[Violation]:
    if isinstance(system, list):
        for block in mappings(system):
            if block.get("type") == "text" and not block.get("text"):
                yield _said("system: text content blocks must be non-empty", "system")


def _anthropic_content(message: Mapping[str, Any], index: int, *, final: bool) -> Iterator[Violation]:
    content = message.get("content")
    place = f"messages.{index}.content"
    assistant_end = final and message.get("role") == "assistant"
    if content is None:
        yield _said(f"{place}: Field required", place)
        return
    if not isinstance(content, str | list):
        yield _said(f"{place}: Input should be a valid list", place)
        return
    if not content:
        if not assistant_end:
            text = (
                f"messages.{index}: all messages must have non-empty content "
                "except for the optional final assistant message"
            )
            yield _said(text, place)
        return
    texts = [content] if isinstance(content, str) else _texts(content)
    if any(not text for text in texts):
        yield _said("messages: text content blocks must be non-empty", place)
    elif any(not text.strip() for text in texts):
        yield _said("messages: text content blocks must contain non-whitespace text", place)
    elif assistant_end and texts and texts[-1] != texts[-1].rstrip() and not _uses(message):
        yield _said("messages: final assistant content cannot end with trailing whitespace", place)


def _anthropic_blocks(message: Mapping[str, Any], index: int) -> Iterator[Violation]:
    content = message.get("content")
    role = message.get("role")
    seen: set[str] = set()
    for number, block in enumerate(content if isinstance(content, list) else ()):
        place = f"messages.{index}.content.{number}"
        kind = block.get("type") if isinstance(block, Mapping) else None
        if not isinstance(kind, str):
            yield _said(f"{place}.type: Field required", place)
            continue
        owner = "assistant" if kind in _ANTHROPIC_OF_ASSISTANT else "user" if kind in _ANTHROPIC_OF_USER else None
        if owner is None and kind.endswith("_tool_result"):
            owner = "assistant"
        if owner is not None and role != owner:
            yield _said(f"{place}: `{kind}` blocks can only be in `{owner}` messages", place)
        yield from _anthropic_block(block, kind, place, seen)


def _anthropic_block(block: Mapping[str, Any], kind: str, place: str, seen: set[str]) -> Iterator[Violation]:
    """What a block must hold; the ids of the calls that were seen grow."""
    if kind == "tool_use":
        identity = str(block.get("id") or "")
        if not _ANTHROPIC_ID.fullmatch(identity):
            yield _said(f"{place}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", place)
        if identity in seen:
            yield _said(f"{place}: `tool_use` ids must be unique", place)
        if not isinstance(block.get("name"), str):
            yield _said(f"{place}.tool_use.name: Field required", place)
        elif not block["name"]:
            yield _said(f"{place}.tool_use.name: String should have at least 1 character", place)
        if not isinstance(block.get("input"), Mapping):
            yield _said(f"{place}.tool_use.input: Input should be a valid dictionary", place)
        seen.add(identity)
    elif kind == "thinking" and not (isinstance(block.get("signature"), str) and block["signature"]):
        yield _said(f"{place}.thinking.signature: Field required", place)
    elif kind == "tool_result":
        if "content" in block and not isinstance(block["content"], str | list):
            yield _said(f"{place}.tool_result.content: Input should be a valid list", place)
        if block.get("is_error") and not block.get("content"):
            yield _said(f"{place}.tool_result: content cannot be empty if `is_error` is true", place)


def _anthropic_results(message: Mapping[str, Any], index: int, previous: Mapping[str, Any]) -> Iterator[Violation]:
    asked = set(_uses(previous)) if previous.get("role") == "assistant" else set()
    seen: set[str] = set()
    content = message.get("content")
    for number, block in enumerate(content if isinstance(content, list) else ()):
        if not isinstance(block, Mapping) or block.get("type") != "tool_result":
            continue
        place = f"messages.{index}.content.{number}"
        identity = str(block.get("tool_use_id", ""))
        if identity not in asked:
            yield _said(
                f"{place}: unexpected `tool_use_id` found in `tool_result` blocks: {identity}. Each `tool_result` "
                "block must have a corresponding `tool_use` block in the previous message.",
                place,
            )
        elif identity in seen:
            text = (
                f"{place}: each tool_use must have a single result. "
                f"Found multiple `tool_result` blocks with id: {identity}"
            )
            yield _said(text, place)
        seen.add(identity)


def _anthropic_unanswered(message: Mapping[str, Any], index: int, following: Mapping[str, Any]) -> Iterator[Violation]:
    if message.get("role") != "assistant":
        return
    answered = set(_leading_results(following)) if following.get("role") == "user" else set()
    missing = [identity for identity in _uses(message) if identity not in answered]
    if missing:
        yield _said(
            f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the "
            "next message.",
            f"messages.{index}",
        )


def _leading_results(message: Mapping[str, Any]) -> Iterator[str]:
    """Ids answered before anything else is said: the guide demands that results come first in the content."""
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, Mapping) or block.get("type") != "tool_result":
            return
        yield str(block.get("tool_use_id", ""))


def _uses(message: Mapping[str, Any]) -> list[str]:
    content = message.get("content")
    blocks = mappings(content) if isinstance(content, list) else []
    return [str(block.get("id", "")) for block in blocks if block.get("type") == "tool_use"]


def _texts(content: list[Any]) -> list[str]:
    return [str(block.get("text") or "") for block in mappings(content) if block.get("type") == "text"]
