"""What an agent's turn is made of, in the OpenAI chat shape that `add` takes: calls of tools, and their results."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["assistant_said", "call_of", "json_text", "result_of"]


def json_text(value: object) -> str:
    """A value as the text of JSON; what JSON does not know is told by its own words."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def call_of(ident: str | None, name: str | None, arguments: object) -> dict[str, Any]:
    """One call of a tool, for `tool_calls`; a framework that gives calls no ids pairs them by their names."""
    called = name or "unnamed"
    return {"id": ident or called, "type": "function", "function": {"name": called, "arguments": json_text(arguments)}}


def assistant_said(text: str, calls: list[dict[str, Any]]) -> dict[str, Any] | None:
    """What the assistant said with the calls beside it; None where that is nothing."""
    if not text and not calls:
        return None
    return {"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})}


def result_of(ident: str | None, content: str) -> dict[str, Any]:
    """What a tool answered to the call of that id."""
    return {"role": "tool", "tool_call_id": ident or "unnamed", "content": content}
