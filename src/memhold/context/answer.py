"""What `context` returns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from memhold.context.convert import to_anthropic, to_openai
from memhold.context.strategies import SlotName
from memhold.messages.shapes import read_message
from memhold.messages.tool_pairs import repair_window
from memhold.messages.window import blank
from memhold.values.origins import shown_name
from memhold.values.records import Scope, Shape, speaker_of
from memhold.values.repr_parts import one_of

__all__ = ["Context", "LeftOut", "Part", "one_each"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Something that the context does not show, or not whole.

    `id` is a message's or a memory's (None for `count` messages that the journal does not hold, or that are so old that
    they were not even read: at most so many, as some may have been forgotten). Reasons: `cut` (the strategy wants no
    more of the window), `budget` (no room for it), `shortened` (its middle is left out; `read_message(id)` gives all of
    it), `unlikely` (not likely to help, where `fill` is "useful").
    """

    slot: SlotName
    id: str | None
    reason: Literal["cut", "budget", "shortened", "unlikely"]
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What a context tells of a further scope that the read named, in fences of its own: as `Context` has it.

    `used` is what it costs at most; nothing is shown of a scope for which there is no room.
    """

    scope: Scope
    used: int = 0
    shown: tuple[str, ...] = ()
    dropped: tuple[LeftOut, ...] = ()


def one_each(left: Iterable[LeftOut]) -> tuple[LeftOut, ...]:
    """Each message once, though it may have become several in the other shape; those without an id are counted."""
    counts: dict[LeftOut, int] = {}
    for one in left:
        counts[one] = counts.get(one, 0) + 1
    return tuple(replace(one, count=count) if one.id is None else one for one, count in counts.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The messages to send, and what was done to make them fit and valid.

    `messages` are of `shape` and valid for its provider; in the Anthropic shape the instructions stand apart in
    `system` (None in the OpenAI shape). `used` is what everything returned costs in tokens, never over
    `budget - reserve`, counted by `tokenizer`: `estimate`, or the vocabulary of the model's family. `strategy` is the
    one that was followed. `dropped` lists what was left out, `degraded` the slots that could not be asked, `repairs`
    what had to be changed for the provider. `damaged` are ids of rows that are damaged on the disk and were left out
    (`degraded` says so). `shown` are the ids of the memories and messages that stand in fences, in
    their order. `also` has the same of each further scope that was named; `degraded` and `damaged` are of all of them.
    """

    messages: tuple[Mapping[str, Any], ...]
    system: str | None
    shape: Shape
    strategy: str
    used: int
    budget: int
    reserve: int
    tokenizer: str = "estimate"
    shown: tuple[str, ...] = ()
    dropped: tuple[LeftOut, ...] = ()
    degraded: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    also: tuple[Part, ...] = ()

    def openai(self) -> list[dict[str, Any]]:
        """The messages in the OpenAI chat shape, instructions among them.

        Valid for that provider. In another shape than the context was made for, the estimate may differ a little.
        """
        if self.shape == "openai":
            return [dict(message) for message in self.messages]
        lead: list[Mapping[str, Any]] = [{"role": "system", "content": self.system}] if self.system else []
        converted = [one for message in self.messages for one in to_openai(message)]
        return [dict(message) for message in repair_window([*lead, *converted], "openai").messages]

    def anthropic(self) -> dict[str, Any]:
        """`messages` and, where there are instructions, `system`: keywords of an Anthropic messages request.

        Valid for that provider. In another shape than the context was made for, the estimate may differ a little.
        """
        if self.shape == "anthropic":
            spoken = [dict(message) for message in self.messages]
            return {"messages": spoken} | ({"system": self.system} if self.system else {})
        systems = [message for message in self.messages if message["role"] in {"system", "developer"}]
        converted = [
            to_anthropic(message) for message in self.messages if message["role"] not in {"system", "developer"}
        ]
        text = "\n\n".join(words for message in systems if (words := _words(message)))
        window = repair_window(converted, "anthropic").messages
        return {"messages": [dict(message) for message in window]} | ({"system": text} if text else {})

    def as_text(self) -> str:
        """Everything as one text, for a model or a person that takes no list of messages: who, then what.

        A line that looks like the next speaker's is set in: nothing that was said, recalled or returned by a tool can
        stand for another message.
        """
        said = [("system", self.system)] if self.system else []
        said += [_spoken(message) for message in self.messages]
        heads = _heads({who for who, _ in said})
        return "\n\n".join(f"{who}: {heads.sub(_SET_IN, words)}" for who, words in said)

    def __repr__(self) -> str:
        parts = [
            f"{one_of(len(self.messages), 'message')} of the {self.shape} shape",
            f"{self.used} of {self.budget} tokens",
            self.strategy,
        ]
        if self.dropped:
            parts.append(f"{sum(one.count for one in self.dropped)} left out")
        if self.degraded:
            parts.append(f"degraded: {', '.join(self.degraded)}")
        return f"<Context {'; '.join(parts)}>"


_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_SET_IN = "    "


def _heads(names: Iterable[str]) -> re.Pattern[str]:
    """Where a line begins as one of a role's, or of somebody who speaks here, would."""
    heads = "|".join(map(re.escape, sorted(_ROLES.union(names))))
    return re.compile(rf"(?<=[\n\r\x0b\x0c\x85\u2028\u2029])(?=(?:{heads}):)", re.IGNORECASE)


def _spoken(message: Mapping[str, Any]) -> tuple[str, str]:
    """Who speaks, by name where there is one, and their words."""
    words = _words(message)
    name = speaker_of(message["role"], message)
    if shown := shown_name(name):
        return shown, words.removeprefix(f"{name}: ")
    return message["role"], words


def _words(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str) and not message.get("tool_calls"):
        return content
    if blank(content) and not message.get("tool_calls") and not message.get("function_call"):
        return ""
    return read_message(message).text
