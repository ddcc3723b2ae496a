"""Whatever the geometry: progress from run to run, no mega-memory, nobody else's memory, and then rest."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from memhold.compact.groups import MAX_SOURCES, leaves
from tests.compaction.conftest import Opened
from tests.compaction.worlds import Judge, Vectors, around, copies, living, near, until_stable, whole

BALL = 30


async def told(scope, texts, clock) -> list[str]:
    ids = []
    for text in texts:
        clock.advance(timedelta(minutes=1))
        ids.append((await scope.remember(text)).memory.id)
    return ids


async def rests(scope, judge, vectors) -> None:
    """Another run asks no model, embeds nothing and changes nothing."""
    before, asked, embedded = await living(scope), len(judge.asked), len(vectors.asked)
    done = await scope.compact()
    assert (done.groups, done.merged, done.more) == ((), 0, False)
    assert (await living(scope), len(judge.asked), len(vectors.asked)) == (before, asked, embedded)


@pytest.mark.parametrize("count", [2, 3, 17, 50])
async def test_exact_copies_become_one_without_a_model(opened: Opened, count: int) -> None:
    judge, vectors = Judge(), Vectors({"the kite is red": [1.0]})
    mem = await opened(judge, vectors)
    alice = mem.scope(user="alice")
    ids = await copies(alice, "the kite is red", count)
    assert await mem.settle(120)
    embedded = len(vectors.asked)
    done = await alice.compact()
    assert (count >= 20) == (not done.merged), "so many are due by themselves"
    [kept] = await living(alice)
    assert set(kept.sources) == set(ids)
    assert {(await alice.get(one)).state for one in ids} == {"merged"}
    assert judge.asked == []
    assert len(vectors.asked) == embedded <= count, "the copy's vector is theirs"
    assert (await alice.recall("kite")).hits[0].id == kept.id
    await whole(alice)
    await rests(alice, judge, vectors)


async def test_copies_need_neither_model_nor_embedder(opened: Opened) -> None:
    mem = await opened()
    alice = mem.scope(user="alice")
    await copies(alice, "the kite is red", 4)
    done = await alice.compact()
    assert (done.counts, done.merged, done.judged) == ({"copies": 1}, 4, False)
    assert len(await living(alice)) == 1


async def test_a_dense_ball_makes_progress_and_no_mega_memory(opened: Opened, clock) -> None:
    random = np.random.default_rng(7)
    texts = [f"word{chr(97 + n // 26)}{chr(97 + n % 26)} kite" for n in range(BALL)]
    vectors = Vectors({text: near(0, 8, 0.2, random) for text in texts})
    judge = Judge()
    alice = (await opened(judge, vectors)).scope(user="alice")
    await told(alice, texts, clock)
    counts = await until_stable(alice)
    left = await living(alice)
    assert counts[0] == BALL
    assert len(left) == -(-BALL // MAX_SOURCES), "whole groups, as large as a lineage may be"
    assert max(map(leaves, left)) <= MAX_SOURCES
    assert len(judge.asked) <= 2 * len(left), "a group costs a call, not a call a memory"
    await rests(alice, judge, vectors)


async def test_a_dense_ball_that_does_not_cohere_makes_progress(opened: Opened, clock) -> None:
    random = np.random.default_rng(11)
    texts = [f"word{chr(97 + n // 26)}{chr(97 + n % 26)} kite" for n in range(BALL)]
    # Wide enough that some are no neighbours of each other: the whole is never cohesive.
    vectors = Vectors({text: near(0, 8, 0.62, random) for text in texts})
    judge = Judge()
    alice = (await opened(judge, vectors)).scope(user="alice")
    await told(alice, texts, clock)
    counts = await until_stable(alice)
    assert counts[-1] <= BALL // 2
    assert max(map(leaves, await living(alice))) <= MAX_SOURCES
    await rests(alice, judge, vectors)


@pytest.mark.parametrize("chosen", ["chain", "star", "bridge"])
async def test_no_geometry_makes_a_mega_memory(opened: Opened, clock, chosen: str) -> None:
    """Whatever is near whatever: a merged memory stands for at most so many, and the calls stay few."""
    texts = [f"link{chr(97 + n)} {chosen}" for n in range(24)]
    degrees = {"chain": 35.0, "star": 2.0, "bridge": 3.0}[chosen]
    vectors = Vectors(
        {text: around(degrees * n + (40 if chosen == "bridge" and n > 11 else 0)) for n, text in enumerate(texts)}
    )
    judge = Judge()
    alice = (await opened(judge, vectors)).scope(user="alice")
    await told(alice, texts, clock)
    counts = await until_stable(alice)
    left = await living(alice)
    assert counts[-1] < counts[0]
    assert max(map(leaves, left)) <= MAX_SOURCES
    assert len(judge.asked) <= len(texts) // 2
    await rests(alice, judge, vectors)


async def test_two_users_with_the_same_text_and_unowned_beside_owned(opened: Opened, clock) -> None:
    texts = ["the kite is red today", "today the kite is red"]
    vectors = Vectors({texts[0]: around(0), texts[1]: around(5)})
    judge = Judge()
    mem = await opened(judge, vectors)
    scopes = [
        mem.scope(user="alice"),
        mem.scope(user="bob"),
        mem.scope(),
        mem.scope(user="alice", agent="helper"),
        mem.scope(user="alice", namespace="other"),
    ]
    for scope in scopes:
        await told(scope, texts[:1], clock)
    for scope in scopes:
        assert (await scope.compact()).merged == 0, "one each: there is nothing of one's own to merge with"
    assert judge.asked == []
    alice, bob, nobody, helper, _ = scopes
    await told(alice, texts[1:], clock)
    before = {scope: [m.id for m in await living(scope)] for scope in (bob, nobody)}
    assert (await alice.compact()).merged == 2
    assert {scope: [m.id for m in await living(scope)] for scope in (bob, nobody)} == before
    mine = [memory for memory in await living(helper) if memory.agent == "helper"]
    assert [memory.text for memory in mine] == texts[:1], "an agent's memory is not merged into one of no agent"


async def test_by_words_where_there_are_no_vectors(opened: Opened, clock) -> None:
    judge = Judge()
    alice = (await opened(judge)).scope(user="alice")
    await told(alice, ["the garden gate squeaks loudly", "the garden gate squeaks", "buys oat milk on mondays"], clock)
    done = await alice.compact()
    assert done.merged == 2
    assert len(judge.asked) == 1
    assert sorted(len(m.sources) for m in await living(alice)) == [0, 2]
    done = await alice.compact()
    assert not done.merged
    assert not done.more
