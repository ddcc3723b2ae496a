"""Messages that are too long for their place: the middle goes, with a mark and a handle to read it whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memhold.messages.window import Body
from memhold.text.token_estimate import Count, estimate_message, estimate_tokens

__all__ = ["LEAST_KEPT", "shorten_message", "shorten_text"]

HEAD_SHARE = 0.6
"""How much of what is kept stands before the mark: what a message is about comes first."""
LEAST_PIECE = 100
"""A longer piece is first brought down to so many tokens; images go next, and only then what is shorter."""
LEAST_KEPT = 40
"""Characters of a text that stay beside the mark in any case."""
ROUNDS = 64
_IMAGES = frozenset({"image", "image_url", "input_image"})
_FILES: Mapping[str, str] = {
    "document": "a document",
    "file": "a file",
    "input_file": "a file",
    "input_audio": "a recording",
}
Path = tuple[str | int, ...]


def mark(gone: int, handle: str | None) -> str:
    """What stands where characters were left out; with a handle it says how to read them."""
    how = f'; read_message("{handle}") gives the whole' if handle else ""
    return f"\n[… {gone:,} characters left out{how} …]\n"


def shorten_text(text: str, limit: int, *, handle: str | None = None, count: Count = estimate_tokens) -> str:
    """The text in at most `limit` tokens of `count`: its beginning, a mark, its end.

    A text that fits comes back as it is. The mark and the first and last words are kept whatever the limit, so that
    nothing vanishes unseen and what is left can be recognised.
    """
    # Nothing costs more than its bytes and one, and no character has more than four.
    if len(text) * 4 < limit or (text.isascii() and len(text) < limit):
        return text
    if not _far_over(text, limit, count) and count(text) <= limit:
        return text
    high = len(text) - 1
    low = min(LEAST_KEPT, high)
    # From below: of a text of megabytes no more is counted than twice what is kept.
    while (more := max(2 * low, limit)) < high:
        if count(_cut(text, more, handle)) > limit:
            high = more - 1
            break
        low = more
    while low < high:
        middle = (low + high + 1) // 2
        if count(_cut(text, middle, handle)) <= limit:
            low = middle
        else:
            high = middle - 1
    return _cut(text, low, handle)


def _far_over(text: str, limit: int, count: Count) -> bool:
    """Whether the beginning of a long text alone costs twice as much: the whole need not be counted then."""
    begins = 16 * max(limit, LEAST_KEPT)
    return len(text) > begins and count(text[:begins]) > 2 * limit


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
    found, spent = body, set[Path]()
    rooms: dict[Path, int] = {}
    pieces: dict[Path, int] | None = None
    for _ in range(ROUNDS):
        over = cost(found) - limit
        if over <= 0:
            return found
        if pieces is None:  # a message may have thousands of them, of which a round changes one
            pieces = dict(_pieces(found, (), count))
        left = [(size, path) for path, size in pieces.items() if path not in spent]
        if not left:
            return found
        size, path = max(left, key=lambda piece: piece[0])
        # What is cut twice is cut from the whole both times, so that its mark counts all that is gone.
        room = rooms.get(path, size)
        rooms[path] = max(room - over, LEAST_PIECE if room > LEAST_PIECE else 0)
        less = _with(found, path, _less(_at(body, path), path, rooms[path], handle=handle, count=count))
        if cost(less) < cost(found):
            found = less
            new = _at(found, path)
            if isinstance(new, str) or path[-1] == "input":
                pieces[path] = count(new if isinstance(new, str) else json.dumps(new, ensure_ascii=False))
            else:
                del pieces[path]
                pieces.update(_pieces(new, path, count))
        else:  # its mark is no shorter than what it would stand for
            spent.add(path)
    return found


def _pieces(value: Any, path: Path, count: Count) -> Sequence[tuple[Path, int]]:
    """Where a message can be shortened, and what stands there in tokens."""
    if isinstance(value, Mapping):
        kind = value.get("type")
        if kind in _IMAGES:
            return [(path, LEAST_PIECE + 1)]
        if kind in _FILES:
            return [(path, estimate_message({"content": [value]}, count))]
        if kind in {"thinking", "redacted_thinking"}:
            return []
        found: list[tuple[Path, int]] = []
        for key in ("content", "text", "arguments", "input", "tool_calls", "function", "function_call", "refusal"):
            inner = value.get(key)
            if key == "input" and isinstance(inner, Mapping):
                found.append(((*path, key), count(json.dumps(inner, ensure_ascii=False))))
            elif isinstance(inner, str):
                found.append(((*path, key), count(inner)))
            elif isinstance(inner, Mapping | list | tuple):
                found += _pieces(inner, (*path, key), count)
        return found
    if isinstance(value, list | tuple):
        return [piece for at, inner in enumerate(value) for piece in _pieces(inner, (*path, at), count)]
    return []


def _at(value: Any, path: Path) -> Any:
    """What stands at a place of a message; None where it is text that took an image's place."""
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else value[step]
    return value


def _with(value: Any, path: Path, new: Any) -> Any:
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(value, Mapping):
        return {**value, str(step): _with(value[step], rest, new)}
    return [_with(inner, rest, new) if at == step else inner for at, inner in enumerate(value)]


def _less(value: Any, path: Path, room: int, *, handle: str | None, count: Count) -> Any:
    if path[-1] in {"arguments", "input"}:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        said = {"shortened": shorten_text(text, room, handle=handle, count=count)}
        return json.dumps(said, ensure_ascii=False) if isinstance(value, str) else said
    if isinstance(value, Mapping):
        what = _FILES.get(value["type"], "an image")
        how = f'; read_message("{handle}") tells of it' if handle else ""
        return {"type": "text", "text": f"[{what} is left out for want of room{how}]"}
    return shorten_text(value or "", room, handle=handle, count=count)
