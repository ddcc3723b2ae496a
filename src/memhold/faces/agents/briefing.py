"""What a coding agent's model is told without asking: at a session's start, and with what the user says.

At the start: what holds for this project and this person, what was said last, and where the last session stopped. With
a prompt: what is relevant to it, where recall is confident, and nothing otherwise. All of it stands in fences, so what
a model repeats of it is known again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log1p
from typing import TYPE_CHECKING

from memhold.context.shorten import shorten_text
from memhold.faces.agents.former import former_memory
from memhold.faces.mcp.where import PERSONAL_SHARE
from memhold.recall.confidence import THRESHOLD
from memhold.text.analysis import analyse
from memhold.text.sentences import sentences
from memhold.text.token_estimate import FRAME, estimate_tokens
from memhold.values.errors import TooLarge
from memhold.values.origins import name_of, spoken_by, with_quote, words_of
from memhold.values.records import PEOPLE

if TYPE_CHECKING:
    from memhold.values.answers import Hit
    from memhold.values.records import HitKind
    from memhold.verbs.scope import AsyncScope
    from memhold.verbs.store_protocols import AsyncStore

    _Group = tuple[Hit, ...]

__all__ = ["Whose", "at_prompt", "at_start"]

FENCE_TOKENS, HEADING_TOKENS = 40, 12
"""What a fence costs, and the line above it with a prompt."""
HELD_SHARE = 0.5
"""The part of a start's budget that what holds may take; what it leaves, the last words get."""
LINE_TOKENS = 120
"""Longest line, in tokens: of a longer one its beginning and its end are shown."""
LINE_PART, LEAST_LINE = 8, 24
"""In a small budget a line is at most one of so many parts of it, and no shorter than the latter, in tokens."""
KNOWN_SHARE = 0.4
"""The part of what then remains that facts and notes may take; the user's own last lines get the rest."""
SHORT_WORDS = 4
"""A line of the user's with so few words says yes or no to something: it stands with what it answers."""
NEWEST_SHARE = 0.25
"""The part of what the user's own lines get that goes to the newest of them, whatever they say."""
FADES = 0.5
"""By how much less the oldest line that was looked at counts than the newest."""
LOOKED_AT, TURNS_LOOKED_AT = 60, 160
"""How many of the newest memories, and of the newest messages, are looked at."""
DAY_TOKENS = 10
"""What the day costs, in tokens, that stands at the first of its lines."""
NAME_TOKENS = 3
"""What it costs that the next line after one of the assistant's has the user's name again."""
HITS = 8
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
    the project's namespace before its repository had a remote.
    """

    project: str | None
    namespace: str
    user: str | None
    agent: str | None
    session: str | None
    former: str | None = None

    async def scopes(self, store: AsyncStore) -> list[tuple[str, AsyncScope]]:
        """The memories to look into, each with its name; the project's first."""
        places = [("project memory", self.project)] if self.project else []
        if self.former is not None and await former_memory(store, self.former, self.user):
            places.append(("project memory of before the repository had a remote", self.former))
        if self.namespace != self.project:
            places.append(("personal memory", self.namespace))
        return [
            (name, store.scope(namespace=place or "default", user=self.user, agent=self.agent, session=_NOWHERE))
            for name, place in places
        ]

    def said_here(self, hit: Hit) -> bool:
        """Whether a hit was said in this very session."""
        return self.session is not None and self.session in (hit.session or "")


async def at_start(store: AsyncStore, whose: Whose, budget: int, *, shown: set[str], with_own: bool = False) -> str:
    """What a session is told when it starts, in at most `budget` tokens; empty where nothing is known.

    `shown` gets the ids of what it says. With `with_own` also what this session said: its client has just lost it.
    """
    parts: list[str] = []
    scopes = await whose.scopes(store)
    for place, (name, scope) in reversed(list(enumerate(scopes))):
        # The others are asked first, each for a part; what they leave is the project's.
        left = budget - sum(map(estimate_tokens, parts))
        room = left // PERSONAL_SHARE if place and len(scopes) > 1 else left
        text = await _start_of(scope, name, room, whose, shown, with_own=with_own)
        parts += [text] if text else []
    return "\n\n".join(reversed(parts))


async def _start_of(scope: AsyncScope, name: str, budget: int, whose: Whose, shown: set[str], *, with_own: bool) -> str:
    heading = f"From the {name} (Memhold), newest last; a name holds until the next one:"
    held, seen = await _holding(scope, int(budget * HELD_SHARE))
    shown |= seen
    known = await scope.recall("", kinds=_KNOWN, limit=LOOKED_AT)
    said = await scope.recall("", kinds=("message",), roles=(*PEOPLE, "assistant"), limit=TURNS_LOOKED_AT)
    longest = max(LEAST_LINE, min(LINE_TOKENS, budget // LINE_PART))
    turns = _shortened([hit for hit in said.hits if with_own or not whose.said_here(hit)], longest)
    room = budget - sum(map(estimate_tokens, (held, heading))) - FENCE_TOKENS - DAY_TOKENS
    last = _last_words(turns)
    lines = _fitting_said(last, room, before=())
    memories = _shortened([hit for hit in known.hits if hit.id not in shown], longest)
    lines += _fitting(memories, int(KNOWN_SHARE * (room - _cost(lines))))
    telling, others = _users(turns, last)
    chosen = [*_telling_most(telling, room - _cost(lines)), *(hit for group in others for hit in group)]
    lines += _fitting_said(chosen, room - _cost(lines), before=last)
    shown_lines = _in_order(lines, known.hits, said.hits)
    while lines and _cost(shown_lines) > room:
        # Names that stand between were not counted; what was chosen last goes.
        lines.pop()
        shown_lines = _in_order(lines, known.hits, said.hits)
    shown |= {one for one, _ in lines}
    made = await scope.fence([one for one, _ in shown_lines], [text for _, text in shown_lines]) if lines else ""
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


def _last_words(turns: Sequence[Hit]) -> list[Hit]:
    """The answer at which the last session stopped: what was open stands there."""
    return [hit for hit in turns[:1] if hit.written_by == "assistant"]


def _users(turns: Sequence[Hit], last: Sequence[Hit]) -> tuple[list[_Group], list[_Group]]:
    """The user's own lines, the newest first: those that tell something, and the others.

    A yes or no stands with what it answers. The others are nods, and lines that only ask.
    """
    telling: list[_Group] = []
    nodding: list[_Group] = []
    asking: list[_Group] = []
    for place, hit in enumerate(turns):
        if hit.written_by not in PEOPLE:
            continue
        before = turns[place + 1] if place + 1 < len(turns) else None
        short = len(hit.text.split()) <= SHORT_WORDS
        if _only_asks(hit.text):
            asking.append((hit,))
        elif short and before is not None and before.written_by == "assistant" and before.session == hit.session:
            # Said to a question it decides something; behind anything else it is mostly a nod.
            group = (hit,) if before in last else (hit, before)
            (telling if _asks_at_all(before.text) else nodding).append(group)
        else:
            telling.append((hit,))
    return telling, nodding + asking


def _telling_most(groups: Sequence[_Group], budget: int) -> list[Hit]:
    """The lines that together tell most in so many tokens, the newest of them first.

    A part of the budget is the newest lines'; of the others those come that have most words which no newer line among
    the chosen has. What a newer line says makes an older one needless, never the other way round. A word counts more
    the fewer lines have it. The greedy choice by gain for its cost is that of budgeted coverage (Khuller, Moss and Naor
    1999; Lin and Bilmes 2010 for summaries).
    """
    costs = [sum(_said_cost(hit) for hit in group) for group in groups]
    terms = [{term for hit in group for term in analyse(hit.text).counts} for group in groups]
    having = Counter(term for one in terms for term in one)
    weight = {term: log1p(len(groups) / count) for term, count in having.items()}
    fresh = [set(one) for one in terms]
    left = budget
    chosen: list[int] = []
    for place, cost in enumerate(costs):
        if budget - left + cost > NEWEST_SHARE * budget:
            break
        if fresh[place]:
            chosen.append(place)
            left -= cost
            _tell(place, terms, fresh)
    rest = set(range(len(groups))) - set(chosen)
    while fitting := [place for place in sorted(rest) if costs[place] <= left and fresh[place]]:
        best = max(fitting, key=lambda one: _gain(fresh[one], weight) / costs[one] * (1 - FADES * one / len(groups)))
        chosen.append(best)
        rest.discard(best)
        left -= costs[best]
        _tell(best, terms, fresh)
    return [hit for place in chosen for hit in groups[place]]


def _tell(place: int, terms: Sequence[set[str]], fresh: Sequence[set[str]]) -> None:
    """What a line says is nothing new in the lines behind it, which are older."""
    for older in fresh[place + 1 :]:
        older.difference_update(terms[place])


def _gain(fresh: set[str], weight: Mapping[str, float]) -> float:
    # In the order of the words, so that the sum is the same in every process.
    return sum(weight[term] for term in sorted(fresh))


def _only_asks(text: str) -> bool:
    return all(_is_question(one.of(text)) for one in sentences(text))


def _asks_at_all(text: str) -> bool:
    return any(_is_question(one.of(text)) for one in sentences(text) if not one.code)


def _is_question(sentence: str) -> bool:
    return sentence.rstrip().endswith(_ASKING)


async def at_prompt(store: AsyncStore, whose: Whose, prompt: str, budget: int, *, shown: set[str]) -> str:
    """What memory holds on a prompt, in at most `budget` tokens; empty where it is not confident, or all is shown.

    What the session's window shows already, said there or told before, is left out. `shown` gets what is told now.
    """
    if not prompt.strip():
        return ""
    answers = []
    for name, scope in await whose.scopes(store):
        found = await scope.recall(prompt, limit=HITS)
        if found.confidence is None or found.confidence < THRESHOLD:
            continue
        best = max((hit.score for hit in found.hits), default=0.0)
        near = [hit for hit in found.hits if hit.score >= NEAR_BEST * best and hit.kind != "raw"]
        if hits := [hit for hit in near if hit.id not in shown and not whose.said_here(hit)]:
            answers.append((name, scope, hits))
    parts: list[str] = []
    for place, (name, scope, hits) in enumerate(answers):
        # Each gets its share of what is left: scores of two memories do not compare.
        left = (budget - sum(map(estimate_tokens, parts))) // (len(answers) - place)
        lines = _fitting(_shortened(hits, LINE_TOKENS), left - FENCE_TOKENS - HEADING_TOKENS)
        if lines:
            shown |= {one for one, _ in lines}
            made = await scope.fence([one for one, _ in lines], [text for _, text in lines])
            parts.append(f"Perhaps relevant, from the {name} (Memhold):\n{made}")
    return "\n\n".join(parts)


def _shortened(hits: Sequence[Hit], tokens: int) -> list[Hit]:
    """The hits with their texts as they will be told: whoever pasted a log holds no later session up with it."""
    return [replace(hit, text=shorten_text(hit.text, tokens)) for hit in hits]


def _fitting(hits: Sequence[Hit], budget: int) -> list[tuple[str, str]]:
    """Ids and lines of the hits that fit, in their order; one that does not is passed over."""
    found: list[tuple[str, str]] = []
    for hit in hits:
        line = _line(hit)
        if _line_cost(line) <= budget - _cost(found):
            found.append((hit.id, line))
    return found


def _fitting_said(hits: Sequence[Hit], budget: int, *, before: Sequence[Hit]) -> list[tuple[str, str]]:
    """Ids and lines, without days, of what was said and fits; a day costs once, none of those before again."""
    found: list[tuple[str, str]] = []
    days = {hit.event_time.date() for hit in before}
    left = budget
    for hit in hits:
        line = _line(hit, dated=False)
        cost = _said_cost(hit)
        new = hit.event_time.date() not in days
        if cost + DAY_TOKENS * new <= left:
            found.append((hit.id, line))
            days.add(hit.event_time.date())
            left -= cost + DAY_TOKENS * new
    return found


def _said_cost(hit: Hit) -> int:
    """What a line costs in tokens: the user's own mostly follow each other; one of the assistant's is named."""
    line = _line(hit, dated=False)
    who = f"{_who(hit)}: "
    own = hit.written_by == "user"
    return _line_cost(line.replace(who, "", 1)) if own else _line_cost(line) + NAME_TOKENS


def _in_order(lines: Sequence[tuple[str, str]], known: Sequence[Hit], said: Sequence[Hit]) -> list[tuple[str, str]]:
    """Memories, then what was said, the newest last: a day and a name stand at the first of their lines."""
    texts = dict(lines)
    found = [(hit.id, texts[hit.id]) for hit in reversed(known) if hit.id in texts]
    told = [hit for hit in reversed(said) if hit.id in texts]
    told.sort(key=lambda hit: hit.event_time.date())
    day, who = None, ""
    for hit in told:
        today, speaks = hit.event_time.date(), _who(hit)
        text = texts[hit.id][2:]
        if today != day:
            text = f"{today}, {text}"
        elif speaks == who:
            text = text.removeprefix(f"{speaks}: ")
        found.append((hit.id, f"- {text}"))
        day, who = today, speaks
    return found


def _cost(lines: Sequence[tuple[str, str]]) -> int:
    return sum(_line_cost(text) for _, text in lines)


def _line_cost(line: str) -> int:
    """What a line adds to a text: the estimate without the allowance that it makes once, and the line's end."""
    return estimate_tokens(line) - FRAME + 1


def _line(hit: Hit, *, dated: bool = True) -> str:
    when = f" ({hit.event_time:%Y-%m-%d})" if dated else ""
    return f"- {_who(hit)}{when}: {' '.join(with_quote(hit, words_of(hit)).split())}"


def _who(hit: Hit) -> str:
    who = spoken_by(hit) or hit.kind
    if hit.written_by is None and hit.origin in {"agent", "tool", "import"}:
        by = f"{hit.origin}{name_of(hit.actor)}"
        return f"{who}, noted by {by}" + ("" if hit.last_confirmed_at else ", not confirmed")
    if hit.doubtful:
        return f"{who}, doubtful"
    if hit.superseded_by or hit.outdated:
        return f"{who}, says something that no longer holds"
    return who
