"""Browsers at the pages: a cookie in the place of a token, in front of the guard that judges it.

A browser sends no `Authorization` when a person follows a link. So whoever came in gets a cookie, which stands here for
the token; its requests get the token back before the guard sees them, and the guard judges them as any
other: a token that was revoked ends at the next click. What the guard refuses is told as a page.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from time import monotonic
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import RedirectResponse

from memhold.faces.problems import MEDIA_TYPE, Problem
from memhold.faces.ui.browser import BROWSER, HOME, OPEN_UI_PATHS, SIGN_IN, Browser
from memhold.faces.ui.pages import refused_page
from memhold.faces.ui.refusals import in_words
from memhold.faces.ui.rendering import HEADERS, html
from memhold.server.browser_shelf import BrowserShelf, InMemory, KeptBrowser
from memhold.values.principal import ON_BEHALF, PRINCIPAL, Principal

__all__ = ["Browsers"]

log = logging.getLogger("memhold.ui")

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

_MOST: Final = 1000


class Browsers:
    """ASGI middleware in front of the guard, for `/ui` alone; every other path passes as it is.

    What stands for a cookie is kept on a shelf, which ends with the server: one that was started anew asks again. It
    remembers at most 1,000 browsers, lets go first of those whose token never counted, then of the token that has most,
    and of each that was quiet for 12 hours.
    """

    def __init__(self, app: App, *, secure: bool, shelf: BrowserShelf | None = None) -> None:
        self._app = app
        self._secure = secure
        self._shelf: BrowserShelf = InMemory(monotonic) if shelf is None else shelf

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve one connection."""
        scope.pop(BROWSER, None)
        if scope["type"] != "http" or not (scope["path"] == HOME or scope["path"].startswith(f"{HOME}/")):
            await self._app(scope, receive, send)
            return
        name = f"memhold_ui_{(scope.get('server') or ('', 0))[1]}"
        cookie = _cookie(scope, name)
        kept = self._shelf.get(cookie) if cookie else None
        # Whoever comes in is another browser than the one that the cookie stood for: somebody else may hold that
        # cookie, and a request of theirs that still runs must not be told the new one.
        browser = kept.browser if kept is not None and scope["path"] not in OPEN_UI_PATHS else Browser()
        # Leaving with a request, and coming in, are of that request alone.
        browser.renewed = False
        scope[BROWSER] = browser
        _give_back(scope, browser)
        came = browser.user
        await self._app(scope, receive, _Told(self, scope, receive, send, name, cookie, came).send)

    def forget(self, cookie: str | None) -> None:
        """Let go of a browser: its token counts no more."""
        if cookie:
            self._shelf.drop(cookie)

    def cookie_of(
        self, scope: MutableMapping[str, Any], name: str, cookie: str | None, came: str | None = None
    ) -> str | None:
        """The `Set-Cookie` that an answer needs; None where the browser has its cookie, or gets none.

        `came` is for whom the browser looked when its request came.
        """
        browser: Browser = scope[BROWSER]
        principal: Principal | None = scope.get(PRINCIPAL)
        token = None if principal is None else principal.token or "local"
        kept = self._shelf.get(cookie) if cookie else None
        if cookie and kept is not None and kept.browser.key == browser.key and not browser.renewed:
            counts, chose = token is not None and token != kept.token, browser.user != came
            if counts or chose:
                user = browser.user if chose else kept.browser.user
                kept.browser.user, kept.token = user, token or kept.token
                self._shelf.put(cookie, kept)
            return None
        if not browser.renewed and token is None:
            return None
        self.forget(cookie)
        if browser.renewed and browser.secret is None:
            return f"{name}=; Path={HOME}; Max-Age=0; HttpOnly; SameSite=Strict{self._suffix}"
        made = secrets.token_urlsafe(32)
        self._shelf.put(made, KeptBrowser(browser, 0.0, None if browser.renewed else token))
        self._shelf.make_room(_MOST)
        return f"{name}={made}; Path={HOME}; HttpOnly; SameSite=Strict{self._suffix}"

    @property
    def _suffix(self) -> str:
        return "; Secure" if self._secure else ""


class _Told:
    """An answer on its way to a browser: a refusal becomes a page, and the cookie goes along."""

    def __init__(
        self, browsers: Browsers, scope: MutableMapping[str, Any], receive: Receive, send: Send, name: str,
        cookie: str | None, came: str | None,
    ) -> None:  # fmt: skip
        self._browsers = browsers
        self._scope = scope
        self._receive = receive
        self._send = send
        self._name = name
        self._cookie = cookie
        self._came = came
        self._refusal: Message | None = None
        self._body = b""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            kind = dict(message.get("headers", ())).get(b"content-type", b"")
            if kind.startswith(MEDIA_TYPE.encode()):
                self._refusal = message
                return
            await self._send(self._with_cookie(message))
        elif self._refusal is not None:
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._refuse(self._refusal)
        else:
            await self._send(message)

    def _with_cookie(self, message: Message) -> Message:
        made = self._browsers.cookie_of(self._scope, self._name, self._cookie, self._came)
        if made is None:
            return message
        return {**message, "headers": [*message.get("headers", ()), (b"set-cookie", made.encode("latin-1"))]}

    async def _refuse(self, refusal: Message) -> None:
        """Tell a refusal of the guard as a page; who is not let in is asked for a token."""
        request = Request(self._scope, self._receive)
        status = refusal["status"]
        if status == 401:
            self._browsers.forget(self._cookie)
            if request.headers.get("hx-request") == "true":
                answer: Any = refused_page(request, _problem(self._body, status))
                answer.headers["hx-redirect"] = SIGN_IN
            elif self._scope[BROWSER].secret is not None:
                answer = html("sign_in.html", {"refused": "That token does not count, or no more."}, status=401)
            else:
                answer = RedirectResponse(SIGN_IN, 303, headers=dict(HEADERS))
        else:
            answer = refused_page(request, _problem(self._body, status))
        kept = {b"x-request-id", b"retry-after", b"strict-transport-security", b"connection"}
        extra = [(name, value) for name, value in refusal.get("headers", ()) if name.lower() in kept]

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *extra]}
            await self._send(message)

        await answer(self._scope, self._receive, send)


def _problem(body: bytes, status: int) -> Problem:
    said = json.loads(body or b"{}")
    problem = Problem(
        type=said.get("type", "about:blank"), title=said.get("title", "It was refused."), status=status,
        detail=said.get("detail", ""),
    )  # fmt: skip
    return in_words(problem)


def _cookie(scope: MutableMapping[str, Any], name: str) -> str | None:
    """The value of our own cookie, whatever others of the same host stand beside it.

    The library's reader gives up at the first that it does not know, and takes seconds for one full of escapes.
    """
    for key, value in scope["headers"]:
        if key.lower() == b"cookie":
            line: str = value.decode("latin-1")
            for pair in line.split(";"):
                found, _, text = pair.partition("=")
                if found.strip() == name:
                    return text.strip()
    return None


def _give_back(scope: MutableMapping[str, Any], browser: Browser) -> None:
    """Put the token, and for whom it looks, where the guard reads them; a request that brings its own keeps it."""
    there = {key.lower() for key, _ in scope["headers"]}
    if b"authorization" in there or scope["path"] in OPEN_UI_PATHS:
        return
    headers = [*scope["headers"]]
    if browser.secret is not None:
        headers.append((b"authorization", f"Bearer {browser.secret}".encode("latin-1")))
    if browser.user is not None and ON_BEHALF.encode() not in there:
        headers.append((ON_BEHALF.encode(), browser.user.encode()))
    scope["headers"] = headers
