"""A question that was asked before is no answer: where one is among the best hits, what was said to it stands above it."""

from __future__ import annotations

from pathlib import Path

import pytest

from memhold import Memhold

SAID = (
    ("user", "I'd like to book a table for Friday."),
    ("assistant", "For how many people is the table?"),
    ("user", "Six, please"),
    ("assistant", "Done."),
    ("user", "why does the login page hang on Safari?"),
    ("assistant", "A ResizeObserver loop in AuthCard.tsx; debouncing it by 50 ms cures it."),
)


@pytest.mark.parametrize(
    ("question", "answer", "asked"),
    [
        ("How many people is the table for?", "Six, please", SAID[1][1]),
        ("What was the reason for the Safari hang of the login page?", SAID[5][1], SAID[4][1]),
    ],
)
def test_what_was_said_to_a_question_stands_above_it(tmp_path: Path, question: str, answer: str, asked: str) -> None:
    with Memhold.open(tmp_path / "m.db", worker=False, embedding="none") as mem:
        mem.scope(user="a", session="1").add([{"role": role, "content": text} for role, text in SAID])
        scope = mem.scope(user="a", session="2")
        texts = [hit.text for hit in scope.recall(question, kinds=("message",)).hits]
        assert texts.index(answer) == texts.index(asked) - 1
        (hit,) = (one for one in scope.recall(question).hits if one.text == answer)
        assert any(reason.signal == "answers" for reason in hit.why)
        assert sum(reason.part for reason in hit.why) == pytest.approx(hit.score, abs=1e-5)
        # What a filter keeps out is not brought.
        role = "user" if answer == SAID[5][1] else "assistant"
        assert answer not in [one.text for one in scope.recall(question, roles=(role,)).hits]


def test_a_statement_that_ends_with_a_question_stands_above_what_was_said_to_it(tmp_path: Path) -> None:
    with Memhold.open(tmp_path / "m.db", worker=False, embedding="none") as mem:
        scope = mem.scope(user="a", session="s")
        said = (("user", "I moved to Lisbon. How is the weather?"), ("assistant", "It is sunny."))
        scope.add([{"role": role, "content": text} for role, text in said])
        assert "Lisbon" in scope.recall("where did she move").hits[0].text
