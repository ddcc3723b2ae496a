"""Messages that their application gave an id: sent again they are the same message, not another one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from memhold.journal.append import Prepared
from memhold.messages.ingest import Draft
from memhold.ports.idempotency import Idempotency
from memhold.ports.transaction import Replay, WriteTx
from memhold.values.answers import Receipt
from memhold.values.errors import IdempotencyConflict

__all__ = ["Sent", "append_new", "with_ids"]

Sent = Mapping[int, tuple[str, Idempotency]]
"""By the place in its batch: the id that an application gave a message, and what makes it one write."""


def with_ids(drafts: Sequence[Draft], secret: bytes, *, session: str, agent: str | None) -> Sent:
    """The messages with an id of their application, which counts within one session of one agent, for ever."""
    sent = {}
    for place, draft in enumerate(drafts):
        # An item of a session is no message: it may stand there twice. OpenAI's SDK gives many items one made-up id.
        if draft.caller_id is None or not draft.role or draft.body.get("type") == "message":
            continue
        key = sha256("\0".join((session, agent or "", draft.caller_id)).encode("utf-8", "surrogatepass")).hexdigest()
        once = Idempotency.of("message", key, [draft.role, draft.body], secret=secret, kept_for=None)
        if once is not None:
            sent[place] = (draft.caller_id, once)
    return sent


def append_new(tx: WriteTx, ready: Prepared, sent: Sent, run: Callable[[Prepared], Receipt]) -> Receipt:
    """Append those that were not sent before; the receipt has the ids of all, in the order of the batch.

    Raises:
        IdempotencyConflict: an id came before with another message.
    """
    if not sent:
        return run(ready)
    known = {place: found for place, one in sent.items() if (found := _seen(tx, *one)) is not None}
    new = [place for place in range(len(ready.drafts)) if place not in known]
    receipt = run(_only(ready, new) if known else ready)
    made = dict(zip(new, receipt.ids, strict=True))
    for place in sent.keys() - known.keys():
        _, once = sent[place]
        kept = replace(receipt, ids=(made[place],), redacted=0)
        tx.remember_key(once.verb, once.key_digest, Replay(fingerprint=once.fingerprint, receipt=kept, expires_at=None))
    ids = tuple(made[place] if place in made else known[place].ids[0] for place in range(len(ready.drafts)))
    gone = any(found.forgotten for found in known.values())
    return replace(receipt, ids=ids, replayed=bool(known) and not new, forgotten=gone)


def _seen(tx: WriteTx, given: str, once: Idempotency) -> Receipt | None:
    try:
        return once.seen(tx)
    except IdempotencyConflict:
        raise IdempotencyConflict(
            f"the message id {given!r:.80} came before with other content in this session; a message that changed"
            " needs an id of its own",
            key=given,
        ) from None


def _only(ready: Prepared, places: Sequence[int]) -> Prepared:
    return replace(
        ready,
        drafts=tuple(ready.drafts[place] for place in places),
        terms=tuple(ready.terms[place] for place in places),
        quotes=tuple(ready.quotes[place] for place in places),
        instructions=tuple(ready.instructions[place] for place in places) if ready.instructions else (),
    )
