"""The conversation as part of a question: its last turns say what "it" and "there" are. Pure.

A question that names nothing, or points at what was said ("what did he say about it?"), is asked with the words of the
newest turn of the user's. One that names what it means stands alone: words of a conversation would only blur it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memhold.languages.tables import heard
from memhold.messages.fences import without_fences
from memhold.messages.records import records_in
from memhold.messages.shapes import listed_messages, read_message
from memhold.text.analysis import QueryWord, analyse_query
from memhold.values.answers import Query
from memhold.values.errors import InvalidInput, InvalidMessage
from memhold.values.records import PEOPLE, WrittenBy, speaker_of

__all__ = ["TURNS", "asked_with", "asker_of", "carried", "last_turns", "points_back", "turn_of"]

TURNS = 6
"""The last turns of a conversation that are looked at."""
MOST_CHARS = 2_000
"""Characters of a turn that are looked at, from its end."""
ENOUGH = 2
"""From so many words of its own on a question's words count more than those that it takes along."""
MOST_WORDS = 12
"""Words that are taken along, the first ones of the turn."""

_ENDS = re.compile(r"\s*(?:[?.!,]|$)")
_NEXT = re.compile(r"\s+([a-z]+)")


def last_turns(messages: Any, secret: bytes) -> tuple[str, ...]:
    """What the last turns of a conversation say, oldest first, each with whose it is ("user: …"), without fences.

    Only the last six are looked at, however many there are.

    Raises:
        InvalidInput, InvalidMessage: they are no messages.
    """
    if messages is None:
        return ()
    found: list[str] = []
    for body in listed_messages(messages)[-TURNS:]:
        if not isinstance(body, Mapping):
            raise InvalidInput(f"a message is a {type(body).__name__}; pass dicts with role and content")
        found += [turn_of(one.written_by, one.text) for one in records_in(read_message(without_fences(body, secret)))]
    return tuple(filter(None, found))


def turn_of(writer: WrittenBy, text: str) -> str:
    """What somebody said, as a turn of a conversation; empty of what nobody did, as of a tool's result."""
    whose = "user" if writer in PEOPLE else "assistant"
    return f"{whose}: {text[-MOST_CHARS:]}" if text.strip() and writer in {*PEOPLE, "assistant"} else ""


def asker_of(messages: Any, secret: bytes) -> str | None:
    """The name with which the newest message came in which the user's side of a conversation says something, if any."""
    for body in reversed(listed_messages(messages)) if messages is not None else ():
        if isinstance(body, Mapping) and (said := _said(body, secret)) is not None:
            return speaker_of(said, body)
    return None


def _said(body: Mapping[str, Any], secret: bytes) -> str | None:
    """The role of a message in which a person says something beside what it quotes; else None."""
    try:
        read = read_message(without_fences(body, secret))
    except InvalidMessage:
        return None
    return read.role if any(one.written_by in PEOPLE for one in records_in(read)) else None


def points_back(text: str) -> bool:
    """Whether a question leans on what was said: it has a pronoun that points, or no word that says something."""
    return bool(text.strip()) and (_points(text) or all(word.weak for word in analyse_query(text)))


def carried(text: str, turns: Sequence[str]) -> tuple[QueryWord, ...]:
    """The words that a question takes along where it points back: those of the user's newest turn.

    They count as its own where it has hardly any, else as little as function words.
    """
    own = analyse_query(text)
    newest = _newest(turns)
    if not newest or not points_back(text):
        return ()
    few = sum(not word.weak for word in own) < ENOUGH
    held = {word.terms for word in own}
    fresh = [word for word in analyse_query(newest) if not word.weak and word.terms not in held]
    return tuple(replace(word, weak=not few) for word in fresh[:MOST_WORDS])


def asked_with(query: Query) -> str:
    """The text whose meaning is asked for: the question, behind the user's newest turn where it points back."""
    newest = _newest(query.conversation)
    return f"{newest} {query.text}" if newest and points_back(query.text) else query.text


def _points(text: str) -> bool:
    """Whether a text has a word that points at what was said, with nothing named behind it."""
    own, low = heard(text), text.lower()
    if own.has("people", "points", low):
        return True
    words = own.words("people", "behind_points")
    ends = (end for _, end in own.found("people", "points_alone", low))
    return any(_ENDS.match(low, end) or ((word := _NEXT.match(low, end)) and word[1] in words) for end in ends)


def _newest(turns: Sequence[str]) -> str:
    """The user's newest turn; the assistant's where the user said nothing yet."""
    mine = [turn for turn in turns if turn.startswith("user: ")]
    chosen = mine or list(turns)
    return chosen[-1].partition(": ")[2] if chosen else ""
