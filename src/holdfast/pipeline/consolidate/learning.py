"""Applying a draft's operations to memory, inside the transaction that also moves the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from holdfast.model import Author, Effect, Importance, Memory, Message, Tier, Trust
from holdfast.pipeline.compact.topics import MAX_ENTITIES, MAX_TOPICS, capped
from holdfast.pipeline.consolidate.contract import Learned, Noted
from holdfast.pipeline.consolidate.snapshot import Snapshot
from holdfast.pipeline.consolidate.window import is_result
from holdfast.pipeline.documents import index_memories
from holdfast.pipeline.remember import Teller, memory_digest, revise
from holdfast.pipeline.statements import Statement, state_fact
from holdfast.ports import Ids
from holdfast.transaction import WriteTx

__all__ = ["Learner"]

_ORDER: tuple[Importance, ...] = ("low", "mid", "high")


@dataclass(slots=True, kw_only=True)
class Learner:
    """What one consolidation did so far: effects, one a memory. `life` is how long a mid-term fact lives unused."""

    tx: WriteTx
    snapshot: Snapshot
    author: Author
    ids: Ids
    secret: bytes
    change_id: str
    life: timedelta
    facts: int = 0
    notes: int = 0
    _effects: dict[str, Effect] = field(default_factory=dict)

    @property
    def effects(self) -> tuple[Effect, ...]:
        """From which revision to which each touched memory went."""
        return tuple(self._effects.values())

    def noted(self, effect: Effect) -> None:
        """Add an effect; a memory that was touched before goes from its first revision to its last."""
        before = self._effects.get(effect.memory_id)
        start = effect.rev_before if before is None else before.rev_before
        self._effects[effect.memory_id] = replace(effect, rev_before=start)

    def revise(self, memory: Memory, **changed: Any) -> None:
        """Write a memory's next revision."""
        self.noted(revise(self.tx, memory, **changed))

    def store(self, memory: Memory, digest: bytes) -> Memory:
        """Put a new memory, indexed."""
        kept = replace(memory, number=self.tx.take_numbers(1))
        self.tx.put_memory(kept, digest=digest)
        index_memories(self.tx, [kept])
        self.noted(Effect(memory_id=kept.id, rev_before=0, rev_after=1))
        return kept

    def fresh(self, sources: Sequence[Message], *, text: str, importance: Importance, **fields: Any) -> Memory:
        """A memory as this consolidation would make it from these messages; its number is taken when it is stored."""
        at: datetime = fields.pop("at", None) or max(message.event_time for message in sources)
        tier: Tier = "long" if importance == "high" else "mid"
        return Memory(
            id=self.ids.new("mem"),
            number=-1,
            text=text,
            tier=tier,
            agent=self.snapshot.agent,
            session=self.snapshot.session.name,
            importance=importance,
            origin=self.author.origin,
            trust=trust_of(sources),
            evidence=1,
            sources=tuple(message.id for message in sources),
            event_time=at,
            valid_from=at,
            created_at=self.tx.now,
            recorded_at=self.tx.now,
            **fields,
        )

    # ------------------------------------------------------------------------------------------------ notes, facts

    def note(self, given: Noted) -> None:
        """Keep a note; the same note again gains evidence."""
        sources = self._messages(given.sources)
        fresh = self.fresh(
            sources,
            text=given.text,
            importance=given.importance,
            kind="note",
            topics=given.topics,
            entities=given.entities,
        )
        digest = memory_digest(self.secret, fresh)
        if self.tx.blocked(digest):
            return
        same = self.tx.same_content(kind="note", digest=digest, agent=fresh.agent)
        if same is not None:
            self._again(same, fresh)
        else:
            self.store(fresh, digest)
        self.notes += 1

    def fact(self, given: Learned) -> None:
        """Carry out one operation on the timeline of its concept, as it stands now.

        Against what the user told, without the user's own words, it is kept apart with a suspicion.
        """
        sources = self._messages(given.sources)
        said = max(message.event_time for message in sources)
        trust = trust_of(sources)
        target = self._target(given)
        ended = target is not None and given.operation == "remove"
        statement = Statement(
            subject=(target.subject or given.subject) if target is not None else given.subject,
            attribute=(target.attribute or given.attribute) if target is not None else given.attribute,
            value=(target.value or given.value) if target is not None and ended else given.value,
            at=said if given.holds_from is None else min(said, given.holds_from),
            operation=given.operation,
            importance=given.importance,
            topics=given.topics,
            entities=given.entities,
            sources=tuple(message.id for message in sources),
            trust=trust,
            own_words=trust == "user",
            turn=f"said:{self.snapshot.session.id}:{sources[-1].seq}",
        )
        teller = Teller(
            ids=self.ids,
            secret=self.secret,
            author=self.author,
            agent=self.snapshot.agent,
            session=self.snapshot.session.name,
        )
        stated = state_fact(self.tx, statement, teller=teller, change_id=self.change_id, life=self.life)
        for effect in stated.effects:
            self.noted(effect)
        self.facts += bool(stated.effects)

    def _again(self, held: Memory, fresh: Memory) -> None:
        """The same content once more: its sources, evidence, labels and importance grow."""
        sources = tuple(dict.fromkeys((*held.sources, *fresh.sources)))
        if sources == held.sources:
            return
        importance = max(held.importance, fresh.importance, key=_ORDER.index)
        self.revise(
            held,
            sources=sources,
            evidence=held.evidence + 1,
            topics=capped(held.topics, fresh.topics, MAX_TOPICS),
            entities=capped(held.entities, fresh.entities, MAX_ENTITIES),
            importance=importance,
            tier="long" if importance == "high" else held.tier,
        )

    def _messages(self, places: Sequence[int]) -> list[Message]:
        return [self.snapshot.messages[place - 1] for place in sorted(places)]

    def _target(self, given: Learned) -> Memory | None:
        """The known fact that is meant, where it still stands; else the operation stands on its own words."""
        if given.target is None:
            return None
        shown = self.snapshot.known[given.target - 1]
        current = self.tx.find_memories([shown.id])
        return current[0] if current and current[0].state == "active" else None


def trust_of(sources: Sequence[Message]) -> Trust:
    """On whose word a memory stands: a person's, where a person said it at all."""
    if any(message.role == "user" and not is_result(message) for message in sources):
        return "user"
    return "tool" if any(is_result(message) for message in sources) else "assistant"
