"""Tokens: how one is made, read and judged. Pure; randomness and time are arguments.

A token is `mh_<id>_<secret><checksum>`. The id (80 bits) finds its row; the secret (256 bits) proves it; the checksum
(CRC-32 of what stands before it) tells a slip of the pen from a wrong secret, in logs only: a caller hears the same of
both. The prefix lets scanners of secrets find one that leaked.
"""

from __future__ import annotations

import base64
import hmac
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from memhold.ports.idempotency import keyed_digest
from memhold.values.access_tokens import StoredToken

__all__ = ["TOKEN_PATTERN", "Fault", "Presented", "judge", "mint", "present", "token_digest"]

Fault = Literal["malformed", "mistyped", "unknown", "wrong", "revoked", "expired"]
"""Why a token does not count: for logs, never for the caller."""

_ID_BYTES: Final = 10
_SECRET_BYTES: Final = 32
TOKEN_PATTERN: Final = r"mh_[a-z2-7]{16}_[a-z2-7]{52}[0-9a-f]{8}"  # noqa: S105 - a pattern
_PARTS = re.compile(r"mh_([a-z2-7]{16})_([a-z2-7]{52})([0-9a-f]{8})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Presented:
    """A token that somebody sent, well-formed: which one it claims to be, and its secret."""

    id: str
    secret: str = field(repr=False)


def mint(entropy: Callable[[int], bytes]) -> tuple[Presented, str]:
    """A new token: its parts, and the text that a client sends. `entropy` gives that many random bytes."""
    made = Presented(id=_text(entropy(_ID_BYTES)), secret=_text(entropy(_SECRET_BYTES)))
    body = f"mh_{made.id}_{made.secret}"
    return made, f"{body}{_checksum(body)}"


def present(text: str) -> Presented | Literal["malformed", "mistyped"]:
    """The parts of a token as it was sent, or what is wrong with its form."""
    found = _PARTS.fullmatch(text)
    if found is None:
        return "malformed"
    if not hmac.compare_digest(_checksum(text[:-8]), found[3]):
        return "mistyped"
    return Presented(id=found[1], secret=found[2])


def token_digest(secret: bytes, presented: Presented) -> bytes:
    """What is stored of a token's secret: HMAC-SHA256 with the store's secret.

    A slow hash (argon2, scrypt) buys time against guessing what people choose. Nobody guesses 256 random bits, so it
    would only make every request slow.
    """
    return keyed_digest(secret, "token", presented.id, presented.secret)


def judge(presented: Presented, stored: StoredToken | None, *, secret: bytes, now: datetime) -> Fault | None:
    """Whether a token counts now: None where it does, else why not. Takes as long for an unknown id as for a known."""
    digest = token_digest(secret, presented)
    known = stored.digest if stored is not None else bytes(len(digest))
    same = hmac.compare_digest(digest, known)
    if stored is None:
        return "unknown"
    if not same:
        return "wrong"
    if stored.token.revoked_at is not None:
        return "revoked"
    if stored.token.expires_at is not None and stored.token.expires_at <= now:
        return "expired"
    return None


def _text(raw: bytes) -> str:
    return base64.b32encode(raw).decode("ascii").rstrip("=").lower()


def _checksum(body: str) -> str:
    return f"{zlib.crc32(body.encode('ascii')):08x}"
