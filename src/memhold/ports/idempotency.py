"""The same write sent twice is one write; the same key with other content is a conflict."""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from memhold.ports.transaction import ReadTx, Replay, WriteTx
from memhold.values.answers import Receipt
from memhold.values.errors import IdempotencyConflict, InvalidInput
from memhold.values.shown import shown

__all__ = ["KEPT_FOR", "Idempotency", "carried", "checked_key", "idempotent", "keyed_digest"]

KEPT_FOR = timedelta(days=30)
_LONGEST_KEY = 512
_ERASING = frozenset({"forget", "documents.delete"})
_NO_HEADER = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""What no header holds. Not `isprintable`: each release of Python has its own Unicode."""


def checked_key(key: str) -> str:
    """An idempotency key as a caller gave it, if it can be one.

    Raises:
        InvalidInput: it is no text, empty, or longer than 512 characters.
    """
    given: object = key  # callers are not all type-checked
    if not isinstance(given, str):
        raise InvalidInput(f"idempotency_key is {shown(given)}; pass text")
    if not 0 < len(given) <= _LONGEST_KEY:
        raise InvalidInput(f"idempotency_key has {len(given):,} characters; pass 1 to {_LONGEST_KEY}")
    return given


def carried(key: str) -> str:
    """A key as every face knows it: itself, or a digest of one that a header cannot hold."""
    if key == key.strip() and _NO_HEADER.search(key) is None:
        return key
    return f"sha256:{sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}"


def keyed_digest(secret: bytes, purpose: str, *parts: str) -> bytes:
    """HMAC-SHA256 (RFC 2104) of some text with the store's secret.

    Equal only for equal text, and tells nothing of it.
    """
    message = json.dumps([purpose, *parts], ensure_ascii=True).encode()
    return hmac.digest(secret, message, "sha256")


@dataclass(frozen=True, slots=True, kw_only=True)
class Idempotency:
    """One keyed call: the verb, the caller's key, and a fingerprint of what the caller supplied.

    The fingerprint is taken before redaction and defaults. Neither key nor content is stored, only keyed digests of
    them; nobody who has the store and not the key can try out what the content was. `kept_for` None keeps the key for
    ever (imports).
    """

    verb: str
    key: str
    key_digest: bytes
    fingerprint: bytes
    kept_for: timedelta | None = KEPT_FOR

    @classmethod
    def of(
        cls, verb: str, key: str | None, supplied: Any, *, secret: bytes, kept_for: timedelta | None = KEPT_FOR
    ) -> Idempotency | None:
        """The keyed call, or None where the caller gave no key.

        Raises:
            InvalidInput: the key is no text, empty, or longer than 512 characters.
        """
        if key is None:
            return None
        checked_key(key)
        text = json.dumps(supplied, sort_keys=True, default=_plain, ensure_ascii=True)
        return cls(
            verb=verb,
            key=key,
            key_digest=keyed_digest(secret, "idempotency key", verb, carried(key)),
            fingerprint=keyed_digest(secret, "idempotency fingerprint", verb, carried(key), text),
            kept_for=kept_for,
        )

    def once(self, tx: WriteTx, run: Callable[[], Receipt]) -> Receipt:
        """Run the write and keep its receipt with the key, or return the receipt of the first time.

        A replay writes nothing. Where what it wrote was forgotten since, the receipt says `forgotten`.

        Raises:
            IdempotencyConflict: the key came before with other content.
        """
        seen = self.seen(tx)
        if seen is None:
            receipt = run()
            expires = None if self.kept_for is None else tx.now + self.kept_for
            if expires is not None:
                tx.put_due("keys", "expired", expires)
            tx.remember_key(
                self.verb, self.key_digest, Replay(fingerprint=self.fingerprint, receipt=receipt, expires_at=expires)
            )
            return receipt
        return seen

    def seen(self, tx: ReadTx) -> Receipt | None:
        """The receipt of the first time, as a replay; None where the key was not seen.

        Raises:
            IdempotencyConflict: the key came before with other content, which was not forgotten since.
        """
        seen = tx.replay(self.verb, self.key_digest)
        if seen is None:
            return None
        gone = any(tx.tombstone(item) is not None for item in seen.receipt.ids)
        # What a write said and was forgotten is not confirmed by a conflict either; a forget names no content.
        told = not gone or self.verb in _ERASING
        if told and not hmac.compare_digest(seen.fingerprint, self.fingerprint):
            raise IdempotencyConflict(
                f"the idempotency key {self.key!r:.80} came before with other content; use a new key for a new write",
                key=self.key,
            )
        return replace(seen.receipt, replayed=True, forgotten=gone)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else repr(value)


def idempotent(
    run: Callable[[WriteTx], Receipt], once: Idempotency | None, *, meaning: bool
) -> Callable[[WriteTx], Receipt]:
    """The same work, done once; without an embedding its receipt says that meaning will not find what it wrote."""

    def work(tx: WriteTx) -> Receipt:
        receipt = run(tx)
        if meaning or receipt.visibility.meaning is False:
            return receipt
        return replace(receipt, visibility=replace(receipt.visibility, meaning=False))

    return work if once is None else lambda tx: once.once(tx, lambda: work(tx))
