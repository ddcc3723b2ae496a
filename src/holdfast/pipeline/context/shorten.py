"""Messages that are too long for their place: the middle goes, with a mark and a handle to read it whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from holdfast.pipeline.tokens import Count, estimate_message, estimate_tokens
from holdfast.pipeline.window import Body

__all__ = ["shorten_message", "shorten_text"]

HEAD_SHARE = 0.6
"""How much of what is kept stands before the mark: what a message is about comes first."""
LEAST_PIECE = 100
"""A longer piece is first brought down to so many tokens; images go next, and only then what is shorter."""
ROUNDS = 64
_IMAGES = frozenset({"image", "image_url", "input_image"})


def mark(gone: int, handle: str | None) -> str:
    """What stands where characters were left out; with a handle it says how to read them."""
    how = f'; read_message("{handle}") gives the whole' if handle else ""
    return f"\n[… {gone:,} characters left out{how} …]\n"


def shorten_text(text: str, limit: int, *, handle: str | None = None, count: Count = estimate_tokens) -> str:
    """The text in at most `limit` tokens of `count`: its beginning, a mark, its end.

    A text that fits comes back as it is. The mark itself is kept whatever the limit, so that nothing vanishes unseen.
    """
    # Nothing costs more than its bytes and one, and no character has more than four.
    if len(text) * 4 < limit or (text.isascii() and len(text) < limit) or count(text) <= limit:
        return text
    low, high = 0, len(text) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if count(_cut(text, middle, handle)) <= limit:
            low = middle
        else:
            high = middle - 1
    return _cut(text, low, handle)


def _cut(text: str, kept: int, handle: str | None) -> str:
    head = int(kept * HEAD_SHARE)
    tail = kept - head
    return f"{text[:head]}{mark(len(text) - kept, handle)}{text[len(text) - tail :] if tail else ''}".strip("\n")


def shorten_message(
    body: Body,
    limit: int,
    *,
    handle: str | None = None,
    cost: Callable[[Body], int] = estimate_message,
    count: Count = estimate_tokens,
) -> Body:
    """The message in about `limit` tokens: its longest pieces are shortened first, images when no long text is left.

    Pieces are texts, tool results and the arguments of calls (which become an object that says so: half a JSON text is
    none). Calls, results and their ids stay, so the message pairs as before; it may stay over a limit that is smaller
    than its bones. A message that fits comes back as the same object.
    """
    found = body
    for _ in range(ROUNDS):
        over = cost(found) - limit
        if over <= 0:
            return found
        pieces = [(size, path) for path, size in _pieces(found, (), count) if size > 0]
        if not pieces:
            return found
        size, path = max(pieces, key=lambda piece: piece[0])
        room = max(size - over, LEAST_PIECE if size > LEAST_PIECE else 0)
        found = _changed(found, path, partial(_less, room=room, handle=handle, count=count))
    return found


Path = tuple[str | int, ...]


def _pieces(value: Any, path: Path, count: Count) -> Sequence[tuple[Path, int]]:
    """Where a message can be shortened, and what is to be won there; marks are no longer worth anything."""
    if isinstance(value, Mapping):
        kind = value.get("type")
        if kind in _IMAGES:
            return [(path, LEAST_PIECE + 1)]
        if kind in {"thinking", "redacted_thinking"}:
            return []
        found: list[tuple[Path, int]] = []
        for key in ("content", "text", "arguments", "input", "tool_calls", "function", "function_call", "refusal"):
            inner = value.get(key)
            if key == "input" and isinstance(inner, Mapping):
                found.append(((*path, key), _worth(json.dumps(inner, ensure_ascii=False), count)))
            elif isinstance(inner, str):
                found.append(((*path, key), _worth(inner, count)))
            elif isinstance(inner, Mapping | list | tuple):
                found += _pieces(inner, (*path, key), count)
        return found
    if isinstance(value, list | tuple):
        return [piece for at, inner in enumerate(value) for piece in _pieces(inner, (*path, at), count)]
    return []


def _worth(text: str, count: Count) -> int:
    size = count(text)
    return size if "characters left out" not in text or size > 80 else 0


def _changed(value: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    if not path:
        return change(value)
    step, rest = path[0], path[1:]
    if isinstance(value, Mapping):
        key = str(step)
        new = _arguments(value[key], change) if key in {"arguments", "input"} else _changed(value[key], rest, change)
        return {**value, key: new}
    return [_changed(inner, rest, change) if at == step else inner for at, inner in enumerate(value)]


def _arguments(value: Any, change: Callable[[Any], Any]) -> Any:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    said = {"shortened": change(text)}
    return json.dumps(said, ensure_ascii=False) if isinstance(value, str) else said


def _less(value: Any, room: int, handle: str | None, count: Count) -> Any:
    if isinstance(value, str):
        return shorten_text(value, max(0, room), handle=handle, count=count)
    how = f'; read_message("{handle}") tells of it' if handle else ""
    return {"type": "text", "text": f"[an image is left out for want of room{how}]"}
