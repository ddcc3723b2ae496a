"""Routes that answer: recall, summaries, context, status, and who asks."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Body, Query, Request, Response
from pydantic import BaseModel

from memhold._version import __version__
from memhold.context.answer import Context
from memhold.faces.rest.bodies import ContextBody, RecallBody
from memhold.faces.rest.frame import Routes, SessionName, example, json_response, moment, scope_for
from memhold.facts.remember import labels
from memhold.upkeep.periods import Level
from memhold.values.answers import Query as Question
from memhold.values.answers import Recall, Status
from memhold.values.principal import principal_of
from memhold.verbs.store import AsyncStore

__all__ = ["read_routes"]

_TIMES = ("since", "until", "as_of", "known_at")
_LISTS = ("kinds", "states", "tiers", "roles", "signals")
_RECALL = example(
    a_question={"text": "what does she eat"},
    only_facts_as_of_then={"text": "city", "kinds": ["fact"], "as_of": "2025-01-01T00:00:00Z"},
)
_CONTEXT = example(
    a_turn={"messages": [{"role": "user", "content": "Book me a seat to Porto."}], "budget": 8000},
)


class WhoAsks(BaseModel):
    """Whose memory the caller's token is bound to, and what it may do there."""

    namespace: str
    user: str | None
    agent: str | None
    rights: list[str]
    memhold: str


def read_routes(routes: Routes, memhold: AsyncStore) -> None:
    """The routes `/v1/recall`, `/v1/summaries`, `/v1/context`, `/v1/status` and `/v1/scope`."""
    _recall(routes, memhold)
    _context(routes, memhold)
    _about(routes, memhold)


def _recall(routes: Routes, memhold: AsyncStore) -> None:
    @routes.post("/recall", answer=Recall, summary="Find messages and current memories")
    async def recall(
        request: Request,
        body: Annotated[RecallBody, Body(openapi_examples=_RECALL)],
        session: SessionName = None,
    ) -> Response:
        """Find messages and current memories; an empty text lists the newest.

        It looks across all sessions unless the body's `session` narrows it; the query's only says who asks. `degraded`
        names what could not be asked. For the next page send the same body with the answer's `cursor`.
        """
        scope = scope_for(memhold, request, "read", session)
        given: dict[str, Any] = body.model_dump()
        given |= {name: moment(given[name]) for name in _TIMES}
        given |= {name: tuple(given[name]) for name in _LISTS if given[name] is not None}
        given |= {name: labels(name, given[name]) for name in ("topics", "entities")}
        return json_response(await scope.recall(Question(**given)))

    @routes.get("/summaries", answer=Recall, summary="The history, window by window")
    async def summaries(
        request: Request,
        query: str | None = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 10,
        offset: Annotated[int, Query(ge=0, le=2**53)] = 0,
        since: str | None = None,
        until: str | None = None,
        session: str | None = None,
        level: Level | None = None,
        cursor: str | None = None,
        *,
        raw: bool = False,
    ) -> Response:
        """A summary for each consolidated window, by words, or the newest first without a query.

        With a `level`, the roll-ups of it: `sources` are what each was made of. The answer's `cursor`, sent with the
        same query and filters, gives the next page.
        """
        found = await scope_for(memhold, request, "read").summaries(
            query,
            limit=limit,
            offset=offset,
            since=moment(since),
            until=moment(until),
            session=session,
            raw=raw,
            level=level,
            cursor=cursor,
        )
        return json_response(found)


def _context(routes: Routes, memhold: AsyncStore) -> None:
    @routes.post("/context", answer=Context, summary="The messages to send, within a budget")
    async def context(
        request: Request,
        body: Annotated[ContextBody, Body(openapi_examples=_CONTEXT)],
        session: SessionName = None,
    ) -> Response:
        """The session's window and memory within a budget of tokens, valid for the provider. Stores nothing."""
        scope = scope_for(memhold, request, "read", session)
        return json_response(await scope.context(**body.model_dump()))


def _about(routes: Routes, memhold: AsyncStore) -> None:
    @routes.get("/status", answer=Status, summary="What is here and what is due")
    async def status(request: Request) -> Response:
        """Counts of the scope's messages and memories, and its due work."""
        return json_response(await scope_for(memhold, request, "read").status())

    @routes.get("/scope", answer=WhoAsks, summary="Whose memory this token is bound to")
    async def who(request: Request) -> Response:
        """Namespace, user, agent and rights of the caller."""
        principal = principal_of(request.scope)
        own = principal.scope
        answer = {"namespace": own.namespace, "user": own.user, "agent": own.agent}
        return json_response({**answer, "rights": sorted(principal.rights), "memhold": __version__})
