"""The routes of `agent-memory-client` 0.14, mapped on Memhold's verbs (`memhold serve --compat agent-memory-server`).

`compat_router` gives the router; like every route it takes namespace, user and rights from the `Principal`. Requests of
that client may name a user and a namespace: the token's own are fine, another user of the namespace needs the right
`admin`, another namespace is refused. What has no counterpart is refused with `NotMapped` and says so, never dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Final
from weakref import WeakValueDictionary

from fastapi import APIRouter, Body, Query, Request, Response

from memhold.faces.compat.ams_memories import change_record, equal_to, forget_by_policy, found, search, store_record
from memhold.faces.compat.ams_values import (
    MessageIn,
    PolicyBody,
    PromptBody,
    RecordsBody,
    SearchBody,
    Whose,
    WorkingBody,
    message_out,
    not_mapped,
    record_out,
    scope_of,
    text_of,
)
from memhold.faces.rest.frame import caller, json_response
from memhold.values.errors import NotFound
from memhold.values.records import Scope
from memhold.verbs.scope import AsyncScope
from memhold.verbs.store_protocols import AsyncStore

__all__ = ["COMPAT", "compat_router"]

COMPAT = "agent-memory-server"
"""The name of this compatibility, as `--compat` takes it."""

_PAGE = 1000
_BUDGET = 8000
_NOT_IN_A_PROMPT: Final = (
    "session_id", "topics", "entities", "created_at", "last_accessed", "memory_type", "event_date",
    "distance_threshold", "offset",
)  # fmt: skip
Now = Callable[[], datetime]
UserId = Annotated[str | None, Query()]


def compat_router(memhold: AsyncStore, *, now: Now = lambda: datetime.now(UTC)) -> APIRouter:
    """A router with the routes under `/v1/working-memory`, `/v1/long-term-memory`, `/v1/memory/prompt`, `/v1/health`.

    Include it in the application of `rest_app`, whose error handlers answer with problems (`detail` is what the client
    shows). It is left out of the OpenAPI: its contract is that of the client.
    """
    router = APIRouter(prefix="/v1", include_in_schema=False)
    _working(router, memhold, now)
    _long_term(router, memhold, now)
    _others(router, memhold, now)
    return router


def _working(router: APIRouter, memhold: AsyncStore, now: Now) -> None:
    @router.get("/working-memory/")
    async def sessions(
        request: Request,
        limit: Annotated[int, Query(ge=1, le=1000)] = 20,
        offset: Annotated[int, Query(ge=0)] = 0,
        namespace: str | None = None,
        user_id: UserId = None,
    ) -> Response:
        scope = scope_of(memhold, caller(request, "read"), Whose(user=user_id, namespace=namespace))
        names = [name for name in await scope.sessions() if name]
        return json_response({"sessions": names[offset : offset + limit], "total": len(names)})

    @router.get("/working-memory/{session_id}")
    async def read(request: Request, session_id: str, namespace: str | None = None, user_id: UserId = None) -> Response:
        whose = Whose(user=user_id, namespace=namespace, session=session_id)
        scope = scope_of(memhold, caller(request, "read"), whose)
        answer = await _window(scope)
        if not answer["messages"] and not answer["memories"]:
            raise NotFound(f"no session {session_id!r:.80} in this scope", id=session_id)
        return json_response(answer | {"new_session": False})

    turns: WeakValueDictionary[Scope, asyncio.Lock] = WeakValueDictionary()

    @router.put("/working-memory/{session_id}")
    async def write(request: Request, session_id: str, body: WorkingBody, user_id: UserId = None) -> Response:
        for name in ("data", "context", "ttl_seconds"):
            if getattr(body, name):
                raise not_mapped(f"working memory keeps messages and memories, and no {name}")
        if body.long_term_memory_strategy.get("strategy", "discrete") != "discrete":
            raise not_mapped("how memories are extracted is a setting of the server; leave out the strategy")
        principal = caller(request, "write")
        whose = Whose(user=user_id or body.user_id, namespace=body.namespace, session=session_id)
        scope = scope_of(memhold, principal, whose)
        # What is there is read, and what is new added: puts of one session that overlap take turns.
        async with turns.setdefault(scope.scope, asyncio.Lock()):
            new = await _put(scope, body, now=now())
        return json_response(await _window(scope) | {"new_session": new})

    @router.delete("/working-memory/{session_id}")
    async def delete(
        request: Request, session_id: str, namespace: str | None = None, user_id: UserId = None
    ) -> Response:
        """The session's messages and what was derived from them; memories that were told in it stay, as there."""
        whose = Whose(user=user_id, namespace=namespace, session=session_id)
        scope = scope_of(memhold, caller(request, "write"), whose)
        for message in await _messages(scope):
            await scope.forget(message.id, wait=0.0)
        return json_response({"status": "ok"})


def _long_term(router: APIRouter, memhold: AsyncStore, now: Now) -> None:
    @router.post("/long-term-memory/")
    async def create(request: Request, body: RecordsBody) -> Response:
        """Each record is stored by itself, under its id: the same request again writes nothing twice."""
        principal = caller(request, "write")
        placed = [
            (scope_of(memhold, principal, Whose(one.user_id, one.namespace, one.session_id)), one)
            for one in body.memories
        ]
        for scope, record in placed:
            await store_record(scope, record, now=now())
        return json_response({"status": "ok"})

    @router.post("/long-term-memory/search")
    async def ask(request: Request, body: SearchBody) -> Response:
        return json_response(await search(memhold, caller(request, "read"), body))

    @router.post("/long-term-memory/forget")
    async def forget(
        request: Request,
        body: PolicyBody,
        namespace: str | None = None,
        user_id: UserId = None,
        session_id: str | None = None,
        limit: Annotated[int, Query(ge=1, le=100_000)] = 1000,
        *,
        dry_run: bool = False,
    ) -> Response:
        scope = scope_of(memhold, caller(request, "write"), Whose(user=user_id, namespace=namespace))
        done = await forget_by_policy(scope, body, session=session_id, limit=limit, dry_run=dry_run, now=now())
        return json_response(done)

    @router.delete("/long-term-memory")
    async def delete(request: Request, memory_ids: Annotated[list[str], Query(min_length=1)]) -> Response:
        """All or none: an id that is not there is a 404 before anything is forgotten."""
        principal = caller(request, "write")
        gone = [await found(memhold, principal, memory_id) for memory_id in memory_ids]
        for scope, memory in gone:
            await scope.forget(memory.id, wait=0.0)
        return json_response({"status": f"ok, deleted {len(gone)} memories"})

    @router.get("/long-term-memory/{memory_id}")
    async def read(request: Request, memory_id: str) -> Response:
        principal = caller(request, "read")
        scope, memory = await found(memhold, principal, memory_id)
        return json_response(record_out(memory, scope.scope, principal))

    @router.patch("/long-term-memory/{memory_id}")
    async def change(request: Request, memory_id: str, updates: Annotated[dict[str, Any], Body()]) -> Response:
        principal = caller(request, "write")
        scope, memory = await found(memhold, principal, memory_id)
        changed = await change_record(scope, memory, updates)
        return json_response(record_out(changed, scope.scope, principal))


def _others(router: APIRouter, memhold: AsyncStore, now: Now) -> None:
    @router.get("/health")
    async def health(request: Request) -> Response:
        caller(request, "read")
        return json_response({"now": now().timestamp()})

    @router.post("/memory/prompt")
    async def prompt(request: Request, body: PromptBody) -> Response:
        """What `context` gives for the query: the session's window and memory within a budget, valid for a model."""
        session, wanted = body.session, body.long_term_search or SearchBody()
        for name in _NOT_IN_A_PROMPT:
            if getattr(wanted, name):
                raise not_mapped(f"the filter {name} of a prompt: what stands in it is the server's to choose")
        for name in ("user_id", "namespace"):
            named, filtered = getattr(session, name), equal_to(getattr(wanted, name), name)
            if named is not None and filtered is not None and named != filtered:
                raise not_mapped(f"a prompt of two scopes: {name} of the session and of the search differ")
        user = session.user_id if session.user_id is not None else equal_to(wanted.user_id, "user_id")
        namespace = session.namespace if session.namespace is not None else equal_to(wanted.namespace, "namespace")
        whose = Whose(user=user, namespace=namespace, session=session.session_id)
        scope = scope_of(memhold, caller(request, "read"), whose)
        budget = session.context_window_max or _BUDGET
        made = await scope.context([{"role": "user", "content": body.query}], budget=budget)
        messages = [{"role": one["role"], "content": {"type": "text", "text": text_of(one)}} for one in made.openai()]
        return json_response({"messages": messages})

    @router.api_route("/summary-views{rest:path}", methods=["GET", "POST", "DELETE"])
    @router.api_route("/tasks{rest:path}", methods=["GET"])
    async def views(request: Request, rest: str) -> Response:
        del rest
        caller(request, "read")
        raise not_mapped("summary views have no counterpart; summaries are made of every session, by the server")


async def _put(scope: AsyncScope, body: WorkingBody, *, now: datetime) -> bool:
    """Add what is new of a working memory; whether the session was empty before."""
    before = await _window(scope)
    said = {one["id"]: (one["role"], one["content"]) for one in before["messages"]}
    there = frozenset(said)
    fresh: dict[str, MessageIn] = {}
    for one in body.messages:
        if said.setdefault(one.id, (one.role, one.content)) != (one.role, one.content):
            raise not_mapped(f"message {one.id!r:.80} is there with other content; the journal only grows")
        if one.id not in there:
            fresh.setdefault(one.id, one)
    for record in body.memories:
        await store_record(scope, record, now=now)
    if fresh:
        key = _key("put", scope.scope.session or "", "\n".join(fresh))
        await scope.add([one.message() for one in fresh.values()], idempotency_key=key)
    return not there and not before["memories"]


def _key(*parts: str) -> str:
    from hashlib import sha256

    return f"{COMPAT}:{sha256(chr(0).join(parts).encode()).hexdigest()}"


async def _messages(scope: AsyncScope) -> list[Any]:
    every: list[Any] = []
    while page := await scope.messages(after=every[-1].seq if every else 0, limit=_PAGE):
        every += page
    return every


async def _window(scope: AsyncScope) -> dict[str, Any]:
    """A session as the client knows it: messages, and the memories that were told in it."""
    own = scope.scope
    told = await scope.list(("fact", "note"), session=own.session, limit=_PAGE)
    return {
        "messages": [message_out(message) for message in await _messages(scope)],
        "memories": [record_out(memory, own, None) for memory in told.items],
        "data": None,
        "context": None,
        "session_id": own.session,
        "user_id": own.user,
        "namespace": own.namespace,
        "tokens": 0,
    }
