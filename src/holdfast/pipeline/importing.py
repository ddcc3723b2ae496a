"""Messages and memories that come from a file: each is written once, whatever happens to the import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from holdfast.answers import Receipt
from holdfast.model import Author, Change, Effect, Memory
from holdfast.pipeline.documents import index_memories
from holdfast.pipeline.idempotency import keyed_digest
from holdfast.pipeline.ingest import Limits, parse_messages
from holdfast.pipeline.journal import Prepared, append, prepare
from holdfast.pipeline.remember import memory_digest
from holdfast.ports import Clock, Ids, Redactor
from holdfast.transaction import Replay, WriteTx

__all__ = ["Arrival", "Arrived", "append_new", "arriving", "restore_memory"]

IMPORT = Author(origin="import")
VERB = "import"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """Messages of one session on their way in, analysed, each with the digest of its key and the id it had before."""

    session: str
    agent: str | None
    prepared: Prepared
    keys: tuple[bytes, ...]
    ids: tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """How many of an arrival were new, and the change that brought them (None for none)."""

    added: int
    change_id: str | None = None


def arriving(
    messages: Sequence[Mapping[str, Any]],
    *,
    session: str,
    agent: str | None,
    keys: Sequence[str],
    ids: Sequence[str | None],
    secret: bytes,
    clock: Clock,
    limits: Limits,
    redactor: Redactor | None,
) -> Arrival:
    """Read and analyse messages before the transaction.

    Raises:
        InvalidMessage, TooLarge, NaiveTime: as `add`.
    """
    drafts = parse_messages(messages, now=clock.now(), limits=limits)
    return Arrival(
        session=session,
        agent=agent,
        prepared=prepare(drafts, redactor),
        keys=tuple(keyed_digest(secret, "import key", key) for key in keys),
        ids=tuple(ids),
    )


class _KeptIds:
    """Ids of messages as they were in the store that exported them; every other id is new."""

    def __init__(self, ids: Ids, kept: Sequence[str | None]) -> None:
        self._ids = ids
        self._kept = iter(kept)

    def new(self, prefix: Literal["msg", "mem", "chg", "ses"]) -> str:
        kept = next(self._kept, None) if prefix == "msg" else None
        return self._ids.new(prefix) if kept is None else kept


def append_new(tx: WriteTx, arrival: Arrival, *, ids: Ids) -> Arrived:
    """Append those messages whose key is new and keep their keys for ever, in one transaction.

    A message that keeps its id is passed over where the scope knows that id: it is there, or was forgotten, and an
    import brings nothing forgotten back.
    """
    known = tx.known([item for item in arrival.ids if item is not None])
    fresh = [
        place
        for place, key in enumerate(arrival.keys)
        if arrival.ids[place] not in known and tx.replay(VERB, key) is None
    ]
    if not fresh:
        return Arrived(added=0)
    chosen = Prepared(
        drafts=tuple(arrival.prepared.drafts[place] for place in fresh),
        terms=tuple(arrival.prepared.terms[place] for place in fresh),
        redacted=arrival.prepared.redacted,
    )
    kept = _KeptIds(ids, [arrival.ids[place] for place in fresh])
    receipt = append(tx, chosen, session=arrival.session, agent=arrival.agent, author=IMPORT, ids=kept)
    for place, item in zip(fresh, receipt.ids, strict=True):
        _keep(tx, arrival.keys[place], item)
    return Arrived(added=len(fresh), change_id=receipt.change_ids[0])


def _keep(tx: WriteTx, key: bytes, item: str) -> None:
    tx.remember_key(VERB, key, Replay(fingerprint=key, receipt=Receipt(ids=(item,)), expires_at=None))


def restore_memory(tx: WriteTx, revisions: Sequence[Memory], key: str, *, secret: bytes, ids: Ids) -> bool:
    """Write a memory of an export with all its revisions, ids and times kept; False when there is nothing to write.

    That is so where its key came before, where the scope knows its id (also as forgotten), and where the scope says
    the same, or something else about the same attribute, by itself: what is here wins over what an export said.
    """
    digest = keyed_digest(secret, "import key", key)
    current = revisions[-1]
    if tx.replay(VERB, digest) is not None or current.id in tx.known([current.id]) or _spoken_for(tx, current, secret):
        return False
    content = memory_digest(secret, current) if current.kind in {"fact", "note"} else None
    number = tx.take_numbers(1)
    # An export of a part may name sources that it did not carry.
    known = tx.known([source for revision in revisions for source in revision.sources])
    for place, revision in enumerate(revisions, start=1):
        tx.put_memory(
            replace(
                revision,
                rev=place,
                number=number,
                unrecorded_at=None,
                sources=tuple(source for source in revision.sources if source in known),
            ),
            digest=content or keyed_digest(secret, current.kind, current.id),
        )
    last = replace(current, rev=len(revisions), number=number)
    index_memories(tx, [last])
    if last.expires_at is not None and last.state == "active" and not last.pinned:
        tx.put_due("expire", last.id, last.expires_at)
    effect = Effect(memory_id=last.id, rev_before=0, rev_after=last.rev)
    change = Change(
        id=ids.new("chg"), seq=0, verb="import", reason="from an export", by=IMPORT, at=tx.now, effects=(effect,)
    )
    tx.add_change(change)
    _keep(tx, digest, last.id)
    return True


def _spoken_for(tx: WriteTx, memory: Memory, secret: bytes) -> bool:
    """Whether the scope has its own active say on what an active memory of the export says."""
    if memory.kind not in {"fact", "note"}:
        return False
    digest = memory_digest(secret, memory)
    if tx.blocked(digest):
        return True
    if memory.state != "active":
        return False
    if tx.same_content(kind=memory.kind, digest=digest, agent=memory.agent) is not None:
        return True
    if memory.kind != "fact" or memory.operation != "set":
        return False
    timeline = tx.facts(subject=memory.subject or "", key=memory.key or "", agent=memory.agent)
    return any(fact.state == "active" and fact.operation == "set" for fact in timeline)
