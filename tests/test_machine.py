"""All verbs in any order, against a plain model, on each store: hypothesis looks for a history where they differ."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Coroutine
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from memhold import AsyncMemhold
from memhold.errors import Forgotten, NotFound, UndoConflict
from memhold.testing import FakeClock
from tests.machine_model import LABELS, Done, Held, Model, Said, Session
from tests.postgres_server import Databases

T = TypeVar("T")
FULL = os.environ.get("MEMHOLD_PROOF") == "full"
BUDGET = settings(
    max_examples=600 if FULL else 12,
    stateful_step_count=60 if FULL else 40,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    # A history is shrunk for minutes: only where nobody waits for the suite.
    phases=tuple(Phase) if FULL else (Phase.explicit, Phase.reuse, Phase.generate),
)
WORDS = ("alpha", "beta", "gamma")
SESSIONS = ("", "s1", "s2")
PICK = st.integers(0, 10_000)
DAYS = st.integers(-20, 0)
CANARY = "canary"


class Facts(RuleBasedStateMachine):
    """What is told and taken back: few words and one attribute, so that histories collide."""

    keys = ("city",)

    def location(self) -> str:
        raise NotImplementedError

    @initialize()
    def begin(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.clock = FakeClock()
        self.mem = self.run(AsyncMemhold.open(self.location(), clock=self.clock, worker=False, embedding="none"))
        self.model = Model()
        self.moments: list[datetime] = [self.clock.now()]
        self.numbers = 0
        self.furthest = self.clock.now()
        self.latest: dict[str, datetime] = {}
        self.repeated: set[str] = set()
        self.steps = 0
        self.run(self.mem.scope(user="bob").remember(CANARY))

    def teardown(self) -> None:
        if hasattr(self, "mem"):
            self.run(self.mem.close())
            self.loop.close()

    def run(self, call: Coroutine[Any, Any, T] | Any) -> T:
        async def awaited() -> T:
            result: T = await call
            return result

        return self.loop.run_until_complete(awaited())

    def alice(self, session: str = "") -> Any:
        return self.mem.scope(user="alice", session=session or None)

    def pick(self, items: list[T], index: int) -> T:
        return items[index % len(items)]

    def resaid(self, key: str, word: str) -> bool:
        """Whether the value was said of the attribute before: then one memory may stand on several statements."""
        return any(m.value == word for m in self.model.timeline_all(key))

    def number(self) -> int:
        self.numbers += 1
        return self.numbers

    def time_of(self, item: str) -> datetime:
        """When the newest change of a memory was recorded, by the store's clock."""
        return max(change.at for change in self.run(self.alice().history(item)))

    # ----------------------------------------------------------------------------------------- verbs

    @rule(
        session=st.sampled_from(SESSIONS),
        word=st.sampled_from(WORDS),
        topics=st.lists(st.sampled_from(WORDS), max_size=2, unique=True),
    )
    def note(self, session: str, word: str, topics: list[str]) -> None:
        told = self.run(self.alice(session).remember(f"likes {word}", topics=topics))
        memory = told.memory
        held = next(
            (
                m
                for m in self.model.shown()
                if m.text == memory.text and m.kind == "note" and m.now["state"] == "active"
            ),
            None,
        )
        for change in told.receipt.change_ids:
            done = self.model.changes.setdefault(change, Done(change, "remember"))
            if held is None:
                new = Held(memory.id, memory.number, "note", memory.text, session=session or None)
                if session:
                    self.model.sessions.setdefault(session, Session())
                at = memory.recorded_at
                self.model.create(done, new, at, valid_from=at, topics=tuple(topics))
            else:
                merged = tuple(dict.fromkeys((*held.now["topics"], *topics)))
                assert merged != held.now["topics"]
                self.model.revise(done, held, memory.recorded_at, topics=merged)
        assert held is None or held.id == memory.id
        self.moments.append(memory.recorded_at)

    @rule(
        which=PICK,
        word=st.sampled_from(WORDS),
        operation=st.sampled_from(("set", "set", "add", "remove")),
        late=st.integers(0, 3),
        again=st.booleans(),
    )
    def fact(self, *, which: int, word: str, operation: str, late: int, again: bool) -> None:
        key = self.pick(list(self.keys), which)
        about = None if late < 2 else self.pick(self.moments, late * 7) - (late - 2) * timedelta(days=1)
        soonest = about or max(*self.moments, self.clock.now())
        if key in self.repeated and soonest < self.latest[key]:
            # What was said again, or ended, is evidence that a late word meets: tests/facts/test_histories.py tells
            # any order of arrival. Here such an attribute is told in rising time only.
            return
        told_key = f"key {self.number()}"
        call = {
            "attribute": key,
            "value": word,
            "operation": operation,
            "event_time": about,
            "idempotency_key": told_key,
            # High: long at once, so that no recall of these many moves or revives it (tests/facts/test_tiers.py).
            "importance": "high",
        }
        told = self.run(self.alice().remember(**call))
        if again:
            assert self.run(self.alice().remember(**call)).receipt.ids == told.receipt.ids
        said = about or max(soonest, self.furthest)
        self.latest[key] = max(self.latest.get(key, said), said)
        if operation == "remove" or not told.receipt.change_ids or told.memory.rev > 1 or self.resaid(key, word):
            self.repeated.add(key)
        if not told.receipt.change_ids:
            before = {m.id: dict(m.now) for m in self.model.memories.values()}
            probe = Held(
                "probe", 10**9, "fact", "", key=key, value=word, operation="add" if operation == "add" else "set"
            )
            at = about or self.moments[-1]
            done = Done("probe", "remember")
            if operation == "remove":
                at = about or max(*self.moments, self.clock.now())
            self.model.tell(
                done,
                probe,
                at=at if about else max(*self.moments, self.clock.now()),
                now=self.clock.now(),
                operation=operation,
            )
            assert not done.before, (before, call)
            return
        [change] = told.receipt.change_ids
        memory = told.memory
        # Said again, it may end others and leave its own memory as it was.
        touched = {memory.id, *(m.id for m in self.model.timeline(key))}
        now = max(self.time_of(item) for item in touched)
        done = self.model.changes[change] = Done(change, "remember")
        text = f"{key}: {word}"
        new = Held(
            memory.id,
            memory.number,
            "fact",
            text,
            key=key,
            value=word,
            operation="add" if operation == "add" else "set",
        )
        self.model.tell(done, new, at=about or now, now=now, operation=operation)
        self.moments.append(now)

    @precondition(lambda self: self.model.shown())
    @rule(index=PICK, word=st.sampled_from(WORDS))
    def correct(self, index: int, word: str) -> None:
        old = self.pick(self.model.shown(), index)
        if old.kind == "raw" or old.now["state"] == "retracted":
            return
        text = word if old.kind == "fact" else f"likes {word}"
        told = self.run(self.alice().correct(old.id, text))
        [change] = told.receipt.change_ids
        done = self.model.changes[change] = Done(change, "correct")
        memory = told.memory
        labels = {name: old.now[name] for name in LABELS}
        now = self.time_of(old.id)
        self.moments.append(now)
        same = None
        if old.now["state"] == "active":
            same = next(
                (
                    m for m in self.model.shown()
                    if m is not old and m.kind == old.kind and m.key == old.key and m.now["state"] == "active"
                    and (m.value == word if m.kind == "fact" else m.text == text)
                ),
                None,
            )  # fmt: skip
        assert memory.id == (same.id if same else memory.id)
        leaning = (
            [m for m in self.model.timeline_all(old.key) if m.now["superseded_by"] == old.id and m is not old]
            if old.kind == "fact"
            else []
        )
        self.model.revise(done, old, now, state="retracted", superseded_by=memory.id)
        for one in leaning:
            self.model.revise(done, one, now, superseded_by=memory.id)
        if same is None:
            whole = f"{old.key}: {word}" if old.kind == "fact" else text
            new = Held(
                memory.id,
                memory.number,
                old.kind,
                whole,
                old.key,
                word if old.kind == "fact" else None,
                old.operation,
                old.session,
            )
            self.model.create(done, new, now, **labels)

    @precondition(lambda self: self.model.shown())
    @rule(index=PICK, pinned=st.booleans())
    def pin(self, *, index: int, pinned: bool) -> None:
        held = self.pick(self.model.shown(), index)
        verb = self.alice().pin if pinned else self.alice().unpin
        told = self.run(verb(held.id))
        assert bool(told.receipt.change_ids) == (held.now["pinned"] != pinned)
        for change in told.receipt.change_ids:
            done = self.model.changes[change] = Done(change, "pin")
            self.model.revise(done, held, told.memory.recorded_at, pinned=pinned)
            self.moments.append(told.memory.recorded_at)

    @precondition(lambda self: any(one.verb == "undo" for one in self.model.changes.values()))
    @rule(index=PICK)
    def redo(self, index: int) -> None:
        undone = [one for one in self.model.changes.values() if one.verb == "undo" and not one.undone]
        if undone:
            self.take_back(self.pick(undone, index), cascade=False)

    @precondition(lambda self: self.model.changes)
    @rule(index=PICK, which=st.sampled_from(("any", "recent", "redone", "hidden")), cascade=st.booleans())
    def undo(self, *, index: int, which: str, cascade: bool) -> None:
        changes = list(self.model.changes.values())
        undone = {one.undoes for one in changes}
        found = {
            "recent": changes[-4:],
            "redone": [one for one in changes if one.id in undone and not one.undone],
            "hidden": [one for one in changes if one.verb == "hide" and not one.undone],
        }.get(which)
        self.take_back(self.pick(found or changes, index), cascade=cascade)

    def take_back(self, done: Done, *, cascade: bool) -> None:
        wanted = self.model.refusal(done)
        if wanted == "Forgotten":
            try:
                self.run(self.alice().undo(done.id))
            except Forgotten:
                return
            raise AssertionError("what was forgotten came back")
        if wanted == "UndoConflict":
            try:
                self.run(self.alice().undo(done.id))
            except UndoConflict:
                return
            raise AssertionError(f"{done} should have been blocked")
        receipt = self.run(self.alice().undo(done.id, cascade=cascade))
        [change] = receipt.change_ids
        rows = [row for row in done.before if row in self.model.memories]
        at = self.time_of(rows[0]) if rows else self.clock.now()
        self.model.undo(done, Done(change, "undo"), at)
        if rows:
            self.moments.append(at)

    @precondition(lambda self: self.model.messages or self.model.memories)
    @rule(index=PICK, hard=st.booleans(), sources=st.sampled_from(("erase", "keep")))
    def forget(self, *, index: int, hard: bool, sources: str) -> None:
        items = sorted([*self.model.messages, *self.model.memories])
        item = self.pick(items, index)
        if item in self.model.hidden and not hard:
            try:
                self.run(self.alice().forget(item, hard=False))
            except NotFound:
                return
            raise AssertionError("what is hidden was found")
        self.gone({item}, [], hard=hard, sources=sources, item_id=item)

    def gone(self, start: set[str], names: list[str], *, hard: bool, sources: str, **target: Any) -> None:
        wanted = self.model.going(start, sources=sources, hard=hard)
        due = self.model.due_again(wanted)
        listed = self.run(self.alice().forget(**target, hard=hard, sources=sources, dry_run=True))
        report = self.run(self.alice().forget(**target, hard=hard, sources=sources, wait=0))
        for one in (listed, report):
            assert {*one.messages, *one.memories, *one.hidden} == wanted
            assert set(one.due_again) == due
        change = report.change_id
        done = self.model.changes[change] = Done(change, "forget" if hard else "hide", sources=tuple(wanted))
        if hard:
            assert report.erased
            self.model.erase(wanted, names)
        else:
            for item in wanted:
                self.model.hidden.setdefault(item, change)
        self.model.due |= {name for name in due if name in self.model.sessions}
        assert done.id in self.model.changes

    @rule(hours=st.sampled_from((-60, -1, 0, 1, 5, 30, 200)))
    def time_passes(self, hours: int) -> None:
        # Up to a day back, dates stand still; further back they follow the clock, which the suites of stores and verbs try.
        back = max(timedelta(hours=hours), self.furthest - timedelta(days=1) - self.clock.now())
        self.clock.advance(back if hours < 0 else timedelta(hours=hours))
        self.furthest = max(self.furthest, self.clock.now())

    # ----------------------------------------------------------------------------------------- what must hold

    @invariant()
    def the_present_is_the_models(self) -> None:
        if not hasattr(self, "mem"):
            return
        self.steps += 1
        alice = self.alice()
        listed = self.run(alice.list(states=None, limit=1000)).items
        assert [m.id for m in listed] == [m.id for m in self.model.shown()]
        for memory, held in zip(listed, self.model.shown(), strict=True):
            assert {name: getattr(memory, name) for name in LABELS} == {name: held.now[name] for name in LABELS}, held
            assert (memory.text, memory.value, memory.rev) == (held.text, held.value, len(held.revisions))
            assert memory.sources == held.sources
        for name in SESSIONS:
            assert [m.id for m in self.run(self.alice(name).messages())] == [m.id for m in self.model.journal(name)]
        answer = self.run(alice.recall(limit=1000))
        assert {hit.id for hit in answer.hits} == self.model.present()
        assert answer.total == len(answer.hits)
        status = self.run(alice.status())
        assert status.messages == sum(len(self.model.journal(name)) for name in self.model.sessions)
        assert status.sessions == len(self.model.sessions)

    @invariant()
    def every_moment_is_the_models(self) -> None:
        if not hasattr(self, "mem"):
            return
        first, second = (self.pick(self.moments, self.steps * n) for n in (1, 7))
        for as_of, known_at in (
            (first, None),
            (None, first),
            (second, first),
            (first + timedelta(microseconds=1), second),
        ):
            answer = self.run(self.alice().recall(limit=1000, as_of=as_of, known_at=known_at))
            assert {hit.id for hit in answer.hits} == self.model.at(as_of, known_at), (as_of, known_at)
            assert answer.total == len(answer.hits)

    @invariant()
    def words_find_what_holds_them(self) -> None:
        if not hasattr(self, "mem"):
            return
        for word in WORDS:
            answer = self.run(self.alice().recall(word, limit=1000, kinds=["note", "fact"]))
            wanted = {
                m.id for m in self.model.shown() if m.kind != "raw" and m.now["state"] == "active" and word in m.text
            }
            # Behind what was found the page is filled with what is nearest.
            assert {hit.id for hit in answer.hits[: answer.total]} == wanted, word
        assert self.run(self.alice().recall(CANARY)).total == 0
        assert self.run(self.mem.scope(user="bob").recall(CANARY)).total == 1


class Machine(Facts):
    """All verbs, with sessions and messages."""

    keys = ("city", "food")

    @rule(
        session=st.sampled_from(SESSIONS),
        words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
        days=DAYS,
        again=st.booleans(),
    )
    def add(self, *, session: str, words: list[str], days: int, again: bool) -> None:
        batch = [{"role": "user", "content": word} for word in words]
        if days:
            batch = [{**one, "event_time": self.clock.now() + days * timedelta(hours=7)} for one in batch]  # type: ignore[dict-item]
        key = f"key {self.number()}"
        receipt = self.run(self.alice(session).add(batch, idempotency_key=key))
        if again:
            repeated = self.run(self.alice(session).add(batch, idempotency_key=key))
            assert (repeated.ids, repeated.replayed) == (receipt.ids, True)
        held = self.model.sessions.setdefault(session, Session())
        for item, word in zip(receipt.ids, words, strict=True):
            found = self.run(self.alice().get(item))
            held.last += 1
            self.model.messages[item] = Said(item, session, held.last, word, found.event_time, found.recorded_at)
            self.moments.append(found.recorded_at)
        [change] = receipt.change_ids
        self.model.changes[change] = Done(change, "add")

    @rule(session=st.sampled_from(SESSIONS))
    def end_session(self, session: str) -> None:
        receipt = self.run(self.alice(session).end_session())
        held = self.model.sessions.setdefault(session, Session())
        window = [m.id for m in self.model.journal(session) if m.seq > held.cursor]
        assert bool(receipt.ids) == bool(window)
        if window:
            [change], [item] = receipt.change_ids, receipt.ids
            done = self.model.changes[change] = Done(change, "consolidate")
            self.raw(done, item, window)
            row = f"session:{session}"
            done.before[row] = {"cursor": held.cursor, "born": held.born}
            token = self.model.memories[item].token
            done.tokens[row] = (held.token, token)
            held.cursor, held.token = held.last, token

    def raw(self, done: Done, item: str, messages: list[str]) -> None:
        memory = self.run(self.alice().get(item))
        assert list(memory.sources) == messages
        assert all(self.model.messages[one].text in memory.text for one in messages)
        new = Held(item, memory.number, "raw", memory.text, session=memory.session, sources=memory.sources)
        self.model.create(done, new, memory.recorded_at, valid_from=memory.valid_from)
        self.moments.append(memory.recorded_at)

    @rule()
    def settle(self) -> None:
        self.run(self.mem.settle(timeout=60))
        for name in sorted(self.model.due):
            messages = self.model.uncovered(name)
            if messages and name in self.model.sessions:
                known = set(self.model.memories)
                page = self.run(self.alice().list(["raw"], None, session=name, limit=1000))
                [item] = [m.id for m in page.items if m.id not in known]
                [change] = [one.id for one in self.run(self.alice().history(item))]
                done = self.model.changes[change] = Done(change, "archive")
                self.raw(done, item, messages)
        self.model.due.clear()

    @rule(session=st.sampled_from(SESSIONS), hard=st.booleans(), everything=st.integers(0, 5))
    def forget_many(self, *, session: str, hard: bool, everything: int) -> None:
        names = list(self.model.sessions) if everything == 0 else [session]
        rows = [*self.model.messages.values(), *self.model.memories.values()]
        if not hard:
            rows = [row for row in rows if row.id not in self.model.hidden]
        start = {row.id for row in rows if everything == 0 or row.session == session}
        target = {"everything": True} if everything == 0 else {"session": session}
        self.gone(start, names, hard=hard, sources="erase", **target)


class FactsOnMemory(Facts):
    def location(self) -> str:
        return "memory://"


class OnMemory(Machine):
    def location(self) -> str:
        return "memory://"


class OnSqlite(Machine):
    def location(self) -> str:
        self.folder = tempfile.TemporaryDirectory()
        return str(Path(self.folder.name) / "memory.db")

    def teardown(self) -> None:
        super().teardown()
        if hasattr(self, "folder"):
            self.folder.cleanup()


class OnPostgres(Machine):
    databases: Databases

    def location(self) -> str:
        self.url = self.databases.store()
        return self.url

    def teardown(self) -> None:
        super().teardown()
        if hasattr(self, "url"):
            self.databases.give_back(self.url)


@pytest.fixture(scope="class")
def a_server(databases: Databases) -> None:
    OnPostgres.databases = databases


@pytest.mark.parametrize("again", [False, True], ids=["hidden", "hidden again"])
@pytest.mark.parametrize("left", [0, 1], ids=["nothing left", "one left"])
def test_the_model_knows_a_hide_of_which_nothing_is_left(*, again: bool, left: int) -> None:
    """The ids of what is forgotten differ from run to run, so the machine meets this history by chance only."""
    machine = OnMemory()
    machine.begin()
    try:
        machine.add(session="s1", words=["alpha", "beta"], days=0, again=False)
        machine.forget_many(session="s1", hard=False, everything=1)
        hide = list(machine.model.changes.values())[-1]
        if again:
            machine.take_back(hide, cascade=False)
            machine.take_back(list(machine.model.changes.values())[-1], cascade=False)
            hide = list(machine.model.changes.values())[-1]
        for item in sorted(machine.model.messages)[left:]:
            machine.gone({item}, [], hard=True, sources="erase", item_id=item)
        assert machine.model.refusal(hide) == (None if left else "Forgotten")
        machine.take_back(hide, cascade=False)
        assert len(machine.model.journal("s1")) == left
        machine.the_present_is_the_models()
    finally:
        machine.teardown()


TestFactsOnMemory = FactsOnMemory.TestCase
TestFactsOnMemory.settings = settings(BUDGET, max_examples=1500 if FULL else 20)
TestMachineOnMemory = OnMemory.TestCase
TestMachineOnMemory.settings = BUDGET
TestMachineOnPostgres = pytest.mark.usefixtures("a_server")(OnPostgres.TestCase)
TestMachineOnPostgres.settings = settings(BUDGET, max_examples=100 if FULL else 2)
TestMachineOnSqlite = OnSqlite.TestCase
TestMachineOnSqlite.settings = settings(BUDGET, max_examples=200 if FULL else 5)
