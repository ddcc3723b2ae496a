"""Anthropic's messages."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal

from memhold.ports.models import ChatReply, ChatRequest, ToolCall, Usage
from memhold.ports.stores import Clock
from memhold.providers.chat.bare import KeySource
from memhold.providers.chat.forms import RepeatWatch
from memhold.providers.chat.text import arguments_of, items, table, without_reasoning
from memhold.providers.chat.wire import Wire, unforced
from memhold.providers.entry import Entry, endpoint
from memhold.providers.failures.classify import LOOK, Verdict
from memhold.values.errors import ModelError

__all__ = ["AnthropicChat"]

_VERSION = "2023-06-01"
_FINISH: Mapping[str, Literal["stop", "tool", "length", "refusal"]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


class AnthropicChat:
    """A `ChatModel` over messages. One request a call.

    But for a link that does not take a forced tool choice (beside extended thinking): it is asked once more without
    forcing, and not forced again.
    """

    def __init__(self, entry: Entry, *, keys: KeySource, clock: Clock | None = None) -> None:
        self.entry = entry
        self._wire = Wire(entry, keys=keys, clock=clock)
        self._forces = True

    @property
    def name(self) -> str:
        """The name of the catalog entry."""
        return self.entry.name

    async def close(self) -> None:
        """Let go of the connections."""
        await self._wire.close()

    async def chat(self, request: ChatRequest) -> ChatReply:
        """One answer, collected from its stream.

        Raises:
            ModelError: the call failed; a partial answer is discarded.
        """
        try:
            return await self._ask(request, forced=self._forces)
        except ModelError as error:
            if request.tool is None or not self._forces or not unforced(error):
                raise
            self._forces = False
        return await self._ask(request, forced=False)

    async def _ask(self, request: ChatRequest, *, forced: bool) -> ChatReply:
        key = self._wire.key()
        headers = {"anthropic-version": _VERSION} | ({"x-api-key": key} if key is not None else {})
        url = endpoint(self.entry.base_url or "", "/messages")
        collected = _Collected()
        async with aclosing(self._wire.events(url, headers, self._body(request, forced=forced))) as events:
            async for event in events:
                if event.whole:
                    collected.take_whole(event.value)
                else:
                    collected.take(event.value)
                if collected.circles:
                    if not request.partial:
                        self._wire.end_circles()
                    collected.reason, collected.stopped = "max_tokens", True
                    break
        if not collected.seen:
            self._wire.fail(
                Verdict(
                    cls="resample", reason=f"the answer holds no message; {LOOK}", code="no_choice", rule="no-choice"
                )
            )
        if not collected.stopped:
            self._wire.cut()
        return self._wire.begun(collected.reply(self.entry.name), circles=collected.circles)

    def _body(self, request: ChatRequest, *, forced: bool) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.entry.model,
            "max_tokens": request.max_tokens,
            "messages": [{"role": turn.role, "content": turn.text} for turn in request.turns],
            "stream": self.entry.stream,
        }
        if request.system:
            body["system"] = request.system
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.tool is not None:
            tool = request.tool
            body["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
            ]
            choice = {"type": "tool", "name": tool.name} if forced else {"type": "auto"}
            body["tool_choice"] = choice | {"disable_parallel_tool_use": True}
        return body | dict(self.entry.options)


@dataclass(slots=True)
class _Block:
    kind: str
    id: str = ""
    name: str = ""
    parts: list[str] = field(default_factory=list)
    value: Any = None


@dataclass(slots=True)
class _Collected:
    blocks: dict[int, _Block] = field(default_factory=dict)
    counts: dict[str, Any] = field(default_factory=dict)
    reason: str | None = None
    seen: bool = False
    stopped: bool = False
    circles: bool = False
    watch: RepeatWatch = field(default_factory=RepeatWatch)

    def take(self, event: Mapping[str, Any]) -> None:
        index = event.get("index")
        position = index if isinstance(index, int) else 0
        match event.get("type"):
            case "message_start":
                self.seen = True
                self._count(table(event.get("message")).get("usage"))
            case "content_block_start":
                self._begin(position, table(event.get("content_block")))
            case "content_block_delta":
                self._more(position, table(event.get("delta")))
            case "message_delta":
                self.reason = table(event.get("delta")).get("stop_reason") or self.reason
                self._count(event.get("usage"))
            case "message_stop":
                self.stopped = True
            case _:  # pings, ends of blocks, and what later versions add
                pass

    def take_whole(self, message: Mapping[str, Any]) -> None:
        content = message.get("content")
        if not isinstance(content, list):
            return
        self.seen = self.stopped = True
        self.reason = message.get("stop_reason")
        self._count(message.get("usage"))
        for position, block in enumerate(items(content)):
            self._begin(position, block)

    def _begin(self, position: int, block: Mapping[str, Any]) -> None:
        begun = _Block(str(block.get("type")), str(block.get("id") or ""), str(block.get("name") or ""))
        if isinstance(block.get("text"), str):
            begun.parts.append(block["text"])
        if block.get("input") not in ({}, None):
            begun.value = block["input"]
        self.blocks[position] = begun

    def _more(self, position: int, delta: Mapping[str, Any]) -> None:
        # Deltas of thinking and of signatures are no part of the answer; a model that thinks in circles gives none.
        part = {"text_delta": delta.get("text"), "input_json_delta": delta.get("partial_json")}.get(
            str(delta.get("type"))
        )
        if isinstance(part, str) and position in self.blocks:
            self.blocks[position].parts.append(part)
        said = delta.get("thinking") if part is None else part
        if isinstance(said, str):
            self.circles = self.circles or self.watch.circles(said)

    def _count(self, usage: object) -> None:
        if isinstance(usage, dict):
            self.counts |= {name: count for name, count in usage.items() if isinstance(count, int)}

    def reply(self, model: str) -> ChatReply:
        ordered = [block for _, block in sorted(self.blocks.items())]
        calls = tuple(
            ToolCall(
                id=block.id,
                name=block.name,
                arguments=block.value if block.value is not None else arguments_of("".join(block.parts)),
            )
            for block in ordered
            if block.kind == "tool_use"
        )
        text = "".join(part for block in ordered if block.kind == "text" for part in block.parts)
        return ChatReply(
            model=model,
            text=without_reasoning(text),
            tool_calls=calls,
            finish=_FINISH.get(str(self.reason), "other"),
            usage=Usage(input_tokens=self._input(), output_tokens=self.counts.get("output_tokens")),
        )

    def _input(self) -> int | None:
        """Input tokens with those written to and read from the cache, which Anthropic counts apart."""
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        found = [int(self.counts[name]) for name in names if name in self.counts]
        return sum(found) if found else None
