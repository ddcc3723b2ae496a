"""The client: what it sends again and what it does not, how it fails, and files that cross."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from random import Random
from typing import Any

import httpx2
import pytest

from memhold import AsyncMemhold, Memhold
from memhold.errors import (
    InvalidInput,
    InvalidSetting,
    NotFound,
    RateLimited,
    ScopeDenied,
    ServerUnreachable,
    StoreBusy,
    StoreClosed,
    StoreError,
    Unauthenticated,
    UnreadableImport,
    WrongLoop,
)
from memhold.faces.problems import problem_of
from memhold.faces.remote.remote_store import RemoteAdmin, RemoteStore
from memhold.faces.remote.scope import RemoteScope
from memhold.faces.remote.transport import MAX_RETRIES, Transport
from memhold.values.records import Scope
from memhold.verbs.local_admin import LocalAdmin
from memhold.verbs.local_store import LocalStore
from memhold.verbs.scope import AsyncScope
from tests.rest.serving import Live, live

RECEIPT = {"ids": ["msg_1"], "change_ids": ["chg_1"]}
HELLO = {"role": "user", "content": "hello"}
Step = Callable[[httpx2.Request], httpx2.Response]


class Script:
    """A server that does what it is told, one step a request, and keeps what it was sent."""

    def __init__(self, *steps: Step) -> None:
        self.steps = list(steps)
        self.seen: list[httpx2.Request] = []
        self.paused: list[float] = []

    async def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.seen.append(request)
        return (self.steps.pop(0) if len(self.steps) > 1 else self.steps[0])(request)

    async def pause(self, seconds: float) -> None:
        self.paused.append(seconds)

    def scope(self, timeout: float = 60.0) -> RemoteScope:
        client = httpx2.AsyncClient(transport=httpx2.MockTransport(self))
        made = Transport(
            "http://memory.test", token="t", timeout=timeout, client=client, random=Random(1), sleep=self.pause
        )
        return RemoteScope(made, Scope(user="alice"))


def good(_: httpx2.Request) -> httpx2.Response:
    return httpx2.Response(201, json=RECEIPT)


def fails(error: Exception) -> Step:
    def step(_: httpx2.Request) -> httpx2.Response:
        raise error

    return step


def answers(error: Any) -> Step:
    problem = problem_of(error)
    return lambda _: httpx2.Response(problem.status, content=problem.body(), headers=problem.headers)


LOST = httpx2.ReadError("connection reset by peer")


async def test_a_write_whose_answer_was_lost_is_sent_again_under_its_key() -> None:
    script = Script(fails(LOST), fails(httpx2.RemoteProtocolError("closed")), good)
    assert (await script.scope().add(HELLO)).ids == ("msg_1",)
    keys = {request.headers["idempotency-key"] for request in script.seen}
    assert (len(script.seen), len(keys)) == (3, 1)
    assert len(keys.pop()) >= 32
    assert 0 < script.paused[0] < script.paused[1]
    gone = Script(fails(LOST), lambda _: httpx2.Response(200, json={"change_id": "chg_1"}))
    assert (await gone.scope().forget("mem_1")).change_id == "chg_1"
    assert len({request.headers["idempotency-key"] for request in gone.seen}) == 1
    hidden = Script(fails(LOST), lambda _: httpx2.Response(200, json=[]))
    assert await hidden.scope().retain(most=1, dry_run=False) == ()
    assert len({request.headers["idempotency-key"] for request in hidden.seen}) == 1
    again = Script(fails(LOST), good)
    await again.scope().add(HELLO, idempotency_key="mine")
    assert [request.headers["idempotency-key"] for request in again.seen] == ["mine", "mine"]


async def test_what_has_no_key_is_never_sent_twice() -> None:
    for verb in (
        lambda scope: scope.consolidate(),
        lambda scope: scope.compact(),
    ):
        script = Script(fails(LOST), good)
        with pytest.raises(ServerUnreachable) as caught:
            await verb(script.scope())
        assert (caught.value.sent, caught.value.cause, len(script.seen)) == (True, "ReadError", 1)
        assert "may have been carried out" in str(caught.value)


async def test_what_cannot_have_arrived_is_always_sent_again() -> None:
    script = Script(fails(httpx2.ConnectError("refused")), lambda _: httpx2.Response(200, json={"waiting": 3}))
    assert (await script.scope().consolidate()).waiting == 3
    never = Script(fails(httpx2.ConnectError("refused")))
    with pytest.raises(ServerUnreachable) as caught:
        await never.scope().add(HELLO)
    assert (caught.value.sent, len(never.seen)) == (False, MAX_RETRIES + 1)
    assert "http://memory.test cannot be reached" in str(caught.value)


async def test_a_busy_server_is_asked_again_and_a_no_is_not() -> None:
    script = Script(answers(StoreBusy("busy")), answers(RateLimited("slow", retry_after=0.5)), good)
    await script.scope().add(HELLO)
    assert len(script.seen) == 3
    assert script.paused[1] == 0.5
    for error in (NotFound("no", id="x"), InvalidInput("no"), ScopeDenied("no", right="write"), Unauthenticated("no")):
        refused = Script(answers(error))
        with pytest.raises(type(error)):
            await refused.scope().add(HELLO)
        assert len(refused.seen) == 1


async def test_it_never_waits_past_its_time() -> None:
    script = Script(answers(RateLimited("slow", retry_after=30.0)))
    with pytest.raises(RateLimited) as caught:
        await script.scope(timeout=5.0).add(HELLO)
    assert (caught.value.retry_after, script.paused) == (30.0, [])
    slow = Script(fails(httpx2.ReadTimeout("slow")))
    with pytest.raises(ServerUnreachable) as late:
        await slow.scope().recall("x")
    assert late.value.cause == "ReadTimeout"


async def test_what_stands_in_front_of_a_server_is_told_apart() -> None:
    cases: list[tuple[Step, type[Exception]]] = [
        (lambda _: httpx2.Response(502, html="<html>bad gateway"), ServerUnreachable),
        (lambda _: httpx2.Response(404, html="<html>nginx"), NotFound),
        (lambda _: httpx2.Response(200, html="<html>welcome"), StoreError),
        (lambda _: httpx2.Response(302, headers={"location": "https://elsewhere.test"}), StoreError),
        (lambda _: httpx2.Response(500, text="oops"), StoreError),
    ]
    for step, error in cases:
        script = Script(step)
        with pytest.raises(error):
            await script.scope().status()
        assert all(request.url.host == "memory.test" for request in script.seen)


async def test_nobody_is_there() -> None:
    with pytest.raises(ServerUnreachable) as caught:
        await AsyncMemhold.open("http://127.0.0.1:9", timeout=0.5)
    assert not caught.value.sent


async def test_a_connection_is_lost_in_the_middle() -> None:
    async def dies(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf of it")
        await writer.drain()
        writer.close()

    there = await asyncio.start_server(dies, "127.0.0.1", 0)
    async with there:
        port = there.sockets[0].getsockname()[1]
        with pytest.raises(ServerUnreachable, match="was lost before an answer came"):
            await AsyncMemhold.open(f"http://127.0.0.1:{port}", timeout=60.0)


@pytest.mark.parametrize("status", [404, 413, 429, 500, 503])
async def test_an_error_whose_words_are_lost_on_the_way_is_a_lost_connection(status: int) -> None:
    """What a status stands for is in the body: 404 without one is not "no such route"."""

    async def torn() -> AsyncIterator[bytes]:
        yield b'{"type": "'
        raise LOST

    script = Script(lambda _: httpx2.Response(status, content=torn()), good)
    assert (await script.scope().add(HELLO)).ids == ("msg_1",)
    assert len(script.seen) == 2
    once = Script(lambda _: httpx2.Response(status, content=torn()))
    with pytest.raises(ServerUnreachable, match="may have been carried out") as caught:
        await once.scope().consolidate()
    assert (caught.value.sent, caught.value.cause, len(once.seen)) == (True, "ReadError", 1)


async def test_tokens_that_do_not_count(server: Live) -> None:
    made = await server.memhold.admin.tokens.create(user="alice")
    async with AsyncMemhold.open(server.url, token=made.secret) as mem:
        alice = mem.scope(user="alice")
        await alice.remember("a note")
        await server.memhold.admin.tokens.revoke(made.token.id)
        with pytest.raises(Unauthenticated):
            await alice.recall("note")
    for token in (None, "mh_nonsense", made.secret):
        with pytest.raises(Unauthenticated):
            await AsyncMemhold.open(server.url, token=token)


async def test_rights_are_the_tokens(server: Live) -> None:
    reader = (await server.opened(["read"], user="alice")).scope(user="alice")
    assert (await reader.recall("x")).total == 0
    with pytest.raises(ScopeDenied) as caught:
        await reader.remember("a note")
    assert caught.value.right == "write"
    plain = await server.opened(["read", "write"], user="alice")
    for verb in (plain.settle, plain.admin.usage, plain.admin.doctor, plain.admin.ready, plain.admin.reindex):
        with pytest.raises(ScopeDenied):
            await verb()


async def test_settings_of_a_store_are_the_servers(server: Live) -> None:
    token = await server.token(user="alice")
    for wrong in (
        {"embedding": "none"},
        {"worker": True},
        {"timeout": 0},
        {"timeout": "5"},
        {"token": "a\nb"},
        {"token": 5},
    ):
        with pytest.raises(InvalidSetting):
            await AsyncMemhold.open(server.url, **{"token": token, **wrong})
    with pytest.raises((InvalidInput, ServerUnreachable)):
        await AsyncMemhold.open("http://", token=token)


async def test_it_ends_like_a_store(server: Live) -> None:
    mem = await server.opened(user="alice")
    scope = mem.scope(user="alice")
    await mem.close()
    await mem.close()
    with pytest.raises(StoreClosed):
        await scope.recall("x")
    other = await server.opened(user="alice")

    def elsewhere() -> None:
        with pytest.raises(WrongLoop):
            asyncio.run(other.scope(user="alice").status())

    await asyncio.to_thread(elsewhere)


async def test_the_sync_face_speaks_it_too(server: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMHOLD_TOKEN", await server.token(user="alice"))

    def use() -> Any:
        with Memhold.open(server.url) as mem:
            alice = mem.scope(user="alice")
            told = alice.remember("Prefers window seats")
            assert mem.settle() in {True, False}
            return alice.get(told.memory.id) == told.memory

    assert await asyncio.to_thread(use)


async def test_files_cross_both_ways(server: Live, tmp_path: Path) -> None:
    alice = (await server.opened(user="alice")).scope(user="alice", session="s1")
    await alice.add([HELLO, {"role": "assistant", "content": "hi \u2028 there"}])
    await alice.remember(attribute="city", value="Porto")
    await alice.remember(attribute="city", value="Lisbon")
    whole = (await server.opened(user="alice")).scope(user="alice")
    done = await whole.export(tmp_path / "out.jsonl")
    assert done.counts == {"session": 1, "message": 2, "memory": 2, "change": 3}
    assert done.files == (str(tmp_path / "out.jsonl"),)
    assert (tmp_path / "out.jsonl").stat().st_mode & 0o777 == 0o600
    local = await server.memhold.scope(user="alice").export(tmp_path / "local.jsonl")
    assert await asyncio.to_thread(_lines, *done.files) == await asyncio.to_thread(_lines, *local.files)

    bob = (await server.opened(user="bob")).scope(user="bob")
    steps: list[Any] = []
    report = await bob.import_file(tmp_path / "out.jsonl", progress=steps.append)
    assert (report.read, report.added, report.skipped) == (4, 4, 0)
    assert steps[-1].position == steps[-1].size == (tmp_path / "out.jsonl").stat().st_size
    assert (await bob.import_file(tmp_path / "out.jsonl")).added == 0
    assert [memory.value for memory in (await bob.list(kinds=["fact"])).items] == ["Lisbon"]

    pages = await whole.export(tmp_path / "pages", format="markdown")
    assert sorted(Path(file).name for file in pages.files) == ["HISTORY.md", "MEMORY.md"]
    assert "Lisbon" in (tmp_path / "pages" / "MEMORY.md").read_text()
    ours = await server.memhold.scope(user="alice").export(tmp_path / "our pages", format="markdown")
    assert (pages.counts, pages.left_out, pages.damaged) == (ours.counts, ours.left_out, ())
    assert pages.left_out["messages"] == 2
    for name in ("mem0", "mcp-memory"):
        theirs = await whole.export(tmp_path / f"their {name}", format=name)
        ours = await server.memhold.scope(user="alice").export(tmp_path / f"our {name}", format=name)
        assert (theirs.counts, theirs.left_out) == (ours.counts, ours.left_out)
        assert theirs.left_out["messages"] == 2
        assert (tmp_path / f"their {name}").read_bytes() == (tmp_path / f"our {name}").read_bytes()
    with pytest.raises(InvalidInput):
        await whole.export(tmp_path / "x", format="pdf")


def _lines(file: str) -> list[Any]:
    """The values of an export, without its first line, which says when it was made."""
    return [json.loads(line) for line in Path(file).read_text().split("\n")[1:] if line]


async def test_an_import_that_cannot_be_read_names_the_callers_file(server: Live, tmp_path: Path) -> None:
    alice = (await server.opened(user="alice")).scope(user="alice")
    (tmp_path / "bad.jsonl").write_text('{"role": "user", "content": "one"}\n{broken\n')
    for path in (tmp_path / "bad.jsonl", tmp_path / "missing.jsonl"):
        with pytest.raises(UnreadableImport) as caught:
            await alice.import_file(path)
        assert caught.value.path == str(path)
        assert "memhold-" not in str(caught.value)
    with pytest.raises(InvalidSetting):
        await alice.import_file(tmp_path / "bad.jsonl", format="nonsense")
    (tmp_path / "naive.jsonl").write_text('{"role": "user", "content": "tea", "timestamp": "2026-01-01T12:00:00"}\n')
    zone = timezone(timedelta(hours=9))
    await alice.import_file(tmp_path / "naive.jsonl", zone=zone, session_prefix="old-")
    hits = (await alice.recall("tea")).hits
    told = [hit.event_time for hit in hits if hit.text == "tea"]
    assert told in ([datetime(2026, 1, 1, 3, tzinfo=UTC)], [])


async def test_what_acts_on_every_namespace_does_not_cross(server: Live, tmp_path: Path) -> None:
    mem = await server.opened(user="alice")
    for verb in (
        lambda: mem.admin.backup(tmp_path / "b"),
        mem.admin.reembed,
    ):
        with pytest.raises(InvalidInput, match="where the store is"):
            await verb()
    for verb in (mem.admin.model_usage, lambda: mem.scope(user="alice").residue("text")):
        with pytest.raises(ScopeDenied, match="where the store is"):
            await verb()
    with pytest.raises(InvalidInput, match="where the store is"):
        await mem.admin.tokens.check("mh_x")


async def test_whoever_runs_the_server_is_told_what_is_of_every_namespace(tmp_path: Path) -> None:
    async with live(str(tmp_path / "memory.db"), settings={"tokens": False}) as server:
        await server.memhold.scope(namespace="other", user="bob").remember("The code is QX7T2M")
        async with await AsyncMemhold.open(server.url) as mem:
            scope = mem.scope(user="local")
            assert sum((await scope.residue("QX7T2M")).found.values()) > 0
            assert (await scope.residue("petrichor")).found == {}
            assert await mem.admin.model_usage(days=7) == ()
            for admin in (server.memhold.admin, mem.admin):
                for wrong in (0, 1.5, "seven"):
                    with pytest.raises(InvalidInput, match="days"):
                        await admin.model_usage(days=wrong)  # type: ignore[arg-type]
                with pytest.raises(InvalidInput, match="limit"):
                    await admin.users(limit="ten")  # type: ignore[arg-type]
            with pytest.raises(InvalidInput, match="at least 4 characters"):
                await scope.residue("ab")


@pytest.mark.parametrize(
    ("local", "remote"), [(AsyncScope, RemoteScope), (LocalStore, RemoteStore), (LocalAdmin, RemoteAdmin)]
)
def test_every_verb_is_the_clients_own(local: type, remote: type) -> None:
    """One that was forgotten would look for a store in this process."""
    for name, verb in inspect.getmembers(local, inspect.isfunction):
        if name.startswith("_"):
            continue
        mine = getattr(remote, name)
        assert mine is not verb, name
        assert list(inspect.signature(mine).parameters) == list(inspect.signature(verb).parameters), name
        assert inspect.signature(mine) == inspect.signature(verb) or name in {"residue", "scope"}, name
