"""The verbs of a scope that keep its memory tidy, over HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

from memhold.faces.remote.transport import Call, Transport
from memhold.faces.remote.wire import key_header
from memhold.values.answers import Compacted, Retained
from memhold.values.jsonable import from_jsonable, json_copy
from memhold.values.records import Kind, Scope
from memhold.verbs.scope import AsyncScope

__all__ = ["CALL_SECONDS", "RemoteCompact"]

CALL_SECONDS = 120.0
"""What a call may take whose work waits for models: more than a server waits for them."""

_LONGEST = 86_399_999_999_999.0
"""Seconds: a time span that reads back as one; nothing is older."""


class RemoteCompact(AsyncScope):
    """A scope behind a transport. A run of compaction has no key: it is sent once."""

    def __init__(self, transport: Transport, scope: Scope) -> None:
        self._transport = transport
        self._scope = scope

    @property
    def _session(self) -> dict[str, Any]:
        return {} if self._scope.session is None else {"session": self._scope.session}

    async def _tidied(self, path: str, body: Mapping[str, Any], *, dry_run: bool, key: str | None = None) -> Any:
        # What only lists may be asked again; a second run would not tell what the first one did, unless it has a key.
        call = Call(
            method="POST",
            path=path,
            body=json_copy({**body, "dry_run": dry_run}),
            headers={} if key is None else {"idempotency-key": key_header(key)},
            query=self._session,
            again=bool(dry_run) or key is not None,
            timeout=CALL_SECONDS,
        )
        return (await self._transport.send(call)).data

    async def compact(self, *, dry_run: bool = False) -> Compacted:
        """See `AsyncScope.compact`; where models take longer than a server waits, it says so in `last_error`."""
        return from_jsonable(Compacted, await self._tidied("/v1/compact", {}, dry_run=dry_run))

    async def retain(
        self,
        *,
        kinds: Sequence[Kind] = ("fact", "note"),
        older_than: timedelta | None = None,
        unused_for: timedelta | None = None,
        most: int | None = None,
        dry_run: bool = True,
        idempotency_key: str | None = None,
    ) -> tuple[Retained, ...]:
        """See `AsyncScope.retain`."""
        from memhold.history.retention import Retention

        rules = Retention(kinds=tuple(kinds), older_than=older_than, unused_for=unused_for, most=most)
        body = {
            "kinds": rules.kinds,
            "older_than": _seconds(older_than),
            "unused_for": _seconds(unused_for),
            "most": most,
        }
        key = uuid4().hex if idempotency_key is None else idempotency_key
        found = await self._tidied("/v1/retain", body, dry_run=dry_run, key=None if dry_run else key)
        return tuple(from_jsonable(Retained, one) for one in found)


def _seconds(span: timedelta | None) -> float | None:
    return None if span is None else min(span.total_seconds(), _LONGEST)
