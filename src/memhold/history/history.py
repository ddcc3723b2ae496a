"""The audit trail of one memory or message, with what each change found and left."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from memhold.history.changes import hidden_rows, seen_change
from memhold.journal.visibility import checked_id, seen
from memhold.ports.transaction import ReadTx
from memhold.values.errors import NotFound, StoreCorrupt, WrongKind
from memhold.values.records import ROTTEN, Change, Effect, Memory, Message

__all__ = ["check_trail", "former_contents", "get", "history", "lineage"]


def get(tx: ReadTx, item_id: str) -> Message | Memory:
    """The message or memory of that id.

    Raises:
        NotFound: there is none in this scope, or it was forgotten.
        StoreCorrupt: it is there, and damaged on the disk.
        WrongKind: the id is of another kind.
    """
    if checked_id(item_id).startswith(("chg_", "ses_")):
        raise WrongKind(f"{item_id!r:.80} names neither a message nor a memory; get takes msg_… and mem_…", id=item_id)
    found: list[Message] | list[Memory] = (
        seen(tx, tx.find_messages([item_id])) if item_id.startswith("msg_") else seen(tx, tx.find_memories([item_id]))
    )
    if item_id in tx.damaged:
        raise StoreCorrupt(
            f"{item_id} is damaged on the disk; run 'memhold doctor', then restore a backup of before, or forget it"
        )
    if not found:
        raise NotFound(f"nothing with the id {item_id!r:.80} in this scope", id=item_id)
    return found[0]


def check_trail(tx: ReadTx) -> None:
    """Refuse where a change that was read here is damaged: a trail with a hole tells another story.

    Raises:
        StoreCorrupt: one is.
    """
    damaged = [one for one in tx.damaged if one.startswith("chg_")]
    if damaged:
        raise StoreCorrupt(
            f"changes are damaged on the disk ({', '.join(damaged[:5])}), so what happened is not known; restore a"
            " backup of before; 'memhold doctor' says whether this store can go on without what they said"
        )


def lineage(tx: ReadTx, memory: Memory) -> list[str]:
    """The ids of all statements of a fact's subject and attribute, or of all contents that a document had.

    A memory of another kind stands alone.
    """
    if memory.kind == "document":
        return _contents(tx, memory)
    if memory.kind != "fact":
        return [memory.id]
    timeline = tx.facts(subject=memory.subject or "", key=memory.key or "", agent=memory.agent)
    return [fact.id for fact in timeline] or [memory.id]


def _contents(tx: ReadTx, document: Memory) -> list[str]:
    """What a document replaced, wherever that stood, and what replaced it."""
    newest, seen_ids = document, {document.id}
    while newest.superseded_by is not None and newest.superseded_by not in seen_ids:
        seen_ids.add(newest.superseded_by)
        newest = next(iter(tx.find_memories([newest.superseded_by])), newest)
    return [one.id for one in former_contents(tx, newest)] + [newest.id]


def former_contents(tx: ReadTx, document: Memory) -> list[Memory]:
    """What a document replaced, wherever that stood, and what that replaced, and so on back."""
    found: dict[str, Memory] = {}
    waiting = [document.id]
    while waiting:
        one = waiting.pop()
        changes = [change for change in tx.changes(memory_id=one) if change.verb in {"put", "move", ROTTEN}]
        touched = dict.fromkeys(effect.memory_id for change in changes for effect in change.effects)
        before = [memory for memory in tx.find_memories([*touched]) if memory.superseded_by == one]
        waiting += [memory.id for memory in before if memory.id not in found]
        found |= {memory.id: memory for memory in before}
    return [*found.values()]


def history(tx: ReadTx, item_id: str) -> tuple[Change, ...]:
    """Every change that touched it, oldest first, with before and after.

    For a fact that is the story of its attribute: each value, from when to when, who said so and why it changed. For a
    document it is that of every content it had, also at other paths. For a
    message it is the changes that name it as a source. Of something forgotten the changes stay, without content.

    Raises:
        NotFound: the id was never in this scope.
        WrongKind: the id is of another kind.
        StoreCorrupt: it is damaged on the disk, or one of its changes.
    """
    found = _changes_of(tx, item_id)
    check_trail(tx)
    return found


def _changes_of(tx: ReadTx, item: str) -> tuple[Change, ...]:
    tombstone = tx.tombstone(checked_id(item))
    if tombstone is not None:
        found = {change.id: change for change in tx.changes(memory_id=item)}
        forgetting = tx.find_change(tombstone.change_id)
        if forgetting is not None:
            found[forgetting.id] = replace(forgetting, sources=(item,))
        return tuple(_in_order(tx, found.values()))
    held = get(tx, item)
    if isinstance(held, Message):
        derived = [memory.id for memory in tx.derived([item])]
        changes = [change for memory_id in derived for change in tx.changes(memory_id=memory_id)]
        added = tx.find_change(held.change_id)
        changes += [] if added is None else [added]
    else:
        changes = [change for memory_id in lineage(tx, held) for change in tx.changes(memory_id=memory_id)]
    unique = {change.id: change for change in changes}
    return tuple(_with_content(tx, change) for change in _in_order(tx, unique.values()))


def _in_order(tx: ReadTx, found: Iterable[Change]) -> list[Change]:
    """What the scope sees of these changes, oldest first."""
    hidden = hidden_rows(tx)
    seen_ones = (seen_change(tx, one, hidden) for one in sorted(found, key=lambda one: one.seq))
    return [one for one in seen_ones if one is not None]


def _with_content(tx: ReadTx, change: Change) -> Change:
    """The change with the content that its effects name, where it was not forgotten."""
    effects = []
    for effect in change.effects:
        past = {memory.rev: memory for memory in tx.revisions(effect.memory_id)}
        effects.append(_with(effect, past.get(effect.rev_before), past.get(effect.rev_after)))
    return replace(change, effects=tuple(effects))


def _with(effect: Effect, before: Memory | None, after: Memory | None) -> Effect:
    return replace(effect, before=before, after=after)
