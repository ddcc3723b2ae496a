"""What a coding agent's model is told without asking: at a session's start, and with what the user says.

At the start: what holds for this project and this person, where the last session ended, what concerns the files that
are worked on, and the rest by recency and by what it adds. With a prompt: what answers it, where recall is confident,
and nothing otherwise. A request is told with what came of it. All of it stands in fences, so what a model repeats of it
is known again.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import log1p
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING

from memhold.context.shorten import shorten_text
from memhold.faces.agents.findings import Turn, turns_in, words_in
from memhold.faces.agents.former import former_memory
from memhold.faces.mcp.where import PERSONAL_SHARE
from memhold.recall.confidence import THRESHOLD
from memhold.text.analysis import analyse
from memhold.text.sentences import sentences
from memhold.text.token_estimate import FRAME, estimate_tokens
from memhold.values.errors import NotFound, TooLarge
from memhold.values.origins import name_of, spoken_by, with_quote
from memhold.values.records import PEOPLE, Message

if TYPE_CHECKING:
    from memhold.values.answers import Hit
    from memhold.values.records import HitKind
    from memhold.verbs.scope import AsyncScope
    from memhold.verbs.store_protocols import AsyncStore

__all__ = ["Whose", "at_prompt", "at_start"]

FENCE_TOKENS, HEADING_TOKENS = 40, 10
"""What a fence costs, and a line above some others in it."""
HELD_SHARE = 0.5
"""The part of a start's budget that what holds may take; what it leaves, the turns get."""
LINE_TOKENS, LEAST_LINE, LINE_PART = 120, 24, 8
"""Longest line, in tokens, of a request and of what came of it: of a longer one the beginning and the end are shown. In
a small budget it is at most one of so many parts of that, and no shorter than the least."""
SHARE = 0.4
"""The part of what remains that what concerns the files may take, and of what then remains facts and notes."""
SHORT_WORDS = 4
"""A line of the user's with so few words stands with what it answers."""
NEWEST_SHARE = 0.25
"""The part of what the other turns get that goes to the newest of them, whatever they say."""
FADES = 0.5
"""By how much less the oldest turn that was looked at counts than the newest."""
OWN_SHARE = 0.6
"""The part of it that what the user told may take, without what came of it."""
LOOKED_AT, TURNS_LOOKED_AT = 60, 160
"""How many of the newest memories, and of the user's newest lines, are looked at."""
SESSIONS, READ = 6, 300
"""Of so many of the newest sessions so many messages are read, from their ends."""
BEFORE, BEHIND = 40, 200
"""How many messages of a session are read around a hit: a turn may have many calls."""
DAY_TOKENS, LINE_END = 10, 3
"""What a day costs in front of a line, and a line's mark and end."""
HITS, MOST_TURNS = 8, 4
ARROW = "\u2192"
"""What parts the lines of a turn; it stands in none of them, so that no text passes for the next one's speaker."""
NOBODY = "a line that names nobody is the user's"
NEAR_BEST = 0.7
"""The confidence is that of the best hit; what scores less than this part of it only fills the page."""
_NOWHERE = "memhold:start"
"""A session in which nothing is said: a start continues none."""
_KNOWN: Sequence[HitKind] = ("fact", "note", "summary")
_ASKING = ("?", "？", "؟")  # noqa: RUF001 - the question marks of other scripts


@dataclass(frozen=True, slots=True, kw_only=True)
class Whose:
    """Whose memory a session is about: the project's namespace where it is in one, and the person's own.

    `session` is what the client calls the session: what was said in it stands in its own window already. `former` is
    the project's namespace before its repository had a remote. `files` are those that are worked on in its folder.
    """

    project: str | None
    namespace: str
    user: str | None
    agent: str | None
    session: str | None
    former: str | None = None
    files: frozenset[str] = frozenset()

    async def places(self, store: AsyncStore) -> list[tuple[str, str]]:
        """The memories to look into, each with its name and its namespace; the project's first."""
        places = [("project memory", self.project)] if self.project else []
        if self.former is not None and await former_memory(store, self.former, self.user):
            places.append(("project memory under its other name", self.former))
        if self.namespace != self.project:
            places.append(("personal memory", self.namespace))
        return places

    def scope(self, store: AsyncStore, place: str, session: str | None = _NOWHERE) -> AsyncScope:
        """One of these memories, in a session of it."""
        return store.scope(namespace=place, user=self.user, agent=self.agent, session=session)

    def said_here(self, session: str | None) -> bool:
        """Whether what was said in a session of the store was said in this very one."""
        return self.session is not None and self.session in (session or "")

    def works_on(self, turn: Turn) -> bool:
        """Whether a turn changed or names a file that is worked on."""
        if not self.files:
            return False
        said = " ".join(map(words_in, (turn.asked, *turn.said)))
        return not self.files.isdisjoint(turn.files) or any(PurePath(one).name in said for one in self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """A line to be told: the ids of what it tells, its time, and its text, which is `dated` below its day.

    `lead` is what it answers, in front of the text; behind a line that ends with that it is left out.
    """

    ids: tuple[str, ...]
    at: datetime
    text: str
    lead: str = ""
    dated: bool = True
    cost: int = field(init=False)
    """What it adds to a text, in tokens, the day apart."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "cost", estimate_tokens(self.whole) - FRAME + LINE_END)

    @property
    def whole(self) -> str:
        """Its text behind what it answers."""
        return self.lead + self.text

    @property
    def day(self) -> str:
        """What stands in front of the first line of a day."""
        return f"{self.at.date()}, " if self.dated else ""


async def at_start(store: AsyncStore, whose: Whose, budget: int, *, shown: set[str], with_own: bool = False) -> str:
    """What a session is told when it starts, in at most `budget` tokens; empty where nothing is known.

    `shown` gets the ids of what it says. With `with_own` also what this session said: its client has just lost it.
    """
    parts: list[str] = []
    places = await whose.places(store)
    for at, (name, place) in reversed(list(enumerate(places))):
        # The others are asked first, each for a part; what they leave is the project's.
        left = budget - sum(map(estimate_tokens, parts))
        room = left // PERSONAL_SHARE if at and len(places) > 1 else left
        text = await _start_of(store, whose, (name, place), room, shown, with_own=with_own)
        parts += [text] if text else []
    return "\n\n".join(reversed(parts))


async def _start_of(
    store: AsyncStore, whose: Whose, place: tuple[str, str], budget: int, shown: set[str], *, with_own: bool
) -> str:
    scope, heading = (
        whose.scope(store, place[1]),
        f"From the {place[0]} (Memhold); {NOBODY}:",
    )
    held, seen = await _holding(scope, int(budget * HELD_SHARE))
    shown |= seen
    known = await scope.recall("", kinds=_KNOWN, limit=LOOKED_AT)
    turns = await _turns(store, whose, place[1], with_own=with_own)
    longest = max(LEAST_LINE, min(LINE_TOKENS, budget // LINE_PART))
    room = budget - sum(map(estimate_tokens, (held, heading))) - FENCE_TOKENS
    memories = [_memory(hit, longest) for hit in known.hits if hit.id not in shown]
    told = _chosen(whose, turns, memories, room, longest)
    lines = _in_order(told)
    shown |= {one for lines_of in told.values() for line in lines_of for one in line.ids}
    ids = [one for lines_of in told.values() for line in lines_of for one in line.ids]
    made = await scope.fence(ids, lines) if lines else ""
    found = "\n".join(part for part in (held, made) if part)
    return f"{heading}\n{found}" if found else ""


async def _holding(scope: AsyncScope, budget: int) -> tuple[str, set[str]]:
    """What holds whatever is asked: corrections, standing wishes, the profile; with the ids of what it shows."""
    try:
        found = await scope.context(budget=max(1, budget), reserve=0)
    except TooLarge:
        return "", set()
    if not found.shown:
        return "", set()
    # The other messages only make the list valid for a provider.
    texts = [one["content"] for one in found.messages if isinstance(one["content"], str)]
    return "\n".join(text for text in texts if "<memhold-recall " in text), set(found.shown)


async def _turns(store: AsyncStore, whose: Whose, place: str, *, with_own: bool) -> list[Turn]:
    """The newest turns, newest first: those of the newest sessions with what came of them, others as asked."""
    said = await whose.scope(store, place).recall("", kinds=("message",), roles=(*PEOPLE,), limit=TURNS_LOOKED_AT)
    lines = [hit for hit in said.hits if with_own or not whose.said_here(hit.session)]
    names = list(dict.fromkeys(hit.session for hit in lines))[:SESSIONS]
    read = await asyncio.gather(*(whose.scope(store, place, name).messages(newest=True, limit=READ) for name in names))
    turns = {turn.asked.id: turn for messages in read for turn in turns_in(messages)}
    return [replace(turns.get(hit.id) or Turn(asked=hit), asked=hit) for hit in lines]


_HEADINGS = {
    "last": "Where the last session ended{branch}:",
    "files": "Of the files that are worked on:",
    "known": "Known:",
    "others": "Earlier:",
}
"""What is told at a start, in this order, and the line above it."""


def _chosen(
    whose: Whose, turns: Sequence[Turn], memories: Sequence[_Told], room: int, longest: int
) -> dict[str, list[_Told]]:
    """What is told below each heading within so many tokens: each takes its part of what those before it leave."""
    told: dict[str, list[_Told]] = {}

    def left() -> int:
        """Behind the heading of what comes next."""
        return room - HEADING_TOKENS - sum(HEADING_TOKENS + _cost(lines) for lines in told.values() if lines)

    lines = [_line(turn, longest) for turn in turns]
    branch = turns[0].asked.metadata.get("git_branch") if turns else None
    last = _HEADINGS["last"].format(branch=f" (branch {branch})" if isinstance(branch, str) else "")
    told[last] = _fitting(lines[:1], left())
    about = [at for at in range(1, len(turns)) if whose.works_on(turns[at])]
    told[_HEADINGS["files"]] = _fitting([lines[at] for at in about], int(SHARE * left()))
    told[_HEADINGS["known"]] = _fitting(memories, int(SHARE * left()))
    rest = [turns[at] for at in range(1, len(turns)) if at not in about]
    told[_HEADINGS["others"]] = _rest(rest, left(), longest)
    known = told[_HEADINGS["known"]]
    known += _fitting([one for one in memories if one not in known], left())
    return {heading: found for heading, found in told.items() if found}


def _rest(turns: Sequence[Turn], room: int, longest: int) -> list[_Told]:
    """What the user told, then what came of the turns, each by what it adds; then whatever else there is room for."""
    short = [_line(replace(turn, said=(), files=(), ran=()), longest) for turn in turns]
    whole = [_line(turn, longest) for turn in turns]
    telling = [at for at, turn in enumerate(turns) if _tells(turn)]
    own = _telling_most([short[at] for at in telling], int(OWN_SHARE * room))
    chosen = {telling[at]: short[telling[at]] for at in own}
    for at in _telling_most(whole, room - _cost([*chosen.values()]), told=chosen):
        chosen[at] = whole[at]
    others = [one for at, one in enumerate(short) if at not in chosen and at not in telling]
    return _fitting([*chosen.values(), *others], room)


def _telling_most(
    lines: Sequence[_Told], budget: int, *, told: Mapping[int, _Told] = MappingProxyType({})
) -> list[int]:
    """The places of the lines that together tell most in so many tokens, the newest of them first.

    A part of the budget is the newest lines'; of the others those come that have most words which no newer line among
    the chosen has. What a newer line says makes an older one needless, never the other way round. A word counts more
    the fewer lines have it. The greedy choice by gain for its cost is that of budgeted coverage (Khuller, Moss and Naor
    1999; Lin and Bilmes 2010 for summaries). Of some lines a part is `told` already, by their places.
    """
    costs = [one.cost - (told[at].cost if at in told else 0) for at, one in enumerate(lines)]
    terms = [set(analyse(one.whole).counts) for one in lines]
    having = Counter(term for one in terms for term in one)
    weight = {term: log1p(len(lines) / count) for term, count in having.items()}
    fresh = [set(one) for one in terms]
    for place, part in told.items():
        for one in fresh[place:]:
            one.difference_update(analyse(part.whole).counts)
    left = budget
    chosen: list[int] = []
    for place, cost in enumerate(costs):
        if budget - left + cost > NEWEST_SHARE * budget:
            break
        if fresh[place]:
            chosen.append(place)
            left -= cost
            _tell(place, terms, fresh)
    rest = set(range(len(lines))) - set(chosen)
    while fitting := [place for place in sorted(rest) if costs[place] <= left and fresh[place]]:
        best = max(fitting, key=lambda one: _gain(fresh[one], weight) / costs[one] * (1 - FADES * one / len(lines)))
        chosen.append(best)
        rest.discard(best)
        left -= costs[best]
        _tell(best, terms, fresh)
    return chosen


def _tell(place: int, terms: Sequence[set[str]], fresh: Sequence[set[str]]) -> None:
    """What a line says is nothing new in the lines behind it, which are older."""
    for older in fresh[place + 1 :]:
        older.difference_update(terms[place])


def _gain(fresh: set[str], weight: Mapping[str, float]) -> float:
    # In the order of the words, so that the sum is the same in every process.
    return sum(weight[term] for term in sorted(fresh))


def _tells(turn: Turn) -> bool:
    """Whether the user tells something in a turn: a yes or no does so where something was asked."""
    text = words_in(turn.asked)
    said = [one.of(text) for one in sentences(text)]
    if all(_is_question(one) for one in said):
        return False
    if len(text.split()) > SHORT_WORDS:
        return True
    return turn.before is not None and any(
        _is_question(one.of(words)) for words in (words_in(turn.before),) for one in sentences(words) if not one.code
    )


def _is_question(sentence: str) -> bool:
    return sentence.rstrip().endswith(_ASKING)


def _line(turn: Turn, tokens: int) -> _Told:
    """A turn in one line: what a short answer answers, the request, what came of it, and what was done for it."""
    short = turn.before is not None and len(words_in(turn.asked).split()) <= SHORT_WORDS
    said = [*([turn.before] if turn.before is not None and short else []), turn.asked, *turn.said]
    texts = [f"{_by(one)}{_flat(one, tokens)}" for one in said]
    lead = f"{texts.pop(0)} {ARROW} " if short else ""
    text = f" {ARROW} ".join(texts) + (f" [{turn.work}]" if turn.work else "")
    return _Told(ids=tuple(one.id for one in said), at=turn.asked.event_time, text=text, lead=lead)


def _memory(hit: Hit, tokens: int) -> _Told:
    text = f"{_who(hit)} ({hit.event_time:%Y-%m-%d}): {_flat(hit, tokens)}"
    return _Told(ids=(hit.id,), at=hit.event_time, text=text, dated=False)


def _flat(one: Message | Hit, tokens: int) -> str:
    """What a line says in one line, shortened: whoever pasted a log holds no later session up with it."""
    short = shorten_text(words_in(one), tokens)
    told = short if isinstance(one, Message) else with_quote(one, short)
    return " ".join(told.replace(ARROW, "->").split())


def _fitting(lines: Sequence[_Told], budget: int) -> list[_Told]:
    """The lines that fit, each with its day, in their order; one that does not is passed over."""
    found: list[_Told] = []
    for line in lines:
        cost = line.cost + DAY_TOKENS * line.dated
        if cost <= budget:
            found.append(line)
            budget -= cost
    return found


def _cost(lines: Sequence[_Told]) -> int:
    return sum(line.cost for line in lines) + DAY_TOKENS * len({line.day for line in lines if line.dated})


def _in_order(told: Mapping[str, Sequence[_Told]]) -> list[str]:
    """The lines below their headings, the newest last; a day stands at the first of its lines."""
    found = []
    for heading, lines in told.items():
        found.append(heading)
        day = last = ""
        for line in sorted(lines, key=lambda one: one.at):
            text = line.text if line.ids[0] == last else line.whole
            found.append(f"- {line.day if line.day != day else ''}{text}")
            day, last = line.day, line.ids[-1]
    return found


async def at_prompt(store: AsyncStore, whose: Whose, prompt: str, budget: int, *, shown: set[str]) -> str:
    """What memory holds on a prompt, in at most `budget` tokens; empty where it is not confident, or all is shown.

    What the session's window shows already, said there or told before, is left out. `shown` gets what is told now.
    """
    if not prompt.strip():
        return ""
    answers: list[tuple[str, str, list[_Told]]] = []
    for name, place in await whose.places(store):
        found = await whose.scope(store, place).recall(prompt, limit=HITS)
        if found.confidence is None or found.confidence < THRESHOLD:
            continue
        best = max((hit.score for hit in found.hits), default=0.0)
        near = [hit for hit in found.hits if hit.score >= NEAR_BEST * best and hit.kind != "raw"]
        lines = [
            await _about(store, whose, place, hit) for hit in near[:MOST_TURNS] if not whose.said_here(hit.session)
        ]
        if new := [line for line in {one.ids: one for one in lines}.values() if not shown.issuperset(line.ids)]:
            answers.append((name, place, new))
    parts: list[str] = []
    for at, (name, place, lines) in enumerate(answers):
        # Each gets its share of what is left: scores of two memories do not compare.
        left = (budget - sum(map(estimate_tokens, parts))) // (len(answers) - at)
        heading = f"Perhaps relevant, from the {name} (Memhold); {NOBODY}:"
        told = _fitting(lines, left - FENCE_TOKENS - estimate_tokens(heading))
        if told:
            ids = [one for line in told for one in line.ids]
            shown.update(ids)
            made = await whose.scope(store, place).fence(ids, [f"- {line.day}{line.whole}" for line in told])
            parts.append(f"{heading}\n{made}")
    return "\n\n".join(parts)


async def _about(store: AsyncStore, whose: Whose, place: str, hit: Hit) -> _Told:
    """What a hit is told as: a message with the turn that it stands in, anything else as it is."""
    if hit.kind != "message":
        return _memory(hit, LINE_TOKENS)
    scope = whose.scope(store, place, hit.session)
    try:
        item = await scope.get(hit.id)
    except NotFound:
        item = None
    turn = Turn(asked=hit)
    if isinstance(item, Message):
        around = await scope.messages(after=max(0, item.seq - BEFORE), limit=BEFORE + BEHIND)
        turn = next((one for one in turns_in(around) if one.first <= item.seq <= one.last), turn)
    said = [turn.asked, *turn.said]
    said = [hit if one.id == hit.id else one for one in said]  # it knows what of it holds no longer
    calls = isinstance(item, Message) and item.written_by == "assistant" and not words_in(item)
    if hit not in said and not calls:
        said.insert(1, hit)
    return _line(replace(turn, asked=said[0], said=tuple(said[1:])), LINE_TOKENS)


def _by(line: Message | Hit) -> str:
    who = _who(line)
    return "" if who == "user" else f"{who}: "


def _who(line: Message | Hit) -> str:
    who = spoken_by(line)
    if isinstance(line, Message):
        return who
    who = who or line.kind
    if line.written_by is None and line.origin in {"agent", "tool", "import"}:
        by = f"{line.origin}{name_of(line.actor)}"
        return f"{who}, noted by {by}" + ("" if line.last_confirmed_at else ", not confirmed")
    if line.doubtful:
        return f"{who}, doubtful"
    if line.superseded_by or line.outdated:
        return f"{who}, says something that no longer holds"
    return who
