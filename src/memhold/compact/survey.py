"""What a run of compaction looks at: what changed since the last one, its copies, and its neighbours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from memhold.compact.batches import NEEDED, NEEDED_OF_CHANGE, Pairs
from memhold.compact.groups import MAX_SOURCES, leaves
from memhold.compact.nearness import Nearness
from memhold.compact.verdict_steps import one_metadata
from memhold.facts.changed_notes import Bounds, Changed
from memhold.ports.transaction import ReadTx
from memhold.ports.vector_blocks import Generation
from memhold.recall.recall import Caches
from memhold.text.change import ends
from memhold.text.compare import canonical_text
from memhold.values.origins import said_by
from memhold.values.records import Change, Memory

__all__ = ["Survey", "copies", "narrowed", "settled_with", "survey"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What a run may ask about: pairs of memories with how near they are, and their distances for whoever looks.

    `waiting` are changed memories that have no vector yet, though there is an embedding.
    """

    pairs: Pairs
    changed: Changed
    waiting: tuple[Memory, ...] = ()
    far: dict[tuple[int, int], float] = field(default_factory=dict)


def _key(memory: Memory) -> tuple[object, ...]:
    """What must be the same for two memories to become one; the namespace and the user are the transaction's."""
    return memory.agent, memory.subject, memory.kind, memory.expires_at, memory.doubtful, *said_by(memory)


def narrowed(tx: ReadTx, changed: Changed) -> Changed:
    """What the scope narrows a run to: with an agent its own notes, with a session that session's."""
    return replace(changed, memories=tuple(memory for memory in changed.memories if _inside(tx, memory)))


def _inside(tx: ReadTx, memory: Memory) -> bool:
    agent, session = tx.scope.agent, tx.scope.session
    return agent in {None, memory.agent} and session in {None, memory.session}


def copies(tx: ReadTx, caches: Caches, changed: Sequence[Memory]) -> list[tuple[Memory, ...]]:
    """Groups of active notes with one content, at least one of each changed, in order of number.

    Where two are pinned, only the first of them is in the group: a pinned memory is never taken in.
    """
    if not changed:
        return []
    near = Nearness(caches.indexes.whole(tx), None, distance=1.0, word_distance=1.0)
    agents = tx.agents()
    groups: dict[tuple[object, ...], dict[str, Memory]] = defaultdict(dict)
    for memory in changed:
        numbers = near.copies(memory, agents.get(memory.agent or "", 0))
        held = [memory, *(item for item in tx.find_numbers(numbers) if isinstance(item, Memory))]
        for one in (item for item in held if _inside(tx, item)):
            if _key(one) == _key(memory) and canonical_text(one.text) == canonical_text(memory.text):
                groups[*_key(one), canonical_text(one.text)][one.id] = one
    return [group for held in groups.values() if len(group := _together(tx, held.values())) > 1]


def _together(tx: ReadTx, memories: Iterable[Memory]) -> tuple[Memory, ...]:
    """Those that may become one: at most one that is pinned, none whose metadata differ, none that was taken apart."""
    ordered = sorted(memories, key=lambda memory: memory.number)
    kept: list[Memory] = []
    for memory in ordered:
        if memory.pinned and any(one.pinned for one in kept):
            continue
        if not one_metadata([*kept, memory]):
            continue
        if len(ordered) == 1 or settled_with(tx, memory).isdisjoint(one.id for one in kept):
            kept.append(memory)
    return tuple(kept)


def survey(tx: ReadTx, caches: Caches, changed: Changed, bounds: Bounds, generation: Generation | None) -> Survey:
    """The changed notes with the nearest of their scope, but for the pairs that are settled.

    Raises:
        CorruptVectors, CorruptIndex: an index is damaged; `reindex` builds it anew.
    """
    vectors = None if generation is None else caches.vectors.vectors(tx, generation)
    near = Nearness(caches.indexes.whole(tx), vectors, distance=bounds.distance, word_distance=bounds.word_distance)
    agents = tx.agents()
    held: dict[int, Memory] = {memory.number: memory for memory in changed.memories}
    strength: dict[tuple[int, int], float] = {}
    needed: set[tuple[int, int]] = set()
    for memory in changed.memories:
        found = near.nearest(memory, agents.get(memory.agent or "", 0))
        missing = [number for number, _ in found if number not in held]
        held |= {item.number: item for item in tx.find_numbers(missing) if isinstance(item, Memory)}
        done = settled_with(tx, memory) if found else frozenset[str]()
        taken, told = 0, ends(memory.text)
        for number, nearness in found:
            other = held.get(number)
            if other is None or not _comparable(tx, memory, other):
                continue
            # What a change is told of was told before it: what came later is compared from its own side.
            earlier = not told or other.event_time <= memory.event_time
            taken += earlier
            if other.id in done:
                continue
            pair = (min(memory.number, number), max(memory.number, number))
            strength[pair] = max(strength.get(pair, 0.0), nearness)
            if earlier and taken <= (NEEDED_OF_CHANGE if told else NEEDED):
                needed.add(pair)
    numbers = {number for pair in strength for number in pair}
    pairs = Pairs(
        memories={number: held[number] for number in numbers},
        near=strength,
        needed=frozenset(needed),
        changed=frozenset(memory.number for memory in changed.memories) & numbers,
        telling=frozenset(memory.number for memory in changed.memories if ends(memory.text)) & numbers,
    )
    far = {pair: near.between(held[pair[0]], held[pair[1]]) for pair in needed}
    waiting = tuple(memory for memory in changed.memories if not near.seen(memory))
    return Survey(pairs=pairs, changed=changed, waiting=waiting, far=far)


def _comparable(tx: ReadTx, one: Memory, other: Memory) -> bool:
    """Whether two memories may have to do with each other, and something could come of it."""
    if other.state != "active" or _key(one) != _key(other) or not _inside(tx, other):
        return False
    if (one.pinned and other.pinned) or not one_metadata((one, other)):
        return False
    # Two merged memories that together stand for too many stay two.
    return min(leaves(one), leaves(other)) == 1 or leaves(one) + leaves(other) <= MAX_SOURCES


def settled_with(tx: ReadTx, memory: Memory) -> frozenset[str]:
    """The ids of the memories with which the judge, or whoever undid a merge, has settled how it relates.

    That holds for good: a memory's text never changes, and whoever undoes the change has the pair looked at anew.
    """
    found: set[str] = set()
    after = 0
    while page := tx.changes(memory_id=memory.id, after=after):
        for change in page:
            if _settles(tx, change):
                found |= {effect.memory_id for effect in change.effects}
        after = page[-1].seq
    return frozenset(found - {memory.id})


def _settles(tx: ReadTx, change: Change) -> bool:
    if change.verb == "keep_apart":
        return change.undone_by is None
    if change.verb != "undo" or change.undoes is None or change.undone_by is not None:
        return False
    undone = tx.find_change(change.undoes)
    return undone is not None and undone.verb == "compact"
