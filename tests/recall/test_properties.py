"""What holds of every recall: filters only narrow, pages visit each once, fusion is monotone, answers repeat."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memhold.faces.python.open import AsyncMemhold
from memhold.fidelity.times import times
from memhold.recall.fusion import SIGNALS, Signal, fuse, normalised
from memhold.testing.clock import FakeClock
from memhold.values.answers import Query
from tests.recall.changed_facts import CHANGES, FILLER

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
EVERYTHING = 1000


async def _told(memhold: AsyncMemhold) -> None:
    for session, texts in (("s1", FILLER), ("s2", [text for pair in CHANGES for text in pair[:2]])):
        scope = memhold.scope(user="alice", session=session)
        roles = ("user", "assistant")
        await scope.add(
            [
                {"role": roles[at % 2], "content": text, "metadata": {"even": at % 4 == 0}}
                for at, text in enumerate(texts)
            ]
        )
    await memhold.scope(user="alice").remember(attribute="favorite food", value="sushi", topics=["food"])
    await memhold.settle()


@pytest.mark.asyncio
async def test_filters_only_narrow_and_change_no_score(memhold: AsyncMemhold) -> None:
    await _told(memhold)
    scope = memhold.scope(user="alice")
    for question in ("What is my favourite colour?", "food", "Where do I live and work?"):
        whole = {hit.id: hit.score for hit in (await scope.recall(question, limit=EVERYTHING)).hits}
        for narrowed in (
            Query(text=question, limit=EVERYTHING, kinds=("message",)),
            Query(text=question, limit=EVERYTHING, roles=("user",)),
            Query(text=question, limit=EVERYTHING, session="s2"),
            Query(text=question, limit=EVERYTHING, metadata={"even": True}),
            Query(text=question, limit=EVERYTHING, topics=("food",)),
            Query(text=question, limit=EVERYTHING, tiers=("mid",)),
        ):
            part = {hit.id: hit.score for hit in (await scope.recall(narrowed)).hits}
            folded = part.keys() - whole.keys()
            assert len(part) <= len(whole)
            assert not folded
            assert all(whole[one] == score for one, score in part.items())


@pytest.mark.asyncio
@pytest.mark.parametrize("size", [1, 3, 7])
async def test_pages_visit_each_once_while_others_write(memhold: AsyncMemhold, size: int, clock: FakeClock) -> None:
    await _told(memhold)
    scope = memhold.scope(user="alice", session="s9")
    question = "What is my doctor and my car called? I want to know where I live."
    first = await scope.recall(question, limit=EVERYTHING)
    seen: list[str] = []
    offset: int | None = 0
    snapshot = first.snapshot
    while offset is not None:
        page = await scope.recall(question, limit=size, offset=offset, snapshot=snapshot)
        assert page.total == first.total
        seen += [hit.id for hit in page.hits]
        offset = page.next_offset
        clock.advance(3600)
        await scope.add([{"role": "user", "content": "My doctor drives the same car and I live there."}])
        await memhold.settle()
    assert seen == [hit.id for hit in first.hits][: max(first.total, size)]


@pytest.mark.asyncio
async def test_the_same_question_has_the_same_answer(memhold: AsyncMemhold) -> None:
    await _told(memhold)
    scope = memhold.scope(user="alice")
    first = await scope.recall("What car do I have?", explain=True)
    assert await scope.recall("What car do I have?", explain=True) == first


@pytest.mark.asyncio
async def test_a_fresh_write_is_found_before_it_has_a_vector(memhold: AsyncMemhold) -> None:
    await _told(memhold)
    scope = memhold.scope(user="alice", session="s3")
    receipt = await scope.add([{"role": "user", "content": "The zeppelin lands at noon."}])
    answer = await scope.recall("zeppelin")
    assert answer.hits[0].id == receipt.ids[0]
    assert answer.lag == {"meaning": 1}
    assert answer.confidence is not None
    assert answer.confidence > 0.5
    assert (await scope.recall("What did the plumber charge for the sink?")).confidence < 0.5  # type: ignore[operator]


@given(
    scores=st.lists(st.lists(st.floats(0, 1, width=32), min_size=4, max_size=4), min_size=1, max_size=len(SIGNALS)),
    row=st.integers(0, 3),
    more=st.floats(0, 1, width=32),
)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_fusion_is_monotone(scores: list[list[float]], row: int, more: float) -> None:
    def signals(first: list[float]) -> list[Signal]:
        made = [first, *scores[1:]]
        return [
            Signal(name=name, score=np.array(values, np.float32), found=np.array(values) > 0)
            for name, values in zip(SIGNALS, made, strict=False)
        ]

    higher = list(scores[0])
    higher[row] = min(1.0, higher[row] + more)
    before, after = fuse(signals(scores[0])), fuse(signals(higher))
    assert after.score[row] >= before.score[row]
    others = [at for at in range(4) if at != row]
    assert (after.score[others] == before.score[others]).all()
    assert (after.found | ~before.found).all()


def test_normalised_keeps_the_order_and_leaves_out_what_does_not_count() -> None:
    values = np.array([0.2, 0.9, 0.5, 7.0], np.float32)
    among = np.array([True, True, True, False])
    assert normalised(values, among).tolist() == pytest.approx([0.2 / 0.9, 1, 0.5 / 0.9, 0])
    assert normalised(np.zeros(3, np.float32)).tolist() == [0, 0, 0]
    assert normalised(values[:0]).tolist() == []


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("What happened last spring?", "2026-02-01", "2026-07-01"),
        ("in May 2023", "2023-05-01", "2023-06-01"),
        ("What did she say on May 3, 2023?", "2023-05-03", "2023-05-04"),
        ("am 8. Mai 2023", "2023-05-08", "2023-05-09"),
        ("vor zwei Wochen", "2026-11-03", "2026-11-10"),
        ("il y a trois jours", "2026-11-17", "2026-11-18"),
        ("le mois dernier", "2026-10-01", "2026-11-01"),
        ("la semana pasada", "2026-11-09", "2026-11-16"),
        ("지난주에 뭐 했지?", "2026-11-09", "2026-11-16"),
        ("2023년 5월 8일", "2023-05-08", "2023-05-09"),
        ("去年", "2025-01-01", "2026-01-01"),
        ("yesterday", "2026-11-19", "2026-11-20"),
        ("last Monday", "2026-11-16", "2026-11-17"),
    ],
)
def test_times_are_read_in_seven_languages(question: str, start: str, end: str) -> None:
    [found] = [*times(question, NOW)]
    assert (found.start.date().isoformat(), found.end.date().isoformat()) == (start, end)


@pytest.mark.parametrize("question", ["May I march in second place?", "Can she fall?", "le mois", "Lean 5"])
def test_words_that_only_look_like_times_are_none(question: str) -> None:
    assert [*times(question, NOW)] == []


@pytest.mark.asyncio
async def test_a_named_time_prefers_and_does_not_filter(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="alice", session="s")
    for day, weekday in (("2025-03-03", "Monday"), ("2025-07-10", "Thursday")):
        await scope.add(
            [{"role": "user", "content": f"We went swimming on {weekday}.", "event_time": f"{day}T12:00:00Z"}]
        )
    answer = await scope.recall("Where did we go swimming in March 2025?")
    assert [hit.event_time.month for hit in answer.hits] == [3, 7]
    assert "time" in {reason.signal for reason in answer.hits[0].why}
