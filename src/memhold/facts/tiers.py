"""Where a fact lives, and for how long: pure decisions over evidence.

A new fact of middle importance enters the mid tier with a life of 7 days since its last evidence. At two pieces of
evidence, on distinct turns, it moves to the long tier: the same row, its next revision. What lasts by nature (a name, a
birthday, a blood type, an allergy, the names of family and pets), what is important and what is pinned is long at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from memhold.facts.keys import canonical
from memhold.facts.keys.key_reading import read
from memhold.values.records import Evidence, Importance, Memory, Session, Tier, Trust, micros

__all__ = [
    "MID_LIFE",
    "PROMOTION",
    "asked_turn",
    "durable",
    "entry_tier",
    "lives_until",
    "promotes",
    "rises",
    "said_turn",
    "temporary",
]

PROMOTION = 2
"""Pieces of evidence, on distinct turns, that move a fact to the long tier."""

MID_LIFE = timedelta(days=7)
"""How long a fact stays in the mid tier after its last evidence: what was meant for a week is asked for within one."""

_LASTING = frozenset({"birthday", "birthplace", "blood_type", "allergy", "allergen"})
_NAMES = frozenset({"name", "given_name", "surname", "full_name", "middle_name", "maiden_name"})
_PETS = frozenset(
    {"pet", "cat", "dog", "rabbit", "hamster", "parrot", "bird", "turtle", "horse", "guinea_pig", "kitten"}
)


def durable(subject: str, attribute: str) -> bool:
    """Whether an attribute is known to last: the user's, their family's and their pets' names, birthdays, allergies.

    "mother" and "cat" are such attributes too: what they hold is a name.
    """
    key = canonical(subject, attribute)
    for language in key.languages:
        tokens = read(key.full, language).tokens
        if not tokens:
            continue
        owners = tokens[:-1] if tokens[-1].id in _NAMES | _LASTING else tokens
        if (owners or tokens[-1].id in _NAMES | _LASTING) and all(t.kind == "person" or t.id in _PETS for t in owners):
            return True
    return False


def entry_tier(
    *, importance: Importance, pinned: bool, lasting: bool, trust: Trust, replaced: Sequence[Memory]
) -> Tier:
    """The tier that a fact enters: the one of what it replaces, or long at once; never long on a tool's word alone."""
    if pinned or any(memory.tier == "long" for memory in replaced):
        return "long"
    if trust == "tool":
        return "mid"
    return "long" if importance == "high" or lasting else "mid"


def lives_until(tier: Tier, *, given: datetime | None, now: datetime) -> datetime | None:
    """When a fact leaves its tier: when the user said so, else `MID_LIFE` after its last evidence in the mid tier."""
    if given is not None:
        return given
    return now + MID_LIFE if tier == "mid" else None


def temporary(evidence: Sequence[Evidence]) -> bool:
    """Whether the user said until when the fact holds: then no evidence prolongs it."""
    return any(one.operation == "until" for one in evidence)


def promotes(memory: Memory, pieces: int, evidence: Sequence[Evidence]) -> bool:
    """Whether so many pieces of evidence move a fact to the long tier.

    What only a tool said stays in the mid tier until the user says it in their own words.
    """
    return memory.tier == "mid" and pieces >= PROMOTION and memory.trust != "tool" and not temporary(evidence)


def rises(memory: Memory, evidence: Sequence[Evidence]) -> bool:
    """Whether what only a tool had said is long-term once the user says it: as if it were told now."""
    if memory.tier == "long" or temporary(evidence):
        return False
    lasting = durable(memory.subject or "", memory.attribute or "")
    tier = entry_tier(importance=memory.importance, pinned=False, lasting=lasting, trust="user", replaced=())
    return tier == "long" or promotes(replace(memory, trust="user"), memory.evidence, evidence)


def said_turn(session: Session | None, change_id: str) -> str:
    """The turn of a statement: the session at its count of messages; without messages each statement is a turn."""
    return f"said:{change_id}" if session is None or not session.last_seq else f"said:{session.id}:{session.last_seq}"


def asked_turn(session: Session | None, now: datetime) -> str:
    """The turn of a recall: the session at its count of messages; without messages the time of the question."""
    return (
        f"asked:{micros(now)}" if session is None or not session.last_seq else f"asked:{session.id}:{session.last_seq}"
    )
