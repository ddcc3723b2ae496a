"""What a run of compaction looks at: what changed since the last one, its copies, and its neighbours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from memhold.compact.groups import MAX_SOURCES, Cluster, leaves
from memhold.compact.nearness import Nearness, spread
from memhold.facts.changed_notes import Bounds, Changed
from memhold.ports.transaction import ReadTx
from memhold.ports.vector_blocks import Generation
from memhold.recall.recall import Caches
from memhold.text.compare import canonical_text
from memhold.values.origins import said_by
from memhold.values.records import Change, Memory

__all__ = ["Survey", "copies", "narrowed", "survey"]

MOST_MEMBERS = 64
"""Members of one cluster; what else is near waits for the next run."""

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """The clusters of a run, closest first."""

    clusters: tuple[Cluster, ...]
    changed: Changed


def _key(memory: Memory) -> tuple[object, ...]:
    """What must be the same for two memories to become one; the namespace and the user are the transaction's."""
    return memory.agent, memory.subject, memory.kind, memory.expires_at, *said_by(memory)


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
    near = Nearness(caches.indexes.index(tx), None, distance=1.0, word_distance=1.0)
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
    """Those that may become one: at most one that is pinned, and none that was taken apart from another."""
    ordered = sorted(memories, key=lambda memory: memory.number)
    apart = _apart(tx, ordered)[0] if len(ordered) > 1 else set()
    kept: list[Memory] = []
    for memory in ordered:
        if memory.pinned and any(one.pinned for one in kept):
            continue
        if all((one.id, memory.id) not in apart for one in kept):
            kept.append(memory)
    return tuple(kept)


def survey(tx: ReadTx, caches: Caches, changed: Changed, bounds: Bounds, generation: Generation | None) -> Survey:
    """The clusters around what changed; by words where no generation is given, or a memory has no vector.

    Raises:
        CorruptVectors, CorruptIndex: an index is damaged; `reindex` builds it anew.
    """
    if not changed.memories:
        return Survey(clusters=(), changed=changed)
    vectors = None if generation is None else caches.vectors.vectors(tx, generation)
    index = caches.indexes.index(tx)
    near = Nearness(index, vectors, distance=bounds.distance, word_distance=bounds.word_distance)
    agents = tx.agents()
    held: dict[int, Memory] = {memory.number: memory for memory in changed.memories}
    edges: dict[tuple[int, int], float] = {}
    for memory in changed.memories:
        numbers = near.neighbours(memory, agents.get(memory.agent or "", 0))
        missing = [number for number in numbers if number not in held]
        held |= {item.number: item for item in tx.find_numbers(missing) if isinstance(item, Memory)}
        for number in numbers:
            other = held.get(number)
            if other is None or other.state != "active" or _key(other) != _key(memory) or not _inside(tx, other):
                continue
            distance = near.between(memory, other)
            if distance <= bounds.distance:
                edges[min(memory.number, number), max(memory.number, number)] = distance
    groups = _components(edges)
    found = [_cluster(tx, [held[number] for number in group], near, bounds) for group in groups]
    linked = [cluster for cluster in found if cluster.linked]
    return Survey(clusters=tuple(sorted(linked, key=lambda cluster: cluster.pairs()[0][0])), changed=changed)


def _components(edges: dict[tuple[int, int], float]) -> list[list[int]]:
    """What edges connect, taken closest first; one that would make a group of over 64 is left for the next run."""
    group: dict[int, list[int]] = {}
    for one, other in sorted(edges, key=lambda pair: (edges[pair], pair)):
        first, second = group.setdefault(one, [one]), group.setdefault(other, [other])
        if first is second or len(first) + len(second) > MOST_MEMBERS:
            continue
        first += second
        for number in second:
            group[number] = first
    unique = {id(members): sorted(members) for members in group.values()}
    return sorted(members for members in unique.values() if len(members) > 1)


def _cluster(tx: ReadTx, members: Sequence[Memory], near: Nearness, bounds: Bounds) -> Cluster:
    far = {(i, j): near.between(members[i], members[j]) for i, j in combinations(range(len(members)), 2)}
    apart, declined = _apart(tx, members)
    stands_for = [_leaves(tx, memory) for memory in members]
    linked = set()
    for (i, j), distance in far.items():
        one, other = members[i], members[j]
        if distance > bounds.distance or (one.id, other.id) in apart or (one.pinned and other.pinned):
            continue
        if leaves(one) + leaves(other) > MAX_SOURCES:
            continue
        whole = len(stands_for[i]) == len(stands_for[j]) == 1
        if whole or spread(near, stands_for[i], stands_for[j]) <= bounds.distance:
            linked.add((i, j))
    return Cluster(members=tuple(members), far=far, linked=frozenset(linked), declined=declined)


def _leaves(tx: ReadTx, memory: Memory) -> list[Memory]:
    """The memories that a merged memory stands for, as far as they are there; itself where no merge made it."""
    if leaves(memory) == 1:
        return [memory]
    found = tx.find_memories([source for source in memory.sources if source.startswith("mem_")])
    return [one for one in found if leaves(one) == 1] or [memory]


def _apart(tx: ReadTx, members: Sequence[Memory]) -> tuple[set[Pair], frozenset[frozenset[str]]]:
    """The pairs that were kept apart, by the judge or by undoing their merge, and did not change since.

    Also the larger groups that the judge declined: that says nothing of any two of them.
    """
    revs = {memory.id: memory.rev for memory in members}
    order = [memory.id for memory in members]
    found: dict[str, Change] = {}
    for memory in members:
        after = 0
        while page := tx.changes(memory_id=memory.id, after=after):
            found |= {change.id: change for change in page if _declines(tx, change)}
            after = page[-1].seq
    pairs: set[Pair] = set()
    groups: set[frozenset[str]] = set()
    for change in found.values():
        same = {effect.memory_id for effect in change.effects if revs.get(effect.memory_id) == effect.rev_after}
        if change.verb == "keep_apart" and len(change.effects) > 2:
            if len(same) == len(change.effects):
                groups.add(frozenset(same))
            continue
        pairs |= set(combinations([one for one in order if one in same], 2))
    return pairs, frozenset(groups)


def _declines(tx: ReadTx, change: Change) -> bool:
    if change.verb == "keep_apart":
        return change.undone_by is None
    if change.verb != "undo" or change.undoes is None or change.undone_by is not None:
        return False
    undone = tx.find_change(change.undoes)
    return undone is not None and undone.verb == "compact"
