"""Every other provider, through `pydantic-ai-slim` (the extra `providers`); `model` is written as in `google:gemini-…`.

The link keeps its own key and URL: they are handed to the provider's class, so its environment variables are not read
where it takes them as arguments. The SDK's own retries are turned off.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Literal

from memhold.ports.models import ChatReply, ChatRequest, ToolCall, Usage
from memhold.ports.stores import Clock
from memhold.providers.chat.bare import KeySource
from memhold.providers.chat.text import arguments_of, without_reasoning
from memhold.providers.chat.wire import Wire, unforced
from memhold.providers.entry import Entry
from memhold.providers.failures.errors import plain_error
from memhold.values.errors import InvalidSetting, ModelError

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters

__all__ = ["PydanticAIChat"]

_FINISH: dict[str | None, Literal["stop", "tool", "length", "refusal", "other"]] = {
    "stop": "stop",
    "tool_call": "tool",
    "length": "length",
    "content_filter": "refusal",
}


class PydanticAIChat:
    """A `ChatModel` over any model of pydantic-ai. Whatever its SDK raises becomes a plain `ModelError`."""

    def __init__(
        self, entry: Entry, *, keys: KeySource, clock: Clock | None = None, model: Model[Any] | None = None
    ) -> None:
        self.entry = entry
        self._wire = Wire(entry, keys=keys, clock=clock)
        self._clock = clock
        self._model = model
        self._forces = True

    @property
    def name(self) -> str:
        """The name of the catalog entry."""
        return self.entry.name

    async def close(self) -> None:
        """Let go of the model; its client goes with it."""
        self._model = None

    async def chat(self, request: ChatRequest) -> ChatReply:
        """One answer.

        Raises:
            ModelError: the call failed.
            InvalidSetting: the extra is not installed, or it knows no such model.
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
        self._model = model = self._model or _make(self.entry, key)
        messages, settings, parameters = _asked(self.entry, request, forced=forced)
        try:
            response = await model.request(messages, settings, parameters)
        except Exception as error:  # noqa: BLE001 - an edge: foreign SDKs raise what they like, and none of it is ours
            now = self._clock.now() if self._clock is not None else None
            variable = self.entry.api_key_env
            raise plain_error(error, model=self.name, now=now, key_variable=variable) from None
        return _reply(self.name, response)


def _make(entry: Entry, key: str | None) -> Model[Any]:
    try:
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.models import infer_model
        from pydantic_ai.providers import infer_provider_class
    except ImportError as error:
        advice = "install the extra: pip install 'memhold[providers]'"
        raise InvalidSetting(f"{entry.name} needs pydantic-ai; {advice}", name=entry.name) from error

    def provider(name: str) -> Any:
        kind = infer_provider_class(name)
        taken = inspect.signature(kind).parameters
        offered = {"api_key": key, "base_url": entry.base_url}
        made = kind(**{name: value for name, value in offered.items() if value is not None and name in taken})
        client: Any = getattr(made, "client", None)
        if hasattr(client, "max_retries"):
            client.max_retries = 0
        return made

    try:
        return infer_model(entry.model, provider_factory=provider)
    except (UserError, ImportError, ValueError) as error:
        raise InvalidSetting(
            f"{entry.name}: pydantic-ai cannot make {entry.model!r}: {error}", name=entry.name
        ) from error


def _asked(
    entry: Entry, request: ChatRequest, *, forced: bool
) -> tuple[list[ModelMessage], Any, ModelRequestParameters]:
    from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, TextPart, UserPromptPart
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    messages: list[ModelMessage] = []
    if request.system:
        messages.append(ModelRequest(parts=[SystemPromptPart(request.system)]))
    for turn in request.turns:
        if turn.role == "user":
            messages.append(ModelRequest(parts=[UserPromptPart(turn.text)]))
        else:
            messages.append(ModelResponse(parts=[TextPart(turn.text)]))
    settings: dict[str, Any] = {"max_tokens": request.max_tokens} | dict(entry.options)
    if request.temperature is not None:
        settings["temperature"] = request.temperature
    if entry.headers:
        settings["extra_headers"] = dict(entry.headers)
    if request.tool is None:
        return messages, settings, ModelRequestParameters()
    tool = ToolDefinition(
        name=request.tool.name,
        description=request.tool.description,
        parameters_json_schema=dict(request.tool.parameters),
    )
    return messages, settings, ModelRequestParameters(function_tools=[tool], allow_text_output=not forced)


def _reply(model: str, response: ModelResponse) -> ChatReply:
    from pydantic_ai.messages import TextPart, ToolCallPart

    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    calls = tuple(
        ToolCall(id=part.tool_call_id, name=part.tool_name, arguments=arguments_of(part.args))
        for part in response.parts
        if isinstance(part, ToolCallPart)
    )
    finish = _FINISH.get(response.finish_reason, "other")
    if calls and finish in {"stop", "other"}:
        finish = "tool"
    usage = Usage(input_tokens=response.usage.input_tokens or None, output_tokens=response.usage.output_tokens or None)
    return ChatReply(model=model, text=without_reasoning(text), tool_calls=calls, finish=finish, usage=usage)
