"""Forgetting: what goes, computed first (pure over reads), then done in the same transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from memhold.facts.revisions import revise, said_digest
from memhold.history.said_in import says
from memhold.index.pending_vectors import due_compaction
from memhold.journal.visibility import checked_id, checked_session, has_labels, sees
from memhold.messages.fences import UNKNOWN, erased
from memhold.ports.idempotency import Idempotency
from memhold.ports.stores import Ids
from memhold.ports.transaction import Listing, ReadTx, WriteTx
from memhold.upkeep.periods import DUE_ROLLUP
from memhold.values.answers import Erasure, Receipt
from memhold.values.errors import InvalidInput, NotFound, WrongKind
from memhold.values.origins import users_line
from memhold.values.records import KINDS, LINEAGE, Author, Change, Effect, Kind, Memory, Message, micros
from memhold.values.written import Written

__all__ = ["EVERY", "Going", "Sources", "Target", "forget", "forget_once", "plan", "report"]

Sources = Literal["erase", "keep"]
EVERY = 2**62
"""No limit, as a count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a forget is asked to take: one id, some ids, or everything in the scope that passes all given filters."""

    id: str | None = None
    some: tuple[str, ...] | None = None
    session: str | None = None
    kinds: tuple[Kind, ...] | None = None
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    before: datetime | None = None
    after: datetime | None = None
    everything: bool = False
    written: Written = field(default_factory=Written)

    def __post_init__(self) -> None:
        filters = (self.session, self.kinds, self.topics or None, self.entities or None, self.before, self.after)
        filtered = self.written.given or any(value is not None for value in filters)
        if (self.id is not None) + (self.some is not None) + filtered + self.everything != 1:
            raise InvalidInput(
                "say what to forget: one id, or filters (session, kinds, topics, entities, before, after, origin,"
                " actor, written_since, written_until), or everything=True"
            )
        object.__setattr__(self, "session", checked_session(self.session))
        unknown = set(self.kinds or ()) - set(KINDS)
        if unknown:
            raise InvalidInput(f"unknown kinds {sorted(map(str, unknown))}; known are {', '.join(KINDS)}")
        for moment in (self.before, self.after):
            if moment is not None:
                micros(moment)

    @property
    def of_some(self) -> bool:
        """Whether it is after what somebody wrote, and after nothing that others said too."""
        return self.written.by or self.some is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Going:
    """What would go: messages, memories, and sessions whose remaining window must be consolidated again.

    `quoting` are messages that stay and quote what goes: a hard forget erases those stretches.
    `revived` are memories that were merged into what goes and stay themselves: they stand for themselves again.
    `damaged` are ids of rows that can no longer be read, with their numbers: they go by their ids.
    """

    messages: tuple[Message, ...]
    memories: tuple[Memory, ...]
    due_again: tuple[str, ...]
    sessions: tuple[str, ...]
    quoting: tuple[Message, ...] = ()
    revived: tuple[Memory, ...] = ()
    damaged: Mapping[str, int] = field(default_factory=dict)

    @property
    def message_ids(self) -> tuple[str, ...]:
        """The ids of the messages that go, readable or not."""
        return (*(m.id for m in self.messages), *(item for item in self.damaged if not item.startswith("mem_")))

    @property
    def memory_ids(self) -> tuple[str, ...]:
        """The ids of the memories that go, readable or not."""
        return (*(m.id for m in self.memories), *(item for item in self.damaged if item.startswith("mem_")))


class _Rows:
    """The scope's rows as a forget sees them: a hard one also takes what is hidden."""

    def __init__(self, tx: ReadTx, *, hard: bool) -> None:
        hidden = tx.hidden() if hard else []
        self._tx = tx
        self.messages = {item.id: item for item in hidden if isinstance(item, Message)}
        self.memories = {item.id: item for item in hidden if isinstance(item, Memory)}

    def find(self, ids: Sequence[str]) -> tuple[list[Message], list[Memory]]:
        messages = [*self._tx.find_messages(ids), *(self.messages[item] for item in ids if item in self.messages)]
        memories = [*self._tx.find_memories(ids), *(self.memories[item] for item in ids if item in self.memories)]
        return messages, memories

    def derived(self, ids: Sequence[str]) -> list[Memory]:
        named = set(ids)
        hidden = (memory for memory in self.memories.values() if not named.isdisjoint(memory.sources))
        return [*self._tx.derived(ids), *hidden]

    def merged_into(self, memories: Iterable[Memory]) -> list[Memory]:
        """What compaction merged into these: their sources, and what a pinned one took in without naming it."""
        found: dict[str, Memory] = {}
        for into in memories:
            named = {source for source in into.sources if source.startswith("mem_")}
            if LINEAGE in into.metadata:
                changes = self._tx.changes(memory_id=into.id)
                named |= {source for change in changes if change.verb == "compact" for source in change.sources}
            rows = self.find(sorted(named))[1] if named else []
            found |= {one.id: one for one in rows if one.state == "merged" and one.superseded_by == into.id}
        return list(found.values())


def plan(tx: ReadTx, target: Target, *, sources: Sources, hard: bool, agent: str | None) -> Going:
    """Everything that must go with the target.

    The target itself; what was derived from it; with `sources="erase"` what it names as its sources, and what was
    derived from those. Of what was learnt from the window of a line that goes, also what the line says and another line
    is named for: a model may have cited the wrong one. A fact or note that a line which stays says as well, and that
    names it, stays. A summary or RAW memory that also stood on messages that stay makes their session due again. Of
    what somebody wrote, nobody else's sources go along.

    Raises:
        NotFound: no such id in this scope.
        WrongKind: the id is neither a message's nor a memory's.
    """
    rows = _Rows(tx, hard=hard)
    messages, memories = _targets(tx, rows, target, agent)
    damaged = _damaged(tx, target, agent)
    # What a memory took in says what it says: it goes with it, also where messages are kept.
    taken = list(memories.values())
    while taken := [one for one in rows.merged_into(taken) if one.id not in memories]:
        _add(memories, taken)
    if sources == "erase" and not target.of_some:
        asked: set[str] = set()
        while named := _named(memories.values(), asked):
            asked |= named.keys()
            # A roll-up tells what stands below its parts too.
            said, derived = rows.find(list(named))
            _add(messages, said)
            _add(memories, derived)
    besides = _Besides(rows, messages, of_some=target.of_some)
    frontier = [*messages, *memories, *damaged]
    while frontier:
        found = [memory for memory in rows.derived(frontier) if memory.id not in memories and not besides.says(memory)]
        found += [one for one in _learnt(tx, rows, frontier, messages) if one.id not in memories and one not in found]
        _add(memories, found)
        frontier = [memory.id for memory in found]
    due_again = set()
    for memory in memories.values():
        if memory.kind in {"summary", "raw"} and any(m.id not in messages for m in tx.find_messages(memory.sources)):
            due_again.add(memory.session or "")
    return Going(
        messages=tuple(messages.values()),
        memories=tuple(memories.values()),
        due_again=tuple(sorted(due_again)),
        sessions=_emptied(tx, target),
        quoting=tuple(m for m in tx.quoting([*messages, *memories, *damaged, UNKNOWN]) if m.id not in messages)
        if hard
        else (),
        revived=tuple(one for one in rows.merged_into(memories.values()) if one.id not in memories),
        damaged=damaged,
    )


@dataclass(frozen=True, slots=True)
class _Besides:
    """What stays although a line that it stands on goes: a line that it names as well, and that stays, says it.

    After what somebody wrote (`of_some`) any line of the user's own is enough: nothing else that they said goes along.
    """

    rows: _Rows
    going: Mapping[str, Message]
    of_some: bool = field(kw_only=True)

    def says(self, memory: Memory) -> bool:
        """Whether such a line says a fact or note."""
        if memory.kind not in {"fact", "note"}:
            return False
        lines = [line for line in self.rows.find(memory.sources)[0] if line.id not in self.going]
        return any(says(line, memory) or (self.of_some and users_line(line)) for line in lines)


def _learnt(tx: ReadTx, rows: _Rows, frontier: Sequence[str], going: Mapping[str, Message]) -> list[Memory]:
    """Facts and notes that were learnt together with summaries that go, and that say what a line that goes says.

    What the user told is their own word, wherever it was said too; what another line says that it names, stays.
    """
    windows = [one for one in rows.find(frontier)[1] if one.kind in {"summary", "raw"}]
    changes = [change for one in windows for change in tx.changes(memory_id=one.id) if change.verb == "consolidate"]
    ids = dict.fromkeys(effect.memory_id for change in changes for effect in change.effects)
    besides = _Besides(rows, going, of_some=False)
    return [
        memory
        for memory in rows.find(list(ids))[1]
        if memory.kind in {"fact", "note"}
        and memory.origin in {"model", "rules"}
        and not besides.says(memory)
        and any(says(line, memory) for line in going.values())
    ]


def _damaged(tx: ReadTx, target: Target, agent: str | None) -> Mapping[str, int]:
    """What the target takes of the rows that can no longer be read: of those only id and number are known."""
    met = {item: number for item, number in tx.damaged.items() if not item.startswith("chg_")}
    if target.id is not None:
        return {item: number for item, number in met.items() if item == target.id}
    unfiltered = target.kinds is None and target.before is None and target.after is None and not target.written.given
    whole = unfiltered and target.some is None and not (target.topics or target.entities) and agent is None
    return met if whole else {}


def _named(memories: Iterable[Memory], asked: set[str]) -> dict[str, None]:
    return dict.fromkeys(source for memory in memories for source in memory.sources if source not in asked)


def _add(held: dict[str, Message] | dict[str, Memory], found: Iterable[Message] | Iterable[Memory]) -> None:
    for item in found:
        held[item.id] = item  # type: ignore[assignment]  # both arguments are of one kind at every call


def _targets(
    tx: ReadTx, rows: _Rows, target: Target, agent: str | None
) -> tuple[dict[str, Message], dict[str, Memory]]:
    if target.id is not None:
        return _one(tx, rows, target.id)
    if target.some is not None:
        said, held = rows.find(target.some)
        return {item.id: item for item in said}, {item.id: item for item in held}
    messages: dict[str, Message] = {}
    if target.kinds is None and not target.topics and not target.entities:
        names = [target.session] if target.session is not None else [session.name for session in tx.sessions()]
        for name in names:
            _add(messages, (m for m in tx.messages(name) if _passes(m, target, agent)))
            hidden = (m for m in rows.messages.values() if m.session == name)
            _add(messages, (m for m in hidden if _passes(m, target, agent)))
    listing = Listing(kinds=target.kinds, states=None, session=target.session, limit=EVERY)
    memories = {memory.id: memory for memory in tx.list_memories(listing) if _passes(memory, target, agent)}
    for memory in rows.memories.values():
        named = (target.kinds is None or memory.kind in target.kinds) and target.session in {None, memory.session}
        if named and _passes(memory, target, agent):
            memories[memory.id] = memory
    return messages, memories


def _one(tx: ReadTx, rows: _Rows, item: str) -> tuple[dict[str, Message], dict[str, Memory]]:
    if checked_id(item).startswith(("chg_", "ses_")):
        raise WrongKind(f"{item!r:.80} names neither a message nor a memory; forget takes msg_… and mem_…", id=item)
    messages, memories = rows.find([item])
    known: list[Message | Memory] = [*messages, *memories]
    if item not in tx.damaged and not any(sees(tx.scope, found) for found in known):
        raise NotFound(f"nothing with the id {item!r:.80} in this scope", id=item)
    return {found.id: found for found in messages}, {found.id: found for found in memories}


def _passes(item: Message | Memory, target: Target, agent: str | None) -> bool:
    if agent is not None and item.agent not in {agent, None}:
        return False
    at = item.created_at if isinstance(item, Memory) else item.recorded_at
    if not target.written.names(item.origin, item.actor, at):
        return False
    if isinstance(item, Memory) and not (
        has_labels(target.topics, item.topics) and has_labels(target.entities, item.entities)
    ):
        return False
    if target.before is not None and item.event_time >= target.before:
        return False
    return target.after is None or item.event_time > target.after


def _emptied(tx: ReadTx, target: Target) -> tuple[str, ...]:
    """Sessions of which nothing stays: their names may be content too."""
    if target.everything:
        return tuple(session.name for session in tx.sessions())
    whole = target.session is not None and target.before is None and target.after is None and target.kinds is None
    whole = whole and not target.written.given
    return (target.session,) if whole and target.session is not None and not (target.topics or target.entities) else ()


def forget(
    tx: WriteTx,
    target: Target,
    *,
    sources: Sources,
    hard: bool,
    agent: str | None,
    secret: bytes,
    ids: Ids,
    author: Author,
    reason: str | None = None,
) -> Erasure:
    """Forget in one transaction: rows, revisions, index entries; tombstones and one change without content stay."""
    going = plan(tx, target, sources=sources, hard=hard, agent=agent)
    gone = [*going.message_ids, *going.memory_ids]
    change = Change(
        id=ids.new("chg"),
        seq=0,
        verb="forget" if hard else "hide",
        reason=reason or ("forgotten for good" if hard else "hidden until undone"),
        by=author,
        at=tx.now,
        sources=tuple(gone),
    )
    numbers = [m.number for m in going.messages] + [m.number for m in going.memories]
    numbers += [number for number in going.damaged.values() if number >= 0]
    if hard:
        _erase(tx, going, change.id, numbers, sources=sources, secret=secret)
        if target.everything and agent is None:
            tx.erase_agents()
    else:
        tx.hide(gone, change.id)
        tx.flag(dict.fromkeys(numbers, False))
    _make_due(tx, going, hard=hard)
    # A hide leaves each memory at its revision: it is named so that it stands in their history.
    effects = [] if hard else [Effect(memory_id=m.id, rev_before=m.rev, rev_after=m.rev) for m in going.memories]
    effects += stand_again(tx, [memory.id for memory in going.revived])
    tx.add_change(replace(change, effects=tuple(effects)))
    return report(going, hard=hard, change_id=change.id)


def forget_once(tx: WriteTx, once: Idempotency, run: Callable[[], Erasure], *, hard: bool) -> Erasure:
    """Forget under an idempotency key: the report of the first time, where the key was seen.

    Raises:
        IdempotencyConflict: the key came before with another target.
    """
    made: list[Erasure] = []

    def first() -> Receipt:
        made.append(run())
        gone = (*made[0].messages, *made[0].memories, *made[0].hidden)
        return Receipt(ids=gone, change_ids=(made[0].change_id or "",))

    receipt = once.once(tx, first)
    if made:
        return made[0]
    messages = tuple(item for item in receipt.ids if item.startswith("msg_"))
    memories = tuple(item for item in receipt.ids if item.startswith("mem_"))
    return Erasure(
        messages=messages if hard else (),
        memories=memories if hard else (),
        hidden=() if hard else receipt.ids,
        change_id=receipt.change_ids[0],
        hard=hard,
        replayed=True,
    )


def _erase(
    tx: WriteTx, going: Going, change_id: str, numbers: Sequence[int], *, sources: Sources, secret: bytes
) -> None:
    keep = sources == "keep"
    digests = (
        {m.id: said_digest(secret, m) for m in going.memories if m.kind in {"fact", "note", "instruction"}}
        if keep
        else {}
    )
    tx.unindex(numbers)
    gone = [*going.message_ids, *going.memory_ids]
    tx.erase_memories(going.memory_ids, change_id, digests=digests)
    tx.drop_sources(gone)
    tx.erase_messages(going.message_ids, change_id)
    for message in going.quoting:
        tx.rewrite_message(erased(message, set(gone), secret=secret))
    for memory in going.memories:
        tx.clear_due("expire", memory.id)
    hidden = {item.session for item in tx.hidden() if isinstance(item, Message)}
    for name in going.sessions:
        stays = tx.messages(name, limit=1) or tx.list_memories(Listing(states=None, session=name, limit=1))
        session = tx.session(name)
        if session is None:
            continue
        if stays or name in hidden:
            tx.put_session(replace(session, metadata={}))
        else:
            tx.clear_due("consolidate", session.id)
            tx.erase_session(name)


def _make_due(tx: WriteTx, going: Going, *, hard: bool) -> None:
    if hard:
        tx.put_due("scrub", "bytes", tx.now)
    if any(memory.kind in {"summary", "rollup"} for memory in going.memories):
        tx.put_due(*DUE_ROLLUP, tx.now)
    touched = {message.session for message in going.messages}
    for name in sorted(touched | set(going.due_again)):
        session = tx.session(name)
        if session is None:
            continue
        # What was read of this session before now is not what it holds: a result of it must not be applied.
        torn = session.torn or name in going.due_again
        tx.put_session(replace(session, rev=session.rev + 1, torn=torn))
        if name in going.due_again:
            tx.put_due("consolidate", session.id, tx.now)


def stand_again(tx: WriteTx, ids: Sequence[str]) -> tuple[Effect, ...]:
    """What was merged into a memory that is gone is active again, and what it is near is looked at again."""
    effects = [revise(tx, memory, state="active", superseded_by=None) for memory in tx.find_memories(ids)]
    if effects:
        due_compaction(tx)
    return tuple(effects)


def report(going: Going, *, hard: bool, change_id: str | None = None) -> Erasure:
    """What went, or would go where there is no change."""
    memories, messages = going.memory_ids, going.message_ids
    return Erasure(
        messages=messages if hard else (),
        memories=memories if hard else (),
        hidden=() if hard else (*messages, *memories),
        due_again=going.due_again,
        quotations=tuple(message.id for message in going.quoting),
        change_id=change_id,
        hard=hard,
        dry_run=change_id is None,
    )
