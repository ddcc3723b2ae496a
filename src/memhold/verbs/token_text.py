"""Tokens: how one is made, read and judged. Pure; randomness and time are arguments.

A token is `mh_<id>_<secret><checksum>`. The id (80 bits) finds its row; the secret (256 bits) proves it; the checksum
(CRC-32 of what stands before it) tells a slip of the pen from a wrong secret, in logs only: a caller hears the same of
both. The prefix lets scanners of secrets find one that leaked.

A pass is what a service's token is exchanged for: `mhp_<claims>_<seal>`. It names its token, one user, rights and an
end; the seal is an HMAC of that with the store's secret. No row is kept of it, so 500 users cost none; it counts as
long as its token does, and at most `LONGEST_PASS`.
"""

from __future__ import annotations

import base64
import hmac
import json
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from memhold.ports.idempotency import keyed_digest
from memhold.values.access_tokens import RIGHTS, AccessToken, Right, StoredToken
from memhold.values.errors import NotFound, ScopeDenied
from memhold.values.records import from_micros, micros

__all__ = [
    "LONGEST_PASS",
    "TOKEN_PATTERN",
    "Fault",
    "Pass",
    "Presented",
    "is_sendable",
    "is_whole",
    "judge",
    "judge_pass",
    "kept_digest",
    "mint",
    "no_service",
    "no_such_token",
    "present",
    "seal",
    "token_digest",
    "told",
    "unseal",
]

Fault = Literal["malformed", "mistyped", "unknown", "wrong", "damaged", "revoked", "expired", "clock"]
"""Why a token does not count: for logs, never for the caller."""

_ID_BYTES: Final = 10
_SECRET_BYTES: Final = 32
_DIGEST_BYTES: Final = 32
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


def is_sendable(text: str) -> bool:
    """Whether a text can be a token or its id: characters that a header and an address carry."""
    return text.isascii() and text.isprintable()


def no_such_token(token_id: str) -> NotFound:
    """What is said where there is none of that id."""
    return NotFound(f"no token {token_id!r:.80}; run 'memhold token list' to see them", id=token_id)


def no_service() -> ScopeDenied:
    """What is said of a token that cannot be exchanged."""
    return ScopeDenied("this is no service's token; use one that was made with the right 'act'", right="act")


def token_digest(secret: bytes, presented: Presented) -> bytes:
    """What is stored of a token's secret: HMAC-SHA256 with the store's secret.

    A slow hash (argon2, scrypt) buys time against guessing what people choose. Nobody guesses 256 random bits, so it
    would only make every request slow.
    """
    return keyed_digest(secret, "token", presented.id, presented.secret)


def kept_digest(secret: bytes, presented: Presented, token: AccessToken) -> bytes:
    """What stands in the row of a new token: `token_digest`, and behind it a seal of all that never changes in the row.

    A flipped bit would make it another user's, widen what it may do, or let it live longer.
    """
    return token_digest(secret, presented) + _seal_of(secret, token)


def is_whole(stored: StoredToken, secret: bytes) -> bool:
    """Whether a token's row is as it was written; one that was made before rows were sealed counts as whole."""
    seal_there = stored.digest[_DIGEST_BYTES:]
    return not seal_there or hmac.compare_digest(seal_there, _seal_of(secret, stored.token))


def _seal_of(secret: bytes, token: AccessToken) -> bytes:
    ends = "" if token.expires_at is None else str(micros(token.expires_at))
    whose = (token.id, token.namespace, token.user or "", token.agent or "", token.actor)
    told = (",".join(token.rights), token.label, str(micros(token.created_at)), ends)
    return keyed_digest(secret, "token row", *whose, *told)


def judge(presented: Presented, stored: StoredToken | None, *, secret: bytes, now: datetime) -> Fault | None:
    """Whether a token counts now: None where it does, else why not. Takes as long for an unknown id as for a known."""
    digest = token_digest(secret, presented)
    known = stored.digest[:_DIGEST_BYTES] if stored is not None else bytes(len(digest))
    same = hmac.compare_digest(digest, known)
    if stored is None:
        return "unknown"
    if not same:
        return "wrong"
    if not is_whole(stored, secret):
        return "damaged"
    if stored.token.revoked_at is not None:
        return "revoked"
    return _ended(stored.token, now)


def _ended(token: AccessToken, now: datetime) -> Fault | None:
    """Whether a token that ends has ended. Where it was made after now, the clock was or is wrong: nobody can say."""
    if token.expires_at is None:
        return None
    if token.created_at > now + _SKEW:
        return "clock"
    return "expired" if token.expires_at <= now else None


_SKEW: Final = timedelta(hours=2)
"""So much may the clocks of machines differ, or a clock be set back, that a token which ends still counts."""
LONGEST_PASS: Final = timedelta(hours=1)
"""What a pass may live at most: it cannot be revoked by itself."""
_PASS = re.compile(r"mhp_([a-z2-7]{8,4000})_([0-9a-f]{64})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """What a service's token was exchanged for: which token, for whom, what may be done, and until when."""

    token_id: str
    user: str
    rights: tuple[Right, ...]
    expires_at: datetime


def seal(made: Pass, secret: bytes) -> str:
    """The text of a pass, as a client sends it."""
    claims = [made.token_id, made.user, list(made.rights), micros(made.expires_at)]
    raw = json.dumps(claims, ensure_ascii=False, separators=(",", ":")).encode()
    body = _text(raw)
    return f"mhp_{body}_{_sealed(secret, body)}"


def unseal(text: str, secret: bytes) -> Pass | None:
    """The pass that this store's secret sealed; None for any other text."""
    found = _PASS.fullmatch(text)
    if found is None or not hmac.compare_digest(_sealed(secret, found[1]), found[2]):
        return None
    return _claims(found[1])


def told(text: str) -> Pass:
    """What a pass says of itself, as whoever was given it may read it; whether it counts is the store's to judge."""
    return _claims(text.split("_")[1])


def _claims(body: str) -> Pass:
    claims: Any = json.loads(base64.b32decode(body.upper() + "=" * (-len(body) % 8)))
    token_id, user, rights, until = claims
    held = tuple(right for right in RIGHTS if right in rights)
    return Pass(token_id=token_id, user=user, rights=held, expires_at=from_micros(until))


def judge_pass(made: Pass, stored: StoredToken | None, *, secret: bytes, now: datetime) -> Fault | None:
    """Whether a pass counts now: None where it does. It ends with the token that it was exchanged from."""
    if stored is None:
        return "unknown"
    if not is_whole(stored, secret):
        return "damaged"
    if stored.token.revoked_at is not None:
        return "revoked"
    if made.expires_at > now + LONGEST_PASS + _SKEW:
        return "clock"
    return "expired" if made.expires_at <= now else _ended(stored.token, now)


def _sealed(secret: bytes, body: str) -> str:
    return keyed_digest(secret, "pass", body).hex()


def _text(raw: bytes) -> str:
    return base64.b32encode(raw).decode("ascii").rstrip("=").lower()


def _checksum(body: str) -> str:
    return f"{zlib.crc32(body.encode('ascii')):08x}"
