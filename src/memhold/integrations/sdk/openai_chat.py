"""OpenAI's Chat Completions, which most other providers and local servers speak too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memhold.integrations.sdk.api import Body, Known, interrupted, json_value, without_prefill, words
from memhold.messages.openai_pairs import user_wrote
from memhold.messages.window import is_system

__all__ = ["ChatCompletions"]

_KEPT = ("content", "refusal", "tool_calls", "function_call")
_CALL = ("id", "type", "function", "custom")


class ChatCompletions:
    """`client.chat.completions`: create, parse, stream; also below `client.beta`."""

    path = "/chat/completions"
    held_by: tuple[str, ...] = ()

    def instructions(self, request: Body) -> str:
        """The system and developer messages."""
        return "\n".join(words(one.get("content")) for one in request["messages"] if is_system(one))

    def said(self, request: Body) -> list[Body]:
        """All messages but the application's instructions."""
        return without_prefill([dict(one) for one in request["messages"] if not is_system(one)])

    def knowing(self, request: Body, known: Known) -> dict[str, Any]:
        """Fences as messages of their own: the user's word as a system message, the rest as the user's."""
        given = list(request["messages"])
        lead = next((at for at, one in enumerate(given) if not is_system(one)), len(given))
        role = given[lead - 1]["role"] if lead else "system"
        newest = next((at for at in range(len(given) - 1, lead - 1, -1) if user_wrote(given[at])), lead)
        standing = [{"role": role, "content": known.standing}] if known.standing else []
        before = [*standing, *_said_by_user(known.noted), *map(dict, known.earlier)]
        shown = [*given[:lead], *before, *given[lead:newest], *_said_by_user(known.recalled), *given[newest:]]
        return {**request, "messages": shown}

    def reply(self, answer: Body) -> Body | None:
        """The first choice's message."""
        choices = answer.get("choices") or ()
        return _assistant(choices[0].get("message") or {}) if choices else None

    def gathering(self) -> Pieces:
        """For chunks."""
        return Pieces()


def _said_by_user(texts: tuple[str, ...]) -> list[Body]:
    return [{"role": "user", "content": text} for text in texts]


def _assistant(message: Body) -> dict[str, Any] | None:
    kept: dict[str, Any] = {name: message[name] for name in _KEPT if message.get(name)}
    if calls := kept.get("tool_calls"):
        kept["tool_calls"] = [_call(one) for one in calls]
    if text := (message.get("audio") or {}).get("transcript"):
        kept["content"] = text
    return {"role": "assistant", "content": kept.pop("content", None), **kept} if kept else None


def _call(call: Body) -> dict[str, Any]:
    """A call as it is sent back: without what the SDK has read in its arguments."""
    kept = {name: call[name] for name in _CALL if call.get(name)}
    if isinstance(function := kept.get("function"), Mapping):
        kept["function"] = {"name": function.get("name"), "arguments": function.get("arguments") or ""}
    return kept


class Pieces:
    """The chunks of a chat completion's first choice."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {"content": [], "refusal": []}
        self._calls: dict[int, dict[str, Any]] = {}
        self._ended = False

    def take(self, event: Body) -> None:
        """Take a chunk."""
        for choice in event.get("choices") or ():
            if choice.get("index"):
                continue
            delta = choice.get("delta") or {}
            for name, pieces in self._texts.items():
                if delta.get(name):
                    pieces.append(delta[name])
            for at, call in enumerate(delta.get("tool_calls") or ()):
                self._take_call(call.get("index", at), call)
            if delta.get("function_call"):
                self._take_call(-1, {"function": delta["function_call"]})
            self._ended |= choice.get("finish_reason") is not None

    def _take_call(self, index: int, piece: Body) -> None:
        empty = {"id": None, "type": "function", "function": {"name": "", "arguments": ""}}
        call = self._calls.setdefault(index, empty)
        call["id"] = piece.get("id") or call["id"]
        function = piece.get("function") or {}
        for name in ("name", "arguments"):
            call["function"][name] += function.get(name) or ""

    def reply(self) -> Body | None:
        """The message; of a stream that was broken off without calls whose arguments had not come."""
        message: dict[str, Any] = {name: "".join(pieces) for name, pieces in self._texts.items()}
        calls = [call for _, call in sorted(self._calls.items()) if self._ended or _whole(call)]
        if calls and -1 in self._calls:
            message["function_call"] = calls[0]["function"]
        elif calls:
            message["tool_calls"] = calls
        found = _assistant(message)
        return found if self._ended else interrupted(found)


def _whole(call: Body) -> bool:
    written = call["function"]["arguments"]
    return bool(written) and json_value(written) is not None
