"""Undoing a change: a new change that brings back what each row was before, or a conflict and nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from holdfast.answers import Receipt
from holdfast.errors import Forgotten, NotFound, UndoConflict, WrongKind
from holdfast.model import Author, Change, Effect, Span
from holdfast.pipeline.index import look_again
from holdfast.ports import Ids
from holdfast.transaction import ReadTx, WriteTx

__all__ = ["undo"]


def undo(tx: WriteTx, change_id: str, *, cascade: bool, ids: Ids, author: Author) -> Receipt:
    """Undo a change; undoing an undo is redo.

    Each row must still be at the revision that the change made. Otherwise later changes stand on it: they are
    `blocking`, and with `cascade` they are undone first, newest first, in the same transaction.

    Raises:
        NotFound: no such change in this scope.
        WrongKind: the id is not a change's.
        Forgotten: the change is a hard forget, or what it did was forgotten since.
        UndoConflict: an add, a change that is undone already, or one that others stand on.
    """
    if not change_id.startswith("chg_"):
        raise WrongKind(f"{change_id!r:.80} is not the id of a change (chg_…)", id=change_id)
    change = tx.find_change(change_id)
    if change is None:
        raise NotFound(f"no change {change_id!r:.80} in this scope", id=change_id)
    _check(change)
    undone: list[str] = []
    blocking = _blocking(tx, change)
    if blocking and not cascade:
        later = ", ".join(blocking[:5])
        message = f"later changes stand on {change_id}: {later}; undo them first, or pass cascade=True"
        raise UndoConflict(message, blocking=blocking)
    while blocking:
        newest = tx.find_change(blocking[0])
        if newest is None or _refusal(newest) is not None:
            raise UndoConflict(f"{blocking[0]} stands on {change_id} and cannot be undone", blocking=blocking)
        undone += _undo_one(tx, newest, ids=ids, author=author)
        blocking = _blocking(tx, change)
    undone += _undo_one(tx, change, ids=ids, author=author)
    return Receipt(ids=tuple(effect.memory_id for effect in change.effects), change_ids=tuple(reversed(undone)))


def _refusal(change: Change) -> str | None:
    if change.verb == "add":
        return "an add cannot be undone: the journal only grows; forget its messages instead"
    if change.undone_by is not None:
        return f"{change.id} is undone already, by {change.undone_by}; undo that to redo it"
    return None


def _check(change: Change) -> None:
    if change.verb == "forget":
        raise Forgotten(f"{change.id} forgot for good and cannot be undone", id=change.id)
    refusal = _refusal(change)
    if refusal is not None:
        raise UndoConflict(refusal, blocking=() if change.undone_by is None else (change.undone_by,))


def _blocking(tx: ReadTx, change: Change) -> list[str]:
    """Later changes, not undone, that touched a row of this one; newest first."""
    found: dict[str, int] = {}
    for effect in change.effects:
        current = tx.find_memories([effect.memory_id])
        if not current:
            raise Forgotten(f"{effect.memory_id}, which {change.id} touched, was forgotten since", id=effect.memory_id)
        if current[0].rev == effect.rev_after:
            continue
        for later in tx.changes(memory_id=effect.memory_id, after=change.seq):
            touched = next(e for e in later.effects if e.memory_id == effect.memory_id)
            if touched.rev_before >= effect.rev_after and later.undone_by is None:
                found[later.id] = later.seq
    for span in change.spans:
        found.update(_moved_since(tx, change, span))
    return sorted(found, key=lambda item: found[item], reverse=True)


def _moved_since(tx: ReadTx, change: Change, span: Span) -> dict[str, int]:
    """Later consolidations of the same session, not undone: its cursor moves back only from the newest."""
    session = tx.find_session(span.session)
    if session is None:
        raise Forgotten(f"the session that {change.id} consolidated was forgotten since", id=change.id)
    if session.cursor == _cursor_after(tx, change, span):
        return {}
    return {
        later.id: later.seq
        for later in _changes_since(tx, change.seq)
        if later.verb != "add" and later.undone_by is None and any(s.session == span.session for s in later.spans)
    }


def _changes_since(tx: ReadTx, seq: int) -> Iterator[Change]:
    while page := tx.changes(after=seq):
        yield from page
        seq = page[-1].seq


def _forward(tx: ReadTx, change: Change) -> bool:
    """Whether the change moved cursors forward: a consolidation, or the redo of one."""
    steps = 0
    while change.undoes is not None:
        before = tx.find_change(change.undoes)
        if before is None:
            break
        change, steps = before, steps + 1
    return steps % 2 == 0


def _cursor_after(tx: ReadTx, change: Change, span: Span) -> int:
    return span.last if _forward(tx, change) else span.first - 1


def _undo_one(tx: WriteTx, change: Change, *, ids: Ids, author: Author) -> list[str]:
    effects = [_restore(tx, effect, change) for effect in reversed(change.effects)]
    forward = _forward(tx, change)
    for span in change.spans:
        session = tx.find_session(span.session)
        if session is not None:
            tx.put_session(replace(session, cursor=span.first - 1 if forward else span.last, rev=session.rev + 1))
    made = Change(
        id=ids.new("chg"),
        seq=0,
        verb="undo",
        reason=f"undoes {change.id}",
        by=author,
        at=tx.now,
        sources=change.sources,
        spans=change.spans,
        effects=tuple(effects),
        undoes=change.id,
    )
    _hidden(tx, change, made)
    tx.add_change(made)
    tx.mark_undone(change.id, made.id)
    if change.undoes is not None:
        tx.mark_undone(change.undoes, None)
    return [made.id]


def _hidden(tx: WriteTx, change: Change, made: Change) -> None:
    """Undo a hide, or hide again what an undo revealed."""
    root = change
    while root.undoes is not None and (before := tx.find_change(root.undoes)) is not None:
        root = before
    if root.verb != "hide":
        return
    if _forward(tx, change):
        tx.reveal(root.id if change is root else change.id)
        _flag(tx, change.sources)
        look_again(tx, sorted(_numbers(tx, change.sources)))
    else:
        numbers = _numbers(tx, change.sources)
        tx.hide(change.sources, made.id)
        tx.flag(dict.fromkeys(numbers, False))


def _numbers(tx: ReadTx, ids: Sequence[str]) -> dict[int, bool]:
    messages = {message.number: True for message in tx.find_messages(ids)}
    return messages | {memory.number: memory.state == "active" for memory in tx.find_memories(ids)}


def _flag(tx: WriteTx, ids: Sequence[str]) -> None:
    tx.flag(_numbers(tx, ids))


def _restore(tx: WriteTx, effect: Effect, change: Change) -> Effect:
    """Write the revision before as the newest one; what did not exist before becomes "never true"."""
    current = tx.find_memories([effect.memory_id])[0]
    if effect.rev_before == 0:
        after = replace(current, state="retracted")
    else:
        past = {memory.rev: memory for memory in tx.revisions(effect.memory_id)}
        before = past.get(effect.rev_before)
        if before is None:
            raise Forgotten(f"what {effect.memory_id} was before {change.id} was forgotten", id=effect.memory_id)
        after = before
    after = replace(after, rev=current.rev + 1, recorded_at=tx.now, unrecorded_at=None)
    tx.put_memory(after)
    if (after.state == "active") != (current.state == "active"):
        tx.flag({current.number: after.state == "active"})
    return Effect(memory_id=current.id, rev_before=current.rev, rev_after=after.rev)
