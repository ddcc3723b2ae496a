"""The REST face: every verb of a scope as a route, with the answers and the errors of the library.

`rest_app` gives the application; it expects a `Principal` in the ASGI scope of each request (see `principal`), and
takes namespace, user, agent and rights from nowhere else.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse
from starlette.routing import BaseRoute, Match

from memhold._version import __version__
from memhold.faces.bodies import Once
from memhold.faces.last_resort import LastResort
from memhold.faces.problems import Problem, problem_of
from memhold.faces.rest.changes import Streams, changes_routes
from memhold.faces.rest.data import Scratch, data_routes
from memhold.faces.rest.docs_pages import DOCS, FIRST, PAGE_HEADERS, docs_page, first_page
from memhold.faces.rest.frame import Routes
from memhold.faces.rest.items import item_routes
from memhold.faces.rest.openapi import openapi_of
from memhold.faces.rest.token_routes import token_routes
from memhold.faces.rest.verb_routes import verb_routes
from memhold.values.errors import InvalidInput, MemholdError
from memhold.verbs.store_protocols import AsyncStore

__all__ = ["RestOptions", "rest_app"]

log = logging.getLogger("memhold.rest")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_ABOUT = """Durable memory for AI agents over HTTP: the verbs of the library, its answers and its errors.

Whose memory a request works on follows from its token; one with the right `act` says for which user it acts, in the
header `X-Memhold-User` or as `user` in the body. `session` is the caller's to choose. Errors are problems
(RFC 9457) whose type names the class that the library raises. A write takes an `Idempotency-Key`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestOptions:
    """What a server decides for its REST face.

    Attributes:
        scratch: where uploads and exports stand while they are read: else in the system's folder, noted nowhere.
        streams: the open streams of changes, which the server ends when it stops.
        now: the time by which tokens end.
    """

    scratch: Scratch = field(default_factory=Scratch)
    streams: Streams = field(default_factory=Streams)
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


def rest_app(memhold: AsyncStore, options: RestOptions | None = None) -> FastAPI:
    """The application with every route under `/v1`, and its OpenAPI at `/openapi.json`.

    It serves on the event loop that opened the store.
    """
    chosen = options or RestOptions()
    app = FastAPI(
        title="Memhold",
        version=__version__,
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        openapi_tags=[{"name": name, "description": line} for name, line in _TAGS.items()],
    )
    app.router.route_class = Once
    routes = Routes(app, "messages")
    verb_routes(routes, memhold)
    item_routes(routes, memhold)
    changes_routes(routes.tagged("changes"), memhold, chosen.streams)
    data_routes(routes.tagged("data"), memhold, chosen.scratch)
    token_routes(routes.tagged("admin"), memhold, chosen.now)
    app.openapi = _once(lambda: openapi_of(routes))  # type: ignore[method-assign]
    _pages(app)
    app.add_exception_handler(MemholdError, _failed)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _not_here)
    app.add_middleware(LastResort)
    return app


def _pages(app: FastAPI) -> None:
    """What a person with a browser finds at the server's address."""
    # Anybody may ask, as often as they like: it is made once.
    made: dict[str, str] = {FIRST: first_page()}

    async def first(_: Request) -> Response:
        return HTMLResponse(made[FIRST], headers=PAGE_HEADERS)

    async def docs(_: Request) -> Response:
        if DOCS not in made:
            made[DOCS] = await asyncio.to_thread(lambda: docs_page(app.openapi()))
        return HTMLResponse(made[DOCS], headers=PAGE_HEADERS)

    for path, page in ((FIRST, first), (DOCS, docs)):
        app.add_api_route(path, page, methods=["GET", "HEAD"], include_in_schema=False, response_model=None)


def _once(make: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    made: list[dict[str, Any]] = []

    def get() -> dict[str, Any]:
        if not made:
            made.append(make())
        return made[0]

    return get


_TAGS = {
    "messages": "The journal: what was said.",
    "memories": "What is told or derived, with its revisions.",
    "documents": "Text and JSON at paths, with every content that stood there.",
    "recall": "Questions, windows to send, and counts.",
    "changes": "The audit trail: read, follow, undo.",
    "data": "Import and export of a scope.",
    "admin": "What looks after the store; needs the right `admin`.",
}


async def _failed(_: Request, error: Exception) -> Response:
    assert isinstance(error, MemholdError)  # noqa: S101 - registered for these
    problem = problem_of(error)
    if problem.status >= 500:
        log.error("%s: %s", type(error).__name__, error)
    return _answer(problem)


async def _not_valid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for these
    found = error.errors()[:10]
    said = "; ".join(f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in found)
    return _answer(problem_of(InvalidInput(f"the request cannot be read: {_printable(said)}; see /openapi.json")))


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "�" for c in text)


async def _not_here(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for these
    if error.status_code == 400:
        problem = problem_of(InvalidInput("the body cannot be read as JSON; send UTF-8 JSON of moderate depth"))
        return _answer(problem)
    title = str(error.detail)
    detail = f"nothing answers here; {DOCS} lists what does" if error.status_code == 404 else title
    headers = dict(error.headers or {})
    if error.status_code == 405:
        # One path may be several routes; together they say what it allows.
        there = [one for one in _every(request.app.routes) if one.matches(request.scope)[0] is not Match.NONE]
        headers["allow"] = ", ".join(sorted({method for route in there for method in getattr(route, "methods", ())}))
        headers.pop("Allow", None)
        detail = f"this path takes {headers['allow']}; {DOCS} tells of each"
    problem = Problem(type="about:blank", title=title, status=error.status_code, detail=detail)
    return _answer(problem, headers)


def _every(routes: Iterable[BaseRoute]) -> Iterator[BaseRoute]:
    """The routes and, in the place of a router that was included, its own: it stands as one route, without methods."""
    for route in routes:
        inner = getattr(route, "original_router", None)
        if inner is None:
            yield route
        else:
            yield from _every(inner.routes)


def _answer(problem: Problem, headers: dict[str, str] | None = None) -> Response:
    return Response(problem.body(), problem.status, headers={**problem.headers, **(headers or {})})
