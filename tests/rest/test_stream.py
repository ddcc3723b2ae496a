"""Changes as server-sent events: in order, each once, across lost connections and a server that stops."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import partial
from typing import Any

import httpx2
import pytest

from memhold.server import serving
from tests.rest.serving import Live, live


async def events(http: httpx2.AsyncClient, count: int, **headers: str) -> list[tuple[int, Any]]:
    """The next events of a stream, then the connection is dropped."""
    found: list[tuple[int, Any]] = []
    async with http.stream("GET", "/v1/changes/stream", params={"after": 0}, headers=headers) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        number = 0
        async for line in answer.aiter_lines():
            if line.startswith("id: "):
                number = int(line[4:])
            elif line.startswith("data: "):
                found.append((number, json.loads(line[6:])))
            if len(found) == count:
                break
    return found


async def test_a_stream_goes_on_where_it_broke_off() -> None:
    async with live() as server:
        server.made.streams.poll_seconds = 0.02
        alice = (await server.opened(user="alice")).scope(user="alice")
        bob = (await server.opened(user="bob")).scope(user="bob")
        async with server.client(await server.token(user="alice")) as http, asyncio.timeout(30):
            wanted = [(await alice.remember(f"note {n}")).receipt.change_ids[0] for n in range(3)]
            await bob.remember("a secret of bob")
            first = await events(http, 2)
            wanted += (await alice.add({"role": "user", "content": "hello\r\n\r\ndata: forged"})).change_ids
            wanted.append((await alice.forget(everything=True)).change_id)
            rest = await events(http, 3, **{"last-event-id": str(first[-1][0])})
            assert [change["id"] for _, change in first + rest] == wanted
            numbers = [number for number, _ in first + rest]
            assert numbers == sorted(set(numbers))
            waiting = asyncio.create_task(events(http, 1, **{"last-event-id": str(numbers[-1])}))
            for _ in range(5):
                await server.made.streams.pause()  # it looked several times and found nothing
            later = await alice.remember("told while somebody waits")
            assert [change["id"] for _, change in await waiting] == list(later.receipt.change_ids)


async def test_a_stream_begins_with_what_comes_now_unless_it_is_told(server: Live) -> None:
    server.made.streams.poll_seconds = 0.02
    alice = (await server.opened(user="alice")).scope(user="alice")
    await alice.remember("before")
    async with server.client(await server.token(user="alice")) as http, asyncio.timeout(30):
        async with http.stream("GET", "/v1/changes/stream") as answer:
            lines = answer.aiter_lines()
            assert (await anext(lines)).startswith("retry: ")
            begun = await anext(lines)
            told = await alice.remember("after")
            found = [line async for line in _until_data(lines)]
            assert json.loads(found[-1][6:])["id"] == told.receipt.change_ids[0]
        # A stream that broke before its first event goes on from where it began.
        [again] = await events(http, 1, **{"last-event-id": begun.removeprefix("id: ")})
        assert again[1]["id"] == told.receipt.change_ids[0]
        for wrong in ("x", "-1", "1" * 20):
            assert (await http.get("/v1/changes/stream", headers={"last-event-id": wrong})).status_code == 422


async def _until_data(lines: Any) -> Any:
    async for line in lines:
        yield line
        if line.startswith("data: "):
            return


async def test_a_silent_stream_says_that_it_is_there(server: Live) -> None:
    server.made.streams.poll_seconds, server.made.streams.beat_seconds = 0.01, 0.02
    token = await server.token(user="alice")
    async with asyncio.timeout(30), server.client(token) as http, http.stream("GET", "/v1/changes/stream") as answer:
        async for line in answer.aiter_lines():
            if line.startswith(":"):
                return
    raise AssertionError("the stream ended")


async def test_streams_are_counted_and_end_with_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "Streams", partial(serving.Streams, most=2))
    async with live() as server, server.client(await server.token(user="alice")) as http:
        server.made.streams.poll_seconds = 10
        async with asyncio.timeout(30):
            async with (
                http.stream("GET", "/v1/changes/stream") as one,
                http.stream("GET", "/v1/changes/stream") as two,
            ):
                lines = [answer.aiter_lines() for answer in (one, two)]
                assert [await anext(each) for each in lines] == ["retry: 2000"] * 2
                refused = await http.get("/v1/changes/stream")
                assert (refused.status_code, refused.headers["retry-after"]) == (429, "10")
                assert server.made.streams.open == 2
                server.made.streams.end()
                assert [[line async for line in each] for each in lines] == [["id: 0", ""], ["id: 0", ""]]
            while server.made.streams.open:  # noqa: ASYNC110 - the server's own count
                await asyncio.sleep(0)


async def test_a_stream_ends_with_its_token(server: Live) -> None:
    """Revoked or run out: nothing that happens afterwards is told."""
    server.made.streams.poll_seconds = 0.02
    tokens = server.memhold.admin.tokens
    revoked = await tokens.create(user="alice")
    short = await tokens.create(user="alice", expires_in=timedelta(hours=1))
    alice = server.memhold.scope(user="alice")
    for made in (revoked, short):
        async with (
            asyncio.timeout(60),
            server.client(made.secret) as http,
            http.stream("GET", "/v1/changes/stream") as answer,
        ):
            lines = answer.aiter_lines()
            assert (await anext(lines)).startswith("retry")
            if made is revoked:
                await tokens.revoke(made.token.id)
            else:
                server.clock.advance(3601)
            await alice.remember(f"told after {made.token.id}")
            assert "data:" not in "".join([line async for line in lines])


async def test_nobody_takes_the_streams_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a hundred streams one token has ten; nine hundred of a server's thousand were one's."""
    monkeypatch.setattr(serving, "Streams", partial(serving.Streams, most=30))
    async with live() as server, AsyncExitStack() as stack, asyncio.timeout(60):
        alice, bob = [
            await stack.enter_async_context(server.client(await server.token(user=name))) for name in ("alice", "bob")
        ]
        opened = [await stack.enter_async_context(alice.stream("GET", "/v1/changes/stream")) for _ in range(10)]
        assert [one.status_code for one in opened] == [200] * 10
        refused = await alice.get("/v1/changes/stream")
        assert (refused.status_code, "of this token" in refused.json()["detail"]) == (429, True)
        async with bob.stream("GET", "/v1/changes/stream") as other:
            assert other.status_code == 200
        server.made.streams.end(stopping=False)
        while server.made.streams.open:  # noqa: ASYNC110 - the server's own count
            await asyncio.sleep(0.01)
        assert not server.made.streams.of_each
