"""Bringing data in from elsewhere: each message and memory once, whatever is sent again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memhold.documents.content import Content
from memhold.documents.read import current
from memhold.documents.write import put
from memhold.facts.instructions import keep_instructions
from memhold.facts.remember import Writer
from memhold.facts.revisions import memory_digest, revise, said_digest
from memhold.index.documents import index_memories
from memhold.journal import beside
from memhold.journal.append import Arrival, Prepared, append, ensure_session, with_people
from memhold.journal.change import note_change
from memhold.journal.windows import When, spoken
from memhold.ports.idempotency import keyed_digest
from memhold.ports.stores import Ids
from memhold.ports.transaction import ReadTx, Replay, WriteTx
from memhold.text.analysis import Terms
from memhold.values.answers import Receipt
from memhold.values.origins import authority
from memhold.values.records import Author, Effect, Memory, Session

__all__ = [
    "IMPORT",
    "Live",
    "brought",
    "import_beside",
    "import_document",
    "import_memory",
    "import_messages",
    "keep_out",
    "known_before",
]

IMPORT = Author(origin="import")
VERB = "import"


def brought(by: Author) -> Author:
    """Who a change of an import is by: with the name of the agent or the tool that brought it, where one did."""
    return IMPORT if by.origin == "user" else replace(IMPORT, name=by.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """That a conversation is taken down as it goes on: when its windows are due, and whether there is an embedding."""

    when: When | None
    meaning: bool


def import_messages(
    tx: WriteTx,
    prepared: Prepared,
    *,
    keys: Sequence[str],
    own_ids: Sequence[str | None],
    said: Sequence[Author],
    writer: Writer,
    live: Live | None = None,
) -> int:
    """Append the messages whose key is new, in order, and keep their keys for ever; returns how many were new.

    A message of Memhold's own export has its id in `own_ids` and keeps it. It is passed over where the scope knows
    that id: it is there, or hidden, or was forgotten, and an import brings nothing forgotten back. `said` is who said
    each. Of a `live` conversation the window becomes due work, and how the user wants to be answered is kept, as it is
    where a message is added.
    """
    digests = [_key_digest(writer.secret, key) for key in keys]
    chosen = _new(tx, digests, own_ids)
    part = Prepared(
        drafts=tuple(prepared.drafts[at] for at in chosen),
        terms=tuple(prepared.terms[at] for at in chosen),
        quotes=tuple(prepared.quotes[at] for at in chosen),
        instructions=tuple(prepared.instructions[at] for at in chosen),
        redacted=prepared.redacted,
    )
    part = with_people(tx, part, session=writer.session or "", agent=writer.agent)
    given = [own_ids[at] for at in chosen]
    told = [said[at] for at in chosen]
    receipt = append(
        tx,
        part,
        Arrival(
            session=writer.session or "",
            agent=writer.agent,
            author=brought(writer.author),
            ids=writer.ids,
            given=given,
            said=told,
        ),
        when=None if live is None else live.when,
        meaning=live is None or live.meaning,
    )
    for at, message_id in zip(chosen, receipt.ids, strict=True):
        _keep(tx, digests[at], Receipt(ids=(message_id,), change_ids=receipt.change_ids))
    if live is not None:
        rows = zip(receipt.ids, part.instructions, told, strict=True)
        keep_instructions(tx, {one: said for one, said, by in rows if said and by.origin == "user"}, writer=writer)
    return len(chosen)


def known_before(tx: ReadTx, keys: Sequence[str], own_ids: Sequence[str | None], *, secret: bytes) -> int:
    """How many entries of a file the scope knows: they are there, or hidden, or were forgotten."""
    return len(keys) - len(_new(tx, [_key_digest(secret, key) for key in keys], own_ids))


def _new(tx: ReadTx, digests: Sequence[bytes], own_ids: Sequence[str | None]) -> list[int]:
    """The places of the entries that the scope does not know."""
    known = tx.known([item for item in own_ids if item is not None])
    return [at for at, digest in enumerate(digests) if own_ids[at] not in known and tx.replay(VERB, digest) is None]


def import_beside(
    tx: WriteTx, name: str, metadata: Mapping[str, Any], *, agent: str | None, source_id: str, secret: bytes, ids: Ids
) -> None:
    """Keep what an export says an application kept beside a session, once; what is kept here already wins."""
    digest = _session_digest(secret, source_id)
    if tx.replay(VERB, digest) is not None:
        return
    metadata = beside.brought(metadata, agent)
    out = [one for one in beside.agents_of(metadata) if _is_out(tx, secret, source_id, one)]
    session = ensure_session(tx, name, ids)
    if not beside.kept_there(session, agent):
        tx.put_session(beside.with_brought(session, metadata, out))
    _keep(tx, digest, Receipt(ids=()))


def keep_out(tx: WriteTx, session: Session, agent: str | None, *, secret: bytes) -> None:
    """Note that what was kept beside a session, or an agent's own of it, was forgotten: no export brings it back."""
    digest = _session_digest(secret, session.id, agent)
    if tx.replay(VERB, digest) is None:
        _keep(tx, digest, Receipt(ids=()))


def _is_out(tx: ReadTx, secret: bytes, source_id: str, agent: str) -> bool:
    return tx.replay(VERB, _session_digest(secret, source_id, agent)) is not None


def _session_digest(secret: bytes, source_id: str, agent: str | None = None) -> bytes:
    return _key_digest(secret, f"session\0{source_id}" + ("" if agent is None else f"\0{agent}"))


def _key_digest(secret: bytes, key: str) -> bytes:
    return keyed_digest(secret, "idempotency key", VERB, key)


def import_memory(
    tx: WriteTx,
    revisions: Sequence[Memory],
    *,
    key: str,
    secret: bytes,
    ids: Ids,
    by: Author,
    entry: str | None = None,
) -> bool:
    """Write a memory of a file that `by` brings, with all revisions, ids and times; False when there is none to write.

    That is so where its key came before, where the scope knows its id (also as forgotten), and where the scope says
    the same, or something else about the same attribute, by itself: what is here wins over what a file says. Where the
    `entry` of another system says something else than it did when it was imported before, that is superseded; where
    somebody has corrected, confirmed, pinned, ended or forgotten that here since, it stays so, and nothing is written.
    """
    digest = _key_digest(secret, key)
    current = revisions[-1]
    if not _new(tx, [digest], [current.id]):
        return False
    entry_digest = None if entry is None else _key_digest(secret, entry)
    before = None if entry_digest is None else tx.replay(VERB, entry_digest)
    former = tx.find_memories(before.receipt.ids) if before is not None else []
    if before is not None and not any(one.state in {"active", "expired"} for one in former):
        return False
    if any(one.pinned or authority(one) > authority(current) for one in former):
        return False
    if any(_says_the_same(one, current) for one in former) or _decided_here(tx, current, secret, former):
        return False
    number = tx.take_numbers(1)
    # An export of a part may name sources that it did not carry.
    known = tx.known([source for revision in revisions for source in revision.sources])
    # Of what is not there any more nothing is quoted: it may be forgotten here.
    quoted = sorted({quote.message_id for revision in revisions for quote in revision.quotes})
    there = {message.id for message in tx.find_messages(quoted)}
    for place, revision in enumerate(revisions, start=1):
        sources = tuple(source for source in revision.sources if source in known)
        quotes = tuple(quote for quote in revision.quotes if quote.message_id in there)
        kept = replace(revision, rev=place, number=number, unrecorded_at=None, sources=sources, quotes=quotes)
        tx.put_memory(kept, digest=_digest(secret, revision))
    index_memories(tx, [replace(current, number=number)])
    if current.expires_at is not None and current.state == "active" and not current.pinned:
        tx.put_due("expire", current.id, current.expires_at)
    _move_cursor(tx, current)
    effects = [Effect(memory_id=current.id, rev_before=0, rev_after=len(revisions))]
    for one in former:
        # What holds until then held until the new one does, or until now where the file tells no later time.
        ended = max(one.valid_from, current.valid_from)
        effects.append(revise(tx, one, state="superseded", superseded_by=current.id, valid_to=one.valid_to or ended))
    change = note_change(tx, ids.new("chg"), VERB, "imported", by=brought(by), effects=effects)
    for name in filter(None, (digest, entry_digest)):
        _keep(tx, name, Receipt(ids=(current.id,), change_ids=(change.id,)))
    return True


def import_document(tx: WriteTx, content: Content, *, key: str, entry: str, terms: Terms, writer: Writer) -> bool:
    """Put a document of another system at its path, once; False when there is nothing to write.

    What was imported before of the same `entry` is replaced, and kept as its former revision. What somebody put, moved
    or deleted at that path here stays so.
    """
    digest, entry_digest = (_key_digest(writer.secret, one) for one in (key, entry))
    if tx.replay(VERB, digest) is not None:
        return False
    before = tx.replay(VERB, entry_digest)
    held = current(tx, content.path, writer.secret)
    if (held is None) != (before is None):
        return False
    if held is not None and before is not None and held.id not in before.receipt.ids:
        return False
    receipt = put(tx, content, if_rev=None, terms=terms, writer=writer)
    for name in (digest, entry_digest):
        _keep(tx, name, Receipt(ids=receipt.ids, change_ids=receipt.change_ids))
    return True


def _move_cursor(tx: WriteTx, memory: Memory) -> None:
    """A window that this memory holds is not kept a second time when its session ends here."""
    session = tx.session(memory.session or "")
    if memory.kind not in {"summary", "raw"} or memory.state == "retracted" or session is None:
        return
    held = {message.seq for message in tx.find_messages(memory.sources) if message.session == session.name}
    window = spoken(tx.messages(session.name, after=session.cursor, until=max(held, default=0), every_agent=True))
    if window and held.issuperset(message.seq for message in window):
        tx.put_session(replace(session, cursor=window[-1].seq, rev=session.rev + 1))


def _digest(secret: bytes, memory: Memory) -> bytes:
    if memory.kind in {"fact", "note", "document"}:
        return memory_digest(secret, memory)
    return keyed_digest(secret, memory.kind, memory.id)


def _keep(tx: WriteTx, digest: bytes, receipt: Receipt) -> None:
    tx.remember_key(VERB, digest, Replay(fingerprint=digest, receipt=receipt, expires_at=None))


def _says_the_same(one: Memory, other: Memory) -> bool:
    """Whether two versions of an entry say the same, and until the same time."""
    ends = (one.valid_to or one.expires_at, other.valid_to or other.expires_at)
    return one.text == other.text and ends[0] == ends[1]


def _decided_here(tx: ReadTx, memory: Memory, secret: bytes, former: Sequence[Memory]) -> bool:
    """Whether the scope has its own say on what a fact, note or path of the export says, or must not learn it again."""
    if memory.kind not in {"fact", "note", "document"}:
        return False
    digest = memory_digest(secret, memory)
    if tx.blocked(said_digest(secret, memory)):
        return True
    if memory.state != "active":
        return False
    same = tx.same_content(kind=memory.kind, digest=digest, agent=memory.agent)
    if same is not None and same.id not in {one.id for one in former}:
        return True
    if memory.kind != "fact" or memory.operation != "set":
        return False
    timeline = tx.facts(subject=memory.subject or "", key=memory.key or "", agent=memory.agent)
    return any(fact.state == "active" and fact.operation == "set" for fact in timeline)
