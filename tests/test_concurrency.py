"""Callers that come at once, go away, fork, mix loops and threads, or close while others wait."""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import apsw
import pytest

from memhold import AsyncMemhold, Memhold
from memhold.errors import ForkedProcess, MemholdError, StoreBusy, StoreClosed, WrongLoop

LOCATIONS = pytest.mark.parametrize("kept", ["memory.db", "memory://"], ids=["sqlite", "memory"])


def where(tmp_path: Path, kept: str) -> str:
    return kept if "://" in kept else str(tmp_path / kept)


def said(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


@LOCATIONS
async def test_many_adders_make_dense_sequences(tmp_path: Path, kept: str) -> None:
    async with AsyncMemhold.open(where(tmp_path, kept), worker=False) as mem:
        alice = mem.scope(user="alice", session="s")
        receipts = await asyncio.gather(*(alice.add([said(f"a{n}"), said(f"b{n}")]) for n in range(64)))
        found = await alice.messages()
        assert [message.seq for message in found] == list(range(1, 129))
        order = {message.id: message.seq for message in found}
        assert all(order[second] == order[first] + 1 for first, second in (receipt.ids for receipt in receipts))


@LOCATIONS
async def test_one_that_fails_takes_nothing_with_it(tmp_path: Path, kept: str) -> None:
    async with AsyncMemhold.open(where(tmp_path, kept), worker=False) as mem:
        alice = mem.scope(user="alice", session="s")
        calls = [alice.add(said(str(n))) if n % 2 else alice.correct("mem_" + "0" * 32, "x") for n in range(40)]
        done = await asyncio.gather(*calls, return_exceptions=True)
        assert [isinstance(one, LookupError) for one in done] == [n % 2 == 0 for n in range(40)]
        assert len(await alice.messages()) == 20


@LOCATIONS
async def test_a_cancelled_call_is_settled_by_its_key(tmp_path: Path, kept: str) -> None:
    """A cancelled caller's write may still commit; sending it again under its key never makes two."""
    async with AsyncMemhold.open(where(tmp_path, kept), worker=False) as mem:
        alice = mem.scope(user="alice", session="s")
        random = Random(1)
        for n in range(60):
            task = asyncio.create_task(alice.add(said(f"line {n}"), idempotency_key=str(n)))
            for _ in range(random.randrange(6)):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await alice.add(said(f"line {n}"), idempotency_key=str(n))
        assert sorted(message.text for message in await alice.messages()) == sorted(f"line {n}" for n in range(60))


@LOCATIONS
async def test_closing_finishes_what_was_accepted(tmp_path: Path, kept: str) -> None:
    mem = await AsyncMemhold.open(where(tmp_path, kept), worker=False)
    alice = mem.scope(user="alice", session="s")
    tasks = [asyncio.create_task(alice.add(said(str(n)))) for n in range(50)]
    await asyncio.sleep(0)
    await mem.close()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(one, StoreClosed) for one in done if isinstance(one, BaseException))
    for call in (alice.add(said("x")), alice.recall("x"), alice.remember("x"), alice.status()):
        with pytest.raises(StoreClosed):
            await call
    await mem.close()
    if "://" not in kept:
        async with AsyncMemhold.open(where(tmp_path, kept), worker=False) as again:
            present = {message.id for message in await again.scope(user="alice", session="s").messages()}
        assert {one.ids[0] for one in done if not isinstance(one, BaseException)} <= present


async def test_closing_is_bounded_while_another_process_holds_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memhold.storage.sqlite.store.CLOSE_SECONDS", 0.6)
    path = tmp_path / "memory.db"
    mem = await AsyncMemhold.open(str(path), worker=False, busy_timeout=0.2)
    alice = mem.scope(user="alice")
    await alice.add(said("first"))
    holder = apsw.Connection(str(path))
    holder.execute("BEGIN IMMEDIATE")
    tasks = [asyncio.create_task(alice.add(said(str(n)))) for n in range(20)]
    await asyncio.sleep(0)
    await mem.close()
    holder.execute("ROLLBACK")
    holder.close()
    done = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 60)
    assert all(isinstance(one, StoreBusy | StoreClosed) for one in done)
    assert any("before this write had its turn" in str(one) for one in done), "each was not waited for"


async def test_a_held_file_is_busy_and_then_not(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with AsyncMemhold.open(str(path), worker=False, busy_timeout=0.1) as mem:
        alice = mem.scope(user="alice")
        holder = apsw.Connection(str(path))
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy):
            await alice.add(said("x"))
        assert (await alice.recall()).total == 0
        holder.execute("ROLLBACK")
        holder.close()
        await alice.add(said("x"))
        assert (await alice.recall()).total == 1


@LOCATIONS
def test_another_loop_is_refused(tmp_path: Path, kept: str) -> None:
    loop = asyncio.new_event_loop()
    mem = loop.run_until_complete(AsyncMemhold.open(where(tmp_path, kept), worker=False))
    alice = mem.scope(user="alice")

    async def elsewhere() -> None:
        for call in (alice.add(said("x")), alice.recall(), mem.settle(), mem.close(), alice.residue("text")):
            with pytest.raises(WrongLoop):
                await call

    asyncio.run(elsewhere())
    loop.run_until_complete(alice.add(said("x")))
    loop.run_until_complete(mem.close())
    loop.close()


def in_a_child(work: object) -> str:
    """What `work` says in a forked child."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = work()  # type: ignore[operator]
        except BaseException as error:  # noqa: BLE001
            answer = type(error).__name__
        os.write(write, str(answer).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return answer


@LOCATIONS
def test_a_forked_child_is_refused_and_can_open_again(tmp_path: Path, kept: str) -> None:
    with Memhold.open(where(tmp_path, kept), worker=False) as mem:
        alice = mem.scope(user="alice", session="s")
        alice.add(said("before"))
        for verb in (lambda: alice.add(said("x")), alice.recall, mem.settle, alice.status):
            assert in_a_child(verb) == ForkedProcess.__name__
        assert in_a_child(lambda: mem.close() or "closed") == "closed"

        def again() -> int:
            with Memhold.open(where(tmp_path, kept), worker=False) as own:
                own.scope(user="alice", session="s").add(said("child"))
                return len(own.scope(user="alice", session="s").messages())

        assert in_a_child(again) == ("2" if "://" not in kept else "1")
        alice.add(said("after"))
        assert len(alice.messages()) == (3 if "://" not in kept else 2)


@LOCATIONS
async def test_the_async_face_refuses_a_forked_child(tmp_path: Path, kept: str) -> None:
    async with AsyncMemhold.open(where(tmp_path, kept), worker=False) as mem:
        alice = mem.scope(user="alice")

        def verb() -> str:
            call = alice.add(said("x"))
            try:
                call.send(None)
            except ForkedProcess:
                return "refused"
            finally:
                call.close()
            return "accepted"

        assert in_a_child(verb) == "refused"


@LOCATIONS
async def test_the_sync_face_works_inside_a_running_loop(tmp_path: Path, kept: str) -> None:
    with Memhold.open(where(tmp_path, kept), worker=False) as mem:
        alice = mem.scope(user="alice")
        alice.remember("Likes tea")
        assert alice.recall("tea").total == 1
        assert mem.settle(timeout=60)


@LOCATIONS
def test_the_sync_face_serves_many_threads(tmp_path: Path, kept: str) -> None:
    with Memhold.open(where(tmp_path, kept), worker=False) as mem, ThreadPoolExecutor(8) as pool:
        alice = mem.scope(user="alice", session="s")
        told = list(pool.map(lambda n: alice.remember(attribute="n", value=str(n)).memory, range(40)))
        list(pool.map(lambda n: alice.add(said(str(n))), range(40)))
        assert len({memory.id for memory in told if memory}) == 40
        assert len(alice.list(["fact"]).items) == 1
        assert [message.seq for message in alice.messages()] == list(range(1, 41))


@LOCATIONS
def test_closing_leaves_no_thread_waiting(tmp_path: Path, kept: str) -> None:
    """Every call of another thread ends, with a receipt or with StoreClosed, however close comes in between."""
    for turn in range(6):
        mem = Memhold.open(where(tmp_path, kept), worker=turn % 2 == 0)
        ended: list[str] = []
        begun = threading.Barrier(5)

        def caller(mem: Memhold = mem, ended: list[str] = ended, begun: threading.Barrier = begun) -> None:
            alice = mem.scope(user="alice", session="s")
            begun.wait()
            try:
                while True:
                    alice.add(said("x"))
            except MemholdError as error:
                ended.append(type(error).__name__)

        threads = [threading.Thread(target=caller, daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()
        begun.wait()
        for _ in range(turn * 50):
            os.sched_yield()
        mem.close()
        for thread in threads:
            thread.join(60)
        assert [thread.is_alive() for thread in threads] == [False] * 4
        assert set(ended) == {"StoreClosed"}
        mem.close()


def test_a_closed_store_leaves_no_threads(tmp_path: Path) -> None:
    before = {thread.name for thread in threading.enumerate()}
    with Memhold.open(str(tmp_path / "memory.db")) as mem:
        mem.scope().remember("Likes tea")
    after = {thread.name for thread in threading.enumerate()}
    assert {name for name in after - before if name.startswith("memhold")} == set()
