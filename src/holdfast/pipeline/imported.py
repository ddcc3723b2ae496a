"""Bringing data in from elsewhere: each message and memory once, whatever is sent again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from holdfast.answers import Receipt
from holdfast.model import Author, Change, Effect, Memory
from holdfast.pipeline.documents import index_memories
from holdfast.pipeline.idempotency import keyed_digest
from holdfast.pipeline.journal import Prepared, append
from holdfast.pipeline.remember import memory_digest
from holdfast.ports import Ids
from holdfast.transaction import Replay, WriteTx

__all__ = ["IMPORT", "import_memory", "import_messages"]

IMPORT = Author(origin="import")
VERB = "import"


def import_messages(
    tx: WriteTx,
    prepared: Prepared,
    *,
    keys: Sequence[str],
    source_ids: Sequence[str],
    session: str,
    agent: str | None,
    secret: bytes,
    ids: Ids,
) -> int:
    """Append the messages whose key is new, in order, and keep their keys for ever; returns how many were new.

    A message that carries an id of Holdfast's own keeps it, and is passed over where the scope has it or has forgotten
    it.
    """
    digests = [keyed_digest(secret, "idempotency key", VERB, key) for key in keys]
    chosen = [at for at in range(len(keys)) if _is_new(tx, digests[at], source_ids[at])]
    part = Prepared(
        drafts=tuple(prepared.drafts[at] for at in chosen),
        terms=tuple(prepared.terms[at] for at in chosen),
        quotes=tuple(prepared.quotes[at] for at in chosen),
        redacted=prepared.redacted,
    )
    given = [source_ids[at] if source_ids[at].startswith("msg_") else None for at in chosen]
    receipt = append(tx, part, session=session, agent=agent, author=IMPORT, ids=ids, given=given)
    for at, message_id in zip(chosen, receipt.ids, strict=True):
        kept = Receipt(ids=(message_id,), change_ids=receipt.change_ids)
        tx.remember_key(VERB, digests[at], Replay(fingerprint=digests[at], receipt=kept, expires_at=None))
    return len(chosen)


def import_memory(tx: WriteTx, revisions: Sequence[Memory], *, key: str, secret: bytes, ids: Ids) -> int:
    """Write a memory with all its revisions, unless its key or its id is known; returns 1 when it was written."""
    digest = keyed_digest(secret, "idempotency key", VERB, key)
    current = revisions[-1]
    if not _is_new(tx, digest, current.id):
        return 0
    number = tx.take_numbers(1)
    for place, revision in enumerate(revisions, start=1):
        tx.put_memory(
            replace(revision, number=number, rev=place, unrecorded_at=None), digest=memory_digest(secret, revision)
        )
    index_memories(tx, [replace(current, number=number)])
    change = Change(
        id=ids.new("chg"),
        seq=0,
        verb=VERB,
        reason="imported",
        by=IMPORT,
        at=tx.now,
        effects=(Effect(memory_id=current.id, rev_before=0, rev_after=len(revisions)),),
    )
    tx.add_change(change)
    kept = Receipt(ids=(current.id,), change_ids=(change.id,))
    tx.remember_key(VERB, digest, Replay(fingerprint=digest, receipt=kept, expires_at=None))
    if current.expires_at is not None and current.state == "active":
        tx.put_due("expire", current.id, current.expires_at)
    return 1


def _is_new(tx: WriteTx, digest: bytes, source_id: str) -> bool:
    if tx.replay(VERB, digest) is not None:
        return False
    if not source_id.startswith(("msg_", "mem_")):
        return True
    known = tx.find_messages([source_id]) or tx.find_memories([source_id]) or tx.tombstone(source_id)
    return not known
