"""What somebody may have meant by a name that is not there: one who mistyped it, or who knows another system."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

__all__ = ["WORDS", "Hinting", "did_you_mean", "meant"]

WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "search": "recall", "query": "recall", "retrieve": "recall", "find": "recall", "get_all": "list",
        "get_memories": "list", "delete": "forget", "delete_all": "forget", "remove": "forget", "clear": "forget",
        "reset": "forget", "update": "correct", "edit": "correct", "save": "remember", "insert": "remember",
        "store": "remember", "add_messages": "add", "add_message": "add", "get_messages": "messages",
        "get_context": "context", "summarize": "consolidate", "top_k": "limit", "k": "limit", "n_results": "limit",
        "user_id": "user", "agent_id": "agent", "run_id": "session", "session_id": "session", "filters": "metadata",
        "text": "query", "max_tokens": "budget", "memory_id": "item_id", "dedupe": "compact", "purge": "forget",
    }
)  # fmt: skip
"""Names that other systems of memory have for what is here under another."""


def meant(name: str, known: Collection[str], most: int = 2) -> tuple[str, ...]:
    """Which of the known names a name that is not one of them may stand for, the likeliest first."""
    if (word := WORDS.get(name.lower(), "")) in known:
        return (word,)
    return tuple(get_close_matches(name, known, n=most, cutoff=0.7))


def did_you_mean(name: str, known: Collection[str]) -> str:
    """The question that asks, to be put behind a message; empty where nothing is near."""
    near = meant(name, known)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""


class Hinting:
    """An object that says, where it lacks a name, what may have been meant."""

    __slots__ = ()

    if not TYPE_CHECKING:  # a checker knows what is there

        def __getattr__(self, name: str) -> object:
            known = () if name.startswith("_") else [one for one in dir(type(self)) if one[0] != "_"]
            raise AttributeError(f"{type(self).__name__!r} has no {name!r}{did_you_mean(name, known)}", name=name)
