"""The last link without a model: a small deterministic extractor that answers the same request. Marked, and redone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from memhold.languages.tables import languages
from memhold.ports.models import ChatReply, ChatRequest, ToolCall, Usage
from memhold.values.records import PEOPLE

__all__ = ["RulesModel", "extract"]

_LINE = re.compile(
    r"^\[m(?P<id>\d+) [A-Z][a-z]{2} (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d) (?P<writer>\w++)[^\]\n]*+\]"
    r" (?P<text>.*(?:\n  .*)*)",
    re.MULTILINE,
)
_SENTENCE = re.compile(r"[^.!?\n。]+[.!?。]?")
_QUOTE = 160


@dataclass(frozen=True, slots=True)
class _Said:
    id: str
    writer: str
    time: str
    text: str


class RulesModel:
    """A `ChatModel` without a model: answers a consolidation request by rules, at once and always alike.

    It takes only what people say of themselves in plain words, and quotes where the conversation began and ended. Its
    results are marked with the origin `rules` and are done again by a model when one answers.
    """

    def __init__(self, name: str = "rules") -> None:
        self._name = name

    @property
    def name(self) -> str:
        """The name of its catalog entry."""
        return self._name

    async def chat(self, request: ChatRequest) -> ChatReply:
        """The demanded call, filled by rules."""
        arguments = extract("\n".join(turn.text for turn in request.turns))
        call = ToolCall(id="call_0", name=request.tool.name if request.tool else "", arguments=arguments)
        usage = Usage(input_tokens=0, output_tokens=0)
        return ChatReply(model=self._name, text="", tool_calls=(call,), finish="tool", usage=usage)


def extract(text: str) -> dict[str, Any]:
    """The arguments of `save_memory` that the lines of a request give."""
    lines = [_Said(m["id"], m["writer"], m["time"], m["text"].replace("\n  ", "\n")) for m in _LINE.finditer(text)]
    people = [line for line in lines if line.writer in PEOPLE]
    if not lines:
        return {"history_entry": "", "facts": [], "notes": [], "nothing_to_remember": "no lines were shown"}
    return {"history_entry": _entry(lines, people), "facts": list(_facts(people)), "notes": []}


def _entry(lines: Sequence[_Said], people: Sequence[_Said]) -> str:
    spoken = people or lines
    first, last = spoken[0], spoken[-1]
    text = f"[{lines[0].time}] “{_quote(first.text)}”"
    return text if first is last else f"{text} … [{last.time}] “{_quote(last.text)}”"


def _quote(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _QUOTE else f"{flat[:_QUOTE].rsplit(' ', 1)[0]} …"


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    told = [one for table in languages().values() for one in table["rules"]["tells"]]
    return tuple((re.compile(one["said"], re.IGNORECASE), one["attribute"]) for one in told)


def _facts(people: Sequence[_Said]) -> Iterator[dict[str, Any]]:
    for line in people:
        for sentence in _SENTENCE.findall(line.text[:20_000]):
            if sentence.rstrip().endswith("?"):
                continue
            for pattern, name in _patterns():
                found = pattern.search(sentence)
                value = found["value"].strip(" \"'*") if found else ""
                if found is None or not value:
                    continue
                yield {
                    "subject": "user",
                    "attribute": name or found["attribute"].strip(),
                    "value": value,
                    "operation": "add" if name == "allergy" else "set",
                    "importance": "high" if name == "allergy" else "mid",
                    "sources": [f"m{line.id}"],
                    "quote": sentence.strip(),
                }
                break
