"""What of a model's words is its answer: reasoning goes, arguments of a tool call become what they say."""

from __future__ import annotations

import json
import re
from typing import Any, Final

__all__ = ["arguments_of", "without_reasoning"]

_TAGS: Final = "think|thinking|thought|reasoning|reflection"
_BLOCK = re.compile(rf"<({_TAGS})\b[^>]*>.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_OPEN = re.compile(rf"<(?:{_TAGS})\b[^>]*>.*\Z", re.DOTALL | re.IGNORECASE)
# Qwen and DeepSeek templates open the block in the prompt, so only its end is in the answer.
_ORPHAN = re.compile(rf"\A.*</(?:{_TAGS})\s*>", re.DOTALL | re.IGNORECASE)
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
    # Blocks may nest, so the innermost go first until none is left.
    before = None
    while before != text:
        before, text = text, _BLOCK.sub("", text)
    return _ORPHAN.sub("", _OPEN.sub("", text)).strip()


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
