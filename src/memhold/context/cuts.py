"""Where the window of a context begins: at a legal place, and where all was wanted, at one that stays for a while.

A provider's prompt cache holds what stands before the first difference. A window that begins at the oldest message that
fits begins at another one each turn. So where a whole history does not fit, the cut goes a little further: to the place
that the marks of a ruler make the longest, message 64 rather than 60 or 63. A mark follows from a message's number, so
the same history and budget give the same beginning, and it stays until it no longer fits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate, groupby

from memhold.context.window_messages import Piece, is_person, text_of
from memhold.messages.anthropic_pairs import anthropic_units
from memhold.messages.fences import unquoted
from memhold.messages.openai_pairs import openai_units
from memhold.messages.tool_pairs import cut_entries, legal_starts
from memhold.messages.window import Body, Dropped, Entry, Window, entry, is_system
from memhold.text.change import word_count
from memhold.values.records import Message, Shape

__all__ = ["cut", "kept_ids", "passed_too", "passed_words"]

NO_CHANCE = 8
"""Words from which on the same said twice in a row is no chance."""


def cut(
    pieces: Sequence[Piece],
    keep: int | None,
    shape: Shape,
    *,
    budget: int | None,
    cost: Callable[[Body], int],
    older: int = 0,
    leave: int = 0,
) -> Window:
    """The newest `keep` messages, or of a whole history (None) what a budget holds, as a window that can be sent.

    The bodies were checked before. Guarantees and `dropped` are those of `cut_window`; a whole history that is cut
    may `leave` so much of its budget, and loses nothing but to the budget. So is one of which `older` messages were not
    read, though the others fit.
    """
    entries = [entry(at, piece.body) for at, piece in enumerate(pieces)]
    spoken = [one for one in entries if not is_system(one.message)]
    if keep is not None or budget is None:
        return cut_entries(entries, len(spoken) if keep is None else keep, shape, budget=budget, cost=cost)
    systems = sum(cost(piece.body) for piece in pieces if is_system(piece.body))
    begin, room = _begin(pieces, spoken, shape, (budget - systems, older, leave), cost)
    window = cut_entries(entries, len(spoken) - begin, shape, budget=systems + room, cost=cost)
    return replace(window, dropped=tuple(Dropped(index=one.index, reason="budget") for one in window.dropped))


def kept_ids(pieces: Sequence[Piece], window: Window) -> frozenset[str | None]:
    """The ids of the journal's messages that a cut left in, and nothing of which is shortened."""
    gone = {one.index for one in window.dropped}
    held = {piece.id for at, piece in enumerate(pieces) if at not in gone}
    return frozenset(held - {piece.id for piece in pieces if piece.short})


def passed_words(pieces: Sequence[Piece], window: Window) -> frozenset[tuple[str, str]]:
    """Role and words of what the caller alone gave and a cut left in."""
    gone = {one.index for one in window.dropped}
    given = (piece.body for at, piece in enumerate(pieces) if at not in gone and piece.given and piece.id is None)
    return frozenset((body["role"], text_of(body).strip()) for body in given)


def passed_too(messages: Sequence[Message], passed: frozenset[tuple[str, str]]) -> frozenset[str]:
    """The ids of the recalled messages that the caller passes too: nobody needs to be told them a second time.

    What a session says in a row, as far as it was recalled, is the same conversation where it is `NO_CHANCE` words:
    "No." is said in many, each time to another question.
    """
    if not passed:
        return frozenset()
    found: set[str] = set()
    heard = [(one, unquoted(one).strip()) for one in sorted(messages, key=lambda one: (one.session, one.seq))]
    for (_, there), run in groupby(heard, key=lambda pair: (pair[0].session, (pair[0].role, pair[1]) in passed)):
        row = list(run)
        if there and sum(word_count(said) for _, said in row) >= NO_CHANCE:
            found.update(one.id for one, _ in row)
    return frozenset(found)


def _begin(
    pieces: Sequence[Piece],
    spoken: Sequence[Entry],
    shape: Shape,
    limits: tuple[int, int, int],
    cost: Callable[[Body], int],
) -> tuple[int, int]:
    """Where the window should begin within a room, and what of that room it may take from there.

    0 where all of it fits, or where there is no better place than the room's. Where even the newest user's turn is over
    the room, the place is one among its calls, and the user's message stands before it.
    """
    room, older, leave = limits
    behind = [*accumulate((cost(one.message) for one in reversed(spoken)), initial=0)][::-1]
    if behind[0] <= room and not older:
        return 0, room
    room = min(room, behind[0])
    leave = min(leave, room * 2 // 3)
    numbers = _numbers(pieces, spoken)
    numbers.append(numbers[-1] + 1 if numbers else 0)
    for places, beside in _places(spoken, shape, behind):
        held = [
            (_mark(numbers[at], numbers[end]), -at)
            for at, end in zip(places, [*places[1:], len(spoken)], strict=False)
            if room - leave <= behind[at] + beside <= room
        ]
        if held:
            begin = -max(held)[1]
            return (begin, room) if not beside else (0, behind[begin] + beside)
    return 0, room


def _places(spoken: Sequence[Entry], shape: Shape, behind: Sequence[int]) -> list[tuple[list[int], int]]:
    """Where a window may begin, the best kind first, each with what stands before it and costs too."""
    persons = [at for at, one in enumerate(spoken) if is_person(one.message, shape)]
    newest = persons[-1] if persons else len(spoken)
    starts = [at for at in legal_starts(spoken, shape) if at <= newest]
    found = [([at for at in persons if at in {*starts}], 0), (starts, 0)]
    if persons:
        units = openai_units(spoken) if shape == "openai" else anthropic_units(spoken)
        found.append(([at for at in units if at > newest], behind[newest] - behind[newest + 1]))
    return found


def _numbers(pieces: Sequence[Piece], spoken: Sequence[Entry]) -> list[int]:
    """A number for each message that stays the same from turn to turn: the journal's, else its place in the list."""
    found: list[int] = []
    last = -1
    for one in spoken:
        seq = pieces[one.index].seq
        last = last + 1 if seq is None else max(seq, last)
        found.append(last)
    return found


def _mark(first: int, end: int) -> int:
    """The longest mark from `first` to before `end`: how often one of these numbers halves evenly, at most."""
    return ((first - 1) ^ (end - 1)).bit_length() if first > 0 else sys.maxsize
