"""A person's no to what a model said and no line does: it was not kept, and need not be looked at again."""

from __future__ import annotations

from memhold.facts.confirm import only_a_person
from memhold.facts.remember import Writer
from memhold.history.history import check_trail
from memhold.history.undo import sees_change
from memhold.journal.visibility import checked_id
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.values.answers import Receipt
from memhold.values.errors import InvalidInput, NotFound, WrongKind
from memhold.values.records import Change, Effect

__all__ = ["DISMISS", "dismiss"]

DISMISS = "dismiss"
"""The verb of a change that dismisses: its detail has `of`, the change, and `place`, which of its statements."""


def dismiss(tx: WriteTx, change_id: str, place: int, *, writer: Writer) -> Receipt:
    """Note that a person said no to a statement of a model that was not kept; what is dismissed already stays so.

    The memory that the window became is named, at the revision it has, so that its history tells of it; nothing that
    was said stands in the change.

    Raises:
        ScopeDenied: it is not a person who says so.
        WrongKind: the id is not a change's.
        NotFound: there is no such change in this scope, or no such statement in it.
        InvalidInput: `place` is no whole number from 0.
        StoreCorrupt: the change is damaged on the disk, or one that may have dismissed it already.
    """
    only_a_person(writer, DISMISS)
    if not checked_id(change_id).startswith("chg_"):
        raise WrongKind(f"{change_id!r:.80} is not the id of a change; pass one (chg_…)", id=change_id)
    if type(place) is not int or place < 0:
        raise InvalidInput(f"place is {place!r:.40}; pass which of the change's statements, counted from 0")
    change = tx.find_change(change_id)
    check_trail(tx)
    if change is None or not sees_change(tx, change):
        raise NotFound(f"no change {change_id!r:.80} in this scope", id=change_id)
    said = change.detail.get("ungrounded", ())
    if place >= len(said):
        known = f"it has {len(said)}, counted from 0" if said else "it has none, or what it had was forgotten"
        raise NotFound(f"{change_id} has no statement {place} that was not kept; {known}", id=change_id)
    window = _window(tx, change)
    if _dismissed(tx, change, place, window):
        return Receipt(ids=tuple(one.memory_id for one in window))
    made = Change(
        id=writer.ids.new("chg"),
        seq=0,
        verb=DISMISS,
        reason="dismissed by the user: it is not so",
        by=writer.author,
        at=tx.now,
        effects=window,
        detail={"of": change.id, "place": place},
    )
    tx.add_change(made)
    return Receipt(ids=tuple(one.memory_id for one in window), change_ids=(made.id,))


def _window(tx: ReadTx, change: Change) -> tuple[Effect, ...]:
    """The memories that stand for the window, each left at the revision it has."""
    made = tx.find_memories([effect.memory_id for effect in change.effects])
    return tuple(
        Effect(memory_id=one.id, rev_before=one.rev, rev_after=one.rev)
        for one in made
        if one.kind in {"summary", "raw"}
    )


def _dismissed(tx: ReadTx, change: Change, place: int, window: tuple[Effect, ...]) -> bool:
    after = change.seq
    while page := tx.changes(memory_id=window[0].memory_id if window else None, after=after):
        check_trail(tx)
        for one in page:
            said_no = one.verb == DISMISS and one.undone_by is None
            if said_no and (one.detail.get("of"), one.detail.get("place")) == (change.id, place):
                return True
        after = page[-1].seq
    return False
