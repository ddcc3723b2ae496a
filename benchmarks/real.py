"""A real model on real windows: how many replies are taken, what of them stands in the lines, seconds and tokens.

The model is named in one line, as for `consolidation`. Each reply is kept in a folder under the request it answers, so
that a run that was interrupted goes on, and a later one replays it; `keep` is a folder of yours.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.measure import Row, log
from memhold import Memhold
from memhold.ports.models import ChatModel, ChatReply, ChatRequest, ToolCall, Usage
from memhold.providers.chat import chat_model
from memhold.providers.naming import entry_in_line
from memhold.wiring.system import SystemClock

__all__ = ["Recorded", "Window", "demo_windows", "everyday_windows", "run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """One session of one user, and the values that its gold statements hold, where somebody wrote them down."""

    user: str
    session: str
    messages: tuple[Mapping[str, Any], ...]


@dataclass(slots=True)
class Recorded:
    """A `ChatModel` that asks another once a request and keeps what it answered, with the seconds it took."""

    model: ChatModel | None
    keep: Path
    seconds: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name of the model that it asks."""
        return self.model.name if self.model is not None else "recorded"

    async def chat(self, request: ChatRequest) -> ChatReply:
        """The recorded reply, else that of the model.

        Raises:
            LookupError: nothing was recorded, and there is no model.
        """
        shown = json.dumps([request.system, [turn.text for turn in request.turns], request.max_tokens])
        path = self.keep / f"{blake2b(shown.encode(), digest_size=12).hexdigest()}.json"
        if not path.exists():
            if self.model is None:
                raise LookupError(path.name)
            begun = perf_counter()
            reply = await self.model.chat(request)
            path.write_text(json.dumps(_plain(reply) | {"seconds": perf_counter() - begun}), encoding="utf-8")
        held = json.loads(path.read_text(encoding="utf-8"))
        self.seconds.append(held.pop("seconds"))
        self.tokens.append((held["usage"][0] or 0) + (held["usage"][1] or 0))
        return _reply(self.name, held)


def _plain(reply: ChatReply) -> dict[str, Any]:
    calls = [[call.id, call.name, call.arguments] for call in reply.tool_calls]
    usage = [reply.usage.input_tokens, reply.usage.output_tokens]
    return {"text": reply.text, "calls": calls, "finish": reply.finish, "usage": usage}


def _reply(model: str, held: Mapping[str, Any]) -> ChatReply:
    calls = tuple(ToolCall(id=one, name=name, arguments=given) for one, name, given in held["calls"])
    usage = Usage(input_tokens=held["usage"][0], output_tokens=held["usage"][1])
    return ChatReply(model=model, text=held["text"], tool_calls=calls, finish=held["finish"], usage=usage)


def demo_windows() -> list[Window]:
    """The five sessions of the bundled conversation."""
    text = files("memhold").joinpath("data/demo_conversation.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    named = dict.fromkeys(row["session"] for row in rows)
    return [
        Window(user="mina", session=name, messages=tuple(_message(row) for row in rows if row["session"] == name))
        for name in named
    ]


def everyday_windows(path: Path, most: int) -> list[Window]:
    """The first sessions of each world in turn: `[{name, sessions: [{id, messages: [{role, content, time}]}]}]`."""
    worlds = json.loads(path.read_text(encoding="utf-8"))
    found = [
        Window(
            user=world["name"],
            session=session["id"],
            messages=tuple(_message(one | {"event_time": one["time"]}) for one in session["messages"]),
        )
        for place in range(max(len(world["sessions"]) for world in worlds))
        for world in worlds
        for session in world["sessions"][place : place + 1]
    ]
    return found[:most]


def _message(row: Mapping[str, Any]) -> dict[str, Any]:
    body = {name: row[name] for name in ("role", "content", "tool_calls", "tool_call_id", "name") if name in row}
    return body | {"event_time": datetime.fromisoformat(row["event_time"])}


@dataclass(slots=True, kw_only=True)
class _Seen:
    windows: int = 0
    taken: int = 0
    said: int = 0
    inferred: int = 0
    ungrounded: int = 0
    unreadable: int = 0


def run(line: str, keep: Path, windows: Sequence[Window]) -> Iterator[Row]:
    """One row a figure; what is measured is told while it is."""
    keep.mkdir(parents=True, exist_ok=True)
    entry = replace(entry_in_line(line), local=True, timeout=3_000.0)
    model = Recorded(chat_model(entry, keys=lambda _: None, clock=SystemClock()), keep)
    seen = _Seen()
    with Memhold.open("memory://", worker=False, consolidation=model, embedding="none", chain_seconds=6_000.0) as mem:
        for window in windows:
            seen.windows += 1
            seen.taken += _consolidated(mem, window)
            log.info("%d of %d windows, %d taken", seen.windows, len(windows), seen.taken)
        for user in dict.fromkeys(window.user for window in windows):
            _count(mem, user, seen)
    yield from _rows(seen, model)


def _consolidated(mem: Memhold, window: Window) -> bool:
    scope = mem.scope(user=window.user, session=window.session)
    scope.add(list(window.messages))
    return bool(scope.consolidate().summaries)


def _count(mem: Memhold, user: str, seen: _Seen) -> None:
    scope = mem.scope(user=user)
    made = [one for one in scope.list(kinds=["fact", "note"], limit=1_000).items if one.origin == "model"]
    inferred = sum(one.metadata.get("standing") == "inferred" for one in made)
    seen.inferred, seen.said = seen.inferred + inferred, seen.said + len(made) - inferred
    for change in scope.changes(limit=1_000).items:
        seen.ungrounded += len(change.detail.get("ungrounded", ()))
        seen.unreadable += len(change.detail.get("unreadable", ()))


def _rows(seen: _Seen, model: Recorded) -> Iterable[Row]:
    share = seen.taken / seen.windows if seen.windows else 0.0
    yield Row(name="windows taken", value=f"{seen.taken} of {seen.windows}", ratio=share, bar=13 / 15, at_most=False)
    yield Row(name="facts and notes told as said", value=str(seen.said))
    yield Row(name="named as inferred", value=str(seen.inferred))
    yield Row(name="left out: no line says it", value=str(seen.ungrounded))
    yield Row(name="left out: cannot be read", value=str(seen.unreadable))
    if model.seconds:
        yield Row(name="seconds a call, median", value=f"{sorted(model.seconds)[len(model.seconds) // 2]:.0f}")
        yield Row(name="tokens a call, mean", value=f"{sum(model.tokens) / len(model.tokens):.0f}")
