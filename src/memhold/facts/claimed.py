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

MOST = 1000
"""So many of the messages that claim something are read, the latest: what is older is marked by facts alone."""


@dataclass(slots=True, eq=False)
class _Said:
    """A claim with the message of it, and the claim that took its place."""

    claim: Claim
    message: Message
    after: _Said | None = None


@dataclass(slots=True)
class _Speaker:
    """What one person claimed so far."""

    standing: dict[str, list[_Said]] = field(default_factory=dict)
    """By what it is about, what holds as far as it was read."""
    replaced: list[_Said] = field(default_factory=list)

    def hear(self, message: Message) -> None:
        """Take a later message: what it says to be so again, and what it replaces."""
        told = [_Said(claim=claim, message=message) for claim in claims(unquoted(message))]
        for one in [one for one in self.replaced if any(same_claim(one.claim, new.claim) for new in told)]:
            one.after = None
            self.replaced.remove(one)
            self._stands(one)
        for new in told:
            for key in what_it_replaces(new.claim):
                for one in self.standing.get(key, ()):
                    if one.after is None and replaces(new.claim, one.claim):
                        one.after = new
                        self.replaced.append(one)
        for new in told:
            self._stands(new)

    def _stands(self, said: _Said) -> None:
        for key in about(said.claim):
            here = self.standing.setdefault(key, [])
            here[:] = [one for one in here if one.after is None and one is not said]
            here.append(said)


def claimed(tx: ReadTx, numbers: Sequence[int]) -> Mapping[int, Outdated]:
    """Every message of the scope that a later claim of the same person replaces, by document number.

    `numbers` are those of the messages that claim something.
    """
    return claimed_in(item for item in tx.find_numbers(numbers) if isinstance(item, Message))


def claimed_in(messages: Iterable[Message]) -> Mapping[int, Outdated]:
    """The same of these messages, in whatever order they come."""
    speakers: dict[object, _Speaker] = {}
    for message in sorted(messages, key=attrgetter("event_time", "number")):
        if message.role == "user":
            name = message.body.get("name")
            speakers.setdefault(name if isinstance(name, str) else None, _Speaker()).hear(message)
    return dict(_marks(one for speaker in speakers.values() for one in speaker.replaced))


def _marks(replaced: Iterable[_Said]) -> Iterator[tuple[int, Outdated]]:
    by_message: dict[int, list[tuple[_Said, _Said, _Said]]] = {}
    for one in replaced:
        if one.after is not None and one.after.message.number != one.message.number:
            by_message.setdefault(one.message.number, []).append((one, one.after, _last(one.after)))
    for number, several in by_message.items():
        _, after, now = several[-1]
        yield (
            number,
            Outdated(
                number=number,
                by=after.message.id,
                by_number=now.message.number,
                said=() if after is now else (after.message.number,),
                values=tuple(_ended(*one) for one in several),
            ),
        )


def _last(one: _Said) -> _Said:
    """What holds in the place of a claim now: the last of those that followed it."""
    while one.after is not None:
        one = one.after
    return one


def _ended(one: _Said, after: _Said, now: _Said) -> Ended:
    value = now.claim.value or None
    return Ended(
        fact=one.message.id,
        value=one.claim.said,
        since=after.message.event_time,
        now=value,
        now_fact=None if value is None else now.message.id,
    )
