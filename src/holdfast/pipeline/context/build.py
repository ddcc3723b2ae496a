"""From what was gathered to the messages that are sent: pure, so that every budget and history can be tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from holdfast.errors import TooLarge
from holdfast.model import Memory, Message, Shape
from holdfast.pipeline.context.allocate import Item, Slot, allocate, fill, stepped
from holdfast.pipeline.context.answer import Context, LeftOut, one_each
from holdfast.pipeline.context.cuts import cut, kept_ids
from holdfast.pipeline.context.gather import WindowRead
from holdfast.pipeline.context.pieces import (
    CONTINUES,
    Costs,
    Piece,
    is_person,
    joined,
    newest_person,
    text_of,
    with_recalled,
)
from holdfast.pipeline.context.render import CORRECTION_TOKENS, LINE_TOKENS, Line, memory_line, message_line, rendered
from holdfast.pipeline.context.shorten import shorten_message
from holdfast.pipeline.context.strategies import SlotName, Strategy, chosen
from holdfast.pipeline.tokens import Count, estimate_tokens
from holdfast.pipeline.tool_pairs import repair_entries
from holdfast.pipeline.window import Body, Repair, Window, entry, is_system

__all__ = ["RESERVED", "Gathered", "Request", "build"]

HEAD: tuple[SlotName, ...] = ("corrections", "profile", "summaries")
"""What stands behind the instructions, where it changes seldom: the prefix that a provider's prompt cache keeps."""
TAIL: tuple[SlotName, ...] = ("memories", "messages")
"""What stands before the newest user's message, since it follows from it."""
FLOOR = 160
"""Least tokens that the newest user's message keeps when it must be shortened: beginning, mark and end."""
FENCE_TOKENS = 120
"""What a fence costs beside its lines: two tags, a notice, headings."""
RESERVED = 8
"""One of so many parts of the budget is kept back where the caller names no reserve."""
ROUNDS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the caller asked for: tokens in all and kept back, the strategy and its figures, the provider's shape.

    `count` counts the tokens of a text, and `tokenizer` names it. `by_default` tells that nobody named the reserve, so
    that it follows the budget.
    """

    budget: int
    reserve: int
    strategy: str
    shape: Shape
    threshold: int
    tail: int | None = None
    count: Count = estimate_tokens
    tokenizer: str = "estimate"
    by_default: bool = False

    def holding(self, tokens: int) -> int:
        """The least budget of which so many tokens are available."""
        return -(-tokens * RESERVED // (RESERVED - 1)) if self.by_default else tokens + self.reserve

    @property
    def available(self) -> int:
        """What everything that is returned may cost."""
        return self.budget - self.reserve


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What the slots gave: the caller's messages, the journal's, and memory, each list best first."""

    given: Sequence[Body] = ()
    window: WindowRead = field(default_factory=WindowRead)
    corrections: Sequence[Memory] = ()
    profile: Sequence[Memory] = ()
    summaries: Sequence[Memory] = ()
    memories: Sequence[Memory] = ()
    messages: Sequence[Message] = ()
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """Everything that is fixed before the fitting: instructions, pieces of the window, lines by slot."""

    request: Request
    strategy: Strategy
    systems: Sequence[Body]
    pieces: Sequence[Piece]
    keep: int
    lines: Mapping[SlotName, Sequence[Line]]
    secret: bytes
    cost: Costs
    lost: tuple[LeftOut, ...] = ()
    bare: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """One try: messages, instructions, what it costs, and what the window lost."""

    messages: Sequence[Body]
    system: str | None
    used: int
    repairs: tuple[Repair, ...]
    dropped: tuple[LeftOut, ...]
    here: frozenset[str | None]


def build(gathered: Gathered, request: Request, *, secret: bytes) -> Context:
    """The context: valid for the provider, within the budget, with the newest user's message and all corrections.

    Raises:
        TooLarge: the budget cannot hold even the instructions, the corrections and a shortened newest message; `size`
            says what would do.
    """
    plan = _planned(gathered, request, secret)
    newest = newest_person(plan.pieces, request.shape)
    fixed = _fixed(plan)
    plan = _fitting_newest(plan, newest, request.available - fixed)
    ranked: dict[SlotName, list[Item]] = {
        name: [Item(id=line.id, cost=line.cost) for line in plan.lines[name]] for name in (*HEAD[1:], *TAIL)
    }
    tailed = plan.strategy.tail is not None
    whole = sum(map(plan.cost, _cut(plan, None).messages if tailed else (piece.body for piece in plan.pieces)))
    least = sum(plan.cost(piece.body) for at, piece in enumerate(plan.pieces) if at == newest or is_system(piece.body))
    slots = [Slot(name="window", want=whole, share=plan.strategy.shares["window"], minimum=least)]
    for name, items in ranked.items():
        want = sum(item.cost for item in items) + (FENCE_TOKENS if items else 0)
        slots.append(Slot(name=name, want=want, share=plan.strategy.shares.get(name, 0.0)))
    grants = dict(allocate(slots, request.available - fixed))
    freed, steady = _steadied(grants, ranked, plan)
    grants["window"] += (more := min(freed, whole - grants["window"]))
    if whole > grants["window"]:
        plan = _shortened(plan, newest, grants["window"])
    for name, items in ranked.items():
        grants[name] = max(0, grants[name] - (FENCE_TOKENS if items else 0))
    window = _cut(plan, grants["window"])
    spare = max(0, grants["window"] - sum(map(plan.cost, window.messages))) + freed - more
    taken = {name: [one.id for one in held] for name, held in fill(ranked, grants, spare, steady=steady).items()}
    plan, made, kept = _fitted(plan, taken, grants["window"], window)
    return _answer(gathered, plan, made, kept)


def _steadied(
    grants: dict[SlotName, int], ranked: Mapping[SlotName, Sequence[Item]], plan: _Plan
) -> tuple[int, set[SlotName]]:
    """Bring the grants of the prefix that do not hold all down to steps: what that frees, and which slots they are."""
    shares = plan.strategy.shares
    freed, steady = 0, set[SlotName]()
    for name in HEAD[1:]:
        if grants[name] < sum(item.cost for item in ranked[name]) + FENCE_TOKENS and ranked[name]:
            step = stepped(grants[name], plan.request.available * shares.get(name, 0.0) / sum(shares.values()))
            freed += grants[name] - step
            grants[name] = step
            steady.add(name)
    return freed, steady


def _planned(gathered: Gathered, request: Request, secret: bytes) -> _Plan:
    read = zip(gathered.window.messages, gathered.window.costs, strict=False)
    cost = Costs(known={id(message.body): (message.body, tokens) for message, tokens in read}, count=request.count)
    systems, pieces = joined(gathered.given, gathered.window.messages, request.shape, secret=secret)
    every = sum(cost(piece.body) for piece in pieces)
    pieces, lost = _bounded(pieces, request.available // 4, cost)
    turns = sum(is_person(piece.body, request.shape) for piece in pieces)
    strategy = chosen(request.strategy, turns=turns, threshold=request.threshold)
    newest = newest_person(pieces, request.shape)
    spoken = [at for at, piece in enumerate(pieces) if not is_system(piece.body)]
    behind = sum(at >= newest for at in spoken) if newest is not None else 0
    tail = request.tail if request.tail is not None else strategy.tail
    keep = len(spoken) if strategy.tail is None or tail is None else tail + behind
    share = int(request.available * strategy.shares["window"] / sum(strategy.shares.values()))
    in_window: frozenset[str | None] = frozenset()
    if gathered.messages:
        wanted = None if strategy.tail is None else keep
        in_window = kept_ids(pieces, cut(pieces, wanted, request.shape, budget=share, cost=cost))
    lines: dict[SlotName, Sequence[Line]] = {}
    shown: set[str] = set()
    for name, memories in (
        ("corrections", gathered.corrections),
        ("profile", gathered.profile),
        ("summaries", gathered.summaries),
        ("memories", gathered.memories),
    ):
        tokens = CORRECTION_TOKENS if name == "corrections" else LINE_TOKENS
        fresh = [memory for memory in memories if memory.id not in shown]
        shown |= {memory.id for memory in fresh}
        lines[name] = [memory_line(memory, tokens=tokens, count=request.count) for memory in fresh]  # type: ignore[index]
    lines["messages"] = [message_line(one, count=request.count) for one in gathered.messages if one.id not in in_window]
    return _Plan(
        request=request,
        strategy=strategy,
        systems=systems,
        pieces=pieces,
        keep=keep,
        lines=lines,
        secret=secret,
        cost=cost,
        lost=lost,
        bare=every - sum(cost(piece.body) for piece in pieces),
    )


def _bounded(pieces: Sequence[Piece], limit: int, cost: Costs) -> tuple[list[Piece], tuple[LeftOut, ...]]:
    """The pieces without the oldest instructions of the journal where those alone are over the limit."""
    kept: list[Piece] = []
    lost: list[LeftOut] = []
    for piece in reversed(pieces):
        if is_system(piece.body) and not piece.given:
            limit -= cost(piece.body)
            if limit < 0:
                lost.append(LeftOut(slot="system", id=piece.id, reason="budget"))
                continue
        kept.append(piece)
    return kept[::-1], tuple(lost[::-1])


def _fixed(plan: _Plan) -> int:
    """What instructions and corrections cost: they are never dropped."""
    head = rendered([("corrections", plan.lines["corrections"])], secret=plan.secret)
    return sum(plan.cost(body) for body in (*plan.systems, *([_as_system(head)] if head else [])))


def _as_system(text: str) -> Body:
    return {"role": "system", "content": text}


def _fitting_newest(plan: _Plan, newest: int | None, room: int) -> _Plan:
    """The plan with the newest user's message shortened where it alone is over what is left for it."""
    if newest is None:
        return plan
    piece = plan.pieces[newest]
    size = plan.cost(piece.body)
    if size <= room:
        return plan
    return _with_bodies(plan, {newest: _short(plan, piece, max(FLOOR, room))})


def _short(plan: _Plan, piece: Piece, limit: int) -> Body:
    return shorten_message(piece.body, limit, handle=piece.id, cost=plan.cost, count=plan.request.count)


def _with_bodies(plan: _Plan, bodies: Mapping[int, Body]) -> _Plan:
    pieces = [
        replace(piece, body=bodies[at], short=True) if at in bodies and bodies[at] is not piece.body else piece
        for at, piece in enumerate(plan.pieces)
    ]
    return replace(plan, pieces=pieces)


def _cut(plan: _Plan, budget: int | None) -> Window:
    """The window that the strategy wants, within a budget or whole."""
    shape, whole = plan.request.shape, plan.strategy.tail is None
    return cut(plan.pieces, None if whole else plan.keep, shape, budget=budget, cost=plan.cost)


def _shortened(plan: _Plan, newest: int | None, grant: int) -> _Plan:
    """The plan with each message but the newest user's at most a quarter of what the window may cost."""
    if plan.strategy.tail is None:  # what stands in the prefix keeps its length from turn to turn
        grant = stepped(grant, plan.request.available * plan.strategy.shares["window"])
    limit = max(FLOOR, grant // 4)
    long = {
        at: _short(plan, piece, limit)
        for at, piece in enumerate(plan.pieces)
        if at != newest and not is_system(piece.body) and plan.cost(piece.body) > limit
    }
    return _with_bodies(plan, long)


def _fitted(
    plan: _Plan, taken: Mapping[SlotName, Sequence[str]], window: int, cut: Window
) -> tuple[_Plan, _Made, Mapping[SlotName, Sequence[str]]]:
    """Render, measure the whole, and give up the least valuable until it fits; at last of the newest message."""
    available = plan.request.available
    kept = {name: list(ids) for name, ids in taken.items()}
    made = _made(plan, kept, cut)
    for _ in range(ROUNDS):
        over = made.used - available
        if over <= 0:
            return plan, made, kept
        if any(kept.values()):
            _give_up(plan, kept, over)
        elif window > 0:
            window = max(0, window - over)
            cut = _cut(plan, window)
        else:
            break
        made = _made(plan, kept, cut)
    kept = {name: [] for name in kept}
    made = _made(plan, kept, _cut(plan, 0))
    newest = newest_person(plan.pieces, plan.request.shape)
    if made.used > available and newest is not None:
        room = plan.cost(plan.pieces[newest].body) - (made.used - available)
        plan = _with_bodies(plan, {newest: _short(plan, plan.pieces[newest], max(FLOOR, room))})
        made = _made(plan, kept, _cut(plan, 0))
    if made.used > available:
        size = plan.request.holding(made.used + plan.bare)  # a larger budget holds more of the instructions
        raise TooLarge(
            f"a budget of {plan.request.budget} tokens, {plan.request.reserve} of them reserved, cannot hold the"
            f" instructions, the corrections and the newest message; pass about {size}, or reserve less",
            size=size,
            limit=plan.request.budget,
        )
    return plan, made, kept


def _give_up(plan: _Plan, kept: dict[SlotName, list[str]], over: int) -> None:
    """Drop the last-ranked lines, of the least valuable slot first, until they are worth what is too much."""
    costs = {line.id: line.cost for lines in plan.lines.values() for line in lines}
    order: tuple[SlotName, ...] = ("messages", "memories", "summaries", "profile")
    for name in order:
        while kept.get(name) and over > 0:
            over -= costs[kept[name].pop()]


def _made(plan: _Plan, kept: Mapping[SlotName, Sequence[str]], cut: Window) -> _Made:
    shape = plan.request.shape
    here = kept_ids(plan.pieces, cut)
    head = rendered([(name, _lines(plan, kept, name, here)) for name in HEAD], secret=plan.secret)
    recalled = rendered([(name, _lines(plan, kept, name, here)) for name in TAIL], secret=plan.secret)
    spoken = list(with_recalled(cut.messages, recalled, shape))
    lead = [*plan.systems, *([_as_system(head)] if head else [])]
    anthropic = shape == "anthropic"
    if anthropic:
        lead += [body for body in spoken if is_system(body)]
        spoken = [body for body in spoken if not is_system(body)]
    ends = next((body for body in reversed(spoken) if not is_system(body)), None)
    prefilled = bool(plan.pieces) and plan.pieces[-1].given
    if ends is None or (anthropic and ends["role"] == "assistant" and not prefilled):
        spoken.append({"role": "user", "content": CONTINUES})
    sent = spoken if anthropic else [*lead, *spoken]
    final = repair_entries([entry(at, body) for at, body in enumerate(sent)], shape)
    said = [text for body in lead if (text := text_of(body)).strip()] if anthropic else []
    system = "\n\n".join(said) or None
    used = sum(plan.cost(body) for body in final.messages) + (plan.cost(_as_system(system)) if system else 0)
    dropped = (
        LeftOut(slot="window", id=plan.pieces[one.index].id, reason=one.reason)
        for one in sorted(cut.dropped, key=lambda one: one.index)
    )
    return _Made(
        messages=final.messages,
        system=system,
        used=used,
        repairs=(*cut.repairs, *final.repairs),
        dropped=one_each(dropped),
        here=here,
    )


def _lines(
    plan: _Plan, kept: Mapping[SlotName, Sequence[str]], name: SlotName, here: frozenset[str | None]
) -> Sequence[Line]:
    if name == "corrections":
        return plan.lines[name]
    return [line for line in plan.lines[name] if line.id in kept.get(name, ()) and line.id not in here]


def _answer(gathered: Gathered, plan: _Plan, made: _Made, taken: Mapping[SlotName, Sequence[str]]) -> Context:
    gone = {one.id for one in made.dropped}
    older = gathered.window.older
    dropped: list[LeftOut] = []
    if older:
        reason = "budget" if plan.strategy.tail is None else "cut"
        dropped.append(LeftOut(slot="window", id=None, reason=reason, count=older))  # type: ignore[arg-type]
    dropped += [*plan.lost, *made.dropped]
    dropped += [
        LeftOut(slot="window", id=piece.id, reason="shortened")
        for piece in plan.pieces
        if piece.short and (piece.id is None or piece.id not in gone)
    ]
    for name in (*HEAD[1:], *TAIL):
        left = [line for line in plan.lines[name] if line.id not in taken[name] and line.id not in made.here]
        dropped += [LeftOut(slot=name, id=line.id, reason="budget") for line in left]
    shown = [line.id for name in HEAD for line in sorted(_lines(plan, taken, name, made.here), key=_number)]
    shown += [line.id for name in TAIL for line in sorted(_lines(plan, taken, name, made.here), key=_number)]
    return Context(
        messages=tuple(made.messages),
        system=made.system,
        shape=plan.request.shape,
        strategy=plan.strategy.name,
        used=made.used,
        budget=plan.request.budget,
        reserve=plan.request.reserve,
        tokenizer=plan.request.tokenizer,
        shown=tuple(shown),
        dropped=tuple(dropped),
        degraded=gathered.degraded,
        repairs=tuple(dict.fromkeys(f"{one.action}: {one.reason}" for one in made.repairs)),
    )


_number: Callable[[Line], int] = lambda line: line.number  # noqa: E731 - a key for two sorts
