"""The verbs for tokens: `mem.admin.tokens`."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from unicodedata import normalize

from memhold.values.access_tokens import RIGHTS, AccessToken, NewToken, Right, StoredToken
from memhold.values.errors import InvalidInput, ScopeDenied, StoreError
from memhold.values.names import checked_name, usable_name
from memhold.values.records import Scope
from memhold.verbs.checking import judging
from memhold.verbs.runtime import Runtime
from memhold.verbs.store_protocols import AsyncTokens
from memhold.verbs.token_text import (
    LONGEST_PASS,
    Pass,
    is_sendable,
    judge,
    judge_pass,
    kept_digest,
    mint,
    no_service,
    no_such_token,
    present,
    seal,
    unseal,
)

__all__ = ["MAX_LABEL", "LocalTokens"]

MAX_LABEL = 200
"""Longest label of a token, in characters."""

log = logging.getLogger("memhold.access")


class LocalTokens:
    """Make, list, revoke and check the tokens that a server lets in."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def create(
        self,
        *,
        namespace: str = "default",
        user: str | None = None,
        agent: str | None = None,
        rights: Sequence[Right] = ("read", "write"),
        label: str = "",
        actor: str = "user",
        expires_in: timedelta | None = None,
    ) -> NewToken:
        runtime = self._runtime
        runtime.guard()
        scope = Scope(namespace=namespace, user=user, agent=agent, actor=actor)
        now = runtime.clock.now()
        if expires_in is not None and expires_in <= timedelta(0):
            raise InvalidInput(f"expires_in is {expires_in}; pass a time that is still to come")
        held, label = _rights(rights), _label(label)
        if "act" in held and scope.user is not None:
            raise InvalidInput("a token with the right 'act' works for whom each request names; leave out the user")
        if "projects" in held and scope.namespace != "default":
            raise InvalidInput("a token with the right 'projects' is of the namespace 'default'; leave it out")
        made, text = mint(secrets.token_bytes)
        token = AccessToken(
            id=made.id,
            namespace=scope.namespace,
            user=scope.user,
            agent=scope.agent,
            rights=held,
            label=label,
            created_at=now,
            expires_at=_end(now, expires_in),
            actor=_recorded(scope.actor, label, made.id) if "act" in held else scope.actor,
        )
        digest = kept_digest(runtime.store.facts.secret, made, token)
        await runtime.store.tokens.add(StoredToken(token=token, digest=digest))
        return NewToken(token=token, secret=text)

    async def list(self, *, namespace: str | None = None) -> tuple[AccessToken, ...]:
        self._runtime.guard()
        namespace = namespace if namespace is None else checked_name(namespace, "namespace")
        return tuple(stored.token for stored in await self._runtime.store.tokens.read(namespace))

    async def revoke(self, token_id: str, *, namespace: str | None = None) -> AccessToken:
        runtime = self._runtime
        runtime.guard()
        namespace = namespace if namespace is None else checked_name(namespace, "namespace")
        found = await runtime.store.tokens.find(token_id) if is_sendable(token_id) else None
        if found is not None and namespace in {None, found.token.namespace}:
            found = await runtime.store.tokens.revoke(token_id, runtime.clock.now())
            if found is not None:
                return found.token
        raise no_such_token(token_id)

    async def exchange(
        self,
        secret: str,
        *,
        user: str,
        rights: Sequence[Right] | None = None,
        expires_in: timedelta = timedelta(minutes=15),
    ) -> NewToken:
        runtime = self._runtime
        service = None if secret.startswith("mhp_") else await self.check(secret)
        if service is None or "act" not in service.rights:
            raise no_service()
        grantable = tuple(right for right in service.rights if right in {"read", "write"})
        asked = grantable if rights is None else _rights(rights)
        if not asked or not set(asked) <= set(grantable):
            said = f"the token can give {', '.join(grantable) or 'no right'}; ask for no more than that"
            raise ScopeDenied(said, right=next((right for right in asked if right not in grantable), "read"))
        if not timedelta(0) < expires_in <= LONGEST_PASS:
            raise InvalidInput(f"expires_in is {expires_in}; pass a time of at most {LONGEST_PASS}")
        now = runtime.clock.now()
        end = min(now + expires_in, service.expires_at or now + expires_in)
        scope = Scope(namespace=service.namespace, user=checked_name(user, "user"), agent=service.agent)
        made = Pass(token_id=service.id, user=str(scope.user), rights=asked, expires_at=end)
        token = replace(service, user=scope.user, rights=asked, created_at=now, expires_at=end)
        return NewToken(token=token, secret=seal(made, runtime.store.facts.secret))

    async def check(self, secret: str) -> AccessToken | None:
        runtime = self._runtime
        runtime.guard()
        if secret.startswith("mhp_"):
            return await self._check_pass(secret)
        presented = present(secret)
        if isinstance(presented, str):
            log.info("a token was refused: %s", presented)
            return None
        stored, now = await runtime.store.tokens.find(presented.id), runtime.clock.now()
        fault = judge(presented, stored, secret=runtime.store.facts.secret, now=now)
        if stored is None or fault is not None:
            log.info("token %s was refused: %s", presented.id if stored is not None else "of no known id", fault)
            return None
        await self._note_use(stored.token, now)
        return stored.token

    async def _check_pass(self, text: str) -> AccessToken | None:
        runtime = self._runtime
        made = unseal(text, runtime.store.facts.secret)
        if made is None:
            log.info("a token was refused: malformed")
            return None
        stored = await runtime.store.tokens.find(made.token_id)
        fault = judge_pass(made, stored, secret=runtime.store.facts.secret, now=runtime.clock.now())
        if stored is None or fault is not None:
            log.info("a pass of token %s was refused: %s", made.token_id, fault)
            return None
        return replace(stored.token, user=made.user, rights=made.rights, expires_at=made.expires_at)

    async def _note_use(self, token: AccessToken, now: datetime) -> None:
        day = now.astimezone(UTC).date().isoformat()
        if token.last_used is not None and token.last_used >= day:
            return
        try:
            await self._runtime.store.tokens.note_use(token.id, day)
        except StoreError as error:
            # A store that takes no writes still answers reads; the note is a convenience.
            log.warning("the last use of token %s could not be noted: %s", token.id, type(error).__name__)


judging(AsyncTokens, LocalTokens)


def _rights(given: Sequence[Right]) -> tuple[Right, ...]:
    if not given:
        raise InvalidInput(f"a token without rights can do nothing; pass one or more of {', '.join(RIGHTS)}")
    return tuple(right for right in RIGHTS if right in given)


def _recorded(actor: str, label: str, token_id: str) -> str:
    """What is recorded of all that a service does: its actor has a name, its label's or its token's id."""
    return actor if ":" in actor else f"{actor}:{label or token_id}"


def _label(given: str) -> str:
    """A label as it is seen: of a service it is the name that is recorded, and no two of them may look alike."""
    if len(given) > MAX_LABEL:
        raise InvalidInput(f"label has {len(given)} characters; shorten it to {MAX_LABEL} at most")
    label = normalize("NFC", given).strip(" ")
    if len(label) > MAX_LABEL or (clean := usable_name(label)) != label:
        use = f"use {clean[:MAX_LABEL]!r}" if len(label) <= MAX_LABEL and clean else "use another"
        raise InvalidInput(f"label must be at most {MAX_LABEL} characters that can be seen, on one line; {use}")
    return label


def _end(now: datetime, life: timedelta | None) -> datetime | None:
    try:
        return None if life is None else now + life
    except OverflowError:
        raise InvalidInput(f"expires_in of {life} leads past the year 9999; leave it out") from None
