"""The verbs of the journal: messages and sessions, and the fences of what is shown of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memhold.journal.append import Arrival, Prepared, append, ensure_session, with_people
from memhold.journal.beside import RESERVED, shown_to, with_kept
from memhold.journal.redaction import redacted_value
from memhold.journal.sent_again import Sent, append_new, with_ids
from memhold.messages.fences import fence as fenced
from memhold.messages.ingest import Draft, attribute, parse_messages, told_apart
from memhold.ports.idempotency import Idempotency
from memhold.ports.transaction import ReadTx, WriteTx
from memhold.values.answers import Messages, Receipt
from memhold.values.errors import InvalidInput, TooLarge, WrongKind
from memhold.values.jsonable import body_json, json_copy
from memhold.values.names import checked_session
from memhold.values.records import Message
from memhold.verbs.analysis_pool import prepared
from memhold.verbs.beside_loop import beside
from memhold.verbs.transactions import Transactions

__all__ = ["add", "copy_session", "fence", "messages", "read_message", "set_session_metadata"]

MAX_SESSION_METADATA = 256 * 1024
"""Bytes of JSON that an application may keep beside a session."""


async def add(
    here: Transactions,
    messages: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    idempotency_key: str | None,
) -> Receipt:
    """Append messages; instructions of the user's that they hold are kept with them."""
    runtime, agent, session, author = here.runtime, here.scope.agent, here.session, here.author
    when, meaning = runtime.settings.when, runtime.embedding is not None

    def read() -> tuple[tuple[Draft, ...], Idempotency | None, Sent]:
        parsed = parse_messages(messages, now=runtime.clock.now(), limits=runtime.limits)
        drafts = tuple(attribute(draft, author.origin) for draft in parsed)
        drafts = told_apart(drafts, user=here.scope.user, agent=agent)
        sent = with_ids(drafts, runtime.store.facts.secret, session=session, agent=agent)
        return drafts, here.once("add", idempotency_key, [messages, agent, session]), sent

    drafts, once, sent = await beside(read, messages)
    ready = await prepared(drafts, runtime.redactor, secret=runtime.store.facts.secret, pool=runtime.analysis_pool)

    # Who of several people speaks is known only beside what the session holds.
    told = any(ready.instructions) or any(draft.speaker for draft in ready.drafts)

    def fresh(tx: WriteTx, new: Prepared) -> Receipt:
        heard = with_people(tx, new, session=session, agent=agent)
        arrival = Arrival(session=session, agent=agent, author=author, ids=runtime.ids)
        receipt = append(tx, heard, arrival, when=when, meaning=meaning)
        said = {id_: clauses for id_, clauses in zip(receipt.ids, heard.instructions, strict=True) if clauses}
        if not said:
            return receipt
        from memhold.facts.instructions import keep_instructions  # late: most messages say none

        change = keep_instructions(tx, said, writer=here.writer)
        return receipt if change is None else replace(receipt, change_ids=(*receipt.change_ids, change))

    def work(tx: WriteTx) -> Receipt:
        return append_new(tx, ready, sent, lambda new: fresh(tx, new))

    return here.count(await here.write_once(once, work, memories=told))


def messages(tx: ReadTx, *, after: int, before: int | None, newest: bool, limit: int) -> Messages:
    """A stretch of the session."""
    until = None if before is None else before - 1
    found = tx.messages(tx.scope.session or "", after=after, until=until, limit=limit, newest=newest)
    return Messages(found, tx.damaged)


def read_message(tx: ReadTx, message_id: str, *, offset: int, limit: int) -> str:
    """A stretch of what a message says."""
    from memhold.history.history import get

    found = get(tx, message_id)
    if not isinstance(found, Message):
        raise WrongKind(f"{message_id} is a {found.kind}; read_message takes msg_…", id=message_id)
    return found.text[offset : offset + limit]


async def copy_session(here: Transactions, to: str, until: int | None, idempotency_key: str | None) -> Receipt:
    """Copy the session into another one."""
    from memhold.journal.sessions import copy_session

    target, author, ids = checked_session(to) or "", here.author, here.runtime.ids
    once = here.once("copy_session", idempotency_key, [here.session, target, until, here.scope.agent])
    return await here.write_once(
        once, lambda tx: copy_session(tx, here.session, target, until=until, author=author, ids=ids)
    )


async def set_session_metadata(here: Transactions, metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """Keep something beside the session."""
    runtime, name, agent = here.runtime, here.session, here.scope.agent
    runtime.guard()
    kept: dict[str, Any] = json_copy(metadata)
    for taken in sorted(RESERVED & kept.keys()):
        raise InvalidInput(f"the metadata has the name {taken!r}, which is Memhold's own; use another")
    if runtime.redactor is not None:
        kept, _ = redacted_value(kept, runtime.redactor, place="the metadata of the session")
    size = len(body_json(kept).encode())
    if size > MAX_SESSION_METADATA:
        said = f"the metadata has {size:,} bytes; keep at most {MAX_SESSION_METADATA:,}"
        raise TooLarge(said, size=size, limit=MAX_SESSION_METADATA)

    def work(tx: WriteTx) -> None:
        if not kept and tx.session(name) is None:
            return
        held = ensure_session(tx, name, runtime.ids)
        now = with_kept(held, kept, agent)
        tx.put_session(now)
        if shown_to(held, None) not in ({}, shown_to(now, None)):
            tx.put_due("scrub", "bytes", tx.now)

    await here.write(work, memories=False)
    return kept


async def fence(here: Transactions, ids: Sequence[str], lines: Sequence[str]) -> str:
    """Lines in a fence, which the store remembers behind the answer."""
    from memhold.messages.fences import keep_shown

    here.runtime.guard()
    made = fenced(ids, lines, secret=here.runtime.store.facts.secret)
    here.runtime.after_answer.soon(here.scope, lambda tx: keep_shown(tx, [made]))
    return made.text
