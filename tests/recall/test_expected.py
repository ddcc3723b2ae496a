"""Why not? What was expected and is not there says what kept it out, and where it would stand."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memhold.faces.python.open import AsyncMemhold
from memhold.testing.clock import FakeClock
from memhold.values.answers import Expected

TEA = "I drink green tea with my breakfast every day."
OTHER = ("I drink coffee in the office.", "My sister plays chess.", "The car is red.")


async def _filled(memhold: AsyncMemhold) -> str:
    """A few messages; the id of the one about tea."""
    scope = memhold.scope(user="ann", session="s")
    receipt = await scope.add([{"role": "user", "content": text} for text in (*OTHER, TEA)])
    return receipt.ids[-1]


async def _expected(
    memhold: AsyncMemhold, expect: str, question: str = "what tea do I drink", **given: Any
) -> Expected:
    answer = await memhold.scope(user="ann").recall(question, expect=expect, **given)
    assert answer.expected is not None
    return answer.expected


@pytest.mark.asyncio
async def test_what_is_there_stands_at_its_rank_with_its_reasons(memhold: AsyncMemhold) -> None:
    tea = await _filled(memhold)
    one = await _expected(memhold, tea)
    [hit, *_] = (await memhold.scope(user="ann").recall("what tea do I drink")).hits
    assert (one.id, one.kept_out, one.rank, one.score, one.why) == (tea, None, 1, hit.score, hit.why)
    assert (await memhold.scope(user="ann").recall("tea")).expected is None


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("given", "kept_out"),
    [
        ({"kinds": ("fact",)}, "filter: kinds"),
        ({"roles": ("assistant",), "topics": ("work",)}, "filter: roles, topics"),
        ({"session": "elsewhere"}, "filter: session"),
        ({"metadata": {"a": 1}}, "filter: metadata"),
        ({"limit": 1, "question": "coffee in the office"}, "limit"),
    ],
)
async def test_a_filter_or_the_limit_is_named(memhold: AsyncMemhold, given: dict[str, Any], kept_out: str) -> None:
    one = await _expected(memhold, await _filled(memhold), **given)
    assert one.kept_out == kept_out
    assert one.rank == (1 if kept_out != "limit" else one.rank)
    assert one.rank is not None


@pytest.mark.asyncio
async def test_a_time_is_named_too(memhold: AsyncMemhold, clock: FakeClock) -> None:
    tea = await _filled(memhold)
    assert (await _expected(memhold, tea, until=clock.now() - timedelta(days=1))).kept_out == "filter: until"
    before = (await memhold.scope(user="ann").recall("tea")).snapshot
    later = await _filled(memhold)
    assert (await _expected(memhold, later, snapshot=before)).kept_out == "snapshot"


@pytest.mark.asyncio
async def test_a_copy_names_what_stands_for_it(memhold: AsyncMemhold) -> None:
    first = await _filled(memhold)
    second = await _filled(memhold)
    [hit, *_] = (await memhold.scope(user="ann").recall("what tea do I drink")).hits
    folded = first if hit.id == second else second
    one = await _expected(memhold, folded)
    assert (one.kept_out, one.by, one.rank) == ("repeats", hit.id, 1)


@pytest.mark.asyncio
async def test_a_memory_that_was_replaced_names_what_replaced_it(memhold: AsyncMemhold) -> None:
    scope = memhold.scope(user="ann")
    old = (await scope.remember(attribute="city", value="Leeds")).memory.id
    new = (await scope.remember(attribute="city", value="Hull")).memory.id
    one = await _expected(memhold, old, "city")
    assert (one.kept_out, one.by) == ("superseded", new)
    again = await _expected(memhold, old, "city", include_superseded=True)
    assert again.kept_out is None
    assert again.rank == 2


@pytest.mark.asyncio
async def test_what_no_signal_found_says_so_and_where_it_would_stand(memhold: AsyncMemhold) -> None:
    tea = await _filled(memhold)
    one = await _expected(memhold, tea, "chess", limit=1)
    assert one.kept_out in {"signals", "limit"}
    assert one.rank is not None
    assert one.rank > 1
    assert "time" not in one.silent


@pytest.mark.asyncio
async def test_what_is_gone_hidden_or_nobodys_is_said_without_content(memhold: AsyncMemhold) -> None:
    tea = await _filled(memhold)
    scope = memhold.scope(user="ann")
    assert (await _expected(memhold, "msg_none")).kept_out == "unknown"
    other = await memhold.scope(user="bob").recall("tea", expect=tea)
    assert other.expected == Expected(id=tea, kept_out="unknown")
    await scope.forget(tea, hard=False)
    assert (await _expected(memhold, tea)).kept_out == "hidden"
    gone = await _filled(memhold)
    await scope.forget(gone)
    assert (await _expected(memhold, gone)).kept_out == "forgotten"


@pytest.mark.asyncio
async def test_without_a_question_its_place_is_by_time(memhold: AsyncMemhold, clock: FakeClock) -> None:
    tea = await _filled(memhold)
    clock.advance(60)
    await memhold.scope(user="ann", session="s").add([{"role": "user", "content": "later"}])
    assert (await _expected(memhold, tea, "")).rank == 2
    assert (await _expected(memhold, tea, "", limit=1)).kept_out == "limit"
