"""From what was gathered to a context that fits: pure, so that every budget and history can be tried."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from memhold.context.allocate import Item, Slot, allocate, fill, spread, stepped
from memhold.context.answer import Context, LeftOut, Part
from memhold.context.assemble import BELOW, HEAD, TAIL, Assembled, answered, fixed_cost, sent
from memhold.context.plan import Block, Elsewhere, Inputs, Plan, Request, planned
from memhold.context.render import Line
from memhold.context.shorten import shorten_message
from memhold.context.strategies import MEMORY_FIRST, SlotName
from memhold.context.window_messages import Piece, newest_person
from memhold.messages.fences import Fence
from memhold.messages.window import Body, Window, is_system
from memhold.text.instructions import tells_state
from memhold.values.errors import TooLarge

__all__ = ["build", "built"]

FLOOR = 160
"""Least tokens that the newest user's message keeps when it must be shortened: beginning, mark and end."""
FENCE_TOKENS = 60
"""What a fence costs beside its lines: a tag, a notice, headings."""
ROUNDS = 60
MOST_OF: Mapping[SlotName, int] = MappingProxyType({"instructions": 8, "profile": 3})
"""One of so many parts of the room goes to such a slot before any other slot of memory has a share, if it needs it."""
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
    newest = newest_person(plan.pieces, request.shape)
    needed = fixed_cost(plan) + (0 if newest is None else plan.cost(plan.pieces[newest].body))
    room = min(request.available // OTHERS_SHARE, request.available - needed)
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
        found.append(_block(one, tokens, request, secret))
    return found


def _block(one: Elsewhere, tokens: int, request: Request, secret: bytes) -> Block:
    asked = replace(request, budget=max(1, tokens), reserve=0, strategy=MEMORY_FIRST.name, shape="openai")
    inputs = one.inputs
    if not one.same_user:  # the wishes of another instruct nobody here
        inputs = replace(inputs, instructions=[held for held in inputs.instructions if tells_state(held.text)])
    plan = replace(planned(inputs, asked, secret), title=one.title, vouched=one.same_user)
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
    """What a plan becomes: each slot gets its share, and the whole is measured until it fits."""
    request = plan.request
    newest = newest_person(plan.pieces, request.shape)
    fixed = fixed_cost(plan)
    plan = _fitting_newest(plan, newest, request.available - fixed)
    ranked: dict[SlotName, list[Item]] = {
        name: [Item(id=line.id, cost=line.cost) for line in plan.lines[name]] for name in (*HEAD[1:], *BELOW, *TAIL)
    }
    whole = sum(map(plan.cost, plan.cut(None).messages))
    if plan.keep is None:  # a repair makes a message dearer, or several of them cheaper
        whole = max(whole, sum(plan.cost(piece.body) for piece in plan.pieces))
    least = sum(plan.cost(piece.body) for at, piece in enumerate(plan.pieces) if at == newest or is_system(piece.body))
    slots = [Slot(name="window", want=whole, share=plan.strategy.shares["window"], minimum=least)]
    for name, items in ranked.items():
        want = sum(item.cost for item in items) + (FENCE_TOKENS if items else 0)
        least = min(want, _least(name, items, request.available - fixed))
        slots.append(Slot(name=name, want=want, share=plan.strategy.shares.get(name, 0.0), minimum=least))
    grants = dict(allocate(slots, request.available - fixed))
    freed, steady = _steadied(grants, ranked, plan)
    grants["window"] += (more := min(freed, whole - grants["window"]))
    if whole > grants["window"]:
        plan = _shortened(plan, newest, grants["window"])
    for name, items in ranked.items():
        grants[name] = max(0, grants[name] - (FENCE_TOKENS if items else 0))
    window = plan.cut(grants["window"])
    spare = max(0, grants["window"] - sum(map(plan.cost, window.messages))) + freed - more
    del ranked["messages"]
    taken, room = _taken(plan, ranked, grants, spare, steady)
    taken, room = _with_first(plan, taken, room, window)
    plan, made, kept = _fitted(plan, taken, room, grants["window"], window)
    return answered(gathered, plan, made, kept), made


def _least(name: SlotName, items: Sequence[Item], room: int) -> int:
    """What a slot has before the others: what is known of the user, but never the most of the room.

    The newest standing instruction is there also where it costs more than the slot's part.
    """
    if name not in MOST_OF or not items:
        return 0
    first = FENCE_TOKENS + items[0].cost
    return max(room // MOST_OF[name], first if first <= room // 2 else 0)


def _taken(
    plan: Plan,
    ranked: Mapping[SlotName, Sequence[Item]],
    grants: Mapping[SlotName, int],
    spare: int,
    steady: Collection[SlotName],
) -> tuple[dict[SlotName, list[Line]], int]:
    """What the slots of memory show, and the room that is left for what was said earlier."""
    filled = fill(ranked, grants, spare, steady=steady)
    held = {name: {line.id: line for line in plan.lines[name]} for name in ranked}
    taken = {name: [held[name][one.id] for one in items] for name, items in filled.items()}
    spent = sum(one.cost for items in filled.values() for one in items)
    room = sum(grants.get(name, 0) for name in (*ranked, "messages")) + spare - spent
    return taken, room


def _with_first(
    plan: Plan, taken: dict[SlotName, list[Line]], room: int, window: Window
) -> tuple[dict[SlotName, list[Line]], int]:
    """The same with the first of what the user told for good where none of it is there and the whole has room for it.

    The shares count a fence for each slot, which is more than a small budget has; what two slots share costs once.
    """
    for name in MOST_OF:
        if plan.lines[name] and not taken[name]:
            first = plan.lines[name][0]
            more = {**taken, name: [first]}
            if sent(plan, {**more, "messages": []}, window).used <= plan.request.available:
                taken, room = more, room - first.cost
    return taken, room


def _steadied(
    grants: dict[SlotName, int], ranked: Mapping[SlotName, Sequence[Item]], plan: Plan
) -> tuple[int, set[SlotName]]:
    """Bring the grants of the prefix that do not hold all down to steps: what that frees, and which slots they are."""
    shares = plan.strategy.shares
    freed, steady = 0, set[SlotName]()
    for name in (*HEAD[1:], *BELOW):
        if grants[name] < sum(item.cost for item in ranked[name]) + FENCE_TOKENS and ranked[name]:
            step = stepped(grants[name], plan.request.available * shares.get(name, 0.0) / sum(shares.values()))
            freed += grants[name] - step
            grants[name] = step
            steady.add(name)
    return freed, steady


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


def _shortened(plan: Plan, newest: int | None, grant: int) -> Plan:
    """The plan with each message but the newest user's at most a quarter of what the window may cost."""
    if plan.keep is None:  # what stands in the prefix keeps its length from turn to turn
        grant = stepped(grant, plan.request.available * plan.strategy.shares["window"])
    limit = max(FLOOR, grant // 4)
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
