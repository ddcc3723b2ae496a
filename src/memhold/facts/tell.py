"""What a user or an agent tells as a fact: one statement, one change."""

from __future__ import annotations

from memhold.facts.remember import MemoryInput, Writer, check_times, trust_of
from memhold.facts.state import Statement, state_fact
from memhold.journal.change import note_change
from memhold.ports.transaction import WriteTx
from memhold.values.answers import Receipt

__all__ = ["tell_fact"]


def tell_fact(tx: WriteTx, given: MemoryInput, *, writer: Writer) -> Receipt:
    """Put a told fact into its timeline; the receipt names the memory that now says it, none where nothing was done.

    Told again without anything new it makes no change; it still counts as evidence.
    """
    change_id = writer.ids.new("chg")
    own, at = writer.author.origin == "user", check_times(tx, given)
    said = Statement(
        subject=given.subject,
        attribute=given.attribute or "",
        value=given.value or "",
        # Only a person may speak of what is to come: what is dated ahead would stand over what they say next.
        at=at if own else min(at, tx.now),
        operation=given.operation,
        importance=given.importance,
        pinned=given.pinned,
        expires_at=given.expires_at,
        topics=given.topics,
        entities=given.entities,
        metadata=given.metadata,
        trust=trust_of(writer.author),
        own_words=own,
    )
    stated = state_fact(tx, said, writer=writer, change_id=change_id)
    ids = () if stated.memory is None else (stated.memory.id,)
    if not stated.effects:
        return Receipt(ids=ids)
    note_change(tx, change_id, "remember", stated.reason, by=writer.author, effects=stated.effects)
    return Receipt(ids=ids, change_ids=(change_id,))
