"""Routes that keep a scope's memory tidy: compaction and retention."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Annotated

from fastapi import Body, Request, Response

from memhold.faces.rest.bodies import CompactBody, RetainBody
from memhold.faces.rest.frame import IdempotencyKey, Routes, SessionName, example, given_key, json_response, scope_for
from memhold.faces.rest.messages import LONGEST_WAIT
from memhold.values.answers import Compacted, Retained
from memhold.verbs.store import AsyncStore

__all__ = ["compact_routes"]

_COMPACT = example(only_shown={"dry_run": True}, merged={})
_RETAIN = example(
    unused_notes_of_a_year={"kinds": ["note"], "unused_for": 31536000.0},
    the_newest_thousand={"kinds": ["note"], "most": 1000, "dry_run": False},
)


def compact_routes(routes: Routes, memhold: AsyncStore) -> None:
    """The routes `/v1/compact` and `/v1/retain`."""

    @routes.post("/compact", answer=Compacted, summary="Merge what says the same")
    async def compact(
        request: Request,
        body: Annotated[CompactBody | None, Body(openapi_examples=_COMPACT)] = None,
        session: SessionName = None,
    ) -> Response:
        """One run of compaction now; each merge is a change that can be undone.

        It waits for the models, but not for ever: 202 says that they are still at work. With `dry_run` it shows what
        would be looked at, asks no model and changes nothing.
        """
        scope = scope_for(memhold, request, "write", session)
        try:
            async with asyncio.timeout(LONGEST_WAIT):
                return json_response(await scope.compact(dry_run=(body or CompactBody()).dry_run))
        except TimeoutError:
            said = "the run took longer than an answer waits; what it merged stands, and the rest is due"
            return json_response(Compacted(more=True, last_error=said), 202)

    @routes.post("/retain", answer=list[Retained], summary="Hide what is past your rules")
    async def retain(
        request: Request,
        body: Annotated[RetainBody, Body(openapi_examples=_RETAIN)],
        session: SessionName = None,
        idempotency_key: IdempotencyKey = None,
    ) -> Response:
        """List what is past the age, the inactivity or the count of each kind; with `dry_run=false` hide it.

        Pinned memories stay. Each is hidden by a change of its own, which can be undone.
        """
        scope = scope_for(memhold, request, "write", session)
        found = await scope.retain(
            kinds=body.kinds,
            older_than=_time(body.older_than),
            unused_for=_time(body.unused_for),
            most=body.most,
            dry_run=body.dry_run,
            idempotency_key=given_key(idempotency_key),
        )
        return json_response(found)


def _time(seconds: float | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)
