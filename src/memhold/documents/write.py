"""Putting and moving documents: units of work, each one change in one transaction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from memhold.documents.content import Content, given_metadata
from memhold.documents.paths import Path, key_of, shown
from memhold.documents.read import at_path, current, missing, standing
from memhold.facts.remember import Writer, change_by, trust_of
from memhold.facts.revisions import mind_expiry, path_digest, revise
from memhold.index.documents import index_memories
from memhold.ports.transaction import WriteTx
from memhold.text.analysis import Terms
from memhold.values.answers import Receipt
from memhold.values.errors import Conflict, InvalidInput, RevisionConflict, TooLarge
from memhold.values.records import DOCUMENT, Effect, Memory, micros

__all__ = ["MAX_MOVED", "check_rev", "move", "put"]

MAX_MOVED = 1000
"""Most documents that one move may take: what one transaction does holds up the others."""


def put(tx: WriteTx, content: Content, *, if_rev: int | None, terms: Terms, writer: Writer) -> Receipt:
    """Write a content at its path; what stood there is superseded and kept. The same again writes nothing.

    It belongs to the agent whose document it replaces, else to the writer's.

    Raises:
        RevisionConflict: the path is not at that revision (0: nothing stands there).
        InvalidInput: the expiry is not to come.
    """
    if content.expires_at is not None and content.expires_at <= tx.now:
        raise InvalidInput(f"expires_at {content.expires_at.isoformat()} is over; pass a later time, or delete it")
    held = current(tx, content.path, writer.secret)
    check_rev(content.path, held, if_rev)
    if held is not None and _same(held, content):
        return Receipt(ids=(held.id,))
    created = None if held is None else held.about_document.get("created_at") or micros(held.created_at)
    about: dict[str, Any] = {"json": content.json, "index": content.index, "created_at": created or micros(tx.now)}
    if content.fields:
        about["fields"] = list(content.fields)
    fresh = Memory(
        id=writer.ids.new("mem"),
        number=-1,
        kind="document",
        text=content.text,
        tier="long",
        agent=writer.agent if held is None else held.agent,
        key=content.key,
        metadata={**content.metadata, DOCUMENT: about},
        origin=writer.author.origin,
        actor=writer.author.name,
        trust=trust_of(writer.author),
        event_time=tx.now,
        valid_from=tx.now,
        expires_at=content.expires_at,
        created_at=tx.now,
        recorded_at=tx.now,
    )
    effects = _ended(tx, content.path, held, fresh.id, writer)
    effects.append(_stored(tx, fresh, writer.secret, terms))
    change = change_by(tx, "put", "put in the place of what stood there" if held else "put", effects, writer)
    return Receipt(ids=(fresh.id,), change_ids=(change.id,))


def check_rev(path: Path, held: Memory | None, if_rev: int | None) -> None:
    """Refuse a write that was meant for another revision than stands there; None is meant for any.

    Raises:
        RevisionConflict: it was.
    """
    actual = 0 if held is None else held.number + 1
    if if_rev is None or if_rev == actual:
        return
    there = f"is at revision {actual}" if actual else "has no document"
    todo = "read it, and put with that if_rev" if actual else "put with if_rev=0, or without"
    raise RevisionConflict(f"{shown(path)} {there}, not at {if_rev}; {todo}", expected=if_rev, actual=actual)


def _same(held: Memory, content: Content) -> bool:
    about = held.about_document
    said = (held.text, bool(about.get("json")), bool(about.get("index", True)), about.get("fields") or [])
    wanted = (content.text, content.json, content.index, list(content.fields))
    return (said, held.expires_at, given_metadata(held)) == (wanted, content.expires_at, content.metadata)


def _ended(tx: WriteTx, path: Path, held: Memory | None, by: str, writer: Writer) -> list[Effect]:
    """What stood at a path stands there no longer; also what is past its time and nobody has marked yet."""
    effects = []
    for one in [held] if held is not None else at_path(tx, path):
        over = held is None
        if over and (one.agent != writer.agent or one.expires_at is None or one.expires_at > tx.now):
            continue
        state = {"state": "expired", "valid_to": one.expires_at} if over else {
            "state": "superseded", "valid_to": tx.now, "superseded_by": by}  # fmt: skip
        effects.append(revise(tx, one, **state))
        tx.clear_due("expire", one.id)
    return effects


def _stored(tx: WriteTx, fresh: Memory, secret: bytes, terms: Terms | None) -> Effect:
    memory = replace(fresh, number=tx.take_numbers(1))
    tx.put_memory(memory, digest=path_digest(secret, memory.key or ""))
    index_memories(tx, [memory], terms)
    mind_expiry(tx, memory)
    return Effect(memory_id=memory.id, rev_before=0, rev_after=1)


def move(tx: WriteTx, path: Path, to: Path, *, below: bool, if_rev: int | None, writer: Writer) -> Receipt:
    """Move a document, with `below` also what stands below its path; all at once, as one change.

    Content, metadata and origin stay; what stood at the old path is superseded by it, and its history leads there.

    Raises:
        NotFound: nothing stands there.
        Conflict: something stands where it is to go.
        InvalidInput: it would go below itself.
        RevisionConflict: the document is not at that revision.
    """
    if to == path or (below and to[: len(path)] == path):
        raise InvalidInput(f"{shown(path)} cannot go to {shown(to)}, which is itself or below it; name another path")
    held = current(tx, path, writer.secret)
    check_rev(path, held, if_rev)
    moving = _taken(tx, path) if below else [held] if held is not None else []
    if not moving:
        raise missing(path)
    effects: list[Effect] = []
    ids: list[str] = []
    for one in moving:
        target = (*to, *one.path[len(path) :])
        if current(tx, target, writer.secret) is not None:
            raise Conflict(f"a document stands at {shown(target)}; delete it first, or name another path")
        fresh = replace(
            one,
            id=writer.ids.new("mem"),
            key=key_of(target),
            event_time=tx.now,
            valid_from=tx.now,
            created_at=tx.now,
            recorded_at=tx.now,
            rev=1,
        )
        effects += _ended(tx, path, one, fresh.id, writer)
        effects += _ended(tx, target, None, fresh.id, writer)
        effects.append(_stored(tx, fresh, writer.secret, None))
        ids.append(fresh.id)
    change = change_by(tx, "move", "moved to another path", effects, writer)
    return Receipt(ids=tuple(ids), change_ids=(change.id,))


def _taken(tx: WriteTx, path: Path) -> list[Memory]:
    found: list[Memory] = []
    for one in standing(tx, path):
        found.append(one)
        if len(found) > MAX_MOVED:
            message = f"more than {MAX_MOVED} documents stand below {shown(path)}; take them in parts"
            raise TooLarge(message, size=len(found), limit=MAX_MOVED)
    return found
