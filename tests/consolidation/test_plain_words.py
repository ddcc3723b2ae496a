"""Plain statements of one line: what is true of it is kept, what is not is not told as said."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memhold.consolidate.grounding import Claim, Line, find
from tests.consolidation.grounding_plain import FALSE, TRUE

AT = datetime(2026, 3, 2, tzinfo=UTC)


def standing(sentence: str, said: str) -> str | None:
    return find(Claim(core=sentence, cited=(1,)), [Line(place=1, text=said, at=AT)]).standing


@pytest.mark.parametrize("said", TRUE)
def test_what_is_true_of_a_line_is_kept(said: str) -> None:
    assert [one for one in TRUE[said] if standing(one, said) is None] == []


@pytest.mark.parametrize("said", FALSE)
def test_what_is_not_is_not_told(said: str) -> None:
    assert [one for one in FALSE[said] if standing(one, said) is not None] == []
