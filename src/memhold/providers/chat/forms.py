"""How a link is asked for arguments: as a tool call, by a JSON schema, as a JSON object, or in words."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from memhold.asking.boilerplate import is_refusal
from memhold.asking.envelopes import objects_in, unwrapped
from memhold.ports.models import ChatReply, ChatRequest, Tool, ToolCall
from memhold.providers.entry import FORMS, Entry, Structured
from memhold.values.errors import ModelError

__all__ = ["Forms", "RepeatWatch", "as_call", "instructed", "schema_of"]

_FORM_RULES: Final = frozenset({"form", "schema", "parameter", "tool-choice", "no-tools"})
"""What the table of failures calls a request whose form a server does not take."""


class Forms:
    """The form in which one link is asked; it remembers the one that works, and tells `learned` of it.

    `known` is the form that was found out before. Where the entry names none, a form that the server refuses is
    followed by the next one down, as far as it refuses: no model has seen the request. One that is answered without
    arguments is followed by the next one down once a request.
    """

    def __init__(
        self, entry: Entry, *, known: Structured | None = None, learned: Callable[[Structured], None] | None = None
    ) -> None:
        self.form: Structured = entry.structured or known or entry.form
        self._fixed = entry.structured is not None
        self._learned = learned

    async def ask(
        self, request: ChatRequest, call: Callable[[ChatRequest, Structured], Awaitable[ChatReply]]
    ) -> ChatReply:
        """The reply to a request, with the arguments as a call where it has them.

        Raises:
            ModelError: the call failed in each form that was tried.
        """
        if request.tool is None:
            return await call(request, self.form)
        form, answered = self.form, False
        while True:
            following = None if self._fixed or answered else _below(form)
            try:
                reply = as_call(await call(instructed(request, form), form), request.tool)
            except ModelError as error:
                if following is None or error.rule not in _FORM_RULES:
                    raise
            else:
                if following is None or not _missing(reply):
                    self._learn(form, reply)
                    return reply
                answered = True
            form = following

    def _learn(self, form: Structured, reply: ChatReply) -> None:
        if form == self.form or _missing(reply):
            return
        self.form = form
        if self._learned is not None:
            self._learned(form)


def _below(form: Structured) -> Structured | None:
    place = FORMS.index(form) + 1
    return FORMS[place] if place < len(FORMS) else None


def _missing(reply: ChatReply) -> bool:
    """Whether a reply was to hold arguments and has none, for no reason of its own."""
    if reply.tool_calls or reply.finish in {"length", "refusal"}:
        return False
    return bool(reply.text.strip()) and not is_refusal(reply.text)


def as_call(reply: ChatReply, tool: Tool) -> ChatReply:
    """The reply with arguments that stand in its text as the call of the tool that they are."""
    if reply.tool_calls or reply.finish in {"length", "refusal"}:
        return reply
    known, required = tool.parameters.get("properties", ()), tool.parameters.get("required", ())
    found = [one for value in objects_in(reply.text) if (one := unwrapped(value, tool.name, known, required))]
    if not found:
        return reply
    call = ToolCall(id="call_0", name=tool.name, arguments=max(found, key=lambda one: sum(n in one for n in known)))
    return replace(reply, text="", tool_calls=(call,), finish="tool")


def instructed(request: ChatRequest, form: Structured) -> ChatRequest:
    """The request with what a form needs said in words."""
    if form == "tool" or request.tool is None:
        return request
    said = f"Answer with one JSON object, the arguments of `{request.tool.name}`, and nothing else."
    if form != "schema":
        said += f" It follows this JSON schema:\n{json.dumps(schema_of(request.tool), ensure_ascii=False)}"
    return replace(request, system=f"{request.system}\n\n{said}".strip())


def schema_of(tool: Tool) -> dict[str, Any]:
    """A tool's parameters as grammars take them: without formats, which no grammar knows, and closed."""
    closed = _closed(tool.parameters)
    assert isinstance(closed, dict)  # noqa: S101 - an object stays one
    return closed


def _closed(value: Any) -> Any:
    if isinstance(value, list):
        return [_closed(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    found = {name: _closed(one) for name, one in value.items() if name != "format" or not isinstance(one, str)}
    if found.get("type") == "object" and "properties" in found:
        found.setdefault("additionalProperties", False)
    return found


class RepeatWatch:
    """Sees a reply that goes in circles while it comes in."""

    STEP: Final = 200
    LONGEST: Final = 400
    TIMES: Final = 4
    LEAST: Final = 320

    def __init__(self) -> None:
        self._tail = ""
        self._since = 0

    def circles(self, said: str) -> bool:
        """Whether what was said last is one stretch of up to 400 characters, four times or more and 320 in all."""
        self._tail = (self._tail + said)[-self.LONGEST * self.TIMES :]
        self._since += len(said)
        if self._since < self.STEP:
            return False
        self._since = 0
        tail = self._tail
        for length in range(1, self.LONGEST + 1):
            size = max(self.LEAST, length * self.TIMES)
            if size > len(tail):
                return False
            end = tail[-size:]
            if end[length:] == end[:-length]:
                return True
        return False
