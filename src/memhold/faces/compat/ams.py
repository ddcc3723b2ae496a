"""The routes of `agent-memory-client` 0.14, mapped on Memhold's verbs (`memhold serve --compat agent-memory-server`).

`compat_router` gives the router; like every route it takes namespace, user and rights from the `Principal`. Requests of
that client may name a user and a namespace: the token's own are fine, a namespace is one below the token's, another
user needs the right `act`. What has no counterpart is refused with `NotMapped` and says so, never dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Request, Response

from memhold.faces.bodies import Once
from memhold.faces.compat.ams_memories import (
    Namespaces,
    change_record,
    check_records,
    equal_to,
    forget_by_policy,
    found,
    search,
    store_record,
)
from memhold.faces.compat.ams_sessions import Turns, delete_session, live_sessions, put_session, session_out
from memhold.faces.compat.ams_values import (
    COMPAT,
    PolicyBody,
    PromptBody,
    RecordsBody,
    SearchBody,
    Whose,
    Window,
    WorkingBody,
    not_mapped,
    record_out,
    scope_of,
    text_of,
)
from memhold.faces.rest.frame import caller, json_response
from memhold.providers.vocabularies import count_of
from memhold.text.token_estimate import Count, estimate_message
from memhold.values.errors import InvalidInput, NotFound
from memhold.verbs.scope import AsyncScope
from memhold.verbs.store_protocols import AsyncStore

__all__ = ["COMPAT", "compat_router"]

_BUDGET = 8000
_KNOWN = "What you know of the user"
Now = Callable[[], datetime]
UserId = Annotated[str | None, Query()]
ModelWindow = Annotated[int | None, Query(ge=1, le=10_000_000)]


def compat_router(memhold: AsyncStore, *, now: Now = lambda: datetime.now(UTC)) -> APIRouter:
    """A router with the routes under `/v1/working-memory`, `/v1/long-term-memory`, `/v1/memory/prompt`, `/v1/health`.

    Include it in the application of `rest_app`, whose error handlers answer with problems (`detail` is what the client
    shows). It is left out of the OpenAPI: its contract is that of the client.
    """
    router = APIRouter(prefix="/v1", include_in_schema=False, route_class=Once)
    namespaces, turns = Namespaces(), Turns()
    _working(router, memhold, turns, now)
    _putting(router, memhold, namespaces, turns, now)
    _long_term(router, memhold, namespaces, now)
    _others(router, memhold, turns, now)
    return router


def _working(router: APIRouter, memhold: AsyncStore, turns: Turns, now: Now) -> None:
    @router.get("/working-memory/")
    async def sessions(
        request: Request,
        limit: Annotated[int, Query(ge=1, le=1000)] = 20,
        offset: Annotated[int, Query(ge=0)] = 0,
        namespace: str | None = None,
        user_id: UserId = None,
    ) -> Response:
        principal = caller(request, "read")

        def within(session: str | None) -> AsyncScope:
            return scope_of(memhold, principal, Whose(user=user_id, namespace=namespace, session=session))

        names = await live_sessions(within(None), within, turns=turns, now=now())
        return await json_response({"sessions": names[offset : offset + limit], "total": len(names)})

    @router.get("/working-memory/{session_id:path}")
    async def read(
        request: Request,
        session_id: str,
        namespace: str | None = None,
        user_id: UserId = None,
        context_window_max: ModelWindow = None,
    ) -> Response:
        whose = Whose(user=user_id, namespace=namespace, session=session_id)
        scope = scope_of(memhold, caller(request, "read"), whose)
        return await json_response(await session_out(scope, Window(context_window_max), turns=turns, now=now()))


def _putting(router: APIRouter, memhold: AsyncStore, namespaces: Namespaces, turns: Turns, now: Now) -> None:
    @router.put("/working-memory/{session_id:path}")
    async def write(
        request: Request,
        session_id: str,
        body: WorkingBody,
        user_id: UserId = None,
        context_window_max: ModelWindow = None,
    ) -> Response:
        if body.long_term_memory_strategy.get("strategy", "discrete") != "discrete":
            raise not_mapped("how memories are extracted is a setting of the server; leave out the strategy")
        principal = caller(request, "write")
        if user_id is not None and body.user_id is not None and user_id != body.user_id:
            raise InvalidInput("user_id differs in the query and the body; name one")
        whose = Whose(user=user_id or body.user_id, namespace=body.namespace, session=session_id)
        scope = scope_of(memhold, principal, whose)
        # What is there is read, and what is new added: puts of one session that overlap take turns.
        async with turns.of(scope.scope):
            await namespaces.note(memhold, principal, scope.scope)
            new = await put_session(scope, body, now=now())
        answer = await session_out(scope, Window(context_window_max), turns=turns, now=now())
        return await json_response(answer | {"new_session": new})

    @router.delete("/working-memory/{session_id:path}")
    async def delete(
        request: Request, session_id: str, namespace: str | None = None, user_id: UserId = None
    ) -> Response:
        """The session with its messages and what was derived from them; long-term memories stay, as there."""
        whose = Whose(user=user_id, namespace=namespace, session=session_id)
        scope = scope_of(memhold, caller(request, "write"), whose)
        async with turns.of(scope.scope):
            await delete_session(scope)
        return await json_response({"status": "ok"})


def _long_term(router: APIRouter, memhold: AsyncStore, namespaces: Namespaces, now: Now) -> None:
    @router.post("/long-term-memory/")
    async def create(request: Request, body: RecordsBody) -> Response:
        """Each record is stored by itself, under its id: the same request again writes nothing twice."""
        principal = caller(request, "write")
        check_records(body.memories)
        placed = [
            (scope_of(memhold, principal, Whose(one.user_id, one.namespace, one.session_id)), one)
            for one in body.memories
        ]
        for scope, record in placed:
            await namespaces.note(memhold, principal, scope.scope)
            await store_record(scope, record, now=now())
        return await json_response({"status": "ok"})

    @router.post("/long-term-memory/search")
    async def ask(request: Request, body: SearchBody) -> Response:
        return await json_response(await search(memhold, caller(request, "read"), body))

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
        return await json_response(done)

    @router.delete("/long-term-memory")
    async def delete(request: Request, memory_ids: Annotated[list[str] | None, Query()] = None) -> Response:
        """Those that are there; what is not is passed over, and not counted."""
        principal = caller(request, "write")
        gone = []
        for memory_id in dict.fromkeys(memory_ids or ()):
            try:
                gone.append(await found(memhold, principal, memory_id, namespaces))
            except NotFound:
                continue
        for scope, memory in gone:
            await scope.forget(memory.id, wait=0.0)
        return await json_response({"status": f"ok, deleted {len(gone)} memories"})

    @router.get("/long-term-memory/{memory_id:path}")
    async def read(request: Request, memory_id: str) -> Response:
        principal = caller(request, "read")
        scope, memory = await found(memhold, principal, memory_id, namespaces)
        return await json_response(record_out(memory, scope.scope, principal))

    @router.patch("/long-term-memory/{memory_id:path}")
    async def change(request: Request, memory_id: str, updates: Annotated[dict[str, Any], Body()]) -> Response:
        principal = caller(request, "write")
        scope, memory = await found(memhold, principal, memory_id, namespaces)
        changed = await change_record(scope, memory, updates)
        return await json_response(record_out(changed, scope.scope, principal))


def _others(router: APIRouter, memhold: AsyncStore, turns: Turns, now: Now) -> None:
    @router.get("/health")
    async def health(request: Request) -> Response:
        caller(request, "read")
        return await json_response({"now": now().timestamp()})

    @router.post("/memory/prompt")
    async def prompt(request: Request, body: PromptBody) -> Response:
        """The session's window within a budget, valid for a model, and what is known."""
        principal = caller(request, "read")
        scope = scope_of(memhold, principal, _whose(body))

        async def sought(asked: SearchBody) -> dict[str, Any]:
            return await search(memhold, principal, asked, scope=scope)

        return await json_response({"messages": await _prompt(scope, body, sought, turns=turns, now=now())})

    @router.api_route("/summary-views{rest:path}", methods=["GET", "POST", "DELETE"])
    @router.api_route("/tasks{rest:path}", methods=["GET"])
    async def views(request: Request, rest: str) -> Response:
        del rest
        caller(request, "read")
        raise not_mapped("summary views have no counterpart; summaries are made of every session, by the server")


async def _prompt(
    scope: AsyncScope,
    body: PromptBody,
    sought: Callable[[SearchBody], Awaitable[dict[str, Any]]],
    *,
    turns: Turns,
    now: datetime,
) -> list[dict[str, Any]]:
    """The messages of a prompt: what `context` chooses; with filters the window, and what a search with them finds."""
    wanted, session = body.long_term_search, body.session
    filters = wanted is not None and bool(wanted.filters())
    told = await session_out(scope, Window(), turns=turns, now=now) if session.session_id else {}
    question = {"role": "user", "content": body.query}
    budget = session.context_window_max or _BUDGET
    sent: Sequence[Mapping[str, Any]]
    if filters:
        window = [{"role": one["role"], "content": one["content"]} for one in told.get("messages", ())]
        sent = _newest([*window, question], budget, await asyncio.to_thread(count_of, session.model_name))
    else:
        sent = (await scope.context([question], budget=budget, model=session.model_name)).openai()
    before = []
    if told.get("context"):
        before.append(("system", f"What the conversation was before:\n{told['context']}"))
    if wanted is not None and filters:
        hits = (await sought(wanted.model_copy(update={"text": wanted.text or body.query})))["memories"]
        if hits:
            before.append(("user", await scope.fence([], [f"{_KNOWN}:", *(f"- {hit['text']}" for hit in hits)])))
    every = [*before, *((one["role"], text_of(one)) for one in sent)]
    return [{"role": role, "content": {"type": "text", "text": text}} for role, text in every]


def _newest(messages: Sequence[Mapping[str, Any]], budget: int, count: Count) -> list[Mapping[str, Any]]:
    """As many of the last messages as a budget of tokens holds; the last one always."""
    kept = [messages[-1]]
    left = budget - estimate_message(messages[-1], count)
    for one in reversed(messages[:-1]):
        left -= estimate_message(one, count)
        if left < 0:
            break
        kept.append(one)
    return kept[::-1]


def _whose(body: PromptBody) -> Whose:
    """Whose prompt it is: the session's, else the search's.

    Raises:
        InvalidInput: the two differ.
    """
    session, wanted = body.session, body.long_term_search or SearchBody()
    for name in ("user_id", "namespace"):
        named, filtered = getattr(session, name), equal_to(getattr(wanted, name), name)
        if named is not None and filtered is not None and named != filtered:
            raise not_mapped(f"a prompt of two scopes: {name} of the session and of the search differ")
    return Whose(
        user=session.user_id if session.user_id is not None else equal_to(wanted.user_id, "user_id"),
        namespace=session.namespace if session.namespace is not None else equal_to(wanted.namespace, "namespace"),
        session=session.session_id,
    )
