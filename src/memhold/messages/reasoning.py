"""What a model thought before it spoke, where it stands in the turn itself: it is no speech. Pure.

Servers of open models put it into the text, between `<think>` and `</think>`, or beside it under names of their own.
A provider that reads it in either place takes it for something that was said, or refuses it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

__all__ = ["spoken", "without_reasoning"]

_OPEN = re.compile(r"\s*<(think|thinking)>")
_TAGS = ("think", "thinking")
_FIELDS = frozenset({"reasoning", "reasoning_content", "reasoning_details"})


def spoken(text: str) -> str:
    """An assistant's text without the thoughts that it begins with; empty where it holds nothing else.

    A thought that was cut off goes to the end. One whose opening stood in the model's template is known by its closing
    tag, alone in a line.
    """
    if "think" not in text:
        return text
    start = 0
    while (opened := _OPEN.match(text, start)) is not None:
        closing = f"</{opened[1]}>"
        end = text.find(closing, opened.end())
        if end < 0:
            return ""
        start = end + len(closing)
    if not start:
        start = max(_after_bare_closing(text, tag) for tag in _TAGS)
    return text[start:].lstrip() if start else text


def _after_bare_closing(text: str, tag: str) -> int:
    closing = f"</{tag}>"
    end = text.find(closing)
    behind = end + len(closing)
    alone = end >= 0 and (end == 0 or text[end - 1] == "\n") and text[behind : behind + 1] in {"", "\n", "\r"}
    return behind if alone and text.find(f"<{tag}>", 0, end) < 0 else 0


def without_reasoning(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """An assistant's turn without its thoughts, the same object where there are none; thinking blocks stay."""
    if body.get("role") != "assistant":
        return body
    kept = {name: value for name, value in body.items() if name not in _FIELDS} if _FIELDS & body.keys() else body
    content = _spoken_content(body.get("content"))
    return kept if content is body.get("content") else {**kept, "content": content}


def _spoken_content(content: Any) -> Any:
    if isinstance(content, str):
        said = spoken(content)
        return content if said == content else said
    if not isinstance(content, list | tuple):
        return content
    parts = [_spoken_part(part) for part in content]
    if all(part is given for part, given in zip(parts, content, strict=True)):
        return content
    return [part for part, given in zip(parts, content, strict=True) if part is given or part["text"]]


def _spoken_part(part: Any) -> Any:
    if not isinstance(part, Mapping) or part.get("type") != "text" or not isinstance(part.get("text"), str):
        return part
    said = spoken(part["text"])
    return part if said == part["text"] else {**part, "text": said}
