"""A plan as the messages that are sent: where each part stands, what they cost, and what is told of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from memhold.context.answer import Context, LeftOut, one_each
from memhold.context.cuts import kept_ids
from memhold.context.plan import Inputs, Plan
from memhold.context.render import CORRECTION_TOKENS, Line, rendered
from memhold.context.strategies import SlotName
from memhold.context.window_messages import CONTINUES, only_recalled, text_of, with_first, with_recalled
from memhold.messages.fences import Fence
from memhold.messages.tool_pairs import repair_entries
from memhold.messages.window import Body, Repair, Window, entry, is_system
from memhold.text.token_estimate import estimate_message

__all__ = ["BELOW", "HEAD", "TAIL", "Assembled", "answered", "fixed_cost", "sent"]

HEAD: tuple[SlotName, ...] = ("corrections", "instructions", "profile")
"""What stands behind the instructions, as one: what the user told, and nothing else."""
BELOW: tuple[SlotName, ...] = ("summaries",)
"""What stands below, in a user's message in front of the window. It changes where the window's beginning does: both are
the prefix that a provider's prompt cache keeps."""
TAIL: tuple[SlotName, ...] = ("noted", "memories", "documents", "messages")
"""What stands before the newest user's message: it follows from it, or changes without a word of the user's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """One try: messages, instructions, fences, what it costs, and what the window lost."""

    messages: Sequence[Body]
    system: str | None
    used: int
    repairs: tuple[Repair, ...]
    dropped: tuple[LeftOut, ...]
    here: frozenset[str | None]
    head: Fence | None = None
    below: Fence | None = None
    recalled: Fence | None = None

    @property
    def fences(self) -> tuple[Fence, ...]:
        """Those of this scope that stand there."""
        return tuple(one for one in (self.head, self.below, self.recalled) if one is not None)


def fixed_cost(plan: Plan) -> int:
    """What instructions and corrections cost: they are never dropped. And what is told of further scopes."""
    head = rendered(_corrections(plan), secret=plan.secret, title=plan.title)
    own = sum(plan.cost(body) for body in (*plan.systems, *([_as_system(head.text)] if head else [])))
    return own + sum(block.part.used for block in plan.elsewhere)


def _as_system(text: str) -> Body:
    return {"role": "system", "content": text}


def _together(own: Fence | None, others: Iterable[Fence | None]) -> str:
    return "\n\n".join(one.text for one in (own, *others) if one is not None)


def sent(plan: Plan, kept: Mapping[SlotName, Sequence[Line]], cut: Window) -> Assembled:
    """One try: instructions, what is remembered, the window, valid for the provider."""
    shape = plan.request.shape
    here = kept_ids(plan.pieces, cut)
    first, then = (HEAD, BELOW) if plan.vouched else ((), (*HEAD, *BELOW))
    head, below, recalled = (
        rendered(
            (line for name in names for line in _lines(plan, kept, name, here)),
            secret=plan.secret,
            instructs="instructions" in names and bool(kept.get("instructions")),
            title=plan.title,
        )
        for names in (first, then, TAIL)
    )
    lead_text = _together(head, (block.head for block in plan.elsewhere))
    below_text = _together(below, (block.below for block in plan.elsewhere))
    recalled_text = _together(recalled, (block.recalled for block in plan.elsewhere))
    spoken = list(with_recalled(cut.messages, recalled_text, shape))
    lead = [*plan.systems, *([_as_system(lead_text)] if lead_text else [])]
    anthropic = shape == "anthropic"
    if anthropic:
        lead += [body for body in spoken if is_system(body)]
        spoken = [body for body in spoken if not is_system(body)]
    ends = next((body for body in reversed(spoken) if not is_system(body)), None)
    prefilled = bool(plan.pieces) and plan.pieces[-1].given
    unfinished = ends is None or (anthropic and ends["role"] == "assistant" and not prefilled)
    if unfinished and plan.title is None:
        spoken.append({"role": "user", "content": CONTINUES})
    if below_text:
        spoken = with_first(spoken, below_text, shape)
    whole = spoken if anthropic else [*lead, *spoken]
    final = repair_entries([entry(at, body) for at, body in enumerate(whole)], shape)
    said = [text for body in lead if (text := text_of(body)).strip()] if anthropic else []
    system = "\n\n".join(said) or None
    used = sum(plan.cost(body) for body in final.messages) + (plan.cost(_as_system(system)) if system else 0)
    dropped = (
        LeftOut(slot="window", id=plan.pieces[one.index].id, reason=one.reason)
        for one in sorted(cut.dropped, key=lambda one: one.index)
    )
    return Assembled(
        messages=final.messages,
        system=system,
        used=used,
        repairs=(*cut.repairs, *final.repairs),
        dropped=one_each(dropped),
        here=here,
        head=head,
        below=below,
        recalled=recalled,
    )


def _lines(
    plan: Plan, kept: Mapping[SlotName, Sequence[Line]], name: SlotName, here: frozenset[str | None]
) -> Sequence[Line]:
    if name == "corrections":
        return _corrections(plan)
    return [line for line in kept.get(name, ()) if line.id not in here]


def _corrections(plan: Plan) -> list[Line]:
    return [one.cut(CORRECTION_TOKENS) for one in plan.entries["corrections"]]


def answered(gathered: Inputs, plan: Plan, made: Assembled, taken: Mapping[SlotName, Sequence[Line]]) -> Context:
    """The answer to the caller: what is sent, and everything that was left out, with why."""
    gone = {one.id for one in made.dropped}
    dropped: list[LeftOut] = []
    reason: Literal["cut", "budget", "shortened"]
    if plan.older:
        reason = "budget" if plan.keep is None else "cut"
        dropped.append(LeftOut(slot="window", id=None, reason=reason, count=plan.older))
    dropped += [*plan.lost, *made.dropped]
    dropped += [
        LeftOut(slot="window", id=piece.id, reason="shortened")
        for piece in plan.pieces
        if piece.short and (piece.id is None or piece.id not in gone)
    ]
    for name in (*HEAD[1:], *BELOW, *TAIL):
        whole = {line.number: line.whole for line in taken.get(name, ())}
        for one in plan.entries[name]:
            if one.id not in made.here and not whole.get(one.number):
                reason = "shortened" if one.number in whole else "budget"
                dropped.append(LeftOut(slot=name, id=one.id, reason=reason))
    if gathered.unread:
        unread: Literal["unlikely", "budget"] = "unlikely" if plan.request.least else "budget"
        dropped.append(LeftOut(slot="messages", id=None, reason=unread, count=gathered.unread))
    every = (*HEAD, *BELOW, *TAIL)
    shown = [
        line.id for name in every for line in sorted(_lines(plan, taken, name, made.here), key=lambda line: line.number)
    ]
    told = {*shown, *(piece.id for piece in plan.pieces), *(one.id for one in dropped)}
    dropped += [
        LeftOut(slot="window", id=one.id, reason="cut")
        for one in gathered.window.messages
        if one.id not in told and not is_system(one.body) and not only_recalled(one.body, plan.secret)
    ]
    return Context(
        messages=tuple(made.messages),
        system=made.system,
        shape=plan.request.shape,
        strategy=plan.strategy.name,
        used=_exact(plan, made),
        budget=plan.request.budget,
        reserve=plan.request.reserve,
        tokenizer=plan.request.tokenizer,
        shown=tuple(shown),
        dropped=tuple(dropped),
        degraded=gathered.degraded,
        damaged=gathered.damaged,
        also=tuple(block.part for block in plan.elsewhere),
        repairs=tuple(dict.fromkeys(f"{one.action}: {one.reason}" for one in made.repairs)),
    )


def _exact(plan: Plan, made: Assembled) -> int:
    """What is sent, as it is counted with the tags that stand in it."""
    lead = [] if made.system is None else [_as_system(made.system)]
    return sum(estimate_message(body, plan.request.count) for body in (*lead, *made.messages))
