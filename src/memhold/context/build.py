"""From what was gathered to a context that fits: pure, so that every budget and history can be tried."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from types import MappingProxyType

from memhold.context.allocate import Slot, allocate, spread
from memhold.context.answer import Context, LeftOut, Part
from memhold.context.assemble import BELOW, HEAD, TAIL, Assembled, answered, fixed_cost, sent
from memhold.context.plan import Block, Elsewhere, Inputs, Plan, Request, planned, said
from memhold.context.render import Line
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
ROUNDS = 60
PART: Mapping[SlotName, int] = MappingProxyType({"instructions": 4, "profile": 4, "summaries": 8})
"""One of so many parts of the room is what a slot of the prefix may take, whatever the window and the question want."""
BESIDE = 8
"""A conversation is whole where there is room for what is remembered beside it, up to one in so many parts of it."""
LONGEST = 8
"""A message of a window that does not fit has one in so many parts of the room."""
ANSWERED = 2_000
"""Tokens in which most questions have their answer: from there on memory has at most half of the room."""
OTHERS_SHARE = 4
"""Further scopes together get one in so many parts of what is available."""
TOP_UPS, SLACK = 6, 0.03
"""How often what a measured context leaves free is given to what was said earlier, and the share that may stay free."""


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
    held, taken = _with_prefix(plan, newest)
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
    """What is told of each further scope: an equal part of the room, and what those before it leave."""
    found: list[Block] = []
    for at, one in enumerate(elsewhere):
        tokens = (room - sum(block.part.used for block in found)) // (len(elsewhere) - at)
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
        lines = sum(map(len, plan.lines.values())) + inputs.unread
        left = (LeftOut(slot="memories", id=None, reason="budget", count=lines),) if lines else ()
        return Block(part=Part(scope=one.scope, dropped=left))
    part = Part(scope=one.scope, used=context.used, shown=context.shown, dropped=context.dropped)
    return Block(part=part, head=made.head, below=made.below, recalled=made.recalled)


def _left_out(part: Part) -> Block:
    gone = (LeftOut(slot="memories", id=None, reason="budget", count=len(part.shown)),) if part.shown else ()
    return Block(part=Part(scope=part.scope, dropped=(*part.dropped, *gone)))


def _made(gathered: Inputs, plan: Plan) -> tuple[Context, Assembled]:
    """What a plan becomes: the prefix first, then the window, then what the question finds, measured until it fits."""
    request = plan.request
    newest = newest_person(plan.pieces, request.shape)
    plan = _fitting_newest(plan, newest, request.available - fixed_cost(plan))
    plan, taken = _with_prefix(plan, newest)
    plan, window, grant = _with_window(gathered, plan, taken, newest)
    room = request.available - sent(plan, taken, window).used - FENCE_TOKENS
    grants = _shared(plan, room)
    for name in TAIL[:-1]:
        taken[name] = _taken(plan.lines[name], grants[name])
        room -= sum(line.cost for line in taken[name])
    plan, made, kept = _fitted(plan, taken, max(0, room), grant, window)
    return answered(gathered, plan, made, kept), made


def _told(plan: Plan) -> int:
    """What all that is told before the newest message would cost, with its fence."""
    wanted = sum(line.cost for name in TAIL for line in plan.lines[name])
    return wanted + FENCE_TOKENS if wanted else 0


def _shared(plan: Plan, room: int) -> Mapping[SlotName, int]:
    """What each slot that stands before the newest message may spend of a room."""
    wants = {name: sum(line.cost for line in plan.lines[name]) for name in TAIL}
    return allocate([Slot(name=name, want=wants[name], share=plan.strategy.shares[name]) for name in TAIL], room)


def _taken(lines: Sequence[Line], room: int) -> list[Line]:
    """The best lines that a room holds; what does not fit is passed over for what does."""
    found: list[Line] = []
    for line in lines:
        if line.cost <= room:
            found.append(line)
            room -= line.cost
    return found


def _with_prefix(plan: Plan, newest: int | None) -> tuple[Plan, dict[SlotName, list[Line]]]:
    """The plan with what the prefix holds, and the rest of it among what the question finds.

    How much it holds follows from the budget and from what was stated: neither the question nor the next turn changes
    it, but for a newest message that needs its room.
    """
    room = left = plan.request.available - fixed_cost(plan)
    left -= sum(plan.cost(one.body) for at, one in enumerate(plan.pieces) if at == newest or is_system(one.body))
    taken: dict[SlotName, list[Line]] = {}
    for name in PART:
        part = _part(name, plan.lines[name], room if plan.prefix is None else plan.prefix)
        fence = HEADING if name in HEAD and any(taken.values()) else FENCE_TOKENS
        taken[name] = _taken(plan.lines[name], min(part, left - fence))
        left -= sum(line.cost for line in taken[name]) + (fence if taken[name] else 0)
    _add_first(plan, taken)
    told = {line.id for lines in (plan.lines["corrections"], *taken.values()) for line in lines}
    rest = [line for name in ("profile", "summaries") for line in plan.lines[name] if line.id not in told]
    lines: dict[SlotName, Sequence[Line]] = {**plan.lines, "profile": taken["profile"], "summaries": taken["summaries"]}
    for name, found in (("noted", plan.lines["noted"]), ("memories", [*plan.lines["memories"], *rest])):
        fresh = {line.id: line for line in found if line.id not in told}
        lines[name] = [*fresh.values()]
        told |= fresh.keys()
    return replace(plan, lines=lines), taken


def _add_first(plan: Plan, taken: dict[SlotName, list[Line]]) -> None:
    """Take the first of what the user told for good where none of it is there and the newest message leaves room.

    The parts count a fence for each slot, which is more than a small budget has; what two slots share costs once.
    """
    for name in HEAD[1:]:
        if plan.lines[name] and not taken[name]:
            more = {**taken, name: [*plan.lines[name][:1]]}
            if sent(plan, more, plan.cut(0)).used <= plan.request.available:
                taken[name] = more[name]


def _part(name: SlotName, lines: Sequence[Line], room: int) -> int:
    """What a slot of the prefix may take: never the most of the room.

    The newest standing instruction is there also where it costs more than the slot's part.
    """
    if not lines:
        return 0
    first = lines[0].cost if name != "summaries" else 0
    return max(room // PART[name], first if first <= room // 2 else 0)


def _with_window(
    gathered: Inputs, plan: Plan, taken: Mapping[SlotName, Sequence[Line]], newest: int | None
) -> tuple[Plan, Window, int]:
    """The plan with what was said outside of its window, the window, and what that may cost.

    A conversation is whole where it fits beside a small part of what is remembered. Else it has its share, and in steps
    what memory leaves: so its beginning moves seldom.
    """
    window = plan.cut(None)
    whole = sum(map(plan.cost, window.messages))
    room = plan.request.available - sent(plan, taken, window).used + whole
    found = said(gathered, plan, window)
    beside = replace(plan, lines={**plan.lines, "messages": found})
    limit = plan.whole // BESIDE
    others = sum(block.part.used for block in plan.elsewhere)
    # What is told of further scopes changes with the question, and may not move the window.
    steady = room + others - plan.request.available // OTHERS_SHARE if plan.elsewhere else room
    share = _share(plan.strategy, max(0, steady))
    if plan.keep is None:
        told = max(0, min(_told(beside) + others, limit) - others)
        fits = not plan.older and whole + told <= room
        plan = _beside(beside, limit, {one.id for one in gathered.messages if gathered.window.holds(one)})
    else:
        fits = whole <= max(share, room - _told(beside))
        plan = beside
    if fits:
        return beside, window, whole
    plan = _shortened(replace(plan, leave=int(share * plan.strategy.step)), newest, max(FLOOR, steady // LONGEST))
    least = _least(plan, newest, room)
    cut = plan.cut(max(share, least))
    left = {line.id for line in found} - {line.id for line in plan.lines["messages"]}
    lines = [line for line in said(gathered, plan, cut) if line.id not in left]
    plan = replace(plan, lines={**plan.lines, "messages": lines})
    grant = max(least, room - _left_to_memory(room - share, _told(plan)))
    return plan, plan.cut(grant), grant


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
    step = max(1, room // 8)
    return max(0, min(room, -(-told // step) * step))


def _share(strategy: Strategy, room: int) -> int:
    """What a window that does not fit may cost: memory has less of what is over the room that most answers need."""
    part = strategy.shares["window"] / sum(strategy.shares.values())
    first = min(room, ANSWERED)
    return int(first * part + (room - first) * max(part, 0.5))


def _beside(plan: Plan, limit: int, own: Collection[str]) -> Plan:
    """The plan with no more of what is not the conversation's `own` than where it is whole: more budget never loses."""
    lines, grants = dict(plan.lines), _shared(plan, limit)
    lost: list[LeftOut] = []
    for name in TAIL:
        others = [line for line in lines[name] if line.id not in own]
        costs = accumulate((line.brief or line).cost for line in others)
        over = others[sum(cost <= grants[name] for cost in costs) :]
        lost += [LeftOut(slot=name, id=line.id, reason="budget") for line in over]
        gone = {line.id for line in over}
        lines[name] = [line for line in lines[name] if line.id not in gone]
    return replace(plan, lines=lines, lost=(*plan.lost, *lost))


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
    plan: Plan, taken: dict[SlotName, list[Line]], room: int, window: int, cut: Window
) -> tuple[Plan, Assembled, Mapping[SlotName, Sequence[Line]]]:
    """Render and measure the whole: what is left goes to what was said earlier, what is too much comes from it first.

    Then the least valuable of the other slots is given up until it fits; at last of the newest message.
    """
    available = plan.request.available
    kept = {name: list(lines) for name, lines in taken.items()}
    best: tuple[Plan, Assembled, Mapping[SlotName, Sequence[Line]]] | None = None
    back = False  # what was left was given away, and was too much: a fence costs beside its lines
    for turn in range(ROUNDS):
        kept["messages"] = spread(plan.lines["messages"], room, plan.request.count)
        made = sent(plan, kept, cut)
        over = made.used - available
        if over <= 0:
            if best is None or made.used >= best[1].used:
                best = plan, made, {name: list(lines) for name, lines in kept.items()}
            if turn >= TOP_UPS or back or -over <= SLACK * available or _all_said(plan, kept):
                return best
            room += -over
        elif best is not None:
            if turn >= TOP_UPS or not kept["messages"]:
                return best
            room, back = min(room, sum(line.cost for line in kept["messages"])) - over, True
        elif kept["messages"]:
            room -= over
        elif any(kept.values()):
            _give_up(kept, over)
        elif window > 0:
            window = max(0, window - over)
            cut = plan.cut(window)
        else:
            break
    return _barest(plan)


def _all_said(plan: Plan, kept: Mapping[SlotName, Sequence[Line]]) -> bool:
    """Whether nothing that was said earlier is left out or short."""
    return len(kept["messages"]) == len(plan.lines["messages"]) and all(
        line.brief is not None or line in plan.lines["messages"] for line in kept["messages"]
    )


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
    order: tuple[SlotName, ...] = ("memories", "noted", "summaries", "profile", "instructions")
    for name in order:
        while kept.get(name) and over > 0:
            over -= kept[name].pop().cost
