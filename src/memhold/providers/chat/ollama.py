"""Ollama's own chat API: it takes the window's size, and says when a model is not there or is still loading."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from typing import Any, Literal

from memhold.ports.models import ChatReply, ChatRequest, ToolCall, Usage
from memhold.ports.stores import Clock
from memhold.providers.chat.bare import KeySource
from memhold.providers.chat.forms import Forms, RepeatWatch, schema_of
from memhold.providers.chat.text import arguments_of, items, table, without_reasoning
from memhold.providers.chat.wire import Wire
from memhold.providers.entry import Entry, Structured, endpoint, key_header

__all__ = ["OllamaChat"]

_BODY_FIELDS = frozenset({"think", "keep_alive", "format"})  # every other option belongs under `options`


class OllamaChat:
    """A `ChatModel` over `/api/chat`. One request a call.

    Ollama has no forced tool choice: where no `format` is sent the tool is offered, and who asked checks the reply.
    """

    def __init__(
        self, entry: Entry, *, keys: KeySource, clock: Clock | None = None, forms: Forms | None = None
    ) -> None:
        self.entry = entry
        self._forms = forms or Forms(entry)
        self._wire = Wire(entry, keys=keys, clock=clock)

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
        return await self._forms.ask(request, self._ask)

    async def _ask(self, request: ChatRequest, form: Structured) -> ChatReply:
        headers = key_header(self.entry.base_url, self._wire.key())
        url = endpoint(self.entry.base_url or "", "/api/chat", version="")
        text: list[str] = []
        calls: list[Mapping[str, Any]] = []
        last: Mapping[str, Any] = {}
        watch, circles = RepeatWatch(), False
        async with aclosing(self._wire.events(url, headers, self._body(request, form), framing="lines")) as events:
            async for event in events:
                last = event.value
                message = table(last.get("message"))
                said = message.get("content")
                text.append(said if isinstance(said, str) else "")
                calls += items(message.get("tool_calls"))
                thought = message.get("thinking")
                if watch.circles(text[-1] + (thought if isinstance(thought, str) else "")):
                    if not request.partial:
                        self._wire.end_circles()
                    last, circles = {**last, "done": True, "done_reason": "length"}, True
                    break
        if not last.get("done"):
            self._wire.cut()
        return self._wire.begun(_reply(self.entry.name, "".join(text), calls, last), circles=circles)

    def _body(self, request: ChatRequest, form: Structured) -> dict[str, Any]:
        messages = [{"role": "system", "content": request.system}] if request.system else []
        messages += [{"role": turn.role, "content": turn.text} for turn in request.turns]
        settings = dict(self.entry.options)
        outside = {name: settings.pop(name) for name in _BODY_FIELDS & settings.keys()}
        settings["num_ctx"] = self.entry.window
        settings["num_predict"] = request.max_tokens
        if request.temperature is not None:
            settings["temperature"] = request.temperature
        body: dict[str, Any] = {
            "model": self.entry.model,
            "messages": messages,
            "stream": self.entry.stream,
            "options": settings,
        }
        if request.tool is not None and form == "schema":
            body["format"] = schema_of(request.tool)
        elif request.tool is not None and form == "object":
            body["format"] = "json"
        elif request.tool is not None and form == "tool":
            tool = request.tool
            function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
            body["tools"] = [{"type": "function", "function": function}]
        return body | outside


def _reply(model: str, text: str, calls: list[Mapping[str, Any]], last: Mapping[str, Any]) -> ChatReply:
    made = tuple(
        ToolCall(
            id=str(call.get("id") or f"call_{position}"),
            name=str(table(call.get("function")).get("name") or ""),
            arguments=arguments_of(table(call.get("function")).get("arguments")),
        )
        for position, call in enumerate(calls)
    )
    ended: Literal["stop", "length", "other"] = {"stop": "stop", "length": "length"}.get(  # type: ignore[assignment]
        str(last.get("done_reason", "stop")), "other"
    )
    counts = [last.get(name) for name in ("prompt_eval_count", "eval_count")]
    whole = [count if isinstance(count, int) else None for count in counts]
    return ChatReply(
        model=model,
        text=without_reasoning(text),
        tool_calls=made,
        finish="tool" if made and ended == "stop" else ended,
        usage=Usage(input_tokens=whole[0], output_tokens=whole[1]),
    )
