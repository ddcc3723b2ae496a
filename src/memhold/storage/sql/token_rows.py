"""Rows of tokens to values and back."""

from __future__ import annotations

from typing import Any

from memhold.storage.sql.blocks import Row
from memhold.storage.sql.rows import readable
from memhold.values.access_tokens import RIGHTS, AccessToken, StoredToken
from memhold.values.records import from_micros, micros

__all__ = ["to_token", "token_params"]

# Where a row has texts, and where its digest.
_TEXTS, _DIGEST = (0, 1, 2, 3, 4, 5, 11), 6


def token_params(stored: StoredToken) -> dict[str, Any]:
    """The parameters of `add_token`."""
    token = stored.token
    return {
        "id": token.id,
        "namespace": token.namespace,
        "user_id": token.user or "",
        "agent_id": token.agent or "",
        "rights": ",".join(token.rights),
        "label": token.label,
        "digest": stored.digest,
        "created_at": micros(token.created_at),
        "expires_at": None if token.expires_at is None else micros(token.expires_at),
        "revoked_at": None if token.revoked_at is None else micros(token.revoked_at),
        "used_on": token.last_used,
        "actor": token.actor,
    }


@readable
def to_token(row: Row) -> StoredToken:
    """A token from the columns of `find_token`."""
    if not (type(row[_DIGEST]) is bytes and all(type(row[place]) is str for place in _TEXTS)):
        raise TypeError
    token_id, namespace, user, agent, rights, label, digest, created, expires, revoked, used, actor = row
    held = set(rights.split(","))
    token = AccessToken(
        id=token_id,
        namespace=namespace,
        user=user or None,
        agent=agent or None,
        rights=tuple(right for right in RIGHTS if right in held),
        label=label,
        created_at=from_micros(created),
        expires_at=None if expires is None else from_micros(expires),
        revoked_at=None if revoked is None else from_micros(revoked),
        last_used=used,
        actor=actor,
    )
    return StoredToken(token=token, digest=digest)
