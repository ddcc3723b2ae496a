"""Finding the demanded arguments in whatever a model wrapped them in: tags, fences, calls written as text. Pure.

Small models, and servers that ignore a forced tool, write the call as text. What is taken off here only moves braces;
what the arguments say is judged by who asked.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

__all__ = ["decoded", "objects_in", "unwrapped"]

MOST_TEXT: Final = 1_000_000
"""Characters of a reply that are looked at; no window's memory comes near."""
MOST_TRIES: Final = 64
"""Braces that are tried as the beginning of a value, so that a text of braces alone costs little."""
MOST_LAYERS: Final = 4
"""Envelopes inside one another: a fence, a list of calls, the call, its arguments as a text."""
_ARGUMENTS: Final = ("arguments", "parameters", "input", "args")
_CALLS: Final = ("tool_calls", "tools", "calls", "function", "function_call", "tool_call")


def decoded(text: str) -> Any:
    """The JSON value of a text, or None where it is none, is nested too deeply, or holds a number that is too long."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def objects_in(text: str) -> Iterator[Any]:
    """The objects and lists that stand in a text, in order, whatever stands around them."""
    text = text[:MOST_TEXT]
    reader = json.JSONDecoder(strict=False)
    at = 0
    for _ in range(MOST_TRIES):
        places = [place for place in (text.find("{", at), text.find("[", at)) if place >= 0]
        if not places:
            return
        start = min(places)
        try:
            value, at = reader.raw_decode(text, start)
        except json.JSONDecodeError as error:
            if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
                return  # cut off: a part of it is no answer
            at = start + 1
            continue
        except RecursionError:
            return  # nested deeper than any answer; what it takes to find that out is not taken 64 times
        except ValueError:
            at = start + 1
            continue
        if value:
            yield value


def unwrapped(value: Any, tool: str, known: Collection[str], required: Collection[str]) -> Mapping[str, Any] | None:
    """The arguments of `tool` in a value: as they are, or inside a call of it; None where there are none.

    An object is the arguments where it has one that is required, or nothing but arguments that are known. A list is
    an envelope only of calls.
    """
    for _ in range(MOST_LAYERS):
        if isinstance(value, str):
            value = decoded(value)
        listed = isinstance(value, list)
        if listed:
            value = next((one for one in value if isinstance(one, Mapping)), None)
        if not isinstance(value, Mapping) or not value:
            return None
        if any(name in value for name in required) or all(name in known for name in value):
            return None if listed else value
        value = _inside(value, tool)
    return None


def _inside(value: Mapping[str, Any], tool: str) -> Any:
    """What an envelope holds; None for a call of another tool, or where it is no envelope."""
    name = value.get("name", value.get("tool", tool))
    if not isinstance(name, str) or name != tool:
        return None
    for key in (tool, *_ARGUMENTS, *_CALLS):
        if key in value:
            return value[key]
    return None
