"""Applying a draft's operations to memory, inside the transaction that also moves the cursor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from memhold.consolidate.asking import only_recalled, quoted_in
from memhold.consolidate.contract import Learned, Noted
from memhold.consolidate.snapshot import Snapshot
from memhold.facts.beside import stand_beside, would_end
from memhold.facts.instructions import learn_instruction
from memhold.facts.keys import Operation, cardinality
from memhold.facts.plans import OPEN, Untold, of_a_time, untold
from memhold.facts.quotes import spoken, stands, told
from memhold.facts.remember import Writer, fact_text
from memhold.facts.revisions import memory_digest, revise, said_digest
from memhold.facts.state import Statement, state_fact
from memhold.fidelity.quotes import in_line
from memhold.index.documents import index_memories
from memhold.messages.fences import unquoted
from memhold.messages.records import typed
from memhold.ports.stores import Ids
from memhold.ports.transaction import WriteTx
from memhold.text.compare import same_value
from memhold.text.labels import MAX_ENTITIES, MAX_TOPICS, capped
from memhold.text.own_words import without_quotes
from memhold.values.records import (
    HOLDS_FROM,
    NOTE_KIND,
    SPEAKER,
    Author,
    Effect,
    Importance,
    Memory,
    MemoryQuote,
    Message,
    Tier,
    Trust,
)

__all__ = ["Learner"]

PLANNED = "(planned {:%Y-%m-%d})"
"""What stands in front of a note of what was only planned: the day on which it was said."""
_ORDER: tuple[Importance, ...] = ("low", "mid", "high")
_MODEL: Mapping[Literal["set", "add", "remove"], Operation] = {"set": "replace", "add": "add", "remove": "end"}


@dataclass(slots=True, kw_only=True)
class Learner:
    """What one consolidation did so far: effects, one a memory, and why each fact is as it is."""

    tx: WriteTx
    snapshot: Snapshot
    author: Author
    ids: Ids
    secret: bytes
    change_id: str
    facts: int = 0
    notes: int = 0
    reasons: dict[str, str] = field(default_factory=dict)
    _effects: dict[str, Effect] = field(default_factory=dict)
    _silent: frozenset[str] = field(init=False)
    _quoted: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        self._silent = only_recalled(self.snapshot.messages)
        self._quoted = quoted_in(self.snapshot.messages)

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
        trust = trust_of(sources, text)
        tier: Tier = "long" if importance == "high" and trust != "tool" else "mid"
        return Memory(
            id=self.ids.new("mem"),
            number=-1,
            text=text,
            tier=tier,
            agent=self.snapshot.agent,
            session=self.snapshot.session.name,
            importance=importance,
            origin=self.author.origin,
            actor=self.author.name,
            trust=trust,
            evidence=1,
            sources=tuple(message.id for message in sources),
            event_time=at,
            valid_from=at,
            created_at=self.tx.now,
            recorded_at=self.tx.now,
            **fields,
        )

    # ------------------------------------------------------------------------------------------------ notes, facts

    def note(self, given: Noted, **own: Any) -> Memory | None:
        """Keep a note, with metadata of its `own`; the same note again gains evidence. None where none is kept."""
        sources = self._messages(given.sources)
        if not sources:
            return None
        if given.kind == "instruction" and given.standing == "stated" and self._instructs(given):
            return None
        doubtful = given.standing == "doubtful"
        name = _speaker(sources, given.text)
        own |= {NOTE_KIND: given.kind} if given.kind != "note" else {}
        fresh = self.fresh(
            sources,
            text=given.text,
            importance="mid" if doubtful else given.importance,
            kind="note",
            metadata={**own, **({SPEAKER: name} if name else {})},
            topics=given.topics,
            entities=given.entities,
            quotes=self._quotes(given),
            standing=given.standing,
            doubts=given.doubts,
        )
        digest = memory_digest(self.secret, fresh)
        if self.tx.blocked(said_digest(self.secret, fresh)):
            return None
        self.notes += 1
        same = self.tx.same_content(kind="note", digest=digest, agent=fresh.agent)
        if same is None:
            return self.store(fresh, digest)
        self._again(same, fresh)
        return same

    def fact(self, given: Learned) -> None:
        """Carry out one operation on the timeline of its concept, as it stands now.

        What the user told ends only where the user says so in these messages; else it is kept apart with a suspicion.
        What only an assistant repeats of what was recalled, or is known, is no evidence. What holds from a later time
        on, or is only a plan, is kept as a note: the present is what it was until it is told that it came about.
        """
        sources = self._messages(given.sources)
        if not sources or self._echoes(given, sources):
            return
        given = replace(given, subject=_about(given, sources))
        open_ = self._untold(given, sources)
        if open_ == "coming":
            self._planned(given, sources)
            return
        if open_ is not None:
            given = replace(given, standing="doubtful", doubts=(*given.doubts, OPEN[open_]))
        said = max(message.event_time for message in sources)
        at = said if given.holds_from is None else min(max(said, self.tx.now), given.holds_from)
        if given.holds_from is not None and given.holds_from > at:
            self._planned(given, sources)
            return
        ended = self._would_end(given)
        if at < said and any(one.valid_from > at for one in ended):
            # "Since January", said after what it ends was told: that held until it was told otherwise.
            at = said
        if ended and any(in_line(f"{given.quote.rstrip('?')}?", unquoted(one)) for one in typed(sources)):
            given = replace(given, standing="doubtful", doubts=(*given.doubts, "the line asks it"))
        target = self._target(given)
        if target is None:
            self._state(given, sources, given.value, at, _MODEL[given.operation])
            return
        attribute, subject = target.attribute or given.attribute, target.subject or given.subject
        given = replace(given, attribute=attribute, subject=subject)
        old = target.value or given.value
        if given.operation == "remove":
            self._state(given, sources, old, at, "end")
        elif (
            given.operation == "set" and cardinality(attribute, subject) == "many" and not same_value(old, given.value)
        ):
            # Of several values that hold, it names the one that it takes the place of.
            self._state(given, sources, old, at, "end", replaced_by=given.value)
            self._state(given, sources, given.value, at, "add")
        else:
            self._state(given, sources, given.value, at, _MODEL[given.operation])

    def _state(
        self,
        given: Learned,
        sources: Sequence[Message],
        value: str,
        at: datetime,
        model: Operation,
        *,
        replaced_by: str | None = None,
    ) -> None:
        own = [one for one in typed(sources) if one.written_by == "user"]
        found = spoken(own, replaced_by or value)
        own_words = any(_own(given.quote, one) for one in own) if given.quote else found.own_words
        statement = Statement(
            subject=given.subject,
            attribute=given.attribute,
            value=value,
            at=at,
            model=model,
            wording=found.sentence,
            importance=given.importance,
            topics=given.topics,
            entities=given.entities,
            metadata={SPEAKER: name} if (name := _speaker(sources, value)) else {},
            sources=tuple(message.id for message in sources),
            trust=trust_of(sources, value),
            own_words=own_words,
            turn=f"said:{self.snapshot.session.id}:{sources[-1].seq}",
            quotes=self._quotes(given),
            standing=given.standing,
            doubts=given.doubts,
            target=None if given.target is None else self.snapshot.known[given.target - 1].id,
        )
        stated = state_fact(self.tx, statement, writer=self._writer(), change_id=self.change_id)
        for effect in stated.effects:
            self.noted(effect)
        self.facts += bool(stated.effects)
        if stated.effects and stated.memory is not None:
            self.reasons[stated.memory.id] = stated.reason

    def _instructs(self, given: Noted) -> bool:
        """Keep what the user says how to be answered, in the words that are quoted; False where it is no such thing."""
        message = self.snapshot.messages[given.sources[0] - 1]
        effect = learn_instruction(self.tx, message, given.quote, writer=self._writer())
        if effect is None:
            return False
        self.noted(effect)
        self.notes += 1
        return True

    def _quotes(self, given: Learned | Noted) -> tuple[MemoryQuote, ...]:
        """The words that an item rests on, of the first of its lines."""
        if not given.quote:
            return ()
        return (MemoryQuote(message_id=self.snapshot.messages[given.sources[0] - 1].id, text=given.quote),)

    def _writer(self) -> Writer:
        return Writer(
            ids=self.ids,
            secret=self.secret,
            author=self.author,
            agent=self.snapshot.agent,
            session=self.snapshot.session.name,
        )

    def _untold(self, given: Learned, sources: Sequence[Message]) -> Untold | None:
        """What the user says of it instead of that it is so, or has ended: that it will, a wish, how it was before."""
        ends = given.operation == "remove"
        if not ends and not of_a_time(given.subject, given.attribute):
            return None
        own = typed(sources)
        said = max((message.event_time for message in own), default=self.tx.now).date()
        return untold(told(own), given.value, said, ends=ends)

    def _planned(self, given: Learned, sources: Sequence[Message]) -> None:
        """A fact of a time to come, as a note of what was planned, when, and from when on it will hold.

        It is told beside what holds until then, and from its day on a person settles what came of it.
        """
        said = max(message.event_time for message in sources)
        when = "" if given.holds_from is None else f" from {given.holds_from:%Y-%m-%d}"
        perhaps = " perhaps" if given.standing == "doubtful" else ""
        ends = " no longer" if given.operation == "remove" else ""
        told = fact_text(given.subject, given.attribute, given.value)
        planned_note = Noted(
            text=f"{PLANNED.format(said)}{when}{perhaps}{ends} {told}",
            importance=given.importance,
            sources=given.sources,
            kind="plan",
            quote=given.quote,
            standing=given.standing,
            doubts=given.doubts,
        )
        own = {} if given.holds_from is None else {HOLDS_FROM: given.holds_from.isoformat()}
        note = self.note(planned_note, **own)
        if note is not None:
            writer, doubted = self._writer(), self._would_end(given)
            for effect in stand_beside(self.tx, note, doubted, writer=writer, change_id=self.change_id)[0]:
                self.noted(effect)

    def _would_end(self, given: Learned) -> list[Memory]:
        """What holds now and will not if a plan comes about: what it names, and what it would take the place of."""
        agent = self.snapshot.agent
        ended = would_end(self.tx, given.subject, given.attribute, given.value, given.operation, agent=agent)
        target = self._target(given)
        named = target is not None and (given.operation == "remove" or not same_value(target.value or "", given.value))
        if target is None or not named or given.operation == "add" or target in ended:
            return ended
        return [target, *ended]

    def _echoes(self, given: Learned, sources: Sequence[Message]) -> bool:
        """Whether only an assistant says it, and repeats what was recalled into the window or is known already."""
        if given.operation == "remove" or trust_of(sources) != "assistant":
            return False
        same = [fact for fact in self.snapshot.known if same_value(fact.value or "", given.value)]
        place = None if given.target is None else self.snapshot.known[given.target - 1]
        if any(fact is place or same_value(fact.attribute or "", given.attribute) for fact in same):
            return True
        return any(stands(given.value, text) for text in self._quoted)

    def _again(self, held: Memory, fresh: Memory) -> None:
        """The same content once more: its sources, quotes, evidence, labels and importance grow.

        Stated, it is in doubt no longer; what is in doubt adds nothing to what is stated.
        """
        sources = tuple(dict.fromkeys((*held.sources, *fresh.sources)))
        if sources == held.sources or (fresh.standing == "doubtful" and held.standing == "stated"):
            return
        importance = max(held.importance, fresh.importance, key=_ORDER.index)
        trust = fresh.trust if held.trust == "tool" else held.trust
        self.revise(
            held,
            sources=sources,
            evidence=held.evidence + 1,
            topics=capped(held.topics, fresh.topics, MAX_TOPICS),
            entities=capped(held.entities, fresh.entities, MAX_ENTITIES),
            importance=importance,
            trust="user" if fresh.trust == "user" else trust,
            tier="long" if importance == "high" and trust != "tool" else held.tier,
            quotes=tuple(dict.fromkeys((*held.quotes, *fresh.quotes))),
            standing=fresh.standing,
            doubts=held.doubts if fresh.standing == "doubtful" else (),
        )

    def _messages(self, places: Sequence[int]) -> list[Message]:
        """The messages at these places that say something themselves, in order."""
        named = [self.snapshot.messages[place - 1] for place in sorted({*places})]
        return [message for message in named if message.id not in self._silent]

    def _target(self, given: Learned) -> Memory | None:
        """The known fact that is meant, where it still stands; else the operation stands on its own words."""
        if given.target is None:
            return None
        current = self.tx.find_memories([self.snapshot.known[given.target - 1].id])
        return current[0] if current and current[0].state == "active" else None


def _own(quote: str, message: Message) -> bool:
    """Whether words are a writer's own: what they quote themselves is another's, or a text to work on."""
    return in_line(without_quotes(quote), without_quotes(unquoted(message)))


def _said_by(sources: Sequence[Message], said: str) -> Message | None:
    """The message in which a person says it: the last one that has the words, else the last that a person wrote."""
    people = [message for message in sources if message.typed]
    return next((one for one in reversed(people) if spoken([one], said).own_words), people[-1] if people else None)


def _speaker(sources: Sequence[Message], said: str) -> str | None:
    """The name of the person who says it, where they came with one."""
    message = _said_by(sources, said)
    return None if message is None else message.speaker


def _about(given: Learned, sources: Sequence[Message]) -> str:
    """Of whom a statement is: what another person than the user says of themselves is theirs, by name.

    So is their own mother theirs: a subject without a capital is no name.
    """
    message = _said_by(sources, given.value)
    if message is None or message.speaker is None or message.written_by != "participant":
        return given.subject
    if given.subject == "user":
        return message.speaker
    return f"{message.speaker}'s {given.subject}" if given.subject.islower() else given.subject


def trust_of(sources: Sequence[Message], said: str = "") -> Trust:
    """On whose word a memory stands: a person's, where a person said it at all.

    What a person asked before a tool answered, or beside what they attached, is no word of theirs on that, unless it
    says so itself.
    """
    people = typed(sources)
    results = [message for message in sources if {"tool", "attachment"}.intersection(message.writers)]
    if results and people and people[-1].seq <= results[-1].seq and not (said and spoken(people, said).own_words):
        people = []
    return "user" if people else "tool" if results else "assistant"
