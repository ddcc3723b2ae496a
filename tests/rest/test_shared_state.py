"""What the processes of one server share: limits, open streams, the door, sign-ins, and who does due work."""

from __future__ import annotations

import multiprocessing
import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhold.faces.rest.changes import Streams
from memhold.faces.ui.browser import Browser
from memhold.server.browser_shelf import BrowserShelf, InMemory, KeptBrowser, OnDisk
from memhold.server.expiry_table import ExpiryTable, RangeLocks
from memhold.server.guard import Guard, GuardRules
from memhold.server.guard_rules import Failures, Rate, RateLimits, allowed_hosts
from memhold.server.shared_state import Lease, ServerFiles, SharedState
from memhold.server.worker_plan import LOOKS, Restarts, Silence, WorkerState, next_steps
from memhold.values.principal import Principal
from memhold.values.records import Scope
from tests.identity.asgi import ask, echo

ROUNDS = 30_000
RIGHTS = frozenset({"read", "write"})
COUNTS = "tok_1"


@pytest.fixture
def files(tmp_path: Path) -> ServerFiles:
    made = ServerFiles(folder=tmp_path)
    made.prepare()
    return made


def table(entries: int, clock: Any = lambda: 0.0, **options: Any) -> ExpiryTable:
    return ExpiryTable(memoryview(bytearray(ExpiryTable.size(entries))), clock, **options)


# ------------------------------------------------------------------------------------------------ the table


@given(st.lists(st.tuples(st.integers(0, 40), st.floats(0, 5), st.floats(0.1, 9))))
def test_a_table_with_room_is_a_dict_whose_entries_end(acts: list[tuple[int, float, float]]) -> None:
    now, known = [0.0], dict[int, float]()
    kept = table(16 * 64, lambda: now[0])
    for key, pause, more in acts:
        now[0] += pause
        expected = max(now[0], known.get(key, 0.0))
        assert kept.get(b"%d" % key) == expected
        kept.change(b"%d" % key, lambda moment, more=more: moment + more)
        known[key] = expected + more
    assert kept.used == sum(moment > now[0] for moment in known.values())


def test_a_full_group_puts_out_the_one_whose_moment_is_nearest() -> None:
    kept = table(16)
    for number in range(16):
        kept.change(b"%d" % number, lambda _, number=number: 10.0 + number)
    kept.change(b"new", lambda _: 99.0)
    assert kept.get(b"0") == 0.0, "it was the nearest"
    assert [kept.get(b"%d" % number) for number in range(1, 16)] == [10.0 + number for number in range(1, 16)]
    kept.drop(b"7")
    assert kept.get(b"7") == 0.0


def test_nobody_can_choose_keys_that_meet() -> None:
    one, two = table(16 * 512, secret=b"a" * 32), table(16 * 512, secret=b"b" * 32)
    places = [[made._place(b"%d" % number)[1] for number in range(50)] for made in (one, two)]
    assert places[0] != places[1]


def _charges(path: str, secret: bytes) -> None:
    state = SharedState.of(ServerFiles(folder=Path(path), secret=secret), 1)
    # Both begin together: a process needs seconds to start.
    state.streams.add(1)
    while state.streams.total < 2:
        pass
    limits = RateLimits(Rate(per_second=1.0, burst=1), lambda: 0.0, state.table("work"))
    for _ in range(ROUNDS):
        limits.charge("alice", 1.0)


def test_no_charge_of_two_processes_is_lost(files: ServerFiles) -> None:
    shared = SharedState.of(files, 0)
    before = shared.table("work").get(b"alice")
    context = multiprocessing.get_context("spawn")
    other = context.Process(target=_charges, args=(str(files.folder), files.secret))
    other.start()
    mine = SharedState.of(files, 0)
    while not mine.streams.total:
        time.sleep(0.01)
    mine.streams.add(1)
    limits = RateLimits(Rate(per_second=1.0, burst=1), lambda: 0.0, mine.table("work"))
    for _ in range(ROUNDS):
        limits.charge("alice", 1.0)
    other.join()
    assert other.exitcode == 0
    spent = shared.table("work").get(b"alice") - before
    # Where one is held up with a lock, the other goes on after a while: hardly any is lost then.
    assert 2 * ROUNDS * 0.995 < spent < 2 * ROUNDS + 60


def test_a_lock_that_somebody_died_with_stops_nobody(tmp_path: Path) -> None:
    path = tmp_path / "locks"
    path.touch()
    with path.open("r+b") as file, path.open("r+b") as again:
        child = os.fork()
        if child == 0:
            os._exit(0 if RangeLocks(again.fileno()).take(3) else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert RangeLocks(file.fileno()).take(3)


# ------------------------------------------------------------------------------------------------ limits, door


def guard(files: ServerFiles, place: int, *, tokens: list[str], **rules: Any) -> Guard:
    async def authenticate(bearer: str) -> Principal | None:
        return Principal(scope=Scope(user=bearer), rights=RIGHTS, token=bearer) if bearer == "good" else None

    async def stays_open() -> bool:
        return not tokens

    local = Principal(scope=Scope(user="local"), rights=RIGHTS)
    given = GuardRules(hosts=allowed_hosts("127.0.0.1"), local=local, **rules)
    state = SharedState.of(files, place)
    return Guard(echo, rules=given, authenticate=authenticate, stays_open=stays_open, state=state)


async def test_limits_hold_across_processes(files: ServerFiles) -> None:
    slow = Rate(per_second=0.0001, burst=5)
    each = [guard(files, place, tokens=["good"], rate=slow, failures=slow) for place in range(2)]
    assert [(await ask(each[n % 2], token="good")).status for n in range(7)] == [200] * 5 + [429] * 2
    statuses = [(await ask(each[n % 2], token=f"guess{n}")).status for n in range(7)]
    assert statuses == [401] * 5 + [429] * 2
    assert (await ask(each[0], token="good")).json["type"].endswith("RateLimited")


async def test_bytes_are_counted_across_processes(files: ServerFiles) -> None:
    tight = Rate(per_second=0.0001, burst=2)
    each = [guard(files, place, tokens=["good"], bytes_rate=tight) for place in range(2)]
    half = [b"x" * (600 * 1024)]
    sent = [(await ask(each[n % 2], method="POST", token="good", chunks=half)).status for n in range(4)]
    assert sent == [200, 200, 429, 429]


async def test_a_token_that_counted_at_one_process_is_let_in_by_the_other(files: ServerFiles) -> None:
    rate, now = Rate(per_second=0.0001, burst=1), [0.0]
    one, two = (
        Failures(rate, lambda: now[0], state.table("failures"), state.table("good"))
        for state in (SharedState.of(files, 0), SharedState.of(files, 1))
    )
    one._good._clock = two._good._clock = lambda: now[0]
    one.counted("good")
    two.failed("a", "guess")
    assert (two.wait("a", "good"), one.wait("a", "other") > 0) == (0.0, True)
    now[0] += 25 * 3600
    assert two._good.get(b"") == now[0]


async def test_the_door_is_shut_for_every_process(files: ServerFiles) -> None:
    tokens: list[str] = []
    one, two = guard(files, 0, tokens=tokens), guard(files, 1, tokens=tokens)
    assert [(await ask(each)).status for each in (one, two)] == [200, 200]
    tokens.append("good")
    assert (await ask(one)).status == 401
    tokens.clear()
    assert (await ask(two)).status == 401, "it saw no token itself"
    assert not two.open_to_this_machine


async def test_streams_are_counted_across_processes(files: ServerFiles) -> None:
    one, two = (Streams(most=3, count=SharedState.of(files, place).streams) for place in range(2))
    one.count.add(2)
    two.count.add(1)
    assert (one.open, two.open, one.count.total) == (2, 1, 3)
    SharedState.of(files, 9).gone(0)
    assert (two.open, two.count.total) == (1, 1)


def test_one_process_at_a_time_has_the_lease(files: ServerFiles) -> None:
    one, two = Lease(files.lease), Lease(files.lease)
    assert (one.take(), two.take(), one.take()) == (True, False, True)
    one.give()
    assert two.take()
    two.give()


# ------------------------------------------------------------------------------------------------ sign-ins


@pytest.fixture(params=["memory", "disk"])
def shelf(request: pytest.FixtureRequest, files: ServerFiles) -> BrowserShelf:
    return InMemory(lambda: 0.0) if request.param == "memory" else OnDisk(files.browsers, files.secret)


def test_a_shelf_keeps_what_a_browser_is(shelf: BrowserShelf) -> None:
    browser = Browser(secret="mh_secret", user="josé")
    shelf.put("cookie", KeptBrowser(browser, 0.0, None))
    found = shelf.get("cookie")
    assert found is not None
    assert (found.browser, found.token) == (browser, None)
    found.token = COUNTS
    shelf.put("cookie", found)
    again = shelf.get("cookie")
    assert again is not None
    assert again.token == COUNTS
    shelf.drop("cookie")
    shelf.drop("cookie")
    assert shelf.get("cookie") is shelf.get("other") is None


def test_a_shelf_makes_room_fairly(shelf: BrowserShelf) -> None:
    for number, token in enumerate([None, "a", "b", "b", "b"]):
        shelf.put(f"c{number}", KeptBrowser(Browser(), 0.0, token))
    shelf.make_room(3)
    left = [number for number in range(5) if shelf.get(f"c{number}") is not None]
    assert left[0] == 1
    assert len(left) == 3


def test_what_lies_on_the_disk_tells_no_token(files: ServerFiles) -> None:
    OnDisk(files.browsers, files.secret).put("cookie", KeptBrowser(Browser(secret="mh_secret"), 0.0, "tok_1"))
    [path] = files.browsers.iterdir()
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert not any(
        word in path.read_bytes() or word.decode() in path.name for word in (b"mh_secret", b"tok_1", b"cookie")
    )
    other = ServerFiles(folder=files.folder)
    assert OnDisk(files.browsers, other.secret).get("cookie") is None
    shelf = OnDisk(files.browsers, files.secret)
    ahead = time.time() + 3600
    os.utime(path, (ahead, ahead))
    assert shelf.get("cookie") is not None
    assert path.stat().st_mtime < ahead, "it was seen now, by the clock as it is"
    for seen in (0, ahead + 75 * 365 * 86400):
        os.utime(path, (seen, seen))
        assert shelf.get("cookie") is None, "it was quiet for over 12 hours, or nobody knows for how long"
        shelf.put("cookie", KeptBrowser(Browser(secret="mh_secret"), 0.0, "tok_1"))
    shelf.drop("cookie")
    assert not [*files.browsers.iterdir()]


# ------------------------------------------------------------------------------------------------ the plan


def states(*given: tuple[int, str]) -> list[WorkerState]:
    return [WorkerState(place=place, generation=one[0], state=one[1]) for place, one in enumerate(given)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "start", "end"),
    [
        ([], True, ()),
        ([(2, "starting")], False, ()),
        ([(2, "ready")], True, ()),
        ([(2, "ready"), (2, "ready")], False, ()),
        ([(2, "ready"), (2, "ending")], True, ()),
        ([(1, "ready"), (1, "ready")], True, ()),
        ([(1, "ready"), (1, "ready"), (2, "starting")], False, ()),
        ([(1, "ready"), (1, "ready"), (2, "ready")], True, (0,)),
        ([(1, "ready"), (2, "ready"), (2, "ready")], False, (0,)),
        ([(1, "starting"), (1, "ready"), (2, "starting")], False, (0,)),
        ([(1, "ready"), (1, "ready"), (1, "ready"), (2, "starting")], False, ()),
        ([(3, "ready"), (2, "ready")], True, ()),
    ],
)
def test_what_is_done_next(given: list[tuple[int, str]], *, start: bool, end: tuple[int, ...]) -> None:
    steps = next_steps(states(*given), generation=2, count=2)
    assert (steps.start, steps.end) == (start, end)


@given(st.integers(1, 6), st.integers(1, 6), st.randoms())
def test_a_change_never_serves_with_fewer_and_comes_to_an_end(before: int, after: int, random: Any) -> None:
    workers = {place: WorkerState(place=place, generation=1, state="ready") for place in range(before)}
    made = before
    for _ in range(200):
        steps = next_steps(workers.values(), generation=2, count=after)
        for place in steps.end:
            del workers[place]
        if steps.start:
            workers[made] = WorkerState(place=made, generation=2, state="starting")
            made += 1
        ready = [one for one in workers.values() if one.state == "ready"]
        assert len(ready) >= min(before, after)
        waiting = [one for one in workers.values() if one.state == "starting"]
        if waiting and random.random() < 0.7:
            workers[waiting[0].place] = WorkerState(place=waiting[0].place, generation=2, state="ready")
    assert [(one.generation, one.state) for one in workers.values()] == [(2, "ready")] * after


def test_whoever_keeps_dying_is_started_less_and_less() -> None:
    restarts = Restarts()
    waits = [restarts.ended(1.0) for _ in range(9)]
    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]
    assert (restarts.ended(60.0), restarts.ended(1.0)) == (0.0, 0.5)


def test_a_worker_hangs_once_it_gave_no_sign_for_long_enough() -> None:
    silence = Silence()
    assert not any(silence.looked(0) for _ in range(3 * LOOKS)), "it has not begun: opening a store may take long"
    assert not any(silence.looked(beats) for beats in range(1, 3 * LOOKS))
    assert [silence.looked(3 * LOOKS) for _ in range(LOOKS + 1)] == [False] * LOOKS + [True]
    assert not silence.looked(3 * LOOKS + 1)


def test_signs_of_life_are_seen_by_the_others_and_end_with_a_process(files: ServerFiles) -> None:
    mine, other = SharedState.of(files, 3), SharedState.of(files, 255)
    mine.beat()
    mine.beat()
    other.streams.add(1)
    assert (other.beats(3), other.beats(255), mine.streams.total) == (2, 0, 1)
    other.gone(3)
    assert (mine.beats(3), mine.streams.total) == (0, 1)
