"""What a question asks of what matches: the last or the first of it, or a proposal, in the languages of the files."""

from __future__ import annotations

import pytest

from memhold.recall.signals import order_of, proposes


@pytest.mark.parametrize(
    ("question", "latest"),
    [
        ("When was I at the dentist most recently?", True),
        ("What was the first restaurant I mentioned?", False),
        ("Wohin ging meine letzte Wanderung?", True),
        ("¿Cuál fue mi primer viaje?", False),
        ("Quel est le dernier film que j'ai vu ?", True),
        ("내가 마지막으로 간 여행은?", True),
        ("我第一次去的餐厅是哪家？", False),  # noqa: RUF001 - the mark that Chinese writes
        ("How long was it from the first to the last meeting?", None),
        ("Where do I live?", None),
    ],
)
def test_order_words_are_known(question: str, latest: bool | None) -> None:  # noqa: FBT001 - a case
    assert order_of(question) is latest


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("I'm planning a weekend in Rome. What would you suggest?", True),
        ("Was könnte ich in Rom essen?", True),
        ("推荐三种零食。", True),
        ("What did I eat on Monday?", False),
    ],
)
def test_who_asks_for_a_proposal_is_known(question: str, asked: bool) -> None:  # noqa: FBT001 - a case
    assert proposes(question) is asked
