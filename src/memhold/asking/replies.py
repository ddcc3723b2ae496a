"""Reading a model's reply strictly: the demanded call, plain texts, and nothing that an API says of itself. Pure.

Two slips are mended because they lose nothing: the arguments as JSON in a fence of the text, and the arguments encoded
twice. A fault's reason is a shape, never content.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from memhold.asking.boilerplate import is_error, is_refusal, without_thought
from memhold.ports.models import ChatReply
from memhold.text.compare import canonical_text

__all__ = ["Fault", "arguments_of", "honest", "labels_of", "text_of"]

MAX_LABEL = 100


class Fault(Exception):
    """A reply is no answer; says the shape of what is wrong."""

    def __init__(self, reason: str, *, refused: bool = False) -> None:
        super().__init__(reason)
        self.refused = refused


_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(?P<json>\{.*\})\s*\n```\s*\Z", re.DOTALL)


def arguments_of(reply: ChatReply, tool: str) -> Mapping[str, Any]:
    """The arguments of the one demanded call.

    Raises:
        Fault: the reply is no such call, or its arguments are no object.
    """
    if reply.finish == "length":
        raise Fault("stopped at the token limit")
    if not reply.tool_calls:
        fence = _FENCE.match(reply.text)
        if fence is None:
            if is_refusal(reply.text):
                raise Fault("refused in words", refused=True)
            raise Fault(f"did not call {tool}" if reply.text.strip() else "an empty reply")
        return _object(fence["json"])
    if any(call.name != tool for call in reply.tool_calls):
        raise Fault("called another tool")
    found = [_object(call.arguments) for call in reply.tool_calls]
    if any(one != found[0] for one in found):
        raise Fault(f"called {tool} more than once")
    return found[0]


def _object(arguments: Any) -> Mapping[str, Any]:
    for _ in range(2):
        if not isinstance(arguments, str):
            break
        try:
            arguments = json.loads(arguments)
        except ValueError:
            raise Fault("arguments are no JSON") from None
    if not isinstance(arguments, Mapping):
        raise Fault(f"arguments are a {type(arguments).__name__}, not an object")
    if not arguments:
        raise Fault("arguments are empty")
    return arguments


def text_of(value: Any, name: str, most: int) -> str:
    """A text that can be stored, and is neither an error message nor a refusal.

    Raises:
        Fault: it is none, blank, too long, or says what an API says of itself.
    """
    if not isinstance(value, str):
        raise Fault(f"{name} is missing" if value is None else f"{name} is no text")
    text = without_thought(value.replace("\0", ""))
    if text is None:
        raise Fault(f"{name} holds reasoning without an end")
    if not text or any(0xD800 <= ord(c) <= 0xDFFF for c in text):
        raise Fault(f"{name} is blank" if not text else f"{name} is no valid text")
    if len(text) > most:
        raise Fault(f"{name} has {len(text)} characters, over {most}")
    honest(text)
    return text


def labels_of(value: Any, name: str, most: int) -> tuple[str, ...]:
    """Topics or entities, each once.

    Raises:
        Fault: no list of texts, or too many.
    """
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > most:
        raise Fault(f"{name} are no list, or over {most}")
    found: dict[str, str] = {}
    for label in value:
        text = text_of(label, f"one of {name}", MAX_LABEL)
        found.setdefault(canonical_text(text).casefold(), canonical_text(text))
    return tuple(found.values())


def honest(text: str) -> None:
    """Refuse what an API or a model says about itself, where it stands in the place of a memory."""
    if is_refusal(text):
        raise Fault("a refusal stands in the place of a memory", refused=True)
    if is_error(text):
        raise Fault("an error message stands in the place of a memory")
