"""The values of a window, what every provider shape shares, and the check that messages are messages.

A window is the list of messages that goes to a provider. `memhold.messages.tool_pairs` makes it valid; the rules of
each shape stand in `openai_pairs` and `anthropic_pairs`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from memhold.values.errors import InvalidMessage
from memhold.values.records import Shape

__all__ = [
    "EMPTY_RESULT",
    "NO_RESULT",
    "OMITTED",
    "Body",
    "Dropped",
    "Entry",
    "Policy",
    "Repair",
    "RepairAction",
    "Window",
    "blank",
    "entries_of",
    "entry",
    "in_order",
    "is_system",
    "led_by",
    "owners",
    "quoted_result",
]

Body = Mapping[str, Any]
RepairAction = Literal["completed", "removed", "anchored", "inserted", "merged", "moved", "renamed", "cleaned"]

NO_RESULT = "[no result: the call was interrupted before its tool answered]"
"""What stands in for the result of an interrupted call; a model must not take it for an answer of the tool."""
EMPTY_RESULT = "[the tool returned nothing]"
"""What stands in for a tool result without content, which providers refuse."""
OMITTED = "[The earlier part of this conversation is not shown.]"
"""The user message that opens a window whose provider demands one, where the history has none to offer."""

_ROLES: Mapping[Shape, frozenset[str]] = {
    "openai": frozenset({"system", "developer", "user", "assistant", "tool", "function"}),
    "anthropic": frozenset({"system", "user", "assistant"}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """One thing that was changed so that the provider accepts the window.

    `index` is a position in the messages that were passed in. Actions: `completed` (a call got an explicit "no
    result"), `removed` (a message, a result without a call, or a call without a result), `anchored` (a result without
    a call became a user's text, as there was no other opening), `inserted` (an opening user message), `merged` (this
    message joined the one before it), `moved` (a system message or a result changed its place), `renamed` (a call's
    id) and `cleaned` (blanks, nulls and empty lists).
    """

    index: int
    action: RepairAction
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A message that a cut left out: its position in the messages that were passed in, and what forced it."""

    index: int
    reason: Literal["cut", "budget"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Messages that a provider accepts, and everything that was done to make them so.

    `messages` is a new list; a message that needed no repair is the very object that was passed in. `repairs` is
    empty when nothing was changed. `dropped` lists what a cut left out, oldest first; a message that a repair removed
    is in `repairs`.
    """

    messages: list[Body]
    repairs: tuple[Repair, ...] = ()
    dropped: tuple[Dropped, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the caller decides: whether a trailing call stays open, what an unanswered one gets, who opens."""

    keep_open: bool = False
    unanswered: Literal["complete", "remove"] = "complete"
    user_first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A message on its way through repair: where it came from, and where it will stand (`place` sorts them)."""

    index: int
    place: tuple[int, int]
    message: Body

    @property
    def role(self) -> str:
        """The message's role, which the parser has checked."""
        return str(self.message["role"])


def is_system(message: Body) -> bool:
    """Whether the message instructs (`system`, or OpenAI's `developer`): such a message never vanishes."""
    return message["role"] in {"system", "developer"}


def led_by(name: str | None, content: Any) -> Any:
    """Content behind the name of who speaks, for a shape that has no place for it; once, where it begins so already.

    It stands in front of the first text, behind the results that must come first; what is blank says nothing.
    """
    if name is None or blank(content):
        return content
    head = f"{name}:"
    if isinstance(content, str):
        return content if content.startswith(f"{head} ") else f"{head} {content}"
    parts = [*content]
    at = next((at for at, part in enumerate(parts) if part.get("type") in _SPOKEN), None)
    if at is None:
        results = sum(part.get("type") == "tool_result" for part in parts)
        return parts if results == len(parts) else [*parts[:results], {"type": "text", "text": head}, *parts[results:]]
    text = parts[at].get("text")
    if isinstance(text, str) and not text.startswith(f"{head} "):
        parts[at] = {**parts[at], "text": f"{head} {text}"}
    return parts


_SPOKEN = frozenset({"text", "input_text", "output_text"})


def in_order(entries: Sequence[Entry]) -> list[Entry]:
    """The entries by place; those that share a place keep the order in which they were given."""
    return sorted(entries, key=lambda entry: entry.place)


def blank(content: Any) -> bool:
    """Whether content says nothing: none, whitespace, or a list in which every part is blank text."""
    if content is None:
        return True
    if isinstance(content, str):
        return not content.strip()
    return all(part.get("type") == "text" and not part["text"].strip() for part in content)


def owners(calls: Sequence[str | None], results: Sequence[str | None]) -> list[int | None]:
    """Which call each result answers, by position; None for a result that answers none of them.

    Calls may share an id: the first result of that id then answers the first of them, and so on, and what is left
    over belongs to the last. A result without an id answers the first call that nothing else answers.
    """
    answered: set[int] = set()
    found: list[int | None] = [None] * len(results)
    same: dict[str, list[int]] = {}
    for number in reversed(range(len(calls))):
        same.setdefault(calls[number] or "", []).append(number)
    for position, result in enumerate(results):
        if result and (numbers := same.get(result)):
            found[position] = numbers.pop() if len(numbers) > 1 else numbers[0]
            answered.add(found[position] or 0)
    still_open = (number for number in range(len(calls)) if number not in answered)
    for position, result in enumerate(results):
        if not result:
            found[position] = next(still_open, None)
    return found


def quoted_result(text: str) -> str:
    """A tool's result as text for a user message: never empty, and never to be taken for a person's words."""
    return f"[Result of an earlier tool call] {text}" if text.strip() else "[Result of an earlier tool call: empty]"


def entry(index: int, message: Body) -> Entry:
    """A message at its place, one that was checked before."""
    return Entry(index=index, place=(index, 0), message=message)


def entries_of(messages: Sequence[Body], shape: Shape) -> list[Entry]:
    """The messages as entries, each one checked to be of the shape.

    Raises:
        InvalidMessage: a message is no mapping, has an unknown role, or holds content of another type than its shape
            has; `index` says which one.
    """
    found = []
    for index, message in enumerate(messages):
        problem = _problem(message, shape)
        if problem is not None:
            raise InvalidMessage(f"message {index} {problem}", index=index)
        found.append(entry(index, message))
    return found


def _problem(message: Any, shape: Shape) -> str | None:
    if not isinstance(message, Mapping):
        return f"is a {type(message).__name__}; pass a dict with a role and content"
    role = message.get("role")
    if not isinstance(role, str) or role not in _ROLES[shape]:
        known = ", ".join(sorted(_ROLES[shape]))
        return f"has the role {role!r}, which the {shape} shape does not know; use one of {known}"
    problem = _content_problem(message.get("content"))
    if problem is not None:
        return problem
    calls = message.get("tool_calls")
    if calls is not None and (not isinstance(calls, list | tuple) or not all(isinstance(c, Mapping) for c in calls)):
        return "has tool_calls that are no list of dicts"
    if not isinstance(message.get("function_call"), Mapping | None):
        return "has a function_call that is no dict"
    ids = [message.get("tool_call_id"), *(call.get("id") for call in calls or ())]
    return _id_problem(ids)


def _content_problem(content: Any) -> str | None:
    if isinstance(content, str | None):
        return None
    if not isinstance(content, list | tuple):
        return f"has content of type {type(content).__name__}; use text or a list of parts"
    for part in content:
        if not isinstance(part, Mapping) or not isinstance(part.get("type"), str):
            return "has a content part that is no dict with a type"
        if part["type"] == "text" and not isinstance(part.get("text"), str):
            return "has a text part without text"
        if part["type"] == "tool_result":
            problem = _content_problem(part.get("content"))
            if problem is not None:
                return problem
        problem = _id_problem([part.get("id"), part.get("tool_use_id")])
        if problem is not None:
            return problem
    return None


def _id_problem(ids: Sequence[Any]) -> str | None:
    return None if all(isinstance(value, str | None) for value in ids) else "has an id that is no text"
