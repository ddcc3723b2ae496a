"""Messages of one provider's shape in the other's: calls, results, text and images; what has no counterpart goes.

Private thinking, server tools and a refusal's type exist in one shape only. What cannot be carried over becomes text
where a person would read it, and is left out where not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from memhold.messages.shapes import read_message
from memhold.messages.window import EMPTY_RESULT, Body, blank, led_by
from memhold.values.records import speaker_of

__all__ = ["in_shape", "to_anthropic", "to_openai"]

_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,(.*)", re.DOTALL)
_KEPT = frozenset({"tool_use", "tool_result", "text", "image"})


def in_shape(body: Body, shape: str) -> list[Body]:
    """The message as messages of that shape: itself where it is of it."""
    if shape == "openai":
        return list(to_openai(body)) if _is_anthropic(body) else [body]
    return [to_anthropic(body)] if _is_openai(body) else [_bare(body)]


def _parts(body: Body) -> list[Mapping[str, Any]]:
    content = body.get("content")
    return [part for part in content if isinstance(part, Mapping)] if isinstance(content, list | tuple) else []


def _is_anthropic(body: Body) -> bool:
    known = {"tool_use", "tool_result", "image", "document", "thinking", "redacted_thinking", "server_tool_use"}
    return any(part.get("type") in known or str(part.get("type")).endswith("_tool_result") for part in _parts(body))


def _is_openai(body: Body) -> bool:
    known = {"image_url", "input_audio", "file", "refusal", "input_text", "output_text", "input_image", "input_file"}
    if body.get("tool_calls") or body.get("function_call") or body.get("role") in {"tool", "function", "developer"}:
        return True
    return bool(body.get("refusal")) or any(part.get("type") in known for part in _parts(body))


def _bare(body: Body) -> Body:
    """Role and content, which begins with the name of who speaks.

    The Messages API refuses other fields of a message ("Extra inputs are not permitted").
    """
    if body.keys() <= {"role", "content"}:
        return body
    return {"role": body["role"], "content": led_by(speaker_of(body["role"], body), body.get("content"))}


# --------------------------------------------------------------------------------------------- to OpenAI


def to_openai(body: Body) -> Iterator[Body]:
    """An Anthropic message as OpenAI messages: results first, as messages of their own, then the rest."""
    content = body.get("content")
    if not isinstance(content, list | tuple):
        yield body
        return
    said: list[Mapping[str, Any]] = []
    calls: list[Mapping[str, Any]] = []
    for part in _parts(body):
        kind = part.get("type")
        if kind == "tool_use":
            function = {"name": part.get("name") or "tool", "arguments": _json(part.get("input") or {})}
            calls.append({"id": part.get("id"), "type": "function", "function": function})
        elif kind == "tool_result":
            text = _result_text(part)
            yield {"role": "tool", "tool_call_id": part.get("tool_use_id"), "content": text}
        elif kind == "image":
            said.append(_openai_image(part))
        elif kind == "text":
            said.append({"type": "text", "text": part.get("text", "")})
        elif kind not in {"thinking", "redacted_thinking"} and (text := _read(body["role"], part)):
            said.append({"type": "text", "text": text})
    if not said and not calls:
        return
    plain = "\n".join(part["text"] for part in said) if all(part["type"] == "text" for part in said) else None
    whole: Any = said if plain is None else plain
    named = {"name": body["name"]} if "name" in body else {}
    if body["role"] == "assistant":
        yield {"role": "assistant", **named, "content": plain or None} | ({"tool_calls": calls} if calls else {})
    else:
        yield {"role": body["role"], **named, "content": whole}


def _openai_image(part: Mapping[str, Any]) -> Mapping[str, Any]:
    source = part.get("source")
    source = source if isinstance(source, Mapping) else {}
    if source.get("type") == "url" and isinstance(source.get("url"), str):
        return {"type": "image_url", "image_url": {"url": source["url"]}}
    if source.get("type") == "base64":
        return {
            "type": "image_url",
            "image_url": {"url": f"data:{source.get('media_type')};base64,{source.get('data')}"},
        }
    return {"type": "text", "text": "[image]"}


def _result_text(part: Mapping[str, Any]) -> str:
    text = _read("user", part)
    return text if text.strip() else EMPTY_RESULT


def _read(role: str, part: Mapping[str, Any]) -> str:
    """What a person would read in one block."""
    content = part.get("content")
    if part.get("type") == "tool_result" and (isinstance(content, str) or content is None):
        return content or ""
    known = {**part, "tool_use_id": part.get("tool_use_id") or "none"} if part.get("type") == "tool_result" else part
    return (
        read_message({"role": role, "content": [known, {"type": "text", "text": "."}]}).text.removesuffix(".").rstrip()
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# --------------------------------------------------------------------------------------------- to Anthropic


def to_anthropic(body: Body) -> Body:
    """An OpenAI message as an Anthropic one: a tool's result is a user's message with one `tool_result`."""
    role = body["role"]
    if role in {"tool", "function"}:
        result: dict[str, Any] = {"type": "tool_result", "tool_use_id": body.get("tool_call_id") or body.get("name")}
        content = body.get("content")
        if not blank(content):
            result["content"] = content if isinstance(content, str) else [_block(part) for part in _parts(body)]
        return {"role": "user", "content": [result]}
    calls = [call for call in body.get("tool_calls") or () if isinstance(call, Mapping)]
    old = body.get("function_call")
    uses = [_use(call.get("id"), call.get("function") or call.get("custom")) for call in calls]
    if isinstance(old, Mapping):
        uses.append(_use(old.get("name"), old))
    content = body.get("content")
    refusal = body.get("refusal")
    spoken = "assistant" if role == "assistant" else "system" if role in {"system", "developer"} else "user"
    name = speaker_of(role, body)
    if isinstance(content, str) and not uses and not refusal:
        return {"role": spoken, "content": led_by(name, content)}
    said = [{"type": "text", "text": content}] if isinstance(content, str) else [_block(part) for part in _parts(body)]
    if isinstance(refusal, str):
        said.append({"type": "text", "text": refusal})
    return {"role": spoken, "content": [*(led_by(name, said) or ()), *uses]}


def _use(identity: Any, function: Any) -> dict[str, Any]:
    holder = function if isinstance(function, Mapping) else {}
    return {
        "type": "tool_use",
        "id": identity,
        "name": holder.get("name") or "tool",
        "input": _arguments(holder.get("arguments", holder.get("input"))),
    }


def _arguments(value: Any) -> Mapping[str, Any]:
    """A call's arguments as an object; text that is none stands under `arguments`, so that nothing is lost."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {"arguments": value} if value.strip() else {}
    return value if isinstance(value, Mapping) else {} if value is None else {"arguments": value}


def _block(part: Mapping[str, Any]) -> dict[str, Any]:
    kind = part.get("type")
    if kind in {"image_url", "input_image"}:
        image = part.get("image_url")
        url = image.get("url") if isinstance(image, Mapping) else image
        found = _DATA_URL.fullmatch(url) if isinstance(url, str) else None
        if found:
            return {"type": "image", "source": {"type": "base64", "media_type": found[1], "data": found[2]}}
        if isinstance(url, str) and url.startswith(("http://", "https://")):
            return {"type": "image", "source": {"type": "url", "url": url}}
    if kind in _KEPT:
        return dict(part)
    return {
        "type": "text",
        "text": read_message({"role": "user", "content": [part, _DOT]}).text.removesuffix(".").rstrip(),
    }


_DOT = {"type": "text", "text": "."}
