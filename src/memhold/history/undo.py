"""Undoing a change: a new change that brings back what each row was before, or a conflict and nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from memhold.facts.remember import Writer
from memhold.facts.revisions import as_before, memory_digest, restore, revise
from memhold.facts.rollups import founded, joined
from memhold.facts.timeline import contradicting
from memhold.history.changes import hidden_rows, seen_change
from memhold.history.forget import Target, forget
from memhold.history.history import check_trail
from memhold.index.pending_vectors import look_again
from memhold.journal import beside
from memhold.journal.archive import archive
from memhold.journal.visibility import checked_id
from memhold.ports.stores import Ids
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.values.answers import Receipt
from memhold.values.errors import Forgotten, NotFound, ScopeDenied, UndoConflict, WrongKind
from memhold.values.filters import Filters
from memhold.values.records import ROTTEN, Author, Change, Effect, Memory, Message, Session, Span

__all__ = ["Undoer", "reaches_below", "stands", "undo", "undo_written", "would_undo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Undoer:
    """What an undo needs beside its transaction. With `redo` an undone consolidation is due to be done again."""

    ids: Ids
    author: Author
    secret: bytes
    redo: bool = False


def reaches_below(tx: ReadTx, change_id: str) -> bool:
    """Whether a change may stand in namespaces below too, under the same id: it hides, or undoes what did."""
    change = tx.find_change(checked_id(change_id))
    return change is not None and _root(tx, change).verb == "hide"


def stands(tx: ReadTx, change_id: str) -> bool:
    """Whether there is such a change here, and nothing undid it."""
    change = tx.find_change(change_id)
    return change is not None and change.undone_by is None


def undo(tx: WriteTx, change_id: str, *, cascade: bool, undoer: Undoer, made_id: str | None = None) -> Receipt:
    """Undo a change; undoing an undo is redo. `made_id` is the id of the change that this makes of that one.

    Each row must still be at the revision that the change made. Otherwise later changes stand on it: they are
    `blocking`, and with `cascade` they are undone first, newest first, in the same transaction.

    Raises:
        NotFound: no such change in this scope.
        WrongKind: the id is not a change's.
        Forgotten: the change is a hard forget, or what it did was forgotten since.
        UndoConflict: an add, a change that is undone already, or one that others stand on.
        StoreCorrupt: it is damaged on the disk, or one that had to be read to know what stands on it.
    """
    if not checked_id(change_id).startswith("chg_"):
        raise WrongKind(f"{change_id!r:.80} is not the id of a change; pass one (chg_…)", id=change_id)
    try:
        receipt = _undo(tx, change_id, cascade=cascade, undoer=undoer, made_id=made_id)
    except (Forgotten, NotFound, UndoConflict):
        # Without what could not be read nobody knows whether that is so.
        check_trail(tx)
        raise
    check_trail(tx)
    return receipt


def _undo(tx: WriteTx, change_id: str, *, cascade: bool, undoer: Undoer, made_id: str | None) -> Receipt:
    change = tx.find_change(change_id)
    if change is None or seen_change(tx, change) is None:
        raise NotFound(f"nothing with the id {change_id!r:.80} in this scope", id=change_id)
    _check(change)
    if _emptied(tx, change):
        raise Forgotten(f"all that {change_id} hid was forgotten since; tell it anew", id=change_id)
    blocking = _blocking(tx, change, undoer.secret)
    if any(_made_by_somebody(tx, one) for one in blocking) and not cascade:
        later = ", ".join(blocking[:5])
        message = f"later changes stand on {change_id}: {later}; undo them first, or pass cascade=True"
        raise UndoConflict(message, blocking=blocking)
    undone = _undo_tree(tx, change, undoer, made_id)
    made = tuple(one for one in reversed(undone) if _made_by_somebody(tx, _undone_by(tx, one)))
    return Receipt(ids=tuple(effect.memory_id for effect in change.effects), change_ids=made)


def undo_written(tx: WriteTx, filters: Filters, *, cascade: bool, undoer: Undoer) -> Receipt:
    """Undo every standing change that passes a filter, newest first, and hide the lines that its adds appended.

    The journal only grows, so what was added is hidden with what was derived from it, by a change that can be undone
    too; what a line of the user's says as well stays. Changes whose content was forgotten since are passed over.

    Raises:
        UndoConflict: others' changes stand on one of them, and `cascade` was not asked for; nothing happened.
    """
    touched: dict[str, None] = {}
    made: list[str] = []
    added: list[str] = []
    passing = [one for one in _changes(tx) if filters.wrote(one.by.origin, one.by.name, one.at)]
    hidden = hidden_rows(tx)
    chosen = [one for one in passing if seen_change(tx, one, hidden) == one]
    for change in reversed(chosen):
        current = tx.find_change(change.id)
        if current is None or current.undone_by is not None or change.verb in _NOT_UNDONE or _gone(tx, change):
            continue
        if change.verb == "add":
            added += [message.id for span in change.spans for message in _appended(tx, span)]
            continue
        receipt = undo(tx, change.id, cascade=cascade, undoer=undoer)
        made += receipt.change_ids
        touched |= dict.fromkeys(receipt.ids)
    # What an application brought for several is each one's own: only the lines that pass go.
    lines = [one.id for one in tx.find_messages(added) if filters.wrote(one.origin, one.actor, one.recorded_at)]
    if lines:
        done = forget(
            tx,
            Target(some=tuple(lines)),
            sources="keep",
            hard=False,
            writer=Writer(ids=undoer.ids, secret=undoer.secret, author=undoer.author, agent=tx.scope.agent),
            reason="hidden with what was undone",
        )
        made.append(done.change_id or "")
        touched |= dict.fromkeys(done.hidden)
    return Receipt(ids=tuple(touched), change_ids=tuple(made))


def would_undo(tx: ReadTx, receipt: Receipt) -> Receipt:
    """The receipt of an undo that is taken back again: instead of the changes that it made, those that it undid."""
    undone = tuple(of for one in receipt.change_ids if (of := _undone_by(tx, one)))
    return replace(receipt, change_ids=undone)


_NOT_UNDONE = frozenset({"forget", "evidence", "expire", "keep_apart", ROTTEN})


def _appended(tx: ReadTx, span: Span) -> list[Message]:
    session = tx.find_session(span.session)
    return [] if session is None else tx.messages(session.name, after=span.first - 1, until=span.last)


def _gone(tx: ReadTx, change: Change) -> bool:
    return _emptied(tx, change) or any(tx.tombstone(effect.memory_id) is not None for effect in change.effects)


def _undone_by(tx: ReadTx, undo_id: str) -> str:
    made = tx.find_change(undo_id)
    return "" if made is None or made.undoes is None else made.undoes


def _made_by_somebody(tx: ReadTx, change_id: str) -> bool:
    """Whether somebody made a change; what only time and evidence did to a row goes with what is undone below it."""
    change = tx.find_change(change_id)
    return change is None or change.verb not in {"evidence", "expire"}


def _undo_tree(tx: WriteTx, change: Change, undoer: Undoer, made_id: str | None = None) -> list[str]:
    """Undo what stands on a change, newest first and each with what stands on it, then the change itself."""
    undone: list[str] = []
    while blocking := _blocking(tx, change, undoer.secret):
        newest = tx.find_change(blocking[0])
        if newest is None or newest.seq <= change.seq or _refusal(newest) is not None:
            raise UndoConflict(
                f"{blocking[0]} stands on {change.id} and cannot be undone; tell the right value instead",
                blocking=blocking,
            )
        undone += _undo_tree(tx, newest, undoer)
    return [*undone, _undo_one(tx, change, undoer, made_id)]


def _refusal(change: Change) -> str | None:
    if change.verb == "add":
        return "an add cannot be undone: the journal only grows; forget its messages instead"
    if change.verb == ROTTEN:
        return f"{change.id} was damaged on the disk, and nobody knows what it did; tell the right value, or forget it"
    if change.undone_by is not None:
        return f"{change.id} is undone already, by {change.undone_by}; undo that to redo it"
    return None


def _check(change: Change) -> None:
    if change.verb == "forget":
        raise Forgotten(f"{change.id} forgot for good and cannot be undone; tell it anew", id=change.id)
    refusal = _refusal(change)
    if refusal is not None:
        raise UndoConflict(refusal, blocking=() if change.undone_by is None else (change.undone_by,))


def _blocking(tx: ReadTx, change: Change, secret: bytes) -> list[str]:
    """What must be undone first, so that each row is again as this change left it; newest first.

    Once they are, also what would contradict the rows that the undo brings back.
    """
    blocking: set[str] = set()
    for effect in _moved(tx, change):
        current = tx.find_memories([effect.memory_id])
        if not current:
            blocking |= _hiding(tx, effect.memory_id, change)
        elif effect.rev_before == effect.rev_after:
            continue
        elif current[0].rev != effect.rev_after:
            blocking |= _between(tx, change, _touching(tx, effect.memory_id))
    for span in () if _learned(change) else change.spans:
        session = tx.find_session(span.session)
        if session is None:
            raise Forgotten(f"the session that {change.id} consolidated was forgotten since; add it anew", id=change.id)
        if session.cursor != _cursor_after(tx, change, span):
            moves = [c for c in _changes(tx) if _may_have_moved(c, span.session)]
            blocking |= _between(tx, change, moves)
    if not blocking:
        blocking = _contradicting(tx, change, secret)
    found = {item: tx.find_change(item) for item in blocking}
    return sorted(found, key=lambda item: -1 if (one := found[item]) is None else one.seq, reverse=True)


def _may_have_moved(change: Change, session: str) -> bool:
    """Whether a change moved the cursor of a session; of a rotten one nobody knows."""
    return change.verb == ROTTEN or (change.verb != "add" and any(span.session == session for span in change.spans))


def _hiding(tx: ReadTx, memory_id: str, change: Change) -> set[str]:
    """The standing change that hides a memory; it can be shown again, so it blocks and is not "forgotten".

    Where none is known to, those of which nobody knows what they did.

    Raises:
        Forgotten: nothing hides it: it is gone.
    """
    if tx.tombstone(memory_id) is None:
        rotten: set[str] = set()
        for later in _changes(tx, after=change.seq):
            if later.undone_by is None and memory_id in later.sources and _root(tx, later).verb == "hide":
                return {later.id}
            rotten |= {later.id} if later.verb == ROTTEN else set()
        if rotten:
            return rotten
    raise Forgotten(f"{memory_id}, which {change.id} touched, was forgotten since; tell it anew", id=memory_id)


def _between(tx: ReadTx, change: Change, touching: Sequence[Change]) -> set[str]:
    """What separates a row's present from how a change left it.

    `touching` are all changes of the row, oldest first. Of a row there stands, at any time, a stack of changes: one
    that is made goes on top, undoing one brings back the stack from before it.
    """
    after, stack = _stacks(touching)
    wanted = after.get(change.id, stack)
    shared = 0
    while shared < min(len(stack), len(wanted)) and stack[shared] == wanted[shared]:
        shared += 1
    gone = [found for item in wanted[shared:] if (found := tx.find_change(item)) is not None]
    return {*stack[shared:], *(one.undone_by for one in gone if one.undone_by is not None)}


def _stacks(touching: Sequence[Change]) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """The standing changes of a row after each of its changes, and now."""
    before: dict[str, tuple[str, ...]] = {}
    after: dict[str, tuple[str, ...]] = {}
    stack: tuple[str, ...] = ()
    for one in touching:
        before[one.id] = stack
        stack = (*stack, one.id) if one.undoes is None else before.get(one.undoes, stack)
        after[one.id] = stack
    return after, stack


def _contradicting(tx: ReadTx, change: Change, secret: bytes) -> set[str]:
    """The newest standing changes of memories that cannot stand beside what this undo would bring back."""
    brought = {memory.id: memory for memory in _brought_back(tx, change)}
    others: set[str] = set()
    for memory in brought.values():
        if memory.kind == "fact":
            timeline = tx.facts(subject=memory.subject or "", key=memory.key or "", agent=memory.agent)
            others |= contradicting([brought.get(fact.id, fact) for fact in timeline if fact.id != memory.id], memory)
        elif memory.state == "active":
            same = tx.same_content(kind=memory.kind, digest=memory_digest(secret, memory), agent=memory.agent)
            others |= set() if same is None else {same.id}
        if memory.kind in {"summary", "raw"} and memory.state == "active":
            # While it was away its window was kept anew: the two would say everything twice.
            anew = (one for one in tx.derived(memory.sources) if one.kind in {"summary", "raw"})
            others |= {one.id for one in anew if one.state == "active" and one.created_at >= change.at}
    stacks = (_stacks(_touching(tx, other))[1] for other in others - brought.keys())
    return {stack[-1] for stack in stacks if stack}


def _brought_back(tx: ReadTx, change: Change) -> list[Memory]:
    """The memories as undoing the change would leave them."""
    found = [as_before(tx, effect, change) for effect in _moved(tx, change)]
    if _root(tx, change).verb == "hide" and _forward(tx, change):
        # What another hide covers too stays hidden, and is brought back by nothing here.
        found += [item for item in tx.hidden(by=_mark_of(tx, change)) if isinstance(item, Memory)]
    return found


def _changes(tx: ReadTx, *, memory_id: str | None = None, after: int = 0) -> Iterator[Change]:
    while page := tx.changes(memory_id=memory_id, after=after):
        yield from page
        after = page[-1].seq


def _touching(tx: ReadTx, memory_id: str) -> list[Change]:
    """The changes that gave a memory another revision; one that kept it apart from others gave none."""
    return [
        change
        for change in _changes(tx, memory_id=memory_id)
        if any(one.memory_id == memory_id and one.rev_before != one.rev_after for one in change.effects)
    ]


def _root(tx: ReadTx, change: Change) -> Change:
    """What an undo, or an undo of an undo, goes back to."""
    while change.undoes is not None and (before := tx.find_change(change.undoes)) is not None:
        change = before
    return change


def _mark_of(tx: ReadTx, change: Change) -> str:
    """The change that rows carry which this hide, or this redo of one, keeps hidden: the last redo of the hide.

    Once it was redone the hide itself stands again, and may be what is asked to be undone.
    """
    root = _root(tx, change)
    later = (one for one in _changes(tx, after=root.seq) if one.undoes is not None and _root(tx, one).id == root.id)
    return [root.id, *(one.id for one in later if _forward(tx, one))][-1]


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


def _emptied(tx: ReadTx, change: Change) -> bool:
    """Whether this hid something of which nothing is left."""
    hides = _root(tx, change).verb == "hide" and bool(change.sources)
    return hides and all(tx.tombstone(one) is not None for one in change.sources)


def _moved(tx: ReadTx, change: Change) -> tuple[Effect, ...]:
    """The effects of a change that are to be undone; what a hide or a dismissal only names keeps its revision."""
    if _root(tx, change).verb not in {"hide", "dismiss"}:
        return change.effects
    return tuple(effect for effect in change.effects if effect.rev_before != effect.rev_after)


def _undo_one(tx: WriteTx, change: Change, undoer: Undoer, made_id: str | None) -> str:
    if undoer.author.origin != "user" and change.by.origin == "user":
        raise ScopeDenied(f"{change.id} was made by the user; leave it to a person")
    if seen_change(tx, change) != change:
        raise ScopeDenied(f"{change.id} touched what is another agent's; undo it without an agent")
    moved = _moved(tx, change)
    effects = [restore(tx, effect, change) for effect in reversed(moved)]
    effects += [effect for effect in change.effects if effect not in moved]
    forward = _forward(tx, change)
    learned = _learned(change)
    if learned:
        effects = _left_raw(tx, change, effects, undoer)
    for span in () if learned else change.spans:
        session = tx.find_session(span.session)
        if session is not None:
            _move(tx, session, span, forward=forward)
    made = Change(
        id=made_id or undoer.ids.new("chg"),
        seq=0,
        verb="undo",
        reason=f"undoes {change.id}",
        by=undoer.author,
        at=tx.now,
        sources=change.sources,
        spans=() if learned else change.spans,
        effects=tuple(effects),
        undoes=change.id,
    )
    _hidden(tx, change, made)
    touched = [*(one.memory_id for one in made.effects if one.rev_before != one.rev_after), *change.sources]
    tx.add_change(replace(made, effects=joined((*made.effects, *founded(tx, touched)))))
    _mark(tx, change, made.id)
    return made.id


def _learned(change: Change) -> bool:
    """Whether a model or the rules consolidated a window: its undoing leaves the cursor where it is."""
    return change.verb == "consolidate" and change.by.version is not None


def _left_raw(tx: WriteTx, change: Change, effects: Sequence[Effect], undoer: Undoer) -> list[Effect]:
    """What the window stood for becomes RAW again, by the user's wish, or to be done again."""
    found = {effect.memory_id: effect for effect in effects}
    kept = not undoer.redo
    back = [m for m in tx.find_memories(list(found)) if m.kind == "raw" and m.state == "active"]
    for memory in back:
        held = memory.metadata.get("raw")
        about = {**(held if isinstance(held, dict) else {}), "kept": kept}
        effect = revise(tx, memory, metadata={**memory.metadata, "raw": about})
        found[memory.id] = replace(effect, rev_before=found[memory.id].rev_before)
    messages = sorted(tx.find_messages(change.sources), key=lambda message: message.seq)
    if not back and messages:
        about = {"reason": "the consolidation was undone", "kept": kept}
        _, made = archive(tx, messages, secret=undoer.secret, ids=undoer.ids, about=about)
        found |= {effect.memory_id: effect for effect in made}
    if undoer.redo:
        tx.put_due("redo", "raw", tx.now)
    return list(found.values())


def _move(tx: WriteTx, session: Session, span: Span, *, forward: bool) -> None:
    """Move a cursor back in front of a span, whose messages wait again, or behind it."""
    moved = replace(session, cursor=span.first - 1 if forward else span.last, rev=session.rev + 1)
    if forward:
        start, moved = min(session.window_start, moved.cursor), beside.reopened(moved, moved.cursor)
        tx.put_session(replace(moved, window_start=start, asked=min(session.asked, moved.cursor)))
    else:
        tx.put_session(replace(moved, window_start=max(session.window_start, span.last)))


def _mark(tx: WriteTx, change: Change, by: str) -> None:
    """Note what is undone now: an undo that is undone lets what it undid stand again, and so on down."""
    tx.mark_undone(change.id, by)
    stands = True
    while change.undoes is not None and (undone := tx.find_change(change.undoes)) is not None:
        tx.mark_undone(undone.id, None if stands else change.id)
        change, stands = undone, not stands


def _hidden(tx: WriteTx, change: Change, made: Change) -> None:
    """Undo a hide, or hide again what an undo revealed."""
    root = _root(tx, change)
    if root.verb != "hide":
        return
    if _forward(tx, change):
        mark = _mark_of(tx, change)
        _keep_beside(tx, lambda session: beside.revealed(session, mark, made.id))
        tx.reveal(mark)
        _flag(tx, change.sources)
        for name in {message.session for message in tx.find_messages(change.sources)}:
            session = tx.session(name)
            if session is not None:
                # The window may have been consolidated without what shows again.
                tx.put_session(replace(session, torn=True, rev=session.rev + 1))
                tx.put_due("consolidate", session.id, tx.now)
        look_again(tx, sorted(_numbers(tx, change.sources)))
    else:
        numbers = _numbers(tx, change.sources)
        tx.hide(change.sources, made.id)
        tx.flag(dict.fromkeys(numbers, False))
        _keep_beside(tx, lambda session: beside.hidden(session, made.id, again=change.id))


def _keep_beside(tx: WriteTx, turned: Callable[[Session], Session]) -> None:
    """Hide or show what is kept beside sessions."""
    for session in tx.sessions():
        if (now := turned(session)) is not session:
            tx.put_session(now)


def _numbers(tx: ReadTx, ids: Sequence[str]) -> dict[int, bool]:
    messages = {number: True for message in tx.find_messages(ids) for number in message.numbers}
    return messages | {memory.number: memory.shown for memory in tx.find_memories(ids)}


def _flag(tx: WriteTx, ids: Sequence[str]) -> None:
    tx.flag(_numbers(tx, ids))
