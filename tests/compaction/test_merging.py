"""What a merge keeps, what it may not do, and how it is taken back."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta

import pytest

from memhold.errors import Forgotten, ModelError
from memhold.faces.mcp.answers import answer_of, rendered
from memhold.testing.scripted import ScriptedChat
from memhold.text.labels import MAX_ENTITIES, MAX_TOPICS, folded
from memhold.values.records import MemoryQuote
from tests.compaction.conftest import Opened
from tests.compaction.worlds import (
    APART,
    Judge,
    Vectors,
    around,
    copies,
    group,
    living,
    merged,
    partition,
    united,
    whole,
)

ONE, TWO = "the garden gate squeaks", "garden gate squeaks loudly"
BOTH = "the garden gate squeaks loudly"
DAY = datetime(2025, 5, 1, tzinfo=UTC)


def close(*texts: str, step: float = 2.0) -> Vectors:
    return Vectors({text: around(step * n) for n, text in enumerate(texts)})


async def told(scope, *texts: str, **fields) -> list[str]:
    return [(await scope.remember(text, **fields)).memory.id for text in texts]


# ------------------------------------------------------------------------------------------------ the size gate


@pytest.mark.parametrize("count", [2, 3])
async def test_the_size_gate_is_asked_before_any_model(opened: Opened, count: int, caplog) -> None:
    """5,501 characters are never shown in one call; 5,500 are."""
    caplog.set_level(logging.INFO, logger="memhold.compaction")
    for total, asked in ((5_501, 0), (5_500, 1)):
        part = total // count
        sizes = [part] * (count - 1) + [total - part * (count - 1)]
        texts = [f"head{chr(97 + n)} kite".ljust(size, "k") for n, size in enumerate(sizes)]
        judge = Judge(lambda _: APART)
        texts = [" ".join([text[:5], *["kite"] * ((len(text) - 5) // 5)]).ljust(len(text), ".") for text in texts]
        vectors = Vectors({text: around(2.0 * n) for n, text in enumerate(texts)})
        scope = (await opened(judge, vectors)).scope(user=f"u{total}")
        await told(scope, *texts)
        assert sum(len(memory.text) for memory in await living(scope)) == total
        done = await scope.compact()
        assert len([texts for texts in judge.asked if len(texts) == count]) == asked, total
        assert all(sum(map(len, texts)) <= 5_500 for texts in judge.asked)
        assert ("too_long" in done.counts) == (total == 5_501 and count == 2)
        assert [m.text for m in await living(scope)] == texts
    if count == 2:
        assert any("5501 characters, over 5500" in line.getMessage() for line in caplog.records)


async def test_notes_over_the_size_gate_are_not_asked_about(opened: Opened) -> None:
    judge = Judge()
    alice = (await opened(judge, close(ONE, TWO), bounds={"max_chars": len(ONE + TWO) - 1})).scope(user="alice")
    await told(alice, ONE, TWO)
    done = await alice.compact()
    assert (done.counts, judge.asked) == ({"too_long": 1}, [])
    assert [m.text for m in await living(alice)] == [ONE, TWO]


async def test_a_cohesive_group_of_three_is_one_call(opened: Opened) -> None:
    judge, texts = Judge(), (ONE, TWO, "the gate squeaks")
    alice = (await opened(judge, close(*texts))).scope(user="alice")
    ids = await told(alice, *texts)
    done = await alice.compact()
    assert [len(texts) for texts in judge.asked] == [3]
    assert done.counts == {"group": 1}
    [memory] = await living(alice)
    assert set(memory.sources) == set(ids)


# ------------------------------------------------------------------------------------------------ what carries over


async def test_what_carries_over(opened: Opened) -> None:
    alice = (await opened(Judge(lambda _: merged(BOTH)), close(ONE, TWO))).scope(user="alice")
    await alice.remember(ONE, event_time=DAY, importance="high", metadata={"a": 1, "b": 2}, topics=["garden"])
    await alice.remember(TWO, event_time=DAY + timedelta(days=2), metadata={"b": 2, "c": 3}, entities=["Gate"])
    before = {memory.id: memory for memory in await living(alice)}
    await alice.compact()
    [memory] = await living(alice)
    assert (memory.text, memory.kind, memory.origin, memory.trust) == (BOTH, "note", "model", "user")
    assert (memory.event_time, memory.valid_from) == (DAY + timedelta(days=2), DAY)
    assert (memory.importance, memory.tier, memory.evidence) == ("high", "long", 0)
    assert (memory.topics, memory.entities) == (("garden",), ("Gate",))
    assert {name: memory.metadata[name] for name in "abc"} == {"a": 1, "b": 2, "c": 3}
    assert set(memory.sources) == set(before)
    [change] = await alice.history(memory.id)
    assert (change.verb, change.by.name, change.by.version) == ("compact", "judge", "merge_memories/3")
    assert change.detail["reply"]["calls"][0]["arguments"]["text"] == BOTH


async def test_trust_is_the_lowest_of_the_sources(opened: Opened) -> None:
    from tests.compaction.worlds import copies

    alice = (await opened(Judge(lambda _: merged(BOTH)), close(ONE, TWO))).scope(user="alice")
    await copies(alice, ONE, 1, trust="assistant", origin="model")
    await copies(alice, TWO, 1, trust="tool", origin="model")
    await alice.compact()
    assert [memory.trust for memory in await living(alice)] == ["tool"]


async def test_what_expires_is_not_merged_into_what_stays(opened: Opened, clock) -> None:
    judge = Judge()
    alice = (await opened(judge, close(ONE, TWO))).scope(user="alice")
    await told(alice, ONE)
    await told(alice, TWO, expires_at=clock.now() + timedelta(days=3))
    assert (await alice.compact()).groups == ()
    assert judge.asked == []


async def test_a_pinned_note_takes_in_and_is_never_taken_in(opened: Opened) -> None:
    judge = Judge(lambda texts: merged(BOTH if BOTH in texts else ONE))
    alice = (await opened(judge, close(BOTH, ONE, TWO))).scope(user="alice")
    [pinned] = await told(alice, BOTH, pinned=True)
    others = await told(alice, ONE, TWO)
    await alice.compact()
    [memory] = await living(alice)
    assert (memory.id, memory.text, memory.pinned, memory.sources) == (pinned, BOTH, True, ())
    assert {(await alice.get(one)).superseded_by for one in others} == {pinned}
    # Forgetting what it took in leaves the pinned note, forgetting it takes them along.
    await alice.forget(others[0])
    assert [m.id for m in await living(alice)] == [pinned]
    await alice.forget(pinned)
    assert (await alice.list(states=None)).items == ()


async def test_the_words_of_a_pinned_note_cannot_be_changed(opened: Opened) -> None:
    judge = Judge(lambda texts: merged(united(texts)))
    alice = (await opened(judge, close(ONE, TWO))).scope(user="alice")
    await told(alice, ONE, pinned=True)
    await told(alice, TWO)
    done = await alice.compact()
    assert done.counts == {"linked": 1}, "the pinned one does not say all that the other says"
    assert [memory.text for memory in await living(alice)] == [ONE, TWO]
    assert len(judge.asked) == 1, "no other words would help"


async def test_two_pinned_notes_stay(opened: Opened) -> None:
    judge = Judge()
    alice = (await opened(judge, close(ONE, TWO))).scope(user="alice")
    await told(alice, ONE, TWO, pinned=True)
    assert (await alice.compact()).groups == ()
    assert judge.asked == []


async def test_labels_are_capped_round_after_round(opened: Opened) -> None:
    names = [f"{chr(97 + n)}{chr(98 + n)}topic" for n in range(22)]
    people = [f"{chr(97 + n)}{chr(98 + n)}person{'xyz'[n % 3]}" for n in range(22)] + [f"q{n}more" for n in range(12)]
    texts = ["kite one", "kite two", "kite three", "kite four", "kite five"]
    words = dict.fromkeys(text.split()[1] for text in texts)
    judge = Judge(lambda texts: merged(united(texts), topics=names, entities=people))
    alice = (await opened(judge, close(*texts, step=1.0))).scope(user="alice")
    assert words
    await alice.remember(texts[0], topics=names, entities=people)
    await alice.remember(texts[1], topics=[f"other{name}" for name in names], entities=people[:30])
    await alice.compact()
    for text in texts[2:]:
        [memory] = await living(alice)
        assert 0 < len(memory.topics) <= MAX_TOPICS
        assert 0 < len(memory.entities) <= MAX_ENTITIES
        await alice.remember(text, topics=[f"{text[5:]}{name}" for name in names], entities=people[4:])
        await alice.compact()
    [memory] = await living(alice)
    assert len(memory.topics) <= MAX_TOPICS
    assert len(memory.entities) <= MAX_ENTITIES


def test_near_synonyms_fold_and_the_frequent_and_short_stay() -> None:
    lists = [["note-taking", "servers", "python programming"], ["note taking", "server", "python"], ["Server"]]
    assert folded(lists, 15) == ("note-taking", "python", "server") or set(folded(lists, 15)) == {
        "note-taking", "server", "python",
    }  # fmt: skip
    assert set(folded([["Anna", "Anna Smith"]], 20, names=True)) == {"Anna", "Anna Smith"}
    many = [[f"t{n}" for n in range(30)], ["t29", "t28"]]
    assert {"t29", "t28"} <= set(folded(many, 15))
    assert len(folded(many, 15)) == 15


async def test_labels_that_are_told_again_are_capped_too(opened: Opened) -> None:
    alice = (await opened()).scope(user="alice")
    for n in range(4):
        await alice.remember(ONE, topics=[f"t{n}{m}" for m in range(10)], entities=[f"e{n}{m}" for m in range(10)])
    [memory] = await living(alice)
    assert (len(memory.topics), len(memory.entities)) == (MAX_TOPICS, MAX_ENTITIES)
    assert set(memory.topics) >= {f"t0{m}" for m in range(10)}, "what was there stays"


async def test_a_merged_memory_is_embedded_once_and_found(opened: Opened) -> None:
    vectors = close(ONE, TWO)
    mem = await opened(Judge(lambda _: merged(BOTH)), vectors)
    alice = mem.scope(user="alice")
    await told(alice, ONE, TWO)
    await alice.compact()
    await mem.settle()
    assert vectors.asked.count(BOTH) == 1
    assert sorted(vectors.asked) == sorted([ONE, TWO, BOTH])
    found = await alice.recall("garden gate")
    assert [(hit.text, hit.state) for hit in found.hits] == [(BOTH, "active")]
    assert not found.lag.get("meaning")


async def test_recall_shows_the_sources_where_it_is_asked(opened: Opened) -> None:
    alice = (await opened(Judge(lambda _: merged(BOTH)), close(ONE, TWO))).scope(user="alice")
    await told(alice, ONE, TWO)
    await alice.compact()
    hits = (await alice.recall("garden gate", include_superseded=True)).hits
    assert {(hit.text, hit.state) for hit in hits} == {(BOTH, "active"), (ONE, "merged"), (TWO, "merged")}
    hits = (await alice.recall("garden gate", states=["merged"])).hits
    assert {hit.superseded_by for hit in hits} == {(await living(alice))[0].id}
    context = await alice.context([{"role": "user", "content": "garden gate"}], budget=2000)
    shown = str(list(context.messages))
    assert shown.count("squeaks") == 1


# ------------------------------------------------------------------------------------------------ who is believed


async def test_three_versions_of_a_decision_newest_wins_and_details_stay(opened: Opened) -> None:
    texts = [
        "The billing service uses MySQL 5.7 and ships on Fridays",
        "The billing service uses Postgres 14 and ships on Fridays",
        "The billing service switched from Postgres 14 to CockroachDB 23.1 in region eu-west-1",
    ]
    text = "The billing service uses CockroachDB 23.1 in region eu-west-1 and ships on Fridays"
    judge = Judge(lambda _: partition(group("replaces", 1, 2, 3, current="s3", text=text)))
    alice = (await opened(judge, close(*texts))).scope(user="alice")
    for n, one in enumerate(texts):
        await alice.remember(one, event_time=DAY + timedelta(days=n))
    assert (await alice.compact()).counts == {"superseded": 1}
    [memory] = await living(alice)
    assert memory.text == text
    assert memory.valid_from == DAY + timedelta(days=2)
    states = {one.text: one.state for one in (await alice.list(states=None)).items}
    assert [states[one] for one in texts] == ["superseded", "superseded", "merged"]
    [hit] = (await alice.recall("billing service", as_of=DAY + timedelta(hours=1), kinds=["note"])).hits
    assert hit.text == texts[0]
    [change] = [one for one in await alice.history(memory.id) if one.verb == "compact"]
    await alice.undo(change.id)
    assert [one.text for one in await living(alice)] == texts
    await whole(alice)


async def test_a_contradiction_is_for_a_person_to_settle(opened: Opened) -> None:
    texts = ["The ferry leaves at 9:30", "The ferry leaves at 10:15"]
    judge = Judge(lambda _: partition(group("contradicts", 1, 2)))
    alice = (await opened(judge, close(*texts))).scope(user="alice")
    ids = await told(alice, *texts)
    assert (await alice.compact()).counts == {"suspected": 1}
    assert [memory.text for memory in await living(alice)] == texts, "both stay"
    [found] = await alice.suspicions()
    assert (found.suspicion.kind, found.memory.id, found.other.id) == ("contradiction", ids[1], ids[0])
    assert (await alice.status()).open_suspicions == 1
    settled = await alice.settle_suspicion(found.suspicion.id, "same")
    assert [memory.text for memory in await living(alice)] == texts[1:]
    assert await alice.suspicions() == ()
    await alice.undo(settled.change_ids[0])
    assert [memory.text for memory in await living(alice)] == texts
    [found] = await alice.suspicions()
    await alice.settle_suspicion(found.suspicion.id, "different")
    assert await alice.suspicions() == ()
    assert [memory.text for memory in await living(alice)] == texts
    assert (await alice.compact()).groups == ()
    assert len(judge.asked) == 1
    await whole(alice)


async def test_what_adds_stays_and_is_told_together(opened: Opened) -> None:
    texts = ["The daughter races on the track", "The daughter is called Petra, and is 19"]
    judge = Judge(lambda _: partition(group("adds", 1, 2)))
    alice = (await opened(judge, close(*texts))).scope(user="alice")
    ids = await told(alice, *texts)
    assert (await alice.compact()).counts == {"linked": 1}
    both = await living(alice)
    assert [memory.metadata["together"] for memory in both] == [[ids[1]], [ids[0]]]
    assert (await alice.compact()).groups == ()
    [hit] = (await alice.recall("Where does she race on a track?", kinds=["note"], limit=1)).hits
    assert (hit.id, [one.id for one in hit.together]) == (ids[0], [ids[1]])
    said = await rendered(alice, answer_of("recall", {"query": "track"}, await alice.recall("track", limit=1)))
    assert all(said.count(text) == 1 for text in texts), "an agent is told both"
    for number in range(40):
        await alice.remember(f"The track has lane {number}, of red tartan and clay.")
    context = await alice.context([{"role": "user", "content": "Who races on the track?"}], budget=700)
    assert all(text in context.as_text() for text in texts)
    [change] = [one for one in await alice.history(ids[0]) if one.verb == "link"]
    await alice.undo(change.id)
    assert [dict(memory.metadata) for memory in (await living(alice))[:2]] == [{}, {}]


async def test_the_newest_supersedes(opened: Opened) -> None:
    texts = ["The standup is at 9:30", "The standup is at 10:15"]
    gone = [{"what": "9:30", "why": "moved", "newer": "s2"}]
    judge = Judge(lambda _: {"decision": "supersede", "reason": "moved", "text": "", "dropped": gone})
    alice = (await opened(judge, close(*texts))).scope(user="alice")
    for n, one in enumerate(texts):
        await alice.remember(one, event_time=DAY + timedelta(days=n))
    done = await alice.compact()
    assert done.counts == {"superseded": 1}
    [newest] = await living(alice)
    assert newest.text == texts[1]
    [old] = (await alice.list(states=["superseded"])).items
    assert (old.superseded_by, old.valid_to) == (newest.id, DAY + timedelta(days=1))
    assert [hit.text for hit in (await alice.recall("standup", as_of=DAY + timedelta(hours=1))).hits] == texts[:1]
    [change] = [one for one in await alice.history(old.id) if one.verb == "compact"]
    await alice.undo(change.id)
    assert [m.text for m in await living(alice)] == texts


async def test_two_servers_are_kept_apart_for_good(opened: Opened) -> None:
    texts = ["The mail server listens on port 2525", "The chat server listens on port 6667"]
    judge = Judge(lambda _: APART)
    alice = (await opened(judge, close(*texts))).scope(user="alice")
    ids = await told(alice, *texts)
    done = await alice.compact()
    assert done.counts == {"kept_apart": 1}
    [change] = [one for one in await alice.history(ids[0]) if one.verb == "keep_apart"]
    assert change.detail["reason"] == "different things"
    assert change.detail["reply"]["calls"][0]["arguments"] == APART
    for _ in range(2):
        assert (await alice.compact()).groups == ()
    assert len(judge.asked) == 1
    assert [m.rev for m in await living(alice)] == [1, 1], "a decline changes nothing"
    await alice.remember(texts[1], topics=["chat"])
    await alice.pin(ids[0])
    assert (await alice.compact()).groups == (), "their texts are what they were"
    assert len(judge.asked) == 1
    # Undoing a decline has the pair looked at anew.
    await alice.undo(change.id)
    await alice.compact()
    assert len(judge.asked) == 2


async def test_a_decline_does_not_stand_in_the_way_of_undoing(opened: Opened) -> None:
    judge = Judge(lambda _: APART)
    alice = (await opened(judge, close(ONE, TWO))).scope(user="alice")
    [first, _] = await told(alice, ONE, TWO)
    pin = (await alice.pin(first)).receipt.change_ids[0]
    await alice.compact()
    await alice.undo(pin)
    assert not (await alice.get(first)).pinned
    remembered = (await alice.history(first))[0]
    await alice.undo(remembered.id)
    assert (await alice.get(first)).state == "retracted"


async def test_one_call_settles_all_that_it_shows(opened: Opened) -> None:
    texts = (ONE, TWO, "the lamp is green", "the lamp in the hall is green, from Ruth", "tea at five", "no tea at five")
    judge = Judge(lambda _: partition(group("same", 1, 2, text=BOTH), group("adds", 3, 4), group("contradicts", 5, 6)))
    vectors = Vectors({text: around(3.0 * n) for n, text in enumerate(texts)})
    alice = (await opened(judge, vectors)).scope(user="alice")
    await told(alice, *texts)
    assert (await alice.compact()).counts == {"pair": 1, "linked": 1, "suspected": 1}
    assert [len(shown) for shown in judge.asked] == [6]
    assert {m.text for m in await living(alice)} == {BOTH, *texts[2:]}
    while (await alice.compact()).more:
        pass
    assert len(judge.asked) == 1, "also how the merged one relates to the others is settled"
    await whole(alice)


@pytest.mark.parametrize(
    "said",
    [
        partition(group("same", 1, 2)),
        partition(group("same", 1, 2), apart=[3, 9]),
        partition(group("same", 1, 2), group("adds", 2, 3)),
        partition(group("same"), apart=[1, 2, 3]),
        partition(group("alike", 1, 2), apart=[3]),
        partition(group("same", 1, 2, text="  "), apart=[3]),
        partition(group("same", 1, 2, topics=[f"t{n}" for n in range(200)]), apart=[3]),
        {"groups": "none"},
    ],
    ids=["missing", "unknown", "double", "cites none", "unknown relation", "blank text", "200 topics", "no list"],
)
async def test_a_partition_that_cannot_be_read_applies_nothing(opened: Opened, said: dict) -> None:
    texts = (ONE, TWO, "the lamp is green")
    judge = Judge(lambda _: said)
    alice = (await opened(judge, close(*texts))).scope(user="alice")
    ids = await told(alice, *texts)
    done = await alice.compact()
    assert (done.counts, done.more) == ({"failed": 1}, True)
    assert done.last_error is not None
    assert [memory.id for memory in await living(alice)] == ids
    assert not [one for one in await alice.history(ids[0]) if one.verb != "remember"]
    judge._decide = lambda _: partition(group("same", 1, 2, text=BOTH), apart=[3])
    assert (await alice.compact()).counts == {"pair": 1, "kept_apart": 1}


# ------------------------------------------------------------------------------------------------ taking back


async def test_undo_restores_every_source_exactly_and_redo_merges_again(opened: Opened) -> None:
    judge = Judge(lambda _: merged(BOTH))
    alice = (await opened(judge, close(ONE, TWO))).scope(user="alice")
    await told(alice, ONE, topics=["a"], metadata={"k": 1})
    await told(alice, TWO, importance="high")
    before = [plain_of(memory) for memory in await living(alice)]
    await alice.compact()
    [made] = await living(alice)
    [change] = await alice.history(made.id)
    undone = await alice.undo(change.id)
    assert [plain_of(memory) for memory in await living(alice)] == before
    assert (await alice.get(made.id)).state == "retracted"
    assert {hit.text for hit in (await alice.recall("garden gate")).hits} == {ONE, TWO}
    assert (await alice.compact()).groups == (), "what a person took apart stays apart"
    assert len(judge.asked) == 1
    await alice.undo(undone.change_ids[0])
    assert [memory.id for memory in await living(alice)] == [made.id]
    await whole(alice)


def plain_of(memory):
    return (memory.id, memory.text, memory.state, memory.topics, memory.metadata, memory.sources, memory.superseded_by,
            memory.tier, memory.importance, memory.valid_from, memory.valid_to, memory.event_time)  # fmt: skip


async def test_undoing_copies_brings_all_of_them_back(opened: Opened) -> None:
    from tests.compaction.worlds import copies

    alice = (await opened()).scope(user="alice")
    ids = await copies(alice, ONE, 5)
    await alice.compact()
    [made] = await living(alice)
    await alice.undo((await alice.history(made.id))[0].id)
    assert [memory.id for memory in await living(alice)] == ids
    assert (await alice.compact()).groups == ()


async def test_forgetting_a_source_takes_the_merge_and_brings_the_others_back(opened: Opened) -> None:
    third = "the gate squeaks"
    judge = Judge(lambda texts: merged(united(texts)))
    mem = await opened(judge, close(ONE, TWO, third))
    alice = mem.scope(user="alice")
    ids = await told(alice, ONE, TWO, third)
    await alice.compact()
    [made] = await living(alice)
    planned = await alice.forget(ids[1], dry_run=True)
    assert set(planned.memories) == {ids[1], made.id}
    done = await alice.forget(ids[1])
    assert set(done.memories) == {ids[1], made.id}
    assert {memory.id for memory in await living(alice)} == {ids[0], ids[2]}
    for text in ("loudly",):
        assert (await alice.recall(text, include_superseded=True)).total == 0
    assert "compact" in (await alice.status()).due, "what is left is near, and is looked at again"
    await alice.compact()
    [again] = await living(alice)
    assert set(again.sources) == {ids[0], ids[2]}
    with pytest.raises(Forgotten):
        await alice.undo((await alice.history(made.id))[0].id)
    await whole(alice)


async def test_forgetting_a_merged_memory_takes_its_sources(opened: Opened) -> None:
    for keep in ("erase", "keep"):
        alice = (await opened(Judge(lambda _: merged(BOTH)), close(ONE, TWO))).scope(user=keep)
        await told(alice, ONE, TWO)
        await alice.compact()
        [made] = await living(alice)
        await alice.forget(made.id, sources=keep)
        assert (await alice.list(states=None)).items == ()


async def test_hiding_a_source_and_showing_it_again(opened: Opened) -> None:
    alice = (await opened(Judge(lambda _: merged(BOTH)), close(ONE, TWO))).scope(user="alice")
    ids = await told(alice, ONE, TWO)
    await alice.compact()
    [made] = await living(alice)
    hidden = await alice.forget(ids[0], hard=False)
    assert [memory.id for memory in await living(alice)] == [ids[1]], "what is left stands for itself"
    await alice.undo(hidden.change_id)
    assert [memory.id for memory in await living(alice)] == [made.id]
    assert (await alice.get(ids[1])).state == "merged"
    await whole(alice)


async def test_merges_of_merges_can_be_forgotten_from_the_middle(opened: Opened) -> None:
    third = "gate squeaks in winter"
    judge = Judge()
    alice = (await opened(judge, close(ONE, TWO, third))).scope(user="alice")
    ids = await told(alice, ONE, TWO)
    await alice.compact()
    [first] = await living(alice)
    ids += await told(alice, third)
    await alice.compact()
    [second] = await living(alice)
    assert set(second.sources) == {first.id, *ids}
    assert second.metadata["merged"]["leaves"] == 3
    await alice.forget(ids[0])
    assert {memory.id for memory in await living(alice)} == {ids[1], ids[2]}
    await whole(alice)


# ------------------------------------------------------------------------------------------------ what is said of it


async def test_the_log_says_what_happened(opened: Opened, caplog) -> None:
    caplog.set_level(logging.INFO, logger="memhold.compaction")
    judge = Judge(lambda _: merged(BOTH))
    alice = (await opened(judge, close(ONE, TWO, "garden gate squeaks"))).scope(user="alice")
    ids = await told(alice, ONE, TWO)
    await alice.compact()
    lines = [record.getMessage() for record in caplog.records]
    assert f"Pairwise merged memory {ids[0]} with {ids[1]}" in lines
    assert lines[-1] == (
        "Merged 2 memories: 0 of copies, 0 groups, 1 pairs, 0 superseded, 0 linked, 0 suspected, 0 kept apart, 0 too long,"
        " 0 stale, 0 failed"
    )
    caplog.clear()
    judge._decide = lambda _: APART
    [third] = await told(alice, "garden gate squeaks")
    await alice.compact()
    lines = [record.getMessage() for record in caplog.records]
    assert any(line.startswith("Model declined to merge memories") and third in line for line in lines)
    assert not any(word in line for line in lines for word in ("squeaks", "different things")), "no content"


async def test_dry_run_shows_what_and_why_and_does_nothing(opened: Opened) -> None:
    from tests.compaction.worlds import copies

    judge, vectors = Judge(), close(ONE, TWO)
    mem = await opened(judge, vectors)
    alice = mem.scope(user="alice")
    ids = await told(alice, ONE, TWO)
    same = await copies(alice, "buys oat milk", 3)
    await mem.settle()
    before, embedded = await alice.list(states=None), len(vectors.asked)
    planned = await alice.compact(dry_run=True)
    assert planned.dry_run
    assert {(group.outcome, group.sources) for group in planned.groups} == {
        ("pair", tuple(ids)),
        ("copies", tuple(same)),
    }
    assert all(group.reason for group in planned.groups)
    assert (await alice.list(states=None), len(vectors.asked), judge.asked) == (before, embedded, [])


async def test_it_runs_by_itself_after_so_many_and_after_a_while(opened: Opened, clock) -> None:
    judge = Judge(lambda _: merged(BOTH))
    vectors = Vectors({ONE: around(0), TWO: around(2), "x one": around(90)})
    mem = await opened(judge, vectors, bounds={"memories": 3, "wait": timedelta(minutes=10)})
    alice, bob = mem.scope(user="alice"), mem.scope(user="bob")
    await told(alice, ONE, TWO)
    assert await mem.settle(timeout=300)
    assert judge.asked == [], "too few, and too soon"
    assert "compact" in (await alice.status()).waiting
    await told(alice, "x one")
    assert await mem.settle(timeout=300)
    assert len(judge.asked) == 1, "the third makes it due"
    await told(bob, ONE, TWO)
    await mem.settle()
    clock.advance(timedelta(minutes=11))
    assert await mem.settle(timeout=300)
    assert len(judge.asked) == 2
    assert len(await living(bob)) == 1
    calls = len(judge.asked)
    clock.advance(timedelta(days=1))
    assert await mem.settle(timeout=300)
    assert len(judge.asked) == calls
    assert "compact" not in {**(await bob.status()).due, **(await bob.status()).waiting}


async def test_an_agent_and_a_session_narrow_a_run(opened: Opened) -> None:
    judge = Judge(lambda _: merged(BOTH))
    mem = await opened(judge, close(ONE, TWO))
    for agent in ("a", "b"):
        await told(mem.scope(user="alice", agent=agent), ONE, TWO)
    assert (await mem.scope(user="alice", agent="a").compact()).merged == 2
    assert [m.agent for m in await living(mem.scope(user="alice"))].count("b") == 2
    assert "compact" in (await mem.scope(user="alice").status()).due, "the rest is still to be looked at"
    assert (await mem.scope(user="alice").compact()).merged == 2
    for session in ("s", "t"):
        await told(mem.scope(user="carol", session=session), *((ONE, TWO) if session == "s" else ("x",)))
    assert (await mem.scope(user="carol", session="t").compact()).merged == 0
    assert (await mem.scope(user="carol", session="s").compact()).merged == 2
    assert {m.session for m in await living(mem.scope(user="carol"))} == {"s", "t"}


async def test_the_chain_of_the_consolidation_judges_unless_another_is_named(opened: Opened) -> None:
    consolidating = ScriptedChat(name="c", otherwise=merged(BOTH))
    judge = Judge(lambda _: merged(BOTH))
    first = (await opened(None, close(ONE, TWO), consolidation=consolidating)).scope(user="alice")
    await told(first, ONE, TWO)
    assert (await first.compact()).merged == 2
    assert len(consolidating.asked) == 1
    second = (await opened(judge, close(ONE, TWO), consolidation=consolidating)).scope(user="bob")
    await told(second, ONE, TWO)
    assert (await second.compact()).merged == 2
    assert (len(consolidating.asked), len(judge.asked)) == (1, 1)
    third = (await opened(None, close(ONE, TWO), consolidation=consolidating, compaction="none")).scope(user="carol")
    await told(third, ONE, TWO)
    assert not (await third.compact()).judged


async def test_what_cannot_be_read_goes_to_the_next_model(opened: Opened) -> None:
    careless = Judge(lambda _: {"decision": "who knows"}, name="careless")
    careful = Judge(lambda _: merged(BOTH), name="careful")
    alice = (await opened([careless, careful], close(ONE, TWO))).scope(user="alice")
    await told(alice, ONE, TWO)
    assert (await alice.compact()).merged == 2
    [memory] = await living(alice)
    [change] = [one for one in await alice.history(memory.id) if one.verb == "compact"]
    assert change.by.name == "careful"
    assert len(careless.asked) == 1


@pytest.mark.parametrize("relation", ["same", "adds", "replaces"])
async def test_a_text_that_loses_a_detail_hides_nothing_and_costs_no_call(opened: Opened, relation: str) -> None:
    texts = ["The store room is 12, its phone has extension 4711", "The store room is 20 now, same extension"]
    judge = Judge(lambda _: partition(group(relation, 1, 2, text="The store room is 20, same extension")))
    alice = (await opened(judge, close(*texts))).scope(user="alice")
    for n, one in enumerate(texts):
        await alice.remember(one, event_time=DAY + timedelta(days=n))
    assert (await alice.compact()).counts == {"linked": 1}
    assert len(judge.asked) == 1
    first, second = await living(alice)
    assert [first.text, second.text] == texts, "the old one is not hidden either"
    assert first.metadata["together"] == [second.id]
    [change] = [one for one in await alice.history(first.id) if one.verb == "keep_apart"]
    assert "4711" in change.detail["refused"]["0"]
    assert (await alice.compact()).groups == ()


async def test_what_replaces_without_a_text_keeps_what_has_more(opened: Opened) -> None:
    texts = ["Yoga is on Mondays at 19:00 with Ruth", "Yoga is on Tuesdays now", "Yoga is on Fridays now"]
    judge = Judge(lambda _: partition(group("replaces", 1, 2, 3)))
    alice = (await opened(judge, close(*texts))).scope(user="alice")
    for n, one in enumerate(texts):
        await alice.remember(one, event_time=DAY + timedelta(days=n))
    assert (await alice.compact()).counts == {"superseded": 1, "linked": 1}
    assert [memory.text for memory in await living(alice)] == [texts[0], texts[2]], (
        "19:00 and Ruth are told nowhere else"
    )


SAME = [
    "Put the parcel behind the blue bin, not at the door.",
    "Parcels at the door get stolen at 17:30; put them behind the blue bin.",
    "Remember: parcels behind the blue bin.",
    "Parcels go behind the blue bin, Ruth says.",
]


async def test_three_that_say_the_same_are_folded_and_linked_at_once(opened: Opened) -> None:
    """It failed with `RevisionConflict`, for ever: the survivor was written twice in one plan."""
    judge = Judge(lambda texts: partition(group("same", *range(1, len(texts) + 1))))
    alice = (await opened(judge, close(*SAME))).scope(user="alice")
    for n, one in enumerate(SAME):
        await alice.remember(one, event_time=DAY + timedelta(days=n))
    done = await alice.compact()
    assert (done.last_error, done.counts) == (None, {"group": 1, "linked": 1})
    left = {memory.text: memory for memory in await living(alice)}
    assert left.keys() == {SAME[1], SAME[3]}
    assert left[SAME[1]].metadata["together"] == [left[SAME[3]].id]
    assert left[SAME[3]].metadata["together"] == [left[SAME[1]].id]
    assert left[SAME[1]].rev == left[SAME[3]].rev == 2, "each is written once"
    [change] = [one for one in await alice.history(left[SAME[1]].id) if one.verb == "compact"]
    await alice.undo(change.id)
    assert [memory.text for memory in await living(alice)] == SAME
    assert all("together" not in memory.metadata for memory in await living(alice))
    await whole(alice)


QUOTES = [MemoryQuote(message_id=f"msg_{n}", text=f"said {n}") for n in range(3)]


@pytest.mark.parametrize("text", [BOTH, "", ONE], ids=["a text", "the fullest", "a copy"])
async def test_what_is_merged_carries_the_quotes_of_all(opened: Opened, text: str) -> None:
    texts = [ONE, ONE if text == ONE else TWO]
    judge = Judge(lambda _: partition(group("same", 1, 2, text=text)))
    alice = (await opened(judge, close(ONE, TWO))).scope(user="alice")
    await copies(alice, texts[0], 1, quotes=tuple(QUOTES[:2]), origin="model")
    await copies(alice, texts[1], 1, quotes=tuple(QUOTES[1:]), origin="model")
    assert (await alice.compact()).merged
    [memory] = await living(alice)
    assert set(memory.quotes) == {*QUOTES}
    assert len(memory.quotes) == 3


@pytest.mark.parametrize("hard", [True, False], ids=["erased", "hidden"])
async def test_a_quote_that_was_taken_in_goes_with_its_line(opened: Opened, *, hard: bool) -> None:
    judge = Judge(lambda _: partition(group("same", 1, 2)))
    alice = (await opened(judge, close(ONE, TWO))).scope(user="alice")
    lines = (await alice.add([{"role": "user", "content": f"I said: {text}"} for text in (ONE, TWO)])).ids
    for line, text in zip(lines, (ONE, TWO), strict=True):
        await copies(alice, text, 1, quotes=(MemoryQuote(message_id=line, text=text),), sources=(line,), origin="model")
    assert (await alice.compact()).counts == {"pair": 1}
    [memory] = await living(alice)
    assert [quote.text for quote in memory.quotes] == [TWO, ONE]
    gone = await alice.forget(lines[0], hard=hard)
    [memory] = await living(alice)
    assert [quote.text for quote in memory.quotes] == [TWO]
    if not hard:
        await alice.undo(gone.change_id)
        [memory] = await living(alice)
        assert [quote.text for quote in memory.quotes] == [TWO, ONE]


async def test_what_is_doubtful_takes_in_nothing_that_is_stated(opened: Opened) -> None:
    judge = Judge(lambda _: partition(group("same", 1, 2, text=BOTH)))
    alice = (await opened(judge, close(ONE, TWO))).scope(user="alice")
    await copies(alice, ONE, 1, origin="model", trust="assistant")
    await copies(alice, TWO, 1, origin="model", trust="assistant", standing="doubtful", doubts=("the line asks",))
    assert (await alice.compact()).groups == ()
    assert judge.asked == []


@pytest.mark.parametrize(("loses", "left"), [([], [BOTH]), (["how loudly"], [ONE, TWO])])
async def test_a_second_model_is_asked_what_a_text_loses(opened: Opened, loses: list[str], left: list[str]) -> None:
    first = Judge(lambda _: merged(BOTH), name="first")
    second = Judge(lambda _: {"loses": loses, "adds": []}, name="second")
    alice = (await opened([first, second], close(ONE, TWO))).scope(user="alice")
    await told(alice, ONE, TWO)
    await alice.compact()
    assert (len(first.asked), len(second.asked)) == (1, 1)
    assert [memory.text for memory in await living(alice)] == left


async def test_one_groups_error_is_its_own(opened: Opened) -> None:
    pairs = {"kite one": 0, "kite two": 3, "lamp red": 90, "lamp blue": 93}
    vectors = Vectors({text: around(degrees) for text, degrees in pairs.items()})

    def decide(texts):
        if "kite one" in texts:
            raise ModelError("down", model="judge", cls="retry", reason="scripted")
        return merged(united(texts))

    judge = Judge(decide)
    alice = (await opened(judge, vectors, bounds={"max_chars": 20}, model_attempts=1)).scope(user="alice")
    await told(alice, *pairs)
    done = await alice.compact()
    assert done.counts == {"failed": 1, "pair": 1}
    assert done.last_error is not None
    assert done.more
    assert {m.text for m in await living(alice)} == {"kite one", "kite two", "lamp red blue"}
    judge._decide = lambda texts: merged(united(texts))
    assert (await alice.compact()).merged == 2


async def test_a_merge_of_a_merge_says_when_the_first_of_all_was(opened: Opened) -> None:
    three = "garden gate squeaks at the hinge"
    alice = (await opened(Judge(), close(ONE, TWO, three))).scope(user="alice")
    first, last = DAY, DAY + timedelta(days=30)
    await alice.remember(ONE, event_time=first)
    await alice.remember(TWO, event_time=first + timedelta(days=2))
    await alice.compact()
    await alice.remember(three, event_time=last)
    await alice.compact()
    [memory] = await living(alice)
    assert memory.metadata["merged"]["leaves"] == 3
    assert memory.metadata["merged"]["times"] == [first.isoformat(), last.isoformat()]


@pytest.mark.parametrize(("trust", "state"), [("user", "superseded"), ("tool", "active")])
async def test_a_newer_note_supersedes_what_is_not_trusted_more(opened: Opened, trust: str, state: str) -> None:
    judge = Judge(lambda _: {"decision": "supersede", "reason": "newer"})
    old, new = "garden gate squeaks", "garden gate no longer squeaks"
    alice = (await opened(judge, close(old, new))).scope(user="alice")
    [first] = await copies(alice, old, 1, trust="user", event_time=DAY)
    await copies(alice, new, 1, trust=trust, event_time=DAY + timedelta(days=1))
    await alice.compact()
    assert (await alice.get(first)).state == state
    assert judge.asked
