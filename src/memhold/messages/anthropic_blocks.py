"""Content blocks of the Anthropic shape: reading, joining and quoting them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memhold.messages.window import EMPTY_RESULT, Body, blank, quoted_result

__all__ = [
    "Block",
    "answered_servers",
    "blocks_of",
    "is_thinking",
    "lone_text",
    "one_result",
    "sendable_block",
    "with_blocks",
    "without_blanks",
]

Block = Mapping[str, Any]

_SERVER_USES = frozenset({"server_tool_use", "mcp_tool_use"})
_ASSISTANT_BLOCKS = _SERVER_USES | {"tool_use", "thinking", "redacted_thinking"}
_USER_BLOCKS = frozenset({"image", "document"})


def blocks_of(message: Body) -> list[Block]:
    """The message's content as blocks; text stands for one block of text."""
    content = message.get("content")
    if content is None:
        return []
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def with_blocks(message: Body, blocks: Sequence[Block]) -> Body:
    """The message with other blocks, everything else of it unchanged."""
    return {**message, "content": list(blocks)}


def is_thinking(block: Block) -> bool:
    """Whether the block is thinking, shown or redacted."""
    return block["type"] in {"thinking", "redacted_thinking"}


def sendable_block(block: Block, role: str) -> Block | None:
    """The block as a message of this role may hold it, the same object where it may; None where it may not."""
    kind = block["type"]
    if role == "user":
        if kind in _ASSISTANT_BLOCKS or kind.endswith("_tool_result"):
            return None
        return _sendable_result(block) if kind == "tool_result" else block
    if kind == "tool_result" or (kind == "thinking" and not block.get("signature")):
        return None
    if kind in _USER_BLOCKS:
        return {"type": "text", "text": f"[{kind}]"}
    if kind != "tool_use" or (_named(block) and isinstance(block.get("input"), Mapping)):
        return block
    given = block.get("input")
    return {
        **block,
        "name": block["name"] if _named(block) else "unknown",
        "input": given if isinstance(given, Mapping) else {},
    }


def _named(block: Block) -> bool:
    return isinstance(block.get("name"), str) and bool(block["name"])


def _sendable_result(block: Block) -> Block:
    """A result without null, and an error that says something."""
    if block.get("is_error") and blank(block.get("content")):
        return {**block, "content": EMPTY_RESULT}
    if "content" in block and block["content"] is None:
        return {key: value for key, value in block.items() if key != "content"}
    return block


def without_blanks(blocks: Sequence[Block]) -> tuple[list[Block], bool]:
    """The blocks without blank text, in tool results too; and whether there was any."""
    kept: list[Block] = []
    changed = False
    for block in blocks:
        content = block.get("content")
        if block["type"] == "text" and not block["text"].strip():
            changed = True
        elif block["type"] == "tool_result" and isinstance(content, list | tuple):
            inner = [part for part in content if part["type"] != "text" or part["text"].strip()]
            if len(inner) < len(content):
                changed = True
                rest = {key: value for key, value in block.items() if key != "content"}
                kept.append({**rest, "content": inner} if inner else rest)
            else:
                kept.append(block)
        else:
            kept.append(block)
    return kept, changed


def one_result(results: Sequence[Block]) -> Block:
    """Several results of one call as one block: all their content in order, an error if one of them was."""
    content: list[Block] = []
    for result in results:
        inner = result.get("content")
        if isinstance(inner, str):
            content.extend([{"type": "text", "text": inner}] if inner.strip() else [])
        else:
            content.extend(inner or ())
    joined = {**results[0], "content": content}
    if not any(result.get("is_error") for result in results):
        return joined
    return {**joined, "is_error": True, "content": content or EMPTY_RESULT}


def lone_text(block: Block) -> list[Block]:
    """A block of a user's message that has lost its call: a result becomes text, images and documents stay."""
    if block["type"] != "tool_result":
        return [block]
    content = block.get("content")
    if isinstance(content, str) or blank(content):
        return [{"type": "text", "text": quoted_result(content if isinstance(content, str) else "")}]
    text = "\n".join(part["text"] for part in content or () if part["type"] == "text")
    return [{"type": "text", "text": quoted_result(text)}, *(p for p in content or () if p["type"] in _USER_BLOCKS)]


def answered_servers(messages: Sequence[Body]) -> dict[int, set[int]]:
    """Where halves of server tools' pairs stand: block numbers by message position.

    A server tool's result may come in a later message of the same exchange (behind the results of client tools), so
    only a person's message closes what is open. A use that is open at the very end may still be continued.
    """
    lost: dict[int, set[int]] = {}
    waiting: dict[str | None, tuple[int, int]] = {}
    for position, message in enumerate(messages):
        blocks = blocks_of(message)
        if message["role"] == "user":
            if any(block["type"] != "tool_result" for block in blocks):
                for at, number in waiting.values():
                    lost.setdefault(at, set()).add(number)
                waiting = {}
            continue
        for number, block in enumerate(blocks):
            if block["type"] in _SERVER_USES:
                earlier = waiting.pop(block.get("id"), None)
                if earlier is not None:
                    lost.setdefault(earlier[0], set()).add(earlier[1])
                waiting[block.get("id")] = (position, number)
            elif block["type"].endswith("_tool_result") and waiting.pop(block.get("tool_use_id"), None) is None:
                lost.setdefault(position, set()).add(number)
    return lost
