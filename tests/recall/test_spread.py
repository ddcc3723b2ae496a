"""A question that asks for several things prefers different conversations; any other is ranked as before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhold.faces.python.open import AsyncMemhold
from memhold.ports.postings import DocumentKind
from memhold.recall.newer import COST, MOST, asks_for_several, spread_out

LIST = "List the plants in my garden"


@pytest.mark.parametrize(
    ("question", "several"),
    [
        (LIST, True),
        ("Which books have I read?", True),
        ("How many sources are in my library?", True),
        ("Welche Geräte sind kaputt?", True),
        ("¿Qué plagas hemos tenido?", True),
        ("내 심사위원이 누구누구였지?", True),
        ("哪些书?", True),
        ("Where do I live?", False),
        ("What is my dog called?", False),
        ("Wo wohne ich?", False),
        ("", False),
    ],
)
def test_a_question_for_several_things_is_known(question: str, several: bool) -> None:  # noqa: FBT001 - a case
    assert asks_for_several(question) is several


class Rows:
    """As much of an index as the ranking of sessions reads."""

    def __init__(self, sessions: list[int]) -> None:
        kinds = np.full(len(sessions), DocumentKind.MESSAGE, dtype=np.uint8)
        self.columns = {"kind": kinds, "session": np.array(sessions, dtype=np.uint32)}


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 300), st.booleans()), max_size=20))
def test_each_better_hit_of_a_session_costs_as_much(rows: list[tuple[int, int, bool]]) -> None:
    score = np.array([one[1] / 100 for one in rows], dtype=np.float32)
    found = np.array([one[2] for one in rows], dtype=np.bool_)
    before = score.copy()
    spread_out(LIST, Rows([one[0] for one in rows]), score, found)  # type: ignore[arg-type] - as much as it reads
    assert (score[~found] == before[~found]).all()
    for session in {one[0] for one in rows}:
        mine = [place for place, one in enumerate(rows) if one[0] == session and found[place]]
        mine.sort(key=lambda place: (-before[place], -place))
        wanted = [max(before[place] - COST * min(rank, MOST), 0) for rank, place in enumerate(mine)]
        assert score[mine] == pytest.approx(wanted, abs=1e-5)
    same = before.copy()
    spread_out("Where do I live?", Rows([one[0] for one in rows]), same, found)  # type: ignore[arg-type]
    assert (same == before).all()


PLANTS = ("rose", "fig", "elm", "oak", "ash", "yew", "box", "pear", "plum", "lime", "beech", "maple", "birch", "hazel")


@pytest.mark.asyncio
async def test_a_list_comes_from_several_conversations(memhold: AsyncMemhold) -> None:
    for session, names in (("garden", PLANTS), ("walk", ("fern",))):
        scope = memhold.scope(user="ann", session=session)
        await scope.add([{"role": "user", "content": f"A plant in my garden is the {name}."} for name in names])
    ann = memhold.scope(user="ann")
    answer = await ann.recall(LIST)
    assert {hit.session for hit in answer.hits} == {"garden", "walk"}
    assert [hit.score for hit in answer.hits] == sorted((hit.score for hit in answer.hits), reverse=True)
    assert {hit.session for hit in (await ann.recall("Is the plant in my garden")).hits} == {"garden"}
