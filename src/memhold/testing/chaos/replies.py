"""What the chaos model answers, before it is written in a protocol: a reply, and every way to spoil one. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, assert_never

from memhold.testing.chaos.faults import SpoilHow
from memhold.testing.chaos.filling import fill, understand

__all__ = ["Asked", "Call", "Offer", "Protocol", "Reply", "answer_to", "spoil", "tokens"]

Protocol = Literal["openai", "responses", "anthropic", "ollama"]
Finish = Literal["stop", "tool", "length", "refusal", "filter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A tool that the request offers; `namespace` is the group it stands in, where the protocol has such."""

    name: str
    schema: Mapping[str, Any]
    namespace: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A chat request, whatever its protocol: the turns as (role, text), the tools, and which must be called.

    `choice` is a tool's name, "required", "auto" or "none". `thinking` says whether a model that thinks before it
    answers is asked for, as Anthropic's requests do, and whether its thoughts are to be seen.
    """

    protocol: Protocol
    model: str
    texts: tuple[tuple[str, str], ...]
    offers: tuple[Offer, ...] = ()
    choice: str = "auto"
    stream: bool = False
    usage_in_stream: bool = False
    max_tokens: int | None = None
    json_schema: Mapping[str, Any] | None = None
    thinking: Literal["no", "shown", "omitted"] = "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One tool call. `written` is the arguments' exact text where it is not simply their JSON."""

    name: str
    arguments: Any
    written: str | None = None
    as_object: bool = False
    namespace: str | None = None

    @property
    def text(self) -> str:
        """The arguments as a protocol with string arguments sends them."""
        return self.written if self.written is not None else json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer: text, calls, and why it ended."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    finish: Finish = "stop"
    refusal: str | None = None


def tokens(text: str) -> int:
    """About how many tokens a text has: a quarter of its characters, one for each that is not ASCII; never zero."""
    wide = sum(1 for c in text if ord(c) > 127)
    return max(1, wide + (len(text) - wide + 3) // 4)


def answer_to(asked: Asked) -> Reply:
    """The sensible answer: the demanded tool filled from the conversation, JSON for a demanded schema, else a sentence.

    With a free choice the first tool is called, unless the last turn brought a tool's result.
    """
    context = understand(asked.texts)
    offer = _offer(asked)
    if offer is not None:
        call = Call(name=offer.name, arguments=fill(offer.schema, context), namespace=offer.namespace)
        reply = Reply(calls=(call,), finish="tool")
    elif asked.json_schema is not None:
        reply = Reply(text=json.dumps(fill(asked.json_schema, context), ensure_ascii=False))
    elif context.facts:
        reply = Reply(text="Noted: " + "; ".join(dict.fromkeys(said.sentence for said in context.facts)))
    else:
        last = next((text for role, text in reversed(asked.texts) if role == "user"), "")
        reply = Reply(text=f"You said: {last}" if last else "Hello.")
    return _within(reply, asked.max_tokens)


def _offer(asked: Asked) -> Offer | None:
    if not asked.offers or asked.choice == "none":
        return None
    if asked.choice == "auto" and asked.texts and asked.texts[-1][0] == "tool":
        return None
    return next((offer for offer in asked.offers if offer.name == asked.choice), asked.offers[0])


def _within(reply: Reply, limit: int | None) -> Reply:
    if limit is None:
        return reply
    if reply.calls and tokens(reply.calls[0].text) > limit:
        return _cut(reply, limit * 4)
    if reply.text and tokens(reply.text) > limit:
        return replace(reply, text=reply.text[: limit * 4], finish="length")
    return reply


def _cut(reply: Reply, length: int | None = None) -> Reply:
    if not reply.calls:
        return replace(reply, text=reply.text[: length or len(reply.text) // 2], finish="length")
    call = reply.calls[0]
    kept = call.text[: length or max(1, len(call.text) // 2)]
    return replace(reply, calls=(replace(call, written=kept, arguments={}),), finish="length")


_REFUSAL = "I'm sorry, but I can't help with that request."


def spoil(reply: Reply, how: SpoilHow, asked: Asked) -> Reply:
    """The same reply gone wrong. Where it holds no tool call to spoil, the first offered tool stands in for one."""
    call = reply.calls[0] if reply.calls else _stand_in(asked)
    arguments = call.arguments
    match how:
        case "prose":
            spoken = understand(asked.texts).summary
            return Reply(text=f"Sure! Here is what I understood from the conversation: {spoken}")
        case "wrong-tool":
            return Reply(calls=(replace(call, name=f"{call.name}_draft"),), finish="tool")
        case "empty-arguments":
            return Reply(calls=(replace(call, arguments={}, written=None),), finish="tool")
        case "null-arguments":
            fields = arguments if isinstance(arguments, Mapping) else {}
            return Reply(calls=(replace(call, arguments=dict.fromkeys(fields), written=None),), finish="tool")
        case "fenced-json":
            return Reply(text=f"```json\n{json.dumps(arguments, ensure_ascii=False, indent=2)}\n```")
        case "arguments-string":
            encoded = json.dumps(arguments, ensure_ascii=False)
            return Reply(calls=(replace(call, arguments=encoded, written=None),), finish="tool")
        case "arguments-list":
            return Reply(calls=(replace(call, arguments=[arguments], written=None),), finish="tool")
        case "arguments-broken":
            broken = json.dumps(arguments, ensure_ascii=False)[:-1] + ",,"
            return Reply(calls=(replace(call, arguments=broken, written=broken),), finish="tool")
        case "arguments-object":
            return Reply(calls=(replace(call, as_object=True),), finish="tool")
        case "cut-at-limit":
            return _cut(replace(reply, calls=(call,)) if call.name else reply)
        case "two-calls":
            return Reply(calls=(call, call), finish="tool")
        case "refusal-text":
            return Reply(text=_REFUSAL)
        case "refusal":
            return Reply(refusal=_REFUSAL, finish="refusal")
        case "content-filter":
            return Reply(finish="filter")
        case "empty-reply":
            return Reply()
        case "error-text":
            return Reply(text="Error: could not get a response from the model.")
        case "thinking":
            return replace(reply, text=f"<think>The user may want this kept: {_REFUSAL}</think>{reply.text}")
        case _:
            assert_never(how)


def _stand_in(asked: Asked) -> Call:
    if not asked.offers:
        return Call(name="", arguments={})
    offer = asked.offers[0]
    return Call(name=offer.name, arguments=fill(offer.schema, understand(asked.texts)), namespace=offer.namespace)
