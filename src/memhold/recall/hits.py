"""Rows of the ranking to hits: the item, why it was found, and the turns around it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from memhold.messages.fences import unquoted
from memhold.ports.transaction import ReadTx
from memhold.values.answers import Ended, Hit, Reason
from memhold.values.records import HitKind, Memory, Message

__all__ = ["Candidate", "as_hit", "readable", "with_neighbours"]

READ = 2_000
"""Characters of a hit that a reranker reads: about the 512 tokens that small ones take."""

MAX_SHOWN = 4_000
"""Characters of a document that a hit shows; `documents.read` gives it whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A document of the ranking: its score, the reasons, what it repeats and what replaced what it says."""

    number: int
    score: float
    why: tuple[Reason, ...]
    repeated: tuple[str, ...] = ()
    superseded_by: str | None = None
    outdated: tuple[Ended, ...] = ()


def readable(hit: Hit) -> str:
    """What a reranker reads of a hit: its text, or of a long one the sentence that is nearest and its beginning."""
    long = hit.excerpt is not None and len(hit.text) > READ
    return f"{hit.excerpt}\n{hit.text}"[:READ] if long else hit.text[:READ]


def with_neighbours(tx: ReadTx, hits: Sequence[Hit], items: Sequence[Message | Memory], count: int) -> list[Hit]:
    """The hits with up to `count` turns before and after each in its session; a memory has none.

    `items` are their rows. A turn that stands around several is read once.
    """
    if not count:
        return [*hits]
    places: dict[str, list[int]] = {}
    for item in items:
        if isinstance(item, Message):
            places.setdefault(item.session, []).append(item.seq)
    turns: dict[str, list[Message]] = {
        session: [
            one for first, last in _stretches(seqs, count) for one in tx.messages(session, after=first, until=last)
        ]
        for session, seqs in places.items()
    }
    return [
        replace(hit, neighbours=_around(turns[item.session], item, count)) if isinstance(item, Message) else hit
        for hit, item in zip(hits, items, strict=True)
    ]


def _stretches(seqs: Iterable[int], count: int) -> list[tuple[int, int]]:
    """Behind which place and up to which a session must be read for the turns around these, without a place twice."""
    found: list[tuple[int, int]] = []
    for seq in sorted(seqs):
        first, last = max(0, seq - count - 1), seq + count
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return found


def _around(turns: Sequence[Message], item: Message, count: int) -> tuple[Message, ...]:
    begin = bisect_left(turns, item.seq - count, key=lambda one: one.seq)
    end = bisect_right(turns, item.seq + count, key=lambda one: one.seq)
    return tuple(one for one in turns[begin:end] if one.id != item.id and not one.opaque)


def as_hit(candidate: Candidate, item: Message | Memory) -> Hit:
    """The hit of a candidate and its row. A message's text is without what it quotes, which may hold no longer."""
    if isinstance(item, Message):
        return Hit(
            id=item.id,
            kind="message",
            text=unquoted(item),
            score=candidate.score,
            tier=None,
            state="active",
            created_at=item.recorded_at,
            event_time=item.event_time,
            sources=candidate.repeated,
            why=candidate.why,
            role=item.role,
            written_by=item.written_by,
            speaker=item.speaker,
            session=item.session or None,
            agent=item.agent,
            superseded_by=candidate.superseded_by,
            outdated=candidate.outdated,
            metadata=item.metadata,
            origin=item.origin,
            actor=item.actor,
        )
    kind: HitKind = item.kind
    return Hit(
        id=item.id,
        kind=kind,
        text=item.text if item.kind != "document" else item.text[:MAX_SHOWN],
        score=candidate.score,
        tier=item.tier,
        state=item.state,
        created_at=item.created_at,
        event_time=item.event_time,
        sources=(*dict.fromkeys((*item.sources, *candidate.repeated)),),
        why=candidate.why,
        session=item.session,
        agent=item.agent,
        subject=item.subject,
        attribute=item.attribute,
        value=item.value,
        valid_from=item.valid_from,
        valid_to=item.valid_to,
        superseded_by=item.superseded_by or candidate.superseded_by,
        outdated=candidate.outdated,
        pinned=item.pinned,
        topics=item.topics,
        entities=item.entities,
        metadata=item.metadata,
        origin=item.origin,
        actor=item.actor,
        speaker=item.speaker,
        last_confirmed_at=item.last_confirmed_at,
        path=item.path,
        quote=item.quote,
        standing="doubtful" if item.doubtful else "stated",
        doubts=item.doubts,
    )
