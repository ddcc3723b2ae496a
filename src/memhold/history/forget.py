"""Forgetting: what goes, computed first (pure over reads), then done in the same transaction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from memhold.facts.remember import Writer
from memhold.facts.revisions import revise, said_digest
from memhold.history.checkup import documents
from memhold.history.imported import keep_out
from memhold.history.said_in import guessed_from, says
from memhold.index.pending_vectors import due_compaction
from memhold.journal import beside
from memhold.journal.visibility import checked_id, seen, sees
from memhold.messages.fences import UNKNOWN, erased
from memhold.ports.idempotency import Idempotency
from memhold.ports.stores import Ids
from memhold.ports.transaction import Listing, ReadTx, WriteTx
from memhold.upkeep.periods import DUE_ROLLUP
from memhold.values.answers import Erasure, Receipt
from memhold.values.errors import InvalidInput, NotFound, WrongKind
from memhold.values.filters import Filters
from memhold.values.records import LINEAGE, ROTTEN, Author, Change, Effect, Memory, Message

__all__ = [
    "EVERY",
    "Going",
    "Sources",
    "Target",
    "damaged_numbers",
    "forget",
    "forget_damaged",
    "forget_once",
    "has_damage",
    "plan",
    "report",
    "together",
]

Sources = Literal["erase", "keep"]
EVERY = 2**62
"""No limit, as a count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a forget is asked to take: named ids, some ids, or everything in the scope that passes all given filters.

    Each of the named `ids` must be there; of `some` what is gone is passed over. `numbers` are the document numbers of
    those that name nothing any more, since the row that has such an id has rotted.
    """

    ids: tuple[str, ...] = ()
    numbers: Mapping[str, int] = field(default_factory=dict)
    some: tuple[str, ...] | None = None
    filters: Filters = field(default_factory=Filters)
    everything: bool = False

    def __post_init__(self) -> None:
        filtered = self.filters != Filters()
        if bool(self.ids) + (self.some is not None) + filtered + self.everything != 1:
            raise InvalidInput(
                "say what to forget: ids, or filters (session, session_prefix, kinds, topics, entities, before,"
                " after, origin, actor, written_since, written_until), or everything=True"
            )

    @property
    def of_some(self) -> bool:
        """Whether it is after what somebody wrote, and after nothing that others said too."""
        return self.filters.by or self.some is not None

    @property
    def of_sessions(self) -> bool:
        """Whether it takes whole sessions: all of them, or those that it names and nothing but that."""
        only = replace(self.filters, session=None, session_prefix=None) == Filters()
        return self.everything or (only and self.filters != Filters())


@dataclass(frozen=True, slots=True, kw_only=True)
class Going:
    """What would go: messages, memories, and sessions whose remaining window must be consolidated again.

    `quoting` are messages that stay and quote what goes: a hard forget erases those stretches.
    `revived` are memories that were merged into what goes and stay themselves: they stand for themselves again.
    `damaged` are ids of rows that can no longer be read, with their numbers, of which -1 is that of another row too.
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

    @property
    def numbers(self) -> Mapping[str, int]:
        """The document numbers of all that goes, by id."""
        said = {message.id: message.number for message in self.messages}
        return {**said, **{memory.id: memory.number for memory in self.memories}, **self.damaged}


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
                # What a rotten one merged is known from what it touched.
                named |= {effect.memory_id for change in changes if change.verb == ROTTEN for effect in change.effects}
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
            _add(messages, seen(tx, said))
            _add(memories, seen(tx, derived))
    if target.ids:
        _add(messages, rows.find([one.copy_of for one in messages.values() if one.copy_of is not None])[0])
    _add(messages, _copies(tx, messages))
    besides = _Besides(rows, messages, of_some=target.of_some)
    # What a row was derived from it names by the id that the row had.
    frontier = [*messages, *memories, *damaged, *(tx.lost() if damaged else ())]
    while frontier:
        found = [memory for memory in rows.derived(frontier) if memory.id not in memories and not besides.says(memory)]
        _add(memories, found)
        learnt = [one for one in _learnt(tx, rows, frontier, messages) if one.id not in memories]
        _add(memories, learnt)
        frontier = list(dict.fromkeys(memory.id for memory in (*found, *learnt)))
    due_again = set()
    for memory in memories.values():
        if memory.kind in {"summary", "raw"} and any(m.id not in messages for m in tx.find_messages(memory.sources)):
            due_again.add(memory.session or "")
    return Going(
        messages=tuple(messages.values()),
        memories=tuple(memories.values()),
        due_again=tuple(sorted(due_again)),
        sessions=_with_copies(tx, _emptied(tx, target), messages.values()),
        quoting=tuple(m for m in tx.quoting([*messages, *memories, *damaged, UNKNOWN]) if m.id not in messages)
        if hard
        else (),
        revived=tuple(one for one in rows.merged_into(memories.values()) if one.id not in memories),
        damaged=damaged,
    )


def _copies(tx: ReadTx, going: Mapping[str, Message]) -> list[Message]:
    """Copies of what goes, in whichever session they stand; who names one line means it wherever it was copied to."""
    showing = tx.quoting([*going]) if going else []
    return [one for one in showing if one.copy_of in going and one.id not in going]


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
        lines = self.lines(memory.sources)
        return any(says(line, memory) or (self.of_some and "user" in line.writers) for line in lines)

    def lines(self, ids: Sequence[str]) -> list[Message]:
        """Those of the lines that stay."""
        return self.rows.find([one for one in ids if one not in self.going])[0]


def _learnt(tx: ReadTx, rows: _Rows, frontier: Sequence[str], going: Mapping[str, Message]) -> list[Memory]:
    """Facts and notes that were learnt together with summaries that go, and that say what a line that goes says.

    Of what was only inferred a word that only such a line has is enough.

    What the user told is their own word, wherever it was said too; what another line says that it names, stays.
    """
    windows = [one for one in rows.find(frontier)[1] if one.kind in {"summary", "raw"}]
    learning = {"consolidate", ROTTEN}
    changes = [change for one in windows for change in tx.changes(memory_id=one.id) if change.verb in learning]
    ids = dict.fromkeys(effect.memory_id for change in changes for effect in change.effects)
    besides = _Besides(rows, going, of_some=False)
    # A window that was told anew after a forget has another change; what was learnt before names lines of it that stay.
    staying = besides.lines(list(dict.fromkeys(source for one in windows for source in one.sources)))
    named = rows.derived([line.id for line in staying]) if staying else []
    found = {memory.id: memory for memory in (*rows.find(list(ids))[1], *named)}
    return [
        memory
        for memory in found.values()
        if memory.kind in {"fact", "note"}
        and memory.origin in {"model", "rules"}
        and not besides.says(memory)
        and (any(says(line, memory) for line in going.values()) or guessed_from(memory, going.values(), staying))
    ]


def _damaged(tx: ReadTx, target: Target, agent: str | None) -> Mapping[str, int]:
    """What the target takes of the rows that can no longer be read: of those only id and number are known."""
    met = _met(tx)
    if target.ids:
        return {item: number for item, number in met.items() if item in target.ids}
    whole = agent is None and target.of_sessions
    return met if whole else {}


def _met(tx: ReadTx) -> dict[str, int]:
    """The messages and memories that this transaction came upon and could not read, and their numbers."""
    met = {item: number for item, number in tx.damaged.items() if not item.startswith(("chg_", "ses_"))}
    others = {item.number for item in tx.find_numbers([number for number in met.values() if number >= 0])}
    return {item: -1 if number in others else number for item, number in met.items()}


def _named(memories: Iterable[Memory], asked: set[str]) -> dict[str, None]:
    return dict.fromkeys(source for memory in memories for source in memory.sources if source not in asked)


def _add(held: dict[str, Message] | dict[str, Memory], found: Iterable[Message] | Iterable[Memory]) -> None:
    for item in found:
        held[item.id] = item  # type: ignore[assignment]  # both arguments are of one kind at every call


def _targets(
    tx: ReadTx, rows: _Rows, target: Target, agent: str | None
) -> tuple[dict[str, Message], dict[str, Memory]]:
    if target.ids:
        return _named_ones(tx, rows, target)
    if target.some is not None:
        said, held = rows.find(target.some)
        return {item.id: item for item in said}, {item.id: item for item in held}
    filters = replace(target.filters, agent=agent)
    messages: dict[str, Message] = {}
    if filters.kinds is None and not filters.topics and not filters.entities:
        for name in _sessions(tx, filters):
            hidden = (m for m in rows.messages.values() if m.session == name)
            _add(messages, (m for m in (*tx.messages(name), *hidden) if filters.take(m)))
    memories = {memory.id: memory for memory in tx.list_memories(Listing.of(filters, limit=EVERY))}
    _add(memories, (memory for memory in rows.memories.values() if filters.take(memory)))
    return messages, memories


def _named_ones(tx: ReadTx, rows: _Rows, target: Target) -> tuple[dict[str, Message], dict[str, Memory]]:
    for number in target.numbers.values():
        # It is met, if it is as damaged as when it was found.
        tx.documents(after=number - 1, limit=1)
    for item in target.ids:
        if checked_id(item).startswith(("chg_", "ses_")):
            raise WrongKind(f"{item!r:.80} names neither a message nor a memory; forget takes msg_… and mem_…", id=item)
    messages, memories = rows.find(target.ids)
    known: list[Message | Memory] = [*messages, *memories]
    own = {found.id for found in known if sees(tx.scope, found)}
    for item in target.ids:
        if item not in own and item not in tx.damaged:
            raise NotFound(f"nothing with the id {item!r:.80} in this scope", id=item)
    return {found.id: found for found in messages}, {found.id: found for found in memories}


def _emptied(tx: ReadTx, target: Target) -> tuple[str, ...]:
    """Sessions of which nothing stays: their names may be content too."""
    return tuple(_sessions(tx, target.filters)) if target.of_sessions else ()


def _with_copies(tx: ReadTx, emptied: Sequence[str], going: Collection[Message]) -> tuple[str, ...]:
    """These sessions, and copies of them that have nothing else beside them: it was copied with the messages."""
    of = {message.id: message.session for message in going}
    found = dict.fromkeys(emptied)
    for message in going:
        name = of.get(message.copy_of or "")
        if name in found and message.session not in found:
            source, copy = tx.session(name or ""), tx.session(message.session)
            if source is not None and copy is not None and beside.has_all_of(source, copy):
                found[message.session] = None
    return tuple(found)


def _sessions(tx: ReadTx, filters: Filters) -> list[str]:
    """The names of the sessions that they look into; the one that they name even where nothing stands there."""
    if filters.session is not None:
        return [filters.session]
    return [session.name for session in tx.sessions() if filters.in_session(session.name)]


def forget(
    tx: WriteTx,
    target: Target,
    *,
    sources: Sources,
    hard: bool,
    writer: Writer,
    reason: str | None = None,
    change_id: str | None = None,
) -> Erasure:
    """Forget in one transaction: rows, revisions, index entries; tombstones and one change without content stay.

    `change_id` is the id of that change, where the same was forgotten in another namespace before.
    """
    agent = writer.agent
    going = plan(tx, target, sources=sources, hard=hard, agent=agent)
    gone = [*going.message_ids, *going.memory_ids]
    change = Change(
        id=change_id or writer.ids.new("chg"),
        seq=0,
        verb="forget" if hard else "hide",
        reason=reason or ("forgotten for good" if hard else "hidden until undone"),
        by=writer.author,
        at=tx.now,
        sources=tuple(gone),
    )
    lost: list[str] = []
    if hard:
        _erase(tx, going, change.id, sources=sources, secret=writer.secret, agent=agent)
        # Other rows know one whose id had rotted by its former id, which counts as forgotten too.
        lost = tx.lost() if going.damaged else []
        tx.entomb(lost, change.id)
        if target.everything and agent is None:
            tx.erase_rest()
    else:
        tx.hide(gone, change.id)
        tx.flag(dict.fromkeys(_indexed(going), False))
        for session in (found for name in going.sessions if (found := tx.session(name)) is not None):
            others = agent is not None and (_stays(tx, session.name) or beside.is_others(session, agent))
            tx.put_session(beside.hidden(session, change.id, agent=agent if others else None))
    _make_due(tx, going, hard=hard)
    # A hide leaves each memory at its revision: it is named so that it stands in their history.
    effects = []
    if not hard:
        effects = [Effect(memory_id=m.id, rev_before=m.rev, rev_after=m.rev) for m in going.memories]
        effects += _unquoted(tx, going)
    effects += stand_again(tx, [memory.id for memory in going.revived])
    tx.add_change(replace(change, effects=tuple(effects), sources=(*gone, *lost)))
    return report(going, hard=hard, change_id=change.id)


def damaged_numbers(tx: ReadTx, items: Collection[str]) -> Mapping[str, int]:
    """The numbers of rows that cannot be read and are shown under these ids, which no index has; by id."""
    _meet_all(tx)
    return {item: number for item, number in _met(tx).items() if item in items}


def has_damage(tx: ReadTx) -> bool:
    """Whether a message or current memory of the scope cannot be read, or something is named that is not there."""
    _meet_all(tx)
    return bool(_met(tx) or tx.lost())


def forget_damaged(tx: WriteTx, *, secret: bytes, ids: Ids) -> int:
    """Erase every message and current memory that cannot be read, in one transaction; returns how many those were.

    What was derived from one stays, without that source. What is named and not there counts as forgotten.
    """
    _meet_all(tx)
    damaged = _met(tx)
    going = Going(messages=(), memories=(), due_again=(), sessions=(), damaged=damaged)
    change = Change(
        id=ids.new("chg"),
        seq=0,
        verb="forget",
        reason="it was damaged on the disk",
        by=Author(origin="rules", name="doctor"),
        at=tx.now,
    )
    _erase(tx, going, change.id, sources="erase", secret=secret)
    lost = tx.lost()
    tx.entomb(lost, change.id)
    _make_due(tx, going, hard=True)
    tx.add_change(replace(change, sources=(*damaged, *lost)))
    return len(damaged)


def _meet_all(tx: ReadTx) -> None:
    for _ in documents(tx):
        pass


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


def _indexed(going: Going) -> list[int]:
    others = {number for message in going.messages for number in message.numbers}
    return sorted(others.union(number for number in going.numbers.values() if number >= 0))


def _erase(
    tx: WriteTx, going: Going, change_id: str, *, sources: Sources, secret: bytes, agent: str | None = None
) -> None:
    keep = sources == "keep"
    # Only of what lines that stay would teach again: they say it themselves.
    learnt = [one for one in going.memories if one.kind in {"fact", "note", "instruction"} and one.sources]
    digests = {one.id: said_digest(secret, one) for one in learnt} if keep else {}
    tx.unindex(_indexed(going))
    gone = [*going.message_ids, *going.memory_ids]
    tx.erase_memories(going.memory_ids, change_id, digests=digests, numbers=going.numbers)
    tx.drop_sources(gone)
    tx.erase_messages(going.message_ids, change_id, numbers=going.numbers)
    for message in going.quoting:
        tx.rewrite_message(erased(message, set(gone), secret=secret))
    for memory in going.memories:
        tx.clear_due("expire", memory.id)
    hidden = {item.session for item in tx.hidden() if isinstance(item, Message)}
    for name in going.sessions:
        session = tx.session(name)
        if session is None:
            continue
        stays = _stays(tx, name) or name in hidden
        if agent is not None and (stays or beside.is_others(session, agent)):
            # What is kept beside it for all is the others' too.
            if (less := beside.without(session, agent)) != session:
                keep_out(tx, session, agent, secret=secret)
                tx.put_session(less)
            continue
        if beside.kept_there(session, None):
            keep_out(tx, session, None, secret=secret)
        if stays:
            tx.put_session(beside.cleared(session))
        else:
            tx.clear_due("consolidate", session.id)
            tx.erase_session(name)


def _unquoted(tx: WriteTx, going: Going) -> list[Effect]:
    """What stays quotes no line that is hidden, until that is undone; a hard forget takes the words out everywhere."""
    gone = {message.id for message in going.messages}
    hidden = {memory.id for memory in going.memories}
    found = {one.id: one for one in tx.derived([*gone])}
    folded: Iterable[Memory] = going.memories
    while into := {one.superseded_by for one in folded if one.superseded_by} - hidden - found.keys():
        folded = tx.find_memories([*into])  # they took in the quotes of what was folded into them
        found |= {one.id: one for one in folded}
    held = (one for one in found.values() if one.id not in hidden)
    return [revise(tx, one, quotes=less.quotes) for one in held if (less := one.without_quotes(gone)) != one]


def _stays(tx: ReadTx, session: str) -> bool:
    """Whether something of a session is still there."""
    held = tx.messages(session, limit=1, every_agent=True)
    return bool(held or tx.list_memories(Listing(states=None, session=session, limit=1)))


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


def together(own: Erasure, below: Sequence[tuple[str, Erasure]]) -> Erasure:
    """One report of a forget that reached namespaces below: what went anywhere, and which of them it reached."""
    every = [own, *(done for _, done in below)]
    return replace(
        own,
        messages=tuple(item for done in every for item in done.messages),
        memories=tuple(item for done in every for item in done.memories),
        hidden=tuple(item for done in every for item in done.hidden),
        quotations=tuple(item for done in every for item in done.quotations),
        below=tuple(name for name, done in below if done.messages or done.memories or done.hidden),
    )


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
