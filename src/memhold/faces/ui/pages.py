"""The pages as one application: which path needs which right, and how a failure is told to a person.

It expects a `Principal` and a `Browser` in the ASGI scope of each request; whose memory it is comes from there alone.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from memhold.faces.last_resort import LastResort
from memhold.faces.problems import Problem
from memhold.faces.ui import doors, first_run, forget_page, health_page, now_page, session_pages, settle_page
from memhold.faces.ui.browser import ENTER, SIGN_IN
from memhold.faces.ui.recall_page import recall_page, recall_part
from memhold.faces.ui.refusals import STALE_PAGE, problem_told
from memhold.faces.ui.rendering import ASSETS, HEADERS, asset, html
from memhold.faces.ui.subject_page import subject_moment, subject_page
from memhold.faces.ui.timeline_page import moment_part, timeline_page, undo_here
from memhold.faces.ui.visit import Visit, form_of, shown
from memhold.values.errors import InvalidScope, MemholdError
from memhold.values.principal import PRINCIPAL, Right, principal_of
from memhold.verbs.store_protocols import AsyncStore

__all__ = ["refused_page", "ui_app"]

log = logging.getLogger("memhold.ui")

Answer = Callable[[Visit], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class _Path:
    """A path, what it needs, and who answers. One that needs no right is open to anybody, and tells nothing."""

    method: str
    path: str
    right: Right | None
    answer: Answer


_PATHS: Final[Sequence[_Path]] = (
    _Path("GET", "/ui", "read", now_page.now_page),
    _Path("POST", "/ui/now", "read", now_page.now_rows),
    _Path("POST", "/ui/remember", "write", now_page.remember),
    _Path("POST", "/ui/undo", "write", now_page.undo),
    _Path("GET", "/ui/memories/{id}", "read", timeline_page),
    _Path("POST", "/ui/memories/{id}/at", "read", moment_part),
    _Path("POST", "/ui/memories/{id}/undo", "write", undo_here),
    _Path("GET", "/ui/memories/{id}/about", "read", subject_page),
    _Path("POST", "/ui/memories/{id}/about/at", "read", subject_moment),
    _Path("GET", "/ui/memories/{id}/row", "read", now_page.one_row),
    _Path("GET", "/ui/memories/{id}/correct", "write", now_page.correct_form),
    _Path("POST", "/ui/memories/{id}/correct", "write", now_page.correct),
    _Path("GET", "/ui/memories/{id}/forget", "write", now_page.forget_form),
    _Path("POST", "/ui/memories/{id}/forget/preview", "write", now_page.forget_form),
    _Path("POST", "/ui/memories/{id}/forget", "write", now_page.forget_one),
    *(_Path("POST", f"/ui/memories/{{id}}/{mark}", "write", now_page.mark) for mark in now_page.MARKS),
    _Path("GET", "/ui/recall", "read", recall_page),
    _Path("POST", "/ui/recall", "read", recall_part),
    _Path("GET", "/ui/sessions", "read", session_pages.sessions_page),
    _Path("POST", "/ui/sessions/names", "read", session_pages.session_names),
    _Path("POST", "/ui/sessions/turns", "read", session_pages.session_part),
    _Path("POST", "/ui/sessions/context", "read", session_pages.context_part),
    _Path("GET", "/ui/settle", "read", settle_page.settle_page),
    _Path("GET", "/ui/settle/count", "read", settle_page.count_part),
    _Path("POST", "/ui/settle/more", "read", settle_page.more_part),
    _Path("POST", "/ui/settle/said", "write", settle_page.say_so),
    _Path("POST", "/ui/settle/{id}", "write", settle_page.settle),
    _Path("POST", "/ui/settle/memories/{id}", "write", settle_page.decide),
    _Path("POST", "/ui/taken-back", "write", settle_page.take_back),
    _Path("GET", "/ui/forget", "read", forget_page.forget_page),
    _Path("POST", "/ui/forget/plan", "write", forget_page.forget_plan),
    _Path("POST", "/ui/forget/do", "write", forget_page.forget_done),
    _Path("POST", "/ui/forget/proof", "read", forget_page.proof_file),
    _Path("GET", "/ui/health", "read", health_page.health_page),
    _Path("GET", "/ui/health/now", "read", health_page.health_part),
    _Path("GET", "/ui/health/size", "admin", health_page.size_part),
    _Path("POST", "/ui/health/doctor", "admin", health_page.doctor_part),
    _Path("POST", "/ui/demo", "act", first_run.demo),
    _Path("GET", "/ui/whose", "act", doors.whose_page),
    _Path("POST", "/ui/whose", "act", doors.choose),
    _Path("GET", SIGN_IN, None, doors.sign_in_page),
    _Path("POST", SIGN_IN, None, doors.sign_in),
    _Path("POST", "/ui/leave", "read", doors.leave),
)  # fmt: skip


def ui_app(memhold: AsyncStore, *, redeem: Callable[[str], str | None] = lambda _: None) -> Starlette:
    """The application of every page, under `/ui`.

    Args:
        memhold: The store, wherever it is: the pages know its public verbs alone.
        redeem: Gives the token that a word stands for which counts once; None where it does not.
    """

    async def entered(visit: Visit) -> Response:
        return await doors.enter(visit, redeem)

    paths = (*_PATHS, _Path("GET", ENTER, None, entered))
    routes = [Route(one.path, _answered(memhold, one), methods=[one.method]) for one in paths]
    routes.append(Route("/ui/assets/{name}", _asset, methods=["GET"]))
    routes.append(Route("/ui/alive", _alive, methods=["GET"]))
    handlers: Any = {404: _not_here, 405: _not_here}
    return Starlette(routes=routes, exception_handlers=handlers, middleware=[Middleware(LastResort)])


async def _alive(request: Request) -> Response:
    del request
    return Response(status_code=204, headers=dict(HEADERS))


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in ASSETS:
        return Response(status_code=404, headers=dict(HEADERS))
    return Response(asset(name), media_type=ASSETS[name], headers={**HEADERS, "cache-control": "no-cache"})


async def _not_here(request: Request, error: Exception) -> Response:
    del error
    title = "There is no such page."
    return refused_page(request, Problem(type="about:blank", title=title, status=404, detail=""))


def _answered(memhold: AsyncStore, path: _Path) -> Callable[[Request], Awaitable[Response]]:
    async def answered(request: Request) -> Response:
        try:
            form = form_of(request.headers.get("content-type", ""), await request.body())
            visit = Visit(memhold=memhold, request=request, right=path.right or "read", form=form)
            if path.right is not None:
                visit.caller()
                if path.method == "POST" and not visit.own_form:
                    return refused_page(request, STALE_PAGE)
            return await path.answer(visit)
        except InvalidScope as error:
            principal = principal_of(request.scope)
            if principal.service and not principal.named:
                return RedirectResponse("/ui/whose", 303, headers=dict(HEADERS))
            return refused_page(request, problem_told(error))
        except MemholdError as error:
            problem = problem_told(error)
            if problem.status >= 500:
                log.error("%s", type(error).__name__)  # noqa: TRY400 - shape only: a message may hold content
            return refused_page(request, problem)

    # What the log of requests calls it: the template, never what stands in its place.
    async def named(request: Request) -> Response:
        request.scope["route"] = _Named(path.path)
        return await answered(request)

    return named


@dataclass(frozen=True, slots=True)
class _Named:
    path: str


def refused_page(request: Request, problem: Problem) -> Response:
    """A problem, told to a person: in its place on the page where a part was asked for, else as a page of its own."""
    headers = {name: value for name, value in problem.headers.items() if name == "retry-after"}
    values = {"title": problem.title, "detail": problem.detail if problem.detail != problem.title else ""}
    if request.headers.get("hx-request") == "true":
        headers |= {"hx-retarget": "#notice", "hx-reswap": "innerHTML"}
        return html("problem_part.html", values, status=problem.status, headers=headers)
    if PRINCIPAL not in request.scope:
        said = {"refused": f"{problem.title} {values['detail']}".strip()}
        return html("sign_in.html", said, status=problem.status, headers=headers)
    answer = shown(request, "problem.html", values, status=problem.status)
    answer.headers.update(headers)
    return answer
