"""What compaction asks: few calls, linear in the notes, within a day's budget, and fewer where nothing comes of them."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memhold.compact.batches import MOST_SHOWN, Pairs, most_calls, next_batch
from memhold.compact.compaction_step import Compaction
from memhold.compact.groups import MAX_SOURCES, leaves
from memhold.compact.survey import survey
from memhold.errors import ModelError
from memhold.faces.mcp.answers import answer_of
from memhold.facts.changed_notes import ALIKE, Bounds, changed_since
from memhold.ports.stores import Lease
from memhold.recall.recall import Caches
from memhold.text.change import ends
from memhold.values.records import LINEAGE, Memory
from tests.compaction.conftest import Opened
from tests.compaction.worlds import APART, Judge, Vectors, around, group, living, merged, partition

_AT = datetime(2025, 3, 1, tzinfo=UTC)
THINGS = (
    "tea",
    "jazz",
    "rye bread",
    "window seats",
    "short mails",
    "cotton shirts",
    "chess",
    "early trains",
    "dark mode",
    "olives",
)
WAYS = (
    "likes {}",
    "prefers {} in winter",
    "asks for {} when travelling",
    "buys {} for friends",
    "never tires of {}",
    "reads about {}",
)
PREFERENCES = [f"The user {way.format(thing)}" for thing in THINGS for way in WAYS]
COMMITS = [
    f"Commit {n * 7919 + 1048576:07x}: the retry queue in worker.py waits {n} seconds, released in v1.{n}.0"
    for n in range(90)
]


async def until_rest(mem, scope, judge) -> int:
    """Everything that is due, unattended and then on request; how many calls it took."""
    before = len(judge.asked)
    assert await mem.settle(timeout=300)
    while (await scope.compact()).more:
        pass
    return len(judge.asked) - before


@pytest.mark.parametrize(("notes", "most"), [(COMMITS[:80], 12), (PREFERENCES, 10)], ids=["80 alike", "60 preferences"])
async def test_a_judge_that_rightly_keeps_apart_is_asked_little(opened: Opened, notes: list[str], most: int) -> None:
    judge = Judge(lambda _: APART)
    mem = await opened(judge, "builtin")
    alice = mem.scope(user="alice")
    for text in notes:
        await alice.remember(text)
    assert 0 < await until_rest(mem, alice, judge) <= most
    assert max(map(len, judge.asked)) <= MOST_SHOWN
    shown = {text for texts in judge.asked for text in texts}
    assert len(shown) == len(notes), "each was looked at"
    for text in ("The user likes rye", "The user takes early trains", "Commit 1234567: the queue waits 900 seconds"):
        await alice.remember(text)
    assert await until_rest(mem, alice, judge) <= 3
    assert await until_rest(mem, alice, judge) == 0


@pytest.mark.parametrize("joint", [". ", " ", "\n", "; "])
async def test_alike_notes_become_few_whatever_joins_them(opened: Opened, joint: str) -> None:
    judge = Judge(lambda texts: merged(joint.join(texts)))
    mem = await opened(judge, "builtin")
    alice = mem.scope(user="alice")
    for text in COMMITS[:40]:
        await alice.remember(text)
    assert await until_rest(mem, alice, judge) <= 6
    left = await living(alice)
    assert len(left) <= 4
    assert max(map(leaves, left)) <= MAX_SOURCES
    assert all(any(text in memory.text for memory in left) for text in COMMITS[:40])


async def test_a_day_has_a_budget_for_all_scopes(opened: Opened, clock) -> None:
    judge = Judge(lambda _: APART)
    mem = await opened(judge, "builtin", compact_daily_calls=3)
    scopes = [mem.scope(user=name) for name in ("alice", "bob")]
    for scope in scopes:
        for text in PREFERENCES[:40]:
            await scope.remember(text)
    await mem.settle()
    assert len(judge.asked) == 3
    status = [await scope.status() for scope in scopes]
    assert all("compact" in {**one.waiting, **one.due} for one in status), "what waits is told"
    assert [(one.uncompared, one.compact_calls_left) for one in status] == [(40, 0), (40, 0)]
    assert "it goes on tomorrow" in answer_of("memory_status", {}, status[0]).said
    clock.advance(timedelta(days=1))
    await mem.settle()
    assert len(judge.asked) == 6
    before = len(judge.asked)
    # Both days may have gone to one of them.
    [waiting, *_] = [scope for scope in scopes if (await scope.status()).uncompared]
    await waiting.compact()
    assert len(judge.asked) > before, "who asks for it is not kept waiting"
    while (await waiting.compact()).more:
        pass
    assert (await waiting.status()).uncompared == 0


@pytest.mark.parametrize("spent", [False, True], ids=["not yet due", "the budget is spent"])
async def test_a_clock_that_was_set_back_has_nobody_look_again_and_again(
    opened: Opened, clock, monkeypatch, *, spent: bool
) -> None:
    looked = 0
    step = Compaction.step

    async def counted(self: Compaction, lease: Lease) -> float | None:
        nonlocal looked
        looked += 1
        return await step(self, lease) if looked < 20 else 3600.0

    monkeypatch.setattr(Compaction, "step", counted)
    mem = await opened(Judge(lambda _: APART), "builtin", compact_daily_calls=1)
    alice = mem.scope(user="alice")
    for text in PREFERENCES[: 40 if spent else 1]:
        await alice.remember(text)
    clock.advance(timedelta(hours=30))
    if spent:
        await mem.settle(timeout=300)
        clock.advance(timedelta(hours=24))
    await alice.add([{"role": "user", "content": "The store's clock is there now."}])
    # Its dates stand still meanwhile. Set back to an hour before midnight, the day's budget is the one that is spent.
    clock.advance(-timedelta(hours=7 if spent else 23))
    if spent:
        await alice.remember(PREFERENCES[40])
    looked = 0
    await mem.settle(timeout=300)
    assert 0 < looked < 20


async def test_after_runs_that_brought_nothing_more_has_to_come(opened: Opened) -> None:
    judge = Judge(lambda _: APART)
    mem = await opened(judge, "builtin", bounds={"memories": 4, "wait": timedelta(minutes=10_000)})
    alice = mem.scope(user="alice")

    async def tell(*texts: str) -> int:
        before = len(judge.asked)
        for text in texts:
            await alice.remember(text)
        assert await mem.settle(timeout=300)
        return len(judge.asked) - before

    assert await tell(*PREFERENCES[:4]) > 0
    assert await tell(*PREFERENCES[4:8]) == 0, "twice as many are needed now"
    assert await tell(*PREFERENCES[8:12]) > 0
    judge._decide = lambda texts: partition(group("adds", 1, 2), apart=range(3, len(texts) + 1))
    await alice.remember(PREFERENCES[12])
    await alice.compact()
    judge._decide = lambda _: APART
    assert await tell(*PREFERENCES[13:17]) > 0, "once something came of one, it is as before"


@pytest.mark.parametrize("how", ["call", "embedding"])
async def test_a_failure_is_no_verdict_and_is_due_again_with_backoff(opened: Opened, clock, how: str) -> None:
    one, two = "the garden gate squeaks", "garden gate squeaks loudly"
    vectors = Vectors({one: around(0), two: around(2)})
    error = ModelError("down", model="m", cls="retry", reason="scripted")

    def decide(_):
        if how == "call":
            return error
        vectors.error = error
        return merged("the garden gate squeaks loudly")

    judge = Judge(decide)
    mem = await opened(judge, vectors, bounds={"memories": 2}, model_attempts=1)
    alice = mem.scope(user="alice")
    ids = [(await alice.remember(text)).memory.id for text in (one, two)]
    assert not await mem.settle()
    assert [memory.id for memory in await living(alice)] == ids
    assert not [change for change in await alice.history(ids[0]) if change.verb != "remember"]
    status = await alice.status()
    assert (status.parked, "compact" in status.waiting) == (1, True)
    vectors.error, judge._decide = None, lambda _: merged("the garden gate squeaks loudly")
    clock.advance(timedelta(minutes=10))
    assert await mem.settle(timeout=300)
    assert len(await living(alice)) == 1


async def test_a_dry_run_names_what_has_no_vector_yet(opened: Opened) -> None:
    one, two = "the garden gate squeaks", "garden gate squeaks loudly"
    vectors = Vectors({one: around(0), two: around(2)})
    mem = await opened(Judge(), vectors)
    alice = mem.scope(user="alice")
    first = (await alice.remember(one)).memory.id
    assert await mem.settle(timeout=300)
    second = (await alice.remember(two)).memory.id
    planned = await alice.compact(dry_run=True)
    [waiting] = [found for found in planned.groups if found.outcome == "waiting"]
    assert waiting.sources == (second,)
    assert [found.sources for found in planned.groups if found.outcome == "pair"] == [(first, second)], (
        "words are known"
    )


async def test_what_replaces_reaches_the_judge_however_far_its_words_are(opened: Opened) -> None:
    judge = Judge(lambda _: partition(group("replaces", 1, 2)))
    alice = (await opened(judge, "builtin")).scope(user="alice")
    await alice.remember("Cycles to the office every day", event_time=_AT)
    await alice.remember("Sold the bike in spring, takes the tram now", event_time=_AT + timedelta(days=60))
    assert (await alice.compact()).counts == {"superseded": 1}
    [now] = await living(alice)
    assert now.text.startswith("Sold")
    assert [hit.text for hit in (await alice.recall("office", as_of=_AT + timedelta(days=1))).hits] == [
        "Cycles to the office every day"
    ]


def _about(n: int, *middle: float) -> tuple[float, ...]:
    return (*middle, 0.03 * math.cos(n), 0.03 * math.sin(n))


LEVEL = {
    **{f"note {n}": _about(n, 1.0, 0.0, 0.0, 0.0) for n in range(14)},
    "plays the cello": (1.0, 0.0, 0.0, 0.5),
    "now it is drums": (1.0, 0.0, 0.0, 0.15, 0.5),
}
"""By their cosines fourteen others are nearer to the new note than the old one, and none from the middle of all."""
CROWDED = {
    **{f"note {n}": _about(n, 1.0, 0.5, 0.0, 0.0) for n in range(14)},
    **{f"other {n}": _about(n, 1.0, -0.5, 0.0, 0.0) for n in range(14)},
    "plays the cello": (1.0, 0.0, 0.5),
    "now it is drums": (1.0, 0.3, 0.22, 0.3),
}
"""From the middle of all, too, fourteen are nearer, which are as near to each other as to anything."""


@pytest.mark.parametrize("chosen", [LEVEL, CROWDED], ids=["level", "crowded"])
async def test_what_replaces_is_found_from_the_middle_of_a_scope(
    opened: Opened, chosen: dict[str, tuple[float, ...]]
) -> None:
    judge = Judge(lambda _: APART)
    alice = (await opened(judge, Vectors(chosen))).scope(user="alice")
    for place, text in enumerate(chosen):
        if text.startswith("now"):
            await alice.compact()
        await alice.remember(text, event_time=_AT + timedelta(days=place))
    await alice.compact()
    assert {"plays the cello", "now it is drums"} <= set(judge.asked[-1])


@pytest.mark.parametrize(
    "text", ["He left the choir", "Prefers the bus now", "Ist vorerst bei seiner Schwester", "他不再喝咖啡了"]
)
def test_an_end_and_a_beginning_tell_of_a_change(text: str) -> None:
    assert ends(text)


@pytest.mark.parametrize(
    "text",
    [
        "I have liked green tea since 2015",
        "Left-handed",
        "Lives over the bakery, and is over 40",
        "Ich wohne seit 2012 in Ulm",
        "朝からコーヒーを飲む",
    ],
)
def test_what_goes_on_is_no_change(text: str) -> None:
    assert not ends(text)


# ------------------------------------------------------------------------------------------------ batches


def note(number: int, size: int, of: int) -> Memory:
    metadata = {LINEAGE: {"leaves": of}} if of > 1 else {}
    return Memory(
        id=f"mem_{number}", number=number, kind="note", text="x" * size, metadata=metadata,
        event_time=_AT, valid_from=_AT, created_at=_AT, recorded_at=_AT,
    )  # fmt: skip


@st.composite
def worlds(draw: st.DrawFn) -> Pairs:
    count = draw(st.integers(2, 30))
    memories = {
        number: note(number, draw(st.integers(1, 900)), draw(st.sampled_from([1, 1, 1, 5, 12])))
        for number in range(count)
    }
    pair = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda two: two[0] < two[1])
    near = draw(st.dictionaries(pair, st.floats(0.0, 1.7), max_size=120))
    needed = draw(st.sets(st.sampled_from(sorted(near)), max_size=60)) if near else set()
    changed = draw(st.sets(st.sampled_from(range(count))))
    return Pairs(memories=memories, near=near, needed=frozenset(needed), changed=frozenset(changed))


@given(worlds())
@settings(max_examples=150, deadline=None)
def test_batches_end_cover_what_they_can_and_fit(pairs: Pairs) -> None:
    done: set[tuple[int, int]] = set()
    for _ in range(len(pairs.needed) + 1):
        batch = next_batch(pairs, done, (), 2000)
        if not batch:
            break
        assert 2 <= len(batch) <= MOST_SHOWN
        assert len(set(batch)) == len(batch)
        assert sum(len(pairs.memories[number].text) for number in batch) <= 2000
        fresh = {(one, other) for one in batch for other in batch if one < other} - done
        assert fresh & pairs.needed, "each call compares something that had to be"
        done |= fresh
    rest = pairs.needed - done
    assert all(sum(len(pairs.memories[number].text) for number in pair) > 2000 for pair in rest), (
        "only what no call can show is left"
    )


def test_among_many_new_notes_one_that_tells_of_a_change_meets_what_was_told_before() -> None:
    """Twenty new notes are near each other; what one of them replaces is far, and told in other words."""
    new, old, teller = range(20), range(20, 25), 7
    near = {(one, other): 0.8 for one in new for other in new if one < other} | {(teller, one): 0.2 for one in old}
    needed = {(one, other) for one, other in near if other - one <= 3 or other in old}
    memories = {number: note(number, 50, 1) for number in (*new, *old)}
    pairs = Pairs(
        memories=memories,
        near=near,
        needed=frozenset(needed),
        changed=frozenset(new),
        telling=frozenset({teller}),
    )
    done: set[tuple[int, int]] = set()
    for _ in range(most_calls(len(new), 1)):
        batch = next_batch(pairs, done, (), 10_000)
        done |= {(one, other) for one in batch for other in batch if one < other}
    assert {(teller, one) for one in old} <= done
    assert {number for pair in done for number in pair} >= {*new}, "and each of the others was shown"


@given(st.integers(0, 10_000))
def test_calls_grow_with_the_notes_and_nothing_else(count: int) -> None:
    assert most_calls(count) <= count
    assert most_calls(count) <= max(3, count / 7 + 1)
    assert most_calls(count) <= most_calls(count, count // 4) <= most_calls(count, count) <= max(3, count / 3 + 1)


async def test_what_tells_of_a_change_is_compared_with_what_was_told_before_it(opened: Opened, clock) -> None:
    """Later notes may be nearer: what it replaces is not among them."""
    alice = (await opened(Judge(lambda _: APART), "none")).scope(user="alice")
    old, new = "Commutes by tram and ferry", "Switched to the new red bicycle for the ride to work, no more tram"
    later = [f"The new red bicycle for the ride to work needs part {number}" for number in range(6)]
    others = [f"The tram and the ferry take pass {number}" for number in range(4)]
    for text in (old, *others, new, *later):
        await alice.remember(text, event_time=clock.now())
        clock.advance(60)
    seen = lambda tx: survey(tx, Caches(), changed_since(tx, ALIKE), Bounds(), None).pairs  # noqa: E731 - of this test
    pairs = await alice._tx.read(seen)
    texts = {number: memory.text for number, memory in pairs.memories.items()}
    assert {old, new} in [{texts[one], texts[other]} for one, other in pairs.needed]
