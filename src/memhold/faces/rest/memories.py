"""Routes of memories: what is told or derived, corrected, pinned, forgotten, suspected."""

from __future__ import annotations

from typing import Annotated, Any, get_args

from fastapi import Body, Header, Query, Request, Response

from memhold.faces.rest.bodies import CorrectBody, ForgetBody, RememberBody, VerdictBody
from memhold.faces.rest.frame import (
    IdempotencyKey,
    IfMatch,
    Routes,
    SessionName,
    etag,
    example,
    given_key,
    given_rev,
    json_response,
    listed,
    moment,
    scope_for,
)
from memhold.faces.rest.messages import forget_one, only
from memhold.history.forget import Sources
from memhold.values.answers import Erasure, OpenSuspicion, Page, Receipt, Remembered
from memhold.values.errors import NotFound, RevisionConflict
from memhold.values.records import KINDS, STATES, Change, Kind, Memory, State
from memhold.verbs.scope import AsyncScope
from memhold.verbs.store import AsyncStore

__all__ = ["memories_routes"]

_REMEMBER = example(
    a_note={"text": "Prefers window seats", "topics": ["travel"]},
    a_fact={"attribute": "favorite food", "value": "sushi"},
    one_more_of_several={"attribute": "pets", "value": "a cat", "operation": "add"},
)
_FORGET = example(
    one={"item_id": "mem_01980000000070008000000000000000"},
    by_topic={"topics": ["travel"], "dry_run": True},
    everything={"everything": True},
)
_TAGGED: dict[int | str, dict[str, Any]] = {
    200: {"headers": {"ETag": {"schema": {"type": "string"}, "description": "The memory's revision."}}}
}


def _names(of: Any) -> str:
    one = "|".join(get_args(of))
    return f"^(({one})(,({one}))*)?$"


def memories_routes(routes: Routes, memhold: AsyncStore) -> None:
    """The routes under `/v1/memories`, `/v1/forget` and `/v1/suspicions`."""
    _tell(routes, memhold)
    _read(routes, memhold)
    _change(routes, memhold)
    _forget(routes, memhold)
    _doubt(routes, memhold)


def _told(told: Remembered, status: int = 200) -> Response:
    return json_response(told, status, None if told.memory is None else etag(told.memory.rev))


def _tell(routes: Routes, memhold: AsyncStore) -> None:
    @routes.post("/memories", status_code=201, answer=Remembered, responses=_TAGGED, summary="Remember")
    async def remember(
        request: Request,
        body: Annotated[RememberBody, Body(openapi_examples=_REMEMBER)],
        session: SessionName = None,
        idempotency_key: IdempotencyKey = None,
    ) -> Response:
        """Remember a note or a fact; a fact supersedes what its attribute said before. 200 where nothing was new."""
        scope = scope_for(memhold, request, "write", session)
        given = body.model_dump(exclude={"event_time", "expires_at"})
        told = await scope.remember(
            **given,
            event_time=moment(body.event_time),
            expires_at=moment(body.expires_at),
            idempotency_key=given_key(idempotency_key),
        )
        return _told(told, 201 if told.receipt.change_ids and not told.receipt.replayed else 200)


def _read(routes: Routes, memhold: AsyncStore) -> None:
    @routes.get("/memories", answer=Page, summary="List memories")
    async def memories(
        request: Request,
        kinds: Annotated[str | None, Query(pattern=_names(Kind), description="With commas between.")] = None,
        states: Annotated[
            str, Query(pattern=rf"^any$|{_names(State)}", description="With commas between, or `any`.")
        ] = "active",
        session: Annotated[str | None, Query(description="Only memories of this session.")] = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
        cursor: Annotated[str | None, Query(description="What the last page gave.")] = None,
    ) -> Response:
        """Memories, oldest first, a page at a time."""
        scope = scope_for(memhold, request, "read")
        wanted_kinds: Any = listed(kinds, KINDS, "kinds")
        wanted_states: Any = None if states == "any" else listed(states, STATES, "states")
        return json_response(await scope.list(wanted_kinds, wanted_states, session=session, limit=limit, cursor=cursor))

    @routes.get("/memories/{memory_id}", answer=Memory, responses={**_TAGGED, 304: {}}, summary="Get a memory")
    async def get(request: Request, memory_id: str, if_none_match: Annotated[str | None, Header()] = None) -> Response:
        """The memory of that id; its ETag is its revision."""
        scope = scope_for(memhold, request, "read")
        only("mem_", memory_id)
        found = await scope.get(memory_id)
        assert isinstance(found, Memory)  # noqa: S101 - messages have ids of their own
        tag = etag(found.rev)
        if if_none_match is not None and if_none_match.strip().removeprefix("W/") in {tag["etag"], "*"}:
            return Response(status_code=304, headers=tag)
        return json_response(found, headers=tag)

    @routes.get("/memories/{memory_id}/history", answer=list[Change], summary="What changed a memory")
    async def history(request: Request, memory_id: str) -> Response:
        """Every change that touched it, oldest first, with before and after; of a fact, the story of its attribute."""
        return json_response(await scope_for(memhold, request, "read").history(memory_id))


def _change(routes: Routes, memhold: AsyncStore) -> None:
    @routes.post("/memories/{memory_id}/correct", answer=Remembered, responses=_TAGGED, summary="Correct")
    async def correct(
        request: Request,
        memory_id: str,
        body: Annotated[CorrectBody, Body(openapi_examples=example(a_value={"value": "Lisbon"}))],
        session: SessionName = None,
        if_match: IfMatch = None,
        idempotency_key: IdempotencyKey = None,
    ) -> Response:
        """Replace a value or text that was never true; the answer is the memory that stands in its place."""
        scope = scope_for(memhold, request, "write", session)
        rev, key = given_rev(if_match), given_key(idempotency_key)
        return _told(await scope.correct(memory_id, body.value, rev=rev, idempotency_key=key))

    @routes.post("/memories/{memory_id}/pin", answer=Remembered, responses=_TAGGED, summary="Pin")
    async def pin(
        request: Request,
        memory_id: str,
        session: SessionName = None,
        if_match: IfMatch = None,
        idempotency_key: IdempotencyKey = None,
    ) -> Response:
        """Pin it: long-term, never expires, never merged away."""
        scope = scope_for(memhold, request, "write", session)
        return _told(await scope.pin(memory_id, rev=given_rev(if_match), idempotency_key=given_key(idempotency_key)))

    @routes.post("/memories/{memory_id}/unpin", answer=Remembered, responses=_TAGGED, summary="Unpin")
    async def unpin(
        request: Request,
        memory_id: str,
        session: SessionName = None,
        if_match: IfMatch = None,
        idempotency_key: IdempotencyKey = None,
    ) -> Response:
        """Take the pin away; it stays in its tier."""
        scope = scope_for(memhold, request, "write", session)
        return _told(await scope.unpin(memory_id, rev=given_rev(if_match), idempotency_key=given_key(idempotency_key)))


def _forget(routes: Routes, memhold: AsyncStore) -> None:
    @routes.delete("/memories/{memory_id}", answer=Erasure, summary="Forget a memory")
    async def forget_memory(
        request: Request,
        memory_id: str,
        *,
        hard: bool = True,
        sources: Sources = "erase",
        dry_run: bool = False,
        if_match: IfMatch = None,
        idempotency_key: IdempotencyKey = None,
    ) -> Response:
        """Forget a memory and the messages it names as sources; with `hard=false` hide it, which can be undone.

        An `If-Match` is looked at just before.
        """
        scope = scope_for(memhold, request, "write")
        only("mem_", memory_id)
        await _still(scope, memory_id, given_rev(if_match))
        key = given_key(idempotency_key)
        return await forget_one(scope, memory_id, hard=hard, sources=sources, dry_run=dry_run, idempotency_key=key)

    @routes.post("/forget", answer=Erasure, summary="Forget by id, by filters, a session, or everything")
    async def forget(
        request: Request,
        body: Annotated[ForgetBody, Body(openapi_examples=_FORGET)],
        idempotency_key: IdempotencyKey = None,
    ) -> Response:
        """Forget one item, what passes filters, a session, or everything of the user; `dry_run` only lists."""
        scope = scope_for(memhold, request, "write")
        given = body.model_dump(exclude={"before", "after"})
        begin, end, key = moment(body.after), moment(body.before), given_key(idempotency_key)
        return json_response(await scope.forget(**given, after=begin, before=end, idempotency_key=key))


async def _still(scope: AsyncScope, memory_id: str, rev: int | None) -> None:
    if rev is None:
        return
    try:
        found = await scope.get(memory_id)
    except NotFound:
        return  # the verb knows better: it may be the same call again
    if isinstance(found, Memory) and found.rev != rev:
        raise RevisionConflict(
            f"{memory_id} is at revision {found.rev}, not {rev}; read it again", expected=rev, actual=found.rev
        )


def _doubt(routes: Routes, memhold: AsyncStore) -> None:
    @routes.get("/suspicions", answer=list[OpenSuspicion], summary="What a person should settle")
    async def suspicions(request: Request, *, settled: bool = False) -> Response:
        """Keys that may be one concept, and statements against the user's own word; oldest first."""
        return json_response(await scope_for(memhold, request, "read").suspicions(settled=settled))

    @routes.post("/suspicions/{suspicion_id}/settle", answer=Receipt, summary="Settle a suspicion")
    async def settle(
        request: Request,
        suspicion_id: str,
        body: Annotated[VerdictBody, Body(openapi_examples=example(one_concept={"verdict": "same"}))],
        session: SessionName = None,
        idempotency_key: IdempotencyKey = None,
    ) -> Response:
        """Settle it, as one change that can be undone."""
        scope = scope_for(memhold, request, "write", session)
        key = given_key(idempotency_key)
        return json_response(await scope.settle_suspicion(suspicion_id, body.verdict, idempotency_key=key))
