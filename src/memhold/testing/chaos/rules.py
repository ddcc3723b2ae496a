"""What OpenAI and Anthropic refuse in a list of messages, as pure checks that give the providers' own texts.

Written from the documented rules (OpenAI: Chat Completions reference and the function calling guide; Anthropic:
Messages reference and the tool use guide). Both pair tool calls with their results by adjacency: ids may repeat from
turn to turn.

`check_openai` and `check_anthropic` give the texts; `openai_violations` and `anthropic_violations` also give the place,
in the form in which the provider's error names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memhold.testing.chaos.rules_anthropic import anthropic_violations
from memhold.testing.chaos.violations import Violation, mappings

__all__ = [
    "Violation",
    "anthropic_violations",
    "check_anthropic",
    "check_openai",
    "openai_violations",
]

_OPENAI_ROLES = ("system", "assistant", "user", "function", "tool", "developer")
_OPENAI_ID_CHARS = 40
_OPENAI_NAME = re.compile(r"[a-zA-Z0-9_-]+")
_OPENAI_SPEAKER = re.compile(r"[^\s<|\\/>]+")
_OPENAI_MEDIA = {"image_url": "Image URLs are", "input_audio": "Audio inputs are", "file": "Files are"}


def check_openai(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """The rules of OpenAI chat completions that these messages break, as its 400 words them; [] when valid."""
    return [violation.text for violation in openai_violations(messages)]


def check_anthropic(messages: Sequence[Mapping[str, Any]], system: Any = None) -> list[str]:
    """The rules of Anthropic messages that these messages break, as the provider's 400 words them; [] when valid.

    Strict: consecutive messages of one role are a violation, as the API had it; it has since merged them.
    """
    return [violation.text for violation in anthropic_violations(messages, system)]


# --------------------------------------------------------------------------------------------- OpenAI


def openai_violations(messages: Sequence[Mapping[str, Any]]) -> list[Violation]:
    """Every broken rule of an OpenAI chat request's messages, in their order."""
    if not messages:
        return [_empty_array("messages")]
    found: list[Violation] = []
    waiting: list[str] = []  # ids of the nearest assistant message that have no result yet
    known: set[str] = set()
    caller = -1
    for index, message in enumerate(messages):
        role = message.get("role")
        if role == "tool":
            found.extend(_openai_result(message, index, known, caller))
            identity = message.get("tool_call_id")
            waiting = [one for one in waiting if one != identity]
            continue
        found.extend(_openai_unanswered(waiting, index))
        waiting, known, caller = [], set(), -1
        if role not in _OPENAI_ROLES:
            supported = ", ".join(f"'{one}'" for one in _OPENAI_ROLES[:-1]) + f", and '{_OPENAI_ROLES[-1]}'"
            text = f"Invalid value: '{role}'. Supported values are: {supported}."
            found.append(Violation(text=text, param=f"messages[{index}].role", code="invalid_value"))
            continue
        found.extend(_openai_content(message, index))
        found.extend(_openai_speaker(message, index))
        if role == "assistant" and message.get("function_call") is not None:
            found.extend(_openai_function(message["function_call"], f"messages[{index}].function_call", "arguments"))
        if role == "assistant" and message.get("tool_calls") is not None:
            found.extend(_openai_calls(message["tool_calls"], index))
            waiting = [call["id"] for call in mappings(message["tool_calls"]) if isinstance(call.get("id"), str)]
            known, caller = set(waiting), index
    found.extend(_openai_unanswered(waiting, len(messages)))
    return found


def _openai_unanswered(waiting: Sequence[str], index: int) -> list[Violation]:
    if not waiting:
        return []
    text = (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        f"The following tool_call_ids did not have response messages: {', '.join(waiting)}"
    )
    return [Violation(text=text, param=f"messages.[{index}].role")]


def _openai_result(message: Mapping[str, Any], index: int, known: set[str], caller: int) -> Iterator[Violation]:
    identity = message.get("tool_call_id")
    if caller < 0:
        yield Violation(
            text="Invalid parameter: messages with role 'tool' must be a response to a preceeding message "
            "with 'tool_calls'.",
            param=f"messages.[{index}].role",
        )
    elif not isinstance(identity, str):
        yield Violation(
            text=f"Missing required parameter: 'messages[{index}].tool_call_id'.",
            param=f"messages[{index}].tool_call_id",
            code="missing_required_parameter",
        )
    elif identity not in known:
        yield Violation(
            text=f"Invalid parameter: 'tool_call_id' of '{identity}' not found in 'tool_calls' of previous message.",
            param=f"messages.[{index}].tool_call_id",
        )
    yield from _openai_content(message, index)


def _openai_content(message: Mapping[str, Any], index: int) -> Iterator[Violation]:
    content = message.get("content")
    param = f"messages.[{index}].content"
    if content is None:
        free = message.get("role") == "assistant" and any(
            message.get(name) for name in ("tool_calls", "function_call", "refusal", "audio")
        )
        if not free:
            yield Violation(text="Invalid value for 'content': expected a string, got null.", param=param)
        return
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        kind = "an object" if isinstance(content, Mapping) else "a number"
        text = (
            f"Invalid type for 'messages[{index}].content': expected one of a string or array of objects, "
            f"but got {kind} instead."
        )
        yield Violation(text=text, param=f"messages[{index}].content", code="invalid_type")
        return
    if not content:
        yield _empty_array(f"messages[{index}].content")
    for number, part in enumerate(content):
        if not isinstance(part, Mapping) or not isinstance(part.get("type"), str):
            place = f"messages[{index}].content[{number}].type"
            yield Violation(
                text=f"Missing required parameter: '{place}'.", param=place, code="missing_required_parameter"
            )
        elif message.get("role") != "user" and part["type"] in _OPENAI_MEDIA:
            text = (
                f"Invalid 'messages[{index}]'. {_OPENAI_MEDIA[part['type']]} only allowed for messages with role "
                f"'user', but this message with role '{message.get('role')}' contains one."
            )
            yield Violation(text=text, param=f"messages[{index}]", code="invalid_value")


def _openai_speaker(message: Mapping[str, Any], index: int) -> Iterator[Violation]:
    """The name of who speaks, where a message has one; a result of a function is known by it."""
    name, place = message.get("name"), f"messages[{index}].name"
    if name is None and message.get("role") == "function":
        yield Violation(text=f"Missing required parameter: '{place}'.", param=place, code="missing_required_parameter")
    elif name is not None and not (isinstance(name, str) and _OPENAI_SPEAKER.fullmatch(name)):
        text = f"Invalid '{place}': string does not match pattern. Expected a string that matches the pattern."
        yield Violation(text=text, param=place, code="invalid_value")


def _openai_calls(calls: Any, index: int) -> Iterator[Violation]:
    place = f"messages[{index}].tool_calls"
    if not isinstance(calls, list) or not calls:
        yield _empty_array(place)
        return
    seen: set[str] = set()
    for number, call in enumerate(calls):
        identity = call.get("id") if isinstance(call, Mapping) else None
        kind = call.get("type") if isinstance(call, Mapping) else None
        name = f"{place}[{number}].id"
        if not isinstance(identity, str):
            yield Violation(
                text=f"Missing required parameter: '{name}'.", param=name, code="missing_required_parameter"
            )
        elif len(identity) > _OPENAI_ID_CHARS:
            text = (
                f"Invalid '{name}': string too long. Expected a string with maximum length {_OPENAI_ID_CHARS}, but got "
                f"a string with length {len(identity)} instead."
            )
            yield Violation(text=text, param=name, code="string_above_max_length")
        elif identity in seen:
            text = f"Invalid '{name}': duplicate value '{identity}'."
            yield Violation(text=text, param=name, code="invalid_value")
        else:
            seen.add(identity)
        if kind not in {"function", "custom"}:
            text = f"Missing required parameter: '{place}[{number}].type'."
            yield Violation(text=text, param=f"{place}[{number}].type", code="missing_required_parameter")
        held, said = ("custom", "input") if kind == "custom" else ("function", "arguments")
        function = call.get(held) if isinstance(call, Mapping) else None
        yield from _openai_function(function, f"{place}[{number}].{held}", said)


def _openai_function(function: Any, place: str, said: str) -> Iterator[Violation]:
    """The name of what is called, and what it is given, which is always text."""
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(name, str) or not name:
        text = f"Missing required parameter: '{place}.name'."
        yield Violation(text=text, param=f"{place}.name", code="missing_required_parameter")
        return
    if not _OPENAI_NAME.fullmatch(name):
        text = (
            f"Invalid '{place}.name': string does not match pattern. Expected a string that matches the pattern "
            "'^[a-zA-Z0-9_-]+$'."
        )
        yield Violation(text=text, param=f"{place}.name", code="invalid_value")
    if not isinstance(function.get(said), str):
        text = f"Invalid type for '{place}.{said}': expected a string, but got an object instead."
        yield Violation(text=text, param=f"{place}.{said}", code="invalid_type")


def _empty_array(place: str) -> Violation:
    text = f"Invalid '{place}': empty array. Expected an array with minimum length 1, but got an empty array instead."
    return Violation(text=text, param=place, code="empty_array")
