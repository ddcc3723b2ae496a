"""How a person comes in and leaves, and whose memory is looked at."""

from __future__ import annotations

from collections.abc import Callable

from starlette.responses import RedirectResponse, Response

from memhold.faces.ui.browser import HOME, SIGN_IN
from memhold.faces.ui.rendering import HEADERS, html
from memhold.faces.ui.visit import Visit
from memhold.values.errors import MemholdError
from memhold.values.names import checked_name

__all__ = ["choose", "enter", "leave", "sign_in", "sign_in_page", "whose_page"]

_USERS = 200


def _elsewhere(path: str) -> Response:
    return RedirectResponse(path, 303, headers=dict(HEADERS))


async def sign_in_page(visit: Visit) -> Response:
    """Asks for a token."""
    del visit
    return _asked("")


def _asked(refused: str, status: int = 200) -> Response:
    return html("sign_in.html", {"refused": refused}, status=status)


async def sign_in(visit: Visit) -> Response:
    """Takes a token; whether it counts, the guard says at the next request, and counts those that do not."""
    token = visit.said("token").strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token or len(token) > 4096:
        return _asked("That is no token; paste it as it was made.", 422)
    visit.browser.enter(token)
    return _elsewhere(HOME)


async def enter(visit: Visit, redeem: Callable[[str], str | None]) -> Response:
    """The page behind the link that `memhold ui` opens: a word that counts once, in the place of a token."""
    token = redeem(visit.request.query_params.get("once", ""))
    if token is None:
        return _asked(
            "This link counts no more. Where you did not use it, stop 'memhold ui'; run it again, or paste a token.",
            403,
        )
    visit.browser.enter(token)
    return _elsewhere(HOME)


async def leave(visit: Visit) -> Response:
    """Forget the token."""
    visit.browser.leave()
    return _elsewhere(SIGN_IN)


async def whose_page(visit: Visit) -> Response:
    """Whose memory there is, for those who may look at more than one."""
    own = visit.principal.scope
    users: tuple[str, ...] = ()
    if visit.may("admin"):
        users = await visit.memhold.admin.users(namespace=own.namespace, limit=_USERS + 1)
    back = "What is of nobody in particular" if visit.browser.user is not None and not visit.principal.service else None
    return visit.part("whose.html", here="/ui/whose", users=users[:_USERS], more=len(users) > _USERS, own_name=back)


async def choose(visit: Visit) -> Response:
    """Look at somebody's memory from now on, in this browser."""
    if visit.said("own"):
        visit.browser.user = None
        return _elsewhere(HOME)
    try:
        visit.browser.user = checked_name(visit.said("user").strip(), "user")
    except MemholdError:
        visit.browser.user = None
        raise
    return _elsewhere(HOME)
