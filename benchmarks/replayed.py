"""A careful model's replies about everyday sessions, played again: what consolidation is worth without asking a model.

A file has `worlds`: `name` and `sessions` (`id`, `entry`, `facts`, `notes`); an item names its `source`, the id of a
message, and may name in `updates` the value that it takes the place of.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.worlds import World
from memhold.ports.models import ChatReply, ChatRequest, ToolCall, Usage
from memhold.values.errors import ModelError

__all__ = ["Replayed", "read_replies"]

_LINE = re.compile(r"^\[m(\d+) [^\]\n]*\] (.*(?:\n  .*)*)", re.MULTILINE)
_KNOWN = re.compile(r"^\[(f\d+)\] .* \| (.*)$", re.MULTILINE)


def read_replies(paths: Sequence[Path]) -> dict[str, list[Mapping[str, Any]]]:
    """The replies about each world's sessions, by its name."""
    files = (json.loads(path.read_text(encoding="utf-8")) for path in paths)
    return {world["name"]: world["sessions"] for file in files for world in file["worlds"]}


class Replayed:
    """A `ChatModel` that knows one world: asked about a session it gives the reply that was kept about it."""

    name = "replayed"

    def __init__(self, world: World, sessions: Sequence[Mapping[str, Any]]) -> None:
        self._texts = {_flat(one.text): one.id for one in world.said}
        self._session_of = {one.id: one.session for one in world.said}
        self._sessions = {session["id"]: session for session in sessions}

    async def chat(self, request: ChatRequest) -> ChatReply:
        """The reply about the session whose lines are shown, with their marks for the ids of its messages.

        Raises:
            ModelError: no session of this world is shown.
        """
        text = request.turns[0].text
        places = {self._texts[said]: f"m{n}" for n, line in _LINE.findall(text) if (said := _flat(line)) in self._texts}
        named = [self._session_of[one] for one in places]
        if request.tool is None or not named or named[0] not in self._sessions:
            raise ModelError("not kept", model=self.name, cls="next", reason="not kept")
        session, known = self._sessions[named[0]], {_flat(value): place for place, value in _KNOWN.findall(text)}
        given = {
            "history_entry": session["entry"],
            "facts": [_item(one, places, known) for one in session["facts"] if one["source"] in places],
            "notes": [_item(one, places, known) for one in session["notes"] if one["source"] in places],
        }
        call = ToolCall(id="call_0", name=request.tool.name, arguments=given)
        usage = Usage(input_tokens=0, output_tokens=0)
        return ChatReply(model=self.name, text="", tool_calls=(call,), finish="tool", usage=usage)


def _item(one: Mapping[str, Any], places: Mapping[str, str], known: Mapping[str, str]) -> dict[str, Any]:
    return {**one, "sources": [places[one["source"]]], "target": known.get(_flat(one.get("updates") or ""))}


def _flat(text: str) -> str:
    return " ".join(text.split())
