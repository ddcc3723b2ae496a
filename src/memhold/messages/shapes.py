"""What a message says: its shape, whether it is well formed, and the text that a person would read in it.

Two shapes are read, message by message, so one batch may mix them: the OpenAI chat shape and the Anthropic messages
shape. A message of plain text fits both and counts as OpenAI. Parts and blocks of a type that is not known here are
accepted and kept: providers add types faster than anyone can follow, and the journal keeps what happened.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from memhold.values.errors import InvalidMessage
from memhold.values.records import Shape

__all__ = [
    "ROLES",
    "Piece",
    "PieceKind",
    "Reading",
    "is_item",
    "listed_messages",
    "read_message",
    "spoken",
    "without_reasoning",
]

_OPEN = re.compile(r"\s*<(think|thinking)>")
_TAGS = ("think", "thinking")
_FIELDS = frozenset({"reasoning", "reasoning_content", "reasoning_details"})


def spoken(text: str) -> str:
    """An assistant's text without the thoughts that it begins with; empty where it holds nothing else.

    A thought that was cut off goes to the end. One whose opening stood in the model's template is known by its closing
    tag, alone in a line.
    """
    if "think" not in text:
        return text
    start = 0
    while (opened := _OPEN.match(text, start)) is not None:
        closing = f"</{opened[1]}>"
        end = text.find(closing, opened.end())
        if end < 0:
            return ""
        start = end + len(closing)
    if not start:
        start = max(_after_bare_closing(text, tag) for tag in _TAGS)
    return text[start:].lstrip() if start else text


def _after_bare_closing(text: str, tag: str) -> int:
    closing = f"</{tag}>"
    end = text.find(closing)
    behind = end + len(closing)
    alone = end >= 0 and (end == 0 or text[end - 1] == "\n") and text[behind : behind + 1] in {"", "\n", "\r"}
    return behind if alone and text.find(f"<{tag}>", 0, end) < 0 else 0


def without_reasoning(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """An assistant's turn without its thoughts, the same object where there are none; thinking blocks stay."""
    if body.get("role") != "assistant":
        return body
    kept = {name: value for name, value in body.items() if name not in _FIELDS} if _FIELDS & body.keys() else body
    content = _spoken_content(body.get("content"))
    return kept if content is body.get("content") else {**kept, "content": content}


def _spoken_content(content: Any) -> Any:
    if isinstance(content, str):
        said = spoken(content)
        return content if said == content else said
    if not isinstance(content, list | tuple):
        return content
    parts = [_spoken_part(part) for part in content]
    if all(part is given for part, given in zip(parts, content, strict=True)):
        return content
    return [part for part, given in zip(parts, content, strict=True) if part is given or part["text"]]


def _spoken_part(part: Any) -> Any:
    if not isinstance(part, Mapping) or part.get("type") != "text" or not isinstance(part.get("text"), str):
        return part
    said = spoken(part["text"])
    return part if said == part["text"] else {**part, "text": said}


ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
"""Every role that is accepted. `function` is OpenAI's older name for `tool`."""

_ANSWERS = frozenset({"tool", "function"})

Block = Mapping[str, Any]

_ANTHROPIC = frozenset(
    {"document", "image", "mcp_tool_use", "redacted_thinking", "search_result", "server_tool_use", "thinking"}
    | {"container_upload", "tool_result", "tool_use"}
)
_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w=.+-]+)*;base64,[A-Za-z0-9+/=_\-\s]*", re.ASCII)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_WORDS = frozenset({"text", "input_text", "output_text", "refusal"})
"""Parts and blocks that hold what the message's own role says."""

PieceKind = Literal["words", "call", "result", "attachment"]
"""What a piece of a message is: words of its role, a call that it makes, a tool's result, or anything else that it
brings along: an image, a file, a document, and every block of a type that is not known here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of a message's text, characters `start` to before `end`, and what it is.

    `block` is the place of its part or block in `content`; None where it stands beside the content, or content is text.
    """

    kind: PieceKind
    start: int
    end: int
    block: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was read in a message: its role, its shape, its text, and the pieces that the text consists of, in order."""

    role: str
    shape: Shape
    text: str
    pieces: tuple[Piece, ...] = ()


_Found = tuple[PieceKind, str, int | None]


def read_message(body: Mapping[str, Any]) -> Reading:
    """The role, the shape and the readable text of a message, and what each piece of the text is.

    The text holds text parts, the names and arguments of calls, tool results, refusals and transcripts, a speaker's
    `name` in front, and short marks for what is not text: `[image: example.org]`. It never holds base64 data, and not
    what a model thought before it spoke: thinking blocks, `<think>` in front of its text, fields beside it. NUL and
    lone surrogates, which no text column can hold, show as U+FFFD in it. Role and text of an item, which has a `type`
    and no role, are empty.

    A tool result whose call is not there is well formed: the journal is the truth, and the history that it came from
    may have been cut before it. A result that does not say which call it answers is not, and a message that has nothing
    in it is not, save for a tool result and an assistant's turn: many tools rightly print nothing, and a model may
    think and say nothing.

    Raises:
        InvalidMessage: the message is of neither shape, or there is nothing in it (`empty` is true then).
    """
    role = body.get("role")
    if role is None and is_item(body):
        return Reading(role="", shape="openai", text="")
    if not isinstance(role, str) or role not in ROLES:
        raise InvalidMessage(f"the role {role!r:.40} is unknown; use one of {', '.join(sorted(ROLES))}")
    content = body.get("content")
    # The usual message is text and nothing else.
    if (
        isinstance(content, str)
        and len(body) == 2
        and role not in _ANSWERS
        and (text := _clean(_said(content, role)).strip())
    ):
        return Reading(role=role, shape="openai", text=text, pieces=(Piece(kind="words", start=0, end=len(text)),))
    blocks = _blocks(content)
    shape = _shape(body, role, blocks)
    found = [
        (kind, _said(text, role) if kind == "words" else text, block)
        for kind, text, block in (_openai(body, role) if shape == "openai" else _anthropic(role, blocks))
    ]
    name = body.get("name")
    text, pieces = _joined(found, name if isinstance(name, str) else "")
    if not text:
        result = _is_result(body, role, blocks)
        if not result and role != "assistant":
            raise InvalidMessage("there is nothing in it: pass text, parts or tool calls", empty=True)
        pieces = (Piece(kind="result" if result else "words", start=0, end=0),)
    return Reading(role=role, shape=shape, text=text, pieces=pieces)


def _said(text: str, role: str) -> str:
    return spoken(text) if role == "assistant" else text


def _joined(found: Sequence[_Found], name: str) -> tuple[str, tuple[Piece, ...]]:
    """The text of what was found, a line each, behind the speaker's name, and where each piece stands in it."""
    kept = [(kind, cleaned, block) for kind, text, block in found if (cleaned := _clean(text)).strip()]
    if not kept:
        return "", ()
    texts = [text for _, text, _ in kept]
    texts[-1] = texts[-1].rstrip()
    texts[0] = texts[0].lstrip()
    if (name := name.strip()) and not texts[0].startswith(f"{name}: "):
        texts[0] = _clean(f"{name}: {texts[0]}").lstrip()
    pieces: list[Piece] = []
    at = 0
    for (kind, _, block), text in zip(kept, texts, strict=True):
        pieces.append(Piece(kind=kind, start=at, end=at + len(text), block=block))
        at += len(text) + 1
    return "\n".join(texts), tuple(pieces)


def listed_messages(given: object) -> Sequence[object]:
    """What a caller gave as messages, as a list: one, or several. Whether each of them is one is not looked at.

    Raises:
        InvalidMessage: it is neither.
    """
    if isinstance(given, list | tuple):
        return given
    if isinstance(given, Mapping):
        return (given,)
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        kind = type(given).__name__
        raise InvalidMessage(f"messages is a {kind}; pass a list of dicts with role and content", index=0)
    return tuple(given)


def is_item(body: Mapping[str, Any]) -> bool:
    """Whether it is an item of a session and no message: it has a `type` and no `role` (a call of OpenAI's Responses).

    It is kept as it is, and nobody reads what is in it.
    """
    return "role" not in body and isinstance(kind := body.get("type"), str) and bool(kind.strip())


def _blocks(content: Any) -> Sequence[Block]:
    if content is None or isinstance(content, str):
        return ()
    if not isinstance(content, list):
        raise InvalidMessage(f"content is a {type(content).__name__}; pass text or a list of parts")
    for i, block in enumerate(content):
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise InvalidMessage(f"content[{i}] is not a part: a dict with a `type`")
    return content


def _shape(body: Block, role: str, blocks: Sequence[Block]) -> Shape:
    calls = body.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        raise InvalidMessage(f"tool_calls is a {type(calls).__name__}; pass a list")
    if (calls or body.get("function_call")) and any(b["type"] in _CALLS for b in blocks):
        raise InvalidMessage("calls stand both in `tool_calls` and in tool_use blocks; keep one of the two")
    if calls or body.get("function_call") or role not in {"user", "assistant"}:
        return "openai"
    if any(b["type"] in _ANTHROPIC or b["type"].endswith("_tool_result") for b in blocks):
        return "anthropic"
    return "openai"


def _is_result(body: Block, role: str, blocks: Sequence[Block]) -> bool:
    if role in {"tool", "function"}:
        return body.get("content") is not None
    return any(b["type"].endswith("tool_result") for b in blocks)


# --------------------------------------------------------------------------------------------- OpenAI


def _openai(body: Block, role: str) -> Iterator[_Found]:
    if role == "tool":
        _need(body, "tool_call_id", "a tool message")
    if role == "function":
        _need(body, "name", "a function message")
    content = body.get("content")
    if isinstance(content, str):
        yield "words", content, None
    else:
        for at, part in enumerate(content or ()):
            yield "words" if part["type"] in _WORDS else "attachment", _part(part), at
    if isinstance(refusal := body.get("refusal"), str):
        yield "words", refusal, None
    if isinstance(audio := body.get("audio"), dict):
        yield "words" if role == "assistant" else "attachment", _first(audio, "transcript") or "[audio]", None
    for i, call in enumerate(body.get("tool_calls") or ()):
        yield "call", _openai_call(call, i), None
    if isinstance(call := body.get("function_call"), dict):
        _need(call, "name", "function_call")
        yield "call", _call(call["name"], call.get("arguments")), None


def _openai_call(call: Any, index: int) -> str:
    where = f"tool_calls[{index}]"
    if not isinstance(call, dict):
        raise InvalidMessage(f"{where} is not a dict")
    _need(call, "id", where)
    function = call.get("function", call.get("custom"))
    if not isinstance(function, dict):
        raise InvalidMessage(f"{where} has no `function` with a name and arguments")
    _need(function, "name", f"{where}.function")
    return _call(function["name"], function.get("arguments", function.get("input")))


def _part(part: Block) -> str:
    match part["type"]:
        case "text" | "input_text" | "output_text":
            return _text_of(part, "text")
        case "refusal":
            return _text_of(part, "refusal")
        case "image_url" | "input_image":
            image = part.get("image_url")
            url = image.get("url") if isinstance(image, dict) else image
            return _mark("image", _first(part, "alt", "alt_text", "title") or _host(url))
        case "input_audio":
            return _first(part, "transcript") or "[audio]"
        case "file" | "input_file":
            file = part.get("file")
            return _mark("file", _first(file if isinstance(file, dict) else part, "filename", "file_id"))
        case _:
            return _block(part)


# --------------------------------------------------------------------------------------------- Anthropic


def _anthropic(role: str, blocks: Sequence[Block]) -> Iterator[_Found]:
    for i, block in enumerate(blocks):
        where = f"content[{i}]"
        kind = block["type"]
        if kind in _CALLS:
            if role != "assistant":
                raise InvalidMessage(f"{where} is a {kind} of the {role}; only the assistant makes calls")
            _need(block, "id", where)
            _need(block, "name", where)
        elif kind == "tool_result":
            if role != "user":
                raise InvalidMessage(f"{where} is a tool_result of the {role}; results stand in user messages")
            _need(block, "tool_use_id", where)
        yield _kind(kind), _block(block), i


def _kind(kind: str) -> PieceKind:
    if kind in _CALLS:
        return "call"
    return "words" if kind in _WORDS else "result" if kind.endswith("tool_result") else "attachment"


def _block(block: Block) -> str:
    kind: str = block["type"]
    match kind:
        case "text":
            return _text_of(block, "text")
        case "thinking" | "redacted_thinking":
            return ""
        case "tool_use" | "server_tool_use" | "mcp_tool_use":
            return _call(_first(block, "name") or kind, block.get("input"))
        case "image":
            return _mark("image", _first(block, "alt", "title") or _source(block))
        case "document":
            return "\n".join(filter(None, [_mark("document", _first(block, "title") or _source(block)), _inner(block)]))
        case _ if kind.endswith("tool_result"):
            result = _nested(block.get("content"))
            return f"[error] {result}".rstrip() if block.get("is_error") is True else result
        case _:
            known = [_first(block, "title"), _first(block, "text"), _nested(block.get("content"))]
            return "\n".join(filter(None, known)) or _mark(kind.replace("_", " "), _host(block.get("url")))


def _source(block: Block) -> str:
    source = block.get("source")
    if not isinstance(source, dict):
        return ""
    return _host(source.get("url")) or _first(source, "media_type")


def _inner(block: Block) -> str:
    """The words of a document that was passed as text; a PDF's bytes are not words."""
    source = block.get("source")
    if not isinstance(source, dict):
        return ""
    return _first(source, "data") if source.get("type") == "text" else _nested(source.get("content"))


def _nested(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return ""
    pieces = (_part(b) if isinstance(b, dict) and isinstance(b.get("type"), str) else "" for b in content)
    return "\n".join(piece for piece in pieces if piece.strip())


# --------------------------------------------------------------------------------------------- both


def _need(holder: Block, key: str, where: str) -> None:
    value = holder.get(key)
    if not isinstance(value, str) or not value.strip():
        raise InvalidMessage(f"{where} has no `{key}`")


def _text_of(part: Block, key: str) -> str:
    value = part.get(key)
    if not isinstance(value, str):
        raise InvalidMessage(f"a part of type {part['type']} has no `{key}`")
    return value


def _first(holder: Block, *keys: str) -> str:
    return next((v for key in keys if isinstance(v := holder.get(key), str) and v.strip()), "")


def _call(name: str, arguments: Any) -> str:
    if not isinstance(arguments, str):
        arguments = "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
    return f"{name}({arguments})"


def _host(url: Any) -> str:
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        return ""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _mark(kind: str, what: str) -> str:
    return f"[{kind}: {what}]" if what else f"[{kind}]"


def _clean(text: str) -> str:
    if "base64," in text:
        text = _DATA_URL.sub(lambda found: _mark("data", found[1] or ""), text)
    return _UNSTORABLE.sub("\ufffd", text)
