"""What the user's own messages say of each other: a claim that a later one replaces is no longer so. Pure.

Nothing is learnt or stored: the words index knows which messages claim something (`memhold.index.marks`), and what they
claim is read anew from their words, so what is forgotten or redacted marks nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from memhold.facts.outdated import Outdated
from memhold.messages.fences import unquoted
from memhold.ports.transaction import ReadTx
from memhold.text.claim_reading import claims
from memhold.text.claims import Claim, about, replaces, same_claim, what_it_replaces
from memhold.values.answers import Ended
from memhold.values.records import Message

__all__ = ["MOST", "claimed", "claimed_in"]

MOST = 500
"""So many of the messages that claim something are read, the latest: what is older is marked by facts alone."""


@dataclass(slots=True, eq=False)
class _Said:
    """A claim with the messages that make it, and where it was replaced, the claim that was and the message of that."""

    claim: Claim
    messages: list[Message] = field(default_factory=list)
    after: _Said | None = None
    by: Message | None = None


@dataclass(slots=True)
class _Speaker:
    """What one person claimed so far: by what a claim is about, each claim once."""

    known: dict[Claim, _Said] = field(default_factory=dict)
    around: dict[str, list[_Said]] = field(default_factory=dict)

    def hear(self, message: Message) -> None:
        """Take a later message: what it says to be so again, and what it replaces."""
        told = dict.fromkeys(claims(unquoted(message)))
        before = {claim: [*self._around(about(claim))] for claim in told}
        over = {claim: [*self._around(what_it_replaces(claim))] for claim in told}
        for claim in told:
            said = self.known.get(claim)
            if said is None:
                said = self.known[claim] = _Said(claim=claim)
                for key in about(claim):
                    self.around.setdefault(key, []).append(said)
            said.messages.append(message)
            for one in (said, *before[claim]):
                if one is said or (one.after is not None and same_claim(one.claim, claim)):
                    one.after = one.by = None
        for claim, several in over.items():
            for one in several:
                if one.after is None and one.claim not in told and replaces(claim, one.claim):
                    one.after, one.by = self.known[claim], message

    def _around(self, keys: Iterable[str]) -> Iterator[_Said]:
        return (one for key in keys for one in self.around.get(key, ()))


def claimed(tx: ReadTx, numbers: Sequence[int]) -> Mapping[int, Outdated]:
    """Every message of the scope that a later claim of the same person replaces, by document number.

    `numbers` are those of the messages that claim something.
    """
    return claimed_in(item for item in tx.find_numbers(numbers) if isinstance(item, Message))


def claimed_in(messages: Iterable[Message]) -> Mapping[int, Outdated]:
    """The same of these messages, in whatever order they come."""
    speakers: dict[tuple[str | None, bool], _Speaker] = {}
    for message in sorted(messages, key=attrgetter("event_time", "number")):
        if message.role == "user":
            # What an agent or a tool brings as the user's line is no word against what the user said.
            name, brought = message.body.get("name"), message.origin in {"agent", "tool"}
            who = (name if isinstance(name, str) else None, brought)
            speakers.setdefault(who, _Speaker()).hear(message)
    return dict(_marks(said for speaker in speakers.values() for said in speaker.known.values()))


def _marks(every: Iterable[_Said]) -> Iterator[tuple[int, Outdated]]:
    by_message: dict[int, list[tuple[Message, Message, Message, Ended]]] = {}
    for one in every:
        if one.after is None or one.by is None:
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
    """What holds in the place of a claim now: the last of those that followed it."""
    while one.after is not None:
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
