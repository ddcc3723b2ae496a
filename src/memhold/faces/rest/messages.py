"""Routes of the journal: messages and sessions."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import Body, Query, Request, Response
from pydantic import BaseModel

from memhold.faces.rest.bodies import AddBody
from memhold.faces.rest.frame import IdempotencyKey, Routes, SessionName, example, given_key, json_response, scope_for
from memhold.history.forget import Sources
from memhold.values.answers import Consolidated, Erasure, Receipt
from memhold.values.errors import WrongKind
from memhold.values.records import Change, Message
from memhold.verbs.scope import AsyncScope
from memhold.verbs.store import AsyncStore

__all__ = ["LONGEST_WAIT", "forget_one", "messages_routes", "only"]

LONGEST_WAIT = 45.0
"""How many seconds an answer may wait for work that is done behind it: less than any proxy does."""

_PAGE = 100
_PAGE_CHARS = 16_000_000
"""A page of messages ends behind this many characters, however many were asked for: what memory holds at once."""

_ADD = example(
    one_turn={
        "messages": [
            {"role": "user", "content": "I moved to Lisbon last week."},
            {"role": "assistant", "content": "Noted. How do you like it?"},
        ]
    },
    an_earlier_message={
        "messages": {"role": "user", "content": "We met in Porto.", "event_time": "2024-05-01T10:00:00Z"}
    },
)


class MessagePage(BaseModel):
    """Messages of a session, oldest first; pass `cursor` as `after` for the next page (null after the last)."""

    items: list[Message]
    cursor: int | None


class Text(BaseModel):
    """Part of a message's text."""

    text: str


def messages_routes(routes: Routes, memhold: AsyncStore) -> None:
    """The routes under `/v1/messages` and `/v1/sessions`."""
    _writes(routes, memhold)
    _reads(routes, memhold)
    _sessions(routes, memhold)


def _writes(routes: Routes, memhold: AsyncStore) -> None:
    @routes.post("/messages", status_code=201, answer=Receipt, summary="Append messages")
    async def add(
        request: Request,
        body: Annotated[AddBody, Body(openapi_examples=_ADD)],
        session: SessionName = None,
        idempotency_key: IdempotencyKey = None,
    ) -> Response:
        """Append messages to the session's journal, all or none. Needs no model: it answers when they are durable."""
        scope = scope_for(memhold, request, "write", session)
        receipt = await scope.add(body.messages, idempotency_key=given_key(idempotency_key))
        return json_response(receipt, 200 if receipt.replayed else 201)

    @routes.delete("/messages/{message_id}", answer=Erasure, summary="Forget a message")
    async def forget(
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
        only("msg_", message_id)
        key = given_key(idempotency_key)
        return await forget_one(scope, message_id, hard=hard, sources=sources, dry_run=dry_run, idempotency_key=key)


def _reads(routes: Routes, memhold: AsyncStore) -> None:
    @routes.get("/messages", answer=MessagePage, summary="List a session's messages")
    async def messages(
        request: Request,
        session: SessionName = None,
        after: Annotated[int, Query(ge=0, le=2**53, description="The `seq` to begin behind.")] = 0,
        limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
    ) -> Response:
        """Messages of the session, oldest first; a page may be shorter than `limit` where messages are long."""
        scope = scope_for(memhold, request, "read", session)
        found: list[Message] = []
        chars = 0
        while len(found) < limit and chars < _PAGE_CHARS:
            asked = min(_PAGE, limit - len(found))
            page = await scope.messages(after=found[-1].seq if found else after, limit=asked)
            found += page
            chars += sum(len(message.text) for message in page)
            if len(page) < asked:
                return json_response({"items": found, "cursor": None})
        return json_response({"items": found, "cursor": found[-1].seq})

    @routes.get("/messages/{message_id}", answer=Message, summary="Get a message")
    async def get(request: Request, message_id: str) -> Response:
        """The message of that id."""
        scope = scope_for(memhold, request, "read")
        only("msg_", message_id)
        return json_response(await scope.get(message_id))

    @routes.get("/messages/{message_id}/text", answer=Text, summary="Read part of a message's text")
    async def text(
        request: Request,
        message_id: str,
        offset: Annotated[int, Query(ge=0, le=2**53)] = 0,
        limit: Annotated[int, Query(ge=1, le=10_000_000)] = 100_000,
    ) -> Response:
        """Part of its text from a character on: how a huge message is read whole, piece by piece."""
        scope = scope_for(memhold, request, "read")
        return json_response({"text": await scope.read_message(message_id, offset=offset, limit=limit)})

    @routes.get("/messages/{message_id}/history", answer=list[Change], summary="What touched a message")
    async def history(request: Request, message_id: str) -> Response:
        """Every change that touched it, oldest first, with before and after."""
        return json_response(await scope_for(memhold, request, "read").history(message_id))


def _sessions(routes: Routes, memhold: AsyncStore) -> None:
    @routes.post("/sessions/end", answer=Receipt, summary="End a session")
    async def end_session(
        request: Request, session: SessionName = None, idempotency_key: IdempotencyKey = None
    ) -> Response:
        """Close the session: its window is kept, whole and searchable, and the next message begins a clean one."""
        scope = scope_for(memhold, request, "write", session)
        return json_response(await scope.end_session(idempotency_key=given_key(idempotency_key)))

    @routes.post("/sessions/consolidate", answer=Consolidated, summary="Consolidate now")
    async def consolidate(request: Request, session: SessionName = None) -> Response:
        """Read what waits with a model, now: of the session, or without one of all sessions.

        It waits for the models, but not for ever: 202 says that they are still at work.
        """
        scope = scope_for(memhold, request, "write", session)
        try:
            async with asyncio.timeout(LONGEST_WAIT):
                return json_response(await scope.consolidate())
        except TimeoutError:
            waiting = (await scope.status()).pending
            said = "the models are still at work; what waits is due, and is done behind"
            return json_response(Consolidated(waiting=waiting, last_error=said), 202)


def only(prefix: str, item_id: str) -> None:
    """Refuse the id of a known other kind: a message is no memory.

    Raises:
        WrongKind: it is of another kind.
    """
    kinds = {"msg_": "messages", "mem_": "memories", "chg_": "changes", "ses_": "sessions"}
    for other, name in kinds.items():
        if other != prefix and item_id.startswith(other):
            raise WrongKind(f"{item_id:.80} is an id of {name}; this route takes {prefix}…", id=item_id)


async def forget_one(scope: AsyncScope, item_id: str, **options: Any) -> Response:
    """Forget one item and answer what went."""
    return json_response(await scope.forget(item_id, **options))
