"""What `wrap` has to know of a provider's API: what a request says, where memory goes, what a reply says."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["API", "Body", "Gathering", "Known", "Request", "interrupted", "json_value", "without_prefill", "words"]

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What memory adds to a request, in the order in which a context shows it; messages are of the OpenAI chat shape.

    `standing` is what the user told and wants, for the instructions; `noted` stands before the conversation, as data;
    `earlier` are the turns of the session that the program does not send itself; `recalled` stands before the newest
    message of the user's.
    """

    standing: str = ""
    noted: tuple[str, ...] = ()
    earlier: tuple[Body, ...] = ()
    recalled: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """What was recalled, in fences."""
        return (self.standing, *self.noted, *self.recalled)


class Gathering(Protocol):
    """A reply that comes in pieces."""

    def take(self, event: Body) -> None:
        """Take the next piece of the stream."""
        ...

    def reply(self) -> Body | None:
        """What was said up to here: text as far as it came, and calls that came whole. None where nothing was said."""
        ...


class API(Protocol):
    """One API of a provider, as its SDK posts it: plain JSON, by a path."""

    path: str
    held_by: tuple[str, ...]
    """The fields of a request that say that the provider holds the turns before it, which are in it no more."""

    def instructions(self, request: Body) -> str:
        """The application's own instructions, which are not kept; only their length counts."""
        ...

    def said(self, request: Body) -> list[Body]:
        """The conversation in a request, oldest first, as messages that `add` takes; a prefilled reply is left out."""
        ...

    def knowing(self, request: Body, known: Known) -> dict[str, Any]:
        """The request with what memory adds; all that the program wrote stands in it as it was."""
        ...

    def reply(self, answer: Body) -> Body | None:
        """The assistant's message in an answer, its calls with it; None where there is none."""
        ...

    def gathering(self) -> Gathering:
        """Where the pieces of a streamed reply are gathered."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request as plain JSON, the API that it goes to, and the conversation in it."""

    api: API
    body: Body
    said: tuple[Body, ...]

    @classmethod
    def of(cls, api: API, body: Body) -> Request:
        """Read a request; raises where it is of no form that is known."""
        return cls(api=api, body=body, said=tuple(api.said(body)))

    def knowing(self, known: Known) -> dict[str, Any] | None:
        """The request with what memory adds; None where that is nothing, and it goes out as it came."""
        return self.api.knowing(self.body, known) if any(known.texts) or known.earlier else None


def json_value(written: str) -> Any:
    """A call's arguments, read; None where they are not whole. A call without arguments writes nothing, or `{}`."""
    try:
        return json.loads(written or "{}")
    except ValueError:
        return None


def interrupted(message: dict[str, Any] | None) -> dict[str, Any] | None:
    """A reply that was broken off, marked as such beside the message."""
    return None if message is None else message | {"metadata": {"interrupted": True}}


def without_prefill(messages: Sequence[Body]) -> list[Body]:
    """The messages up to the last that is no assistant's: what stands behind it is the beginning of the reply."""
    end = len(messages)
    while end and messages[end - 1].get("role") == "assistant":
        end -= 1
    return list(messages[:end])


def words(content: Any) -> str:
    """The words of a message's content: a text, or its parts of text."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    return "\n".join(
        part["text"] for part in content if isinstance(part, Mapping) and isinstance(part.get("text"), str)
    )
