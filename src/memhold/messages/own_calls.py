"""Calls of Memhold's own tools in other people's transcripts: what was asked of memory and what it answered.

A call did its work when it was made, and an answer is what memory said before. Taken in as conversation, either would
be told again as something that was said, and would outlive what `forget` erases.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

__all__ = ["OwnCalls", "is_own_tool"]

_OWN = re.compile(r"(?:mcp__)?(?:plugin_\w{1,64}?_)?memhold_{1,2}\w+|mcp__(?:plugin_\w{1,64}?_)?memhold")
"""As clients write `<server>` and `<tool>`: `mcp__memhold__recall` and `mcp__plugin_memhold_memhold__recall` (Claude
Code 2.1), `mcp__memhold__recall` or the namespace `mcp__memhold` (Codex 0.169), `memhold_recall` (opencode 1.18)."""


def is_own_tool(name: object) -> bool:
    """Whether a tool of this name is one of ours, in a client that was told of us as `memhold`."""
    return isinstance(name, str) and _OWN.fullmatch(name) is not None


class OwnCalls:
    """The messages of one transcript, in order, without the calls of our tools and their results."""

    def __init__(self) -> None:
        self._ids: set[str] = set()

    def left_out(self, message: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The message without them: the same object where there are none, None where nothing else is in it."""
        kept = self._without_openai_calls(message)
        if kept is None or (kept.get("role") == "tool" and kept.get("tool_call_id") in self._ids):
            return None
        content = kept.get("content")
        if not isinstance(content, list):
            return kept
        places = [place for place, block in enumerate(content) if not self._is_own_block(block)]
        if len(places) == len(content):
            return kept
        if not places:
            return None
        writers = kept.get("written_by")
        of_each = {"written_by": [writers[place] for place in places]} if isinstance(writers, list) else {}
        return {**kept, "content": [content[place] for place in places], **of_each}

    def _without_openai_calls(self, message: Mapping[str, Any]) -> Mapping[str, Any] | None:
        calls = message.get("tool_calls")
        if not isinstance(calls, list):
            return message
        left = [call for call in calls if not self._is_own_call(call)]
        if len(left) == len(calls):
            return message
        rest = {name: value for name, value in message.items() if name != "tool_calls"}
        if left:
            return {**rest, "tool_calls": left}
        return rest if rest.get("content") else None

    def _is_own_call(self, call: Any) -> bool:
        function = call.get("function") if isinstance(call, Mapping) else None
        return isinstance(function, Mapping) and self._noted(function.get("name"), call.get("id"))

    def _is_own_block(self, block: Any) -> bool:
        if not isinstance(block, Mapping):
            return False
        match block.get("type"):
            case "tool_use":
                return self._noted(block.get("name"), block.get("id"))
            case "tool_result":
                return block.get("tool_use_id") in self._ids
            case _:
                return False

    def _noted(self, name: object, ident: object) -> bool:
        if not is_own_tool(name):
            return False
        if isinstance(ident, str):
            self._ids.add(ident)
        return True
