"""What one message of the OpenAI chat shape must be by itself, whatever stands beside it.

The rules (Chat Completions reference, and the 400s that its servers answer): a call has a type, a name of letters,
digits, `_` and `-`, and arguments as text; its id has at most 40 characters; a speaker's name holds no white space and
no brackets; images, audio and files stand in a user's message only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from memhold.messages.window import Body

__all__ = ["LONGEST_ID", "legal_name", "legal_speaker", "sendable_call", "sendable_function", "without_media"]

LONGEST_ID = 40
LONGEST_NAME = 64
_MEDIA: Mapping[str, str] = {"image_url": "[image]", "input_audio": "[audio]", "file": "[file]"}
_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_NO_SPEAKER = re.compile(r"[\s<|\\/>]+")


def legal_name(name: Any) -> str:
    """The name of what is called, as it may be sent."""
    return _NO_NAME.sub("_", name)[:LONGEST_NAME] if isinstance(name, str) and name else "unknown"


def legal_speaker(message: Body) -> str | None:
    """The speaker's name as it may be sent, None where it can only be left out."""
    name = message.get("name")
    return (_NO_SPEAKER.sub("_", name).strip("_") or None) if isinstance(name, str) else None


def sendable_call(call: Body) -> Body:
    """The call with a type, a legal name and text for what it is given; the same object where it has them."""
    kind, said = ("custom", "input") if "custom" in call else ("function", "arguments")
    function = sendable_function(call.get(kind), said)
    if call.get("type") == kind and function is call.get(kind):
        return call
    return {**call, "type": kind, kind: function}


def sendable_function(function: Any, said: str = "arguments") -> Body:
    """What is called, with a legal name and text for what it is given (some servers give objects)."""
    held: Body = function if isinstance(function, Mapping) else {}
    name, given = legal_name(held.get("name")), held.get(said)
    if held is function and held.get("name") == name and isinstance(given, str):
        return function
    empty = "{}" if said == "arguments" else ""
    if given is None:
        given = empty
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, default=str)
    return {**held, "name": name, said: text}


def without_media(content: Any) -> Any:
    """Content for a message that is no user's: what it shows is named in text; the same object where it is all text."""
    if not isinstance(content, list | tuple) or not any(part["type"] in _MEDIA for part in content):
        return content
    return [{"type": "text", "text": _MEDIA[part["type"]]} if part["type"] in _MEDIA else part for part in content]
