"""Tiers and evidence: what moves a fact to the long tier, what does not, and what its life is."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memhold import AsyncMemhold
from memhold.facts.remember import Writer
from memhold.facts.state import Statement, StatementResult, state_fact
from memhold.facts.tiers import durable
from memhold.testing import FakeClock
from memhold.values.records import Author, Change

pytestmark = pytest.mark.asyncio
DAY = timedelta(days=1)
WEEK = 7 * DAY


async def learn(memhold: AsyncMemhold, scope, **fields) -> StatementResult:
    """State a fact as a consolidation does, with a model as its author."""
    runtime = memhold._store._runtime
    writer = Writer(ids=runtime.ids, secret=runtime.store.facts.secret, author=Author(origin="model", name="m"))

    def work(tx) -> StatementResult:
        said = Statement(**{"subject": "user", "at": tx.now, **fields})
        change_id = runtime.ids.new("chg")
        stated = state_fact(tx, said, writer=writer, change_id=change_id)
        if stated.effects:
            tx.add_change(
                Change(
                    id=change_id,
                    seq=0,
                    verb="learn",
                    reason=stated.reason,
                    by=writer.author,
                    at=tx.now,
                    effects=stated.effects,
                )
            )
        return stated

    return await runtime.store.write(scope.scope, work)


async def fact(scope):
    [memory] = (await scope.list(kinds=("fact",))).items
    return memory


async def test_the_second_piece_moves_the_same_row(memhold: AsyncMemhold, clock: FakeClock) -> None:
    alice = memhold.scope(user="alice")
    told = (await alice.remember(attribute="hobby", value="hiking")).memory
    for expected in (("mid", 1), ("long", 2), ("long", 2)):
        clock.advance(DAY)
        await alice.recall("hobby")
        memory = await fact(alice)
        assert (memory.id, memory.tier, memory.evidence) == (told.id, *expected)
    assert memory.rev == 2
    assert (await alice.list(states=None)).items == (memory,)
    [_, moved] = await alice.history(told.id)
    assert (moved.verb, moved.by.origin) == ("evidence", "rules")


async def test_a_mention_again_is_a_piece_also_in_other_words(memhold: AsyncMemhold, clock: FakeClock) -> None:
    alice = memhold.scope(user="alice")
    for tier, wording in (("mid", "job"), ("mid", "occupation"), ("long", "my current job")):
        clock.advance(DAY)
        told = (await alice.remember(attribute=wording, value="Teacher")).memory
        assert told.tier == tier
    assert (await fact(alice)).evidence == 2


async def test_one_turn_is_one_piece(memhold: AsyncMemhold, clock: FakeClock) -> None:
    alice = memhold.scope(user="alice", session="s")
    await alice.add({"role": "user", "content": "hello"})
    await alice.remember(attribute="hobby", value="hiking")
    for _ in range(3):
        clock.advance(60)
        await alice.recall("hobby")
        await alice.remember(attribute="hobby", value="hiking")
    assert ((await fact(alice)).evidence, (await fact(alice)).tier) == (1, "mid")
    await alice.add({"role": "user", "content": "what is my hobby?"})
    await alice.recall("hobby")
    assert ((await fact(alice)).evidence, (await fact(alice)).tier) == (2, "long")


async def test_what_was_not_asked_for_is_no_evidence(memhold: AsyncMemhold, clock: FakeClock) -> None:
    """A listing, a question about the past, somebody who only looks, another question, and reading by id."""
    alice = memhold.scope(user="alice")
    told = (await alice.remember(attribute="hobby", value="hiking")).memory
    clock.advance(DAY)
    await alice.recall("")
    await alice.recall("hobby", as_of=told.valid_from)
    assert (await alice.recall("hobby", browse=True)).hits[0].id == told.id
    await alice.recall("weather")
    await alice.get(told.id)
    assert (await fact(alice)) == told


async def test_an_unused_fact_expires_and_stays_recallable(memhold: AsyncMemhold, clock: FakeClock) -> None:
    alice = memhold.scope(user="alice")
    told = (await alice.remember(attribute="hobby", value="hiking")).memory
    clock.advance(6 * DAY)
    await memhold.settle()
    assert (await fact(alice)).state == "active"
    await alice.recall("hobby")
    clock.advance(6 * DAY)
    await memhold.settle()
    assert (await fact(alice)).expires_at == told.valid_from + 6 * DAY + WEEK, "evidence prolongs its life"
    clock.advance(2 * DAY)
    await memhold.settle()
    assert (await alice.list(kinds=("fact",))).items == ()
    assert (await alice.get(told.id)).state == "expired"
    clock.advance(DAY)
    [hit] = (await alice.recall("hobby")).hits
    assert (hit.state, hit.value) == ("expired", "hiking")
    assert (await fact(alice)).tier == "long", "asked for again: the second piece"


async def test_a_fact_told_again_is_not_lost_to_its_old_expiry(memhold: AsyncMemhold, clock: FakeClock) -> None:
    alice = memhold.scope(user="alice")
    start = clock.now()
    door = (await alice.remember(attribute="door code", value="4711", expires_at=start + DAY)).memory
    longer = await alice.remember(attribute="door code", value="4711", expires_at=start + 9 * DAY)
    assert (longer.memory.id, longer.memory.expires_at, len(longer.receipt.change_ids)) == (
        door.id,
        start + 9 * DAY,
        1,
    )
    again = await alice.remember(attribute="door code", value="4711", expires_at=start + 9 * DAY)
    assert again.receipt.change_ids == ()
    clock.advance(2 * DAY)
    await memhold.settle()
    assert (await fact(alice)).state == "active"
    await alice.remember(attribute="door code", value="4711", expires_at=start + 3 * DAY)
    assert (await fact(alice)).expires_at == start + 3 * DAY, "a shorter end is taken too"
    clock.advance(2 * DAY)
    anew = await alice.remember(attribute="door code", value="4711")
    await memhold.settle()
    assert (await fact(alice)).id == anew.memory.id != door.id
    before = await alice.get(door.id)
    assert (before.state, before.valid_to) == ("expired", start + 3 * DAY)
    await alice.undo(anew.receipt.change_ids[0])
    await memhold.settle()
    assert (await alice.list(kinds=("fact",))).items == ()


async def test_a_later_word_on_the_end_can_be_undone(memhold: AsyncMemhold, clock: FakeClock) -> None:
    alice = memhold.scope(user="alice")
    start = clock.now()
    told = (await alice.remember(attribute="blood type", value="A", importance="high")).memory
    clock.advance(DAY)
    ended = await alice.remember(attribute="blood type", value="A", expires_at=start + 3 * DAY)
    assert (ended.memory.id, ended.memory.tier, ended.memory.expires_at) == (told.id, "long", start + 3 * DAY)
    await alice.undo(ended.receipt.change_ids[0])
    assert (await fact(alice)).expires_at is None
    clock.advance(5 * DAY)
    await memhold.settle()
    assert (await fact(alice)).state == "active"


async def test_what_ended_is_told_to_end_later(memhold: AsyncMemhold, clock: FakeClock) -> None:
    """Both what was told to end, and what nobody spoke of for a week, with the work done and not done."""
    for number, until in enumerate((DAY, None, DAY, None)):
        scope = memhold.scope(user=f"user{number}")
        start = clock.now()
        await scope.remember(attribute="hobby", value="hiking", expires_at=until and start + until)
        clock.advance(8 * DAY)
        if number < 2:
            await memhold.settle()
        await scope.remember(attribute="hobby", value="hiking", expires_at=start + 20 * DAY)
        await memhold.settle()
        found = await fact(scope)
        assert (found.state, found.expires_at) == ("active", start + 20 * DAY)
        clock.advance(13 * DAY)
        await memhold.settle()
        assert (await scope.list(kinds=("fact",))).items == ()


async def test_a_new_value_ends_an_expired_one(memhold: AsyncMemhold, clock: FakeClock) -> None:
    alice = memhold.scope(user="alice")
    old = (await alice.remember(attribute="hobby", value="hiking")).memory
    clock.advance(8 * DAY)
    await memhold.settle()
    new = (await alice.remember(attribute="hobby", value="pottery")).memory
    assert (await alice.get(old.id)).superseded_by == new.id
    assert [hit.value for hit in (await alice.recall("hobby")).hits] == ["pottery"]


async def test_what_lasts_is_long_at_once(memhold: AsyncMemhold) -> None:
    alice = memhold.scope(user="alice")
    lasting = ("name", "birthday", "mother's name", "wife", "cat's name", "blood type", "allergies", "혈액형", "이름")
    for attribute in (*lasting, "hobby", "project name", "favorite movie", "cat food brand"):
        told = (await alice.remember(attribute=attribute, value="x1")).memory
        assert told.tier == ("long" if attribute in lasting else "mid"), attribute
    assert (await alice.remember(attribute="car", value="red", importance="high")).memory.tier == "long"
    assert (await alice.remember(attribute="bike", value="blue", pinned=True)).memory.tier == "long"
    assert not durable("user", "phone number")


async def test_a_fact_in_long_is_updated_there(memhold: AsyncMemhold, clock: FakeClock) -> None:
    alice = memhold.scope(user="alice")
    await alice.remember(attribute="car", value="red", importance="high")
    clock.advance(DAY)
    told = (await alice.remember(attribute="car", value="blue")).memory
    assert (told.tier, told.evidence, told.expires_at) == ("long", 1, None)


async def test_the_attribute_decides_and_the_change_says_so(memhold: AsyncMemhold, clock: FakeClock) -> None:
    alice = memhold.scope(user="alice")
    for attribute, values in (("languages", ("Korean", "English")), ("job", ("teacher", "programmer"))):
        for value in values:
            clock.advance(DAY)
            told = await alice.remember(attribute=attribute, value=value)
        change = (await alice.history(told.memory.id))[-1]
        assert "by cardinality" in change.reason, change.reason
    held = sorted(memory.value for memory in (await alice.list(kinds=("fact",))).items)
    assert held == ["English", "Korean", "programmer"]
    await alice.remember(attribute="languages", value="Latin", operation="set")
    await alice.remember(attribute="job", value="poet", operation="add")
    held = sorted(memory.value for memory in (await alice.list(kinds=("fact",))).items)
    assert held == ["Latin", "poet", "programmer"], "what is asked for holds"


async def test_a_tool_never_reaches_long_without_the_user(memhold: AsyncMemhold, clock: FakeClock) -> None:
    alice = memhold.scope(user="alice")
    stated = await learn(memhold, alice, attribute="blood type", value="B", trust="tool", own_words=False)
    assert stated.memory.tier == "mid"
    for _ in range(4):
        clock.advance(DAY)
        await alice.recall("blood type")
    memory = await fact(alice)
    assert (memory.tier, memory.evidence) == ("mid", 4)
    clock.advance(DAY)
    told = (await alice.remember(attribute="blood type", value="B")).memory
    assert (told.tier, told.trust, told.id) == ("long", "user", memory.id)


async def test_against_what_the_user_told_is_a_suspicion(memhold: AsyncMemhold, clock: FakeClock) -> None:
    alice = memhold.scope(user="alice")
    await alice.remember(attribute="job", value="teacher")
    clock.advance(DAY)
    against = {"attribute": "occupation", "value": "baker", "trust": "assistant", "own_words": False}
    stated = await learn(memhold, alice, **against)
    assert stated.memory.state == "retracted"
    assert (await fact(alice)).value == "teacher"
    assert (await learn(memhold, alice, **against)).effects == (), "once is enough"
    [doubt] = await alice.suspicions()
    assert (doubt.suspicion.kind, doubt.memory.value, doubt.other.value) == ("contradiction", "baker", "teacher")
    assert (await alice.status()).open_suspicions == 1
    settled = await alice.settle_suspicion(doubt.suspicion.id, "same")
    assert (await fact(alice)).value == "baker"
    assert await alice.suspicions() == ()
    await alice.undo(settled.change_ids[0])
    assert (await fact(alice)).value == "teacher"
    [again] = await alice.suspicions()
    await alice.settle_suspicion(again.suspicion.id, "different")
    assert (await fact(alice)).value == "teacher"
    assert (await alice.status()).open_suspicions == 0
    await learn(memhold, alice, **{**against, "own_words": True, "trust": "user"})
    assert (await fact(alice)).value == "baker", "the user's own later words"


async def test_little_matters_is_kept_as_a_note(memhold: AsyncMemhold) -> None:
    alice = memhold.scope(user="alice")
    for _ in range(2):
        stated = await learn(memhold, alice, attribute="umbrella", value="left on the bus", importance="low")
    [note] = (await alice.list()).items
    assert (note.kind, note.id, note.text) == ("note", stated.memory.id, "umbrella: left on the bus")


async def test_a_correction_by_a_model_was_never_so(memhold: AsyncMemhold, clock: FakeClock) -> None:
    alice = memhold.scope(user="alice")
    wrong = (await learn(memhold, alice, attribute="city", value="Porto")).memory
    clock.advance(DAY)
    right = (await learn(memhold, alice, attribute="city", value="Lisbon", model="correct")).memory
    assert (await alice.get(wrong.id)).state == "retracted"
    assert right.valid_from == wrong.valid_from
    hits = (await alice.recall("city", kinds=["fact"], as_of=wrong.valid_from)).hits
    assert [hit.value for hit in hits] == ["Lisbon"]


async def test_two_keys_that_a_person_unites(memhold: AsyncMemhold, clock: FakeClock) -> None:
    """Kept apart on suspicion; united as one change, whose undo takes them apart again."""
    alice = memhold.scope(user="alice")
    first = (await alice.remember(attribute="wife's job", value="teacher")).memory
    clock.advance(DAY)
    second = (await alice.remember(attribute="wife's vocation", value="baker")).memory
    assert first.key != second.key
    assert sorted(m.value for m in (await alice.list()).items) == ["baker", "teacher"]
    [doubt] = await alice.suspicions()
    assert (doubt.suspicion.kind, doubt.memory.id, doubt.other.id) == ("key", second.id, first.id)
    settled = await alice.settle_suspicion(doubt.suspicion.id, "same")
    assert (await fact(alice)).value == "baker"
    assert (await alice.get(first.id)).superseded_by == second.id
    assert [hit.value for hit in (await alice.recall("", kinds=["fact"], as_of=first.valid_from)).hits] == ["teacher"]
    assert len(await alice.history(first.id)) == 3
    clock.advance(DAY)
    third = (await alice.remember(attribute="wife's vocation", value="poet")).memory
    assert third.key == first.key
    await alice.undo(settled.change_ids[0], cascade=True)
    assert sorted(m.value for m in (await alice.list()).items) == ["baker", "teacher"]
    [doubt] = await alice.suspicions()
    await alice.settle_suspicion(doubt.suspicion.id, "different")
    assert await alice.suspicions() == ()
    assert [one.suspicion.settled for one in await alice.suspicions(settled=True)] == ["different"]


async def test_a_forgotten_fact_takes_its_suspicion_along(memhold: AsyncMemhold) -> None:
    alice = memhold.scope(user="alice")
    told = (await alice.remember(attribute="wife's job", value="teacher")).memory
    await alice.remember(attribute="wife's vocation", value="baker")
    assert len(await alice.suspicions()) == 1
    await alice.forget(told.id)
    assert await alice.suspicions(settled=True) == ()


async def test_what_is_put_into_a_prompt_is_no_evidence(memhold: AsyncMemhold, clock: FakeClock) -> None:
    """`context` shows it on every turn, whatever is asked, and it stays as it was: mid, without a piece."""
    alice = memhold.scope(user="alice", session="s")
    told = (await alice.remember(attribute="hobby", value="hiking")).memory
    for number in range(4):
        clock.advance(3600)
        await alice.add({"role": "user", "content": f"What is my hobby, {number}?"})
        for strategy in ("adaptive", "memory_first"):
            context = await alice.context(strategy=strategy)
            assert "hiking" in str(context.messages)
        await alice.context([{"role": "user", "content": "hobby?"}])
    await alice.add({"role": "user", "content": "Thank you."})
    assert await fact(alice) == told
