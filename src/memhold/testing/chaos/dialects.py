"""Reading requests and writing answers in the protocols of OpenAI, Anthropic and Ollama. Pure: bodies in, bodies out.

Shapes follow the public references: OpenAI Chat Completions and Embeddings, Anthropic Messages and its streaming
events, and Ollama's api.md; OpenAI's Responses stand in `responses`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, assert_never

from memhold.testing.chaos.replies import Asked, Call, Offer, Protocol, Reply, tokens
from memhold.testing.chaos.responses import response_asked, response_body, response_events

__all__ = ["asked_of", "error_body", "reply_body", "reply_events"]

_CREATED = 1_700_000_000
_PIECE = 24
_THOUGHT = "I look at what was asked, and answer it."


# --------------------------------------------------------------------------------------------- requests


def asked_of(protocol: Protocol, body: Mapping[str, Any]) -> Asked:
    """The chat request in a protocol's body. Missing or odd parts read as absent: rules are checked elsewhere."""
    if protocol == "responses":
        return response_asked(body)
    messages = [one for one in _list(body.get("messages")) if isinstance(one, Mapping)]
    texts = [(str(one.get("role", "user")), _text(one.get("content"))) for one in messages]
    if protocol == "anthropic":
        texts = [
            ("tool", text) if _has_result(one) else (role, text)
            for one, (role, text) in zip(messages, texts, strict=True)
        ]
        if body.get("system"):
            texts.insert(0, ("system", _text(body["system"])))
    options = body.get("options") if protocol == "ollama" else None
    limit = body.get("max_tokens", body.get("max_completion_tokens"))
    if isinstance(options, Mapping):
        limit = options.get("num_predict")
    stream_options = body.get("stream_options")
    return Asked(
        protocol=protocol,
        model=str(body.get("model", "")),
        texts=tuple(texts),
        offers=tuple(_offers(protocol, body)),
        choice=_choice(protocol, body),
        stream=bool(body.get("stream", protocol == "ollama")),
        usage_in_stream=isinstance(stream_options, Mapping) and bool(stream_options.get("include_usage")),
        max_tokens=limit if isinstance(limit, int) and limit > 0 else None,
        json_schema=_json_schema(body),
        thinking=_thinking(body) if protocol == "anthropic" else "no",
    )


def _thinking(body: Mapping[str, Any]) -> Literal["no", "shown", "omitted"]:
    """Whether a request asks for a model that thinks: with a budget, or as much as it sees fit."""
    wanted = body.get("thinking")
    if not isinstance(wanted, Mapping) or wanted.get("type") not in {"enabled", "adaptive"}:
        return "no"
    return "omitted" if wanted.get("display") == "omitted" else "shown"


def _offers(protocol: Protocol, body: Mapping[str, Any]) -> Iterator[Offer]:
    for tool in _list(body.get("tools")):
        if not isinstance(tool, Mapping):
            continue
        if protocol == "anthropic" and tool.get("type") not in {None, "custom"}:
            continue  # the provider carries it out by itself: a search, a place to run code
        inner = tool if protocol == "anthropic" else tool.get("function")
        if isinstance(inner, Mapping) and isinstance(inner.get("name"), str):
            schema = inner.get("input_schema" if protocol == "anthropic" else "parameters")
            yield Offer(name=inner["name"], schema=schema if isinstance(schema, Mapping) else {"type": "object"})


def _choice(protocol: Protocol, body: Mapping[str, Any]) -> str:
    choice = body.get("tool_choice", "auto")
    if isinstance(choice, str):
        return choice
    if not isinstance(choice, Mapping):
        return "auto"
    if protocol == "anthropic":
        return str(choice.get("name") or {"any": "required"}.get(str(choice.get("type")), str(choice.get("type"))))
    function = choice.get("function")
    return str(function.get("name", "auto")) if isinstance(function, Mapping) else "auto"


def _json_schema(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    config = body.get("output_config")
    wanted = body.get("response_format", body.get("format"))
    if isinstance(config, Mapping) and wanted is None:
        wanted = config.get("format")
    if wanted == "json":
        return {"type": "object"}
    if not isinstance(wanted, Mapping):
        return None
    if wanted.get("type") == "json_schema":
        inner = wanted.get("json_schema")
        # Anthropic has the schema beside the type.
        schema = inner.get("schema") if isinstance(inner, Mapping) else wanted.get("schema")
        return schema if isinstance(schema, Mapping) else {"type": "object"}
    if wanted.get("type") == "text":
        return None
    return {"type": "object"} if wanted.get("type") == "json_object" else wanted


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = []
    for part in _list(content):
        if isinstance(part, str):
            parts.append(part)
        elif isinstance(part, Mapping):
            parts.append(
                _text(part.get("content")) if part.get("type") == "tool_result" else str(part.get("text") or "")
            )
    return "\n".join(part for part in parts if part)


def _has_result(message: Mapping[str, Any]) -> bool:
    blocks = _list(message.get("content"))
    return any(isinstance(block, Mapping) and block.get("type") == "tool_result" for block in blocks)


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


# --------------------------------------------------------------------------------------------- errors


def error_body(protocol: Protocol, status: int, text: str, *, param: str | None = None, code: str | None = None) -> str:
    """An error as that provider writes it."""
    match protocol:
        case "openai" | "responses":
            kind = "server_error" if status >= 500 else "invalid_request_error"
            value: dict[str, Any] = {"error": {"message": text, "type": kind, "param": param, "code": code}}
        case "anthropic":
            kind = {404: "not_found_error", 413: "request_too_large", 529: "overloaded_error"}.get(
                status, "api_error" if status >= 500 else "invalid_request_error"
            )
            value = {"type": "error", "error": {"type": kind, "message": text}, "request_id": "req_chaos"}
        case "ollama":
            value = {"error": text}
        case _:
            assert_never(protocol)
    return json.dumps(value, ensure_ascii=False)


# --------------------------------------------------------------------------------------------- whole answers


def reply_body(reply: Reply, asked: Asked, number: int) -> dict[str, Any]:
    """The answer as one JSON object. `number` makes its ids unique on one server."""
    match asked.protocol:
        case "openai":
            return {
                "id": f"chatcmpl-{number}",
                "object": "chat.completion",
                "created": _CREATED,
                "model": asked.model,
                "choices": [_openai_choice(reply, number)],
                "usage": _openai_usage(reply, asked),
            }
        case "anthropic":
            return {
                "id": f"msg_{number}",
                "type": "message",
                "role": "assistant",
                "model": asked.model,
                "content": _anthropic_content(reply, asked, number),
                "stop_reason": _anthropic_stop(reply),
                "stop_sequence": None,
                "usage": _anthropic_usage(reply, asked),
            }
        case "responses":
            return response_body(reply, asked, number)
        case "ollama":
            return {**_ollama_head(asked), "message": _ollama_message(reply), **_ollama_tail(reply, asked)}
        case _:
            assert_never(asked.protocol)


def _asked_tokens(asked: Asked) -> int:
    return sum(tokens(text) for _, text in asked.texts) + 4 * len(asked.texts)


def _reply_tokens(reply: Reply) -> int:
    return tokens(reply.text + "".join(call.text for call in reply.calls))


def _openai_usage(reply: Reply, asked: Asked) -> dict[str, int]:
    given, made = _asked_tokens(asked), _reply_tokens(reply)
    return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}


def _openai_finish(reply: Reply) -> str:
    return {"stop": "stop", "tool": "tool_calls", "length": "length", "refusal": "stop", "filter": "content_filter"}[
        reply.finish
    ]


def _openai_call(call: Call, number: int, place: int) -> dict[str, Any]:
    arguments = call.arguments if call.as_object else call.text
    return {"id": f"call_{number}_{place}", "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _openai_choice(reply: Reply, number: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None, "refusal": reply.refusal}
    if reply.calls:
        message["tool_calls"] = [_openai_call(call, number, place) for place, call in enumerate(reply.calls)]
    elif not reply.text and reply.refusal is None:
        message["content"] = ""
    return {"index": 0, "message": message, "logprobs": None, "finish_reason": _openai_finish(reply)}


def _anthropic_stop(reply: Reply) -> str:
    stops = {"stop": "end_turn", "tool": "tool_use", "length": "max_tokens", "refusal": "refusal", "filter": "refusal"}
    return stops[reply.finish]


def _anthropic_usage(reply: Reply, asked: Asked) -> dict[str, int]:
    cached = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    return {"input_tokens": _asked_tokens(asked), **cached, "output_tokens": _reply_tokens(reply)}


def _anthropic_thought(asked: Asked, number: int) -> dict[str, Any]:
    return {
        "type": "thinking",
        "thinking": _THOUGHT if asked.thinking == "shown" else "",
        "signature": f"sig_{number}",
    }


def _anthropic_content(reply: Reply, asked: Asked, number: int) -> list[dict[str, Any]]:
    text = reply.text or reply.refusal
    blocks: list[dict[str, Any]] = [] if asked.thinking == "no" else [_anthropic_thought(asked, number)]
    blocks += [{"type": "text", "text": text}] if text else []
    return blocks + [_anthropic_use(call, number, place) for place, call in enumerate(reply.calls)]


def _anthropic_use(call: Call, number: int, place: int) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": call.name, "input": call.arguments}


def _ollama_head(asked: Asked) -> dict[str, Any]:
    return {"model": asked.model, "created_at": "2023-11-14T22:13:20Z"}


def _ollama_message(reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or reply.refusal or ""}
    if reply.calls:
        message["tool_calls"] = [{"function": {"name": call.name, "arguments": call.arguments}} for call in reply.calls]
    return message


def _ollama_tail(reply: Reply, asked: Asked) -> dict[str, Any]:
    reason = "length" if reply.finish == "length" else "stop"
    counts = {"prompt_eval_count": _asked_tokens(asked), "eval_count": _reply_tokens(reply)}
    return {"done": True, "done_reason": reason, **counts}


# --------------------------------------------------------------------------------------------- streams


def reply_events(reply: Reply, asked: Asked, number: int) -> list[bytes]:
    """The answer as the protocol's stream: one element an event, the last one its end."""
    match asked.protocol:
        case "openai":
            return [*(_data(event) for event in _openai_events(reply, asked, number)), b"data: [DONE]\n\n"]
        case "anthropic":
            return [_named(event) for event in _anthropic_events(reply, asked, number)]
        case "responses":
            return [_named(event) for event in response_events(reply, asked, number)]
        case "ollama":
            return [json.dumps(event, ensure_ascii=False).encode() + b"\n" for event in _ollama_events(reply, asked)]
        case _:
            assert_never(asked.protocol)


def _data(event: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(event, ensure_ascii=False).encode() + b"\n\n"


def _named(event: Mapping[str, Any]) -> bytes:
    return b"event: " + str(event["type"]).encode() + b"\n" + _data(event)


def _pieces(text: str) -> list[str]:
    return [text[i : i + _PIECE] for i in range(0, len(text), _PIECE)]


def _openai_events(reply: Reply, asked: Asked, number: int) -> Iterator[dict[str, Any]]:
    head = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": _CREATED, "model": asked.model}

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": "" if not reply.calls else None})
    for piece in _pieces(reply.text):
        yield chunk({"content": piece})
    for piece in _pieces(reply.refusal or ""):
        yield chunk({"refusal": piece})
    for place, call in enumerate(reply.calls):
        first = _openai_call(call, number, place)
        if not call.as_object:
            first["function"]["arguments"] = ""
        yield chunk({"tool_calls": [{"index": place, **first}]})
        for piece in [] if call.as_object else _pieces(call.text):
            yield chunk({"tool_calls": [{"index": place, "function": {"arguments": piece}}]})
    yield chunk({}, _openai_finish(reply))
    if asked.usage_in_stream:
        yield {**head, "choices": [], "usage": _openai_usage(reply, asked)}


def _anthropic_events(reply: Reply, asked: Asked, number: int) -> Iterator[dict[str, Any]]:
    whole = reply_body(reply, asked, number)
    opening = {**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 1}}
    yield {"type": "message_start", "message": opening}
    index = 0
    if asked.thinking != "no":
        thought = _anthropic_thought(asked, number)
        yield {
            "type": "content_block_start",
            "index": index,
            "content_block": {**thought, "thinking": "", "signature": ""},
        }
        for piece in _pieces(thought["thinking"]):
            yield {
                "type": "content_block_delta",
                "index": index,
                "delta": {"type": "thinking_delta", "thinking": piece},
            }
        signed = {"type": "signature_delta", "signature": thought["signature"]}
        yield {"type": "content_block_delta", "index": index, "delta": signed}
        yield {"type": "content_block_stop", "index": index}
        index += 1
    text = reply.text or reply.refusal
    if text:
        yield {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}
        yield {"type": "ping"}
        for piece in _pieces(text):
            yield {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": piece}}
        yield {"type": "content_block_stop", "index": index}
        index += 1
    for place, call in enumerate(reply.calls):
        block = {**_anthropic_use(call, number, place), "input": {}}
        yield {"type": "content_block_start", "index": index, "content_block": block}
        for piece in ["", *_pieces(call.text)]:
            yield {
                "type": "content_block_delta",
                "index": index,
                "delta": {"type": "input_json_delta", "partial_json": piece},
            }
        yield {"type": "content_block_stop", "index": index}
        index += 1
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": whole["usage"]["output_tokens"]}}
    yield {"type": "message_stop"}


def _ollama_events(reply: Reply, asked: Asked) -> Iterator[dict[str, Any]]:
    head = _ollama_head(asked)
    for piece in _pieces(reply.text or reply.refusal or ""):
        yield {**head, "message": {"role": "assistant", "content": piece}, "done": False}
    if reply.calls:
        yield {**head, "message": {**_ollama_message(reply), "content": ""}, "done": False}
    yield {**head, "message": {"role": "assistant", "content": ""}, **_ollama_tail(reply, asked)}
