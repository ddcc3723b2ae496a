"""OpenAI's chat completions, as spoken by OpenAI, Groq, OpenRouter, LM Studio, vLLM, llama.cpp and many others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, Literal, assert_never

from memhold.ports.models import ChatReply, ChatRequest, Tool, ToolCall, Usage
from memhold.ports.stores import Clock
from memhold.providers.chat.bare import KeySource
from memhold.providers.chat.forms import Forms, RepeatWatch, schema_of
from memhold.providers.chat.text import arguments_of, items, table, without_reasoning
from memhold.providers.chat.wire import Wire, unforced
from memhold.providers.entry import Entry, Structured, endpoint, host_of, key_header, looks_embedding, shown
from memhold.providers.failures.classify import LOOK, Verdict
from memhold.values.errors import ModelError

__all__ = ["OpenAIChat", "is_loaded"]

Finish = Literal["stop", "tool", "length", "refusal", "other"]
_FINISH: Mapping[str, Finish] = {
    "stop": "stop",
    "eos": "stop",
    "tool_calls": "tool",
    "function_call": "tool",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "refusal",
    "refusal": "refusal",
}


class OpenAIChat:
    """A `ChatModel` over chat completions. One request a call.

    But for a link that does not take a forced tool choice, or the field of the token limit: it is asked once more
    without forcing, or with the field's other name, and so from then on.
    """

    def __init__(
        self, entry: Entry, *, keys: KeySource, clock: Clock | None = None, forms: Forms | None = None
    ) -> None:
        self.entry = entry
        self._wire = Wire(entry, keys=keys, clock=clock)
        self._forces = True
        # OpenAI deprecated `max_tokens`, and its reasoning models refuse it; most others know nothing else.
        default = _LIMITS[1] if host_of(entry.base_url) == "api.openai.com" else _LIMITS[0]
        self._limit = str(entry.options.get("max_tokens_field", default))
        self._renamed = False
        self._forms = forms or Forms(entry)
        self._served: str | None = None

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
        return await self._forms.ask(request, self._in_form)

    async def _in_form(self, request: ChatRequest, form: Structured) -> ChatReply:
        while True:
            try:
                return await self._ask(request, form)
            except ModelError as error:
                if error.rule == "model":
                    self._served = None  # a server that was asked for its model may serve another one by now
                if not self._yields(error, forced=request.tool is not None and form == "tool"):
                    raise

    def _yields(self, error: ModelError, *, forced: bool) -> bool:
        """Whether the next request is another one than the one that was refused; each change is made once."""
        if forced and self._forces and unforced(error):
            self._forces = False
            return True
        if error.rule == "limit-field" and not self._renamed:
            self._renamed = True
            self._limit = _LIMITS[0] if self._limit == _LIMITS[1] else _LIMITS[1]
            return True
        return False

    async def _ask(self, request: ChatRequest, form: Structured) -> ChatReply:
        headers = self._headers()
        url = endpoint(self.entry.base_url or "", "/chat/completions")
        body = self._body(request, await self._model(headers), form)
        collected = _Collected()
        async with aclosing(self._wire.events(url, headers, body)) as events:
            async for event in events:
                collected.take(event.value, whole=event.whole)
                if collected.broken is not None:
                    self._wire.refuse({"error": collected.broken})
                if collected.circles:
                    if not request.partial:
                        self._wire.end_circles()
                    collected.finish = "length"
                    break
        if not collected.seen:
            self._wire.fail(
                Verdict(
                    cls="resample", reason=f"the answer holds no choice; {LOOK}", code="no_choice", rule="no-choice"
                )
            )
        if collected.finish is None and not collected.whole:
            self._wire.cut()
        return self._wire.begun(collected.reply(self.entry.name), circles=collected.circles)

    def _headers(self) -> dict[str, str]:
        return key_header(self.entry.base_url, self._wire.key())

    async def _model(self, headers: Mapping[str, str]) -> str:
        """The model's name; for `auto` the one that the server has, or of several the one that it has loaded."""
        if self.entry.model != "auto":
            return self.entry.model
        if self._served is None:
            listed = await self._wire.get(endpoint(self.entry.base_url or "", "/models"), headers)
            self._served = self._one_of(items(listed.get("data")))
        return self._served

    def _one_of(self, listed: Sequence[Mapping[str, Any]]) -> str:
        """The chat model that is meant where none is named."""
        chat = [one for one in listed if isinstance(one.get("id"), str) and not looks_embedding(one["id"])]
        loaded = [one for one in chat if is_loaded(one)]
        if len(chat) == 1 or loaded:
            return str((loaded or chat)[0]["id"])
        reason = "the server has no chat model loaded; load one there"
        if chat:
            names = [one["id"][:_NAME] for one in chat[:_NAMED]]
            line = f"{shown(self.entry.base_url or '')}#{names[0]}"
            reason = f"the server lists {len(chat)} chat models and says of none that it is loaded; "
            reason += f"name one ({', '.join(names)}), as in {line}"
        return self._wire.fail(Verdict(cls="park", reason=reason, code="no_models_loaded", rule="model"))

    def _body(self, request: ChatRequest, model: str, form: Structured) -> dict[str, Any]:
        messages = [{"role": "system", "content": request.system}] if request.system else []
        messages += [{"role": turn.role, "content": turn.text} for turn in request.turns]
        options = {name: value for name, value in self.entry.options.items() if name != "max_tokens_field"}
        body: dict[str, Any] = {"model": model, "messages": messages, self._limit: request.max_tokens}
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.tool is not None:
            body |= self._demand(request.tool, form)
        if self.entry.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return body | options

    def _demand(self, tool: Tool, form: Structured) -> dict[str, Any]:
        """The fields that ask for a tool's arguments in a form."""
        match form:
            case "schema":
                schema = {"name": tool.name, "schema": schema_of(tool), "strict": True}
                return {"response_format": {"type": "json_schema", "json_schema": schema}}
            case "object":
                return {"response_format": {"type": "json_object"}}
            case "text":
                return {}
            case "tool":
                function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
                found: dict[str, Any] = {"tools": [{"type": "function", "function": function}]}
                # llama.cpp and LM Studio take a word alone; with one tool it says the same.
                named: Any = {"type": "function", "function": {"name": tool.name}}
                choice = {"tool_choice": "required" if self.entry.served_locally else named}
                return found | (choice if self._forces else {})
            case _:
                assert_never(form)


_LIMITS = ("max_tokens", "max_completion_tokens")
_NAMED = 5
_NAME = 80


def is_loaded(listed: Mapping[str, Any]) -> bool:
    """Whether a server says of a model that it lists that it is in memory (LM Studio `state`, llama.cpp `status`)."""
    status = listed.get("status")
    return listed.get("state") == "loaded" or table(status).get("value") == "loaded" or status == "loaded"


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    parts: list[str] = field(default_factory=list)
    value: Any = None


@dataclass(slots=True)
class _Collected:
    """An answer as it comes in, chunk by chunk or whole."""

    text: list[str] = field(default_factory=list)
    calls: dict[int, _Call] = field(default_factory=dict)
    finish: Finish | None = None
    usage: Usage = field(default_factory=Usage)
    refused: bool = False
    seen: bool = False
    whole: bool = False
    broken: object = None
    circles: bool = False
    watch: RepeatWatch = field(default_factory=RepeatWatch)

    def take(self, value: Mapping[str, Any], *, whole: bool) -> None:
        self.whole = whole
        self.usage = _usage(value) or self.usage
        choices = value.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            return
        choice = choices[0]
        self.seen = True
        if choice.get("error") or choice.get("finish_reason") == "error":
            self.broken = choice.get("error") or "the provider broke off"
        message = table(choice.get("message" if whole else "delta"))
        if not whole:  # thoughts are no part of the answer, but a model that thinks in circles gives none
            for thought in (message.get("reasoning_content"), message.get("reasoning")):
                self._watched(thought)
        self._say(message.get("content"))
        self.refused = self.refused or bool(message.get("refusal"))
        for position, call in enumerate(items(message.get("tool_calls"))):
            self._call(call, position)
        if reason := choice.get("finish_reason"):
            self.finish = _FINISH.get(str(reason).lower(), "other")

    def _say(self, content: object) -> None:
        if isinstance(content, str):
            self.text.append(content)
            self._watched(content)
        elif isinstance(content, list):  # Mistral: parts, of which those of type `thinking` are not the answer
            parts = [part.get("text") for part in items(content) if part.get("type") == "text"]
            said = [text for text in parts if isinstance(text, str)]
            self.text += said
            self._watched("".join(said))

    def _watched(self, said: object) -> None:
        if isinstance(said, str):
            self.circles = self.circles or self.watch.circles(said)

    def _call(self, call: Mapping[str, Any], position: int) -> None:
        index = call.get("index")
        place = index if isinstance(index, int) else position
        function = table(call.get("function"))
        known = self.calls.setdefault(place, _Call())
        if known.name and function.get("name") and str(call.get("id") or known.id) != known.id:
            # Another call under the index of the last: Gemini's OpenAI endpoint has sent every call as number 0.
            known = self.calls[max(self.calls) + 1] = _Call()
        known.id = known.id or str(call.get("id") or "")
        known.name = known.name or str(function.get("name") or "")
        sent = function.get("arguments")
        if isinstance(sent, str):
            known.parts.append(sent)
            self._watched(sent)
        elif sent is not None:
            known.value = sent

    def reply(self, model: str) -> ChatReply:
        calls = tuple(
            ToolCall(
                id=call.id or f"call_{index}",
                name=call.name,
                arguments=call.value
                if call.value is not None and not call.parts
                else arguments_of("".join(call.parts)),
            )
            for index, call in sorted(self.calls.items())
        )
        finish: Finish = self.finish or "other"
        if calls and finish in {"stop", "other"}:
            finish = "tool"
        text = without_reasoning("".join(self.text))
        reply = ChatReply(model=model, text=text, tool_calls=calls, finish=finish, usage=self.usage)
        return replace(reply, finish="refusal") if self.refused else reply


def _usage(value: Mapping[str, Any]) -> Usage | None:
    """The counts, wherever they are: Groq puts a stream's under `x_groq`."""
    counts = table(value.get("usage")) or table(table(value.get("x_groq")).get("usage"))
    if not counts:
        return None
    taken = [counts.get(name) for name in ("prompt_tokens", "completion_tokens")]
    whole = [count if isinstance(count, int) and count >= 0 else None for count in taken]
    return Usage(input_tokens=whole[0], output_tokens=whole[1])
