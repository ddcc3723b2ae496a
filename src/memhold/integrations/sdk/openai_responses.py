"""OpenAI's Responses: items in and out, which are kept as the messages that they amount to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from memhold.integrations.sdk.api import Body, Known, interrupted, json_value, without_prefill, words
from memhold.messages.openai_pairs import user_wrote

__all__ = ["Responses"]

_INSTRUCTING = frozenset({"system", "developer"})
_RESULTS = {"function_call_output": "output", "custom_tool_call_output": "output"}
_PRIVATE = frozenset({"reasoning", "item_reference", "compaction"})
"""Items that say nothing to a person: a model's private thinking, and references to what the provider holds."""


class Responses:
    """`client.responses`: create, parse, stream."""

    path = "/responses"
    held_by: tuple[str, ...] = ("previous_response_id", "conversation")

    def instructions(self, request: Body) -> str:
        """The field `instructions`, and messages of the system and the developer."""
        told = [one for one in _items(request) if one.get("role") in _INSTRUCTING]
        return "\n".join([str(request.get("instructions") or ""), *(words(one.get("content")) for one in told)])

    def said(self, request: Body) -> list[Body]:
        """The items as messages: calls with the assistant's words beside them, each result by itself."""
        return without_prefill(_messages(one for one in _items(request) if one.get("role") not in _INSTRUCTING))

    def knowing(self, request: Body, known: Known) -> dict[str, Any]:
        """The user's word at the end of `instructions`, the rest as the user's messages among the items."""
        given = _items(request)
        at = (place for place in range(len(given) - 1, -1, -1) if _by_user(given[place]))
        newest = next(at, 0)
        before = [*_said_by_user(known.noted), *(item for one in known.earlier for item in _as_items(one))]
        items = [*before, *given[:newest], *_said_by_user(known.recalled), *given[newest:]]
        shown = {**request, "input": items}
        if known.standing:
            own = request.get("instructions")
            shown["instructions"] = f"{own}\n\n{known.standing}" if own else known.standing
        return shown

    def reply(self, answer: Body) -> Body | None:
        """The output's messages and calls as one message; one that is not done yet says nothing."""
        found = _messages(answer.get("output") or ())
        return _one(found)

    def gathering(self) -> Items:
        """For events."""
        return Items()


def _items(request: Body) -> list[Body]:
    given = request.get("input") or []
    return [{"role": "user", "content": given}] if isinstance(given, str) else list(given)


def _by_user(item: Body) -> bool:
    return item.get("type", "message") == "message" and user_wrote(item)


def _said_by_user(texts: tuple[str, ...]) -> list[Body]:
    return [{"role": "user", "content": text} for text in texts]


def _messages(items: Iterable[Body]) -> list[Body]:
    """Items as messages of the OpenAI chat shape: what the assistant says and calls in a row is one message."""
    found: list[dict[str, Any]] = []
    for item in items:
        kind = item.get("type", "message")
        if kind in _PRIVATE:
            continue
        if kind in _RESULTS:
            found.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": _text(item.get("output"))})
        elif kind == "message" and item.get("role") != "assistant":
            named = {"name": item["name"]} if "name" in item else {}
            found.append({"role": item.get("role"), "content": item.get("content"), **named})
        else:
            _say(found, item, kind)
    return [_plain(one) for one in found]


def _say(found: list[dict[str, Any]], item: Body, kind: str) -> None:
    """Put an item of the assistant's into its message, which is the last one, or begins."""
    if not found or found[-1]["role"] != "assistant":
        found.append({"role": "assistant", "content": []})
    message = found[-1]
    if kind == "message":
        content = item.get("content") or []
        parts = [{"type": "output_text", "text": content}] if isinstance(content, str) else content
        message["content"] += [
            {name: part[name] for name in ("type", "text", "refusal") if name in part} for part in parts
        ]
    elif kind == "function_call":
        function = {"name": item.get("name"), "arguments": item.get("arguments") or ""}
        message.setdefault("tool_calls", []).append(
            {"id": item.get("call_id"), "type": "function", "function": function}
        )
    elif kind == "custom_tool_call":
        custom = {"name": item.get("name"), "input": item.get("input") or ""}
        message.setdefault("tool_calls", []).append({"id": item.get("call_id"), "type": "custom", "custom": custom})
    else:
        message["content"].append(dict(item))  # a tool of the provider's: kept as it is


def _plain(message: dict[str, Any]) -> dict[str, Any]:
    """The message with text for its content, where that is all that its content holds."""
    content = message["content"]
    if isinstance(content, list) and all(part.get("type") in {"input_text", "output_text"} for part in content):
        return message | {"content": "".join(part.get("text") or "" for part in content) or None}
    return message


def _one(messages: Sequence[Body]) -> dict[str, Any] | None:
    return next(
        (dict(one) for one in messages if one["role"] == "assistant" and (one["content"] or "tool_calls" in one)), None
    )


def _text(output: Any) -> Any:
    return output if isinstance(output, str | list) else json.dumps(output, ensure_ascii=False)


def _as_items(message: Body) -> list[Body]:
    """A message of the journal as items."""
    if message["role"] == "tool":
        return [
            {"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"] or ""}
        ]
    said: list[Body] = []
    if message.get("content"):
        said.append({"role": message["role"], "content": words(message["content"])})
    for call in message.get("tool_calls") or ():
        function = call.get("function") or call.get("custom") or {}
        arguments = function.get("arguments", function.get("input")) or "{}"
        said.append(
            {"type": "function_call", "call_id": call["id"], "name": function.get("name"), "arguments": arguments}
        )
    return said


class Items:
    """The events of a response's stream."""

    def __init__(self) -> None:
        self._done: dict[int, Body] = {}
        self._texts: dict[int, str] = {}
        self._whole: Body | None = None

    def take(self, event: Body) -> None:
        """Take an event."""
        index = event.get("output_index", 0)
        match event.get("type"):
            case "response.output_text.delta":
                self._texts[index] = self._texts.get(index, "") + (event.get("delta") or "")
            case "response.output_item.done":
                self._done[index] = event["item"]
            case "response.completed" | "response.incomplete":
                self._whole = event["response"]

    def reply(self) -> Body | None:
        """The message; of a stream that was broken off the items that came whole, and the text as far as it came."""
        if self._whole is not None and self._whole.get("output"):
            return _one(_messages(self._whole["output"]))
        came = self._done | {
            index: {"type": "message", "role": "assistant", "content": text}
            for index, text in self._texts.items()
            if index not in self._done
        }
        found = _one(_messages(came[index] for index in sorted(came) if _complete(came[index])))
        return found if self._whole is not None else interrupted(found)


def _complete(item: Body) -> bool:
    return item.get("type") != "function_call" or json_value(item.get("arguments") or "") is not None
