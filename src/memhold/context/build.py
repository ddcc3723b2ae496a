"""From what was gathered to a context that fits: pure, so that every budget and history can be tried."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from itertools import accumulate
from types import MappingProxyType

from memhold.context.allocate import Step, steps
from memhold.context.answer import Context, LeftOut, Part
from memhold.context.assemble import BELOW, HEAD, TAIL, Assembled, answered, fixed_cost, sent
from memhold.context.plan import Block, Elsewhere, Inputs, Plan, Request, planned, said
from memhold.context.render import Entry, Line
from memhold.context.shorten import shorten_message
from memhold.context.strategies import MEMORY_FIRST, SlotName, Strategy
from memhold.context.window_messages import Piece, newest_person
from memhold.messages.fences import Fence
from memhold.messages.window import Body, Window, is_system
from memhold.text.instructions import tells_state
from memhold.values.errors import TooLarge

__all__ = ["build", "built"]

FLOOR = 160
"""Least tokens that the newest user's message keeps when it must be shortened: beginning, mark and end."""
FENCE_TOKENS, HEADING = 60, 12
"""What a fence costs beside its lines (a tag, a notice, headings), and a heading in one that is there."""
PART: Mapping[SlotName, int] = MappingProxyType({"instructions": 4, "profile": 4, "summaries": 8})
"""One of so many parts of the room is what a slot of the prefix may take, whatever the window and the question want."""
SPILLS: tuple[SlotName, ...] = ("profile", "summaries")
"""Slots of the prefix of which what has no room there is told where the question finds it."""
BESIDE = 8
"""A conversation is whole where there is room for what is remembered beside it, up to one in so many parts of it."""
LONGEST = (2, 4, 8)
"""A message of a window that does not fit has one in so many parts of the room: the most with which all fit, else the
least."""
ANSWERED = 2_000
"""Tokens in which most questions have their answer: from there on memory has at most half of the room."""
OTHERS_SHARE = 4
"""Further scopes together get one in so many parts of what is available."""
LEAST_BLOCK = 100
"""What a further scope is given anyway, the first that was named before the others: a fence with a line or two."""
SLACK = 0.03
"""The share of what is available from which on further scopes are given what this one leaves."""
LEAST_CUT = 16
"""Tokens from which on what a context leaves free is worth a part of what comes next."""


def build(gathered: Inputs, request: Request, *, secret: bytes) -> Context:
    """The context: valid for the provider, within the budget, with the newest user's message and all corrections.

    Raises:
        TooLarge: the budget cannot hold even the instructions, the corrections and a shortened newest message; `size`
            says what would do.
    """
    return built(gathered, request, secret=secret)[0]


def built(
    gathered: Inputs, request: Request, *, secret: bytes, elsewhere: Sequence[Elsewhere] = ()
) -> tuple[Context, tuple[Fence, ...]]:
    """The same as `build`, and the fences that stand in it, for the store to know them again.

    Further scopes together get a quarter of what is available, never of what the newest message needs, and then what
    this one leaves.

    Raises:
        TooLarge: as `build`.
    """
    plan = planned(gathered, request, secret)
    if not elsewhere:
        context, made = _made(gathered, plan)
        return context, made.fences
    room = min(request.available // OTHERS_SHARE, request.available - _needed(plan))
    elsewhere = _once(gathered, elsewhere)
    blocks = _blocks(elsewhere, room, request, secret)
    context, made = _made(gathered, replace(plan, elsewhere=blocks))
    free = request.available - context.used
    if free > SLACK * request.available and any(block.part.dropped for block in blocks):
        blocks = _blocks(elsewhere, sum(block.part.used for block in blocks) + free, request, secret)
        context, made = _made(gathered, replace(plan, elsewhere=blocks))
    inputs = [gathered, *(one.inputs for one in elsewhere)]
    degraded = dict.fromkeys(name for one in inputs for name in one.degraded)
    damaged = dict.fromkeys(one for each in inputs for one in each.damaged)
    return replace(context, degraded=tuple(degraded), damaged=tuple(damaged)), made.fences


def _needed(plan: Plan) -> int:
    """What comes before further scopes: a conversation that is whole, else its newest message."""
    newest = newest_person(plan.pieces, plan.request.shape)
    held, taken, _ = _with_prefix(plan, newest)
    whole = sent(held, taken, held.cut(None)).used
    if plan.keep is None and not plan.older and whole <= plan.request.available:
        return whole
    return fixed_cost(plan) + (0 if newest is None else plan.cost(plan.pieces[newest].body))


def _once(gathered: Inputs, elsewhere: Sequence[Elsewhere]) -> list[Elsewhere]:
    """Further scopes without what stands before them: one user's memory, as two agents see it, overlaps."""
    seen = gathered.ids
    found = []
    for one in elsewhere:
        found.append(replace(one, inputs=one.inputs.without(seen)))
        seen |= one.inputs.ids
    return found


def _blocks(elsewhere: Sequence[Elsewhere], room: int, request: Request, secret: bytes) -> list[Block]:
    """What is told of each further scope: an equal part of the room, and what those before it leave.

    Where an equal part holds no line, the first that were named are told.
    """
    found: list[Block] = []
    for at, one in enumerate(elsewhere):
        left = room - sum(block.part.used for block in found)
        tokens = max(left // (len(elsewhere) - at), min(left, LEAST_BLOCK))
        found.append(_block(one, tokens, request, secret, prefix=request.available // OTHERS_SHARE // len(elsewhere)))
    return found


def _block(one: Elsewhere, tokens: int, request: Request, secret: bytes, *, prefix: int) -> Block:
    asked = replace(request, budget=max(1, tokens), reserve=0, strategy=MEMORY_FIRST.name, shape="openai")
    inputs = one.inputs
    if not one.same_user:  # the wishes of another instruct nobody here
        inputs = replace(inputs, instructions=[held for held in inputs.instructions if tells_state(held.text)])
    plan = replace(planned(inputs, asked, secret), title=one.title, vouched=one.same_user, prefix=prefix)
    try:
        context, made = _made(inputs, plan)
    except TooLarge:
        lines = sum(map(len, plan.entries.values())) + inputs.unread
        left = (LeftOut(slot="memories", id=None, reason="budget", count=lines),) if lines else ()
        return Block(part=Part(scope=one.scope, dropped=left))
    part = Part(scope=one.scope, used=context.used, shown=context.shown, dropped=context.dropped)
    return Block(part=part, head=made.head, below=made.below, recalled=made.recalled)


def _left_out(part: Part) -> Block:
    gone = (LeftOut(slot="memories", id=None, reason="budget", count=len(part.shown)),) if part.shown else ()
    return Block(part=Part(scope=part.scope, dropped=(*part.dropped, *gone)))


def _made(gathered: Inputs, plan: Plan) -> tuple[Context, Assembled]:
    """What a plan becomes: the prefix first, then the window, then what the question finds, measured until it fits."""
    newest = newest_person(plan.pieces, plan.request.shape)
    plan = _fitting_newest(plan, newest, plan.request.available - fixed_cost(plan))
    plan, taken, spare = _with_prefix(plan, newest)
    plan, window, grant = _with_window(gathered, plan, taken, newest, spare)
    plan, made, kept = _fitted(plan, taken, spare, grant, window)
    return answered(gathered, plan, made, kept), made


def _told(plan: Plan, most: int) -> int:
    """What all that is told before the newest message would cost, with its fence; at most so many tokens."""
    costs = accumulate(step.cost for step in steps(plan.lanes, plan.request.count))
    reached = 0
    for reached in costs:
        if reached >= most:
            return most
    return min(most, reached + FENCE_TOKENS) if reached else 0


def _within(plan: Plan, room: int) -> list[Step]:
    """The steps that a room holds, each of which adds to those before it."""
    found: list[Step] = []
    for step in steps(plan.lanes, plan.request.count):
        room -= step.cost
        if room < 0:
            break
        found.append(step)
    return found


def _taken(entries: Sequence[Entry], room: int) -> list[Line]:
    """The first lines, as many as a room holds."""
    found: list[Line] = []
    for entry in entries:
        room -= entry.whole.cost
        if room < 0:
            break
        found.append(entry.whole)
    return found


def _with_prefix(plan: Plan, newest: int | None) -> tuple[Plan, dict[SlotName, list[Line]], int]:
    """The plan with what the prefix holds, the rest of it among what the question finds, and what it leaves free.

    How much it holds follows from the budget and from what was stated: neither the question nor the next turn changes
    it, but for a newest message that needs its room. What its slots want and have no line for stays free: so a larger
    budget takes nothing from what is told behind them.
    """
    room = left = plan.request.available - fixed_cost(plan)
    left -= sum(plan.cost(one.body) for at, one in enumerate(plan.pieces) if at == newest or is_system(one.body))
    taken: dict[SlotName, list[Line]] = {}
    spare = 0
    for name in PART:
        entries = plan.entries[name]
        part = _part(name, entries, room if plan.prefix is None else plan.prefix)
        fence = HEADING if name in HEAD and any(taken.values()) else FENCE_TOKENS
        taken[name] = _taken(entries, min(part, left - fence))
        used = sum(line.cost for line in taken[name])
        if len(taken[name]) < len(entries):
            spare += max(0, part - used)
        left -= used + (fence if used else 0)
    _add_first(plan, taken)
    told = {one.id for name in PART for one in taken[name]} | {one.id for one in plan.entries["corrections"]}
    rest = [entry for name in SPILLS for entry in plan.entries[name] if entry.id not in told]
    slots = {**plan.entries, **{name: [one for one in plan.entries[name] if one.id in told] for name in SPILLS}}
    for name, found in (("memories", [*plan.entries["memories"], *rest]), ("noted", plan.entries["noted"])):
        fresh = {entry.id: entry for entry in found if entry.id not in told}
        slots[name] = [*fresh.values()]
        told |= fresh.keys()
    return replace(plan, entries=slots), taken, spare


def _add_first(plan: Plan, taken: dict[SlotName, list[Line]]) -> None:
    """Take the first of what the user told for good where none of it is there and the newest message leaves room.

    The parts count a fence for each slot, which is more than a small budget has; what two slots share costs once.
    """
    for name in HEAD[1:]:
        if plan.entries[name] and not taken[name]:
            more = {**taken, name: [plan.entries[name][0].whole]}
            if sent(plan, more, plan.cut(0)).used <= plan.request.available:
                taken[name] = more[name]


def _part(name: SlotName, entries: Sequence[Entry], room: int) -> int:
    """What a slot of the prefix may take: never the most of the room.

    The newest standing instruction is there also where it costs more than the slot's part.
    """
    if not entries:
        return 0
    first = entries[0].whole.cost if name != "summaries" else 0
    return max(room // PART[name], first if first <= room // 2 else 0)


def _with_window(
    gathered: Inputs, plan: Plan, taken: Mapping[SlotName, Sequence[Line]], newest: int | None, spare: int
) -> tuple[Plan, Window, int]:
    """The plan with what was said outside of its window, the window, and what that may cost.

    A conversation is whole where it fits beside a small part of what is remembered. Else it has its share, and in steps
    what memory leaves: so its beginning moves seldom. What the prefix leaves free (`spare`) is none of its room, or one
    more line of the profile would cost a message.
    """
    window = plan.cut(None)
    whole = sum(map(plan.cost, window.messages))
    room = plan.request.available - spare - sent(plan, taken, window).used + whole
    found = said(gathered, plan, window)
    beside = replace(plan, entries={**plan.entries, "messages": found})
    limit = plan.whole // BESIDE
    others = sum(block.part.used for block in plan.elsewhere)
    # What is told of further scopes changes with the question, and may not move the window.
    steady = room + others - plan.request.available // OTHERS_SHARE if plan.elsewhere else room
    share = _share(plan.strategy, max(0, steady))
    if plan.keep is None:
        told = max(0, min(_told(beside, limit) + others, limit) - others)
        fits = not plan.older and whole + told <= room
        own = {one.id for one in gathered.messages if gathered.window.holds(one)}
        plan = _beside(beside, limit, own)
    else:
        fits = whole <= max(share, room - _told(beside, room))
        plan = beside
    if fits:
        return beside, window, whole
    plan = replace(plan, leave=int(share * plan.strategy.step))
    plan = _shortened_least(plan, newest, steady, room - _left_to_memory(room - share, _told(plan, room)))
    least = _least(plan, newest, room)
    cut = plan.cut(max(share, least))
    left = {entry.id for entry in found} - {entry.id for entry in plan.entries["messages"]}
    entries = [entry for entry in said(gathered, plan, cut) if entry.id not in left]
    plan = replace(plan, entries={**plan.entries, "messages": entries})
    grant = max(least, room - _left_to_memory(room - share, _told(plan, room)))
    return plan, plan.cut(grant), grant


def _shortened_least(plan: Plan, newest: int | None, room: int, limit: int) -> Plan:
    """The plan with its long messages shortened: as little as lets all of them stand within a limit."""
    *more, least = (_shortened(plan, newest, max(FLOOR, room // part)) for part in LONGEST)
    whole = [] if plan.older or plan.keep is not None else more
    return next((one for one in whole if sum(map(one.cost, one.cut(None).messages)) <= limit), least)


def _least(plan: Plan, newest: int | None, room: int) -> int:
    """What the window has anyway: the newest message, and the turn before it where a third of the room holds both."""
    fixed = [plan.cost(one.body) if at == newest or is_system(one.body) else 0 for at, one in enumerate(plan.pieces)]
    before = None if newest is None else newest_person(plan.pieces[:newest], plan.request.shape)
    if before is None:
        return sum(fixed)
    last = sum(fixed[:before]) + sum(plan.cost(one.body) for one in plan.pieces[before:])
    return last if last <= room // 3 else sum(fixed)


def _left_to_memory(room: int, told: int) -> int:
    """Of a room what memory keeps where it wants less: in eighths, so that it seldom changes."""
    eighths = min(8, -(-8 * told // max(1, room)))
    return max(0, room) * eighths // 8


def _share(strategy: Strategy, room: int) -> int:
    """What a window that does not fit may cost: memory has less of what is over the room that most answers need."""
    part = strategy.shares["window"] / sum(strategy.shares.values())
    first = min(room, ANSWERED)
    return int(first * part + (room - first) * max(part, 0.5))


def _beside(plan: Plan, limit: int, own: Set[str]) -> Plan:
    """The plan with no more of what is not the conversation's `own` than where it is whole: more budget never loses."""
    others = {name: [one for one in plan.entries[name] if one.id not in own] for name in TAIL}
    apart = replace(plan, entries={**plan.entries, **others})
    kept = own | {step.entry.id for step in _within(apart, limit - FENCE_TOKENS)}
    held = {name: [one for one in plan.entries[name] if one.id in kept] for name in TAIL}
    lost = [
        LeftOut(slot=name, id=one.id, reason="budget")
        for name in TAIL
        for one in plan.entries[name]
        if one.id not in kept
    ]
    return replace(plan, entries={**plan.entries, **held}, lost=(*plan.lost, *lost))


def _fitting_newest(plan: Plan, newest: int | None, room: int) -> Plan:
    """The plan with the newest user's message shortened where it alone is over what is left for it."""
    if newest is None:
        return plan
    piece = plan.pieces[newest]
    size = plan.cost(piece.body)
    if size <= room:
        return plan
    return plan.with_bodies({newest: _short(plan, piece, max(FLOOR, room))})


def _short(plan: Plan, piece: Piece, limit: int) -> Body:
    return shorten_message(piece.body, limit, handle=piece.id, cost=plan.cost, count=plan.request.count)


def _shortened(plan: Plan, newest: int | None, limit: int) -> Plan:
    """The plan with each message but the newest user's at most so many tokens."""
    long = {
        at: _short(plan, piece, limit)
        for at, piece in enumerate(plan.pieces)
        if at != newest and not is_system(piece.body) and plan.cost(piece.body) > limit
    }
    return plan.with_bodies(long)


def _fitted(
    plan: Plan, taken: dict[SlotName, list[Line]], spare: int, window: int, cut: Window
) -> tuple[Plan, Assembled, Mapping[SlotName, Sequence[Line]]]:
    """Render and measure the whole: as many steps of what the question finds as fit, and a part of the next.

    Where not even the first of them fits, the least valuable of the prefix is given up, then of the window; at last of
    the newest message.
    """
    available = plan.request.available
    kept = {name: list(lines) for name, lines in taken.items()}
    while True:
        made = sent(plan, kept, cut)
        over = made.used - available
        if over <= 0:
            return (plan, *_filled(plan, kept, cut, made, available - spare))
        if any(kept.values()):
            _give_up(kept, over)
        elif window > 0:
            window = max(0, window - over)
            cut = plan.cut(window)
        else:
            return _barest(plan)


def _filled(
    plan: Plan, prefix: Mapping[SlotName, Sequence[Line]], cut: Window, made: Assembled, limit: int
) -> tuple[Assembled, Mapping[SlotName, Sequence[Line]]]:
    """With the most steps with which the whole costs no more than a limit."""
    room = limit - made.used
    if room <= 0:
        return made, prefix
    found = _within(plan, room + room // 4)
    costs = [*accumulate((step.cost for step in found), initial=0)]
    best = made, prefix
    low, high, guess = 0, len(found), bisect_right(costs, room - FENCE_TOKENS) - 1
    while low < high:
        guess = min(max(guess, low + 1), high)
        kept = _with_steps(prefix, found[:guess])
        made = sent(plan, kept, cut)
        free = limit - made.used
        if free >= 0:
            low, best = guess, (made, kept)
        else:
            high = guess - 1
        guess = bisect_right(costs, costs[guess] + free) - 1
    return _with_part(plan, best, found[low:], cut, limit)


def _with_part(
    plan: Plan,
    best: tuple[Assembled, Mapping[SlotName, Sequence[Line]]],
    following: Sequence[Step],
    cut: Window,
    limit: int,
) -> tuple[Assembled, Mapping[SlotName, Sequence[Line]]]:
    """The same with as much of the next step as fits."""
    made, kept = best
    free = limit - made.used
    if not following or free < LEAST_CUT:
        return best
    step = following[0]
    shown = next((line.cost for line in kept.get(step.entry.slot, ()) if line.number == step.entry.number), 0)
    while free >= LEAST_CUT:
        line = step.entry.cut(shown + free)
        more = _with_steps(kept, [replace(step, line=line)])
        tried = sent(plan, more, cut)
        if shown < line.cost and tried.used <= limit:
            return tried, more
        free -= max(LEAST_CUT, tried.used - limit)
    return best


def _with_steps(prefix: Mapping[SlotName, Sequence[Line]], found: Sequence[Step]) -> dict[SlotName, Sequence[Line]]:
    """The lines of the prefix, and each entry as its last step tells it."""
    told: dict[SlotName, dict[int, Line]] = {name: {one.number: one for one in prefix.get(name, ())} for name in TAIL}
    for step in found:
        slot = step.entry.slot if step.entry.slot in TAIL else "memories"
        told[slot][step.entry.number] = step.line
    return {**prefix, **{name: [*lines.values()] for name, lines in told.items()}}


def _barest(plan: Plan) -> tuple[Plan, Assembled, Mapping[SlotName, Sequence[Line]]]:
    """Instructions, corrections and the newest message alone, shortened where it must be."""
    available = plan.request.available
    if plan.elsewhere:  # no room: each is told as left out
        plan = replace(plan, elsewhere=[_left_out(one.part) for one in plan.elsewhere])
    kept: dict[SlotName, list[Line]] = {name: [] for name in (*HEAD[1:], *BELOW, *TAIL)}
    made = sent(plan, kept, plan.cut(0))
    newest = newest_person(plan.pieces, plan.request.shape)
    if made.used > available and newest is not None:
        room = plan.cost(plan.pieces[newest].body) - (made.used - available)
        plan = plan.with_bodies({newest: _short(plan, plan.pieces[newest], max(FLOOR, room))})
        made = sent(plan, kept, plan.cut(0))
    if made.used > available:
        size = plan.request.holding(made.used + plan.bare)  # a larger budget holds more of the instructions
        raise TooLarge(
            f"a budget of {plan.request.budget} tokens, {plan.request.reserve} of them reserved, cannot hold the"
            f" instructions, the corrections and the newest message; pass about {size}, or reserve less",
            size=size,
            limit=plan.request.budget,
        )
    return plan, made, kept


def _give_up(kept: dict[SlotName, list[Line]], over: int) -> None:
    """Drop the last-ranked lines, of the least valuable slot first, until they are worth what is too much."""
    order: tuple[SlotName, ...] = ("summaries", "profile", "instructions")
    for name in order:
        while kept.get(name) and over > 0:
            over -= kept[name].pop().cost
