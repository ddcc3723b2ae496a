"""What is told to be remembered: notes, facts, corrections, pins. Each is one change in one transaction.

An agent or a tool may tell, label and correct what is its own or of less authority, and nothing that the user told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, Protocol

from memhold.facts.revisions import memory_digest, mind_expiry, revise
from memhold.facts.timeline import AHEAD
from memhold.facts.users_word import said_by_user
from memhold.index.documents import index_memories
from memhold.journal.append import ensure_session
from memhold.journal.change import note_change
from memhold.journal.visibility import checked_id, seen
from memhold.ports.stores import Ids
from memhold.ports.transaction import WriteTx
from memhold.text.compare import canonical_text
from memhold.text.labels import MAX_ENTITIES, MAX_TOPICS, capped
from memhold.values.answers import Receipt, Remembered
from memhold.values.errors import Conflict, InvalidInput, NotFound, RevisionConflict, ScopeDenied, TooLarge, WrongKind
from memhold.values.jsonable import json_copy, parse_time
from memhold.values.names import can_be_seen
from memhold.values.origins import authority, named, weight
from memhold.values.records import MAX_TEXT, Author, Change, Effect, Importance, Memory, Suspicion, Tier, Trust

__all__ = [
    "MAX_TEXT",
    "Labels",
    "MemoryInput",
    "Writer",
    "change_by",
    "check_times",
    "correct",
    "fact_text",
    "find_memory",
    "labels",
    "may_change",
    "pin",
    "relabelled",
    "remember",
    "remembered",
    "trust_of",
    "unpin",
]

"""How far the time of a memory may lie in the future: as far as that of a message."""

MAX_LABELS = 50
"""Most topics, and most entities, that one call may give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryInput:
    """What `remember` was given, checked: a note (`text`) or a fact (`attribute`, `value`)."""

    text: str | None = None
    subject: str = "user"
    attribute: str | None = None
    value: str | None = None
    operation: Literal["set", "add", "remove"] | None = None
    event_time: datetime | None = None
    importance: Importance = "mid"
    pinned: bool = False
    expires_at: datetime | None = None
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.text is None) == (self.attribute is None):
            raise InvalidInput("pass either a text (a note) or attribute and value (a fact)")
        if self.attribute is not None and self.value is None:
            raise InvalidInput("a fact needs a value; pass value=...")
        if self.text is not None and self.value is not None:
            raise InvalidInput("a note has no value; pass attribute and value without a text")
        if self.text is not None and (self.operation == "remove" or self.subject != "user"):
            raise InvalidInput("a note has neither subject nor removal; pass attribute and value, or forget the note")
        if self.operation not in {None, "set", "add", "remove"}:
            raise InvalidInput(f"operation is {self.operation!r:.40}; it must be 'set', 'add' or 'remove'")
        if self.importance not in {"low", "mid", "high"}:
            raise InvalidInput(f"importance is {self.importance!r:.40}; it must be 'low', 'mid' or 'high'")
        for name in ("text", "subject", "attribute", "value"):
            given = getattr(self, name)
            if given is not None:
                _check_text(name, given)
        for name in ("event_time", "expires_at"):
            moment = getattr(self, name)
            if moment is not None and not isinstance(moment, datetime):
                raise InvalidInput(f"{name} is a {type(moment).__name__}; pass an aware datetime")
            if moment is not None:
                object.__setattr__(self, name, parse_time(moment))
        if not isinstance(self.pinned, bool):
            raise InvalidInput(f"pinned is {self.pinned!r:.40}; it must be true or false")
        if not isinstance(self.metadata, Mapping):
            raise InvalidInput(f"metadata is a {type(self.metadata).__name__}; pass a dict")
        object.__setattr__(self, "metadata", json_copy(self.metadata))


def _check_text(name: str, given: object) -> None:
    if not isinstance(given, str) or not given.strip():
        raise InvalidInput(f"{name} must be a string that is not empty")
    if not can_be_seen(given):
        raise InvalidInput(f"{name} holds only characters that nobody sees, such as a zero-width space; pass text")
    if len(given) > MAX_TEXT:
        message = f"{name} has {len(given)} characters; at most {MAX_TEXT} fit one memory: add it as a message"
        raise TooLarge(message, size=len(given), limit=MAX_TEXT)
    if any(c == "\0" or 0xD800 <= ord(c) <= 0xDFFF for c in given):
        raise InvalidInput(f"{name} holds NUL or half a surrogate pair; remove them (a message may hold them)")


def labels(name: str, given: Sequence[str]) -> tuple[str, ...]:
    """Topics or entities: trimmed, each once, in their order.

    Raises:
        InvalidInput: not strings, empty, or more than 50.
    """
    if isinstance(given, str):
        raise InvalidInput(f"{name} must be a list of strings, not one string")
    for label in given:
        _check_text(name, label)
    found = _once_each(given)
    if len(found) > MAX_LABELS:
        raise InvalidInput(
            f"{name} has {len(found)} entries; at most {MAX_LABELS} are kept: pass the most telling ones"
        )
    return found


def _once_each(given: Sequence[str]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for label in given:
        found.setdefault(canonical_text(label).casefold(), canonical_text(label))
    return tuple(found.values())


def fact_text(subject: str, attribute: str, value: str) -> str:
    """How a fact reads: what is shown, indexed and embedded."""
    return f"{attribute}: {value}" if subject == "user" else f"{subject}'s {attribute}: {value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """What every unit of work here needs beside its transaction."""

    ids: Ids
    secret: bytes
    author: Author
    agent: str | None = None
    session: str | None = None


def remember(tx: WriteTx, given: MemoryInput, *, writer: Writer) -> Receipt:
    """Store a note; the receipt names the memory that now says it. The same note again is the same memory.

    The same text with other metadata is a note of its own.

    Given again with another expiry it takes that; given again after its expiry it is a new memory.
    """
    fresh = _note(tx, given, writer)
    digest = memory_digest(writer.secret, fresh)
    held = tx.same_content(kind="note", digest=digest, agent=writer.agent)
    over = []
    if held is not None and held.expires_at is not None and held.expires_at <= tx.now and not held.pinned:
        # Its time has come, and nobody has done that work yet: what is told now is a note of its own.
        over = [revise(tx, held, state="expired", valid_to=held.expires_at)]
        tx.clear_due("expire", held.id)
    elif held is not None:
        if not may_change(writer.author, held):
            return Receipt(ids=(held.id,))  # it is known on a better word: nothing is labelled, pinned or ended
        changed = relabelled(held, given) | ({} if given.expires_at is None else {"expires_at": given.expires_at})
        if writer.author.origin == "user" and held.origin != "user" and held.last_confirmed_at is None:
            changed["last_confirmed_at"] = tx.now
        if all(getattr(held, name) == value for name, value in changed.items()):
            return Receipt(ids=(held.id,))
        tx.clear_due("expire", held.id)
        change = change_by(tx, "remember", "told again with more labels", [revise(tx, held, **changed)], writer)
        return Receipt(ids=(held.id,), change_ids=(change.id,))
    memory = replace(fresh, number=tx.take_numbers(1))
    if memory.session is not None:
        ensure_session(tx, memory.session, writer.ids)
    tx.put_memory(memory, digest=digest)
    index_memories(tx, [memory])
    mind_expiry(tx, memory)
    effect = Effect(memory_id=memory.id, rev_before=0, rev_after=1)
    change = change_by(tx, "remember", "told", [*over, effect], writer)
    return Receipt(ids=(memory.id,), change_ids=(change.id,))


def _note(tx: WriteTx, given: MemoryInput, writer: Writer) -> Memory:
    """The note as it would be stored if nothing said it yet; its number is taken only then."""
    at = check_times(tx, given)
    at = at if writer.author.origin == "user" else min(at, tx.now)
    tier: Tier = "long" if given.pinned or given.importance == "high" else "mid"
    return Memory(
        id=writer.ids.new("mem"),
        number=-1,
        kind="note",
        text=given.text or "",
        tier=tier,
        agent=writer.agent,
        session=writer.session,
        topics=given.topics,
        entities=given.entities,
        metadata=given.metadata,
        importance=given.importance,
        pinned=given.pinned,
        origin=writer.author.origin,
        actor=writer.author.name,
        trust=trust_of(writer.author),
        event_time=at,
        valid_from=at,
        expires_at=given.expires_at,
        created_at=tx.now,
        recorded_at=tx.now,
    )


class Labels(Protocol):
    """What a memory told again may add to the one that is there."""

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics to add."""
        ...

    @property
    def entities(self) -> tuple[str, ...]:
        """Entities to add."""
        ...

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Metadata to add; a name that is there takes the new value."""
        ...

    @property
    def pinned(self) -> bool:
        """Whether to pin it."""
        ...

    @property
    def importance(self) -> Importance:
        """Its importance; "mid" changes nothing."""
        ...


def relabelled(held: Memory, given: Labels) -> dict[str, Any]:
    """What the same content told again changes: labels, a pin, a higher importance; empty when nothing."""
    order = ("low", "mid", "high")
    importance = (
        max(held.importance, given.importance, key=order.index) if given.importance != "mid" else held.importance
    )
    pinned = held.pinned or given.pinned
    wanted: dict[str, Any] = {
        "topics": capped(held.topics, given.topics, MAX_TOPICS),
        "entities": capped(held.entities, given.entities, MAX_ENTITIES),
        "metadata": {**held.metadata, **given.metadata},
        "pinned": pinned,
        "importance": importance,
    }
    changed = {name: value for name, value in wanted.items() if value != getattr(held, name)}
    if changed and (pinned or importance == "high") and held.tier != "long":
        changed["tier"] = "long"
    return changed


def check_times(tx: WriteTx, given: MemoryInput) -> datetime:
    """When it became true: as told, else now.

    Raises:
        InvalidInput: more than a day ahead, or an expiry before it.
    """
    at = given.event_time or tx.now
    if at > tx.now + AHEAD:
        raise InvalidInput(
            f"event_time {at.isoformat()} lies more than {AHEAD} after now; "
            "it is when it became true: put a plan into the text"
        )
    if given.expires_at is not None and given.expires_at <= at:
        raise InvalidInput(
            f"expires_at {given.expires_at.isoformat()} is not after {at.isoformat()}, when it became true; "
            "pass a later one"
        )
    return at


def change_by(tx: WriteTx, verb: str, reason: str, effects: Iterable[Effect], writer: Writer) -> Change:
    """Note what somebody did to memories as one change of theirs."""
    return note_change(tx, writer.ids.new("chg"), verb, reason, by=writer.author, effects=effects)


def find_memory(tx: WriteTx, memory_id: str, *, rev: int | None = None) -> Memory:
    """The memory of that id in this scope, at the revision the caller read.

    Raises:
        WrongKind: the id is not a memory's.
        NotFound: there is none in this scope.
        RevisionConflict: it has changed since.
    """
    if not checked_id(memory_id).startswith("mem_"):
        raise WrongKind(f"{memory_id!r:.80} is not the id of a memory; pass one (mem_…)", id=memory_id)
    found = seen(tx, tx.find_memories([memory_id]))
    if not found:
        raise NotFound(f"nothing with the id {memory_id!r:.80} in this scope", id=memory_id)
    if rev is not None and found[0].rev != rev:
        message = f"{memory_id} is at revision {found[0].rev}, not {rev}; read it again"
        raise RevisionConflict(message, expected=rev, actual=found[0].rev)
    return found[0]


def correct(tx: WriteTx, memory_id: str, value: str, *, rev: int | None, writer: Writer) -> Receipt:
    """Say what should have been there: the memory was never true, and a new one takes its place in time.

    The new memory holds from when to when the old one was thought to hold, so `as_of` in that time gives it too.
    """
    _check_text("value", value)
    old = find_memory(tx, memory_id, rev=rev)
    if old.kind not in {"fact", "note"}:
        raise WrongKind(f"{memory_id} is a {old.kind}; pass the id of a fact or a note", id=memory_id)
    if old.state in {"retracted", "merged"}:
        stands = f"; correct {old.superseded_by}, which stands in its place" if old.superseded_by else "; tell it anew"
        raise Conflict(f"{memory_id} is {old.state} already{stands}")
    fact = old.kind == "fact"
    fresh = replace(
        old,
        id=writer.ids.new("mem"),
        value=value if fact else None,
        text=fact_text(old.subject or "", old.attribute or "", value) if fact else value,
        origin=writer.author.origin,
        actor=writer.author.name,
        trust=trust_of(writer.author),
        sources=(),
        created_at=tx.now,
        recorded_at=tx.now,
        last_confirmed_at=None,
        rev=1,
    )
    if not may_change(writer.author, old):
        line = said_by_user(tx, old.attribute or "", value, "set", after=old.valid_from) if fact else None
        if line is None:
            return _beside(tx, old, fresh, writer)
        fresh = replace(fresh, trust="user", sources=(line.id,))
    digest = memory_digest(writer.secret, fresh)
    same = tx.same_content(kind=old.kind, digest=digest, agent=old.agent) if old.state == "active" else None
    if same is not None and same.id != old.id:
        fresh = same
    effects = [revise(tx, old, state="retracted", superseded_by=fresh.id)]
    if fact:
        timeline = tx.facts(subject=old.subject or "", key=old.key or "", agent=old.agent)
        effects += [
            revise(tx, m, superseded_by=fresh.id) for m in timeline if m.superseded_by == old.id and m.id != old.id
        ]
    if fresh is not same:
        fresh = replace(fresh, number=tx.take_numbers(1))
        tx.put_memory(fresh, digest=digest)
        index_memories(tx, [fresh])
        mind_expiry(tx, fresh)
        effects.append(Effect(memory_id=fresh.id, rev_before=0, rev_after=1))
    change = change_by(tx, "correct", _corrected(writer.author), effects, writer)
    return Receipt(ids=(fresh.id,), change_ids=(change.id,))


def _corrected(author: Author) -> str:
    return f"corrected by {'the user' if author.origin == 'user' else f'the {named(author)}'}: it was never so"


def _beside(tx: WriteTx, old: Memory, fresh: Memory, writer: Writer) -> Receipt:
    """What would correct something of more authority: kept out of the present, for a person to settle."""
    for one in tx.suspicions():
        if one.other_id == old.id and one.kind == "contradiction":
            kept = tx.find_memories([one.memory_id])
            if kept and kept[0].text == fresh.text:
                return Receipt(ids=(kept[0].id,))
    fresh = replace(fresh, number=tx.take_numbers(1), state="retracted", tier="mid", pinned=False, expires_at=None)
    tx.put_memory(fresh, digest=memory_digest(writer.secret, fresh))
    index_memories(tx, [fresh])
    effect = Effect(memory_id=fresh.id, rev_before=0, rev_after=1)
    change = change_by(tx, "correct", "kept apart: the user told otherwise", [effect], writer)
    suspicion = Suspicion(
        id=writer.ids.new("sus"),
        kind="contradiction",
        memory_id=fresh.id,
        other_id=old.id,
        rule="told by the user",
        at=tx.now,
        change_id=change.id,
    )
    tx.put_suspicion(suspicion)
    return Receipt(ids=(fresh.id,), change_ids=(change.id,))


def may_change(author: Author, memory: Memory) -> bool:
    """Whether somebody's word may change a memory: not where it has more authority than theirs."""
    return author.origin == "user" or authority(memory) <= weight(author.origin, trust_of(author))


def trust_of(author: Author) -> Trust:
    """On whose word stands what somebody tells."""
    return "user" if author.origin == "user" else "tool" if author.origin == "tool" else "assistant"


def pin(tx: WriteTx, memory_id: str, *, rev: int | None, writer: Writer) -> Receipt:
    """Pin a memory: it is long-term, and stays when others expire or are compacted."""
    return _pinned(tx, memory_id, pinned=True, rev=rev, writer=writer)


def unpin(tx: WriteTx, memory_id: str, *, rev: int | None, writer: Writer) -> Receipt:
    """Unpin a memory."""
    return _pinned(tx, memory_id, pinned=False, rev=rev, writer=writer)


def _pinned(tx: WriteTx, memory_id: str, *, pinned: bool, rev: int | None, writer: Writer) -> Receipt:
    memory = find_memory(tx, memory_id, rev=rev)
    if memory.pinned == pinned:
        return Receipt(ids=(memory.id,))
    if not may_change(writer.author, memory):
        raise ScopeDenied(f"{memory_id} is the user's word; leave its pin to a person")
    tier: Tier = "long" if pinned else memory.tier
    effect = revise(tx, memory, pinned=pinned, tier=tier)
    change = change_by(tx, "pin" if pinned else "unpin", f"asked by the {named(writer.author)}", [effect], writer)
    return Receipt(ids=(memory.id,), change_ids=(change.id,))


def remembered(tx: WriteTx, receipt: Receipt) -> Remembered:
    """A receipt with the memory that it names, as it now stands."""
    found = seen(tx, tx.find_memories(receipt.ids[:1]))
    return Remembered(receipt=receipt, memory=found[0] if found else None)
