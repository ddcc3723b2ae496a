"""What was asked for and what was gathered, and what of it is fixed before the fitting: pieces, lines, strategy."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memhold.context.allocate import Lane
from memhold.context.answer import LeftOut, Part
from memhold.context.cuts import cut, kept_ids, passed_too, passed_words
from memhold.context.gather import WindowRead
from memhold.context.render import Entry, memory_entry, message_entry
from memhold.context.strategies import SlotName, Strategy, chosen
from memhold.context.window_messages import Costs, Piece, is_person, joined, newest_person
from memhold.facts.outdated import Outdated
from memhold.facts.together import named_by
from memhold.messages.fences import Fence
from memhold.messages.window import Body, Window, is_system
from memhold.recall.excerpt import Asked
from memhold.text.instructions import tells_state
from memhold.text.token_estimate import Count, estimate_tokens
from memhold.values.origins import from_user
from memhold.values.records import Fill, Memory, Message, Scope, Shape

__all__ = ["RESERVED", "Block", "ContextQuery", "Elsewhere", "Inputs", "Plan", "Request", "planned", "said", "unread"]

RESERVED = 20
"""One of so many parts of the budget is kept back where the caller names no reserve."""
OTHER_SIDE = 0.1
"""Of what was said earlier the part of those whose words are not asked for."""
OF_DOCUMENTS = 0.25
"""The share of documents, where some may be told: about a quarter of what "adaptive" tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextQuery:
    """What a call of `context` asks beside its messages, as it was given; what is None follows the settings."""

    budget: int
    strategy: str
    shape: Shape
    reserve: int | None = None
    query: str | None = None
    tail: int | None = None
    crossover_turn_threshold: int | None = None
    model: str | None = None
    asker: str | None = None
    fill: Fill = "all"
    documents: tuple[Sequence[str], ...] = ()
    also: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the caller asked for: tokens in all and kept back, the strategy and its figures, the provider's shape.

    `count` counts the tokens of a text, and `tokenizer` names it. `by_default` tells that nobody named the reserve, so
    that it follows the budget. `documents` are the paths below which documents may be told. What the question finds is
    told only where it has the `least` share of the best score of its kind.
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
    documents: Sequence[tuple[str, ...]] = ()
    least: float = 0.0

    def holding(self, tokens: int) -> int:
        """The least budget of which so many tokens are available."""
        return -(-tokens * RESERVED // (RESERVED - 1)) if self.by_default else tokens + self.reserve

    @property
    def available(self) -> int:
        """What everything that is returned may cost."""
        return self.budget - self.reserve


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the slots gave: the caller's messages, the journal's, and memory, each list best first.

    Of `profile` only the word of whoever asks stands among the instructions: not what a model made of it in words of
    its own (`reworded`, by id), nor what other people told (`of_others`, by id). `asked`
    is what is asked for. `outdated` tells by document number which of them say a value that holds no longer,
    `questions` what those of a few words answer. `unread` counts what was said and is not even among `messages`.
    """

    given: Sequence[Body] = ()
    window: WindowRead = field(default_factory=WindowRead)
    corrections: Sequence[Memory] = ()
    instructions: Sequence[Memory] = ()
    profile: Sequence[Memory] = ()
    summaries: Sequence[Memory] = ()
    memories: Sequence[Memory] = ()
    documents: Sequence[Memory] = ()
    messages: Sequence[Message] = ()
    outdated: Mapping[int, Outdated] = field(default_factory=dict)
    asked: Asked = field(default_factory=Asked)
    questions: Mapping[int, str] = field(default_factory=dict)
    unread: int = 0
    degraded: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()
    reworded: frozenset[str] = frozenset()
    of_others: frozenset[str] = frozenset()

    def theirs(self, memory: Memory) -> bool:
        """Whether a memory is the word of whoever asks, in words that they said or confirmed."""
        return from_user(memory) and memory.id not in self.reworded | self.of_others

    @property
    def ids(self) -> frozenset[str]:
        """Of everything that the slots gave, and of the window."""
        return frozenset(one.id for name in _LISTS for one in getattr(self, name)) | {
            one.id for one in self.window.messages
        }

    def without(self, ids: Collection[str]) -> Inputs:
        """The same without some of what the slots gave."""
        left: dict[str, Any] = {name: [one for one in getattr(self, name) if one.id not in ids] for name in _LISTS}
        return replace(self, **left)


_LISTS = ("corrections", "instructions", "profile", "summaries", "memories", "documents", "messages")


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """The memory of a further scope, which has no window; `same_user` where it is of the same person as the context."""

    scope: Scope
    inputs: Inputs
    same_user: bool

    @property
    def title(self) -> str:
        """Whose memory it is, as it stands in its fences; "user" in them is that one's."""
        whose = "nobody" if self.scope.user is None else f'"{self.scope.user}"'
        return f'Memory of user {whose} in "{self.scope.namespace}":'


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """What is told of a further scope: its fences by where they stand, what they cost, and what was left out."""

    part: Part
    head: Fence | None = None
    below: Fence | None = None
    recalled: Fence | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that is fixed before the fitting: instructions, pieces of the window, entries by slot.

    `elsewhere` is what is told of further scopes. A plan with a `title` is that of such a scope: of another user's
    nothing stands among the instructions (`vouched` is false), and no message follows. `keep` is how many messages of
    the window are wanted, None all, of which so many `older` ones were not even read. `whole` is what all that is
    wanted costs at least: what was not read counts as half of what the others cost. `prefix` names the tokens of which
    the prefix takes its parts; None: all that are available. A window that does not fit may `leave` so many tokens of
    its room.
    """

    request: Request
    strategy: Strategy
    systems: Sequence[Body]
    pieces: Sequence[Piece]
    keep: int | None
    older: int
    whole: int
    entries: Mapping[SlotName, Sequence[Entry]]
    secret: bytes
    cost: Costs
    lost: tuple[LeftOut, ...] = ()
    bare: int = 0
    elsewhere: Sequence[Block] = ()
    title: str | None = None
    vouched: bool = True
    prefix: int | None = None
    leave: int = 0

    def cut(self, budget: int | None) -> Window:
        """The window that the strategy wants, within a budget or whole."""
        older, leave = self.older, self.leave
        return cut(self.pieces, self.keep, self.request.shape, budget=budget, cost=self.cost, older=older, leave=leave)

    @property
    def lanes(self) -> Sequence[Lane]:
        """What is told before the newest message, each kind with its share; what the other side said has a part."""
        said, shares = self.entries["messages"], self.strategy.shares
        sides = [[one for one in said if one.own is own] for own in (True, False)]
        return [
            *(Lane(share=shares[name], entries=self.entries[name]) for name in ("noted", "memories")),
            Lane(share=OF_DOCUMENTS, entries=self.entries["documents"]),
            *(
                Lane(share=shares["messages"] * part, entries=side)
                for side, part in zip(sides, (1 - OTHER_SIDE, OTHER_SIDE), strict=True)
            ),
        ]

    def with_bodies(self, bodies: Mapping[int, Body]) -> Plan:
        """The same with other bodies for some of the pieces, which are shortened then."""
        pieces = [
            replace(piece, body=bodies[at], short=True) if at in bodies and bodies[at] is not piece.body else piece
            for at, piece in enumerate(self.pieces)
        ]
        return replace(self, pieces=pieces)


def planned(gathered: Inputs, request: Request, secret: bytes) -> Plan:
    """What follows from both, before anything is fitted; what was said earlier follows from the window (`said`)."""
    read = zip(gathered.window.messages, gathered.window.costs, strict=False)
    cost = Costs(known={id(message.body): (message.body, tokens) for message, tokens in read}, count=request.count)
    systems, pieces = joined(
        gathered.given, gathered.window.messages, request.shape, secret=secret, before=gathered.window.before
    )
    every = sum(cost(piece.body) for piece in pieces)
    pieces, lost = _bounded(pieces, request.available // 4, cost)
    held = sum(cost(piece.body) for piece in pieces)
    turns = sum(is_person(piece.body, request.shape) for piece in pieces)
    strategy = chosen(request.strategy, turns=turns, threshold=request.threshold)
    older = unread(gathered.window, pieces)
    return Plan(
        request=request,
        strategy=strategy,
        systems=systems,
        pieces=pieces,
        keep=_kept(pieces, strategy, request),
        older=older,
        whole=held + held * older // (2 * max(1, len(pieces))),
        entries=_remembered(gathered, request.count),
        secret=secret,
        cost=cost,
        lost=lost,
        bare=every - held,
    )


def unread(window: WindowRead, pieces: Sequence[Piece]) -> int:
    """How many messages of the window were not read, without those that the caller passed."""
    begin = window.messages[0].seq if window.messages else 0
    seqs = [piece.seq for piece in pieces if piece.given and piece.seq is not None]
    passed = sum(begin - window.older <= seq < begin for seq in seqs)
    return max(0, window.older - passed)


def _remembered(gathered: Inputs, count: Count) -> dict[SlotName, Sequence[Entry]]:
    """The entries of each slot of memory; a memory of several stands in each of them."""
    wishes, states = _wishes(gathered)
    slots: Mapping[SlotName, Sequence[Memory]] = {
        "corrections": [one for one in gathered.corrections if gathered.theirs(one)],
        "instructions": wishes,
        "profile": [*states, *(one for one in gathered.profile if gathered.theirs(one))],
        "noted": _noted(gathered),
        "summaries": gathered.summaries,
        "memories": gathered.memories,
        "documents": gathered.documents,
    }
    entries: dict[SlotName, Sequence[Entry]] = {"messages": ()}
    first: set[str] = set()
    for name, memories in slots.items():
        asked = Asked() if name in _STEADY else gathered.asked
        entries[name] = [
            memory_entry(one, name, asked, gathered.outdated.get(one.number), count=count)
            for one in {one.id: one for one in memories if one.id not in first}.values()
        ]
        if name in {"corrections", "instructions"}:
            first |= {one.id for one in memories}
    known = {one.id for one in entries["noted"]}  # told also where the message is that it quotes
    entries["memories"] = [replace(one, rests_on=()) if one.id in known else one for one in entries["memories"]]
    return entries


_STEADY = frozenset({"corrections", "instructions", "profile", "summaries"})
"""What no question changes: it stands in the prefix."""


def said(gathered: Inputs, plan: Plan, window: Window) -> list[Entry]:
    """What was said earlier and does not stand whole in a window, best first."""
    if not gathered.messages:
        return []
    in_window = kept_ids(plan.pieces, window)
    copied = {one.copy_of for one in gathered.window.messages if one.id in in_window}
    # What the caller passes may stand in another session: whoever begins one brings the conversation along.
    copied |= passed_too(gathered.messages, passed_words(plan.pieces, window))
    told = _told([one for wishes in _wishes(gathered) for one in wishes])
    entries = (
        message_entry(
            one,
            gathered.asked,
            gathered.outdated.get(one.number),
            told=told.get(one.id, ()),
            answers=gathered.questions.get(one.number, ""),
            count=plan.request.count,
        )
        for one in gathered.messages
        if one.id not in in_window | copied
    )
    return [entry for entry in entries if entry is not None]


def _wishes(gathered: Inputs) -> tuple[list[Memory], list[Memory]]:
    """The standing instructions, and apart from them the states of health and diet: known of the user, no wishes."""
    standing = [one for one in gathered.instructions if gathered.theirs(one)]
    states = [one for one in standing if tells_state(one.text)]
    return [one for one in standing if one not in states], states


def _noted(gathered: Inputs) -> list[Memory]:
    """What is to be known whatever is asked, and is not the word of whoever asks.

    What other people corrected, how they want to be answered, what speaks against what the user told, what is pinned.
    """
    told = [one for one in (*gathered.corrections, *gathered.instructions) if one.id in gathered.of_others]
    beside = named_by(gathered.profile)
    noted = [one for one in gathered.profile if not gathered.theirs(one) and (one.pinned or one.id in beside)]
    return [*(one for one in told if from_user(one)), *noted]


def _told(clauses: Sequence[Memory]) -> Mapping[str, Sequence[str]]:
    """By id of a message the clauses of it that stand by themselves: they are not said again."""
    found: dict[str, list[str]] = {}
    for clause in clauses:
        for source in clause.sources:
            found.setdefault(source, []).append(clause.text)
    return found


def _kept(pieces: Sequence[Piece], strategy: Strategy, request: Request) -> int | None:
    """How many messages of the window are wanted, None all.

    A tail reaches back to what the caller alone has: what falls out of that no question finds.
    """
    if strategy.tail is None:
        return None
    newest = newest_person(pieces, request.shape)
    spoken = [(at, piece) for at, piece in enumerate(pieces) if not is_system(piece.body)]
    behind = sum(at >= newest for at, _ in spoken) if newest is not None else 0
    tail = behind + (strategy.tail if request.tail is None else request.tail)
    given = next((len(spoken) - place for place, (_, piece) in enumerate(spoken) if piece.id is None), 0)
    if given <= tail:
        return tail
    return given if given < len(spoken) else None


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
