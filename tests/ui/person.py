"""A person at the pages, without a browser: follows links, keeps the cookie, fills in forms."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx2

from memhold import AsyncMemhold
from memhold.server.serving import serving
from memhold.server.settings import ServeSettings
from memhold.server.ui_serving import OnceOnly, ui_only
from memhold.testing import FakeClock
from memhold.values.principal import RIGHTS, Principal
from memhold.values.records import Scope
from tests.rest.serving import FAST


class Seen(HTMLParser):
    """What a browser makes of a page: its elements with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.elements if name == tag]


class Person:
    """One browser; `page` is the last answer."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client
        self.form = ""

    async def get(self, path: str, **headers: str) -> httpx2.Response:
        return self._kept(await self.client.get(path, headers=headers))

    async def post(self, path: str, *, part: bool = True, form: str | None = None, **fields: Any) -> httpx2.Response:
        given = {"form_token": self.form if form is None else form, **fields}
        headers = {"origin": str(self.client.base_url).rstrip("/")} | ({"hx-request": "true"} if part else {})
        return self._kept(await self.client.post(path, data=given, headers=headers))

    def _kept(self, answer: httpx2.Response) -> httpx2.Response:
        if found := re.search(r'name="form_token" value="([0-9a-f]{64})"', answer.text):
            self.form = found[1]
        return answer

    async def come_in(self, token: str) -> httpx2.Response:
        await self.post("/ui/sign-in", part=False, token=token)
        return await self.get("/ui")


@dataclass(frozen=True)
class Served:
    """A whole server without its port: its application, the store behind it, and the store's clock."""

    app: Any
    memhold: AsyncMemhold
    clock: FakeClock

    async def token(self, rights: Sequence[Any] = ("read", "write"), **names: Any) -> str:
        return (await self.memhold.admin.tokens.create(rights=rights, **names)).secret


@asynccontextmanager
async def served(location: str = "memory://", **opened: Any) -> AsyncIterator[Served]:
    """A server that asks for tokens; for what a real port would add there are others."""
    clock = FakeClock()
    async with AsyncMemhold.open(location, clock=clock, **{"worker": False, **opened}) as memhold:
        await memhold.admin.tokens.create(label="so that the door is shut")
        made = await serving(memhold, ServeSettings(**FAST), local=Scope(user="local"), folder=Path("/nonexistent"))
        yield Served(made.app, memhold, clock)


@asynccontextmanager
async def person(server: Served, token: str | None = None) -> AsyncIterator[Person]:
    """A browser at a server, come in with a token."""
    transport = httpx2.ASGITransport(app=server.app, raise_app_exceptions=True)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        made = Person(client)
        if token is not None:
            assert (await made.come_in(token)).status_code in {200, 303}
        yield made


def hidden(page: str, name: str) -> str:
    """The value of the first field of that name."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found, f"no field {name}"
    return found[1]


def of(server: Served, user: str = "alice", **names: Any) -> Any:
    """The verbs of a user at a server, past its pages."""
    return server.memhold.scope(user=user, **names)


@asynccontextmanager
async def at_home(server: Served, user: str | None = "alice") -> AsyncIterator[Person]:
    """A person at `memhold ui` on the store of a server."""
    once = OnceOnly("secret", clock=lambda: 0.0)
    principal = Principal(scope=Scope(user=user), rights=frozenset(RIGHTS))
    app = ui_only(server.memhold, principal, "secret", once.redeem)
    async with person(Served(app, server.memhold, server.clock)) as made:
        assert (await made.get(f"/ui/enter?once={once.word}")).headers["location"] == "/ui"
        assert (await made.get(f"/ui/enter?once={once.word}")).status_code == 403
        await made.get("/ui")
        yield made
