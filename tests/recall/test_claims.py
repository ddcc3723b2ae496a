"""A message that a later claim of the same person replaces says so everywhere, and stands behind it; nothing else does."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from types import FrameType

import pytest

from memhold.faces.python.open import AsyncMemhold
from memhold.facts.claimed import claimed_in
from memhold.text.claims import replaces, same_claim
from memhold.values.records import Message

pytestmark = pytest.mark.asyncio
START = datetime(2025, 6, 1, tzinfo=UTC)
OSLO, GHENT, BERGEN = (
    "I live in Oslo.",
    "I moved to Ghent last month, the flat is lovely.",
    "I'm moving to Bergen next spring, maybe.",
)


async def tell(memhold: AsyncMemhold, *said: str, user: str = "ann", role: str = "user", **more: str) -> list[str]:
    """Tell messages a day apart, each in a session of its own; their ids."""
    ids: list[str] = []
    for place, text in enumerate(said):
        at = START + timedelta(days=place)
        scope = memhold.scope(user=user, session=f"{len(ids)} {role} {more}")
        ids += (await scope.add([{"role": role, "content": text, "event_time": at, **more}])).ids
    return ids


async def marks(memhold: AsyncMemhold, question: str, user: str = "ann") -> dict[str, str | None]:
    """What replaced each hit, by the hit's text, in their order."""
    hits = (await memhold.scope(user=user).recall(question)).hits
    return {hit.text: hit.superseded_by for hit in hits}


async def test_the_older_names_the_newer_and_stands_behind_it(memhold: AsyncMemhold) -> None:
    oslo, ghent, plan = await tell(memhold, OSLO, GHENT, BERGEN)
    found = await memhold.scope(user="ann").recall("Where do I live?")
    assert [hit.id for hit in found.hits] == [ghent, oslo, plan]
    assert [hit.superseded_by for hit in found.hits] == [None, ghent, None]
    [ended] = found.hits[1].outdated
    assert (ended.fact, ended.value, ended.now, ended.now_fact) == (oslo, "Oslo", "Ghent", ghent)
    assert ended.since == START + timedelta(days=1)


async def test_the_context_says_it_in_front_of_the_line(memhold: AsyncMemhold) -> None:
    await tell(memhold, OSLO, GHENT)
    asked = [{"role": "user", "content": "Where do I live?"}]
    context = (await memhold.scope(user="ann", session="asks").context(asked, budget=4000)).as_text()
    assert "- user, no longer so: Oslo since 2025-06-02 (now Ghent): I live in Oslo." in context
    assert context.count("no longer so") == 1


async def test_what_followed_again_is_told_as_what_holds_now(memhold: AsyncMemhold) -> None:
    oslo, ghent, hull = await tell(memhold, OSLO, GHENT, "I've just relocated to Hull.")
    hits = (await memhold.scope(user="ann").recall("Where do I live?")).hits
    assert [(hit.id, hit.superseded_by) for hit in hits] == [(hull, None), (ghent, hull), (oslo, ghent)]
    assert [one.now for hit in hits for one in hit.outdated] == ["Hull", "Hull"]


async def test_what_is_so_again_is_not_marked_and_may_end_again(memhold: AsyncMemhold) -> None:
    back = "I've moved back to Oslo."
    _, _, third = await tell(memhold, OSLO, GHENT, back)
    assert await marks(memhold, "Where do I live?") == {OSLO: None, back: None, GHENT: third}
    *_, last = await tell(memhold, OSLO, GHENT, back, "I've relocated to Hull.", user="bob")
    found = await marks(memhold, "Where do I live?", "bob")
    assert {found[OSLO], found[back]} == {last}


async def test_what_only_ended_has_nothing_in_its_place(memhold: AsyncMemhold) -> None:
    _, over = await tell(memhold, "I play tennis every Tuesday.", "I no longer play tennis.")
    hit = next(
        one
        for one in (await memhold.scope(user="ann").recall("Do I play tennis?")).hits
        if one.superseded_by is not None
    )
    assert (hit.text, hit.superseded_by) == ("I play tennis every Tuesday.", over)
    assert [(one.value, one.now, one.now_fact) for one in hit.outdated] == [("play tennis every Tuesday", None, None)]


async def test_the_later_day_replaces_whatever_was_written_first(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="ann", session="s")
    told = [(GHENT, START + timedelta(days=30)), (OSLO, START)]
    [ghent], _ = [(await scope.add([{"role": "user", "content": one, "event_time": at}])).ids for one, at in told]
    assert await marks(memhold, "Where do I live?") == {GHENT: None, OSLO: ghent}


async def test_nobody_elses_word_replaces_the_users(memhold: AsyncMemhold) -> None:
    await tell(memhold, OSLO)
    await tell(memhold, GHENT, role="assistant")
    await tell(memhold, GHENT, user="bob")
    assert set((await marks(memhold, "Where do I live?")).values()) == {None}


async def test_of_people_with_names_each_speaks_for_themselves(memhold: AsyncMemhold) -> None:
    await tell(memhold, OSLO, name="Ann")
    await tell(memhold, GHENT, name="Bob")
    assert set((await marks(memhold, "Where do I live?")).values()) == {None}
    await tell(memhold, "We relocated to Hull.", name="Ann")
    assert [text[-len(OSLO) :] for text, by in (await marks(memhold, "Where do I live?")).items() if by] == [OSLO]


async def test_a_newer_one_that_is_forgotten_marks_nothing(memhold: AsyncMemhold) -> None:
    _, ghent = await tell(memhold, OSLO, GHENT)
    await memhold.scope(user="ann").forget(ghent)
    assert await marks(memhold, "Where do I live?") == {OSLO: None}


async def test_filters_leave_the_mark_where_what_replaced_it_is_left_out(memhold: AsyncMemhold) -> None:
    _, ghent = await tell(memhold, OSLO, GHENT)
    only = await memhold.scope(user="ann").recall("Where do I live?", until=START + timedelta(hours=1))
    assert [(hit.text, hit.superseded_by) for hit in only.hits] == [(OSLO, ghent)]


async def test_of_what_is_in_doubt_nothing_is_said_and_the_newer_stands_in_front(memhold: AsyncMemhold) -> None:
    told = (OSLO, "I moved to Ghent last month.")
    oslo, ghent = await tell(memhold, *told)
    hits = (await memhold.scope(user="ann").recall("Where do I live?")).hits
    assert [(hit.id, hit.superseded_by, hit.outdated) for hit in hits] == [(ghent, None, ()), (oslo, None, ())]
    before = (await memhold.scope(user="ann").recall("Where did I live before?")).hits
    assert before[0].id == oslo
    asked = [{"role": "user", "content": "Where do I live?"}]
    context = (await memhold.scope(user="ann", session="asks").context(asked, budget=4000)).as_text()
    assert "no longer so" not in context
    assert all(text in context for text in told)
    # What is certain ends what was in no doubt, and says of the other no more than before.
    *_, hull = await tell(memhold, *told, "I've relocated to Hull.", user="bob")
    hits = (await memhold.scope(user="bob").recall("Where do I live?")).hits
    assert {hit.text: hit.superseded_by for hit in hits} == {"I've relocated to Hull.": None, OSLO: hull, told[1]: None}


async def test_of_two_that_stand_beside_each_other_none_is_replaced_by_what_does_not_name_it(
    memhold: AsyncMemhold,
) -> None:
    jobs = ("I work at Acme.", "On Fridays I work at Tallis.", "I work at Tallis.")
    await tell(memhold, *jobs, "I work at Fennimore now.")
    assert set((await marks(memhold, "Where do I work?")).values()) == {None}
    *_, quit_it = await tell(memhold, *jobs, "I quit Tallis.", user="bob")
    found = await marks(memhold, "Where do I work?", "bob")
    assert (found[jobs[0]], found[jobs[2]]) == (None, quit_it)


async def test_what_a_scope_costs_grows_with_its_messages_and_not_with_their_square(memhold: AsyncMemhold) -> None:
    names = [f"{one}{other}ham" for one in "BCDFGHKLMNPRSTVW" for other in ("a", "e", "i", "o", "u", "ai", "ea", "ou")]
    scope = memhold.scope(user="ann", session="s")
    await scope.add([{"role": "user", "content": f"I live in {name} now."} for name in names])
    every = await scope.messages()

    def compared(messages: Sequence[Message]) -> int:
        calls = 0

        def called(frame: FrameType, event: str, _: object) -> None:
            nonlocal calls
            calls += event == "call" and frame.f_code in {same_claim.__code__, replaces.__code__}

        sys.setprofile(called)
        try:
            assert len(claimed_in(messages)) == len(messages) - 1
        finally:
            sys.setprofile(None)
        return calls

    assert 0 < compared(every) < 2.5 * compared(every[: len(every) // 2])
