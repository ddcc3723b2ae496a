"""Reading a model's reply: the demanded call in any envelope, plain texts, nothing that an API says of itself. Pure.

Envelopes are taken off because that loses nothing. A fault's reason is a shape, never content.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from memhold.asking.boilerplate import is_error, is_refusal, without_thought
from memhold.asking.envelopes import decoded, objects_in, unwrapped
from memhold.ports.models import ChatReply, Tool
from memhold.text.compare import canonical_text

__all__ = ["Fault", "arguments_of", "labels_of", "legible", "refuse_api_messages", "text_of"]

MAX_LABEL = 100
_UNSEEN: Final = frozenset("\ufffd\u115f\u1160\u3164\uffa0\u2800")
"""The replacement character, and letters that Unicode gives no shape: Hangul fillers and the empty Braille cell."""


class Fault(Exception):
    """A reply is no answer; says the shape of what is wrong."""

    def __init__(self, reason: str, *, refused: bool = False) -> None:
        super().__init__(reason)
        self.refused = refused


def arguments_of(reply: ChatReply, tool: Tool) -> Mapping[str, Any]:
    """The arguments of the one demanded call, or of the call that a model wrote as text in its place.

    Raises:
        Fault: the reply holds no such call, or its arguments are no object.
    """
    if reply.finish == "length":
        raise Fault("stopped at the token limit")
    if not reply.tool_calls:
        return _written(reply.text, tool)
    if any(call.name != tool.name for call in reply.tool_calls):
        raise Fault("called another tool")
    found = [_object(call.arguments, tool) for call in reply.tool_calls]
    if any(one != found[0] for one in found[1:]):
        raise Fault(f"called {tool.name} more than once")
    return found[0]


def _written(text: str, tool: Tool) -> Mapping[str, Any]:
    """The call that stands in a text: the fullest, where a model wrote an example in front of it."""
    found = [one for value in objects_in(text) if (one := _arguments(value, tool)) is not None]
    if found:
        return max(found, key=lambda one: sum(name in one for name in tool.parameters.get("properties", ())))
    if is_refusal(text):
        raise Fault("refused in words", refused=True)
    raise Fault(f"answered without the arguments of {tool.name}" if text.strip() else "an empty reply")


def _arguments(value: Any, tool: Tool) -> Mapping[str, Any] | None:
    schema = tool.parameters
    return unwrapped(value, tool.name, schema.get("properties", ()), schema.get("required", ()))


def _object(arguments: Any, tool: Tool) -> Mapping[str, Any]:
    if isinstance(arguments, str):
        found = (one for value in objects_in(arguments) if (one := _arguments(value, tool)) is not None)
        return _given(next(found, decoded(arguments)), tool)
    return _given(arguments, tool)


def _given(arguments: Any, tool: Tool) -> Mapping[str, Any]:
    if arguments is None:
        raise Fault("arguments are no JSON")
    if arguments in ({}, []):
        raise Fault("arguments are empty")
    found = _arguments(arguments, tool)
    if found is None:
        raise Fault(f"arguments are a {type(arguments).__name__} without what was asked for")
    return found


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
    if not legible(text):
        raise Fault(f"{name} is blank")
    if any(0xD800 <= ord(c) <= 0xDFFF for c in text):
        raise Fault(f"{name} is no valid text")
    if len(text) > most:
        raise Fault(f"{name} has {len(text)} characters, over {most}")
    refuse_api_messages(text)
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


def legible(text: str) -> bool:
    """Whether a text says anything: a letter, a digit or a sign that is seen, in any script.

    Characters of no width, controls, combining marks alone and the replacement character say nothing.
    """
    return any(char not in _UNSEEN and unicodedata.category(char)[0] not in "ZCM" for char in text)


def refuse_api_messages(text: str) -> None:
    """Refuse what an API or a model says about itself, where it stands in the place of a memory."""
    if is_refusal(text):
        raise Fault("a refusal stands in the place of a memory", refused=True)
    if is_error(text):
        raise Fault("an error message stands in the place of a memory")
