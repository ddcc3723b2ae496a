"""Routes written by hand: items by path, pages of messages, forgetting by path, and work that waits for models."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import Header, Request, Response
from pydantic import BaseModel

from memhold._version import __version__
from memhold.faces.rest.frame import (
    IdempotencyKey,
    IfMatch,
    Routes,
    etag,
    given_key,
    given_rev,
    json_response,
    scope_for,
)
from memhold.faces.rest.verb_routes import asked
from memhold.history.forget import Sources
from memhold.values.answers import Compacted, Consolidated, Erasure, Receipt
from memhold.values.bounds import MAX_MESSAGES
from memhold.values.errors import NotFound, RevisionConflict, WrongKind
from memhold.values.principal import principal_of
from memhold.values.records import Change, Memory, Message
from memhold.verbs.declaration import verbs_of
from memhold.verbs.scope import AsyncScope
from memhold.verbs.store_protocols import AsyncStore

__all__ = ["LONGEST_WAIT", "item_routes"]

LONGEST_WAIT = 45.0
"""How many seconds an answer may wait for work that is done behind it: less than any proxy does."""

_PAGE = 100
_PAGE_CHARS = 16_000_000
"""A page of messages ends behind this many characters, however many were asked for: what memory holds at once."""
_TAGGED: dict[int | str, dict[str, Any]] = {
    200: {"headers": {"ETag": {"schema": {"type": "string"}, "description": "The memory's revision."}}}
}


class MessagePage(BaseModel):
    """Messages of a session, oldest first; pass `cursor` as `after` for the next page (null after the last).

    `damaged` are ids of messages between these that are damaged on the disk: they are left out.
    """

    items: list[Message]
    cursor: int | None
    damaged: list[str]


class Text(BaseModel):
    """Part of a message's text."""

    text: str


class WhoAsks(BaseModel):
    """Whose memory the caller's token is bound to, and what it may do there; a service's is bound to no user."""

    namespace: str
    user: str | None
    agent: str | None
    actor: str
    rights: list[str]
    service: bool
    memhold: str


def item_routes(routes: Routes, memhold: AsyncStore) -> None:
    """The routes of `/v1` that do not follow from a declaration."""
    _messages(routes.tagged("messages"), memhold)
    _memory(routes.tagged("memories"), memhold)
    _forgetting(routes, memhold)
    _undoing(routes.tagged("changes"), memhold)
    _waiting(routes, memhold)
    _about(routes.tagged("recall"))


def _messages(routes: Routes, memhold: AsyncStore) -> None:
    listing, reading = verbs_of(AsyncScope)["messages"], verbs_of(AsyncScope)["read_message"]
    assert listing.http is not None  # noqa: S101 - declared
    assert reading.http is not None  # noqa: S101 - declared

    async def messages(request: Request) -> Response:
        # A page may be shorter than asked for, where messages are long.
        scope, told = await asked(memhold, request, listing)
        given = {"after": 0, "limit": 1000, **told}
        newest = given.get("newest", False)
        first = await scope.messages(**{**given, "limit": _least(given["limit"])})
        found, damaged = list(first), dict.fromkeys(first.damaged)
        chars = sum(len(message.text) for message in found)
        while found and len(found) % _PAGE == 0 and len(found) < given["limit"] and chars < _PAGE_CHARS:
            size = min(_PAGE, given["limit"] - len(found))
            behind = {"before": found[0].seq} if newest else {"after": found[-1].seq}
            page = await scope.messages(**{**given, **behind, "limit": size})
            damaged |= dict.fromkeys(page.damaged)
            found = [*page, *found] if newest else [*found, *page]
            chars += sum(len(message.text) for message in page)
            if len(page) < size:
                return await json_response({"items": found, "cursor": None, "damaged": list(damaged)})
        more = len(found) == given["limit"] or chars >= _PAGE_CHARS
        last = found[0 if newest else -1].seq if found and more else None
        return await json_response({"items": found, "cursor": last, "damaged": list(damaged)})

    routes.declared(listing, listing.http, messages, MessagePage)

    @routes.get("/messages/{message_id}", answer=Message, operation_id="get_message", summary="Get a message")
    async def get(request: Request, message_id: str) -> Response:
        """The message of that id."""
        scope = scope_for(memhold, request, "read")
        _only("msg_", message_id)
        return await json_response(await scope.get(message_id))

    async def text(request: Request) -> Response:
        scope, given = await asked(memhold, request, reading)
        return await json_response({"text": await scope.read_message(**given)})

    routes.declared(reading, reading.http, text, Text)

    @routes.get(
        "/messages/{message_id}/history",
        answer=list[Change],
        operation_id="message_history",
        summary="What touched a message",
    )
    async def history(request: Request, message_id: str) -> Response:
        """Every change that touched it, oldest first, with before and after."""
        return await json_response(await scope_for(memhold, request, "read").history(message_id))


def _least(limit: Any) -> Any:
    """The size of the first page; what cannot be one is left for the verb to refuse."""
    return min(limit, _PAGE) if isinstance(limit, int) and 0 < limit <= MAX_MESSAGES else limit


def _memory(routes: Routes, memhold: AsyncStore) -> None:
    @routes.get(
        "/memories/{memory_id}",
        answer=Memory,
        responses={**_TAGGED, 304: {}},
        operation_id="get_memory",
        summary="Get a memory",
    )
    async def get(request: Request, memory_id: str, if_none_match: Annotated[str | None, Header()] = None) -> Response:
        """The memory of that id; its ETag is its revision."""
        scope = scope_for(memhold, request, "read")
        _only("mem_", memory_id)
        found = await scope.get(memory_id)
        assert isinstance(found, Memory)  # noqa: S101 - messages have ids of their own
        tag = etag(found.rev)
        had = {one.strip().removeprefix("W/") for one in (if_none_match or "").split(",")}  # RFC 9110, 13.1.2
        if not had.isdisjoint({tag["etag"], "*"}):
            return Response(status_code=304, headers=tag)
        return await json_response(found, headers=tag)


def _forgetting(routes: Routes, memhold: AsyncStore) -> None:
    @routes.tagged("messages").delete(
        "/messages/{message_id}", answer=Erasure, operation_id="forget_message", summary="Forget a message"
    )
    async def forget_message(
        request: Request,
        message_id: str,
        *,
        hard: bool = True,
        sources: Sources = "erase",
        dry_run: bool = False,
        idempotency_key: IdempotencyKey = None,
    ) -> Response:
        """Forget a message and what was derived from it; with `hard=false` hide it, which can be undone."""
        scope = scope_for(memhold, request, "write")
        _only("msg_", message_id)
        key = given_key(idempotency_key)
        return await json_response(
            await scope.forget(message_id, hard=hard, sources=sources, dry_run=dry_run, idempotency_key=key)
        )

    @routes.tagged("memories").delete(
        "/memories/{memory_id}", answer=Erasure, operation_id="forget_memory", summary="Forget a memory"
    )
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
        _only("mem_", memory_id)
        await _still(scope, memory_id, given_rev(if_match))
        key = given_key(idempotency_key)
        return await json_response(
            await scope.forget(memory_id, hard=hard, sources=sources, dry_run=dry_run, idempotency_key=key)
        )


def _undoing(routes: Routes, memhold: AsyncStore) -> None:
    undoing = verbs_of(AsyncScope)["undo"]

    @routes.post(
        "/changes/{change_id}/undo",
        answer=Receipt,
        operation_id="undo_change",
        summary="Undo one change, by its path",
        reads=True,
    )
    async def undo_change(request: Request, change_id: str) -> Response:  # noqa: ARG001 - read with the other arguments
        """Undo a change, as a new change; the body is that of `POST /v1/undo`, without the change."""
        scope, given = await asked(memhold, request, undoing)
        return await json_response(await scope.undo(**given))


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


def _waiting(routes: Routes, memhold: AsyncStore) -> None:
    """Verbs that wait for models, but not for ever: 202 says that they are still at work."""
    verbs = verbs_of(AsyncScope)
    consolidating, compacting = verbs["consolidate"], verbs["compact"]
    assert consolidating.http is not None  # noqa: S101 - declared
    assert compacting.http is not None  # noqa: S101 - declared

    async def consolidate(request: Request) -> Response:
        scope, _ = await asked(memhold, request, consolidating)
        try:
            async with asyncio.timeout(LONGEST_WAIT):
                return await json_response(await scope.consolidate())
        except TimeoutError:
            waiting = (await scope.status()).pending
            said = "the models are still at work; what waits is due, and is done behind"
            return await json_response(Consolidated(waiting=waiting, last_error=said), 202)

    async def compact(request: Request) -> Response:
        scope, given = await asked(memhold, request, compacting)
        try:
            async with asyncio.timeout(LONGEST_WAIT):
                return await json_response(await scope.compact(**given))
        except TimeoutError:
            said = "the run took longer than an answer waits; what it merged stands, and the rest is due"
            return await json_response(Compacted(more=True, last_error=said), 202)

    routes.declared(consolidating, consolidating.http, consolidate)
    routes.declared(compacting, compacting.http, compact)


def _about(routes: Routes) -> None:
    @routes.get("/scope", answer=WhoAsks, operation_id="who", summary="Whose memory this token is bound to")
    async def who(request: Request) -> Response:
        """Namespace, user, agent, actor and rights of the caller."""
        principal = principal_of(request.scope)
        own = principal.scope
        answer = {"namespace": own.namespace, "user": own.user, "agent": own.agent, "actor": own.actor}
        return await json_response(
            {**answer, "rights": sorted(principal.rights), "service": principal.service, "memhold": __version__}
        )


def _only(prefix: str, item_id: str) -> None:
    """Refuse the id of a known other kind: a message is no memory.

    Raises:
        WrongKind: it is of another kind.
    """
    kinds = {"msg_": "messages", "mem_": "memories", "chg_": "changes", "ses_": "sessions"}
    for other, name in kinds.items():
        if other != prefix and item_id.startswith(other):
            raise WrongKind(f"{item_id:.80} is an id of {name}; this route takes {prefix}…", id=item_id)
