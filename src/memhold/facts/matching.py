"""Which timeline a fact belongs to: the stored keys, compared with a new one. Pure, bounded, explained.

Two keys of one concept share a timeline. Keys that differ, or of which that is not sure, stay apart: a false merge
would overwrite what somebody said.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from memhold.facts.attribute import canonical_key
from memhold.facts.keys import Aliases, Key, Verdict, canonical, compare, pair_of
from memhold.facts.pairs import pairs
from memhold.ports.transaction import ReadTx
from memhold.values.records import FactKey, Memory, Suspicion

__all__ = ["ALIKE", "Resolution", "aliases", "find", "key_of", "resolve", "warm"]

ALIKE: Final = ("alike", "keys")
"""The due work of a scope whose suspicions about keys nobody has looked at yet."""

SLICE = 64
_EXACT = Verdict(same="same", rule="exact", reason="the same wording")

MAX_SUSPECTS = 3
"""Most suspicions that one new key raises: a person settles them one at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """The timeline of a subject and attribute: its subject and key, and the rule that found it.

    `known` says that it is there already. `suspects` are keys that may be the same concept and were kept apart.
    """

    subject: str
    attribute: str
    key: str
    known: bool
    rule: str
    reason: str
    suspects: tuple[tuple[FactKey, Verdict], ...] = ()


@lru_cache(maxsize=65536)
def _key(subject: str, attribute: str) -> Key:
    return canonical(subject, attribute)


# What `warm` found is looked up once, by `resolve`; the collector walks through all that is kept longer.
@lru_cache(maxsize=16384)
def _compared(a: Key, b: Key) -> Verdict:
    return compare(a, b)


def key_of(memory: Memory | FactKey) -> Key:
    """The canonical key of a fact's own wording."""
    return _key(memory.subject or "", memory.attribute or "")


async def warm(subject: str, attribute: str, stored: Sequence[FactKey]) -> None:
    """Do the comparisons of `resolve` ahead, so that it only looks them up inside the transaction.

    The event loop turns after every 64 of them (about 2 ms); no thread and no lock is held meanwhile. The new wording
    is read on a thread: at the first of a language its lexicon is loaded.
    """
    mine = await asyncio.to_thread(_key, subject, attribute)
    for start in range(0, len(stored), SLICE):
        for one in stored[start : start + SLICE]:
            _compared(mine, key_of(one))
        await asyncio.sleep(0)


def aliases(tx: ReadTx, suspicions: Iterable[Suspicion]) -> Aliases:
    """What was settled about pairs of keys, as `compare` takes it; empty when nothing was."""
    found: dict[frozenset[str], Literal["same", "different"]] = {}
    decided = (one for one in suspicions if one.kind == "key" and one.settled is not None)
    for one, memory, other in pairs(tx, decided):
        if one.settled is not None:
            found[pair_of(key_of(memory), key_of(other))] = one.settled
    return found


def find(
    tx: ReadTx, subject: str, attribute: str, agent: str | None, settled: Callable[[], Aliases] = dict
) -> Resolution:
    """The timeline for a fact that is about to be stated: `resolve`, with what is stored.

    All keys of the scope are read, and `settled` is asked, only for a wording that no fact has.
    """
    known = tx.fact_key(subject=subject, attribute=attribute, agent=agent)
    if known is not None:
        return _known(known, attribute, _EXACT)
    return resolve(subject, attribute, tx.fact_keys(agent), settled())


def resolve(subject: str, attribute: str, stored: Sequence[FactKey], settled: Aliases) -> Resolution:
    """The timeline for a fact that is about to be stated.

    An exact wording comes first, then the same canonical text, then the oldest key that `compare` finds the same. A new
    concept gets its canonical text as its key.
    """
    mine = _key(subject, attribute)
    for one in stored:
        if (one.subject, one.attribute) == (subject, attribute):
            return _known(one, attribute, _EXACT)
    suspects: dict[str, tuple[FactKey, Verdict]] = {}
    others = [(one, key_of(one)) for one in stored]
    for one, other in sorted(others, key=lambda pair: pair[1].text != mine.text):
        verdict = _verdict(mine, other, settled)
        if verdict.same == "same":
            return _known(one, attribute if one.subject == subject else one.attribute, verdict)
        if verdict.same == "unsure":
            suspects.setdefault(one.key, (one, verdict))
    return Resolution(
        subject=subject,
        attribute=attribute,
        key=_free(mine.text, attribute, {one.key for one in stored}),
        known=False,
        rule="new",
        reason="no stored key is the same concept",
        suspects=tuple(sorted(suspects.values(), key=lambda one: not one[1].liftable))[:MAX_SUSPECTS],
    )


def _verdict(mine: Key, other: Key, settled: Mapping[frozenset[str], Literal["same", "different"]]) -> Verdict:
    if settled and pair_of(mine, other) in settled and mine.text != other.text:
        return compare(mine, other, aliases=settled)
    return _compared(mine, other)


def _known(one: FactKey, attribute: str, verdict: Verdict) -> Resolution:
    return Resolution(
        subject=one.subject,
        attribute=attribute,
        key=one.key,
        known=True,
        rule=verdict.rule,
        reason=verdict.reason,
    )


def _free(text: str, attribute: str, taken: set[str]) -> str:
    """A key that no other concept has; two concepts seldom share a canonical text."""
    key, place = text, 1
    while key in taken:
        place += 1
        key = f"{text} ({canonical_key(attribute)} {place})"
    return key
