"""What the user's own messages say of each other: a claim that a later one replaces is no longer so. Pure.

Nothing is learnt or stored: the words index knows which messages claim something (`memhold.index.marks`), and what they
claim is read anew from their words, so what is forgotten or redacted marks nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import attrgetter, itemgetter

from memhold.facts.outdated import Outdated
from memhold.journal.visibility import seen
from memhold.messages.fences import unquoted
from memhold.messages.records import typed
from memhold.ports.transaction import ReadTx
from memhold.text.claim_reading import claims
from memhold.text.claims import Claim, about, both_hold, replaces, same_claim, surely, what_it_replaces
from memhold.values.answers import Ended
from memhold.values.records import Message

__all__ = ["MOST", "claimed", "claimed_in"]

MOST = 500
"""So many of the messages that claim something are read, the latest: what is older is marked by facts alone."""

SAID_AGAIN = 20
"""Of one thing so many of the claims that were replaced last may be told again: a later one is compared with each."""


@dataclass(slots=True, eq=False)
class _Said:
    """A claim with the messages that make it, and where it was replaced, the claim that was and the message of that.

    `sure` is whether the words leave no doubt that it was: else the newer only stands in front.
    """

    claim: Claim
    messages: list[Message] = field(default_factory=list)
    after: _Said | None = None
    by: Message | None = None
    sure: bool = False


@dataclass(slots=True)
class _Speaker:
    """What one person claimed, by what it is about: each claim once, those that hold and the last that do not."""

    known: dict[Claim, _Said] = field(default_factory=dict)
    holds: dict[str, dict[Claim, _Said]] = field(default_factory=dict)
    past: dict[str, deque[_Said]] = field(default_factory=dict)
    named: set[tuple[str, str]] = field(default_factory=set)

    def hear(self, message: Message, claimed: Sequence[Claim]) -> None:
        """Take a later message with its claims: what it says to be so again, and what it replaces."""
        # "I moved back to Oslo" is of a home where Oslo was told as one.
        sure = (replace(one, sure=one.sure or (one.thing, one.value.casefold()) in self.named) for one in claimed)
        told = dict.fromkeys(sure)
        self.named.update((one.thing, one.value.casefold()) for one in told if one.sure)
        over = {claim: [*self._replaced(claim, told)] for claim in told}
        again = [one for claim in told for one in self._past(claim) if same_claim(one.claim, claim)]
        for claim in told:
            self.known.setdefault(claim, _Said(claim=claim)).messages.append(message)
        for one in (*again, *(self.known[claim] for claim in told)):
            one.after = one.by = None
            for key in about(one.claim):
                self.holds.setdefault(key, {})[one.claim] = one
        for claim, several in over.items():
            for one in several:
                if not (one.after and one.sure):
                    one.after, one.by, one.sure = self.known[claim], message, surely(claim, one.claim)
                    for key in about(one.claim):
                        self.holds.get(key, {}).pop(one.claim, None)
                        self.past.setdefault(key, deque(maxlen=SAID_AGAIN)).append(one)

    def _replaced(self, claim: Claim, told: Container[Claim]) -> list[_Said]:
        """What a claim replaces; nothing where two stand beside each other and it does not say which."""
        keys = what_it_replaces(claim)
        holds = self._of(claim, told, (one for key in keys for one in self.holds.get(key, {}).values()))
        if not claim.over and any(both_hold(holds[0].claim, one.claim) for one in holds[1:]):
            return []
        doubted = (one for key in keys for one in self.past.get(key, ()) if one.after and not one.sure)
        return [*holds, *self._of(claim, told, doubted)]

    @staticmethod
    def _of(claim: Claim, told: Container[Claim], several: Iterable[_Said]) -> list[_Said]:
        """Which of several a claim replaces, each once; none that is told with it."""
        once = {one.claim: one for one in several}
        return [one for one in once.values() if one.claim not in told and replaces(claim, one.claim)]

    def _past(self, claim: Claim) -> Iterator[_Said]:
        return (one for key in about(claim) for one in self.past.get(key, ()) if one.after is not None)


def claimed(tx: ReadTx, numbers: Sequence[int]) -> Mapping[int, Outdated]:
    """Every message that the scope sees and that a later claim of the same person replaces, by document number.

    `numbers` are those of the messages that claim something.
    """
    return claimed_in(seen(tx, (item for item in tx.find_numbers(numbers) if isinstance(item, Message))))


def claimed_in(messages: Iterable[Message]) -> Mapping[int, Outdated]:
    """The same of these messages, in whatever order they come."""
    speakers: dict[str | None, _Speaker] = {}
    for message in typed(_in_order(messages)):
        who = message.speaker
        speakers.setdefault(who, _Speaker()).hear(message, claims(unquoted(message), who))
    every = [said for speaker in speakers.values() for said in speaker.known.values() if said.after is not None]
    # What is sure is said last, and stays where a message says both.
    return {**dict(_behind(every)), **dict(_marks(every))}


def _in_order(messages: Iterable[Message]) -> list[Message]:
    """Messages in the order in which they were said.

    What nobody dated comes no earlier than what stood in the journal before it, whatever a clock said that was wrong.
    """
    placed: list[tuple[datetime, int, Message]] = []
    latest: datetime | None = None
    for message in sorted(messages, key=attrgetter("number")):
        at = message.event_time
        if at == message.recorded_at:
            latest = at = at if latest is None else max(latest, at)
        placed.append((at, message.number, message))
    return [message for *_, message in sorted(placed, key=itemgetter(0, 1))]


def _behind(every: Iterable[_Said]) -> Iterator[tuple[int, Outdated]]:
    """What may have been replaced: it stands behind what was told later, and nothing is said of it."""
    for one in every:
        if one.after is not None and not one.sure:
            for message in one.messages:
                yield message.number, Outdated(number=message.number, by=None, by_number=one.after.messages[-1].number)


def _marks(every: Iterable[_Said]) -> Iterator[tuple[int, Outdated]]:
    by_message: dict[int, list[tuple[Message, Message, Message, Ended]]] = {}
    for one in every:
        if one.after is None or one.by is None or not one.sure:
            continue
        now = _last(one.after)
        for message in one.messages:
            ended = _ended(one, message, since=one.by, now=now)
            by_message.setdefault(message.number, []).append((message, one.by, now.messages[-1], ended))
    for number, several in by_message.items():
        _, by, last, _ = several[-1]
        said = () if by is last else (by.number,)
        values = tuple(ended for *_, ended in several)
        yield number, Outdated(number=number, by=by.id, by_number=last.number, said=said, values=values)


def _last(one: _Said) -> _Said:
    """What holds in the place of a claim now: the last of those that surely followed it."""
    while one.after is not None and one.sure:
        one = one.after
    return one


def _ended(one: _Said, message: Message, *, since: Message, now: _Said) -> Ended:
    value = now.claim.value or None
    return Ended(
        fact=message.id,
        value=one.claim.said,
        since=since.event_time,
        now=value,
        now_fact=None if value is None else now.messages[-1].id,
    )
