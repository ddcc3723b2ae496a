"""Store suite: units of work: whole or not at all, one after the other, on a snapshot, until the store is closed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memhold.ports.postings import DocumentKind, DocumentRecord, Entry
from memhold.ports.stores import Clock, Ids, Priority, Store
from memhold.ports.transaction import ReadTx, Replay, WriteTx
from memhold.testing.clock import FakeClock
from memhold.testing.store_suite_rows import (
    ALICE,
    BOB,
    EPOCH,
    OpenStore,
    add_change,
    add_note,
    everything,
    later,
    say,
)
from memhold.values.answers import Receipt
from memhold.values.errors import MemholdError, RevisionConflict, StoreClosed, StoreError

__all__ = ["UnitCases"]

_LONG = 20.0


class _OnPurposeError(Exception):
    """What a failing unit of work raises in these tests."""


@pytest.mark.asyncio
class UnitCases:
    """What a store promises of every unit of work, whatever it does."""

    async def test_a_unit_that_raises_leaves_nothing(self, store: Store, ids: Ids) -> None:
        planted = await store.write(ALICE, lambda tx: _everything_new(tx, ids))
        before = await store.read(ALICE, lambda tx: everything(tx, ids=planted, digests=(b"d", b"e")))
        made: list[str] = []

        def fail(tx: WriteTx) -> None:
            made.extend(_everything_new(tx, ids))
            tx.unindex([0])
            tx.mark_undone(planted[-1], made[-1])
            tx.put_memory(replace(tx.find_memories(planted)[0], rev=2, state="retracted"), digest=b"e")
            tx.erase_messages(planted, made[-1])
            tx.erase_memories(planted, made[-1], digests=dict.fromkeys(planted, b"e"))
            tx.clear_due("index", "all")
            tx.clear_index()
            raise _OnPurposeError

        with pytest.raises(_OnPurposeError):
            await store.write(ALICE, fail)
        seen = await store.read(ALICE, lambda tx: everything(tx, ids=(*planted, *made), digests=(b"d", b"e")))
        assert seen == before
        numbers = await store.write(ALICE, lambda tx: (tx.take_numbers(1), add_change(tx, ids).seq))
        assert numbers == (2, 2), "a message, a note and a change stand; what the failed unit took is given back"

    async def test_others_of_a_group_stand_when_one_fails(self, store: Store, ids: Ids) -> None:
        def unit(n: int) -> Callable[[WriteTx], int]:
            def work(tx: WriteTx) -> int:
                say(tx, ids, f"message {n}")
                if n % 3 == 0:
                    raise _OnPurposeError
                if n % 3 == 1:
                    tx.put_memory(replace(add_note(tx, ids, "x"), rev=7))
                return n

            return work

        results = await asyncio.gather(*(store.write(ALICE, unit(n)) for n in range(24)), return_exceptions=True)
        for n, result in enumerate(results):
            wanted: tuple[type, ...] = (_OnPurposeError, RevisionConflict, int)
            assert isinstance(result, wanted[n % 3]), (n, result)
        messages = await store.read(ALICE, lambda tx: tx.messages("s1"))
        assert sorted(m.text for m in messages) == sorted(f"message {n}" for n in range(24) if n % 3 == 2)
        assert [m.seq for m in messages] == list(range(1, 9))
        assert await store.read(ALICE, lambda tx: tx.counts()) == {("message", "", "active"): 8}

    @pytest.mark.parametrize("looks", [False, True])
    async def test_what_a_failed_unit_took_is_given_back_within_its_group(
        self, store: Store, ids: Ids, *, looks: bool
    ) -> None:
        began = threading.Event()
        go = threading.Event()
        here = threading.get_ident()

        def hold(_: WriteTx) -> None:
            began.set()
            # A store that writes on the caller's thread has no groups to hold.
            assert threading.get_ident() == here or go.wait(_LONG)

        def unit(text: str, *, fails: bool) -> Callable[[WriteTx], int]:
            def work(tx: WriteTx) -> int:
                say(tx, ids, text)
                tx.put_due("index", text, tx.now)
                if fails and looks:
                    assert text in {message.text for message in tx.messages("s1")}
                if fails:
                    raise _OnPurposeError
                return add_change(tx, ids).seq

            return work

        first = asyncio.create_task(store.write(ALICE, hold))
        await asyncio.to_thread(began.wait, _LONG)
        plan = {"one": False, "two": True, "three": False, "four": True, "five": False}
        calls = [asyncio.create_task(store.write(ALICE, unit(text, fails=fails))) for text, fails in plan.items()]
        await asyncio.sleep(0)
        go.set()
        await first
        done = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(one) for one in done] == [_OnPurposeError if fails else int for fails in plan.values()]
        stand = [text for text, fails in plan.items() if not fails]
        messages = await store.read(ALICE, lambda tx: tx.messages("s1"))
        assert [(m.text, m.seq, m.number) for m in messages] == [(text, n + 1, n) for n, text in enumerate(stand)]
        assert {due.ref for due in await store.read(ALICE, lambda tx: tx.due())} == set(stand)
        changes = await store.read(ALICE, lambda tx: tx.changes())
        assert [change.seq for change in changes] == list(range(1, len(changes) + 1))
        assert await store.write(ALICE, lambda tx: tx.take_numbers(1)) == len(stand)

    @pytest.mark.parametrize("error", [StopIteration, GeneratorExit, AssertionError, RecursionError])
    async def test_whatever_a_unit_raises_reaches_its_caller(
        self, store: Store, ids: Ids, error: type[BaseException]
    ) -> None:
        def fail(tx: ReadTx) -> None:
            tx.sessions()
            raise error

        async def outcome(verb: Awaitable[None]) -> BaseException | None:
            try:
                await verb
            except BaseException as caught:  # noqa: BLE001
                return caught
            return None

        for verb in (store.write, store.read):
            caught = await asyncio.wait_for(outcome(verb(ALICE, fail)), _LONG)
            assert isinstance(caught, (error, RuntimeError, MemholdError)), caught
        await asyncio.wait_for(store.write(ALICE, lambda tx: say(tx, ids, "goes on")), _LONG)

    async def test_64_writers_get_dense_sequences_in_the_order_of_commits(self, store: Store, ids: Ids) -> None:
        committed: list[int] = []

        def unit(n: int) -> Callable[[WriteTx], tuple[int, int, int, int]]:
            def work(tx: WriteTx) -> tuple[int, int, int, int]:
                [message] = say(tx, ids, f"message {n}")
                change = add_change(tx, ids)
                assert change.seq == len(tx.changes()), "every earlier number is there when a later one is taken"
                return n, message.seq, message.number, change.seq

            return work

        async def writer(n: int) -> tuple[int, int, int, int]:
            done = await store.write(ALICE, unit(n))
            committed.append(done[3])
            seen = await store.read(ALICE, lambda tx: tx.messages("s1", after=done[1] - 1, limit=1))
            assert [m.text for m in seen] == [f"message {n}"], "what was acknowledged can be read"
            return done

        done = await asyncio.gather(*(writer(n) for n in range(64)))
        assert sorted(row[1] for row in done) == list(range(1, 65))
        assert sorted(row[2] for row in done) == list(range(64))
        assert sorted(row[3] for row in done) == list(range(1, 65))
        assert [row[1] for row in sorted(done, key=lambda row: row[3])] == list(range(1, 65))
        assert len(committed) == 64

    async def test_a_cursor_over_changes_misses_nothing_while_writers_write(self, store: Store, ids: Ids) -> None:
        seen: list[int] = []

        async def follow() -> None:
            while len(seen) < 32:
                found = await store.read(ALICE, lambda tx: tx.changes(after=seen[-1] if seen else 0))
                seen.extend(change.seq for change in found)
                await asyncio.sleep(0)

        writers = (store.write(ALICE, lambda tx: add_change(tx, ids)) for _ in range(32))
        await asyncio.wait_for(asyncio.gather(follow(), *writers), _LONG)
        assert seen == list(range(1, 33))

    async def test_of_many_swaps_of_one_revision_one_wins(self, store: Store, ids: Ids) -> None:
        note = await store.write(ALICE, lambda tx: add_note(tx, ids, "text"))

        async def swap(n: int) -> int:
            await store.write(ALICE, lambda tx: tx.put_memory(replace(note, rev=2, evidence=n)))
            return n

        results = await asyncio.gather(*(swap(n) for n in range(1, 17)), return_exceptions=True)
        won = [result for result in results if isinstance(result, int)]
        assert len(won) == 1
        assert sum(isinstance(result, RevisionConflict) for result in results) == 15
        [kept] = await store.read(ALICE, lambda tx: tx.find_memories([note.id]))
        assert (kept.rev, kept.evidence) == (2, won[0])

    async def test_of_many_who_look_before_they_write_one_writes(self, store: Store, ids: Ids) -> None:
        def once(tx: WriteTx) -> str:
            found = tx.same_content(kind="note", digest=b"d", agent=None)
            return (found or add_note(tx, ids, "once", digest=b"d")).id

        made = await asyncio.gather(*(store.write(ALICE, once) for _ in range(16)))
        assert len(set(made)) == 1
        assert await store.read(ALICE, lambda tx: tx.counts()) == {
            ("message", "", "active"): 0,
            ("note", "mid", "active"): 1,
        }

    async def test_a_read_stays_on_its_snapshot(self, store: Store, ids: Ids) -> None:
        await store.write(ALICE, lambda tx: say(tx, ids, "before"))
        loop, looked, written = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

        def look(tx: ReadTx) -> tuple[Any, Any]:
            first = (tx.messages("s1"), tx.session("s1"), tx.counts(), tx.now)
            loop.call_soon_threadsafe(looked.set)
            written.wait(0.3)
            return first, (tx.messages("s1"), tx.session("s1"), tx.counts(), tx.now)

        async def write() -> None:
            await looked.wait()
            await store.write(ALICE, lambda tx: say(tx, ids, "after"))
            written.set()

        (first, second), _ = await asyncio.wait_for(asyncio.gather(store.read(ALICE, look), write()), _LONG)
        assert first == second
        assert [m.text for m in first[0]] == ["before"]
        assert [m.text for m in await store.read(ALICE, lambda tx: tx.messages("s1"))] == ["before", "after"]

    async def test_a_reader_never_sees_half_a_write(self, store: Store, ids: Ids) -> None:
        async def read() -> None:
            for _ in range(40):
                counts = await store.read(ALICE, lambda tx: tx.counts())
                assert counts.get(("message", "", "active"), 0) == 2 * counts.get(("note", "mid", "active"), 0)

        def both(tx: WriteTx) -> None:
            say(tx, ids, "one")
            add_note(tx, ids, "note")
            say(tx, ids, "two")

        await asyncio.gather(read(), read(), *(store.write(ALICE, both) for _ in range(20)))

    async def test_a_transaction_reads_the_same_clock_throughout(self, store: Store, clock: FakeClock) -> None:
        def look(tx: ReadTx) -> bool:
            before = tx.now
            clock.advance(3)
            return tx.now == before

        assert await store.write(ALICE, look)
        assert await store.read(ALICE, look)

    async def test_dates_stand_still_while_the_clock_is_a_little_back(
        self, store: Store, ids: Ids, clock: FakeClock
    ) -> None:
        clock.advance(100)
        await store.write(ALICE, lambda tx: say(tx, ids, "first"))
        clock.advance(-5000)
        assert await store.write(ALICE, lambda tx: tx.now) >= later(100)
        assert await store.write(BOB, lambda tx: tx.now) >= later(100), "one clock for the store"
        assert await store.read(ALICE, lambda tx: tx.now) >= later(100)
        clock.set(later(200))
        assert await store.write(ALICE, lambda tx: tx.now) == later(200)

    @pytest.mark.parametrize("days", [2, 365 * 75, -2, -365 * 30])
    async def test_dates_follow_a_clock_that_was_wrong(
        self, store: Store, ids: Ids, clock: FakeClock, days: int
    ) -> None:
        clock.advance(timedelta(days=days))
        await store.write(ALICE, lambda tx: say(tx, ids, "by a wrong clock"))
        clock.advance(timedelta(days=-days))
        assert await store.read(ALICE, lambda tx: tx.now) == EPOCH
        assert await store.write(ALICE, lambda tx: tx.now) == EPOCH
        assert await store.write(BOB, lambda tx: tx.now) == EPOCH
        clock.advance(-5)
        assert await store.write(ALICE, lambda tx: tx.now) == EPOCH, "small steps stay guarded"

    async def test_times_are_aware_utc(self, store: Store) -> None:
        now = await store.write(ALICE, lambda tx: tx.now)
        assert now == EPOCH
        assert now.utcoffset() == timedelta(0)

    async def test_cancelled_callers_leave_whole_writes_or_none(self, store: Store, ids: Ids) -> None:
        def pair(n: int) -> Callable[[WriteTx], None]:
            def work(tx: WriteTx) -> None:
                say(tx, ids, f"{n} a")
                say(tx, ids, f"{n} b")

            return work

        tasks = [asyncio.create_task(store.write(ALICE, pair(n))) for n in range(30)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        done = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), _LONG)
        await asyncio.wait_for(store.write(ALICE, lambda tx: say(tx, ids, "goes on")), _LONG)
        messages = await store.read(ALICE, lambda tx: tx.messages("s1"))
        assert [m.seq for m in messages] == list(range(1, len(messages) + 1))
        texts = {m.text for m in messages}
        for n, result in enumerate(done):
            there = {f"{n} a", f"{n} b"} & texts
            assert len(there) in {0, 2}, "half a write"
            if not isinstance(result, BaseException):
                assert len(there) == 2, "acknowledged and lost"
        assert not any(isinstance(result, BaseException) for result in done[1::2])

    async def test_a_cancelled_read_harms_nobody(self, store: Store, ids: Ids) -> None:
        tasks = [asyncio.create_task(store.read(ALICE, lambda tx: tx.counts())) for _ in range(20)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        done = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), _LONG)
        assert done[1::2] == [{("message", "", "active"): 0}] * 10
        await asyncio.wait_for(store.write(ALICE, lambda tx: say(tx, ids, "goes on")), _LONG)

    async def test_every_priority_is_served(self, store: Store, ids: Ids) -> None:
        ranks = [Priority.IMPORT, Priority.WORKER, Priority.INTERACTIVE] * 5
        writes = (store.write(ALICE, lambda tx: say(tx, ids, "x"), priority=rank) for rank in ranks)
        await asyncio.wait_for(asyncio.gather(*writes), _LONG)
        assert await store.read(ALICE, lambda tx: tx.counts()) == {("message", "", "active"): 15}

    async def test_closing_finishes_what_was_accepted(self, open_store: OpenStore, clock: Clock, ids: Ids) -> None:
        store = await open_store(clock, ids)
        ran: list[int] = []

        def unit(n: int) -> Callable[[WriteTx], None]:
            def work(tx: WriteTx) -> None:
                tx.take_numbers(1)
                ran.append(n)

            return work

        tasks = [asyncio.create_task(store.write(ALICE, unit(n))) for n in range(10)]
        await asyncio.sleep(0)
        await asyncio.wait_for(store.close(), _LONG)
        done = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), _LONG)
        assert all(result is None or isinstance(result, StoreClosed) for result in done), done
        acknowledged = {n for n, result in enumerate(done) if result is None}
        assert acknowledged == set(ran) == set(range(10))

    async def test_a_closed_store_says_so(self, open_store: OpenStore, clock: Clock, ids: Ids) -> None:
        store = await open_store(clock, ids)
        await store.write(ALICE, lambda tx: tx.put_due("index", "x", tx.now))
        [lease] = await store.upkeep.claim(owner="w", kinds=("index",), limit=1, seconds=10)
        await store.close()
        await store.close()
        upkeep = store.upkeep
        verbs: list[Callable[[], Awaitable[Any]]] = [
            lambda: store.write(ALICE, lambda tx: tx.now),
            lambda: store.read(ALICE, lambda tx: tx.now),
            lambda: upkeep.claim(owner="w", kinds=("index",), limit=1, seconds=1),
            lambda: upkeep.renew(lease, 10),
            lambda: upkeep.put_off(lease, at=EPOCH, error=None),
            lambda: upkeep.finish(lease),
            lambda: upkeep.next_due(("index",)),
            lambda: upkeep.pending(("index",)),
            upkeep.scopes,
            upkeep.scrub,
        ]
        for verb in verbs:
            with pytest.raises(StoreClosed):
                await asyncio.wait_for(verb(), _LONG)

    async def test_a_transaction_that_outlives_its_unit_is_refused(self, store: Store, ids: Ids) -> None:
        kept = await store.write(ALICE, lambda tx: tx)
        looked = await store.read(ALICE, lambda tx: tx)
        with pytest.raises(StoreError):
            say(kept, ids, "too late")
        with pytest.raises(StoreError):
            looked.messages("s1")
        assert await store.read(ALICE, everything) == []

    async def test_taken_ids_and_places_are_refused_whole(self, store: Store, ids: Ids) -> None:
        first, second = await store.write(ALICE, lambda tx: say(tx, ids, "one", "two"))
        clashes: tuple[dict[str, Any], ...] = (
            {"id": first.id, "number": 50, "seq": 50},
            {"id": "msg_new", "number": first.number, "seq": 50},
            {"id": "msg_new", "number": 50, "seq": first.seq},
        )
        for clash in clashes:
            wrong = [replace(second, id="msg_fine", number=51, seq=51), replace(second, text="clash", **clash)]
            with pytest.raises(MemholdError):
                await store.write(ALICE, lambda tx, w=wrong: tx.add_messages(w))  # type: ignore[misc]
            assert await store.read(ALICE, lambda tx: tx.messages("s1")) == [first, second]

    async def test_facts_of_the_store(self, store: Store, open_store: OpenStore, clock: Clock, ids: Ids) -> None:
        facts = store.facts
        assert facts.backend
        assert facts.location
        assert facts.schema >= 1
        assert len(facts.secret) >= 16
        assert store.facts == facts
        assert (await open_store(clock, ids)).facts.secret != facts.secret


def _everything_new(tx: WriteTx, ids: Ids) -> tuple[str, ...]:
    agent = tx.agent_number("planner")
    [message] = say(tx, ids, "text")
    note = add_note(tx, ids, "note", sources=(message.id,), digest=b"d")
    change = add_change(tx, ids, note, sources=(message.id,), detail={"n": 1})
    tx.remember_key("add", b"d", Replay(fingerprint=b"f", receipt=Receipt(ids=(message.id,)), expires_at=None))
    tx.put_due("index", "all", tx.now)
    record = DocumentRecord(kind=DocumentKind.NOTE, length=1, agent=agent)
    tx.index([Entry(number=message.number, record=record, terms={"x": 1})])
    tx.flag({message.number: False})
    return (note.id, message.id, change.id)
