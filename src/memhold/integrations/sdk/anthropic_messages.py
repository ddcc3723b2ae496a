"""Anthropic's Messages."""

from __future__ import annotations

from typing import Any

from memhold.context.convert import to_anthropic
from memhold.context.window_messages import with_first, with_recalled
from memhold.integrations.sdk.api import Body, Known, interrupted, json_value, without_prefill, words

__all__ = ["Messages"]

_UNSENT = frozenset({"parsed_output", "caller"})
"""What the SDK adds to a block, or the API to an answer alone."""


class Messages:
    """`client.messages`: create, stream, parse; also below `client.beta`, and the tool runner's."""

    path = "/v1/messages"
    held_by: tuple[str, ...] = ()

    def instructions(self, request: Body) -> str:
        """The system prompt."""
        return words(request.get("system"))

    def said(self, request: Body) -> list[Body]:
        """All messages; one with the role system is the application's."""
        return without_prefill([dict(one) for one in request["messages"] if one.get("role") != "system"])

    def knowing(self, request: Body, known: Known) -> dict[str, Any]:
        """The user's word at the end of `system`, the rest as blocks of text in the user's turns."""
        given: list[Body] = list(request["messages"])
        for text in reversed(known.recalled):
            given = list(with_recalled(given, text, "anthropic"))
        given = [*(to_anthropic(one) for one in known.earlier), *given]
        for text in reversed(known.noted):
            given = with_first(given, text, "anthropic")
        system = request.get("system")
        shown = {**request, "messages": given}
        if not known.standing:
            return shown
        if isinstance(system, list):
            return shown | {"system": [*system, {"type": "text", "text": known.standing}]}
        return shown | {"system": f"{system}\n\n{known.standing}" if system else known.standing}

    def reply(self, answer: Body) -> Body | None:
        """The answer's blocks as the assistant's message."""
        return _assistant(answer.get("content") or ())

    def gathering(self) -> Blocks:
        """For events."""
        return Blocks()


def _assistant(blocks: Any) -> dict[str, Any] | None:
    kept = [{name: value for name, value in one.items() if name not in _UNSENT and value is not None} for one in blocks]
    said = [one for one in kept if one.get("type") != "text" or one.get("text")]
    return {"role": "assistant", "content": said} if said else None


class Blocks:
    """The events of a message's stream."""

    def __init__(self) -> None:
        self._blocks: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, str] = {}
        self._done: set[int] = set()
        self._ended = False

    def take(self, event: Body) -> None:
        """Take an event."""
        index = event.get("index", 0)
        match event.get("type"):
            case "content_block_start":
                self._blocks[index] = dict(event["content_block"])
            case "content_block_delta" if index in self._blocks:
                self._grow(index, event["delta"])
            case "content_block_stop" if index in self._blocks:
                self._close(index)
            case "message_stop":
                self._ended = True

    def _grow(self, index: int, delta: Body) -> None:
        block = self._blocks[index]
        match delta.get("type"):
            case "text_delta":
                block["text"] = block.get("text", "") + delta["text"]
            case "thinking_delta":
                block["thinking"] = block.get("thinking", "") + delta["thinking"]
            case "signature_delta":
                block["signature"] = delta["signature"]
            case "citations_delta":
                block["citations"] = [*(block.get("citations") or ()), delta["citation"]]
            case "input_json_delta":
                self._inputs[index] = self._inputs.get(index, "") + delta["partial_json"]

    def _close(self, index: int) -> None:
        self._done.add(index)
        if index in self._inputs:
            read = json_value(self._inputs[index])
            self._blocks[index]["input"] = {"arguments": self._inputs[index]} if read is None else read

    def reply(self) -> Body | None:
        """The message; of a stream that was broken off the blocks that came whole, and the text as far as it came."""
        came = [
            self._blocks[at] for at in sorted(self._blocks) if at in self._done or self._blocks[at]["type"] == "text"
        ]
        found = _assistant(came)
        return found if self._ended else interrupted(found)
