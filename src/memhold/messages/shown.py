"""Which messages and memories a fence showed: kept in the store by its tag, so that the fence need not say it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from memhold.messages.fences import UNKNOWN, Fence, tag_at
from memhold.ports.idempotency import KEPT_FOR
from memhold.ports.transaction import ReadTx, Replay, WriteTx
from memhold.values.answers import Receipt
from memhold.values.records import Quote

__all__ = ["keep_shown", "resolved"]

_VERB = "fence"


def keep_shown(tx: WriteTx, fences: Iterable[Fence]) -> None:
    """Keep for thirty days which ids these fences show; nothing of what they say is kept.

    The tag of equal lines is equal, so a context that is asked for again writes nothing.
    """
    for one in fences:
        digest = _digest(one.tag)
        if one.ids and tx.replay(_VERB, digest) is None:
            expires = tx.now + KEPT_FOR
            tx.put_due("keys", "expired", expires)
            tx.remember_key(_VERB, digest, Replay(fingerprint=digest, receipt=Receipt(ids=one.ids), expires_at=expires))


def resolved(tx: ReadTx, text: str, quotes: Sequence[Quote]) -> tuple[Quote, ...]:
    """The quotes of a text with the ids that they show, as the store knows them.

    One of which it knows none (another scope's, or older than thirty days) gets `UNKNOWN`: any forget erases it.
    """
    found = []
    for quote in quotes:
        tag = tag_at(text, quote)
        kept = None if tag is None else tx.replay(_VERB, _digest(tag))
        ids = dict.fromkeys((*(kept.receipt.ids if kept is not None else ()), *quote.ids))
        found.append(replace(quote, ids=tuple(ids) or (UNKNOWN,)))
    return tuple(found)


def _digest(tag: str) -> bytes:
    return hashlib.sha256(tag.encode()).digest()
