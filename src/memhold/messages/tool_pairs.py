"""Windows that a provider accepts: repair of tool pairs, and cuts at legal places.

Pure functions that stand alone. Calls and results are paired by adjacency, never by a set of all ids: ids repeat
from turn to turn. System messages never vanish, text that a person wrote is never rewritten, and what was passed in
is never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, Literal, get_args

from memhold.messages.anthropic_pairs import anthropic_starts, anthropic_units, person_wrote, repair_anthropic
from memhold.messages.openai_pairs import openai_starts, openai_units, repair_openai, user_wrote
from memhold.messages.window import Body, Dropped, Entry, Policy, Repair, Window, entries_of, is_system
from memhold.text.token_estimate import estimate_message
from memhold.values.errors import InvalidInput
from memhold.values.records import Shape

__all__ = ["cut_entries", "cut_window", "legal_starts", "repair_entries", "repair_window"]


def repair_window(
    messages: Sequence[Body],
    shape: Shape = "openai",
    *,
    keep_open: bool = False,
    unanswered: Literal["complete", "remove"] = "complete",
    user_first: bool = False,
) -> Window:
    """The messages as the provider accepts them, and a list of what had to be changed.

    A call whose result is missing is completed with an explicit "no result" (or removed, with
    `unanswered="remove"`); with `keep_open` (for loading a history, not for a request) the calls at the very end stay
    open. A result without a call is removed, or becomes a user's text where nothing else can open the window. System
    messages between a call and its result move behind it. Messages without content are removed. In the Anthropic
    shape the window begins with a user's message; in the OpenAI shape only with `user_first`, which some servers of
    that shape want.

    Guarantees: valid input comes back as the same objects in a new list with no repairs; repairing again changes
    nothing; system messages and text of a person are kept as they are; the order stays.

    Raises:
        InvalidInput: `messages` is no list, or the shape is unknown.
        InvalidMessage: a message is not of this shape; `index` says which one.
    """
    policy = Policy(keep_open=keep_open, unanswered=unanswered, user_first=user_first)
    return _window(_parsed(messages, shape), shape, policy, ())


def cut_window(
    messages: Sequence[Body],
    keep: int,
    shape: Shape = "openai",
    *,
    budget: int | None = None,
    cost: Callable[[Body], int] = estimate_message,
    keep_open: bool = False,
    user_first: bool = False,
) -> Window:
    """The newest `keep` messages, more where the provider or the conversation needs them, as a repaired window.

    The cut moves backward to a legal place: a user's message, or in the OpenAI shape also an assistant's call; and
    never behind the newest message that a person wrote. System messages are not counted and are all kept. Only a
    `budget` (a sum of `cost` over the window, in tokens unless you pass another measure) moves it forward: to the next
    legal place, then past the oldest calls behind the newest user's message (past the oldest calls of all where no
    person wrote one). That message is kept in any case, so a budget smaller than it and the system messages is
    exceeded: shorten it first.

    `dropped` lists every message that was left out, by `cut` or by `budget`. The guarantees of `repair_window` hold.

    Raises:
        InvalidInput: `keep` or `budget` is negative, `messages` is no list, or the shape is unknown.
        InvalidMessage: a message is not of this shape; `index` says which one.
    """
    _check_count("keep", keep)
    _check_count("budget", 0 if budget is None else budget)
    policy = Policy(keep_open=keep_open, user_first=user_first)
    return cut_entries(_parsed(messages, shape), keep, shape, budget=budget, cost=cost, policy=policy)


def cut_entries(
    entries: Sequence[Entry],
    keep: int,
    shape: Shape,
    *,
    budget: int | None,
    cost: Callable[[Body], int],
    policy: Policy = Policy(),  # noqa: B008 - frozen
) -> Window:
    """The same for messages that were checked before."""
    spoken = [entry for entry in entries if not is_system(entry.message)]
    systems = [entry for entry in entries if is_system(entry.message)]
    starts = legal_starts(spoken, shape, user_first=policy.user_first)
    newest = _newest(spoken, shape)
    wanted = len(spoken) - keep if newest is None else min(len(spoken) - keep, newest)
    start = max((position for position in starts if position <= wanted), default=0)
    cut = tuple(Dropped(index=entry.index, reason="cut") for entry in spoken[:start])
    whole = _window([*systems, *spoken[start:]], shape, policy, cut)
    if budget is None or sum(map(cost, whole.messages)) <= budget:
        return whole
    tails = [*accumulate((cost(entry.message) for entry in reversed(spoken[start:])), initial=0)][::-1]
    spare = budget - sum(cost(entry.message) for entry in systems)
    candidates = _tighter(spoken, start, starts, newest, shape)
    for number, (pinned, begin) in enumerate(candidates, start=1):
        pin = [] if pinned is None else [spoken[pinned]]
        last = number == len(candidates)
        if tails[begin - start] + sum(cost(entry.message) for entry in pin) > spare and not last:
            continue
        left = (position for position in range(start, begin) if position != pinned)
        forced = tuple(Dropped(index=spoken[position].index, reason="budget") for position in left)
        window = _window([*systems, *pin, *spoken[begin:]], shape, policy, (*cut, *forced))
        if last or sum(map(cost, window.messages)) <= budget:
            return window
    return whole


def _check_count(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InvalidInput(f"{name} is {value!r}; pass a whole number from 0 on")


def _parsed(messages: Any, shape: Any) -> list[Entry]:
    if shape not in get_args(Shape):
        raise InvalidInput(f"the shape is {shape!r}; use one of {', '.join(get_args(Shape))}")
    if not isinstance(messages, Sequence) or isinstance(messages, str | bytes):
        raise InvalidInput(f"messages is a {type(messages).__name__}; pass a list of dicts")
    return entries_of(messages, shape)


def _window(entries: Sequence[Entry], shape: Shape, policy: Policy, dropped: tuple[Dropped, ...]) -> Window:
    repair = repair_openai if shape == "openai" else repair_anthropic
    out, repairs = repair(sorted(entries, key=lambda entry: entry.index), policy)
    ordered: tuple[Repair, ...] = tuple(sorted(repairs, key=lambda one: one.index))
    return Window(messages=[entry.message for entry in out], repairs=ordered, dropped=dropped)


def repair_entries(entries: Sequence[Entry], shape: Shape) -> Window:
    """What `repair_window` does before a request, for messages that were checked before."""
    return _window(entries, shape, Policy(), ())


def legal_starts(spoken: Sequence[Entry], shape: Shape, *, user_first: bool = False) -> list[int]:
    """The positions at which a window of these messages (none of them a system's) may begin."""
    return openai_starts(spoken, user_first=user_first) if shape == "openai" else anthropic_starts(spoken)


def _newest(spoken: Sequence[Entry], shape: Shape) -> int | None:
    """The position of the newest message that a person wrote."""
    wrote = user_wrote if shape == "openai" else person_wrote
    return next((at for at in range(len(spoken) - 1, -1, -1) if wrote(spoken[at].message)), None)


def _tighter(
    spoken: Sequence[Entry], start: int, starts: Sequence[int], newest: int | None, shape: Shape
) -> list[tuple[int | None, int]]:
    """What to keep when `start` does not fit, largest first: everything from a position, and perhaps one before it."""
    units = openai_units(spoken) if shape == "openai" else anthropic_units(spoken)
    if newest is None:  # an agent at work alone: the oldest calls go, and repair puts a user's message in front
        return [(None, position) for position in sorted({*starts, *units}) if position > start]
    found: list[tuple[int | None, int]] = [(None, position) for position in starts if start < position <= newest]
    if newest not in starts:
        found.append((None, newest))
    behind = [position for position in units if position > newest]
    return [*found, *((newest, position) for position in behind[1:]), (newest, len(spoken))]
