"""What each slot reads. Units of work over one transaction each; none of them reads more as a session grows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from types import MappingProxyType

from memhold.context.strategies import check_strategy
from memhold.facts.outdated import Outdated, ended_instructions
from memhold.facts.together import told_with
from memhold.facts.unstated import without_unstated
from memhold.journal.beside import began_after
from memhold.journal.visibility import seen
from memhold.journal.windows import When, kept_from, skipped, spoken
from memhold.messages.fences import unquoted
from memhold.ports.transaction import ReadTx
from memhold.text.sentences import Span, is_asked, sentences
from memhold.text.token_estimate import Count, estimate_message, estimate_tokens
from memhold.upkeep.periods import Period, day_of
from memhold.values.origins import from_user, spoken_by
from memhold.values.records import Memory, Message, Session, Tier

__all__ = [
    "Seen",
    "WindowPlan",
    "WindowRead",
    "chosen_rollups",
    "confirm",
    "corrections",
    "current",
    "history",
    "instructions",
    "profile",
    "questions",
    "read_window",
    "summaries",
]

PAGE = 64
MAX_WINDOW = 2_000
"""Most messages of a window that are read: a window that no budget of today's models holds."""
SPARE = 32
"""Messages read before a tail, so that it can be extended to a legal place."""
MAX_CORRECTIONS = 50
MAX_PROFILE = 200
LEAST_PROFILE = 10
LINE = 20
"""Tokens of a short line with its date and its source."""
MAX_SUMMARIES = 20
SHORT_ANSWER, QUESTION = 60, 120
"""Characters up to which a message may need the question before it to be understood, and those told of that."""
MAX_ROLLUPS: Mapping[Tier, int] = MappingProxyType({"mid": 14, "long": 30})
"""Roll-ups that are read: days of the last weeks (mid tier), weeks and months of half a year (long)."""
MAX_TOLD = 12
_TIERS: tuple[Tier, ...] = ("long", "mid")


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowPlan:
    """How much of the window is worth reading: tokens, turns that decide the strategy, messages of the tail.

    From a window of `ahead` tokens on, what will fall out of it is to be consolidated before it does. `given` counts
    the turns that the caller passed.
    """

    strategy: str
    tokens: int
    threshold: int
    tail: int
    new_turns: int
    given: int
    person: Callable[[Message], bool]
    ahead: int | None = None
    when: When | None = None
    count: Count = estimate_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRead:
    """The newest messages of the window, oldest first, their estimates, and how many older ones were not read.

    `older` counts by seq, so it may hold some that were forgotten; it is 0 where all were.
    `ahead` is the seq up to which the session should be consolidated now, 0 where it need not be. `before` are the
    messages of the session in front of those, which may be the same as the caller's: with them twice as many as the
    caller passed, who may have gone back.
    """

    messages: tuple[Message, ...] = ()
    before: tuple[Message, ...] = ()
    older: int = 0
    costs: tuple[int, ...] = ()
    ahead: int = 0
    damaged: tuple[str, ...] = ()

    def holds(self, message: Message) -> bool:
        """Whether a message is one of the window, read or not."""
        first = self.messages[0] if self.messages else None
        return first is not None and message.session == first.session and message.seq >= first.seq - self.older


def read_window(tx: ReadTx, session: str, plan: WindowPlan) -> WindowRead:
    """The end of the session's window, page by page, until the plan has enough."""
    held = tx.session(session)
    if held is None:
        return WindowRead()
    start = began_after(held, tx.scope.agent)
    found: list[Message] = []
    page: list[Message] = []
    costs: list[int] = []
    until: int | None = None
    while len(found) < MAX_WINDOW:
        page = tx.messages(session, after=start, until=until, limit=PAGE, newest=True)
        turns = spoken(page)
        found = [*turns, *found]
        costs = [*(estimate_message(message.body, plan.count) for message in turns), *costs]
        if len(page) < PAGE or _enough(found, sum(costs), plan):
            break
        until = page[0].seq - 1
    older = max(0, found[0].seq - 1 - start) if found and len(page) == PAGE else 0
    if older and not _turns(tx, session, after=start, until=found[0].seq - 1):
        older = 0  # they were all forgotten, or are no turns
    before: list[Message] = []
    if (more := min(2 * plan.given - len(found), MAX_WINDOW)) > 0:
        until = found[0].seq - 1 if found else None
        before = spoken(tx.messages(session, after=0, until=until, limit=more, newest=True))
    return WindowRead(
        messages=tuple(found),
        before=tuple(before),
        older=older,
        costs=tuple(costs),
        ahead=_ahead(held, found, sum(costs), plan),
        damaged=tuple(tx.damaged),
    )


def _turns(tx: ReadTx, session: str, *, after: int, until: int) -> bool:
    """Whether a turn stands there; nearly always the first row is one."""
    first = tx.messages(session, after=after, until=until, limit=1)
    return any(not one.opaque for one in first) or (
        bool(first) and bool(spoken(tx.messages(session, after=after, until=until, limit=PAGE)))
    )


def _ahead(held: Session, found: Sequence[Message], cost: int, plan: WindowPlan) -> int:
    """All but the last turns of a window that grows too large, where nobody has asked for it yet."""
    if plan.ahead is None or plan.when is None or skipped(held.name, plan.when):
        return 0
    if max(cost, held.pending_tokens) < plan.ahead:
        return 0
    last = kept_from(found, plan.when.keep)
    return last if last > max(held.cursor, held.asked) else 0


def _enough(found: Sequence[Message], cost: int, plan: WindowPlan) -> bool:
    places = [at for at, message in enumerate(found) if plan.person(message)]
    turns = len(places) + plan.new_turns
    newest = len(found) if plan.new_turns else (places[-1] if places else 0)
    tail = newest >= plan.tail + SPARE
    full = cost > plan.tokens
    strategy = check_strategy(plan.strategy)
    if strategy.crosses and plan.threshold:
        return turns >= plan.threshold and (tail or full)
    return full if strategy.tail is None else tail or full


def corrections(tx: ReadTx, agent: str | None) -> list[Memory]:
    """What the user put in the place of something that was never true, and that is still current, newest first."""
    wrong = [
        memory
        for kind in ("fact", "note")
        for tier in _TIERS
        for memory in tx.newest_memories(kind, state="retracted", tier=tier, agent=agent, limit=MAX_CORRECTIONS)
    ]
    ids = dict.fromkeys(memory.superseded_by for memory in wrong if memory.superseded_by)
    right = [m for m in seen(tx, tx.find_memories([*ids])) if m.state == "active" and from_user(m)]
    return sorted(right, key=lambda memory: -memory.number)[:MAX_CORRECTIONS]


def instructions(tx: ReadTx, agent: str | None, *, tokens: int) -> list[Memory]:
    """The user's standing instructions, newest first: as many as so many tokens could show, without what is over."""
    limit = max(LEAST_PROFILE, min(MAX_PROFILE, tokens // LINE))
    found = without_unstated(tx, tx.newest_memories("instruction", tier="long", agent=agent, limit=limit))
    over = ended_instructions(tx, found)
    return [one for one in found if one.id not in over]


def profile(tx: ReadTx, agent: str | None, *, tokens: int) -> list[Memory]:
    """The current facts and pinned notes that the user told, best first, as many as so many tokens could show.

    Pinned first, then the long-term ones, then by importance and age; also those whose life in the mid tier is over:
    they still hold. Then what speaks against one of them, and what others noted and somebody pinned. All else that was
    noted is told where a question finds it.
    """
    limit = max(LEAST_PROFILE, min(MAX_PROFILE, tokens // LINE))
    held: list[Memory] = []
    for users in (True, False):
        read = partial(tx.newest_memories, agent=agent, told=users, limit=limit)
        held += [fact for tier in _TIERS for fact in read("fact", tier=tier)]
        held += [fact for fact in read("fact", state="expired", tier="mid") if fact.shown and from_user(fact)]
        held += [note for note in read("note", tier="long") if note.pinned]
    weight = {"high": 0, "mid": 1, "low": 2}

    def place(memory: Memory) -> tuple[bool, bool, int, int]:
        return not memory.pinned, memory.tier != "long", weight[memory.importance], -memory.number

    ordered = sorted(without_unstated(tx, held), key=place)
    of_user = [memory for memory in ordered if from_user(memory)][:limit]
    doubts = [one for found in told_with(tx, of_user).values() for one in found]
    others = [memory for memory in ordered if memory.pinned and not from_user(memory)][:limit]
    return [*{one.id: one for one in (*of_user, *doubts, *others)}.values()]


def summaries(tx: ReadTx, agent: str | None, session: str | None) -> list[Memory]:
    """The newest summaries of this session, newest first; of None, where no session goes on, there are none.

    Behind them the newest roll-ups of the user's days, weeks and months, of which `history` shows what is not told yet.
    """
    found = [
        memory
        for tier in _TIERS
        for memory in tx.newest_memories("summary", tier=tier, agent=agent, session=session, limit=MAX_SUMMARIES)
        if session is not None
    ]
    newest = sorted(found, key=lambda memory: -memory.number)[:MAX_SUMMARIES]
    newest += [
        memory
        for tier, most in MAX_ROLLUPS.items()
        for memory in tx.newest_memories("rollup", tier=tier, agent=agent, limit=most)
    ]
    return newest


def history(confirmed: Sequence[Memory]) -> list[Memory]:
    """The session's own summaries, then the roll-ups of what they do not tell.

    What a question finds plays no part: it changes each turn, and these stand in the prefix that a prompt cache keeps.
    """
    own = [memory for memory in confirmed if memory.kind == "summary"]
    rollups = [memory for memory in confirmed if memory.kind == "rollup"]
    return [*own, *chosen_rollups(rollups, own, most=MAX_TOLD)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a slot read, best first, and the signals that were missing; past values are asked for by `then`, by number.

    `rev` is the number of the scope's index in its snapshot (None where nothing was read): whatever makes a memory or
    message current or not, or hides it, gives the index another, but for time, of which `at` is the store's. `unread`
    counts messages that were not even looked at, at most. `nearest` is that of `Asked`, `damaged` are ids of what was
    left out as damaged. `outdated` tells by document number which of the items say a value that holds no longer;
    `reworded` are the ids of those that a model put into words of its own, `questions` as of that function.
    """

    items: tuple[Memory | Message, ...] = ()
    outdated: Mapping[int, Outdated] = field(default_factory=dict)
    then: frozenset[int] = frozenset()
    rev: int | None = None
    at: datetime | None = None
    degraded: tuple[str, ...] = ()
    unread: int = 0
    nearest: Callable[[int, Sequence[Span]], Span | None] | None = None
    damaged: tuple[str, ...] = ()
    reworded: frozenset[str] = frozenset()
    questions: Mapping[int, str] = field(default_factory=dict)


def questions(tx: ReadTx, items: Iterable[Memory | Message]) -> Mapping[int, str]:
    """By document number of each short answer the question that another put right before it."""
    said = {(one.session, one.seq): one for one in items if isinstance(one, Message)}
    found: dict[int, str] = {}
    for (session, seq), one in said.items():
        if len(one.text) > SHORT_ANSWER or is_asked(one.text):
            continue
        known = said.get((session, seq - 1))
        for before in [known] if known else tx.messages(session, after=max(0, seq - 2), until=seq - 1):
            text = unquoted(before).strip()
            last = sentences(text)[-1].of(text) if text and not before.opaque else ""
            if is_asked(last) and spoken_by(before) != spoken_by(one):
                found[one.number] = last if len(last) <= QUESTION else f"… {last[-QUESTION:].partition(' ')[2]}"
    return found


def confirm(tx: ReadTx, numbers: Iterable[int], then: Set[int] = frozenset()) -> dict[int, Memory | Message]:
    """Read again, in one snapshot, what the slots found one by one: what was replaced meanwhile is left out."""
    return current(tx.find_numbers(list(dict.fromkeys(numbers))), tx.now, then)


def current(
    items: Iterable[Memory | Message], now: datetime, then: Set[int] = frozenset()
) -> dict[int, Memory | Message]:
    """By document number what of one snapshot still holds; what is pinned outlives its time, here as in recall.

    Of facts that say different things of one attribute only the newest stays, what the user told before all others (an
    agent's own fact and one of no agent may differ). Past values stay that are asked for, by their numbers (`then`).
    """
    found = {item.number: item for item in items}
    memories = [item for item in found.values() if isinstance(item, Memory)]
    active = [m for m in memories if m.shown and (m.pinned or m.state == "expired" or not _over(m, now))]
    kept = {memory.number for memory in _one_a_key(active)}
    kept |= {memory.number for memory in memories if memory.number in then and memory.state == "superseded"}
    return {one: item for one, item in found.items() if isinstance(item, Message) or one in kept}


def _over(memory: Memory, now: datetime) -> bool:
    return memory.expires_at is not None and memory.expires_at <= now


def _late(memory: Memory) -> tuple[bool, datetime, int]:
    return from_user(memory), memory.event_time, memory.number


def _one_a_key(memories: Sequence[Memory]) -> list[Memory]:
    newest: dict[tuple[str | None, str | None], Memory] = {}
    for memory in memories:
        if memory.kind == "fact" and memory.operation == "set":
            other = newest.get((memory.subject, memory.key))
            if other is None or _late(other) < _late(memory):
                newest[memory.subject, memory.key] = memory
    kept = {memory.id for memory in newest.values()}
    return [m for m in memories if m.kind != "fact" or m.operation != "set" or m.id in kept]


def chosen_rollups(candidates: Sequence[Memory], shown: Iterable[Memory], *, most: int) -> list[Memory]:
    """The roll-ups to show beside what is shown already, newest first: nothing is told twice.

    The widest one in whose period nothing is shown stands for all in it. One whose period has something shown is opened
    instead: the roll-ups in it are shown, as far as theirs have nothing shown. It goes by time, so that it holds where
    `candidates` are only some of those that there are.
    """
    days = [(one.agent, day) for one in shown if (day := day_of(one.event_time)) is not None]
    newest = {(one.agent, _period(one)): one for one in sorted(candidates, key=lambda one: one.number)}
    periods = [(one, period) for (_, period), one in newest.items() if period is not None]
    closed = [
        (one, period)
        for one, period in periods
        if not any(agent == one.agent and _holds(period, day) for agent, day in days)
    ]
    found = [
        one
        for one, period in closed
        if not any(
            other.agent == one.agent and wider.level != period.level and _holds(wider, period)
            for other, wider in closed
        )
    ]
    return sorted(found, key=lambda one: (one.event_time, one.number), reverse=True)[:most]


def _period(rollup: Memory) -> Period | None:
    """The period that a roll-up tells: that of its level in which its first part lies."""
    period = day_of(rollup.event_time)
    while period is not None and period.level != rollup.metadata.get("level"):
        period = period.within
    return period


def _holds(period: Period, other: Period) -> bool:
    return period.first <= other.first and other.end <= period.end
