"""What a server bears: models that hang, clients that are slow, silent or half gone, and many of them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from memhold.server import serving
from memhold.server.listening import bound
from memhold.server.settings import ServeSettings
from memhold.testing import ChaosServer, HashEmbedding
from tests.rest.serving import Live, live


class Hanging(HashEmbedding):
    """An embedder that never answers."""

    async def embed(self, texts: Any, *, purpose: Any) -> Any:
        await asyncio.Event().wait()
        return await super().embed(texts, purpose=purpose)


async def test_an_answer_does_not_wait_until_the_client_has_acknowledged_its_beginning() -> None:
    """Asyncio switches Nagle's algorithm off for sockets that are named as TCP alone; else each answer waits 40 ms."""
    taken: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def take(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    listening = bound(ServeSettings(port=0))
    async with await asyncio.start_server(take, sock=listening):
        _, writer = await asyncio.open_connection(*listening.getsockname())
        assert await taken != 0
        writer.close()


async def test_with_every_model_hanging_a_save_is_answered(tmp_path: Path) -> None:
    """The embedder answers nobody, ever: whatever waited for it would not end."""
    place = str(tmp_path / "hanging.db")
    async with live(place, embedding=Hanging(8), worker=True, recall_timeout=0.2) as server:
        alice = (await server.opened(user="alice")).scope(user="alice", session="s")
        async with asyncio.timeout(60):
            for n in range(30):
                await alice.add([{"role": "user", "content": f"line {n}"}])
            found = await alice.recall("line")
        assert (found.total, found.degraded) == (30, ("meaning",))
        async with server.client() as http:
            assert (await http.get("/readyz")).status_code == 200


def connect(server: Live) -> socket.socket:
    host, port = server.url.removeprefix("http://").split(":")
    made = socket.create_connection((host, int(port)))
    made.setblocking(False)
    return made


async def closed(one: socket.socket) -> bool:
    """Wait until the other side has let go of it."""
    loop = asyncio.get_running_loop()
    try:
        return await asyncio.wait_for(loop.sock_recv(one, 65536), 60) == b""
    except ConnectionError:
        return True


async def answers(server: Live) -> None:
    alice = (await server.opened(user="alice")).scope(user="alice")
    async with asyncio.timeout(60):
        assert (await alice.remember("still there")).memory is not None


async def test_connections_that_say_nothing_are_let_go_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "HEADER_SECONDS", 1.0)
    async with live() as server:
        silent, half, between = (connect(server) for _ in range(3))
        half.send(b"POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: ")
        between.send(b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        await asyncio.get_running_loop().sock_recv(between, 65536)
        between.send(b"GET /hea")
        await answers(server)
        assert all(await asyncio.gather(*map(closed, (silent, half, between))))
        for one in (silent, half, between):
            one.close()


async def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "Door", partial(serving.Door, timeout=0.3))
    async with live() as server:
        token = await server.token(user="alice")
        slow = connect(server)
        head = f"POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n"
        slow.send(head.encode() + b"content-length: 1000\r\n\r\n{")
        said = await asyncio.wait_for(asyncio.get_running_loop().sock_recv(slow, 65536), 60)
        assert said.startswith(b"HTTP/1.1 408"), said
        slow.close()
        await answers(server)
        assert (await server.memhold.scope(user="alice").status()).messages == 0


async def test_a_refusal_before_the_body_has_come_says_that_the_connection_ends() -> None:
    """Else a client that keeps connections sends its next request into one that is closed."""
    async with live() as server, asyncio.timeout(30):
        token = await server.token(user="alice")
        port = int(server.url.rsplit(":", 1)[1])
        for line in ("POST /v1/nowhere", "PUT /v1/recall", "POST /v1/messages?foo=1", "POST /v1/import?foo=1"):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            head = (
                f"{line} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\ncontent-length: 60000\r\n\r\n"
            )
            writer.write(head.encode())
            said = await reader.readuntil(b"\r\n\r\n")
            writer.write(b"x" * 60_000)
            await writer.drain()
            await reader.read()  # to its end, and no reset
            assert said.startswith(b"HTTP/1.1 4"), said
            assert b"connection: close" in said, line
            writer.close()
        async with server.client(token) as http:
            kept = await http.post("/v1/recall", json={"query": "x"})
            assert "connection" not in kept.headers


async def test_readers_that_do_not_read_and_clients_that_vanish(server: Live) -> None:
    alice = (await server.opened(user="alice")).scope(user="alice", session="s")
    await alice.add([{"role": "user", "content": "x" * 1_000_000} for _ in range(8)])
    token = await server.token(user="alice")
    ask = f"GET /v1/messages?session=s HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\n\r\n".encode()
    deaf = [connect(server) for _ in range(5)]
    for one in deaf:
        one.send(ask)
    await answers(server)
    for one in deaf:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        one.close()
    gone = connect(server)
    gone.send(ask.replace(b"GET /v1/messages", b"POST /v1/forget"))
    gone.close()
    await answers(server)


async def test_many_idle_connections_take_nobody_elses_place(server: Live) -> None:
    idle = [connect(server) for _ in range(500)]
    await answers(server)
    for one in idle:
        one.close()


async def test_no_log_line_holds_what_was_said(server: Live, caplog: Any) -> None:
    import logging

    caplog.set_level(logging.DEBUG)
    alice = (await server.opened(user="alice-canary")).scope(user="alice-canary", session="s-canary")
    told = await alice.remember("note-canary", metadata={"k": "canary"}, idempotency_key="key-canary")
    await alice.recall("question-canary")
    await alice.messages()
    async with server.client(await server.token(user="alice-canary")) as http:
        await http.post("/v1/memories", json={"text": "canary", "nonsense-canary": 1})
        await http.get("/v1/memories/mem_canary", params={"q": "canary"})
        await http.get("/v1/canary")
        await http.post("/v1/messages", content=b'{"messages": "canary')
    ours = [record for record in caplog.records if record.name.startswith(("memhold", "uvicorn"))]
    lines = [json.dumps({key: str(value) for key, value in vars(record).items()}) for record in ours]
    assert len([record for record in ours if record.name == "memhold.requests"]) >= 8
    assert not [line for line in lines if "canary" in line]
    assert told.memory.id not in "".join(lines)


async def test_the_chaos_servers_record_shows_no_call_for_a_save(tmp_path: Path) -> None:
    async with ChaosServer() as chaos:
        assert chaos.requests == []
        async with live(str(tmp_path / "m.db")) as server:
            alice = (await server.opened(user="alice")).scope(user="alice")
            await alice.add({"role": "user", "content": "hello", "embed": False})
        assert chaos.requests == []


async def test_a_head_without_end_is_not_kept() -> None:
    """Before anybody has shown a token: one endless field, and endless fields."""
    async with live() as server, asyncio.timeout(30):
        port = int(server.url.rsplit(":", 1)[1])
        for piece in (b"a" * 8192, b"".join(b"X-%d: y\r\n" % n for n in range(800))):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /v1/status HTTP/1.1\r\nX: ")
            sent = 0
            with contextlib.suppress(ConnectionError):
                while not reader.at_eof() and sent < 64 * 1024 * 1024:
                    writer.write(piece)
                    await writer.drain()
                    sent += len(piece)
                    await asyncio.sleep(0)
            assert sent < 16 * 1024 * 1024
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
        async with server.client(await server.token(user="alice")) as http:
            assert (await http.get("/v1/status", headers={"x-long": "a" * 16_000})).status_code == 200
