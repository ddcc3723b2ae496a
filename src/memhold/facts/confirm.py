"""A person's yes and no to a memory: what others noted and learnt becomes the user's word, or was never so."""

from __future__ import annotations

from memhold.facts.remember import Writer, change_by, find_memory
from memhold.facts.revisions import mind_expiry, revise
from memhold.facts.suspicions import settle_suspicion, waiting_of
from memhold.ports.transaction import WriteTx
from memhold.values.answers import OpenSuspicion, Receipt
from memhold.values.errors import Conflict, ScopeDenied
from memhold.values.origins import named
from memhold.values.records import Effect, Memory

__all__ = ["confirm", "drop", "only_a_person"]


def only_a_person(writer: Writer, what: str) -> None:
    """Refuse what only a person may say.

    Raises:
        ScopeDenied: an agent or a tool says it.
    """
    if writer.author.origin != "user":
        raise ScopeDenied(f"{what} is a person's to say, not the {named(writer.author)}'s; leave it to them")


def confirm(tx: WriteTx, memory_id: str, *, rev: int | None, writer: Writer) -> Receipt:
    """Note that a person said yes to a memory; what was kept apart takes its place on that word.

    Raises:
        ScopeDenied: it is not a person who says so.
        NotFound, WrongKind, RevisionConflict: as `find_memory`.
        Conflict: it holds no longer; what stands in its place is named.
    """
    only_a_person(writer, "confirm")
    memory = find_memory(tx, memory_id, rev=rev)
    if (found := _suspected(tx, memory)) is not None:
        return settle_suspicion(tx, found.suspicion.id, "same", writer=writer)
    _check_shown(memory)
    if memory.state == "expired":
        effect = revise(tx, memory, state="active", tier="long", expires_at=None, last_confirmed_at=tx.now)
    else:
        effect = revise(tx, memory, last_confirmed_at=tx.now)
    change = change_by(tx, "confirm", "confirmed by the user", [effect], writer)
    return Receipt(ids=(memory.id,), change_ids=(change.id,))


def drop(tx: WriteTx, memory_id: str, *, rev: int | None, writer: Writer) -> Receipt:
    """Note that a person said no to a memory: it was never so, and what it took the place of stands again.

    Raises:
        ScopeDenied: it is not a person who says so.
        NotFound, WrongKind, RevisionConflict: as `find_memory`.
        Conflict: it holds no longer; what stands in its place is named.
    """
    only_a_person(writer, "drop")
    memory = find_memory(tx, memory_id, rev=rev)
    if (found := _suspected(tx, memory)) is not None:
        return settle_suspicion(tx, found.suspicion.id, "different", writer=writer)
    _check_shown(memory)
    effects = [revise(tx, memory, state="retracted", superseded_by=None)]
    tx.clear_due("expire", memory.id)
    effects += _standing_again(tx, memory)
    change = change_by(tx, "drop", "dropped by the user: it is not so", effects, writer)
    return Receipt(ids=(memory.id,), change_ids=(change.id,))


def _suspected(tx: WriteTx, memory: Memory) -> OpenSuspicion | None:
    """What stands open against a memory that was kept apart."""
    against = [one for one in tx.suspicions() if one.kind == "contradiction" and one.memory_id == memory.id]
    return next(waiting_of(tx, against), None)


def _check_shown(memory: Memory) -> None:
    if not memory.shown:
        instead = f"; look at {memory.superseded_by}, which stands in its place" if memory.superseded_by else ""
        raise Conflict(f"{memory.id} is {memory.state} and holds no longer{instead}, or tell it anew")


def _standing_again(tx: WriteTx, memory: Memory) -> list[Effect]:
    """The facts that it ended when it began, as it had never been said."""
    if memory.kind != "fact":
        return []
    timeline = tx.facts(subject=memory.subject or "", key=memory.key or "", agent=memory.agent)
    found = [
        one
        for one in timeline
        if one.state == "superseded" and one.superseded_by == memory.id and one.valid_to == memory.valid_from
    ]
    ended = {one.id: before for one in found if (before := _ended_before(tx, one)) is not None}
    effects = [
        revise(tx, one, valid_to=ended[one.id].valid_to, superseded_by=ended[one.id].superseded_by)
        if one.id in ended
        else revise(tx, one, state="active", valid_to=None, superseded_by=None)
        for one in found
    ]
    for one in tx.find_memories([one.id for one in found if one.id not in ended]):
        mind_expiry(tx, one)
    return effects


def _ended_before(tx: WriteTx, fact: Memory) -> Memory | None:
    """The fact as something else had ended it before what ends it now; None where nothing had that was ever so.

    What was forgotten did end it: nobody said that it was never so.
    """
    before = [one for one in tx.revisions(fact.id) if one.superseded_by != fact.superseded_by]
    last = max(before, key=lambda one: one.rev, default=None)
    if last is None or last.state != "superseded":
        return None
    ender = tx.find_memories([last.superseded_by] if last.superseded_by else [])
    return None if ender and ender[0].state == "retracted" else last
