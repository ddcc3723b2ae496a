"""Cookies at the pages: what stands for a token, and what others of the same machine can do to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memhold.server import browsers
from memhold.server.serving import serving
from memhold.server.settings import ServeSettings
from memhold.values.records import Scope
from tests.rest.serving import FAST
from tests.ui.person import Served, person


async def test_a_request_that_still_runs_is_not_told_the_cookie_of_who_comes_in_after_it(server: Served) -> None:
    token = await server.token(user="alice")
    async with person(server) as thief, person(server) as alice:
        # A cookie that the thief knows, planted in Alice's browser: another port of the host can.
        await thief.post("/ui/sign-in", part=False, token="mh_nothing")
        alice.client.cookies.update(dict(thief.client.cookies))
        began, came_in = asyncio.Event(), asyncio.Event()

        async def slow() -> AsyncIterator[bytes]:
            began.set()
            await came_in.wait()
            yield b"token="

        kind = {"content-type": "application/x-www-form-urlencoded", "origin": "http://127.0.0.1"}
        held = asyncio.create_task(thief.client.post("/ui/sign-in", content=slow(), headers=kind))
        await began.wait()
        assert (await alice.come_in(token)).status_code == 200
        came_in.set()
        assert "set-cookie" not in (await held).headers
        assert (await thief.get("/ui")).status_code == 303
        assert (await alice.get("/ui")).status_code == 200


@pytest.mark.parametrize("beside", ['settings={"a": 1}', "a@b=1", "list[0]=2"])
async def test_cookies_of_others_on_the_same_host_keep_nobody_out(server: Served, beside: str) -> None:
    async with person(server, await server.token(user="alice")) as alice:
        (own,) = [f"{name}={value}" for name, value in dict(alice.client.cookies).items()]
        alice.client.cookies.clear()
        assert (await alice.get("/ui", cookie=f"{beside}; {own}")).status_code == 200


async def test_one_token_puts_nobody_else_out(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browsers, "_MOST", 4)
    greedy = {"authorization": f"Bearer {await server.token(user='bob')}"}
    async with person(server, await server.token(user="alice")) as alice, person(server) as bob:
        for _ in range(8):
            assert (await bob.get("/ui", **greedy)).status_code == 200
            bob.client.cookies.clear()
        assert (await alice.get("/ui")).status_code == 200


@pytest.mark.parametrize(
    ("settings", "secure"),
    [({}, False), ({"behind_proxy": True}, True), ({"public_url": "https://memory.example"}, True)],
)
async def test_a_cookie_is_for_tls_alone_where_people_come_by_tls(
    server: Served, settings: dict[str, Any], *, secure: bool
) -> None:
    made = await serving(
        server.memhold, ServeSettings(**FAST, **settings), local=Scope(user="local"), folder=Path("/nonexistent")
    )
    async with person(replace(server, app=made.app)) as someone:
        answer = await someone.post("/ui/sign-in", part=False, token="mh_nothing")
        assert ("; Secure" in answer.headers["set-cookie"]) is secure


async def test_what_nobody_foresaw_is_told_as_a_page_that_tells_nothing(
    server: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: Any) -> Any:
        raise RuntimeError("a canary of somebody")

    monkeypatch.setattr("memhold.faces.ui.session_pages.turns", fails)
    async with person(server, await server.token(user="alice")) as alice:
        for part in (True, False):
            answer = await alice.post("/ui/sessions/turns", part=part)
            assert (answer.status_code, answer.headers["content-type"]) == (500, "text/html; charset=utf-8")
            assert "nobody foresaw" in answer.text
            assert "canary" not in answer.text + caplog.text


@pytest.mark.parametrize("at", ["0001-01-01T00:00+23:59", "9999-12-31T23:59-23:59"])
async def test_a_time_of_no_year_is_refused(server: Served, at: str) -> None:
    told = (await server.memhold.scope(user="alice").remember(attribute="home", value="Oslo")).memory
    assert told is not None
    async with person(server, await server.token(user="alice")) as alice:
        assert (await alice.get(f"/ui/memories/{told.id}")).status_code == 200
        assert (await alice.post(f"/ui/memories/{told.id}/at", at=at)).status_code == 422
