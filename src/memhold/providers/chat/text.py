"""What of a model's words is its answer: reasoning goes, arguments of a tool call become what they say."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

__all__ = ["arguments_of", "items", "table", "without_reasoning"]

_TAGS: Final = "think|thinking|thought|reasoning|reflection"
# Neither end of a tag holds an angle bracket, so that a reply full of them is read once.
_TAG = re.compile(rf"<(/?)({_TAGS})\b[^<>]*>", re.IGNORECASE)
_PASSES: Final = 8  # taking out a block can put a tag together; a model does not do that eight deep
# gpt-oss (harmony): the analysis channel, where a server does not take it out itself.
_CHANNEL = re.compile(
    r"<\|channel\|>\s*(?:analysis|commentary)\b.*?(?=<\|channel\|>\s*final|<\|start\|>|\Z)", re.DOTALL
)
_MARK = re.compile(r"<\|(?:start|end|message|channel|return|constrain)\|>(?:\s*(?:assistant|final)\b)?")


def without_reasoning(text: str) -> str:
    """The text without `<think>` blocks, closed, unclosed or with only their end, and without analysis channels."""
    if "<" not in text:
        return text.strip()
    text = _MARK.sub("", _CHANNEL.sub("", text)) if "<|channel|>" in text else text
    for _ in range(_PASSES):
        before, text = text, _outside(text)
        if before == text:
            break
    return text.strip()


def _outside(text: str) -> str:
    """The text outside of blocks, in one pass.

    An end without a beginning ends what came before it (Qwen and DeepSeek templates open the block in the prompt); a
    beginning without an end holds all the rest.
    """
    kept: list[str] = []
    inside: str | None = None
    start = 0
    for tag in _TAG.finditer(text):
        closes, name = bool(tag[1]), tag[2].lower()
        if inside is None and not closes:
            kept.append(text[start : tag.start()])
            inside = name
        elif inside is None:
            kept.clear()
            start = tag.end()
        elif closes and name == inside:
            inside, start = None, tag.end()
    return "".join(kept) + (text[start:] if inside is None else "")


def table(value: object) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one: servers put anything anywhere."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Mapping[str, Any]]:
    """The objects of a list; nothing of anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def arguments_of(sent: Any) -> Any:
    """Arguments as the model sent them: a JSON text becomes its value, an empty one an empty object, all else stays."""
    if not isinstance(sent, str):
        return sent
    text = sent.strip()
    if not text:
        return {}
    for candidate in (text, without_reasoning(text)):
        try:
            return json.loads(candidate)
        except (ValueError, RecursionError):
            continue
    return sent
