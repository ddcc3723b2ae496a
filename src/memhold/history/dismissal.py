"""A person's no to what a model said and no line does: it was not kept, and need not be looked at again."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from memhold.facts.confirm import only_a_person
from memhold.facts.remember import Writer
from memhold.history.changes import seen_change
from memhold.history.history import check_trail
from memhold.journal.change import Basis, note_change
from memhold.journal.visibility import checked_id
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.values.answers import Receipt
from memhold.values.errors import InvalidInput, NotFound, WrongKind
from memhold.values.records import Change, Effect

__all__ = ["DISMISS", "digest_of", "dismiss"]

DISMISS = "dismiss"
"""The verb of a change that dismisses: its detail has `of`, the change, and `place`, which of its statements.

Of a window it has `says`, the statement's digest, so that the no holds where a model says the same again. What forgets
the window empties it too.
"""


def digest_of(statement: Mapping[str, Any]) -> str:
    """The digest of what a statement says, in capitals or not: subject, attribute and value where it has them all."""
    parts = [statement.get(name) for name in ("subject", "attribute", "value")]
    said = parts if all(parts) else [statement.get("text")]
    return sha256("\x1f".join(str(part).casefold() for part in said).encode()).hexdigest()[:32]


def dismiss(tx: WriteTx, change_id: str, place: int, *, writer: Writer) -> Receipt:
    """Note that a person said no to a statement of a model that was not kept; what is dismissed already stays so.

    It is dismissed of every window, also of those to come.

    The memory that the window became is named, at the revision it has, so that its history tells of it; nothing that
    was said stands in the change.

    Raises:
        ScopeDenied: it is not a person who says so.
        WrongKind: the id is not a change's.
        NotFound: there is no such change in this scope, or no such statement in it, or its window is hidden.
        InvalidInput: `place` is no whole number from 0.
        StoreCorrupt: the change is damaged on the disk.
    """
    only_a_person(writer, DISMISS)
    if not checked_id(change_id).startswith("chg_"):
        raise WrongKind(f"{change_id!r:.80} is not the id of a change; pass one (chg_…)", id=change_id)
    if type(place) is not int or place < 0:
        raise InvalidInput(f"place is {place!r:.40}; pass which of the change's statements, counted from 0")
    change = tx.find_change(change_id)
    check_trail(tx)
    if change is None or seen_change(tx, change) is None:
        raise NotFound(f"nothing with the id {change_id!r:.80} in this scope", id=change_id)
    said = change.detail.get("ungrounded", ())
    if place >= len(said):
        known = f"it has {len(said)}, counted from 0" if said else "it has none, or what it had was forgotten"
        raise NotFound(f"{change_id} has no statement {place} that was not kept; {known}", id=change_id)
    window = _window(tx, change)
    # Without a window nothing would empty the digest once its lines are forgotten.
    detail = {"of": change.id, "place": place} | ({"says": digest_of(said[place])} if window else {})
    if _dismissed(tx, detail):
        return Receipt(ids=tuple(one.memory_id for one in window))
    reason = "dismissed by the user: it is not so"
    change_id = writer.ids.new("chg")
    made = note_change(tx, change_id, DISMISS, reason, by=writer.author, effects=window, basis=Basis(detail=detail))
    return Receipt(ids=tuple(one.memory_id for one in window), change_ids=(made.id,))


def _window(tx: ReadTx, change: Change) -> tuple[Effect, ...]:
    """The memories that stand for the window, each left at the revision it has.

    Raises:
        NotFound: they are hidden.
    """
    made = tx.find_memories([effect.memory_id for effect in change.effects])
    window = tuple(
        Effect(memory_id=one.id, rev_before=one.rev, rev_after=one.rev)
        for one in made
        if one.kind in {"summary", "raw"}
    )
    if not window and len(made) < len(change.effects):
        raise NotFound(f"what {change.id} made of its window is hidden; undo that first", id=change.id)
    return window


def _dismissed(tx: ReadTx, detail: Mapping[str, Any]) -> bool:
    """Whether a person's no to the same stands. One that is damaged is no reason not to note another."""
    after, says = 0, detail.get("says")
    while page := tx.changes(verb=DISMISS, after=after):
        for one in page:
            same = one.detail == detail or (says is not None and one.detail.get("says") == says)
            if same and one.undone_by is None and seen_change(tx, one) is not None:
                return True
        after = page[-1].seq
    return False
