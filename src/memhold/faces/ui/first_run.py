"""An empty memory: how something is put in, and the demo's a press away."""

from __future__ import annotations

from typing import Final

from starlette.responses import RedirectResponse, Response

from memhold.faces.ui.browser import HOME
from memhold.faces.ui.demo_memory import DEMO_USER, put_demo
from memhold.faces.ui.rendering import HEADERS
from memhold.faces.ui.visit import Visit
from memhold.values.errors import ScopeDenied

__all__ = ["demo", "first_page"]

_USERS: Final = 50


async def first_page(visit: Visit) -> Response:
    """What stands in the place of an empty list."""
    users: tuple[str, ...] = ()
    if visit.may("admin") and visit.may("act"):
        users = await visit.memhold.admin.users(namespace=visit.principal.scope.namespace, limit=_USERS)
    return visit.part("first_run.html", here=HOME, users=users, demo_user=DEMO_USER)


async def demo(visit: Visit) -> Response:
    """Put the demo's memory in, for a user of its own, and look at it."""
    if not visit.may("write"):
        raise ScopeDenied("this token may not write; use one that was made with --can write", right="write")
    await put_demo(visit.memhold, visit.principal.scope)
    visit.browser.user = DEMO_USER
    return RedirectResponse(HOME, 303, headers=dict(HEADERS))
