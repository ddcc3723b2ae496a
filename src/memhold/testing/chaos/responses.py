"""OpenAI's Responses API: reading a request's items, and an answer as one object or as events. Pure.

Shapes follow OpenAI's API reference. Codex speaks no other API; it sends the tools of an MCP server as a `namespace`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memhold.testing.chaos.replies import Asked, Call, Offer, Reply, tokens

__all__ = ["response_asked", "response_body", "response_events"]

_CREATED = 1_700_000_000
_PIECE = 24


def response_asked(body: Mapping[str, Any]) -> Asked:
    """The request in a body of the Responses API. Missing or odd parts read as absent."""
    given = body.get("input")
    items = [{"type": "message", "role": "user", "content": given}] if isinstance(given, str) else _objects(given)
    texts = [turn for item in items if (turn := _turn(item)) is not None]
    if isinstance(body.get("instructions"), str):
        texts.insert(0, ("system", body["instructions"]))
    limit = body.get("max_output_tokens")
    return Asked(
        protocol="responses",
        model=str(body.get("model", "")),
        texts=tuple(texts),
        offers=tuple(_offers(_objects(body.get("tools")), None)),
        choice=_choice(body.get("tool_choice")),
        stream=bool(body.get("stream")),
        usage_in_stream=True,
        max_tokens=limit if isinstance(limit, int) and limit > 0 else None,
        json_schema=_json_schema(body.get("text")),
    )


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _turn(item: Mapping[str, Any]) -> tuple[str, str] | None:
    match item.get("type", "message"):
        case "message":
            return str(item.get("role", "user")), _text(item.get("content"))
        case "function_call_output":
            return "tool", _text(item.get("output"))
        case _:
            return None


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(text for part in _objects(content) if (text := str(part.get("text") or "")))


def _offers(tools: Sequence[Mapping[str, Any]], namespace: str | None) -> Iterator[Offer]:
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from _offers(_objects(tool.get("tools")), str(tool.get("name", "")))
        elif isinstance(tool.get("name"), str):
            schema = tool.get("parameters")
            found = schema if isinstance(schema, Mapping) else {"type": "object"}
            yield Offer(name=tool["name"], schema=found, namespace=namespace)


def _choice(choice: Any) -> str:
    if isinstance(choice, str):
        return choice
    return str(choice.get("name", "auto")) if isinstance(choice, Mapping) else "auto"


def _json_schema(text: Any) -> Mapping[str, Any] | None:
    wanted = text.get("format") if isinstance(text, Mapping) else None
    if not isinstance(wanted, Mapping) or wanted.get("type") == "text":
        return None
    schema = wanted.get("schema")
    return schema if isinstance(schema, Mapping) else {"type": "object"}


# --------------------------------------------------------------------------------------------- answers


def response_body(reply: Reply, asked: Asked, number: int) -> dict[str, Any]:
    """The answer as one JSON object."""
    cut = {"length": "max_output_tokens", "filter": "content_filter"}.get(reply.finish)
    given = sum(tokens(text) for _, text in asked.texts) + 4 * len(asked.texts)
    made = tokens(reply.text + "".join(call.text for call in reply.calls))
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": _CREATED,
        "status": "completed" if cut is None else "incomplete",
        "incomplete_details": None if cut is None else {"reason": cut},
        "error": None,
        "model": asked.model,
        "output": [*_output(reply, number)],
        "usage": {
            "input_tokens": given,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": made,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": given + made,
        },
    }


def _output(reply: Reply, number: int) -> Iterator[dict[str, Any]]:
    part: dict[str, Any] | None = None
    if reply.refusal is not None:
        part = {"type": "refusal", "refusal": reply.refusal}
    elif reply.text or not reply.calls:
        part = {"type": "output_text", "text": reply.text, "annotations": []}
    if part is not None:
        yield {
            "type": "message",
            "id": f"msg_{number}",
            "status": "completed",
            "role": "assistant",
            "content": [part],
        }
    for place, call in enumerate(reply.calls):
        yield _call(call, number, place)


def _call(call: Call, number: int, place: int) -> dict[str, Any]:
    named = {} if call.namespace is None else {"namespace": call.namespace}
    return {
        "type": "function_call",
        "id": f"fc_{number}_{place}",
        "call_id": f"call_{number}_{place}",
        "status": "completed",
        "name": call.name,
        **named,
        "arguments": call.arguments if call.as_object else call.text,
    }


def response_events(reply: Reply, asked: Asked, number: int) -> Iterator[dict[str, Any]]:
    """The answer as the events of its stream, in order; the last one ends it."""
    whole = response_body(reply, asked, number)
    opening = {**whole, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": opening},
        {"type": "response.in_progress", "response": opening},
    ]
    for index, item in enumerate(whole["output"]):
        events += _item_events(item, index)
    ended = "response.completed" if whole["status"] == "completed" else "response.incomplete"
    events.append({"type": ended, "response": whole})
    for place, event in enumerate(events):
        yield {**event, "sequence_number": place}


def _item_events(item: Mapping[str, Any], index: int) -> Iterator[dict[str, Any]]:
    at = {"item_id": item["id"], "output_index": index}
    begun = {**item, "status": "in_progress"}
    if item["type"] == "function_call":
        begun["arguments"] = ""
        yield {"type": "response.output_item.added", "output_index": index, "item": begun}
        if isinstance(item["arguments"], str):
            for piece in _pieces(item["arguments"]):
                yield {"type": "response.function_call_arguments.delta", **at, "delta": piece}
            yield {"type": "response.function_call_arguments.done", **at, "arguments": item["arguments"]}
    else:
        (part,) = item["content"]
        kind = "output_text" if part["type"] == "output_text" else "refusal"
        field = "text" if kind == "output_text" else "refusal"
        at["content_index"] = 0
        yield {"type": "response.output_item.added", "output_index": index, "item": {**begun, "content": []}}
        yield {"type": "response.content_part.added", **at, "part": {**part, field: ""}}
        for piece in _pieces(part[field]):
            yield {"type": f"response.{kind}.delta", **at, "delta": piece}
        yield {"type": f"response.{kind}.done", **at, field: part[field]}
        yield {"type": "response.content_part.done", **at, "part": part}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _pieces(text: str) -> list[str]:
    return [text[i : i + _PIECE] for i in range(0, len(text), _PIECE)]
